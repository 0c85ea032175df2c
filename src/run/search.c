/* search.c: A* over the levels, and inside one cluster when refining.
 *
 * The main search expands a node at the highest level whose cluster around it
 * contains neither start nor goal: a path that enters such a cluster also
 * leaves it, both times over its border, so the cluster's own intra-edges and
 * the inter-edges that lead out of it are all that matters. The node is one of
 * that level, because it was reached over the cluster's border or by one of
 * its intra-edges. In the clusters of level 1 that contain start or goal all
 * intra-edges are followed, and from the goal's the last hop to the goal. The
 * level of an expansion follows from the node, start and goal, so that nothing
 * but the parent is kept of a way.
 *
 * The refining search is the same inside one cluster of level l, with the edges
 * of level l - 1 only.
 *
 * Links are edges of every level: their ends are nodes at all levels, and no
 * table has a way over a link in it. So they are followed wherever a node is
 * expanded, and never when an intra-edge is refined.
 *
 * The heuristic is the octile distance or, where a link is shorter than the
 * crow flies, the least over such links: to the nearest entry of one, or to a box
 * around several, and from there what the cheapest of them leaves. It never
 * exceeds an edge's cost by more than the edge brings nearer, so a node is final
 * when it is taken from the queue. Everything is a whole number and done in a
 * fixed order, and a way replaces another only if it is cheaper: the path does
 * not depend on anything but the map and the question. */
#include <string.h>

#include "src/run/query.h"

/* A node seen at one level. */
struct place {
	uint32_t level; /* counted from 1 */
	uint32_t rank, cluster;
};

static const struct hpa_view_level *
level_of(const struct hpa_query *query, uint32_t level)
{
	return &query->map->view.levels[level - 1];
}

static uint32_t
cluster_of(const struct hpa_query *query, uint32_t level, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;

	return hpa_cluster_at(level_of(query, level), hpa_node_x(view, node),
	                      hpa_node_y(view, node));
}

static uint64_t
octile_of_nodes(const struct hpa_query *query, uint32_t a, uint32_t b)
{
	const struct hpa_view *view = &query->map->view;

	return grid_octile(&query->map->grid, hpa_node_x(view, a),
	                   hpa_node_y(view, a), hpa_node_x(view, b),
	                   hpa_node_y(view, b));
}

static bool
is_shortcut(const struct hpa_query *query, const uint8_t *edge)
{
	return hpa_view_link_cost(&query->map->view, edge) <
	       octile_of_nodes(query, hpa_get_le32(edge + HPA_LEDGE_FROM),
	                       hpa_get_le32(edge + HPA_LEDGE_TO));
}

static uint32_t
count_shortcuts(const struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->n_link_edges; i++)
		n += is_shortcut(query, hpa_view_link_edge(view, i));
	return n;
}

/* Make a box large enough for a node, too. */
static void
add_to_box(const struct hpa_view *view, uint32_t node, struct box *box)
{
	uint32_t x = hpa_node_x(view, node), y = hpa_node_y(view, node);

	box->left = x < box->left ? x : box->left;
	box->top = y < box->top ? y : box->top;
	box->right = x > box->right ? x : box->right;
	box->bottom = y > box->bottom ? y : box->bottom;
}

void
search_find_shortcuts(struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	struct search *search = &query->search;
	uint32_t n = count_shortcuts(query), seen = 0;

	search->n_boxes = n < MAX_BOXES ? n : MAX_BOXES;
	for (uint32_t i = 0; i < search->n_boxes; i++)
		search->boxes[i] = (struct box){UINT32_MAX, UINT32_MAX, 0, 0};
	/* They are in the order of their nodes: those that are near each other
	 * often get one box. */
	for (uint32_t i = 0; i < view->n_link_edges; i++) {
		const uint8_t *edge = hpa_view_link_edge(view, i);
		uint64_t box = (uint64_t)seen * search->n_boxes / (n ? n : 1);

		if (!is_shortcut(query, edge))
			continue;
		add_to_box(view, hpa_get_le32(edge + HPA_LEDGE_FROM),
		           &search->boxes[box]);
		seen++;
	}
}

