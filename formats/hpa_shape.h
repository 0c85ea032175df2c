/* hpa_shape.h: what packing and unpacking have in common.
 *
 * The numbers of a profile that say how its sections are laid out, the sections
 * a packed one relies on, and what is expected of it from them. */
#ifndef FORMATS_HPA_SHAPE_H
#define FORMATS_HPA_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_read.h"

#define HPA_MAX_PLACES (HPA_MAX_CLUSTER_SIZE * HPA_MAX_CLUSTER_SIZE)
#define HPA_PLACE_WORDS (HPA_MAX_PLACES / 64)
#define HPA_N_STRAIGHT 4u /* directions: E, S, W, N */

struct hpa_shape {
	uint32_t width, height, cluster_size, n_levels;
	uint32_t reciprocal; /* of cluster_size, times 2^32, rounded up */
	uint32_t clusters_x; /* at level 1 */
	uint32_t straight, diagonal, min_factor, moves, agent_size;
	size_t stride;
	bool has_paths;
};

/* A level's arrays in CLUS, which is a raw section or is becoming one. */
struct hpa_shape_level {
	uint32_t cluster_size, clusters_x, n_clusters, n_nodes;
	size_t first, table, node, up; /* offsets in CLUS; 0 where there is none */
};

/* A cluster's cells. */
struct hpa_shape_window {
	uint32_t x, y, width, height;
};

/* The nodes of a profile. */
struct hpa_shape_nodes {
	const uint8_t *raw;
	uint32_t n;
};

/* Read FACT; false where it is not there or out of range. */
bool hpa_shape_read(const struct hpa_file *file, uint32_t profile,
                    struct hpa_shape *out);

/* Read LEVL, and find the arrays of a CLUS of that many bytes. */
bool hpa_shape_levels(const struct hpa_file *file, uint32_t profile,
                      const struct hpa_shape *shape, uint64_t clusters_size,
                      struct hpa_shape_level *out);

/* A raw section of a size that is at least 0 and a multiple of `unit`; NULL
 * where there is none. */
const struct hpa_section *hpa_shape_section(const struct hpa_file *file,
                                            const char *id, uint32_t profile,
                                            size_t unit);

/* CELL of the right size, or NULL. */
const uint8_t *hpa_shape_cells(const struct hpa_file *file, uint32_t profile,
                               const struct hpa_shape *shape);

/* NODE; false where there is none that nodes can be numbered in. */
bool hpa_shape_find_nodes(const struct hpa_file *file, uint32_t profile,
                          struct hpa_shape_nodes *out);

struct hpa_shape_window hpa_shape_cluster(const struct hpa_shape *shape,
                                          uint32_t cluster);

uint32_t hpa_shape_n_clusters(const struct hpa_shape *shape);

/* What a larger agent's cells are expected to be: those where one of the size
 * before fits everywhere. Writes a row. */
void hpa_shape_expect_cells(const struct hpa_shape *shape,
                            const uint8_t *before, uint32_t n_more, uint32_t y,
                            uint8_t *row);

/* Where nodes are expected in a cluster: beside those of the clusters to the
 * left and above, on free cells. The nodes of clusters before this one must be
 * there; `*above` walks over those of the row above and is 0 at first. */
void hpa_shape_expect_nodes(const struct hpa_shape *shape, const uint8_t *cells,
                            const struct hpa_shape_nodes *nodes,
                            uint32_t cluster, uint32_t *above,
                            uint64_t places[HPA_PLACE_WORDS]);

/* The node next to one, in a direction; HPA_NONE where there is none or it lies
 * in the same cluster. */
uint32_t hpa_shape_neighbour(const struct hpa_shape *shape,
                             const struct hpa_shape_nodes *nodes, uint32_t node,
                             uint32_t direction);

/* The highest level, from 0, whose border an inter-edge of the node crosses. */
uint32_t hpa_shape_top(const struct hpa_shape *shape,
                       const struct hpa_shape_nodes *nodes,
                       const uint8_t *inter, uint32_t node);

/* The octile distance of two nodes. */
uint64_t hpa_shape_octile(const struct hpa_shape *shape,
                          const struct hpa_shape_nodes *nodes, uint32_t a,
                          uint32_t b);

/* The nodes of a cluster: rank -> id through `node`, or the rank itself. */
struct hpa_shape_members {
	const uint8_t *node; /* NULL: level 1 */
	uint32_t first, n;
};

/* One cluster of those that share TABL, while all are gone through. */
struct hpa_shape_walk {
	const struct hpa_file *file;
	uint32_t profile, n_profiles, level, cluster;
	uint32_t index; /* counted through */
	struct hpa_shape shape;
	struct hpa_shape_level levels[HPA_MAX_LEVELS];
	const uint8_t *clusters; /* CLUS */
	struct hpa_shape_nodes nodes;
};

/* Begin before the first cluster; hpa_shape_next() then moves to it. */
void hpa_shape_walk(const struct hpa_file *file, struct hpa_shape_walk *walk);

/* Move to the next cluster; false after the last, and where the sections are not
 * what they should be. */
bool hpa_shape_next(struct hpa_shape_walk *walk);

/* The cluster's nodes; false where they don't exist. */
bool hpa_shape_members(const struct hpa_shape_walk *walk,
                       struct hpa_shape_members *out);

static inline uint32_t
hpa_shape_x(const struct hpa_shape_nodes *nodes, uint32_t node)
{
	return hpa_get_le16(nodes->raw + (size_t)node * HPA_NODE_SIZE +
	                    HPA_NODE_X);
}

static inline uint32_t
hpa_shape_y(const struct hpa_shape_nodes *nodes, uint32_t node)
{
	return hpa_get_le16(nodes->raw + (size_t)node * HPA_NODE_SIZE +
	                    HPA_NODE_Y);
}

/* A coordinate divided by the size of the clusters of level 1. Multiplying by the
 * reciprocal is exact, as both are below 2^16. */
static inline uint32_t
hpa_shape_row(const struct hpa_shape *shape, uint32_t coordinate)
{
	return (uint32_t)((uint64_t)coordinate * shape->reciprocal >> 32);
}

/* The id of a cluster's i-th node. */
static inline uint32_t
hpa_shape_member(const struct hpa_shape_members *members, uint32_t i)
{
	uint32_t rank = members->first + i;

	return members->node ? hpa_get_u32(members->node, rank) : rank;
}

#endif
