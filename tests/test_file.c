/* test_file.c: the bytes of a baked file, and what is refused of its container.
 *
 * What a good file looks like is worked out by hand from formats/hpa.md for
 * levels of a few cells. Bad files are made from good ones: see refusals.h. What
 * is refused of the sections is in test_sections.c, test_tables.c, test_links.c,
 * test_hubs.c and, where they are compressed, test_blocks.c and test_pack.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "formats/hpa_read.h"
#include "formats/hpa_write.h"
#include "hpa.h"
#include "tests/baked.h"
#include "tests/inquiry.h"
#include "tests/parts.h"
#include "tests/refusals.h"
#include "tests/subjects.h"
#include "tests/support.h"

static uint32_t
crc(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

/* The raw bytes of a section that is stored as it is. */
static void
assert_section(const struct image *image, const char *id,
               const uint8_t *expected, size_t size)
{
	const uint8_t *entry = entry_of(image, id);

	assert_int_equal(hpa_get_le64(entry + HPA_ENT_STORED_SIZE), size);
	if (size > 0)
		assert_memory_equal(section_of(image, id), expected, size);
}

static void
assert_u32s(const struct image *image, const char *id, const uint32_t *expected,
            size_t n)
{
	assert_int_equal(
		hpa_get_le64(entry_of(image, id) + HPA_ENT_STORED_SIZE), 4 * n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(hpa_get_u32(section_of(image, id), i),
		                 expected[i]);
}

#define ASSERT_BYTES(image, id, ...)                                           \
	assert_section(image, id, (const uint8_t[]){__VA_ARGS__},              \
	               sizeof((const uint8_t[]){__VA_ARGS__}))
#define ASSERT_U32S(image, id, ...)                                            \
	assert_u32s(image, id, (const uint32_t[]){__VA_ARGS__},                \
	            sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* What the files look like. */

static void
the_smallest_level_is_laid_out_as_the_spec_says(void **state)
{
	struct image image = bake_small(".\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_memory_equal(image.data, "\x89HPA\r\n\x1a\n", 8);
	assert_int_equal(hpa_get_le16(image.data + 8), 1);
	assert_int_equal(hpa_get_le16(image.data + 10), 0);
	assert_int_equal(hpa_get_le32(image.data + 12), 88);
	assert_int_equal(hpa_get_le64(image.data + 16), image.size);
	assert_int_equal(hpa_get_le32(image.data + 24), 8);
	assert_int_equal(hpa_get_le32(image.data + 28), 40);
	assert_int_equal(hpa_get_le64(image.data + 56), 0);
	assert_int_equal(hpa_get_le32(image.data + 84), crc(image.data, 84));
	ASSERT_U32S(&image, "FACT", 1, 1, 4, 1, 0, 70, 99, 0, 6, 1, 1, 0, 1, 1,
	            1, 0);
	ASSERT_BYTES(&image, "CELL", 1);
	ASSERT_U32S(&image, "COMP", 0);
	assert_section(&image, "NODE", NULL, 0);
	ASSERT_U32S(&image, "INTR", 0);
	ASSERT_U32S(&image, "LEVL", 4, 0, 0, 0, 0, 0, 0, 0);
	ASSERT_U32S(&image, "CLUS", 0, 0, 0);
	ASSERT_U32S(&image, "TABL", HPA_NONE, 0, 0);
	assert_opens(&image);
	free(image.data);
}

static void
three_clusters_are_laid_out_as_the_spec_says(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	ASSERT_BYTES(&image, "CELL", 0xff, 0x0f, 0xff, 0x0f, 0xff, 0x0f, 0xff,
	             0x0f);
	ASSERT_U32S(&image, "COMP", 0, 0, 0);
	ASSERT_BYTES(&image, "NODE", 3, 0, 1, 0, 4, 0, 1, 0, 7, 0, 1, 0, 8, 0,
	             1, 0);
	ASSERT_U32S(&image, "INTR", 0, 1, 2, 3, 4, 1, 0, 3, 2);
	ASSERT_U32S(&image, "LEVL", 4, 4, 2, 0, 1, 0, 1, 0, 8, 2, 1, 0, 0, 0, 0,
	            0);
	ASSERT_U32S(&image, "CLUS", 0, 1, 3, 4, 0, 16, 0, HPA_NONE, HPA_NONE, 0,
	            1, 0, 1, 2, 0, 0, 2, 3);
	/* A table for one node, and one for two that are 3 steps apart. */
	ASSERT_BYTES(&image, "TABL", 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0,
	             0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 1, 0,
	             0, 0, 1, 0, 2, 0, 210, 0, 210, 0, 1, 0, 0, 0);
	assert_opens(&image);
	free(image.data);
}

static void
a_cached_path_is_laid_out_as_the_spec_says(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, true, HPA_COMPRESS_NONE);
	const uint8_t *tables = section_of(&image, HPA_ID_TABLES);

	(void)state;
	/* Both edges begin at 8: three steps to the east. */
	ASSERT_BYTES(&image, "PATH", 8, 0, 0, 0, 8, 0, 0, 0, 2 << 3);
	assert_int_equal(hpa_get_le32(tables + HPA_TABLE_PATHS), HPA_NONE);
	assert_int_equal(hpa_get_le32(tables + 16 + HPA_TABLE_PATHS), 0);
	assert_int_equal(hpa_get_le16(entry_of(&image, "PATH") + HPA_ENT_FLAGS),
	                 0);
	assert_opens(&image);
	free(image.data);
}

static void
a_mixed_cluster_has_a_label_per_run(void **state)
{
	struct image image =
		bake_small(four_clusters, 1, false, HPA_COMPRESS_NONE);

	(void)state;
	ASSERT_U32S(&image, "COMP", HPA_COMP_MIXED, 1, 1, 1, 0, 1, 0, 1, 0, 1,
	            0, 1);
	assert_opens(&image);
	free(image.data);
}

static void
padding_is_zero_and_sections_are_aligned(void **state)
{
	struct image image =
		bake_small(four_clusters, 2, true, HPA_COMPRESS_COLD);
	uint32_t n = hpa_get_le32(image.data + HPA_OFF_N_SECTIONS);
	uint64_t end = HPA_HEADER_SIZE + (uint64_t)n * HPA_ENTRY_SIZE;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *entry = image_entry(&image, i);
		uint64_t offset = hpa_get_le64(entry + HPA_ENT_OFFSET);

		assert_int_equal(offset % (1u << entry[HPA_ENT_ALIGN]), 0);
		assert_in_range(offset - end, 0,
		                (1u << entry[HPA_ENT_ALIGN]) - 1);
		for (; end < offset; end++)
			assert_int_equal(image.data[end], 0);
		end += hpa_get_le64(entry + HPA_ENT_STORED_SIZE);
	}
	assert_int_equal(end, image.size);
	free(image.data);
}

/* The hash of the spec, written a second time: byte by byte. */
static uint64_t
spec_hash(uint64_t hash, const uint8_t *data, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++) {
		word |= (uint64_t)data[i] << 8 * (i % 8);
		if (i % 8 == 7 || i + 1 == size) {
			hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
			hash ^= hash >> 32;
			word = 0;
		}
	}
	hash = (hash ^ size) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static void
hashes_are_those_of_the_spec(void **state)
{
	const uint64_t seed = 0x6870612062616b65u;
	static const uint8_t source_size[8] = {12, 0, 0, 0, 4, 0, 0, 0};
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
	uint32_t n = hpa_get_le32(image.data + HPA_OFF_N_SECTIONS);
	uint64_t content = seed, source;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *entry = image_entry(&image, i);

		uint8_t head[8];

		memcpy(head, entry + HPA_ENT_ID, 4);
		memcpy(head + 4, entry + HPA_ENT_PROFILE, 4);
		content = spec_hash(content, head, sizeof(head));
		content = spec_hash(
			content,
			image.data + hpa_get_le64(entry + HPA_ENT_OFFSET),
			(size_t)hpa_get_le64(entry + HPA_ENT_RAW_SIZE));
	}
	source = spec_hash(spec_hash(seed, source_size, 8),
	                   section_of(&image, "CELL"), 8);
	assert_true(content == hpa_get_le64(image.data + HPA_OFF_CONTENT_HASH));
	assert_true(source == hpa_get_le64(image.data + HPA_OFF_SOURCE_HASH));
	assert_true(spec_hash(seed, section_of(&image, "FACT") + 8, 36) ==
	            hpa_get_le64(image.data + HPA_OFF_OPTIONS_HASH));
	free(image.data);
}

