/* level_tiled.c: from the layers of a Tiled map to a level.
 *
 * A map of Tiled (https://doc.mapeditor.org) has layers of tiles, and tilesets
 * whose tiles may have properties. A tile is a number: 0 is none, others count
 * through all tilesets of the map, each of which begins at its `firstgid`; the
 * four highest bits say how the tile is flipped and are left out here.
 *
 * Nothing in a map says by itself where units can't go. What says so is the
 * first of these that there is:
 *
 *   1. --layer: each tile of the layers of that name blocks, or, with
 *      --property, each of their tiles that has the property;
 *   2. --property: in all layers, each tile with that property set to true;
 *   3. the layers named `collision`, `collisions` or `collides`, in any case;
 *   4. --terrain or --blocked, if there is only one layer;
 *   5. tiles with a property `collides`, `collision`, `blocked` or `solid` set
 *      to true, in all layers.
 *
 * Otherwise the map is refused. Where layers were chosen (1, 3, 4), the user's
 * rules by value are about the numbers of their tiles, 0 where none of them has
 * one. Tiles without a rule block, unless a rule blocks something: then only
 * what rules block is blocked. Where properties decide (2, 5), rules are about
 * the tiles of all layers and come before properties. A cell is blocked if one
 * of its tiles is, otherwise its topmost tile with a rule decides.
 *
 * Infinite maps come in chunks at any place, also left of and above 0,0. The
 * level is the smallest rectangle around all chunks of the layers that decide:
 * cell 0,0 of the level is the upper left tile of that rectangle. Where there
 * is no chunk there are no tiles.
 *
 * Sizes are believed when the data can hold them: csv needs two bytes a tile,
 * deflate makes at most 1032 bytes of one, zstd at most 128 KiB of a block of
 * four. Tiles go from the decoder into the level without being gathered. */
#include "formats/level_tiled.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ZLIB_CONST
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "formats/level_json.h"

#define FLIP_BITS 0xf0000000u
#define TILE_SIZE 4u
#define DEFLATE_RATIO 1032u
#define ZSTD_RATIO 32768u
#define WINDOW_SIZE 32768u
#define NO_TILE 0xffu /* for a class: the cell has no tile so far */

/* An infinite map larger than this has chunks in a good part of it. */
#define SPARSE_CELLS ((uint64_t)1 << 22)
#define SPARSE_RATIO 1024u

static const char *const usual_layers[] = {"collision", "collisions",
                                           "collides"};
static const char *const usual_properties[] = {"collides", "collision",
                                               "blocked", "solid"};
#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

struct tiled_shown
tiled_show(const char *text)
{
	struct tiled_shown out = {""};
	size_t size = strlen(text);
	size_t used = size;

	if (size >= sizeof(out.text) - 3) {
		used = sizeof(out.text) - 4;
		while (used > 0 && ((uint8_t)text[used] & 0xc0) == 0x80)
			used--;
	}
	for (size_t i = 0; i < used; i++)
		out.text[i] = (uint8_t)text[i] < ' ' || text[i] == 0x7f
		                      ? '?'
		                      : text[i];
	if (used < size)
		memcpy(out.text + used, "...", 3);
	return out;
}

void
tiled_free(struct tiled_map *map)
{
	free(map->bytes);
	free(map->layers);
	free(map->chunks);
	free(map->tilesets);
	free(map->blocking);
	*map = (struct tiled_map){0};
}

/* Room for `more` elements behind the n that are there. Returns where the
 * elements are now, or NULL. */
static void *
make_room(struct tiled_map *map, void *elements, size_t n, size_t more,
          size_t element_size, size_t *room)
{
	size_t wanted = *room ? *room : 16;
	void *bigger;

	if (elements && more <= *room - n)
		return elements;
	if (more > SIZE_MAX / 4 / element_size - n) {
		diag_set(map->diag, DIAG_FAILED, 0, "out of memory");
		return NULL;
	}
	while (wanted - n < more)
		wanted *= 2;
	bigger = realloc(elements, wanted * element_size);
	if (!bigger)
		diag_set(map->diag, DIAG_FAILED, 0, "out of memory");
	else
		*room = wanted;
	return bigger;
}

static enum diag_status
add_bytes(struct tiled_map *map, const void *data, size_t size)
{
	uint8_t *bytes = make_room(map, map->bytes, map->n_bytes, size, 1,
	                           &map->bytes_room);

	if (!bytes)
		return DIAG_FAILED;
	map->bytes = bytes;
	if (size > 0)
		memcpy(bytes + map->n_bytes, data, size);
	map->n_bytes += size;
	return DIAG_OK;
}

