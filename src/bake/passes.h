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
#include "src/bake/arena.h"
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
	struct arena arena;   /* has the tables */
	uint32_t *like;       /* cluster -> the first one that is the same in
	                       * all that its table and paths depend on;
	                       * NULL: not known */
};

/* In struct node's exits: a link begins or ends here. Straight directions are
 * even. */
#define EXIT_LINK 1u

struct node {
	uint16_t x, y;
	uint8_t exits; /* a bit for each straight direction it is left by, and
	                * for EXIT_LINK */
	uint8_t level; /* the highest it belongs to */
};

/* What all profiles of a level share. */
struct source {
	const struct level *level;
	uint64_t hash;
	bool is_weighted;
	uint8_t factor[TERRAIN_MAX_CLASSES]; /* 0: no agent enters it */
	bool is_open[TERRAIN_MAX_CLASSES];   /* to everyone */
	uint8_t *open; /* bits of the cells that are, as in CELL */
	uint8_t *classes; /* as in TERR; NULL: not weighted */
	size_t class_stride;
	unsigned class_log2;
};

/* A link that this profile's agent can use, as an edge. */
struct link_edge {
	uint32_t from, to, link;
};

struct link_end {
	uint32_t cluster; /* of level 1 */
	uint16_t x, y;
};

/* One profile. */
struct abstraction {
	struct bake_options options; /* no zeros left that mean "default" */
	const struct bake_agent *agent;
	const struct abstraction *same; /* an earlier profile with the same
	                                 * cells, which owns all of this; NULL:
	                                 * there is none */
	const struct source *source;
	const uint8_t *bits;
	uint8_t *own_bits; /* NULL: they are the source's */
	struct grid grid;
	uint64_t n_free_cells;

