/* test_detours.c: files that open, and whose edges stand for ways that nobody
 * would go.
 *
 * No reader can know that an edge is the cheapest way between its ends. What is
 * known of a cheapest path is that it is on no cell twice, and at no level twice
 * on a node, and how often a node is looked at to refine it: one that takes more
 * is given up, or a few nodes could stand for more cells than there is time to
 * walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hpa.h"
#include "tests/baked.h"
#include "tests/parts.h"
#include "tests/support.h"

#define MAX_CELLS 1024
#define MAX_SIZE 1024
#define MAX_CIRCLES 60u
#define MAX_BYTES (1u << 19)

/* Go from the left end of the top row to a cell. */
static hpa_status
walk(const struct image *image, hpa_cell to, hpa_smoothing mode, size_t *n)
{
	hpa_cell cells[MAX_CELLS], from = {0, 0};
	hpa_query *query;
	hpa_map *map;
	hpa_status st;

	assert_int_equal(
		hpa_map_open_memory(image->data, image->size, NULL, &map),
		HPA_OK);
	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	hpa_query_set_smoothing(query, mode, 0);
	st = hpa_query_path(query, from, to, cells, MAX_CELLS, n);
	hpa_query_free(query);
	hpa_map_close(map);
	return st;
}

/* Cached paths */

/* Two nodes of the middle cluster have a wall between them. */
static const char rows[] = ".....@......\n"
			   ".@...@......\n"
			   "@....@@@@@..\n"
			   "@...........\n";

/* The same, with a corridor behind it. */
static const char rows_and_corridor[] =
	".....@......@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	".@...@......@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"@....@@@@@..@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"@...............................................\n";

/* And with a bend before it: what is straight is first diagonal. */
static const char rows_and_bend[] =
	".....@..@@......................................\n"
	".@...@..@...@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"@....@@@...@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n"
	"@.........@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n";

/* The same file, in which the cached path of the middle cluster begins by going
 * down and up again so many times. */
static struct image
add_circles(const struct image *good, uint32_t n)
{
	static uint8_t paths[MAX_SIZE];
	struct hpa_new_section *section;
	struct parts parts;
	size_t size;

	take_apart(good, &parts);
	section = part_of(&parts, HPA_ID_PATHS);
	/* The first table's: where both ways begin, then S2 E3. */
	assert_memory_equal(section->raw, "\x8\0\0\0\x8\0\0\0\xa\x10", 10);
	size = section->raw_size;
	memcpy(paths, section->raw, size);
	hpa_put_le32(paths, (uint32_t)size);
	hpa_put_le32(paths + 4, (uint32_t)size);
	for (uint32_t k = 0; k < n; k++) {
		paths[size++] = 2;
		paths[size++] = 6;
	}
	paths[size++] = 0xa;
	paths[size++] = 0x10;
	section->raw = paths;
	section->raw_size = size;
	return put_together(&parts, HPA_COMPRESS_NONE);
}

static void
a_cached_path_that_goes_in_circles_is_given_up(void **state)
{
	struct image good = bake_small(rows, 1, true, HPA_COMPRESS_NONE);
	struct image image;
	const hpa_cell to = {11, 0};
	size_t n, n_good;

	(void)state;
	assert_int_equal(walk(&good, to, HPA_SMOOTH_NONE, &n_good), HPA_OK);
	/* Legal, and no longer than there are cells. */
	image = add_circles(&good, 1);
	assert_int_equal(walk(&image, to, HPA_SMOOTH_NONE, &n), HPA_OK);
	assert_int_equal(n, n_good + 2);
	free(image.data);
	image = add_circles(&good, 20);
	assert_int_equal(walk(&image, to, HPA_SMOOTH_NONE, &n), HPA_CORRUPT);
	free(image.data);
	free(good.data);
}

/* Walk as walk() does, but step by step, and see that each leads to a free
 * neighbour. */
