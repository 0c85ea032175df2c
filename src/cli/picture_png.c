/* picture_png.c: a picture as PNG.
 *
 * Rows are painted a band at a time, so that a picture of 8192 pixels a side
 * takes no more memory than a few of its rows, and go to libpng one by one.
 *
 * A shape is painted in two steps. First its mask: how much of each pixel it
 * covers, 0 to 255, by the distance of the pixel's middle from the line; where
 * two lines of the shape meet the larger value counts. Then its colour is laid
 * over the band where the mask says so. All of it is done in whole numbers. */
#include "src/cli/picture.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PNG

#include <png.h>

#define BAND_HEIGHT 32
#define N_CHANNELS 3u
#define COMPRESSION 6

/* Distances are measured finer than places are. */
#define FINE 16
#define FINE_PIXEL (PICTURE_UNIT * FINE)

struct band {
	const struct picture *picture;
	int32_t top, width, height; /* pixels */
	uint8_t *pixels;
	uint8_t *mask;
	/* Where the mask is not 0: from left to right in each row; left equal
	 * to right: nowhere. */
	int32_t left[BAND_HEIGHT], right[BAND_HEIGHT];
};

static int64_t
min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The whole part of the root. */
static int64_t
root(int64_t square)
{
	int64_t result = 0;

	for (int64_t bit = (int64_t)1 << 30; bit > 0; bit /= 2)
		if ((result + bit) * (result + bit) <= square)
			result += bit;
	return result;
}

/* The pixel that a place lies in. */
static int32_t
pixel_of(int64_t units)
{
	return (int32_t)(units >= 0 ? units / PICTURE_UNIT
	                            : -((-units + PICTURE_UNIT - 1) /
	                                PICTURE_UNIT));
}

static void
put_pixel(uint8_t *pixel, picture_colour colour, uint32_t coverage)
{
	uint32_t alpha = (colour & 0xff) * coverage;
	const uint32_t whole = 255 * 255;

	for (unsigned i = 0; i < N_CHANNELS; i++) {
		uint32_t over = colour >> (24 - 8 * i) & 0xff;

		pixel[i] = (uint8_t)((over * alpha +
		                      pixel[i] * (whole - alpha) + whole / 2) /
		                     whole);
	}
}

/* One colour from a row's pixel on. */
static void
fill(struct band *band, int32_t x, int32_t y, int32_t n, picture_colour colour)
{
	uint8_t *pixel =
		band->pixels +
		((size_t)y * (size_t)band->width + (size_t)x) * N_CHANNELS;

	for (int32_t i = 0; i < n; i++, pixel += N_CHANNELS) {
		pixel[0] = (uint8_t)(colour >> 24);
		pixel[1] = (uint8_t)(colour >> 16);
		pixel[2] = (uint8_t)(colour >> 8);
	}
}

static void
copy_row(struct band *band, int32_t from, int32_t to)
{
	size_t size = (size_t)band->width * N_CHANNELS;

	memcpy(band->pixels + (size_t)to * size,
	       band->pixels + (size_t)from * size, size);
}

/* Background and cells, which are opaque. The rows of a cell are equal. */
static void
paint_ground(struct band *band)
{
	const struct picture_cells *cells = &band->picture->cells;
	int32_t scale = (int32_t)cells->scale;
	int32_t height = (int32_t)cells->height * scale;

	for (int32_t y = 0; y < band->height; y++) {
		int32_t row = band->top + y - cells->y;
		const uint8_t *colours;

		if (y > 0 && row > 0 && row < height && row % scale != 0) {
			copy_row(band, y - 1, y);
			continue;
		}
		fill(band, 0, y, band->width, band->picture->background);
		if (row < 0 || row >= height)
			continue;
		colours = cells->colours + (size_t)(row / scale) * cells->width;
		for (int32_t x = 0; x < (int32_t)cells->width; x++)
			fill(band, cells->x + x * scale, y, scale,
			     cells->palette[colours[x]]);
	}
}

/* Let a pixel of the band be covered that much or more. */
static void
cover(struct band *band, int32_t x, int32_t y, uint8_t coverage)
{
	uint8_t *mask =
		&band->mask[(size_t)y * (size_t)band->width + (size_t)x];

	if (coverage <= *mask)
		return;
	*mask = coverage;
	if (band->left[y] == band->right[y]) {
		band->left[y] = x;
		band->right[y] = x + 1;
	}
	if (x < band->left[y])
		band->left[y] = x;
	if (x >= band->right[y])
		band->right[y] = x + 1;
}

