/* image.c: a baked file in memory, to be damaged. */
#include "tests/image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/hpa_pack.h"
#include "formats/hpa_read.h"

/* A zlib stream of one block that is stored as it is: two bytes of zlib's, the
 * block's kind and, twice, its size; then the bytes and their Adler-32. */
#define LOOSE_HEAD 7u
#define LOOSE_TAIL 4u
#define LOOSE_MAX 65535u

static void *
must_have(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct image
image_cut(const struct image *image, size_t size)
{
	struct image copy = {must_have(malloc(size ? size : 1)), size};

	memcpy(copy.data, image->data, size);
	return copy;
}

struct image
image_copy(const struct image *image)
{
	return image_cut(image, image->size);
}

uint8_t *
image_entry(const struct image *image, uint32_t index)
{
	return image->data + HPA_HEADER_SIZE + (size_t)index * HPA_ENTRY_SIZE;
}

static int
lies_inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

uint32_t
image_n_sections(const struct image *image)
{
	uint32_t n;

	if (image->size < HPA_HEADER_SIZE)
		return 0;
	n = hpa_get_le32(image->data + HPA_OFF_N_SECTIONS);
	if (n > HPA_MAX_SECTIONS)
		n = HPA_MAX_SECTIONS;
	while (n > 0 && !lies_inside(image, HPA_HEADER_SIZE,
	                             n * (uint64_t)HPA_ENTRY_SIZE))
		n--;
	return n;
}

uint8_t *
image_find(const struct image *image, const char *id)
{
	uint32_t n = image_n_sections(image);

	for (uint32_t i = 0; i < n; i++)
		if (!memcmp(image_entry(image, i) + HPA_ENT_ID, id, 4))
			return image_entry(image, i);
	return NULL;
}

static uint32_t
crc(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

/* The blocks of a section that lies inside, or NULL. */
static uint8_t *
blocks_of(const struct image *image, const uint8_t *entry, size_t *size)
{
	size_t head = entry[HPA_ENT_CODEC] == HPA_CODEC_PACKED
	                      ? HPA_PACKED_BLOCKS
	                      : 0;

	*size = (size_t)hpa_get_le64(entry + HPA_ENT_STORED_SIZE);
	if (entry[HPA_ENT_CODEC] == HPA_CODEC_STORED || *size < head)
		return NULL;
	*size -= head;
	return image->data + hpa_get_le64(entry + HPA_ENT_OFFSET) + head;
}

/* Put right the Adler-32 of a section that is one loose block. */
static void
seal_loose(const struct image *image, const uint8_t *entry)
{
	const size_t begin = HPA_ZLIB_ENDS + 4;
	size_t size, n;
	uint8_t *blocks = blocks_of(image, entry, &size);

	if (!blocks || size < begin + LOOSE_HEAD + LOOSE_TAIL ||
	    hpa_get_le32(blocks + HPA_ZLIB_N_BLOCKS) != 1 ||
	    memcmp(blocks + begin, "\x78\x01\x01", 3))
		return;
	n = hpa_get_le16(blocks + begin + 3);
	if (n != size - begin - LOOSE_HEAD - LOOSE_TAIL)
		return;
	blocks += begin + LOOSE_HEAD;
	n = adler32_z(1, blocks, n);
	for (unsigned i = 0; i < 4; i++)
		blocks[size - begin - LOOSE_HEAD - LOOSE_TAIL + i] =
			(uint8_t)(n >> (24 - 8 * i));
}

static void
seal_section(const struct image *image, uint8_t *entry)
{
	uint64_t offset = hpa_get_le64(entry + HPA_ENT_OFFSET);
	uint64_t size = hpa_get_le64(entry + HPA_ENT_STORED_SIZE);

	if (!lies_inside(image, offset, size))
		return;
	seal_loose(image, entry);
	hpa_put_le32(entry + HPA_ENT_CRC,
	             crc(image->data + offset, (size_t)size));
}

void
image_seal_header(const struct image *image)
{
	uint32_t size;

	if (image->size < HPA_OFF_FILE_SIZE)
		return;
	size = hpa_get_le32(image->data + HPA_OFF_HEADER_SIZE);
	if (size > HPA_OFF_FILE_SIZE && size <= image->size)
		hpa_put_le32(image->data + size - 4,
		             crc(image->data, size - 4));
}

void
image_seal_table(const struct image *image)
{
	uint32_t n = image_n_sections(image);

	if (image->size >= HPA_HEADER_SIZE)
		hpa_put_le32(
			image->data + HPA_OFF_TABLE_CRC,
			crc(image_entry(image, 0), (size_t)n * HPA_ENTRY_SIZE));
	image_seal_header(image);
}

void
image_seal_sums(const struct image *image)
{
	uint32_t n = image_n_sections(image);

	for (uint32_t i = 0; i < n; i++)
		seal_section(image, image_entry(image, i));
	image_seal_table(image);
}

/* The raw bytes of a section that is not searched in place, or NULL. */
static uint8_t *
inflate_cold(const struct hpa_section *section)
{
	uint8_t *room = must_have(malloc(hpa_blocks_size(section)));
	uint8_t *raw = must_have(malloc(section->raw_size + 1));
	struct hpa_blocks blocks;

	if (hpa_blocks_init(&blocks, section, room) != HPA_OK)
		abort();
	if (!hpa_blocks_read(&blocks, 0, raw, section->raw_size)) {
		free(raw);
		raw = NULL;
	}
	free(room);
	return raw;
}

static int
hash_content(const struct hpa_file *file, uint64_t *hash)
{
	*hash = HPA_HASH_SEED;
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];
		const uint8_t *raw = section->raw;
		uint8_t *own = raw ? NULL : inflate_cold(section);

		if (!raw && !own)
			return 0;
		*hash = hpa_hash_section(*hash, section->id, section->profile);
		*hash = hpa_hash(*hash, raw ? raw : own, section->raw_size);
		free(own);
	}
	return 1;
}

