/* test_editors.c: reading maps of Tiled and projects of LDtk.
 *
 * Maps are made here, of random tiles in every encoding, and must be read back
 * as they were made. Real files are read a second time, by looking for the
 * layer's name in the text and decoding what follows. Files are handed over in
 * memory of exactly their size, so that a sanitizer sees a byte read behind
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include <cmocka.h>
#define ZLIB_CONST
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "tests/support.h"

#ifdef HAVE_EXPAT
#define FIRST_FORMAT XML
#else
#define FIRST_FORMAT JSON
#endif

#define FLIPS 0xf0000000u

/* Texts that grow */

struct text {
	char *data;
	size_t size, room;
};

static void
add_bytes(struct text *text, const void *data, size_t size)
{
	if (text->room - text->size <= size) {
		text->room = 2 * (text->room + size) + 64;
		text->data = realloc(text->data, text->room);
		assert_non_null(text->data);
	}
	memcpy(text->data + text->size, data, size);
	text->size += size;
	text->data[text->size] = '\0';
}

static void add(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct text *text, const char *format, ...)
{
	char piece[1024];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(piece, sizeof(piece), format, args);
	va_end(args);
	assert_true(size >= 0 && (size_t)size < sizeof(piece));
	add_bytes(text, piece, (size_t)size);
}

static void
text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){NULL, 0, 0};
}

/* Reading */

static enum diag_status
read_level(const char *name, const void *data, size_t size,
           const struct level_options *options, struct level *out,
           struct diag *diag)
{
	uint8_t *copy = exact_copy(data, size);
	enum diag_status status;

	memset(diag, 0, sizeof(*diag));
	status = level_read(name, copy, size, options, out, diag);
	free(copy);
	if (status != DIAG_OK) {
		assert_int_equal(diag->status, status);
		assert_true(diag->text[0] != '\0');
		assert_null(strchr(diag->text, '\n'));
		assert_null(out->cells);
	}
	return status;
}

static void
must_read(const char *name, const struct text *text,
          const struct level_options *options, struct level *out)
{
	struct diag diag;

	if (read_level(name, text->data, text->size, options, out, &diag))
		fail_msg("%s: line %lu: %s\n%.3000s", name, diag.line,
		         diag.text, text->data);
}

/* Files for the loader: name, text, name, text ..., NULL. */
static enum diag_status
fake_load(void *user, const char *name, const uint8_t **data, size_t *size,
          struct diag *diag)
{
	const char **files = user;

	for (; *files; files += 2)
		if (!strcmp(files[0], name)) {
			*data = (const uint8_t *)files[1];
			*size = strlen(files[1]);
			return DIAG_OK;
		}
	return diag_set(diag, DIAG_FAILED, 0, "no such file");
}

/* Making maps of Tiled */

enum format { XML, JSON, N_FORMATS };
enum coding { NUMBERS, CSV, BASE64, ZLIB, GZIP, ZSTD, N_CODINGS };

static const char *const file_names[] = {"made.tmx", "made.tmj"};
static const char *const packings[] = {"", "", "", "zlib", "gzip", "zstd"};

struct tiles {
	uint32_t width, height;
	uint32_t *ids;
};

static void
make_tiles(struct rng *rng, uint32_t width, uint32_t height, struct tiles *out)
{
	uint32_t percent = rng_below(rng, 101);

	*out = (struct tiles){width, height,
	                      malloc(sizeof(uint32_t) * width * height)};
	assert_non_null(out->ids);
	for (size_t i = 0; i < (size_t)width * height; i++) {
		out->ids[i] = rng_chance(rng, percent)
		                      ? 1 + rng_below(rng, 300)
		                      : 0;
		if (out->ids[i] && rng_chance(rng, 30))
			out->ids[i] |= rng_below(rng, 16) << 28;
	}
}

static void
add_base64(struct text *text, const uint8_t *data, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t bits = (uint32_t)data[i] << 16;
		char four[4] = "====";

		if (i + 1 < size)
			bits |= (uint32_t)data[i + 1] << 8;
		if (i + 2 < size)
			bits |= data[i + 2];
		for (size_t k = 0; k < (size - i < 3 ? size - i + 1 : 4); k++)
			four[k] = letters[bits >> (18 - 6 * k) & 63];
		add_bytes(text, four, 4);
	}
}

static size_t
pack(enum coding coding, const uint8_t *data, size_t size, uint8_t *out,
     size_t room)
{
	z_stream stream = {.next_in = data, .avail_in = (uInt)size};

	if (coding == BASE64) {
		memcpy(out, data, size);
		return size;
	}
#ifdef HAVE_ZSTD
	if (coding == ZSTD) {
		size = ZSTD_compress(out, room, data, size, 3);
		assert_false(ZSTD_isError(size));
		return size;
	}
#endif
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED,
	                              coding == GZIP ? 31 : 15, 8,
	                              Z_DEFAULT_STRATEGY),
	                 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

/* The tiles of a rectangle, as they stand between <data> and </data> or behind
 * "data":. */
static void
add_data(struct text *text, enum format format, enum coding coding,
         const struct tiles *tiles, uint32_t x0, uint32_t y0, uint32_t width,
         uint32_t height)
{
	size_t n = (size_t)width * height, room = 8 * n + 4096;
	uint8_t *plain = malloc(4 * n), *packed = malloc(room);
	bool is_list = coding == NUMBERS || coding == CSV;

	assert_true(plain && packed);
	if (format == JSON)
		add(text, is_list ? "[" : "\"");
	for (size_t i = 0; i < n; i++) {
		uint32_t id = tiles->ids[(y0 + i / width) * tiles->width + x0 +
		                         i % width];

		if (format == XML && coding == NUMBERS && id == 0)
			add(text, "<tile/>");
		else if (format == XML && coding == NUMBERS)
			add(text, "<tile gid=\"%lu\"/>", (unsigned long)id);
		else if (is_list)
			add(text, "%s%lu", i ? i % width ? "," : ",\n" : "",
			    (unsigned long)id);
		for (uint32_t k = 0; k < 4; k++)
			plain[4 * i + k] = (uint8_t)(id >> 8 * k);
	}
	if (!is_list)
		add_base64(text, packed,
		           pack(coding, plain, 4 * n, packed, room));
	if (format == JSON)
		add(text, is_list ? "]" : "\"");
	free(plain);
	free(packed);
}

#define CHUNK_WIDTH 16u
#define CHUNK_HEIGHT 8u

static bool
is_empty(const struct tiles *tiles, uint32_t x, uint32_t y)
{
	for (uint32_t i = 0; i < CHUNK_WIDTH * CHUNK_HEIGHT; i++)
		if (tiles->ids[(y + i / CHUNK_WIDTH) * tiles->width + x +
		               i % CHUNK_WIDTH])
			return false;
	return true;
}

static void
add_chunk(struct text *text, enum format format, enum coding coding,
          const struct tiles *tiles, uint32_t x, uint32_t y)
{
	if (format == XML)
		add(text, "<chunk x=\"%d\" y=\"%d\" width=\"16\" height=\"8\">",
		    (int)x - 32, (int)y - 8);
	else
		add(text,
		    "%s{\"x\":%d,\"y\":%d,\"width\":16,\"height\":8,\"data\":",
		    x || y ? "," : "", (int)x - 32, (int)y - 8);
	add_data(text, format, coding, tiles, x, y, CHUNK_WIDTH, CHUNK_HEIGHT);
	add(text, "%s", format == XML ? "</chunk>\n" : "}");
}

/* The first chunk is at -32,-8. Chunks without tiles are left out, but for the
 * first and the last. */
