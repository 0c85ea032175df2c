/* draw.c: a level and a path, drawn with characters.
 *
 * A picture is a grid of pixels, each a square of `scale` cells: wall where at
 * least half of its cells are blocked, path where one of them is on the path.
 * A level of few columns is drawn large, a pixel two characters wide and one
 * high. A wider one is drawn small: a character is one pixel wide and two high,
 * its halves shown by half blocks, and scaled down until it fits. Either way a
 * pixel looks about square. Colours are added where they are wanted; the
 * characters alone tell everything that matters. */
#include "src/cli/draw.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_COLUMNS 100u
#define MIN_COLUMNS 20u
#define FRAME 2u /* columns of it */

enum pixel { FLOOR, WALL, PATH, START, GOAL, N_PIXELS };

/* The characters of a picture. In a small one each shows an upper and a lower
 * pixel, and what is rarer wins: goal, start, path, then the walls. */
struct glyphs {
	const char *large[N_PIXELS];
	const char *small[N_PIXELS];
	const char *upper_wall, *lower_wall;
	const char *corner[4]; /* top left, top right, bottom ones */
	const char *across, *down;
	const char *times;
};

static const struct glyphs ascii = {
	.large = {"  ", "##", " o", " S", " G"},
	.small = {" ", "#", "o", "S", "G"},
	.upper_wall = "\"",
	.lower_wall = ".",
	.corner = {"+", "+", "+", "+"},
	.across = "-",
	.down = "|",
	.times = "x",
};

static const struct glyphs utf8 = {
	.large = {"  ", "██", " •", " S", " G"},
	.small = {" ", "█", "•", "S", "G"},
	.upper_wall = "▀",
	.lower_wall = "▄",
	.corner = {"┌", "┐", "└", "┘"},
	.across = "─",
	.down = "│",
	.times = "×",
};

/* By enum pixel. */
static const char *const colours[N_PIXELS] = {
	"", "\033[90m", "\033[93m", "\033[1;92m", "\033[1;91m",
};
static const char plain[] = "\033[0m";

struct picture {
	uint32_t scale, width, height; /* pixels */
	bool large;
	uint8_t *pixels;
};

static bool
locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);
		const char *codeset;

		if (!value || !*value)
			continue;
		codeset = strchr(value, '.');
		return codeset && (strncasecmp(codeset, ".UTF-8", 6) == 0 ||
		                   strncasecmp(codeset, ".UTF8", 5) == 0);
	}
	return false;
}

struct draw_style
draw_style_of(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR");
	bool terminal = isatty(fileno(out));
	struct winsize size;
	struct draw_style style = {
		.utf8 = locale_is_utf8(),
		.colour = terminal && !(no_colour && *no_colour),
		.columns = MAX_COLUMNS,
	};

	if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 &&
	    size.ws_col >= MIN_COLUMNS && size.ws_col < style.columns)
		style.columns = size.ws_col;
	return style;
}

static uint32_t
divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* Is at least half of a pixel blocked? */
static bool
is_wall(const hpa_map *map, const hpa_facts *facts, uint32_t scale, uint32_t px,
        uint32_t py)
{
	uint32_t n = 0, n_blocked = 0;

	for (uint32_t y = py * scale; y / scale == py && y < facts->height; y++)
		for (uint32_t x = px * scale;
		     x / scale == px && x < facts->width; x++) {
			hpa_cell cell = {(uint16_t)x, (uint16_t)y};

			n++;
			n_blocked += !hpa_map_is_free(map, cell);
		}
	return n_blocked * 2 >= n;
}

static void
put_pixel(struct picture *picture, const hpa_facts *facts, hpa_cell cell,
          enum pixel pixel)
{
	if (cell.x < facts->width && cell.y < facts->height)
		picture->pixels[(size_t)(cell.y / picture->scale) *
		                        picture->width +
		                cell.x / picture->scale] = (uint8_t)pixel;
}

