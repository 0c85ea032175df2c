/* hpa_write.c: sections -> the bytes of a file.
 *
 * Each section is packed first (stored as it is, or deflated in blocks), then
 * header, table and packed sections are copied to their places and the
 * checksums put in. Blocks are deflated by all workers; so are sections copied
 * and their checksums taken, piece by piece, while one worker takes the content
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

/* A section while it is deflated: block i goes to where it begins if those
 * before it take the most they may. */
struct blocks {
	const uint8_t *raw;
	size_t raw_size, bound;
	uint8_t *out;
	size_t *sizes; /* 0: could not be deflated */
};

static void
deflate_block(void *user, size_t i)
{
	struct blocks *blocks = user;
	size_t begin = i * HPA_BLOCK_SIZE;
	size_t left = blocks->raw_size - begin;
	uLongf size = blocks->bound;

	if (left > HPA_BLOCK_SIZE)
		left = HPA_BLOCK_SIZE;
	if (compress2(blocks->out + i * blocks->bound, &size,
	              blocks->raw + begin, left, Z_BEST_COMPRESSION) == Z_OK)
		blocks->sizes[i] = size;
}

/* Move the blocks together and say where they end; false if one is missing. */
static bool
close_up(const struct blocks *blocks, size_t n_blocks, uint8_t *ends,
         size_t *end)
{
	*end = 0;
	for (size_t i = 0; i < n_blocks; i++) {
		if (blocks->sizes[i] == 0)
			return false;
		memmove(blocks->out + *end, blocks->out + i * blocks->bound,
		        blocks->sizes[i]);
		*end += blocks->sizes[i];
		hpa_put_le32(ends + 4 * i, (uint32_t)*end);
	}
	return true;
}

/* Deflate into blocks that can be inflated one by one. */
static bool
deflate_blocks(const uint8_t *raw, size_t raw_size,
               const struct workers *workers, struct packed *out)
{
	size_t n_blocks = (raw_size + HPA_BLOCK_SIZE - 1) / HPA_BLOCK_SIZE;
	size_t head = HPA_ZLIB_ENDS + 4 * n_blocks;
	size_t bound = compressBound(HPA_BLOCK_SIZE);
	uint8_t *data = calloc(1, head + n_blocks * bound);
	size_t *sizes = calloc(n_blocks + 1, sizeof(*sizes));
	size_t end = 0;
	bool ok = data && sizes;

	if (ok) {
		struct blocks blocks = {raw, raw_size, bound, data + head,
		                        sizes};

		hpa_put_le32(data + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
		hpa_put_le32(data + HPA_ZLIB_N_BLOCKS, (uint32_t)n_blocks);
		workers_run(workers, n_blocks, deflate_block, &blocks);
		ok = close_up(&blocks, n_blocks, data + HPA_ZLIB_ENDS, &end);
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
     const struct workers *workers, struct packed *out)
{
	bool wanted = compress == HPA_COMPRESS_ALL ||
	              (compress == HPA_COMPRESS_COLD && !section->is_hot);

	wanted = wanted && section->raw_size <= MAX_DEFLATED;
	if (wanted && !deflate_blocks(section->raw, section->raw_size, workers,
	                              out))
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

struct copy {
	const struct hpa_new_section *section;
	const struct packed *packed;
	uint8_t *out;
	uint32_t *crcs; /* of the pieces */
	uint64_t hash;  /* of what came before, then with this section */
};

static size_t
count_pieces(size_t size)
{
	return (size + PIECE_SIZE - 1) / PIECE_SIZE;
}

static size_t
piece_size(size_t size, size_t i)
{
	size_t left = size - i * PIECE_SIZE;

	return left < PIECE_SIZE ? left : PIECE_SIZE;
}

/* The first turn, the longest, is the hash; the others copy a piece each. */
static void
copy_piece(void *user, size_t turn)
{
	struct copy *copy = user;
	const struct hpa_new_section *section = copy->section;
	size_t at, size;

	if (turn == 0) {
		copy->hash = hpa_hash_section(copy->hash, section->id,
		                              section->profile, section->raw,
		                              section->raw_size);
		return;
	}
	at = (turn - 1) * PIECE_SIZE;
	size = piece_size(copy->packed->stored_size, turn - 1);
	memcpy(copy->out + at, copy->packed->stored + at, size);
	copy->crcs[turn - 1] =
		(uint32_t)crc32_z(0, copy->packed->stored + at, size);
}

/* The checksum of all from those of the pieces. */
static uint32_t
join_crcs(const uint32_t *crcs, size_t size)
{
	uLong crc = crc32_z(0, NULL, 0);
	size_t n = count_pieces(size);

	for (size_t i = 0; i < n; i++)
		crc = crc32_combine(crc, crcs[i],
		                    (z_off_t)piece_size(size, i));
	return (uint32_t)crc;
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
         uint64_t source_hash, uint64_t options_hash,
         const struct workers *workers, uint8_t **out, size_t *size)
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
		struct copy copy = {&sections[i], &packed[i], data + offsets[i],
		                    crcs, content_hash};

		workers_run(workers, 1 + count_pieces(packed[i].stored_size),
		            copy_piece, &copy);
		content_hash = copy.hash;
		put_entry(data + HPA_HEADER_SIZE + (size_t)i * HPA_ENTRY_SIZE,
		          &sections[i], &packed[i], offsets[i],
		          join_crcs(crcs, packed[i].stored_size));
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
          uint64_t options_hash, const struct workers *workers, uint8_t **out,
          size_t *size)
{
	struct packed packed[HPA_MAX_SECTIONS] = {{0}};
	bool ok = true;

	*out = NULL;
	for (uint32_t i = 0; i < n_sections && ok; i++)
		ok = pack(&sections[i], compress, workers, &packed[i]);
	ok = ok && assemble(sections, packed, n_sections, source_hash,
	                    options_hash, workers, out, size);
	for (uint32_t i = 0; i < n_sections; i++)
		free(packed[i].own);
	return ok;
}
