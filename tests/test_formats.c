/* test_formats.c: reading levels from images, ROS maps and raw bytes.
 *
 * What a good file means is decided here, by code of its own: the test makes
 * files of random contents, which it knows, or reads a real one with the few
 * lines that its kind of file needs. Files are handed over in memory of exactly
 * their size, so that a sanitizer sees a byte read behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <zlib.h>
#ifdef HAVE_PNG
#include <png.h>
#endif

#include "tests/support.h"

#define N_ROUNDS 300
#define MAX_SIDE 40u

/* A file in the making. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

static void
append(struct bytes *to, const void *data, size_t size)
{
	if (size > to->capacity - to->size) {
		to->capacity = 2 * (to->capacity + size);
		to->data = realloc(to->data, to->capacity);
		assert_non_null(to->data);
	}
	if (size)
		memcpy(to->data + to->size, data, size);
	to->size += size;
}

static void
append_text(struct bytes *to, const char *text)
{
	append(to, text, strlen(text));
}

static void
append_number(struct bytes *to, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", (unsigned)number);
	append_text(to, text);
}

static void
clear(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){NULL, 0, 0};
}

static enum diag_status
read_exact(const char *name, const uint8_t *data, size_t size,
           const struct level_options *options, struct level *out,
           struct diag *diag)
{
	uint8_t *copy = exact_copy(data, size);
	enum diag_status status;

	memset(diag, 0, sizeof(*diag));
	status = level_read(name, copy, size, options, out, diag);
	free(copy);
	return status;
}

static void
must_read(const char *name, const struct bytes *file,
          const struct level_options *options, struct level *out)
{
	struct diag diag;

	if (read_exact(name, file->data, file->size, options, out, &diag))
		fail_msg("%s: line %lu: %s", name, diag.line, diag.text);
}

static void
assert_empty(const struct level *level)
{
	assert_null(level->cells);
	assert_int_equal(level->width, 0);
	assert_int_equal(level->height, 0);
}

static void
must_refuse(const char *name, const struct bytes *file,
            const struct level_options *options, enum diag_status status,
            unsigned long line, const char *reason)
{
	struct level level;
	struct diag diag;

	assert_int_equal(read_exact(name, file->data, file->size, options,
	                            &level, &diag),
	                 status);
	assert_string_equal(diag.text, reason);
	assert_int_equal(diag.line, line);
	assert_empty(&level);
}

/* The rules of the random tests, and what they say about a gray level or, where
 * is_colour, a colour of it: the name of a class, or NULL. */
static const char rules_text[] = "#ff0000 lava 0\n"
				 "#10a020 forest 3\n"
				 "30-59 mud 2\n"
				 "200 ice 5\n"
				 "#2d2d2d oil 7\n";

static const char *
plain_rule(uint32_t colour, uint32_t gray, bool is_colour)
{
	if (is_colour && colour == 0xff0000)
		return "lava";
	if (is_colour && colour == 0x10a020)
		return "forest";
	if (gray >= 30 && gray <= 59)
		return "mud";
	return gray == 200 ? "ice" : NULL;
}

static void
read_rules(const char *text, struct terrain_table *out)
{
	struct diag diag;

	*out = (struct terrain_table){.n_rules = 0};
	assert_int_equal(
		terrain_read((const uint8_t *)text, strlen(text), out, &diag),
		DIAG_OK);
}

static void
assert_class(const struct level *level, size_t cell, const char *name)
{
	const char *is = level->terrain.classes[level->cells[cell]].name;

	if (strcmp(is, name) != 0)
		fail_msg("cell %zu,%zu is %s, not %s", cell % level->width,
		         cell / level->width, is, name);
}

/* Random options for images: *rules is to be freed. */
static struct level_options
random_options(struct rng *rng, struct terrain_table *rules)
{
	struct level_options options = {.format = NULL};

	if (rng_chance(rng, 50))
		options.gray_threshold = (int)rng_between(rng, 1, 255);
	*rules = (struct terrain_table){.n_rules = 0};
	if (rng_chance(rng, 50)) {
		read_rules(rules_text, rules);
		options.terrain = rules;
	}
	return options;
}

static const char *
plain_class(const struct level_options *options, uint32_t colour, uint32_t gray,
            bool is_colour)
{
	uint32_t threshold = options->gray_threshold
	                             ? (uint32_t)options->gray_threshold
	                             : 128;
	const char *name =
		options->terrain ? plain_rule(colour, gray, is_colour) : NULL;

	if (name)
		return name;
	return gray < threshold ? "blocked" : "ground";
}

/* Values 0 … max, of which some are frequent. */
static uint32_t
random_sample(struct rng *rng, uint32_t max)
{
	static const uint32_t frequent[] = {0, 255, 127, 128, 45, 200, 30, 59};

	if (rng_chance(rng, 30))
		return rng_chance(rng, 50) ? 0 : max;
	if (max >= 255 && rng_chance(rng, 50))
		return frequent[rng_below(rng, N_ELEMENTS(frequent))] *
		       (max / 255);
	return rng_below(rng, max + 1);
}

static uint32_t
to_byte(uint32_t value, uint32_t max)
{
	return (uint32_t)((double)value * 255 / max + 0.5);
}

/* PGM */

struct gray_image {
	uint32_t width, height, max;
	uint32_t *samples;
};

static void
random_gray(struct rng *rng, struct gray_image *out)
{
	out->width = rng_between(rng, 1, MAX_SIDE);
	out->height = rng_between(rng, 1, MAX_SIDE);
	out->max = rng_chance(rng, 50) ? 255 : rng_between(rng, 1, 65535);
	out->samples = malloc((size_t)out->width * out->height *
	                      sizeof(*out->samples));
	assert_non_null(out->samples);
	for (size_t i = 0; i < (size_t)out->width * out->height; i++)
		out->samples[i] = random_sample(rng, out->max);
}

static void
append_space(struct rng *rng, struct bytes *to)
{
	static const char *const spaces[] = {
		" ",
		"\n",
		"\t",
		"\r\n",
		"  ",
		" # a comment\n",
		"#P5 1 1\n# \n",
	};

	append_text(to, spaces[rng_below(rng, N_ELEMENTS(spaces))]);
}

static void
write_pgm(struct rng *rng, const struct gray_image *image, bool plain,
          struct bytes *out)
{
	const uint32_t numbers[3] = {image->width, image->height, image->max};

	append_text(out, plain ? "P2" : "P5");
	for (size_t i = 0; i < 3; i++) {
		append_space(rng, out);
		append_number(out, numbers[i]);
	}
	append_text(out, "\n");
	for (size_t i = 0; i < (size_t)image->width * image->height; i++) {
		const uint8_t big[2] = {(uint8_t)(image->samples[i] >> 8),
		                        (uint8_t)image->samples[i]};

		if (plain && i > 0)
			append_space(rng, out);
		if (plain)
			append_number(out, image->samples[i]);
		else
			append(out, big + (image->max <= 255),
			       image->max <= 255 ? 1 : 2);
	}
}

static void
pgm_is_read_as_it_was_written(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < N_ROUNDS; round++) {
		struct bytes file = {NULL, 0, 0};
		struct terrain_table rules;
		struct level_options options = random_options(&rng, &rules);
		struct gray_image image;
		struct level level;

		random_gray(&rng, &image);
		write_pgm(&rng, &image, rng_chance(&rng, 50), &file);
		must_read("a.pgm", &file, &options, &level);
		assert_int_equal(level.width, image.width);
		assert_int_equal(level.height, image.height);
		assert_string_equal(level.format, "pgm");
		for (size_t i = 0; i < (size_t)image.width * image.height;
		     i++) {
			uint32_t gray = to_byte(image.samples[i], image.max);

			assert_class(&level, i,
			             plain_class(&options, 0, gray, false));
		}
		level_free(&level);
		terrain_free(&rules);
		free(image.samples);
		clear(&file);
	}
}

