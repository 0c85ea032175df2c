/* hpa_read.c: bytes -> checked sections.
 *
 * The container is checked from the outside in, and nothing is used before what
 * it relies on has passed: magic, header checksum, version, sizes, the table's
 * checksum, then each entry. The rules leave a section no freedom: it begins at
 * the first multiple of its alignment behind the one before, what lies between
 * is 0, and the last one ends with the file. So no byte of a file is outside of
 * all checks, and two sections can't overlap.
 *
 * A zlib section is cut into blocks that are deflated on their own. How much it
 * inflates to is compared with what deflate can do at best (HPA_MAX_RATIO)
 * before anyone allocates by that number. A packed one is a zlib section of
 * packed bytes, which hpa_unpack.c knows; together they may do no better.
 *
 * The block reader gives zlib a piece of the caller's memory to allocate from,
 * once, when it is started; later inflateReset() is all it needs, so that a
 * query never allocates. */
#define ZLIB_CONST
#include "formats/hpa_read.h"

#include <zlib.h>

#include "formats/hpa_unpack.h"

#define MIN_HEADER_SIZE 20u /* what all versions share, and a checksum */
#define ID_SIZE 4u
#define ROOM_ALIGN 8u

/* What inflate may allocate: 40 KiB in zlib, a little more in its relatives. */
#define ARENA_SIZE 65536u

struct known_section {
	char id[ID_SIZE + 1];
	uint16_t flags;
};

static const struct known_section known_sections[] = {
	{HPA_ID_AGENTS, HPA_FLAG_CRITICAL},
	{HPA_ID_TERRAIN, HPA_FLAG_CRITICAL},
	{HPA_ID_LINKS, HPA_FLAG_CRITICAL},
	{HPA_ID_FACTS, HPA_FLAG_CRITICAL},
	{HPA_ID_CELLS, HPA_FLAG_CRITICAL},
	{HPA_ID_COMPONENTS, HPA_FLAG_CRITICAL},
	{HPA_ID_NODES, HPA_FLAG_CRITICAL},
	{HPA_ID_INTER, HPA_FLAG_CRITICAL},
	{HPA_ID_LEVELS, HPA_FLAG_CRITICAL},
	{HPA_ID_CLUSTERS, HPA_FLAG_CRITICAL},
	{HPA_ID_LINK_EDGES, HPA_FLAG_CRITICAL},
	{HPA_ID_REACH, HPA_FLAG_CRITICAL},
	{HPA_ID_LABELS, 0},
	{HPA_ID_TABLES, HPA_FLAG_CRITICAL},
	{HPA_ID_PATHS, 0},
};
#define N_KNOWN (sizeof(known_sections) / sizeof(known_sections[0]))

static hpa_status
refuse(const char **detail, const char *why)
{
	*detail = why;
	return HPA_CORRUPT;
}

static hpa_status
refuse_section(struct hpa_file *file, const struct hpa_section *section,
               const char **detail, const char *why)
{
	memcpy(file->culprit, section->id, sizeof(file->culprit));
	return refuse(detail, why);
}

static uint32_t
checksum(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

static bool
all_zero(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != 0)
			return false;
	return true;
}

static bool
is_printable(uint8_t c)
{
	return c >= 0x20 && c < 0x7f;
}

/* What holds in every version: magic, version, the header's size and, in its
 * last four bytes, its checksum. */