static void
add_chunks(struct text *text, enum format format, enum coding coding,
           const struct tiles *tiles)
{
	for (uint32_t y = 0; y < tiles->height; y += CHUNK_HEIGHT)
		for (uint32_t x = 0; x < tiles->width; x += CHUNK_WIDTH)
			if ((x == 0 && y == 0) ||
			    (x + CHUNK_WIDTH == tiles->width &&
			     y + CHUNK_HEIGHT == tiles->height) ||
			    !is_empty(tiles, x, y))
				add_chunk(text, format, coding, tiles, x, y);
}

static void
add_layer(struct text *text, enum format format, enum coding coding,
          bool infinite, const char *name, const struct tiles *tiles)
{
	const char *encoding = coding == NUMBERS ? ""
	                       : coding == CSV   ? "csv"
	                                         : "base64";

	if (format == XML) {
		add(text,
		    "<layer name=\"%s\" width=\"%u\" height=\"%u\">\n<data", name,
		    (unsigned)tiles->width, (unsigned)tiles->height);
		if (coding != NUMBERS)
			add(text, " encoding=\"%s\"", encoding);
		if (*packings[coding])
			add(text, " compression=\"%s\"", packings[coding]);
		add(text, ">\n");
	} else {
		add(text,
		    "{\"type\":\"tilelayer\",\"name\":\"%s\",\"width\":%u,"
		    "\"height\":%u,\"encoding\":\"%s\",\"compression\":\"%s\","
		    "\"%s\":",
		    name, (unsigned)tiles->width, (unsigned)tiles->height,
		    coding == NUMBERS ? "csv" : encoding, packings[coding],
		    infinite ? "chunks" : "data");
	}
	if (infinite && format == JSON)
		add(text, "[");
	if (infinite)
		add_chunks(text, format, coding, tiles);
	else
		add_data(text, format, coding, tiles, 0, 0, tiles->width,
		         tiles->height);
	if (infinite && format == JSON)
		add(text, "]");
	add(text, "%s", format == XML ? "\n</data>\n</layer>\n" : "}");
}

static void
begin_map(struct text *text, enum format format, bool infinite,
          const struct tiles *tiles)
{
	if (format == XML)
		add(text,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<map "
		    "orientation=\"orthogonal\" width=\"%u\" height=\"%u\" "
		    "infinite=\"%d\">\n",
		    (unsigned)tiles->width, (unsigned)tiles->height, infinite);
	else
		add(text,
		    "{\"tilewidth\":16,\"orientation\":\"orthogonal\","
		    "\"width\":%u,\"height\":%u,\"infinite\":%s,\n",
		    (unsigned)tiles->width, (unsigned)tiles->height,
		    infinite ? "true" : "false");
}

/* A map of two layers: tiles that are just drawn, and in two groups those that
 * block. */
static void
make_map(struct text *text, enum format format, enum coding coding,
         bool infinite, const struct tiles *drawn, const struct tiles *blocking)
{
	begin_map(text, format, infinite, drawn);
	if (format == JSON)
		add(text, "\"layers\":[");
	add_layer(text, format, coding, infinite, "Ground", drawn);
	add(text, "%s",
	    format == XML ? "<group name=\"a\"><group name=\"b\">"
	                  : ",{\"type\":\"group\",\"name\":\"a\",\"layers\":["
	                    "{\"type\":\"group\",\"layers\":[");
	add_layer(text, format, coding, infinite, "COLLISION", blocking);
	add(text, "%s",
	    format == XML ? "</group></group></map>\n" : "]}]}]}\n");
}

static void
check_tiles(const struct level *level, const struct tiles *tiles,
            const char *what)
{
	assert_int_equal(level->width, tiles->width);
	assert_int_equal(level->height, tiles->height);
	for (size_t i = 0; i < (size_t)tiles->width * tiles->height; i++)
		if (level_is_open(level, i) != ((tiles->ids[i] & ~FLIPS) == 0))
			fail_msg("%s: cell %zu is wrong", what, i);
}

static void
check_map(struct rng *rng, enum format format, enum coding coding,
          bool infinite)
{
	uint32_t width = infinite ? 16 * rng_between(rng, 1, 4)
	                          : rng_between(rng, 1, 60);
	uint32_t height = infinite ? 8 * rng_between(rng, 1, 4)
	                           : rng_between(rng, 1, 60);
	struct level_options options = {.layer = "Ground"};
	struct text text = {NULL, 0, 0};
	struct tiles drawn, blocking;
	struct level level;
	char what[64];

	snprintf(what, sizeof(what), "format %d, coding %d, infinite %d",
	         format, coding, infinite);
	make_tiles(rng, width, height, &drawn);
	make_tiles(rng, width, height, &blocking);
	make_map(&text, format, coding, infinite, &drawn, &blocking);
	must_read(file_names[format], &text, NULL, &level);
	check_tiles(&level, &blocking, what);
	level_free(&level);
	must_read("by its bytes", &text, &options, &level);
	check_tiles(&level, &drawn, what);
	level_free(&level);
	free(drawn.ids);
	free(blocking.ids);
	text_free(&text);
}

static void
tiled_maps_are_read_back_in_every_encoding(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < 12; round++)
		for (int format = FIRST_FORMAT; format < N_FORMATS; format++)
			for (int coding = 0; coding < N_CODINGS; coding++) {
#ifndef HAVE_ZSTD
				if (coding == ZSTD)
					continue;
#endif
				check_map(&rng, (enum format)format,
				          (enum coding)coding, false);
				check_map(&rng, (enum format)format,
				          (enum coding)coding, true);
			}
}

/* What blocks */

/* Tile 1 of the first tileset and tile 0 of the second have the property. */
#define TILES_XML                                                              \
	"<tile id=\"0\"><properties><property name=\"collides\" type=\"bool\" "  \
	"value=\"false\"/></properties></tile><tile id=\"1\"><properties>"        \
	"<property name=\"collides\" type=\"bool\" value=\"true\"/>"            \
	"<property name=\"mine\" type=\"bool\" value=\"true\"/>"                \
	"</properties></tile>"
#define TILES_JSON                                                             \
	"\"tiles\":[{\"id\":0,\"properties\":[{\"name\":\"collides\","          \
	"\"type\":\"bool\",\"value\":false}]},{\"id\":1,\"properties\":["       \
	"{\"name\":\"collides\",\"type\":\"bool\",\"value\":true},"             \
	"{\"name\":\"mine\",\"value\":true}]}]"

static const char *const files[] = {
	"solid.tsx",
	"<tileset name=\"x\"><tile id=\"0\"><properties><property "
	"name=\"solid\" value=\"true\"/></properties></tile></tileset>",
	"solid.tsj",
	"{\"tiles\":[{\"id\":0,\"properties\":[{\"name\":\"solid\","
	"\"value\":true}]}]}",
	"old.tsj",
	"{\"tileproperties\":{\"0\":{\"solid\":\"true\"}}}",
	"bad.tsj",
	"{\n\"tiles\":[\n}",
	NULL,
};

static void
make_property_map(struct text *text, enum format format, const char *source)
{
	if (format == XML)
		add(text,
		    "<map width=\"3\" height=\"2\"><tileset firstgid=\"1\">%s"
		    "</tileset><tileset firstgid=\"10\" source=\"%s\"/>"
		    "<layer name=\"low\"><data encoding=\"csv\">1,2,3,0,10,11"
		    "</data></layer><layer name=\"high\"><data "
		    "encoding=\"csv\">0,0,2147483650,0,0,1</data></layer></map>",
		    TILES_XML, source);
	else
		add(text,
		    "{\"tilewidth\":1,\"width\":3,\"height\":2,\"layers\":["
		    "{\"type\":\"tilelayer\",\"name\":\"low\",\"data\":["
		    "1,2,3,0,10,11]},{\"type\":\"tilelayer\",\"name\":\"high\","
		    "\"data\":[0,0,2147483650,0,0,1]}],\"tilesets\":["
		    "{\"firstgid\":1,%s},{\"firstgid\":10,\"source\":\"%s\"}]}",
		    TILES_JSON, source);
}

