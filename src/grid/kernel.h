/* kernel.h: distances inside one cluster of uniform cost, by vectors.
 *
 * What window_solve() does, for grids where all free cells cost the same: the
 * same distances, ten times as fast or more. A cluster is prepared once and
 * then solved from as many cells as one likes. */
#ifndef GRID_KERNEL_H
#define GRID_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/grid/grid.h"
#include "src/grid/window.h"

#define KERNEL_LANES 8u
#define KERNEL_MAX_VECTORS                                                     \
	(HPA_MAX_CLUSTER_SIZE * HPA_MAX_CLUSTER_SIZE / KERNEL_LANES)
#define KERNEL_MAX_STRIDES 5u /* 1, 2, 4, 8, 16 cells along a row */

/* Costs are below this; it also stands for "no way". */
#define KERNEL_FAR 0x3fff

typedef int16_t kernel_vector __attribute__((vector_size(16), may_alias));

/* A cluster, ready to be solved. A row of cells is 2 vectors or, in clusters
 * wider than 16 cells, 4. A vector of steps has, for each cell, the cost of
 * the step that ends there, or KERNEL_FAR. */
struct kernel {
	struct grid_window window;
	uint32_t n_parts; /* vectors in a row */
	kernel_vector along[KERNEL_MAX_STRIDES][KERNEL_MAX_VECTORS];
	kernel_vector above[KERNEL_MAX_VECTORS];
	kernel_vector above_left[KERNEL_MAX_VECTORS];
	kernel_vector above_right[KERNEL_MAX_VECTORS];
	kernel_vector cost[KERNEL_MAX_VECTORS]; /* what was solved last */
	bool has_avx2;
};

/* Is the grid one that the kernel can do? */
static inline bool
kernel_fits(const struct grid *grid)
{
	return !grid->classes && grid->cost_straight <= HPA_COST_STRAIGHT &&
	       grid->cost_diagonal <= HPA_COST_DIAGONAL;
}

/* Get ready for a window of such a grid, at most 32 x 32 cells. */
void kernel_prepare(const struct grid *grid, struct grid_window window,
                    struct kernel *out);

/* Find the distances from the free cell (x, y) of the window. false: there are
 * ways too long for a vector's lanes; window_solve() finds them. Does not
 * happen in clusters up to 16 x 16 with the step costs of this format. */
bool kernel_solve(struct kernel *kernel, uint32_t x, uint32_t y);

/* The distance to a cell of the window, or WINDOW_NO_PATH. */
static inline uint32_t
kernel_cost(const struct kernel *kernel, uint32_t x, uint32_t y)
{
	const struct grid_window *window = &kernel->window;
	uint32_t place = (y - window->y) * kernel->n_parts * KERNEL_LANES +
	                 (x - window->x);
	uint16_t cost;

	memcpy(&cost, (const uint8_t *)kernel->cost + 2 * (size_t)place, 2);
	return cost >= KERNEL_FAR ? WINDOW_NO_PATH : cost;
}

#endif
