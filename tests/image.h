/* image.h: a baked file in memory, to be damaged.
 *
 * Sealing puts checksums right again, so that a reader has to notice the damage
 * itself. A helper that runs out of memory aborts. */
#ifndef TESTS_IMAGE_H
#define TESTS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"

struct image {
	uint8_t *data;
	size_t size;
};

/* Copy the first `size` bytes, into memory of exactly that size, so that a
 * sanitizer sees every step beyond it. Free data with free(). */
struct image image_cut(const struct image *image, size_t size);
struct image image_copy(const struct image *image);

/* The entry of the section table of that number. */
uint8_t *image_entry(const struct image *image, uint32_t index);

/* The first entry of that id, or NULL. */
uint8_t *image_find(const struct image *image, const char *id);

/* How many entries there are, as far as they lie inside of the image. */
uint32_t image_n_sections(const struct image *image);

/* Put right the header's own checksum; that and the table's; those and the
 * sections'; those and, where all can be inflated, the content hash. What lies
 * outside of the image is left alone. */
void image_seal_header(const struct image *image);
void image_seal_table(const struct image *image);
void image_seal_sums(const struct image *image);
void image_seal(const struct image *image);

/* A file whose sections are stored, with all of them packed where they can be
 * and deflated else, whether that is worth it or not. The deflated blocks have
 * their bytes as they are, so that these can be damaged one by one: image_seal()
 * also puts right the checksums that zlib has at the end of such blocks. */
struct image image_pack(const struct image *stored);

#endif
