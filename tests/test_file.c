/* test_file.c: the bytes of a baked file, and what is refused.
 *
 * What a good file looks like is worked out by hand from formats/hpa.md for
 * levels of a few cells. Bad files are made from good ones: a field is patched
 * at its named offset and the checksums are put right again, so that the reader
 * has to notice the field itself. A file that is opened lies in memory of
 * exactly its size, so that a sanitizer sees every step beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "formats/hpa_hubs.h"
#include "formats/hpa_read.h"
#include "formats/hpa_write.h"
#include "hpa.h"
#include "src/bake/bake.h"
#include "src/run/map.h"
#include "tests/image.h"
#include "tests/inquiry.h"
#include "tests/subjects.h"
#include "tests/support.h"

/* Three clusters of 4 x 4 in a row, at two levels:
 *
 *     ....|....||....     | border of level 1, || of levels 1 and 2
 *     ...0|1..2||3...     nodes, in the middle of their entrances
 *     ....|....||....
 *     ....|....||....
 */
static const char three_clusters[] = "............\n"
				     "............\n"
				     "............\n"
				     "............\n";

/* The same with two components in its first cluster, and a fourth cluster whose
 * entrance is in another row. */
static const char four_clusters[] = ".@..........@...\n"
				    ".@..........@...\n"
				    ".@..........@...\n"
				    ".@..............\n";

static struct image
bake_as(const char *rows, const struct bake_options *options)
{
	struct bake_output out;
	struct level level;
	struct diag diag;

	level_from_text(rows, &level);
	assert_int_equal(bake_run(&level, options, &out, NULL, &diag), DIAG_OK);
	level_free(&level);
	return (struct image){out.data, out.size};
}

static struct image
bake_text(const char *rows, uint32_t n_levels, bool cache_paths,
          enum hpa_compress compress)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = n_levels;
	options.cache_paths = cache_paths;
	options.compress = compress;
	return bake_as(rows, &options);
}

static uint32_t
crc(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

/* The table entry of a section. */
static uint8_t *
entry_of(const struct image *image, const char *id)
{
	uint8_t *entry = image_find(image, id);

	if (!entry)
		fail_msg("there is no section %s", id);
	return entry;
}

/* The stored bytes of a section. */
static uint8_t *
section_of(const struct image *image, const char *id)
{
	return image->data + hpa_get_le64(entry_of(image, id) + HPA_ENT_OFFSET);
}

static void
put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static hpa_status
try_to_open(const struct image *image, hpa_map **map, const char **detail)
{
	hpa_open_options options = {.detail = detail};

	*detail = NULL;
	return hpa_map_open_memory(image->data, image->size, &options, map);
}

static void
assert_opens(const struct image *image)
{
	const char *detail;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st != HPA_OK)
		fail_msg("%s: %s", hpa_status_text(st), detail);
	hpa_map_close(map);
}

static void
assert_refused(const struct image *image, hpa_status status, const char *why)
{
	const char *detail;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st == HPA_OK)
		hpa_map_close(map);
	else
		assert_null(map);
	if (st != status || !detail || strcmp(detail, why) != 0)
		fail_msg("\"%s: %s\" where \"%s: %s\" is right",
		         hpa_status_text(st), detail ? detail : "",
		         hpa_status_text(status), why);
}

/* The same of the container alone. */
static void
assert_file_refused(const struct image *image, const char *why,
                    const char *culprit)
{
	const char *detail = NULL;
	struct hpa_file file;

	assert_int_equal(
		hpa_file_read(image->data, image->size, true, &file, &detail),
		HPA_CORRUPT);
	assert_string_equal(detail, why);
	assert_string_equal(file.culprit, culprit);
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

#define MAX_PATH_CELLS 4096

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
	struct image image = bake_text(".\n", 1, false, HPA_COMPRESS_NONE);

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
	ASSERT_U32S(&image, "FACT", 1, 1, 4, 1, 0, 70, 99, 0, 6, 1, 1, 0, 1,
	            1, 1, 0);
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

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
		bake_text(three_clusters, 2, true, HPA_COMPRESS_NONE);
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
		bake_text(four_clusters, 1, false, HPA_COMPRESS_NONE);

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
		bake_text(four_clusters, 2, true, HPA_COMPRESS_COLD);
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
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

/* A file taken apart, to be written again in another way. */
struct parts {
	struct hpa_file file;
	struct hpa_new_section sections[HPA_MAX_SECTIONS];
	uint32_t n;
};

static void
take_sections(struct parts *out)
{
	out->n = out->file.n_sections;
	for (uint32_t i = 0; i < out->n; i++) {
		const struct hpa_section *section = &out->file.sections[i];

		assert_non_null(section->raw);
		out->sections[i] = (struct hpa_new_section){
			section->id,
			section->profile,
			(section->flags & HPA_FLAG_CRITICAL) != 0,
			section->raw,
			section->raw_size,
			NULL,
			!strcmp(section->id, HPA_ID_LABELS),
		};
	}
}

static void
take_apart(const struct image *image, struct parts *out)
{
	const char *detail = NULL;

	assert_int_equal(hpa_file_read(image->data, image->size, true,
	                               &out->file, &detail),
	                 HPA_OK);
	take_sections(out);
}

static struct image
put_together(const struct parts *parts, enum hpa_compress compress)
{
	struct parts copy = *parts;
	struct image image;

	assert_true(hpa_write(copy.sections, parts->n, compress,
	                      parts->file.source_hash, parts->file.options_hash,
	                      NULL, &image.data, &image.size));
	return image;
}

/* The same file with nothing compressed. */
static struct image
store(const struct image *image)
{
	const char *detail = NULL;
	struct image stored;
	struct parts parts;
	uint8_t *room;

	assert_int_equal(hpa_file_read(image->data, image->size, true,
	                               &parts.file, &detail),
	                 HPA_OK);
	room = malloc((size_t)parts.file.inflated_size + 1);
	assert_non_null(room);
	assert_int_equal(hpa_file_inflate(&parts.file, room, &detail), HPA_OK);
	take_sections(&parts);
	stored = put_together(&parts, HPA_COMPRESS_NONE);
	free(room);
	return stored;
}

static struct hpa_new_section *
part_of(struct parts *parts, const char *id)
{
	for (uint32_t i = 0; i < parts->n; i++)
		if (!strcmp(parts->sections[i].id, id))
			return &parts->sections[i];
	fail_msg("there is no section %s", id);
	return NULL;
}

/* The file with other bytes in a section. It comes last, and the file lies in
 * memory of its size, so that a sanitizer sees every step beyond the section. */
static struct image
with_section(const struct image *image, const char *id, const uint8_t *raw,
             size_t size)
{
	struct hpa_new_section *section, changed;
	struct image written, exact;
	struct parts parts;

	take_apart(image, &parts);
	section = part_of(&parts, id);
	changed = *section;
	changed.raw = raw;
	changed.raw_size = size;
	parts.n--;
	memmove(section, section + 1,
	        (size_t)(parts.sections + parts.n - section) * sizeof(changed));
	parts.sections[parts.n++] = changed;
	written = put_together(&parts, HPA_COMPRESS_NONE);
	exact = image_copy(&written);
	free(written.data);
	return exact;
}

static void
assert_section_refused(const struct image *image, const char *id,
                       const uint8_t *raw, size_t size, const char *why)
{
	struct image changed = with_section(image, id, raw, size);

	assert_refused(&changed, HPA_CORRUPT, why);
	free(changed.data);
}

static void
a_file_taken_apart_and_written_is_the_same(void **state)
{
	struct image image =
		bake_text(four_clusters, 2, true, HPA_COMPRESS_NONE);
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
	const char *detail = NULL;
	struct hpa_file file;
	struct parts parts;
	struct image more;

	(void)state;
	take_apart(&image, &parts);
	parts.sections[parts.n++] = (struct hpa_new_section){
		"xtra", 0, true, (const uint8_t *)"anything", 8, NULL, false};
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&more, HPA_TOO_NEW, "a critical section is unknown");
	assert_int_equal(
		hpa_file_read(more.data, more.size, true, &file, &detail),
		HPA_TOO_NEW);
	assert_string_equal(file.culprit, "xtra");
	free(more.data);
	free(image.data);
}

/* One of the small files that have all sections; free its data. */
static struct image
bake_subject(const char *name)
{
	struct image images[N_SUBJECTS], found = {NULL, 0};

	subjects_bake(images);
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		if (!strcmp(subject_names[i], name))
			found = images[i];
		else
			free(images[i].data);
	}
	assert_non_null(found.data);
	return found;
}

