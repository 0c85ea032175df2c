/* table.c: from all distances of a cluster to the edges that are stored.
 *
 * The edge u-w is redundant when another node v of the cluster lies on a
 * shortest way: d(u,v) + d(v,w) = d(u,w). All distances are positive, so u-v
 * and v-w are both shorter than u-w, and by induction over the length each of
 * them is stored or is a chain of stored ones: leaving out all redundant edges
 * at once loses nothing.
 *
 * There are three ways to look for v, which find the same. Among all nodes, one
 * by one, is the reference. Among all nodes, a vector of them at a time, is
 * quick for tables of up to some two hundred nodes, which are nearly all, with
 * distances of 15 bits, which are nearly all too. The others use that it is
 * enough to look among the nodes that u has a stored edge to, the first one of
 * the chain: going through the others by their distance from u, these are known
 * in time, and they are few. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/bits.h"

/* Up to so many nodes all of them are looked at. */
#define MANY_NODES 256u

/* Up to so many keys are sorted by insertion. */
#define FEW 48u

#define N_DIGITS 256u

/* Distances for vectors are below this, which stands for none; two of them can
 * be added. */
#define LANE_FAR 0x7fffu
#define N_LANES 8u

/* Look at so many vectors before asking what was found. */
#define STRETCH 4u

#define WORD_BITS 64u

typedef uint16_t lanes __attribute__((vector_size(16), may_alias));
typedef uint64_t lane_words __attribute__((vector_size(16)));

_Static_assert(sizeof(lanes) == N_LANES * sizeof(uint16_t), "lanes fill it");

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

static size_t
words_for(uint32_t n)
{
	return ((size_t)n + WORD_BITS - 1) / WORD_BITS;
}

/* The bits of a node's row in keep[]. */
static uint64_t *
kept_from(const struct table_maker *maker, uint32_t n, uint32_t u)
{
	return maker->keep + u * words_for(n);
}

static bool
is_kept(const struct table_maker *maker, uint32_t n, uint32_t u, uint32_t w)
{
	return kept_from(maker, n, u)[w / WORD_BITS] >> w % WORD_BITS & 1;
}

static void
keep_edge(struct table_maker *maker, uint32_t n, uint32_t u, uint32_t w,
          uint32_t weight, struct shape *shape)
{
	kept_from(maker, n, u)[w / WORD_BITS] |= (uint64_t)1 << w % WORD_BITS;
	kept_from(maker, n, w)[u / WORD_BITS] |= (uint64_t)1 << u % WORD_BITS;
	shape->n_edges += 2;
	if (weight > shape->max_weight)
		shape->max_weight = weight;
}

/* Mark what is kept in keep[], a bit for each pair, and count it. */
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

static uint32_t
vectors_for(uint32_t n)
{
	return (n + N_LANES - 1) / N_LANES;
}

/* Copy the distances into lanes: none from a node to itself, and none to the
 * nodes that fill up the last vector. false: one is too long. */
static bool
fill_lanes(struct table_maker *maker, uint32_t n, const uint32_t *cost)
{
	uint32_t row_lanes = vectors_for(n) * N_LANES;
	uint16_t *row = (uint16_t *)maker->lanes;
	bool fits = true;

	for (uint32_t u = 0; u < n; u++, row += row_lanes) {
		const uint32_t *from_u = cost + (size_t)u * n;
		uint32_t too_long = 0;

		for (uint32_t v = 0; v < n; v++) {
			bool none = from_u[v] == COST_NONE;

			too_long |= !none & (from_u[v] >= LANE_FAR);
			row[v] = none ? LANE_FAR : (uint16_t)from_u[v];
		}
		for (uint32_t v = n; v < row_lanes; v++)
			row[v] = LANE_FAR;
		row[u] = LANE_FAR;
		fits &= !too_long;
	}
	return fits;
}

