/* landmark.h: distances from a few nodes to all others of their component, for
 * a search to know better how far it is. */
#ifndef RUN_LANDMARK_H
#define RUN_LANDMARK_H

#include <stddef.h>
#include <stdint.h>

#include "src/run/map.h"

/* Make the landmarks of a map that was checked: a vector for each node, in
 * landmark_size() bytes of the allocator. *out is NULL where there are none to
 * be had, which is no error. */
size_t landmark_size(const hpa_map *map);
hpa_status landmark_make(const hpa_map *map, const hpa_allocator *allocator,
                         landmark_vector **out);

/* Costs are cut off where two of them still have a sum in 32 bits. What was cut
 * differs by no more than what was not. */
#define LANDMARK_FAR 0x3fffffffu

static inline uint32_t
landmark_cut(uint64_t cost)
{
	return cost < LANDMARK_FAR ? (uint32_t)cost : LANDMARK_FAR;
}

static inline landmark_vector
landmark_differ(landmark_vector a, landmark_vector b)
{
	landmark_vector differ = a - b, sign = differ >> 31;

	return (differ ^ sign) - sign;
}

/* The least that the way between two nodes of one component can cost, from the
 * distances of both. */
static inline uint32_t
landmark_bound(landmark_vector a, landmark_vector b)
{
	landmark_vector differ = landmark_differ(a, b);
	int32_t most = 0;

	for (unsigned i = 0; i < N_LANDMARKS; i++)
		most = differ[i] > most ? differ[i] : most;
	return (uint32_t)most;
}

static inline landmark_vector
landmark_lesser(landmark_vector a, landmark_vector b)
{
	landmark_vector is_less = a < b;

	return (a & is_less) | (b & ~is_less);
}

#endif
