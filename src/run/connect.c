/* connect.c: tie start and goal to the abstraction.
 *
 * The graph in the file is shared and stays as it is. Start and goal are tied
 * to the nodes of their level-1 clusters by one Dijkstra each, inside the
 * cluster: the goal's costs are kept until a node of its cluster is expanded,
 * the start's are the search's first offers. Where both lie in one cluster the
 * way inside it is one more offer.
 *
 * Start and goal near each other but on two sides of a border are where the
 * abstraction serves badly: two steps may become ten. A look at the window
 * around both finds every way of less than 30 steps. */
#include "src/run/query.h"

#define NEAR 30

static uint32_t
cost_of_node(const struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;

	return distances_at(&query->distances, hpa_node_x(view, node),
	                    hpa_node_y(view, node));
}

static void
connect_goal(struct hpa_query *query)
{
	const struct hpa_map *map = query->map;
	const struct hpa_view_level *level = &map->view.levels[0];
	uint32_t cluster = hpa_cluster_at(level, query->to.x, query->to.y);
	uint32_t first = hpa_get_u32(level->first, cluster);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);

	refine_solve_cluster(query, query->to.x, query->to.y);
	for (uint32_t node = first; node < end; node++)
		query->goal_cost[node - first] = cost_of_node(query, node);
}

static void
connect_start(struct hpa_query *query)
{
	const struct hpa_map *map = query->map;
	const struct hpa_view_level *level = &map->view.levels[0];
	uint32_t cluster = hpa_cluster_at(level, query->from.x, query->from.y);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);
	uint32_t node = hpa_get_u32(level->first, cluster);

	refine_solve_cluster(query, query->from.x, query->from.y);
	for (; node < end; node++) {
		uint32_t cost = cost_of_node(query, node);

		if (cost != WINDOW_NO_PATH)
			search_reach(query, node, cost, HPA_NONE);
	}
	if (cluster == query->search.goal_cluster[0]) {
		uint32_t cost = distances_at(&query->distances, query->to.x,
		                             query->to.y);

		if (cost != WINDOW_NO_PATH)
			search_reach(query, map->view.n_nodes, cost, HPA_NONE);
	}
}

void
connect_start_and_goal(struct hpa_query *query)
{
	connect_goal(query);
	search_begin(query);
	connect_start(query);
}

static bool
are_near(hpa_cell a, hpa_cell b)
{
	return a.x < b.x + NEAR && b.x < a.x + NEAR && a.y < b.y + NEAR &&
	       b.y < a.y + NEAR;
}

void
connect_directly(struct hpa_query *query, uint64_t cost)
{
	const struct grid *grid = &query->map->grid;
	hpa_cell from = query->from, to = query->to;
	uint32_t found;

	if (!are_near(from, to) ||
	    cost == grid_octile(grid, from.x, from.y, to.x, to.y))
		return;
	refine_solve_window(
		query, grid_window_around(grid, from.x, from.y, to.x, to.y),
		to.x, to.y);
	found = distances_at(&query->distances, from.x, from.y);
	query->is_direct = found < cost;
	query->direct_cost = found;
}