/* Is there a lane where the two add up to `direct`? */
static bool
adds_up(const lanes *a, const lanes *b, uint32_t n, uint16_t direct)
{
	uint32_t i = 0;

	while (i < n) {
		uint32_t end = n - i < STRETCH ? n : i + STRETCH;
		lanes found = {0};
		lane_words words;

		for (; i < end; i++)
			found |= (lanes)(a[i] + b[i] == direct);
		words = (lane_words)found;
		if (words[0] | words[1])
			return true;
	}
	return false;
}

static const lanes *
lanes_from(const struct table_lanes *costs, uint32_t u)
{
	const void *row = costs->rows + (size_t)u * costs->row_lanes;

	return row;
}

/* What choose_edges() does with pruning, by vectors. */
static struct shape
choose_by_lanes(struct table_maker *maker, const struct table_lanes *costs,
                uint32_t n, uint64_t *n_intra)
{
	uint32_t n_vectors = vectors_for(n);
	struct shape shape = {0, 0};

	for (uint32_t u = 0; u < n; u++) {
		const lanes *from_u = lanes_from(costs, u);
		const uint16_t *cost =
			costs->rows + (size_t)u * costs->row_lanes;

		for (uint32_t w = u + 1; w < n; w++) {
			if (cost[w] == costs->far)
				continue;
			++*n_intra;
			if (!adds_up(from_u, lanes_from(costs, w), n_vectors,
			             cost[w]))
				keep_edge(maker, n, u, w, cost[w], &shape);
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
			if (is_kept(maker, n, u, w))
				maker->first[n_first++] = w;
		}
	}
	return shape;
}

/* The distances of a cluster, in one of two forms. */
struct costs {
	uint32_t n;
	const uint32_t *plain; /* NULL: they are in lanes */
	const struct table_lanes *lanes;
};

static uint32_t
cost_of(const struct costs *costs, uint32_t i, uint32_t j)
{
	if (costs->plain)
		return costs->plain[(size_t)i * costs->n + j];
	return costs->lanes->rows[(size_t)i * costs->lanes->row_lanes + j];
}

/* Where the parts of a record are while it is filled. */
struct record {
	uint8_t *end, *weight, *target;
	bool wide;
};

static void
put_edge(const struct record *record, uint32_t edge, uint32_t weight,
         uint32_t target)
{
	if (record->wide) {
		hpa_put_le32(record->weight + 4 * (size_t)edge, weight);
		hpa_put_le16(record->target + 2 * (size_t)edge,
		             (uint16_t)target);
	} else {
		hpa_put_le16(record->weight + 2 * (size_t)edge,
		             (uint16_t)weight);
		record->target[edge] = (uint8_t)target;
	}
}

/* The edges of node i, from edge number `edge` on; returns the next number. */
static uint32_t
put_row(const struct table_maker *maker, const struct record *record,
        const struct costs *costs, uint32_t i, uint32_t edge)
{
	const uint64_t *kept = kept_from(maker, costs->n, i);

	for (uint32_t k = 0; k < words_for(costs->n); k++)
		for (uint64_t w = kept[k]; w; w &= w - 1) {
			uint32_t j = k * WORD_BITS + grid_lowest_bit(w);

			put_edge(record, edge++, cost_of(costs, i, j), j);
		}
	return edge;
}

static void
encode(const struct table_maker *maker, const struct costs *costs,
       uint32_t n_edges, bool wide, uint8_t *out)
{
	struct record record = {.end = out + HPA_TABLE_ENDS, .wide = wide};
	uint32_t n = costs->n, edge = 0;

	record.weight = record.end + (size_t)n * (wide ? 4 : 2);
	record.target = record.weight + (size_t)n_edges * (wide ? 4 : 2);
	hpa_put_le32(out + HPA_TABLE_PATHS, HPA_NONE);
	hpa_put_le16(out + HPA_TABLE_N_NODES, (uint16_t)n);
	hpa_put_le16(out + HPA_TABLE_WIDE, wide);
	for (uint32_t i = 0; i < n; i++) {
		edge = put_row(maker, &record, costs, i, edge);
		if (wide)
			hpa_put_le32(record.end + 4 * (size_t)i, edge);
		else
			hpa_put_le16(record.end + 2 * (size_t)i,
			             (uint16_t)edge);
	}
}