static const struct {
	const char *text;
	unsigned long line;
	const char *reason;
} bad_pgms[] = {
	{"", 1, "not a PGM image: file is empty"},
	{"P", 1, "not a PGM image: it does not begin with P2 or P5"},
	{"P55 1 1 255 ", 1, "not a PGM image: it does not begin with P2 or P5"},
	{"P6 1 1 255 abc", 1,
         "Netpbm's format P6 is not supported (P2 and P5 are)"},
	{"P5 ", 1, "file ends before its width"},
	{"P5\n2", 2, "file ends before its height"},
	{"P5\n2 2\n", 3, "file ends before its highest value"},
	{"P5\n2 2\n# more\n255", 0,
         "2 x 2 pixels take 4 bytes, file has 0 after its header"},
	{"P5\n-2 2\n255\nabcd", 2,
         "byte 0x2d where a number is expected: the width"},
	{"P5\n2,2\n255\nabcd", 2,
         "byte 0x2c where a number is expected: the width"},
	{"P5\n0 2\n255\n", 2, "width is not from 1 to 65535"},
	{"P5\n65536 2\n255\n", 2, "width is not from 1 to 65535"},
	{"P5\n4294967297 2\n255\n", 2, "width is not from 1 to 65535"},
	{"P5\n2\n99999999999999999999\n255\n", 3,
         "height is not from 1 to 65535"},
	{"P5\n2 2\n0\nabcd", 3, "highest value is not from 1 to 65535"},
	{"P5\n2 2\n65536\nabcd", 3, "highest value is not from 1 to 65535"},
	{"P5\n2 2\n255#x\nabcd", 3, "comment right before the pixels"},
	{"P5\n2 2\n255\nabc", 0,
         "2 x 2 pixels take 4 bytes, file has 3 after its header"},
	{"P5\n2 2\n256\nabcd", 0,
         "2 x 2 pixels take 8 bytes, file has 4 after its header"},
	{"P5\n2 2\n98\nabcd", 0,
         "pixel 0,1 is 99, more than the highest value, 98"},
	{"P5\n2 2\n255\nabcdx", 0, "1 byte after the last pixel"},
	{"P2\n2 2\n255\n1 2\n3\n", 0,
         "2 x 2 pixels take at least 8 bytes, file has 7 after its header"},
	{"P2\n2 2\n255\n1 2\n3     \n\n", 7, "file ends before its next pixel"},
	{"P2\n2 2\n255\n1 2\n3 x\n", 5,
         "byte 0x78 where a number is expected: the next pixel"},
	{"P2\n2 2\n255\n1 2\n3 256\n", 5, "next pixel is not from 0 to 255"},
	{"P2\n2 2\n255\n1 2\n3 4\n\n5", 7, "1 byte after the last pixel"},
};

static void
bad_pgms_are_refused_with_line_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad_pgms); i++) {
		struct bytes file = {NULL, 0, 0};

		append_text(&file, bad_pgms[i].text);
		must_refuse("a.pgm", &file, NULL, DIAG_BAD_INPUT,
		            bad_pgms[i].line, bad_pgms[i].reason);
		clear(&file);
	}
}

/* Raw bytes */

static void
raw_bytes_are_terrain_values(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < N_ROUNDS; round++) {
		struct terrain_table rules;
		struct level_options options = random_options(&rng, &rules);
		struct bytes file = {NULL, 0, 0};
		struct level level;

		options.width = rng_between(&rng, 1, MAX_SIDE);
		options.height = rng_between(&rng, 1, MAX_SIDE);
		for (uint32_t i = 0; i < options.width * options.height; i++) {
			uint8_t value = (uint8_t)random_sample(&rng, 255);

			append(&file, &value, 1);
		}
		must_read("a.raw", &file, &options, &level);
		assert_int_equal(level.width, options.width);
		assert_int_equal(level.height, options.height);
		for (size_t i = 0; i < file.size; i++) {
			const char *name =
				options.terrain
					? plain_rule(0, file.data[i], false)
					: NULL;

			if (!name)
				name = file.data[i] ? "blocked" : "ground";
			assert_class(&level, i, name);
		}
		level_free(&level);
		terrain_free(&rules);
		clear(&file);
	}
}

static void
raw_bytes_have_exactly_the_stated_size(void **state)
{
	const struct level_options size = {.width = 4, .height = 3};
	const struct level_options huge = {.width = 65535, .height = 65535};
	const struct level_options side = {.width = 65536, .height = 1};
	struct bytes file = {NULL, 0, 0};
	static const uint8_t zeros[65536];

	(void)state;
	append(&file, zeros, 13);
	must_refuse("a.bin", &file, NULL, DIAG_USAGE, 0,
	            "raw bytes do not tell the level's sides; say them with "
	            "--size WxH (there are 13 bytes)");
	must_refuse("a.bin", &file, &size, DIAG_BAD_INPUT, 0,
	            "file has 13 bytes, --size 4x3 asks for 12");
	must_refuse("a.bin", &file, &huge, DIAG_BAD_INPUT, 0,
	            "file has 13 bytes, --size 65535x65535 asks for "
	            "4294836225");
	append(&file, zeros, 65536 - 13);
	must_refuse("a.bin", &file, &side, DIAG_BAD_INPUT, 0,
	            "level of 65536 x 1 cells; a side has 1 to 65535");
	clear(&file);
}

/* Letters */

/* The user's classes may have the names of the usual ones. */
static void
what_no_rule_is_for_is_what_it_would_be(void **state)
{
	static const struct terrain_class wanted[] = {
		{"ground", 1, false}, {"trees-2", 0, false},
		{"water", 4, false},  {"water-2", 1, true},
		{"trees", 3, false},
	};
	struct terrain_table rules;
	const struct level_options options = {.terrain = &rules};
	struct bytes file = {NULL, 0, 0};
	struct level level;

	(void)state;
	append_text(&file, "type octile\nheight 1\nwidth 5\nmap\n.TRWG\n");
	read_rules("G trees 3\nR water 4\n", &rules);
	must_read("a.map", &file, &options, &level);
	for (size_t i = 0; i < N_ELEMENTS(wanted); i++) {
		const struct terrain_class *class =
			&level.terrain.classes[level.cells[i]];

		assert_string_equal(class->name, wanted[i].name);
		assert_int_equal(class->factor, wanted[i].factor);
		assert_int_equal(class->only_if_named, wanted[i].only_if_named);
	}
	level_free(&level);
	terrain_free(&rules);
	clear(&file);
}

static void
a_row_of_blanks_is_one_where_a_blank_is_a_letter(void **state)
{
	static const char *const ends[] = {"    \n", "    ", "    \n  \n\n",
	                                   "    \r\n"};
	static const char begin[] =
		"type octile\nheight 2\nwidth 4\nmap\n..  \n";
	struct terrain_table rules;
	const struct level_options options = {.terrain = &rules};
	struct bytes file = {NULL, 0, 0};
	struct level level;

	(void)state;
	read_rules(". floor 1\n* void 0\n", &rules);
	for (size_t i = 0; i < N_ELEMENTS(ends); i++) {
		append_text(&file, begin);
		append_text(&file, ends[i]);
		must_read("a.map", &file, &options, &level);
		assert_class(&level, 1, "floor");
		assert_class(&level, 3, "void");
		assert_class(&level, 4, "void");
		level_free(&level);
		must_refuse("a.map", &file, NULL, DIAG_BAD_INPUT, 5,
		            "file ends after 1 rows, header says 2");
		clear(&file);
	}
	append_text(&file, begin);
	append_text(&file, "\n\n");
	must_refuse("a.map", &file, &options, DIAG_BAD_INPUT, 5,
	            "file ends after 1 rows, header says 2");
	clear(&file);
	terrain_free(&rules);
}

