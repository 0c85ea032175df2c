/* test_blocks.c: sections that are deflated in blocks, and what is refused of
 * them.
 *
 * The container knows no more of them than their sizes, so that one of any content
 * will do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "formats/hpa_read.h"
#include "formats/hpa_write.h"
#include "hpa.h"
#include "tests/baked.h"
#include "tests/refusals.h"
#include "tests/subjects.h"
#include "tests/support.h"

static struct image
write_blob(const uint8_t *raw, size_t size)
{
	struct hpa_new_section section = {"blob", 0,    false, raw,
	                                  size,   NULL, false};
	struct image image;

	assert_true(hpa_write(&section, 1, HPA_COMPRESS_COLD, 1, 2, NULL,
	                      &image.data, &image.size));
	return image;
}

static void
fill_blob(struct rng *rng, uint8_t *raw, size_t size)
{
	for (size_t i = 0; i < size; i++)
		raw[i] = (uint8_t)rng_below(rng, 3);
}

static void
blocks_give_back_any_stretch(void **state)
{
	enum { SIZE = 3 * HPA_BLOCK_SIZE + 1234, MAX_STRETCH = 100000 };
	static uint8_t raw[SIZE], out[MAX_STRETCH];
	struct rng rng = {test_seed()};
	const char *detail = NULL;
	struct hpa_blocks blocks;
	struct hpa_file file;
	struct image image;
	uint8_t *room;

	(void)state;
	fill_blob(&rng, raw, SIZE);
	image = write_blob(raw, SIZE);
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	assert_int_equal(file.sections[0].codec, HPA_CODEC_ZLIB);
	room = malloc(hpa_blocks_size(&file.sections[0]));
	assert_non_null(room);
	assert_int_equal(hpa_blocks_init(&blocks, &file.sections[0], room),
	                 HPA_OK);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t offset = rng_below(&rng, SIZE + 1);
		uint32_t size = rng_below(&rng, MAX_STRETCH);
		bool fits = size <= SIZE - offset;

		assert_int_equal(hpa_blocks_read(&blocks, offset, out, size),
		                 fits);
		if (fits && size > 0)
			assert_memory_equal(out, raw + offset, size);
	}
	assert_true(hpa_blocks_read(&blocks, SIZE, out, 0));
	assert_false(hpa_blocks_read(&blocks, SIZE, out, 1));
	assert_false(hpa_blocks_read(&blocks, SIZE_MAX, out, 2));
	free(room);
	free(image.data);
}

static void
a_damaged_block_is_noticed_and_the_others_are_read(void **state)
{
	enum { SIZE = 2 * HPA_BLOCK_SIZE };
	static uint8_t raw[SIZE];
	struct rng rng = {test_seed()};
	const char *detail = NULL;
	struct hpa_blocks blocks;
	struct hpa_file file;
	struct image image;
	uint8_t *room, byte;

	(void)state;
	fill_blob(&rng, raw, SIZE);
	image = write_blob(raw, SIZE);
	image.data[image.size - 1] ^= 1; /* the second block's own checksum */
	image_seal(&image);
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	room = malloc(hpa_blocks_size(&file.sections[0]));
	assert_non_null(room);
	assert_int_equal(hpa_blocks_init(&blocks, &file.sections[0], room),
	                 HPA_OK);
	for (uint32_t i = 0; i < 3; i++) {
		assert_false(hpa_blocks_read(&blocks, SIZE - 1, &byte, 1));
		assert_true(hpa_blocks_read(&blocks, 7, &byte, 1));
		assert_int_equal(byte, raw[7]);
	}
	free(room);
	free(image.data);
}

