/* grid.h: cells, moves and what a step costs.
 *
 * Shared by the baker and the runtime, so that both obey one rule. A grid is a
 * view of bits, one per cell, set where it is free, in rows of whole bytes with
 * the leftmost cell in the lowest bit: the layout of the file's CELL section,
 * used in place. */
#ifndef GRID_GRID_H
#define GRID_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"

struct grid {
	const uint8_t *bits;
	size_t stride; /* bytes a row */
	uint32_t width, height;
	enum hpa_move_rule moves;
	uint32_t cost_straight, cost_diagonal;
	const uint8_t *classes; /* of the cells; NULL: all cost the same */
	size_t class_stride;    /* bytes a row */
	unsigned class_log2;    /* 1 << this: bits a cell */
	uint32_t min_factor;    /* of the cheapest free cell */
	uint8_t factor[HPA_MAX_CLASSES];
};

/* Directions clockwise from east; odd ones are diagonal. Steps are added to
 * unsigned coordinates, so that one to the left or up is all ones. */
#define GRID_N_DIRECTIONS 8u
#define GRID_BACK UINT32_MAX
static const uint32_t grid_dx[GRID_N_DIRECTIONS] = {
	1, 1, 0, GRID_BACK, GRID_BACK, GRID_BACK, 0, 1};
static const uint32_t grid_dy[GRID_N_DIRECTIONS] = {
	0, 1, 1, 1, 0, GRID_BACK, GRID_BACK, GRID_BACK};

static inline size_t
grid_stride(uint32_t width)
{
	return ((size_t)width + 7) / 8;
}

/* Is the cell inside and free? A step over the left or top edge wraps to a
 * large number and is outside too. */
static inline bool
grid_is_free(const struct grid *grid, uint32_t x, uint32_t y)
{
	return x < grid->width && y < grid->height &&
	       (grid->bits[y * grid->stride + x / 8] >> x % 8 & 1);
}

/* May a unit on the free cell (x, y) step in this direction? */
static inline bool
grid_may_step(const struct grid *grid, uint32_t x, uint32_t y,
              unsigned direction)
{
	uint32_t to_x = x + grid_dx[direction];
	uint32_t to_y = y + grid_dy[direction];

	if (!grid_is_free(grid, to_x, to_y))
		return false;
	if (direction % 2 == 0)
		return true;
	switch (grid->moves) {
	case HPA_RULE_8:
		return grid_is_free(grid, to_x, y) &&
		       grid_is_free(grid, x, to_y);
	case HPA_RULE_8_LOOSE:
		return grid_is_free(grid, to_x, y) ||
		       grid_is_free(grid, x, to_y);
	case HPA_RULE_4:
		break;
	}
	return false;
}

/* Bytes that the classes of a row of cells take. */
static inline size_t
grid_class_stride(uint32_t width, unsigned class_log2)
{
	return (((size_t)width << class_log2) + 7) / 8;
}

/* The cost factor of a cell of a level that has classes. */
static inline uint32_t
grid_factor(const struct grid *grid, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << grid->class_log2;
	unsigned mask = (1u << (1u << grid->class_log2)) - 1;
	unsigned byte = grid->classes[y * grid->class_stride + bit / 8];

	return grid->factor[byte >> bit % 8 & mask & (HPA_MAX_CLASSES - 1)];
}

/* What the step from (x, y) in this direction costs: the mean of both cells'
 * factors counts. */
static inline uint32_t
grid_step_cost(const struct grid *grid, uint32_t x, uint32_t y,
               unsigned direction)
{
	uint32_t step = direction % 2 ? grid->cost_diagonal
	                              : grid->cost_straight;

	if (!grid->classes)
		return step;
	return step / 2 *
	       (grid_factor(grid, x, y) +
	        grid_factor(grid, x + grid_dx[direction],
	                    y + grid_dy[direction]));
}

/* The cost of the way between two cells if nothing were in it and all of it
 * were of the cheapest class: never more than the real one. */
static inline uint64_t
grid_octile(const struct grid *grid, uint32_t x1, uint32_t y1, uint32_t x2,
            uint32_t y2)
{
	uint64_t dx = x1 < x2 ? x2 - x1 : x1 - x2;
	uint64_t dy = y1 < y2 ? y2 - y1 : y1 - y2;
	uint64_t shorter = dx < dy ? dx : dy;

	if (grid->moves == HPA_RULE_4)
		return (dx + dy) * grid->cost_straight * grid->min_factor;
	return (shorter * grid->cost_diagonal +
	        (dx + dy - 2 * shorter) * grid->cost_straight) *
	       grid->min_factor;
}

/* A rectangle of cells: a cluster, ragged at the level's edge. */
struct grid_window {
	uint32_t x, y, width, height;
};

/* Does the cell lie in the window? Numbers that wrapped below 0 do not. */
static inline bool
grid_window_has(const struct grid_window *window, uint32_t x, uint32_t y)
{
	return x - window->x < window->width && y - window->y < window->height;
}

/* The cluster of that size that the cell (x, y) lies in. */
static inline struct grid_window
grid_cluster(const struct grid *grid, uint32_t size, uint32_t x, uint32_t y)
{
	struct grid_window window = {x - x % size, y - y % size, size, size};

	if (window.width > grid->width - window.x)
		window.width = grid->width - window.x;
	if (window.height > grid->height - window.y)
		window.height = grid->height - window.y;
	return window;
}

/* The window of at most 32 x 32 cells around the middle of two cells that lie
 * less than 30 cells from each other. Every way of less than 30 steps between
 * them stays inside. */
static inline struct grid_window
grid_window_around(const struct grid *grid, uint32_t x1, uint32_t y1,
                   uint32_t x2, uint32_t y2)
{
	const uint32_t half = HPA_MAX_CLUSTER_SIZE / 2;
	uint32_t x = (x1 + x2) / 2 + 1, y = (y1 + y2) / 2 + 1;
	uint32_t left = x > half ? x - half : 0;
	uint32_t top = y > half ? y - half : 0;
	uint32_t right = x + half < grid->width ? x + half : grid->width;
	uint32_t bottom = y + half < grid->height ? y + half : grid->height;

	return (struct grid_window){left, top, right - left, bottom - top};
}

#endif