static void
check_open(const struct level *level, const char *wanted)
{
	char open[16] = "";

	assert_int_equal(level->width * level->height, strlen(wanted));
	for (size_t i = 0; i < strlen(wanted); i++)
		open[i] = level_is_open(level, i) ? '.' : '@';
	assert_string_equal(open, wanted);
}

static const struct {
	const char *source, *layer, *property, *blocked;
	const char *open;
} property_maps[] = {
	{"solid.tsj", NULL, NULL, NULL, ".@@.@."},
	{"old.tsj", NULL, NULL, NULL, ".@@.@."},
	{"solid.tsj", NULL, "mine", NULL, ".@@..."},
	{"solid.tsj", "low", "collides", NULL, ".@...."},
	{"missing.tsj", "low", NULL, NULL, "@@@.@@"},
	{"missing.tsj", "high", NULL, NULL, "..@..@"},
	{"missing.tsj", "HIGH", NULL, NULL, "..@..@"},
	{"missing.tsj", "low", NULL, "3,10-11", "..@.@@"},
	{"missing.tsj", "low", NULL, "0", "...@.."},
	{"solid.tsj", NULL, NULL, "1", "@@@.@@"},
#ifdef HAVE_EXPAT
	{"solid.tsx", NULL, NULL, NULL, ".@@.@."},
#endif
};

static void
check_property_map(enum format format, size_t i)
{
	struct terrain_table table = {.n_rules = 0};
	const char *list[N_ELEMENTS(files)];
	struct level_options options = {
		.layer = property_maps[i].layer,
		.property = property_maps[i].property,
		.loader = {fake_load, list}};
	struct text text = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	memcpy(list, files, sizeof(files));
	if (property_maps[i].blocked) {
		assert_int_equal(terrain_block(property_maps[i].blocked, &table,
		                               &diag),
		                 DIAG_OK);
		options.terrain = &table;
	}
	make_property_map(&text, format, property_maps[i].source);
	must_read(file_names[format], &text, &options, &level);
	check_open(&level, property_maps[i].open);
	level_free(&level);
	text_free(&text);
	terrain_free(&table);
}

static void
layers_properties_and_rules_say_what_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(property_maps); i++)
		for (int format = FIRST_FORMAT; format < N_FORMATS; format++)
			check_property_map((enum format)format, i);
}

static void
rules_give_tiles_their_classes(void **state)
{
	static const char rules[] = "2 mud 3\n3 water 0\n";
	struct terrain_table table = {.n_rules = 0};
	struct level_options options = {.terrain = &table};
	struct text text = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	(void)state;
	assert_int_equal(terrain_read((const uint8_t *)rules,
	                              sizeof(rules) - 1, &table, &diag),
	                 DIAG_OK);
	add(&text, "{\"tilewidth\":1,\"width\":4,\"height\":1,\"layers\":["
	           "{\"type\":\"tilelayer\",\"name\":\"x\",\"data\":"
	           "[0,1,2147483650,3]}]}");
	must_read("made.json", &text, &options, &level);
	assert_int_equal(level.cells[0], TERRAIN_GROUND);
	assert_int_equal(level.cells[1], TERRAIN_GROUND);
	assert_string_equal(level.terrain.classes[level.cells[2]].name, "mud");
	assert_int_equal(level.terrain.classes[level.cells[2]].factor, 3);
	assert_string_equal(level.terrain.classes[level.cells[3]].name,
	                    "water");
	check_open(&level, "...@");
	level_free(&level);
	text_free(&text);
	terrain_free(&table);
}

/* Several layers that block */

/* Two layers of random tiles block, each in a group and encoded in its own way;
 * where chunks are, the second one is smaller. */
static void
check_union(struct rng *rng, enum format format, bool infinite)
{
	static const enum coding codings[] = {NUMBERS, CSV, BASE64, ZLIB};
	enum coding low_coding = codings[rng_below(rng, 4)];
	enum coding high_coding = codings[rng_below(rng, 4)];
	uint32_t width = 16 * rng_between(rng, 2, 4);
	uint32_t height = 8 * rng_between(rng, 2, 4);
	struct text text = {NULL, 0, 0};
	struct tiles low, high;
	struct level level;

	make_tiles(rng, width, height, &low);
	make_tiles(rng, width - (infinite ? 16 : 0),
	           height - (infinite ? 8 : 0), &high);
	begin_map(&text, format, infinite, &low);
	add(&text, "%s",
	    format == XML ? "<group name=\"f1\">"
	                  : "\"layers\":[{\"type\":\"group\",\"layers\":[");
	add_layer(&text, format, low_coding, infinite, "collision", &low);
	add(&text, "%s",
	    format == XML ? "</group><group name=\"f2\">"
	                  : "]},{\"type\":\"group\",\"layers\":[");
	add_layer(&text, format, high_coding, infinite,
	          rng_chance(rng, 50) ? "collision" : "Collides", &high);
	add(&text, "%s", format == XML ? "</group></map>\n" : "]}]}\n");
	for (size_t i = 0; i < (size_t)high.width * high.height; i++)
		low.ids[i / high.width * width + i % high.width] |=
			high.ids[i];
	must_read(file_names[format], &text, NULL, &level);
	check_tiles(&level, &low, "union");
	level_free(&level);
	free(low.ids);
	free(high.ids);
	text_free(&text);
}

static void
all_layers_named_collision_block(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < 20; round++)
		for (int format = FIRST_FORMAT; format < N_FORMATS; format++) {
			check_union(&rng, (enum format)format, false);
			check_union(&rng, (enum format)format, true);
		}
}

/* Of the tiles 2 is one that has the properties. */
static void
make_layered_map(struct text *text, enum format format)
{
	static const struct {
		const char *name, *data;
	} layers[] = {{"collision", "1,0,0,2,0,0"},
	              {"walk", "5,5,5,5,5,0"},
	              {"collision", "0,1,0,3,0,0"},
	              {"Collides", "0,0,1,0,0,0"}};

	if (format == XML)
		add(text,
		    "<map width=\"6\" height=\"1\"><tileset firstgid=\"1\">%s"
		    "</tileset>",
		    TILES_XML);
	else
		add(text,
		    "{\"tilewidth\":1,\"width\":6,\"height\":1,\"tilesets\":["
		    "{\"firstgid\":1,%s}],\"layers\":[",
		    TILES_JSON);
	for (size_t i = 0; i < N_ELEMENTS(layers); i++)
		if (format == XML)
			add(text,
			    "<layer name=\"%s\"><data encoding=\"csv\">%s"
			    "</data></layer>",
			    layers[i].name, layers[i].data);
		else
			add(text,
			    "%s{\"type\":\"tilelayer\",\"name\":\"%s\","
			    "\"data\":[%s]}",
			    i ? "," : "", layers[i].name, layers[i].data);
	add(text, "%s", format == XML ? "</map>" : "]}");
}

/* Class is that of the cell where there is a tile 3 on a tile 2. */
static const struct {
	const char *layer, *property, *rules;
	const char *open, *class, *how;
} layered_maps[] = {
	{NULL, NULL, "", "@@@@..", "blocked",
         "3 layers (collision, collision, Collides): every tile is blocked"},
	{"collision", NULL, "", "@@.@..", "blocked",
         "2 layers (collision, collision): every tile is blocked"},
	{"Collision", NULL, "", "@@.@..", "blocked",
         "2 layers (collision, collision): every tile is blocked"},
	{"Collides", NULL, "", "..@...", "ground",
         "layer 'Collides': every tile is blocked"},
	{"collision", "mine", "", "...@..", "blocked",
         "tiles with the property mine are blocked"},
	{NULL, NULL, "3 wall 0\n", "...@..", "wall",
         "3 layers (collision, collision, Collides): what rules block is "
         "blocked"},
	{NULL, NULL, "2 wall 0\n", "...@..", "wall", NULL},
	{NULL, NULL, "2 wall 0\n3 door 1\n", "...@..", "wall", NULL},
	{NULL, NULL, "2 mud 3\n", "@@@@..", "blocked", NULL},
	{NULL, NULL, "2 mud 3\n9 wall 0\n", "......", "mud", NULL},
	{NULL, NULL, "2 mud 3\n3 sand 2\n", "@@@...", "sand", NULL},
	/* No tile is where none of the layers has one. */
	{NULL, NULL, "0 pit 0\n", "....@@", "ground", NULL},
	{"collision", NULL, "0 pit 0\n", "..@.@@", "ground", NULL},
};

