/* node.c: pass 4, nodes, their levels and ranks, and inter-edges.
 *
 * A node is a cell with at least one transition; a cell that serves two borders
 * is one node. Nodes are numbered by cluster, in it by row, in it by column:
 * the clusters are gone through row by row of them, each row with a list of its
 * own, and when it is known where each begins the lists are put together.
 *
 * The ends of links are nodes too, at every level.
 *
 * A transition that crosses a border of l-clusters lifts its two nodes to level
 * l. The nodes of a level are ranked by cluster of that level, in it by id: an
 * l-cluster's ids are one stretch for each row of level-1 clusters in it. */
#include <stdlib.h>
#include <string.h>

#include "src/bake/passes.h"
#include "src/grid/window.h"

/* The highest level that has a border between cell `at - 1` and cell `at`. */
static unsigned
border_level(const struct abstraction *abs, uint32_t at)
{
	unsigned level = 1;

	while (level < abs->options.n_levels &&
	       at % abs->levels[level].cluster_size == 0)
		level++;
	return level;
}

static unsigned
exit_level(const struct abstraction *abs, uint32_t x, uint32_t y,
           unsigned direction)
{
	switch (direction) {
	case 0:
		return border_level(abs, x + 1);
	case 2:
		return border_level(abs, y + 1);
	case 4:
		return border_level(abs, x);
	default:
		return border_level(abs, y);
	}
}

static uint8_t
node_level(const struct abstraction *abs, uint32_t x, uint32_t y,
           unsigned exits)
{
	unsigned highest = 0;

	if (exits >> EXIT_LINK & 1)
		return (uint8_t)abs->options.n_levels;
	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d += 2) {
		unsigned level = exits >> d & 1 ? exit_level(abs, x, y, d) : 0;

		if (level > highest)
			highest = level;
	}
	return (uint8_t)highest;
}

/* Mark the ends of links in a cluster. */
static void
mark_link_ends(const struct abstraction *abs, uint32_t cluster,
               struct grid_window window, uint8_t *exits)
{
	uint32_t low = 0, high = abs->n_link_ends;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (abs->link_ends[middle].cluster < cluster)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < abs->n_link_ends; low++) {
		const struct link_end *end = &abs->link_ends[low];

		if (end->cluster != cluster)
			break;
		exits[(end->y - window.y) * window.width + end->x - window.x] |=
			(uint8_t)(1u << EXIT_LINK);
	}
}

/* The next cell from i on that is a node; n if there is none. */
static uint32_t
next_exit(const uint8_t *exits, uint32_t i, uint32_t n)
{
	uint64_t word = 0;

	for (; n - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, exits + i, sizeof(word));
		if (word)
			break;
	}
	while (i < n && !exits[i])
		i++;
	return i;
}

/* Write a cluster's nodes to out, which has room for one on every cell of its
 * border and every end of a link; returns their number. */
static uint32_t
gather_nodes(const struct abstraction *abs, uint32_t cluster, uint8_t *exits,
             struct node *out)
{
	struct grid_window window = cluster_window(abs, cluster);
	uint32_t n_cells = window.width * window.height;
	uint32_t n = 0;

	entrance_find(abs, window, exits);
	mark_link_ends(abs, cluster, window, exits);
	for (uint32_t i = next_exit(exits, 0, n_cells); i < n_cells;
	     i = next_exit(exits, i + 1, n_cells)) {
		uint32_t x = window.x + i % window.width;
		uint32_t y = window.y + i / window.width;

		out[n++] = (struct node){(uint16_t)x, (uint16_t)y, exits[i],
		                         node_level(abs, x, y, exits[i])};
		/* Ready for the next cluster. */
		exits[i] = 0;
	}
	return n;
}

/* The nodes of a row of clusters. */
struct node_list {
	struct node *nodes;
	size_t n, max;
};

/* Find the nodes of a row of clusters; first[1 …] gets how many each has. */
static bool
gather_row(const struct abstraction *abs, uint32_t row, uint32_t *first,
           struct node_list *out)
{
	const struct abstract_level *level = &abs->levels[0];
	uint32_t begin = row * level->clusters_x;
	uint8_t exits[WINDOW_MAX_CELLS] = {0};

