/* test_pack.c: sections that are packed, and what is refused of them.
 *
 * A file with everything compressed has the sections of one that is stored, byte
 * for byte. Damage is done behind the deflate, where no checksum is left to
 * notice: the bytes of a section, packed or not, are changed and the file is put
 * together again. Whatever then comes out of unpacking must pass the checks that
 * a stored section has to, or be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "formats/hpa_layout.h"
#include "formats/hpa_pack.h"
#include "formats/hpa_read.h"
#include "formats/hpa_shape.h"
#include "formats/hpa_unpack.h"
#include "tests/baked.h"
#include "tests/subjects.h"
#include "tests/support.h"
#include "tests/world.h"

#define MAX_SIDE 48
#define N_WORLDS 400
#define N_DAMAGED 60
#define MAX_CELLS 4096

static void
assert_same_sections(const struct hpa_file *a, const struct hpa_file *b)
{
	assert_int_equal(a->n_sections, b->n_sections);
	for (uint32_t i = 0; i < a->n_sections; i++) {
		const struct hpa_section *x = &a->sections[i];
		const struct hpa_section *y = &b->sections[i];

		assert_string_equal(x->id, y->id);
		assert_int_equal(x->profile, y->profile);
		assert_int_equal(x->raw_size, y->raw_size);
		if (x->raw && y->raw && x->raw_size > 0 &&
		    memcmp(x->raw, y->raw, x->raw_size))
			fail_msg("%s of profile %u", x->id,
			         (unsigned)x->profile);
	}
}

static void
packed_sections_are_those_that_are_stored(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_packed[HPA_N_PACKED] = {0};

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file stored, packed;

		options.compress = HPA_COMPRESS_NONE;
		world_bake(&world, &options, &stored);
		options.compress = HPA_COMPRESS_ALL;
		world_bake(&world, &options, &packed);
		assert_same_sections(&stored.file, &packed.file);
		for (uint32_t k = 0; k < packed.file.n_sections; k++)
			for (uint32_t p = 0; p < HPA_N_PACKED; p++)
				n_packed[p] +=
					packed.file.sections[k].codec ==
						HPA_CODEC_PACKED &&
					!strcmp(packed.file.sections[k].id,
				                hpa_packed_ids[p]);
		world_close(&stored);
		world_close(&packed);
		level_free(&world.level);
	}
	for (uint32_t p = 0; p < HPA_N_PACKED; p++) {
		printf("# %s packed %lu times\n", hpa_packed_ids[p],
		       (unsigned long)n_packed[p]);
		assert_true(n_packed[p] > 10);
	}
}

/* Unpacking alone, with its input and output in memory of exactly their size. */

static bool
unpack_copy(const struct hpa_file *file, const struct hpa_section *section,
            const uint8_t *packed, size_t size)
{
	uint8_t *in = malloc(size ? size : 1);
	uint8_t *out = malloc(section->raw_size ? section->raw_size : 1);
	bool ok;

	assert_true(in && out);
	if (size)
		memcpy(in, packed, size);
	ok = hpa_unpack(file, section, in, size, out);
	free(in);
	free(out);
	return ok;
}

static void
packed_bytes_that_are_cut_or_too_many_are_refused(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS / 8; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file opened;

		options.compress = HPA_COMPRESS_NONE;
		world_bake(&world, &options, &opened);
		for (uint32_t k = 0; k < opened.file.n_sections; k++) {
			const struct hpa_section *section =
				&opened.file.sections[k];
			uint8_t *bytes;
			size_t size;

			assert_true(
				hpa_pack(&opened.file, section, &bytes, &size));
			if (!bytes)
				continue;
			assert_true(unpack_copy(&opened.file, section, bytes,
			                        size));
			for (size_t n = 0; n < size && n < 300; n++)
				assert_false(unpack_copy(&opened.file, section,
				                         bytes, n));
			bytes = realloc(bytes, size + 1);
			assert_non_null(bytes);
			bytes[size] = 0;
			assert_false(unpack_copy(&opened.file, section, bytes,
			                         size + 1));
			free(bytes);
		}
		world_close(&opened);
		level_free(&world.level);
	}
}

/* What unpacking relies on: sections that nobody has checked. Some are changed
 * in a good file, each in memory of its size, and unpacking must notice. */

#define NO_RAW INT32_MIN
#define MUCH INT32_MAX /* 2^34: what 32 bits don't see */

struct change {
	const char *id; /* NULL ends the list */
	uint32_t profile;
	int32_t more;           /* bytes, or one of the two above */
	uint32_t offset, value; /* a u32 that goes there, if one is not 0 */
};

#define FACT(profile, field, value)                                            \
	{                                                                      \
		HPA_ID_FACTS, profile, 0, HPA_FACT_##field, value              \
	}
#define SIZE(id, profile, more)                                                \
	{                                                                      \
		id, profile, more, 0, 0                                        \
	}