static void
a_file_taken_apart_and_written_is_the_same(void **state)
{
	struct image image =
		bake_small(four_clusters, 2, true, HPA_COMPRESS_NONE);
	struct parts parts;
	struct image again;

	(void)state;
	take_apart(&image, &parts);
	again = put_together(&parts, HPA_COMPRESS_NONE);
	assert_int_equal(again.size, image.size);
	assert_memory_equal(again.data, image.data, image.size);
	free(again.data);
	free(image.data);
}

/* Versions. */

static void
an_unknown_optional_section_is_skipped(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
	struct parts parts;
	struct image more;

	(void)state;
	take_apart(&image, &parts);
	parts.sections[parts.n++] = (struct hpa_new_section){
		"xtra", 0, false, (const uint8_t *)"anything", 8, NULL, false};
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_opens(&more);
	free(more.data);
	free(image.data);
}

static void
an_unknown_critical_section_is_refused_by_name(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
	const char *detail = NULL;
	struct hpa_file file;
	struct parts parts;
	struct image more;

	(void)state;
	take_apart(&image, &parts);
	memmove(parts.sections + 1, parts.sections,
	        parts.n++ * sizeof(*parts.sections));
	parts.sections[0] = (struct hpa_new_section){
		"xtra", 0, true, (const uint8_t *)"anything", 8, NULL, false};
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&more, HPA_TOO_NEW, "a critical section is unknown");
	assert_int_equal(
		hpa_file_read(more.data, more.size, true, &file, &detail),
		HPA_TOO_NEW);
	assert_string_equal(file.culprit, "xtra");
	/* A file that is damaged besides is not just too new. */
	put(entry_of(&more, HPA_ID_FACTS) + HPA_ENT_FLAGS, 2, 0);
	image_seal(&more);
	assert_refused(&more, HPA_CORRUPT, "a section's flags are wrong");
	free(more.data);
	free(image.data);
}

