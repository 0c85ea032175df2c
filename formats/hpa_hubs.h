/* hpa_hubs.h: the hub labels of the nodes of level 1, as the file has them.
 *
 * The hubs of a node are some nodes with their distances, chosen so that for
 * every two nodes that are connected one of the hubs that both have lies on a
 * cheapest way between them: the distance of two nodes is the least sum over
 * their common hubs, and no search is needed to find it. Hubs are named by their
 * rank, from the most important one on, and a label has them in rising order. An
 * entry also says by which of its edges a node is left towards the hub. */
#ifndef FORMATS_HPA_HUBS_H
#define FORMATS_HPA_HUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"

struct hpa_hubs {
	const uint8_t *first; /* node -> its first entry, and one more; NULL:
	                       * there are no labels */
	const uint8_t *ranks, *distances, *edges;
	bool is_wide;
};

/* What the two arrays take for an entry. */
static inline uint32_t
hpa_hub_rank_size(bool is_wide)
{
	return is_wide ? 4 : 2;
}

static inline uint32_t
hpa_hub_distance_size(bool is_wide)
{
	return is_wide ? 4 : 3;
}

/* The bytes of the section. */
static inline uint64_t
hpa_hubs_size(uint32_t n_nodes, uint32_t n_entries, bool is_wide)
{
	return HPA_HUBS_FIRST + 4 * ((uint64_t)n_nodes + 1) +
	       (uint64_t)n_entries * (hpa_hub_rank_size(is_wide) +
	                              hpa_hub_distance_size(is_wide) + 1);
}

/* Where the arrays are in a section of that many nodes and entries. */
static inline void
hpa_hubs_at(const uint8_t *raw, uint32_t n_nodes, struct hpa_hubs *out)
{
	uint32_t n_entries;

	out->is_wide = hpa_get_le32(raw + HPA_HUBS_WIDE) != 0;
	out->first = raw + HPA_HUBS_FIRST;
	n_entries = hpa_get_u32(out->first, n_nodes);
	out->ranks = out->first + 4 * ((size_t)n_nodes + 1);
	out->distances = out->ranks +
	                 (size_t)n_entries * hpa_hub_rank_size(out->is_wide);
	out->edges = out->distances +
	             (size_t)n_entries * hpa_hub_distance_size(out->is_wide);
}

static inline uint32_t
hpa_hubs_first(const struct hpa_hubs *hubs, uint32_t node)
{
	return hpa_get_u32(hubs->first, node);
}

static inline uint32_t
hpa_hub_rank(const struct hpa_hubs *hubs, bool is_wide, uint32_t entry)
{
	return is_wide ? hpa_get_u32(hubs->ranks, entry)
	               : hpa_get_le16(hubs->ranks + 2 * (size_t)entry);
}

/* The byte behind a narrow one is inside of the section: an edge. */
static inline uint32_t
hpa_hub_distance(const struct hpa_hubs *hubs, bool is_wide, uint32_t entry)
{
	return is_wide ? hpa_get_u32(hubs->distances, entry)
	               : hpa_get_le32(hubs->distances + 3 * (size_t)entry) &
	                         HPA_NARROW_MAX_DISTANCE;
}

#endif