static struct hpa_section *
section_of(struct hpa_file *file, const char *id, uint32_t profile)
{
	for (uint32_t i = 0; i < file->n_sections; i++)
		if (!strcmp(file->sections[i].id, id) &&
		    file->sections[i].profile == profile)
			return &file->sections[i];
	fail_msg("there is no section %s", id);
	return NULL;
}

/* Put all sections into memory of their sizes, with the changes. */
static void
change_sections(struct hpa_file *file, const struct change *changes)
{
	for (uint32_t i = 0; i < file->n_sections; i++) {
		struct hpa_section *section = &file->sections[i];
		uint8_t *raw = calloc(1, section->raw_size + 4096);

		assert_non_null(raw);
		if (section->raw_size)
			memcpy(raw, section->raw, section->raw_size);
		section->raw = raw;
	}
	for (; changes->id; changes++) {
		struct hpa_section *section =
			section_of(file, changes->id, changes->profile);
		uint8_t *raw = (uint8_t *)(uintptr_t)section->raw;

		if (changes->more != NO_RAW && changes->more != MUCH)
			section->raw_size =
				(size_t)((ptrdiff_t)section->raw_size +
			                 changes->more);
		if (changes->offset || changes->value)
			hpa_put_le32(raw + changes->offset, changes->value);
	}
	for (uint32_t i = 0; i < file->n_sections; i++) {
		struct hpa_section *section = &file->sections[i];
		void *exact = realloc((void *)(uintptr_t)section->raw,
		                      section->raw_size + !section->raw_size);

		assert_non_null(exact);
		section->raw = exact;
	}
}

/* Unpack a section of a file whose other sections are changed. */
static bool
unpack_changed(const struct image *image, const char *id, uint32_t profile,
               const struct change *changes, const uint8_t *packed, size_t size)
{
	const uint8_t *raw[HPA_MAX_SECTIONS];
	const char *detail = NULL;
	struct hpa_file file;
	uint8_t *in = malloc(size + !size), *out;
	bool ok;

	assert_int_equal(
		hpa_file_read(image->data, image->size, true, &file, &detail),
		HPA_OK);
	change_sections(&file, changes);
	for (uint32_t i = 0; i < file.n_sections; i++)
		raw[i] = file.sections[i].raw;
	out = malloc(section_of(&file, id, profile)->raw_size + 1);
	assert_true(in && out);
	out = realloc(out, section_of(&file, id, profile)->raw_size +
	                           !section_of(&file, id, profile)->raw_size);
	assert_non_null(out);
	for (; changes->id; changes++) {
		struct hpa_section *section =
			section_of(&file, changes->id, changes->profile);

		if (changes->more == NO_RAW)
			section->raw = NULL;
		if (changes->more == MUCH)
			section->raw_size += (size_t)((uint64_t)1 << 34);
	}
	if (size)
		memcpy(in, packed, size);
	ok = hpa_unpack(&file, section_of(&file, id, profile), in, size, out);
	for (uint32_t i = 0; i < file.n_sections; i++)
		free((void *)(uintptr_t)raw[i]);
	free(out);
	free(in);
	return ok;
}

/* The packed bytes of a section; free them. */
static uint8_t *
pack_section(const struct image *image, const char *id, uint32_t profile,
             size_t *size)
{
	const char *detail = NULL;
	struct hpa_file file;
	uint8_t *packed;

	assert_int_equal(
		hpa_file_read(image->data, image->size, true, &file, &detail),
		HPA_OK);
	assert_true(
		hpa_pack(&file, section_of(&file, id, profile), &packed, size));
	assert_non_null(packed);
	return packed;
}

/* Three agents, of the sizes 1, 2 and 2. */
static struct image
bake_three_agents(void)
{
	struct image images[N_SUBJECTS];

	subjects_bake(images);
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		if (i != 4)
			free(images[i].data);
	return images[4];
}

