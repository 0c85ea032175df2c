/* hpa_write.c: sections -> the bytes of a file.
 *
 * Each section is encoded first (stored as it is, deflated in blocks, or packed
 * and then deflated, whichever is smallest), then header, table and encoded
 * sections are copied to their places and the checksums put in. Sections are
 * packed side by side, blocks deflated by all workers; so are sections copied
 * and their checksums taken, piece by piece, while one worker takes the content
 * hash, which can't be cut.
 * Nothing here depends on time, machine or locale. */
#include "formats/hpa_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "formats/hpa_pack.h"

#define ALIGN_LOG2 3u
#define ALIGN ((size_t)1 << ALIGN_LOG2)

/* Sizes within 2 % of the best that zlib does, in a third of the time. */
#define DEFLATE_LEVEL 6

/* A section above this is stored: where its blocks end is told in 32 bits. */
#define MAX_DEFLATED ((uint64_t)0xf0000000)

struct encoded {
	const uint8_t *stored;
	size_t stored_size;
	uint8_t *own; /* to be freed */
	uint8_t codec;
	size_t packed_size; /* of codec 2, before it was deflated */
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
	              blocks->raw + begin, left, DEFLATE_LEVEL) == Z_OK)
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
               const struct workers *workers, struct encoded *out)
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
	*out = (struct encoded){data, head + end, data, HPA_CODEC_ZLIB, 0};
	return true;
}

/* Deflate packed bytes, behind their size. */
static bool
deflate_packed(const uint8_t *bytes, size_t size,
               const struct workers *workers, struct encoded *out)
{
	uint8_t *data = NULL;

	if (!deflate_blocks(bytes, size, workers, out))
		return false;
	data = malloc(HPA_PACKED_BLOCKS + out->stored_size);
	if (data) {
		hpa_put_le32(data + HPA_PACKED_SIZE, (uint32_t)size);
		memcpy(data + HPA_PACKED_BLOCKS, out->own, out->stored_size);
	}
	free(out->own);
	*out = (struct encoded){data, HPA_PACKED_BLOCKS + out->stored_size,
	                        data, HPA_CODEC_PACKED, size};
	return data != NULL;
}

/* Take `other` instead of `best` if it is smaller and not too good for a reader
 * to believe; the one that is left is freed. */
static void
keep_smaller(struct encoded *best, struct encoded *other, size_t raw_size)
{
	if (other->own && other->stored_size < best->stored_size &&
	    raw_size / HPA_MAX_RATIO <= other->stored_size) {
		free(best->own);
		*best = *other;
	} else {
		free(other->own);
	}
}

/* A section's packed bytes, or NULL where it is not to be packed. */
struct packed {
	uint8_t *bytes;
	size_t size;
	bool failed; /* no memory */
};

/* Sections while they are packed. */
struct packing {
	const struct hpa_new_section *sections;
	const struct hpa_file *file;
	uint32_t n;
	struct packed *packed;
};

/* The last ones are the largest and come first. */
static void
pack_section(void *user, size_t turn)
{
	const struct packing *packing = user;
	size_t i = packing->n - 1 - turn;
	struct packed *packed = &packing->packed[i];

	if (packing->sections[i].is_hot &&
	    packing->sections[i].raw_size <= MAX_DEFLATED)
		packed->failed =
			!hpa_pack(packing->file, &packing->file->sections[i],
		                  &packed->bytes, &packed->size);
}

static bool
try_packed(struct packed *packed, size_t raw_size,
           const struct workers *workers, struct encoded *best)
{
	struct encoded other = {0};
	bool ok = true;

	if (packed->bytes && packed->size <= MAX_DEFLATED)
		ok = deflate_packed(packed->bytes, packed->size, workers,
		                    &other);
	free(packed->bytes);
	packed->bytes = NULL;
	keep_smaller(best, &other, raw_size);
	return ok && !packed->failed;
}

static bool
encode(const struct hpa_new_section *section, struct packed *packed,
       enum hpa_compress compress, const struct workers *workers,
       struct encoded *out)
{
	bool wanted = compress == HPA_COMPRESS_ALL ||
	              (compress == HPA_COMPRESS_COLD && !section->is_hot);
	struct encoded other = {0};

	*out = (struct encoded){section->raw, section->raw_size, NULL,
	                        HPA_CODEC_STORED, 0};
	if (!wanted || section->is_stored || section->raw_size > MAX_DEFLATED)
		return true;
	if (section->is_hot &&
	    !try_packed(packed, section->raw_size, workers, out))
		return false;
	if (out->codec == HPA_CODEC_PACKED)
		return true;
	if (!deflate_blocks(section->raw, section->raw_size, workers, &other))
		return false;
	keep_smaller(out, &other, section->raw_size);
	return true;
}

/* The sections as a reader would have them, which is how they are packed. */
static struct hpa_file *
as_file(const struct hpa_new_section *sections, uint32_t n)
{
	struct hpa_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->n_sections = n;
	for (uint32_t i = 0; i < n; i++) {
		struct hpa_section *section = &file->sections[i];

		memcpy(section->id, sections[i].id, 4);
		section->profile = sections[i].profile;
		section->raw = sections[i].raw;
		section->raw_size = sections[i].raw_size;
	}
	return file;
}