	for (uint32_t i = 0; i < level->clusters_x; i++) {
		if (out->max - out->n < WINDOW_MAX_CELLS) {
			size_t max = 2 * out->max + 2 * WINDOW_MAX_CELLS;
			struct node *more =
				realloc(out->nodes, max * sizeof(*more));

			if (!more)
				return false;
			out->nodes = more;
			out->max = max;
		}
		first[begin + i + 1] = gather_nodes(abs, begin + i, exits,
		                                    out->nodes + out->n);
		out->n += first[begin + i + 1];
	}
	return true;
}

/* Turn counts in first[1 …] into beginnings; false if 32 bits overflow. */
static bool
sum_up(uint32_t *first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (first[i + 1] >= HPA_NONE - first[i])
			return false;
		first[i + 1] += first[i];
	}
	return true;
}

/* Put the rows' lists together, and free them. */
static void
join_lists(struct abstraction *abs, struct node_list *lists)
{
	const struct abstract_level *level = &abs->levels[0];

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t row = 0; row < level->clusters_y; row++) {
		uint32_t first = level->first[row * level->clusters_x];

		if (lists[row].n > 0)
			memcpy(abs->nodes + first, lists[row].nodes,
			       lists[row].n * sizeof(*abs->nodes));
		free(lists[row].nodes);
		lists[row].nodes = NULL;
	}
}

static enum diag_status
gather_all(struct abstraction *abs, struct node_list *lists, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[0];
	uint32_t *first = level->first;
	bool failed = false;

#pragma omp parallel for schedule(dynamic, 1) reduction(|| : failed)
	for (uint32_t row = 0; row < level->clusters_y; row++)
		failed = failed || !gather_row(abs, row, first, &lists[row]);
	if (failed)
		return out_of_memory(diag);
	if (!sum_up(first, level->n_clusters))
		return diag_set(diag, DIAG_BAD_INPUT, 0, "too many nodes");
	abs->n_nodes = first[level->n_clusters];
	abs->nodes = malloc(((size_t)abs->n_nodes + 1) * sizeof(*abs->nodes));
	if (!abs->nodes)
		return out_of_memory(diag);
	join_lists(abs, lists);
	return DIAG_OK;
}

static enum diag_status
find_nodes(struct abstraction *abs, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[0];
	struct node_list *lists = calloc(level->clusters_y, sizeof(*lists));
	enum diag_status st;

	level->first =
		calloc((size_t)level->n_clusters + 1, sizeof(*level->first));
	st = level->first && lists ? gather_all(abs, lists, diag)
	                           : out_of_memory(diag);
	for (uint32_t row = 0; lists && row < level->clusters_y; row++)
		free(lists[row].nodes);
	free(lists);
	return st;
}

static uint32_t
count_exits(const struct node *node)
{
	uint32_t exits = node->exits;

	return (exits & 1) + (exits >> 2 & 1) + (exits >> 4 & 1) +
	       (exits >> 6 & 1);
}

uint32_t
node_at(const struct abstraction *abs, uint32_t x, uint32_t y)
{
	const struct abstract_level *level = &abs->levels[0];
	uint32_t id = level->first[y / level->cluster_size * level->clusters_x +
	                           x / level->cluster_size];

	while (abs->nodes[id].x != x || abs->nodes[id].y != y)
		id++;
	return id;
}

static void
write_inter_edges(const struct abstraction *abs, uint32_t id, uint32_t *out)
{
	const struct node *node = &abs->nodes[id];

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d += 2)
		if (node->exits >> d & 1)
			*out++ = node_at(abs, node->x + grid_dx[d],
			                 node->y + grid_dy[d]);
}

static enum diag_status
find_inter_edges(struct abstraction *abs, struct diag *diag)
{
	uint32_t n = abs->n_nodes;
	uint32_t *first = calloc((size_t)n + 1, sizeof(*first));

	abs->inter_first = first;
	if (!first)
		return out_of_memory(diag);
	for (uint32_t id = 0; id < n; id++)
		first[id + 1] = count_exits(&abs->nodes[id]);
	if (!sum_up(first, n))
		return diag_set(diag, DIAG_BAD_INPUT, 0, "too many nodes");
	abs->inter_target =
		malloc(((size_t)first[n] + 1) * sizeof(*abs->inter_target));
	if (!abs->inter_target)
		return out_of_memory(diag);
#pragma omp parallel for
	for (uint32_t id = 0; id < n; id++)
		write_inter_edges(abs, id, abs->inter_target + first[id]);
	return DIAG_OK;
}

