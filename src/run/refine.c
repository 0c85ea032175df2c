/* refine.c: the hops of an abstract path -> runs of equal moves.
 *
 * The top hop of the stack is taken off and
 *
 *     an intra-edge that is straight     becomes two runs: most of them are
 *     one of a level above 1             is replaced by hops of the level below
 *     one of level 1                     becomes runs, read from the cache if
 *                                        the file has one, else searched for
 *     an inter-edge                      becomes one move
 *     a link                             becomes a jump
 *     the way from start or to goal      becomes runs, searched for
 *
 * A hop is straight if a diagonal and a straight run, in either order, lead to
 * its end at its cost; or at less, in a path that is smoothed anyway.
 *
 * An intra-edge has the same cells in both directions: it is looked at from its
 * lower node. Those of level 1 that are searched for lead back from the higher
 * node in the distances from the lower one, which is also what the cache holds
 * (src/bake/paths.c). What the cache says is checked against the grid, so that a
 * wrong one is noticed and can't lead a unit into a wall.
 *
 * That an edge stands for a way of its cost is not known of a file. Where each
 * level adds a detour to what the one above says, a few nodes are enough for
 * ways of billions of cells. But of a cheapest path this is known, and what takes
 * more is given up:
 *
 *     moves       It is on no cell twice.
 *     hops        At each level, one ends at a node at the most.
 *     expansions  When hops are replaced by those of the level below, a node of
 *                 that level is expanded 29 times at the most: a hop from u that
 *                 costs d expands nodes v no farther than d from u. Take those
 *                 hops, in order, that expand one v: two of them, from u to u',
 *                 have d(u, u') <= d(u, v) + d(v, u') <= d + d', and what is
 *                 walked from u to u' is d and all hops in between. So the later
 *                 one costs no less than all in between, from the second on they
 *                 double, and no cost is below 64 or above 2^32. */
#include "src/grid/run.h"

#include <string.h>

#include "src/run/query.h"

#define RUNS_AT_ONCE 32u
#define MAX_EXPANSIONS 32u /* of a node, at each level */

/* The runs are a stack as well: what is to be walked first is pushed last. */
static bool
push_run(struct walk *walk, unsigned move, uint32_t length)
{
	if (length == 0)
		return true;
	if (walk->n_runs == WINDOW_MAX_CELLS || length > walk->n_moves_left)
		return false;
	walk->n_moves_left -= length;
	walk->runs[walk->n_runs++] =
		(struct run){(uint8_t)move, (uint16_t)length};
	return true;
}

/* Push a move, or make the run on top longer by it. */
static bool
push_move(struct walk *walk, unsigned move)
{
	struct run *top = walk->runs + walk->n_runs - 1;

	if (walk->n_runs == 0 || top->move != move)
		return push_run(walk, move, 1);
	if (walk->n_moves_left == 0)
		return false;
	walk->n_moves_left--;
	top->length++;
	return true;
}

/* Turn runs that are in the order in which they are walked into a stack. */
static void
reverse_runs(struct walk *walk)
{
	uint32_t i = 0, j = walk->n_runs;

	while (i + 1 < j) {
		struct run run = walk->runs[i];

		walk->runs[i++] = walk->runs[--j];
		walk->runs[j] = run;
	}
}

/* Turn the whole stack into that of the way back. */
static void
turn_around(struct walk *walk)
{
	reverse_runs(walk);
	for (uint32_t i = 0; i < walk->n_runs; i++)
		walk->runs[i].move = (uint8_t)grid_opposite(walk->runs[i].move);
}

/* The way between where the distances are from and the cell (x, y), to be
 * walked to the cell or the other way. */
static bool
push_way(struct hpa_query *query, uint32_t x, uint32_t y, bool to_cell)
{
	const struct distances *distances = &query->distances;
	struct walk *walk = &query->walk;
	unsigned d = GRID_N_DIRECTIONS;

	if (distances_at(distances, x, y) == WINDOW_NO_PATH)
		return false;
	while (distances_at(distances, x, y) > 0) {
		d = distances_way_back(distances, x, y, d);
		if (!push_move(walk, to_cell ? grid_opposite(d) : d))
			return false;
		x += grid_dx[d];
		y += grid_dy[d];
	}
	/* Back from the cell is the right order for a stack on the way there. */
	if (!to_cell)
		reverse_runs(walk);
	return true;
}

void
refine_solve_window(struct hpa_query *query, struct grid_window window,
                    uint32_t x, uint32_t y)
{
	distances_prepare(&query->map->grid, window, &query->distances);
	distances_solve(&query->distances, x, y);
}

void
refine_solve_cluster(struct hpa_query *query, uint32_t x, uint32_t y)
{
	const struct hpa_map *map = query->map;

	refine_solve_window(
		query, grid_cluster(&map->grid, map->view.cluster_size, x, y),
		x, y);
}