/* How far a place is from a line. */
static int64_t
distance(const struct picture_quad *line, int64_t length, int64_t x, int64_t y)
{
	int64_t dx = line->x2 - line->x1, dy = line->y2 - line->y1;
	int64_t from_x = x - line->x1, from_y = y - line->y1;
	int64_t along = from_x * dx + from_y * dy;

	if (along > 0 && along < dx * dx + dy * dy) {
		int64_t across = from_x * dy - from_y * dx;

		return (across < 0 ? -across : across) * FINE / length;
	}
	if (along > 0) {
		from_x = x - line->x2;
		from_y = y - line->y2;
	}
	return root((from_x * from_x + from_y * from_y) * FINE * FINE);
}

/* The columns in which a line comes near a row, at most: from *left on up to
 * *right. */
static void
columns_near(const struct picture_quad *line, int64_t reach, int64_t y,
             int64_t *left, int64_t *right)
{
	int64_t x1 = line->x1, x2 = line->x2;
	int64_t dx = x2 - x1, dy = line->y2 - line->y1;

	if (dy != 0) {
		/* The piece of it between the rows that are in reach. */
		int64_t a = (y - reach - line->y1) * dx / dy;
		int64_t b = (y + reach - line->y1) * dx / dy;
		int64_t least = min64(0, dx), most = max64(0, dx);

		x1 = line->x1 + max64(least, min64(most, a));
		x2 = line->x1 + max64(least, min64(most, b));
	}
	*left = min64(x1, x2) - reach - 1;
	*right = max64(x1, x2) + reach + 1;
}

static void
cover_stroke(struct band *band, const struct picture_quad *line, int32_t width)
{
	int64_t dx = line->x2 - line->x1, dy = line->y2 - line->y1;
	int64_t length = max64(1, root(dx * dx + dy * dy));
	int64_t radius = (int64_t)width * FINE / 2;
	int64_t reach = width / 2 + PICTURE_UNIT;
	int32_t y = (int32_t)max64(
		pixel_of(min64(line->y1, line->y2) - reach) - band->top, 0);
	int32_t bottom = (int32_t)min64(
		pixel_of(max64(line->y1, line->y2) + reach) - band->top + 1,
		band->height);

	for (; y < bottom; y++) {
		int64_t middle = (int64_t)(band->top + y) * PICTURE_UNIT +
		                 PICTURE_UNIT / 2;
		int64_t left, right;

		columns_near(line, reach, middle, &left, &right);
		left = max64(pixel_of(left), 0);
		right = min64(pixel_of(right) + 1, band->width);
		for (int64_t x = left; x < right; x++) {
			int64_t covered =
				radius + FINE_PIXEL / 2 -
				distance(line, length,
			                 x * PICTURE_UNIT + PICTURE_UNIT / 2,
			                 middle);

			/* A line thinner than a pixel covers no more of one
			 * than it is wide. */
			covered = min64(covered, min64(2 * radius, FINE_PIXEL));
			if (covered > 0)
				cover(band, (int32_t)x, y,
				      (uint8_t)(covered * 255 / FINE_PIXEL));
		}
	}
}

/* Units of [from, to) that lie in a pixel. */
static int64_t
overlap(int64_t from, int64_t to, int64_t pixel)
{
	int64_t begin = max64(from, pixel * PICTURE_UNIT);
	int64_t end = min64(to, (pixel + 1) * PICTURE_UNIT);

	return max64(end - begin, 0);
}

static void
cover_rect(struct band *band, const struct picture_quad *rect)
{
	int64_t y = max64(pixel_of(rect->y1) - band->top, 0);
	int64_t bottom =
		min64(pixel_of(rect->y2) - band->top + 1, band->height);
	int64_t right = min64(pixel_of(rect->x2) + 1, band->width);

	for (; y < bottom; y++) {
		int64_t high = overlap(rect->y1, rect->y2, band->top + y);

		for (int64_t x = max64(pixel_of(rect->x1), 0); x < right; x++)
			cover(band, (int32_t)x, (int32_t)y,
			      (uint8_t)(high * overlap(rect->x1, rect->x2, x) *
			                255 / (PICTURE_UNIT * PICTURE_UNIT)));
	}
}

