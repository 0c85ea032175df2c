/* memory.c: how much memory a bake takes, before it does.
 *
 * The cells are the first large thing to be made, and the clusters' share
 * follows from the level's sides. The rest depends on the nodes, and is known
 * nearly exactly when they are and when it is known which clusters are repeats:
 * a level-1 table has an edge for nearly each pair of nodes, one of a level
 * above for about a third of them. At the peak, when the tables are copied to
 * their section and then that to the file, they are there twice, and so are the
 * other sections. What a memory allocator adds is within the allowance. */
#include "src/bake/passes.h"

#define MEGABYTE ((uint64_t)1 << 20)

/* The program, its threads' scratch, and what was forgotten. */
#define ALLOWANCE (4 * MEGABYTE)

/* A cluster of any level: first rank, what it is like, record, place of its
 * table, whether it owns it; in the file and its section again two words. */
#define CLUSTER_BYTES (4u + 4u + sizeof(struct bytes) + 4u + 4u + 2u * 8u)

/* A node: itself, its inter-edges (at most times one and a half) and where they
 * begin; in the file and its section again its place and these. */
#define NODE_BYTES (sizeof(struct node) + 4u + 6u + 2u * (4u + 4u + 6u))

/* A node at a level: its rank and the way back, and in the file and its section
 * again the way back and its rank above. */
#define RANK_BYTES (4u + 4u + 2u * 8u)

static enum diag_status
admit(struct bake_memory *memory, uint64_t n_bytes, struct diag *diag)
{
	if (!memory || n_bytes <= memory->max_bytes)
		return DIAG_OK;
	memory->was_exceeded = true;
	return diag_set(diag, DIAG_BAD_INPUT, 0,
	                "baking it takes about %lu MB of memory, --memlimit "
	                "allows %lu MB",
	                (unsigned long)((n_bytes + MEGABYTE - 1) / MEGABYTE),
	                (unsigned long)(memory->max_bytes / MEGABYTE));
}

static uint64_t
all_clusters(uint32_t width, uint32_t height,
             const struct bake_options *options)
{
	uint32_t n_levels =
		options->n_levels ? options->n_levels
				  : bake_default_levels(width, height,
	                                                options->cluster_size);
	uint64_t n = 0;

	for (uint32_t l = 0; l < n_levels; l++) {
		uint64_t size = (uint64_t)options->cluster_size << l;

		n += ((width + size - 1) / size) * ((height + size - 1) / size);
	}
	return n;
}

enum diag_status
bake_admit(uint32_t width, uint32_t height, const struct bake_options *options,
           struct diag *diag)
{
	uint64_t cells = (uint64_t)width * height;

	return admit(options->memory,
	             cells + 2 * grid_stride(width) * (uint64_t)height +
	                     all_clusters(width, height, options) *
	                             CLUSTER_BYTES +
	                     ALLOWANCE,
	             diag);
}

/* What the tables of a level take, each distinct one once. */
static uint64_t
table_bytes(const struct abstract_level *level, unsigned l, bool prune)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < level->n_clusters; c++) {
		uint64_t n = level->first[c + 1] - level->first[c];
		uint64_t n_edges = n * (n ? n - 1 : 0);

		if (repeat_is(level, c))
			continue;
		if (l > 0 && prune)
			n_edges = n_edges * 2 / 5;
		sum += HPA_TABLE_ENDS + 2 * n +
		       n_edges * (n > HPA_NARROW_MAX_NODES ? 6 : 3);
	}
	return sum;
}

enum diag_status
memory_pass(const struct abstraction *abs, uint64_t *so_far, struct diag *diag)
{
	uint64_t bits = abs->grid.stride * (uint64_t)abs->grid.height;
	uint64_t tables = 0, made = bits + abs->n_nodes * (uint64_t)NODE_BYTES;
	uint64_t passing;

	if (!abs->options.memory)
		return DIAG_OK;
	for (unsigned l = 0; l < abs->options.n_levels; l++) {
		const struct abstract_level *level = &abs->levels[l];

		tables += table_bytes(level, l, abs->options.prune);
		made += level->n_nodes * (uint64_t)RANK_BYTES +
		        abs->n_nodes * (uint64_t)sizeof(*level->rank) +
		        level->n_clusters * (uint64_t)CLUSTER_BYTES;
	}
	/* A second time, what is not given back, and the cells in the file. */
	passing = 2 * tables + bits;
	if (component_bytes(abs) > passing)
		passing = component_bytes(abs);
	*so_far += made + tables + passing;
	return admit(abs->options.memory, *so_far + ALLOWANCE, diag);
}
