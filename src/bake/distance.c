/* distance.c: pass 5, level-1 intra-edges.
 *
 * The distances from every node of a cluster to the others, inside the cluster
 * (Jansen and Buro: one search per node, not one per pair), by the vector
 * kernel or, as a reference, by Dijkstra. As they are the same in both
 * directions, the last node needs no search of its own. Clusters are
 * independent: a thread takes the next ones and writes their tables into their
 * own slots. One that is like an earlier one shares its table. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/kernel.h"
#include "src/grid/window.h"

_Static_assert(WINDOW_NO_PATH == COST_NONE, "both say that there is no way");

struct scratch {
	struct kernel kernel;
	struct window_field field;
	uint32_t *cost; /* n x n */
	size_t max_cost;
	struct table_maker maker;
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

/* Fill in what is known from both sides; WINDOW_NO_PATH is COST_NONE. */
static void
put_cost(struct scratch *scratch, uint32_t n, uint32_t i, uint32_t j,
         uint32_t cost)
{
	scratch->cost[(size_t)i * n + j] = cost;
	scratch->cost[(size_t)j * n + i] = cost;
}

static void
solve_by_heap(const struct abstraction *abs, struct grid_window window,
              const struct node *nodes, uint32_t n, uint32_t i,
              struct scratch *scratch)
{
	window_solve(&abs->grid, window, nodes[i].x, nodes[i].y,
	             &scratch->field);
	for (uint32_t j = i + 1; j < n; j++)
		put_cost(scratch, n, i, j,
		         window_cost(&scratch->field, nodes[j].x, nodes[j].y));
}

static bool
solve_by_kernel(const struct node *nodes, uint32_t n, uint32_t i,
                struct scratch *scratch)
{
	if (!kernel_solve(&scratch->kernel, nodes[i].x, nodes[i].y))
		return false;
	for (uint32_t j = i + 1; j < n; j++)
		put_cost(scratch, n, i, j,
		         kernel_cost(&scratch->kernel, nodes[j].x, nodes[j].y));
	return true;
}

static enum diag_status
solve_cluster(const struct abstraction *abs, uint32_t cluster,
              struct scratch *scratch, struct edge_count *count)
{
	const struct abstract_level *level = &abs->levels[0];
	const struct node *nodes = abs->nodes + level->first[cluster];
	uint32_t n = level->first[cluster + 1] - level->first[cluster];
	struct grid_window window = cluster_window(abs, cluster);
	bool by_kernel = abs->options.kernel == BAKE_KERNEL_VECTOR &&
	                 kernel_fits(&abs->grid);

	if (!reserve_cost(scratch, n))
		return DIAG_FAILED;
	if (by_kernel && n > 1)
		kernel_prepare(&abs->grid, window, &scratch->kernel);
	for (uint32_t i = 0; i < n; i++) {
		scratch->cost[(size_t)i * n + i] = 0;
		if (i + 1 < n &&
		    !(by_kernel && solve_by_kernel(nodes, n, i, scratch)))
			solve_by_heap(abs, window, nodes, n, i, scratch);
	}
	return table_make(&scratch->maker, n, scratch->cost, abs->options.prune,
	                  &level->tables[cluster], count);
}

enum diag_status
distance_pass(struct abstraction *abs, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[0];
	struct edge_count *each = calloc(level->n_clusters, sizeof(*each));
	enum diag_status st = DIAG_OK;

	level->tables = calloc(level->n_clusters, sizeof(*level->tables));
	if (!level->tables || !each) {
		free(each);
		return out_of_memory(diag);
	}
#pragma omp parallel reduction(max : st)
	{
		struct scratch *scratch = calloc(1, sizeof(*scratch));

		st = scratch ? DIAG_OK : DIAG_FAILED;
		if (scratch)
			scratch->maker.reference =
				abs->options.kernel == BAKE_KERNEL_HEAP;
#pragma omp for schedule(dynamic, 16)
		for (uint32_t c = 0; c < level->n_clusters; c++)
			if (st == DIAG_OK && !repeat_is(level, c))
				st = solve_cluster(abs, c, scratch, &each[c]);
		if (scratch) {
#pragma omp critical
			arena_move(&scratch->maker.arena, &level->arena);
			table_maker_free(&scratch->maker);
			free(scratch->cost);
		}
		free(scratch);
	}
	if (st == DIAG_OK)
		repeat_share(level, each);
	free(each);
	return st == DIAG_OK ? DIAG_OK : out_of_memory(diag);
}
