/* hierarchy.c: pass 6, the intra-edges of level 2 and above.
 *
 * An l-cluster's table has the distances between its l-nodes, along the edges
 * of level l-1 that stay inside it: the intra-edges of its 2 x 2 children and
 * the inter-edges between these. Links are not among them: they are edges of
 * every level by themselves. Pruned tables below are enough, because
 * pruning keeps all distances. For each cluster the part of the level below is
 * copied into a small graph of its own. Its distances are found by a matrix
 * (dense.c) or, where it is large or costs are, by a search from several l-nodes
 * at once (many.c) or, as a reference and where costs are huge, by a Dijkstra
 * from each. */
#include <stdlib.h>

#include "src/bake/dense.h"
#include "src/bake/many.h"
#include "src/bake/passes.h"
#include "src/grid/heap.h"

/* The level below inside one cluster; nodes are numbered anew, child by child,
 * in a child by rank. */
struct local_graph {
	uint32_t n_nodes, n_edges, max_nodes, max_edges;
	uint32_t *id;         /* local -> node id */
	uint32_t *first_edge; /* one more than nodes */
	struct many_edge *edges;
	uint32_t n_members;
	uint32_t *members; /* local numbers of the l-nodes, by id */
	uint64_t *distance;
	struct heap heap;
	uint32_t max_edge_cost;
	many_vector *lanes;
	uint8_t *changed;
	struct dense dense;
	bool is_dense;   /* edges go there, not into the list */
	uint32_t *place; /* local -> place in dense */
	uint32_t *cost; /* n_members x n_members */
	size_t max_cost;
	struct table_maker maker;
	uint32_t n_children;
	struct child {
		uint32_t cluster, first_rank, n_ranks, first_local;
	} children[4];
};

static bool
grow(void *pointer, size_t n, size_t size)
{
	void **p = pointer;
	void *more = realloc(*p, n * size + 1);

	if (more)
		*p = more;
	return more != NULL;
}

static bool
reserve_nodes(struct local_graph *graph, uint32_t n)
{
	if (n < graph->max_nodes)
		return true;
	graph->max_nodes = n + 1;
	return grow(&graph->id, n + 1, sizeof(*graph->id)) &&
	       grow(&graph->first_edge, (size_t)n + 2,
	            sizeof(*graph->first_edge)) &&
	       grow(&graph->members, n + 1, sizeof(*graph->members)) &&
	       grow(&graph->distance, n + 1, sizeof(*graph->distance)) &&
	       grow(&graph->lanes, n + 1, sizeof(*graph->lanes)) &&
	       grow(&graph->changed, n + 1, sizeof(*graph->changed)) &&
	       grow(&graph->place, n + 1, sizeof(*graph->place)) &&
	       grow(&graph->heap.entries, n + 1, sizeof(struct heap_entry)) &&
	       grow(&graph->heap.where, n + 1, sizeof(uint32_t));
}

/* Add one direction of an edge, to the matrix or to the list. false: no memory
 * for the list, or too large a cost for the matrix. */
static bool
add_edge(struct local_graph *graph, uint32_t from, uint32_t to, uint32_t cost)
{
	if (graph->is_dense) {
		if (cost >= DENSE_FAR)
			return false;
		dense_add(&graph->dense, graph->place[from], graph->place[to],
		          cost);
		return true;
	}
	if (graph->n_edges == graph->max_edges) {
		graph->max_edges = 2 * graph->max_edges + 256;
		if (!grow(&graph->edges, graph->max_edges,
		          sizeof(*graph->edges)))
			return false;
	}
	if (cost > graph->max_edge_cost)
		graph->max_edge_cost = cost;
	graph->edges[graph->n_edges++] = (struct many_edge){to, cost};
	return true;
}

static void
local_graph_free(struct local_graph *graph)
{
	free(graph->id);
	free(graph->first_edge);
	free(graph->edges);
	free(graph->members);
	free(graph->distance);
	free(graph->lanes);
	free(graph->changed);
	free(graph->place);
	free(graph->dense.rows);
	free(graph->heap.entries);
	free(graph->heap.where);
	free(graph->cost);
	table_maker_free(&graph->maker);
}

/* The up to 2 x 2 clusters below and their nodes. */
static bool
add_children(struct local_graph *graph, const struct abstract_level *above,
             const struct abstract_level *below, uint32_t cluster)
{
	uint32_t cx = cluster % above->clusters_x * 2;
	uint32_t cy = cluster / above->clusters_x * 2;

	graph->n_nodes = 0;
	graph->n_children = 0;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t x = cx + i % 2, y = cy + i / 2;
		uint32_t child, rank, end;

		if (x >= below->clusters_x || y >= below->clusters_y)
			continue;
		child = y * below->clusters_x + x;
		rank = below->first[child];
		end = below->first[child + 1];
		graph->children[graph->n_children++] =
			(struct child){child, rank, end - rank,
		                       graph->n_nodes};
		if (!reserve_nodes(graph, graph->n_nodes + end - rank))
			return false;
		for (; rank < end; rank++)
			graph->id[graph->n_nodes++] = below->node[rank];
	}
	return true;
}

