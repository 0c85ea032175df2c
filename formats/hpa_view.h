/* hpa_view.h: checked sections -> a graph to walk on, in place.
 *
 * A view is a set of pointers into the file and the few numbers needed to index
 * them. hpa_view_check() is what makes them safe: once it has passed, every
 * index and offset that the accessors below follow stays inside the file. */
#ifndef FORMATS_HPA_VIEW_H
#define FORMATS_HPA_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_read.h"
#include "formats/hpa_table.h"

/* One level of the abstraction. A node has a rank at each level it belongs to;
 * at level 1 the rank is its id. The ranks of a cluster's nodes are
 * consecutive, in the order of their ids. */
struct hpa_view_level {
	uint32_t cluster_size; /* cells along the side */
	uint32_t reciprocal;   /* of it, times 2^32, rounded up */
	uint32_t clusters_x, clusters_y;
	uint32_t n_nodes, n_inter;
	uint64_t n_intra, n_stored;
	uint32_t max_nodes;   /* in one cluster */
	const uint8_t *first; /* cluster -> rank of its first node; one more */
	const uint8_t *table; /* cluster -> offset in TABL */
	const uint8_t *node;  /* rank -> id; NULL at level 1 */
	const uint8_t *up;    /* rank -> rank one level up or HPA_NONE; NULL at
	                       * the top */
};

/* One profile: the level as one agent sees it. */
struct hpa_view {
	uint32_t profile;
	char agent[HPA_AGENT_NAME_SIZE + 1];           /* "": the only one */
	char agent_terrain[HPA_AGENT_TERRAIN_SIZE + 1]; /* "": any */
	uint32_t agent_size;
	uint32_t width, height, cluster_size, n_levels;
	enum hpa_move_rule moves;
	uint32_t cost_straight, cost_diagonal;
	enum hpa_policy policy;
	uint32_t policy_parameter, flags;
	uint32_t n_nodes, n_components;
	uint64_t n_free_cells;

	uint32_t n_classes; /* 0: the level has one factor, 1 */
	uint32_t class_log2, min_factor;
	const uint8_t *classes; /* records */
	const uint8_t *cell_classes;
	size_t class_stride;

	uint32_t n_links, n_link_edges;
	const uint8_t *links, *link_edges;
	uint32_t n_reach;
	const uint8_t *reach_components, *reach_rows;

	const uint8_t *cells; /* a bit per cell, rows of whole bytes */
	size_t stride;
	const uint8_t *labels, *run_labels;
	size_t n_run_labels;
	const uint8_t *nodes;
	const uint8_t *inter_first, *inter_target;
	const uint8_t *tables;
	size_t tables_size;
	const struct hpa_section *paths; /* NULL: none are cached */
	struct hpa_view_level levels[HPA_MAX_LEVELS];
};

/* Find a profile's sections and the arrays in them; checks the numbers from
 * which their sizes follow and that they are there and of the right size,
 * nothing inside. The file must be inflated and outlive the view. HPA_CORRUPT
 * sets *detail. */
hpa_status hpa_view_init(const struct hpa_file *file, uint32_t profile,
                         struct hpa_view *out, const char **detail);

/* Check every index, offset and order that a query relies on, in all profiles
 * of a file. */
hpa_status hpa_view_check(const struct hpa_view *const *views,
                          uint32_t n_profiles, const char **detail);

static inline uint32_t
hpa_node_x(const struct hpa_view *view, uint32_t node)
{
	return hpa_get_le16(view->nodes + HPA_NODE_SIZE * (size_t)node +
	                    HPA_NODE_X);
}

static inline uint32_t
hpa_node_y(const struct hpa_view *view, uint32_t node)
{
	return hpa_get_le16(view->nodes + HPA_NODE_SIZE * (size_t)node +
	                    HPA_NODE_Y);
}

/* A coordinate divided by the size of the level's clusters. Multiplying by the
 * reciprocal is exact, as both are below 2^16. */
static inline uint32_t
hpa_cluster_row(const struct hpa_view_level *level, uint32_t coordinate)
{
	return (uint32_t)((uint64_t)coordinate * level->reciprocal >> 32);
}

/* The cluster of a level that a cell lies in. */
static inline uint32_t
hpa_cluster_at(const struct hpa_view_level *level, uint32_t x, uint32_t y)
{
	return hpa_cluster_row(level, y) * level->clusters_x +
	       hpa_cluster_row(level, x);
}

/* The node that has this rank at a level. */
static inline uint32_t
hpa_node_of_rank(const struct hpa_view_level *level, uint32_t rank)
{
	return level->node ? hpa_get_u32(level->node, rank) : rank;
}

/* The intra-edges of a cluster. */
static inline void
hpa_view_table(const struct hpa_view *view, const struct hpa_view_level *level,
               uint32_t cluster, struct hpa_table *out)
{
	hpa_table_at(view->tables + hpa_get_u32(level->table, cluster), out);
}

/* The component that a free cell belongs to. Links that lead both ways, and
 * rings of links, make one component of several. */
uint32_t hpa_view_component(const struct hpa_view *view, uint32_t x,
                            uint32_t y);

/* Does a way lead from one component to another? */
bool hpa_view_reaches(const struct hpa_view *view, uint32_t from, uint32_t to);

/* A link, and a link as an edge. */
static inline const uint8_t *
hpa_view_link(const struct hpa_view *view, uint32_t link)
{
	return view->links + (size_t)link * HPA_LINK_SIZE;
}

static inline const uint8_t *
hpa_view_link_edge(const struct hpa_view *view, uint32_t edge)
{
	return view->link_edges + (size_t)edge * HPA_LEDGE_SIZE;
}

static inline uint32_t
hpa_view_link_cost(const struct hpa_view *view, const uint8_t *edge)
{
	return hpa_get_le32(
		hpa_view_link(view, hpa_get_le32(edge + HPA_LEDGE_LINK)) +
		HPA_LINK_COST);
}

/* The first edge of links that leaves a node of this number or above. */
uint32_t hpa_view_first_link_edge(const struct hpa_view *view, uint32_t node);

#endif
