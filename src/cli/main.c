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

const struct cli_verb *const cli_verbs[] = {
	&cmd_bake,
	&cmd_bench,
	&cmd_diff,
	&cmd_draw,
	&cmd_formats,
	&cmd_help,
	&cmd_info,
	&cmd_path,
	&cmd_tune,
	&cmd_verify,
	NULL,
};

struct options {
	bool version;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_SWITCH,
         .letter = 'V',
         .name = "version",
         .what = "print the version",
         .offset = offsetof(struct options, version)},
	{.kind = CLI_END},
};

const struct cli_verb *
cli_find_verb(const char *name)
{
	const struct cli_verb *const *verb = cli_verbs;

	while (*verb && strcmp((*verb)->name, name) != 0)
		verb++;
	return *verb;
}

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

/* No verb was given: tell in short what could have been. */
static enum diag_status
refuse_no_verb(struct diag *diag)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; cli_verbs[i] && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
		                         "%s%s", i ? ", " : "",
		                         cli_verbs[i]->name);
	return diag_set(diag, DIAG_USAGE, 0,
	                "no verb was given; usage: hpabake %s, where VERB is "
	                "one of %s",
	                cli_program.usage[0], names);
}

static enum diag_status
run_program(const void *program_options, int n, char **operands,
            struct diag *diag)
{
	const struct options *options = program_options;

	(void)n;
	(void)operands;
	if (!options->version)
		return refuse_no_verb(diag);
	printf("hpabake %s\n", PACKAGE_VERSION);
	return DIAG_OK;
}

static const char *const usage[] = {
	"VERB [OPTION]... [OPERAND]...",
	NULL,
};

const struct cli_verb cli_program = {
	.name = "",
	.summary = "Bake game levels into path data for libhpa",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run_program,
};

static enum diag_status
run_verb(const struct cli_verb *verb, int argc, char **argv, struct diag *diag)
{
	void *options = cli_new_options(verb);
	enum diag_status status;
	int n_operands;
	bool help;

	if (!options)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	status = cli_parse(verb->options, argc, argv, options, &n_operands,
	                   &help, diag);
	if (!status && help)
		status = cli_print_help(verb, diag);
	else if (!status)
		status = verb->run(options, n_operands, argv, diag);
	free(options);
	return status;
}

/* Where to read on after a wrong command line, on the same line. */
static void
add_hint(const struct cli_verb *verb, struct diag *diag)
{
	size_t used = strlen(diag->text);

	snprintf(diag->text + used, sizeof(diag->text) - used,
	         "; see 'hpabake %s%s--help'", verb->name,
	         *verb->name ? " " : "");
}

int
main(int argc, char **argv)
{
	struct diag diag = {.status = DIAG_OK};
	const struct cli_verb *named = argc > 1 ? cli_find_verb(argv[1]) : NULL;
	const struct cli_verb *verb = named ? named : &cli_program;
	int n_before = named ? 2 : 1;
	enum diag_status status;

	/* A reader that left and a limit on the size of files show as EPIPE and
	 * EFBIG, and are reported like a full disk. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!named && argc > 1 && argv[1][0] != '-')
		status = diag_set(&diag, DIAG_USAGE, 0,
		                  "there is no verb '%s'", argv[1]);
	else
		status = run_verb(verb, argc - n_before, argv + n_before,
		                  &diag);

	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && !status)
		status = cli_write_failed(&diag);
	/* A verb that went on after its errors has told them all. */
	if (status == DIAG_USAGE && diag.text[0])
		add_hint(verb, &diag);
	cli_report(&diag);
	return (int)status;
}
