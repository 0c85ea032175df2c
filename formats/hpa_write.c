/* hpa_write.c: sections -> the bytes of a file.
 *
 * Each section is packed first (stored as it is, or deflated in blocks), then
 * header, table and packed sections are copied to their places and the
 * checksums put in. Nothing here depends on time, machine or locale. */
#include "formats/hpa_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define ALIGN_LOG2 3u
#define ALIGN ((size_t)1 << ALIGN_LOG2)

/* A section above this is stored: where its blocks end is told in 32 bits. */
#define MAX_DEFLATED ((uint64_t)0xf0000000)

struct packed {
	const uint8_t *stored;
	size_t stored_size;
	uint8_t *own; /* to be freed */
	uint8_t codec;
};

static size_t
align_up(size_t n)
{
	return (n + ALIGN - 1) & ~(ALIGN - 1);
}

/* Deflate into blocks that can be inflated one by one. */
static bool
deflate_blocks(const uint8_t *raw, size_t raw_size, struct packed *out)
{
	size_t n_blocks = (raw_size + HPA_BLOCK_SIZE - 1) / HPA_BLOCK_SIZE;
	size_t head = HPA_ZLIB_ENDS + 4 * n_blocks;
	size_t bound = compressBound(HPA_BLOCK_SIZE);
	uint8_t *data = calloc(1, head + n_blocks * bound);
	size_t end = 0;

	if (!data)
		return false;
	hpa_put_le32(data + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
	hpa_put_le32(data + HPA_ZLIB_N_BLOCKS, (uint32_t)n_blocks);
	for (size_t i = 0; i < n_blocks; i++) {
		size_t begin = i * HPA_BLOCK_SIZE;
		size_t left = raw_size - begin;
		uLongf size = bound;

		if (left > HPA_BLOCK_SIZE)
			left = HPA_BLOCK_SIZE;
		if (compress2(data + head + end, &size, raw + begin, left,
		              Z_BEST_COMPRESSION) != Z_OK) {
			free(data);
			return false;
		}
		end += size;
		hpa_put_le32(data + HPA_ZLIB_ENDS + 4 * i, (uint32_t)end);
	}
	*out = (struct packed){data, head + end, data, HPA_CODEC_ZLIB};
	return true;
}

static bool
pack(const struct hpa_new_section *section, enum hpa_compress compress,
     struct packed *out)
{
	bool wanted = compress == HPA_COMPRESS_ALL ||
	              (compress == HPA_COMPRESS_COLD && !section->is_hot);

	wanted = wanted && section->raw_size <= MAX_DEFLATED;
	if (wanted && !deflate_blocks(section->raw, section->raw_size, out))
		return false;
	if (wanted && out->stored_size < section->raw_size)
		return true;
	free(out->own);
	*out = (struct packed){section->raw, section->raw_size, NULL,
	                       HPA_CODEC_STORED};
	return true;
}

uint64_t
hpa_hash_section(uint64_t hash, const char *id, uint32_t profile,
                 const uint8_t *raw, size_t raw_size)
{
	uint8_t bytes[8];

	memcpy(bytes, id, 4);
	hpa_put_le32(bytes + 4, profile);
	return hpa_hash(hpa_hash(hash, bytes, sizeof(bytes)), raw, raw_size);
}

static void
put_entry(uint8_t *entry, const struct hpa_new_section *section,
          const struct packed *packed, size_t offset)
{
	memcpy(entry + HPA_ENT_ID, section->id, 4);
	hpa_put_le16(entry + HPA_ENT_FLAGS,
	             section->is_hot ? HPA_FLAG_CRITICAL : 0);
	entry[HPA_ENT_CODEC] = packed->codec;
	entry[HPA_ENT_ALIGN] = ALIGN_LOG2;
	hpa_put_le64(entry + HPA_ENT_OFFSET, offset);
	hpa_put_le64(entry + HPA_ENT_STORED_SIZE, packed->stored_size);
	hpa_put_le64(entry + HPA_ENT_RAW_SIZE, section->raw_size);
	hpa_put_le32(entry + HPA_ENT_CRC,
	             (uint32_t)crc32_z(0, packed->stored, packed->stored_size));
	hpa_put_le32(entry + HPA_ENT_PROFILE, section->profile);
}

static void
put_header(uint8_t *data, size_t size, uint32_t n_sections,
           uint64_t content_hash, uint64_t source_hash, uint64_t options_hash,
           uint64_t inflated_size)
{
	memcpy(data, HPA_MAGIC, HPA_MAGIC_SIZE);
	hpa_put_le16(data + HPA_OFF_MAJOR, HPA_MAJOR);
	hpa_put_le16(data + HPA_OFF_MINOR, HPA_MINOR);
	hpa_put_le32(data + HPA_OFF_HEADER_SIZE, HPA_HEADER_SIZE);
	hpa_put_le64(data + HPA_OFF_FILE_SIZE, size);
	hpa_put_le32(data + HPA_OFF_N_SECTIONS, n_sections);
	hpa_put_le32(data + HPA_OFF_ENTRY_SIZE, HPA_ENTRY_SIZE);
	hpa_put_le64(data + HPA_OFF_CONTENT_HASH, content_hash);
	hpa_put_le64(data + HPA_OFF_SOURCE_HASH, source_hash);
	hpa_put_le64(data + HPA_OFF_OPTIONS_HASH, options_hash);
	hpa_put_le64(data + HPA_OFF_INFLATED_SIZE, inflated_size);
	snprintf((char *)data + HPA_OFF_COMPRESSOR, HPA_COMPRESSOR_SIZE,
	         "zlib %s", zlibVersion());
	hpa_put_le32(data + HPA_OFF_TABLE_CRC,
	             (uint32_t)crc32_z(0, data + HPA_HEADER_SIZE,
	                               (size_t)n_sections * HPA_ENTRY_SIZE));
	hpa_put_le32(data + HPA_OFF_HEADER_CRC,
	             (uint32_t)crc32_z(0, data, HPA_OFF_HEADER_CRC));
}

static bool
assemble(const struct hpa_new_section *sections, const struct packed *packed,
         uint32_t n, uint64_t source_hash, uint64_t options_hash, uint8_t **out,
         size_t *size)
{
	size_t head = HPA_HEADER_SIZE + (size_t)n * HPA_ENTRY_SIZE;
	uint64_t content_hash = HPA_HASH_SEED;
	uint64_t inflated_size = 0;
	size_t offset = align_up(head);
	uint8_t *data;

	*size = head;
	for (uint32_t i = 0; i < n; i++)
		*size = align_up(*size) + packed[i].stored_size;
	data = calloc(1, *size);
	if (!data)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct hpa_new_section *section = &sections[i];

		put_entry(data + HPA_HEADER_SIZE + (size_t)i * HPA_ENTRY_SIZE,
		          section, &packed[i], offset);
		if (packed[i].stored_size)
			memcpy(data + offset, packed[i].stored,
			       packed[i].stored_size);
		offset = align_up(offset + packed[i].stored_size);
		content_hash =
			hpa_hash_section(content_hash, section->id,
		                         section->profile, section->raw,
		                         section->raw_size);
		if (packed[i].codec != HPA_CODEC_STORED && section->is_hot)
			inflated_size += align_up(section->raw_size);
	}
	put_header(data, *size, n, content_hash, source_hash, options_hash,
	           inflated_size);
	*out = data;
	return true;
}

bool
hpa_write(const struct hpa_new_section *sections, uint32_t n_sections,
          enum hpa_compress compress, uint64_t source_hash,
          uint64_t options_hash, uint8_t **out, size_t *size)
{
	struct packed packed[HPA_MAX_SECTIONS] = {{0}};
	bool ok = true;

	*out = NULL;
	for (uint32_t i = 0; i < n_sections && ok; i++)
		ok = pack(&sections[i], compress, &packed[i]);
	ok = ok && assemble(sections, packed, n_sections, source_hash,
	                    options_hash, out, size);
	for (uint32_t i = 0; i < n_sections; i++)
		free(packed[i].own);
	return ok;
}