/* A comment, the rest and a value, were they not quoted. */
static void
letters_are_quoted_where_they_mean_more(void **state)
{
	struct terrain_table rules;
	const struct level_options options = {.terrain = &rules};
	struct bytes file = {NULL, 0, 0};
	struct level level;

	(void)state;
	append_text(&file, "type octile\nheight 1\nwidth 4\nmap\n#*7.\n");
	read_rules("'#' wall 0\n'*' star 2\n'7' seven 7\n", &rules);
	must_read("a.map", &file, &options, &level);
	assert_class(&level, 0, "wall");
	assert_class(&level, 1, "star");
	assert_class(&level, 2, "seven");
	assert_class(&level, 3, "ground");
	level_free(&level);
	terrain_free(&rules);
	clear(&file);
}

static const struct {
	const char *list, *letters;
} blocked_lists[] = {
	{",", ","},
	{"','", ","},
	{"S,W", "SW"},
	{"S,,,W", "S,W"},
	{"S,',',W", "S,W"},
	{"',',S", ",S"},
	{"S,','", "S,"},
	{"',',','", ",,"},
	/* A quote that quotes nothing. */
	{"'", "'"},
	{"',S", "'S"},
	{"'7','''", "7'"},
};

static void
commas_are_letters_in_a_list_of_blocked_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(blocked_lists); i++) {
		const char *list = blocked_lists[i].list;
		const char *letters = blocked_lists[i].letters;
		struct terrain_table rules = {.n_rules = 0};
		struct diag diag;

		if (terrain_block(list, &rules, &diag))
			fail_msg("%s: %s", list, diag.text);
		if (rules.n_rules != strlen(letters))
			fail_msg("%s: %u entries", list,
			         (unsigned)rules.n_rules);
		for (uint32_t r = 0; r < rules.n_rules; r++)
			if (rules.rules[r].kind != TERRAIN_LETTER ||
			    rules.rules[r].first != (uint8_t)letters[r])
				fail_msg("%s: entry %u is not %c", list,
				         (unsigned)r, letters[r]);
		terrain_free(&rules);
	}
}

static const struct {
	const char *text;
	unsigned long line;
	const char *reason;
} bad_rules[] = {
	{". ground", 1, "a terrain rule is: what, class, factor"},
	{"# two\n. ground 1 2", 2, "a terrain rule is: what, class, factor"},
	{"xy ground 1", 1, "'xy' is no letter, value, range, #rrggbb or *"},
	{". ground 256", 1, "factor '256' is not a number from 0 to 255"},
	{". thirty-two-letters-are-one-too-many 1", 1,
         "class name is longer than 31 characters"},
	{". one 1\n\nx one 2", 3,
         "class 'one' has two factors, or there are more than 64 classes"},
	/* A baked file has no room for them. */
	{". w\xc3\xa4ll 2", 1, "a class name is plain ASCII"},
	{". del\x7f 2", 1, "a class name is plain ASCII"},
	{". \x01 2", 1, "a class name is plain ASCII"},
};

static void
bad_terrain_files_are_refused_with_line_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(bad_rules); i++) {
		const char *text = bad_rules[i].text;
		struct terrain_table rules = {.n_rules = 0};
		struct diag diag;

		if (terrain_read((const uint8_t *)text, strlen(text), &rules,
		                 &diag) != DIAG_BAD_INPUT)
			fail_msg("not refused: %s", text);
		assert_int_equal(diag.line, bad_rules[i].line);
		assert_string_equal(diag.text, bad_rules[i].reason);
		terrain_free(&rules);
	}
}

/* PNG */

#ifdef HAVE_PNG

struct png_image {
	uint32_t width, height;
	int type, depth; /* of PNG's IHDR */
	bool interlaced;
	bool has_trns;
	uint32_t n_channels;
	uint32_t *samples; /* of a palette: indices */
	uint32_t n_colours;
	png_color palette[256];
	png_byte alphas[256];
	png_color_16 transparent;
};

static const struct {
	int type, depth;
} png_kinds[] = {
	{PNG_COLOR_TYPE_GRAY, 1},        {PNG_COLOR_TYPE_GRAY, 2},
	{PNG_COLOR_TYPE_GRAY, 4},        {PNG_COLOR_TYPE_GRAY, 8},
	{PNG_COLOR_TYPE_GRAY, 16},       {PNG_COLOR_TYPE_PALETTE, 1},
	{PNG_COLOR_TYPE_PALETTE, 2},     {PNG_COLOR_TYPE_PALETTE, 4},
	{PNG_COLOR_TYPE_PALETTE, 8},     {PNG_COLOR_TYPE_RGB, 8},
	{PNG_COLOR_TYPE_RGB, 16},        {PNG_COLOR_TYPE_GRAY_ALPHA, 8},
	{PNG_COLOR_TYPE_GRAY_ALPHA, 16}, {PNG_COLOR_TYPE_RGB_ALPHA, 8},
	{PNG_COLOR_TYPE_RGB_ALPHA, 16},
};

static uint32_t
sample_max(const struct png_image *image)
{
	return (1u << image->depth) - 1;
}

static void
random_palette(struct rng *rng, struct png_image *image)
{
	image->n_colours = 1u << image->depth;
	for (uint32_t i = 0; i < image->n_colours; i++) {
		image->palette[i].red = (png_byte)random_sample(rng, 255);
		image->palette[i].green = (png_byte)random_sample(rng, 255);
		image->palette[i].blue = (png_byte)random_sample(rng, 255);
		image->alphas[i] = (png_byte)random_sample(rng, 255);
	}
	image->palette[0] = (png_color){0x10, 0xa0, 0x20};
}

static void
random_png(struct rng *rng, struct png_image *out)
{
	uint32_t kind = rng_below(rng, N_ELEMENTS(png_kinds));
	size_t n;

	*out = (struct png_image){.type = png_kinds[kind].type,
	                          .depth = png_kinds[kind].depth};
	out->width = rng_between(rng, 1, MAX_SIDE);
	out->height = rng_between(rng, 1, MAX_SIDE);
	out->interlaced = rng_chance(rng, 40);
	out->n_channels = out->type == PNG_COLOR_TYPE_RGB_ALPHA    ? 4
	                  : out->type == PNG_COLOR_TYPE_RGB        ? 3
	                  : out->type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
	                                                           : 1;
	out->has_trns = out->n_channels % 2 == 1 && rng_chance(rng, 40);
	if (out->type == PNG_COLOR_TYPE_PALETTE)
		random_palette(rng, out);
	n = (size_t)out->width * out->height * out->n_channels;
	out->samples = malloc(n * sizeof(*out->samples));
	assert_non_null(out->samples);
	for (size_t i = 0; i < n; i++)
		out->samples[i] = random_sample(rng, sample_max(out));
	/* Two colours of the rules, and the one that is transparent. */
	if (out->n_channels >= 3 && out->depth == 8) {
		out->samples[0] = 0x10;
		out->samples[1] = 0xa0;
		out->samples[2] = 0x20;
	}
	out->transparent.gray = (png_uint_16)out->samples[0];
	out->transparent.red = (png_uint_16)out->samples[0];
	if (out->n_channels >= 3) {
		out->transparent.green = (png_uint_16)out->samples[1];
		out->transparent.blue = (png_uint_16)out->samples[2];
	}
}

static void
on_write(png_structp png, png_bytep data, size_t size)
{
	append(png_get_io_ptr(png), data, size);
}

