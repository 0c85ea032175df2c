/* hpa_write.h: sections -> the bytes of a file. */
#ifndef FORMATS_HPA_WRITE_H
#define FORMATS_HPA_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"
#include "formats/workers.h"

/* A section to be written, with its raw bytes. */
struct hpa_new_section {
	const char *id;
	uint32_t profile;
	bool is_hot; /* a search works on it in place, and needs it */
	const uint8_t *raw;
	size_t raw_size;
	uint8_t *own; /* what raw is in, if it may be freed, or NULL */
	bool is_stored; /* it is never compressed */
};

/* Write the sections, in this order, into a file in memory; free *out with
 * free(). A section that `compress` applies to is deflated if that makes it
 * smaller. What sections own is freed, each when it is in the file, so that
 * they are not all there twice. false: no memory, *out is NULL, and what is left
 * of them is still theirs. workers may be NULL. */
bool hpa_write(struct hpa_new_section *sections, uint32_t n_sections,
               enum hpa_compress compress, uint64_t source_hash,
               uint64_t options_hash, const struct workers *workers,
               uint8_t **out, size_t *size);

/* The name and version of the compressor, with zeros behind it. */
void hpa_compressor(char out[HPA_COMPRESSOR_SIZE]);

#endif
