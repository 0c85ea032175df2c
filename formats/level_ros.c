/* level_ros.c: read the maps of ROS map_server (.yaml and an image).
 *
 * The layout, a YAML mapping:
 *
 *     image: depot.pgm         PGM or PNG; a relative name starts from here
 *     occupied_thresh: 0.65    from 0 to 1
 *     free_thresh: 0.25        from 0 to 1, not above the other
 *     negate: 0                or 1, or a YAML 1.1 boolean; 0 if it is missing
 *     mode: trinary            or scale or raw, in any case; trinary if it is
 *                              missing
 *     resolution: 0.05         metres per cell       } checked, but a level
 *     origin: [0.0, 0.0, 0]    x, y and yaw          } has no use for them
 *
 * Other keys are skipped. A pixel's shade is the mean of its channels, 0 black
 * to 1 white; with mode trinary alpha is one of them, 1 for what is opaque, as
 * map_server has it. The chance p that a cell is occupied is 1 -
 * shade, or the shade itself with negate. As in an OccupancyGrid a cell has a
 * value:
 *
 *     mode       value
 *     trinary    100 if p > occupied_thresh, 0 if p < free_thresh, else 255
 *     scale      the same, but 0 to 100 instead of 255, in proportion; 255 for
 *                what is not fully opaque
 *     raw        the shade as a byte, 0 to 100; 255 for all above
 *
 * and the value, unless the user's rules for values say otherwise, a class:
 *
 *     0 to 99    free: what is not surely occupied
 *     100        blocked
 *     255        unknown, the OccupancyGrid's -1: a class of its own, blocked
 *
 * Rows are counted from the bottom: cell (x, y) is data[y * width + x] of the
 * OccupancyGrid, x and y grow like the coordinates of the world, and the
 * image's last row is y = 0. */
#include "formats/level.h"

#include <string.h>

#define PROBED_SIZE 65536u

/* Does the text begin with `image:`, as YAML may write it? */
static bool
is_image_key(const uint8_t *at, const uint8_t *end)
{
	static const char key[] = "image";
	const size_t size = sizeof(key) - 1;
	uint8_t quote = at < end && (*at == '"' || *at == '\'') ? *at : 0;

	at += quote != 0;
	if ((size_t)(end - at) < size || memcmp(at, key, size) != 0)
		return false;
	at += size;
	if (quote && (at == end || *at++ != quote))
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at < end && *at == ':';
}

/* Is there a line that begins so near the begin? What is indented may be about
 * something else. */
