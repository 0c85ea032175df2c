/* repeat.c: which clusters are like an earlier one.
 *
 * Two level-1 clusters with the same cells and the same nodes have the same
 * distances, tables and paths, where all cells cost the same; most of a game level's clusters are like another
 * one, and only the first of them is worked on. They are found by hash, which
 * is taken in parallel; the clusters are then entered in their order, so that
 * the first one counts whatever the threads do. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/bits.h"

struct entry {
	uint64_t hash;
	uint32_t cluster; /* or HPA_NONE */
};

static uint64_t
place_in(const struct grid_window *window, const struct node *node)
{
	return (uint64_t)(node->y - window->y) << 32 | (node->x - window->x);
}

static uint64_t
hash_cluster(const struct abstraction *abs, uint32_t cluster)
{
	const uint32_t *first = abs->levels[0].first + cluster;
	struct grid_window window = cluster_window(abs, cluster);
	uint64_t hash = hpa_hash_mix(
		HPA_HASH_SEED, (uint64_t)window.width << 32 | window.height);

	for (uint32_t y = 0; y < window.height; y++)
		hash = hpa_hash_mix(hash,
		                    grid_row_bits(&abs->grid, window.x,
		                                  window.y + y, window.width));
	for (uint32_t id = first[0]; id < first[1]; id++)
		hash = hpa_hash_mix(hash, place_in(&window, &abs->nodes[id]));
	return hash;
}

static bool
same_nodes(const struct abstraction *abs, uint32_t a, uint32_t b)
{
	const uint32_t *first = abs->levels[0].first;
	struct grid_window window_a = cluster_window(abs, a);
	struct grid_window window_b = cluster_window(abs, b);
	uint32_t n = first[a + 1] - first[a];

	if (first[b + 1] - first[b] != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (place_in(&window_a, &abs->nodes[first[a] + i]) !=
		    place_in(&window_b, &abs->nodes[first[b] + i]))
			return false;
	return true;
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

/* The first cluster like this one, which is entered if it is itself. */
static uint32_t
enter(const struct abstraction *abs, struct entry *entries, size_t mask,
      uint64_t hash, uint32_t cluster)
{
	size_t slot = (size_t)(hash ^ hash >> 32) & mask;

	for (; entries[slot].cluster != HPA_NONE; slot = (slot + 1) & mask)
		if (entries[slot].hash == hash &&
		    same_cells(abs, entries[slot].cluster, cluster) &&
		    same_nodes(abs, entries[slot].cluster, cluster))
			return entries[slot].cluster;
	entries[slot] = (struct entry){hash, cluster};
	return cluster;
}

static void
enter_all(const struct abstraction *abs, struct entry *entries, size_t mask,
          const uint64_t *hashes, uint32_t *like)
{
	for (size_t i = 0; i <= mask; i++)
		entries[i].cluster = HPA_NONE;
	for (uint32_t c = 0; c < abs->levels[0].n_clusters; c++)
		like[c] = enter(abs, entries, mask, hashes[c], c);
}

enum diag_status
repeat_pass(struct abstraction *abs, struct diag *diag)
{
	struct abstract_level *level = &abs->levels[0];
	uint32_t n = level->n_clusters;
	uint64_t *hashes = malloc(n * sizeof(*hashes));
	struct entry *entries;
	size_t n_entries = 2;
	bool ok;

	while (n_entries / 2 < n)
		n_entries *= 2;
	entries = malloc(n_entries * sizeof(*entries));
	level->like = malloc(n * sizeof(*level->like));
	ok = hashes && entries && level->like;
	if (ok) {
#pragma omp parallel for schedule(static)
		for (uint32_t c = 0; c < n; c++)
			hashes[c] = hash_cluster(abs, c);
		enter_all(abs, entries, n_entries - 1, hashes, level->like);
	}
	free(hashes);
	free(entries);
	return ok ? DIAG_OK : out_of_memory(diag);
}