static void
check_layered_map(enum format format, size_t i)
{
	const char *rules = layered_maps[i].rules;
	struct terrain_table table = {.n_rules = 0};
	struct level_options options = {.layer = layered_maps[i].layer,
	                                .property = layered_maps[i].property,
	                                .terrain = &table};
	struct text text = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	assert_int_equal(terrain_read((const uint8_t *)rules, strlen(rules),
	                              &table, &diag),
	                 DIAG_OK);
	make_layered_map(&text, format);
	must_read(file_names[format], &text, &options, &level);
	check_open(&level, layered_maps[i].open);
	assert_string_equal(level.terrain.classes[level.cells[3]].name,
	                    layered_maps[i].class);
	if (layered_maps[i].how)
		assert_string_equal(level.how, layered_maps[i].how);
	level_free(&level);
	text_free(&text);
	terrain_free(&table);
}

static void
tiles_of_several_layers_count_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(layered_maps); i++)
		for (int format = FIRST_FORMAT; format < N_FORMATS; format++)
			check_layered_map((enum format)format, i);
}

/* What is true */

static const struct {
	const char *type, *xml, *json;
	bool is_true;
} property_values[] = {
	{"bool", "true", "true", true},
	{"bool", "false", "false", false},
	{"string", "true", "\"true\"", true},
	{"string", "1", "\"1\"", true},
	{"string", "yes", "\"yes\"", false},
	{"string", "", "\"\"", false},
	{"int", "1", "1", true},
	{"int", "0", "0", false},
	{"int", "2", "2", false},
	{"int", "-1", "-1", false},
	{"float", "1", "1.0", true},
	{"float", "1.5", "1.5", false},
};

/* A map of a tile whose property has a value, and of one beside it whose
 * property is true. */
static void
make_value_map(struct text *text, enum format format, size_t i)
{
	if (format == XML)
		add(text,
		    "<map width=\"2\" height=\"1\"><tileset firstgid=\"1\">"
		    "<tile id=\"0\"><properties><property name=\"collides\" "
		    "type=\"%s\" value=\"%s\"/></properties></tile>"
		    "<tile id=\"1\"><properties><property name=\"collides\" "
		    "type=\"bool\" value=\"true\"/></properties></tile>"
		    "</tileset><layer name=\"x\"><data encoding=\"csv\">1,2"
		    "</data></layer></map>",
		    property_values[i].type, property_values[i].xml);
	else
		add(text,
		    "{\"tilewidth\":1,\"width\":2,\"height\":1,\"tilesets\":["
		    "{\"firstgid\":1,\"tiles\":[{\"id\":0,\"properties\":["
		    "{\"name\":\"collides\",\"type\":\"%s\",\"value\":%s}]},"
		    "{\"id\":1,\"properties\":[{\"name\":\"collides\","
		    "\"type\":\"bool\",\"value\":true}]}]}],\"layers\":["
		    "{\"type\":\"tilelayer\",\"name\":\"x\","
		    "\"data\":[1,2]}]}",
		    property_values[i].type, property_values[i].json);
}

static void
a_property_is_true_in_xml_as_in_json(void **state)
{
	struct text text = {NULL, 0, 0};
	struct level level;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(property_values); i++)
		for (int format = FIRST_FORMAT; format < N_FORMATS; format++) {
			make_value_map(&text, (enum format)format, i);
			must_read(file_names[format], &text, NULL, &level);
			check_open(&level, property_values[i].is_true ? "@@" : ".@");
			level_free(&level);
			text_free(&text);
		}
}

/* Refusals */

#define MAP3 "<map width=\"3\" height=\"1\">\n"
#define LAYER3 MAP3 "<layer name=\"collision\">\n<data encoding=\"csv\">"
#define END "</data></layer></map>"
#define CODED(coding) "<layer name=\"collision\"><data encoding=" coding ">"
#define J3 "{\"tilewidth\":1,\"width\":3,\"height\":1,\"layers\":["
#define JLAYER J3 "{\"type\":\"tilelayer\",\"name\":\"collision\","

static const struct {
	const char *name, *text;
	enum diag_status status;
	unsigned long line;
	const char *reason; /* how it begins */
} refused[] = {
#ifdef HAVE_EXPAT
	{"a.tmx", "", DIAG_BAD_INPUT, 1, "not XML: no element found"},
	{"a.tmx", "<map>\n<layer>\n</map>", DIAG_BAD_INPUT, 3,
         "not XML: mismatched tag"},
	{"a.tmx", "\n<tileset/>", DIAG_BAD_INPUT, 2,
         "not a Tiled map: it begins with <tileset>"},
	{"a.tmx", "<map orientation=\"isometric\"/>", DIAG_BAD_INPUT, 1,
         "maps that are 'isometric' are not supported"},
	{"a.tmx", "<map orientation=\"staggered\"/>", DIAG_BAD_INPUT, 1,
         "maps that are 'staggered' are not supported"},
	{"a.tmx", "<map orientation=\"hexagonal\"/>", DIAG_BAD_INPUT, 1,
         "maps that are 'hexagonal' are not supported"},
	{"a.tmx", "<map width=\"x\"/>", DIAG_BAD_INPUT, 1,
         "width='x' is not a number from 0 to 4294967295"},
	{"a.tmx", "<map width=\"-\"/>", DIAG_BAD_INPUT, 1,
         "width='-' is not a number from 0 to 4294967295"},
	{"a.tmx", "<map width=\"99999999999999999999\"/>", DIAG_BAD_INPUT, 1,
         "width='99999999999999999999' is not a number"},
	{"a.tmx",
         "<!DOCTYPE map [\n<!ENTITY a \"aaaa\">\n<!ENTITY b \"&a;&a;\">]>"
         "<map width=\"&b;\"/>",
         DIAG_BAD_INPUT, 2, "it declares an entity, 'a'"},
	{"a.tmx", MAP3 "</map>", DIAG_BAD_INPUT, 0,
         "the map has no layer of tiles"},
	{"a.tmx",
         MAP3 "<layer name=\"one\"/><layer name=\"t&#10;wo\"/></map>",
         DIAG_BAD_INPUT, 0,
         "nothing says what blocks: no layer of tiles 'collision', no tile "
         "property 'collides'; name one with --layer or --property. Layers: "
         "one, t?wo"},
	{"a.tmx",
         MAP3 "<tileset firstgid=\"1\" source=\"a.tsx\"/>"
              "<layer name=\"one\"/></map>",
         DIAG_FAILED, 2,
         "tileset 'a.tsx' can't be read: no other files can be read here"},
	{"a.tmx", LAYER3 "0,1\n" END, DIAG_BAD_INPUT, 3,
         "layer 'collision': its data can't be 3 x 1 tiles"},
	{"a.tmx", LAYER3 "100,1\n" END, DIAG_BAD_INPUT, 3,
         "layer 'collision': fewer than 3 x 1 tiles"},
	{"a.tmx", LAYER3 "0,1,2,3\n" END, DIAG_BAD_INPUT, 3,
         "layer 'collision': more than 3 x 1 tiles"},
	{"a.tmx", LAYER3 "\n0,\nx,2" END, DIAG_BAD_INPUT, 5,
         "layer 'collision': its data are not csv of tile numbers"},
	{"a.tmx", LAYER3 "\n0,\n1 2" END, DIAG_BAD_INPUT, 5,
         "layer 'collision': no comma between tile numbers"},
	{"a.tmx", LAYER3 "0,4294967296,1" END, DIAG_BAD_INPUT, 3,
         "layer 'collision': its data are not csv of tile numbers"},
	{"a.tmx", MAP3 CODED("\"rot13\"") END, DIAG_BAD_INPUT, 2,
         "layer 'collision': encoding 'rot13' is not supported"},
	{"a.tmx", MAP3 CODED("\"base64\" compression=\"lzma\"") END,
         DIAG_BAD_INPUT, 2,
         "layer 'collision': compression 'lzma' is not supported"},
	{"a.tmx", MAP3 CODED("\"base64\"") "A*A=" END, DIAG_BAD_INPUT, 2,
         "layer 'collision': its data are not base64"},
	{"a.tmx", MAP3 CODED("\"base64\"") "AAAAAAAAAAA=" END, DIAG_BAD_INPUT,
         2, "layer 'collision': its data can't be 3 x 1 tiles"},
	{"a.tmx",
         MAP3 CODED("\"base64\" compression=\"zlib\"") "AAAAAAAAAAA=" END,
         DIAG_BAD_INPUT, 2,
         "layer 'collision': its compressed data are damaged"},
	{"a.tmx",
         MAP3 CODED("\"base64\" compression=\"zstd\"") "AAAAAAAAAAA=" END,
#ifdef HAVE_ZSTD
         DIAG_BAD_INPUT, 2,
         "layer 'collision': its compressed data are damaged"},
#else
         DIAG_FAILED, 2,
         "layer 'collision' is compressed with zstd, and this hpabake was "
         "built without it"},