static void
what_unpacking_relies_on_is_checked(void **state)
{
	static const struct {
		const char *id;
		uint32_t profile;
		struct change changes[4];
	} rows[] = {
		{"CELL", 1, {FACT(1, MIN_FACTOR, 256)}},
		{"CELL", 1, {FACT(0, AGENT_SIZE, 0)}},
		{"CELL", 1, {FACT(0, AGENT_SIZE, 3)}},
		{"CELL", 1, {SIZE("CELL", 1, 1)}},
		{"CELL", 1, {SIZE("CELL", 0, 1)}},
		{"CELL", 1, {SIZE("CELL", 0, NO_RAW)}},
		{"NODE", 0, {FACT(0, AGENT_SIZE, 0)}},
		{"NODE", 0, {SIZE("FACT", 0, 1)}},
		{"NODE", 0, {SIZE("FACT", 0, 64)}},
		{"NODE", 0, {SIZE("FACT", 0, -64)}},
		{"NODE", 0, {SIZE("FACT", 0, NO_RAW)}},
		{"NODE", 0, {SIZE("CELL", 0, 1)}},
		{"NODE", 0, {SIZE("NODE", 0, -4)}},
		{"NODE", 0, {SIZE("NODE", 0, 4)}},
		{"NODE", 0, {SIZE("NODE", 0, MUCH)}},
		{"INTR", 0, {FACT(0, AGENT_SIZE, 0)}},
		{"INTR", 0, {SIZE("NODE", 0, 1)}},
		{"INTR", 0, {SIZE("NODE", 0, MUCH)}},
		{"INTR", 0, {SIZE("INTR", 0, -4)}},
		{"INTR", 0, {SIZE("INTR", 0, 1)}},
		{"INTR", 0, {SIZE("INTR", 0, 4)}},
		{"INTR", 0, {SIZE("INTR", 0, MUCH)}},
		{"CLUS", 0, {FACT(0, AGENT_SIZE, 0)}},
		{"CLUS", 0, {SIZE("LEVL", 0, 1)}},
		{"CLUS", 0, {SIZE("LEVL", 0, 32)}},
		{"CLUS", 0, {SIZE("CLUS", 0, 4)}},
		{"CLUS", 0, {SIZE("NODE", 0, 1)}},
		{"CLUS", 0, {SIZE("NODE", 0, MUCH)}},
		{"CLUS", 0, {SIZE("INTR", 0, -4)}},
		{"CLUS", 0, {SIZE("INTR", 0, 1)}},
		{"CLUS", 0, {{"NODE", 0, 0, 0, UINT32_MAX}}},
		{"TABL", 0, {SIZE("TABL", 0, -4)}},
		{"TABL", 0, {SIZE("TABL", 0, 4)}},
		{"TABL", 0, {FACT(0, AGENT_SIZE, 0)}},
		{"TABL", 0, {SIZE("NODE", 0, 1)}},
		{"TABL", 0, {SIZE("CLUS", 0, 1)}},
		{"TABL", 0, {SIZE("CLUS", 0, 4)}},
		{"TABL", 0, {SIZE("LEVL", 0, 32)}},
	};
	static const struct change none[] = {{0}};
	struct image image = bake_three_agents();

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		size_t size;
		uint8_t *packed;

		/* Where a size has 32 bits none is so large. */
		if (sizeof(size_t) < 8 && rows[i].changes[0].more == MUCH)
			continue;
		packed = pack_section(&image, rows[i].id, rows[i].profile,
		                      &size);
		assert_true(unpack_changed(&image, rows[i].id, rows[i].profile,
		                           none, packed, size));
		if (unpack_changed(&image, rows[i].id, rows[i].profile,
		                   rows[i].changes, packed, size))
			fail_msg("row %u: %s", (unsigned)i, rows[i].id);
		free(packed);
	}
	free(image.data);
}

/* Not even where the last profile would do as the one before the first. */
static void
the_first_profile_has_nothing_to_be_packed_by(void **state)
{
	static const struct change changes[] = {FACT(2, AGENT_SIZE, 1), {0}};
	static const uint8_t packed[18];
	struct image image = bake_three_agents();

	(void)state;
	assert_true(unpack_changed(&image, "CELL", 1, changes, packed,
	                           sizeof(packed)));
	assert_false(unpack_changed(&image, "CELL", 0, changes, packed,
	                            sizeof(packed)));
	free(image.data);
}

/* CLUS counts the clusters of the profiles before, also where it names none of
 * their tables: all are new here, and of no size. */
static void
the_clusters_before_are_counted(void **state)
{
	enum { N_CLUSTERS = 4 * 3 + 2 * 2 };
	static const struct change rows[][2] = {
		{SIZE("CLUS", 0, 1)},
		{SIZE("CLUS", 0, 4)},
		{FACT(0, AGENT_SIZE, 0)},
	};
	static const struct change none[] = {{0}};
	struct image image = bake_three_agents();
	size_t size, n;
	uint8_t *packed = pack_section(&image, "CLUS", 1, &size);

	(void)state;
	/* How many nodes are everywhere, these, and where the tables begin. */
	n = 1 + (size_t)packed[0];
	while (packed[n++] & 0x80)
		;
	packed = realloc(packed, n + 2 * N_CLUSTERS);
	assert_non_null(packed);
	memset(packed + n, 0, 2 * N_CLUSTERS);
	size = n + 2 * N_CLUSTERS;
	assert_true(unpack_changed(&image, "CLUS", 1, none, packed, size));
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (unpack_changed(&image, "CLUS", 1, rows[i], packed, size))
			fail_msg("row %u", (unsigned)i);
	/* The last cluster has the table of the last one before, of the first
	 * one, and of none. */
	packed[--size - 1] = N_CLUSTERS;
	assert_true(unpack_changed(&image, "CLUS", 1, none, packed, size));
	packed[size - 1] = 2 * N_CLUSTERS - 1;
	assert_true(unpack_changed(&image, "CLUS", 1, none, packed, size));
	packed[size - 1] = 2 * N_CLUSTERS;
	assert_false(unpack_changed(&image, "CLUS", 1, none, packed, size));
	free(packed);
	free(image.data);
}