/* A block inflates to its size and ends with its stream. */
static void
a_block_ends_with_its_stream(void **state)
{
	enum { SIZE = 1000 };
	static uint8_t raw[SIZE];
	struct rng rng = {test_seed()};
	struct image good;

	(void)state;
	fill_blob(&rng, raw, SIZE);
	good = write_blob(raw, SIZE);
	for (uint32_t more = 0; more < 2; more++) {
		struct image image = {calloc(1, good.size + 1), good.size + 1};
		uint8_t *entry, *end, byte, *room;
		const char *detail = NULL;
		struct hpa_blocks blocks;
		struct hpa_file file;

		assert_non_null(image.data);
		memcpy(image.data, good.data, good.size);
		image.size -= more;
		entry = entry_of(&image, "blob");
		end = section_of(&image, "blob") + HPA_ZLIB_ENDS;
		/* A byte behind the stream, or one that it does not give. */
		hpa_put_le32(end, hpa_get_le32(end) + 1 - more);
		hpa_put_le64(entry + HPA_ENT_STORED_SIZE,
		             hpa_get_le64(entry + HPA_ENT_STORED_SIZE) + 1 -
		                     more);
		hpa_put_le64(entry + HPA_ENT_RAW_SIZE, SIZE + more);
		hpa_put_le64(image.data + HPA_OFF_FILE_SIZE, image.size);
		image_seal(&image);
		assert_int_equal(hpa_file_read(image.data, image.size, true,
		                               &file, &detail),
		                 HPA_OK);
		room = malloc(hpa_blocks_size(&file.sections[0]));
		assert_non_null(room);
		assert_int_equal(
			hpa_blocks_init(&blocks, &file.sections[0], room),
			HPA_OK);
		assert_false(hpa_blocks_read(&blocks, 0, &byte, 1));
		free(room);
		free(image.data);
	}
	free(good.data);
}

/* What zlib allocates from has an end. */
static void
a_block_reader_has_little_memory(void **state)
{
	static const uint8_t zeros[1000];
	struct image image = write_blob(zeros, sizeof(zeros));
	const char *detail = NULL;
	struct hpa_blocks blocks;
	struct hpa_file file;
	z_stream *stream;
	uint8_t *room;

	(void)state;
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	room = malloc(hpa_blocks_size(&file.sections[0]));
	assert_non_null(room);
	assert_int_equal(hpa_blocks_init(&blocks, &file.sections[0], room),
	                 HPA_OK);
	stream = blocks.stream;
	assert_non_null(stream->zalloc(stream->opaque, 1, 8));
	assert_null(stream->zalloc(stream->opaque, 65536, 1));
	assert_null(stream->zalloc(stream->opaque, 1, 65536));
	assert_null(stream->zalloc(stream->opaque, UINT32_MAX, UINT32_MAX));
	free(room);
	free(image.data);
}

static bool no_memory_for_zlib;

int __real_inflateInit_(z_streamp stream, const char *version, int size);
int __wrap_inflateInit_(z_streamp stream, const char *version, int size);

/* The linker puts this in the place of zlib's. */
int
__wrap_inflateInit_(z_streamp stream, const char *version, int size)
{
	return no_memory_for_zlib ? Z_MEM_ERROR
	                          : __real_inflateInit_(stream, version, size);
}

/* Of sections that are searched in place, and of those that are not. */
static void
inflating_takes_memory(void **state)
{
	static const char *const names[] = {"packed world", "cold"};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		struct image image = subject_bake(names[i]);
		const char *detail;
		hpa_map *map;

		no_memory_for_zlib = true;
		assert_int_equal(try_to_open(&image, &map, &detail),
		                 HPA_NO_MEMORY);
		no_memory_for_zlib = false;
		assert_null(map);
		assert_opens(&image);
		free(image.data);
	}
}