/* Straight hops */

/* Are the runs possible, and cheap enough? */
static bool
fits(const struct hpa_query *query, hpa_cell from, const struct grid_legs *legs,
     uint64_t cost)
{
	const struct grid *grid = &query->map->grid;
	uint64_t found;

	if (!grid_legs_are_clear(grid, from.x, from.y, legs))
		return false;
	found = grid_legs_cost(grid, from.x, from.y, legs);
	return query_smooths(query) ? found <= cost : found == cost;
}

/* The two runs that may lead from one cell to another at that cost. */
static bool
find_straight(const struct hpa_query *query, hpa_cell from, hpa_cell to,
              uint64_t cost, struct grid_legs *out)
{
	const struct grid *grid = &query->map->grid;

	if (!query_smooths(query) &&
	    grid_octile(grid, from.x, from.y, to.x, to.y) != cost)
		return false;
	*out = grid_legs(grid, from.x, from.y, to.x, to.y);
	if (fits(query, from, out, cost))
		return true;
	*out = grid_legs_swapped(*out);
	return fits(query, from, out, cost);
}

bool
refine_is_straight(const struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	hpa_cell from = query->from, to = query->to;
	struct grid_legs legs;

	return find_straight(query, from, to,
	                     grid_octile(grid, from.x, from.y, to.x, to.y),
	                     &legs);
}

/* Push two runs, or none of them; `back`: to be walked from their end to where
 * they begin. */
static bool
push_legs(struct walk *walk, const struct grid_legs *legs, bool back)
{
	if ((uint64_t)legs->n_first + legs->n_second > walk->n_moves_left)
		return false;
	if (back)
		return push_run(walk, grid_opposite(legs->first),
		                legs->n_first) &&
		       push_run(walk, grid_opposite(legs->second),
		                legs->n_second);
	return push_run(walk, legs->second, legs->n_second) &&
	       push_run(walk, legs->first, legs->n_first);
}

static bool
push_straight(struct hpa_query *query, hpa_cell from, hpa_cell to,
              uint64_t cost, bool back)
{
	struct grid_legs legs;

	return find_straight(query, from, to, cost, &legs) &&
	       push_legs(&query->walk, &legs, back);
}

/* Hops */

static hpa_cell
cell_of(const struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;

	return (hpa_cell){(uint16_t)hpa_node_x(view, node),
	                  (uint16_t)hpa_node_y(view, node)};
}

/* The runs of an edge that were kept, from the lower node to the higher one or
 * back. */
static bool
push_remembered(struct walk *walk, const struct memo_runs *kept, bool upwards)
{
	for (uint32_t i = 0; i < kept->n; i++) {
		const struct run *run =
			&kept->runs[upwards ? i : kept->n - 1 - i];

		if (!push_run(walk,
		              upwards ? run->move : grid_opposite(run->move),
		              run->length))
			return false;
	}
	return true;
}

/* An intra-edge of level 1, remembered or found anew: `lower` and `higher` are
 * its nodes. */
static bool
push_searched(struct hpa_query *query, uint32_t lower, uint32_t higher,
              bool upwards)
{
	const struct memo_runs *kept =
		memo_find_runs(&query->memo, lower, higher);
	hpa_cell from = cell_of(query, lower), to = cell_of(query, higher);
	struct walk *walk = &query->walk;

	if (kept)
		return push_remembered(walk, kept, upwards);
	refine_solve_cluster(query, from.x, from.y);
	if (!push_way(query, to.x, to.y, true))
		return false;
	memo_keep_runs(&query->memo, lower, higher, walk->runs, walk->n_runs);
	if (!upwards)
		turn_around(walk);
	return true;
}

/* Push a run of the cache, which leads from the lower node to the higher one.
 * The cell goes along. */
static bool
push_cached_run(struct hpa_query *query, uint8_t run, bool upwards,
                hpa_cell *cell)
{
	unsigned d = run & HPA_RUN_DIRECTION;
	uint32_t length = (uint32_t)(run >> HPA_RUN_LENGTH_SHIFT) + 1;

	if (grid_run(&query->map->grid, cell->x, cell->y, d, length) != length)
		return false;
	cell->x = (uint16_t)(cell->x + grid_dx[d] * length);
	cell->y = (uint16_t)(cell->y + grid_dy[d] * length);
	return push_run(&query->walk, upwards ? d : grid_opposite(d), length);
}