static void
on_flush(png_structp png)
{
	(void)png;
}

/* Rows as a file has them: samples packed, the high byte first. */
static void
pack_row(const struct png_image *image, uint32_t y, uint8_t *out)
{
	size_t n = (size_t)image->width * image->n_channels;
	const uint32_t *samples = image->samples + y * n;
	size_t bit = 0;

	memset(out, 0, n * 2);
	for (size_t i = 0; i < n; i++)
		for (int k = image->depth - 1; k >= 0; k--, bit++)
			if (samples[i] >> k & 1)
				out[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
}

static void
write_png(const struct png_image *image, struct bytes *out)
{
	size_t row_size = (size_t)image->width * image->n_channels * 2;
	uint8_t *pixels = malloc(row_size * image->height);
	png_bytep *rows = malloc(image->height * sizeof(*rows));
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL,
	                                          NULL, NULL);
	png_infop info = png_create_info_struct(png);

	assert_true(pixels && rows && png && info);
	png_set_write_fn(png, out, on_write, on_flush);
	png_set_IHDR(png, info, image->width, image->height, image->depth,
	             image->type,
	             image->interlaced ? PNG_INTERLACE_ADAM7
	                               : PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (image->n_colours)
		png_set_PLTE(png, info, image->palette, (int)image->n_colours);
	if (image->has_trns)
		png_set_tRNS(png, info, image->alphas, (int)image->n_colours,
		             &image->transparent);
	png_write_info(png, info);
	for (uint32_t y = 0; y < image->height; y++) {
		rows[y] = pixels + y * row_size;
		pack_row(image, y, rows[y]);
	}
	png_write_image(png, rows);
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	free(rows);
	free(pixels);
}

/* What a pixel of the image means. */
static const char *
plain_pixel(const struct png_image *image, size_t i,
            const struct level_options *options)
{
	const uint32_t *s = image->samples + i * image->n_channels;
	uint32_t max = sample_max(image);
	bool is_colour = image->type & PNG_COLOR_MASK_COLOR;
	bool is_clear = false;
	uint32_t rgb[3], gray;

	for (uint32_t c = 0; c < 3; c++)
		rgb[c] = to_byte(s[image->n_channels >= 3 ? c : 0], max);
	if (image->n_channels % 2 == 0)
		is_clear = to_byte(s[image->n_channels - 1], max) == 0;
	else if (image->type == PNG_COLOR_TYPE_PALETTE)
		is_clear = image->has_trns && image->alphas[s[0]] == 0;
	else if (image->type == PNG_COLOR_TYPE_GRAY)
		is_clear = image->has_trns && s[0] == image->transparent.gray;
	else
		is_clear = image->has_trns && s[0] == image->transparent.red &&
		           s[1] == image->transparent.green &&
		           s[2] == image->transparent.blue;
	if (image->type == PNG_COLOR_TYPE_PALETTE) {
		rgb[0] = image->palette[s[0]].red;
		rgb[1] = image->palette[s[0]].green;
		rgb[2] = image->palette[s[0]].blue;
	}
	gray = (uint32_t)(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] +
	                  0.5 + 1e-9);
	if (is_clear)
		return "blocked";
	return plain_class(options, rgb[0] << 16 | rgb[1] << 8 | rgb[2], gray,
	                   is_colour);
}

static void
png_is_read_as_it_was_written(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < 2 * N_ROUNDS; round++) {
		struct bytes file = {NULL, 0, 0};
		struct terrain_table rules;
		struct level_options options = random_options(&rng, &rules);
		struct png_image image;
		struct level level;

		random_png(&rng, &image);
		write_png(&image, &file);
		must_read("noname", &file, &options, &level);
		assert_int_equal(level.width, image.width);
		assert_int_equal(level.height, image.height);
		assert_string_equal(level.format, "png");
		for (size_t i = 0; i < (size_t)image.width * image.height; i++)
			assert_class(&level, i,
			             plain_pixel(&image, i, &options));
		level_free(&level);
		terrain_free(&rules);
		free(image.samples);
		clear(&file);
	}
}

static void
transparent_is_blocked_whatever_the_rules(void **state)
{
	static const uint32_t samples[] = {255, 0, 255, 1, 0, 255, 0, 0};
	struct png_image image = {.width = 4,
	                          .height = 1,
	                          .type = PNG_COLOR_TYPE_GRAY_ALPHA,
	                          .depth = 8,
	                          .n_channels = 2};
	struct terrain_table rules;
	const struct level_options options = {.terrain = &rules};
	struct bytes file = {NULL, 0, 0};
	struct level level;

	(void)state;
	image.samples = malloc(sizeof(samples));
	assert_non_null(image.samples);
	memcpy(image.samples, samples, sizeof(samples));
	write_png(&image, &file);
	read_rules("* ground 1\n", &rules);
	must_read("a.png", &file, &options, &level);
	assert_class(&level, 0, "blocked");
	assert_class(&level, 1, "ground");
	assert_class(&level, 2, "ground");
	assert_class(&level, 3, "blocked");
	level_free(&level);
	terrain_free(&rules);
	free(image.samples);
	clear(&file);
}

static void
append_be32(struct bytes *to, uint32_t number)
{
	const uint8_t bytes[4] = {(uint8_t)(number >> 24),
	                          (uint8_t)(number >> 16),
	                          (uint8_t)(number >> 8), (uint8_t)number};

	append(to, bytes, sizeof(bytes));
}

static void
append_chunk(struct bytes *to, const char *type, const void *data,
             uint32_t size)
{
	size_t begin;

	append_be32(to, size);
	begin = to->size;
	append_text(to, type);
	append(to, data, size);
	append_be32(to, (uint32_t)crc32(0, to->data + begin,
	                                (uInt)(to->size - begin)));
}

/* A file with that header, and image data of so many bytes. */
static void
boast(uint32_t width, uint32_t height, uint8_t depth, uint8_t type,
      uint32_t idat_size, struct bytes *out)
{
	static const uint8_t idat[65536];
	const uint8_t rest[5] = {depth, type, 0, 0, 0};
	struct bytes ihdr = {NULL, 0, 0};

	append(out, "\x89PNG\r\n\x1a\n", 8);
	append_be32(&ihdr, width);
	append_be32(&ihdr, height);
	append(&ihdr, rest, sizeof(rest));
	append_chunk(out, "IHDR", ihdr.data, (uint32_t)ihdr.size);
	append_chunk(out, "IDAT", idat, idat_size);
	append_chunk(out, "IEND", NULL, 0);
	clear(&ihdr);
}

static const struct {
	uint32_t width, height;
	uint8_t depth, type;
	uint32_t idat_size;
	const char *reason;
} boasts[] = {
	{1000000000, 1, 8, 2, 30,
         "image of 1000000000 x 1 pixels; a side has 1 to 65535"},
	{0, 5, 8, 0, 30, "image of 0 x 5 pixels; a side has 1 to 65535"},
	{5, 65536, 8, 0, 30,
         "image of 5 x 65536 pixels; a side has 1 to 65535"},
	{65535, 65535, 16, 6, 30,
         "65535 x 65535 pixels can't be in 30 bytes of image data"},
	{65535, 65535, 1, 0, 65536,
         "65535 x 65535 pixels can't be in 65536 bytes of image data"},
	{1, 1, 8, 0, 0, "1 x 1 pixels can't be in 0 bytes of image data"},
};

