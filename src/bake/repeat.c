/* repeat.c: which clusters are like an earlier one.
 *
 * Two level-1 clusters with the same cells and the same nodes have the same
 * distances, tables and paths, where all cells cost the same. So have two
 * clusters of a level above whose children are like the same ones, and whose
 * own nodes lie at the same places: the crossings between the children follow
 * from their cells. Most of a game level's clusters are like another one, and
 * only the first of them is worked on.
 *
 * They are found by hash, which is taken in parallel. The clusters are then
 * entered in their order, so that the first one counts whatever the threads do:
 * the upper bits of a hash say in which part of the table a cluster is looked
 * for, and each part is filled by one thread. A part that is full takes no more
 * clusters, which are then worked on as if they were like no other. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/bits.h"

#define PARTS_LOG2 4u
#define N_PARTS (1u << PARTS_LOG2)
#define MIN_PART_SIZE 64u

struct entry {
	uint64_t hash;
	uint32_t cluster; /* or HPA_NONE */
};

/* The clusters of one level while they are compared. */
struct clusters {
	const struct abstraction *abs;
	const struct abstract_level *level;
	unsigned l;
	uint64_t *hashes;
	struct entry *entries; /* N_PARTS x (mask + 1) */
	size_t mask;
};

/* Where the i-th node of a cluster lies in it. */
static uint64_t
place_in(const struct clusters *clusters, uint32_t cluster, uint32_t i)
{
	const struct abstract_level *level = clusters->level;
	uint32_t rank = level->first[cluster] + i;
	const struct node *node = &clusters->abs->nodes[level->node[rank]];

	return (uint64_t)(node->y % level->cluster_size) << 32 |
	       node->x % level->cluster_size;
}

static uint32_t
count_nodes(const struct clusters *clusters, uint32_t cluster)
{
	const uint32_t *first = clusters->level->first + cluster;

	return first[1] - first[0];
}

/* What the i-th child is like, or HPA_NONE where there is none. */
static uint32_t
child_like(const struct clusters *clusters, uint32_t cluster, uint32_t i)
{
	const struct abstract_level *level = clusters->level;
	const struct abstract_level *below = level - 1;
	uint32_t x = cluster % level->clusters_x * 2 + i % 2;
	uint32_t y = cluster / level->clusters_x * 2 + i / 2;

	if (x >= below->clusters_x || y >= below->clusters_y)
		return HPA_NONE;
	return below->like[y * below->clusters_x + x];
}

static uint64_t
hash_cells(const struct abstraction *abs, uint32_t cluster)
{
	struct grid_window window = cluster_window(abs, cluster);
	uint64_t hash = hpa_hash_mix(
		HPA_HASH_SEED, (uint64_t)window.width << 32 | window.height);

	for (uint32_t y = 0; y < window.height; y++)
		hash = hpa_hash_mix(hash,
		                    grid_row_bits(&abs->grid, window.x,
		                                  window.y + y, window.width));
	return hash;
}

static uint64_t
hash_children(const struct clusters *clusters, uint32_t cluster)
{
	uint64_t hash = HPA_HASH_SEED;

	for (uint32_t i = 0; i < 4; i++)
		hash = hpa_hash_mix(hash, child_like(clusters, cluster, i));
	return hash;
}

static uint64_t
hash_cluster(const struct clusters *clusters, uint32_t cluster)
{
	uint32_t n = count_nodes(clusters, cluster);
	uint64_t hash = clusters->l == 0 ? hash_cells(clusters->abs, cluster)
	                                 : hash_children(clusters, cluster);

	for (uint32_t i = 0; i < n; i++)
		hash = hpa_hash_mix(hash, place_in(clusters, cluster, i));
	return hash;
}

static bool
same_cells(const struct abstraction *abs, uint32_t a, uint32_t b)
{
	struct grid_window window_a = cluster_window(abs, a);
	struct grid_window window_b = cluster_window(abs, b);

	if (window_a.width != window_b.width ||
	    window_a.height != window_b.height)
		return false;
	for (uint32_t y = 0; y < window_a.height; y++)
		if (grid_row_bits(&abs->grid, window_a.x, window_a.y + y,
		                  window_a.width) !=
		    grid_row_bits(&abs->grid, window_b.x, window_b.y + y,
		                  window_b.width))
			return false;
	return true;
}

