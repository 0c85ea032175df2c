/* query.c: the calls of hpa.h that search.
 *
 * A query is one allocation, carved into the arrays that a search over all
 * nodes of the map can fill at the most; after that nothing is allocated. */
#include "src/run/query.h"

#include <string.h>

#define ALIGN 16u
#define DEFAULT_BOX 16u

/* Offsets of the parts of a query, and its size. 64 bits, because the product
 * of a file's counts may not fit a small machine's size_t. */
struct plan {
	uint64_t nodes, hops, hubs, bends, corridor, paths, size;
};

static uint64_t
add_part(struct plan *plan, uint64_t n, size_t size)
{
	uint64_t offset = plan->size;

	plan->size += (n * size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	return offset;
}

/* A path visits a node once. Refining one of its hops puts the nodes of at
 * most 2 x 2 clusters on top, then those of one of these hops, and so on. */
static uint64_t
count_hops(const struct hpa_view *view)
{
	uint64_t n = (uint64_t)view->n_nodes + 2;

	for (uint32_t l = 0; l + 1 < view->n_levels; l++)
		n += 4 * (uint64_t)view->levels[l].max_nodes;
	return n;
}

static struct plan
make_plan(const hpa_map *map)
{
	const struct hpa_view *view = &map->view;
	uint64_t n_items = (uint64_t)view->n_nodes + 1;
	struct plan plan = {.size = 0};

	add_part(&plan, 1, sizeof(struct hpa_query));
	plan.nodes = add_part(&plan, n_items, sizeof(struct search_node));
	plan.hops = add_part(&plan, count_hops(view), sizeof(struct hop));
	plan.hubs = add_part(&plan, view->hubs.first ? view->n_nodes : 0,
	                     sizeof(struct hub_cost));
	plan.bends = add_part(&plan, 2 * (uint64_t)smooth_capacity(map),
	                      sizeof(struct bend));
	plan.corridor = add_part(&plan, corridor_size(map), 1);
	plan.paths = add_part(
		&plan, view->paths ? hpa_blocks_size(view->paths) : 0, 1);
	return plan;
}

size_t
hpa_query_size(const hpa_map *map)
{
	uint64_t size = make_plan(map).size;

	return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static hpa_status
carve(struct hpa_query *query, const struct plan *plan)
{
	const struct hpa_view *view = &query->map->view;
	uint8_t *room = (uint8_t *)query;
	size_t n_items = (size_t)view->n_nodes + 1;

	query->search.nodes = (void *)(room + plan->nodes);
	query->search.queue.nodes = query->search.nodes;
	query->walk.hops = (void *)(room + plan->hops);
	query->label.costs = (void *)(room + plan->hubs);
	query->smooth.capacity = smooth_capacity(query->map);
	query->smooth.path.at = (void *)(room + plan->bends);
	query->smooth.spare.at = query->smooth.path.at + query->smooth.capacity;
	corridor_init(&query->corridor, query->map, room + plan->corridor);
	hpa_query_set_smoothing(query, HPA_SMOOTH_SHORTCUTS, 0);
	search_find_shortcuts(query);
	memset(query->search.nodes, 0, n_items * sizeof(struct search_node));
	if (view->hubs.first)
		memset(query->label.costs, 0,
		       view->n_nodes * sizeof(struct hub_cost));
	if (!view->paths)
		return HPA_OK;
	return hpa_blocks_init(&query->paths, view->paths, room + plan->paths);
}

hpa_status
hpa_query_new(const hpa_map *map, const hpa_allocator *allocator,
              hpa_query **out)
{
	hpa_allocator from = hpa_allocator_or_default(allocator);
	struct plan plan = make_plan(map);
	hpa_query *query = NULL;
	hpa_status st = HPA_NO_MEMORY;

	*out = NULL;
	if (plan.size <= SIZE_MAX)
		query = from.alloc(from.user, (size_t)plan.size);
	if (query) {
		memset(query, 0, sizeof(*query));
		query->map = map;
		query->allocator = from;
		query->size = (size_t)plan.size;
		query_end_walk(query);
		st = carve(query, &plan);
	}
	if (st == HPA_OK) {
		*out = query;
		query = NULL;
	}
	hpa_query_free(query);
	return st;
}

void
hpa_query_free(hpa_query *query)
{
	hpa_allocator allocator;

	if (!query)
		return;
	allocator = query->allocator;
	allocator.free(allocator.user, query, query->size);
}

void
hpa_query_set_smoothing(hpa_query *query, hpa_smoothing mode, uint32_t box)
{
	query->smooth.mode = mode;
	query->smooth.box = box ? box : DEFAULT_BOX;
	query_end_walk(query);
}

static uint64_t
cost_of_path(const hpa_query *query)
{
	return query->is_direct ? query->direct_cost : query->cost;
}

/* Find the path over the abstraction. */
static bool
find_abstract_path(hpa_query *query)
{
	if (query->map->view.hubs.first)
		return label_find(query);
	connect_search(query);
	return search_path(query);
}

/* Find the path; there is nothing to walk yet. */
static hpa_status
find_path(hpa_query *query, hpa_cell from, hpa_cell to)
{
	hpa_status st = hpa_map_reachable(query->map, from, to);

	query_lap(query, QUERY_BETWEEN);
	query_end_walk(query);
	query->search.n_expanded = 0;
	if (st != HPA_OK)
		return st;
	query->from = from;
	query->to = to;
	query->is_direct = false;
	if (query_smooths(query) && connect_at_once(query)) {
		query_lap(query, QUERY_CONNECT);
		return HPA_OK;
	}
	connect_start_and_goal(query);
	query_lap(query, QUERY_CONNECT);
	if (!find_abstract_path(query))
		return HPA_CORRUPT;
	query_lap(query, QUERY_SEARCH);
	if (query_smooths(query))
		connect_directly(query, query->cost);
	query_lap(query, QUERY_CONNECT);
	return HPA_OK;
}

hpa_status
hpa_query_cost(hpa_query *query, hpa_cell from, hpa_cell to, uint64_t *cost)
{
	hpa_status st = find_path(query, from, to);

	if (st == HPA_OK)
		*cost = cost_of_path(query);
	return st;
}

/* Put the hops of the path found on the empty stack of the walk. */
static hpa_status
push_path(struct hpa_query *query)
{
	if (query->is_direct) {
		walk_push(&query->walk, HPA_NONE, HOP_DIRECT,
		          query->direct_cost);
	} else if (!query->map->view.hubs.first) {
		search_push_path(query);
	} else if (!label_push_path(query)) {
		query_end_walk(query);
		return HPA_CORRUPT;
	}
	return HPA_OK;
}

static hpa_status
begin_walk(hpa_query *query, hpa_cell from, hpa_cell to, uint64_t *cost,
           bool in_pieces)
{
	uint64_t found = 0;
	hpa_status st = hpa_query_cost(query, from, to, &found);

	if (st == HPA_OK)
		st = push_path(query);
	if (st != HPA_OK)
		return st;
	*cost = found;
	refine_begin(query);
	if (query_smooths(query))
		smooth_begin(query, in_pieces);
	return HPA_OK;
}

hpa_status
hpa_query_start(hpa_query *query, hpa_cell from, hpa_cell to, uint64_t *cost)
{
	return begin_walk(query, from, to, cost, true);
}

hpa_status
hpa_query_next(hpa_query *query, hpa_cell *out, size_t capacity, size_t *n)
{
	hpa_status st = query_smooths(query)
	                        ? smooth_next(query, out, capacity, n)
	                        : refine_next(query, out, capacity, n);

	query_lap(query, query_smooths(query) ? QUERY_SMOOTH : QUERY_REFINE);
	return st;
}

hpa_status
hpa_query_path(hpa_query *query, hpa_cell from, hpa_cell to, hpa_cell *out,
               size_t capacity, size_t *n)
{
	uint64_t cost;
	hpa_status st = begin_walk(query, from, to, &cost, false);
	size_t n_more = 0;

	*n = 0;
	if (st == HPA_OK)
		st = hpa_query_next(query, out, capacity, n);
	if (st == HPA_OK)
		st = hpa_query_next(query, NULL, SIZE_MAX, &n_more);
	if (st != HPA_OK) {
		*n = 0;
		return st;
	}
	*n += n_more;
	return n_more ? HPA_NO_ROOM : HPA_OK;
}

/* The list of way-points while it is written. */
struct waypoints {
	hpa_waypoint *out;
	size_t n, capacity;
	hpa_cell last;
};

/* A way-point on the cell of the one before is left out. */
static void
add_waypoint(struct waypoints *list, hpa_cell cell, uint64_t cost)
{
	if (list->n > 0 && cell.x == list->last.x && cell.y == list->last.y)
		return;
	if (list->n < list->capacity)
		list->out[list->n] = (hpa_waypoint){cell, cost};
	list->n++;
	list->last = cell;
}

hpa_status
hpa_query_abstract_path(hpa_query *query, hpa_cell from, hpa_cell to,
                        hpa_waypoint *out, size_t capacity, size_t *n)
{
	const struct hpa_view *view = &query->map->view;
	struct waypoints list = {out, 0, capacity, from};
	struct walk *walk = &query->walk;
	hpa_status st = find_path(query, from, to);
	uint64_t cost = 0;

	*n = 0;
	if (st == HPA_OK)
		st = push_path(query);
	if (st != HPA_OK)
		return st;
	add_waypoint(&list, from, 0);
	/* The last hop leads to the goal. */
	for (size_t i = walk->n_hops - 1; i > 0; i--) {
		uint32_t node = walk->hops[i].to;
		hpa_cell cell = {(uint16_t)hpa_node_x(view, node),
		                 (uint16_t)hpa_node_y(view, node)};

		cost += walk->hops[i].cost;
		add_waypoint(&list, cell, cost);
	}
	add_waypoint(&list, to, cost_of_path(query));
	query_end_walk(query);
	*n = list.n;
	return list.n > capacity ? HPA_NO_ROOM : HPA_OK;
}

uint64_t
hpa_query_expanded(const hpa_query *query)
{
	return query->search.n_expanded;
}