static void
a_missing_section_is_refused_by_name(void **state)
{
	static const char *const ids[] = {"FACT", "CELL", "COMP", "NODE",
	                                  "INTR", "LEVL", "CLUS", "TABL",
	                                  "LEDG", "REAC"};
	struct image image = subject_bake("world");

	(void)state;
	for (uint32_t i = 0; i < N_ELEMENTS(ids); i++) {
		char text[] = "section .... is missing";
		struct parts parts;
		struct image less;
		uint32_t n = 0;

		memcpy(text + strlen("section "), ids[i], 4);
		take_apart(&image, &parts);
		for (uint32_t k = 0; k < parts.n; k++)
			if (strcmp(parts.sections[k].id, ids[i]) != 0)
				parts.sections[n++] = parts.sections[k];
		assert_true(n < parts.n);
		parts.n = n;
		less = put_together(&parts, HPA_COMPRESS_NONE);
		assert_refused(&less, HPA_CORRUPT, text);
		free(less.data);
	}
	free(image.data);
}

static uint64_t
answers_of(const struct image *image)
{
	const char *detail;
	uint64_t hash;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st != HPA_OK)
		fail_msg("%s: %s", hpa_status_text(st), detail);
	hash = inquiry_hash(map, 40);
	hpa_map_close(map);
	return hash;
}

static void
sections_may_come_in_any_order(void **state)
{
	struct image image = subject_bake("world");

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct parts parts;
		struct image turned;

		take_apart(&image, &parts);
		for (uint32_t k = 0; k < parts.n / 2; k++) {
			struct hpa_new_section section = parts.sections[k];

			parts.sections[k] = parts.sections[parts.n - 1 - k];
			parts.sections[parts.n - 1 - k] = section;
		}
		turned = put_together(&parts,
		                      i ? HPA_COMPRESS_ALL : HPA_COMPRESS_NONE);
		assert_true(answers_of(&turned) == answers_of(&image));
		free(turned.data);
	}
	free(image.data);
}