/* The least that taking a shortcut and going on from it to the target costs. */
static uint64_t
rest_over_shortcuts(const struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	const struct search *search = &query->search;
	uint64_t least = HPA_NO_SHORTCUT;

	if (search->n_boxes == 0)
		return least;
	for (uint32_t i = 0; i < view->n_link_edges; i++) {
		const uint8_t *edge = hpa_view_link_edge(view, i);
		uint32_t to = hpa_get_le32(edge + HPA_LEDGE_TO);
		uint64_t rest;

		if (!is_shortcut(query, edge))
			continue;
		rest = hpa_view_link_cost(view, edge) +
		       grid_octile(&query->map->grid, hpa_node_x(view, to),
		                   hpa_node_y(view, to), search->target_x,
		                   search->target_y);
		least = rest < least ? rest : least;
	}
	return least;
}

/* Begin a search that aims at a cell. */
static void
begin(struct hpa_query *query, uint32_t x, uint32_t y, uint64_t limit)
{
	const struct grid *grid = &query->map->grid;
	struct search *search = &query->search;
	uint32_t turn = grid->moves == HPA_RULE_4 ? 2 * grid->cost_straight
	                                          : grid->cost_diagonal;

	queue_clear(&search->queue);
	search->target_x = x;
	search->target_y = y;
	search->limit = limit;
	search->per_longer = grid->cost_straight * grid->min_factor;
	search->per_shorter = (turn - grid->cost_straight) * grid->min_factor;
	search->shortcut_rest = HPA_NO_SHORTCUT;
	if (++search->stamp == 0) {
		size_t n = (size_t)query->map->view.n_nodes + 1;

		memset(search->nodes, 0, n * sizeof(*search->nodes));
		search->stamp = 1;
	}
}

void
search_begin(struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	struct search *search = &query->search;

	begin(query, query->to.x, query->to.y, UINT64_MAX);
	search->shortcut_rest = rest_over_shortcuts(query);
	for (uint32_t l = 0; l < view->n_levels; l++) {
		search->start_cluster[l] = hpa_cluster_at(
			&view->levels[l], query->from.x, query->from.y);
		search->goal_cluster[l] = hpa_cluster_at(
			&view->levels[l], query->to.x, query->to.y);
	}
}