static hpa_status
check_version(const uint8_t *data, size_t size, const char **detail)
{
	uint32_t header_size, major;

	if (size < HPA_MAGIC_SIZE || memcmp(data, HPA_MAGIC, HPA_MAGIC_SIZE)) {
		*detail = "it does not begin with the magic bytes";
		return HPA_NOT_HPA;
	}
	if (size < MIN_HEADER_SIZE)
		return refuse(detail, "the header is cut off");
	header_size = hpa_get_le32(data + HPA_OFF_HEADER_SIZE);
	if (header_size < MIN_HEADER_SIZE || header_size > HPA_MAX_HEADER_SIZE)
		return refuse(detail, "the header's size is out of range");
	if (header_size > size)
		return refuse(detail, "the header is cut off");
	if (hpa_get_le32(data + header_size - 4) !=
	    checksum(data, header_size - 4))
		return refuse(detail, "the header's checksum is wrong");
	major = hpa_get_le16(data + HPA_OFF_MAJOR);
	if (major > HPA_MAJOR) {
		*detail = "its major version is newer than this reader";
		return HPA_TOO_NEW;
	}
	if (major != HPA_MAJOR)
		return refuse(detail, "there is no such major version");
	if (header_size != HPA_HEADER_SIZE)
		return refuse(detail,
		              "the header's size is not this version's");
	return HPA_OK;
}

/* Text, then zeros. */
static bool
read_compressor(const uint8_t *text, char *out)
{
	size_t n = 0;

	while (n < HPA_COMPRESSOR_SIZE && is_printable(text[n]))
		n++;
	memcpy(out, text, n);
	out[n] = 0;
	return all_zero(text + n, HPA_COMPRESSOR_SIZE - n);
}

static hpa_status
read_header(struct hpa_file *file, const char **detail)
{
	const uint8_t *data = file->data;
	size_t table_size;

	file->major = hpa_get_le16(data + HPA_OFF_MAJOR);
	file->minor = hpa_get_le16(data + HPA_OFF_MINOR);
	file->content_hash = hpa_get_le64(data + HPA_OFF_CONTENT_HASH);
	file->source_hash = hpa_get_le64(data + HPA_OFF_SOURCE_HASH);
	file->options_hash = hpa_get_le64(data + HPA_OFF_OPTIONS_HASH);
	file->inflated_size = hpa_get_le64(data + HPA_OFF_INFLATED_SIZE);
	file->n_sections = hpa_get_le32(data + HPA_OFF_N_SECTIONS);
	if (hpa_get_le64(data + HPA_OFF_FILE_SIZE) != file->size)
		return refuse(detail, "the file's size is not the stated one");
	if (hpa_get_le32(data + HPA_OFF_ENTRY_SIZE) != HPA_ENTRY_SIZE)
		return refuse(detail, "the size of a table entry is wrong");
	if (!read_compressor(data + HPA_OFF_COMPRESSOR, file->compressor))
		return refuse(detail, "the compressor's name is no text");
	if (file->n_sections > HPA_MAX_SECTIONS)
		return refuse(detail, "there are too many sections");
	table_size = (size_t)file->n_sections * HPA_ENTRY_SIZE;
	if (table_size > file->size - HPA_HEADER_SIZE)
		return refuse(detail, "the section table is cut off");
	if (hpa_get_le32(data + HPA_OFF_TABLE_CRC) !=
	    checksum(data + HPA_HEADER_SIZE, table_size))
		return refuse(detail, "the section table's checksum is wrong");
	return HPA_OK;
}

static hpa_status
read_id(struct hpa_file *file, uint32_t index, const uint8_t *entry,
        const char **detail)
{
	struct hpa_section *section = &file->sections[index];
	const uint8_t *id = entry + HPA_ENT_ID;

	for (uint32_t i = 0; i < ID_SIZE; i++)
		if (!is_printable(id[i]))
			return refuse(detail, "a section's id is no text");
	memcpy(section->id, id, ID_SIZE);
	section->profile = hpa_get_le32(entry + HPA_ENT_PROFILE);
	if (section->profile >= HPA_MAX_PROFILES)
		return refuse_section(file, section, detail,
		                      "a section's profile is out of range");
	for (uint32_t i = 0; i < index; i++)
		if (!memcmp(file->sections[i].id, id, ID_SIZE) &&
		    file->sections[i].profile == section->profile)
			return refuse_section(file, section, detail,
			                      "a section is there twice");
	return HPA_OK;
}

