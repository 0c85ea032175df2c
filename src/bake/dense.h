/* dense.h: all distances between some nodes of a small graph. */
#ifndef BAKE_DENSE_H
#define BAKE_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DENSE_LANES 16u

/* Stands for "no way"; two of these can be added. Its two bytes are equal. */
#define DENSE_FAR 0x3f3f

/* Up to so many nodes it is quicker than other ways. */
#define DENSE_MAX_NODES 256u

/* A matrix of distances, a row of row_lanes for each node, the rows one behind
 * the other. The nodes whose distances are wanted come first. */
struct dense {
	uint32_t n_nodes, n_wanted;
	uint32_t row_lanes; /* a multiple of DENSE_LANES */
	int16_t *rows;      /* aligned to DENSE_LANES of them */
};

/* Begin with nodes that have no edges. rows has room for as many as that asks
 * for: see dense_size(). */
void dense_begin(struct dense *dense, uint32_t n_nodes, uint32_t n_wanted);

/* The bytes that rows needs. */
static inline size_t
dense_size(uint32_t n_nodes)
{
	size_t row_lanes = (n_nodes + DENSE_LANES - 1) & ~(DENSE_LANES - 1);

	return n_nodes * row_lanes * sizeof(int16_t);
}

static inline int16_t *
dense_row(const struct dense *dense, uint32_t node)
{
	return dense->rows + (size_t)node * dense->row_lanes;
}

/* One direction of an edge, of a cost below DENSE_FAR; the other one must be
 * added too. */
static inline void
dense_add(struct dense *dense, uint32_t from, uint32_t to, uint32_t cost)
{
	int16_t *place = dense_row(dense, from) + to;

	if ((int16_t)cost < *place)
		*place = (int16_t)cost;
}

/* Find the distances between the nodes that are wanted. false: one may be too
 * long for a lane, and what is in them does not count. */
bool dense_solve(struct dense *dense);

#endif
