/* hpa_pack.h: the raw bytes of a section -> packed bytes. */
#ifndef FORMATS_HPA_PACK_H
#define FORMATS_HPA_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_read.h"

/* Pack a section of a file of which only the sections' ids, profiles and raw
 * bytes have to be there, for hpa_unpack(). free() *out, which is NULL where the
 * section can't be packed. false: no memory. */
bool hpa_pack(const struct hpa_file *file, const struct hpa_section *section,
              uint8_t **out, size_t *size);

#endif