static bool
reserve(struct table_maker *maker, uint32_t n)
{
	if (n < maker->max_nodes)
		return true;
	table_maker_free(maker);
	n += n / 2 + 2 * N_LANES;
	maker->max_nodes = n;
	maker->keep = malloc(n * words_for(n) * sizeof(*maker->keep));
	maker->lanes = aligned_alloc(sizeof(lanes), n * vectors_for(n) *
	                                                    sizeof(lanes));
	maker->keys = malloc(n * sizeof(*maker->keys));
	maker->spare = malloc(n * sizeof(*maker->spare));
	maker->first = malloc(n * sizeof(*maker->first));
	return maker->keep && maker->lanes && maker->keys && maker->spare && maker->first;
}

void
table_maker_free(struct table_maker *maker)
{
	free(maker->keep);
	free(maker->lanes);
	free(maker->keys);
	free(maker->spare);
	free(maker->first);
	maker->keep = NULL;
	maker->lanes = NULL;
	maker->keys = maker->spare = NULL;
	maker->first = NULL;
	maker->max_nodes = 0;
}

/* Choose the edges in the quickest way there is. */
static struct shape
choose(struct table_maker *maker, uint32_t n, const uint32_t *cost, bool prune,
       uint64_t *n_intra)
{
	const struct table_lanes copied = {
		.rows = maker->lanes,
		.row_lanes = vectors_for(n) * N_LANES,
		.far = LANE_FAR,
	};

	if (!prune || maker->reference)
		return choose_edges(maker, n, cost, prune, n_intra);
	if (n <= MANY_NODES && fill_lanes(maker, n, cost))
		return choose_by_lanes(maker, &copied, n, n_intra);
	return choose_nearest(maker, n, cost, n_intra);
}

static enum diag_status
begin(struct table_maker *maker, uint32_t n, struct edge_count *count)
{
	if (!reserve(maker, n))
		return DIAG_FAILED;
	memset(maker->keep, 0, n * words_for(n) * sizeof(*maker->keep));
	*count = (struct edge_count){0, 0};
	return DIAG_OK;
}

/* Write down what was chosen. */
static enum diag_status
finish(struct table_maker *maker, const struct costs *costs,
       const struct shape *shape, struct bytes *out, struct edge_count *count)
{
	bool wide = costs->n > HPA_NARROW_MAX_NODES ||
	            shape->max_weight > HPA_NARROW_MAX_WEIGHT;

	count->n_stored = shape->n_edges / 2;
	out->size = (size_t)hpa_table_size(costs->n, shape->n_edges, wide);
	out->data = arena_new(&maker->arena, out->size);
	if (!out->data)
		return DIAG_FAILED;
	encode(maker, costs, shape->n_edges, wide, out->data);
	return DIAG_OK;
}

enum diag_status
table_make(struct table_maker *maker, uint32_t n, const uint32_t *cost,
           bool prune, struct bytes *out, struct edge_count *count)
{
	const struct costs costs = {.n = n, .plain = cost};
	struct shape shape;

	if (begin(maker, n, count) != DIAG_OK)
		return DIAG_FAILED;
	shape = choose(maker, n, cost, prune, &count->n_intra);
	return finish(maker, &costs, &shape, out, count);
}

enum diag_status
table_make_pruned(struct table_maker *maker, uint32_t n,
                  const struct table_lanes *cost, struct bytes *out,
                  struct edge_count *count)
{
	const struct costs costs = {.n = n, .lanes = cost};
	struct shape shape;

	if (begin(maker, n, count) != DIAG_OK)
		return DIAG_FAILED;
	for (uint32_t i = 0; i < n; i++) {
		uint16_t *row = cost->rows + (size_t)i * cost->row_lanes;

		row[i] = cost->far;
		for (uint32_t j = n; j < vectors_for(n) * N_LANES; j++)
			row[j] = cost->far;
	}
	shape = choose_by_lanes(maker, cost, n, &count->n_intra);
	return finish(maker, &costs, &shape, out, count);
}
