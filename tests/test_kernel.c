/* test_kernel.c: the fast ways give what the plain ones give.
 *
 * The vector kernel is compared with window_solve(), cell by cell, in windows
 * of every size; whole bakes with the ones that use plain Dijkstra throughout,
 * byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/bake/bake.h"
#include "src/grid/kernel.h"
#include "tests/support.h"

#define SIDE 40u
#define N_WINDOWS 3000
#define N_LEVELS 400
#define MAX_REAL_CELLS (HAS_SANITIZER ? 70000u : UINT32_MAX)

static struct window_field plain;
static struct kernel kernel;

/* Free cells: noise, or a serpentine of walls, which has the longest ways. */
static void
fill_bits(struct rng *rng, uint8_t *bits)
{
	uint32_t percent = rng_below(rng, 60), step = rng_between(rng, 2, 4);
	bool winds = rng_chance(rng, 30);

	memset(bits, 0, SIDE * SIDE / 8);
	for (uint32_t i = 0; i < SIDE * SIDE; i++) {
		uint32_t x = i % SIDE, y = i / SIDE;
		bool wall =
			y % step == 0 && x != (y / step % 2 ? 1 : SIDE - 10);

		if (winds ? !wall : !rng_chance(rng, percent))
			bits[i / 8] |= (uint8_t)(1u << i % 8);
	}
}

/* Returns 1 where the kernel gave up. */
static uint32_t
compare_window(struct rng *rng, const struct grid *grid,
               struct grid_window window, bool with_avx2)
{
	uint32_t x = window.x + rng_below(rng, window.width);
	uint32_t y = window.y + rng_below(rng, window.height);

	if (!grid_is_free(grid, x, y))
		return 0;
	kernel_prepare(grid, window, &kernel);
	kernel.has_avx2 = kernel.has_avx2 && with_avx2;
	if (!kernel_solve(&kernel, x, y)) {
		assert_true(window.width > 16 || window.height > 16);
		return 1;
	}
	window_solve(grid, window, x, y, &plain);
	for (uint32_t v = window.y; v < window.y + window.height; v++)
		for (uint32_t u = window.x; u < window.x + window.width; u++)
			assert_int_equal(kernel_cost(&kernel, u, v),
			                 window_cost(&plain, u, v));
	return 0;
}

static void
the_kernel_finds_what_dijkstra_finds(void **state)
{
	struct rng rng = {test_seed()};
	uint8_t bits[SIDE * SIDE / 8];
	uint32_t n_given_up = 0;

	(void)state;
	for (int i = 0; i < N_WINDOWS; i++) {
		uint32_t max = rng_chance(&rng, 50) ? 16 : 32;
		struct grid_window window = {rng_below(&rng, SIDE - max + 1),
		                             rng_below(&rng, SIDE - max + 1),
		                             rng_between(&rng, 1, max),
		                             rng_between(&rng, 1, max)};
		struct grid grid = {.bits = bits,
		                    .stride = SIDE / 8,
		                    .width = SIDE,
		                    .height = SIDE,
		                    .cost_straight = HPA_COST_STRAIGHT,
		                    .cost_diagonal = HPA_COST_DIAGONAL};

		grid.moves = (enum hpa_move_rule)rng_below(&rng, 3);
		fill_bits(&rng, bits);
		for (int k = 0; k < 8; k++)
			n_given_up +=
				compare_window(&rng, &grid, window, k % 2);
	}
	printf("# too long for the kernel: %u\n", (unsigned)n_given_up);
}

/* Ways that 16 bits with a sign do not hold are noticed, not cut off. */
static void
the_kernel_knows_what_it_cannot_hold(void **state)
{
	uint8_t bits[4 * 32];
	struct grid grid = {.bits = bits,
	                    .stride = 4,
	                    .width = 32,
	                    .height = 32,
	                    .moves = HPA_RULE_8,
	                    .cost_straight = HPA_COST_STRAIGHT,
	                    .cost_diagonal = HPA_COST_DIAGONAL};
	struct grid_window window = {0, 0, 32, 32};

	(void)state;
	/* Rows joined at alternate ends: 16 x 31 + 2 x 15 steps. */
	for (uint32_t y = 0; y < 32; y++) {
		uint32_t row = y % 2 == 0       ? 0xffffffff
		               : y / 2 % 2 == 0 ? 0x80000000
		                                : 1;

		hpa_put_le32(bits + 4 * (size_t)y, row);
	}
	kernel_prepare(&grid, window, &kernel);
	assert_false(kernel_solve(&kernel, 0, 0));
}