static void
a_missing_section_is_refused_by_name(void **state)
{
	static const char *const ids[] = {"FACT", "CELL", "COMP", "NODE",
	                                  "INTR", "LEVL", "CLUS", "TABL",
	                                  "LEDG", "REAC"};
	struct image image = bake_subject("world");

	(void)state;
	for (uint32_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
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
	struct image image = bake_subject("world");

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
		turned = put_together(&parts, i ? HPA_COMPRESS_ALL
		                                : HPA_COMPRESS_NONE);
		assert_true(answers_of(&turned) == answers_of(&image));
		free(turned.data);
	}
	free(image.data);
}

static void
there_are_at_most_sixteen_agents(void **state)
{
	static uint8_t agents[17 * HPA_AGENT_SIZE];
	struct image image = bake_subject("world"), more;
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
	struct image image = bake_text(".\n", 1, false, HPA_COMPRESS_NONE);

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
		bake_text(three_clusters, 2, true, HPA_COMPRESS_NONE);
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
		struct bake_output out;
		struct level level;
		hpa_query *query;
		struct diag diag;
		hpa_facts facts;
		hpa_map *map;

		bake_options_default(&options);
		options.cluster_size = 8;
		options.cache_paths = true;
		options.compress = (enum hpa_compress)i;
		assert_int_equal(level_new(64, 64, NULL, &level, &diag), DIAG_OK);
		memset(level.cells, 1, (size_t)64 * 64);
		assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
		                 DIAG_OK);
		assert_int_equal(
			hpa_map_open_memory(out.data, out.size, NULL, &map),
			HPA_OK);
		assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
		assert_int_equal(hpa_query_cost(query, from, to, &cost[i]),
		                 HPA_OK);
		hpa_map_facts(map, &facts);
		hash[i] = facts.content_hash;
		size[i] = out.size;
		hpa_query_free(query);
		hpa_map_close(map);
		free(out.data);
		level_free(&level);
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
		bake_text(four_clusters, 2, true, HPA_COMPRESS_ALL);

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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
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
		bake_text(four_clusters, 2, true, HPA_COMPRESS_COLD);

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

struct patch {
	const char *id; /* section; NULL: the header; "" ends the list */
	uint32_t offset;
	unsigned width; /* bytes */
	uint64_t value;
};

#define NO_MORE                                                                \
	{                                                                      \
		"", 0, 0, 0                                                    \
	}

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
		{HPA_OFF_CONTENT_HASH, 8, 1, HPA_OK, NULL},
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		patch_header(&good, rows[i].offset, rows[i].width,
		             rows[i].value, rows[i].status, rows[i].why);
	free(good.data);
}

static void
checksums_are_checked(void **state)
{
	struct image image =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

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
		{HPA_ENT_PROFILE, 4, 16,
	         "a section's profile is out of range"},
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
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
	uint32_t at = (uint32_t)(entry_of(&good, HPA_ID_CELLS) - good.data);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		patch_header(&good, at + rows[i].offset, rows[i].width,
		             rows[i].value, HPA_CORRUPT, rows[i].why);
	free(good.data);
}

static void
padding_that_is_not_zero_is_refused(void **state)
{
	struct image image = bake_text(".\n", 1, false, HPA_COMPRESS_NONE);

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
	struct image image = bake_text(".\n", 1, false, HPA_COMPRESS_NONE);
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
	struct image image = bake_text(".\n", 1, false, HPA_COMPRESS_NONE);

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

/* Damage inside the sections. */

static void
apply_patches(const struct image *image, const struct patch *patches)
{
	for (; patches->id[0]; patches++)
		put(section_of(image, patches->id) + patches->offset,
		    patches->width, patches->value);
	image_seal(image);
}

struct refusal {
	const char *why;
	struct patch patches[4];
};

static void
assert_refusals(const struct image *good, const struct refusal *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct image image = image_copy(good);

		apply_patches(&image, rows[i].patches);
		assert_refused(&image, HPA_CORRUPT, rows[i].why);
		free(image.data);
	}
}

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows[0]))
#define FACT(field, value)                                                     \
	{                                                                      \
		HPA_ID_FACTS, HPA_FACT_##field, 4, value                       \
	}
#define LEVEL(l, field, width, value)                                          \
	{                                                                      \
		HPA_ID_LEVELS, (l)*HPA_LEVEL_SIZE + HPA_LEVEL_##field, width,  \
			value                                                  \
	}

static void
facts_and_levels_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the level's size is out of range", {FACT(WIDTH, 0), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(HEIGHT, 65536), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(WIDTH, 65536), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(HEIGHT, 0), NO_MORE}},
		{"the cluster size is out of range",
	         {FACT(CLUSTER_SIZE, 3), NO_MORE}},
		{"the cluster size is out of range",
	         {FACT(CLUSTER_SIZE, 33), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 0), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 13), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 33), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 12), FACT(CLUSTER_SIZE, 5), NO_MORE}},
		{"the size of section LEVL is wrong",
	         {FACT(N_LEVELS, 3), NO_MORE}},
		{"the movement rule is unknown", {FACT(MOVES, 3), NO_MORE}},
		{"the costs of a step are wrong",
	         {FACT(STRAIGHT, 71), NO_MORE}},
		{"the costs of a step are wrong",
	         {FACT(DIAGONAL, 100), NO_MORE}},
		{"the transition policy is unknown",
	         {FACT(POLICY, 3), NO_MORE}},
		{"the transition policy is unknown",
	         {FACT(POLICY, 2), FACT(PARAMETER, 0), NO_MORE}},
		{"a flag is unknown", {FACT(FLAGS, 8), NO_MORE}},
		{"the costs of a step are wrong", {FACT(FLAGS, 5), NO_MORE}},
		{"terrain and its flag do not agree",
	         {FACT(FLAGS, 5), FACT(STRAIGHT, 140), FACT(DIAGONAL, 198),
	          NO_MORE}},
		{"the agent's size is out of range",
	         {FACT(AGENT_SIZE, 0), NO_MORE}},
		{"the agent's size is out of range",
	         {FACT(AGENT_SIZE, 65), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 0), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 2), NO_MORE}},
		{"the number of nodes is out of range",
	         {FACT(N_NODES, HPA_NONE), NO_MORE}},
		{"the number of components is impossible",
	         {FACT(N_COMPONENTS, 0), NO_MORE}},
		{"the number of components is impossible",
	         {FACT(N_COMPONENTS, 49), NO_MORE}},
		{"the number of components is impossible",
	         {{HPA_ID_FACTS, HPA_FACT_N_FREE_CELLS, 8, 1u << 31}, NO_MORE}},
		{"a level's number of nodes is wrong",
	         {FACT(N_NODES, 5), NO_MORE}},
		{"a level's number of nodes is wrong",
	         {LEVEL(1, N_NODES, 4, 5), NO_MORE}},
		{"a level's cluster size is wrong",
	         {LEVEL(1, CLUSTER_SIZE, 4, 9), NO_MORE}},
		{"a level's reserved bytes are not 0",
	         {LEVEL(0, RESERVED, 4, 1), NO_MORE}},
		{"a level's number of edges is wrong",
	         {LEVEL(0, N_STORED, 8, 2), NO_MORE}},
		{"a level's number of edges is wrong",
	         {LEVEL(0, N_INTRA, 8, 2), FACT(FLAGS, 0), NO_MORE}},
		{"the number of intra-edges is wrong",
	         {LEVEL(0, N_STORED, 8, 0), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {LEVEL(1, N_INTER, 4, 0), NO_MORE}},
		{"the size of section INTR is wrong",
	         {LEVEL(0, N_INTER, 4, 3), NO_MORE}},
		{"the size of section CLUS is wrong",
	         {LEVEL(1, N_NODES, 4, 1), NO_MORE}},
		{"the size of section CELL is wrong",
	         {FACT(HEIGHT, 3), NO_MORE}},
	};
	struct image good =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

#define CELL_ROW(y, bits)                                                      \
	{                                                                      \
		HPA_ID_CELLS, 2 * (y), 2, bits                                 \
	}
#define NODE(id, x)                                                            \
	{                                                                      \
		HPA_ID_NODES, (id)*HPA_NODE_SIZE + HPA_NODE_X, 2, x            \
	}
#define LABEL(i, label)                                                        \
	{                                                                      \
		HPA_ID_COMPONENTS, 4 * (i), 4, label                           \
	}
#define FREE_CELLS(n)                                                          \
	{                                                                      \
		HPA_ID_FACTS, HPA_FACT_N_FREE_CELLS, 8, n                      \
	}

