/* label.c: the path by hub labels, where the map has them.
 *
 * The cheapest way from a node to another leads over a hub that both have in
 * their labels (hpa_hubs.h). So the labels of the nodes of the start's cluster,
 * with the costs from the start, give the least cost to each hub; those of the
 * nodes of the goal's cluster go on from there, and the least sum is the cost of
 * the path. The costs to hubs lie in an array by rank: the hubs that nearly all
 * nodes have are side by side at its beginning. Of equal sums the first one
 * counts, in the order of the goal's nodes and of their hubs, so that the path
 * depends on nothing but the map and the question.
 *
 * The path is found by going from both ends to the hub: an entry says which edge
 * is next, and the node it leads to has the hub, too. That this is so, and that
 * the distance falls by just what the edge costs, is not known of a file but
 * checked on the way. So every step leads nearer to the hub, the way ends, and
 * it costs what was said. */
#include <string.h>

#include "src/run/query.h"

/* The nodes of a cluster. */
struct members {
	uint32_t first, end;
};

static struct members
members_around(const struct hpa_query *query, hpa_cell cell)
{
	const struct hpa_view_level *level = &query->map->view.levels[0];
	uint32_t cluster = hpa_cluster_at(level, cell.x, cell.y);

	return (struct members){hpa_get_u32(level->first, cluster),
	                        hpa_get_u32(level->first, (size_t)cluster + 1)};
}

static uint32_t
begin(struct hpa_query *query)
{
	struct label_path *label = &query->label;

	if (++label->stamp == 0) {
		memset(label->costs, 0,
		       query->map->view.n_nodes * sizeof(*label->costs));
		label->stamp = 1;
	}
	return label->stamp;
}

/* Find the least costs to the hubs of the start's cluster. */
static inline void
leave_start(struct hpa_query *query, bool is_wide)
{
	const struct hpa_hubs *hubs = &query->map->view.hubs;
	struct members nodes = members_around(query, query->from);
	struct hub_cost *costs = query->label.costs;
	uint32_t stamp = begin(query);

	for (uint32_t node = nodes.first; node < nodes.end; node++) {
		uint32_t cost = query->start_cost[node - nodes.first];
		uint32_t end = hpa_hubs_first(hubs, node + 1);

		if (cost == WINDOW_NO_PATH)
			continue;
		for (uint32_t e = hpa_hubs_first(hubs, node); e < end; e++) {
			struct hub_cost *known =
				&costs[hpa_hub_rank(hubs, is_wide, e)];
			uint32_t found =
				cost + hpa_hub_distance(hubs, is_wide, e);

			if (known->stamp != stamp || found < known->cost)
				*known = (struct hub_cost){stamp, found};
		}
	}
}

/* Go on from the hubs to the goal. */
static inline uint32_t
reach_goal(struct hpa_query *query, bool is_wide)
{
	const struct hpa_hubs *hubs = &query->map->view.hubs;
	struct members nodes = members_around(query, query->to);
	struct label_path *label = &query->label;
	uint32_t stamp = label->stamp;
	uint32_t best = query->inside_cost;

	label->goal_node = HPA_NONE;
	for (uint32_t node = nodes.first; node < nodes.end; node++) {
		uint32_t cost = query->goal_cost[node - nodes.first];
		uint32_t end = hpa_hubs_first(hubs, node + 1);

		if (cost == WINDOW_NO_PATH)
			continue;
		for (uint32_t e = hpa_hubs_first(hubs, node); e < end; e++) {
			const struct hub_cost *known =
				&label->costs[hpa_hub_rank(hubs, is_wide, e)];
			uint32_t found = known->cost + cost +
			                 hpa_hub_distance(hubs, is_wide, e);

			if (known->stamp != stamp || found >= best)
				continue;
			best = found;
			label->goal_node = node;
			label->goal_entry = e;
		}
	}
	return best;
}

bool
label_find(struct hpa_query *query)
{
	uint32_t best;

	if (query->map->view.hubs.is_wide) {
		leave_start(query, true);
		best = reach_goal(query, true);
	} else {
		leave_start(query, false);
		best = reach_goal(query, false);
	}
	query->cost = best;
	return best != WINDOW_NO_PATH;
}

/* The entry of a node for a hub, or HPA_NONE. */
static uint32_t
find_entry(const struct hpa_hubs *hubs, uint32_t node, uint32_t rank)
{
	uint32_t low = hpa_hubs_first(hubs, node);
	uint32_t end = hpa_hubs_first(hubs, node + 1), high = end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (hpa_hub_rank(hubs, hubs->is_wide, middle) < rank)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == end || hpa_hub_rank(hubs, hubs->is_wide, low) != rank)
		return HPA_NONE;
	return low;
}