static void
bake_both_ways(const struct level *level, struct bake_options options)
{
	struct bake_output by_vector, by_heap;
	struct bake_report of_vector, of_heap;
	struct diag diag;

	options.kernel = BAKE_KERNEL_VECTOR;
	assert_int_equal(
		bake_run(level, &options, &by_vector, &of_vector, &diag),
		DIAG_OK);
	options.kernel = BAKE_KERNEL_HEAP;
	assert_int_equal(bake_run(level, &options, &by_heap, &of_heap, &diag),
	                 DIAG_OK);
	assert_int_equal(by_vector.size, by_heap.size);
	assert_memory_equal(by_vector.data, by_heap.data, by_heap.size);
	for (uint32_t l = 0; l < of_heap.n_levels; l++)
		assert_int_equal(of_vector.levels[l].stored_edges,
		                 of_heap.levels[l].stored_edges);
	free(by_vector.data);
	free(by_heap.data);
}

static struct bake_options
random_options(struct rng *rng)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size = rng_between(rng, 4, 32);
	options.n_levels = rng_between(rng, 1, 4);
	options.moves = (enum hpa_move_rule)rng_below(rng, 3);
	options.policy = (enum hpa_policy)rng_below(rng, 3);
	options.policy_parameter = options.policy == HPA_POLICY_SPREAD
	                                   ? 0
	                                   : rng_between(rng, 1, 8);
	options.prune = !rng_chance(rng, 20);
	options.cache_paths = rng_chance(rng, 20);
	options.compress = (enum hpa_compress)rng_below(rng, 3);
	options.n_threads = rng_between(rng, 1, 3);
	return options;
}

static void
random_levels_bake_to_the_same_bytes(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int i = 0; i < N_LEVELS; i++) {
		struct level level;

		random_level(&rng, i % 10 ? 80 : 250, &level);
		bake_both_ways(&level, random_options(&rng));
		level_free(&level);
	}
}

static void
bake_file(const char *path, const char *name, void *user)
{
	struct rng *rng = user;
	struct bake_options options;
	struct level level;
	struct diag diag;
	size_t size;
	uint8_t *bytes = read_file(path, &size);

	assert_non_null(bytes);
	assert_int_equal(level_read(name, bytes, size, NULL, &level, &diag),
	                 DIAG_OK);
	free(bytes);
	if (level.width * level.height <= MAX_REAL_CELLS) {
		bake_options_default(&options);
		bake_both_ways(&level, options);
		bake_both_ways(&level, random_options(rng));
	}
	level_free(&level);
}

static void
our_levels_bake_to_the_same_bytes(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	assert_true(for_each_file(data_folder(), ".map", bake_file, &rng) > 0);
}

static void
real_levels_bake_to_the_same_bytes(void **state)
{
	static const char *const folders[] = {
		"bg512",  "cities", "da2", "dao",        "mazes",
		"random", "rooms",  "sc1", "wc3maps512",
	};
	struct rng rng = {test_seed()};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(folders); i++) {
		const char *folder = maps_folder(folders[i]);

		if (folder)
			n += for_each_file(folder, ".map", bake_file, &rng);
	}
	printf("# %zu real levels\n", n);
}

int
main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_finds_what_dijkstra_finds),
		cmocka_unit_test(the_kernel_knows_what_it_cannot_hold),
		cmocka_unit_test(random_levels_bake_to_the_same_bytes),
		cmocka_unit_test(our_levels_bake_to_the_same_bytes),
		cmocka_unit_test(real_levels_bake_to_the_same_bytes),
	};

	if (!maps_folder("dao"))
		tests[4].name = "real_levels_bake_to_the_same_bytes "
				"# SKIP no folder HPA_MAPS/dao";
	return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
