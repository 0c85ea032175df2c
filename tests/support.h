/* support.h: what the tests share: seeded random numbers, levels made of them
 * or of text, files to read, and the judging of paths.
 *
 * A helper that runs out of memory aborts: no test can go on without it. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/level.h"
#include "include/hpa.h"
#include "src/cli/oracle.h"

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* Is this built with a sanitizer that makes everything slow, and needs room? */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* Random numbers by splitmix64: the same from the same seed, everywhere. */
struct rng {
	uint64_t state;
};

/* The seed of this run: HPA_SEED of the environment, else a fixed one. The
 * first call prints it as a TAP comment. */
uint64_t test_seed(void);

/* Is this one of the long runs of `make soak', HPA_SOAK=1? */
bool test_is_soak(void);

uint64_t rng_next(struct rng *rng);

/* 0 … n - 1. n is not 0. */
uint32_t rng_below(struct rng *rng, uint32_t n);

/* least … most, both included. */
uint32_t rng_between(struct rng *rng, uint32_t least, uint32_t most);

/* True in `percent` of 100 calls. */
bool rng_chance(struct rng *rng, uint32_t percent);

/* A level of random kind (noise, rooms, maze, cave, serpentine walls, diagonal
 * stripes, empty, blocked) and size, 1 × 1 to max_side × max_side. Free it with
 * level_free(). */
void random_level(struct rng *rng, uint32_t max_side, struct level *out);

/* A level from rows of equal length, each ended by '\n': '.' is free, the rest
 * is blocked. Free it with level_free(). */
void level_from_text(const char *rows, struct level *out);

bool level_is_free(const struct level *level, hpa_cell cell);

/* Any cell of the level. */
hpa_cell random_cell(struct rng *rng, const struct level *level);

/* A free cell; false where there is none. */
bool random_free_cell(struct rng *rng, const struct level *level,
                      hpa_cell *out);

/* NULL if the cells lead from `from` to `to` by legal steps, else a constant
 * text on what is wrong. */
const char *path_problem(const struct oracle *oracle, const hpa_cell *cells,
                         size_t n, hpa_cell from, hpa_cell to);

/* The cost of the path's steps, legal or not. */
uint64_t path_cost(const hpa_cell *cells, size_t n);

/* Draw a level on stderr, the n cells of a path as '*' in it. */
void draw_level(const struct level *level, const hpa_cell *cells, size_t n);

/* The bytes of a file, to be freed with free(), or NULL. A byte behind them is
 * 0. */
uint8_t *read_file(const char *name, size_t *size);

/* A copy in memory of exactly its size, so that a sanitizer sees every step beyond
 * it. Free it with free(). */
uint8_t *exact_copy(const uint8_t *data, size_t size);

/* Call use() with the path and the name of each file in a folder whose name
 * ends in `suffix`, sorted by name; returns their number, 0 also where there is
 * no such folder. */
size_t for_each_file(const char *folder, const char *suffix,
                     void (*use)(const char *path, const char *name,
                                 void *user),
                     void *user);

/* The project's own levels. */
const char *data_folder(void);

/* A folder in the one that HPA_MAPS names, or NULL if it is not there. The
 * text lasts until the next call. */
const char *maps_folder(const char *name);

/* A file of the folder that HPA_MAPS names: as read_file(), or NULL, after a
 * TAP comment that says what is missing. */
uint8_t *read_maps_file(const char *name, size_t *size);

#endif
