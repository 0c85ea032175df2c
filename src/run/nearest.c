/* nearest.c: the cell nearest to a goal that a start can reach.
 *
 * Rings of growing radius around the goal are looked through until no cell
 * farther out can be nearer than the best one found: a cell of ring r is r
 * straight steps away at least. A ring is four sides, walked stretch by
 * stretch: one that lies in a cluster without a cell of the start's component
 * is skipped as a whole. Elsewhere free cells that follow each other are of one
 * component, which is looked up for the first of them. */
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

static bool
is_reached(const struct nearest *nearest, uint32_t x, uint32_t y)
{
	const struct hpa_view *view = &nearest->map->view;

	return hpa_view_reaches(view, nearest->component,
	                        hpa_view_component(view, x, y));
}

/* A cell that is reached. */
static void
take_nearer(struct nearest *nearest, uint32_t x, uint32_t y)
{
	uint64_t cost = grid_octile(&nearest->map->grid, x, y, nearest->x,
	                            nearest->y);

	if (cost > nearest->best ||
	    (cost == nearest->best && !is_earlier(x, y, nearest->cell)))
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

/* A stretch of a side, as below, inside the level. */
static void
try_stretch(struct nearest *nearest, int64_t begin, int64_t end, int64_t line,
            bool is_row)
{
	bool was_free = false, reached = false;

	for (; begin <= end; begin++) {
		uint32_t x = (uint32_t)(is_row ? begin : line);
		uint32_t y = (uint32_t)(is_row ? line : begin);
		bool is_free = grid_is_free(&nearest->map->grid, x, y);

		if (is_free && !was_free)
			reached = is_reached(nearest, x, y);
		if (is_free && reached)
			take_nearer(nearest, x, y);
		was_free = is_free;
	}
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
		if (is_promising(nearest, x, y))
			try_stretch(nearest, begin, stop, line, is_row);
		begin = stop + 1;
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
