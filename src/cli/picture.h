/* picture.h: a picture as a list of shapes, and the two ways to store one.
 *
 * Shapes are drawn in their order, over a raster of cells. They know nothing of
 * levels: scene.h makes pictures of those. Both back ends draw the same list;
 * what a shape looks like is said here and nowhere else.
 *
 *     picture.c       put a picture together
 *     picture_font.c  letters made of lines, for the one that has no fonts
 *     picture_png.c   PNG: pixels, with smooth edges
 *     picture_svg.c   SVG: text */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"

/* Places and widths are counted in units, so many to a pixel; the middle of the
 * first pixel is at half of it. Whole numbers make the same picture on every
 * machine. */
#define PICTURE_UNIT 16
#define PICTURE_MAX_SIDE 65535u /* pixels */

/* Red, green, blue and opacity, a byte each, red highest. */
typedef uint32_t picture_colour;

enum picture_kind {
	PICTURE_RECTS,   /* each quad a rectangle from x1, y1 to x2, y2 */
	PICTURE_STROKES, /* each quad a line with round ends; where both ends
	                  * are the same a dot. What overlaps inside of a shape
	                  * does not add up */
	PICTURE_TEXT     /* the quads are its letters as lines */
};

struct picture_quad {
	int32_t x1, y1, x2, y2;
};

struct picture_shape {
	enum picture_kind kind;
	picture_colour colour;
	int32_t width; /* of strokes */
	size_t first_quad, n_quads;
	char *text;                 /* of a text; UTF-8 or not, as it came */
	int32_t x, y, size, length; /* of a text: the left end of its baseline,
	                             * the height of its capitals, how long it
	                             * is */
};

/* Cells of `scale` x `scale` pixels, each of a colour of the palette, which are
 * opaque. The first colour is the one that there is most of. */
struct picture_cells {
	int32_t x, y; /* pixels, of the upper left corner */
	uint32_t scale, width, height;
	uint8_t *colours; /* row by row; the picture owns it */
	picture_colour palette[256];
};

struct picture {
	uint32_t width, height;    /* pixels */
	picture_colour background; /* opaque */
	char *title;
	struct picture_cells cells; /* height 0: none */
	size_t n_shapes, max_shapes;
	struct picture_shape *shapes;
	size_t n_quads, max_quads;
	struct picture_quad *quads;
	bool has_failed; /* there was no memory; it stays so */
};

/* All of a picture's contents begin as zero. */
void picture_free(struct picture *picture);

/* Begin a shape; picture_add() adds to the last one. Where there is no memory
 * has_failed tells, and back ends refuse the picture. */
void picture_begin(struct picture *picture, enum picture_kind kind,
                   picture_colour colour, int32_t width);
void picture_add(struct picture *picture, int32_t x1, int32_t y1, int32_t x2,
                 int32_t y2);

/* A text; returns how long it is. */
int32_t picture_write(struct picture *picture, picture_colour colour, int32_t x,
                      int32_t y, int32_t size, const char *text);

/* How long a text of that size is. */
int32_t picture_text_length(int32_t size, const char *text);

/* picture_font.c: add a text's letters as lines to the last shape. */
void picture_add_letters(struct picture *picture, int32_t x, int32_t y,
                         int32_t size, const char *text);

/* Units a line of a text of that size is wide. */
int32_t picture_pen_width(int32_t size);

/* The bytes of a stored picture; free *data with free(). */
struct picture_bytes {
	uint8_t *data;
	size_t size, capacity;
};

/* For the back ends: append, or return false where there is no memory. */
bool picture_put(struct picture_bytes *bytes, const void *data, size_t size);

/* Fill *out, or fill in diag (without its file). A picture is refused that was
 * not put together for want of memory; PNG is refused by a program built
 * without libpng. */
enum diag_status picture_png(const struct picture *picture,
                             struct picture_bytes *out, struct diag *diag);
enum diag_status picture_svg(const struct picture *picture,
                             struct picture_bytes *out, struct diag *diag);

#endif
