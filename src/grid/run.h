/* run.h: how far one can go straight on, and ways of two such runs. */
#ifndef GRID_RUN_H
#define GRID_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/grid/grid.h"

/* The directions in which a step from the free cell (x, y) is possible, a bit
 * each. The same as asking grid_may_step() for all. */
unsigned grid_steps(const struct grid *grid, uint32_t x, uint32_t y);

/* How many moves in a direction are possible from the free cell (x, y), at most
 * `most`. The same as asking grid_may_step() from cell to cell. */
uint32_t grid_run(const struct grid *grid, uint32_t x, uint32_t y,
                  unsigned direction, uint32_t most);

/* The cost of a run from (x, y), all of whose moves are possible. */
uint64_t grid_run_cost(const struct grid *grid, uint32_t x, uint32_t y,
                       unsigned direction, uint32_t length);

/* A way in two runs, either of which may have no moves. */
struct grid_legs {
	unsigned first, second; /* directions */
	uint32_t n_first, n_second;
};

/* The two runs that lead from one cell to another if nothing is in the way: no
 * way costs less where all cells cost the same. Diagonal moves come first. */
static inline struct grid_legs
grid_legs(const struct grid *grid, uint32_t x1, uint32_t y1, uint32_t x2,
          uint32_t y2)
{
	/* Of the quarter: to the right or left, down or up. */
	static const uint8_t diagonal[4] = {1, 3, 7, 5};
	bool left = x2 < x1, up = y2 < y1;
	uint32_t dx = left ? x1 - x2 : x2 - x1;
	uint32_t dy = up ? y1 - y2 : y2 - y1;
	unsigned along_x = left ? 4 : 0, along_y = up ? 6 : 2;
	uint32_t shorter = dx < dy ? dx : dy;

	if (grid->moves == HPA_RULE_4)
		return (struct grid_legs){along_x, along_y, dx, dy};
	return (struct grid_legs){diagonal[2 * up + left],
	                          dx > dy ? along_x : along_y, shorter,
	                          dx + dy - 2 * shorter};
}

/* The same, the other run first. */
static inline struct grid_legs
grid_legs_swapped(struct grid_legs legs)
{
	return (struct grid_legs){legs.second, legs.first, legs.n_second,
	                          legs.n_first};
}

/* Are all moves of a way from (x, y) possible? */
bool grid_legs_are_clear(const struct grid *grid, uint32_t x, uint32_t y,
                         const struct grid_legs *legs);

/* What a way from (x, y) costs that is clear. */
uint64_t grid_legs_cost(const struct grid *grid, uint32_t x, uint32_t y,
                        const struct grid_legs *legs);

static inline unsigned
grid_opposite(unsigned direction)
{
	return (direction + 4) % GRID_N_DIRECTIONS;
}

#endif
