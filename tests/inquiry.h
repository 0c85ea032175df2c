/* inquiry.h: ask a map everything, as one does who does not trust its file. */
#ifndef TESTS_INQUIRY_H
#define TESTS_INQUIRY_H

#include "include/hpa.h"
#include "tests/support.h"

/* An allocator that knows what is out, and the most that was out at once. */
struct meter {
	size_t now, most;
};
hpa_allocator meter_allocator(struct meter *meter);

/* Ask every profile of a map so many questions by every call there is. NULL, or
 * a constant text on what can't be right whatever the file says: a path with an
 * illegal step or without its ends, a status that the call does not have, more
 * work than there are nodes. */
const char *inquire(struct rng *rng, const hpa_map *map, uint32_t n_questions);

/* A hash of the answers to fixed questions: equal maps have equal ones. */
uint64_t inquiry_hash(const hpa_map *map, uint32_t n_questions);

#endif