static enum diag_status
add_text(struct tiled_map *map, const char *text, size_t *where)
{
	*where = map->n_bytes;
	return add_bytes(map, text, strlen(text) + 1);
}

static const char *
text_at(const struct tiled_map *map, size_t where)
{
	return (const char *)map->bytes + where;
}

static const char *
layer_name(const struct tiled_map *map, size_t layer)
{
	return text_at(map, map->layers[layer].name);
}

enum diag_status
tiled_set_orientation(struct tiled_map *map, const char *name,
                      unsigned long line)
{
	if (!name || !strcmp(name, "orthogonal"))
		return DIAG_OK;
	return diag_set(map->diag, DIAG_BAD_INPUT, line,
	                "maps that are '%s' are not supported "
	                "(orthogonal ones are)",
	                tiled_show(name).text);
}

enum diag_status
tiled_add_layer(struct tiled_map *map, const char *name, uint32_t width,
                uint32_t height, unsigned long line)
{
	struct tiled_layer layer = {
		.width = width, .height = height, .line = line};
	struct tiled_layer *layers =
		make_room(map, map->layers, map->n_layers, 1, sizeof(*layers),
	                  &map->layers_room);

	if (!layers)
		return DIAG_FAILED;
	map->layers = layers;
	if (add_text(map, name, &layer.name) != DIAG_OK)
		return DIAG_FAILED;
	layers[map->n_layers++] = layer;
	return DIAG_OK;
}