void
image_seal(const struct image *image)
{
	const char *detail = NULL;
	struct hpa_file file;
	uint64_t hash;
	uint8_t *room;

	image_seal_sums(image);
	if (hpa_file_read(image->data, image->size, false, &file, &detail) !=
	    HPA_OK)
		return;
	room = must_have(malloc((size_t)file.inflated_size + 1));
	if (hpa_file_inflate(&file, room, &detail) == HPA_OK &&
	    hash_content(&file, &hash)) {
		hpa_put_le64(image->data + HPA_OFF_CONTENT_HASH, hash);
		image_seal_header(image);
	}
	free(room);
}

/* Append bytes as one loose block; returns what it takes. */
static size_t
put_loose(const uint8_t *bytes, size_t n, uint8_t *out)
{
	uint8_t *loose = out + HPA_ZLIB_ENDS + 4;

	if (n == 0 || n > LOOSE_MAX)
		abort();
	hpa_put_le32(out + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
	hpa_put_le32(out + HPA_ZLIB_N_BLOCKS, 1);
	hpa_put_le32(out + HPA_ZLIB_ENDS,
	             (uint32_t)n + LOOSE_HEAD + LOOSE_TAIL);
	memcpy(loose, "\x78\x01\x01", 3);
	hpa_put_le16(loose + 3, (uint16_t)n);
	hpa_put_le16(loose + 5, (uint16_t)~n);
	memcpy(loose + LOOSE_HEAD, bytes, n);
	return HPA_ZLIB_ENDS + 4 + LOOSE_HEAD + n + LOOSE_TAIL;
}

/* A file that is being packed. */
struct packing {
	struct image image;
	uint64_t room, most; /* see the inflated size of the header */
};

static uint64_t
align8(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

/* Write a section's bytes; returns what they take. */
static size_t
put_section(const struct hpa_file *file, const struct hpa_section *section,
            struct packing *packing, uint8_t *codec, uint8_t *out)
{
	uint8_t *packed = NULL;
	size_t size = 0;

	if (!hpa_pack(file, section, &packed, &size))
		abort();
	*codec = HPA_CODEC_STORED;
	if (packed && size > 0) {
		*codec = HPA_CODEC_PACKED;
		hpa_put_le32(out + HPA_PACKED_SIZE, (uint32_t)size);
		if (packing->most < align8(size))
			packing->most = align8(size);
		size = HPA_PACKED_BLOCKS +
		       put_loose(packed, size, out + HPA_PACKED_BLOCKS);
	} else if (section->raw_size > 0) {
		*codec = HPA_CODEC_ZLIB;
		size = put_loose(section->raw, section->raw_size, out);
	}
	if (*codec != HPA_CODEC_STORED && section->flags & HPA_FLAG_CRITICAL)
		packing->room += align8(section->raw_size);
	free(packed);
	return size;
}

static void
append_section(const struct hpa_file *file, uint32_t index,
               struct packing *packing)
{
	struct image *image = &packing->image;
	uint8_t *entry = image_entry(image, index);
	size_t at = (size_t)align8(image->size);

	memset(image->data + image->size, 0, at - image->size);
	image->size = at + put_section(file, &file->sections[index], packing,
	                               entry + HPA_ENT_CODEC, image->data + at);
	hpa_put_le64(entry + HPA_ENT_OFFSET, at);
	hpa_put_le64(entry + HPA_ENT_STORED_SIZE, image->size - at);
}

struct image
image_pack(const struct image *stored)
{
	uint32_t n = image_n_sections(stored);
	struct packing packing = {.room = 0};
	const char *detail = NULL;
	struct hpa_file file;
	struct image exact;

	if (hpa_file_read(stored->data, stored->size, true, &file, &detail))
		abort();
	packing.image.data =
		must_have(malloc(stored->size + n * (LOOSE_MAX + 64u)));
	packing.image.size = HPA_HEADER_SIZE + (size_t)n * HPA_ENTRY_SIZE;
	memcpy(packing.image.data, stored->data, packing.image.size);
	for (uint32_t i = 0; i < n; i++)
		append_section(&file, i, &packing);
	hpa_put_le64(packing.image.data + HPA_OFF_FILE_SIZE,
	             packing.image.size);
	hpa_put_le64(packing.image.data + HPA_OFF_INFLATED_SIZE,
	             packing.room + packing.most);
	image_seal(&packing.image);
	exact = image_copy(&packing.image);
	free(packing.image.data);
	return exact;
}