static bool
make_picture(const struct draw_scene *scene, const hpa_facts *facts,
             unsigned columns, struct picture *out)
{
	uint32_t room = columns - FRAME;
	uint32_t x, y;

	out->large = facts->width <= room / 2;
	out->scale = divide_up(facts->width, room);
	out->width = divide_up(facts->width, out->scale);
	out->height = divide_up(facts->height, out->scale);
	out->pixels = malloc((size_t)out->width * out->height);
	if (!out->pixels)
		return false;
	for (y = 0; y < out->height; y++)
		for (x = 0; x < out->width; x++)
			out->pixels[(size_t)y * out->width + x] =
				is_wall(scene->map, facts, out->scale, x, y)
					? WALL
					: FLOOR;
	for (size_t i = 0; i < scene->n_cells; i++)
		put_pixel(out, facts, scene->cells[i], PATH);
	put_pixel(out, facts, scene->from, START);
	put_pixel(out, facts, scene->to, GOAL);
	return true;
}

static void
print_edge(FILE *out, const struct picture *picture,
           const struct glyphs *glyphs, size_t corner)
{
	uint32_t width = picture->width * (picture->large ? 2 : 1);

	fputs(glyphs->corner[corner], out);
	for (uint32_t i = 0; i < width; i++)
		fputs(glyphs->across, out);
	fprintf(out, "%s\n", glyphs->corner[corner + 1]);
}

static enum pixel
pixel_at(const struct picture *picture, uint32_t x, uint32_t y)
{
	/* Below an odd number of rows there is nothing. */
	if (y >= picture->height)
		return FLOOR;
	return (enum pixel)picture->pixels[(size_t)y * picture->width + x];
}

static const char *
small_glyph(const struct glyphs *glyphs, enum pixel upper, enum pixel lower)
{
	enum pixel pixel = upper > lower ? upper : lower;

	if (pixel == WALL && lower == FLOOR)
		return glyphs->upper_wall;
	if (pixel == WALL && upper == FLOOR)
		return glyphs->lower_wall;
	return glyphs->small[pixel];
}

static void
print_row(FILE *out, const struct picture *picture, const struct glyphs *glyphs,
          bool colour, uint32_t y)
{
	enum pixel last = FLOOR;

	fputs(glyphs->down, out);
	for (uint32_t x = 0; x < picture->width; x++) {
		enum pixel upper = pixel_at(picture, x, y);
		enum pixel lower =
			picture->large ? upper : pixel_at(picture, x, y + 1);
		enum pixel pixel = upper > lower ? upper : lower;

		if (colour && pixel != last && pixel != FLOOR)
			fprintf(out, "%s%s", plain, colours[pixel]);
		if (pixel != FLOOR)
			last = pixel;
		fputs(picture->large ? glyphs->large[pixel]
		                     : small_glyph(glyphs, upper, lower),
		      out);
	}
	fprintf(out, "%s%s\n", colour ? plain : "", glyphs->down);
}

static void
print_legend(FILE *out, const struct picture *picture,
             const struct glyphs *glyphs)
{
	fprintf(out, "S start, G goal, %s path, %s wall", glyphs->small[PATH],
	        glyphs->small[WALL]);
	if (!picture->large)
		fprintf(out,
		        "; a character is %" PRIu32 " %s %" PRIu32 " cells",
		        picture->scale, glyphs->times, picture->scale * 2);
	fputs("\n", out);
}

enum diag_status
draw_scene(FILE *out, const struct draw_scene *scene,
           const struct draw_style *style, struct diag *diag)
{
	const struct glyphs *glyphs = style->utf8 ? &utf8 : &ascii;
	struct picture picture;
	hpa_facts facts;

	hpa_map_facts(scene->map, &facts);
	if (!make_picture(scene, &facts, style->columns, &picture))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	print_edge(out, &picture, glyphs, 0);
	for (uint32_t y = 0; y < picture.height; y += picture.large ? 1 : 2)
		print_row(out, &picture, glyphs, style->colour, y);
	print_edge(out, &picture, glyphs, 2);
	print_legend(out, &picture, glyphs);
	free(picture.pixels);
	return DIAG_OK;
}