	uint32_t n_link_ends, n_link_edges;
	struct link_end *link_ends; /* by cluster */
	struct link_edge *link_edges; /* by node, then by link */
	uint32_t n_reach; /* see REAC */
	uint32_t *reach_components;
	uint8_t *reach_rows;

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

/* bake.c: fill in what was left to us and refuse what the format can't hold. */
enum diag_status resolve_options(const struct level *level,
                                 struct bake_options *options,
                                 struct diag *diag);

/* terrain.c: what all profiles share. Free it with source_free(). */
enum diag_status source_pass(const struct level *level,
                             const struct bake_options *options,
                             struct source *out, struct diag *diag);
void source_free(struct source *source);

/* terrain.c: the bits of the cells an agent can stand on, and their number. */
enum diag_status terrain_pass(struct abstraction *abs, struct diag *diag);

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

/* What the step between the two nodes of a transition costs. */
static inline uint32_t
transition_cost(const struct abstraction *abs, uint32_t from, uint32_t to)
{
	const struct grid *grid = &abs->grid;
	const struct node *a = &abs->nodes[from], *b = &abs->nodes[to];

	if (!grid->classes)
		return grid->cost_straight;
	return grid->cost_straight / 2 *
	       (grid_factor(grid, a->x, a->y) + grid_factor(grid, b->x, b->y));
}

/* links.c: the ends of the links that the agent can use; later, when the nodes
 * are known, the links as edges between them. */
enum diag_status link_ends_pass(struct abstraction *abs, struct diag *diag);
enum diag_status link_edges_pass(struct abstraction *abs, struct diag *diag);

/* entrance.c: the transitions of a cluster. exits[], all zero, gets for each
 * cell of the window row by row a bit for each straight direction in which a
 * transition leads out of it. */
void entrance_find(const struct abstraction *abs, struct grid_window window,
                   uint8_t *exits);

/* node.c: nodes, their levels and ranks, inter-edges. */
enum diag_status node_pass(struct abstraction *abs, struct diag *diag);

/* The node on a cell that is known to be one. */
uint32_t node_at(const struct abstraction *abs, uint32_t x, uint32_t y);

/* repeat.c: which clusters are like an earlier one. */
enum diag_status repeat_pass(struct abstraction *abs, struct diag *diag);

/* Is it like an earlier one? */
bool repeat_is(const struct abstract_level *level, uint32_t cluster);

/* Counts of intra-edges. */
struct edge_count {
	uint64_t n_intra, n_stored;
};

/* Give clusters the tables of those they are like, and add up the edges of
 * all. */
void repeat_share(struct abstract_level *level, const struct edge_count *each);

/* memory.c: is there memory for the rest? `so_far` is what other profiles need
 * and has this one's added. */
enum diag_status memory_pass(const struct abstraction *abs, uint64_t *so_far,
                             struct diag *diag);

/* distance.c: the tables of level 1, from the distances between the nodes of
 * each cluster. */
enum diag_status distance_pass(struct abstraction *abs, struct diag *diag);

/* hierarchy.c: the tables of a level above, by a Dijkstra per node over the
 * level below. */
enum diag_status hierarchy_pass(struct abstraction *abs, unsigned level,
                                struct diag *diag);

/* component.c: which cells can be reached from which. The memory it takes for a
 * while, and the pass itself. */
uint64_t component_bytes(const struct abstraction *abs);
enum diag_status component_pass(struct abstraction *abs, struct diag *diag);

/* reach.c: join the components that links join and keep which others they lead
 * to. renumbered[] gets the new number of each component. */
struct reach_edge {
	uint32_t from, to; /* components */
};
enum diag_status reach_find(struct abstraction *abs,
                            const struct reach_edge *edges, uint32_t n,
                            uint32_t *renumbered, struct diag *diag);

/* paths.c: the refined paths of level-1 intra-edges, if they are wanted. */
enum diag_status paths_pass(struct abstraction *abs, struct diag *diag);

/* identity.c: what steps cost in a file. */
static inline uint32_t
identity_straight(bool is_weighted)
{
	return is_weighted ? HPA_WEIGHTED_STRAIGHT : HPA_COST_STRAIGHT;
}

static inline uint32_t
identity_diagonal(bool is_weighted)
{
	return is_weighted ? HPA_WEIGHTED_DIAGONAL : HPA_COST_DIAGONAL;
}

/* identity.c: what was chosen, as it is stored: the options among the facts, a
 * record of AGNT, a record of LINK. Records are all zero before. */
void identity_put_options(const struct bake_options *options,
                          const struct bake_agent *agent, bool is_weighted,
                          uint8_t *fact);
void identity_put_agent(const struct bake_agent *agent, uint8_t *record);
void identity_put_link(const struct bake_link *link, bool is_weighted,
                       uint8_t *record);

/* layout.c: the sections of all profiles, and the file made of them. The tables
 * are freed on the way. */
enum diag_status layout_pass(struct abstraction *profiles,
                             uint32_t n_profiles, struct bake_output *out,
                             struct diag *diag);

void abstraction_free(struct abstraction *abs);

/* table.c: from all distances of a cluster to its table. */
#define COST_NONE UINT32_MAX

/* What a thread needs to make tables; all zero to begin with. */
struct table_maker {
	struct arena arena; /* has the tables */
	bool reference;     /* look at every triple of nodes */
	uint32_t max_nodes;
	uint64_t *keep;  /* a row of bits for each node */
	uint16_t *lanes; /* the distances as vectors */
	uint64_t *keys, *spare;
	uint32_t *first;
};

/* Encode the intra-edges of a cluster of n nodes. cost[i * n + j] is the
 * distance between two of them, symmetric, 0 on the diagonal, or COST_NONE.
 * Counts the pairs that are connected and those that are stored.
 * DIAG_OK or, without memory, DIAG_FAILED. */
enum diag_status table_make(struct table_maker *maker, uint32_t n,
                            const uint32_t *cost, bool prune, struct bytes *out,
                            struct edge_count *count);

/* Distances in lanes: a row for each node, aligned to 16 bytes. */
struct table_lanes {
	uint16_t *rows;
	size_t row_lanes; /* a multiple of 8 */
	uint16_t far;     /* stands for none; twice that fits a lane */
};

/* The same with pruning for distances in lanes, of which those that say nothing
 * (of a node to itself, beyond the last node) are lost. */
enum diag_status table_make_pruned(struct table_maker *maker, uint32_t n,
                                   const struct table_lanes *cost,
                                   struct bytes *out, struct edge_count *count);

/* Free what a maker worked with, but not its arena. */
void table_maker_free(struct table_maker *maker);

enum diag_status out_of_memory(struct diag *diag);

#endif
