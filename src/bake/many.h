/* many.h: distances in a small graph, from several nodes at once. */
#ifndef BAKE_MANY_H
#define BAKE_MANY_H

#include <stdbool.h>
#include <stdint.h>

#define MANY_LANES 8u

/* Stands for "no way"; two of these can be added. */
#define MANY_FAR 0x3fffffff

typedef int32_t many_vector __attribute__((vector_size(32), aligned(16)));

struct many_edge {
	uint32_t to, cost;
};

/* Node i's edges are first_edge[i] … first_edge[i + 1] - 1. */
struct many_graph {
	uint32_t n_nodes;
	const uint32_t *first_edge;
	const struct many_edge *edges;
	uint32_t max_cost; /* of an edge */
};

/* The distance of every node from each of n <= MANY_LANES others, a lane for
 * each, or MANY_FAR. changed[] is scratch of n_nodes bytes. false: a distance
 * may be too long for a lane, and what is in them does not count. */
bool many_solve(const struct many_graph *graph, const uint32_t *from,
                uint32_t n, many_vector *distance, uint8_t *changed);

#endif
