/* search.c: A* over the levels, and inside one cluster when refining.
 *
 * The main search expands a node at the highest level whose cluster around it
 * contains neither start nor goal: a path that enters such a cluster also
 * leaves it, both times over its border, so the cluster's own intra-edges and
 * the inter-edges that lead out of it are all that matters. The node is one of
 * that level, because it was reached over the cluster's border or by one of
 * its intra-edges. In the clusters of level 1 that contain start or goal all
 * intra-edges are followed, and from the goal's the last hop to the goal. The
 * level of an expansion follows from the node, start and goal: as a cluster of
 * a level is 2 x 2 of the level below, the bits in which the numbers of two
 * clusters differ tell from which level on they are in one. The node's rank at
 * that level is kept where it is known, else looked up from level to level.
 * Once the goal is reached, only offers that may be cheaper are taken.
 *
 * The refining search is the same inside one cluster of level l, with the edges
 * of level l - 1 only.
 *
 * Links are edges of every level: their ends are nodes at all levels, and no
 * table has a way over a link in it. So they are followed wherever a node is
 * expanded, and never when an intra-edge is refined.
 *
 * The heuristic is the octile distance or, where landmarks (landmark.c) say
 * that more is left, that. Where a link is shorter than the crow flies, it is the
 * least over such links: to the nearest entry of one, or to a box around several,
 * and from there what the cheapest of them leaves; with links there are no
 * landmarks. It never exceeds an edge's cost by more than the edge brings nearer,
 * so a node is final when it is taken from the queue. Everything is a whole
 * number and done in a fixed order, and a way replaces another only if it is
 * cheaper: the path does not depend on anything but the map and the question. */
#include <string.h>

#include "src/run/query.h"

/* A node seen at one level, and the cells of its cluster there: a square, which
 * may reach beyond the level's edge. */
struct place {
	uint32_t level; /* counted from 1 */
	uint32_t rank, cluster;
	struct grid_window cells;
	bool is_as_wanted; /* it is the level that was asked for */
};

static const struct hpa_view_level *
level_of(const struct hpa_query *query, uint32_t level)
{
	return &query->map->view.levels[level - 1];
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

static inline struct square
square_at(const struct hpa_view_level *level, uint32_t x, uint32_t y)
{
	return (struct square){hpa_cluster_row(level, x),
	                       hpa_cluster_row(level, y)};
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
	search->landmarks = NULL;
	if (++search->stamp == 0) {
		size_t n = (size_t)query->map->view.n_nodes + 1;

		memset(search->nodes, 0, n * sizeof(*search->nodes));
		search->stamp = 1;
	}
}

/* How far the goal is from the landmarks: over the nodes of its cluster. */
static void
find_goal_distances(struct hpa_query *query)
{
	const landmark_vector *landmarks = query->map->landmarks;
	const struct hpa_view_level *level = &query->map->view.levels[0];
	struct search *search = &query->search;
	uint32_t cluster = hpa_cluster_at(level, query->to.x, query->to.y);
	uint32_t first = hpa_get_u32(level->first, cluster);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);

	for (uint32_t node = first; node < end; node++) {
		uint32_t left = query->goal_cost[node - first];
		landmark_vector all;

		if (left == WINDOW_NO_PATH)
			continue;
		all = landmarks[node] + (int32_t)landmark_cut(left);
		if (search->landmarks)
			landmark_lower(&search->target_distances, &all);
		else
			search->target_distances = all;
		search->landmarks = landmarks;
	}
}

