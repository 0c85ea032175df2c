/* hpa_write.c: sections -> the bytes of a file.
 *
 * Each section is packed first (stored as it is, or deflated in blocks), then
 * header, table and packed sections are copied to their places and the
 * checksums put in. Blocks are deflated by all threads; so are sections copied
 * and their checksums taken, piece by piece, while one thread takes the content
 * hash, which can't be cut. Nothing here depends on time, machine or locale. */
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

/* Deflate block i to its place; its size, or 0. */
static size_t
deflate_block(const uint8_t *raw, size_t raw_size, size_t i, uint8_t *out)
{
	size_t begin = i * HPA_BLOCK_SIZE;
	size_t left = raw_size - begin;
	uLongf size = compressBound(HPA_BLOCK_SIZE);

	if (left > HPA_BLOCK_SIZE)
		left = HPA_BLOCK_SIZE;
	if (compress2(out, &size, raw + begin, left, Z_BEST_COMPRESSION) !=
	    Z_OK)
		return 0;
	return size;
}

/* Deflate into blocks that can be inflated one by one: each with room for the
 * worst, then moved together. */
static bool
deflate_blocks(const uint8_t *raw, size_t raw_size, struct packed *out)
{
	size_t n_blocks = (raw_size + HPA_BLOCK_SIZE - 1) / HPA_BLOCK_SIZE;
	size_t head = HPA_ZLIB_ENDS + 4 * n_blocks;
	size_t bound = compressBound(HPA_BLOCK_SIZE);
	uint8_t *data = calloc(1, head + n_blocks * bound);
	size_t *sizes = calloc(n_blocks + 1, sizeof(*sizes));
	size_t end = 0;
	bool ok = data && sizes;

	if (ok) {
#pragma omp parallel for schedule(dynamic, 1)
		for (size_t i = 0; i < n_blocks; i++)
			sizes[i] = deflate_block(raw, raw_size, i,
			                         data + head + i * bound);
		hpa_put_le32(data + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
		hpa_put_le32(data + HPA_ZLIB_N_BLOCKS, (uint32_t)n_blocks);
	}
	for (size_t i = 0; i < n_blocks && ok; i++) {
		ok = sizes[i] > 0;
		memmove(data + head + end, data + head + i * bound, sizes[i]);
		end += sizes[i];
		hpa_put_le32(data + HPA_ZLIB_ENDS + 4 * i, (uint32_t)end);
	}
	free(sizes);
	if (!ok) {
		free(data);
		return false;
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
          const struct packed *packed, size_t offset, uint32_t crc)
{
	memcpy(entry + HPA_ENT_ID, section->id, 4);
	hpa_put_le16(entry + HPA_ENT_FLAGS,
	             section->is_hot ? HPA_FLAG_CRITICAL : 0);
	entry[HPA_ENT_CODEC] = packed->codec;
	entry[HPA_ENT_ALIGN] = ALIGN_LOG2;
	hpa_put_le64(entry + HPA_ENT_OFFSET, offset);
	hpa_put_le64(entry + HPA_ENT_STORED_SIZE, packed->stored_size);
	hpa_put_le64(entry + HPA_ENT_RAW_SIZE, section->raw_size);
	hpa_put_le32(entry + HPA_ENT_CRC, crc);
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

/* A section on its way into the file, piece by piece. */
#define PIECE_SIZE ((size_t)1 << 18)

static size_t
count_pieces(size_t size)
{
	return (size + PIECE_SIZE - 1) / PIECE_SIZE;
}

/* Copy piece i; returns its checksum. */
static uint32_t
copy_piece(const struct packed *packed, size_t i, uint8_t *out)
{
	const uint8_t *from = packed->stored + i * PIECE_SIZE;
	size_t left = packed->stored_size - i * PIECE_SIZE;
	size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;

	memcpy(out + i * PIECE_SIZE, from, size);
	return (uint32_t)crc32_z(0, from, size);
}

/* The checksum of all from those of the pieces. */
static uint32_t
join_crcs(const uint32_t *crcs, size_t size)
{
	uLong crc = crc32_z(0, NULL, 0);
	size_t n = count_pieces(size);

	for (size_t i = 0; i < n; i++) {
		size_t left = size - i * PIECE_SIZE;

		crc = crc32_combine(
			crc, crcs[i],
			(z_off_t)(left < PIECE_SIZE ? left : PIECE_SIZE));
	}
	return (uint32_t)crc;
}

/* Copy a section, its checksum into *crc and its content into *hash. crcs is
 * scratch. */
static void
copy_section(const struct hpa_new_section *section, const struct packed *packed,
             uint8_t *out, uint32_t *crcs, uint32_t *crc, uint64_t *hash)
{
	size_t n = count_pieces(packed->stored_size);

#pragma omp parallel if (n > 1)
	{
#pragma omp single nowait
		*hash = hpa_hash_section(*hash, section->id, section->profile,
		                         section->raw, section->raw_size);
#pragma omp for schedule(dynamic, 1)
		for (size_t i = 0; i < n; i++)
			crcs[i] = copy_piece(packed, i, out);
	}
	*crc = join_crcs(crcs, packed->stored_size);
}

/* Where the sections go; returns the size of the file. */
static size_t
place_sections(const struct packed *packed, uint32_t n, size_t *offsets)
{
	size_t size = HPA_HEADER_SIZE + (size_t)n * HPA_ENTRY_SIZE;

	for (uint32_t i = 0; i < n; i++) {
		offsets[i] = align_up(size);
		size = offsets[i] + packed[i].stored_size;
	}
	return size;
}

static uint64_t
sum_inflated(const struct hpa_new_section *sections,
             const struct packed *packed, uint32_t n)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < n; i++)
		if (packed[i].codec != HPA_CODEC_STORED && sections[i].is_hot)
			size += align_up(sections[i].raw_size);
	return size;
}

/* Free what a section was made in, when it is in the file. */
static void
release(struct hpa_new_section *section, struct packed *packed)
{
	free(packed->own);
	packed->own = NULL;
	if (!section->own)
		return;
	free(section->own);
	section->own = NULL;
	section->raw = NULL;
}

static bool
assemble(struct hpa_new_section *sections, struct packed *packed, uint32_t n,
         uint64_t source_hash, uint64_t options_hash, uint8_t **out,
         size_t *size)
{
	size_t offsets[HPA_MAX_SECTIONS];
	uint64_t content_hash = HPA_HASH_SEED;
	uint64_t inflated_size = sum_inflated(sections, packed, n);
	uint32_t *crcs;
	uint8_t *data;

	*size = place_sections(packed, n, offsets);
	data = calloc(1, *size);
	crcs = malloc((count_pieces(*size) + 1) * sizeof(*crcs));
	if (!data || !crcs) {
		free(data);
		free(crcs);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t crc;

		copy_section(&sections[i], &packed[i], data + offsets[i], crcs,
		             &crc, &content_hash);
		put_entry(data + HPA_HEADER_SIZE + (size_t)i * HPA_ENTRY_SIZE,
		          &sections[i], &packed[i], offsets[i], crc);
		release(&sections[i], &packed[i]);
	}
	put_header(data, *size, n, content_hash, source_hash, options_hash,
	           inflated_size);
	free(crcs);
	*out = data;
	return true;
}

bool
hpa_write(struct hpa_new_section *sections, uint32_t n_sections,
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
