/* level_ldtk.c: read LDtk projects (.ldtk) and their level files (.ldtkl).
 *
 * The keys that matter, as documented at https://ldtk.io/json:
 *
 *     defs.layers[]    uid, intGridValues[] of value and identifier
 *     levels[]         identifier, layerInstances[] or externalRelPath
 *     worlds[].levels  the same, in projects of several worlds
 *     layerInstances[] __type "IntGrid", __identifier, __cWid, __cHei,
 *                      layerDefUid, intGridCsv[]
 *
 * A .ldtkl file is one element of levels[]. Levels are counted in the order of
 * the file, those of worlds[] behind those of levels[].
 *
 * An IntGrid layer holds a number for each cell. The layer is the one that the
 * user names; else the first whose name begins with `collision` or is `wall` or
 * `walls`, in any case; else the first. Of its numbers 0 is free and all others
 * block, unless the user has a rule for them. A number that has a name in the
 * project gives its cells a blocked class of that name, or the class that the
 * user has given a price under that name.
 *
 * Where all levels of a project are wanted, one after the other, its tree is
 * made once and kept, without the tiles and entities that most of it is. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "formats/level_json.h"
#include "formats/level_tiled.h"

struct reader {
	const struct level_options *options;
	struct diag *diag;
	const json_t *root;
	json_t *external; /* the level's own file, if it has one */
};

static enum diag_status
refuse(const struct reader *reader, const char *what)
{
	return diag_set(reader->diag, DIAG_BAD_INPUT, 0, "%s", what);
}

static const char *
name_of(const json_t *object, const char *key)
{
	const char *name = level_json_text(object, key);

	return name ? name : "";
}

/* Levels */

/* Is it a level file, whose one level is the root itself? */
static bool
is_level_file(const json_t *root)
{
	return json_is_array(json_object_get(root, "layerInstances"));
}

static size_t
n_levels(const json_t *root)
{
	const json_t *worlds = json_object_get(root, "worlds");
	size_t n = json_array_size(json_object_get(root, "levels"));

	if (is_level_file(root))
		return 1;
	for (size_t i = 0; i < json_array_size(worlds); i++)
		n += json_array_size(json_object_get(json_array_get(worlds, i),
		                                     "levels"));
	return n;
}

static const json_t *
level_at(const json_t *root, size_t index)
{
	const json_t *worlds = json_object_get(root, "worlds");
	const json_t *levels = json_object_get(root, "levels");

	if (is_level_file(root))
		return root;
	for (size_t i = 0; index >= json_array_size(levels); i++) {
		index -= json_array_size(levels);
		levels = json_object_get(json_array_get(worlds, i), "levels");
	}
	return json_array_get(levels, index);
}

/* Add a name to a list of them, while there is room. */
static void
list_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);
	const char *comma = used ? ", " : "";
	struct tiled_shown shown = tiled_show(name);

	if (used + strlen(shown.text) + 8 < size)
		snprintf(list + used, size - used, "%s%s", comma, shown.text);
	else if (used + 6 < size && strcmp(list + used - 3, "..."))
		snprintf(list + used, size - used, ", ...");
}

static enum diag_status
refuse_pick(const struct reader *reader, size_t n)
{
	char names[300] = "";

	for (size_t i = 0; i < n; i++)
		list_name(names, sizeof(names),
		          name_of(level_at(reader->root, i), "identifier"));
	return diag_set(reader->diag, DIAG_USAGE, 0,
	                "--pick takes one of the levels %s, not '%s'", names,
	                tiled_show(reader->options->pick).text);
}

static enum diag_status
pick_level(const struct reader *reader, size_t n, const json_t **out)
{
	const char *pick = reader->options->pick;

	if (n == 0)
		return refuse(reader, "not an LDtk project: it has no levels");
	if (!pick && reader->options->index >= n)
		return diag_set(reader->diag, DIAG_USAGE, 0,
		                "there is no level number %lu; the file has "
		                "%zu, counted from 0",
		                (unsigned long)reader->options->index, n);
	for (size_t i = 0; i < n; i++) {
		*out = level_at(reader->root, i);
		if (pick ? !strcmp(name_of(*out, "identifier"), pick)
		         : i == reader->options->index)
			return DIAG_OK;
	}
	return refuse_pick(reader, n);
}

