/* hpa_check.h: what the sources that check a view have in common.
 *
 *     hpa_check.c         all of it, in its order; cells, nodes, ranks,
 *                         inter-edges, terrain
 *     hpa_check_tables.c  the tables of intra-edges, for all profiles together
 *     hpa_components.c    components, which are looked up there, too
 *     hpa_links.c         links, and which component they lead to, likewise
 *     hpa_hubs.c          hub labels
 *
 * A check may rely on those before it, as hpa_check.c says. */
#ifndef FORMATS_HPA_CHECK_H
#define FORMATS_HPA_CHECK_H

#include "formats/hpa_view.h"

/* HPA_CORRUPT, and why. */
static inline hpa_status
refuse(const char **detail, const char *why)
{
	*detail = why;
	return HPA_CORRUPT;
}

/* Text, then zeros; *out gets one 0 more. */
bool hpa_read_text(const uint8_t *text, size_t size, char *out);

hpa_status hpa_check_tables(const struct hpa_view *const *views,
                            uint32_t n_profiles, const char **detail);
hpa_status hpa_check_components(const struct hpa_view *view,
                                const char **detail);
hpa_status hpa_check_links(const struct hpa_view *view, const char **detail);
hpa_status hpa_check_hubs(const struct hpa_view *view, const char **detail);

static inline bool
is_weighted(const struct hpa_view *view)
{
	return view->flags & HPA_FACT_FLAG_WEIGHTED;
}

static inline uint32_t
n_clusters(const struct hpa_view_level *level)
{
	return level->clusters_x * level->clusters_y;
}

/* A row of REAC in bytes. */
static inline size_t
reach_stride(uint32_t n)
{
	return ((size_t)n + 7) / 8;
}

/* The number of bits that are set: first of each 2, then 4, then 8, then their
 * sum in the highest byte. */
static inline uint32_t
count_ones(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(bits * 0x0101010101010101u >> 56);
}

/* The bits of n cells of a row, at most 32, the first one lowest. */
static inline uint32_t
row_bits(const struct hpa_view *view, uint32_t x, uint32_t y, uint32_t n)
{
	const uint8_t *row = view->cells + y * view->stride;
	uint32_t first = x / 8, end = (x + n + 7) / 8;
	uint64_t bits = 0;

	while (end > first)
		bits = bits << 8 | row[--end];
	return (uint32_t)(bits >> x % 8 & (((uint64_t)1 << n) - 1));
}

static inline bool
is_free(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	return view->cells[y * view->stride + x / 8] >> x % 8 & 1;
}

/* The cells of a level-1 cluster. */
struct window {
	uint32_t x, y, width, height;
};

static inline struct window
cluster_window(const struct hpa_view *view, uint32_t cluster)
{
	const struct hpa_view_level *level = &view->levels[0];
	struct window window = {
		.x = cluster % level->clusters_x * level->cluster_size,
		.y = cluster / level->clusters_x * level->cluster_size,
		.width = level->cluster_size,
		.height = level->cluster_size,
	};

	if (window.width > view->width - window.x)
		window.width = view->width - window.x;
	if (window.height > view->height - window.y)
		window.height = view->height - window.y;
	return window;
}

/* The number of levels that a node belongs to, by its links up. */
static inline uint32_t
levels_of(const struct hpa_view *view, uint32_t id)
{
	uint32_t rank = id, l = 0;

	while (view->levels[l].up) {
		rank = hpa_get_u32(view->levels[l].up, rank);
		if (rank == HPA_NONE)
			break;
		l++;
	}
	return l + 1;
}

#endif