static uint32_t
clamp(uint32_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* The least that is left from a cell to the target if a shortcut is taken. */
static uint64_t
estimate_over_shortcuts(const struct hpa_query *query, uint32_t x, uint32_t y)
{
	const struct search *search = &query->search;
	uint64_t least = HPA_NO_SHORTCUT;

	for (uint32_t i = 0; i < search->n_boxes; i++) {
		const struct box *box = &search->boxes[i];
		uint64_t cost = grid_octile(&query->map->grid, x, y,
		                            clamp(x, box->left, box->right),
		                            clamp(y, box->top, box->bottom));

		least = cost < least ? cost : least;
	}
	return least + search->shortcut_rest;
}

/* The least that is left from a node to the target. On the largest levels with
 * the dearest terrain it may exceed 32 bits. */
static inline uint64_t
estimate(const struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;
	const struct search *search = &query->search;
	uint32_t x, y, dx, dy;
	uint64_t direct, over;

	if (node == view->n_nodes)
		return 0;
	x = hpa_node_x(view, node);
	y = hpa_node_y(view, node);
	dx = x < search->target_x ? search->target_x - x : x - search->target_x;
	dy = y < search->target_y ? search->target_y - y : y - search->target_y;
	direct = dx < dy ? dy * search->per_longer + dx * search->per_shorter
	                 : dx * search->per_longer + dy * search->per_shorter;
	if (search->shortcut_rest >= direct)
		return direct;
	over = estimate_over_shortcuts(query, x, y);
	return over < direct ? over : direct;
}

static void
reach_cheaper(struct hpa_query *query, uint32_t node, uint64_t cost,
              uint32_t parent)
{
	struct search *search = &query->search;
	struct search_node *known = &search->nodes[node];
	bool is_new = known->stamp != search->stamp;
	uint64_t rest = estimate(query, node);

	if (cost + rest > search->limit)
		return;
	if (!is_new)
		queue_remove(&search->queue, node);
	known->cost = cost;
	known->parent = parent;
	known->stamp = search->stamp;
	queue_insert(&search->queue, node, cost + rest);
}

/* Most offers are no better than what is known: that is found out inline. */
static inline void
reach(struct hpa_query *query, uint32_t node, uint64_t cost, uint32_t parent)
{
	const struct search_node *known = &query->search.nodes[node];

	if (known->stamp != query->search.stamp || cost < known->cost)
		reach_cheaper(query, node, cost, parent);
}

void
search_reach(struct hpa_query *query, uint32_t node, uint64_t cost,
             uint32_t parent)
{
	reach(query, node, cost, parent);
}

/* The place one level up; false at the top and for a node that is not there. */
static bool
go_up(const struct hpa_query *query, uint32_t node, struct place *place)
{
	const struct hpa_view_level *level = level_of(query, place->level);
	uint32_t rank;

	if (!level->up)
		return false;
	rank = hpa_get_u32(level->up, place->rank);
	if (rank == HPA_NONE)
		return false;
	place->level++;
	place->rank = rank;
	place->cluster = cluster_of(query, place->level, node);
	return true;
}

static bool
holds_start_or_goal(const struct hpa_query *query, const struct place *place)
{
	const struct search *search = &query->search;

	return place->cluster == search->start_cluster[place->level - 1] ||
	       place->cluster == search->goal_cluster[place->level - 1];
}

static struct place
place_at_level_1(const struct hpa_query *query, uint32_t node)
{
	return (struct place){1, node, cluster_of(query, 1, node)};
}

/* Where the main search expands a node. */
static struct place
place_for_search(const struct hpa_query *query, uint32_t node)
{
	struct place place = place_at_level_1(query, node);
	struct place above = place;

	while (go_up(query, node, &above) &&
	       !holds_start_or_goal(query, &above))
		place = above;
	return place;
}

/* Where a node is found at a level it belongs to. */
static struct place
place_at(const struct hpa_query *query, uint32_t node, uint32_t level)
{
	struct place place = place_at_level_1(query, node);

	while (place.level < level && go_up(query, node, &place))
		continue;
	return place;
}

static void
follow_intra_edges(struct hpa_query *query, uint32_t node,
                   const struct place *place)
{
	const struct hpa_view_level *level = level_of(query, place->level);
	uint64_t cost = query->search.nodes[node].cost;
	uint32_t first = hpa_get_u32(level->first, place->cluster);
	uint32_t local = place->rank - first;
	struct hpa_table table;

	hpa_view_table(&query->map->view, level, place->cluster, &table);
	for (uint32_t edge = hpa_table_begin(&table, local);
	     edge < hpa_table_end(&table, local); edge++) {
		uint32_t rank = first + hpa_table_target(&table, edge);

		reach(query, hpa_node_of_rank(level, rank),
		      cost + hpa_table_weight(&table, edge), node);
	}
}

uint32_t
search_transition_cost(const struct hpa_query *query, uint32_t from,
                       uint32_t to)
{
	const struct hpa_view *view = &query->map->view;
	const struct grid *grid = &query->map->grid;

	if (!grid->classes)
		return grid->cost_straight;
	return grid->cost_straight / 2 *
	       (grid_factor(grid, hpa_node_x(view, from),
	                    hpa_node_y(view, from)) +
	        grid_factor(grid, hpa_node_x(view, to), hpa_node_y(view, to)));
}

/* Follow the inter-edges that leave the place's cluster but not the cluster
 * `inside` of the level above (HPA_NONE: any). */
static void
follow_inter_edges(struct hpa_query *query, uint32_t node,
                   const struct place *place, uint32_t inside)
{
	const struct hpa_view *view = &query->map->view;
	uint64_t cost = query->search.nodes[node].cost;
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)node + 1);
	uint32_t edge = hpa_get_u32(view->inter_first, node);

	for (; edge < end; edge++) {
		uint32_t to = hpa_get_u32(view->inter_target, edge);

		if (cluster_of(query, place->level, to) != place->cluster &&
		    (inside == HPA_NONE ||
		     cluster_of(query, place->level + 1, to) == inside))
			reach(query, to,
			      cost + search_transition_cost(query, node, to),
			      node);
	}
}

static void
follow_links(struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;
	uint64_t cost = query->search.nodes[node].cost;

	for (uint32_t i = hpa_view_first_link_edge(view, node);
	     i < view->n_link_edges; i++) {
		const uint8_t *edge = hpa_view_link_edge(view, i);

		if (hpa_get_le32(edge + HPA_LEDGE_FROM) != node)
			break;
		reach(query, hpa_get_le32(edge + HPA_LEDGE_TO),
		      cost + hpa_view_link_cost(view, edge), node);
	}
}