/* The room that a reader needs to inflate and unpack what is searched. */
static uint64_t
inflated_size(const struct hpa_new_section *sections,
              const struct encoded *encoded, uint32_t n)
{
	uint64_t size = 0;
	size_t largest = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (encoded[i].codec != HPA_CODEC_STORED && sections[i].is_hot)
			size += align_up(sections[i].raw_size);
		if (encoded[i].packed_size > largest)
			largest = encoded[i].packed_size;
	}
	return size + align_up(largest);
}

static void
put_entry(uint8_t *entry, const struct hpa_new_section *section,
          const struct encoded *encoded, size_t offset, uint32_t crc)
{
	memcpy(entry + HPA_ENT_ID, section->id, 4);
	hpa_put_le16(entry + HPA_ENT_FLAGS,
	             section->is_hot ? HPA_FLAG_CRITICAL : 0);
	entry[HPA_ENT_CODEC] = encoded->codec;
	entry[HPA_ENT_ALIGN] = ALIGN_LOG2;
	hpa_put_le64(entry + HPA_ENT_OFFSET, offset);
	hpa_put_le64(entry + HPA_ENT_STORED_SIZE, encoded->stored_size);
	hpa_put_le64(entry + HPA_ENT_RAW_SIZE, section->raw_size);
	hpa_put_le32(entry + HPA_ENT_CRC, crc);
	hpa_put_le32(entry + HPA_ENT_PROFILE, section->profile);
}

void
hpa_compressor(char out[HPA_COMPRESSOR_SIZE])
{
	memset(out, 0, HPA_COMPRESSOR_SIZE);
	snprintf(out, HPA_COMPRESSOR_SIZE, "zlib %s", zlibVersion());
}

static void
put_header(uint8_t *data, size_t size, uint32_t n_sections,
           uint64_t content_hash, uint64_t source_hash, uint64_t options_hash,
           uint64_t inflated)
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
	hpa_put_le64(data + HPA_OFF_INFLATED_SIZE, inflated);
	hpa_compressor((char *)data + HPA_OFF_COMPRESSOR);
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
	const struct encoded *encoded;
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
		                              section->profile);
		copy->hash = hpa_hash(copy->hash, section->raw,
		                      section->raw_size);
		return;
	}
	at = (turn - 1) * PIECE_SIZE;
	size = piece_size(copy->encoded->stored_size, turn - 1);
	memcpy(copy->out + at, copy->encoded->stored + at, size);
	copy->crcs[turn - 1] =
		(uint32_t)crc32_z(0, copy->encoded->stored + at, size);
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
place_sections(const struct encoded *encoded, uint32_t n, size_t *offsets)
{
	size_t size = HPA_HEADER_SIZE + (size_t)n * HPA_ENTRY_SIZE;

	for (uint32_t i = 0; i < n; i++) {
		offsets[i] = align_up(size);
		size = offsets[i] + encoded[i].stored_size;
	}
	return size;
}

/* Free what a section was made in, when it is in the file. */
static void
release(struct hpa_new_section *section, struct encoded *encoded)
{
	free(encoded->own);
	encoded->own = NULL;
	if (!section->own)
		return;
	free(section->own);
	section->own = NULL;
	section->raw = NULL;
}

static bool
assemble(struct hpa_new_section *sections, struct encoded *encoded, uint32_t n,
         uint64_t source_hash, uint64_t options_hash,
         const struct workers *workers, uint8_t **out, size_t *size)
{
	size_t offsets[HPA_MAX_SECTIONS];
	uint64_t content_hash = HPA_HASH_SEED;
	uint64_t inflated = inflated_size(sections, encoded, n);
	uint32_t *crcs;
	uint8_t *data;

	*size = place_sections(encoded, n, offsets);
	data = calloc(1, *size);
	crcs = malloc((count_pieces(*size) + 1) * sizeof(*crcs));
	if (!data || !crcs) {
		free(data);
		free(crcs);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct copy copy = {&sections[i], &encoded[i], data + offsets[i],
		                    crcs, content_hash};

		workers_run(workers, 1 + count_pieces(encoded[i].stored_size),
		            copy_piece, &copy);
		content_hash = copy.hash;
		put_entry(data + HPA_HEADER_SIZE + (size_t)i * HPA_ENTRY_SIZE,
		          &sections[i], &encoded[i], offsets[i],
		          join_crcs(crcs, encoded[i].stored_size));
		release(&sections[i], &encoded[i]);
	}
	put_header(data, *size, n, content_hash, source_hash, options_hash,
	           inflated);
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
	struct encoded encoded[HPA_MAX_SECTIONS] = {{0}};
	struct packed packed[HPA_MAX_SECTIONS] = {{0}};
	struct hpa_file *file = as_file(sections, n_sections);
	struct packing packing = {sections, file, n_sections, packed};
	bool ok = file;

	*out = NULL;
	if (ok && compress == HPA_COMPRESS_ALL)
		workers_run(workers, n_sections, pack_section, &packing);
	for (uint32_t i = 0; i < n_sections && ok; i++)
		ok = encode(&sections[i], &packed[i], compress, workers,
		            &encoded[i]);
	ok = ok && assemble(sections, encoded, n_sections, source_hash,
	                    options_hash, workers, out, size);
	for (uint32_t i = 0; i < n_sections; i++) {
		free(encoded[i].own);
		free(packed[i].bytes);
	}
	free(file);
	return ok;
}