/* An edge of a node, counted as labels do. */
static struct hop
edge_of(const struct hpa_query *query, uint32_t node, uint32_t i)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t inter = hpa_get_u32(view->inter_first, node);
	uint32_t n_inter =
		hpa_get_u32(view->inter_first, (size_t)node + 1) - inter;
	uint32_t cluster, first, edge;
	struct hpa_table table;

	if (i < n_inter) {
		uint32_t to = hpa_get_u32(view->inter_target, inter + i);

		return (struct hop){to, HOP_INTER,
		                    map_transition_cost(query->map, node, to)};
	}
	cluster = hpa_cluster_at(level, hpa_node_x(view, node),
	                         hpa_node_y(view, node));
	first = hpa_get_u32(level->first, cluster);
	hpa_view_table(view, level, cluster, &table);
	edge = hpa_table_begin(&table, node - first) + i - n_inter;
	return (struct hop){first + hpa_table_target(&table, edge), HOP_LEVEL_1,
	                    hpa_table_weight(&table, edge)};
}

/* Push the hops from a node to the hub of one of its entries. As hops say where
 * they end, on the way back from the hub each gets the node it began at. False
 * where that is not the way that the labels tell. */
static bool
push_way(struct hpa_query *query, uint32_t *node, uint32_t entry, bool back)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_hubs *hubs = &view->hubs;
	struct walk *walk = &query->walk;
	uint32_t rank = hpa_hub_rank(hubs, hubs->is_wide, entry);
	uint32_t left = hpa_hub_distance(hubs, hubs->is_wide, entry);

	while (left > 0) {
		struct hop hop = edge_of(query, *node, hubs->edges[entry]);
		uint32_t next = hop.to;

		entry = find_entry(hubs, next, rank);
		/* A path has no node twice. */
		if (entry == HPA_NONE || walk->n_hops > view->n_nodes ||
		    hpa_hub_distance(hubs, hubs->is_wide, entry) + hop.cost !=
		            left)
			return false;
		if (back)
			hop.to = *node;
		walk->hops[walk->n_hops++] = hop;
		left -= (uint32_t)hop.cost;
		*node = next;
	}
	return true;
}

/* The node of the start's cluster that the path to a hub at this cost begins
 * with, and its entry. */
static bool
find_start(const struct hpa_query *query, uint32_t rank, uint32_t cost,
           uint32_t *node, uint32_t *entry)
{
	const struct hpa_hubs *hubs = &query->map->view.hubs;
	struct members nodes = members_around(query, query->from);

	for (*node = nodes.first; *node < nodes.end; (*node)++) {
		uint32_t so_far = query->start_cost[*node - nodes.first];

		if (so_far > cost)
			continue;
		*entry = find_entry(hubs, *node, rank);
		if (*entry != HPA_NONE &&
		    hpa_hub_distance(hubs, hubs->is_wide, *entry) ==
		            cost - so_far)
			return true;
	}
	return false;
}

static void
reverse_hops(struct hop *hops, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct hop hop = hops[i];

		hops[i] = hops[n - 1 - i];
		hops[n - 1 - i] = hop;
	}
}

bool
label_push_path(struct hpa_query *query)
{
	const struct hpa_hubs *hubs = &query->map->view.hubs;
	const struct label_path *label = &query->label;
	struct walk *walk = &query->walk;
	uint32_t start, entry, rank, from_start, from_goal = label->goal_node;
	size_t n_back;

	if (from_goal == HPA_NONE) {
		walk_push(walk, HPA_NONE, HOP_TO_GOAL, query->cost);
		return true;
	}
	rank = hpa_hub_rank(hubs, hubs->is_wide, label->goal_entry);
	if (!find_start(query, rank, label->costs[rank].cost, &start, &entry))
		return false;
	walk_push(walk, HPA_NONE, HOP_TO_GOAL,
	          query->goal_cost[from_goal -
	                           members_around(query, query->to).first]);
	if (!push_way(query, &from_goal, label->goal_entry, true))
		return false;
	n_back = walk->n_hops;
	from_start = start;
	if (!push_way(query, &from_start, entry, false) ||
	    from_start != from_goal)
		return false;
	reverse_hops(walk->hops + n_back, walk->n_hops - n_back);
	walk_push(walk, start, HOP_FROM_START,
	          query->start_cost[start -
	                            members_around(query, query->from).first]);
	return true;
}
