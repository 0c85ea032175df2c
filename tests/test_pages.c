/* test_pages.c: manual pages and completion of verbs that hpabake does not have.
 *
 * Whatever a table says comes out: characters that roff or bash would obey, and
 * options of every kind. The lines that are expected follow from groff_char(7)
 * and bash(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/cli/cli.h"
#include "src/cli/completion.h"
#include "src/cli/manual.h"

struct options {
	bool a_switch;
	const char *text;
	struct cli_list list;
	uint32_t number;
	struct cli_choice choice;
	struct cli_size size;
	uint64_t bytes;
};

static const struct bake_name names[] = {
	{"some", 0, "some of it"},
	{"no-more", 1, ".no more"},
	{NULL, 0, NULL},
};

static const struct cli_option rows[] = {
	{.kind = CLI_SWITCH,
         .letter = 's',
         .name = "a-switch",
         .what = ".it's a \"switch\", see --a-b, a-b and \\n ^`~",
         .offset = offsetof(struct options, a_switch)},
	{.kind = CLI_TEXT,
         .name = "text",
         .takes = "FILE-NAME",
         .what = "a text.",
         .offset = offsetof(struct options, text)},
	{.kind = CLI_LIST,
         .letter = 'l',
         .name = "list",
         .takes = "DIR",
         .what = "'one' of them",
         .offset = offsetof(struct options, list)},
	{.kind = CLI_NUMBER,
         .name = "number",
         .takes = "N",
         .what = "how many",
         .min = 2,
         .max = 9,
         .offset = offsetof(struct options, number)},
	{.kind = CLI_CHOICE,
         .name = "choice",
         .takes = "WHAT",
         .what = "how much:",
         .names = names,
         .counted = "some",
         .count_is_optional = true,
         .min = 1,
         .max = 4,
         .offset = offsetof(struct options, choice)},
	{.kind = CLI_SIZE,
         .name = "size",
         .takes = "WxH",
         .what = "how large",
         .offset = offsetof(struct options, size)},
	{.kind = CLI_BYTES,
         .name = "bytes",
         .takes = "SIZE",
         .what = "x-rayed",
         .offset = offsetof(struct options, bytes)},
	{.kind = CLI_END},
};

static void
set_defaults(void *into)
{
	struct options *options = into;

	options->number = 7;
	options->choice.value = 1;
}

static const char *const usage[] = {
	"[OPTION]... OLD-ONE [-o|--text=@FILE] X.json",
	"",
	NULL,
};
static const char *const only_options[] = {
	"[OPTION]...",
	NULL,
};

static const struct cli_verb full = {
	.name = "full",
	.summary = "Do all of it",
	.usage = usage,
	.options = rows,
	.options_size = sizeof(struct options),
	.set_defaults = set_defaults,
};
static const struct cli_verb bare = {
	.name = "bare-bones",
	.summary = "'Do' nothing",
	.usage = only_options,
	.options = &rows[7],
	.options_size = 1,
};

const struct cli_verb *const cli_verbs[] = {
	&bare,
	&full,
	NULL,
};

const struct cli_verb cli_program = {
	.name = "",
	.summary = "Do something",
	.usage = usage,
	.options = &rows[7],
	.options_size = 1,
};

const struct cli_verb *
cli_find_verb(const char *name)
{
	(void)name;
	return NULL;
}

/* The page of a verb without prose, to be freed. */
static char *
page_of(const struct cli_verb *verb)
{
	struct prose none = {0};
	struct diag diag = {0};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	assert_int_equal(manual_write(to, verb, &none, &none, &diag), DIAG_OK);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void
has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no '%s' in:\n%s", part, text);
}

static void
options_of_every_kind_are_described(void **state)
{
	char *page = page_of(&full);

	(void)state;
	has(page, "\n.TP\n\\fB\\-s\\fR, \\fB\\-\\-a\\-switch\\fR\n");
	has(page, "\n.TP\n\\fB\\-\\-text\\fR \\fIFILE\\-NAME\\fR\nA text.\n");
	has(page, "\n.TP\n\\fB\\-l\\fR, \\fB\\-\\-list\\fR \\fIDIR\\fR\n");
	has(page, "\nHow many (2 to 9, default 7).\n");
	has(page, "\nHow much:\n.RS\n"
	          ".TP\n\\fBsome\\fR[\\fB:\\fIK\\fR]\n"
	          "Some of it, K from 1 to 4.\n"
	          ".TP\n\\fBno\\-more\\fR\n"
	          "\\&.no more (default).\n.RE\n.TP\n");
	has(page, "\\fIWxH\\fR\nHow large.\n");
	has(page, "\\fISIZE\\fR\nX-rayed.\n");
	has(page, "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n");
	free(page);
}