/* Push the runs from `offset` on until the higher node is reached. */
static bool
push_cached_runs(struct hpa_query *query, size_t offset, uint32_t lower,
                 uint32_t higher, bool upwards)
{
	size_t size = query->map->view.paths->raw_size;
	hpa_cell cell = cell_of(query, lower), end = cell_of(query, higher);
	uint8_t runs[RUNS_AT_ONCE];
	size_t n = 0, i = 0;

	while (cell.x != end.x || cell.y != end.y) {
		if (i == n) {
			size_t left = size - offset;

			n = left < RUNS_AT_ONCE ? left : RUNS_AT_ONCE;
			i = 0;
			if (n == 0 ||
			    !hpa_blocks_read(&query->paths, offset, runs, n))
				return false;
			offset += n;
		}
		if (!push_cached_run(query, runs[i++], upwards, &cell))
			return false;
	}
	if (upwards)
		reverse_runs(&query->walk);
	return true;
}

/* An intra-edge of level 1 from the cache. */
static bool
push_cached(struct hpa_query *query, const struct hpa_table *table,
            uint32_t lower, uint32_t higher, bool upwards)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t cluster = hpa_cluster_at(level, hpa_node_x(view, lower),
	                                  hpa_node_y(view, lower));
	uint32_t first = hpa_get_u32(level->first, cluster);
	uint32_t edge = hpa_table_find(table, lower - first, higher - first);
	size_t starts = table->paths;
	uint8_t start[4];

	if (edge == HPA_NONE ||
	    !hpa_blocks_read(&query->paths, starts + 4 * (size_t)edge, start,
	                     sizeof(start)))
		return false;
	starts += hpa_get_le32(start);
	return starts <= view->paths->raw_size &&
	       push_cached_runs(query, starts, lower, higher, upwards);
}

static bool
push_level_1_edge(struct hpa_query *query, uint32_t lower, uint32_t higher,
                  bool upwards)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	struct hpa_table table;

	hpa_view_table(view, level,
	               hpa_cluster_at(level, hpa_node_x(view, lower),
	                              hpa_node_y(view, lower)),
	               &table);
	if (view->paths && table.paths != HPA_NONE)
		return push_cached(query, &table, lower, higher, upwards);
	return push_searched(query, lower, higher, upwards);
}

/* The hops of the level below that an edge stands for. */
static bool
push_hops(struct hpa_query *query, uint32_t from, const struct hop *edge)
{
	const struct memo_hops *kept = memo_find_hops(&query->memo, from, edge);
	struct walk *walk = &query->walk;
	size_t n_before = walk->n_hops;

	if (kept) {
		memcpy(walk->hops + n_before, kept->hops,
		       kept->n * sizeof(*kept->hops));
		walk->n_hops += kept->n;
		return true;
	}
	if (!search_push_edge(query, from, edge))
		return false;
	memo_keep_hops(&query->memo, from, edge, walk->hops + n_before,
	               walk->n_hops - n_before);
	return true;
}

static bool
push_intra_edge(struct hpa_query *query, uint32_t from, const struct hop *hop)
{
	bool upwards = from < hop->to;
	uint32_t lower = upwards ? from : hop->to;
	uint32_t higher = upwards ? hop->to : from;

	if (push_straight(query, cell_of(query, lower), cell_of(query, higher),
	                  hop->cost, !upwards)) {
		query->walk.node = hop->to;
		return true;
	}
	if (hop->kind > HOP_LEVEL_1)
		return push_hops(query, from, hop);
	query->walk.node = hop->to;
	return push_level_1_edge(query, lower, higher, upwards);
}

static bool
push_inter_edge(struct hpa_query *query, uint32_t to)
{
	const struct walk *walk = &query->walk;
	hpa_cell cell = cell_of(query, to);
	struct grid_legs legs =
		grid_legs(&query->map->grid, walk->x, walk->y, cell.x, cell.y);

	return push_legs(&query->walk, &legs, false);
}

/* From the start to a node of its cluster. */
static bool
push_from_start(struct hpa_query *query, const struct hop *hop)
{
	hpa_cell cell = cell_of(query, hop->to);

	if (push_straight(query, query->from, cell, hop->cost, false))
		return true;
	refine_solve_cluster(query, query->from.x, query->from.y);
	return push_way(query, cell.x, cell.y, true);
}

/* From where the walk stands to the goal: inside the goal's cluster, or in the
 * window around start and goal. */
static bool
push_to_goal(struct hpa_query *query, const struct hop *hop)
{
	const struct walk *walk = &query->walk;
	hpa_cell from = {(uint16_t)walk->x, (uint16_t)walk->y};
	hpa_cell to = query->to;

	if (push_straight(query, from, to, hop->cost, false))
		return true;
	/* The distances in the window are there. */
	if (hop->kind != HOP_DIRECT)
		refine_solve_cluster(query, to.x, to.y);
	return push_way(query, from.x, from.y, false);
}

/* Looking ahead */