/* Without it a cell that is transparent would be free. */
static void
damaged_transparency_is_refused(void **state)
{
	static const uint32_t samples[] = {200, 255};
	struct png_image image = {.width = 2,
	                          .height = 1,
	                          .type = PNG_COLOR_TYPE_GRAY,
	                          .depth = 8,
	                          .n_channels = 1,
	                          .has_trns = true};
	struct bytes file = {NULL, 0, 0};
	struct level level;
	size_t at = 0;

	(void)state;
	image.samples = malloc(sizeof(samples));
	assert_non_null(image.samples);
	memcpy(image.samples, samples, sizeof(samples));
	image.transparent.gray = 255;
	write_png(&image, &file);
	must_read("a.png", &file, NULL, &level);
	assert_class(&level, 0, "ground");
	assert_class(&level, 1, "blocked");
	level_free(&level);
	while (memcmp(file.data + at, "tRNS", 4) != 0)
		at++;
	file.data[at + 6] ^= 1; /* its checksum */
	must_refuse("a.png", &file, NULL, DIAG_BAD_INPUT, 0,
	            "damaged PNG image: tRNS: CRC error");
	free(image.samples);
	clear(&file);
}

/* Names of ours for what is wrong; libpng's own words are its own. */
static void
bad_pngs_are_refused(void **state)
{
	struct bytes file = {NULL, 0, 0};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(boasts); i++) {
		boast(boasts[i].width, boasts[i].height, boasts[i].depth,
		      boasts[i].type, boasts[i].idat_size, &file);
		must_refuse("a.png", &file, NULL, DIAG_BAD_INPUT, 0,
		            boasts[i].reason);
		clear(&file);
	}
	must_refuse("a.png", &file, NULL, DIAG_BAD_INPUT, 0,
	            "not a PNG image: file is empty");
	append_text(&file, "GIF89a");
	must_refuse("a.png", &file, NULL, DIAG_BAD_INPUT, 0,
	            "not a PNG image: its first bytes are others");
	clear(&file);
	append(&file, "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", 16);
	must_refuse("a.png", &file, NULL, DIAG_BAD_INPUT, 0,
	            "file ends in its header");
	clear(&file);
}
#endif

/* What these headers speak of would take several times what the program may
 * have: a reader that allocated it would say that there is no memory. A
 * sanitizer has an address space of its own making, to which no limit can be
 * set. */
static void
boastful_headers_allocate_nothing(void **state)
{
	static const char *const texts[] = {"P5 65535 65535 255\nabc",
	                                    "P5 65535 65535 65535\nabc",
	                                    "P2 65535 65535 255\n1 2 3"};
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 30;
	if (!HAS_SANITIZER)
		assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	for (size_t i = 0; i < N_ELEMENTS(texts); i++) {
		struct level level;
		struct diag diag;

		assert_int_equal(read_exact("a.pgm", (const uint8_t *)texts[i],
		                            strlen(texts[i]), NULL, &level,
		                            &diag),
		                 DIAG_BAD_INPUT);
		assert_non_null(strstr(diag.text, "65535 x 65535 pixels take"));
	}
#ifdef HAVE_PNG
	bad_pngs_are_refused(NULL);
#endif
	raw_bytes_have_exactly_the_stated_size(NULL);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

/* ROS maps */

/* A folder that holds one file, or nothing. */
struct folder {
	const char *name;
	struct bytes file;
};

static enum diag_status
load_from_folder(void *user, const char *name, const uint8_t **data,
                 size_t *size, struct diag *diag)
{
	struct folder *folder = user;

	if (!folder->name || strcmp(name, folder->name) != 0)
		return diag_set(diag, DIAG_FAILED, 0, "there is no such file");
	*data = folder->file.data;
	*size = folder->file.size;
	return DIAG_OK;
}

#ifdef HAVE_YAML

/* Thresholds in thousandths. p never equals one: they are no multiples of 200.
 * With 8 bits p is (255 - gray) / 255. */
static const char *
plain_occupancy(uint32_t gray, uint32_t occupied, uint32_t is_free, bool negate)
{
	uint32_t p = (negate ? gray : 255 - gray) * 1000;

	if (p > occupied * 255)
		return "blocked";
	return p < is_free * 255 ? "ground" : "unknown";
}

static uint32_t
random_threshold(struct rng *rng, uint32_t least)
{
	uint32_t number = rng_between(rng, least, 999);

	return number % 200 ? number : number + 1;
}

static void
ros_maps_are_read_as_they_were_written(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int round = 0; round < N_ROUNDS; round++) {
		struct folder folder = {"a picture.pgm", {NULL, 0, 0}};
		struct level_options options = {
			.loader = {load_from_folder, &folder}};
		struct bytes file = {NULL, 0, 0};
		uint32_t is_free = random_threshold(&rng, 0);
		uint32_t occupied = random_threshold(&rng, is_free);
		bool negate = rng_chance(&rng, 50);
		struct gray_image image;
		struct level level;
		char text[512];

		random_gray(&rng, &image);
		for (size_t i = 0; i < (size_t)image.width * image.height; i++)
			image.samples[i] = to_byte(image.samples[i], image.max);
		image.max = 255;
		write_pgm(&rng, &image, rng_chance(&rng, 50), &folder.file);
		snprintf(text, sizeof(text),
		         "%sresolution: 0.05\nimage: \"a picture.pgm\"\n"
		         "origin: [-1, 2.5e1, 0.0]\nother: {a: [1, {b: c}]}\n"
		         "occupied_thresh: 0.%03u\nfree_thresh: 0.%03u\n"
		         "negate: %d\n%s",
		         rng_chance(&rng, 50) ? "---\n# a map\n" : "",
		         (unsigned)occupied, (unsigned)is_free, negate,
		         rng_chance(&rng, 50) ? "mode: trinary\n" : "");
		append_text(&file, text);
		must_read("map.yaml", &file, &options, &level);
		assert_string_equal(level.format, "ros");
		assert_int_equal(level.width, image.width);
		assert_int_equal(level.height, image.height);
		for (uint32_t y = 0; y < image.height; y++)
			for (uint32_t x = 0; x < image.width; x++) {
				uint32_t from_top = image.height - 1 - y;
				size_t at = (size_t)from_top * image.width + x;

				assert_class(&level,
				             (size_t)y * image.width + x,
				             plain_occupancy(image.samples[at],
				                             occupied, is_free,
				                             negate));
			}
		level_free(&level);
		free(image.samples);
		clear(&file);
		clear(&folder.file);
	}
}

/* One row of pixels in each mode, with a rule for every value. */
static void
ros_modes_give_values_of_an_occupancy_grid(void **state)
{
	static const struct {
		const char *mode;
		const char *classes[6];
	} cases[] = {
		{"trinary",
	         {"occupied", "unknown", "unknown", "unknown", "zero", "zero"}},
		{"scale", {"occupied", "high", "high", "low", "zero", "zero"}},
		{"raw",
	         {"zero", "high", "occupied", "unknown", "unknown", "unknown"}},
	};
	struct folder folder = {"a.pgm", {NULL, 0, 0}};
	struct terrain_table rules;
	struct level_options options = {.terrain = &rules,
	                                .loader = {load_from_folder, &folder}};

	(void)state;
	read_rules("0 zero 1\n1-49 low 2\n50-99 high 9\n100 occupied 0\n"
	           "255 unknown 0\n",
	           &rules);
	append_text(&folder.file, "P2 6 1 255  0 90 100 150 230 255");
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		struct bytes file = {NULL, 0, 0};
		struct level level;

		append_text(&file, "image: a.pgm\noccupied_thresh: 0.8\n"
		                   "free_thresh: 0.2\nmode: ");
		append_text(&file, cases[i].mode);
		must_read("map.yaml", &file, &options, &level);
		for (size_t k = 0; k < 6; k++)
			assert_class(&level, k, cases[i].classes[k]);
		level_free(&level);
		clear(&file);
	}
	clear(&folder.file);
	terrain_free(&rules);
}