int
ros_probe(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + (size < PROBED_SIZE ? size : PROBED_SIZE);
	const uint8_t *line = data;

	if (end - data >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		line += 3;
	while (line && !is_image_key(line, end)) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	return line && !memchr(data, 0, (size_t)(end - data));
}

#ifdef HAVE_YAML
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <yaml.h>

#include "formats/image.h"

#define MAX_YAML_SIZE ((size_t)1 << 20) /* real ones have 200 bytes */
#define MAX_TEXT_SIZE 4096u
#define MAX_DEPTH 64u

#define VALUE_FREE 0u
#define VALUE_OCCUPIED 100u
#define VALUE_UNKNOWN 255u
#define N_VALUES 256u

enum mode { MODE_TRINARY, MODE_SCALE, MODE_RAW };

static const char *const mode_names[] = {"trinary", "scale", "raw"};

static const char *const yes_words[] = {"1", "true", "yes", "on", "y"};
static const char *const no_words[] = {"0", "false", "no", "off", "n"};

#define N_MODES (sizeof(mode_names) / sizeof(mode_names[0]))
#define N_WORDS (sizeof(yes_words) / sizeof(yes_words[0]))

/* What the YAML says. */
struct map {
	char *image; /* NULL: not yet */
	unsigned long image_line;
	double occupied, free;
	bool negate;
	enum mode mode;
	unsigned seen; /* a bit for each row of `keys` */
};

/* A value of a key; text is ended by NUL and has no other. */
struct value {
	const char *text;
	unsigned long line;
};

/* One row per key. set() is called for a scalar, or for each scalar of the
 * sequence where n_items is not 0. */
struct key {
	const char *name;
	const char *takes;
	bool needed;
	unsigned n_items;
	bool (*set)(struct map *map, struct value value);
};

static bool
parse_number(const char *text, double *out)
{
	char *end;

	if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
		return false;
	*out = strtod(text, &end);
	return *end == '\0';
}

static bool
parse_part(const char *text, double *out)
{
	return parse_number(text, out) && *out >= 0 && *out <= 1;
}

static bool
set_image(struct map *map, struct value value)
{
	if (!*value.text)
		return false;
	map->image_line = value.line;
	map->image = strdup(value.text);
	return true;
}

static bool
set_occupied(struct map *map, struct value value)
{
	return parse_part(value.text, &map->occupied);
}

static bool
set_free(struct map *map, struct value value)
{
	return parse_part(value.text, &map->free);
}

static bool
set_negate(struct map *map, struct value value)
{
	bool is_no = false;

	for (size_t i = 0; i < N_WORDS; i++) {
		map->negate |= !strcasecmp(value.text, yes_words[i]);
		is_no |= !strcasecmp(value.text, no_words[i]);
	}
	return map->negate || is_no;
}

static bool
set_mode(struct map *map, struct value value)
{
	for (size_t i = 0; i < N_MODES; i++)
		if (!strcasecmp(value.text, mode_names[i])) {
			map->mode = (enum mode)i;
			return true;
		}
	return false;
}

static bool
check_resolution(struct map *map, struct value value)
{
	double number;

	(void)map;
	return parse_number(value.text, &number) && number > 0;
}

static bool
check_coordinate(struct map *map, struct value value)
{
	double number;

	(void)map;
	return parse_number(value.text, &number);
}

static const struct key keys[] = {
	{"image", "the name of a file", true, 0, set_image},
	{"occupied_thresh", "a number from 0 to 1", true, 0, set_occupied},
	{"free_thresh", "a number from 0 to 1", true, 0, set_free},
	{"negate", "0 or 1", false, 0, set_negate},
	{"mode", "trinary, scale or raw", false, 0, set_mode},
	{"resolution", "a number above 0", false, 0, check_resolution},
	{"origin", "a list of 3 numbers", false, 3, check_coordinate},
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

struct parser {
	yaml_parser_t yaml;
	struct map *map;
	struct diag *diag;
};

static unsigned long
line_of(const yaml_event_t *event)
{
	return (unsigned long)event->start_mark.line + 1;
}

/* The next event, to be deleted; it is empty where there is none. */
static enum diag_status
next_event(struct parser *parser, yaml_event_t *event)
{
	const yaml_parser_t *yaml = &parser->yaml;

	memset(event, 0, sizeof(*event));
	if (yaml_parser_parse(&parser->yaml, event))
		return DIAG_OK;
	if (yaml->error == YAML_MEMORY_ERROR)
		return diag_set(parser->diag, DIAG_FAILED, 0, "out of memory");
	return diag_set(parser->diag, DIAG_BAD_INPUT,
	                (unsigned long)yaml->problem_mark.line + 1,
	                "not YAML: %.200s",
	                yaml->problem ? yaml->problem : "unknown error");
}

/* The text of a scalar; false for what is none or can't be a value of ours. */
static bool
scalar_text(const yaml_event_t *event, const char **out)
{
	*out = (const char *)event->data.scalar.value;
	return event->type == YAML_SCALAR_EVENT &&
	       event->data.scalar.length < MAX_TEXT_SIZE &&
	       strlen(*out) == event->data.scalar.length;
}

/* Read past the rest of what the event begins, a sequence or a mapping. Libyaml
 * takes time by the square of the depth. */
static enum diag_status
skip(struct parser *parser, yaml_event_type_t type)
{
	enum diag_status st = DIAG_OK;
	unsigned long depth = 0, line = 0;

	for (;;) {
		yaml_event_t event;

		if (type == YAML_SEQUENCE_START_EVENT ||
		    type == YAML_MAPPING_START_EVENT)
			depth++;
		if (type == YAML_SEQUENCE_END_EVENT ||
		    type == YAML_MAPPING_END_EVENT)
			depth--;
		if (depth == 0)
			return DIAG_OK;
		if (depth > MAX_DEPTH)
			return diag_set(parser->diag, DIAG_BAD_INPUT, line,
			                "lists are nested deeper than %u",
			                MAX_DEPTH);
		st = next_event(parser, &event);
		type = event.type;
		line = line_of(&event);
		yaml_event_delete(&event);
		if (st != DIAG_OK)
			return st;
	}
}

static enum diag_status
refuse_value(struct parser *parser, const struct key *key, unsigned long line)
{
	return diag_set(parser->diag, DIAG_BAD_INPUT, line, "%s is not %s",
	                key->name, key->takes);
}

static enum diag_status
read_items(struct parser *parser, const struct key *key, unsigned long line)
{
	for (unsigned n = 0;; n++) {
		yaml_event_t event;
		enum diag_status st = next_event(parser, &event);
		bool at_end = event.type == YAML_SEQUENCE_END_EVENT;
		struct value value = {NULL, line};
		bool good = at_end ? n == key->n_items
		                   : st == DIAG_OK && n < key->n_items &&
		                             scalar_text(&event, &value.text) &&
		                             key->set(parser->map, value);

		yaml_event_delete(&event);
		if (st != DIAG_OK)
			return st;
		if (!good)
			return refuse_value(parser, key, line);
		if (at_end)
			return DIAG_OK;
	}
}

/* The value of a key; it begins with the event. */
static enum diag_status
read_value(struct parser *parser, const struct key *key,
           const yaml_event_t *event)
{
	struct value value = {NULL, line_of(event)};

	if (key->n_items)
		return event->type == YAML_SEQUENCE_START_EVENT
		               ? read_items(parser, key, value.line)
		               : refuse_value(parser, key, value.line);
	if (!scalar_text(event, &value.text) || !key->set(parser->map, value))
		return refuse_value(parser, key, value.line);
	return DIAG_OK;
}

static enum diag_status
read_key(struct parser *parser, const yaml_event_t *event,
         const struct key **out)
{
	const char *name;

	*out = NULL;
	if (!scalar_text(event, &name))
		return diag_set(parser->diag, DIAG_BAD_INPUT, line_of(event),
		                "not a ROS map: a key is no text");
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(name, keys[i].name) != 0)
			continue;
		if (parser->map->seen & 1u << i)
			return diag_set(parser->diag, DIAG_BAD_INPUT,
			                line_of(event), "%s is there twice",
			                keys[i].name);
		parser->map->seen |= 1u << i;
		*out = &keys[i];
	}
	return DIAG_OK;
}

