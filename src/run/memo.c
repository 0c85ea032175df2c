/* memo.c: what a query refined lately.
 *
 * Units walk the same corridors again and again, and what an edge stands for
 * never changes. So the runs of an intra-edge of level 1 that had to be searched
 * for, and the hops of one of a level above, are kept where a hash of the edge
 * says, until another edge takes their place. An edge that consists of more
 * pieces than a slot has room for is searched for each time. What is remembered
 * is what a search would find, so that no path depends on it. */
#include <string.h>

#include "src/run/query.h"

static uint32_t
slot_of(uint32_t from, uint32_t to, uint32_t n_slots)
{
	uint32_t hash = (from * 0x9E3779B1u) ^ (to * 0x85EBCA77u);

	return (hash ^ hash >> 15) % n_slots;
}

static struct memo_runs *
runs_of(struct memo *memo, uint32_t lower, uint32_t higher)
{
	return &memo->runs[slot_of(lower, higher, MEMO_RUN_SLOTS)];
}

const struct memo_runs *
memo_find_runs(struct memo *memo, uint32_t lower, uint32_t higher)
{
	const struct memo_runs *slot = runs_of(memo, lower, higher);

	return slot->n > 0 && slot->lower == lower && slot->higher == higher
	               ? slot
	               : NULL;
}

void
memo_keep_runs(struct memo *memo, uint32_t lower, uint32_t higher,
               const struct run *runs, uint32_t n)
{
	struct memo_runs *slot = runs_of(memo, lower, higher);

	if (n > MEMO_MAX_RUNS)
		return;
	slot->lower = lower;
	slot->higher = higher;
	slot->n = (uint8_t)n;
	for (uint32_t i = 0; i < n; i++)
		slot->runs[i] = runs[i];
}

static struct memo_hops *
hops_of(struct memo *memo, uint32_t from, uint32_t to)
{
	return &memo->hops[slot_of(from, to, MEMO_HOP_SLOTS)];
}

const struct memo_hops *
memo_find_hops(struct memo *memo, uint32_t from, const struct hop *edge)
{
	const struct memo_hops *slot = hops_of(memo, from, edge->to);

	return slot->n > 0 && slot->from == from && slot->to == edge->to &&
	                       slot->level == edge->kind
	               ? slot
	               : NULL;
}

void
memo_keep_hops(struct memo *memo, uint32_t from, const struct hop *edge,
               const struct hop *hops, size_t n)
{
	struct memo_hops *slot = hops_of(memo, from, edge->to);

	if (n > MEMO_MAX_HOPS)
		return;
	slot->from = from;
	slot->to = edge->to;
	slot->level = (uint8_t)edge->kind;
	slot->n = (uint8_t)n;
	for (size_t i = 0; i < n; i++)
		slot->hops[i] = hops[i];
}
