/* landmark.h: distances from a few nodes to all others of their component, for
 * a search to know better how far it is. */
#ifndef RUN_LANDMARK_H
#define RUN_LANDMARK_H

#include <stddef.h>
#include <stdint.h>

#include "src/run/map.h"

/* Make the landmarks of all profiles of a file that was checked: a vector for
 * each node, in landmark_size() bytes of the allocator. A map keeps NULL where
 * there are none to be had, which is no error. */
size_t landmark_size(const hpa_map *map);
hpa_status landmark_make(hpa_map *maps, const hpa_allocator *allocator);

/* Costs are cut off where two of them still have a sum in 32 bits. What was cut
 * differs by no more than what was not. */
#define LANDMARK_FAR 0x3fffffffu

static inline uint32_t
landmark_cut(uint64_t cost)
{
	return cost < LANDMARK_FAR ? (uint32_t)cost : LANDMARK_FAR;
}

/* The least that the way between two nodes of one component can cost, from the
 * distances of both. Vectors are handed over by their addresses, because not every
 * machine has registers for them. */
static inline uint32_t
landmark_bound(const landmark_vector *a, const landmark_vector *b)
{
	landmark_vector differ = *a - *b, sign = differ >> 31;
	int32_t most = 0;

	differ = (differ ^ sign) - sign;
	for (unsigned i = 0; i < N_LANDMARKS; i++)
		most = differ[i] > most ? differ[i] : most;
	return (uint32_t)most;
}

/* Lower distances to others where those are less. */
static inline void
landmark_lower(landmark_vector *distances, const landmark_vector *others)
{
	landmark_vector is_less = *distances < *others;

	*distances = (*distances & is_less) | (*others & ~is_less);
}

#endif