/* Place the section behind `*end`, which is then its own end. */
static hpa_status
read_place(struct hpa_file *file, struct hpa_section *section,
           const uint8_t *entry, uint64_t *end, const char **detail)
{
	uint64_t offset = hpa_get_le64(entry + HPA_ENT_OFFSET);
	uint64_t stored_size = hpa_get_le64(entry + HPA_ENT_STORED_SIZE);
	uint64_t mask;

	if (entry[HPA_ENT_ALIGN] > HPA_MAX_ALIGN)
		return refuse_section(file, section, detail,
		                      "a section's alignment is out of range");
	mask = ((uint64_t)1 << entry[HPA_ENT_ALIGN]) - 1;
	if (offset != ((*end + mask) & ~mask))
		return refuse_section(file, section, detail,
		                      "a section is not in its place");
	if (offset > file->size || stored_size > file->size - offset)
		return refuse_section(file, section, detail,
		                      "a section is cut off");
	if (!all_zero(file->data + *end, (size_t)(offset - *end)))
		return refuse_section(file, section, detail,
		                      "there is something between sections");
	section->stored = file->data + offset;
	section->stored_size = (size_t)stored_size;
	*end = offset + stored_size;
	return HPA_OK;
}

static uint32_t
block_size(const struct hpa_section *section)
{
	return hpa_get_le32(section->blocks + HPA_ZLIB_BLOCK_SIZE);
}

static uint32_t
n_blocks(const struct hpa_section *section)
{
	return hpa_get_le32(section->blocks + HPA_ZLIB_N_BLOCKS);
}

/* What a block inflates to: all but the last are whole. */
static uint32_t
block_raw_size(const struct hpa_section *section, uint32_t index)
{
	uint32_t whole = block_size(section);
	size_t left = section->inflated_size - (size_t)index * whole;

	return left < whole ? (uint32_t)left : whole;
}

/* The bytes of the blocks and their list. */
static size_t
blocks_size(const struct hpa_section *section)
{
	return section->stored_size -
	       (size_t)(section->blocks - section->stored);
}

/* Where the blocks end, and that none inflates to more than is possible. */
static bool
blocks_are_sane(const struct hpa_section *section)
{
	const uint8_t *ends = section->blocks + HPA_ZLIB_ENDS;
	uint32_t n = n_blocks(section), begin = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = hpa_get_u32(ends, i);

		if (end <= begin ||
		    block_raw_size(section, i) >
		            (uint64_t)HPA_MAX_RATIO * (end - begin))
			return false;
		begin = end;
	}
	return begin == blocks_size(section) - HPA_ZLIB_ENDS - 4 * (size_t)n;
}

/* The blocks at section->blocks, which are to inflate to `size` bytes. */
static hpa_status
check_blocks(struct hpa_file *file, struct hpa_section *section, uint64_t size,
             const char **detail)
{
	uint32_t whole;

	if (blocks_size(section) < HPA_ZLIB_ENDS)
		return refuse_section(file, section, detail,
		                      "a section's list of blocks is cut off");
	whole = block_size(section);
	if (whole < HPA_MIN_BLOCK_SIZE || whole > HPA_BLOCK_SIZE ||
	    (whole & (whole - 1)) != 0)
		return refuse_section(file, section, detail,
		                      "a section's block size is out of range");
	if (n_blocks(section) != size / whole + (size % whole != 0))
		return refuse_section(file, section, detail,
		                      "a section's number of blocks is wrong");
	if (n_blocks(section) > (blocks_size(section) - HPA_ZLIB_ENDS) / 4)
		return refuse_section(file, section, detail,
		                      "a section's list of blocks is cut off");
	section->inflated_size = (size_t)size;
	if (section->inflated_size != size)
		return HPA_NO_MEMORY;
	if (!blocks_are_sane(section))
		return refuse_section(
			file, section, detail,
			"a section's blocks do not fit its sizes");
	return HPA_OK;
}

static hpa_status
check_zlib(struct hpa_file *file, struct hpa_section *section,
           uint64_t raw_size, const char **detail)
{
	hpa_status st;

	section->blocks = section->stored;
	st = check_blocks(file, section, raw_size, detail);
	section->raw_size = section->inflated_size;
	return st;
}

