/* connect.c: tie start and goal to the abstraction.
 *
 * The graph in the file is shared and stays as it is. Start and goal are tied
 * to the nodes of their level-1 clusters by one Dijkstra each, inside the
 * cluster: the start's costs are the search's first offers, the goal's wait
 * until a node of its cluster is expanded. Where both lie in one cluster the way
 * inside it is one more offer. Hub labels take the same costs.
 *
 * Start and goal near each other but on two sides of a border are where the
 * abstraction serves badly: two steps may become ten. So what is simple is tried
 * first: two straight runs, and a look at the window around both, which finds
 * every way of less than 30 steps. Unless there are links, nothing is cheaper
 * than what they find, and the abstraction is not asked. */
#include "src/run/query.h"

#define NEAR 30

static uint32_t
cluster_of(const struct hpa_query *query, hpa_cell cell)
{
	return hpa_cluster_at(&query->map->view.levels[0], cell.x, cell.y);
}

/* The costs between a cell and the nodes of its cluster. */
static void
connect_cell(struct hpa_query *query, hpa_cell cell, uint32_t *costs)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t cluster = cluster_of(query, cell);
	uint32_t first = hpa_get_u32(level->first, cluster);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);

	refine_solve_cluster(query, cell.x, cell.y);
	for (uint32_t node = first; node < end; node++)
		costs[node - first] =
			distances_at(&query->distances, hpa_node_x(view, node),
		                     hpa_node_y(view, node));
}

void
connect_start_and_goal(struct hpa_query *query)
{
	connect_cell(query, query->to, query->goal_cost);
	connect_cell(query, query->from, query->start_cost);
	query->inside_cost = WINDOW_NO_PATH;
	if (cluster_of(query, query->from) == cluster_of(query, query->to))
		query->inside_cost = distances_at(&query->distances,
		                                  query->to.x, query->to.y);
}

void
connect_search(struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	uint32_t cluster = cluster_of(query, query->from);
	uint32_t first = hpa_get_u32(view->levels[0].first, cluster);
	uint32_t end = hpa_get_u32(view->levels[0].first, (size_t)cluster + 1);

	search_begin(query);
	for (uint32_t node = first; node < end; node++)
		if (query->start_cost[node - first] != WINDOW_NO_PATH)
			search_reach(query, node,
			             query->start_cost[node - first], HPA_NONE);
	if (query->inside_cost != WINDOW_NO_PATH)
		search_reach(query, view->n_nodes, query->inside_cost,
		             HPA_NONE);
}

static bool
are_near(hpa_cell a, hpa_cell b)
{
	return a.x < b.x + NEAR && b.x < a.x + NEAR && a.y < b.y + NEAR &&
	       b.y < a.y + NEAR;
}

/* What the way in the window around start and goal costs; their distances stay
 * behind. */
static uint32_t
solve_window(struct hpa_query *query)
{
	hpa_cell from = query->from, to = query->to;

	refine_solve_window(query,
	                    grid_window_around(&query->map->grid, from.x,
	                                       from.y, to.x, to.y),
	                    to.x, to.y);
	return distances_at(&query->distances, from.x, from.y);
}

bool
connect_at_once(struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	hpa_cell from = query->from, to = query->to;

	query->window_cost = WINDOW_NO_PATH;
	query->is_direct = refine_is_straight(query);
	query->direct_cost = grid_octile(grid, from.x, from.y, to.x, to.y);
	if (query->is_direct)
		return query->map->view.n_link_edges == 0;
	if (!are_near(from, to))
		return false;
	query->window_cost = solve_window(query);
	query->direct_cost = query->window_cost;
	/* Every cheaper way would be one of less than NEAR steps. */
	query->is_direct =
		query->map->view.n_link_edges == 0 &&
		query->direct_cost <
			NEAR * (uint64_t)grid->cost_straight * grid->min_factor;
	return query->is_direct;
}

void
connect_directly(struct hpa_query *query, uint64_t cost)
{
	uint64_t found =
		query->is_direct ? query->direct_cost : query->window_cost;

	/* A path may cost more than what stands for none. */
	if (!query->is_direct && query->window_cost == WINDOW_NO_PATH)
		return;
	query->is_direct = found < cost;
	query->direct_cost = found;
	if (query->is_direct && query->window_cost != WINDOW_NO_PATH)
		solve_window(query);
}