static void
cells_nodes_and_labels_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the number of free cells is wrong",
	         {CELL_ROW(0, 0x0ffe), NO_MORE}},
		{"the number of free cells is wrong",
	         {FREE_CELLS(47), NO_MORE}},
		{"a cell beyond the width is set",
	         {CELL_ROW(0, 0x1ffe), NO_MORE}},
		{"a cell beyond the width is set", {FACT(WIDTH, 11), NO_MORE}},
		{"a node is on a blocked cell",
	         {CELL_ROW(1, 0x0ff7), FREE_CELLS(47), NO_MORE}},
		{"a node is not in its cluster", {NODE(0, 4), NO_MORE}},
		{"a node is not in its cluster", {NODE(3, 12), NO_MORE}},
		{"nodes are out of order", {NODE(1, 7), NODE(2, 4), NO_MORE}},
		{"nodes are out of order", {NODE(1, 7), NO_MORE}},
		{"a label is out of range", {LABEL(0, 1), NO_MORE}},
		{"a cluster's label is wrong",
	         {LABEL(0, HPA_COMP_NONE), NO_MORE}},
		{"a cluster's labels are not in place",
	         {LABEL(0, HPA_COMP_MIXED), NO_MORE}},
		{"neighbouring cells have two labels",
	         {FACT(N_COMPONENTS, 2), LABEL(1, 1), NO_MORE}},
	};
	struct image good =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

static void
a_cluster_without_neighbours_is_checked(void **state)
{
	/* A label of the cluster, then those of its four runs. */
	static const struct refusal rows[] = {
		{"neighbouring cells have two labels", {LABEL(3, 1), NO_MORE}},
	};
	struct image good =
		bake_text(".@..\n.@..\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

static void
labels_of_runs_are_checked(void **state)
{
	/* Four labels of clusters, then the first one's runs: left, right. */
	static const struct refusal rows[] = {
		{"a label is out of range", {LABEL(5, 2), NO_MORE}},
		{"neighbouring cells have two labels", {LABEL(6, 1), NO_MORE}},
		{"neighbouring cells have two labels", {LABEL(1, 0), NO_MORE}},
		{"neighbouring cells have two labels",
	         {LABEL(5, 0), LABEL(7, 0), NO_MORE}},
		{"a cluster's labels are not in place",
	         {LABEL(0, HPA_COMP_MIXED + 1), NO_MORE}},
		{"the number of labels is wrong", {LABEL(0, 0), NO_MORE}},
	};
	struct image good =
		bake_text(four_clusters, 1, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* The arrays of three_clusters, by their places in the sections. */
#define INTER_FIRST(i, value)                                                  \
	{                                                                      \
		HPA_ID_INTER, 4 * (i), 4, value                                \
	}
#define INTER_TARGET(i, value)                                                 \
	{                                                                      \
		HPA_ID_INTER, 20 + 4 * (i), 4, value                           \
	}
#define FIRST_1(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 4 * (i), 4, value                             \
	}
#define TABLE_1(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 16 + 4 * (i), 4, value                        \
	}
#define UP_1(i, value)                                                         \
	{                                                                      \
		HPA_ID_CLUSTERS, 28 + 4 * (i), 4, value                        \
	}
#define FIRST_2(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 44 + 4 * (i), 4, value                        \
	}
#define TABLE_2(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 56 + 4 * (i), 4, value                        \
	}
#define NODE_2(i, value)                                                       \
	{                                                                      \
		HPA_ID_CLUSTERS, 64 + 4 * (i), 4, value                        \
	}

static void
ranks_and_inter_edges_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"a level's clusters do not cover it",
	         {FIRST_1(0, 1), NO_MORE}},
		{"a level's clusters do not cover it",
	         {FIRST_2(2, 3), NO_MORE}},
		{"clusters are out of order", {FIRST_1(1, 4), NO_MORE}},
		{"a rank has no node", {NODE_2(0, 4), NO_MORE}},
		{"a rank is not in its cluster", {NODE_2(0, 3), NO_MORE}},
		{"ranks are out of order",
	         {FIRST_2(1, 2), NODE_2(1, 1), NO_MORE}},
		{"a link up leads astray", {NODE_2(0, 1), NO_MORE}},
		{"a link up leads astray", {UP_1(2, 2), NO_MORE}},
		{"a node is not at the level below",
	         {UP_1(2, HPA_NONE), NO_MORE}},
		{"a node is at the wrong levels",
	         {NODE_2(0, 1), UP_1(1, 0), UP_1(2, HPA_NONE), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {INTER_FIRST(0, 1), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {INTER_FIRST(4, 3), NO_MORE}},
		{"inter-edges are out of order", {INTER_FIRST(1, 3), NO_MORE}},
		{"inter-edges are out of order",
	         {INTER_FIRST(1, HPA_NONE), NO_MORE}},
		{"an inter-edge leads nowhere", {INTER_TARGET(0, 4), NO_MORE}},
		{"an inter-edge is no transition",
	         {INTER_TARGET(0, 2), NO_MORE}},
		{"an inter-edge is no transition",
	         {INTER_TARGET(0, 0), NO_MORE}},
		{"an inter-edge has no way back",
	         {INTER_TARGET(1, 3), NO_MORE}},
		{"a node is at the wrong levels",
	         {INTER_FIRST(1, 0), INTER_FIRST(2, 1), NO_MORE}},
	};
	struct image good =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* Every cell at a border is a node: (3, 0) to (3, 2) and the row below these
 * are the first seven, of which (3, 3) has an edge to the right and one down. */
static void
inter_edges_of_a_corner_are_checked(void **state)
{
	static const char rows[] = "........\n........\n........\n........\n"
				   "........\n........\n........\n........\n";
	struct bake_options options;
	struct image good, image;
	uint8_t *first, *target;

	(void)state;
	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	options.compress = HPA_COMPRESS_NONE;
	good = bake_as(rows, &options);
	image = image_copy(&good);
	first = section_of(&image, HPA_ID_INTER);
	target = first + 4 * (28 + 1);
	assert_int_equal(hpa_get_u32(first, 6), 6);
	assert_int_equal(hpa_get_u32(first, 7), 8);
	/* Down first, then to the right. */
	hpa_put_le32(target + 4 * 6, hpa_get_u32(target, 7));
	hpa_put_le32(target + 4 * 7,
	             hpa_get_u32(section_of(&good, HPA_ID_INTER), 28 + 1 + 6));
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "inter-edges are out of order");
	/* From (3, 0) to (3, 1), which is in the same cluster. */
	memcpy(image.data, good.data, good.size);
	hpa_put_le32(target, 1);
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "an inter-edge is no transition");
	free(image.data);
	free(good.data);
}

/* The file with just these nodes at level 2. Its first level is left alone. */
static struct image
with_upper_nodes(const struct image *image, const uint32_t *ids, uint32_t n)
{
	const uint8_t *old = section_of(image, HPA_ID_CLUSTERS);
	const uint8_t *nodes = section_of(image, HPA_ID_NODES);
	uint32_t n_nodes = hpa_get_le32(section_of(image, HPA_ID_FACTS) +
	                                HPA_FACT_N_NODES);
	uint32_t n_old = hpa_get_le32(section_of(image, HPA_ID_LEVELS) +
	                              HPA_LEVEL_SIZE + HPA_LEVEL_N_NODES);
	uint8_t raw[256] = {0}, levels[2 * HPA_LEVEL_SIZE];
	uint8_t *up = raw + 4 * (4 + 3), *first = up + 4 * n_nodes;
	uint8_t *node = first + 4 * (3 + 2);
	struct image other, out;

	memcpy(raw, old, (size_t)(first - raw));
	memset(up, 0xff, 4 * n_nodes);
	memcpy(first, old + (first - raw), 4 * (3 + 2));
	hpa_put_le32(first + 4, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = hpa_get_le16(nodes + ids[i] * HPA_NODE_SIZE);

		hpa_put_le32(up + 4 * ids[i], i);
		hpa_put_le32(node + 4 * i, ids[i]);
		if (x < 8)
			hpa_put_le32(first + 4, i + 1);
	}
	hpa_put_le32(first + 8, n);
	assert_int_equal(hpa_get_le64(entry_of(image, HPA_ID_CLUSTERS) +
	                              HPA_ENT_RAW_SIZE),
	                 node - raw + 4 * (ptrdiff_t)n_old);
	memcpy(levels, section_of(image, HPA_ID_LEVELS), sizeof(levels));
	hpa_put_le32(levels + HPA_LEVEL_SIZE + HPA_LEVEL_N_NODES, n);
	other = with_section(image, HPA_ID_CLUSTERS, raw,
	                     (size_t)(node - raw) + 4 * n);
	out = with_section(&other, HPA_ID_LEVELS, levels, sizeof(levels));
	free(other.data);
	return out;
}

/* Node 0 is at level 2 if a link begins or ends there, 2 and 3 because their
 * edge crosses its border. */
