/* passes.h: what the passes of a bake hand on.
 *
 * struct abstraction starts empty and each pass adds its part; bake.c calls
 * them in the order in which they are declared here. A pass that runs in
 * parallel writes slots of its own and reduces its status after the loop, so
 * that nothing depends on threads or schedule. All passes return DIAG_OK, or
 * fill in diag; what they have allocated by then is freed with the rest by
 * abstraction_free(). */
#ifndef BAKE_PASSES_H
#define BAKE_PASSES_H

#include "formats/hpa_table.h"
#include "src/bake/bake.h"
#include "src/grid/grid.h"

/* A piece of bytes on the heap. */
struct bytes {
	uint8_t *data;
	size_t size;
};

/* One level of the abstraction: a node has a rank at each level it belongs to,
 * consecutive in each cluster, in the order of the ids. */
struct abstract_level {
	uint32_t cluster_size, clusters_x, clusters_y, n_clusters;
	uint32_t n_nodes, n_inter;
	uint64_t n_intra, n_stored;
	uint32_t *first;      /* cluster -> rank of its first node; one more */
	uint32_t *node;       /* rank -> id */
	uint32_t *rank;       /* id -> rank, or HPA_NONE */
	struct bytes *tables; /* cluster -> its record for TABL */
};

struct node {
	uint16_t x, y;
	uint8_t exits; /* a bit for each straight direction it is left by */
	uint8_t level; /* the highest it belongs to */
};

struct abstraction {
	struct bake_options options; /* no zeros left that mean "default" */
	uint8_t *bits;
	struct grid grid;
	uint64_t source_hash, n_free_cells;

	uint32_t n_nodes;
	struct node *nodes; /* by cluster, in it by row, in it by column */
	uint32_t *inter_first, *inter_target;
	struct abstract_level levels[HPA_MAX_LEVELS];

	uint32_t n_components;
	uint32_t *labels; /* per level-1 cluster, as in COMP */
	uint32_t *run_labels;
	size_t n_run_labels;

	struct bytes *paths; /* per level-1 cluster; NULL: none are cached */
};

/* terrain.c: the bits of the cells, their number and hash. */
enum diag_status terrain_pass(struct abstraction *abs,
                              const struct level *level, struct diag *diag);

/* cluster.c: the clusters of every level. */
enum diag_status cluster_pass(struct abstraction *abs, struct diag *diag);

/* The cells of a level-1 cluster. */
struct grid_window cluster_window(const struct abstraction *abs,
                                  uint32_t cluster);

/* The cluster of a level that a node lies in. */
static inline uint32_t
cluster_of(const struct abstract_level *level, const struct node *node)
{
	return node->y / level->cluster_size * level->clusters_x +
	       node->x / level->cluster_size;
}

/* entrance.c: the transitions of a cluster. exits[] gets, for each cell of the
 * window row by row, a bit for each straight direction in which a transition
 * leads out of it. */
void entrance_find(const struct abstraction *abs, struct grid_window window,
                   uint8_t *exits);

/* node.c: nodes, their levels and ranks, inter-edges. */
enum diag_status node_pass(struct abstraction *abs, struct diag *diag);

/* distance.c: the tables of level 1, by a Dijkstra per node in its cluster. */
enum diag_status distance_pass(struct abstraction *abs, struct diag *diag);

/* hierarchy.c: the tables of a level above, by a Dijkstra per node over the
 * level below. */
enum diag_status hierarchy_pass(struct abstraction *abs, unsigned level,
                                struct diag *diag);

/* component.c: which cells can be reached from which. */
enum diag_status component_pass(struct abstraction *abs, struct diag *diag);

/* paths.c: the refined paths of level-1 intra-edges, if they are wanted. */
enum diag_status paths_pass(struct abstraction *abs, struct diag *diag);

/* layout.c: the sections, and the file made of them. */
enum diag_status layout_pass(const struct abstraction *abs,
                             struct bake_output *out, struct diag *diag);

void abstraction_free(struct abstraction *abs);

/* table.c: from all distances of a cluster to its table. */
#define COST_NONE UINT32_MAX

/* Encode the intra-edges of a cluster of n nodes. cost[i * n + j] is the
 * distance between two of them, symmetric, 0 on the diagonal, or COST_NONE.
 * Adds the pairs that are connected and those that are stored to the counts.
 * DIAG_OK or, without memory, DIAG_FAILED. */
enum diag_status table_make(uint32_t n, const uint32_t *cost, bool prune,
                            struct bytes *out, uint64_t *n_intra,
                            uint64_t *n_stored);

enum diag_status out_of_memory(struct diag *diag);

#endif