/* What the specification makes of three_clusters. Nodes are at (3, 1), (4, 1),
 * (7, 1) and (8, 1), the last two at level 2. */
#define BYTES(text) text, sizeof(text) - 1
#define GOOD_CLUS BYTES("\0\0\0\4\0\6\2\2\2")

static void
packed_bytes_are_checked(void **state)
{
	static const struct {
		const char *id;
		bool ok;
		const char *packed;
		size_t size;
		struct change changes[3];
	} rows[] = {
		/* Per cluster: how many differ, each after how many. */
		{"NODE", true, BYTES("\1\7\1\7\0"), {{0}}},
		{"NODE", false, BYTES("\1\7\1\7\1\20"), {{0}}},
		/* No places behind the last one; a number beyond 32 bits. */
		{"NODE", false, BYTES("\1\7\1\7\1\17\0"), {{0}}},
		{"NODE", false, BYTES("\1\7\1\7\200\200\200\200\20"), {{0}}},
		/* Per node: in which directions it differs. */
		{"INTR", true, BYTES("\0\0\0\0"), {{0}}},
		{"INTR", false, BYTES("\0\0\0\2"), {SIZE("INTR", 0, 4)}},
		{"INTR", false, BYTES("\0\0\0\0"), {SIZE("INTR", 0, -20)}},
		/* No node everywhere, tables from 0 on, 4 and 6 numbers large. */
		{"CLUS", true, GOOD_CLUS, {{0}}},
		{"CLUS",
	         false,
	         BYTES("\0\200\200\200\200\4\0\4\0\6\2\2\2"),
	         {{0}}},
		{"CLUS",
	         false,
	         BYTES("\0\0\0\4\0\6\2\377\377\377\377\17\2"),
	         {{0}}},
		{"CLUS",
	         false,
	         GOOD_CLUS,
	         {{"INTR", 0, 0, 4, 2}, {"INTR", 0, 0, 8, 1}}},
		{"CLUS", false, GOOD_CLUS, {{"INTR", 0, 0, 16, 5}}},
		{"CLUS", false, GOOD_CLUS, {{"INTR", 0, 0, 32, UINT32_MAX}}},
		{"CLUS", false, GOOD_CLUS, {SIZE("INTR", 0, -20)}},
		{"CLUS",
	         false,
	         GOOD_CLUS,
	         {SIZE("CLUS", 0, 4), {"LEVL", 0, 0, HPA_LEVEL_N_NODES, 5}}},
		{"CLUS",
	         false,
	         GOOD_CLUS,
	         {SIZE("CLUS", 0, -4),
	          {"LEVL", 0, 0, HPA_LEVEL_SIZE + HPA_LEVEL_N_NODES, 1}}},
		/* Per row: how many edges, each after how many nodes, and by how
	         * much it exceeds the octile distance. */
		{"TABL", true, BYTES("\0\1\0\0"), {{0}}},
		{"TABL", true, BYTES("\0\1\1\5\0"), {{0}}},
		{"TABL", false, BYTES("\0\1\1\377\377\377\377\17\0"), {{0}}},
		{"TABL", false, BYTES("\0\1\2\0"), {{0}}},
		{"TABL", false, BYTES("\0\1\2"), {SIZE("TABL", 0, -8)}},
		{"TABL", false, BYTES("\0\1\0\0\0"), {{"CLUS", 0, 0, 60, 40}}},
		{"TABL", false, BYTES("\0\1\0\0"), {{"CLUS", 0, 0, 0, 9}}},
	};
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (unpack_changed(&image, rows[i].id, 0, rows[i].changes,
		                   (const uint8_t *)rows[i].packed,
		                   rows[i].size) != rows[i].ok)
			fail_msg("row %u: %s", (unsigned)i, rows[i].id);
	free(image.data);
}

/* A node that lies outside of the level can be in a cluster of it, by the number,
 * and in none of the level above: here in the last of 3 x 3, and behind the last
 * of 2 x 2. */
static void
a_node_outside_of_the_level_does_no_harm(void **state)
{
	struct bake_options options = small_clusters();
	struct change changes[4] = {{HPA_ID_NODES, 0, 0, 0, 8 * 4}};
	const struct hpa_section *inter;
	const char *detail = NULL;
	struct hpa_file file;
	struct image image;
	uint32_t first;
	uint8_t *packed;
	size_t size;

	(void)state;
	options.n_levels = 2;
	image = bake_all_free(12, 12, &options);
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	/* It is cut off from the others, lest it be at level 2: the node after
	 * it gets its edge, and the way back leads there. */
	inter = section_of(&file, HPA_ID_INTER, 0);
	first = 4 * ((uint32_t)section_of(&file, HPA_ID_NODES, 0)->raw_size /
	                     HPA_NODE_SIZE +
	             1);
	changes[1] = (struct change){HPA_ID_INTER, 0, 0, 4, 0};
	while (hpa_get_le32(inter->raw + first) != 0)
		first += 4;
	changes[2] = (struct change){HPA_ID_INTER, 0, 0, first, 1};
	packed = pack_section(&image, HPA_ID_CLUSTERS, 0, &size);
	assert_true(unpack_changed(&image, HPA_ID_CLUSTERS, 0, changes, packed,
	                           size));
	free(packed);
	free(image.data);
}

