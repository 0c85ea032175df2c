/* table.c: from all distances of a cluster to the edges that are stored.
 *
 * The edge u-w is redundant when another node v of the cluster lies on a
 * shortest way: d(u,v) + d(v,w) = d(u,w). All distances are positive, so u-v
 * and v-w are both shorter than u-w, and by induction over the length each of
 * them is stored or is a chain of stored ones: leaving out all redundant edges
 * at once loses nothing. */
#include <stdlib.h>

#include "src/bake/passes.h"

static bool
is_redundant(uint32_t n, const uint32_t *cost, uint32_t u, uint32_t w)
{
	const uint32_t *from_u = cost + (size_t)u * n;
	const uint32_t *from_w = cost + (size_t)w * n;
	uint64_t direct = from_u[w];

	/* A missing distance is larger than any sum that could match. */
	for (uint32_t v = 0; v < n; v++)
		if ((uint64_t)from_u[v] + from_w[v] == direct && v != u &&
		    v != w)
			return true;
	return false;
}

struct shape {
	uint32_t n_edges; /* directed */
	uint32_t max_weight;
};

/* Mark what is kept in keep[], n x n, and count it. */
static struct shape
choose_edges(uint32_t n, const uint32_t *cost, bool prune, uint8_t *keep,
             uint64_t *n_intra)
{
	struct shape shape = {0, 0};

	for (uint32_t u = 0; u < n; u++) {
		for (uint32_t w = u + 1; w < n; w++) {
			uint32_t weight = cost[(size_t)u * n + w];
			bool kept;

			if (weight == COST_NONE)
				continue;
			++*n_intra;
			kept = !prune || !is_redundant(n, cost, u, w);
			keep[(size_t)u * n + w] = kept;
			keep[(size_t)w * n + u] = kept;
			if (!kept)
				continue;
			shape.n_edges += 2;
			if (weight > shape.max_weight)
				shape.max_weight = weight;
		}
	}
	return shape;
}

static void
encode(uint32_t n, const uint32_t *cost, const uint8_t *keep, uint32_t n_edges,
       bool wide, uint8_t *record)
{
	uint8_t *end = record + HPA_TABLE_ENDS;
	uint8_t *weight = end + (size_t)n * (wide ? 4 : 2);
	uint8_t *target = weight + (size_t)n_edges * (wide ? 4 : 2);
	uint32_t edge = 0;

	hpa_put_le32(record + HPA_TABLE_PATHS, HPA_NONE);
	hpa_put_le16(record + HPA_TABLE_N_NODES, (uint16_t)n);
	hpa_put_le16(record + HPA_TABLE_WIDE, wide);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			uint32_t w = cost[(size_t)i * n + j];

			if (i == j || !keep[(size_t)i * n + j])
				continue;
			if (wide) {
				hpa_put_le32(weight + 4 * (size_t)edge, w);
				hpa_put_le16(target + 2 * (size_t)edge,
				             (uint16_t)j);
			} else {
				hpa_put_le16(weight + 2 * (size_t)edge,
				             (uint16_t)w);
				target[edge] = (uint8_t)j;
			}
			edge++;
		}
		if (wide)
			hpa_put_le32(end + 4 * (size_t)i, edge);
		else
			hpa_put_le16(end + 2 * (size_t)i, (uint16_t)edge);
	}
}

enum diag_status
table_make(uint32_t n, const uint32_t *cost, bool prune, struct bytes *out,
           uint64_t *n_intra, uint64_t *n_stored)
{
	uint8_t *keep = calloc((size_t)n + 1, (size_t)n + 1);
	struct shape shape;
	bool wide;

	if (!keep)
		return DIAG_FAILED;
	shape = choose_edges(n, cost, prune, keep, n_intra);
	*n_stored += shape.n_edges / 2;
	wide = n > HPA_NARROW_MAX_NODES ||
	       shape.max_weight > HPA_NARROW_MAX_WEIGHT;
	out->size = hpa_table_size(n, shape.n_edges, wide);
	out->data = calloc(1, out->size);
	if (out->data)
		encode(n, cost, keep, shape.n_edges, wide, out->data);
	free(keep);
	return out->data ? DIAG_OK : DIAG_FAILED;
}
