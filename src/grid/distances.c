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

	distances->by_kernel =
		kernel_fits(grid) && kernel_solve(&distances->kernel, x, y);
	if (!distances->by_kernel)
		window_solve(grid, distances->window, x, y, &distances->field);
}

/* Does a step lead nearer by just what it costs? */
static bool
leads_back(const struct distances *distances, uint32_t x, uint32_t y,
           unsigned direction)
{
	const struct grid *grid = distances->grid;
	uint32_t to_x = x + grid_dx[direction];
	uint32_t to_y = y + grid_dy[direction];

	/* Few neighbours are that much nearer: legality comes last. */
	return grid_window_has(&distances->window, to_x, to_y) &&
	       grid_is_free(grid, to_x, to_y) &&
	       distances_at(distances, to_x, to_y) +
	                       grid_step_cost(grid, x, y, direction) ==
	               distances_at(distances, x, y) &&
	       grid_may_step(grid, x, y, direction);
}

unsigned
distances_way_back(const struct distances *distances, uint32_t x, uint32_t y,
                   unsigned before)
{
	unsigned d = 0;

	if (before < GRID_N_DIRECTIONS && leads_back(distances, x, y, before))
		return before;
	while (d < GRID_N_DIRECTIONS - 1 && !leads_back(distances, x, y, d))
		d++;
	return d;
}
