/* landmark.c: how far it is from a few nodes to all others.
 *
 * The way from one node to another costs at least what the distances of a third
 * node to both differ (Goldberg and Harrelson, Computing the Shortest Path: A*
 * Search Meets Graph Theory, 2005). Where ways wind, that says much more than
 * the octile distance, and a search that knows it expands less than half of the
 * nodes.
 *
 * Each component has landmarks of its own: its first node, which lies at its
 * edge, then three times the node that is farthest from those before. Their
 * distances are found by Dijkstra over level 1.
 *
 * As levels do not change the cost, no edge of any level costs less than the
 * distances of its ends differ. A search relies on that, as it takes each node
 * out of its queue but once; so it is looked at edge by edge, and where a file
 * is so odd that it does not hold there are no landmarks. Nor are there any
 * where there are links, which may lead one way, or hub labels, which need no
 * search; or where measuring would make opening a long affair. */
#include "src/run/landmark.h"

#include <string.h>

#include "src/run/queue.h"

/* So much can be measured in a tenth of a second or two. Edges are those of all
 * profiles of a file together: few bytes are enough for many profiles. A
 * cluster's count for each cluster that shares their table. */
#define MAX_NODES 65536u
#define MAX_EDGES 4194304u

struct maker {
	const hpa_map *map;
	landmark_vector *distances; /* of every node */
	struct queue queue;
	uint32_t stamp;
	uint32_t last; /* node taken out; its parent is the one before */
};

static void
reach(struct maker *maker, uint32_t node, uint64_t cost)
{
	struct search_node *known = &maker->queue.nodes[node];
	bool is_new = known->stamp != maker->stamp;

	if (!is_new && cost >= known->cost)
		return;
	if (!is_new)
		queue_remove(&maker->queue, node);
	known->cost = cost;
	known->rest = 0;
	known->stamp = maker->stamp;
	queue_insert(&maker->queue, node);
}

static void
expand(struct maker *maker, uint32_t node)
{
	const struct hpa_view *view = &maker->map->view;
	const struct hpa_view_level *level = &view->levels[0];
	uint64_t cost = maker->queue.nodes[node].cost;
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)node + 1);
	uint32_t cluster = hpa_cluster_at(level, hpa_node_x(view, node),
	                                  hpa_node_y(view, node));
	uint32_t first = hpa_get_u32(level->first, cluster);
	struct hpa_table table;

	for (uint32_t i = hpa_get_u32(view->inter_first, node); i < end; i++) {
		uint32_t to = hpa_get_u32(view->inter_target, i);

		reach(maker, to,
		      cost + map_transition_cost(maker->map, node, to));
	}
	hpa_view_table(view, level, cluster, &table);
	end = hpa_table_end(&table, node - first);
	for (uint32_t i = hpa_table_begin(&table, node - first); i < end; i++)
		reach(maker, first + hpa_table_target(&table, i),
		      cost + hpa_table_weight(&table, i));
}

/* Find the distances from a node to those of its component, which are linked
 * from the last one back. */
static void
measure_from(struct maker *maker, uint32_t from, unsigned landmark)
{
	maker->stamp++;
	maker->last = HPA_NONE;
	queue_clear(&maker->queue);
	reach(maker, from, 0);
	while (maker->queue.filled) {
		uint32_t node = queue_pop(&maker->queue);
		struct search_node *known = &maker->queue.nodes[node];

		maker->distances[node][landmark] =
			(int32_t)landmark_cut(known->cost);
		known->parent = maker->last;
		maker->last = node;
		expand(maker, node);
	}
}

/* The node that is farthest from the nearest of the first n landmarks. */
static uint32_t
find_farthest(const struct maker *maker, unsigned n)
{
	uint32_t best = maker->last, node = maker->last;
	int32_t farthest = 0;

	for (; node != HPA_NONE; node = maker->queue.nodes[node].parent) {
		int32_t nearest = maker->distances[node][0];

		for (unsigned i = 1; i < n; i++)
			if (maker->distances[node][i] < nearest)
				nearest = maker->distances[node][i];
		if (nearest > farthest) {
			farthest = nearest;
			best = node;
		}
	}
	return best;
}

static void
measure_component(struct maker *maker, uint32_t first)
{
	uint32_t landmark = first;

	for (unsigned i = 0; i < N_LANDMARKS; i++) {
		measure_from(maker, landmark, i);
		landmark = find_farthest(maker, i + 1);
	}
}

/* Looking at every edge */