static void
levels_of_nodes_are_checked(void **state)
{
	static const struct bake_link there = {3, 1, 8, 1, 1000, true, ""};
	static const struct bake_link back = {8, 1, 3, 1, 1000, true, ""};
	static const struct {
		const struct bake_link *link;
		const char *why;
		uint32_t n, ids[4];
	} rows[] = {
		{NULL, NULL, 2, {2, 3}},
		{NULL, "a node is at the wrong levels", 3, {1, 2, 3}},
		{&there, NULL, 3, {0, 2, 3}},
		{&there, "a node is at the wrong levels", 2, {0, 3}},
		{&there, "a link is not at every level", 2, {2, 3}},
		{&back, NULL, 3, {0, 2, 3}},
		{&back, "a link is not at every level", 2, {2, 3}},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct bake_options options;
		struct image good, image;

		bake_options_default(&options);
		options.cluster_size = 4;
		options.n_levels = 2;
		options.compress = HPA_COMPRESS_NONE;
		options.n_links = rows[i].link ? 1 : 0;
		options.links = rows[i].link;
		good = bake_as(three_clusters, &options);
		image = with_upper_nodes(&good, rows[i].ids, rows[i].n);
		if (rows[i].why)
			assert_refused(&image, HPA_CORRUPT, rows[i].why);
		else
			assert_opens(&image);
		free(image.data);
		free(good.data);
	}
}

#define RECORD(at, field, width, value)                                        \
	{                                                                      \
		HPA_ID_TABLES, (at) + HPA_TABLE_##field, width, value          \
	}
/* In the second record, at 16: two ends, two weights, two targets. */
#define END(i, value)                                                          \
	{                                                                      \
		HPA_ID_TABLES, 28 + 2 * (i), 2, value                          \
	}
#define WEIGHT(i, value)                                                       \
	{                                                                      \
		HPA_ID_TABLES, 32 + 2 * (i), 2, value                          \
	}
#define TARGET(i, value)                                                       \
	{                                                                      \
		HPA_ID_TABLES, 36 + (i), 1, value                              \
	}

static void
tables_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"a table is not in its place", {TABLE_1(0, 4), NO_MORE}},
		{"a table is not in its place", {TABLE_1(1, 8), NO_MORE}},
		{"a table is not in its place", {TABLE_1(1, 17), NO_MORE}},
		{"a table is not in its place",
	         {TABLE_2(0, HPA_NONE), NO_MORE}},
		{"a table's owner is wrong", {TABLE_1(2, 4), NO_MORE}},
		{"a table's owner is wrong", {TABLE_1(2, 12), NO_MORE}},
		{"a table's number of nodes is wrong",
	         {TABLE_1(2, 16), NO_MORE}},
		{"a table's cached paths are wrong",
	         {RECORD(16, PATHS, 4, 0), NO_MORE}},
		{"a table's number of nodes is wrong",
	         {RECORD(0, N_NODES, 2, 2), NO_MORE}},
		{"a table is cut off", {RECORD(0, N_NODES, 2, 65535), NO_MORE}},
		{"a table's width is unknown",
	         {RECORD(0, WIDE, 2, 2), NO_MORE}},
		{"a table's width is wrong", {RECORD(0, WIDE, 2, 1), NO_MORE}},
		{"a table's owner is wrong", {RECORD(0, OWNER, 4, 1), NO_MORE}},
		{"a table's owner is wrong",
	         {RECORD(16, OWNER, 4, 0), NO_MORE}},
		{"a table's rows are out of order", {END(0, 3), NO_MORE}},
		{"a table is cut off", {END(1, 100), NO_MORE}},
		{"an intra-edge's cost is impossible",
	         {WEIGHT(0, 209), WEIGHT(1, 209), NO_MORE}},
		{"an intra-edge's cost is impossible", {WEIGHT(1, 0), NO_MORE}},
		/* 4 squares of 2 x 2 cells at 239 each. */
		{"an intra-edge's cost is impossible",
	         {WEIGHT(0, 957), WEIGHT(1, 957), NO_MORE}},
		{"an intra-edge has no way back", {WEIGHT(0, 956), NO_MORE}},
		{"an intra-edge leads nowhere", {TARGET(0, 0), NO_MORE}},
		{"an intra-edge leads nowhere", {TARGET(1, 2), NO_MORE}},
		{"a table's padding is not 0", {TARGET(3, 1), NO_MORE}},
	};
	struct image good =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* What goes through a cluster of level 1 is made to cost more than what goes
 * through the cluster of level 2 that consists of two such ones: possible as a
 * cost, but no distances over level 1 are a bound for level 2 then. */
static void
landmarks_need_levels_that_agree(void **state)
{
	static const char row[] = "........................\n"
				  "........................\n"
				  "........................\n"
				  "........................\n";
	static const hpa_cell from = {0, 0}, to = {23, 3};
	struct image image = bake_text(row, 2, false, HPA_COMPRESS_NONE);
	uint8_t *weights = section_of(&image, HPA_ID_TABLES) + 32;
	const char *detail;
	hpa_query *query;
	hpa_map *map;
	uint64_t cost;

	(void)state;
	assert_int_equal(try_to_open(&image, &map, &detail), HPA_OK);
	assert_non_null(map->landmarks);
	hpa_map_close(map);
	assert_int_equal(hpa_get_le16(weights), 3 * HPA_COST_STRAIGHT);
	put(weights, 2, 956);
	put(weights + 2, 2, 956);
	image_seal(&image);
	assert_int_equal(try_to_open(&image, &map, &detail), HPA_OK);
	assert_null(map->landmarks);
	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	assert_int_equal(hpa_query_cost(query, from, to, &cost), HPA_OK);
	hpa_query_free(query);
	hpa_map_close(map);
	free(image.data);
}

static void
a_table_is_shared_only_where_nodes_lie_alike(void **state)
{
	/* Clusters 1 and 2 have two nodes each, but not in the same places:
	 * (4, 1) and (7, 1), (8, 1) and (11, 3). */
	struct image image =
		bake_text(four_clusters, 1, false, HPA_COMPRESS_NONE);
	uint8_t *offsets = section_of(&image, HPA_ID_CLUSTERS) + 20;

	(void)state;
	assert_int_not_equal(hpa_get_u32(offsets, 1), hpa_get_u32(offsets, 2));
	hpa_put_le32(offsets + 8, hpa_get_u32(offsets, 1));
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT,
	               "a table is shared by clusters that differ");
	free(image.data);
}

static void
targets_of_a_row_rise(void **state)
{
	static const char rows[] = "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n";
	struct image image = bake_text(rows, 1, false, HPA_COMPRESS_NONE);
	/* The middle one of 9 clusters: 4 nodes, each with an edge to all the
	 * others; behind 4 ends and 12 weights of 2 bytes. */
	uint8_t *table =
		section_of(&image, HPA_ID_TABLES) +
		hpa_get_u32(section_of(&image, HPA_ID_CLUSTERS), 10 + 4);
	uint8_t *targets = table + HPA_TABLE_ENDS + 8 + 24;

	(void)state;
	assert_int_equal(hpa_get_le16(table + HPA_TABLE_N_NODES), 4);
	assert_memory_equal(targets, "\1\2\3\0\2\3\0\1\3\0\1\2", 12);
	targets[1] = 1;
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "intra-edges are out of order");
	free(image.data);
}

/* One edge less, from 0 to 3, with the one back still there. */
static void
no_edge_leads_only_back(void **state)
{
	static const uint8_t ends[] = {2, 5, 8, 11};
	static const uint8_t targets[] = {1, 2, 0, 2, 3, 0, 1, 3, 0, 1, 2};
	static const char rows[] = "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n"
				   "............\n............\n";
	struct image image = bake_text(rows, 1, false, HPA_COMPRESS_NONE);
	uint8_t *at = section_of(&image, HPA_ID_TABLES) +
	              hpa_get_u32(section_of(&image, HPA_ID_CLUSTERS), 10 + 4) +
	              HPA_TABLE_ENDS;

	(void)state;
	for (unsigned i = 0; i < sizeof(ends); i++, at += 2)
		hpa_put_le16(at, ends[i]);
	for (unsigned i = 0; i < 11; i++, at += 2)
		hpa_put_le16(at, 900);
	memcpy(at, targets, sizeof(targets));
	memset(at + sizeof(targets), 0, 3);
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "an intra-edge has no way back");
	free(image.data);
}

static void
a_wide_table_has_a_heavy_edge(void **state)
{
	struct image image =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
	/* The second record, of two nodes, with twice the bytes a number. */
	static const uint8_t wide[] = {
		0xff, 0xff, 0xff, 0xff, 2,   0, 1, 0, 1,   0, 0, 0, 1, 0, 0, 0,
		2,    0,    0,    0,    210, 0, 0, 0, 210, 0, 0, 0, 1, 0, 0, 0};
	uint8_t tables[16 + sizeof(wide)];

	(void)state;
	memcpy(tables, section_of(&image, HPA_ID_TABLES), 16);
	memcpy(tables + 16, wide, sizeof(wide));
	assert_section_refused(&image, HPA_ID_TABLES, tables, sizeof(tables),
	                       "a table's width is wrong");
	free(image.data);
}

