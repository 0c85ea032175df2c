/* completion.c: from the tables of the verbs to a completion for bash.
 *
 * The script is a function with three tables, written as cases: what an option
 * takes, by the verb and the word before the one to be completed; a verb's
 * options; its operands. bash has cut the line at blanks and also at = and :,
 * which are words of their own then: --name=value is three, every:4 too. */
#include "src/cli/completion.h"

#include <stdbool.h>
#include <string.h>

#include "src/cli/cli.h"

/* What the values of options are, by how their names begin. Others can't be
 * guessed. */
static const struct {
	const char *takes;
	const char *how; /* the function of the script that completes it */
} values[] = {
	{"DIR", "_hpabake_files -d"},
	{"FILE", "_hpabake_files -f"},
	{"LEVEL", "_hpabake_files -f"},
	{"OUT", "_hpabake_files -f"},
	{"SCEN", "_hpabake_files -f"},
};

static const char functions[] =
	"# Complete with one of some words. More follows on one with a colon.\n"
	"_hpabake_words()\n"
	"{\n"
	"\tlocal IFS=$' \\t\\n'\n"
	"\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
	"\tif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\tfi\n"
	"}\n"
	"\n"
	"# Complete with files (-f) or folders (-d). Names that are quoted in\n"
	"# part are left to readline.\n"
	"_hpabake_files()\n"
	"{\n"
	"\tlocal fallback=default\n"
	"\n"
	"\t[[ $1 == -f ]] || fallback=dirnames\n"
	"\tcompopt -o filenames -o $fallback 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$word\")\n"
	"}\n"
	"\n";

static const char beginning[] =
	"_hpabake()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]}\n"
	"\tlocal before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal verb=${COMP_WORDS[1]} ended= i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $word == '=' ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == '=' ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\telif [[ $word == ':' || $before == ':' ]]; then\n"
	"\t\treturn\n"
	"\tfi\n"
	"\n"
	"\t# After -- there are operands only.\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\tended=yes\n"
	"\t\tfi\n"
	"\tdone\n"
	"\n"
	"\tif [[ $COMP_CWORD == 1 ]]; then\n"
	"\t\tverb=\n"
	"\tfi\n"
	"\n";

/* Words between quotes, as _hpabake_words takes them: the next one, with a blank
 * before it but for the first. */
struct words {
	FILE *to;
	size_t n;
};

static void
put_word(struct words *words, const char *before, const char *word,
         const char *after)
{
	fprintf(words->to, "%s%s%s%s", words->n++ ? " " : "", before, word,
	        after);
}

static void
put_verbs(struct words *words)
{
	for (size_t i = 0; cli_verbs[i]; i++)
		put_word(words, "", cli_verbs[i]->name, "");
}

static void
put_options(struct words *words, const struct cli_verb *verb)
{
	const struct cli_option *row = NULL;

	while ((row = cli_next_row(verb->options, row))) {
		char brief[CLI_SHORT_SIZE];

		cli_short_form(row, brief);
		if (*brief)
			put_word(words, "", brief, "");
		put_word(words, "--", row->name, "");
	}
}

/* A name with a number that may be left out is two words. */
static void
put_names(struct words *words, const struct cli_option *row)
{
	const struct bake_name *name = row->names;

	for (; name->name; name++) {
		const char *suffix = cli_choice_suffix(row, name);

		if (*suffix != ':')
			put_word(words, "", name->name, "");
		if (*suffix)
			put_word(words, "", name->name, ":");
	}
}

/* The command that completes an option's value. */
static void
put_value(FILE *to, const struct cli_option *row)
{
	if (row->names) {
		fputs("_hpabake_words '", to);
		put_names(&(struct words){.to = to}, row);
		fputs("'; ", to);
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (!strncmp(row->takes, values[i].takes,
		             strlen(values[i].takes)))
			fprintf(to, "%s; ", values[i].how);
}

static void
put_values(FILE *to, const struct cli_verb *verb)
{
	const struct cli_option *row = NULL;

	while ((row = cli_next_row(verb->options, row))) {
		char brief[CLI_SHORT_SIZE];

		if (!row->takes)
			continue;
		cli_short_form(row, brief);
		fputs("\t\t", to);
		if (*brief)
			fprintf(to, "%s:%s | ", verb->name, brief);
		fprintf(to, "%s:--%s) ", verb->name, row->name);
		put_value(to, row);
		fputs("return ;;\n", to);
	}
}

/* What operands are is seen in the usage. */
static bool
takes(const struct cli_verb *verb, const char *operand)
{
	for (const char *const *usage = verb->usage; *usage; usage++)
		if (strstr(*usage, operand))
			return true;
	return false;
}

static bool
takes_operands(const struct cli_verb *verb)
{
	static const char options[] = "[OPTION]...";
	const char *const *usage = verb->usage;

	while (*usage && (!**usage || !strcmp(*usage, options)))
		usage++;
	return *usage != NULL;
}

static void
put_operands(FILE *to, const struct cli_verb *verb)
{
	if (!takes_operands(verb))
		return;
	fprintf(to, "\t%s) ", verb->name);
	if (takes(verb, "VERB")) {
		fputs("_hpabake_words '", to);
		put_verbs(&(struct words){.to = to});
		fputs("'", to);
	} else {
		fputs("_hpabake_files -f", to);
	}
	fputs(" ;;\n", to);
}

static void
put_option_cases(FILE *to)
{
	struct words first = {.to = to};

	for (size_t i = 0; cli_verbs[i]; i++) {
		fprintf(to, "\t\t%s:-*) _hpabake_words '", cli_verbs[i]->name);
		put_options(&(struct words){.to = to}, cli_verbs[i]);
		fputs("'; return ;;\n", to);
	}
	fputs("\t\t:*) _hpabake_words '", to);
	put_verbs(&first);
	put_options(&first, &cli_program);
	fputs("'; return ;;\n", to);
}

void
completion_write(FILE *to)
{
	fprintf(to,
	        "# Completion of hpabake %s for bash, written by "
	        "hpabake help --completion.\n\n%s%s",
	        PACKAGE_VERSION, functions, beginning);
	fputs("\tif [[ ! $ended ]]; then\n"
	      "\t\t# What an option takes\n"
	      "\t\tcase $verb:$before in\n",
	      to);
	for (size_t i = 0; cli_verbs[i]; i++)
		put_values(to, cli_verbs[i]);
	fputs("\t\tesac\n\n"
	      "\t\t# Options\n"
	      "\t\tcase $verb:$word in\n",
	      to);
	put_option_cases(to);
	fputs("\t\tesac\n"
	      "\tfi\n\n"
	      "\t# Operands\n"
	      "\tcase $verb in\n",
	      to);
	for (size_t i = 0; cli_verbs[i]; i++)
		put_operands(to, cli_verbs[i]);
	fputs("\tesac\n"
	      "}\n\n"
	      "complete -F _hpabake hpabake\n",
	      to);
}