#endif
	{"a.tmx", MAP3 "<layer name=\"collision\" width=\"4\"><data/>"
                       "</layer></map>",
         DIAG_BAD_INPUT, 2,
         "layer 'collision': 4 x 1 tiles, the map has 3 x 1"},
	{"a.tmx", "<map infinite=\"1\"><layer name=\"collision\"><data/></layer>"
                  "</map>",
         DIAG_BAD_INPUT, 1, "layer 'collision': it has no tiles"},
	/* Sizes that nothing stands behind */
	{"a.tmx",
         "<map width=\"65535\" height=\"65535\">" CODED("\"csv\"") "1,1" END,
         DIAG_BAD_INPUT, 1,
         "layer 'collision': its data can't be 65535 x 65535 tiles"},
	{"a.tmx",
         "<map width=\"65535\" height=\"65535\">" CODED(
		 "\"base64\" compression=\"zlib\"") "eJxjYAACAAAEAAE=" END,
         DIAG_BAD_INPUT, 1,
         "layer 'collision': its data can't be 65535 x 65535 tiles"},
	{"a.tmx",
         "<map width=\"65535\" height=\"65535\">" CODED(
		 "\"base64\" compression=\"zstd\"") "KLUv/SAEIQAAAAAAAA==" END,
         DIAG_BAD_INPUT, 1,
         "layer 'collision': its data can't be 65535 x 65535 tiles"},
	{"a.tmx",
         "<map infinite=\"1\">" CODED(
		 "\"csv\"") "<chunk x=\"0\" y=\"0\" width=\"1\" height=\"1\">1"
                            "</chunk><chunk x=\"65534\" y=\"65534\" "
                            "width=\"1\" height=\"1\">1</chunk>" END,
         DIAG_BAD_INPUT, 0,
         "the chunks of the map span 65535 x 65535 tiles and have only 2 of "
         "them"},
	{"a.tmx",
         "<map infinite=\"1\">" CODED(
		 "\"csv\"") "<chunk x=\"-2147483648\" width=\"1\" height=\"1\">"
                            "1</chunk><chunk x=\"2147483647\" "
                            "width=\"1\" height=\"1\">1</chunk>" END,
         DIAG_BAD_INPUT, 0,
         "the chunks of the map span 4294967296 x 1 tiles; a side has"},
#endif
	{"a.tmj", "{\n\"layers\":[\n", DIAG_BAD_INPUT, 3, "not JSON: "},
	{"a.tmj", "[]", DIAG_BAD_INPUT, 0, "not a JSON object"},
	{"a.tmj", "{}", DIAG_BAD_INPUT, 0, "not a Tiled map: it has no layers"},
	{"a.tmj", "{\"layers\":[],\"orientation\":\"hexagonal\"}",
         DIAG_BAD_INPUT, 0, "maps that are 'hexagonal' are not supported"},
	{"a.tmj", "{\"layers\":[],\"width\":-1}", DIAG_BAD_INPUT, 0,
         "'width' is not a number from 0 to 4294967295"},
	{"a.tmj", JLAYER "\"data\":[0,1]}]}", DIAG_BAD_INPUT, 0,
         "layer 'collision': its data can't be 3 x 1 tiles"},
	{"a.tmj", JLAYER "\"data\":[0,1,-1]}]}", DIAG_BAD_INPUT, 0,
         "layer 'collision': one of its data is not a number of a tile"},
	{"a.tmj", JLAYER "\"data\":\"AAAA\"}]}", DIAG_BAD_INPUT, 0,
         "layer 'collision': its data are a text without an encoding"},
	{"a.tmj", JLAYER "\"data\":7}]}", DIAG_BAD_INPUT, 0,
         "layer 'collision': its data are neither an array nor base64"},
	{"a.tmj", JLAYER "\"width\":65535,\"height\":65535,\"data\":[1]}]}",
         DIAG_BAD_INPUT, 0,
         "layer 'collision': 65535 x 65535 tiles, the map has 3 x 1"},
	{"a.tmj",
         "{\"width\":65535,\"height\":65535,\"layers\":[{\"type\":"
         "\"tilelayer\",\"name\":\"collides\",\"data\":[1]}]}",
         DIAG_BAD_INPUT, 0,
         "layer 'collides': its data can't be 65535 x 65535 tiles"},
	{"a.ldtk", "{}", DIAG_BAD_INPUT, 0,
         "not an LDtk project: it has no levels"},
	{"a.ldtk", "{\"levels\":[{}]}", DIAG_BAD_INPUT, 0,
         "the level has no layerInstances"},
	{"a.ldtk", "{\"levels\":[{\"identifier\":\"Attic\"},{}]}",
         DIAG_BAD_INPUT, 0,
         "level 'Attic': the level has no layerInstances"},
	{"a.ldtkl", "{\"layerInstances\":[]}", DIAG_BAD_INPUT, 0,
         "the level has no IntGrid layer, so nothing says what blocks"},
	{"a.ldtkl",
         "{\"layerInstances\":[{\"__type\":\"IntGrid\",\"__identifier\":\"x\","
         "\"__cWid\":65535,\"__cHei\":65535,\"intGridCsv\":[0]}]}",
         DIAG_BAD_INPUT, 0, "layer 'x': 1 values, not 65535 x 65535"},
	{"a.ldtkl",
         "{\"layerInstances\":[{\"__type\":\"IntGrid\",\"__identifier\":\"x\","
         "\"__cWid\":1,\"__cHei\":1,\"intGridCsv\":[\"0\"]}]}",
         DIAG_BAD_INPUT, 0, "layer 'x': value 0 is not a number"},
	{"a.ldtk", "{\"levels\":[{\"externalRelPath\":\"b.ldtkl\"}]}",
         DIAG_FAILED, 0,
         "level file 'b.ldtkl' can't be read: no other files"},
};