/* As map_server takes them. */
/* As a folder is looked through. */
static void
ros_maps_are_known_by_their_image(void **state)
{
	static const struct {
		const char *text;
		bool is_one;
	} rows[] = {
		{"image: a.pgm\n", true},
		{"\xef\xbb\xbfimage: a.pgm\n", true},
		{"# a map\r\nresolution: 1\r\nimage : a.pgm\r\n", true},
		{"\"image\": a.pgm\n", true},
		{"'image'\t: a.pgm", true},
		{"web:\n  image: nginx\n", false},
		{"{\n  \"image\": \"a.png\"\n}\n", false},
		{"'image\": a.pgm", false},
		{"images: a.pgm", false},
		{"image", false},
		{"'image'", false},
		{"\"", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (level_find_format("ros")->probe(
			    (const uint8_t *)rows[i].text,
			    strlen(rows[i].text)) != rows[i].is_one)
			fail_msg("%s", rows[i].text);
}

static void
ros_words_are_read_in_any_case(void **state)
{
	static const char *const plain[] = {
		"negate: 0",   "negate: false", "negate: False", "negate: NO",
		"negate: off", "negate: n",     "mode: Trinary", "mode: SCALE",
	};
	static const char *const negated[] = {
		"negate: 1",   "negate: true", "negate: True",
		"negate: YES", "negate: on",   "negate: y",
	};
	struct folder folder = {"a.pgm", {NULL, 0, 0}};
	const struct level_options options = {
		.loader = {load_from_folder, &folder}};

	(void)state;
	append_text(&folder.file, "P2 2 1 255  0 255");
	for (size_t i = 0; i < N_ELEMENTS(plain) + N_ELEMENTS(negated); i++) {
		bool negate = i >= N_ELEMENTS(plain);
		struct bytes file = {NULL, 0, 0};
		struct level level;

		append_text(&file, "image: a.pgm\noccupied_thresh: 0.65\n"
		                   "free_thresh: 0.196\n");
		append_text(&file,
		            negate ? negated[i - N_ELEMENTS(plain)] : plain[i]);
		must_read("map.yaml", &file, &options, &level);
		assert_class(&level, 0, negate ? "ground" : "blocked");
		assert_class(&level, 1, negate ? "blocked" : "ground");
		level_free(&level);
		clear(&file);
	}
	clear(&folder.file);
}

#ifdef HAVE_PNG
/* A map painted by hand often has an alpha channel. */
static void
opaque_pixels_of_ros_maps_are_bright(void **state)
{
	static const struct {
		const char *mode;
		const char *classes[3];
	} cases[] = {
		{"trinary", {"ground", "blocked", "unknown"}},
		{"scale", {"ground", "blocked", "unknown"}},
	};
	uint32_t samples[] = {
		255, 255, 255, 255, /* white */
		0,   0,   0,   255, /* black */
		255, 255, 255, 0,   /* white, but transparent */
	};
	const struct png_image image = {.width = 3,
	                                .height = 1,
	                                .type = PNG_COLOR_TYPE_RGB_ALPHA,
	                                .depth = 8,
	                                .n_channels = 4,
	                                .samples = samples};
	struct folder folder = {"a.png", {NULL, 0, 0}};
	const struct level_options options = {
		.loader = {load_from_folder, &folder}};

	(void)state;
	write_png(&image, &folder.file);
	for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
		struct bytes file = {NULL, 0, 0};
		struct level level;

		append_text(&file, "image: a.png\noccupied_thresh: 0.65\n"
		                   "free_thresh: 0.196\nmode: ");
		append_text(&file, cases[i].mode);
		must_read("map.yaml", &file, &options, &level);
		for (size_t k = 0; k < 3; k++)
			assert_class(&level, k, cases[i].classes[k]);
		level_free(&level);
		clear(&file);
	}
	clear(&folder.file);
}
#endif

#define THRESHOLDS "occupied_thresh: 0.65\nfree_thresh: 0.2\n"

static const struct {
	const char *text;
	enum diag_status status;
	unsigned long line;
	const char *reason;
} bad_maps[] = {
	{"", DIAG_BAD_INPUT, 1, "not a ROS map: there is no 'image: FILE'"},
	{"- image\n", DIAG_BAD_INPUT, 1,
         "not a ROS map: there is no 'image: FILE'"},
	{"{}\n", DIAG_BAD_INPUT, 0, "not a ROS map: there is no 'image'"},
	{"image: a.pgm\n", DIAG_BAD_INPUT, 0,
         "not a ROS map: there is no 'occupied_thresh'"},
	{"image: a.pgm\noccupied_thresh: 0.5\n", DIAG_BAD_INPUT, 0,
         "not a ROS map: there is no 'free_thresh'"},
	{"image: a.pgm\nimage: a.pgm\n" THRESHOLDS, DIAG_BAD_INPUT, 2,
         "image is there twice"},
	{"image: \n" THRESHOLDS, DIAG_BAD_INPUT, 1,
         "image is not the name of a file"},
	{"image: [a.pgm]\n" THRESHOLDS, DIAG_BAD_INPUT, 1,
         "image is not the name of a file"},
	{"image: \"a\\0b\"\n" THRESHOLDS, DIAG_BAD_INPUT, 1,
         "image is not the name of a file"},
	{"image: a.pgm\noccupied_thresh: 1.5\n", DIAG_BAD_INPUT, 2,
         "occupied_thresh is not a number from 0 to 1"},
	{"image: a.pgm\nfree_thresh: nan\n", DIAG_BAD_INPUT, 2,
         "free_thresh is not a number from 0 to 1"},
	{"image: a.pgm\noccupied_thresh: 0.2\nfree_thresh: 0.65\n",
         DIAG_BAD_INPUT, 0, "free_thresh is above occupied_thresh"},
	{"image: a.pgm\nnegate: 2\n", DIAG_BAD_INPUT, 2,
         "negate is not 0 or 1"},
	{"image: a.pgm\nmode: ternary\n", DIAG_BAD_INPUT, 2,
         "mode is not trinary, scale or raw"},
	{"image: a.pgm\nresolution: 0\n", DIAG_BAD_INPUT, 2,
         "resolution is not a number above 0"},
	{"image: a.pgm\norigin: [0, 0]\n", DIAG_BAD_INPUT, 2,
         "origin is not a list of 3 numbers"},
	{"image: a.pgm\norigin: [0, 0, 0, 0]\n", DIAG_BAD_INPUT, 2,
         "origin is not a list of 3 numbers"},
	{"image: a.pgm\norigin: 0\n", DIAG_BAD_INPUT, 2,
         "origin is not a list of 3 numbers"},
	{"image: a.pgm\norigin: [0, [1], 2]\n", DIAG_BAD_INPUT, 2,
         "origin is not a list of 3 numbers"},
	{"image: a.pgm\n[x]: y\n" THRESHOLDS, DIAG_BAD_INPUT, 2,
         "not a ROS map: a key is no text"},
	{"a: 1\nimage: b.pgm\n" THRESHOLDS, DIAG_FAILED, 2,
         "image 'b.pgm': there is no such file"},
	{"image: a.pgm\n" THRESHOLDS, DIAG_BAD_INPUT, 1,
         "image 'a.pgm': line 2: width is not from 1 to 65535"},
};

/* Lists in lists, more of them than could be read to the end. */
static void
deep_ros_maps_are_refused_at_once(void **state)
{
	struct bytes file = {NULL, 0, 0};

	(void)state;
	append_text(&file, "image: a.pgm\n" THRESHOLDS "x:\n ");
	for (size_t i = 0; i < 300000; i++)
		append_text(&file, "[");
	must_refuse("map.yaml", &file, NULL, DIAG_BAD_INPUT, 5,
	            "lists are nested deeper than 64");
	clear(&file);
}

static void
bad_ros_maps_are_refused_with_line_and_reason(void **state)
{
	struct folder folder = {"a.pgm", {NULL, 0, 0}};
	struct level_options options = {.loader = {load_from_folder, &folder}};
	struct bytes file = {NULL, 0, 0};
	struct level level;
	struct diag diag;

	(void)state;
	append_text(&folder.file, "P5\n0 1\n255\n");
	for (size_t i = 0; i < N_ELEMENTS(bad_maps); i++) {
		append_text(&file, bad_maps[i].text);
		must_refuse("map.yaml", &file, &options, bad_maps[i].status,
		            bad_maps[i].line, bad_maps[i].reason);
		clear(&file);
	}
	clear(&folder.file);
	append_text(&folder.file, "GIF89a");
	append_text(&file, "image: a.pgm\n" THRESHOLDS);
	must_refuse("map.yaml", &file, &options, DIAG_BAD_INPUT, 1,
	            "image 'a.pgm': it is neither PGM nor PNG");
	must_refuse("map.yaml", &file, NULL, DIAG_FAILED, 1,
	            "image 'a.pgm': no other files can be read here");
	options.gray_threshold = 100;
	must_refuse("map.yaml", &file, &options, DIAG_USAGE, 0,
	            "--gray-threshold is not for ROS maps, which have "
	            "thresholds of their own");
	options.gray_threshold = 0;
	clear(&file);
	append_text(&file, "image: a.pgm\n\torigin: [\n");
	assert_int_equal(read_exact("map.yaml", file.data, file.size, &options,
	                            &level, &diag),
	                 DIAG_BAD_INPUT);
	assert_ptr_equal(strstr(diag.text, "not YAML: "), diag.text);
	assert_int_equal(diag.line, 2);
	clear(&file);
	clear(&folder.file);
}
#endif

/* Damage */

static void
check_damaged(const char *name, const uint8_t *data, size_t size,
              const struct level_options *options, bool must_fail)
{
	struct level level;
	struct diag diag;
	enum diag_status status =
		read_exact(name, data, size, options, &level, &diag);

	if (status) {
		assert_int_equal(diag.status, status);
		assert_true(diag.text[0]);
		assert_empty(&level);
	} else {
		assert_false(must_fail);
		assert_true(level.width && level.height && level.cells);
		level_free(&level);
	}
}

/* Every truncation and every byte changed in several ways. A truncated file
 * must not pass where `whole` says that all of it is needed. */
static void
damage_everywhere(const char *name, const struct bytes *file, bool whole,
                  const struct level_options *options)
{
	static const uint8_t changes[] = {0x01, 0x02, 0x10, 0x80, 0xff};
	uint8_t *copy = malloc(file->size);

	assert_non_null(copy);
	for (size_t cut = 0; cut < file->size; cut++)
		check_damaged(name, file->data, cut, options, whole);
	memcpy(copy, file->data, file->size);
	for (size_t i = 0; i < file->size; i++) {
		for (size_t k = 0; k < N_ELEMENTS(changes); k++) {
			copy[i] = file->data[i] ^ changes[k];
			check_damaged(name, copy, file->size, options, false);
		}
		copy[i] = file->data[i];
	}
	free(copy);
}

static void
damaged_files_do_no_harm(void **state)
{
	struct rng rng = {test_seed()};
	struct folder folder = {"a.pgm", {NULL, 0, 0}};
	struct level_options options = {.loader = {load_from_folder, &folder}};

	(void)state;
	for (int round = 0; round < 6; round++) {
		struct bytes file = {NULL, 0, 0};
		struct gray_image image;

		random_gray(&rng, &image);
		image.width = image.width < 8 ? image.width : 8;
		image.height = image.height < 8 ? image.height : 8;
		write_pgm(&rng, &image, round % 2, &file);
		options.format = "pgm";
		damage_everywhere("a.pgm", &file, round % 2 == 0, &options);
		append(&folder.file, file.data, file.size);
		free(image.samples);
		clear(&file);

		append_text(&file, "image: a.pgm\nother: [a, {b: 'c'}]\n"
		                   "origin: [0, 1, 2]\noccupied_thresh: 0.65\n"
		                   "free_thresh: 0.196");
		options.format = "ros";
		damage_everywhere("a.yaml", &file, false, &options);
		clear(&file);
		clear(&folder.file);
	}
#ifdef HAVE_PNG
	options.format = "png";
	for (int round = 0; round < 30; round++) {
		struct bytes file = {NULL, 0, 0};
		struct png_image image;

		random_png(&rng, &image);
		image.width = image.width < 8 ? image.width : 8;
		image.height = image.height < 8 ? image.height : 8;
		write_png(&image, &file);
		damage_everywhere("a.png", &file, true, &options);
		free(image.samples);
		clear(&file);
	}
#endif
}

/* Files of our own and real ones */

static void
read_own(const char *name, const struct level_options *options,
         struct level *out)
{
	struct bytes file = {NULL, 0, 0};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", data_folder(), name);
	file.data = read_file(path, &file.size);
	assert_non_null(file.data);
	must_read(name, &file, options, out);
	clear(&file);
}

/* Is what is open in one open in the other, whose rows may be turned over? */
static void
assert_same_openings(const struct level *a, const struct level *b, bool flipped)
{
	assert_int_equal(a->width, b->width);
	assert_int_equal(a->height, b->height);
	for (uint32_t y = 0; y < a->height; y++)
		for (uint32_t x = 0; x < a->width; x++) {
			uint32_t other = flipped ? a->height - 1 - y : y;

			if (level_is_open(a, (size_t)y * a->width + x) !=
			    level_is_open(b, (size_t)other * b->width + x))
				fail_msg("cell %u,%u differs", (unsigned)x,
				         (unsigned)y);
		}
}

static void
keep_is_the_same_in_all_formats(void **state)
{
	const struct level_options size = {.width = 32, .height = 16};
	struct level pgm, other;
#ifdef HAVE_YAML
	struct folder folder = {"keep.pgm", {NULL, 0, 0}};
	const struct level_options beside = {
		.loader = {load_from_folder, &folder}};
	char path[512];
#endif

	(void)state;
	read_own("keep.pgm", NULL, &pgm);
	read_own("keep.raw", &size, &other);
	assert_same_openings(&pgm, &other, false);
	level_free(&other);
#ifdef HAVE_PNG
	read_own("keep.png", NULL, &other);
	assert_same_openings(&pgm, &other, false);
	level_free(&other);
#endif
#ifdef HAVE_YAML
	snprintf(path, sizeof(path), "%s/keep.pgm", data_folder());
	folder.file.data = read_file(path, &folder.file.size);
	assert_non_null(folder.file.data);
	read_own("keep.yaml", &beside, &other);
	assert_same_openings(&pgm, &other, true);
	level_free(&other);
	clear(&folder.file);
#endif
	level_free(&pgm);
}

#ifdef HAVE_PNG
static void
berlin_as_png_is_berlin_in_squares_of_pixels(void **state)
{
	struct bytes png = {NULL, 0, 0}, map = {NULL, 0, 0};
	struct level of_png, of_map;

	(void)state;
	png.data = read_maps_file("formats/png/Berlin_0_256.png", &png.size);
	map.data = read_maps_file("cities/Berlin_0_256.map", &map.size);
	if (!png.data || !map.data) {
		clear(&png);
		clear(&map);
		return;
	}
	must_read("Berlin_0_256.png", &png, NULL, &of_png);
	must_read("Berlin_0_256.map", &map, NULL, &of_map);
	assert_int_equal(of_png.width, 2 * of_map.width);
	assert_int_equal(of_png.height, 2 * of_map.height);
	for (uint32_t y = 0; y < of_png.height; y++)
		for (uint32_t x = 0; x < of_png.width; x++)
			assert_int_equal(
				level_is_open(&of_png,
			                      (size_t)y * of_png.width + x),
				level_is_open(&of_map,
			                      (size_t)(y / 2) * of_map.width +
			                              x / 2));
	level_free(&of_png);
	level_free(&of_map);
	clear(&png);
	clear(&map);
}
#endif

#ifdef HAVE_YAML
/* The real ROS maps: their image, size and thresholds, as they stand in the
 * YAML. */
static const struct {
	const char *yaml, *image;
	double occupied, is_free;
} real_maps[] = {
	{"TenByTen.yaml", "TenByTen.pgm", 0.65, 0.196},
	{"depot.yaml", "depot.pgm", 0.65, 0.25},
	{"warehouse.yaml", "warehouse.pgm", 0.65, 0.1},
#ifdef HAVE_PNG
	{"testmap.yaml", "testmap.png", 0.65, 0.196},
#endif
};

/* The pixels of a P5 of 8 bits: they are its last bytes. */
static const uint8_t *
plain_p5(const uint8_t *data, size_t size, uint32_t *width, uint32_t *height)
{
	const char *at = (const char *)data + 3;
	unsigned w, h;

	assert_memory_equal(data, "P5\n", 3);
	while (*at == '#')
		at = strchr(at, '\n') + 1;
	assert_int_equal(sscanf(at, "%u %u 255", &w, &h), 2);
	*width = w;
	*height = h;
	return data + size - (size_t)w * h;
}

static void
check_real_map(size_t i)
{
	struct folder folder = {real_maps[i].image, {NULL, 0, 0}};
	const struct level_options options = {
		.loader = {load_from_folder, &folder}};
	struct bytes yaml = {NULL, 0, 0}, pgm = {NULL, 0, 0};
	const uint8_t *pixels;
	uint32_t width, height;
	struct level level;
	char name[128];

	snprintf(name, sizeof(name), "formats/ros/%s", real_maps[i].yaml);
	yaml.data = read_maps_file(name, &yaml.size);
	snprintf(name, sizeof(name), "formats/ros/%s", real_maps[i].image);
	folder.file.data = read_maps_file(name, &folder.file.size);
	/* There is a PGM of the PNG. */
	strcpy(strrchr(name, '.'), ".pgm");
	pgm.data = read_maps_file(name, &pgm.size);
	assert_true(yaml.data && folder.file.data && pgm.data);
	must_read(real_maps[i].yaml, &yaml, &options, &level);
	pixels = plain_p5(pgm.data, pgm.size, &width, &height);
	assert_int_equal(level.width, width);
	assert_int_equal(level.height, height);
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++) {
			uint32_t from_top = height - 1 - y;
			double p =
				(255 - pixels[(size_t)from_top * width + x]) /
				255.0;

			assert_class(&level, (size_t)y * width + x,
			             p > real_maps[i].occupied  ? "blocked"
			             : p < real_maps[i].is_free ? "ground"
			                                        : "unknown");
		}
	level_free(&level);
	clear(&yaml);
	clear(&pgm);
	clear(&folder.file);
}

