/* terrain.h: what the cells of a level are made of, and the user's say in it.
 *
 * A cell has a terrain class, a class has a cost factor: 0 is blocked, 1 plain,
 * up to 255. Every reader knows what its format's letters, values or colours
 * usually mean; a table of rules, from --terrain and --blocked, comes first. */
#ifndef FORMATS_TERRAIN_H
#define FORMATS_TERRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"

#define TERRAIN_MAX_CLASSES 64u
#define TERRAIN_MAX_RULES 1024u
#define TERRAIN_NAME_SIZE 32u

/* These two are in every level. */
#define TERRAIN_BLOCKED 0u
#define TERRAIN_GROUND 1u

struct terrain_class {
	char name[TERRAIN_NAME_SIZE];
	uint8_t factor;
	bool only_if_named; /* entered only by agents that name it, as water */
};

struct terrain_classes {
	uint32_t n;
	struct terrain_class classes[TERRAIN_MAX_CLASSES];
};

/* What a rule is about: a letter of a text format, a number (gray level, tile
 * or IntGrid value), or a colour 0xrrggbb. */
enum terrain_kind { TERRAIN_LETTER, TERRAIN_VALUE, TERRAIN_COLOUR };

struct terrain_rule {
	enum terrain_kind kind;
	uint32_t first, last; /* the keys it is for */
	uint8_t terrain;      /* its class */
};

/* The user's rules; the first that fits counts. All zero: none. */
struct terrain_table {
	struct terrain_classes classes;
	uint32_t n_rules;
	struct terrain_rule *rules;
	bool has_ground; /* the user has priced the plain class himself */
	bool has_rest;   /* `*`: what no rule is for */
	uint8_t rest;
};

/* The two classes that are always there. */
void terrain_classes_init(struct terrain_classes *classes);

/* May it be in the name of a class? Those that a baked file has room for: ASCII
 * from '!' to '~'. */
bool terrain_is_name_char(char c);

/* The class of that name, or -1. */
int terrain_find_class(const struct terrain_classes *classes, const char *name);

/* Add a class, or find the one that has all of this already. Returns its
 * number, or -1 where there are too many or the name has another factor. */
int terrain_add_class(struct terrain_classes *classes,
                      const struct terrain_class *wanted);

/* Read a terrain file:
 *
 *     # what       class   factor
 *     G            forest  3
 *     4            mud     2
 *     10-19        road    1
 *     #0000ff      water   0
 *     '7'          road    1
 *     *            ground  1
 *
 * A single character that is no digit, or any one in quotes, is a letter. Rules
 * are added behind those that are there. */
enum diag_status terrain_read(const uint8_t *data, size_t size,
                              struct terrain_table *table, struct diag *diag);

/* Add a rule for each of a comma-separated list of letters, values, ranges or
 * colours: blocked. */
enum diag_status terrain_block(const char *list, struct terrain_table *table,
                               struct diag *diag);

void terrain_free(struct terrain_table *table);

/* The class that the user gives a key, or -1 if he says nothing about it. table
 * may be NULL. */
int terrain_lookup(const struct terrain_table *table, enum terrain_kind kind,
                   uint32_t key);

#endif
