/* cmd_formats.c: the level formats that there are. */
#include <stdio.h>

#include "formats/level.h"
#include "src/cli/cli.h"

/* There are none, but a struct has to have something. */
struct options {
	bool none;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_END},
};

static void
print_row(const struct level_format *format)
{
	char built_in[32] = "yes";

	if (format->needs)
		snprintf(built_in, sizeof(built_in), "no, needs %s",
		         format->needs);
	printf("%-10s  %-12s  %-18s  %s\n", format->name, format->suffixes,
	       built_in, format->what);
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	const struct level_format *format;

	(void)verb_options;
	if (n != 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "formats takes nothing, and there is '%s'",
		                operands[0]);
	printf("%-10s  %-12s  %-18s  %s\n", "format", "suffixes", "built in",
	       "what it is");
	for (format = level_formats; format->name; format++)
		print_row(format);
	return DIAG_OK;
}

static const char *const usage[] = {
	"",
	NULL,
};

const struct cli_verb cmd_formats = {
	.name = "formats",
	.summary = "List the formats of levels",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
