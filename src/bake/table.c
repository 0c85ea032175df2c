/* table.c: from all distances of a cluster to the edges that are stored.
 *
 * The edge u-w is redundant when another node v of the cluster lies on a
 * shortest way: d(u,v) + d(v,w) = d(u,w). All distances are positive, so u-v
 * and v-w are both shorter than u-w, and by induction over the length each of
 * them is stored or is a chain of stored ones: leaving out all redundant edges
 * at once loses nothing.
 *
 * For the same reason it is enough to look for v among the nodes that u has a
 * stored edge to, the first one of the chain. Going through the others by their
 * distance from u, these are known in time, and they are few: that makes large
 * tables quick. Small ones are quick anyway. */
#include <stdlib.h>

#include "src/bake/passes.h"

/* Up to so many nodes all of them are looked at. */
#define SMALL 12u

/* Up to so many keys are sorted by insertion. */
#define FEW 48u

#define N_DIGITS 256u

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

static void
keep_edge(struct table_maker *maker, uint32_t n, uint32_t u, uint32_t w,
          uint32_t weight, struct shape *shape)
{
	maker->keep[(size_t)u * n + w] = true;
	maker->keep[(size_t)w * n + u] = true;
	shape->n_edges += 2;
	if (weight > shape->max_weight)
		shape->max_weight = weight;
}

/* Mark what is kept in keep[], n x n, and count it. */
static struct shape
choose_edges(struct table_maker *maker, uint32_t n, const uint32_t *cost,
             bool prune, uint64_t *n_intra)
{
	struct shape shape = {0, 0};

	for (uint32_t u = 0; u < n; u++) {
		for (uint32_t w = u + 1; w < n; w++) {
			uint32_t weight = cost[(size_t)u * n + w];

			if (weight == COST_NONE)
				continue;
			++*n_intra;
			if (!prune || !is_redundant(n, cost, u, w))
				keep_edge(maker, n, u, w, weight, &shape);
		}
	}
	return shape;
}

static void
sort_few(uint64_t *keys, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		uint32_t place = i;

		for (; place > 0 && keys[place - 1] > key; place--)
			keys[place] = keys[place - 1];
		keys[place] = key;
	}
}

/* Sort by the costs of the keys: a byte of it at a time. */
static void
sort_keys(struct table_maker *maker, uint32_t n, uint32_t max_cost)
{
	for (unsigned shift = 16; max_cost; shift += 8, max_cost >>= 8) {
		uint32_t place[N_DIGITS] = {0}, sum = 0;
		uint64_t *sorted = maker->spare;

		for (uint32_t i = 0; i < n; i++)
			place[maker->keys[i] >> shift & (N_DIGITS - 1)]++;
		for (uint32_t d = 0; d < N_DIGITS; d++) {
			uint32_t count = place[d];

			place[d] = sum;
			sum += count;
		}
		for (uint32_t i = 0; i < n; i++) {
			uint64_t key = maker->keys[i];

			sorted[place[key >> shift & (N_DIGITS - 1)]++] = key;
		}
		maker->spare = maker->keys;
		maker->keys = sorted;
	}
}

/* The nodes that u reaches, nearest first: cost and number in keys[]. */
static uint32_t
order_from(struct table_maker *maker, uint32_t n, const uint32_t *cost,
           uint32_t u)
{
	const uint32_t *from_u = cost + (size_t)u * n;
	uint32_t n_keys = 0, max_cost = 0;

	for (uint32_t w = 0; w < n; w++) {
		if (w == u || from_u[w] == COST_NONE)
			continue;
		maker->keys[n_keys++] = (uint64_t)from_u[w] << 16 | w;
		max_cost = from_u[w] > max_cost ? from_u[w] : max_cost;
	}
	if (n_keys <= FEW)
		sort_few(maker->keys, n_keys);
	else
		sort_keys(maker, n_keys, max_cost);
	return n_keys;
}

/* Is one of u's nearest nodes on the way from u to w? */
static bool
goes_over(const uint32_t *first, uint32_t n_first, uint32_t n,
          const uint32_t *cost, uint32_t u, uint32_t w)
{
	const uint32_t *from_u = cost + (size_t)u * n;
	const uint32_t *from_w = cost + (size_t)w * n;
	uint64_t direct = from_u[w];

	for (uint32_t i = 0; i < n_first; i++)
		if ((uint64_t)from_u[first[i]] + from_w[first[i]] == direct)
			return true;
	return false;
}

/* What choose_edges() does with pruning, for many nodes. */
static struct shape
choose_nearest(struct table_maker *maker, uint32_t n, const uint32_t *cost,
               uint64_t *n_intra)
{
	struct shape shape = {0, 0};

	for (uint32_t u = 0; u < n; u++) {
		uint32_t n_keys = order_from(maker, n, cost, u);
		uint32_t n_first = 0;

		for (uint32_t i = 0; i < n_keys; i++) {
			uint32_t w = maker->keys[i] & 0xffff;

			if (w > u) {
				++*n_intra;
				if (!goes_over(maker->first, n_first, n, cost,
				               u, w))
					keep_edge(maker, n, u, w,
					          cost[(size_t)u * n + w],
					          &shape);
			}
			if (maker->keep[(size_t)u * n + w])
				maker->first[n_first++] = w;
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

static bool
reserve(struct table_maker *maker, uint32_t n)
{
	if (n < maker->max_nodes)
		return true;
	table_maker_free(maker);
	n += n / 2 + 2 * SMALL;
	maker->max_nodes = n;
	maker->keep = malloc((size_t)n * n);
	maker->keys = malloc(n * sizeof(*maker->keys));
	maker->spare = malloc(n * sizeof(*maker->spare));
	maker->first = malloc(n * sizeof(*maker->first));
	return maker->keep && maker->keys && maker->spare && maker->first;
}

void
table_maker_free(struct table_maker *maker)
{
	free(maker->keep);
	free(maker->keys);
	free(maker->spare);
	free(maker->first);
	maker->keep = NULL;
	maker->keys = maker->spare = NULL;
	maker->first = NULL;
	maker->max_nodes = 0;
}

enum diag_status
table_make(struct table_maker *maker, uint32_t n, const uint32_t *cost,
           bool prune, struct bytes *out, uint64_t *n_intra, uint64_t *n_stored)
{
	struct shape shape;
	bool wide;

	if (!reserve(maker, n))
		return DIAG_FAILED;
	memset(maker->keep, 0, (size_t)n * n);
	if (prune && n > SMALL && !maker->reference)
		shape = choose_nearest(maker, n, cost, n_intra);
	else
		shape = choose_edges(maker, n, cost, prune, n_intra);
	*n_stored += shape.n_edges / 2;
	wide = n > HPA_NARROW_MAX_NODES ||
	       shape.max_weight > HPA_NARROW_MAX_WEIGHT;
	out->size = hpa_table_size(n, shape.n_edges, wide);
	out->data = arena_new(&maker->arena, out->size);
	if (out->data)
		encode(n, cost, maker->keep, shape.n_edges, wide, out->data);
	return out->data ? DIAG_OK : DIAG_FAILED;
}