static void
real_ros_maps_are_read_right(void **state)
{
	(void)state;
	if (!maps_folder("formats/ros"))
		return;
	for (size_t i = 0; i < N_ELEMENTS(real_maps); i++)
		check_real_map(i);
}

static void
ros_map_without_its_image_is_refused(void **state)
{
	struct folder folder = {NULL, {NULL, 0, 0}};
	const struct level_options options = {
		.loader = {load_from_folder, &folder}};
	struct bytes yaml = {NULL, 0, 0};

	(void)state;
	yaml.data =
		read_maps_file("formats/ros/invalid_image.yaml", &yaml.size);
	if (!yaml.data)
		return;
	must_refuse("invalid_image.yaml", &yaml, &options, DIAG_FAILED, 1,
	            "image 'invalid.png': there is no such file");
	clear(&yaml);
}
#endif

static void
formats_without_their_library_say_so(void **state)
{
	const struct level_format *format;
	struct bytes file = {NULL, 0, 0};

	(void)state;
	append_text(&file, "bytes");
	for (format = level_formats; format->name; format++) {
		const struct level_options options = {.format = format->name};
		char reason[256];

		assert_true(format->what && format->suffixes[0] == '.');
		assert_true(format->needs || format->read);
		if (!format->needs)
			continue;
		snprintf(reason, sizeof(reason),
		         "%s can't be read: this hpabake was built without %s",
		         format->what, format->needs);
		must_refuse("x", &file, &options, DIAG_FAILED, 0, reason);
	}
	clear(&file);
}

