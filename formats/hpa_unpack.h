/* hpa_unpack.h: packed bytes -> the raw bytes of a section.
 *
 * Some sections follow nearly or wholly from those before them. Packed (codec 2)
 * only what does not follow is stored; formats/hpa.md, "Codec 2", says how. What
 * comes out is as untrusted as what any other codec gives. */
#ifndef FORMATS_HPA_UNPACK_H
#define FORMATS_HPA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_read.h"

/* The ids that can be packed, in the order in which they rely on each other. */
#define HPA_N_PACKED 5u
extern const char *const hpa_packed_ids[HPA_N_PACKED];

/* Unpack a section into `out`, of its raw_size bytes. The sections it relies on
 * must have their raw bytes. false: the bytes are no such section. */
bool hpa_unpack(const struct hpa_file *file, const struct hpa_section *section,
                const uint8_t *packed, size_t packed_size, uint8_t *out);

#endif