static void
the_list_of_blocks_is_checked(void **state)
{
	enum { SIZE = 2 * HPA_BLOCK_SIZE - 5 };
	static const struct {
		bool in_entry;
		uint32_t offset;
		unsigned width;
		uint64_t value;
		const char *why;
	} rows[] = {
		{false, HPA_ZLIB_BLOCK_SIZE, 4, 512,
	         "a section's block size is out of range"},
		{false, HPA_ZLIB_BLOCK_SIZE, 4, 65535,
	         "a section's block size is out of range"},
		{false, HPA_ZLIB_BLOCK_SIZE, 4, 131072,
	         "a section's block size is out of range"},
		{false, HPA_ZLIB_BLOCK_SIZE, 4, 32768,
	         "a section's number of blocks is wrong"},
		{false, HPA_ZLIB_N_BLOCKS, 4, 3,
	         "a section's number of blocks is wrong"},
		{false, HPA_ZLIB_ENDS, 4, 0,
	         "a section's blocks do not fit its sizes"},
		{false, HPA_ZLIB_ENDS, 4, HPA_NONE,
	         "a section's blocks do not fit its sizes"},
		{false, HPA_ZLIB_ENDS + 4, 4, HPA_NONE,
	         "a section's blocks do not fit its sizes"},
		{true, HPA_ENT_RAW_SIZE, 8, UINT64_MAX,
	         "a section's number of blocks is wrong"},
		{true, HPA_ENT_RAW_SIZE, 8, HPA_BLOCK_SIZE,
	         "a section's number of blocks is wrong"},
		{true, HPA_ENT_STORED_SIZE, 8, 7,
	         "a section's list of blocks is cut off"},
		{true, HPA_ENT_STORED_SIZE, 8, 15,
	         "a section's list of blocks is cut off"},
	};
	static uint8_t raw[SIZE];
	struct rng rng = {test_seed()};
	struct image good;

	(void)state;
	fill_blob(&rng, raw, SIZE);
	good = write_blob(raw, SIZE);
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct image image = image_copy(&good);
		uint8_t *at = rows[i].in_entry ? entry_of(&image, "blob")
		                               : section_of(&image, "blob");
		const char *detail = NULL;
		struct hpa_file file;

		put(at + rows[i].offset, rows[i].width, rows[i].value);
		image_seal(&image);
		assert_int_equal(hpa_file_read(image.data, image.size, true,
		                               &file, &detail),
		                 HPA_CORRUPT);
		assert_string_equal(detail, rows[i].why);
		assert_string_equal(file.culprit, "blob");
		free(image.data);
	}
	free(good.data);
}

/* The same of sections that are packed, and of those that can't be. */
static void
the_sizes_of_packed_sections_are_checked(void **state)
{
	static const struct {
		const char *id;
		uint32_t offset;
		unsigned width;
		uint64_t value;
		const char *why;
	} rows[] = {
		{"FACT", HPA_ENT_CODEC, 1, HPA_CODEC_PACKED,
	         "a section can't be packed"},
		{"NODE", HPA_ENT_STORED_SIZE, 8, 3,
	         "a section's packed size is cut off"},
		{"NODE", HPA_ENT_STORED_SIZE, 8, 4 + 7,
	         "a section's list of blocks is cut off"},
		{"TABL", HPA_ENT_RAW_SIZE, 8, (uint64_t)1 << 40,
	         "a section is packed too well"},
		{"TABL", HPA_ENT_RAW_SIZE, 8, UINT64_MAX,
	         "a section is packed too well"},
	};
	struct image good = subject_bake("packed world");

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct image image = image_copy(&good);

		put(entry_of(&image, rows[i].id) + rows[i].offset,
		    rows[i].width, rows[i].value);
		image_seal(&image);
		assert_refused(&image, HPA_CORRUPT, rows[i].why);
		free(image.data);
	}
	free(good.data);
}

/* A small block that states a size which deflate can't make of it. */
static void
a_bomb_is_refused_by_its_sizes(void **state)
{
	static const uint8_t zeros[1000];
	struct image image = write_blob(zeros, sizeof(zeros));
	uint8_t *entry = entry_of(&image, "blob");
	const char *detail = NULL;
	struct hpa_file file;

	(void)state;
	assert_int_equal(entry[HPA_ENT_CODEC], HPA_CODEC_ZLIB);
	assert_true(hpa_get_le64(entry + HPA_ENT_STORED_SIZE) < 60);
	hpa_put_le64(entry + HPA_ENT_RAW_SIZE, 65000);
	image_seal(&image);
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_CORRUPT);
	assert_string_equal(detail, "a section's blocks do not fit its sizes");
	free(image.data);
}

