/* known.h: what a search knows of a cell, in one number.
 *
 *     bits 48-63   the search that wrote it
 *     bits  8-47   how far its cost is below KNOWN_MAX_COST
 *     bits  0-7    how it was reached, and what is done with it: the search's
 *
 * A later search has a larger stamp, a cheaper way a smaller distance to it, so
 * one comparison tells whether a way is better than what is known, if anything
 * is; and nothing needs to be cleared between searches. 40 bits are enough for
 * a way through every cell of a level of 65535 x 65535 at 256 a step. */
#ifndef FLAT_KNOWN_H
#define FLAT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hpa.h"

#define KNOWN_LOW_BITS 255u
#define KNOWN_MAX_COST (((uint64_t)1 << 40) - 1)
#define KNOWN_MAX_STAMP 65535u

static inline uint64_t
known_of(uint32_t stamp, uint64_t cost, unsigned low_bits)
{
	return (uint64_t)stamp << 48 | (KNOWN_MAX_COST - cost) << 8 | low_bits;
}

static inline uint64_t
known_cost(uint64_t known)
{
	return KNOWN_MAX_COST - (known >> 8 & KNOWN_MAX_COST);
}

static inline bool
known_is_better(uint64_t offer, uint64_t known)
{
	return offer > (known | KNOWN_LOW_BITS);
}

/* The stamp of the next search over n cells. */
static inline uint32_t
known_next_stamp(uint64_t *cells, size_t n, uint32_t stamp)
{
	if (stamp < KNOWN_MAX_STAMP)
		return stamp + 1;
	memset(cells, 0, n * sizeof(*cells));
	return 1;
}

/* A path that was put down from its end. */
static inline void
flat_reverse(hpa_cell *cells, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		hpa_cell cell = cells[i];

		cells[i] = cells[n - 1 - i];
		cells[n - 1 - i] = cell;
	}
}

#endif