static bool
can_be_packed(const struct hpa_section *section)
{
	for (uint32_t i = 0; i < HPA_N_PACKED; i++)
		if (!memcmp(section->id, hpa_packed_ids[i], ID_SIZE))
			return true;
	return false;
}

static hpa_status
check_packed(struct hpa_file *file, struct hpa_section *section,
             uint64_t raw_size, const char **detail)
{
	if (!can_be_packed(section))
		return refuse_section(file, section, detail,
		                      "a section can't be packed");
	if (section->stored_size < HPA_PACKED_BLOCKS)
		return refuse_section(file, section, detail,
		                      "a section's packed size is cut off");
	if (raw_size / HPA_MAX_RATIO > section->stored_size)
		return refuse_section(file, section, detail,
		                      "a section is packed too well");
	section->raw_size = (size_t)raw_size;
	if (section->raw_size != raw_size)
		return HPA_NO_MEMORY;
	section->blocks = section->stored + HPA_PACKED_BLOCKS;
	return check_blocks(file, section,
	                    hpa_get_le32(section->stored + HPA_PACKED_SIZE),
	                    detail);
}

static hpa_status
read_codec(struct hpa_file *file, struct hpa_section *section,
           const uint8_t *entry, const char **detail)
{
	uint64_t raw_size = hpa_get_le64(entry + HPA_ENT_RAW_SIZE);

	section->codec = entry[HPA_ENT_CODEC];
	/* Without bytes to search in there would be no place to inflate to. */
	if (section->codec != HPA_CODEC_STORED && raw_size == 0 &&
	    (section->flags & HPA_FLAG_CRITICAL))
		return refuse_section(file, section, detail,
		                      "an empty section is not stored");
	switch (section->codec) {
	case HPA_CODEC_STORED:
		if (raw_size != section->stored_size)
			return refuse_section(file, section, detail,
			                      "a stored section has two sizes");
		section->raw_size = section->stored_size;
		section->raw = section->stored;
		return HPA_OK;
	case HPA_CODEC_ZLIB:
		return check_zlib(file, section, raw_size, detail);
	case HPA_CODEC_PACKED:
		return check_packed(file, section, raw_size, detail);
	default:
		return refuse_section(file, section, detail,
		                      "a section's codec is unknown");
	}
}

static hpa_status
read_entry(struct hpa_file *file, uint32_t index, uint64_t *end,
           const char **detail)
{
	const uint8_t *entry =
		file->data + HPA_HEADER_SIZE + (size_t)index * HPA_ENTRY_SIZE;
	struct hpa_section *section = &file->sections[index];
	hpa_status st = read_id(file, index, entry, detail);

	if (st != HPA_OK)
		return st;
	section->flags = hpa_get_le16(entry + HPA_ENT_FLAGS);
	if ((section->flags & ~HPA_FLAG_CRITICAL) != 0)
		return refuse_section(file, section, detail,
		                      "a section's reserved bits are not 0");
	st = read_place(file, section, entry, end, detail);
	if (st == HPA_OK)
		st = read_codec(file, section, entry, detail);
	return st;
}

static uint64_t
align_room(uint64_t size)
{
	return (size + ROOM_ALIGN - 1) & ~(uint64_t)(ROOM_ALIGN - 1);
}

/* The room that inflating it takes; only what is searched in place is inflated
 * as a whole. */
static uint64_t
room_for(const struct hpa_section *section)
{
	if (section->codec == HPA_CODEC_STORED ||
	    !(section->flags & HPA_FLAG_CRITICAL))
		return 0;
	return align_room(section->raw_size);
}

/* The room for the packed bytes of a section, which is needed for one of them
 * at a time. */
static uint64_t
room_to_unpack(const struct hpa_section *section)
{
	return section->codec == HPA_CODEC_PACKED
	               ? align_room(section->inflated_size)
	               : 0;
}

