/* queue.h: the open list of a search over nodes, a radix heap.
 *
 * A search with a consistent heuristic never takes out a key below the last one
 * it took out. So the open nodes are kept in lists by the highest bit in which
 * their key differs from that last one. The nodes of list 0 have just that key.
 * When it is empty, the least key of the first list that is not becomes the last
 * one: a node that has it is taken out, and the others of that list move to
 * lists before it; those of the lists behind stay where they are, because they
 * differ in the same bit as before. A node moves a few times at most, and most
 * of them never get to the front.
 *
 * Lists are doubly linked through the nodes, so that a key can be lowered.
 * Nothing has to be cleared: a list is read only if its bit is set. What comes
 * first among equals depends on the order of the calls alone. */
#ifndef RUN_QUEUE_H
#define RUN_QUEUE_H

#include <stdint.h>

#include "formats/hpa_layout.h"

#define QUEUE_LISTS 64u /* keys are below 2^63 */

/* What a search knows of a node; valid if the stamp is the search's. Its key is
 * the sum of both costs. */
struct search_node {
	uint64_t cost;
	uint32_t rest;   /* the least that is left from here */
	uint32_t parent; /* HPA_NONE: the search began here */
	uint32_t rank;   /* where it will be expanded, or HPA_NONE: not known */
	uint32_t stamp;
	uint32_t next, before; /* in its list, or HPA_NONE */
};

struct queue {
	struct search_node *nodes;
	uint64_t last_key;
	uint64_t filled; /* a bit for each list that is not empty */
	uint32_t first[QUEUE_LISTS];
};

static inline void
queue_clear(struct queue *queue)
{
	queue->last_key = 0;
	queue->filled = 0;
}

static inline unsigned
queue_list_of(const struct queue *queue, uint64_t key)
{
	uint64_t differs = key ^ queue->last_key;

	return differs ? 64 - (unsigned)__builtin_clzll(differs) : 0;
}

static inline uint64_t
queue_key(const struct queue *queue, uint32_t node)
{
	return queue->nodes[node].cost + queue->nodes[node].rest;
}

/* Put in a node that is not in the queue. */
static inline void
queue_insert(struct queue *queue, uint32_t node)
{
	struct search_node *entry = &queue->nodes[node];
	unsigned list = queue_list_of(queue, queue_key(queue, node));
	uint64_t bit = UINT64_C(1) << list;

	entry->before = HPA_NONE;
	entry->next = HPA_NONE;
	if (queue->filled & bit) {
		entry->next = queue->first[list];
		queue->nodes[entry->next].before = node;
	}
	queue->first[list] = node;
	queue->filled |= bit;
}

/* Take a node out. */
static inline void
queue_remove(struct queue *queue, uint32_t node)
{
	const struct search_node *entry = &queue->nodes[node];
	unsigned list;

	if (entry->next != HPA_NONE)
		queue->nodes[entry->next].before = entry->before;
	if (entry->before != HPA_NONE) {
		queue->nodes[entry->before].next = entry->next;
		return;
	}
	list = queue_list_of(queue, queue_key(queue, node));
	queue->first[list] = entry->next;
	if (entry->next == HPA_NONE)
		queue->filled &= ~(UINT64_C(1) << list);
}

/* Take out the last one of a list that has the least key, which is the last key
 * from now on. The others move to lists before it. */
static inline uint32_t
queue_spread(struct queue *queue, unsigned list)
{
	uint32_t node = queue->first[list], next = queue->nodes[node].next;
	uint32_t found = node;
	uint64_t least = queue_key(queue, node);

	for (uint32_t i = next; i != HPA_NONE; i = queue->nodes[i].next) {
		uint64_t key = queue_key(queue, i);

		found = key <= least ? i : found;
		least = key <= least ? key : least;
	}
	queue->filled &= ~(UINT64_C(1) << list);
	queue->last_key = least;
	for (; node != HPA_NONE; node = next) {
		next = queue->nodes[node].next;
		if (node != found)
			queue_insert(queue, node);
	}
	return found;
}

/* Take out a node with the least key; the queue must not be empty. */
static inline uint32_t
queue_pop(struct queue *queue)
{
	uint32_t node = queue->first[0], next;

	if (!(queue->filled & 1))
		return queue_spread(queue,
		                    (unsigned)__builtin_ctzll(queue->filled));
	next = queue->nodes[node].next;
	queue->first[0] = next;
	if (next == HPA_NONE)
		queue->filled &= ~UINT64_C(1);
	else
		queue->nodes[next].before = HPA_NONE;
	return node;
}

#endif
