/* window.c: Dijkstra inside one cluster.
 *
 * The baker fills a cluster's table with it and the runtime connects and
 * refines with it. A cluster has at most 32 x 32 cells and a cost in it at most
 * 61 184, times twice the largest factor (formats/hpa.md shows why), so that 32
 * bits hold it. */
#include "src/grid/window.h"

#include <string.h>

static void
reach(struct window_field *field, struct heap *heap, uint32_t cell,
      uint32_t cost)
{
	if (field->cost[cell] == WINDOW_NO_PATH)
		heap_insert(heap, cell, cost, 0);
	else if (cost < field->cost[cell])
		heap_lower(heap, cell, cost, 0);
	else
		return;
	field->cost[cell] = cost;
}

static void
expand(const struct grid *grid, struct window_field *field, struct heap *heap,
       uint32_t cell)
{
	const struct grid_window *window = &field->window;
	uint32_t x = window->x + cell % window->width;
	uint32_t y = window->y + cell / window->width;

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++) {
		uint32_t to_x = x + grid_dx[d];
		uint32_t to_y = y + grid_dy[d];

		if (!grid_window_has(window, to_x, to_y) ||
		    !grid_may_step(grid, x, y, d))
			continue;
		reach(field, heap,
		      (to_y - window->y) * window->width + to_x - window->x,
		      field->cost[cell] + grid_step_cost(grid, x, y, d));
	}
}

void
window_solve(const struct grid *grid, struct grid_window window, uint32_t x,
             uint32_t y, struct window_field *out)
{
	struct heap heap = {out->entries, out->where, 0};

	out->window = window;
	/* WINDOW_NO_PATH, byte by byte. */
	memset(out->cost, 0xff,
	       (size_t)window.width * window.height * sizeof(out->cost[0]));
	reach(out, &heap, (y - window.y) * window.width + x - window.x, 0);
	while (heap.n > 0)
		expand(grid, out, &heap, heap_pop(&heap).item);
}
