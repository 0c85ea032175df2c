/* hpa_read.h: bytes -> checked sections.
 *
 * The container of .hpa: header, section table, codecs, checksums. What the
 * sections mean is hpa_view.h's business. */
#ifndef FORMATS_HPA_READ_H
#define FORMATS_HPA_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"
#include "hpa.h"

struct hpa_section {
	char id[5]; /* ends with a 0 */
	uint32_t profile;
	uint16_t flags;
	uint8_t codec;
	const uint8_t *stored; /* in the file */
	size_t stored_size;
	const uint8_t *raw; /* NULL while it is compressed */
	size_t raw_size;
	/* Its zlib blocks, and what they inflate to: the raw bytes, or the
	 * packed ones. */
	const uint8_t *blocks;
	size_t inflated_size;
};

struct hpa_file {
	const uint8_t *data;
	size_t size;
	uint16_t major, minor;
	uint64_t content_hash, source_hash, options_hash;
	uint64_t inflated_size; /* bytes hpa_file_inflate() needs */
	char compressor[HPA_COMPRESSOR_SIZE + 1];
	uint32_t n_sections;
	struct hpa_section sections[HPA_MAX_SECTIONS];
	char culprit[5]; /* after a refusal: the section it is about, or "" */
};

/* Read header and section table and check all of them that is not in a
 * section's inside; with `deep` also every section's checksum. The file points
 * into data. On failure *detail gets a constant text and out->culprit the
 * section it is about, if it is about one: HPA_NOT_HPA, HPA_TOO_NEW (a newer
 * major version, or a critical section of unknown id), HPA_CORRUPT, or
 * HPA_NO_MEMORY for a section that no memory of this machine can hold. */
hpa_status hpa_file_read(const uint8_t *data, size_t size, bool deep,
                         struct hpa_file *out, const char **detail);

/* The section of that id that serves a profile, or NULL: its own or else that
 * of the nearest profile before it. */
const struct hpa_section *hpa_file_find(const struct hpa_file *file,
                                        const char *id, uint32_t profile);

/* How many profiles the file has, 1 or more. */
uint32_t hpa_file_profiles(const struct hpa_file *file);

/* Inflate, and unpack, every compressed section that is searched in place, a
 * critical one, into `room`, of inflated_size bytes, 8-aligned. HPA_CORRUPT sets *detail and
 * the culprit; HPA_NO_MEMORY is zlib's. */
hpa_status hpa_file_inflate(struct hpa_file *file, uint8_t *room,
                            const char **detail);

/* A reader of a section block by block; works for stored ones too. The room it
 * needs is fixed, so that a query can own one. */
struct hpa_blocks {
	const struct hpa_section *section;
	uint8_t *block;  /* HPA_BLOCK_SIZE bytes */
	uint32_t loaded; /* index of the block in there, or HPA_NONE */
	void *stream;    /* z_stream, on room */
};

/* Bytes of room that hpa_file_check_content() needs. */
size_t hpa_file_content_room(const struct hpa_file *file);

/* Is the content hash that of the sections? What is critical must have been
 * inflated; the rest is inflated block by block in room, 8-aligned. HPA_CORRUPT
 * sets *detail and, for a section that does not inflate, the culprit;
 * HPA_NO_MEMORY is zlib's. */
hpa_status hpa_file_check_content(struct hpa_file *file, uint8_t *room,
                                  const char **detail);

/* Bytes of room that hpa_blocks_init() needs for this section. */
size_t hpa_blocks_size(const struct hpa_section *section);

/* Start a reader in room, of hpa_blocks_size() bytes, 8-aligned. HPA_OK or
 * HPA_NO_MEMORY. */
hpa_status hpa_blocks_init(struct hpa_blocks *blocks,
                           const struct hpa_section *section, uint8_t *room);

/* Copy `size` raw bytes at `offset`. false where they are not there or do not
 * inflate. */
bool hpa_blocks_read(struct hpa_blocks *blocks, size_t offset, uint8_t *out,
                     size_t size);

#endif
