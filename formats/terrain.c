/* terrain.c: terrain classes, and the rules that map keys to them.
 *
 * A terrain file is one rule a line: key, class, factor. A key says by its look
 * what it is: `#rrggbb` a colour, a number or a range of two a value, a single
 * character or a quoted one a letter, `*` the rest. A line that begins with `#`
 * and is no colour is a comment. */
#include "formats/terrain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 3u
#define MAX_FACTOR 255u
#define MAX_VALUE 0xffffffffu

void
terrain_classes_init(struct terrain_classes *classes)
{
	*classes = (struct terrain_classes){
		.n = 2,
		.classes = {[TERRAIN_BLOCKED] = {"blocked", 0, false},
	                    [TERRAIN_GROUND] = {"ground", 1, false}},
	};
}

bool
terrain_is_name_char(char c)
{
	return c > ' ' && c < 0x7f;
}

int
terrain_find_class(const struct terrain_classes *classes, const char *name)
{
	for (uint32_t i = 0; i < classes->n; i++)
		if (!strcmp(classes->classes[i].name, name))
			return (int)i;
	return -1;
}

int
terrain_add_class(struct terrain_classes *classes,
                  const struct terrain_class *wanted)
{
	int found = terrain_find_class(classes, wanted->name);

	if (found >= 0) {
		const struct terrain_class *has = &classes->classes[found];

		return has->factor == wanted->factor &&
		                       has->only_if_named ==
		                               wanted->only_if_named
		               ? found
		               : -1;
	}
	if (classes->n == TERRAIN_MAX_CLASSES)
		return -1;
	classes->classes[classes->n] = *wanted;
	return (int)classes->n++;
}

/* A part of a line; not ended by NUL. */
struct word {
	const char *text;
	size_t size;
};

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool
parse_colour(struct word word, uint32_t *out)
{
	if (word.size != 7 || word.text[0] != '#')
		return false;
	*out = 0;
	for (size_t i = 1; i < word.size; i++) {
		int digit = hex_digit(word.text[i]);

		if (digit < 0)
			return false;
		*out = *out << 4 | (uint32_t)digit;
	}
	return true;
}

static bool
parse_number(struct word word, uint32_t max, uint32_t *out)
{
	uint64_t number = 0;

	if (word.size == 0)
		return false;
	for (size_t i = 0; i < word.size; i++) {
		if (word.text[i] < '0' || word.text[i] > '9')
			return false;
		number = 10 * number + (uint64_t)(word.text[i] - '0');
		if (number > max)
			return false;
	}
	*out = (uint32_t)number;
	return true;
}

static bool
parse_range(struct word word, uint32_t *first, uint32_t *last)
{
	const char *dash = memchr(word.text, '-', word.size);
	struct word low = word, high = word;

	if (dash) {
		low.size = (size_t)(dash - word.text);
		high.text = dash + 1;
		high.size = word.size - low.size - 1;
	}
	return parse_number(low, MAX_VALUE, first) &&
	       parse_number(high, MAX_VALUE, last) && *first <= *last;
}

static bool
parse_letter(struct word word, uint32_t *out)
{
	bool quoted = word.size == 3 && word.text[0] == '\'' &&
	              word.text[2] == '\'';

	if (!quoted && word.size != 1)
		return false;
	*out = (uint8_t)word.text[quoted ? 1 : 0];
	return true;
}

/* A key as a rule without a class. */
static bool
parse_key(struct word word, struct terrain_rule *rule)
{
	if (parse_colour(word, &rule->first)) {
		rule->kind = TERRAIN_COLOUR;
		rule->last = rule->first;
	} else if (parse_range(word, &rule->first, &rule->last)) {
		rule->kind = TERRAIN_VALUE;
	} else if (parse_letter(word, &rule->first)) {
		rule->kind = TERRAIN_LETTER;
		rule->last = rule->first;
	} else {
		return false;
	}
	return true;
}

static enum diag_status
add_rule(struct terrain_table *table, struct terrain_rule rule,
         unsigned long line, struct diag *diag)
{
	struct terrain_rule *more;

	if (table->n_rules == TERRAIN_MAX_RULES)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "more than %u terrain rules",
		                TERRAIN_MAX_RULES);
	more = realloc(table->rules, (table->n_rules + 1u) * sizeof(*more));
	if (!more)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	table->rules = more;
	more[table->n_rules++] = rule;
	return DIAG_OK;
}