static void
there_are_at_most_sixteen_agents(void **state)
{
	static uint8_t agents[17 * HPA_AGENT_SIZE];
	struct image image = subject_bake("world"), more;
	struct parts parts;

	(void)state;
	memset(agents, 'a', sizeof(agents));
	take_apart(&image, &parts);
	assert_string_equal(parts.sections[0].id, "AGNT");
	parts.sections[0].raw = agents;
	parts.sections[0].raw_size = sizeof(agents);
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&more, HPA_CORRUPT, "the size of section AGNT is wrong");
	free(more.data);
	parts.sections[0].raw_size = 0;
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&more, HPA_CORRUPT, "the size of section AGNT is wrong");
	free(more.data);
	free(image.data);
}

static void
the_compressor_may_fill_all_its_bytes(void **state)
{
	struct image image = bake_small(".\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	memset(image.data + HPA_OFF_COMPRESSOR, 'z', HPA_COMPRESSOR_SIZE);
	image_seal(&image);
	assert_opens(&image);
	free(image.data);
}

static void
cached_paths_may_be_left_out(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, true, HPA_COMPRESS_NONE);
	struct parts parts;
	struct image less;

	(void)state;
	take_apart(&image, &parts);
	assert_string_equal(parts.sections[parts.n - 1].id, "PATH");
	parts.n--;
	less = put_together(&parts, HPA_COMPRESS_NONE);
	assert_opens(&less);
	free(less.data);
	free(image.data);
}

/* All that a reader of today may assume of a later version. */
static void
a_newer_major_version_is_too_new_if_its_header_is_intact(void **state)
{
	uint8_t data[40] = {0};
	struct image image = {data, sizeof(data)};

	(void)state;
	memcpy(data, HPA_MAGIC, HPA_MAGIC_SIZE);
	hpa_put_le16(data + HPA_OFF_MAJOR, 2);
	hpa_put_le32(data + HPA_OFF_HEADER_SIZE, sizeof(data));
	image_seal_header(&image);
	assert_refused(&image, HPA_TOO_NEW,
	               "its major version is newer than this reader");
	data[30] ^= 1;
	assert_refused(&image, HPA_CORRUPT, "the header's checksum is wrong");
}

static void
compression_changes_neither_content_nor_answers(void **state)
{
	uint64_t hash[3], cost[3];
	size_t size[3];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		hpa_cell from = {1, 1}, to = {60, 58};
		struct bake_options options;
		struct image image;
		hpa_query *query;
		hpa_facts facts;
		hpa_map *map;

		bake_options_default(&options);
		options.cluster_size = 8;
		options.cache_paths = true;
		options.compress = (enum hpa_compress)i;
		image = bake_all_free(64, 64, &options);
		assert_int_equal(
			hpa_map_open_memory(image.data, image.size, NULL, &map),
			HPA_OK);
		assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
		assert_int_equal(hpa_query_cost(query, from, to, &cost[i]),
		                 HPA_OK);
		hpa_map_facts(map, &facts);
		hash[i] = facts.content_hash;
		size[i] = image.size;
		hpa_query_free(query);
		hpa_map_close(map);
		free(image.data);
	}
	assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
	assert_true(cost[0] == cost[1] && cost[1] == cost[2]);
	assert_true(size[0] > size[1] && size[1] > size[2]);
}

/* Damage that the checksums notice. */

static void
every_truncation_is_refused(void **state)
{
	struct image image =
		bake_small(four_clusters, 2, true, HPA_COMPRESS_ALL);

	(void)state;
	for (size_t size = 0; size < image.size; size++) {
		struct image copy = image_cut(&image, size);
		const char *detail;
		hpa_map *map;

		assert_int_equal(try_to_open(&copy, &map, &detail),
		                 size < HPA_MAGIC_SIZE ? HPA_NOT_HPA
		                                       : HPA_CORRUPT);
		assert_non_null(detail);
		free(copy.data);
	}
	free(image.data);
}