/* The level in a file of its own, kept in reader->external. */
static enum diag_status
load_level(struct reader *reader, const char *name)
{
	struct diag diag = {.line = 0};
	const uint8_t *data = NULL;
	enum diag_status st;
	size_t size = 0;
	char line[32] = "";

	st = level_load_other(reader->options, name, &data, &size, &diag);
	if (st == DIAG_OK) {
		reader->external = level_json_read(data, size, &diag);
		st = reader->external ? DIAG_OK : diag.status;
	}
	if (st == DIAG_OK)
		return st;
	if (diag.line)
		snprintf(line, sizeof(line), "line %lu: ", diag.line);
	return diag_set(reader->diag, st, 0,
	                "level file '%s' can't be read: %s%.300s",
	                tiled_show(name).text, line, diag.text);
}

static enum diag_status
find_layers(struct reader *reader, const json_t *level, const json_t **out)
{
	const char *file = level_json_text(level, "externalRelPath");

	*out = json_object_get(level, "layerInstances");
	if (!json_is_array(*out) && file) {
		enum diag_status st = load_level(reader, file);

		if (st != DIAG_OK)
			return st;
		*out = json_object_get(reader->external, "layerInstances");
	}
	if (!json_is_array(*out))
		return refuse(reader, "the level has no layerInstances");
	return DIAG_OK;
}

/* Layers */

static bool
is_grid(const json_t *layer)
{
	return !strcmp(name_of(layer, "__type"), "IntGrid");
}

static bool
is_usual_name(const char *name)
{
	return !strncasecmp(name, "collision", strlen("collision")) ||
	       !strcasecmp(name, "wall") || !strcasecmp(name, "walls");
}

static enum diag_status
refuse_layers(const struct reader *reader, const json_t *layers)
{
	const char *wanted = reader->options->layer;
	char names[300] = "";

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *layer = json_array_get(layers, i);

		if (is_grid(layer))
			list_name(names, sizeof(names),
			          name_of(layer, "__identifier"));
	}
	if (wanted)
		return diag_set(reader->diag, DIAG_USAGE, 0,
		                "--layer takes one of the level's IntGrid "
		                "layers (%s), not '%s'",
		                names[0] ? names : "there is none",
		                tiled_show(wanted).text);
	return refuse(reader, "the level has no IntGrid layer, so nothing "
	                      "says what blocks");
}

static enum diag_status
pick_layer(const struct reader *reader, const json_t *layers,
           const json_t **out)
{
	const char *wanted = reader->options->layer;
	const json_t *first = NULL, *usual = NULL, *same = NULL;

	for (size_t i = json_array_size(layers); i-- > 0;) {
		const json_t *layer = json_array_get(layers, i);
		const char *name = name_of(layer, "__identifier");

		if (!is_grid(layer))
			continue;
		first = layer;
		if (is_usual_name(name))
			usual = layer;
		if (wanted && !strcmp(name, wanted))
			same = layer;
	}
	*out = wanted ? same : usual ? usual : first;
	return *out ? DIAG_OK : refuse_layers(reader, layers);
}

/* Values */

/* The definition of a layer: by its number, else by its name. */
static const json_t *
find_definition(const struct reader *reader, const json_t *layer)
{
	const json_t *defs = json_object_get(
		json_object_get(reader->root, "defs"), "layers");
	const json_t *uid = json_object_get(layer, "layerDefUid");

	for (size_t i = 0; i < json_array_size(defs); i++) {
		const json_t *def = json_array_get(defs, i);

		if (json_is_integer(uid)
		            ? json_equal(json_object_get(def, "uid"), uid)
		            : !strcmp(name_of(def, "identifier"),
		                      name_of(layer, "__identifier")))
			return def;
	}
	return NULL;
}