/* Classes are there before the first rule is. */
static void
begin_table(struct terrain_table *table)
{
	if (table->classes.n == 0)
		terrain_classes_init(&table->classes);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cut a line into words; returns their number, MAX_WORDS + 1 for more. */
static size_t
split(struct word line, struct word *words)
{
	size_t n = 0, i = 0;

	while (i < line.size) {
		size_t begin;

		while (i < line.size && is_space(line.text[i]))
			i++;
		begin = i;
		while (i < line.size && !is_space(line.text[i]))
			i++;
		if (i == begin)
			break;
		if (n == MAX_WORDS)
			return MAX_WORDS + 1;
		words[n++] = (struct word){line.text + begin, i - begin};
	}
	return n;
}

static bool
is_name(struct word name)
{
	for (size_t i = 0; i < name.size; i++)
		if (!terrain_is_name_char(name.text[i]))
			return false;
	return true;
}

static enum diag_status
read_class(struct terrain_table *table, struct word name, struct word factor,
           unsigned long line, struct diag *diag, uint8_t *out)
{
	struct terrain_class wanted = {.factor = 0};
	uint32_t number;
	int found;

	if (name.size >= TERRAIN_NAME_SIZE)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "class name is longer than %u characters",
		                TERRAIN_NAME_SIZE - 1);
	if (!is_name(name))
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "a class name is plain ASCII");
	if (!parse_number(factor, MAX_FACTOR, &number))
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "factor '%.*s' is not a number from 0 to %u",
		                (int)(factor.size < 40 ? factor.size : 40),
		                factor.text, MAX_FACTOR);
	memcpy(wanted.name, name.text, name.size);
	wanted.factor = (uint8_t)number;
	found = terrain_find_class(&table->classes, wanted.name);
	if (found == TERRAIN_GROUND && !table->has_ground) {
		table->has_ground = true;
		table->classes.classes[found].factor = wanted.factor;
	}
	found = terrain_add_class(&table->classes, &wanted);
	if (found < 0)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "class '%s' has two factors, or there are "
		                "more than %u classes",
		                wanted.name, TERRAIN_MAX_CLASSES);
	*out = (uint8_t)found;
	return DIAG_OK;
}

static enum diag_status
read_rule(struct terrain_table *table, struct word line, unsigned long number,
          struct diag *diag)
{
	struct word words[MAX_WORDS];
	struct terrain_rule rule = {.first = 0};
	size_t n = split(line, words);
	bool is_rest;
	enum diag_status st;

	if (n == 0 || (words[0].text[0] == '#' &&
	               !parse_colour(words[0], &rule.first)))
		return DIAG_OK;
	if (n != MAX_WORDS)
		return diag_set(diag, DIAG_BAD_INPUT, number,
		                "a terrain rule is: what, class, factor");
	is_rest = words[0].size == 1 && words[0].text[0] == '*';
	if (!is_rest && !parse_key(words[0], &rule))
		return diag_set(diag, DIAG_BAD_INPUT, number,
		                "'%.*s' is no letter, value, range, #rrggbb "
		                "or *",
		                (int)(words[0].size < 40 ? words[0].size : 40),
		                words[0].text);
	st = read_class(table, words[1], words[2], number, diag, &rule.terrain);
	if (st != DIAG_OK)
		return st;
	if (!is_rest)
		return add_rule(table, rule, number, diag);
	table->has_rest = true;
	table->rest = rule.terrain;
	return DIAG_OK;
}

enum diag_status
terrain_read(const uint8_t *data, size_t size, struct terrain_table *table,
             struct diag *diag)
{
	const char *at = (const char *)data, *end = at + size;
	enum diag_status st = DIAG_OK;

	begin_table(table);
	for (unsigned long line = 1; at < end && st == DIAG_OK; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		st = read_rule(table, (struct word){at, (size_t)(stop - at)},
		               line, diag);
		at = newline ? newline + 1 : end;
	}
	return st;
}

/* How long the first entry of a list is. A comma where an entry begins is a
 * letter, and so is a quoted one; any other ends the entry. */
static size_t
entry_size(const char *list)
{
	static const char quoted[] = "','";
	size_t n = sizeof(quoted) - 1;

	if (*list == ',')
		return 1;
	return strncmp(list, quoted, n) != 0 ? strcspn(list, ",")
	                                     : n + strcspn(list + n, ",");
}

enum diag_status
terrain_block(const char *list, struct terrain_table *table, struct diag *diag)
{
	enum diag_status st = DIAG_OK;

	begin_table(table);
	while (*list && st == DIAG_OK) {
		struct word word = {list, entry_size(list)};
		struct terrain_rule rule = {.terrain = TERRAIN_BLOCKED};

		if (!parse_key(word, &rule))
			return diag_set(diag, DIAG_USAGE, 0,
			                "--blocked takes letters, values, "
			                "ranges or #rrggbb, with commas "
			                "between them, not '%.40s'",
			                list);
		st = add_rule(table, rule, 0, diag);
		list += word.size;
		list += *list == ',';
	}
	return st;
}

void
terrain_free(struct terrain_table *table)
{
	free(table->rules);
	*table = (struct terrain_table){.n_rules = 0};
}

int
terrain_lookup(const struct terrain_table *table, enum terrain_kind kind,
               uint32_t key)
{
	if (!table)
		return -1;
	for (uint32_t i = 0; i < table->n_rules; i++) {
		const struct terrain_rule *rule = &table->rules[i];

		if (rule->kind == kind && rule->first <= key &&
		    key <= rule->last)
			return rule->terrain;
	}
	return table->has_rest ? table->rest : -1;
}
