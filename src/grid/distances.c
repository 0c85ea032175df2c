/* distances.c: distances from a cell inside a window.
 *
 * The kernel gives up on ways that are too long for its lanes, and knows nothing
 * of terrain. What it finds is read where it is. */
#include "src/grid/distances.h"

void
distances_prepare(const struct grid *grid, struct grid_window window,
                  struct distances *out)
{
	out->grid = grid;
	out->window = window;
	if (kernel_fits(grid))
		kernel_prepare(grid, window, &out->kernel);
}

void
distances_solve(struct distances *distances, uint32_t x, uint32_t y)
{
	const struct grid *grid = distances->grid;

	distances->by_kernel = kernel_fits(grid) &&
	                       kernel_solve(&distances->kernel, x, y);
	if (!distances->by_kernel)
		window_solve(grid, distances->window, x, y, &distances->field);
}

unsigned
distances_way_back(const struct distances *distances, uint32_t x, uint32_t y)
{
	const struct grid *grid = distances->grid;
	uint32_t cost = distances_at(distances, x, y);
	unsigned d;

	for (d = 0; d < GRID_N_DIRECTIONS - 1; d++) {
		uint32_t to_x = x + grid_dx[d];
		uint32_t to_y = y + grid_dy[d];

		/* Few neighbours are that much nearer: legality comes last. */
		if (grid_window_has(&distances->window, to_x, to_y) &&
		    grid_is_free(grid, to_x, to_y) &&
		    distances_at(distances, to_x, to_y) +
		                    grid_step_cost(grid, x, y, d) ==
		            cost &&
		    grid_may_step(grid, x, y, d))
			break;
	}
	return d;
}
