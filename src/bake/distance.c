/* distance.c: pass 5, level-1 intra-edges.
 *
 * A Dijkstra from every node of a cluster, inside the cluster (Jansen and Buro:
 * one search per node, not one per pair). Clusters are independent: a thread
 * takes the next ones and writes their tables into their own slots. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/window.h"

_Static_assert(WINDOW_NO_PATH == COST_NONE, "both say that there is no way");

struct scratch {
	struct window_field field;
	uint32_t *cost; /* n x n */
	size_t max_cost;
};

static bool
reserve_cost(struct scratch *scratch, uint32_t n)
{
	size_t wanted = (size_t)n * n;
	uint32_t *more;

	if (wanted <= scratch->max_cost)
		return true;
	more = realloc(scratch->cost, wanted * sizeof(*more));
	if (!more)
		return false;
	scratch->cost = more;
	scratch->max_cost = wanted;
	return true;
}

static void
solve_node(const struct abstraction *abs, struct grid_window window,
           uint32_t first, uint32_t n, uint32_t i, struct scratch *scratch)
{
	const struct node *nodes = abs->nodes + first;

	window_solve(&abs->grid, window, nodes[i].x, nodes[i].y,
	             &scratch->field);
	for (uint32_t j = 0; j < n; j++) {
		uint32_t cost =
			window_cost(&scratch->field, nodes[j].x, nodes[j].y);

		/* WINDOW_NO_PATH is COST_NONE. */
		scratch->cost[(size_t)i * n + j] = cost;
	}
}

static enum diag_status
solve_cluster(const struct abstraction *abs, uint32_t cluster,
              struct scratch *scratch, uint64_t *n_intra, uint64_t *n_stored)
{
	const struct abstract_level *level = &abs->levels[0];
	uint32_t first = level->first[cluster];
	uint32_t n = level->first[cluster + 1] - first;
	struct grid_window window = cluster_window(abs, cluster);

	if (!reserve_cost(scratch, n))
		return DIAG_FAILED;
	for (uint32_t i = 0; i < n; i++)
		solve_node(abs, window, first, n, i, scratch);
	return table_make(n, scratch->cost, abs->options.prune,
	                  &level->tables[cluster], n_intra, n_stored);
}

enum diag_status
distance_pass(struct abstraction *abs, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[0];
	uint64_t n_intra = 0, n_stored = 0;
	enum diag_status st = DIAG_OK;

	level->tables = calloc(level->n_clusters, sizeof(*level->tables));
	if (!level->tables)
		return out_of_memory(diag);
#pragma omp parallel reduction(+ : n_intra, n_stored) reduction(max : st)
	{
		struct scratch *scratch = calloc(1, sizeof(*scratch));

		st = scratch ? DIAG_OK : DIAG_FAILED;
#pragma omp for schedule(dynamic, 16)
		for (uint32_t c = 0; c < level->n_clusters; c++)
			if (st == DIAG_OK)
				st = solve_cluster(abs, c, scratch, &n_intra,
				                   &n_stored);
		if (scratch)
			free(scratch->cost);
		free(scratch);
	}
	level->n_intra = n_intra;
	level->n_stored = n_stored;
	return st == DIAG_OK ? DIAG_OK : out_of_memory(diag);
}
