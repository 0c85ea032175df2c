/* level_tmj.c: read Tiled's JSON, maps (.tmj, .json) and tilesets (.tsj).
 *
 * The keys that matter:
 *
 *     orientation width height infinite
 *     tilesets[]    firstgid, source or tiles[]
 *       tiles[]     id, properties[] of name and value
 *     layers[]      type, name
 *       "tilelayer"   width height encoding compression, data or chunks[]
 *         chunks[]      x y width height data
 *       "group"       layers[]
 *
 * data is an array of numbers, or a text if encoding is "base64". Older files
 * have `tileproperties`, an object of objects, instead of tiles[].properties.
 *
 * A reader of JSON knows no lines once the text has become a tree; messages
 * name the layer instead. */
#include <stdlib.h>
#include <string.h>

#include "formats/level_json.h"
#include "formats/level_tiled.h"

struct reader {
	struct tiled_map *map;
	struct diag *diag;
};

static enum diag_status
refuse(const struct reader *reader, const char *what)
{
	return diag_set(reader->diag, DIAG_BAD_INPUT, 0, "%s", what);
}

/* What is wrong with a layer's data. */
static enum diag_status
refuse_data(const struct reader *reader, const json_t *layer, const char *what)
{
	const char *name = level_json_text(layer, "name");

	return diag_set(reader->diag, DIAG_BAD_INPUT, 0, "layer '%s': %s",
	                tiled_show(name ? name : "").text, what);
}

static bool
read_side(const struct reader *reader, const json_t *object, const char *key,
          uint32_t missing, uint32_t *out)
{
	int64_t number;
	bool ok = level_json_number(object, key, 0, UINT32_MAX, missing,
	                            &number, reader->diag);

	*out = (uint32_t)number;
	return ok;
}

/* Tilesets */

/* What is true in XML, where every value is a text, is true here. */
static bool
is_true(const json_t *value)
{
	const char *text = json_string_value(value);

	return json_is_true(value) || json_number_value(value) == 1 ||
	       (text && tiled_is_true(text));
}

static enum diag_status
read_property(const struct reader *reader, uint32_t first, uint32_t tile,
              const char *name, const json_t *value)
{
	enum diag_status st;

	if (!name || !is_true(value))
		return DIAG_OK;
	st = tiled_add_property(reader->map, first, tile, name);
	if (st != DIAG_OK && reader->diag != reader->map->diag)
		*reader->diag = *reader->map->diag;
	return st;
}

static enum diag_status
read_tiles(const struct reader *reader, uint32_t first, const json_t *tiles)
{
	enum diag_status st = DIAG_OK;

	for (size_t i = 0; i < json_array_size(tiles); i++) {
		const json_t *tile = json_array_get(tiles, i);
		const json_t *properties = json_object_get(tile, "properties");
		uint32_t id;

		if (!read_side(reader, tile, "id", 0, &id))
			return DIAG_BAD_INPUT;
		for (size_t k = 0; k < json_array_size(properties) && !st; k++) {
			const json_t *property = json_array_get(properties, k);

			st = read_property(reader, first, id,
			                   level_json_text(property, "name"),
			                   json_object_get(property, "value"));
		}
	}
	return st;
}

static enum diag_status
read_old_properties(const struct reader *reader, uint32_t first, json_t *tiles)
{
	enum diag_status st = DIAG_OK;
	const char *id, *name;
	json_t *tile, *value;

	json_object_foreach(tiles, id, tile) {
		unsigned long number = strtoul(id, NULL, 10);

		if (number > UINT32_MAX)
			continue;
		json_object_foreach(tile, name, value) {
			st = read_property(reader, first, (uint32_t)number,
			                   name, value);
			if (st != DIAG_OK)
				return st;
		}
	}
	return st;
}

static enum diag_status
read_tileset_tiles(const struct reader *reader, uint32_t first,
                   const json_t *tileset)
{
	enum diag_status st = read_tiles(reader, first,
	                                 json_object_get(tileset, "tiles"));

	if (st == DIAG_OK)
		st = read_old_properties(
			reader, first,
			json_object_get(tileset, "tileproperties"));
	return st;
}

static enum diag_status
read_tilesets(const struct reader *reader, const json_t *tilesets)
{
	enum diag_status st = DIAG_OK;

	for (size_t i = 0; i < json_array_size(tilesets) && !st; i++) {
		const json_t *tileset = json_array_get(tilesets, i);
		int64_t first;

		if (!level_json_number(tileset, "firstgid", 1, UINT32_MAX, 1,
		                       &first, reader->diag))
			return DIAG_BAD_INPUT;
		st = tiled_add_tileset(reader->map, (uint32_t)first,
		                       level_json_text(tileset, "source"), 0);
		if (st == DIAG_OK)
			st = read_tileset_tiles(reader, (uint32_t)first,
			                        tileset);
	}
	return st;
}

/* Layers */

static enum diag_status
read_numbers(const struct reader *reader, const json_t *layer,
             const json_t *numbers)
{
	enum diag_status st = DIAG_OK;

	for (size_t i = 0; i < json_array_size(numbers) && !st; i++) {
		const json_t *number = json_array_get(numbers, i);
		json_int_t id = json_integer_value(number);

		if (!json_is_integer(number) || id < 0 || id > UINT32_MAX)
			return refuse_data(reader, layer,
			                   "one of its data is not a number of "
			                   "a tile");
		st = tiled_add_tile(reader->map, (uint32_t)id);
	}
	return st;
}

