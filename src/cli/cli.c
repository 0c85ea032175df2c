/* cli.c: parse a command line, and describe it, from a table of options.
 *
 * Options may stand before, between and after the operands; `--` ends them. A
 * value follows as --name=value, --name value, -nvalue or -n value. Letters
 * without a value may share one dash; a word after one dash, as compilers have
 * them, comes before letters. A dash with a digit is a negative number
 * and no option, so that coordinates need no `--`. */
#include "src/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/file.h"

#define HELP_COLUMN 28
#define HELP_WIDTH 79

static const struct cli_option help_row = {
	.kind = CLI_SWITCH,
	.letter = 'h',
	.name = "help",
	.what = "print this help",
};

const struct cli_option *
cli_next_row(const struct cli_option *options, const struct cli_option *row)
{
	if (row == &help_row)
		return NULL;
	row = row ? row + 1 : options;
	return row->kind == CLI_END ? &help_row : row;
}

/* The rest of the command line while it is parsed. */
struct parser {
	int argc, next;
	char **argv;
	void *into;
	bool help;
	struct diag *diag;
};

bool
cli_parse_long(const char *text, long *out)
{
	const char *digits = text + (*text == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtol(text, &end, 10);
	return *end == '\0' && errno == 0;
}

const char *
cli_name_of(const struct bake_name *names, int value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return "?";
}

void
cli_set_file(struct diag *diag, const char *file)
{
	size_t size;

	if (!strcmp(file, FILE_STDIN))
		file = "standard input";
	else if (!*file)
		file = "''";
	size = strlen(file);
	if (size >= sizeof(diag->file))
		size = sizeof(diag->file) - 1;
	memcpy(diag->file, file, size);
	diag->file[size] = '\0';
}

enum diag_status
cli_failed(struct diag *diag, const char *file, int error)
{
	cli_set_file(diag, file);
	return diag_set(diag, DIAG_FAILED, 0, "%s", strerror(error));
}

enum diag_status
cli_write_failed(struct diag *diag)
{
	cli_set_file(diag, "standard output");
	return diag_set(diag, DIAG_FAILED, 0, "%s",
	                errno ? strerror(errno) : "can't be written to");
}

enum diag_status
cli_write_stdout(const void *data, size_t size, struct diag *diag)
{
	errno = 0;
	if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
		return cli_write_failed(diag);
	return DIAG_OK;
}

const char *
cli_choice_suffix(const struct cli_option *row, const struct bake_name *name)
{
	if (!row->counted || strcmp(row->counted, name->name) != 0)
		return "";
	return row->count_is_optional ? "[:K]" : ":K";
}

void *
cli_new_options(const struct cli_verb *verb)
{
	void *options = calloc(1, verb->options_size);

	if (options && verb->set_defaults)
		verb->set_defaults(options);
	return options;
}

/* What an option takes, in words, into text. */
static void
describe_value(const struct cli_option *row, char *text, size_t size)
{
	const struct bake_name *name = row->names;
	size_t used = 0;

	switch (row->kind) {
	case CLI_NUMBER:
		snprintf(text, size, "a number from %" PRIu32 " to %" PRIu32,
		         row->min, row->max);
		break;
	case CLI_SIZE:
		snprintf(text, size,
		         "WxH with numbers from %" PRIu32 " to %" PRIu32,
		         row->min, row->max);
		break;
	case CLI_BYTES:
		snprintf(text, size, "a number of bytes, or of K, M or G");
		break;
	case CLI_CHOICE:
		for (; name->name && used < size; name++) {
			const char *glue = name == row->names ? ""
			                   : name[1].name     ? ", "
			                                      : " or ";

			used += (size_t)snprintf(text + used, size - used,
			                         "%s%s%s", glue, name->name,
			                         cli_choice_suffix(row, name));
		}
		if (row->counted && used < size)
			snprintf(text + used, size - used,
			         " with K from %" PRIu32 " to %" PRIu32,
			         row->min, row->max);
		break;
	case CLI_TEXT:
	case CLI_LIST:
		snprintf(text, size, "%s %s",
		         strchr("AEIOU", *row->takes) ? "an" : "a", row->takes);
		break;
	case CLI_SWITCH:
	case CLI_END:
		snprintf(text, size, "no value");
		break;
	}
}

static bool
add_item(const char *value, struct cli_list *list)
{
	if (list->n == CLI_MAX_LIST)
		return false;
	list->items[list->n++] = value;
	return true;
}

static enum diag_status
refuse_value(const struct parser *parser, const struct cli_option *row,
             const char *value)
{
	char takes[256];

	describe_value(row, takes, sizeof(takes));
	if (!value)
		return diag_set(parser->diag, DIAG_USAGE, 0,
		                "--%s takes %s, and there is none", row->name,
		                takes);
	return diag_set(parser->diag, DIAG_USAGE, 0, "--%s takes %s, not '%s'",
	                row->name, takes, value);
}

static bool
parse_number(const struct cli_option *row, const char *text, uint32_t *out)
{
	long number;

	if (!cli_parse_long(text, &number) || number < (long)row->min ||
	    number > (long)row->max)
		return false;
	*out = (uint32_t)number;
	return true;
}

static bool
parse_size(const struct cli_option *row, const char *text, struct cli_size *out)
{
	const char *cross = strchr(text, 'x');
	char width[16];
	size_t digits = cross ? (size_t)(cross - text) : 0;

	if (!cross || digits >= sizeof(width))
		return false;
	memcpy(width, text, digits);
	width[digits] = '\0';
	return parse_number(row, width, &out->width) &&
	       parse_number(row, cross + 1, &out->height);
}

static bool
parse_bytes(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	const char *suffix = text[digits] ? strchr(suffixes, text[digits])
	                                  : NULL;
	unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
	uint64_t number = 0;

	if (digits == 0 || digits > 18 ||
	    (text[digits] && (!suffix || text[digits + 1])))
		return false;
	for (size_t i = 0; i < digits; i++)
		number = 10 * number + (uint64_t)(text[i] - '0');
	if (number == 0 || number > UINT64_MAX >> shift)
		return false;
	*out = number << shift;
	return true;
}

static bool
parse_choice(const struct cli_option *row, const char *text,
             struct cli_choice *out)
{
	const struct bake_name *name = row->names;
	size_t size = strcspn(text, ":");
	struct cli_choice choice = {0, 0};

	while (name->name && (strlen(name->name) != size ||
	                      memcmp(name->name, text, size) != 0))
		name++;
	if (!name->name)
		return false;
	choice.value = name->value;
	if (*cli_choice_suffix(row, name) &&
	    (text[size] || !row->count_is_optional)) {
		if (text[size] != ':' ||
		    !parse_number(row, text + size + 1, &choice.number))
			return false;
	} else if (text[size]) {
		return false;
	}
	*out = choice;
	return true;
}

/* Store an option's value (NULL: it came without one). */
static enum diag_status
store(struct parser *parser, const struct cli_option *row, const char *value)
{
	void *field = (char *)parser->into + row->offset;
	bool good = value != NULL;

	if (row == &help_row) {
		parser->help = true;
		return DIAG_OK;
	}
	if (row->given)
		*(bool *)((char *)parser->into + row->given) = true;
	switch (row->kind) {
	case CLI_SWITCH:
		*(bool *)field = !row->is_off;
		return DIAG_OK;
	case CLI_TEXT:
		good = good && *value;
		if (good)
			*(const char **)field = value;
		break;
	case CLI_LIST:
		good = good && *value && add_item(value, field);
		break;
	case CLI_NUMBER:
		good = good && parse_number(row, value, field);
		break;
	case CLI_SIZE:
		good = good && parse_size(row, value, field);
		break;
	case CLI_BYTES:
		good = good && parse_bytes(value, field);
		break;
	case CLI_CHOICE:
		good = good && parse_choice(row, value, field);
		break;
	case CLI_END:
		break;
	}
	return good ? DIAG_OK : refuse_value(parser, row, value);
}

static const char *
next_argument(struct parser *parser)
{
	return parser->next < parser->argc ? parser->argv[parser->next++] : NULL;
}

/* What a row can be found by. */
enum key { BY_NAME, BY_WORD, BY_LETTER };

static bool
is_called(const struct cli_option *row, enum key key, const char *text,
          size_t size)
{
	const char *name = key == BY_NAME ? row->name : row->word;

	if (key == BY_LETTER)
		return row->letter == *text;
	return name && strlen(name) == size && !memcmp(name, text, size);
}

/* The row that has this name or word, of that size, or this letter. */
static const struct cli_option *
find_row(const struct cli_option *options, enum key key, const char *text,
         size_t size)
{
	const struct cli_option *row = NULL;

	while ((row = cli_next_row(options, row)))
		if (is_called(row, key, text, size))
			return row;
	return NULL;
}

static enum diag_status
parse_long_option(struct parser *parser, const struct cli_option *options,
                  const char *text)
{
	size_t size = strcspn(text, "=");
	const struct cli_option *row = find_row(options, BY_NAME, text, size);

	if (!row)
		return diag_set(parser->diag, DIAG_USAGE, 0,
		                "there is no option --%.*s", (int)size, text);
	if (row->kind == CLI_SWITCH)
		return text[size] ? refuse_value(parser, row, text + size + 1)
		                  : store(parser, row, NULL);
	return store(parser, row,
	             text[size] ? text + size + 1 : next_argument(parser));
}

static enum diag_status
parse_letters(struct parser *parser, const struct cli_option *options,
              const char *text)
{
	const struct cli_option *word =
		find_row(options, BY_WORD, text, strlen(text));

	if (word)
		return store(parser, word,
		             word->kind == CLI_SWITCH ? NULL
		                                      : next_argument(parser));
	for (; *text; text++) {
		const struct cli_option *row =
			find_row(options, BY_LETTER, text, 1);
		enum diag_status status;

		if (!row)
			return diag_set(parser->diag, DIAG_USAGE, 0,
			                "there is no option -%c", *text);
		if (row->kind != CLI_SWITCH)
			return store(parser, row,
			             text[1] ? text + 1
			                     : next_argument(parser));
		status = store(parser, row, NULL);
		if (status)
			return status;
	}
	return DIAG_OK;
}

static bool
is_operand(const char *text)
{
	return text[0] != '-' || text[1] == '\0' ||
	       (text[1] >= '0' && text[1] <= '9');
}

enum diag_status
cli_parse(const struct cli_option *options, int argc, char **argv, void *into,
          int *n_operands, bool *help, struct diag *diag)
{
	struct parser parser = {argc, 0, argv, into, false, diag};
	enum diag_status status = DIAG_OK;
	bool ended = false;

	*n_operands = 0;
	while (!status && !parser.help && parser.next < argc) {
		char *text = argv[parser.next++];

		if (ended || is_operand(text))
			argv[(*n_operands)++] = text;
		else if (!strcmp(text, "--"))
			ended = true;
		else if (text[1] == '-')
			status = parse_long_option(&parser, options, text + 2);
		else
			status = parse_letters(&parser, options, text + 1);
	}
	*help = parser.help;
	return status;
}

/* Print words from `column` on, wrapped, every line from HELP_COLUMN on. */
static void
print_wrapped(const char *text, int column)
{
	bool first = true;

	while (*text) {
		int size = (int)strcspn(text, " ");

		if (column + !first + size > HELP_WIDTH ||
		    (first && column >= HELP_COLUMN)) {
			printf("\n");
			column = 0;
			first = true;
		}
		if (first) {
			printf("%*s", HELP_COLUMN - column, "");
			column = HELP_COLUMN;
		}
		column += printf("%s%.*s", first ? "" : " ", size, text);
		first = false;
		text += size + (text[size] == ' ');
	}
	printf("\n");
}

void
cli_short_form(const struct cli_option *row, char text[CLI_SHORT_SIZE])
{
	*text = '\0';
	if (row->word)
		snprintf(text, CLI_SHORT_SIZE, "-%s", row->word);
	else if (row->letter)
		snprintf(text, CLI_SHORT_SIZE, "-%c", row->letter);
}

void
cli_describe_row(const struct cli_option *row, const void *into, char *text,
                 size_t size)
{
	const void *field = (const char *)into + row->offset;
	uint32_t number;

	if (row->kind != CLI_NUMBER) {
		snprintf(text, size, "%s", row->what);
		return;
	}
	number = *(const uint32_t *)field;
	if (number >= row->min)
		snprintf(text, size,
		         "%s (%" PRIu32 " to %" PRIu32 ", default %" PRIu32 ")",
		         row->what, row->min, row->max, number);
	else
		snprintf(text, size, "%s (%" PRIu32 " to %" PRIu32 ")",
		         row->what, row->min, row->max);
}

void
cli_describe_choice(const struct cli_option *row, const struct bake_name *name,
                    const void *into, char *text, size_t size)
{
	const struct cli_choice *chosen =
		(const void *)((const char *)into + row->offset);
	const char *mark = name->value == chosen->value ? " (default)" : "";

	if (*cli_choice_suffix(row, name))
		snprintf(text, size, "%s, K from %" PRIu32 " to %" PRIu32 "%s",
		         name->what, row->min, row->max, mark);
	else
		snprintf(text, size, "%s%s", name->what, mark);
}

static void
print_choices(const struct cli_option *row, const void *into)
{
	const struct bake_name *name = row->names;

	for (; name->name; name++) {
		char text[CLI_TEXT_SIZE];
		int column = printf("        %s%s", name->name,
		                    cli_choice_suffix(row, name));

		cli_describe_choice(row, name, into, text, sizeof(text));
		print_wrapped(text, column);
	}
}

static void
print_row(const struct cli_option *row, const void *into)
{
	char text[CLI_TEXT_SIZE], brief[CLI_SHORT_SIZE];
	int column;

	cli_short_form(row, brief);
	column = printf(" %3s%c --%s%s%s", brief, *brief ? ',' : ' ',
	                row->name, row->takes ? " " : "",
	                row->takes ? row->takes : "");
	cli_describe_row(row, into, text, sizeof(text));
	print_wrapped(text, column);
	if (row->kind == CLI_CHOICE)
		print_choices(row, into);
}

void
cli_print_options(const struct cli_option *options, const void *into)
{
	const struct cli_option *row = NULL;

	while ((row = cli_next_row(options, row)))
		print_row(row, into);
}
