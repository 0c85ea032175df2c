/* queue.h: what is open, in a bucket for each cost.
 *
 * Costs are integers, and all that are open at once lie less than n_slots
 * apart, so that a ring of buckets, each a stack, sorts them for nothing: a
 * Dial's queue. A bit for each bucket tells whether something is in it, a bit
 * for each 64 of these whether one of them is set, and so the next bucket is
 * found by counting zeros. Heads of empty buckets are never read, hence never
 * cleared. */
#ifndef FLAT_QUEUE_H
#define FLAT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FLAT_QUEUE_END UINT32_MAX
#define FLAT_QUEUE_MIN_SLOTS 64u

struct flat_entry {
	uint16_t x, y;
	uint32_t next; /* in its bucket, or unused */
};

struct flat_queue {
	uint64_t *is_used; /* a bit per slot */
	uint64_t *summary; /* a bit per word of these */
	uint32_t *heads;   /* of the slots in use */
	struct flat_entry *entries;
	uint32_t n_entries; /* that were ever used in this search */
	uint32_t unused;    /* a stack of those that were given back */
	uint32_t n_slots;   /* a power of two */
	uint64_t least;     /* no cost below is open */
};

/* Costs that are open at once differ by at most `spread`; there are never more
 * than n_entries. False without memory; free it in any case. Entries that are
 * not used take no memory on any system we know. */
static inline bool
flat_queue_init(struct flat_queue *queue, uint64_t spread, size_t n_entries)
{
	size_t n_words;

	*queue = (struct flat_queue){.n_slots = FLAT_QUEUE_MIN_SLOTS,
	                             .unused = FLAT_QUEUE_END};
	if (spread > UINT32_MAX / 2 || n_entries >= FLAT_QUEUE_END)
		return false;
	while (queue->n_slots <= spread)
		queue->n_slots *= 2;
	n_words = queue->n_slots / 64;
	queue->is_used = calloc(n_words, sizeof(*queue->is_used));
	queue->summary = calloc((n_words + 63) / 64, sizeof(*queue->summary));
	queue->heads = malloc(queue->n_slots * sizeof(*queue->heads));
	queue->entries = malloc(n_entries * sizeof(*queue->entries));
	return queue->is_used && queue->summary && queue->heads &&
	       queue->entries;
}

static inline void
flat_queue_free(struct flat_queue *queue)
{
	free(queue->is_used);
	free(queue->summary);
	free(queue->heads);
	free(queue->entries);
}

/* Empty it, for a search that begins with this cost. */
static inline void
flat_queue_begin(struct flat_queue *queue, uint64_t least)
{
	uint32_t n_words = queue->n_slots / 64;

	for (uint32_t s = 0; s < (n_words + 63) / 64; s++) {
		uint64_t words = queue->summary[s];

		for (; words; words &= words - 1)
			queue->is_used[64 * s +
			               (uint32_t)__builtin_ctzll(words)] = 0;
		queue->summary[s] = 0;
	}
	queue->n_entries = 0;
	queue->unused = FLAT_QUEUE_END;
	queue->least = least;
}

static inline void
flat_queue_push(struct flat_queue *queue, uint64_t cost, uint32_t x, uint32_t y)
{
	uint32_t slot = (uint32_t)cost & (queue->n_slots - 1);
	uint32_t word = slot / 64, entry = queue->unused;
	uint64_t bit = (uint64_t)1 << slot % 64;

	if (entry == FLAT_QUEUE_END)
		entry = queue->n_entries++;
	else
		queue->unused = queue->entries[entry].next;
	queue->entries[entry] = (struct flat_entry){(uint16_t)x, (uint16_t)y,
	                                            queue->is_used[word] & bit
	                                                    ? queue->heads[slot]
	                                                    : FLAT_QUEUE_END};
	queue->heads[slot] = entry;
	queue->is_used[word] |= bit;
	queue->summary[word / 64] |= (uint64_t)1 << word % 64;
}

/* The first word of is_used with a bit set, from `word` on, around the ring;
 * FLAT_QUEUE_END if there is none. */
static inline uint32_t
flat_queue_next_word(const struct flat_queue *queue, uint32_t word)
{
	uint32_t n_words = queue->n_slots / 64;
	uint32_t n = (n_words + 63) / 64, s = word / 64;
	uint64_t words = queue->summary[s] >> word % 64;

	if (words)
		return word + (uint32_t)__builtin_ctzll(words);
	for (uint32_t i = 0; i < n; i++) {
		s = s + 1 < n ? s + 1 : 0;
		words = queue->summary[s];
		if (words)
			return 64 * s + (uint32_t)__builtin_ctzll(words);
	}
	return FLAT_QUEUE_END;
}

/* Take one of the cheapest. False if nothing is open. */
static inline bool
flat_queue_pop(struct flat_queue *queue, uint32_t *x, uint32_t *y)
{
	uint32_t slot = (uint32_t)queue->least & (queue->n_slots - 1);
	uint32_t word = slot / 64, next = slot, entry;
	uint64_t bits = queue->is_used[word] >> slot % 64;

	if (bits) {
		next += (uint32_t)__builtin_ctzll(bits);
	} else {
		word = flat_queue_next_word(
			queue, (word + 1) & (queue->n_slots / 64 - 1));
		if (word == FLAT_QUEUE_END)
			return false;
		next = 64 * word +
		       (uint32_t)__builtin_ctzll(queue->is_used[word]);
	}
	queue->least += (next - slot) & (queue->n_slots - 1);
	entry = queue->heads[next];
	*x = queue->entries[entry].x;
	*y = queue->entries[entry].y;
	queue->heads[next] = queue->entries[entry].next;
	queue->entries[entry].next = queue->unused;
	queue->unused = entry;
	if (queue->heads[next] != FLAT_QUEUE_END)
		return true;
	queue->is_used[word] &= ~((uint64_t)1 << next % 64);
	if (!queue->is_used[word])
		queue->summary[word / 64] &= ~((uint64_t)1 << word % 64);
	return true;
}

#endif
