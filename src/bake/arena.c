/* arena.c: many small pieces of memory, freed together.
 *
 * A level has a table per distinct cluster, a million of them in a large one.
 * Threads take them from chunks of their own, without locks and without a
 * header for each. */
#include "src/bake/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define CHUNK_SIZE ((size_t)256 * 1024)
#define ALIGN ((size_t)8)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	uint64_t memory[];
};

static struct arena_chunk *
chunk_new(size_t size)
{
	struct arena_chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (chunk)
		chunk->size = size;
	return chunk;
}

/* A chunk with room for so much. Large pieces have one of their own, behind
 * the one that is being filled. */
static struct arena_chunk *
chunk_for(struct arena *arena, size_t size)
{
	struct arena_chunk *first = arena->chunks, *chunk;

	if (first && first->size - first->used >= size)
		return first;
	chunk = chunk_new(size > CHUNK_SIZE / 4 ? size : CHUNK_SIZE);
	if (!chunk)
		return NULL;
	if (first && size > CHUNK_SIZE / 4) {
		chunk->next = first->next;
		first->next = chunk;
	} else {
		chunk->next = first;
		arena->chunks = chunk;
	}
	return chunk;
}

void *
arena_new(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk;
	void *piece;

	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	chunk = chunk_for(arena, size);
	if (!chunk)
		return NULL;
	piece = (uint8_t *)chunk->memory + chunk->used;
	chunk->used += size;
	return piece;
}

void
arena_move(struct arena *from, struct arena *to)
{
	struct arena_chunk **end = &to->chunks;

	while (*end)
		end = &(*end)->next;
	*end = from->chunks;
	from->chunks = NULL;
}

void
arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
}
