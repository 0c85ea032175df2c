/* cmd_help.c: what hpabake tells of itself: --help, the manual pages and what a
 * shell completes. All of it is made from the tables of the verbs; the prose of
 * a page is read from files, which only the build has. */
#include <stdio.h>
#include <stdlib.h>

#include "src/cli/cli.h"
#include "src/cli/completion.h"
#include "src/cli/manual.h"
#include "src/cli/prose.h"

struct options {
	bool man, completion;
	const char *prose, *common;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_SWITCH,
         .name = "man",
         .what = "print the manual page, as roff",
         .offset = offsetof(struct options, man)},
	{.kind = CLI_TEXT,
         .name = "prose",
         .takes = "FILE",
         .what = "for --man: what the page says beyond the options",
         .offset = offsetof(struct options, prose)},
	{.kind = CLI_TEXT,
         .name = "common",
         .takes = "FILE",
         .what = "for --man: what is to be said of options that several verbs "
                 "have",
         .offset = offsetof(struct options, common)},
	{.kind = CLI_SWITCH,
         .name = "completion",
         .what = "print what makes bash complete command lines of hpabake",
         .offset = offsetof(struct options, completion)},
	{.kind = CLI_END},
};

const struct bake_name cli_exit_codes[] = {
	{"done", DIAG_OK, "It was done."},
	{"could not be done", DIAG_FAILED,
         "It could not be done: a file is missing or cannot be written, there "
         "is no memory."},
	{"wrong usage", DIAG_USAGE, "The command line is wrong."},
	{"bad input", DIAG_BAD_INPUT,
         "An input file is not what it should be."},
	{"a check failed", DIAG_CHECK, "What was to be checked does not hold."},
	{NULL, 0, NULL},
};

static void
print_verbs(void)
{
	for (size_t i = 0; cli_verbs[i]; i++)
		printf("  %-10s %s\n", cli_verbs[i]->name,
		       cli_verbs[i]->summary);
	printf("\n");
}

static void
print_exit_codes(void)
{
	const struct bake_name *code = cli_exit_codes;

	printf("\nExit codes:\n");
	for (; code->name; code++)
		printf("  %d  %s\n", code->value, code->name);
	printf("\n'hpabake help VERB' and the manual page hpabake-VERB(1) "
	       "tell about a verb.\n");
}

enum diag_status
cli_print_help(const struct cli_verb *verb, struct diag *diag)
{
	const char *const *usage = verb->usage;
	void *defaults = cli_new_options(verb);

	if (!defaults)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	for (; *usage; usage++)
		printf("%s hpabake%s%s%s%s\n",
		       usage == verb->usage ? "usage:" : "      ",
		       *verb->name ? " " : "", verb->name, **usage ? " " : "",
		       *usage);
	printf("\n%s.\n\n", verb->summary);
	if (verb == &cli_program)
		print_verbs();
	cli_print_options(verb->options, defaults);
	if (verb == &cli_program)
		print_exit_codes();
	free(defaults);
	return DIAG_OK;
}

static enum diag_status
print_manual(const struct cli_verb *verb, const struct options *options,
             struct diag *diag)
{
	struct prose own = {0}, common = {0};
	enum diag_status status = DIAG_OK;

	if (options->prose)
		status = prose_read(options->prose, &own, diag);
	if (!status && options->common)
		status = prose_read(options->common, &common, diag);
	if (!status)
		status = manual_write(stdout, verb, &own, &common, diag);
	prose_free(&common);
	prose_free(&own);
	return status;
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (n > 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "help takes one VERB, not %d", n);
	if (options->completion && (options->man || n))
		return diag_set(diag, DIAG_USAGE, 0,
		                "--completion takes no VERB and no --man");
	if ((options->prose || options->common) && !options->man)
		return diag_set(diag, DIAG_USAGE, 0, "--%s goes with --man",
		                options->prose ? "prose" : "common");
	return DIAG_OK;
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	const struct options *options = verb_options;
	const struct cli_verb *verb =
		n == 1 ? cli_find_verb(operands[0]) : &cli_program;
	enum diag_status status = check_usage(options, n, diag);

	if (status)
		return status;
	if (!verb)
		return diag_set(diag, DIAG_USAGE, 0, "there is no verb '%s'",
		                operands[0]);
	if (options->man)
		return print_manual(verb, options, diag);
	if (!options->completion)
		return cli_print_help(verb, diag);
	completion_write(stdout);
	return DIAG_OK;
}

static const char *const usage[] = {
	"[VERB]",
	"--man [--prose FILE] [--common FILE] [VERB]",
	"--completion",
	NULL,
};

const struct cli_verb cmd_help = {
	.name = "help",
	.summary = "Tell how a verb is used",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
