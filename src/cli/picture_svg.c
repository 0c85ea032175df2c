/* picture_svg.c: a picture as SVG.
 *
 * Cells of one colour are one path of rectangles, each as wide as a run of
 * equal cells and as high as the rows in which it is the same; the first colour
 * lies under all of them. The shapes follow, one element each. Numbers are
 * pixels with at most four decimals, for a unit is a sixteenth. A text is as
 * long as the letters of picture_font.c, whatever font the viewer has.
 *
 * Text is written as it is, but for what XML reserves; bytes that are no UTF-8
 * become question marks. */
#include "src/cli/picture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The height of a font's capitals is about this part of its size. */
#define FONT_PER_CAPITAL 7
#define CAPITAL_PER_FONT 10

struct writer {
	struct picture_bytes *out;
	bool has_failed;
};

static void put(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
put(struct writer *writer, const char *format, ...)
{
	char text[256];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size < 0 || (size_t)size >= sizeof(text) ||
	    !picture_put(writer->out, text, (size_t)size))
		writer->has_failed = true;
}

/* A number of units in pixels, with a letter before it. */
static void
put_units(struct writer *writer, const char *before, int32_t units)
{
	uint32_t magnitude = units < 0 ? 0 - (uint32_t)units : (uint32_t)units;
	uint32_t part = magnitude % PICTURE_UNIT * (10000 / PICTURE_UNIT);
	int decimals = 4;

	put(writer, "%s%s%" PRIu32, before, units < 0 ? "-" : "",
	    magnitude / PICTURE_UNIT);
	if (part == 0)
		return;
	for (; part % 10 == 0; part /= 10)
		decimals--;
	put(writer, ".%0*" PRIu32, decimals, part);
}

/* The bytes of a UTF-8 sequence that XML may hold, 0 for anything else. */
static size_t
sequence_size(const unsigned char *text)
{
	static const unsigned char least[] = {0, 0, 0xc2, 0xe0, 0xf0};
	size_t size = text[0] < 0x80   ? 1
	              : text[0] < 0xe0 ? 2
	              : text[0] < 0xf0 ? 3
	                               : 4;

	if (text[0] < ' ' || text[0] == 0x7f || text[0] > 0xf4 ||
	    (size > 1 && text[0] < least[size]))
		return 0;
	for (size_t i = 1; i < size; i++)
		if (text[i] >> 6 != 2)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xef && text[1] == 0xbf && text[2] > 0xbd) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return size;
}

static void
put_text(struct writer *writer, const char *text)
{
	while (*text) {
		size_t size = sequence_size((const unsigned char *)text);

		if (*text == '&')
			put(writer, "&amp;");
		else if (*text == '<')
			put(writer, "&lt;");
		else if (*text == '>')
			put(writer, "&gt;");
		else if (size == 0)
			put(writer, "?");
		else
			put(writer, "%.*s", (int)size, text);
		text += size ? size : 1;
	}
}

/* The attributes of a colour, for `fill` or `stroke`. */
static void
put_colour(struct writer *writer, const char *what, picture_colour colour)
{
	uint32_t opacity = colour & 0xff;

	put(writer, " %s=\"#%06" PRIx32 "\"", what, colour >> 8);
	if (opacity < 0xff)
		put(writer, " %s-opacity=\"0.%03" PRIu32 "\"", what,
		    opacity * 1000 / 255);
}

/* Rectangles of one colour that go on in the next row. */
struct open_rect {
	uint32_t end, top; /* end 0: none begins here */
};

static void
close_rect(struct writer *writer, struct open_rect *rect, uint32_t x,
           uint32_t bottom)
{
	if (rect->end > 0)
		put(writer,
		    "M%" PRIu32 " %" PRIu32 "h%" PRIu32 "v%" PRIu32 "h-%" PRIu32
		    "z",
		    x, rect->top, rect->end - x, bottom - rect->top,
		    rect->end - x);
	rect->end = 0;
}

/* Where the run of that colour that begins here ends, or 0 if none does. */
static uint32_t
run_end(const uint8_t *row, uint32_t width, uint32_t x, uint8_t colour)
{
	if (row[x] != colour || (x > 0 && row[x - 1] == colour))
		return 0;
	while (x < width && row[x] == colour)
		x++;
	return x;
}

static void
put_cells_of(struct writer *writer, const struct picture_cells *cells,
             uint8_t colour, struct open_rect *open)
{
	put(writer, "<path");
	put_colour(writer, "fill", cells->palette[colour]);
	put(writer, " d=\"");
	for (uint32_t y = 0; y < cells->height; y++) {
		const uint8_t *row = cells->colours + (size_t)y * cells->width;

		for (uint32_t x = 0; x < cells->width; x++) {
			uint32_t end = run_end(row, cells->width, x, colour);

			if (end == open[x].end)
				continue;
			close_rect(writer, &open[x], x, y);
			open[x] = (struct open_rect){end, y};
		}
	}
	for (uint32_t x = 0; x < cells->width; x++)
		close_rect(writer, &open[x], x, cells->height);
	put(writer, "\"/>\n");
}