/* A key and its value; *more is false at the end of the mapping. */
static enum diag_status
read_pair(struct parser *parser, bool *more)
{
	const struct key *key = NULL;
	yaml_event_t event;
	enum diag_status st = next_event(parser, &event);

	*more = st == DIAG_OK && event.type != YAML_MAPPING_END_EVENT;
	if (*more)
		st = read_key(parser, &event, &key);
	yaml_event_delete(&event);
	if (!*more || st != DIAG_OK)
		return st;
	st = next_event(parser, &event);
	if (st == DIAG_OK)
		st = key ? read_value(parser, key, &event)
		         : skip(parser, event.type);
	yaml_event_delete(&event);
	return st;
}

/* Read up to the mapping that is the document. */
static enum diag_status
read_begin(struct parser *parser)
{
	for (;;) {
		yaml_event_t event;
		enum diag_status st = next_event(parser, &event);
		yaml_event_type_t type = event.type;
		unsigned long line = line_of(&event);

		yaml_event_delete(&event);
		if (st != DIAG_OK || type == YAML_MAPPING_START_EVENT)
			return st;
		if (type != YAML_STREAM_START_EVENT &&
		    type != YAML_DOCUMENT_START_EVENT)
			return diag_set(parser->diag, DIAG_BAD_INPUT, line,
			                "not a ROS map: there is no 'image: "
			                "FILE'");
	}
}

static enum diag_status
check_map(const struct map *map, struct diag *diag)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].needed && !(map->seen & 1u << i))
			return diag_set(diag, DIAG_BAD_INPUT, 0,
			                "not a ROS map: there is no '%s'",
			                keys[i].name);
	if (map->free > map->occupied)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "free_thresh is above occupied_thresh");
	if (!map->image)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return DIAG_OK;
}

static enum diag_status
parse_map(const uint8_t *data, size_t size, struct map *out, struct diag *diag)
{
	struct parser parser = {.map = out, .diag = diag};
	enum diag_status st;
	bool more = true;

	if (size > MAX_YAML_SIZE)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "not a ROS map: it has more than %zu bytes",
		                MAX_YAML_SIZE);
	if (!yaml_parser_initialize(&parser.yaml))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	yaml_parser_set_input_string(&parser.yaml, data, size);
	st = read_begin(&parser);
	while (st == DIAG_OK && more)
		st = read_pair(&parser, &more);
	yaml_parser_delete(&parser.yaml);
	return st == DIAG_OK ? check_map(out, diag) : st;
}

/* From rows of pixels to a level. */
struct converter {
	const struct map *map;
	const struct level_options *options;
	struct level *level;
	struct image_shape shape;
	uint8_t of_value[N_VALUES];
};