/* The ends of 128 links make the most that a narrow one can have, and more. */
static void
a_narrow_table_has_few_nodes(void **state)
{
	enum { SIDE = 32, N_LINKS = 128, N_NODES = 2 * N_LINKS };
	static struct bake_link links[N_LINKS];
	static uint8_t table[HPA_TABLE_ENDS + 2 * N_NODES];
	struct bake_options options;
	struct bake_output out;
	struct level level;
	struct image image;
	struct diag diag;

	(void)state;
	for (uint16_t i = 0; i < N_LINKS; i++)
		links[i] = (struct bake_link){
			.from_x = i % SIDE,
			.from_y = i / SIDE,
			.to_x = i % SIDE,
			.to_y = SIDE - 1 - i / SIDE,
			.cost = 1000,
		};
	bake_options_default(&options);
	options.cluster_size = SIDE;
	options.n_levels = 1;
	options.compress = HPA_COMPRESS_NONE;
	options.n_links = N_LINKS;
	options.links = links;
	assert_int_equal(level_new(SIDE, SIDE, NULL, &level, &diag), DIAG_OK);
	memset(level.cells, 1, (size_t)SIDE * SIDE);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	image = (struct image){out.data, out.size};
	assert_int_equal(hpa_get_le32(section_of(&image, HPA_ID_FACTS) +
	                              HPA_FACT_N_NODES),
	                 N_NODES);
	hpa_put_le32(table + HPA_TABLE_PATHS, HPA_NONE);
	hpa_put_le16(table + HPA_TABLE_N_NODES, N_NODES);
	assert_section_refused(&image, HPA_ID_TABLES, table, sizeof(table),
	                       "a table's width is wrong");
	free(image.data);
	level_free(&level);
}

static void
cached_paths_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"a table's cached paths are wrong",
	         {RECORD(16, PATHS, 4, HPA_NONE), NO_MORE}},
		{"a table's cached paths are wrong",
	         {RECORD(0, PATHS, 4, 0), NO_MORE}},
		{"a table's cached paths are cut off",
	         {RECORD(16, PATHS, 4, 2), NO_MORE}},
		{"a table's cached paths are cut off",
	         {RECORD(16, PATHS, 4, 10), NO_MORE}},
		{"cached paths are there, but no flag",
	         {FACT(FLAGS, HPA_FACT_FLAG_PRUNED), NO_MORE}},
	};
	struct image good =
		bake_text(three_clusters, 2, true, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* Labels. */

static struct image
bake_labels(const char *rows)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size = 4;
	options.fast_queries = true;
	options.compress = HPA_COMPRESS_COLD;
	return bake_as(rows, &options);
}

/* Four nodes: HUBS begins with wide and first[5]. The first hub is in the labels
 * of all of them. */
#define HUB(place, width, value)                                               \
	{                                                                      \
		HPA_ID_LABELS, place, width, value                             \
	}
#define RANKS (HPA_HUBS_FIRST + 4 * 5)

static void
labels_are_checked(void **state)
{
	struct image good = bake_labels(three_clusters);
	uint8_t *raw = section_of(&good, HPA_ID_LABELS);
	uint32_t n = hpa_get_u32(raw + HPA_HUBS_FIRST, 4);
	uint32_t distances = RANKS + 2 * n, edges = distances + 3 * n;
	const struct refusal rows[] = {
		{"the size of section HUBS is wrong",
	         {HUB(HPA_HUBS_WIDE, 4, 1), NO_MORE}},
		{"the size of section HUBS is wrong",
	         {HUB(HPA_HUBS_WIDE, 4, 2), NO_MORE}},
		{"the size of section HUBS is wrong",
	         {HUB(HPA_HUBS_FIRST + 16, 4, n + 1), NO_MORE}},
		{"labels are out of order",
	         {HUB(HPA_HUBS_FIRST, 4, 1), NO_MORE}},
		{"labels are out of order",
	         {HUB(HPA_HUBS_FIRST + 8, 4, n + 1), NO_MORE}},
		{"a label's hubs are out of order",
	         {HUB(RANKS + 2 * (n - 1), 2, 4), NO_MORE}},
		{"a label's hubs are out of order",
	         {HUB(RANKS + 2 * (n - 1), 2, 0), NO_MORE}},
		{"a label names no edge", {HUB(edges, 1, 2), NO_MORE}},
		{"a label names no edge", {HUB(edges + n - 1, 1, 1), NO_MORE}},
	};

	(void)state;
	assert_true(hpa_get_u32(raw + HPA_HUBS_FIRST, 4) >
	            hpa_get_u32(raw + HPA_HUBS_FIRST, 3) + 1);
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* The same labels, told in the wide way. */
static struct image
widen_labels(const struct image *image)
{
	struct parts parts;
	struct image wide;
	struct hpa_hubs hubs;
	uint32_t n_nodes, n;
	uint8_t *raw, *out;
	uint32_t i = 0;

	take_apart(image, &parts);
	while (strcmp(parts.sections[i].id, HPA_ID_LABELS))
		i++;
	n_nodes = hpa_get_le32(section_of(image, HPA_ID_FACTS) +
	                       HPA_FACT_N_NODES);
	hpa_hubs_at(parts.sections[i].raw, n_nodes, &hubs);
	n = hpa_hubs_first(&hubs, n_nodes);
	raw = malloc((size_t)hpa_hubs_size(n_nodes, n, true));
	assert_non_null(raw);
	memcpy(raw, parts.sections[i].raw, HPA_HUBS_FIRST + 4 * (n_nodes + 1));
	hpa_put_le32(raw + HPA_HUBS_WIDE, 1);
	out = raw + HPA_HUBS_FIRST + 4 * (n_nodes + 1);
	for (uint32_t e = 0; e < n; e++, out += 4)
		hpa_put_le32(out, hpa_hub_rank(&hubs, false, e));
	for (uint32_t e = 0; e < n; e++, out += 4)
		hpa_put_le32(out, hpa_hub_distance(&hubs, false, e));
	memcpy(out, hubs.edges, n);
	parts.sections[i].raw = raw;
	parts.sections[i].raw_size = (size_t)hpa_hubs_size(n_nodes, n, true);
	wide = put_together(&parts, HPA_COMPRESS_NONE);
	free(raw);
	return wide;
}

static void
far_hubs_are_refused(void **state)
{
	struct image good = bake_labels(three_clusters);
	struct image wide = widen_labels(&good);
	uint8_t *raw = section_of(&wide, HPA_ID_LABELS);
	uint32_t n = hpa_get_u32(raw + HPA_HUBS_FIRST, 4);

	(void)state;
	assert_opens(&wide);
	hpa_put_le32(raw + RANKS + 4 * n, HPA_MAX_DISTANCE + 1);
	image_seal(&wide);
	assert_refused(&wide, HPA_CORRUPT, "a hub is too far away");
	hpa_put_le32(raw + HPA_HUBS_WIDE, 2);
	image_seal(&wide);
	assert_refused(&wide, HPA_CORRUPT, "the size of section HUBS is wrong");
	free(wide.data);
	free(good.data);
}

/* Add narrow labels without entries. */
static struct image
add_empty_labels(const struct image *image)
{
	uint32_t n_nodes = hpa_get_le32(section_of(image, HPA_ID_FACTS) +
	                                HPA_FACT_N_NODES);
	size_t size = (size_t)hpa_hubs_size(n_nodes, 0, false);
	uint8_t *raw = calloc(1, size);
	struct image labelled;
	struct parts parts;

	assert_non_null(raw);
	take_apart(image, &parts);
	parts.sections[parts.n++] = (struct hpa_new_section){
		HPA_ID_LABELS, 0, false, raw, size, NULL, true};
	labelled = put_together(&parts, HPA_COMPRESS_NONE);
	free(raw);
	return labelled;
}

static void
there_are_no_labels_beside_links(void **state)
{
	struct image good = bake_subject("world");
	struct image labelled = add_empty_labels(&good);

	(void)state;
	assert_refused(&labelled, HPA_CORRUPT, "there are labels beside links");
	free(labelled.data);
	free(good.data);
}

/* Twelve of the sixteen cells of a cluster inside are nodes. */
static void
narrow_labels_have_few_nodes(void **state)
{
	enum { SIDE = 300 };
	struct bake_options options;
	struct image good, labelled;
	struct bake_output out;
	struct level level;
	struct diag diag;

	(void)state;
	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	options.compress = HPA_COMPRESS_NONE;
	assert_int_equal(level_new(SIDE, SIDE, NULL, &level, &diag), DIAG_OK);
	memset(level.cells, 1, (size_t)SIDE * SIDE);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	good = (struct image){out.data, out.size};
	labelled = add_empty_labels(&good);
	assert_refused(&labelled, HPA_CORRUPT,
	               "narrow labels can't name all hubs");
	free(labelled.data);
	free(good.data);
	level_free(&level);
}

static const char rows_with_walls[] = "......@.........\n"
				      "......@.........\n"
				      "..@.........@...\n"
				      "..@.........@...\n";

/* What a path costs that is found by labels or else by a search. */
static uint64_t
cost_of_walk(const struct image *image, bool has_labels)
{
	static hpa_cell cells[MAX_PATH_CELLS];
	uint64_t cost = 0;
	hpa_query *query;
	hpa_map *map;
	const char *detail;
	size_t n;

	assert_int_equal(try_to_open(image, &map, &detail), HPA_OK);
	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	hpa_query_set_smoothing(query, HPA_SMOOTH_NONE, 0);
	assert_int_equal(hpa_query_path(query, (hpa_cell){0, 0},
	                                (hpa_cell){15, 0}, cells,
	                                MAX_PATH_CELLS, &n),
	                 HPA_OK);
	assert_int_equal(hpa_query_expanded(query) == 0, has_labels);
	assert_int_equal(hpa_query_cost(query, (hpa_cell){0, 0},
	                                (hpa_cell){15, 0}, &cost),
	                 HPA_OK);
	hpa_query_free(query);
	hpa_map_close(map);
	return cost;
}

/* The file without its labels, or with labels that `compress` applies to. */
static struct image
change_labels(const struct image *image, bool drop, enum hpa_compress compress)
{
	struct parts parts;
	uint32_t i = 0;

	take_apart(image, &parts);
	while (strcmp(parts.sections[i].id, HPA_ID_LABELS))
		i++;
	parts.sections[i].is_stored = false;
	if (drop)
		memmove(parts.sections + i, parts.sections + i + 1,
		        (--parts.n - i) * sizeof(*parts.sections));
	return put_together(&parts, compress);
}

static void
labels_may_be_left_out_but_not_compressed(void **state)
{
	struct image good = bake_labels(rows_with_walls);
	struct image without = change_labels(&good, true, HPA_COMPRESS_NONE);
	struct image smaller = change_labels(&good, false, HPA_COMPRESS_COLD);

	(void)state;
	assert_int_equal(cost_of_walk(&good, true),
	                 cost_of_walk(&without, false));
	assert_refused(&smaller, HPA_CORRUPT, "section HUBS is not stored");
	free(smaller.data);
	free(without.data);
	free(good.data);
}

static void
wide_labels_say_the_same(void **state)
{
	struct image narrow = bake_labels(rows_with_walls);
	struct image wide = widen_labels(&narrow);

	(void)state;
	assert_int_equal(cost_of_walk(&narrow, true),
	                 cost_of_walk(&wide, true));
	free(wide.data);
	free(narrow.data);
}

static void
tables_fill_their_section(void **state)
{
	struct image image =
		bake_text(three_clusters, 2, false, HPA_COMPRESS_NONE);
	uint8_t tables[64] = {0};
	struct parts parts;
	struct image more;

	(void)state;
	take_apart(&image, &parts);
	assert_string_equal(parts.sections[7].id, "TABL");
	memcpy(tables, parts.sections[7].raw, parts.sections[7].raw_size);
	parts.sections[7].raw = tables;
	parts.sections[7].raw_size += 4;
	more = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&more, HPA_CORRUPT,
	               "there is something behind the tables");
	free(more.data);
	free(image.data);
}