static void
put_cells(struct writer *writer, const struct picture_cells *cells)
{
	size_t n = (size_t)cells->width * cells->height;
	struct open_rect *open = calloc(cells->width, sizeof(*open));
	bool used[256] = {false};

	if (!open) {
		writer->has_failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		used[cells->colours[i]] = true;
	put(writer,
	    "<g transform=\"translate(%" PRId32 " %" PRId32 ") scale(%" PRIu32
	    ")\" shape-rendering=\"crispEdges\">\n"
	    "<rect width=\"%" PRIu32 "\" height=\"%" PRIu32 "\"",
	    cells->x, cells->y, cells->scale, cells->width, cells->height);
	put_colour(writer, "fill", cells->palette[0]);
	put(writer, "/>\n");
	for (unsigned colour = 1; colour < 256; colour++)
		if (used[colour])
			put_cells_of(writer, cells, (uint8_t)colour, open);
	put(writer, "</g>\n");
	free(open);
}

static void
put_rects(struct writer *writer, const struct picture_quad *quads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put_units(writer, "M", quads[i].x1);
		put_units(writer, " ", quads[i].y1);
		put_units(writer, "H", quads[i].x2);
		put_units(writer, "V", quads[i].y2);
		put_units(writer, "H", quads[i].x1);
		put(writer, "z");
	}
}

/* Lines that begin where the last one ended go on with it. */
static void
put_strokes(struct writer *writer, const struct picture_quad *quads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct picture_quad *quad = &quads[i];

		if (i == 0 || quad->x1 != quad[-1].x2 ||
		    quad->y1 != quad[-1].y2) {
			put_units(writer, "M", quad->x1);
			put_units(writer, " ", quad->y1);
		}
		put_units(writer, "L", quad->x2);
		put_units(writer, " ", quad->y2);
	}
}

static void
put_path(struct writer *writer, const struct picture *picture,
         const struct picture_shape *shape)
{
	const struct picture_quad *quads = picture->quads + shape->first_quad;

	if (shape->n_quads == 0)
		return;
	put(writer, "<path");
	if (shape->kind == PICTURE_RECTS) {
		put_colour(writer, "fill", shape->colour);
		put(writer, " d=\"");
		put_rects(writer, quads, shape->n_quads);
	} else {
		put(writer, " class=\"s\"");
		put_colour(writer, "stroke", shape->colour);
		put_units(writer, " stroke-width=\"", shape->width);
		put(writer, "\" d=\"");
		put_strokes(writer, quads, shape->n_quads);
	}
	put(writer, "\"/>\n");
}

static void
put_label(struct writer *writer, const struct picture_shape *shape)
{
	if (!*shape->text)
		return;
	put_units(writer, "<text x=\"", shape->x);
	put_units(writer, "\" y=\"", shape->y);
	put_units(writer, "\" font-size=\"",
	          shape->size * CAPITAL_PER_FONT / FONT_PER_CAPITAL);
	put_units(writer, "\" textLength=\"", shape->length);
	put(writer, "\" lengthAdjust=\"spacingAndGlyphs\"");
	put_colour(writer, "fill", shape->colour);
	put(writer, ">");
	put_text(writer, shape->text);
	put(writer, "</text>\n");
}

static void
put_head(struct writer *writer, const struct picture *picture)
{
	put(writer,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu32
	    "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32 " %" PRIu32
	    "\" font-family=\"Helvetica,Arial,sans-serif\">\n",
	    picture->width, picture->height, picture->width, picture->height);
	if (picture->title) {
		put(writer, "<title>");
		put_text(writer, picture->title);
		put(writer, "</title>\n");
	}
	put(writer, "<style>.s{fill:none;stroke-linecap:round;"
	            "stroke-linejoin:round}</style>\n"
	            "<rect width=\"100%%\" height=\"100%%\"");
	put_colour(writer, "fill", picture->background);
	put(writer, "/>\n");
}

enum diag_status
picture_svg(const struct picture *picture, struct picture_bytes *out,
            struct diag *diag)
{
	struct writer writer = {out, picture->has_failed};

	*out = (struct picture_bytes){.data = NULL};
	if (!writer.has_failed) {
		put_head(&writer, picture);
		if (picture->cells.height > 0)
			put_cells(&writer, &picture->cells);
		for (size_t i = 0; i < picture->n_shapes; i++)
			if (picture->shapes[i].kind == PICTURE_TEXT)
				put_label(&writer, &picture->shapes[i]);
			else
				put_path(&writer, picture, &picture->shapes[i]);
		put(&writer, "</svg>\n");
	}
	if (!writer.has_failed)
		return DIAG_OK;
	free(out->data);
	out->data = NULL;
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}