/* Lay the colour over the band, and clear the mask. */
static void
lay_over(struct band *band, picture_colour colour)
{
	for (int32_t y = 0; y < band->height; y++) {
		size_t row = (size_t)y * (size_t)band->width;

		for (int32_t x = band->left[y]; x < band->right[y]; x++) {
			size_t at = row + (size_t)x;

			if (band->mask[at])
				put_pixel(band->pixels + at * N_CHANNELS,
				          colour, band->mask[at]);
			band->mask[at] = 0;
		}
		band->left[y] = band->right[y] = 0;
	}
}

static void
paint_shape(struct band *band, const struct picture_shape *shape)
{
	const struct picture_quad *quads =
		band->picture->quads + shape->first_quad;
	int64_t top = (int64_t)band->top * PICTURE_UNIT;
	int64_t bottom = top + (int64_t)band->height * PICTURE_UNIT;
	int64_t reach = shape->width / 2 + PICTURE_UNIT;

	for (size_t i = 0; i < shape->n_quads; i++) {
		if (max64(quads[i].y1, quads[i].y2) + reach < top ||
		    min64(quads[i].y1, quads[i].y2) - reach > bottom)
			continue;
		if (shape->kind == PICTURE_RECTS)
			cover_rect(band, &quads[i]);
		else
			cover_stroke(band, &quads[i], shape->width);
	}
	lay_over(band, shape->colour);
}

static void
paint_band(struct band *band)
{
	paint_ground(band);
	for (size_t i = 0; i < band->picture->n_shapes; i++)
		paint_shape(band, &band->picture->shapes[i]);
}

static void
append(png_structp png, png_bytep data, png_size_t size)
{
	if (!picture_put(png_get_io_ptr(png), data, size))
		png_error(png, "out of memory");
}

static void
flush_nothing(png_structp png)
{
	(void)png;
}

/* Nothing is printed: all that can go wrong is that there is no memory. */
static void
on_error(png_structp png, png_const_charp text)
{
	(void)text;
	png_longjmp(png, 1);
}

static void
on_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

/* libpng leaves by longjmp() where something goes wrong: what is used behind
 * setjmp() belongs to the caller. */
static bool
write_rows(png_structp png, png_infop info, struct band *band,
           struct picture_bytes *out)
{
	const struct picture *picture = band->picture;
	int32_t height = (int32_t)picture->height;

	if (setjmp(png_jmpbuf(png)))
		return false;
	png_set_write_fn(png, out, append, flush_nothing);
	png_set_compression_level(png, COMPRESSION);
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_set_user_limits(png, PICTURE_MAX_SIDE, PICTURE_MAX_SIDE);
	png_set_IHDR(png, info, picture->width, picture->height, 8,
	             PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	for (; band->top < height; band->top += BAND_HEIGHT) {
		band->height = (int32_t)min64(BAND_HEIGHT, height - band->top);
		paint_band(band);
		for (int32_t y = 0; y < band->height; y++)
			png_write_row(png, band->pixels +
			                           (size_t)y *
			                                   (size_t)band->width *
			                                   N_CHANNELS);
	}
	png_write_end(png, info);
	return true;
}

static bool
write_png(struct band *band, struct picture_bytes *out)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL,
	                                          on_error, on_warning);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	bool good = info && write_rows(png, info, band, out);

	png_destroy_write_struct(&png, &info);
	return good;
}

enum diag_status
picture_png(const struct picture *picture, struct picture_bytes *out,
            struct diag *diag)
{
	size_t n = (size_t)picture->width * BAND_HEIGHT;
	struct band band = {.picture = picture,
	                    .width = (int32_t)picture->width,
	                    .pixels = malloc(n * N_CHANNELS),
	                    .mask = calloc(n, 1)};
	bool good;

	*out = (struct picture_bytes){.data = NULL};
	good = !picture->has_failed && band.pixels && band.mask &&
	       write_png(&band, out);
	free(band.pixels);
	free(band.mask);
	if (good)
		return DIAG_OK;
	free(out->data);
	out->data = NULL;
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

#else

enum diag_status
picture_png(const struct picture *picture, struct picture_bytes *out,
            struct diag *diag)
{
	(void)picture;
	*out = (struct picture_bytes){.data = NULL};
	return diag_set(diag, DIAG_FAILED, 0,
	                "this hpabake was built without libpng and can't write "
	                "PNG; an .svg needs none");
}

#endif