static hpa_status
step(const struct image *image, hpa_cell to, hpa_smoothing mode)
{
	hpa_cell at = {0, 0}, cell;
	hpa_query *query;
	hpa_map *map;
	uint64_t cost;
	hpa_status st;
	size_t n;

	assert_int_equal(
		hpa_map_open_memory(image->data, image->size, NULL, &map),
		HPA_OK);
	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	hpa_query_set_smoothing(query, mode, 0);
	st = hpa_query_start(query, at, to, &cost);
	while (st == HPA_OK) {
		st = hpa_query_next(query, &cell, 1, &n);
		if (n == 0)
			break;
		assert_true(hpa_map_is_free(map, cell));
		assert_in_range(cell.x + 1 - at.x, 0, 2);
		assert_in_range(cell.y + 1 - at.y, 0, 2);
		at = cell;
	}
	hpa_query_free(query);
	hpa_map_close(map);
	return st;
}

/* Whatever the hop at which it is found to take more moves than there are. */
static void
a_path_that_is_given_up_leads_through_no_wall(void **state)
{
	const struct {
		const char *text;
		hpa_cell to;
	} cases[] = {
		{rows_and_corridor, {47, 3}},
		{rows_and_bend, {47, 0}},
	};
	const hpa_smoothing modes[] = {HPA_SMOOTH_SHORTCUTS, HPA_SMOOTH_NONE};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct image good = bake_small(cases[i / 2].text, 2, true,
		                               HPA_COMPRESS_NONE);
		hpa_cell to = cases[i / 2].to;
		hpa_status st = HPA_OK;

		for (uint32_t n = 0; n < MAX_CIRCLES; n++) {
			struct image image = add_circles(&good, n);
			hpa_status before = st;
			size_t n_cells;

			st = step(&image, to, modes[i % 2]);
			assert_int_equal(
				walk(&image, to, modes[i % 2], &n_cells), st);
			assert_in_range(st, before, HPA_CORRUPT);
			free(image.data);
		}
		assert_int_equal(st, HPA_CORRUPT);
		free(good.data);
	}
}

/* Detours of detours */

#define N_RING 15u

/* Bytes of a file while they are put together. */
struct bytes {
	uint8_t at[MAX_BYTES];
	size_t size;
};

static void
add(struct bytes *bytes, unsigned width, uint64_t value)
{
	assert_true(bytes->size + width <= MAX_BYTES);
	for (unsigned i = 0; i < width; i++)
		bytes->at[bytes->size++] = (uint8_t)(value >> 8 * i);
}

static void
add_u32s(struct bytes *bytes, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(bytes, 4, numbers[i]);
}