/* The local number of a node by its rank at the level below, or HPA_NONE if it
 * lies in no child, or has no rank, which is HPA_NONE too. */
static uint32_t
local_number(const struct local_graph *graph, uint32_t rank)
{
	for (uint32_t i = 0; i < graph->n_children; i++) {
		const struct child *child = &graph->children[i];

		if (rank - child->first_rank < child->n_ranks)
			return child->first_local + rank - child->first_rank;
	}
	return HPA_NONE;
}

static bool
add_intra_edges(struct local_graph *graph, const struct child *child,
                const struct hpa_table *table, uint32_t node)
{
	uint32_t end = hpa_table_end(table, node);
	uint32_t first = child->first_local;

	for (uint32_t e = hpa_table_begin(table, node); e < end; e++)
		if (!add_edge(graph, first + node,
		              first + hpa_table_target(table, e),
		              hpa_table_weight(table, e)))
			return false;
	return true;
}

static bool
add_inter_edges(struct local_graph *graph, const struct abstraction *abs,
                const struct abstract_level *below, const struct child *child,
                uint32_t from)
{
	uint32_t id = graph->id[from];

	for (uint32_t e = abs->inter_first[id]; e < abs->inter_first[id + 1];
	     e++) {
		uint32_t to = abs->inter_target[e];
		uint32_t rank = below->rank[to], local;

		/* Crossings inside a child are in its table. */
		if (rank - child->first_rank < child->n_ranks)
			continue;
		local = local_number(graph, rank);
		if (local != HPA_NONE &&
		    !add_edge(graph, from, local, transition_cost(abs, id, to)))
			return false;
	}
	return true;
}

static bool
add_edges(struct local_graph *graph, const struct abstraction *abs,
          const struct abstract_level *below)
{
	graph->n_edges = 0;
	graph->max_edge_cost = 0;
	for (uint32_t i = 0; i < graph->n_children; i++) {
		const struct child *child = &graph->children[i];
		struct hpa_table table;

		hpa_table_at(below->tables[child->cluster].data, &table);
		for (uint32_t j = 0; j < table.n_nodes; j++) {
			uint32_t local = child->first_local + j;

			graph->first_edge[local] = graph->n_edges;
			if (!add_intra_edges(graph, child, &table, j) ||
			    !add_inter_edges(graph, abs, below, child, local))
				return false;
		}
	}
	graph->first_edge[graph->n_nodes] = graph->n_edges;
	return true;
}

static bool
add_members(struct local_graph *graph, const struct abstract_level *above,
            const struct abstract_level *below, uint32_t cluster)
{
	uint32_t rank = above->first[cluster];
	uint32_t n = above->first[cluster + 1] - rank;

	graph->n_members = n;
	for (uint32_t i = 0; i < n; i++)
		graph->members[i] = local_number(
			graph, below->rank[above->node[rank + i]]);
	if ((size_t)n * n <= graph->max_cost)
		return true;
	graph->max_cost = (size_t)n * n;
	return grow(&graph->cost, graph->max_cost, sizeof(*graph->cost));
}

static void
reach(struct local_graph *graph, uint32_t node, uint64_t distance)
{
	if (graph->distance[node] == UINT64_MAX)
		heap_insert(&graph->heap, node, distance, 0);
	else if (distance < graph->distance[node])
		heap_lower(&graph->heap, node, distance, 0);
	else
		return;
	graph->distance[node] = distance;
}

static void
dijkstra(struct local_graph *graph, uint32_t from)
{
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->distance[i] = UINT64_MAX;
	graph->heap.n = 0;
	reach(graph, from, 0);
	while (graph->heap.n > 0) {
		uint32_t node = heap_pop(&graph->heap).item;

		for (uint32_t e = graph->first_edge[node];
		     e < graph->first_edge[node + 1]; e++)
			reach(graph, graph->edges[e].to,
			      graph->distance[node] + graph->edges[e].cost);
	}
}

/* Fill in a row of the distances between members. DIAG_BAD_INPUT for one that
 * 32 bits do not hold. */
static enum diag_status
solve_member(struct local_graph *graph, uint32_t i)
{
	uint32_t n = graph->n_members;

	dijkstra(graph, graph->members[i]);
	for (uint32_t j = 0; j < n; j++) {
		uint64_t distance = graph->distance[graph->members[j]];

		if (distance != UINT64_MAX && distance >= COST_NONE)
			return DIAG_BAD_INPUT;
		graph->cost[(size_t)i * n + j] =
			distance == UINT64_MAX ? COST_NONE : (uint32_t)distance;
	}
	return DIAG_OK;
}

/* Fill in the rows of up to MANY_LANES members from i on. false: costs are too
 * large for that. */
static bool
solve_many(struct local_graph *graph, uint32_t i)
{
	const struct many_graph many = {
		.n_nodes = graph->n_nodes,
		.first_edge = graph->first_edge,
		.edges = graph->edges,
		.max_cost = graph->max_edge_cost,
	};
	uint32_t n = graph->n_members;
	uint32_t n_lanes = n - i < MANY_LANES ? n - i : MANY_LANES;

	if (!many_solve(&many, graph->members + i, n_lanes, graph->lanes,
	                graph->changed))
		return false;
	for (uint32_t j = 0; j < n; j++) {
		many_vector distance = graph->lanes[graph->members[j]];

		for (uint32_t k = 0; k < n_lanes; k++)
			graph->cost[(size_t)(i + k) * n + j] =
				distance[k] == MANY_FAR ? COST_NONE
							: (uint32_t)distance[k];
	}
	return true;
}