void
search_begin(struct hpa_query *query)
{
	const struct hpa_view *view = &query->map->view;
	struct search *search = &query->search;

	begin(query, query->to.x, query->to.y, UINT64_MAX);
	search->shortcut_rest = rest_over_shortcuts(query);
	search->start =
		square_at(&view->levels[0], query->from.x, query->from.y);
	search->goal = square_at(&view->levels[0], query->to.x, query->to.y);
	if (query->map->landmarks)
		find_goal_distances(query);
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
 * the dearest terrain that may exceed 32 bits; cut off, it exceeds no edge's cost
 * by more than before. */
static inline uint32_t
estimate(const struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;
	const struct search *search = &query->search;
	uint32_t x = hpa_node_x(view, node), y = hpa_node_y(view, node);
	uint32_t dx, dy;
	uint64_t direct;

	dx = x < search->target_x ? search->target_x - x : x - search->target_x;
	dy = y < search->target_y ? search->target_y - y : y - search->target_y;
	direct = dx < dy ? dy * search->per_longer + dx * search->per_shorter
	                 : dx * search->per_longer + dy * search->per_shorter;
	if (search->landmarks) {
		uint32_t bound = landmark_bound(&search->landmarks[node],
		                                &search->target_distances);

		direct = bound > direct ? bound : direct;
	} else if (search->shortcut_rest < direct) {
		uint64_t over = estimate_over_shortcuts(query, x, y);

		direct = over < direct ? over : direct;
	}
	return direct < UINT32_MAX ? (uint32_t)direct : UINT32_MAX;
}

/* What a way to a node is offered as. */
struct offer {
	uint64_t cost;
	uint32_t parent;
	uint32_t rank; /* of the node where it will be expanded, or HPA_NONE */
};

static void
reach_cheaper(struct hpa_query *query, uint32_t node, const struct offer *offer)
{
	struct search *search = &query->search;
	struct search_node *known = &search->nodes[node];
	bool is_new = known->stamp != search->stamp;
	uint32_t rest = known->rest;

	if (is_new)
		rest = node == query->map->view.n_nodes ? 0
		                                        : estimate(query, node);
	if (offer->cost + rest > search->limit)
		return;
	if (!is_new)
		queue_remove(&search->queue, node);
	known->cost = offer->cost;
	known->rest = rest;
	known->parent = offer->parent;
	known->rank = offer->rank;
	known->stamp = search->stamp;
	queue_insert(&search->queue, node);
}

/* Most offers are no better than what is known: that is found out inline. */
static inline void
reach(struct hpa_query *query, uint32_t node, const struct offer *offer)
{
	const struct search_node *known = &query->search.nodes[node];

	if (known->stamp != query->search.stamp || offer->cost < known->cost)
		reach_cheaper(query, node, offer);
}

void
search_reach(struct hpa_query *query, uint32_t node, uint64_t cost,
             uint32_t parent)
{
	reach(query, node, &(struct offer){cost, parent, HPA_NONE});
}

/* The highest level at which the cluster of a square holds neither start nor
 * goal; 1 if there is none. Two squares are in one cluster of a level if their
 * numbers differ only in bits below. */
static inline uint32_t
level_for_search(const struct hpa_query *query, struct square square)
{
	const struct search *search = &query->search;
	uint32_t n_levels = query->map->view.n_levels;
	uint32_t from = (square.column ^ search->start.column) |
	                (square.row ^ search->start.row);
	uint32_t to = (square.column ^ search->goal.column) |
	              (square.row ^ search->goal.row);
	uint32_t nearer = from < to ? from : to;
	uint32_t level = 32 - (uint32_t)__builtin_clz(nearer | 1);

	return level < n_levels ? level : n_levels;
}

/* The cells of the cluster that a square lies in at a level. */
static inline struct grid_window
cells_around(const struct hpa_query *query, struct square square,
             uint32_t level)
{
	uint32_t size = query->map->view.cluster_size << (level - 1);

	return (struct grid_window){(square.column >> (level - 1)) * size,
	                            (square.row >> (level - 1)) * size, size,
	                            size};
}

/* Where a node is found at a level, or below if it is not there. `rank` is what
 * is known of it, or HPA_NONE. */
static inline struct place
place_at(const struct hpa_query *query, uint32_t node, struct square square,
         uint32_t level, uint32_t rank)
{
	struct place place = {.level = level, .rank = rank};

	if (rank == HPA_NONE) {
		place.rank = node;
		for (place.level = 1; place.level < level; place.level++) {
			rank = hpa_get_u32(level_of(query, place.level)->up,
			                   place.rank);
			if (rank == HPA_NONE)
				break;
			place.rank = rank;
		}
	}
	place.is_as_wanted = place.level == level;
	place.cells = cells_around(query, square, place.level);
	place.cluster = (square.row >> (place.level - 1)) *
	                        level_of(query, place.level)->clusters_x +
	                (square.column >> (place.level - 1));
	return place;
}

static inline struct square
square_of(const struct hpa_query *query, uint32_t node)
{
	const struct hpa_view *view = &query->map->view;

	return square_at(&view->levels[0], hpa_node_x(view, node),
	                 hpa_node_y(view, node));
}

/* Where the main search expands a node. */
static inline struct place
place_for_search(const struct hpa_query *query, uint32_t node)
{
	struct square square = square_of(query, node);

	return place_at(query, node, square, level_for_search(query, square),
	                query->search.nodes[node].rank);
}

/* Where a refining search does, at a level. */
static inline struct place
place_for_edge(const struct hpa_query *query, uint32_t node, uint32_t level)
{
	return place_at(query, node, square_of(query, node), level,
	                query->search.nodes[node].rank);
}

static inline bool
is_inside(const struct hpa_query *query, const struct grid_window *window,
          uint32_t node)
{
	const struct hpa_view *view = &query->map->view;

	return grid_window_has(window, hpa_node_x(view, node),
	                       hpa_node_y(view, node));
}

/* Inlined for each kind of table. */
static inline __attribute__((always_inline)) void
follow_table(struct hpa_query *query, uint32_t node, const struct place *place,
             const struct hpa_table *table, uint32_t first)
{
	const struct hpa_view_level *level = level_of(query, place->level);
	uint64_t cost = query->search.nodes[node].cost;
	uint32_t edge = hpa_table_begin(table, place->rank - first);
	uint32_t end = hpa_table_end(table, place->rank - first);
	struct offer offer = {.parent = node};

	for (; edge < end; edge++) {
		uint32_t rank = first + hpa_table_target(table, edge);

		offer.cost = cost + hpa_table_weight(table, edge);
		offer.rank = place->is_as_wanted ? rank : HPA_NONE;
		reach(query, hpa_node_of_rank(level, rank), &offer);
	}
}

static void
follow_intra_edges(struct hpa_query *query, uint32_t node,
                   const struct place *place)
{
	const struct hpa_view_level *level = level_of(query, place->level);
	uint32_t first = hpa_get_u32(level->first, place->cluster);
	struct hpa_table table;

	hpa_view_table(&query->map->view, level, place->cluster, &table);
	if (table.wide) {
		table.wide = true;
		follow_table(query, node, place, &table, first);
	} else {
		table.wide = false;
		follow_table(query, node, place, &table, first);
	}
}

/* Follow the inter-edges that leave the place's cluster but not the cells of
 * `inside`. */
static inline void
follow_inter_edges(struct hpa_query *query, uint32_t node,
                   const struct place *place, const struct grid_window *inside)
{
	const struct hpa_view *view = &query->map->view;
	uint64_t cost = query->search.nodes[node].cost;
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)node + 1);
	uint32_t edge = hpa_get_u32(view->inter_first, node);
	struct offer offer = {.parent = node, .rank = HPA_NONE};

	for (; edge < end; edge++) {
		uint32_t to = hpa_get_u32(view->inter_target, edge);

		if (is_inside(query, &place->cells, to) ||
		    (inside && !is_inside(query, inside, to)))
			continue;
		offer.cost = cost + map_transition_cost(query->map, node, to);
		reach(query, to, &offer);
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
		search_reach(query, hpa_get_le32(edge + HPA_LEDGE_TO),
		             cost + hpa_view_link_cost(view, edge), node);
	}
}

