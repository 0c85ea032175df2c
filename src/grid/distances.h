/* distances.h: distances from a cell inside a window, by what finds them
 * fastest: the kernel where it can, Dijkstra where it can't. */
#ifndef GRID_DISTANCES_H
#define GRID_DISTANCES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/grid/kernel.h"
#include "src/grid/window.h"

struct distances {
	const struct grid *grid;
	struct grid_window window;
	bool by_kernel; /* that is where the distances are */
	struct kernel kernel;
	struct window_field field;
};

/* Get ready for a window of at most 32 x 32 cells. */
void distances_prepare(const struct grid *grid, struct grid_window window,
                       struct distances *out);

/* Find the distances from the free cell (x, y) of the window. */
void distances_solve(struct distances *distances, uint32_t x, uint32_t y);

/* The distance to a cell of the window, or WINDOW_NO_PATH. */
static inline uint32_t
distances_at(const struct distances *distances, uint32_t x, uint32_t y)
{
	return distances->by_kernel ? kernel_cost(&distances->kernel, x, y)
	                            : window_cost(&distances->field, x, y);
}

/* The first direction of a shortest way from (x, y), which must be reachable
 * and not where the distances are from, back to there: straight on, as the step
 * before, if that is one, else the lowest. `before` is GRID_N_DIRECTIONS where
 * there was no step. */
unsigned distances_way_back(const struct distances *distances, uint32_t x,
                            uint32_t y, unsigned before);

#endif