/* Say of the tests that need real files that they have none. */
static void
name_the_skipped(struct CMUnitTest *tests, size_t n)
{
	(void)tests;
	for (size_t i = 0; i < n; i++) {
#ifdef HAVE_PNG
		if (tests[i].test_func ==
		    berlin_as_png_is_berlin_in_squares_of_pixels)
			tests[i].name = "berlin_as_png # SKIP no folder "
					"HPA_MAPS/formats";
#endif
#ifdef HAVE_YAML
		if (tests[i].test_func == real_ros_maps_are_read_right)
			tests[i].name = "real_ros_maps # SKIP no folder "
					"HPA_MAPS/formats";
		if (tests[i].test_func == ros_map_without_its_image_is_refused)
			tests[i].name = "ros_map_without_its_image # SKIP no "
					"folder HPA_MAPS/formats";
#endif
	}
}

int
main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(pgm_is_read_as_it_was_written),
		cmocka_unit_test(bad_pgms_are_refused_with_line_and_reason),
		cmocka_unit_test(raw_bytes_are_terrain_values),
		cmocka_unit_test(raw_bytes_have_exactly_the_stated_size),
		cmocka_unit_test(what_no_rule_is_for_is_what_it_would_be),
		cmocka_unit_test(
			a_row_of_blanks_is_one_where_a_blank_is_a_letter),
		cmocka_unit_test(letters_are_quoted_where_they_mean_more),
		cmocka_unit_test(commas_are_letters_in_a_list_of_blocked_ones),
		cmocka_unit_test(
			bad_terrain_files_are_refused_with_line_and_reason),
#ifdef HAVE_PNG
		cmocka_unit_test(png_is_read_as_it_was_written),
		cmocka_unit_test(transparent_is_blocked_whatever_the_rules),
		cmocka_unit_test(damaged_transparency_is_refused),
		cmocka_unit_test(bad_pngs_are_refused),
		cmocka_unit_test(berlin_as_png_is_berlin_in_squares_of_pixels),
#endif
		cmocka_unit_test(boastful_headers_allocate_nothing),
#ifdef HAVE_YAML
		cmocka_unit_test(ros_maps_are_read_as_they_were_written),
		cmocka_unit_test(ros_modes_give_values_of_an_occupancy_grid),
		cmocka_unit_test(ros_maps_are_known_by_their_image),
		cmocka_unit_test(ros_words_are_read_in_any_case),
#ifdef HAVE_PNG
		cmocka_unit_test(opaque_pixels_of_ros_maps_are_bright),
#endif
		cmocka_unit_test(deep_ros_maps_are_refused_at_once),
		cmocka_unit_test(bad_ros_maps_are_refused_with_line_and_reason),
		cmocka_unit_test(real_ros_maps_are_read_right),
		cmocka_unit_test(ros_map_without_its_image_is_refused),
#endif
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(keep_is_the_same_in_all_formats),
		cmocka_unit_test(formats_without_their_library_say_so),
	};

	/* cmocka writes a skipped test as one that failed. */
	if (!maps_folder("formats"))
		name_the_skipped(tests, N_ELEMENTS(tests));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