static struct image
bake_every(const char *rows)
{
	struct bake_options options = small_clusters();

	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	return bake_rows(rows, &options);
}

/* Nodes beside each other in one cluster have no edge. Neither have those at
 * (7, 3) and (0, 7): what lies to the right of the level is not the first column
 * of the clusters below. */
static void
just_the_edges_of_transitions_are_expected(void **state)
{
	static const struct change none[] = {{0}};
	static const uint8_t packed[64];
	struct image image = bake_every("........\n........\n........\n"
	                                "@@@@@@@.\n........\n........\n"
	                                "........\n.@@@@@@@\n........\n"
	                                "........\n........\n........\n");
	const char *detail = NULL;
	struct hpa_file file;
	size_t n_nodes;

	(void)state;
	assert_int_equal(
		hpa_file_read(image.data, image.size, true, &file, &detail),
		HPA_OK);
	n_nodes = section_of(&file, HPA_ID_NODES, 0)->raw_size / HPA_NODE_SIZE;
	assert_in_range(n_nodes, 4, sizeof(packed));
	assert_true(
		unpack_changed(&image, HPA_ID_INTER, 0, none, packed, n_nodes));
	free(image.data);
}

/* One at (3, 3), against expectation, one below, and none to the right. */
static void
nodes_are_expected_on_free_cells(void **state)
{
	static const struct change none[] = {{0}};
	static const uint8_t packed[] = {1, 15, 0, 0, 0};
	struct image image = bake_every("....@...\n....@...\n....@...\n"
	                                "@@@.@@@@\n....@...\n....@...\n"
	                                "....@...\n....@...\n");

	(void)state;
	assert_true(unpack_changed(&image, HPA_ID_NODES, 0, none, packed,
	                           sizeof(packed)));
	free(image.data);
}

static void
a_larger_agent_does_not_reach_beyond_the_level(void **state)
{
	const struct hpa_shape shape = {.width = 8, .height = 2, .stride = 1};
	uint8_t *before = malloc(2), row;

	(void)state;
	assert_non_null(before);
	memset(before, 0xff, 2);
	hpa_shape_expect_cells(&shape, before, 1, 0, &row);
	assert_int_equal(row, 0x7f);
	hpa_shape_expect_cells(&shape, before, 1, 1, &row);
	assert_int_equal(row, 0);
	hpa_shape_expect_cells(&shape, before, 63, 0, &row);
	assert_int_equal(row, 0);
	free(before);
}

static void
members_of_a_cluster_exist(void **state)
{
	static const struct {
		bool ok, has_node;
		uint32_t begin, end, n_nodes, n_all;
	} rows[] = {
		{true, false, 0, 2, 2, 2},
		{true, true, 0, 2, 2, 3},
		{false, true, UINT32_MAX, 1, 2, 3},
		{false, true, 0, 2, 1, 3},
		{false, false, 0, 2, 2, 1},
		{false, true, 0, 2, 2, 2}, /* the second is number 2 */
		{true, false, 0, UINT16_MAX, UINT16_MAX + 1, UINT16_MAX + 1},
		{false, false, 0, UINT16_MAX + 1, UINT16_MAX + 1,
	         UINT16_MAX + 1},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct hpa_shape_walk walk = {.nodes = {NULL, rows[i].n_all}};
		struct hpa_shape_members members;
		uint8_t clusters[16];

		hpa_put_le32(clusters, rows[i].begin);
		hpa_put_le32(clusters + 4, rows[i].end);
		hpa_put_le32(clusters + 8, 0);
		hpa_put_le32(clusters + 12, 2);
		walk.clusters = clusters;
		walk.levels[0].n_nodes = rows[i].n_nodes;
		walk.levels[0].node = rows[i].has_node ? 8 : 0;
		if (hpa_shape_members(&walk, &members) != rows[i].ok)
			fail_msg("row %u", (unsigned)i);
	}
}

/* Files of sections that are made up: without a node, and with all clusters
 * having one table. */
struct made_up {
	uint32_t width, height, cluster_size, n_levels, straight, diagonal,
		min_factor, agent_size;
};

#define MAX_MADE_UP (UINT16_MAX + 1)

