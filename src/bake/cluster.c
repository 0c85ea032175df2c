/* cluster.c: pass 2, the clusters of every level.
 *
 * Clusters of level 1 are squares of cells, ragged at the right and the bottom
 * edge; a cluster of each further level groups 2 x 2 of the level below. They
 * are numbered row by row, and everything about one follows from its number. */
#include "src/bake/passes.h"

enum diag_status
cluster_pass(struct abstraction *abs, struct diag *diag)
{
	for (unsigned l = 0; l < abs->options.n_levels; l++) {
		struct abstract_level *level = &abs->levels[l];
		uint32_t size = abs->options.cluster_size << l;

		level->cluster_size = size;
		level->clusters_x = (abs->grid.width + size - 1) / size;
		level->clusters_y = (abs->grid.height + size - 1) / size;
		level->n_clusters = level->clusters_x * level->clusters_y;
	}
	/* The index of a first run shares its 32 bits with a flag. */
	if (abs->n_free_cells >= HPA_COMP_MIXED)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "level has more than 2^31 free cells");
	return DIAG_OK;
}

struct grid_window
cluster_window(const struct abstraction *abs, uint32_t cluster)
{
	const struct abstract_level *level = &abs->levels[0];

	return grid_cluster(&abs->grid, level->cluster_size,
	                    cluster % level->clusters_x * level->cluster_size,
	                    cluster / level->clusters_x * level->cluster_size);
}