/* Where a hop ends. */
static hpa_cell
end_of_hop(const struct hpa_query *query, const struct hop *hop)
{
	return hop->to == HPA_NONE ? query->to : cell_of(query, hop->to);
}

/* Put two runs in the place of several hops, as many as there are until one
 * ends out of sight. False: not even two could be replaced. */
static bool
skip_ahead(struct hpa_query *query)
{
	struct walk *walk = &query->walk;
	hpa_cell from = {(uint16_t)walk->x, (uint16_t)walk->y};
	struct grid_legs best = {0, 0, 0, 0}, legs;
	uint64_t cost = 0;
	size_t n_best = 0;

	for (size_t n = 1; n <= walk->n_hops; n++) {
		const struct hop *hop = &walk->hops[walk->n_hops - n];

		if (hop->kind == HOP_LINK)
			break;
		cost += hop->cost;
		/* What comes before an inter-edge is nearer than its end. */
		if (n == 1 || (n < walk->n_hops && hop[-1].kind == HOP_INTER))
			continue;
		if (!find_straight(query, from, end_of_hop(query, hop), cost,
		                   &legs))
			break;
		best = legs;
		n_best = n;
	}
	if (n_best == 0 || !push_legs(walk, &best, false))
		return false;
	walk->n_hops -= n_best;
	walk->node = walk->hops[walk->n_hops].to;
	return true;
}

/* Take the top hop off the stack and put what it stands for in its place. */
static bool
refine_hop(struct hpa_query *query)
{
	struct walk *walk = &query->walk;
	struct hop hop = walk->hops[--walk->n_hops];
	uint32_t from = walk->node;

	if (walk->n_hops_left == 0)
		return false;
	walk->n_hops_left--;
	switch (hop.kind) {
	case HOP_INTER:
		walk->node = hop.to;
		return push_inter_edge(query, hop.to);
	case HOP_FROM_START:
		walk->node = hop.to;
		return push_from_start(query, &hop);
	case HOP_TO_GOAL:
	case HOP_DIRECT:
		return push_to_goal(query, &hop);
	case HOP_LINK:
		walk->node = hop.to;
		return push_run(walk, WALK_JUMP, 1);
	default:
		return push_intra_edge(query, from, &hop);
	}
}

void
refine_begin(struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	struct walk *walk = &query->walk;

	walk->is_begun = false;
	walk->x = query->from.x;
	walk->y = query->from.y;
	walk->node = HPA_NONE;
	walk->n_moves_left = view->n_free_cells;
	/* The last one leads to the goal. */
	walk->n_hops_left = 1;
	for (uint32_t l = 0; l < view->n_levels; l++)
		walk->n_hops_left += view->levels[l].n_nodes;
	walk->n_expansions_left = MAX_EXPANSIONS * walk->n_hops_left;
}

/* Make sure that there is a run to walk. False: the path is at its end, or
 * broken. */
static bool
find_run(struct hpa_query *query, hpa_status *st)
{
	struct walk *walk = &query->walk;

	while (walk->n_runs == 0) {
		if (walk->n_hops == 0)
			return false;
		if (query_smooths(query) && skip_ahead(query))
			continue;
		if (!refine_hop(query)) {
			*st = HPA_CORRUPT;
			return false;
		}
	}
	return true;
}

/* Walk `n` moves of the top run. */
static void
walk_on(struct hpa_query *query, uint32_t n)
{
	struct walk *walk = &query->walk;
	struct run *run = &walk->runs[walk->n_runs - 1];

	if (run->move == WALK_JUMP) {
		walk->x = hpa_node_x(&query->map->view, walk->node);
		walk->y = hpa_node_y(&query->map->view, walk->node);
	} else {
		walk->x += grid_dx[run->move] * n;
		walk->y += grid_dy[run->move] * n;
	}
	run->length = (uint16_t)(run->length - n);
	if (run->length == 0)
		walk->n_runs--;
}

hpa_status
refine_next(struct hpa_query *query, hpa_cell *out, size_t capacity, size_t *n)
{
	struct walk *walk = &query->walk;
	hpa_status st = HPA_OK;

	for (*n = 0; *n < capacity; ++*n) {
		if (!walk->is_begun)
			walk->is_begun = true;
		else if (find_run(query, &st))
			walk_on(query, 1);
		else
			break;
		if (out)
			out[*n] = (hpa_cell){(uint16_t)walk->x,
			                     (uint16_t)walk->y};
	}
	if (st != HPA_OK) {
		query_end_walk(query);
		*n = 0;
	}
	return st;
}

hpa_status
refine_run(struct hpa_query *query, struct run *out)
{
	hpa_status st = HPA_OK;

	out->length = 0;
	if (find_run(query, &st)) {
		*out = query->walk.runs[query->walk.n_runs - 1];
		walk_on(query, out->length);
	}
	return st;
}