static void
add_section(struct hpa_file *file, const char *id, uint32_t profile,
            const uint8_t *raw, uint64_t raw_size)
{
	struct hpa_section *section = &file->sections[file->n_sections++];

	*section = (struct hpa_section){
		.profile = profile, .raw = raw, .raw_size = (size_t)raw_size};
	memcpy(section->id, id, 4);
}

static uint64_t
count_made_up(const struct made_up *made_up)
{
	uint64_t n = 0;

	for (uint32_t l = 0; l < made_up->n_levels; l++) {
		uint64_t size = (uint64_t)made_up->cluster_size << l;

		n += (made_up->width + size - 1) / size *
		     ((made_up->height + size - 1) / size);
	}
	return n;
}

static void
put_fact(uint8_t *facts, const struct made_up *made_up)
{
	hpa_put_le32(facts + HPA_FACT_WIDTH, made_up->width);
	hpa_put_le32(facts + HPA_FACT_HEIGHT, made_up->height);
	hpa_put_le32(facts + HPA_FACT_CLUSTER_SIZE, made_up->cluster_size);
	hpa_put_le32(facts + HPA_FACT_N_LEVELS, made_up->n_levels);
	hpa_put_le32(facts + HPA_FACT_STRAIGHT, made_up->straight);
	hpa_put_le32(facts + HPA_FACT_DIAGONAL, made_up->diagonal);
	hpa_put_le32(facts + HPA_FACT_MIN_FACTOR, made_up->min_factor);
	hpa_put_le32(facts + HPA_FACT_AGENT_SIZE, made_up->agent_size);
}

/* Unpack CLUS of a profile, which is the second one there. */
static bool
unpack_made_up(const struct made_up *first, const struct made_up *second,
               uint32_t profile)
{
	static uint8_t out[3 * 4 * MAX_MADE_UP], packed[MAX_MADE_UP + 3];
	static const uint8_t zeros[13 * HPA_LEVEL_SIZE];
	static struct hpa_file file;
	uint8_t facts[2][HPA_FACT_SIZE] = {{0}};
	uint64_t n = count_made_up(second);

	file.n_sections = 0;
	put_fact(facts[0], first);
	put_fact(facts[1], second);
	add_section(&file, HPA_ID_FACTS, 0, facts[0], HPA_FACT_SIZE);
	add_section(&file, HPA_ID_LEVELS, 0, zeros,
	            first->n_levels * HPA_LEVEL_SIZE);
	/* Nobody looks into it. */
	add_section(&file, HPA_ID_CLUSTERS, 0, zeros,
	            4 * (2 * count_made_up(first) + first->n_levels));
	add_section(&file, HPA_ID_FACTS, profile, facts[1], HPA_FACT_SIZE);
	add_section(&file, HPA_ID_LEVELS, profile, zeros,
	            second->n_levels * HPA_LEVEL_SIZE);
	add_section(&file, HPA_ID_NODES, 0, zeros, 0);
	add_section(&file, HPA_ID_INTER, 0, zeros, 4);
	add_section(&file, HPA_ID_CLUSTERS, profile, out,
	            4 * (2 * n + second->n_levels));
	assert_true(file.sections[7].raw_size <= sizeof(out));
	/* One new table, then each has that of the cluster before. */
	memset(packed, 1, sizeof(packed));
	memcpy(packed, "\0\0\0\3", 4);
	return hpa_unpack(&file, &file.sections[7], packed,
	                  n ? (size_t)n + 3 : 2, out);
}