static const char *
find_value_name(const json_t *definition, json_int_t value)
{
	const json_t *values = json_object_get(definition, "intGridValues");

	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *entry = json_array_get(values, i);
		const json_t *number = json_object_get(entry, "value");

		if (json_is_integer(number) &&
		    json_integer_value(number) == value)
			return name_of(entry, "identifier");
	}
	return "";
}

/* A class by the name of a value. Where there are too many it is just
 * blocked. */
static int
named_class(const struct reader *reader, const char *name, struct level *level)
{
	const struct terrain_table *table = reader->options->terrain;
	struct terrain_class wanted = {.factor = 0};
	size_t size = strlen(name);
	int class;

	if (size == 0)
		return (int)TERRAIN_BLOCKED;
	if (size >= TERRAIN_NAME_SIZE)
		size = TERRAIN_NAME_SIZE - 1;
	/* As it has to be in a terrain file and in a baked one. */
	for (size_t i = 0; i < size; i++)
		wanted.name[i] =
			terrain_is_name_char(name[i]) ? name[i] : '_';
	class = level_add_class(level, &wanted);
	/* A value does not become free because someone called it ground. */
	if (class == (int)TERRAIN_GROUND && !(table && table->has_ground))
		return (int)TERRAIN_BLOCKED;
	return class < 0 ? (int)TERRAIN_BLOCKED : class;
}

static int
find_class(const struct reader *reader, const json_t *definition,
           uint32_t value, struct level *level)
{
	int class = terrain_lookup(reader->options->terrain, TERRAIN_VALUE,
	                           value);

	if (class >= 0)
		return class;
	if (value == 0)
		return (int)TERRAIN_GROUND;
	return named_class(reader, find_value_name(definition, value), level);
}

static enum diag_status
read_cells(const struct reader *reader, const json_t *layer,
           const json_t *values, struct level *level)
{
	const json_t *definition = find_definition(reader, layer);
	uint32_t remembered[256];
	int classes[256];

	for (size_t i = 0; i < 256; i++)
		classes[i] = -1;
	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *number = json_array_get(values, i);
		json_int_t value = json_integer_value(number);
		size_t slot = (size_t)(value & 255);

		if (!json_is_integer(number) || value < 0 ||
		    value > UINT32_MAX)
			return diag_set(reader->diag, DIAG_BAD_INPUT, 0,
			                "layer '%s': value %zu is not a "
			                "number of 0 or more",
			                tiled_show(name_of(layer,
			                                   "__identifier"))
			                        .text,
			                i);
		if (classes[slot] < 0 || remembered[slot] != value) {
			remembered[slot] = (uint32_t)value;
			classes[slot] = find_class(reader, definition,
			                           (uint32_t)value, level);
		}
		level->cells[i] = (uint8_t)classes[slot];
	}
	return DIAG_OK;
}

static enum diag_status
read_layer(const struct reader *reader, const json_t *layer,
           struct level *level)
{
	const json_t *values = json_object_get(layer, "intGridCsv");
	size_t n_values = json_array_size(values);
	int64_t width, height;
	enum diag_status st;

	if (!level_json_number(layer, "__cWid", 1, LEVEL_MAX_SIDE, 0, &width,
	                       reader->diag) ||
	    !level_json_number(layer, "__cHei", 1, LEVEL_MAX_SIDE, 0, &height,
	                       reader->diag))
		return DIAG_BAD_INPUT;
	if ((uint64_t)width * (uint64_t)height != n_values || n_values == 0)
		return diag_set(
			reader->diag, DIAG_BAD_INPUT, 0,
			"layer '%s': %zu values, not %lld x %lld",
			tiled_show(name_of(layer, "__identifier")).text,
			n_values, (long long)width, (long long)height);
	st = level_new((uint32_t)width, (uint32_t)height,
	               reader->options, level, reader->diag);
	if (st == DIAG_OK)
		st = read_cells(reader, layer, values, level);
	return st;
}

