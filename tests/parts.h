/* parts.h: a baked file taken apart, to be written again in another way.
 *
 * What can't be done fails the test. Free what is written with free(). */
#ifndef TESTS_PARTS_H
#define TESTS_PARTS_H

#include "formats/hpa_read.h"
#include "formats/hpa_write.h"
#include "tests/image.h"

/* The sections point into the file that was taken apart. */
struct parts {
	struct hpa_file file;
	struct hpa_new_section sections[HPA_MAX_SECTIONS];
	uint32_t n;
};

/* Take apart a file with nothing compressed. */
void take_apart(const struct image *image, struct parts *out);

/* Nothing checks that what is written can be read. */
struct image put_together(const struct parts *parts,
                          enum hpa_compress compress);

/* The first section of that id. */
struct hpa_new_section *part_of(struct parts *parts, const char *id);

/* The same file with nothing compressed. */
struct image store(const struct image *image);

/* A file that is stored, with other bytes in a section. It comes last, and the
 * file lies in memory of its size, so that a sanitizer sees every step beyond the
 * section. */
struct image with_section(const struct image *image, const char *id,
                          const uint8_t *raw, size_t size);

#endif