static void
facts_are_in_range(void **state)
{
	static const struct made_up usual = {12, 4, 4, 1, 70, 99, 1, 1};
	static const struct {
		bool ok;
		struct made_up made_up;
	} rows[] = {
		{true, {12, 4, 4, 1, 70, 99, 1, 1}},
		{false, {0, 4, 4, 1, 70, 99, 1, 1}},
		{true, {65535, 4, 4, 1, 70, 99, 1, 1}},
		{false, {65536, 4, 4, 1, 70, 99, 1, 1}},
		{false, {12, 0, 4, 1, 70, 99, 1, 1}},
		{true, {12, 65535, 4, 1, 70, 99, 1, 1}},
		{false, {12, 65536, 4, 1, 70, 99, 1, 1}},
		{false, {12, 4, 3, 1, 70, 99, 1, 1}},
		{true, {12, 4, 32, 1, 70, 99, 1, 1}},
		{false, {12, 4, 33, 1, 70, 99, 1, 1}},
		{false, {12, 4, 4, 0, 70, 99, 1, 1}},
		{true, {12, 4, 4, 12, 70, 99, 1, 1}},
		{false, {12, 4, 4, 13, 70, 99, 1, 1}},
		{true, {12, 4, 4, 1, 140, 198, 255, 64}},
		{false, {12, 4, 4, 1, 141, 198, 255, 64}},
		{false, {12, 4, 4, 1, 140, 199, 255, 64}},
		{false, {12, 4, 4, 1, 140, 198, 256, 64}},
		{false, {12, 4, 4, 1, 140, 198, 255, 65}},
		{false, {12, 4, 4, 1, 140, 198, 255, 0}},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (unpack_made_up(&usual, &rows[i].made_up, 1) != rows[i].ok)
			fail_msg("row %u", (unsigned)i);
}

/* The largest level has 335 million clusters; 12 times that is below 2^32. */
static void
clusters_of_all_profiles_have_a_limit(void **state)
{
	static const struct made_up largest = {65535, 65535, 4, 2,
	                                       70,    99,    1, 1};
	static const struct made_up usual = {12, 4, 4, 1, 70, 99, 1, 1};

	(void)state;
	assert_true(unpack_made_up(&largest, &usual, 12));
	assert_false(unpack_made_up(&largest, &usual, 13));
}

/* Damage behind the deflate. */

struct part {
	uint8_t *bytes; /* what is deflated, or stored */
	size_t size;
};

static struct part
take_out(const struct hpa_section *section)
{
	struct hpa_section as_zlib = *section;
	struct hpa_blocks blocks;
	struct part part;
	uint8_t *room;

	if (section->codec == HPA_CODEC_PACKED) {
		as_zlib.codec = HPA_CODEC_ZLIB;
		as_zlib.raw_size = section->inflated_size;
	}
	part.size = as_zlib.raw_size;
	part.bytes = malloc(part.size ? part.size : 1);
	room = malloc(hpa_blocks_size(&as_zlib));
	assert_true(part.bytes && room);
	assert_int_equal(hpa_blocks_init(&blocks, &as_zlib, room), HPA_OK);
	assert_true(hpa_blocks_read(&blocks, 0, part.bytes, part.size));
	free(room);
	return part;
}

static void
damage(struct rng *rng, struct part *part)
{
	uint32_t n = rng_between(rng, 1, 3);

	for (uint32_t i = 0; i < n && part->size > 0; i++) {
		size_t at = rng_below(rng, (uint32_t)part->size);

		if (rng_chance(rng, 50))
			part->bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
		else
			part->bytes[at] = (uint8_t)rng_below(rng, 256);
	}
}

/* What the part is stored as, by the codec; appended to a file. */
static size_t
put_part(const struct part *part, uint8_t codec, uint8_t *out)
{
	uint8_t *list = out;
	uLongf size = compressBound((uLong)part->size);

	if (codec == HPA_CODEC_STORED) {
		if (part->size)
			memcpy(out, part->bytes, part->size);
		return part->size;
	}
	if (codec == HPA_CODEC_PACKED) {
		hpa_put_le32(out + HPA_PACKED_SIZE, (uint32_t)part->size);
		list += HPA_PACKED_BLOCKS;
	}
	assert_true(part->size > 0 && part->size <= HPA_BLOCK_SIZE);
	hpa_put_le32(list + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
	hpa_put_le32(list + HPA_ZLIB_N_BLOCKS, 1);
	assert_int_equal(compress2(list + HPA_ZLIB_ENDS + 4, &size, part->bytes,
	                           (uLong)part->size, 6),
	                 Z_OK);
	hpa_put_le32(list + HPA_ZLIB_ENDS, (uint32_t)size);
	return (size_t)(list - out) + HPA_ZLIB_ENDS + 4 + size;
}

/* The file with one section changed. */
static struct part
put_together(const struct hpa_file *file, uint32_t changed,
             const struct part *instead)
{
	size_t head =
		HPA_HEADER_SIZE + (size_t)file->n_sections * HPA_ENTRY_SIZE;
	struct part out = {calloc(1, file->size + 2 * instead->size + 1000),
	                   head};

	assert_non_null(out.bytes);
	memcpy(out.bytes, file->data, head);
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];
		uint8_t *entry = out.bytes + HPA_HEADER_SIZE +
		                 (size_t)i * HPA_ENTRY_SIZE;
		size_t at = (out.size + 7) & ~(size_t)7;
		size_t size = section->stored_size;

		if (i == changed)
			size = put_part(instead, section->codec,
			                out.bytes + at);
		else if (size > 0)
			memcpy(out.bytes + at, section->stored, size);
		hpa_put_le64(entry + HPA_ENT_OFFSET, at);
		hpa_put_le64(entry + HPA_ENT_STORED_SIZE, size);
		hpa_put_le32(entry + HPA_ENT_CRC,
		             (uint32_t)crc32_z(0, out.bytes + at, size));
		out.size = at + size;
	}
	hpa_put_le64(out.bytes + HPA_OFF_FILE_SIZE, out.size);
	hpa_put_le32(out.bytes + HPA_OFF_TABLE_CRC,
	             (uint32_t)crc32_z(0, out.bytes + HPA_HEADER_SIZE,
	                               head - HPA_HEADER_SIZE));
	hpa_put_le32(out.bytes + HPA_OFF_HEADER_CRC,
	             (uint32_t)crc32_z(0, out.bytes, HPA_OFF_HEADER_CRC));
	return out;
}