/* Within a gigabyte, to see that sizes are not just believed; a sanitizer has an
 * address space of its own making, to which no limit can be set. */
static void
bad_files_are_refused_with_a_reason(void **state)
{
	struct rlimit before, limit;
	struct level level;
	struct diag diag;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 30;
	for (size_t i = 0; i < N_ELEMENTS(refused); i++) {
		const char *text = refused[i].text, *reason = refused[i].reason;
		enum diag_status status;

		if (!HAS_SANITIZER)
			assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
		status = read_level(refused[i].name, text, strlen(text), NULL,
		                    &level, &diag);
		assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
		if (status != refused[i].status ||
		    diag.line != refused[i].line ||
		    strncmp(diag.text, reason, strlen(reason)) != 0)
			fail_msg("%s\nstatus %d, line %lu: %s", text, status,
			         diag.line, diag.text);
	}
}

static const struct {
	struct level_options options;
	const char *source;
	enum diag_status status;
	const char *reason;
} wrong_options[] = {
	{{.layer = "none"}, "solid.tsj", DIAG_USAGE,
         "--layer takes one of the tile layers low, high, not 'none'"},
	{{.property = "none"}, "solid.tsj", DIAG_BAD_INPUT,
         "no tile has a property 'none' that is true"},
	{{.property = "solid"}, "missing.tsj", DIAG_FAILED,
         "tileset 'missing.tsj' can't be read: no such file"},
	{{.property = "solid"}, "bad.tsj", DIAG_BAD_INPUT,
         "tileset 'bad.tsj' can't be read: line 3: not JSON: "},
};

static void
wrong_options_are_told_with_what_there_is(void **state)
{
	const char *list[N_ELEMENTS(files)];
	struct level level;
	struct diag diag;

	(void)state;
	memcpy(list, files, sizeof(files));
	for (size_t i = 0; i < N_ELEMENTS(wrong_options); i++) {
		struct level_options options = wrong_options[i].options;
		struct text text = {NULL, 0, 0};

		options.loader = (struct level_loader){fake_load, list};
		make_property_map(&text, JSON, wrong_options[i].source);
		assert_int_equal(read_level("a.tmj", text.data, text.size,
		                            &options, &level, &diag),
		                 wrong_options[i].status);
		if (strncmp(diag.text, wrong_options[i].reason,
		            strlen(wrong_options[i].reason)) != 0)
			fail_msg("%s", diag.text);
		text_free(&text);
	}
}

/* LDtk */

static void
add_ldtk_level(struct text *text, const char *name, const struct tiles *values)
{
	add(text,
	    "{\"identifier\":\"%s\",\"layerInstances\":["
	    "{\"__type\":\"Entities\",\"__identifier\":\"Collisions\","
	    "\"__cWid\":9,\"__cHei\":9,\"intGridCsv\":[]},"
	    "{\"__type\":\"IntGrid\",\"__identifier\":\"Other\",\"__cWid\":2,"
	    "\"__cHei\":1,\"intGridCsv\":[0,1]},"
	    "{\"__type\":\"IntGrid\",\"__identifier\":\"Collisions\","
	    "\"layerDefUid\":5,\"__cWid\":%u,\"__cHei\":%u,\"intGridCsv\":",
	    name, (unsigned)values->width, (unsigned)values->height);
	add_data(text, JSON, CSV, values, 0, 0, values->width, values->height);
	add(text, "}]}");
}

#define LDTK_DEFS                                                              \
	"\"defs\":{\"layers\":[{\"uid\":4,\"identifier\":\"Other\"},"           \
	"{\"uid\":5,\"intGridValues\":[{\"value\":1,\"identifier\":\"walls\"}," \
	"{\"value\":2,\"identifier\":\"water\"},"                               \
	"{\"value\":3,\"identifier\":null},"                                    \
	"{\"value\":4,\"identifier\":\"ground\"}]}]}"

/* Levels A and B, C in the first world, D in the second, E in its own file. */
static void
ldtk_levels_are_picked_by_name_or_number(void **state)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};
	struct rng rng = {test_seed()};
	struct tiles values[5];
	struct text texts[5] = {{NULL, 0, 0}}, project = {NULL, 0, 0};
	const char *list[3] = {"p/E.ldtkl", NULL, NULL};
	struct level_options options = {.loader = {fake_load, list}};
	struct level_kept kept = {NULL, NULL};
	struct text nothing = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	(void)state;
	add(&nothing, "{}");
	for (size_t i = 0; i < 5; i++) {
		make_tiles(&rng, rng_between(&rng, 1, 30),
		           rng_between(&rng, 1, 30), &values[i]);
		add_ldtk_level(&texts[i], names[i], &values[i]);
	}
	list[1] = texts[4].data;
	add(&project, "{\"jsonVersion\":\"1\"," LDTK_DEFS ",\"levels\":[");
	add_bytes(&project, texts[0].data, texts[0].size);
	add(&project, ",");
	add_bytes(&project, texts[1].data, texts[1].size);
	add(&project, "],\"worlds\":[{\"levels\":[");
	add_bytes(&project, texts[2].data, texts[2].size);
	add(&project, "]},{\"levels\":[");
	add_bytes(&project, texts[3].data, texts[3].size);
	add(&project, ",{\"identifier\":\"E\",\"layerInstances\":null,"
	              "\"externalRelPath\":\"p/E.ldtkl\"}]}]}");
	for (uint32_t i = 0; i < 10; i++) {
		options.pick = i < 5 ? names[i] : NULL;
		options.index = i % 5;
		must_read("a.ldtk", &project, &options, &level);
		check_tiles(&level, &values[i % 5], names[i % 5]);
		assert_string_equal(level.name, names[i % 5]);
		assert_int_equal(level.n_in_file, 5);
		level_free(&level);
	}
	/* What is kept is not looked for in the file again. */
	options.kept = &kept;
	for (options.index = 0; options.index < 5; options.index++) {
		must_read("a.ldtk", options.index ? &nothing : &project,
		          &options, &level);
		check_tiles(&level, &values[options.index],
		            names[options.index]);
		level_free(&level);
	}
	level_kept_free(&kept);
	options.kept = NULL;
	options.index = 5;
	assert_int_equal(read_level("a.ldtk", project.data, project.size,
	                            &options, &level, &diag),
	                 DIAG_USAGE);
	assert_string_equal(diag.text, "there is no level number 5; the file "
	                               "has 5, counted from 0");
	options.pick = "F";
	assert_int_equal(read_level("a.ldtk", project.data, project.size,
	                            &options, &level, &diag),
	                 DIAG_USAGE);
	assert_string_equal(diag.text, "--pick takes one of the levels A, B, "
	                               "C, D, E, not 'F'");
	options = (struct level_options){.layer = "Entities"};
	assert_int_equal(read_level("a.ldtk", project.data, project.size,
	                            &options, &level, &diag),
	                 DIAG_USAGE);
	assert_string_equal(diag.text,
	                    "level 'A': --layer takes one of the level's "
	                    "IntGrid layers (Other, Collisions), not "
	                    "'Entities'");
	options.layer = "Other";
	must_read("a.ldtk", &project, &options, &level);
	check_open(&level, ".@");
	level_free(&level);
	/* The level file alone */
	must_read("E.ldtkl", &texts[4], NULL, &level);
	check_tiles(&level, &values[4], "level file");
	assert_int_equal(level.n_in_file, 1);
	level_free(&level);
	options = (struct level_options){.pick = "E"};
	must_read("E.ldtkl", &texts[4], &options, &level);
	check_tiles(&level, &values[4], "level file");
	level_free(&level);
	options.pick = "F";
	assert_int_equal(read_level("E.ldtkl", texts[4].data, texts[4].size,
	                            &options, &level, &diag),
	                 DIAG_USAGE);
	assert_string_equal(diag.text,
	                    "--pick takes one of the levels E, not 'F'");
	for (size_t i = 0; i < 5; i++) {
		free(values[i].ids);
		text_free(&texts[i]);
	}
	text_free(&project);
	text_free(&nothing);
}