/* What is wrong with a layer; printf-like. */
static enum diag_status
refuse_layer(const struct tiled_map *map, size_t layer, unsigned long line,
             const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum diag_status
refuse_layer(const struct tiled_map *map, size_t layer, unsigned long line,
             const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return diag_set(map->diag, DIAG_BAD_INPUT, line, "layer '%s': %s",
	                tiled_show(layer_name(map, layer)).text, text);
}

static bool
find_coding(const char *name, enum tiled_coding *out)
{
	if (!name || !*name)
		*out = TILED_PLAIN;
	else if (!strcmp(name, "csv"))
		*out = TILED_CSV;
	else if (!strcmp(name, "base64"))
		*out = TILED_BASE64;
	else
		return false;
	return true;
}

static bool
find_packing(const char *name, enum tiled_packing *out)
{
	if (!name || !*name)
		*out = TILED_STORED;
	else if (!strcmp(name, "zlib") || !strcmp(name, "gzip"))
		*out = TILED_DEFLATED;
	else if (!strcmp(name, "zstd"))
		*out = TILED_ZSTD;
	else
		return false;
	return true;
}

enum diag_status
tiled_add_chunk(struct tiled_map *map, struct tiled_place place,
                const char *encoding, const char *compression,
                unsigned long line)
{
	struct tiled_chunk chunk = {.place = place,
	                            .layer = map->n_layers - 1,
	                            .begin = map->n_bytes,
	                            .line = line};
	struct tiled_chunk *chunks;

	if (!find_coding(encoding, &chunk.coding))
		return refuse_layer(map, chunk.layer, line,
		                    "encoding '%s' is not supported (csv and "
		                    "base64 are)",
		                    tiled_show(encoding).text);
	if (!find_packing(compression, &chunk.packing))
		return refuse_layer(map, chunk.layer, line,
		                    "compression '%s' is not supported (zlib, "
		                    "gzip and zstd are)",
		                    tiled_show(compression).text);
	if (chunk.packing != TILED_STORED && chunk.coding != TILED_BASE64)
		return refuse_layer(map, chunk.layer, line,
		                    "compressed, but not base64");
	chunks = make_room(map, map->chunks, map->n_chunks, 1, sizeof(*chunks),
	                   &map->chunks_room);
	if (!chunks)
		return DIAG_FAILED;
	map->chunks = chunks;
	chunks[map->n_chunks++] = chunk;
	return DIAG_OK;
}

enum diag_status
tiled_add_data(struct tiled_map *map, const void *data, size_t size)
{
	enum diag_status st = add_bytes(map, data, size);

	if (st == DIAG_OK)
		map->chunks[map->n_chunks - 1].size += size;
	return st;
}

enum diag_status
tiled_add_tile(struct tiled_map *map, uint32_t id)
{
	const uint8_t bytes[TILE_SIZE] = {(uint8_t)id, (uint8_t)(id >> 8),
	                                  (uint8_t)(id >> 16),
	                                  (uint8_t)(id >> 24)};

	return tiled_add_data(map, bytes, sizeof(bytes));
}

enum diag_status
tiled_add_tileset(struct tiled_map *map, uint32_t first, const char *source,
                  unsigned long line)
{
	struct tiled_tileset tileset = {
		.source = TILED_INLINE, .first = first, .line = line};
	struct tiled_tileset *tilesets =
		make_room(map, map->tilesets, map->n_tilesets, 1,
	                  sizeof(*tilesets), &map->tilesets_room);

	if (!tilesets)
		return DIAG_FAILED;
	map->tilesets = tilesets;
	if (source && add_text(map, source, &tileset.source) != DIAG_OK)
		return DIAG_FAILED;
	tilesets[map->n_tilesets++] = tileset;
	return DIAG_OK;
}

bool
tiled_is_true(const char *value)
{
	return !strcasecmp(value, "true") || !strcmp(value, "1");
}

static bool
is_blocking_property(const struct level_options *options, const char *name)
{
	if (options->property)
		return !strcmp(options->property, name);
	for (size_t i = 0; i < N_ELEMENTS(usual_properties); i++)
		if (!strcasecmp(usual_properties[i], name))
			return true;
	return false;
}

enum diag_status
tiled_add_property(struct tiled_map *map, uint32_t first, uint32_t tile,
                   const char *name)
{
	uint32_t *blocking;

	if (!is_blocking_property(map->options, name) ||
	    first > ~FLIP_BITS || tile > ~FLIP_BITS - first)
		return DIAG_OK;
	blocking = make_room(map, map->blocking, map->n_blocking, 1,
	                     sizeof(*blocking), &map->blocking_room);
	if (!blocking)
		return DIAG_FAILED;
	map->blocking = blocking;
	blocking[map->n_blocking++] = first + tile;
	return DIAG_OK;
}

/* Tilesets in files of their own */

static enum diag_status
read_tileset_bytes(struct tiled_map *map, uint32_t first, const uint8_t *data,
                   size_t size, struct diag *diag)
{
	if (level_json_is_object(data, size))
		return tiled_read_tsj(map, first, data, size, diag);
#ifdef HAVE_EXPAT
	return tiled_read_tsx(map, first, data, size, diag);
#else
	return diag_set(diag, DIAG_FAILED, 0,
	                "this hpabake was built without expat");
#endif
}

static enum diag_status
read_tileset(struct tiled_map *map, const struct tiled_tileset *tileset)
{
	const char *name = text_at(map, tileset->source);
	struct diag diag = {.line = 0};
	const uint8_t *data = NULL;
	enum diag_status st;
	size_t size = 0;
	char line[32] = "";

	st = level_load_other(map->options, name, &data, &size, &diag);
	if (st == DIAG_OK)
		st = read_tileset_bytes(map, tileset->first, data, size, &diag);
	if (st == DIAG_OK)
		return st;
	if (diag.line)
		snprintf(line, sizeof(line), "line %lu: ", diag.line);
	/* The name may have moved. */
	name = text_at(map, tileset->source);
	return diag_set(map->diag, st, tileset->line,
	                "tileset '%s' can't be read: %s%.200s%s",
	                tiled_show(name).text, line, diag.text,
	                map->options->property
	                        ? ""
	                        : "; it is looked into because no layer of "
	                          "tiles is named 'collision' (--layer names "
	                          "one)");
}

static enum diag_status
read_tilesets(struct tiled_map *map)
{
	enum diag_status st = DIAG_OK;

	for (size_t i = 0; i < map->n_tilesets && st == DIAG_OK; i++)
		if (map->tilesets[i].source != TILED_INLINE)
			st = read_tileset(map, &map->tilesets[i]);
	return st;
}

static int
compare_ids(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* What decides: the layers that are chosen, and this */
struct choice {
	size_t n_layers; /* that are chosen */
	bool by_property;
	bool only_rules; /* the rules say all that is blocked */
};

static void
choose_layer(struct tiled_map *map, size_t layer, struct choice *choice)
{
	choice->n_layers += !map->layers[layer].is_chosen;
	map->layers[layer].is_chosen = true;
}

/* All layers of that name. */
static void
choose_named(struct tiled_map *map, const char *name,
             int (*compare)(const char *, const char *), struct choice *choice)
{
	for (size_t i = 0; i < map->n_layers; i++)
		if (compare(layer_name(map, i), name) == 0)
			choose_layer(map, i, choice);
}

/* The names of the layers, or of the chosen ones, as many as there is room
 * for. */
static void
list_layers(const struct tiled_map *map, bool only_chosen, char *out,
            size_t size)
{
	size_t used = 0;

	snprintf(out, size, map->n_layers ? "" : "none");
	for (size_t i = 0; i < map->n_layers; i++) {
		struct tiled_shown name = tiled_show(layer_name(map, i));
		size_t wanted = strlen(name.text) + 2;

		if (only_chosen && !map->layers[i].is_chosen)
			continue;
		if (used + wanted + 5 > size) {
			snprintf(out + used, size - used, ", ...");
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s%s",
		                         used ? ", " : "", name.text);
	}
}

static enum diag_status
refuse_unknown_layer(const struct tiled_map *map)
{
	char names[300];

	list_layers(map, false, names, sizeof(names));
	return diag_set(map->diag, DIAG_USAGE, 0,
	                "--layer takes one of the tile layers %s, not '%s'",
	                names, tiled_show(map->options->layer).text);
}

static enum diag_status
refuse_silent(const struct tiled_map *map)
{
	char names[280];

	list_layers(map, false, names, sizeof(names));
	return diag_set(map->diag, DIAG_BAD_INPUT, 0,
	                "nothing says what blocks: no layer of tiles "
	                "'collision', no tile property 'collides'; name one "
	                "with --layer or --property. Layers: %s",
	                names);
}

static bool
has_value_rules(const struct terrain_table *table)
{
	if (!table)
		return false;
	for (uint32_t i = 0; i < table->n_rules; i++)
		if (table->rules[i].kind == TERRAIN_VALUE)
			return true;
	return table->has_rest;
}

static bool
rules_block(const struct terrain_table *table)
{
	for (uint32_t i = 0; table && i < table->n_rules; i++)
		if (table->rules[i].kind == TERRAIN_VALUE &&
		    table->classes.classes[table->rules[i].terrain].factor == 0)
			return true;
	return false;
}

static enum diag_status
choose_property(struct tiled_map *map)
{
	enum diag_status st = read_tilesets(map);

	if (map->n_blocking > 0 || st != DIAG_OK)
		return st;
	if (map->options->property)
		return diag_set(map->diag, DIAG_BAD_INPUT, 0,
		                "no tile has a property '%s' that is true",
		                tiled_show(map->options->property).text);
	return refuse_silent(map);
}

/* The layers that the user names, by their very name or else in any case. */
static enum diag_status
choose_wanted(struct tiled_map *map, struct choice *choice)
{
	choose_named(map, map->options->layer, strcmp, choice);
	if (choice->n_layers == 0)
		choose_named(map, map->options->layer, strcasecmp, choice);
	return choice->n_layers > 0 ? DIAG_OK : refuse_unknown_layer(map);
}

static void
choose_usual(struct tiled_map *map, struct choice *choice)
{
	for (size_t i = 0; i < N_ELEMENTS(usual_layers); i++)
		choose_named(map, usual_layers[i], strcasecmp, choice);
	if (choice->n_layers == 0 && map->n_layers == 1 &&
	    has_value_rules(map->options->terrain))
		choose_layer(map, 0, choice);
}

static enum diag_status
choose(struct tiled_map *map, struct choice *out)
{
	const struct level_options *options = map->options;
	enum diag_status st = DIAG_OK;

	*out = (struct choice){.by_property = options->property != NULL,
	                       .only_rules = rules_block(options->terrain)};
	if (options->layer)
		st = choose_wanted(map, out);
	else if (!out->by_property)
		choose_usual(map, out);
	if (st != DIAG_OK)
		return st;
	if (map->n_layers == 0)
		return diag_set(map->diag, DIAG_BAD_INPUT, 0,
		                "the map has no layer of tiles");
	if (out->n_layers == 0) {
		out->by_property = true;
		for (size_t i = 0; i < map->n_layers; i++)
			choose_layer(map, i, out);
	}
	return out->by_property ? choose_property(map) : DIAG_OK;
}

static bool
is_chosen(const struct tiled_map *map, const struct tiled_chunk *chunk)
{
	return map->layers[chunk->layer].is_chosen;
}

static size_t
first_chosen(const struct tiled_map *map)
{
	size_t layer = 0;

	while (!map->layers[layer].is_chosen)
		layer++;
	return layer;
}

/* Are the data there? */

static int
base64_digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* In place: three bytes take less room than their four letters. Returns false
 * for what is not base64. */
static bool
decode_base64(uint8_t *data, size_t size, size_t *out_size)
{
	uint32_t bits = 0;
	size_t n_letters = 0, used = 0;

	while (size > 0 && (is_space(data[size - 1]) || data[size - 1] == '='))
		size--;
	for (size_t i = 0; i < size; i++) {
		int digit = base64_digit(data[i]);

		if (is_space(data[i]))
			continue;
		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		if (++n_letters % 4 == 0) {
			data[used++] = (uint8_t)(bits >> 16);
			data[used++] = (uint8_t)(bits >> 8);
			data[used++] = (uint8_t)bits;
		}
	}
	if (n_letters % 4 == 2)
		data[used++] = (uint8_t)(bits >> 4);
	if (n_letters % 4 == 3) {
		data[used++] = (uint8_t)(bits >> 10);
		data[used++] = (uint8_t)(bits >> 2);
	}
	*out_size = used;
	return n_letters % 4 != 1;
}

static uint64_t
n_tiles(const struct tiled_chunk *chunk)
{
	return (uint64_t)chunk->place.width * chunk->place.height;
}

/* Could the data be that many tiles? */
static bool
can_hold(const struct tiled_chunk *chunk)
{
	uint64_t size = chunk->size, wanted = n_tiles(chunk);

	if (chunk->coding == TILED_CSV)
		return size >= 2 * wanted - 1;
	if (chunk->packing == TILED_STORED)
		return size == wanted * TILE_SIZE;
	return wanted * TILE_SIZE / (chunk->packing == TILED_ZSTD
	                                     ? ZSTD_RATIO
	                                     : DEFLATE_RATIO) <=
	       size;
}

static enum diag_status
check_chunk(struct tiled_map *map, struct tiled_chunk *chunk)
{
	const struct tiled_place *place = &chunk->place;
	const struct tiled_layer *layer = &map->layers[chunk->layer];

	if (!map->infinite &&
	    (layer->width != map->width || layer->height != map->height))
		return refuse_layer(map, chunk->layer, chunk->line,
		                    "%lu x %lu tiles, the map has %lu x %lu",
		                    (unsigned long)layer->width,
		                    (unsigned long)layer->height,
		                    (unsigned long)map->width,
		                    (unsigned long)map->height);
	if (place->width == 0 || place->width > LEVEL_MAX_SIDE ||
	    place->height == 0 || place->height > LEVEL_MAX_SIDE)
		return refuse_layer(map, chunk->layer, chunk->line,
		                    "%lu x %lu tiles; a side has 1 to %u",
		                    (unsigned long)place->width,
		                    (unsigned long)place->height,
		                    LEVEL_MAX_SIDE);
	if (chunk->coding == TILED_BASE64) {
		if (!decode_base64(map->bytes + chunk->begin, chunk->size,
		                   &chunk->size))
			return refuse_layer(map, chunk->layer, chunk->line,
			                    "its data are not base64");
		chunk->coding = TILED_PLAIN;
	}
	if (!can_hold(chunk))
		return refuse_layer(map, chunk->layer, chunk->line,
		                    "its data can't be %lu x %lu tiles",
		                    (unsigned long)place->width,
		                    (unsigned long)place->height);
	return DIAG_OK;
}

/* The rectangle around all chosen chunks. */
struct box {
	int64_t left, top, right, bottom; /* the latter two are outside */
	uint64_t n_tiles;
};

static void
box_add(struct box *box, const struct tiled_chunk *chunk)
{
	const struct tiled_place *place = &chunk->place;
	int64_t right = (int64_t)place->x + place->width;
	int64_t bottom = (int64_t)place->y + place->height;

	if (box->n_tiles == 0)
		*box = (struct box){place->x, place->y, right, bottom, 0};
	box->left = place->x < box->left ? place->x : box->left;
	box->top = place->y < box->top ? place->y : box->top;
	box->right = right > box->right ? right : box->right;
	box->bottom = bottom > box->bottom ? bottom : box->bottom;
	box->n_tiles += n_tiles(chunk);
}

static enum diag_status
check_box(const struct tiled_map *map, const struct box *box)
{
	uint64_t width = (uint64_t)(box->right - box->left);
	uint64_t height = (uint64_t)(box->bottom - box->top);

	if (width > LEVEL_MAX_SIDE || height > LEVEL_MAX_SIDE)
		return diag_set(map->diag, DIAG_BAD_INPUT, 0,
		                "the chunks of the map span %llu x %llu tiles; "
		                "a side has 1 to %u",
		                (unsigned long long)width,
		                (unsigned long long)height, LEVEL_MAX_SIDE);
	if (width * height > SPARSE_CELLS &&
	    width * height / SPARSE_RATIO > box->n_tiles)
		return diag_set(map->diag, DIAG_BAD_INPUT, 0,
		                "the chunks of the map span %llu x %llu tiles "
		                "and have only %llu of them",
		                (unsigned long long)width,
		                (unsigned long long)height,
		                (unsigned long long)box->n_tiles);
	return DIAG_OK;
}

static enum diag_status
measure(struct tiled_map *map, struct box *box)
{
	size_t layer = first_chosen(map);
	enum diag_status st = DIAG_OK;

	*box = (struct box){0};
	for (size_t i = 0; i < map->n_chunks && st == DIAG_OK; i++)
		if (is_chosen(map, &map->chunks[i])) {
			st = check_chunk(map, &map->chunks[i]);
			if (st == DIAG_OK)
				box_add(box, &map->chunks[i]);
		}
	if (st == DIAG_OK && box->n_tiles == 0)
		st = refuse_layer(map, layer, map->layers[layer].line,
		                  "it has no tiles");
	return st == DIAG_OK ? check_box(map, box) : st;
}

/* Painting: tiles become classes of cells */

#define N_REMEMBERED 256u

struct painter {
	const struct tiled_map *map;
	const struct choice *choice;
	struct level *level;
	/* The chunk being painted, and how many of its tiles have been. */
	const struct tiled_chunk *chunk;
	uint32_t left, top;
	uint64_t n_done;
	/* What was found for the tiles seen last, by their lowest bits; a tile
	 * of FLIP_BITS is none. */
	uint32_t tiles[N_REMEMBERED];
	int classes[N_REMEMBERED];
};

/* The class that a tile gives its cell, or -1 if nothing is said of it. */
static int
find_class(const struct painter *painter, uint32_t tile)
{
	const struct tiled_map *map = painter->map;
	int class = terrain_lookup(map->options->terrain, TERRAIN_VALUE, tile);
	bool blocks = !painter->choice->only_rules;

	if (class >= 0)
		return class;
	if (painter->choice->by_property)
		blocks = bsearch(&tile, map->blocking, map->n_blocking,
		                 sizeof(tile), compare_ids) != NULL;
	return blocks ? (int)TERRAIN_BLOCKED : -1;
}

/* The class of cells without a tile. */
static uint8_t
class_of_none(const struct tiled_map *map, const struct choice *choice)
{
	int class = -1;

	if (!choice->by_property)
		class = terrain_lookup(map->options->terrain, TERRAIN_VALUE, 0);
	return (uint8_t)(class < 0 ? (int)TERRAIN_GROUND : class);
}

static int
remembered_class(struct painter *painter, uint32_t tile)
{
	uint32_t slot = tile % N_REMEMBERED;

	if (painter->tiles[slot] != tile) {
		painter->tiles[slot] = tile;
		painter->classes[slot] = find_class(painter, tile);
	}
	return painter->classes[slot];
}

static void
paint_tile(struct painter *painter, uint32_t tile)
{
	const struct tiled_place *place = &painter->chunk->place;
	size_t x = painter->left + (size_t)(painter->n_done % place->width);
	size_t y = painter->top + (size_t)(painter->n_done / place->width);
	uint8_t *cell = &painter->level->cells[y * painter->level->width + x];
	int class;

	painter->n_done++;
	tile &= ~FLIP_BITS;
	if (tile == 0)
		return;
	class = remembered_class(painter, tile);
	if (*cell == NO_TILE)
		*cell = (uint8_t)(class < 0 ? (int)TERRAIN_GROUND : class);
	else if (class >= 0 &&
	         painter->level->terrain.classes[*cell].factor != 0)
		*cell = (uint8_t)class;
}

static enum diag_status
refuse_data(const struct painter *painter, const char *what)
{
	return refuse_layer(painter->map, painter->chunk->layer,
	                    painter->chunk->line, "%s", what);
}

static enum diag_status
refuse_count(const struct painter *painter, const char *how)
{
	return refuse_layer(painter->map, painter->chunk->layer,
	                    painter->chunk->line, "%s than %lu x %lu tiles",
	                    how, (unsigned long)painter->chunk->place.width,
	                    (unsigned long)painter->chunk->place.height);
}

static enum diag_status
paint_bytes(struct painter *painter, const uint8_t *bytes, size_t size)
{
	if (size / TILE_SIZE > n_tiles(painter->chunk) - painter->n_done)
		return refuse_count(painter, "more");
	if (size % TILE_SIZE != 0)
		return refuse_data(painter, "its data end within a tile");
	for (; size > 0; size -= TILE_SIZE, bytes += TILE_SIZE)
		paint_tile(painter, (uint32_t)bytes[0] |
		                            (uint32_t)bytes[1] << 8 |
		                            (uint32_t)bytes[2] << 16 |
		                            (uint32_t)bytes[3] << 24);
	return DIAG_OK;
}

/* csv in XML keeps its lines, so the line of a fault is known. */
static enum diag_status
refuse_csv(const struct painter *painter, const uint8_t *text, size_t at,
           const char *what)
{
	unsigned long line = painter->chunk->line;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return refuse_layer(painter->map, painter->chunk->layer, line, "%s",
	                    what);
}

static enum diag_status
paint_csv(struct painter *painter, const uint8_t *text, size_t size)
{
	size_t at = 0;

	while (painter->n_done < n_tiles(painter->chunk)) {
		uint64_t number = 0;
		size_t begin;

		while (at < size && is_space(text[at]))
			at++;
		begin = at;
		while (at < size && text[at] >= '0' && text[at] <= '9' &&
		       number <= UINT32_MAX)
			number = 10 * number + text[at++] - '0';
		if (at == begin && at == size)
			return refuse_count(painter, "fewer");
		if (at == begin || number > UINT32_MAX)
			return refuse_csv(painter, text, at,
			                  "its data are not csv of tile "
			                  "numbers");
		paint_tile(painter, (uint32_t)number);
		while (at < size && is_space(text[at]))
			at++;
		if (at < size && text[at] == ',')
			at++;
		else if (painter->n_done < n_tiles(painter->chunk))
			return at == size ? refuse_count(painter, "fewer")
			                  : refuse_csv(painter, text, at,
			                               "no comma between "
			                               "tile numbers");
	}
	while (at < size && is_space(text[at]))
		at++;
	return at == size ? DIAG_OK : refuse_count(painter, "more");
}

static enum diag_status
paint_deflated(struct painter *painter, const uint8_t *data, size_t size)
{
	z_stream stream = {.zalloc = NULL};
	uint8_t window[WINDOW_SIZE];
	enum diag_status st = DIAG_OK;
	int code;

	/* 32: zlib or gzip, whichever it is. */
	if (inflateInit2(&stream, 32 + MAX_WBITS) != Z_OK)
		return diag_set(painter->map->diag, DIAG_FAILED, 0,
		                "out of memory");
	do {
		stream.next_out = window;
		stream.avail_out = WINDOW_SIZE;
		do {
			if (stream.avail_in == 0 && size > 0) {
				uInt piece = size < 1u << 30 ? (uInt)size
				                             : 1u << 30;

				stream.next_in = data;
				stream.avail_in = piece;
				data += piece;
				size -= piece;
			}
			code = inflate(&stream, Z_NO_FLUSH);
		} while (code == Z_OK && stream.avail_out > 0);
		if (code != Z_OK && code != Z_STREAM_END)
			st = refuse_data(painter,
			                 "its compressed data are damaged");
		else
			st = paint_bytes(painter, window,
			                 WINDOW_SIZE - stream.avail_out);
	} while (st == DIAG_OK && code == Z_OK);
	inflateEnd(&stream);
	return st;
}

#ifdef HAVE_ZSTD
/* A frame may want a window as large as what is in it, or as large as common
 * compressors make it, but no larger. */
static int
zstd_window(uint64_t size)
{
	int log = 23;

	while (log < 30 && (uint64_t)1 << log < size)
		log++;
	return log;
}

static enum diag_status
paint_zstd(struct painter *painter, const uint8_t *data, size_t size)
{
	ZSTD_DCtx *stream = ZSTD_createDCtx();
	ZSTD_inBuffer in = {data, size, 0};
	uint8_t window[WINDOW_SIZE];
	enum diag_status st = DIAG_OK;
	size_t code = 1;

	if (!stream)
		return diag_set(painter->map->diag, DIAG_FAILED, 0,
		                "out of memory");
	ZSTD_DCtx_setParameter(
		stream, ZSTD_d_windowLogMax,
		zstd_window(n_tiles(painter->chunk) * TILE_SIZE));
	while (st == DIAG_OK && code != 0) {
		ZSTD_outBuffer out = {window, WINDOW_SIZE, 0};
		size_t before;

		do {
			before = in.pos + out.pos;
			code = ZSTD_decompressStream(stream, &out, &in);
		} while (!ZSTD_isError(code) && code != 0 &&
		         out.pos < out.size && in.pos + out.pos > before);
		/* Nothing moves: there is more to come, but not from here. */
		if (ZSTD_isError(code) || (code != 0 && out.pos < out.size))
			st = refuse_data(painter,
			                 "its compressed data are damaged");
		else
			st = paint_bytes(painter, window, out.pos);
	}
	ZSTD_freeDCtx(stream);
	return st;
}
#else
static enum diag_status
paint_zstd(struct painter *painter, const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return diag_set(painter->map->diag, DIAG_FAILED, painter->chunk->line,
	                "layer '%s' is compressed with zstd, and this hpabake "
	                "was built without it",
	                tiled_show(layer_name(painter->map,
	                                      painter->chunk->layer))
	                        .text);
}
#endif

static enum diag_status
paint_chunk(struct painter *painter)
{
	const struct tiled_chunk *chunk = painter->chunk;
	const uint8_t *data = painter->map->bytes + chunk->begin;
	enum diag_status st;

	if (chunk->coding == TILED_CSV)
		st = paint_csv(painter, data, chunk->size);
	else if (chunk->packing == TILED_DEFLATED)
		st = paint_deflated(painter, data, chunk->size);
	else if (chunk->packing == TILED_ZSTD)
		st = paint_zstd(painter, data, chunk->size);
	else
		st = paint_bytes(painter, data, chunk->size);
	if (st == DIAG_OK && painter->n_done < n_tiles(chunk))
		st = refuse_count(painter, "fewer");
	return st;
}

static void
fill_rest(struct level *level, uint8_t class)
{
	for (size_t i = 0; i < (size_t)level->width * level->height; i++)
		if (level->cells[i] == NO_TILE)
			level->cells[i] = class;
}

static enum diag_status
paint(const struct tiled_map *map, const struct choice *choice,
      const struct box *box, struct level *level)
{
	struct painter painter = {map, choice, level, NULL, 0, 0, 0, {0}, {0}};
	enum diag_status st = DIAG_OK;

	for (uint32_t i = 0; i < N_REMEMBERED; i++)
		painter.tiles[i] = FLIP_BITS;
	memset(level->cells, NO_TILE, (size_t)level->width * level->height);
	for (size_t i = 0; i < map->n_chunks && st == DIAG_OK; i++) {
		painter.chunk = &map->chunks[i];
		if (!is_chosen(map, painter.chunk))
			continue;
		painter.left = (uint32_t)(painter.chunk->place.x - box->left);
		painter.top = (uint32_t)(painter.chunk->place.y - box->top);
		painter.n_done = 0;
		st = paint_chunk(&painter);
	}
	fill_rest(level, class_of_none(map, choice));
	return st;
}

/* Tell which layers were chosen. */
static void
describe_layers(const struct tiled_map *map, const struct choice *choice,
                struct level *level)
{
	const char *what = choice->only_rules ? "what rules block is blocked"
	                                      : "every tile is blocked";
	char names[100];

	list_layers(map, true, names, sizeof(names));
	if (choice->n_layers == 1)
		snprintf(level->how, sizeof(level->how), "layer '%s': %s",
		         names, what);
	else
		snprintf(level->how, sizeof(level->how), "%zu layers (%s): %s",
		         choice->n_layers, names, what);
}

/* Tell what was chosen. */
static void
describe(const struct tiled_map *map, const struct choice *choice,
         struct level *level)
{
	if (choice->by_property)
		snprintf(level->how, sizeof(level->how),
		         "tiles with the property %s are blocked",
		         map->options->property
		                 ? tiled_show(map->options->property).text
		                 : "collides, collision, blocked or solid");
	else
		describe_layers(map, choice, level);
}

enum diag_status
tiled_make_level(struct tiled_map *map, struct level *out)
{
	struct choice choice;
	struct box box = {0};
	enum diag_status st = choose(map, &choice);

	if (map->n_blocking > 0)
		qsort(map->blocking, map->n_blocking, sizeof(*map->blocking),
		      compare_ids);
	if (st == DIAG_OK)
		st = measure(map, &box);
	if (st == DIAG_OK)
		st = level_new((uint32_t)(box.right - box.left),
		               (uint32_t)(box.bottom - box.top),
		               map->options, out, map->diag);
	if (st == DIAG_OK)
		st = paint(map, &choice, &box, out);
	if (st == DIAG_OK)
		describe(map, &choice, out);
	else
		level_free(out);
	return st;
}

/* Skip white space and what may stand before the first element of XML. Returns
 * where that element is, or the end. */
static size_t
skip_prologue(const uint8_t *data, size_t size)
{
	size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (at < size) {
		const uint8_t *end;

		while (at < size && is_space(data[at]))
			at++;
		if (size - at < 2 || data[at] != '<' ||
		    (data[at + 1] != '?' && data[at + 1] != '!'))
			break;
		end = memchr(data + at, '>', size - at);
		at = end ? (size_t)(end - data) + 1 : size;
	}
	return at;
}

int
tmx_probe(const uint8_t *data, size_t size)
{
	size_t at = skip_prologue(data, size);

	return size - at > 4 && !memcmp(data + at, "<map", 4) &&
	       (is_space(data[at + 4]) || data[at + 4] == '>');
}