static void
set_name(struct level *level, const char *name)
{
	size_t size = strlen(name);

	if (size >= LEVEL_NAME_SIZE) {
		size = LEVEL_NAME_SIZE - 1;
		while (size > 0 && ((uint8_t)name[size] & 0xc0) == 0x80)
			size--;
	}
	memcpy(level->name, name, size);
	level->name[size] = '\0';
}

static enum diag_status
read_found_level(struct reader *reader, const json_t *level, struct level *out)
{
	const json_t *layers = NULL, *layer = NULL;
	enum diag_status st = find_layers(reader, level, &layers);

	if (st == DIAG_OK)
		st = pick_layer(reader, layers, &layer);
	if (st == DIAG_OK)
		st = read_layer(reader, layer, out);
	if (st != DIAG_OK)
		return st;
	snprintf(out->how, sizeof(out->how),
	         "IntGrid layer '%s': every value but 0 is blocked",
	         tiled_show(name_of(layer, "__identifier")).text);
	return DIAG_OK;
}

/* Say which of several levels is wrong. */
static enum diag_status
blame_level(const struct reader *reader, const json_t *level)
{
	struct diag why = *reader->diag;

	return diag_set(reader->diag, why.status, why.line, "level '%s': %.400s",
	                tiled_show(name_of(level, "identifier")).text,
	                why.text);
}

static enum diag_status
read_root(struct reader *reader, struct level *out)
{
	size_t n = n_levels(reader->root);
	const json_t *level = NULL;
	enum diag_status st = pick_level(reader, n, &level);

	if (st != DIAG_OK)
		return st;
	st = read_found_level(reader, level, out);
	if (st != DIAG_OK)
		level_free(out);
	out->n_in_file = (uint32_t)n;
	set_name(out, name_of(level, "identifier"));
	return st != DIAG_OK && n > 1 ? blame_level(reader, level) : st;
}

/* A project that is kept for its next level */

static void
release(void *root)
{
	json_decref(root);
}

/* Leave out what is much and not needed. */
static void
trim(json_t *root)
{
	static const char *const keys[] = {"autoLayerTiles", "gridTiles",
	                                   "entityInstances"};
	size_t n = n_levels(root);

	for (size_t i = 0; i < n; i++) {
		const json_t *layers =
			json_object_get(level_at(root, i), "layerInstances");

		for (size_t k = 0; k < json_array_size(layers); k++)
			for (size_t j = 0; j < sizeof(keys) / sizeof(keys[0]);
			     j++)
				json_object_del(json_array_get(layers, k),
				                keys[j]);
	}
}

static json_t *
read_or_recall(const uint8_t *data, size_t size, struct level_kept *kept,
               struct diag *diag)
{
	json_t *root;

	if (kept && kept->data)
		return json_incref(kept->data);
	root = level_json_read(data, size, diag);
	if (root && kept) {
		trim(root);
		*kept = (struct level_kept){json_incref(root), release};
	}
	return root;
}

int
ldtk_probe(const uint8_t *data, size_t size)
{
	return level_json_is_object(data, size) &&
	       (level_json_has_key(data, size, "layerInstances") ||
	        (level_json_has_key(data, size, "jsonVersion") &&
	         level_json_has_key(data, size, "defs")));
}

enum diag_status
ldtk_read(const uint8_t *data, size_t size,
          const struct level_options *options, struct level *out,
          struct diag *diag)
{
	json_t *root = read_or_recall(data, size, options->kept, diag);
	struct reader reader = {options, diag, root, NULL};
	enum diag_status st;

	*out = (struct level){0};
	if (!root)
		return diag->status;
	st = read_root(&reader, out);
	json_decref(reader.external);
	json_decref(root);
	return st;
}