/* Their readers go on with the next one. */
static void
ldtk_broken_levels_have_a_number_and_a_name(void **state)
{
	static const char project[] =
		"{\"levels\":[{\"identifier\":\"A\"},"
		"{\"identifier\":\"B\",\"layerInstances\":[{\"__type\":"
		"\"IntGrid\",\"__identifier\":\"x\",\"__cWid\":2,"
		"\"__cHei\":1,\"intGridCsv\":[0,-1]}]}]}";
	static const char *const names[] = {"A", "B"};
	struct level_options options = {.index = 0};
	struct level level;
	struct diag diag;

	(void)state;
	for (; options.index < 2; options.index++) {
		assert_int_equal(read_level("a.ldtk", project, strlen(project),
		                            &options, &level, &diag),
		                 DIAG_BAD_INPUT);
		assert_int_equal(level.n_in_file, 2);
		assert_string_equal(level.name, names[options.index]);
	}
	assert_int_equal(read_level("a.ldtk", project, strlen(project),
	                            &options, &level, &diag),
	                 DIAG_USAGE);
	assert_int_equal(level.n_in_file, 0);
}

static const char *
class_name(const struct level *level, size_t cell)
{
	return level->terrain.classes[level->cells[cell]].name;
}

static void
ldtk_values_have_the_names_of_the_project(void **state)
{
	static const char rules[] = "1 rubble 2\nx water 4\n";
	uint32_t ids[] = {0, 1, 2, 3, 4, 9};
	const struct tiles values = {3, 2, ids};
	struct terrain_table table = {.n_rules = 0};
	struct level_options options = {.terrain = &table};
	struct text text = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	(void)state;
	add(&text, "{" LDTK_DEFS ",\"levels\":[");
	add_ldtk_level(&text, "A", &values);
	add(&text, "]}");
	must_read("a.ldtk", &text, NULL, &level);
	check_open(&level, ".@@@@@");
	assert_string_equal(class_name(&level, 0), "ground");
	assert_string_equal(class_name(&level, 1), "walls");
	assert_string_equal(class_name(&level, 2), "water");
	assert_string_equal(class_name(&level, 3), "blocked");
	assert_string_equal(class_name(&level, 4), "blocked");
	assert_string_equal(class_name(&level, 5), "blocked");
	level_free(&level);
	assert_int_equal(terrain_read((const uint8_t *)rules,
	                              sizeof(rules) - 1, &table, &diag),
	                 DIAG_OK);
	must_read("a.ldtk", &text, &options, &level);
	check_open(&level, "...@@@");
	assert_string_equal(class_name(&level, 1), "rubble");
	assert_string_equal(class_name(&level, 2), "water");
	level_free(&level);
	text_free(&text);
	terrain_free(&table);
}

/* Others than a baked file takes are replaced. */
static void
ldtk_names_become_plain_words(void **state)
{
	uint32_t ids[] = {1, 2, 3};
	const struct tiles values = {3, 1, ids};
	struct text text = {NULL, 0, 0};
	struct level level;

	(void)state;
	add(&text, "{\"defs\":{\"layers\":[{\"uid\":5,\"intGridValues\":["
	           "{\"value\":1,\"identifier\":\"w\xc3\xa4ll\"},"
	           "{\"value\":2,\"identifier\":\"a wall~\\u007f\"},"
	           "{\"value\":3,\"identifier\":"
	           "\"thirty letters and then some more\"}"
	           "]}]},\"levels\":[");
	add_ldtk_level(&text, "A", &values);
	add(&text, "]}");
	must_read("a.ldtk", &text, NULL, &level);
	assert_string_equal(class_name(&level, 0), "w__ll");
	assert_string_equal(class_name(&level, 1), "a_wall~_");
	assert_string_equal(class_name(&level, 2),
	                    "thirty_letters_and_then_some_mo");
	level_free(&level);
	text_free(&text);
}

/* Our own files, whole and broken */

static const char *const own_files[] = {
	"dungeon.ldtk",
	"village.tmj",
#ifdef HAVE_EXPAT
	"village.tmx",
#endif
};

static uint8_t *
read_own(const char *name, size_t *size)
{
	char path[1024];
	uint8_t *data;

	snprintf(path, sizeof(path), "%s/%s", data_folder(), name);
	data = read_file(path, size);
	assert_non_null(data);
	return data;
}

static void
own_files_are_read_as_they_look(void **state)
{
	struct level levels[N_ELEMENTS(own_files)];
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(own_files); i++) {
		size_t size;
		uint8_t *data = read_own(own_files[i], &size);

		if (read_level(own_files[i], data, size, NULL, &levels[i],
		               &diag))
			fail_msg("%s: %s", own_files[i], diag.text);
		free(data);
	}
	assert_int_equal(levels[0].width, 24);
	assert_int_equal(levels[0].n_in_file, 2);
	assert_string_equal(levels[0].name, "Cellar");
	assert_int_equal(levels[1].width, 32);
	assert_int_equal(levels[1].height, 24);
	/* The village is the same in both formats. */
	for (size_t k = 2; k < N_ELEMENTS(own_files); k++)
		for (size_t i = 0; i < 32 * 24; i++)
			assert_int_equal(level_is_open(&levels[1], i),
			                 level_is_open(&levels[k], i));
	for (size_t i = 0; i < N_ELEMENTS(own_files); i++)
		level_free(&levels[i]);
}

/* Some editors of text put one before everything they save. */
static void
a_byte_order_mark_does_not_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(own_files); i++) {
		size_t size;
		uint8_t *data = read_own(own_files[i], &size);
		struct text marked = {NULL, 0, 0};
		struct level plain, level;
		struct diag diag;

		add(&marked, "\xef\xbb\xbf");
		add_bytes(&marked, data, size);
		assert_int_equal(read_level(own_files[i], data, size, NULL,
		                            &plain, &diag),
		                 DIAG_OK);
		must_read("no-suffix", &marked, NULL, &level);
		assert_int_equal(level.width, plain.width);
		assert_int_equal(level.height, plain.height);
		assert_memory_equal(level.cells, plain.cells,
		                    (size_t)plain.width * plain.height);
		level_free(&level);
		level_free(&plain);
		text_free(&marked);
		free(data);
	}
}

static void
truncated_files_are_refused(void **state)
{
	struct level level;
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(own_files); i++) {
		size_t size;
		uint8_t *data = read_own(own_files[i], &size);

		/* The last byte is a newline. */
		for (size_t cut = 0; cut < size - 1; cut += HAS_SANITIZER ? 3 : 1)
			if (read_level(own_files[i], data, cut, NULL, &level,
			               &diag) != DIAG_BAD_INPUT)
				fail_msg("%s cut at %zu: %s", own_files[i],
				         cut, diag.text);
		free(data);
	}
}

/* Real files, read a second time */

static const char *
find_after(const char *at, const char *what)
{
	at = at ? strstr(at, what) : NULL;
	return at ? at + strlen(what) : NULL;
}

static void
plain_numbers(const char *at, size_t n, uint32_t *out)
{
	for (size_t i = 0; i < n; i++) {
		char *end;

		out[i] = (uint32_t)strtoul(at, &end, 10);
		at = end + 1;
	}
}

#ifdef HAVE_EXPAT
static size_t
plain_base64(const char *text, uint8_t *out)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789+/";
	unsigned long bits = 0;
	size_t n = 0, n_bits = 0;

	for (; *text != '<' && *text != '='; text++) {
		const char *letter = strchr(letters, *text);

		if (!letter)
			continue;
		bits = (bits << 6 | (unsigned long)(letter - letters)) &
		       0xffff;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[n++] = (uint8_t)(bits >> n_bits);
		}
	}
	return n;
}

