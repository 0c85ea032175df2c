/* window.h: distances and paths inside one cluster. */
#ifndef GRID_WINDOW_H
#define GRID_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "src/grid/grid.h"
#include "src/grid/heap.h"

#define WINDOW_MAX_CELLS (HPA_MAX_CLUSTER_SIZE * HPA_MAX_CLUSTER_SIZE)
#define WINDOW_NO_PATH 0xffffffffu

/* The distance from one cell to every cell of a window, along paths that stay
 * inside it, and the scratch it takes to find them. */
struct window_field {
	struct grid_window window;
	uint32_t cost[WINDOW_MAX_CELLS]; /* row by row, or WINDOW_NO_PATH */
	struct heap_entry entries[WINDOW_MAX_CELLS];
	uint32_t where[WINDOW_MAX_CELLS];
};

/* Dijkstra from the free cell (x, y) of the window. */
void window_solve(const struct grid *grid, struct grid_window window,
                  uint32_t x, uint32_t y, struct window_field *out);

/* The distance to a cell of the window. */
static inline uint32_t
window_cost(const struct window_field *field, uint32_t x, uint32_t y)
{
	const struct grid_window *window = &field->window;

	return field->cost[(y - window->y) * window->width + (x - window->x)];
}

#endif