static void
a_byte_behind_the_file_is_refused(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
	struct image more = {malloc(image.size + 1), image.size + 1};

	(void)state;
	assert_non_null(more.data);
	memcpy(more.data, image.data, image.size);
	more.data[image.size] = 0;
	assert_refused(&more, HPA_CORRUPT,
	               "the file's size is not the stated one");
	hpa_put_le64(more.data + HPA_OFF_FILE_SIZE, more.size);
	image_seal(&more);
	assert_refused(&more, HPA_CORRUPT,
	               "there is something behind the sections");
	free(more.data);
	free(image.data);
}

static void
every_flipped_bit_is_refused(void **state)
{
	struct image image =
		bake_small(four_clusters, 2, true, HPA_COMPRESS_COLD);

	(void)state;
	for (size_t i = 0; i < 8 * image.size; i++) {
		uint8_t bit = (uint8_t)(1u << i % 8);
		const char *detail;
		hpa_map *map;

		image.data[i / 8] ^= bit;
		if (try_to_open(&image, &map, &detail) !=
		    (i / 8 < HPA_MAGIC_SIZE ? HPA_NOT_HPA : HPA_CORRUPT))
			fail_msg("bit %zu of byte %zu", i % 8, i / 8);
		image.data[i / 8] ^= bit;
	}
	assert_opens(&image);
	free(image.data);
}

/* Damage that the checksums do not notice: fields of header and table. */

static void
patch_header(const struct image *good, uint32_t offset, unsigned width,
             uint64_t value, hpa_status status, const char *why)
{
	struct image image = image_copy(good);

	put(image.data + offset, width, value);
	image_seal_table(&image);
	if (status == HPA_OK)
		assert_opens(&image);
	else
		assert_refused(&image, status, why);
	free(image.data);
}

static void
every_field_of_the_header_is_checked(void **state)
{
	static const struct {
		uint32_t offset;
		unsigned width;
		uint64_t value;
		hpa_status status;
		const char *why;
	} rows[] = {
		{0, 1, 'H', HPA_NOT_HPA,
	         "it does not begin with the magic bytes"},
		{HPA_OFF_MAJOR, 2, 2, HPA_TOO_NEW,
	         "its major version is newer than this reader"},
		{HPA_OFF_MAJOR, 2, 0, HPA_CORRUPT,
	         "there is no such major version"},
		{HPA_OFF_MINOR, 2, 7, HPA_OK, NULL},
		{HPA_OFF_HEADER_SIZE, 4, 16, HPA_CORRUPT,
	         "the header's size is out of range"},
		{HPA_OFF_HEADER_SIZE, 4, 4097, HPA_CORRUPT,
	         "the header's size is out of range"},
		{HPA_OFF_HEADER_SIZE, 4, 4096, HPA_CORRUPT,
	         "the header is cut off"},
		{HPA_OFF_HEADER_SIZE, 4, 84, HPA_CORRUPT,
	         "the header's size is not this version's"},
		{HPA_OFF_FILE_SIZE, 8, 0, HPA_CORRUPT,
	         "the file's size is not the stated one"},
		{HPA_OFF_N_SECTIONS, 4, 257, HPA_CORRUPT,
	         "there are too many sections"},
		{HPA_OFF_N_SECTIONS, 4, 256, HPA_CORRUPT,
	         "the section table is cut off"},
		{HPA_OFF_N_SECTIONS, 4, 0, HPA_CORRUPT,
	         "there is something behind the sections"},
		{HPA_OFF_N_SECTIONS, 4, 7, HPA_CORRUPT,
	         "a section is not in its place"},
		{HPA_OFF_ENTRY_SIZE, 4, 44, HPA_CORRUPT,
	         "the size of a table entry is wrong"},
		{HPA_OFF_CONTENT_HASH, 8, 1, HPA_CORRUPT,
	         "the content hash is not the stated one"},
		{HPA_OFF_SOURCE_HASH, 8, 1, HPA_OK, NULL},
		{HPA_OFF_OPTIONS_HASH, 8, 1, HPA_OK, NULL},
		{HPA_OFF_INFLATED_SIZE, 8, 8, HPA_CORRUPT,
	         "the inflated size is not the stated one"},
		{HPA_OFF_COMPRESSOR, 1, 7, HPA_CORRUPT,
	         "the compressor's name is no text"},
		{HPA_OFF_COMPRESSOR + 15, 1, 7, HPA_CORRUPT,
	         "the compressor's name is no text"},
	};
	struct image good =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		patch_header(&good, rows[i].offset, rows[i].width,
		             rows[i].value, rows[i].status, rows[i].why);
	free(good.data);
}

