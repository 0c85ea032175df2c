/* heap.c: a binary heap that knows where its items are. */
#include "src/grid/heap.h"

#include <stdbool.h>

static bool
is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->tie != b->tie)
		return a->tie < b->tie;
	return a->item < b->item;
}

static void
put(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	heap->entries[place] = entry;
	heap->where[entry.item] = place;
}

static void
sift_up(struct heap *heap, uint32_t place, struct heap_entry entry)
{
	while (place > 0) {
		uint32_t parent = (place - 1) / 2;

		if (!is_before(&entry, &heap->entries[parent]))
			break;
		put(heap, place, heap->entries[parent]);
		place = parent;
	}
	put(heap, place, entry);
}

static void
sift_down(struct heap *heap, struct heap_entry entry)
{
	uint32_t place = 0;

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= heap->n)
			break;
		if (child + 1 < heap->n && is_before(&heap->entries[child + 1],
		                                     &heap->entries[child]))
			child++;
		if (!is_before(&heap->entries[child], &entry))
			break;
		put(heap, place, heap->entries[child]);
		place = child;
	}
	put(heap, place, entry);
}

void
heap_insert(struct heap *heap, uint32_t item, uint64_t key, uint32_t tie)
{
	struct heap_entry entry = {key, tie, item};

	sift_up(heap, heap->n++, entry);
}

void
heap_lower(struct heap *heap, uint32_t item, uint64_t key, uint32_t tie)
{
	struct heap_entry entry = {key, tie, item};

	sift_up(heap, heap->where[item], entry);
}

struct heap_entry
heap_pop(struct heap *heap)
{
	struct heap_entry top = heap->entries[0];

	if (--heap->n > 0)
		sift_down(heap, heap->entries[heap->n]);
	return top;
}
