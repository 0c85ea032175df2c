/* test_hubs.c: what is refused of hub labels, and what may be done without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/hpa_hubs.h"
#include "hpa.h"
#include "tests/baked.h"
#include "tests/parts.h"
#include "tests/refusals.h"
#include "tests/subjects.h"
#include "tests/support.h"

#define MAX_PATH_CELLS 4096

static struct image
bake_labels(const char *rows)
{
	struct bake_options options = small_clusters();

	options.fast_queries = true;
	options.compress = HPA_COMPRESS_COLD;
	return bake_rows(rows, &options);
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
	assert_refusals(&good, rows, N_ELEMENTS(rows));
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
	struct image good = subject_bake("world");
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
	struct bake_options options = small_clusters();
	struct image good, labelled;

	(void)state;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	good = bake_all_free(SIDE, SIDE, &options);
	labelled = add_empty_labels(&good);
	assert_refused(&labelled, HPA_CORRUPT,
	               "narrow labels can't name all hubs");
	free(labelled.data);
	free(good.data);
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

/* Labels may lie: then a path is found to be corrupt, or is a legal one. */
static void
damaged_labels_do_no_harm(void **state)
{
	struct rng rng = {test_seed() + 1};
	uint32_t n_opened = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct image image =
			bake_labels(i % 2 ? four_clusters : three_clusters);
		uint8_t *raw = section_of(&image, HPA_ID_LABELS);
		uint32_t n = hpa_get_u32(raw + HPA_HUBS_FIRST, 4);
		uint32_t size = (uint32_t)hpa_get_le64(
			entry_of(&image, HPA_ID_LABELS) + HPA_ENT_RAW_SIZE);

		for (uint32_t k = rng_between(&rng, 1, 4); k > 0; k--)
			raw[rng_between(&rng, RANKS + 2 * n, size - 1)] =
				(uint8_t)rng_below(
					&rng, rng_chance(&rng, 50) ? 3 : 256);
		image_seal(&image);
		n_opened += use_damaged(&rng, &image);
		free(image.data);
	}
	assert_true(n_opened > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_checked),
		cmocka_unit_test(far_hubs_are_refused),
		cmocka_unit_test(there_are_no_labels_beside_links),
		cmocka_unit_test(narrow_labels_have_few_nodes),
		cmocka_unit_test(wide_labels_say_the_same),
		cmocka_unit_test(labels_may_be_left_out_but_not_compressed),
		cmocka_unit_test(damaged_labels_do_no_harm),
	};

	return cmocka_run_group_tests_name("hubs", tests, NULL, NULL);
}