static void
checksums_are_checked(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	image.data[HPA_OFF_HEADER_CRC] ^= 1;
	assert_refused(&image, HPA_CORRUPT, "the header's checksum is wrong");
	image.data[HPA_OFF_TABLE_CRC] ^= 1;
	image_seal_header(&image);
	assert_refused(&image, HPA_CORRUPT,
	               "the section table's checksum is wrong");
	entry_of(&image, HPA_ID_NODES)[HPA_ENT_CRC] ^= 1;
	image_seal_table(&image);
	assert_refused(&image, HPA_CORRUPT, "a section's checksum is wrong");
	image_seal(&image);
	assert_opens(&image);
	free(image.data);
}

static void
every_field_of_a_table_entry_is_checked(void **state)
{
	static const struct {
		uint32_t offset;
		unsigned width;
		uint64_t value;
		const char *why;
	} rows[] = {
		{HPA_ENT_ID, 1, 0x07, "a section's id is no text"},
		{HPA_ENT_ID + 3, 1, 0xc4, "a section's id is no text"},
		{HPA_ENT_ID, 4, 0x54434146, "a section is there twice"},
		{HPA_ENT_FLAGS, 2, 3, "a section's reserved bits are not 0"},
		{HPA_ENT_PROFILE, 4, 16, "a section's profile is out of range"},
		{HPA_ENT_FLAGS, 2, 0, "a section's flags are wrong"},
		{HPA_ENT_CODEC, 1, 3, "a section's codec is unknown"},
		{HPA_ENT_CODEC, 1, 1, "a section's block size is out of range"},
		{HPA_ENT_ALIGN, 1, 13, "a section's alignment is out of range"},
		{HPA_ENT_ALIGN, 1, 12, "a section is not in its place"},
		{HPA_ENT_OFFSET, 8, 0, "a section is not in its place"},
		{HPA_ENT_OFFSET, 8, UINT64_MAX - 7,
	         "a section is not in its place"},
		{HPA_ENT_STORED_SIZE, 8, 1u << 20, "a section is cut off"},
		{HPA_ENT_STORED_SIZE, 8, UINT64_MAX, "a section is cut off"},
		{HPA_ENT_RAW_SIZE, 8, 7, "a stored section has two sizes"},
		{HPA_ENT_RAW_SIZE, 8, UINT64_MAX,
	         "a stored section has two sizes"},
	};
	struct image good =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
	uint32_t at = (uint32_t)(entry_of(&good, HPA_ID_CELLS) - good.data);

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		patch_header(&good, at + rows[i].offset, rows[i].width,
		             rows[i].value, HPA_CORRUPT, rows[i].why);
	free(good.data);
}