static hpa_status
read_table(struct hpa_file *file, const char **detail)
{
	uint64_t end = HPA_HEADER_SIZE;
	uint64_t room = 0, to_unpack = 0;
	hpa_status st = HPA_OK;

	end += (uint64_t)file->n_sections * HPA_ENTRY_SIZE;
	for (uint32_t i = 0; i < file->n_sections && st == HPA_OK; i++) {
		st = read_entry(file, i, &end, detail);
		room += room_for(&file->sections[i]);
		if (to_unpack < room_to_unpack(&file->sections[i]))
			to_unpack = room_to_unpack(&file->sections[i]);
	}
	if (st != HPA_OK)
		return st;
	if (end != file->size)
		return refuse(detail, "there is something behind the sections");
	if (room + to_unpack != file->inflated_size)
		return refuse(detail,
		              "the inflated size is not the stated one");
	return HPA_OK;
}

static hpa_status
check_sums(struct hpa_file *file, const char **detail)
{
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];
		const uint8_t *entry = file->data + HPA_HEADER_SIZE +
		                       (size_t)i * HPA_ENTRY_SIZE;

		if (hpa_get_le32(entry + HPA_ENT_CRC) !=
		    checksum(section->stored, section->stored_size))
			return refuse_section(file, section, detail,
			                      "a section's checksum is wrong");
	}
	return HPA_OK;
}

/* NULL: it is unknown. */
static const struct known_section *
find_known(const struct hpa_section *section)
{
	for (size_t i = 0; i < N_KNOWN; i++)
		if (!memcmp(known_sections[i].id, section->id, ID_SIZE))
			return &known_sections[i];
	return NULL;
}

static hpa_status
check_flags(struct hpa_file *file, const char **detail)
{
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];
		const struct known_section *known = find_known(section);

		if (known && known->flags != section->flags)
			return refuse_section(file, section, detail,
			                      "a section's flags are wrong");
	}
	return HPA_OK;
}

static hpa_status
check_unknown(struct hpa_file *file, const char **detail)
{
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];

		if (find_known(section) ||
		    !(section->flags & HPA_FLAG_CRITICAL))
			continue;
		refuse_section(file, section, detail,
		               "a critical section is unknown");
		return HPA_TOO_NEW;
	}
	return HPA_OK;
}

hpa_status
hpa_file_read(const uint8_t *data, size_t size, bool deep, struct hpa_file *out,
              const char **detail)
{
	hpa_status st = check_version(data, size, detail);

	*out = (struct hpa_file){.data = data, .size = size};
	if (st == HPA_OK)
		st = read_header(out, detail);
	if (st == HPA_OK)
		st = read_table(out, detail);
	if (st == HPA_OK && deep)
		st = check_sums(out, detail);
	if (st == HPA_OK)
		st = check_flags(out, detail);
	/* Last, so that what is called too new is intact as far as one can tell
	 * without what is unknown. */
	if (st == HPA_OK)
		st = check_unknown(out, detail);
	return st;
}

const struct hpa_section *
hpa_file_find(const struct hpa_file *file, const char *id, uint32_t profile)
{
	const struct hpa_section *best = NULL;

	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];

		if (!memcmp(section->id, id, ID_SIZE) &&
		    section->profile <= profile &&
		    (!best || section->profile > best->profile))
			best = section;
	}
	return best;
}

uint32_t
hpa_file_profiles(const struct hpa_file *file)
{
	const struct hpa_section *agents =
		hpa_file_find(file, HPA_ID_AGENTS, 0);
	size_t n = agents ? agents->raw_size / HPA_AGENT_SIZE : 0;

	if (n > HPA_MAX_PROFILES)
		n = HPA_MAX_PROFILES;
	return n ? (uint32_t)n : 1;
}

/* Inflate one block to exactly its raw size. */
static bool
inflate_block(z_stream *stream, const struct hpa_section *section,
              uint32_t index, uint8_t *out)
{
	const uint8_t *ends = section->blocks + HPA_ZLIB_ENDS;
	const uint8_t *first = ends + 4 * (size_t)n_blocks(section);
	uint32_t begin = index ? hpa_get_u32(ends, index - 1) : 0;

	if (inflateReset(stream) != Z_OK)
		return false;
	stream->next_in = first + begin;
	stream->avail_in = hpa_get_u32(ends, index) - begin;
	stream->next_out = out;
	stream->avail_out = block_raw_size(section, index);
	return inflate(stream, Z_FINISH) == Z_STREAM_END &&
	       stream->avail_in == 0 && stream->avail_out == 0;
}

