/* test_detours.c: files that open, and whose edges stand for ways that nobody
 * would go.
 *
 * No reader can know that an edge is the cheapest way between its ends. What is
 * known of a cheapest path is that it is on no cell twice, and at no level twice
 * on a node: one that takes more is given up, or a few nodes could stand for more
 * cells than there is time to walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/hpa_read.h"
#include "formats/hpa_write.h"
#include "hpa.h"
#include "src/bake/bake.h"
#include "tests/image.h"
#include "tests/support.h"

#define MAX_CELLS 1024
#define MAX_SIZE 1024

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

static struct image
bake_rows(void)
{
	struct bake_options options;
	struct bake_output out;
	struct level level;
	struct diag diag;

	bake_options_default(&options);
	options.cluster_size = 4;
	options.cache_paths = true;
	options.compress = HPA_COMPRESS_NONE;
	level_from_text(rows, &level);
	assert_int_equal(bake_run(&level, &options, &out, NULL, &diag),
	                 DIAG_OK);
	level_free(&level);
	return (struct image){out.data, out.size};
}

/* The same file, in which the cached path of the middle cluster begins by going
 * down and up again so many times. */
static struct image
add_circles(const struct image *good, uint32_t n)
{
	struct hpa_new_section sections[HPA_MAX_SECTIONS];
	static uint8_t paths[MAX_SIZE];
	const char *detail = NULL;
	struct hpa_file file;
	struct image image;
	size_t size = 0;

	assert_int_equal(
		hpa_file_read(good->data, good->size, true, &file, &detail),
		HPA_OK);
	for (uint32_t i = 0; i < file.n_sections; i++) {
		const struct hpa_section *section = &file.sections[i];

		sections[i] = (struct hpa_new_section){
			section->id,
			0,
			(section->flags & HPA_FLAG_CRITICAL) != 0,
			section->raw,
			section->raw_size,
			NULL,
			false};
		if (strcmp(section->id, HPA_ID_PATHS) != 0)
			continue;
		/* The first table's: where both ways begin, then S2 E3. */
		assert_memory_equal(section->raw, "\x8\0\0\0\x8\0\0\0\xa\x10",
		                    10);
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
		sections[i].raw = paths;
		sections[i].raw_size = size;
	}
	assert_true(hpa_write(sections, file.n_sections, HPA_COMPRESS_NONE, 0,
	                      0, NULL, &image.data, &image.size));
	return image;
}

static void
a_cached_path_that_goes_in_circles_is_given_up(void **state)
{
	struct image good = bake_rows(), image;
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

/* Detours of detours */

#define N_RING 15u
#define N_NODES (N_RING + 2)
#define WIDTH 20u
#define HEIGHT 4u

/* Bytes of a file while they are put together. */
struct bytes {
	uint8_t at[MAX_SIZE];
	size_t size;
};

static void
add(struct bytes *bytes, unsigned width, uint64_t value)
{
	assert_true(bytes->size + width <= MAX_SIZE);
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

/* An open level of five clusters of 4 x 4 cells. One-way links lead from the
 * first one into the third, and from there into the last. In the third one are
 * the nodes of a ring. From one to the next it takes four edges of level 1,
 * which make an edge of level 2; half of the ring has to be gone around. */
static struct image
make_rings(void)
{
	static struct bytes facts, cells, labels, nodes, inter, levels, links,
		edges, reach, clusters, tables;
	const struct {
		const char *id;
		const struct bytes *bytes;
	} parts[] = {
		{HPA_ID_LINKS, &links},   {HPA_ID_FACTS, &facts},
		{HPA_ID_CELLS, &cells},   {HPA_ID_COMPONENTS, &labels},
		{HPA_ID_NODES, &nodes},   {HPA_ID_INTER, &inter},
		{HPA_ID_LEVELS, &levels}, {HPA_ID_LINK_EDGES, &edges},
		{HPA_ID_REACH, &reach},   {HPA_ID_CLUSTERS, &clusters},
		{HPA_ID_TABLES, &tables},
	};
	enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };
	struct hpa_new_section sections[N_PARTS];
	struct image image;

	ADD_U32S(&facts, WIDTH, HEIGHT, 4, 2, HPA_RULE_8, HPA_COST_STRAIGHT,
	         HPA_COST_DIAGONAL, HPA_POLICY_ENDS, 6, 0, 1, N_NODES, 1, 1,
	         WIDTH * HEIGHT, 0);
	for (uint32_t y = 0; y < HEIGHT; y++)
		add(&cells, 3, (1u << WIDTH) - 1);
	ADD_U32S(&labels, 0, 0, 0, 0, 0);
	ADD_U32S(&nodes, 0);
	for (uint32_t i = 0; i < N_RING; i++)
		ADD_U32S(&nodes, (8 + i % 4) | (i / 4) << 16);
	ADD_U32S(&nodes, 16);
	for (uint32_t i = 0; i <= N_NODES; i++)
		ADD_U32S(&inter, 0);
	ADD_U32S(&levels, 4, N_NODES, 0, 0, N_RING, 0, N_RING, 0);
	ADD_U32S(&levels, 8, N_NODES, 0, 0, N_RING, 0, N_RING, 0);
	add_link(&links, 0, 0, 8, 0);
	add_link(&links, 8 + 7 % 4, 7 / 4, 16, 0);
	ADD_U32S(&edges, 0, 1, 0, 1 + 7, 1 + N_RING, 1);
	ADD_U32S(&reach, 0);
	/* Tables of one node, of none, and the rings of both levels. */
	ADD_U32S(&clusters, 0, 1, 1, 1 + N_RING, 1 + N_RING, N_NODES, 0, 16, 28,
	         16, 0);
	for (uint32_t i = 0; i < N_NODES; i++)
		ADD_U32S(&clusters, i);
	ADD_U32S(&clusters, 0, 1, 1 + N_RING, N_NODES, 0, 160, 0);
	for (uint32_t i = 0; i < N_NODES; i++)
		ADD_U32S(&clusters, i);
	ADD_U32S(&tables, HPA_NONE, 1, 0, 0);
	ADD_U32S(&tables, HPA_NONE, 0, 1);
	add_ring(&tables, 2, 4, 300);
	assert_int_equal(tables.size, 160);
	add_ring(&tables, 6, 1, 1200);
	for (size_t i = 0; i < N_PARTS; i++)
		sections[i] = (struct hpa_new_section){
			parts[i].id,          0,    true, parts[i].bytes->at,
			parts[i].bytes->size, NULL, false};
	assert_true(hpa_write(sections, N_PARTS, HPA_COMPRESS_NONE, 0, 0, NULL,
	                      &image.data, &image.size));
	return image;
}

static void
detours_of_detours_are_given_up(void **state)
{
	struct image image = make_rings();
	const hpa_cell to = {16, 0};
	size_t n;

	(void)state;
	assert_int_equal(walk(&image, to, HPA_SMOOTH_NONE, &n), HPA_CORRUPT);
	/* Where a straight line is as good, nobody looks at the detour. */
	assert_int_equal(walk(&image, to, HPA_SMOOTH_SHORTCUTS, &n), HPA_OK);
	free(image.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_cached_path_that_goes_in_circles_is_given_up),
		cmocka_unit_test(detours_of_detours_are_given_up),
	};

	return cmocka_run_group_tests_name("detours", tests, NULL, NULL);
}