#define ADD_U32S(bytes, ...)                                                   \
	add_u32s(bytes, (const uint32_t[]){__VA_ARGS__},                       \
	         sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* A table of a ring in which each node has an edge to the one `step` farther
 * on, and one back. */
static void
add_ring(struct bytes *tables, uint32_t owner, uint32_t step, uint32_t weight)
{
	ADD_U32S(tables, HPA_NONE, N_RING, owner);
	for (uint32_t i = 0; i < N_RING; i++)
		add(tables, 2, 2 * (i + 1));
	for (uint32_t i = 0; i < 2 * N_RING; i++)
		add(tables, 2, weight);
	for (uint32_t i = 0; i < N_RING; i++) {
		uint32_t on = (i + step) % N_RING;
		uint32_t back = (i + N_RING - step) % N_RING;

		add(tables, 1, on < back ? on : back);
		add(tables, 1, on < back ? back : on);
	}
}

static void
add_link(struct bytes *links, uint32_t x1, uint32_t y1, uint32_t x2,
         uint32_t y2)
{
	const uint32_t cells[] = {x1, y1, x2, y2};

	for (size_t i = 0; i < 4; i++)
		add(links, 2, cells[i]);
	ADD_U32S(links, 0, HPA_LINK_ONE_WAY, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* An open level, at two levels, of clusters in a row: one in the middle of which
 * nodes are at all levels, the first one and the last one with a node each, and
 * two that lie between. One-way links lead from the first node to the first one
 * in the middle, and from another one there to the last. Those in the middle may
 * be at all levels because each has a link to itself. */
struct row {
	uint32_t cluster_size, n_inner; /* nodes in the middle */
	uint32_t out;                   /* the one that is left from */
	struct bytes tables;            /* of one node, of none, two others */
	uint32_t table_1, table_2;      /* where these are */
	uint32_t n_edges_1, n_edges_2;
};

static uint32_t
x_of(const struct row *row, uint32_t i)
{
	return 2 * row->cluster_size + i % row->cluster_size;
}

static uint32_t
y_of(const struct row *row, uint32_t i)
{
	return i / row->cluster_size;
}

/* The links, and edges that go by them. */
static void
add_links(const struct row *row, struct bytes *links, struct bytes *edges)
{
	add_link(links, 0, 0, x_of(row, 0), y_of(row, 0));
	add_link(links, x_of(row, row->out), y_of(row, row->out),
	         4 * row->cluster_size, 0);
	ADD_U32S(edges, 0, 1, 0);
	for (uint32_t i = 0; i < row->n_inner; i++) {
		add_link(links, x_of(row, i), y_of(row, i), x_of(row, i),
		         y_of(row, i));
		if (i == row->out)
			ADD_U32S(edges, 1 + i, 1 + row->n_inner, 1);
		ADD_U32S(edges, 1 + i, 1 + i, 2 + i);
	}
}

/* Tables that all rows begin with; the owners are clusters 0 and 1. */
static void
begin_tables(struct row *row)
{
	row->tables.size = 0;
	ADD_U32S(&row->tables, HPA_NONE, 1, 0, 0);
	ADD_U32S(&row->tables, HPA_NONE, 0, 1);
}

#define OWNER_1 2u
#define OWNER_2 6u

static struct image
make_row(const struct row *row)
{
	static struct bytes facts, cells, labels, nodes, inter, levels, links,
		edges, reach, clusters;
	const struct {
		const char *id;
		struct bytes *bytes;
	} parts[] = {
		{HPA_ID_LINKS, &links},   {HPA_ID_FACTS, &facts},
		{HPA_ID_CELLS, &cells},   {HPA_ID_COMPONENTS, &labels},
		{HPA_ID_NODES, &nodes},   {HPA_ID_INTER, &inter},
		{HPA_ID_LEVELS, &levels}, {HPA_ID_LINK_EDGES, &edges},
		{HPA_ID_REACH, &reach},   {HPA_ID_CLUSTERS, &clusters},
	};
	enum { N_PARTS = N_ELEMENTS(parts) };
	struct hpa_new_section sections[N_PARTS + 1];
	uint32_t size = row->cluster_size, n_inner = row->n_inner;
	uint32_t n_nodes = n_inner + 2;
	struct image image;

	for (size_t i = 0; i < N_PARTS; i++)
		parts[i].bytes->size = 0;
	ADD_U32S(&facts, 5 * size, size, size, 2, HPA_RULE_8, HPA_COST_STRAIGHT,
	         HPA_COST_DIAGONAL, HPA_POLICY_ENDS, 6, 0, 1, n_nodes, 1, 1,
	         5 * size * size, 0);
	for (uint32_t y = 0; y < size; y++)
		for (uint32_t x = 0; x < 5 * size; x += 8)
			add(&cells, 1, x + 8 <= 5 * size ? 0xff : 0xf);
	ADD_U32S(&labels, 0, 0, 0, 0, 0);
	ADD_U32S(&nodes, 0);
	for (uint32_t i = 0; i < n_inner; i++)
		ADD_U32S(&nodes, x_of(row, i) | y_of(row, i) << 16);
	ADD_U32S(&nodes, 4 * size);
	for (uint32_t i = 0; i <= n_nodes; i++)
		ADD_U32S(&inter, 0);
	ADD_U32S(&levels, size, n_nodes, 0, 0, row->n_edges_1, 0,
	         row->n_edges_1, 0);
	ADD_U32S(&levels, 2 * size, n_nodes, 0, 0, row->n_edges_2, 0,
	         row->n_edges_2, 0);
	add_links(row, &links, &edges);
	ADD_U32S(&reach, 0);
	ADD_U32S(&clusters, 0, 1, 1, 1 + n_inner, 1 + n_inner, n_nodes, 0, 16,
	         row->table_1, 16, 0);
	for (uint32_t i = 0; i < n_nodes; i++)
		ADD_U32S(&clusters, i);
	ADD_U32S(&clusters, 0, 1, 1 + n_inner, n_nodes, 0, row->table_2, 0);
	for (uint32_t i = 0; i < n_nodes; i++)
		ADD_U32S(&clusters, i);
	for (size_t i = 0; i < N_PARTS; i++)
		sections[i] = (struct hpa_new_section){
			.id = parts[i].id,
			.is_hot = true,
			.raw = parts[i].bytes->at,
			.raw_size = parts[i].bytes->size,
		};
	sections[N_PARTS] = (struct hpa_new_section){
		.id = HPA_ID_TABLES,
		.is_hot = true,
		.raw = row->tables.at,
		.raw_size = row->tables.size,
	};
	assert_true(hpa_write(sections, N_PARTS + 1, HPA_COMPRESS_NONE, 0, 0,
	                      NULL, &image.data, &image.size));
	return image;
}

/* A ring of nodes. From one to the next it takes four edges of level 1, which
 * make an edge of level 2; half of the ring has to be gone around. */
static void
detours_of_detours_are_given_up(void **state)
{
	static struct row row = {
		.cluster_size = 4,
		.n_inner = N_RING,
		.out = N_RING / 2,
		.n_edges_1 = N_RING,
		.n_edges_2 = N_RING,
	};
	const hpa_cell to = {16, 0};
	struct image image;
	size_t n;

	(void)state;
	begin_tables(&row);
	row.table_1 = (uint32_t)row.tables.size;
	add_ring(&row.tables, OWNER_1, 4, 300);
	row.table_2 = (uint32_t)row.tables.size;
	add_ring(&row.tables, OWNER_2, 1, 1200);
	image = make_row(&row);
	assert_int_equal(walk(&image, to, HPA_SMOOTH_NONE, &n), HPA_CORRUPT);
	/* Where a straight line is as good, nobody looks at the detour. */
	assert_int_equal(walk(&image, to, HPA_SMOOTH_SHORTCUTS, &n), HPA_OK);
	free(image.data);
}

/* Nodes in a row, and dust: at level 1 each grain has an edge to all nodes of
 * the row, nearly as long as theirs to the next one. */
#define N_BEADS 100u
#define N_DUST 300u
#define STRING 50000u
#define SPECK 45000u

static bool
are_joined(uint32_t a, uint32_t b, bool with_dust)
{
	if (a < N_BEADS && b < N_BEADS)
		return a + 1 == b || b + 1 == a;
	return with_dust && (a < N_BEADS) != (b < N_BEADS);
}

static uint32_t
add_beads(struct bytes *tables, uint32_t owner, bool with_dust)
{
	enum { N = N_BEADS + N_DUST };
	uint32_t end = 0;

	ADD_U32S(tables, HPA_NONE, N | 1u << 16, owner);
	for (uint32_t a = 0; a < N; a++) {
		for (uint32_t b = 0; b < N; b++)
			end += are_joined(a, b, with_dust);
		add(tables, 4, end);
	}
	for (uint32_t a = 0; a < N; a++)
		for (uint32_t b = 0; b < N; b++)
			if (are_joined(a, b, with_dust))
				add(tables, 4,
				    a < N_BEADS && b < N_BEADS ? STRING
				                               : SPECK);
	for (uint32_t a = 0; a < N; a++)
		for (uint32_t b = 0; b < N; b++)
			if (are_joined(a, b, with_dust))
				add(tables, 2, b);
	while (tables->size % HPA_TABLE_ALIGN)
		add(tables, 1, 0);
	return end / 2;
}

/* Each edge of level 2 is one of level 1, but all dust is nearer. */
static void
looking_at_all_nodes_for_each_hop_is_given_up(void **state)
{
	static struct row row = {
		.cluster_size = 32,
		.n_inner = N_BEADS + N_DUST,
		.out = N_BEADS - 1,
	};
	const hpa_cell to = {128, 0};
	struct image image;
	size_t n;

	(void)state;
	begin_tables(&row);
	row.table_1 = (uint32_t)row.tables.size;
	row.n_edges_1 = add_beads(&row.tables, OWNER_1, true);
	row.table_2 = (uint32_t)row.tables.size;
	row.n_edges_2 = add_beads(&row.tables, OWNER_2, false);
	image = make_row(&row);
	assert_int_equal(walk(&image, to, HPA_SMOOTH_NONE, &n), HPA_CORRUPT);
	free(image.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_cached_path_that_goes_in_circles_is_given_up),
		cmocka_unit_test(a_path_that_is_given_up_leads_through_no_wall),
		cmocka_unit_test(detours_of_detours_are_given_up),
		cmocka_unit_test(looking_at_all_nodes_for_each_hop_is_given_up),
	};

	return cmocka_run_group_tests_name("detours", tests, NULL, NULL);
}