static void
plain_tiles(const char *text, struct tiles *out)
{
	const char *map = find_after(text, "<map ");
	const char *layer = strstr(text, "name=\"collision\"");
	const char *data;
	size_t n;

	if (!layer)
		layer = strstr(text, "name=\"Collision\"");
	data = find_after(layer, "<data encoding=\"");
	assert_non_null(data);
	out->width = (uint32_t)atoi(find_after(map, " width=\""));
	out->height = (uint32_t)atoi(find_after(map, " height=\""));
	n = (size_t)out->width * out->height;
	out->ids = calloc(n, 4);
	assert_non_null(out->ids);
	if (!strncmp(data, "csv", 3)) {
		data = find_after(data, ">");
		plain_numbers(data, n, out->ids);
	} else {
		uint8_t *packed = malloc(strlen(data));
		z_stream stream = {.next_out = (uint8_t *)out->ids,
		                   .avail_out = (uInt)(4 * n)};

		assert_non_null(packed);
		stream.next_in = packed;
		stream.avail_in =
			(uInt)plain_base64(find_after(data, ">"), packed);
		assert_int_equal(inflateInit2(&stream, 31), Z_OK);
		assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
		assert_int_equal(stream.avail_out, 0);
		inflateEnd(&stream);
		free(packed);
	}
}

static void
check_real_tmx(const char *path, const char *name, void *user)
{
	size_t size;
	uint8_t *data = read_file(path, &size);
	struct tiles tiles;
	struct level level;
	struct diag diag;

	(void)user;
	assert_non_null(data);
	if (read_level(name, data, size, NULL, &level, &diag))
		fail_msg("%s: %lu: %s", name, diag.line, diag.text);
	plain_tiles((const char *)data, &tiles);
	/* Whatever the order of bytes here: only zero matters. */
	for (size_t i = 0; i < (size_t)tiles.width * tiles.height; i++)
		tiles.ids[i] = tiles.ids[i] != 0;
	check_tiles(&level, &tiles, name);
	level_free(&level);
	free(tiles.ids);
	free(data);
}
#endif

static const struct {
	const char *file, *layer;
	uint32_t n_levels;
} real_ldtk[] = {
	{"AutoLayers_1_basic.ldtk", "IntGrid_layer", 1},
	{"Typical_TopDown_example.ldtk", "Collisions", 0},
	{"bigroomtest.ldtk", "IntGrid", 1},
	{"SeparateLevelFiles/World_Level_0.ldtkl", "IntGrid", 1},
	{"SeparateLevelFiles/World_Level_1.ldtkl", "IntGrid", 1},
	{"SeparateLevelFiles/World_Level_2.ldtkl", "IntGrid", 1},
};

/* The next layer of that name in the text; NULL behind the last. */
static const char *
plain_grid(const char *text, const char *layer, struct tiles *out)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"__identifier\": \"%s\"", layer);
	at = find_after(text, key);
	if (!at)
		return NULL;
	out->width = (uint32_t)atoi(find_after(at, "\"__cWid\":"));
	out->height = (uint32_t)atoi(find_after(at, "\"__cHei\":"));
	out->ids = calloc((size_t)out->width * out->height, 4);
	assert_non_null(out->ids);
	at = find_after(at, "\"intGridCsv\": [");
	assert_non_null(at);
	plain_numbers(at, (size_t)out->width * out->height, out->ids);
	return at;
}

static void
check_real_ldtk(size_t row)
{
	char path[128];
	size_t size;
	uint8_t *data;
	const char *at;
	struct level_options options = {.index = 0};
	struct tiles tiles;
	struct level level;
	struct diag diag;

	snprintf(path, sizeof(path), "formats/ldtk/%s", real_ldtk[row].file);
	data = read_maps_file(path, &size);
	assert_non_null(data);
	at = plain_grid((const char *)data, real_ldtk[row].layer, &tiles);
	for (; at; options.index++) {
		if (read_level(path, data, size, &options, &level, &diag))
			fail_msg("%s %u: %s", path, (unsigned)options.index,
			         diag.text);
		check_tiles(&level, &tiles, path);
		if (real_ldtk[row].n_levels)
			assert_int_equal(level.n_in_file,
			                 real_ldtk[row].n_levels);
		level_free(&level);
		free(tiles.ids);
		at = plain_grid(at, real_ldtk[row].layer, &tiles);
	}
	assert_int_not_equal(options.index, 0);
	free(data);
}

/* The project whose levels are in other files. */
static void
check_separate_ldtk(void)
{
	const char *list[7] = {"SeparateLevelFiles/World_Level_0.ldtkl", NULL,
	                       "SeparateLevelFiles/World_Level_1.ldtkl", NULL,
	                       "SeparateLevelFiles/World_Level_2.ldtkl", NULL,
	                       NULL};
	struct level_options options = {.loader = {fake_load, list}};
	size_t size, ignored;
	uint8_t *data =
		read_maps_file("formats/ldtk/SeparateLevelFiles.ldtk", &size);
	uint8_t *parts[3];
	char path[128];

	assert_non_null(data);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "formats/ldtk/%s", list[2 * i]);
		parts[i] = read_maps_file(path, &ignored);
		assert_non_null(parts[i]);
		list[2 * i + 1] = (const char *)parts[i];
	}
	for (options.index = 0; options.index < 3; options.index++) {
		struct tiles tiles;
		struct level level;
		struct diag diag;

		assert_int_equal(read_level("a.ldtk", data, size, &options,
		                            &level, &diag),
		                 DIAG_OK);
		assert_int_equal(level.n_in_file, 3);
		plain_grid((const char *)parts[options.index], "IntGrid",
		           &tiles);
		check_tiles(&level, &tiles, "separate");
		free(tiles.ids);
		level_free(&level);
	}
	for (size_t i = 0; i < 3; i++)
		free(parts[i]);
	free(data);
}

static void
real_files_are_read_as_they_look(void **state)
{
	(void)state;
	if (!maps_folder("formats/tmx"))
		return;
#ifdef HAVE_EXPAT
	assert_int_not_equal(for_each_file(maps_folder("formats/tmx"), ".tmx",
	                                   check_real_tmx, NULL),
	                     0);
#endif
	for (size_t i = 0; i < N_ELEMENTS(real_ldtk); i++)
		check_real_ldtk(i);
	check_separate_ldtk();
}

int
main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(tiled_maps_are_read_back_in_every_encoding),
		cmocka_unit_test(layers_properties_and_rules_say_what_blocks),
		cmocka_unit_test(rules_give_tiles_their_classes),
		cmocka_unit_test(all_layers_named_collision_block),
		cmocka_unit_test(tiles_of_several_layers_count_together),
		cmocka_unit_test(a_property_is_true_in_xml_as_in_json),
		cmocka_unit_test(bad_files_are_refused_with_a_reason),
		cmocka_unit_test(wrong_options_are_told_with_what_there_is),
		cmocka_unit_test(ldtk_levels_are_picked_by_name_or_number),
		cmocka_unit_test(ldtk_broken_levels_have_a_number_and_a_name),
		cmocka_unit_test(ldtk_values_have_the_names_of_the_project),
		cmocka_unit_test(ldtk_names_become_plain_words),
		cmocka_unit_test(own_files_are_read_as_they_look),
		cmocka_unit_test(a_byte_order_mark_does_not_count),
		cmocka_unit_test(truncated_files_are_refused),
		cmocka_unit_test(real_files_are_read_as_they_look),
	};

	/* cmocka writes a skipped test as one that failed. */
	if (!maps_folder("formats/tmx"))
		tests[N_ELEMENTS(tests) - 1].name =
			"real_files # SKIP no folder HPA_MAPS/formats";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
