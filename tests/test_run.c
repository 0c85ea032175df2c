/* test_run.c: what is asked for many cells at once is what one gets cell by
 * cell. Random grids of all widths and movement rules; grid_may_step() decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/grid/run.h"
#include "tests/support.h"

#define N_GRIDS 4000
#define N_CELLS 40
#define MAX_SIDE 200u

/* A grid whose bytes end where its last row does, so that the sanitizers see
 * what is read behind them. */
static struct grid
random_grid(struct rng *rng)
{
	uint32_t width = rng_between(rng, 1, MAX_SIDE);
	uint32_t height = rng_between(rng, 1, rng_chance(rng, 30) ? 4 : 90);
	uint32_t walls = rng_between(rng, 0, 30);
	size_t stride = grid_stride(width);
	uint8_t *bits = calloc(stride, height);

	assert_non_null(bits);
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			if (!rng_chance(rng, walls))
				bits[y * stride + x / 8] |=
					(uint8_t)(1u << x % 8);
	return (struct grid){
		.bits = bits,
		.stride = stride,
		.width = width,
		.height = height,
		.moves = (enum hpa_move_rule)rng_below(rng, 3),
		.cost_straight = HPA_COST_STRAIGHT,
		.cost_diagonal = HPA_COST_DIAGONAL,
		.min_factor = 1,
	};
}

static uint32_t
run_by_steps(const struct grid *grid, uint32_t x, uint32_t y, unsigned d,
             uint32_t most)
{
	uint32_t n = 0;

	for (; n < most && grid_may_step(grid, x, y, d); n++) {
		x += grid_dx[d];
		y += grid_dy[d];
	}
	return n;
}

static void
check_cell(struct rng *rng, const struct grid *grid, uint32_t x, uint32_t y)
{
	unsigned steps = grid_steps(grid, x, y);

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++) {
		uint32_t most = rng_below(rng, rng_chance(rng, 50) ? 8 : 250);

		assert_int_equal(steps >> d & 1, grid_may_step(grid, x, y, d));
		assert_int_equal(grid_run(grid, x, y, d, most),
		                 run_by_steps(grid, x, y, d, most));
	}
	assert_int_equal(steps >> GRID_N_DIRECTIONS, 0);
}

static void
for_random_cells(void (*check)(struct rng *, const struct grid *, uint32_t,
                               uint32_t))
{
	struct rng rng = {test_seed()};

	for (int i = 0; i < N_GRIDS; i++) {
		struct grid grid = random_grid(&rng);

		for (int k = 0; k < N_CELLS; k++) {
			uint32_t x = rng_below(&rng, grid.width);
			uint32_t y = rng_below(&rng, grid.height);

			if (grid_is_free(&grid, x, y))
				check(&rng, &grid, x, y);
		}
		free((void *)(uintptr_t)grid.bits);
	}
}

static void
steps_and_runs_are_those_of_single_cells(void **state)
{
	(void)state;
	for_random_cells(check_cell);
}

/* Two runs lead where they should, cost the octile distance, and are clear just
 * if each of their steps can be made. */
static void
check_legs(struct rng *rng, const struct grid *grid, uint32_t x, uint32_t y)
{
	uint32_t to_x = rng_below(rng, grid->width);
	uint32_t to_y = rng_below(rng, grid->height);
	struct grid_legs legs = grid_legs(grid, x, y, to_x, to_y);

	if (rng_chance(rng, 50))
		legs = grid_legs_swapped(legs);
	assert_int_equal(grid_legs_cost(grid, x, y, &legs),
	                 grid_octile(grid, x, y, to_x, to_y));
	if (run_by_steps(grid, x, y, legs.first, legs.n_first) !=
	    legs.n_first) {
		assert_false(grid_legs_are_clear(grid, x, y, &legs));
		return;
	}
	x += grid_dx[legs.first] * legs.n_first;
	y += grid_dy[legs.first] * legs.n_first;
	assert_int_equal(grid_legs_are_clear(
				 grid, x - grid_dx[legs.first] * legs.n_first,
				 y - grid_dy[legs.first] * legs.n_first, &legs),
	                 run_by_steps(grid, x, y, legs.second, legs.n_second) ==
	                         legs.n_second);
	assert_int_equal(x + grid_dx[legs.second] * legs.n_second, to_x);
	assert_int_equal(y + grid_dy[legs.second] * legs.n_second, to_y);
}

static void
two_runs_are_an_octile_way(void **state)
{
	(void)state;
	for_random_cells(check_legs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_and_runs_are_those_of_single_cells),
		cmocka_unit_test(two_runs_are_an_octile_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