/* The data of a layer or a chunk. */
static enum diag_status
read_data(const struct reader *reader, const json_t *layer, const json_t *data,
          struct tiled_place place)
{
	const char *encoding = level_json_text(layer, "encoding");
	const char *text = json_string_value(data);
	enum diag_status st;

	/* An array is csv, whether the layer says so or not. */
	if (!text && encoding && !strcmp(encoding, "csv"))
		encoding = NULL;
	if (!json_is_array(data) && !text)
		return refuse_data(reader, layer,
		                   "its data are neither an array nor base64");
	if (!text && encoding && *encoding)
		return refuse_data(reader, layer,
		                   "its data are an array, its encoding says "
		                   "otherwise");
	if (text && !encoding)
		return refuse_data(reader, layer,
		                   "its data are a text without an encoding");
	st = tiled_add_chunk(reader->map, place, encoding,
	                     text ? level_json_text(layer, "compression")
	                          : NULL,
	                     0);
	if (st != DIAG_OK)
		return st;
	return text ? tiled_add_data(reader->map, text,
	                             json_string_length(data))
	            : read_numbers(reader, layer, data);
}

static enum diag_status
read_chunk(const struct reader *reader, const json_t *layer,
           const json_t *chunk)
{
	struct tiled_place place;
	int64_t x, y;

	if (!level_json_number(chunk, "x", INT32_MIN, INT32_MAX, 0, &x,
	                       reader->diag) ||
	    !level_json_number(chunk, "y", INT32_MIN, INT32_MAX, 0, &y,
	                       reader->diag) ||
	    !read_side(reader, chunk, "width", 0, &place.width) ||
	    !read_side(reader, chunk, "height", 0, &place.height))
		return DIAG_BAD_INPUT;
	place.x = (int32_t)x;
	place.y = (int32_t)y;
	return read_data(reader, layer, json_object_get(chunk, "data"), place);
}

static enum diag_status
read_tile_layer(const struct reader *reader, const json_t *layer)
{
	struct tiled_map *map = reader->map;
	const json_t *chunks = json_object_get(layer, "chunks");
	const char *name = level_json_text(layer, "name");
	struct tiled_place place = {0, 0, 0, 0};
	enum diag_status st;

	if (!read_side(reader, layer, "width", map->width, &place.width) ||
	    !read_side(reader, layer, "height", map->height, &place.height))
		return DIAG_BAD_INPUT;
	st = tiled_add_layer(map, name ? name : "", place.width, place.height,
	                     0);
	if (st == DIAG_OK && !map->infinite)
		return read_data(reader, layer, json_object_get(layer, "data"),
		                 place);
	for (size_t i = 0; i < json_array_size(chunks) && st == DIAG_OK; i++)
		st = read_chunk(reader, layer, json_array_get(chunks, i));
	return st;
}

static enum diag_status
read_layers(const struct reader *reader, const json_t *layers)
{
	enum diag_status st = DIAG_OK;

	for (size_t i = 0; i < json_array_size(layers) && st == DIAG_OK; i++) {
		const json_t *layer = json_array_get(layers, i);
		const char *type = level_json_text(layer, "type");

		if (type && !strcmp(type, "tilelayer"))
			st = read_tile_layer(reader, layer);
		else if (type && !strcmp(type, "group"))
			st = read_layers(reader,
			                 json_object_get(layer, "layers"));
	}
	return st;
}

static enum diag_status
read_map(const struct reader *reader, const json_t *root)
{
	struct tiled_map *map = reader->map;
	enum diag_status st;

	if (!json_is_array(json_object_get(root, "layers")))
		return refuse(reader, "not a Tiled map: it has no layers");
	st = tiled_set_orientation(map, level_json_text(root, "orientation"),
	                           0);
	if (st != DIAG_OK)
		return st;
	if (!read_side(reader, root, "width", 0, &map->width) ||
	    !read_side(reader, root, "height", 0, &map->height))
		return DIAG_BAD_INPUT;
	map->infinite = json_is_true(json_object_get(root, "infinite"));
	st = read_tilesets(reader, json_object_get(root, "tilesets"));
	if (st == DIAG_OK)
		st = read_layers(reader, json_object_get(root, "layers"));
	return st;
}

enum diag_status
tiled_read_tsj(struct tiled_map *map, uint32_t first, const uint8_t *data,
               size_t size, struct diag *diag)
{
	struct reader reader = {map, diag};
	json_t *root = level_json_read(data, size, diag);
	enum diag_status st;

	if (!root)
		return diag->status;
	st = read_tileset_tiles(&reader, first, root);
	json_decref(root);
	return st;
}

int
tmj_probe(const uint8_t *data, size_t size)
{
	return level_json_is_object(data, size) &&
	       level_json_has_key(data, size, "layers") &&
	       level_json_has_key(data, size, "tilewidth");
}

enum diag_status
tmj_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	struct tiled_map map = {.options = options, .diag = diag};
	struct reader reader = {&map, diag};
	json_t *root = level_json_read(data, size, diag);
	enum diag_status st;

	*out = (struct level){0};
	if (!root)
		return diag->status;
	st = read_map(&reader, root);
	json_decref(root);
	if (st == DIAG_OK)
		st = tiled_make_level(&map, out);
	tiled_free(&map);
	return st;
}
