/* manual.c: from the tables of a verb to its manual page.
 *
 * Most sections come from the tables (see sections[]), and what the prose has
 * for one of them follows what the tables say there. Only DESCRIPTION is the
 * prose's alone if it has one. The other sections of the prose stand before
 * SEE ALSO, in their order. So a verb without prose has a complete page, if a
 * short one.
 *
 * Texts of the tables are plain: here they get roff's escapes. A word that
 * begins with a dash is something to be typed, all dashes in it are minus
 * signs. */
#include "src/cli/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct page {
	FILE *to;
	const struct cli_verb *verb;
	const void *defaults;
	const struct prose *own, *common;
};

/* The characters that roff would change or obey, and what stands for them. */
static const char *
escape(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '\'':
		return "\\(aq";
	case '`':
		return "\\(ga";
	case '"':
		return "\\(dq";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	default:
		return NULL;
	}
}

static void
put(const struct page *page, char c, bool is_typed)
{
	const char *escaped = c == '-' && is_typed ? "\\-" : escape(c);

	if (escaped)
		fputs(escaped, page->to);
	else
		fputc(c, page->to);
}

static void
put_typed(const struct page *page, const char *text)
{
	while (*text)
		put(page, *text++, true);
}

/* The first character in the case that is asked for. */
static void
put_plain(const struct page *page, const char *text, int (*first_case)(int))
{
	bool in_word = false, is_typed = false;

	for (const char *c = text; *c; c++) {
		bool belongs = isalnum((unsigned char)*c) || *c == '-';

		if (belongs && !in_word)
			is_typed = *c == '-';
		in_word = belongs;
		put(page, c == text ? (char)first_case((unsigned char)*c) : *c,
		    is_typed);
	}
}

/* A line of text as a sentence: with a capital and a full stop. */
static void
put_sentence(const struct page *page, const char *text)
{
	char last = text[strlen(text) - 1];

	if (*text == '.')
		fputs("\\&", page->to);
	put_plain(page, text, toupper);
	fputs(last == ':' || last == '.' ? "\n" : ".\n", page->to);
}

/* A line of usage: options are bold, METAVARIABLES italic. */
static void
put_usage(const struct page *page, const char *text)
{
	while (*text) {
		size_t size = strcspn(text, " []|.=,@");

		if (size)
			fputs(isupper((unsigned char)*text) ? "\\fI" : "\\fB",
			      page->to);
		for (size_t i = 0; i < size; i++)
			put(page, *text++, true);
		if (size)
			fputs("\\fR", page->to);
		if (*text)
			put(page, *text++, false);
	}
}

static void
put_section(const struct page *page, const char *name)
{
	fprintf(page->to, ".SH %s\n", name);
}

static void
put_prose(const struct page *page, const char *section)
{
	const char *text = prose_section(page->own, section);

	if (text)
		fputs(text, page->to);
}

/* hpabake-VERB, with what is between; \- is a minus sign and no hyphen. */
static void
put_page_name(const struct page *page, const struct cli_verb *verb,
              const char *between)
{
	fprintf(page->to, "hpabake%s", *verb->name ? between : "");
	put_typed(page, verb->name);
}

static void
put_title(const struct page *page)
{
	const char *c = page->verb->name;

	fprintf(page->to,
	        ".\\\" Written by hpabake help --man; its prose, if any, is "
	        "man/hpabake%s%s.in.\n"
	        ".TH HPABAKE%s",
	        *c ? "-" : "", c, *c ? "\\-" : "");
	for (; *c; c++)
		put(page, (char)toupper((unsigned char)*c), true);
	fprintf(page->to, " 1 \"\" \"hpabake %s\" \"User commands\"\n",
	        PACKAGE_VERSION);
}

static void
put_name(const struct page *page)
{
	put_section(page, "NAME");
	put_page_name(page, page->verb, "\\-");
	fputs(" \\- ", page->to);
	put_plain(page, page->verb->summary, tolower);
	fputc('\n', page->to);
	put_prose(page, "NAME");
}

static void
put_synopsis(const struct page *page)
{
	const char *const *usage = page->verb->usage;

	put_section(page, "SYNOPSIS");
	fputs(".nf\n", page->to);
	for (; *usage; usage++) {
		fputs("\\fB", page->to);
		put_page_name(page, page->verb, " ");
		fputs(**usage ? "\\fR " : "\\fR", page->to);
		put_usage(page, *usage);
		fputc('\n', page->to);
	}
	fputs(".fi\n", page->to);
	put_prose(page, "SYNOPSIS");
}

static void
put_description(const struct page *page)
{
	put_section(page, "DESCRIPTION");
	if (prose_section(page->own, "DESCRIPTION"))
		put_prose(page, "DESCRIPTION");
	else
		put_sentence(page, page->verb->summary);
}

/* On the page of the program. */
static void
put_verbs(const struct page *page)
{
	if (page->verb != &cli_program)
		return;
	put_section(page, "VERBS");
	for (size_t i = 0; cli_verbs[i]; i++) {
		fputs(".TP\n.BR ", page->to);
		put_page_name(page, cli_verbs[i], "\\-");
		fputs(" (1)\n", page->to);
		put_sentence(page, cli_verbs[i]->summary);
	}
}

