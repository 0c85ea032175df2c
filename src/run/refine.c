/* refine.c: the hops of an abstract path -> cells.
 *
 * The top hop of the stack is taken off and
 *
 *     an intra-edge of a level above 1   is replaced by hops of the level below
 *     an intra-edge of level 1           becomes moves, read from the cache if
 *                                        the file has one, else searched for
 *     an inter-edge                      becomes one move
 *     a link                             becomes a jump
 *     the way from start or to goal      becomes moves, searched for
 *
 * An intra-edge of level 1 has the same cells in both directions: those that
 * lead back from its higher node in the distances from its lower one, which is
 * also what the cache holds (src/bake/paths.c). Every move is checked against
 * the grid before it is made, so that a wrong edge or cache is noticed and can't
 * lead a unit into a wall. */
#include "src/run/query.h"

#define RUNS_AT_ONCE 32u

static unsigned
opposite(unsigned direction)
{
	return (direction + 4) % GRID_N_DIRECTIONS;
}

/* The moves are a stack as well: what is to be done first is pushed last. */
static bool
push_move(struct walk *walk, unsigned direction)
{
	if (walk->n_moves == WINDOW_MAX_CELLS)
		return false;
	walk->moves[walk->n_moves++] = (uint8_t)direction;
	return true;
}

/* Turn moves that are in the order in which they are made into a stack. */
static void
reverse_moves(struct walk *walk)
{
	uint32_t i = 0, j = walk->n_moves;

	while (i + 1 < j) {
		uint8_t move = walk->moves[i];

		walk->moves[i++] = walk->moves[--j];
		walk->moves[j] = move;
	}
}

/* The moves between the origin of the field and the cell (x, y), to be made
 * from the origin to the cell or the other way. */
static bool
push_way(struct hpa_query *query, uint32_t x, uint32_t y, bool from_origin)
{
	const struct grid *grid = &query->map->grid;
	const struct window_field *field = &query->field;
	struct walk *walk = &query->walk;

	if (window_cost(field, x, y) == WINDOW_NO_PATH)
		return false;
	while (window_cost(field, x, y) > 0) {
		unsigned d = window_way_back(grid, field, x, y);

		if (!push_move(walk, from_origin ? opposite(d) : d))
			return false;
		x += grid_dx[d];
		y += grid_dy[d];
	}
	/* Back from the cell is the right order for a stack on the way there. */
	if (!from_origin)
		reverse_moves(walk);
	return true;
}

void
refine_solve(struct hpa_query *query, struct grid_window window, uint32_t x,
             uint32_t y)
{
	const struct grid *grid = &query->map->grid;

	if (kernel_fits(grid)) {
		kernel_prepare(grid, window, &query->kernel);
		if (kernel_solve(&query->kernel, x, y)) {
			kernel_copy(&query->kernel, &query->field);
			return;
		}
	}
	window_solve(grid, window, x, y, &query->field);
}

/* Find the distances from a cell inside its cluster. */
static void
solve(struct hpa_query *query, uint32_t x, uint32_t y)
{
	const struct hpa_map *map = query->map;

	refine_solve(query,
	             grid_cluster(&map->grid, map->view.cluster_size, x, y), x,
	             y);
}

/* An intra-edge of level 1, found anew: `lower` and `higher` are its nodes. */
static bool
push_searched(struct hpa_query *query, uint32_t lower, uint32_t higher,
              bool upwards)
{
	const struct hpa_view *view = &query->map->view;

	solve(query, hpa_node_x(view, lower), hpa_node_y(view, lower));
	return push_way(query, hpa_node_x(view, higher),
	                hpa_node_y(view, higher), upwards);
}

/* Push a run of the cache, which leads from the lower node to the higher one.
 * (x, y) goes along. */
static bool
push_run(struct walk *walk, uint8_t run, bool upwards, uint32_t *x, uint32_t *y)
{
	unsigned d = run & HPA_RUN_DIRECTION;
	uint32_t length = (uint32_t)(run >> HPA_RUN_LENGTH_SHIFT) + 1;

	for (uint32_t i = 0; i < length; i++)
		if (!push_move(walk, upwards ? d : opposite(d)))
			return false;
	*x += grid_dx[d] * length;
	*y += grid_dy[d] * length;
	return true;
}

/* Push the runs from `offset` on until the higher node is reached. */
static bool
push_runs(struct hpa_query *query, size_t offset, uint32_t lower,
          uint32_t higher, bool upwards)
{
	const struct hpa_view *view = &query->map->view;
	uint32_t x = hpa_node_x(view, lower), y = hpa_node_y(view, lower);
	uint32_t to_x = hpa_node_x(view, higher);
	uint32_t to_y = hpa_node_y(view, higher);
	uint8_t runs[RUNS_AT_ONCE];
	size_t n = 0, i = 0;

	while (x != to_x || y != to_y) {
		if (i == n) {
			size_t left = view->paths->raw_size - offset;

			n = left < RUNS_AT_ONCE ? left : RUNS_AT_ONCE;
			i = 0;
			if (n == 0 ||
			    !hpa_blocks_read(&query->paths, offset, runs, n))
				return false;
			offset += n;
		}
		if (!push_run(&query->walk, runs[i++], upwards, &x, &y))
			return false;
	}
	if (upwards)
		reverse_moves(&query->walk);
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
	       push_runs(query, starts, lower, higher, upwards);
}