/* Give a byte of a section another value; frees the image. */
static void
refuse_changed(struct image *image, const char *id, uint8_t codec, size_t at,
               const char *why)
{
	assert_opens(image);
	assert_int_equal(entry_of(image, id)[HPA_ENT_CODEC], codec);
	section_of(image, id)[at] ^= 0xff;
	image_seal(image);
	assert_refused(image, HPA_CORRUPT, why);
	free(image->data);
}

/* The room of a section that is inflated at open is in the header, and what
 * does not inflate is refused. */
static void
a_hot_section_that_does_not_inflate_is_refused(void **state)
{
	struct bake_options options;
	struct image image;

	(void)state;
	bake_options_default(&options);
	options.compress = HPA_COMPRESS_ALL;
	image = bake_all_free(128, 64, &options);
	assert_int_equal(
		hpa_get_le64(entry_of(&image, HPA_ID_CELLS) + HPA_ENT_RAW_SIZE),
		1024);
	refuse_changed(&image, HPA_ID_CELLS, HPA_CODEC_ZLIB, HPA_ZLIB_ENDS + 4,
	               "a section does not inflate");
}

/* All packed bytes are there, but their own checksum is another one. */
static void
a_packed_section_that_does_not_inflate_is_refused(void **state)
{
	struct image image = subject_bake("deflated");
	uint64_t size = hpa_get_le64(entry_of(&image, HPA_ID_TABLES) +
	                             HPA_ENT_STORED_SIZE);

	(void)state;
	refuse_changed(&image, HPA_ID_TABLES, HPA_CODEC_PACKED,
	               (size_t)size - 1, "a section does not unpack");
}

/* It is inflated at open too, to see what is in it. */
static void
a_cold_section_that_does_not_inflate_is_refused(void **state)
{
	struct image image = subject_bake("cold");

	(void)state;
	refuse_changed(&image, HPA_ID_PATHS, HPA_CODEC_ZLIB, HPA_ZLIB_ENDS + 4,
	               "a section does not inflate");
}

static void
the_content_hash_is_that_of_all_blocks(void **state)
{
	enum { SIZE = 2 * HPA_BLOCK_SIZE + 13 };
	static uint8_t raw[SIZE];
	struct rng rng = {test_seed()};
	const char *detail = NULL;
	struct hpa_file file;
	struct image image;
	uint8_t *room;

	(void)state;
	fill_blob(&rng, raw, SIZE);
	image = write_blob(raw, SIZE);
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	assert_int_equal(file.sections[0].codec, HPA_CODEC_ZLIB);
	room = malloc(hpa_file_content_room(&file));
	assert_non_null(room);
	assert_int_equal(hpa_file_check_content(&file, room, &detail), HPA_OK);
	file.content_hash ^= 1;
	assert_int_equal(hpa_file_check_content(&file, room, &detail),
	                 HPA_CORRUPT);
	assert_string_equal(detail, "the content hash is not the stated one");
	free(room);
	free(image.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_give_back_any_stretch),
		cmocka_unit_test(
			a_damaged_block_is_noticed_and_the_others_are_read),
		cmocka_unit_test(a_block_ends_with_its_stream),
		cmocka_unit_test(a_block_reader_has_little_memory),
		cmocka_unit_test(inflating_takes_memory),
		cmocka_unit_test(the_list_of_blocks_is_checked),
		cmocka_unit_test(the_sizes_of_packed_sections_are_checked),
		cmocka_unit_test(a_bomb_is_refused_by_its_sizes),
		cmocka_unit_test(
			a_hot_section_that_does_not_inflate_is_refused),
		cmocka_unit_test(
			a_packed_section_that_does_not_inflate_is_refused),
		cmocka_unit_test(
			a_cold_section_that_does_not_inflate_is_refused),
		cmocka_unit_test(the_content_hash_is_that_of_all_blocks),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
