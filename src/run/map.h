/* map.h: an open map, as the rest of the runtime sees it. */
#ifndef RUN_MAP_H
#define RUN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_read.h"
#include "formats/hpa_view.h"
#include "hpa.h"
#include "src/grid/grid.h"

/* A file's bytes, mapped or copied. */
struct map_bytes {
	void *data;    /* NULL: there are none, or they are the caller's */
	size_t size;   /* that were taken, and have to be given back */
	size_t n_read; /* a file that was cut off meanwhile has fewer */
	bool is_copy;  /* from the allocator */
};

#define N_LANDMARKS 4u

/* Distances to the landmarks, side by side. */
typedef int32_t landmark_vector __attribute__((
	vector_size(N_LANDMARKS * sizeof(int32_t)), aligned(4), may_alias));

/* A file with several profiles is an array of maps. The first one is what the
 * caller opens and closes; it owns what they share. */
struct hpa_map {
	const struct hpa_map *first;
	struct hpa_view view;
	struct grid grid;
	landmark_vector *landmarks; /* see landmark.h; NULL: there are none */

	/* In the first one only. */
	hpa_allocator allocator;
	struct hpa_file file;
	uint32_t n_profiles;
	uint8_t *inflated; /* NULL: nothing had to be */
	size_t inflated_size;
	struct map_bytes bytes;
};

/* The caller's allocator, or malloc() and free() where it is NULL. */
hpa_allocator hpa_allocator_or_default(const hpa_allocator *allocator);

/* What can be said of a pair of cells without looking further than at them:
 * HPA_OUTSIDE, HPA_BLOCKED or HPA_OK. */
hpa_status hpa_map_check_cells(const hpa_map *map, hpa_cell from, hpa_cell to);

/* What the step between the two nodes of a transition costs. */
static inline uint32_t
map_transition_cost(const hpa_map *map, uint32_t from, uint32_t to)
{
	const struct hpa_view *view = &map->view;
	const struct grid *grid = &map->grid;

	if (!grid->classes)
		return grid->cost_straight;
	return grid->cost_straight / 2 *
	       (grid_factor(grid, hpa_node_x(view, from),
	                    hpa_node_y(view, from)) +
	        grid_factor(grid, hpa_node_x(view, to), hpa_node_y(view, to)));
}

#endif