/* Terrain, agents and links. The world's are those of subjects.c: three classes,
 * three agents, a one-way link into the closet and a two-way one. */

#define TERR(offset, width, value)                                             \
	{                                                                      \
		HPA_ID_TERRAIN, offset, width, value                           \
	}
#define CLASS(i, field, width, value)                                          \
	TERR(HPA_TERR_CLASSES + (i)*HPA_CLASS_SIZE + HPA_CLASS_##field, width, \
	     value)
#define AGENT(offset, value)                                                   \
	{                                                                      \
		HPA_ID_AGENTS, offset, 1, value                                \
	}
#define LINK(i, field, width, value)                                           \
	{                                                                      \
		HPA_ID_LINKS, (i)*HPA_LINK_SIZE + HPA_LINK_##field, width,     \
			value                                                  \
	}
#define LINK_EDGE(i, field, value)                                             \
	{                                                                      \
		HPA_ID_LINK_EDGES, (i)*HPA_LEDGE_SIZE + HPA_LEDGE_##field, 4,  \
			value                                                  \
	}
#define REACH(offset, width, value)                                            \
	{                                                                      \
		HPA_ID_REACH, offset, width, value                             \
	}

static void
terrain_and_agents_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 0), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 256), NO_MORE}},
		{"the least factor is wrong", {FACT(MIN_FACTOR, 2), NO_MORE}},
		{"an agent's name is no text", {AGENT(0, 7), NO_MORE}},
		{"an agent's name is no text", {AGENT(31, 'x'), NO_MORE}},
		{"an agent's name is no text",
	         {{HPA_ID_AGENTS, 0, 8, 0}, NO_MORE}},
		{"an agent's name is no text",
	         {AGENT(HPA_AGENT_TERRAIN, 0x7f), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_N_CLASSES, 4, 0), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_N_CLASSES, 4, 65), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_BITS_LOG2, 4, 4), NO_MORE}},
		{"the size of section TERR is wrong",
	         {TERR(HPA_TERR_N_CLASSES, 4, 2), NO_MORE}},
		{"a terrain class is wrong", {CLASS(1, NAME, 1, 7), NO_MORE}},
		{"a terrain class is wrong",
	         {CLASS(1, FACTOR, 4, 256), NO_MORE}},
		{"a free cell has no factor",
	         {CLASS(1, FACTOR, 4, 0), NO_MORE}},
		{"a cell's class is unknown",
	         {TERR(HPA_TERR_CLASSES + 3 * HPA_CLASS_SIZE, 1, 3), NO_MORE}},
		{"profiles do not have one level", {FACT(MOVES, 1), NO_MORE}},
		{"profiles do not have one level", {FACT(WIDTH, 14), NO_MORE}},
	};
	struct image good = bake_subject("world");

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