static bool
push_level_1_edge(struct hpa_query *query, uint32_t from, uint32_t to)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t lower = from < to ? from : to;
	uint32_t higher = from < to ? to : from;
	struct hpa_table table;

	hpa_view_table(view, level,
	               hpa_cluster_at(level, hpa_node_x(view, from),
	                              hpa_node_y(view, from)),
	               &table);
	if (view->paths && table.paths != HPA_NONE)
		return push_cached(query, &table, lower, higher, from < to);
	return push_searched(query, lower, higher, from < to);
}

static bool
push_inter_edge(struct hpa_query *query, uint32_t to)
{
	const struct hpa_view *view = &query->map->view;
	struct walk *walk = &query->walk;

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d += 2)
		if (walk->x + grid_dx[d] == hpa_node_x(view, to) &&
		    walk->y + grid_dy[d] == hpa_node_y(view, to))
			return push_move(walk, d);
	return false;
}

/* From the start to a node of its cluster. */
static bool
push_from_start(struct hpa_query *query, uint32_t to)
{
	const struct hpa_view *view = &query->map->view;

	solve(query, query->from.x, query->from.y);
	return push_way(query, hpa_node_x(view, to), hpa_node_y(view, to),
	                true);
}

/* From where the walk stands to the goal, inside the goal's cluster. */
static bool
push_to_goal(struct hpa_query *query)
{
	solve(query, query->to.x, query->to.y);
	return push_way(query, query->walk.x, query->walk.y, false);
}

/* From the start to the goal, in the window around them. */
static bool
push_direct(struct hpa_query *query)
{
	refine_solve(query, grid_window_around(&query->map->grid, query->from.x,
	                                       query->from.y, query->to.x,
	                                       query->to.y),
	             query->to.x, query->to.y);
	return push_way(query, query->from.x, query->from.y, false);
}

/* Take the top hop off the stack and put what it stands for in its place. */
static bool
refine_hop(struct hpa_query *query)
{
	struct walk *walk = &query->walk;
	struct hop hop = walk->hops[--walk->n_hops];
	uint32_t from = walk->node;

	if (hop.kind > HOP_LEVEL_1 && hop.kind <= HPA_MAX_LEVELS)
		return search_push_edge(query, hop.kind, from, hop.to);
	walk->node = hop.to;
	switch (hop.kind) {
	case HOP_INTER:
		return push_inter_edge(query, hop.to);
	case HOP_FROM_START:
		return push_from_start(query, hop.to);
	case HOP_TO_GOAL:
		return push_to_goal(query);
	case HOP_LINK:
		return push_move(walk, WALK_JUMP);
	case HOP_DIRECT:
		return push_direct(query);
	default:
		return push_level_1_edge(query, from, hop.to);
	}
}

/* Make sure that there is a move to make. False: the path is at its end, or
 * broken. */
static bool
find_moves(struct hpa_query *query, hpa_status *st)
{
	struct walk *walk = &query->walk;

	while (walk->n_moves == 0) {
		if (walk->n_hops == 0)
			return false;
		if (!refine_hop(query)) {
			*st = HPA_CORRUPT;
			return false;
		}
	}
	return true;
}

static bool
make_move(struct hpa_query *query)
{
	struct walk *walk = &query->walk;
	unsigned d = walk->moves[--walk->n_moves];

	if (d == WALK_JUMP) {
		walk->x = hpa_node_x(&query->map->view, walk->node);
		walk->y = hpa_node_y(&query->map->view, walk->node);
		return true;
	}
	if (!grid_may_step(&query->map->grid, walk->x, walk->y, d))
		return false;
	walk->x += grid_dx[d];
	walk->y += grid_dy[d];
	return true;
}

hpa_status
refine_next(struct hpa_query *query, hpa_cell *out, size_t capacity, size_t *n)
{
	struct walk *walk = &query->walk;
	hpa_status st = HPA_OK;

	for (*n = 0; *n < capacity && st == HPA_OK; ++*n) {
		if (!walk->is_begun)
			walk->is_begun = true;
		else if (!find_moves(query, &st))
			break;
		else if (!make_move(query))
			st = HPA_CORRUPT;
		if (st == HPA_OK && out)
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
refine_run(struct hpa_query *query, struct bend *out)
{
	const struct grid *grid = &query->map->grid;
	struct walk *walk = &query->walk;
	hpa_status st = HPA_OK;

	out->length = 0;
	out->cost = 0;
	if (!find_moves(query, &st))
		return st;
	out->move = walk->moves[walk->n_moves - 1];
	while (walk->n_moves > 0 && st == HPA_OK &&
	       walk->moves[walk->n_moves - 1] == out->move) {
		uint32_t x = walk->x, y = walk->y;

		if (!make_move(query))
			return HPA_CORRUPT;
		out->length++;
		if (out->move == WALK_JUMP)
			break;
		out->cost += grid_step_cost(grid, x, y, out->move);
	}
	out->x = (uint16_t)walk->x;
	out->y = (uint16_t)walk->y;
	return st;
}