/* A byte more than there is to be unpacked. */
static void
a_section_that_does_not_unpack_is_refused(void **state)
{
	struct image images[N_SUBJECTS];
	const char *detail = NULL;
	const hpa_open_options how = {.detail = &detail};
	const struct image *good = &images[N_SUBJECTS - 1];
	struct part part, image;
	struct hpa_file file;
	hpa_map *map;
	uint32_t i = 0;

	(void)state;
	subjects_bake(images);
	assert_int_equal(
		hpa_file_read(good->data, good->size, true, &file, &detail),
		HPA_OK);
	while (strcmp(file.sections[i].id, HPA_ID_INTER) != 0)
		i++;
	assert_int_equal(file.sections[i].codec, HPA_CODEC_PACKED);
	part = take_out(&file.sections[i]);
	part.bytes = realloc(part.bytes, part.size + 1);
	assert_non_null(part.bytes);
	part.bytes[part.size++] = 0;
	image = put_together(&file, i, &part);
	assert_int_equal(
		hpa_map_open_memory(image.bytes, image.size, &how, &map),
		HPA_CORRUPT);
	assert_string_equal(detail, "a section does not unpack");
	free(image.bytes);
	free(part.bytes);
	for (i = 0; i < N_SUBJECTS; i++)
		free(images[i].data);
}

static void
assert_answer(hpa_status st)
{
	assert_true(st <= HPA_OUTSIDE || st == HPA_CORRUPT ||
	            st == HPA_NO_ROOM);
}

static void
ask(struct rng *rng, const struct world *world, const hpa_map *map)
{
	static hpa_cell cells[MAX_CELLS];
	hpa_query *query;

	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	for (uint32_t i = 0; i < 6; i++) {
		hpa_cell from = random_cell(rng, &world->level);
		hpa_cell to = random_cell(rng, &world->level);
		uint64_t cost;
		size_t n;

		assert_answer(
			hpa_query_path(query, from, to, cells, MAX_CELLS, &n));
		assert_answer(hpa_query_cost(query, from, to, &cost));
	}
	hpa_query_free(query);
}

/* Open it and ask every profile; false where it is refused. */
static bool
use(struct rng *rng, const struct world *world, const struct part *image)
{
	const char *detail = NULL;
	hpa_open_options how = {.detail = &detail};
	hpa_facts facts;
	hpa_map *map;
	hpa_status st =
		hpa_map_open_memory(image->bytes, image->size, &how, &map);

	if (st != HPA_OK) {
		assert_int_equal(st, HPA_CORRUPT);
		assert_non_null(detail);
		return false;
	}
	hpa_map_facts(map, &facts);
	for (uint32_t p = 0; p < facts.n_profiles; p++)
		ask(rng, world, hpa_map_profile(map, p));
	hpa_map_close(map);
	return true;
}

static void
damage_behind_the_deflate_does_no_harm(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_opened = 0, n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS / 2; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file opened;

		options.compress = HPA_COMPRESS_ALL;
		world_bake(&world, &options, &opened);
		for (uint32_t k = 0; k < N_DAMAGED; k++) {
			uint32_t at = rng_below(&rng, opened.file.n_sections);
			struct part part = take_out(&opened.file.sections[at]);
			struct part image;

			damage(&rng, &part);
			image = put_together(&opened.file, at, &part);
			if (use(&rng, &world, &image))
				n_opened++;
			else
				n_refused++;
			free(image.bytes);
			free(part.bytes);
		}
		world_close(&opened);
		level_free(&world.level);
	}
	printf("# %lu damaged files opened, %lu refused\n",
	       (unsigned long)n_opened, (unsigned long)n_refused);
	assert_true(n_opened > 0 && n_refused > n_opened);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_unpacking_relies_on_is_checked),
		cmocka_unit_test(the_first_profile_has_nothing_to_be_packed_by),
		cmocka_unit_test(the_clusters_before_are_counted),
		cmocka_unit_test(packed_bytes_are_checked),
		cmocka_unit_test(a_node_outside_of_the_level_does_no_harm),
		cmocka_unit_test(just_the_edges_of_transitions_are_expected),
		cmocka_unit_test(nodes_are_expected_on_free_cells),
		cmocka_unit_test(
			a_larger_agent_does_not_reach_beyond_the_level),
		cmocka_unit_test(members_of_a_cluster_exist),
		cmocka_unit_test(facts_are_in_range),
		cmocka_unit_test(clusters_of_all_profiles_have_a_limit),
		cmocka_unit_test(a_section_that_does_not_unpack_is_refused),
		cmocka_unit_test(packed_sections_are_those_that_are_stored),
		cmocka_unit_test(
			packed_bytes_that_are_cut_or_too_many_are_refused),
		cmocka_unit_test(damage_behind_the_deflate_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