/* Does the way between two nodes cost as much as their distances differ? */
static bool
is_bounded(const struct maker *maker, uint32_t from, uint32_t to, uint32_t cost)
{
	return landmark_bound(&maker->distances[from], &maker->distances[to]) <=
	       landmark_cut(cost);
}

static bool
check_cluster(const struct maker *maker, const struct hpa_view_level *level,
              uint32_t cluster)
{
	uint32_t first = hpa_get_u32(level->first, cluster);
	struct hpa_table table;
	uint32_t edge = 0;

	hpa_view_table(&maker->map->view, level, cluster, &table);
	for (uint32_t i = 0; i < table.n_nodes; i++) {
		uint32_t node = hpa_node_of_rank(level, first + i);

		for (; edge < hpa_table_end(&table, i); edge++) {
			uint32_t rank = first + hpa_table_target(&table, edge);

			if (!is_bounded(maker, node,
			                hpa_node_of_rank(level, rank),
			                hpa_table_weight(&table, edge)))
				return false;
		}
	}
	return true;
}

static bool
check_inter_edges(const struct maker *maker)
{
	const struct hpa_view *view = &maker->map->view;
	uint32_t edge = 0;

	for (uint32_t node = 0; node < view->n_nodes; node++) {
		uint32_t end = hpa_get_u32(view->inter_first, (size_t)node + 1);

		for (; edge < end; edge++) {
			uint32_t to = hpa_get_u32(view->inter_target, edge);

			if (!is_bounded(
				    maker, node, to,
				    map_transition_cost(maker->map, node, to)))
				return false;
		}
	}
	return true;
}

static bool
check_all(const struct maker *maker)
{
	const struct hpa_view *view = &maker->map->view;

	for (uint32_t l = 0; l < view->n_levels; l++) {
		const struct hpa_view_level *level = &view->levels[l];
		uint32_t n = level->clusters_x * level->clusters_y;

		for (uint32_t cluster = 0; cluster < n; cluster++)
			if (!check_cluster(maker, level, cluster))
				return false;
	}
	return check_inter_edges(maker);
}

/* False: they do not fit the edges. */
static bool
measure_all(struct maker *maker)
{
	uint32_t n = maker->map->view.n_nodes;

	memset(maker->queue.nodes, 0, n * sizeof(*maker->queue.nodes));
	for (uint32_t node = 0; node < n; node++)
		if (maker->queue.nodes[node].stamp == 0)
			measure_component(maker, node);
	return check_all(maker);
}

/* The edges of all levels, or more than MAX_EDGES. */
static uint64_t
count_edges(const struct hpa_view *view)
{
	uint64_t n = 0;

	for (uint32_t l = 0; l < view->n_levels && n <= MAX_EDGES; l++) {
		uint64_t n_stored = view->levels[l].n_stored;

		n += n_stored <= MAX_EDGES ? n_stored : MAX_EDGES + 1;
	}
	return n;
}

static bool
are_wanted(const struct hpa_view *view, uint64_t most_edges)
{
	return view->n_nodes > 0 && view->n_nodes <= MAX_NODES &&
	       count_edges(view) <= most_edges && view->n_link_edges == 0 &&
	       !view->hubs.first;
}

size_t
landmark_size(const hpa_map *map)
{
	return (size_t)map->view.n_nodes * sizeof(landmark_vector);
}

static hpa_status
make_of_profile(hpa_map *map, const hpa_allocator *allocator)
{
	size_t scratch = map->view.n_nodes * sizeof(struct search_node);
	size_t size = landmark_size(map);
	struct maker maker = {.map = map};
	hpa_status st = HPA_NO_MEMORY;

	maker.queue.nodes = allocator->alloc(allocator->user, scratch);
	maker.distances = allocator->alloc(allocator->user, size);
	if (maker.queue.nodes && maker.distances) {
		if (measure_all(&maker)) {
			map->landmarks = maker.distances;
			maker.distances = NULL;
		}
		st = HPA_OK;
	}
	if (maker.distances)
		allocator->free(allocator->user, maker.distances, size);
	if (maker.queue.nodes)
		allocator->free(allocator->user, maker.queue.nodes, scratch);
	return st;
}

hpa_status
landmark_make(hpa_map *maps, const hpa_allocator *allocator)
{
	uint64_t n_left = MAX_EDGES;
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < maps->n_profiles && st == HPA_OK; p++) {
		if (!are_wanted(&maps[p].view, n_left))
			continue;
		n_left -= count_edges(&maps[p].view);
		st = make_of_profile(&maps[p], allocator);
	}
	return st;
}
