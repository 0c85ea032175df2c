/* image.c: from pixels to terrain classes.
 *
 * What a gray level means is worked out once for all 256 of them. Rules for
 * colours are looked up pixel by pixel, through a small cache: a drawn level
 * has few colours, each in many pixels. */
#include "formats/image.h"

#include <stdio.h>
#include <string.h>

#define CACHE_BITS 8
#define NO_COLOUR 0xffffffffu

struct cached {
	uint32_t colour;
	uint8_t terrain;
};

/* From rows of pixels to a level. */
struct converter {
	const struct level_options *options;
	struct level *level;
	struct image_shape shape;
	int threshold;
	bool has_colours; /* there are rules for colours */
	uint8_t of_gray[256];
	struct cached cache[1u << CACHE_BITS];
};

enum diag_status
image_check_sides(uint32_t width, uint32_t height, struct diag *diag)
{
	if (width > 0 && width <= LEVEL_MAX_SIDE && height > 0 &&
	    height <= LEVEL_MAX_SIDE)
		return DIAG_OK;
	return diag_set(diag, DIAG_BAD_INPUT, 0,
	                "image of %lu x %lu pixels; a side has 1 to %u",
	                (unsigned long)width, (unsigned long)height,
	                LEVEL_MAX_SIDE);
}

static uint8_t
luminance(uint32_t colour)
{
	uint32_t red = colour >> 16, green = colour >> 8 & 255;
	uint32_t blue = colour & 255;

	return (uint8_t)((299 * red + 587 * green + 114 * blue + 500) / 1000);
}

static uint8_t
classify(const struct converter *converter, uint32_t colour)
{
	const struct terrain_table *table = converter->options->terrain;
	uint8_t gray = luminance(colour);

	for (uint32_t i = 0; table && i < table->n_rules; i++) {
		const struct terrain_rule *rule = &table->rules[i];
		uint32_t key = rule->kind == TERRAIN_COLOUR ? colour : gray;

		if (rule->kind != TERRAIN_LETTER && rule->first <= key &&
		    key <= rule->last)
			return rule->terrain;
	}
	if (table && table->has_rest)
		return table->rest;
	return (uint8_t)(gray < converter->threshold ? TERRAIN_BLOCKED
	                                             : TERRAIN_GROUND);
}

static void
prepare(struct converter *converter)
{
	const struct terrain_table *table = converter->options->terrain;
	int threshold = converter->options->gray_threshold;

	converter->threshold = threshold > 0 ? threshold : IMAGE_THRESHOLD;
	for (uint32_t i = 0; table && i < table->n_rules; i++)
		if (table->rules[i].kind == TERRAIN_COLOUR)
			converter->has_colours = true;
	for (uint32_t gray = 0; gray < 256; gray++)
		converter->of_gray[gray] = classify(converter, gray * 0x10101u);
	for (size_t i = 0; i < 1u << CACHE_BITS; i++)
		converter->cache[i].colour = NO_COLOUR;
}

static uint8_t
look_up(struct converter *converter, uint32_t colour)
{
	struct cached *cached =
		&converter->cache[colour * 0x9e3779b1u >> (32 - CACHE_BITS)];

	if (!converter->has_colours)
		return converter->of_gray[luminance(colour)];
	if (cached->colour != colour) {
		cached->terrain = classify(converter, colour);
		cached->colour = colour;
	}
	return cached->terrain;
}

/* How the level is read, for people. */
static void
describe(const struct converter *converter)
{
	const struct terrain_table *table = converter->options->terrain;
	struct level *level = converter->level;
	const char *alpha = image_has_alpha(&converter->shape)
	                            ? "transparent is blocked, "
	                            : "";

	if (table && table->has_rest)
		snprintf(level->how, sizeof(level->how),
		         "%swhat no rule is for is %s", alpha,
		         table->classes.classes[table->rest].name);
	else
		snprintf(level->how, sizeof(level->how),
		         "%sdarker than %d of 255 is blocked", alpha,
		         converter->threshold);
}

static enum diag_status
begin(void *user, const struct image_shape *shape, struct diag *diag)
{
	struct converter *converter = user;
	enum diag_status st =
		level_new(shape->width, shape->height,
	                  converter->options, converter->level, diag);

	converter->shape = *shape;
	if (st == DIAG_OK)
		describe(converter);
	return st;
}

static void
convert_row(void *user, uint32_t y, const uint8_t *pixel)
{
	struct converter *converter = user;
	const struct image_shape *shape = &converter->shape;
	uint8_t *cells = converter->level->cells + (size_t)y * shape->width;
	uint32_t n = shape->n_channels;

	for (uint32_t x = 0; x < shape->width; x++, pixel += n) {
		if (image_has_alpha(shape) && pixel[n - 1] == 0)
			cells[x] = TERRAIN_BLOCKED;
		else if (n <= 2)
			cells[x] = converter->of_gray[pixel[0]];
		else
			cells[x] = look_up(converter,
			                   (uint32_t)pixel[0] << 16 |
			                           (uint32_t)pixel[1] << 8 |
			                           pixel[2]);
	}
}

enum diag_status
image_read_level(image_decoder *decode, const uint8_t *data, size_t size,
                 const struct level_options *options, struct level *out,
                 struct diag *diag)
{
	struct converter converter = {.options = options, .level = out};
	const struct image_sink sink = {begin, convert_row, &converter};
	enum diag_status st;

	*out = (struct level){0};
	prepare(&converter);
	st = decode(data, size, &sink, diag);
	if (st != DIAG_OK)
		level_free(out);
	return st;
}

enum diag_status
image_decode(const uint8_t *data, size_t size, const struct image_sink *sink,
             struct diag *diag)
{
	if (pgm_probe(data, size))
		return pgm_decode(data, size, sink, diag);
	if (png_probe(data, size))
		return png_decode(data, size, sink, diag);
	return diag_set(diag, DIAG_BAD_INPUT, 0, "it is neither PGM nor PNG");
}