/* Inter-edges that cross a border of this level: each is seen from its left or
 * upper end. */
static uint32_t
count_inter(const struct abstraction *abs, const struct node *node, unsigned l)
{
	return (uint32_t)((node->exits >> 0 & 1) &&
	                  exit_level(abs, node->x, node->y, 0) > l) +
	       (uint32_t)((node->exits >> 2 & 1) &&
	                  exit_level(abs, node->x, node->y, 2) > l);
}

/* The ids of a row of level-1 clusters inside a cluster of a level above. */
struct id_range {
	uint32_t begin, end;
};

static struct id_range
ids_in_row(const struct abstraction *abs, unsigned l, uint32_t cluster,
           uint32_t row)
{
	const struct abstract_level *bottom = &abs->levels[0];
	const struct abstract_level *level = &abs->levels[l];
	uint32_t y = (cluster / level->clusters_x << l) + row;
	uint32_t x = cluster % level->clusters_x << l;
	uint32_t end = x + (1u << l);
	const uint32_t *first = bottom->first + y * bottom->clusters_x;

	if (y >= bottom->clusters_y)
		return (struct id_range){0, 0};
	if (end > bottom->clusters_x)
		end = bottom->clusters_x;
	return (struct id_range){first[x], first[end]};
}

/* Count the nodes of level l + 1 in a cluster, and the inter-edges that begin
 * there. */
static uint32_t
count_members(const struct abstraction *abs, unsigned l, uint32_t cluster,
              uint32_t *n_inter)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < 1u << l; row++) {
		struct id_range ids = ids_in_row(abs, l, cluster, row);

		for (uint32_t id = ids.begin; id < ids.end; id++) {
			const struct node *node = &abs->nodes[id];

			if (node->level <= l)
				continue;
			*n_inter += count_inter(abs, node, l);
			n++;
		}
	}
	return n;
}

static void
rank_members(const struct abstraction *abs, unsigned l, uint32_t cluster)
{
	const struct abstract_level *level = &abs->levels[l];
	uint32_t rank = level->first[cluster];

	for (uint32_t row = 0; row < 1u << l; row++) {
		struct id_range ids = ids_in_row(abs, l, cluster, row);

		for (uint32_t id = ids.begin; id < ids.end; id++) {
			level->rank[id] = HPA_NONE;
			if (abs->nodes[id].level <= l)
				continue;
			level->node[rank] = id;
			level->rank[id] = rank++;
		}
	}
}

static enum diag_status
rank_nodes(struct abstraction *abs, unsigned l, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[l];
	uint32_t n_inter = 0;

	if (!level->first)
		level->first = calloc((size_t)level->n_clusters + 1,
		                      sizeof(*level->first));
	level->rank = malloc(((size_t)abs->n_nodes + 1) * sizeof(*level->rank));
	if (!level->first || !level->rank)
		return out_of_memory(diag);
	/* All nodes are of level 1, and were counted. */
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : n_inter)
	for (uint32_t c = 0; c < level->n_clusters; c++) {
		uint32_t n = count_members(abs, l, c, &n_inter);

		if (l > 0)
			level->first[c + 1] = n;
	}
	/* Cannot overflow: there are no more of them than nodes. */
	if (l > 0)
		sum_up(level->first, level->n_clusters);
	level->n_inter = n_inter;
	level->n_nodes = level->first[level->n_clusters];
	level->node =
		malloc(((size_t)level->n_nodes + 1) * sizeof(*level->node));
	if (!level->node)
		return out_of_memory(diag);
#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t c = 0; c < level->n_clusters; c++)
		rank_members(abs, l, c);
	return DIAG_OK;
}

enum diag_status
node_pass(struct abstraction *abs, struct diag *diag)
{
	enum diag_status st = find_nodes(abs, diag);

	if (st == DIAG_OK)
		st = find_inter_edges(abs, diag);
	for (unsigned l = 0; l < abs->options.n_levels && st == DIAG_OK; l++)
		st = rank_nodes(abs, l, diag);
	return st;
}