static void
padding_that_is_not_zero_is_refused(void **state)
{
	struct image image = bake_small(".\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	section_of(&image, HPA_ID_CELLS)[1] = 1;
	assert_refused(&image, HPA_CORRUPT,
	               "there is something between sections");
	free(image.data);
}

/* An empty section can be aligned to a place behind the end. */
static void
a_section_behind_the_end_is_refused(void **state)
{
	struct image image = bake_small(".\n", 1, false, HPA_COMPRESS_NONE);
	struct image more, cut;
	struct parts parts;

	(void)state;
	take_apart(&image, &parts);
	assert_int_equal(part_of(&parts, "TABL")->raw_size % 8, 4);
	parts.sections[parts.n++] = (struct hpa_new_section){
		"xtra", 0, false, (const uint8_t *)"", 0, NULL, false};
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_opens(&more);
	cut = image_cut(&more, more.size - 4);
	hpa_put_le64(cut.data + HPA_OFF_FILE_SIZE, cut.size);
	image_seal(&cut);
	assert_refused(&cut, HPA_CORRUPT, "a section is cut off");
	free(cut.data);
	free(more.data);
	free(image.data);
}

/* There would be nothing to search in. */
static void
an_empty_section_is_stored(void **state)
{
	struct image image = bake_small(".\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	for (uint8_t codec = 1; codec <= 2; codec++) {
		struct image other = image_copy(&image);

		entry_of(&other, HPA_ID_NODES)[HPA_ENT_CODEC] = codec;
		image_seal(&other);
		assert_file_refused(&other, "an empty section is not stored",
		                    "NODE");
		free(other.data);
	}
	free(image.data);
}

/* Any damage, with checksums put right: refused, or answered without harm. */

static struct image
bake_random(struct rng *rng)
{
	struct bake_options options;
	struct image image;
	struct level level;

	bake_options_default(&options);
	options.cluster_size = rng_between(rng, 4, 7);
	options.n_levels = rng_between(rng, 1, 3);
	options.moves = (enum hpa_move_rule)rng_below(rng, 3);
	options.policy = (enum hpa_policy)rng_below(rng, 3);
	options.prune = rng_chance(rng, 50);
	options.cache_paths = rng_chance(rng, 50);
	options.fast_queries = rng_chance(rng, 50);
	options.compress = (enum hpa_compress)rng_below(rng, 3);
	random_level(rng, 30, &level);
	image = bake_level(&level, &options);
	level_free(&level);
	return image;
}

static void
damage_with_right_checksums_does_no_harm(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_opened = 0, n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		struct image good = bake_random(&rng);

		for (uint32_t j = 0; j < 100; j++) {
			struct image image = image_copy(&good);
			size_t at = rng_below(&rng, (uint32_t)image.size);

			image.data[at] ^= (uint8_t)rng_between(&rng, 1, 255);
			image_seal(&image);
			if (use_damaged(&rng, &image))
				n_opened++;
			else
				n_refused++;
			free(image.data);
		}
		free(good.data);
	}
	printf("# %lu damaged files opened, %lu refused\n",
	       (unsigned long)n_opened, (unsigned long)n_refused);
	assert_true(n_opened > 0 && n_refused > n_opened);
}

static void
a_trusted_file_opens_too(void **state)
{
	hpa_open_options options = {.flags = HPA_TRUST};
	struct image image =
		bake_small(four_clusters, 2, true, HPA_COMPRESS_ALL);
	hpa_map *map;

	(void)state;
	assert_int_equal(
		hpa_map_open_memory(image.data, image.size, &options, &map),
		HPA_OK);
	hpa_map_close(map);
	free(image.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_smallest_level_is_laid_out_as_the_spec_says),
		cmocka_unit_test(three_clusters_are_laid_out_as_the_spec_says),
		cmocka_unit_test(a_cached_path_is_laid_out_as_the_spec_says),
		cmocka_unit_test(a_mixed_cluster_has_a_label_per_run),
		cmocka_unit_test(padding_is_zero_and_sections_are_aligned),
		cmocka_unit_test(hashes_are_those_of_the_spec),
		cmocka_unit_test(a_file_taken_apart_and_written_is_the_same),
		cmocka_unit_test(an_unknown_optional_section_is_skipped),
		cmocka_unit_test(
			an_unknown_critical_section_is_refused_by_name),
		cmocka_unit_test(a_missing_section_is_refused_by_name),
		cmocka_unit_test(sections_may_come_in_any_order),
		cmocka_unit_test(there_are_at_most_sixteen_agents),
		cmocka_unit_test(the_compressor_may_fill_all_its_bytes),
		cmocka_unit_test(cached_paths_may_be_left_out),
		cmocka_unit_test(
			a_newer_major_version_is_too_new_if_its_header_is_intact),
		cmocka_unit_test(
			compression_changes_neither_content_nor_answers),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(a_byte_behind_the_file_is_refused),
		cmocka_unit_test(every_flipped_bit_is_refused),
		cmocka_unit_test(every_field_of_the_header_is_checked),
		cmocka_unit_test(checksums_are_checked),
		cmocka_unit_test(every_field_of_a_table_entry_is_checked),
		cmocka_unit_test(padding_that_is_not_zero_is_refused),
		cmocka_unit_test(a_section_behind_the_end_is_refused),
		cmocka_unit_test(an_empty_section_is_stored),
		cmocka_unit_test(damage_with_right_checksums_does_no_harm),
		cmocka_unit_test(a_trusted_file_opens_too),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
