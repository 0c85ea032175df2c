/* many.c: distances in a small graph, from several nodes at once.
 *
 * The graphs of hierarchy.c are small and are asked from all border nodes of a
 * cluster. Eight of these, which lie next to each other, are asked together, a
 * lane of a vector for each: whenever a node's distances have become less, it
 * offers them to its neighbours, going through the nodes forwards and backwards
 * until nothing changes. That is more offers than a Dijkstra makes, but one of
 * them is a few instructions for eight searches, without a heap. The distances
 * are the same, because there is only one least one. */
#include "src/bake/many.h"

#include <string.h>

typedef int64_t word_vector __attribute__((vector_size(32), aligned(16)));

#define FAR_LANES                                                              \
	((many_vector){MANY_FAR, MANY_FAR, MANY_FAR, MANY_FAR, MANY_FAR,       \
	               MANY_FAR, MANY_FAR, MANY_FAR})

static inline __attribute__((always_inline)) uint8_t
relax(many_vector *to, const many_vector *offer)
{
	many_vector old = *to, less = *offer < old;
	word_vector words = (word_vector)less;

	*to = (less & *offer) | (~less & old);
	return (words[0] | words[1] | words[2] | words[3]) != 0;
}

#define MANY_TARGET
#define MANY_NAME(name) base_##name
#define RELAX(to, offer) relax(to, &(offer))
#include "src/bake/many_relax.h"
#undef MANY_TARGET
#undef MANY_NAME
#undef RELAX

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static inline uint8_t
relax_avx2(many_vector *to, const many_vector *offer)
{
	__m256i old = _mm256_loadu_si256((const __m256i *)(const void *)to);
	__m256i new = _mm256_min_epi32(old, (__m256i)*offer);

	_mm256_storeu_si256((__m256i *)(void *)to, new);
	return _mm256_movemask_epi8(_mm256_cmpeq_epi32(old, new)) != -1;
}

#define MANY_TARGET __attribute__((target("avx2")))
#define MANY_NAME(name) avx2_##name
#define RELAX(to, offer) relax_avx2(to, &(offer))
#include "src/bake/many_relax.h"
#endif

static void
settle(const struct many_graph *graph, many_vector *distance, uint8_t *changed)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		avx2_settle(graph, distance, changed);
		return;
	}
#endif
	base_settle(graph, distance, changed);
}

bool
many_solve(const struct many_graph *graph, const uint32_t *from, uint32_t n,
           many_vector *distance, uint8_t *changed)
{
	many_vector limit, near = FAR_LANES - FAR_LANES;
	word_vector words;

	if (graph->max_cost >= MANY_FAR)
		return false;
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		distance[i] = FAR_LANES;
	memset(changed, 0, graph->n_nodes);
	for (uint32_t i = 0; i < n; i++) {
		distance[from[i]][i] = 0;
		changed[from[i]] = 1;
	}
	settle(graph, distance, changed);
	/* A way that leads beyond the limit has a node this close to it. */
	limit = FAR_LANES - (int32_t)graph->max_cost;
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		near |= (distance[i] >= limit) & (distance[i] < FAR_LANES);
	words = (word_vector)near;
	return (words[0] | words[1] | words[2] | words[3]) == 0;
}
