/* test_links.c: what is refused of links and of what is reached by them.
 *
 * The world of subjects.c has a one-way link into the closet and a two-way one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hpa.h"
#include "tests/baked.h"
#include "tests/parts.h"
#include "tests/refusals.h"
#include "tests/subjects.h"

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
	struct image good = subject_bake("world");

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* The first edge is that of a one-way link, the second goes back on the other. */
static void
ends_of_link_edges_are_checked(void **state)
{
	static const char why[] = "a link is not where it should be";
	struct image good = subject_bake("world");
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
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* A node that no inter-edge needs is one of the two ends of an edge. */
static void
nodes_without_need_are_ends_of_links(void **state)
{
	static const struct bake_link links[] = {
		{1, 1, 5, 1, 1000, true, "", 0},
		{2, 2, 6, 2, 1000, true, "", 0},
		{9, 1, 10, 2, 1000, true, "", 0}};
	struct bake_options options = small_clusters();
	struct image good;
	const uint8_t *edges;

	(void)state;
	options.n_links = 3;
	options.links = links;
	good = bake_rows("............\n............\n"
	                 "............\n............\n",
	                 &options);
	edges = section_of(&good, HPA_ID_LINK_EDGES);
	assert_section_refused(&good, HPA_ID_LINK_EDGES, edges,
	                       2 * HPA_LEDGE_SIZE,
	                       "a node is at the wrong levels");
	assert_section_refused(&good, HPA_ID_LINK_EDGES, edges, 0,
	                       "a node is at the wrong levels");
	free(good.data);
}

static void
reach_has_a_limit(void **state)
{
	enum { N = HPA_MAX_REACH + 1, STRIDE = (N + 7) / 8 };
	static uint8_t raw[HPA_REACH_COMPONENTS + 4 * N + N * STRIDE];
	struct image good = subject_bake("world");

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
		{0, 0, 2, 0, 1000, true, "", 0},
		{2, 0, 4, 0, 1000, true, "", 0}};
	static const struct refusal rows[] = {
		{"reachable components are wrong", {REACH(16, 1, 3), NO_MORE}},
	};
	struct bake_options options = small_clusters();
	struct image good;

	(void)state;
	options.n_links = 2;
	options.links = links;
	good = bake_rows(".@.@.\n", &options);
	assert_int_equal(section_of(&good, "REAC")[16], 7);
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* Eight cells, each with a link to the one before, and one without. */
static void
who_is_not_linked_is_not_reached(void **state)
{
	enum { N = 8, LAST = 2 * N };
	static struct bake_link links[N - 1];
	struct bake_options options = small_clusters();
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
	options.n_links = N - 1;
	options.links = links;
	good = bake_rows(".@.@.@.@.@.@.@.@.\n", &options);
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

/* Each end by one, in a level of 5 x 2 cells; the first one is told. */
static void
links_out_of_the_level_are_not_baked(void **state)
{
	static const struct bake_link good = {0, 0, 4, 1, 1000, true, "", 0};
	static const struct bake_link bad[] = {
		{5, 0, 2, 0, 1000, true, "", 0},
		{0, 2, 2, 0, 1000, true, "", 0},
		{0, 0, 5, 1, 1000, true, "", 0},
		{0, 0, 4, 2, 1000, true, "", 0},
	};
	struct bake_options options = small_clusters();
	struct level level;

	(void)state;
	level_from_text(".....\n.....\n", &level);
	for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
		const struct bake_link links[] = {good, bad[i], bad[0]};
		struct bake_output file;
		struct diag diag;
		char why[100];

		options.n_links = N_ELEMENTS(links);
		options.links = links;
		assert_ptr_equal(bake_stray_link(&options, 5, 2), &links[1]);
		assert_null(bake_stray_link(&options, 6, 3));
		assert_int_equal(bake_run(&level, &options, &file, NULL, &diag),
		                 DIAG_BAD_INPUT);
		snprintf(why, sizeof(why),
		         "the link %u,%u to %u,%u leads out of the level",
		         bad[i].from_x, bad[i].from_y, bad[i].to_x,
		         bad[i].to_y);
		assert_string_equal(diag.text, why);
		assert_null(file.data);
	}
	level_free(&level);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_checked),
		cmocka_unit_test(ends_of_link_edges_are_checked),
		cmocka_unit_test(nodes_without_need_are_ends_of_links),
		cmocka_unit_test(reach_has_a_limit),
		cmocka_unit_test(reach_is_closed),
		cmocka_unit_test(who_is_not_linked_is_not_reached),
		cmocka_unit_test(links_out_of_the_level_are_not_baked),
	};

	return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
