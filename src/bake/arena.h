/* arena.h: many small pieces of memory, freed together. */
#ifndef BAKE_ARENA_H
#define BAKE_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* All zero is an empty one. Belongs to one thread at a time. */
struct arena {
	struct arena_chunk *chunks; /* the first one is being filled */
};

/* A piece of memory, zeroed, aligned to 8 bytes; NULL if there is none. */
void *arena_new(struct arena *arena, size_t size);

/* Hand everything over to another arena and be empty. */
void arena_move(struct arena *from, struct arena *to);

void arena_free(struct arena *arena);

#endif