static void
no_text_is_obeyed_by_roff(void **state)
{
	char *page = page_of(&full);

	(void)state;
	has(page, "\n\\&.it\\(aqs a \\(dqswitch\\(dq, see \\-\\-a\\-b, a-b and "
	          "\\en \\(ha\\(ga\\(ti.\n");
	has(page, "\n\\(aqone\\(aq of them.\n");
	free(page);
}

static void
usage_is_in_the_synopsis(void **state)
{
	char *page = page_of(&full);

	(void)state;
	has(page,
	    "\n.SH SYNOPSIS\n.nf\n\\fBhpabake full\\fR [\\fIOPTION\\fR]... "
	    "\\fIOLD\\-ONE\\fR [\\fB\\-o\\fR|\\fB\\-\\-text\\fR="
	    "@\\fIFILE\\fR] \\fIX\\fR.\\fBjson\\fR\n"
	    "\\fBhpabake full\\fR\n.fi\n");
	free(page);
}

static void
a_verb_without_options_has_a_page(void **state)
{
	char *page = page_of(&bare);

	(void)state;
	has(page, "\n.TH HPABAKE\\-BARE\\-BONES 1 ");
	has(page,
	    "\n.SH NAME\nhpabake\\-bare\\-bones \\- \\(aqDo\\(aq nothing\n");
	has(page, "\n.SH DESCRIPTION\n\\(aqDo\\(aq nothing.\n.SH OPTIONS\n"
	          ".TP\n\\fB\\-h\\fR, ");
	has(page, "\n.SH SEE ALSO\n.BR hpabake (1)\n");
	free(page);
}

static void
the_page_of_the_program_leads_to_the_others(void **state)
{
	char *page = page_of(&cli_program);

	(void)state;
	has(page, "\n.TH HPABAKE 1 ");
	has(page, "\n.SH NAME\nhpabake \\- do something\n");
	has(page, "\n.SH VERBS\n.TP\n.BR hpabake\\-bare\\-bones (1)\n"
	          "\\(aqDo\\(aq nothing.\n"
	          ".TP\n.BR hpabake\\-full (1)\nDo all of it.\n.SH OPTIONS\n");
	has(page, "\n.SH SEE ALSO\n.BR hpabake\\-bare\\-bones (1),\n"
	          ".BR hpabake\\-full (1)\n");
	free(page);
}

static void
completion_follows_the_tables(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	completion_write(to);
	assert_int_equal(fclose(to), 0);
	has(text, "\tfull:--text) _hpabake_files -f; return ;;\n");
	has(text, "\tfull:-l | full:--list) _hpabake_files -d; return ;;\n");
	has(text, "\tfull:--number) return ;;\n");
	has(text, "\tfull:--choice) _hpabake_words 'some some: no-more'; "
	          "return ;;\n");
	has(text, "\tfull:--bytes) return ;;\n");
	has(text, "\tfull:-*) _hpabake_words '-s --a-switch --text -l --list "
	          "--number --choice --size --bytes -h --help'; return ;;\n");
	has(text, "\tbare-bones:-*) _hpabake_words '-h --help'; return ;;\n");
	has(text,
	    "\t:*) _hpabake_words 'bare-bones full -h --help'; return ;;\n");
	has(text, "\tfull) _hpabake_files -f ;;\n");
	assert_null(strstr(text, "full:--a-switch)"));
	assert_null(strstr(text, "\tbare-bones) "));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_every_kind_are_described),
		cmocka_unit_test(no_text_is_obeyed_by_roff),
		cmocka_unit_test(usage_is_in_the_synopsis),
		cmocka_unit_test(a_verb_without_options_has_a_page),
		cmocka_unit_test(the_page_of_the_program_leads_to_the_others),
		cmocka_unit_test(completion_follows_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