static void
links_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"a link is wrong", {LINK(0, FLAGS, 4, 2), NO_MORE}},
		{"a link is wrong",
	         {LINK(0, COST, 4, HPA_MAX_LINK_COST + 1), NO_MORE}},
		{"a link is wrong", {LINK(0, NAME, 1, 7), NO_MORE}},
		{"the number of links is wrong",
	         {LINK(0, FLAGS, 4, 0), NO_MORE}},
		{"the number of links is wrong",
	         {LINK(0, TO_X, 2, 5), LINK(0, TO_Y, 2, 0), NO_MORE}},
		{"the number of links is wrong",
	         {LINK(0, FROM_X, 2, 5), NO_MORE}},
		{"a link leads out of the level",
	         {LINK(0, FROM_X, 2, 13), NO_MORE}},
		{"a link leads out of the level",
	         {LINK(0, FROM_X, 2, 16), NO_MORE}},
		{"a link leads out of the level",
	         {LINK(0, FROM_Y, 2, 9), NO_MORE}},
		{"a link leads out of the level",
	         {LINK(0, TO_X, 2, 13), NO_MORE}},
		{"a link leads out of the level",
	         {LINK(0, TO_Y, 2, 9), NO_MORE}},
		{"a link leads nowhere", {LINK_EDGE(0, FROM, 1000), NO_MORE}},
		{"a link leads nowhere", {LINK_EDGE(0, TO, 1000), NO_MORE}},
		{"a link leads nowhere", {LINK_EDGE(0, LINK, 2), NO_MORE}},
		{"a link is not where it should be",
	         {LINK_EDGE(0, TO, 0), NO_MORE}},
		{"links are out of order",
	         {LINK_EDGE(1, FROM, 0), LINK_EDGE(1, LINK, 0), NO_MORE}},
		{"links are out of order", {LINK_EDGE(2, FROM, 0), NO_MORE}},
		{"reachable components are wrong", {REACH(8, 4, 7), NO_MORE}},
		{"reachable components are wrong", {REACH(8, 4, 0), NO_MORE}},
		{"reachable components are wrong", {REACH(13, 1, 0), NO_MORE}},
		{"reachable components are wrong", {REACH(12, 1, 7), NO_MORE}},
		{"a link is not in the components", {REACH(12, 1, 1), NO_MORE}},
		{"the size of section REAC is wrong",
	         {REACH(HPA_REACH_N, 4, 1), NO_MORE}},
		{"the size of section REAC is wrong",
	         {REACH(HPA_REACH_N, 4, HPA_MAX_REACH + 1), NO_MORE}},
	};
	struct image good = bake_subject("world");

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* The first edge is that of a one-way link, the second goes back on the other. */
static void
ends_of_link_edges_are_checked(void **state)
{
	static const char why[] = "a link is not where it should be";
	struct image good = bake_subject("world");
	const uint8_t *edges = section_of(&good, HPA_ID_LINK_EDGES);
	uint32_t from = hpa_get_le32(edges + HPA_LEDGE_FROM);
	uint32_t to = hpa_get_le32(edges + HPA_LEDGE_TO);
	uint32_t from_1 = hpa_get_le32(edges + HPA_LEDGE_SIZE + HPA_LEDGE_FROM);
	uint32_t to_1 = hpa_get_le32(edges + HPA_LEDGE_SIZE + HPA_LEDGE_TO);
	const struct refusal rows[] = {
		{why, {LINK_EDGE(0, FROM, from + 1), NO_MORE}},
		{why,
	         {LINK_EDGE(0, FROM, to), LINK_EDGE(0, TO, from), NO_MORE}},
		{why, {LINK_EDGE(1, FROM, from_1 - 1), NO_MORE}},
		{why, {LINK_EDGE(1, TO, to_1 - 1), NO_MORE}},
	};

	(void)state;
	assert_int_equal(hpa_get_le32(edges + HPA_LEDGE_SIZE + HPA_LEDGE_LINK),
	                 1);
	assert_true(from_1 < to_1 && from + 1 < from_1);
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* A section of another size, with nothing else changed. */
static void
sizes_of_sections_are_checked(void **state)
{
	static const struct {
		const char *id;
		int more; /* bytes */
		const char *why;
	} rows[] = {
		{"FACT", 4, "the size of section FACT is wrong"},
		{"FACT", -4, "the size of section FACT is wrong"},
		{"LEVL", 32, "the size of section LEVL is wrong"},
		{"CELL", 1, "the size of section CELL is wrong"},
		{"COMP", 1, "the size of section COMP is wrong"},
		{"COMP", -40, "the size of section COMP is wrong"},
		{"NODE", 4, "the size of section NODE is wrong"},
		{"INTR", 4, "the size of section INTR is wrong"},
		{"CLUS", 4, "the size of section CLUS is wrong"},
		{"AGNT", 1, "the size of section AGNT is wrong"},
		{"TERR", 1, "the size of section TERR is wrong"},
		{"TERR", -152, "the size of section TERR is wrong"},
		{"LINK", 1, "the size of section LINK is wrong"},
		{"LINK", (HPA_MAX_LINKS - 1) * HPA_LINK_SIZE,
	         "the size of section LINK is wrong"},
		{"LEDG", 1, "the size of section LEDG is wrong"},
		{"LEDG", (2 * HPA_MAX_LINKS - 2) * HPA_LEDGE_SIZE,
	         "the size of section LEDG is wrong"},
		{"REAC", 1, "the size of section REAC is wrong"},
		{"REAC", -11, "the size of section REAC is wrong"},
		{"TABL", -1, "a table is cut off"},
	};
	static uint8_t bytes[(HPA_MAX_LINKS + 1) * HPA_LINK_SIZE];
	struct image good = bake_subject("world");

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		size_t size = (size_t)hpa_get_le64(entry_of(&good, rows[i].id) +
		                                   HPA_ENT_RAW_SIZE);

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, section_of(&good, rows[i].id), size);
		assert_section_refused(&good, rows[i].id, bytes,
		                       (size_t)((long)size + rows[i].more),
		                       rows[i].why);
	}
	free(good.data);
}

/* Every begin of one is too short, whatever is read of it. */
static void
a_section_that_is_cut_off_is_refused(void **state)
{
	static const struct {
		const char *subject, *id, *why;
	} rows[] = {
		{"world", "TERR", "the size of section TERR is wrong"},
		{"world", "REAC", "the size of section REAC is wrong"},
		{"world", "TABL", "a table is cut off"},
		{"labelled", "HUBS", "the size of section HUBS is wrong"},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct image good = bake_subject(rows[i].subject);
		struct image stored = store(&good);
		const uint8_t *raw = section_of(&stored, rows[i].id);

		for (size_t size = 0; size < 12; size++) {
			if (size == 0 && !strcmp(rows[i].id, "HUBS"))
				continue; /* there are none */
			assert_section_refused(&stored, rows[i].id, raw, size,
			                       rows[i].why);
		}
		free(stored.data);
		free(good.data);
	}
}

static void
reach_has_a_limit(void **state)
{
	enum { N = HPA_MAX_REACH + 1, STRIDE = (N + 7) / 8 };
	static uint8_t raw[HPA_REACH_COMPONENTS + 4 * N + N * STRIDE];
	struct image good = bake_subject("world");

	(void)state;
	hpa_put_le32(raw + HPA_REACH_N, N);
	assert_section_refused(&good, HPA_ID_REACH, raw, sizeof(raw),
	                       "the size of section REAC is wrong");
	free(good.data);
}

/* Three cells that one-way links lead through: what is reached over another is
 * reached. */
static void
reach_is_closed(void **state)
{
	static const struct bake_link links[] = {
		{0, 0, 2, 0, 1000, true, ""}, {2, 0, 4, 0, 1000, true, ""}};
	static const struct refusal rows[] = {
		{"reachable components are wrong", {REACH(16, 1, 3), NO_MORE}},
	};
	struct bake_options options;
	struct bake_output out;
	struct level level;
	struct image good;
	struct diag diag;

	(void)state;
	bake_options_default(&options);
	options.n_links = 2;
	options.links = links;
	level_from_text(".@.@.\n", &level);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	good = (struct image){out.data, out.size};
	assert_int_equal(section_of(&good, "REAC")[16], 7);
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
	level_free(&level);
}

/* Eight cells, each with a link to the one before, and one without. */
static void
who_is_not_linked_is_not_reached(void **state)
{
	enum { N = 8, LAST = 2 * N };
	static struct bake_link links[N - 1];
	struct bake_options options;
	struct image good, image;
	const uint8_t *reach;
	const char *detail;
	hpa_map *map;

	(void)state;
	for (uint32_t i = 0; i < N - 1; i++)
		links[i] = (struct bake_link){.from_x = (uint16_t)(2 * i + 2),
		                              .to_x = (uint16_t)(2 * i),
		                              .cost = 1000,
		                              .is_one_way = true};
	bake_options_default(&options);
	options.n_links = N - 1;
	options.links = links;
	options.compress = HPA_COMPRESS_NONE;
	good = bake_as(".@.@.@.@.@.@.@.@.\n", &options);
	reach = section_of(&good, HPA_ID_REACH);
	assert_int_equal(hpa_get_le32(reach + HPA_REACH_N), N);
	image = with_section(&good, HPA_ID_REACH, reach,
	                     HPA_REACH_COMPONENTS + 4 * N + N);
	assert_int_equal(try_to_open(&image, &map, &detail), HPA_OK);
	for (uint32_t x = 0; x < LAST; x += 2) {
		hpa_cell from = {(uint16_t)x, 0}, last = {LAST, 0};

		assert_int_equal(hpa_map_reachable(map, from, (hpa_cell){0, 0}),
		                 HPA_OK);
		assert_int_equal(hpa_map_reachable(map, from, last),
		                 HPA_NO_PATH);
		assert_int_equal(hpa_map_reachable(map, last, from),
		                 HPA_NO_PATH);
	}
	hpa_map_close(map);
	free(image.data);
	free(good.data);
}

/* Sections of one file for profile 0, those of another one for profile 1. */
static void
profiles_are_of_one_height(void **state)
{
	static const uint8_t agents[2 * HPA_AGENT_SIZE] = {
		[0] = 'a', [HPA_AGENT_SIZE] = 'b'};
	struct image first =
		bake_text(three_clusters, 1, false, HPA_COMPRESS_NONE);
	struct image second =
		bake_text("............\n............\n............\n", 1,
	                  false, HPA_COMPRESS_NONE);
	struct parts parts, others;
	struct image both;

	(void)state;
	take_apart(&first, &parts);
	take_apart(&second, &others);
	for (uint32_t i = 0; i < others.n; i++) {
		if (!strcmp(others.sections[i].id, HPA_ID_TABLES))
			continue;
		parts.sections[parts.n] = others.sections[i];
		parts.sections[parts.n++].profile = 1;
	}
	parts.sections[parts.n++] = (struct hpa_new_section){
		HPA_ID_AGENTS, 0, true, agents, sizeof(agents), NULL, false};
	both = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&both, HPA_CORRUPT, "profiles do not have one level");
	free(both.data);
	free(second.data);
	free(first.data);
}

