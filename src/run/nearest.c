/* nearest.c: the cell nearest to a goal that a start can reach.
 *
 * Rings of growing radius around the goal are looked through until no cell
 * farther out can be nearer than the best one found: a cell of ring r is r
 * straight steps away at least. A ring is four sides, walked stretch by
 * stretch: one that lies in a cluster without a cell of the start's component
 * is skipped as a whole. */
#include "src/run/map.h"

struct nearest {
	const hpa_map *map;
	uint32_t component;
	uint32_t x, y; /* the goal */
	uint64_t best; /* its cost, UINT64_MAX before the first */
	hpa_cell cell;
};

static bool
is_earlier(uint32_t x, uint32_t y, hpa_cell than)
{
	return y < than.y || (y == than.y && x < than.x);
}

static void
try_cell(struct nearest *nearest, uint32_t x, uint32_t y)
{
	const struct grid *grid = &nearest->map->grid;
	uint64_t cost = grid_octile(grid, x, y, nearest->x, nearest->y);

	if (cost > nearest->best ||
	    (cost == nearest->best && !is_earlier(x, y, nearest->cell)) ||
	    !grid_is_free(grid, x, y) ||
	    !hpa_view_reaches(&nearest->map->view, nearest->component,
	                      hpa_view_component(&nearest->map->view, x, y)))
		return;
	nearest->best = cost;
	nearest->cell = (hpa_cell){(uint16_t)x, (uint16_t)y};
}

/* Can the cluster of this cell hold one of the component? */
static bool
is_promising(const struct nearest *nearest, uint32_t x, uint32_t y)
{
	const struct hpa_view *view = &nearest->map->view;
	uint32_t label = hpa_get_u32(view->labels,
	                             hpa_cluster_at(&view->levels[0], x, y));

	if (label == HPA_COMP_NONE)
		return false;
	return (label & HPA_COMP_MIXED) ||
	       hpa_view_reaches(view, nearest->component, label);
}

/* A side of the ring: from `begin` to `end`, both included, along x (in row
 * `line`) or along y (in column `line`). Coordinates may lie outside. */
static void
try_side(struct nearest *nearest, int64_t begin, int64_t end, int64_t line,
         bool is_row)
{
	const struct grid *grid = &nearest->map->grid;
	uint32_t size = nearest->map->view.cluster_size;
	int64_t length = is_row ? grid->width : grid->height;

	if (line < 0 || line >= (is_row ? grid->height : grid->width))
		return;
	begin = begin < 0 ? 0 : begin;
	end = end >= length ? length - 1 : end;
	while (begin <= end) {
		int64_t stop = begin - begin % size + size - 1;
		uint32_t x = (uint32_t)(is_row ? begin : line);
		uint32_t y = (uint32_t)(is_row ? line : begin);

		stop = stop > end ? end : stop;
		if (!is_promising(nearest, x, y))
			begin = stop + 1;
		for (; begin <= stop; begin++)
			try_cell(nearest, (uint32_t)(is_row ? begin : line),
			         (uint32_t)(is_row ? line : begin));
	}
}

static void
try_ring(struct nearest *nearest, int64_t radius)
{
	int64_t left = nearest->x - radius, right = nearest->x + radius;
	int64_t top = nearest->y - radius, bottom = nearest->y + radius;

	try_side(nearest, left, right, top, true);
	if (radius == 0)
		return;
	try_side(nearest, left, right, bottom, true);
	try_side(nearest, top + 1, bottom - 1, left, false);
	try_side(nearest, top + 1, bottom - 1, right, false);
}

hpa_status
hpa_map_nearest(const hpa_map *map, hpa_cell from, hpa_cell to, hpa_cell *out)
{
	struct nearest nearest = {
		.map = map, .x = to.x, .y = to.y, .best = UINT64_MAX};
	hpa_status st = hpa_map_check_cells(map, from, from);
	uint64_t radius;

	if (st != HPA_OK)
		return st;
	if (to.x >= map->grid.width || to.y >= map->grid.height)
		return HPA_OUTSIDE;
	nearest.component = hpa_view_component(&map->view, from.x, from.y);
	/* The start itself is a cell of the last ring at the latest. */
	for (radius = 0; radius <= HPA_MAX_SIDE &&
	                 radius * map->grid.cost_straight * map->grid.min_factor <=
	                         nearest.best;
	     radius++)
		try_ring(&nearest, (int64_t)radius);
	*out = nearest.cell;
	return HPA_OK;
}