static bool
same_children(const struct clusters *clusters, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < 4; i++)
		if (child_like(clusters, a, i) != child_like(clusters, b, i))
			return false;
	return true;
}

static bool
is_like(const struct clusters *clusters, uint32_t a, uint32_t b)
{
	uint32_t n = count_nodes(clusters, a);

	if (count_nodes(clusters, b) != n ||
	    !(clusters->l == 0 ? same_cells(clusters->abs, a, b)
	                       : same_children(clusters, a, b)))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (place_in(clusters, a, i) != place_in(clusters, b, i))
			return false;
	return true;
}

/* The first cluster like this one, which is entered if it is itself and there
 * is room for it. */
static uint32_t
enter(const struct clusters *clusters, struct entry *part, uint32_t cluster)
{
	uint64_t hash = clusters->hashes[cluster];
	size_t slot = (size_t)(hash ^ hash >> 32) & clusters->mask;

	for (size_t n = 0; n <= clusters->mask; n++) {
		struct entry *entry = &part[slot];

		if (entry->cluster == HPA_NONE) {
			*entry = (struct entry){hash, cluster};
			return cluster;
		}
		if (entry->hash == hash &&
		    is_like(clusters, entry->cluster, cluster))
			return entry->cluster;
		slot = (slot + 1) & clusters->mask;
	}
	return cluster;
}

static void
enter_part(const struct clusters *clusters, uint32_t number, uint32_t *like)
{
	struct entry *part = clusters->entries + number * (clusters->mask + 1);

	for (size_t i = 0; i <= clusters->mask; i++)
		part[i].cluster = HPA_NONE;
	for (uint32_t c = 0; c < clusters->level->n_clusters; c++)
		if (clusters->hashes[c] >> (64 - PARTS_LOG2) == number)
			like[c] = enter(clusters, part, c);
}

static bool
find_repeats(struct abstraction *abs, unsigned l)
{
	struct abstract_level *level = &abs->levels[l];
	uint32_t n = level->n_clusters;
	struct clusters clusters = {.abs = abs, .level = level, .l = l};
	size_t part_size = MIN_PART_SIZE;
	bool ok;

	while (part_size < n / N_PARTS * 2)
		part_size *= 2;
	clusters.mask = part_size - 1;
	clusters.hashes = malloc(n * sizeof(*clusters.hashes));
	clusters.entries =
		malloc(N_PARTS * part_size * sizeof(*clusters.entries));
	level->like = malloc(n * sizeof(*level->like));
	ok = clusters.hashes && clusters.entries && level->like;
	if (ok) {
#pragma omp parallel
		{
#pragma omp for schedule(static)
			for (uint32_t c = 0; c < n; c++)
				clusters.hashes[c] = hash_cluster(&clusters, c);
#pragma omp for schedule(dynamic, 1)
			for (uint32_t part = 0; part < N_PARTS; part++)
				enter_part(&clusters, part, level->like);
		}
	}
	free(clusters.hashes);
	free(clusters.entries);
	return ok;
}

enum diag_status
repeat_pass(struct abstraction *abs, struct diag *diag)
{
	for (unsigned l = 0; l < abs->options.n_levels; l++)
		if (!find_repeats(abs, l))
			return out_of_memory(diag);
	return DIAG_OK;
}

bool
repeat_is(const struct abstract_level *level, uint32_t cluster)
{
	return level->like && level->like[cluster] != cluster;
}

void
repeat_share(struct abstract_level *level, const struct edge_count *each)
{
	uint64_t n_intra = 0, n_stored = 0;

#pragma omp parallel for reduction(+ : n_intra, n_stored)
	for (uint32_t c = 0; c < level->n_clusters; c++) {
		uint32_t like = level->like ? level->like[c] : c;

		if (like != c)
			level->tables[c] = level->tables[like];
		n_intra += each[like].n_intra;
		n_stored += each[like].n_stored;
	}
	level->n_intra = n_intra;
	level->n_stored = n_stored;
}
