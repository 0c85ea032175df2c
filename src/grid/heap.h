/* heap.h: a binary heap that knows where its items are.
 *
 * Items are small numbers, each in the heap at most once. The order is total
 * (key, then tie, then item), so that what comes out does not depend on what
 * went in first. The arrays are the caller's and need no clearing: where[] is
 * only read for items that are in the heap. */
#ifndef GRID_HEAP_H
#define GRID_HEAP_H

#include <stdint.h>

struct heap_entry {
	uint64_t key;
	uint32_t tie;
	uint32_t item;
};

struct heap {
	struct heap_entry *entries; /* room for every item */
	uint32_t *where;            /* item -> its place in entries */
	uint32_t n;
};

/* Put in an item that is not in the heap. */
void heap_insert(struct heap *heap, uint32_t item, uint64_t key, uint32_t tie);

/* Give an item that is in the heap a smaller key. */
void heap_lower(struct heap *heap, uint32_t item, uint64_t key, uint32_t tie);

/* Take out the smallest; the heap must not be empty. */
struct heap_entry heap_pop(struct heap *heap);

#endif
