/* paths.c: pass 8, the refined paths of level-1 intra-edges.
 *
 * What refining an edge would find, written down as runs of equal moves. An
 * edge is refined the same way in both directions and with or without this
 * cache: the path between the nodes i < j of a cluster is the one that leads
 * back from j in the distances from i (distances_way_back()), here turned around.
 *
 * The paths of one table are one piece of the PATH section: for each of its
 * directed edges, in their order, where its runs begin, then the runs. Both
 * directions of an edge have the path from the lower node to the higher one,
 * which ends where the higher node is. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/distances.h"

struct scratch {
	struct distances distances;
	uint8_t moves[WINDOW_MAX_CELLS]; /* from j back to i */
	uint8_t *runs;
	size_t n_runs, max_runs;
};

static bool
reserve_runs(struct scratch *scratch, size_t n)
{
	uint8_t *more;

	if (scratch->max_runs - scratch->n_runs >= n)
		return true;
	scratch->max_runs = 2 * scratch->max_runs + n;
	more = realloc(scratch->runs, scratch->max_runs);
	if (more)
		scratch->runs = more;
	return more != NULL;
}

/* The moves from a node back to the field's origin; returns their number. */
static uint32_t
walk_back(const struct distances *distances, const struct node *from,
          uint8_t *moves)
{
	uint32_t x = from->x, y = from->y, n = 0;
	unsigned d = GRID_N_DIRECTIONS;

	while (distances_at(distances, x, y) > 0) {
		d = distances_way_back(distances, x, y, d);
		moves[n++] = (uint8_t)d;
		x += grid_dx[d];
		y += grid_dy[d];
	}
	return n;
}

/* Append the runs of the reversed moves. */
static void
add_runs(struct scratch *scratch, uint32_t n)
{
	const uint8_t *moves = scratch->moves;

	while (n > 0) {
		uint32_t length = 1;
		unsigned opposite = (moves[n - 1] + 4u) % GRID_N_DIRECTIONS;

		while (length < n && length < HPA_RUN_MAX_LENGTH &&
		       moves[n - 1 - length] == moves[n - 1])
			length++;
		scratch->runs[scratch->n_runs++] =
			(uint8_t)(opposite |
		                  (length - 1) << HPA_RUN_LENGTH_SHIFT);
		n -= length;
	}
}

/* The runs of the edges from node i to higher ones; starts[] gets where they
 * begin, for both directions of each. */
static bool
add_paths(const struct hpa_table *table, const struct node *nodes, uint32_t i,
          struct scratch *scratch, uint32_t *starts)
{
	uint32_t end = hpa_table_end(table, i);

	for (uint32_t e = hpa_table_begin(table, i); e < end; e++) {
		uint32_t j = hpa_table_target(table, e);
		uint32_t n;

		if (j < i)
			continue;
		n = walk_back(&scratch->distances, &nodes[j], scratch->moves);
		if (!reserve_runs(scratch, n))
			return false;
		starts[e] = (uint32_t)scratch->n_runs;
		starts[hpa_table_find(table, j, i)] = starts[e];
		add_runs(scratch, n);
	}
	return true;
}

static bool
join_parts(const uint32_t *starts, uint32_t n_edges,
           const struct scratch *scratch, struct bytes *out)
{
	size_t head = 4 * (size_t)n_edges;

	out->size = head + scratch->n_runs;
	out->data = malloc(out->size + 1);
	if (!out->data)
		return false;
	for (uint32_t e = 0; e < n_edges; e++)
		hpa_put_le32(out->data + 4 * (size_t)e,
		             (uint32_t)head + starts[e]);
	if (scratch->n_runs)
		memcpy(out->data + head, scratch->runs, scratch->n_runs);
	return true;
}

static bool
cache_cluster(struct abstraction *abs, uint32_t cluster,
              struct scratch *scratch)
{
	struct abstract_level *level = &abs->levels[0];
	const struct node *nodes = abs->nodes + level->first[cluster];
	struct hpa_table table;
	uint32_t *starts;
	bool ok = true;

	hpa_table_at(level->tables[cluster].data, &table);
	starts = malloc(((size_t)table.n_edges + 1) * sizeof(*starts));
	if (!starts)
		return false;
	scratch->n_runs = 0;
	distances_prepare(&abs->grid, cluster_window(abs, cluster),
	                  &scratch->distances);
	for (uint32_t i = 0; i < table.n_nodes && ok; i++) {
		distances_solve(&scratch->distances, nodes[i].x, nodes[i].y);
		ok = add_paths(&table, nodes, i, scratch, starts);
	}
	ok = ok && join_parts(starts, table.n_edges, scratch,
	                      &abs->paths[cluster]);
	free(starts);
	return ok;
}

enum diag_status
paths_pass(struct abstraction *abs, struct diag *diag)
{
	uint32_t n_clusters = abs->levels[0].n_clusters;
	bool failed = false;

	abs->paths = calloc(n_clusters, sizeof(*abs->paths));
	if (!abs->paths)
		return out_of_memory(diag);
#pragma omp parallel reduction(|| : failed)
	{
		struct scratch *scratch = calloc(1, sizeof(*scratch));

		failed = !scratch;
#pragma omp for schedule(dynamic, 16)
		for (uint32_t c = 0; c < n_clusters; c++)
			failed = failed || !cache_cluster(abs, c, scratch);
		if (scratch)
			free(scratch->runs);
		free(scratch);
	}
	return failed ? out_of_memory(diag) : DIAG_OK;
}
