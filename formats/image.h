/* image.h: pictures of levels, row by row, and what their pixels mean.
 *
 * A decoder of an image format hands rows of pixels to a sink; there they
 * become cells at once, so that a picture takes no more memory than its level
 * does. Only an interlaced one is held as a whole. */
#ifndef FORMATS_IMAGE_H
#define FORMATS_IMAGE_H

#include "formats/level.h"

#define IMAGE_THRESHOLD 128 /* darker is blocked, unless the user says more */

/* A pixel is n_channels bytes: 1 gray, 2 gray and alpha, 3 red, green and blue,
 * 4 the same and alpha. Every channel goes from 0 to 255, whatever depth the
 * file has; alpha 0 is transparent. */
struct image_shape {
	uint32_t width, height;
	uint32_t n_channels;
};

/* Where rows go. begin() is called once, when it is known that the input can
 * hold that many pixels, and may refuse them; then row(), from the top to the
 * bottom. */
struct image_sink {
	enum diag_status (*begin)(void *user, const struct image_shape *shape,
	                          struct diag *diag);
	void (*row)(void *user, uint32_t y, const uint8_t *pixels);
	void *user;
};

/* A decoder. What goes wrong is in diag (without its file); a part of the rows
 * may have been handed over then. */
typedef enum diag_status image_decoder(const uint8_t *data, size_t size,
                                       const struct image_sink *sink,
                                       struct diag *diag);

image_decoder pgm_decode;
image_decoder png_decode;

/* By the one of them that knows the bytes. */
image_decoder image_decode;

static inline bool
image_has_alpha(const struct image_shape *shape)
{
	return shape->n_channels % 2 == 0;
}

/* DIAG_BAD_INPUT for sides that no level has. */
enum diag_status image_check_sides(uint32_t width, uint32_t height,
                                   struct diag *diag);

/* Read an image as a level, a pixel per cell. What a pixel means is decided by
 * the first of these that has something to say:
 *
 *     it is fully transparent            blocked
 *     a rule for its colour or for its   the rule's class
 *     gray level, whichever comes first
 *     the rule for the rest              its class
 *     it is darker than the threshold    blocked
 *     nothing                            ground
 *
 * The gray level of a colour is its luminance, (299 r + 587 g + 114 b) / 1000,
 * rounded. A pixel that lets something shine through counts as if it were
 * opaque. */
enum diag_status image_read_level(image_decoder *decode, const uint8_t *data,
                                  size_t size,
                                  const struct level_options *options,
                                  struct level *out, struct diag *diag);

#endif
