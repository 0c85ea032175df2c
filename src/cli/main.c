/* main.c: hpabake, the command line.
 *
 * Finds the verb, has its options parsed and runs it. This is the only place
 * that prints a diag and the only one that turns a status into an exit code:
 * they are the same numbers. A write to stdout that failed, at whatever point,
 * is noticed here at the latest. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"

static const struct cli_verb *const verbs[] = {
	&cmd_bake,
	&cmd_bench,
	&cmd_formats,
	&cmd_info,
	&cmd_path,
	&cmd_tune,
	&cmd_verify,
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

struct program_options {
	bool version;
};

static const struct cli_option program_options[] = {
	{.kind = CLI_SWITCH,
         .letter = 'V',
         .name = "version",
         .what = "print the version",
         .offset = offsetof(struct program_options, version)},
	{.kind = CLI_END},
};

void
cli_report(struct diag *diag)
{
	char line[sizeof(diag->file) + sizeof(diag->text) + 32] = "";
	size_t used = 0;

	if (!diag->text[0])
		return;
	if (diag->file[0] && diag->line)
		used = (size_t)snprintf(line, sizeof(line),
		                        "%s:%lu: ", diag->file, diag->line);
	else if (diag->file[0])
		used = (size_t)snprintf(line, sizeof(line),
		                        "%s: ", diag->file);
	snprintf(line + used, sizeof(line) - used, "%s", diag->text);

	/* Names and texts may quote a file's bytes: keep them on one line. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			*c = '?';
	fflush(stdout);
	fprintf(stderr, "hpabake: %s\n", line);
	*diag = (struct diag){.status = diag->status};
}

static void
print_program_help(void)
{
	const struct program_options defaults = {false};

	printf("usage: hpabake VERB [OPTION]... [OPERAND]...\n\n"
	       "Bake game levels into path data for libhpa.\n\n");
	for (size_t i = 0; i < N_VERBS; i++)
		printf("  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	printf("\n");
	cli_print_options(program_options, &defaults);
	printf("\n'hpabake VERB --help' tells about a verb.\n"
	       "Exit codes: 0 done, 1 could not be done, 2 wrong usage, "
	       "3 bad input,\n4 a check failed.\n");
}

static void
print_verb_help(const struct cli_verb *verb, const void *defaults)
{
	const char *const *usage = verb->usage;

	for (; *usage; usage++)
		printf("%s hpabake %s%s%s\n",
		       usage == verb->usage ? "usage:" : "      ", verb->name,
		       **usage ? " " : "", *usage);
	printf("\n%s.\n\n", verb->summary);
	cli_print_options(verb->options, defaults);
}

static enum diag_status
run_verb(const struct cli_verb *verb, int argc, char **argv, struct diag *diag)
{
	/* Fresh structs: one as the defaults have it, for --help. */
	void *options = calloc(1, verb->options_size);
	void *defaults = calloc(1, verb->options_size);
	enum diag_status status = DIAG_FAILED;
	int n_operands;
	bool help;

	if (!options || !defaults) {
		diag_set(diag, DIAG_FAILED, 0, "out of memory");
		goto out;
	}
	if (verb->set_defaults) {
		verb->set_defaults(options);
		verb->set_defaults(defaults);
	}
	status = cli_parse(verb->options, argc, argv, options, &n_operands,
	                   &help, diag);
	if (status)
		goto out;
	if (help)
		print_verb_help(verb, defaults);
	else
		status = verb->run(options, n_operands, argv, diag);
out:
	free(defaults);
	free(options);
	return status;
}

static enum diag_status
run_program(int argc, char **argv, struct diag *diag)
{
	struct program_options options = {false};
	enum diag_status status;
	int n_operands;
	bool help;

	status = cli_parse(program_options, argc, argv, &options, &n_operands,
	                   &help, diag);
	if (status)
		return status;
	if (help)
		print_program_help();
	else if (options.version)
		printf("hpabake %s\n", PACKAGE_VERSION);
	else
		return diag_set(diag, DIAG_USAGE, 0, "no verb was given");
	return DIAG_OK;
}

static const struct cli_verb *
find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

/* Where to read on after a wrong command line, on the same line. */
static void
add_hint(const struct cli_verb *verb, struct diag *diag)
{
	size_t used = strlen(diag->text);

	snprintf(diag->text + used, sizeof(diag->text) - used,
	         "; see 'hpabake %s%s--help'", verb ? verb->name : "",
	         verb ? " " : "");
}

int
main(int argc, char **argv)
{
	struct diag diag = {.status = DIAG_OK};
	const struct cli_verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
	enum diag_status status;

	/* A reader that left and a limit on the size of files show as EPIPE and
	 * EFBIG, and are reported like a full disk. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (verb)
		status = run_verb(verb, argc - 2, argv + 2, &diag);
	else if (argc > 1 && argv[1][0] != '-')
		status = diag_set(&diag, DIAG_USAGE, 0,
		                  "there is no verb '%s'", argv[1]);
	else
		status = run_program(argc - 1, argv + 1, &diag);

	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && !status)
		status = cli_write_failed(&diag);
	/* A verb that went on after its errors has told them all. */
	if (status == DIAG_USAGE && diag.text[0])
		add_hint(verb, &diag);
	cli_report(&diag);
	return (int)status;
}