/* Without PATH it is the flags alone that tell of cached paths. */
static void
profiles_have_the_same_flags(void **state)
{
	static const struct refusal rows[] = {
		{"profiles do not have one level",
	         {FACT(FLAGS, HPA_FACT_FLAG_PRUNED | HPA_FACT_FLAG_WEIGHTED),
	          NO_MORE}},
	};
	struct image good = bake_subject("world"), less;
	struct parts parts;

	(void)state;
	take_apart(&good, &parts);
	assert_string_equal(parts.sections[parts.n - 1].id, HPA_ID_PATHS);
	parts.n--;
	less = put_together(&parts, HPA_COMPRESS_NONE);
	assert_opens(&less);
	assert_refusals(&less, rows, N_ROWS(rows));
	free(less.data);
	free(good.data);
}

static void
labels_agree_from_above_to_below(void **state)
{
	static const struct refusal rows[] = {
		{"neighbouring cells have two labels",
	         {FACT(N_COMPONENTS, 2), LABEL(1, 1), NO_MORE}},
	};
	struct image good = bake_text("....\n....\n....\n....\n....\n", 1,
	                              false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ROWS(rows));
	free(good.data);
}

/* Weights were compared with the octile distances of the owner's profile, which
 * must not be the smaller ones. */
static void
a_table_is_shared_only_with_a_lower_factor(void **state)
{
	static const struct terrain_class mud = {"mud", 3, false};
	static const struct bake_agent agents[] = {{"any", 1, ""},
	                                           {"pig", 1, "mud"}};
	struct bake_options options;
	struct bake_output out;
	struct image good, image;
	uint8_t clusters[12];
	struct parts parts;
	struct level level;
	struct diag diag;
	uint32_t last;

	(void)state;
	bake_options_default(&options);
	options.n_agents = 2;
	options.agents = agents;
	options.compress = HPA_COMPRESS_NONE;
	level_from_text("....\n", &level);
	level_add_class(&level, &mud);
	level.cells[0] = (uint8_t)(level.terrain.n - 1);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	good = (struct image){out.data, out.size};
	take_apart(&good, &parts);
	last = parts.n - 1;
	assert_string_equal(parts.sections[last].id, "TABL");
	assert_int_equal(parts.sections[last].raw_size, 24);
	parts.sections[last--].raw_size = 12;
	assert_string_equal(parts.sections[last].id, "CLUS");
	assert_int_equal(parts.sections[last].raw_size, sizeof(clusters));
	memset(clusters, 0, sizeof(clusters));
	parts.sections[last].raw = clusters;
	image = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&image, HPA_CORRUPT,
	               "a table is shared by clusters that differ");
	free(image.data);
	free(good.data);
	level_free(&level);
}

/* Compressed sections. The container knows no more of them than their sizes,
 * so that one of any content will do. */

static struct image
write_blob(const uint8_t *raw, size_t size)
{
	struct hpa_new_section section = {"blob", 0, false, raw, size, NULL,
	                                  false};
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

static void
inflating_takes_memory(void **state)
{
	struct image image = bake_subject("packed world");
	const char *detail;
	hpa_map *map;

	(void)state;
	no_memory_for_zlib = true;
	assert_int_equal(try_to_open(&image, &map, &detail), HPA_NO_MEMORY);
	no_memory_for_zlib = false;
	assert_null(map);
	assert_opens(&image);
	free(image.data);
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
	for (size_t i = 0; i < N_ROWS(rows); i++) {
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
	struct image good = bake_subject("packed world");

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
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

/* The room of a section that is inflated at open is in the header, and what
 * does not inflate is refused. */
static void
a_hot_section_that_does_not_inflate_is_refused(void **state)
{
	struct bake_options options;
	struct bake_output out;
	struct image image;
	struct level level;
	struct diag diag;
	uint8_t *entry;

	(void)state;
	bake_options_default(&options);
	options.compress = HPA_COMPRESS_ALL;
	assert_int_equal(level_new(128, 64, NULL, &level, &diag), DIAG_OK);
	memset(level.cells, 1, (size_t)128 * 64);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	image = (struct image){out.data, out.size};
	assert_opens(&image);
	entry = entry_of(&image, HPA_ID_CELLS);
	assert_int_equal(entry[HPA_ENT_CODEC], HPA_CODEC_ZLIB);
	assert_int_equal(hpa_get_le64(entry + HPA_ENT_RAW_SIZE), 1024);
	section_of(&image, HPA_ID_CELLS)[HPA_ZLIB_ENDS + 4] ^= 0xff;
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "a section does not inflate");
	free(image.data);
	level_free(&level);
}

/* Any damage, with checksums put right: refused, or answered without harm. */

/* Open it and use it; false if it is refused. */
static bool
use_damaged(struct rng *rng, const struct image *image)
{
	const char *detail, *wrong;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st != HPA_OK) {
		assert_true(st == HPA_CORRUPT || st == HPA_NOT_HPA ||
		            st == HPA_TOO_NEW);
		assert_non_null(detail);
		return false;
	}
	wrong = inquire(rng, map, 4);
	if (wrong)
		fail_msg("%s", wrong);
	hpa_map_close(map);
	return true;
}

static struct image
bake_random(struct rng *rng)
{
	struct bake_options options;
	struct bake_output out;
	struct level level;
	struct diag diag;

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
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	level_free(&level);
	return (struct image){out.data, out.size};
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

/* Labels may lie: then a path is found to be corrupt, or is a legal one. */
static void
damaged_labels_do_no_harm(void **state)
{
	struct rng rng = {test_seed() + 1};
	uint32_t n_opened = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct image image = bake_labels(i % 2 ? four_clusters
		                                       : three_clusters);
		uint8_t *raw = section_of(&image, HPA_ID_LABELS);
		uint32_t n = hpa_get_u32(raw + HPA_HUBS_FIRST, 4);
		uint32_t size = (uint32_t)hpa_get_le64(
			entry_of(&image, HPA_ID_LABELS) + HPA_ENT_RAW_SIZE);

		for (uint32_t k = rng_between(&rng, 1, 4); k > 0; k--)
			raw[rng_between(&rng, RANKS + 2 * n, size - 1)] =
				(uint8_t)rng_below(&rng,
			                           rng_chance(&rng, 50) ? 3
			                                                : 256);
		image_seal(&image);
		n_opened += use_damaged(&rng, &image);
		free(image.data);
	}
	assert_true(n_opened > 0);
}

static void
a_trusted_file_opens_too(void **state)
{
	hpa_open_options options = {.flags = HPA_TRUST};
	struct image image =
		bake_text(four_clusters, 2, true, HPA_COMPRESS_ALL);
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
		cmocka_unit_test(facts_and_levels_are_checked),
		cmocka_unit_test(cells_nodes_and_labels_are_checked),
		cmocka_unit_test(a_cluster_without_neighbours_is_checked),
		cmocka_unit_test(labels_of_runs_are_checked),
		cmocka_unit_test(ranks_and_inter_edges_are_checked),
		cmocka_unit_test(inter_edges_of_a_corner_are_checked),
		cmocka_unit_test(levels_of_nodes_are_checked),
		cmocka_unit_test(tables_are_checked),
		cmocka_unit_test(landmarks_need_levels_that_agree),
		cmocka_unit_test(a_table_is_shared_only_where_nodes_lie_alike),
		cmocka_unit_test(targets_of_a_row_rise),
		cmocka_unit_test(no_edge_leads_only_back),
		cmocka_unit_test(a_wide_table_has_a_heavy_edge),
		cmocka_unit_test(a_narrow_table_has_few_nodes),
		cmocka_unit_test(cached_paths_are_checked),
		cmocka_unit_test(tables_fill_their_section),
		cmocka_unit_test(labels_are_checked),
		cmocka_unit_test(far_hubs_are_refused),
		cmocka_unit_test(there_are_no_labels_beside_links),
		cmocka_unit_test(narrow_labels_have_few_nodes),
		cmocka_unit_test(wide_labels_say_the_same),
		cmocka_unit_test(labels_may_be_left_out_but_not_compressed),
		cmocka_unit_test(damaged_labels_do_no_harm),
		cmocka_unit_test(terrain_and_agents_are_checked),
		cmocka_unit_test(links_are_checked),
		cmocka_unit_test(ends_of_link_edges_are_checked),
		cmocka_unit_test(sizes_of_sections_are_checked),
		cmocka_unit_test(a_section_that_is_cut_off_is_refused),
		cmocka_unit_test(reach_has_a_limit),
		cmocka_unit_test(reach_is_closed),
		cmocka_unit_test(who_is_not_linked_is_not_reached),
		cmocka_unit_test(profiles_are_of_one_height),
		cmocka_unit_test(profiles_have_the_same_flags),
		cmocka_unit_test(labels_agree_from_above_to_below),
		cmocka_unit_test(a_table_is_shared_only_with_a_lower_factor),
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
		cmocka_unit_test(damage_with_right_checksums_does_no_harm),
		cmocka_unit_test(a_trusted_file_opens_too),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