static void
put_choices(const struct page *page, const struct cli_option *row)
{
	const struct bake_name *name = row->names;
	char text[CLI_TEXT_SIZE];

	fputs(".RS\n", page->to);
	for (; name->name; name++) {
		const char *suffix = cli_choice_suffix(row, name);

		fputs(".TP\n\\fB", page->to);
		put_typed(page, name->name);
		fprintf(page->to, "%s\n",
		        !*suffix         ? "\\fR"
		        : *suffix == '[' ? "\\fR[\\fB:\\fIK\\fR]"
		                         : ":\\fIK\\fR");
		cli_describe_choice(row, name, page->defaults, text,
		                    sizeof(text));
		put_sentence(page, text);
	}
	fputs(".RE\n", page->to);
}

static void
put_option(const struct page *page, const struct cli_option *row)
{
	const char *prose = prose_option(page->own, row->name);
	char text[CLI_TEXT_SIZE], brief[CLI_SHORT_SIZE];

	fputs(".TP\n\\fB", page->to);
	cli_short_form(row, brief);
	put_typed(page, brief);
	fputs(*brief ? "\\fR, \\fB\\-\\-" : "\\-\\-", page->to);
	put_typed(page, row->name);
	fputs("\\fR", page->to);
	if (row->takes) {
		fputs(" \\fI", page->to);
		put_typed(page, row->takes);
		fputs("\\fR", page->to);
	}
	fputc('\n', page->to);
	cli_describe_row(row, page->defaults, text, sizeof(text));
	put_sentence(page, text);
	if (row->names)
		put_choices(page, row);
	if (!prose)
		prose = prose_option(page->common, row->name);
	if (prose && row->names)
		fputs(".IP\n", page->to);
	if (prose)
		fputs(prose, page->to);
}

static void
put_options(const struct page *page)
{
	const struct cli_option *row = NULL;

	put_section(page, "OPTIONS");
	while ((row = cli_next_row(page->verb->options, row)))
		put_option(page, row);
	if (prose_section(page->own, "OPTIONS"))
		fputs(".PP\n", page->to);
	put_prose(page, "OPTIONS");
}

static void
put_exit_status(const struct page *page)
{
	const struct bake_name *code = cli_exit_codes;

	put_section(page, "EXIT STATUS");
	for (; code->name; code++) {
		fprintf(page->to, ".TP\n.B %d\n", code->value);
		put_sentence(page, code->what);
	}
	if (prose_section(page->own, "EXIT STATUS"))
		fputs(".PP\n", page->to);
	put_prose(page, "EXIT STATUS");
}

/* The other pages, with commas between, then those of the prose. */
static void
put_see_also(const struct page *page)
{
	const struct cli_verb *program[] = {&cli_program, NULL};
	const struct cli_verb *const *verb =
		page->verb == &cli_program ? cli_verbs : program;
	bool goes_on = prose_section(page->own, "SEE ALSO") != NULL;

	put_section(page, "SEE ALSO");
	for (; *verb; verb++) {
		fputs(".BR ", page->to);
		put_page_name(page, *verb, "\\-");
		fprintf(page->to, " (1)%s\n", verb[1] || goes_on ? "," : "");
	}
	put_prose(page, "SEE ALSO");
}

static bool is_from_tables(const char *section);

static void
put_other_sections(const struct page *page)
{
	for (size_t i = 0; i < page->own->n; i++) {
		const struct prose_part *part = &page->own->parts[i];

		if (part->is_option || is_from_tables(part->name))
			continue;
		put_section(page, part->name);
		fputs(part->text, page->to);
	}
}

/* The page. Prose goes into the sections that have a name here. */
static const struct {
	const char *name;
	void (*put)(const struct page *page);
} sections[] = {
	{NULL, put_title},
	{"NAME", put_name},
	{"SYNOPSIS", put_synopsis},
	{"DESCRIPTION", put_description},
	{NULL, put_verbs},
	{"OPTIONS", put_options},
	{"EXIT STATUS", put_exit_status},
	{NULL, put_other_sections},
	{"SEE ALSO", put_see_also},
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static bool
is_from_tables(const char *section)
{
	for (size_t i = 0; i < N_SECTIONS; i++)
		if (sections[i].name && !strcmp(sections[i].name, section))
			return true;
	return false;
}

static bool
has_option(const struct cli_verb *verb, const char *name)
{
	const struct cli_option *row = NULL;

	while ((row = cli_next_row(verb->options, row)))
		if (!strcmp(row->name, name))
			return true;
	return false;
}

static bool
some_verb_has_option(const char *name)
{
	for (size_t i = 0; cli_verbs[i]; i++)
		if (has_option(cli_verbs[i], name))
			return true;
	return false;
}

/* Is all prose about options that are there? verb is NULL for any verb's. */
static enum diag_status
check_prose(const struct prose *prose, const struct cli_verb *verb,
            struct diag *diag)
{
	for (size_t i = 0; i < prose->n; i++) {
		const struct prose_part *part = &prose->parts[i];

		if (!part->is_option ||
		    (verb ? has_option(verb, part->name)
		          : some_verb_has_option(part->name)))
			continue;
		cli_set_file(diag, prose->file);
		return diag_set(diag, DIAG_BAD_INPUT, part->line,
		                "%s has no option --%s",
		                !verb         ? "no verb"
		                : *verb->name ? verb->name
		                              : "hpabake",
		                part->name);
	}
	return DIAG_OK;
}

enum diag_status
manual_write(FILE *to, const struct cli_verb *verb, const struct prose *own,
             const struct prose *common, struct diag *diag)
{
	void *defaults = cli_new_options(verb);
	const struct page page = {to, verb, defaults, own, common};
	enum diag_status status = check_prose(own, verb, diag);

	if (!status)
		status = check_prose(common, NULL, diag);
	if (!status && !defaults)
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	for (size_t i = 0; !status && i < N_SECTIONS; i++)
		sections[i].put(&page);
	free(defaults);
	return status;
}
