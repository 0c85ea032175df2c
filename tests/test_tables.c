/* test_tables.c: what is refused of tables: intra-edges and cached paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hpa.h"
#include "src/run/map.h"
#include "tests/baked.h"
#include "tests/parts.h"
#include "tests/refusals.h"

/* Where the clusters of three_clusters have their tables, by levels. */
#define TABLE_1(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 16 + 4 * (i), 4, value                        \
	}
#define TABLE_2(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 56 + 4 * (i), 4, value                        \
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
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
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
	struct image image = bake_small(row, 2, false, HPA_COMPRESS_NONE);
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
		bake_small(four_clusters, 1, false, HPA_COMPRESS_NONE);
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
	struct image image = bake_small(rows, 1, false, HPA_COMPRESS_NONE);
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
	struct image image = bake_small(rows, 1, false, HPA_COMPRESS_NONE);
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
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
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
	struct bake_options options = small_clusters();
	struct image image;

	(void)state;
	for (uint16_t i = 0; i < N_LINKS; i++)
		links[i] = (struct bake_link){
			.from_x = i % SIDE,
			.from_y = i / SIDE,
			.to_x = i % SIDE,
			.to_y = SIDE - 1 - i / SIDE,
			.cost = 1000,
		};
	options.cluster_size = SIDE;
	options.n_levels = 1;
	options.n_links = N_LINKS;
	options.links = links;
	image = bake_all_free(SIDE, SIDE, &options);
	assert_int_equal(hpa_get_le32(section_of(&image, HPA_ID_FACTS) +
	                              HPA_FACT_N_NODES),
	                 N_NODES);
	hpa_put_le32(table + HPA_TABLE_PATHS, HPA_NONE);
	hpa_put_le16(table + HPA_TABLE_N_NODES, N_NODES);
	assert_section_refused(&image, HPA_ID_TABLES, table, sizeof(table),
	                       "a table's width is wrong");
	free(image.data);
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
		bake_small(three_clusters, 2, true, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

static void
tables_fill_their_section(void **state)
{
	struct image image =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);
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

/* Weights were compared with the octile distances of the owner's profile, which
 * must not be the smaller ones. */
static void
a_table_is_shared_only_with_a_lower_factor(void **state)
{
	static const struct terrain_class mud = {"mud", 3, false};
	static const struct bake_agent agents[] = {{"any", 1, ""},
	                                           {"pig", 1, "mud"}};
	struct bake_options options = small_clusters();
	struct image good, image;
	uint8_t clusters[12];
	struct parts parts;
	struct level level;
	uint32_t last;

	(void)state;
	options.n_agents = 2;
	options.agents = agents;
	level_from_text("....\n", &level);
	level_add_class(&level, &mud);
	level.cells[0] = (uint8_t)(level.terrain.n - 1);
	good = bake_level(&level, &options);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_checked),
		cmocka_unit_test(landmarks_need_levels_that_agree),
		cmocka_unit_test(a_table_is_shared_only_where_nodes_lie_alike),
		cmocka_unit_test(targets_of_a_row_rise),
		cmocka_unit_test(no_edge_leads_only_back),
		cmocka_unit_test(a_wide_table_has_a_heavy_edge),
		cmocka_unit_test(a_narrow_table_has_few_nodes),
		cmocka_unit_test(cached_paths_are_checked),
		cmocka_unit_test(tables_fill_their_section),
		cmocka_unit_test(a_table_is_shared_only_with_a_lower_factor),
	};

	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
