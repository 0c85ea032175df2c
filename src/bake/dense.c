/* dense.c: all distances between some nodes of a small graph.
 *
 * A matrix has a lane of 16 bits for each pair of nodes. Nodes are taken out one
 * by one, the last one first: two others that are joined over it get the cost
 * of that as an edge, if it is less than what they have, for a whole row of
 * them at once (the step of Floyd's and Warshall's algorithm). Those that are
 * not wanted go first and are not looked at again, so that the rows become
 * shorter and shorter; the rest keep all theirs. As most pairs have no edge to
 * begin with, a node is joined to few, and most of the work is not done.
 *
 * Distances are the same in both directions, so a node's row is its column
 * too. */
#include "src/bake/dense.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef int16_t narrow_vector __attribute__((vector_size(16), may_alias));

#define DENSE_TARGET
#define DENSE_NAME(name) base_##name
#define DENSE_VECTOR narrow_vector
#if defined(__x86_64__)
#define LESSER(a, b)                                                           \
	(narrow_vector) _mm_min_epi16((__m128i)(a), (__m128i)(b))
#else
#define LESSER(a, b) ((((a) < (b)) & (a)) | (~((a) < (b)) & (b)))
#endif
#include "src/bake/dense_rows.h"
#undef DENSE_TARGET
#undef DENSE_NAME
#undef DENSE_VECTOR
#undef LESSER

#if defined(__x86_64__)
typedef int16_t wide_vector __attribute__((vector_size(32), may_alias));

#define DENSE_TARGET __attribute__((target("avx2")))
#define DENSE_NAME(name) avx2_##name
#define DENSE_VECTOR wide_vector
#define LESSER(a, b)                                                           \
	(wide_vector) _mm256_min_epi16((__m256i)(a), (__m256i)(b))
#include "src/bake/dense_rows.h"
#endif

static bool
go_over(struct dense *dense, uint32_t via, uint32_t end)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return avx2_go_over(dense, via, end);
#endif
	return base_go_over(dense, via, end);
}

void
dense_begin(struct dense *dense, uint32_t n_nodes, uint32_t n_wanted)
{
	dense->n_nodes = n_nodes;
	dense->n_wanted = n_wanted;
	dense->row_lanes = (n_nodes + DENSE_LANES - 1) & ~(DENSE_LANES - 1);
	memset(dense->rows, DENSE_FAR & 0xff, dense_size(n_nodes));
	for (uint32_t i = 0; i < n_nodes; i++)
		dense_row(dense, i)[i] = 0;
}

bool
dense_solve(struct dense *dense)
{
	for (uint32_t via = dense->n_nodes; via-- > 0;) {
		uint32_t end = via < dense->n_wanted ? dense->n_wanted : via;

		if (!go_over(dense, via, end))
			return false;
	}
	return true;
}