/* Number the nodes for the matrix: members first. */
static void
place_nodes(struct local_graph *graph)
{
	uint32_t next = graph->n_members;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->place[i] = HPA_NONE;
	for (uint32_t i = 0; i < graph->n_members; i++)
		graph->place[graph->members[i]] = i;
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (graph->place[i] == HPA_NONE)
			graph->place[i] = next++;
}

/* Find all distances by a matrix. false: the graph or its costs are too large
 * for that. */
static bool
solve_dense(struct local_graph *graph, const struct abstraction *abs,
            const struct abstract_level *below)
{
	graph->is_dense = !graph->maker.reference &&
	                  graph->n_nodes <= DENSE_MAX_NODES;
	if (!graph->is_dense)
		return false;
	place_nodes(graph);
	dense_begin(&graph->dense, graph->n_nodes, graph->n_members);
	graph->is_dense =
		add_edges(graph, abs, below) && dense_solve(&graph->dense);
	return graph->is_dense;
}

/* The distances of the matrix as those of searches. */
static void
copy_dense(struct local_graph *graph)
{
	uint32_t n = graph->n_members;

	for (uint32_t i = 0; i < n; i++) {
		const int16_t *row = dense_row(&graph->dense, i);

		for (uint32_t j = 0; j < n; j++)
			graph->cost[(size_t)i * n + j] =
				row[j] == DENSE_FAR ? COST_NONE
						    : (uint32_t)row[j];
	}
}

static enum diag_status
solve_members(struct local_graph *graph)
{
	enum diag_status st = DIAG_OK;
	bool by_lanes = !graph->maker.reference;

	for (uint32_t i = 0; i < graph->n_members && st == DIAG_OK; i++) {
		if (by_lanes && i % MANY_LANES == 0)
			by_lanes = solve_many(graph, i);
		if (!by_lanes)
			st = solve_member(graph, i);
	}
	return st;
}

static enum diag_status
solve_cluster(struct local_graph *graph, struct abstraction *abs, unsigned l,
              uint32_t cluster, struct edge_count *count)
{
	struct abstract_level *above = &abs->levels[l];
	const struct abstract_level *below = &abs->levels[l - 1];
	enum diag_status st;

	if (!add_children(graph, above, below, cluster) ||
	    !add_members(graph, above, below, cluster))
		return DIAG_FAILED;
	if (solve_dense(graph, abs, below)) {
		const struct table_lanes lanes = {
			.rows = (uint16_t *)graph->dense.rows,
			.row_lanes = graph->dense.row_lanes,
			.far = DENSE_FAR,
		};

		if (abs->options.prune)
			return table_make_pruned(&graph->maker,
			                         graph->n_members, &lanes,
			                         &above->tables[cluster],
			                         count);
		copy_dense(graph);
		st = DIAG_OK;
	} else {
		st = add_edges(graph, abs, below) ? solve_members(graph)
		                                  : DIAG_FAILED;
	}
	if (st == DIAG_OK)
		st = table_make(&graph->maker, graph->n_members, graph->cost,
		                abs->options.prune, &above->tables[cluster],
		                count);
	return st;
}

enum diag_status
hierarchy_pass(struct abstraction *abs, unsigned l, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[l];
	struct edge_count *each = calloc(level->n_clusters, sizeof(*each));
	enum diag_status st = DIAG_OK;

	level->tables = calloc(level->n_clusters, sizeof(*level->tables));
	if (!level->tables || !each) {
		free(each);
		return out_of_memory(diag);
	}
#pragma omp parallel reduction(max : st)
	{
		struct local_graph graph = {0};

		graph.maker.reference = abs->options.kernel == BAKE_KERNEL_HEAP;
		graph.dense.rows =
			aligned_alloc(DENSE_LANES * sizeof(int16_t),
		                      dense_size(DENSE_MAX_NODES));
		st = graph.dense.rows && reserve_nodes(&graph, 0) ? DIAG_OK
		                                                  : DIAG_FAILED;
#pragma omp for schedule(dynamic, 1)
		for (uint32_t c = 0; c < level->n_clusters; c++)
			if (st == DIAG_OK && !repeat_is(level, c))
				st = solve_cluster(&graph, abs, l, c, &each[c]);
#pragma omp critical
		arena_move(&graph.maker.arena, &level->arena);
		local_graph_free(&graph);
	}
	if (st == DIAG_OK)
		repeat_share(level, each);
	free(each);
	if (st == DIAG_BAD_INPUT)
		return diag_set(diag, st, 0,
		                "a cost inside a cluster of level %u exceeds "
		                "32 bits; bake with fewer levels",
		                l + 1);
	return st == DIAG_OK ? DIAG_OK : out_of_memory(diag);
}