static void
reach_goal(struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t first =
		hpa_get_u32(level->first, query->search.goal_cluster[0]);
	uint32_t cost = query->goal_cost[node - first];

	if (cost != WINDOW_NO_PATH)
		reach(query, view->n_nodes,
		      query->search.nodes[node].cost + cost, node);
}

bool
search_path(struct hpa_query *query)
{
	struct search *search = &query->search;
	uint32_t goal = query->map->view.n_nodes;

	search->n_expanded = 0;
	while (search->queue.filled) {
		uint32_t node = queue_pop(&search->queue);
		struct place place;

		search->n_expanded++;
		if (node == goal) {
			query->cost = search->nodes[goal].cost;
			return true;
		}
		place = place_for_search(query, node);
		if (place.level == 1 &&
		    place.cluster == query->search.goal_cluster[0])
			reach_goal(query, node);
		follow_intra_edges(query, node, &place);
		follow_inter_edges(query, node, &place, HPA_NONE);
		if (query->map->view.n_link_edges > 0)
			follow_links(query, node);
	}
	return false;
}

/* Was a link what led from one node to another at this cost? */
static bool
is_link(const struct hpa_query *query, uint32_t from, uint32_t to,
        uint64_t cost)
{
	const struct hpa_view *view = &query->map->view;

	for (uint32_t i = hpa_view_first_link_edge(view, from);
	     i < view->n_link_edges; i++) {
		const uint8_t *edge = hpa_view_link_edge(view, i);

		if (hpa_get_le32(edge + HPA_LEDGE_FROM) != from)
			break;
		if (hpa_get_le32(edge + HPA_LEDGE_TO) == to &&
		    hpa_view_link_cost(view, edge) == cost)
			return true;
	}
	return false;
}

/* What led from a node that was expanded at `place` to another one. */
static uint32_t
kind_of_hop(const struct hpa_query *query, const struct place *place,
            uint32_t to)
{
	return cluster_of(query, place->level, to) == place->cluster
	               ? place->level
	               : HOP_INTER;
}

void
search_push_path(struct hpa_query *query)
{
	const struct search_node *nodes = query->search.nodes;
	struct walk *walk = &query->walk;
	const struct search_node *goal = &nodes[query->map->view.n_nodes];
	uint32_t node = goal->parent;

	if (node == HPA_NONE) {
		walk_push(walk, HPA_NONE, HOP_TO_GOAL, goal->cost);
		return;
	}
	walk_push(walk, HPA_NONE, HOP_TO_GOAL, goal->cost - nodes[node].cost);
	for (; nodes[node].parent != HPA_NONE; node = nodes[node].parent) {
		uint32_t parent = nodes[node].parent;
		uint64_t cost = nodes[node].cost - nodes[parent].cost;
		struct place place = place_for_search(query, parent);

		walk_push(walk, node,
		          is_link(query, parent, node, cost)
		                  ? HOP_LINK
		                  : kind_of_hop(query, &place, node),
		          cost);
	}
	walk_push(walk, node, HOP_FROM_START, nodes[node].cost);
}

bool
search_push_edge(struct hpa_query *query, uint32_t from, const struct hop *hop)
{
	const struct hpa_view *view = &query->map->view;
	uint32_t level = hop->kind, to = hop->to, node = HPA_NONE;
	uint32_t inside = cluster_of(query, level, from);
	struct search *search = &query->search;

	begin(query, hpa_node_x(view, to), hpa_node_y(view, to), hop->cost);
	reach(query, from, 0, HPA_NONE);
	while (search->queue.filled && node != to) {
		struct place place;

		if (query->walk.n_expansions_left == 0)
			return false;
		query->walk.n_expansions_left--;
		node = queue_pop(&search->queue);
		place = place_at(query, node, level - 1);
		follow_intra_edges(query, node, &place);
		follow_inter_edges(query, node, &place, inside);
	}
	if (node != to)
		return false;
	while (node != from) {
		uint32_t parent = search->nodes[node].parent;
		struct place place = place_at(query, parent, level - 1);

		walk_push(&query->walk, node, kind_of_hop(query, &place, node),
		          search->nodes[node].cost -
		                  search->nodes[parent].cost);
		node = parent;
	}
	return true;
}