/* The class of every value: the user's, else the usual one. */
static enum diag_status
set_classes(struct converter *converter, struct diag *diag)
{
	static const struct terrain_class unknown = {"unknown", 0, false};

	for (uint32_t value = 0; value < N_VALUES; value++) {
		int terrain = terrain_lookup(converter->options->terrain,
		                             TERRAIN_VALUE, value);

		if (terrain < 0 && value == VALUE_UNKNOWN)
			terrain = level_add_usual_class(converter->level,
			                                &unknown);
		else if (terrain < 0)
			terrain =
				(int)(value < VALUE_OCCUPIED ? TERRAIN_GROUND
			                                     : TERRAIN_BLOCKED);
		if (terrain < 0)
			return diag_set(diag, DIAG_BAD_INPUT, 0,
			                "too many terrain classes");
		converter->of_value[value] = (uint8_t)terrain;
	}
	return DIAG_OK;
}

static enum diag_status
begin(void *user, const struct image_shape *shape, struct diag *diag)
{
	struct converter *converter = user;
	const struct map *map = converter->map;
	struct level *level = converter->level;
	enum diag_status st =
		level_new(shape->width, shape->height,
	                  converter->options, level, diag);

	converter->shape = *shape;
	if (st != DIAG_OK)
		return st;
	snprintf(level->how, sizeof(level->how),
	         "mode %s, occupied above %g, free below %g%s, y grows upward",
	         mode_names[map->mode], map->occupied, map->free,
	         map->negate ? ", negated" : "");
	return set_classes(converter, diag);
}

static double
shade(const struct converter *converter, const uint8_t *pixel)
{
	bool has_alpha = image_has_alpha(&converter->shape);
	uint32_t n_colours = converter->shape.n_channels - has_alpha;
	uint32_t n = 3, sum = 0;

	/* Gray is three equal channels. */
	for (uint32_t i = 0; i < 3; i++)
		sum += pixel[n_colours == 1 ? 0 : i];
	if (has_alpha && converter->map->mode == MODE_TRINARY) {
		sum += pixel[n_colours];
		n++;
	}
	return (double)sum / (255.0 * n);
}

static uint32_t
value_of(const struct converter *converter, const uint8_t *pixel)
{
	const struct map *map = converter->map;
	uint32_t n = converter->shape.n_channels;
	double light = shade(converter, pixel);
	double p = map->negate ? light : 1 - light;

	if (map->mode == MODE_RAW) {
		uint32_t value = (uint32_t)(light * 255 + 0.5);

		return value <= VALUE_OCCUPIED ? value : VALUE_UNKNOWN;
	}
	if (map->mode == MODE_SCALE && image_has_alpha(&converter->shape) &&
	    pixel[n - 1] < 255)
		return VALUE_UNKNOWN;
	if (p > map->occupied)
		return VALUE_OCCUPIED;
	if (p < map->free)
		return VALUE_FREE;
	if (map->mode == MODE_TRINARY)
		return VALUE_UNKNOWN;
	if (map->occupied <= map->free)
		return VALUE_OCCUPIED;
	return (uint32_t)((p - map->free) / (map->occupied - map->free) * 100 +
	                  0.5);
}

static void
convert_row(void *user, uint32_t y, const uint8_t *pixel)
{
	struct converter *converter = user;
	const struct image_shape *shape = &converter->shape;
	uint8_t *cells = converter->level->cells +
	                 (size_t)(shape->height - 1 - y) * shape->width;

	for (uint32_t x = 0; x < shape->width; x++) {
		cells[x] = converter->of_value[value_of(converter, pixel)];
		pixel += shape->n_channels;
	}
}

/* What is wrong with the image, told about the YAML that names it. */
static enum diag_status
blame_image(const struct map *map, struct diag *diag)
{
	struct diag why = *diag;
	char line[32] = "";

	if (why.line)
		snprintf(line, sizeof(line), "line %lu: ", why.line);
	return diag_set(diag, why.status, map->image_line,
	                "image '%.100s': %s%.300s", map->image, line, why.text);
}

static enum diag_status
read_image(struct converter *converter, struct diag *diag)
{
	const struct image_sink sink = {begin, convert_row, converter};
	const struct map *map = converter->map;
	const uint8_t *data = NULL;
	size_t size = 0;
	enum diag_status st;

	st = level_load_other(converter->options, map->image, &data, &size,
	                      diag);
	if (st == DIAG_OK)
		st = image_decode(data, size, &sink, diag);
	return st == DIAG_OK ? st : blame_image(map, diag);
}

enum diag_status
ros_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	struct map map = {.image = NULL};
	struct converter converter = {
		.map = &map, .options = options, .level = out};
	enum diag_status st;

	*out = (struct level){0};
	if (options->gray_threshold > 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--gray-threshold is not for ROS maps, which "
		                "have thresholds of their own");
	st = parse_map(data, size, &map, diag);
	if (st == DIAG_OK)
		st = read_image(&converter, diag);
	if (st != DIAG_OK)
		level_free(out);
	free(map.image);
	return st;
}
#endif