static bool
inflate_section(z_stream *stream, const struct hpa_section *section,
                uint8_t *out)
{
	uint32_t n = n_blocks(section);

	for (uint32_t i = 0; i < n; i++) {
		if (!inflate_block(stream, section, i, out))
			return false;
		out += block_raw_size(section, i);
	}
	return true;
}

/* Inflate what is not packed; a packed section gets only its place. The room
 * that is left is for unpacking. */
static hpa_status
inflate_all(struct hpa_file *file, z_stream *stream, uint8_t *room,
            uint8_t **places, uint8_t **left, const char **detail)
{
	for (uint32_t i = 0; i < file->n_sections; i++) {
		struct hpa_section *section = &file->sections[i];
		size_t size = (size_t)room_for(section);

		places[i] = room;
		room += size;
		if (size == 0 || section->codec == HPA_CODEC_PACKED)
			continue;
		if (!inflate_section(stream, section, places[i]))
			return refuse_section(file, section, detail,
			                      "a section does not inflate");
		section->raw = places[i];
	}
	*left = room;
	return HPA_OK;
}

/* Unpack the sections of an id, those of earlier profiles first. */
static hpa_status
unpack_id(struct hpa_file *file, const char *id, z_stream *stream,
          uint8_t **places, uint8_t *packed, const char **detail)
{
	for (uint32_t p = 0; p < HPA_MAX_PROFILES; p++) {
		for (uint32_t i = 0; i < file->n_sections; i++) {
			struct hpa_section *section = &file->sections[i];

			if (section->codec != HPA_CODEC_PACKED ||
			    section->profile != p || strcmp(section->id, id))
				continue;
			if (!inflate_section(stream, section, packed) ||
			    !hpa_unpack(file, section, packed,
			                section->inflated_size, places[i]))
				return refuse_section(
					file, section, detail,
					"a section does not unpack");
			section->raw = places[i];
		}
	}
	return HPA_OK;
}

hpa_status
hpa_file_inflate(struct hpa_file *file, uint8_t *room, const char **detail)
{
	uint8_t *places[HPA_MAX_SECTIONS];
	z_stream stream = {0};
	uint8_t *left;
	hpa_status st;

	if (file->inflated_size == 0)
		return HPA_OK;
	if (inflateInit(&stream) != Z_OK)
		return HPA_NO_MEMORY;
	st = inflate_all(file, &stream, room, places, &left, detail);
	for (uint32_t i = 0; i < HPA_N_PACKED && st == HPA_OK; i++)
		st = unpack_id(file, hpa_packed_ids[i], &stream, places, left,
		               detail);
	inflateEnd(&stream);
	return st;
}

/* What a block reader keeps in its room, followed by the block. */
struct inflater {
	z_stream stream;
	size_t used; /* of the arena */
	uint64_t arena[ARENA_SIZE / sizeof(uint64_t)];
};

static voidpf
arena_alloc(voidpf opaque, uInt n, uInt size)
{
	struct inflater *inflater = opaque;
	uint64_t n_bytes = (uint64_t)n * size;
	uint64_t n_words =
		n_bytes / sizeof(uint64_t) + (n_bytes % sizeof(uint64_t) != 0);
	void *memory;

	if (n_words > ARENA_SIZE / sizeof(uint64_t) - inflater->used)
		return Z_NULL;
	memory = inflater->arena + inflater->used;
	inflater->used += (size_t)n_words;
	return memory;
}

/* The arena goes as a whole, with the room. */
static void
arena_free(voidpf opaque, voidpf memory)
{
	(void)opaque;
	(void)memory;
}

size_t
hpa_blocks_size(const struct hpa_section *section)
{
	return section->raw ? 0 : sizeof(struct inflater) + HPA_BLOCK_SIZE;
}