/* From now on only ways to the goal are of interest that cost less. */
static void
reach_goal(struct hpa_query *query, uint32_t node, uint32_t cluster)
{
	const struct hpa_view *view = &query->map->view;
	struct search *search = &query->search;
	uint32_t first = hpa_get_u32(view->levels[0].first, cluster);
	uint32_t left = query->goal_cost[node - first];
	uint64_t cost = search->nodes[node].cost + left;

	if (left == WINDOW_NO_PATH)
		return;
	search_reach(query, view->n_nodes, cost, node);
	if (cost < search->limit)
		search->limit = cost;
}

static bool
holds_goal(const struct hpa_query *query, const struct place *place)
{
	return grid_window_has(&place->cells, query->to.x, query->to.y);
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
		if (holds_goal(query, &place))
			reach_goal(query, node, place.cluster);
		follow_intra_edges(query, node, &place);
		follow_inter_edges(query, node, &place, NULL);
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
	return is_inside(query, &place->cells, to) ? place->level : HOP_INTER;
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
	uint32_t below = hop->kind - 1, to = hop->to, node = HPA_NONE;
	const struct grid_window inside =
		cells_around(query, square_of(query, from), hop->kind);
	struct search *search = &query->search;

	begin(query, hpa_node_x(view, to), hpa_node_y(view, to), hop->cost);
	if (query->map->landmarks) {
		search->landmarks = query->map->landmarks;
		search->target_distances = search->landmarks[to];
	}
	search_reach(query, from, 0, HPA_NONE);
	while (search->queue.filled && node != to) {
		struct place place;

		if (query->walk.n_expansions_left == 0)
			return false;
		query->walk.n_expansions_left--;
		node = queue_pop(&search->queue);
		place = place_for_edge(query, node, below);
		follow_intra_edges(query, node, &place);
		follow_inter_edges(query, node, &place, &inside);
	}
	if (node != to)
		return false;
	while (node != from) {
		uint32_t parent = search->nodes[node].parent;
		struct place place = place_for_edge(query, parent, below);

		walk_push(&query->walk, node, kind_of_hop(query, &place, node),
		          search->nodes[node].cost -
		                  search->nodes[parent].cost);
		node = parent;
	}
	return true;
}