hpa_status
hpa_blocks_init(struct hpa_blocks *blocks, const struct hpa_section *section,
                uint8_t *room)
{
	struct inflater *inflater = (void *)room;

	*blocks = (struct hpa_blocks){.section = section, .loaded = HPA_NONE};
	if (section->raw)
		return HPA_OK;
	inflater->stream = (z_stream){
		.zalloc = arena_alloc, .zfree = arena_free, .opaque = inflater};
	inflater->used = 0;
	blocks->stream = &inflater->stream;
	blocks->block = room + sizeof(*inflater);
	return inflateInit(&inflater->stream) == Z_OK ? HPA_OK : HPA_NO_MEMORY;
}

static bool
load_block(struct hpa_blocks *blocks, uint32_t index)
{
	if (blocks->loaded == index)
		return true;
	blocks->loaded = HPA_NONE;
	if (!inflate_block(blocks->stream, blocks->section, index,
	                   blocks->block))
		return false;
	blocks->loaded = index;
	return true;
}

static bool
copy_blocks(struct hpa_blocks *blocks, size_t offset, uint8_t *out, size_t size)
{
	size_t whole = block_size(blocks->section);

	while (size > 0) {
		size_t at = offset % whole;
		size_t part = size < whole - at ? size : whole - at;

		if (!load_block(blocks, (uint32_t)(offset / whole)))
			return false;
		memcpy(out, blocks->block + at, part);
		offset += part;
		out += part;
		size -= part;
	}
	return true;
}

bool
hpa_blocks_read(struct hpa_blocks *blocks, size_t offset, uint8_t *out,
                size_t size)
{
	const struct hpa_section *section = blocks->section;

	if (offset > section->raw_size || size > section->raw_size - offset)
		return false;
	if (!section->raw)
		return copy_blocks(blocks, offset, out, size);
	if (size > 0)
		memcpy(out, section->raw + offset, size);
	return true;
}

/* Continue the hash over the raw bytes of a section, without their count. A block
 * that is not the last one has a multiple of 8 bytes. */
static bool
hash_blocks(struct hpa_blocks *blocks, uint64_t *hash)
{
	const struct hpa_section *section = blocks->section;
	uint32_t n = n_blocks(section);

	for (uint32_t i = 0; i < n; i++) {
		if (!load_block(blocks, i))
			return false;
		*hash = hpa_hash_words(*hash, blocks->block,
		                       block_raw_size(section, i));
	}
	return true;
}

static hpa_status
hash_section(struct hpa_file *file, const struct hpa_section *section,
             uint8_t *room, uint64_t *hash, const char **detail)
{
	struct hpa_blocks blocks;
	hpa_status st;

	*hash = hpa_hash_section(*hash, section->id, section->profile);
	if (section->raw) {
		*hash = hpa_hash(*hash, section->raw, section->raw_size);
		return HPA_OK;
	}
	st = hpa_blocks_init(&blocks, section, room);
	if (st != HPA_OK)
		return st;
	if (!hash_blocks(&blocks, hash))
		return refuse_section(file, section, detail,
		                      "a section does not inflate");
	*hash = hpa_hash_mix(*hash, section->raw_size);
	return HPA_OK;
}

size_t
hpa_file_content_room(const struct hpa_file *file)
{
	size_t most = 0;

	for (uint32_t i = 0; i < file->n_sections; i++) {
		size_t size = hpa_blocks_size(&file->sections[i]);

		most = size > most ? size : most;
	}
	return most;
}

hpa_status
hpa_file_check_content(struct hpa_file *file, uint8_t *room,
                       const char **detail)
{
	uint64_t hash = HPA_HASH_SEED;
	hpa_status st = HPA_OK;

	for (uint32_t i = 0; i < file->n_sections && st == HPA_OK; i++)
		st = hash_section(file, &file->sections[i], room, &hash,
		                  detail);
	if (st == HPA_OK && hash != file->content_hash)
		st = refuse(detail, "the content hash is not the stated one");
	return st;
}
