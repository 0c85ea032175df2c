/* baked.h: levels baked in memory.
 *
 * A file lies in memory of exactly its size, so that a sanitizer sees every step
 * beyond it; free its data with free(). What does not bake aborts. */
#ifndef TESTS_BAKED_H
#define TESTS_BAKED_H

#include "src/bake/bake.h"
#include "tests/image.h"

/* Three clusters of 4 x 4 in a row, at two levels:
 *
 *     ....|....||....     | border of level 1, || of levels 1 and 2
 *     ...0|1..2||3...     nodes, in the middle of their entrances
 *     ....|....||....
 *     ....|....||....
 */
extern const char three_clusters[];

/* The same with two components in its first cluster, and a fourth cluster whose
 * entrance is in another row. */
extern const char four_clusters[];

/* What is usual here: clusters of 4 x 4 cells, nothing compressed. */
struct bake_options small_clusters(void);

struct image bake_level(const struct level *level,
                        const struct bake_options *options);

/* A level of rows as level_from_text() takes them. */
struct image bake_rows(const char *rows, const struct bake_options *options);

/* A level of so many cells, all free. */
struct image bake_all_free(uint32_t width, uint32_t height,
                           const struct bake_options *options);

/* Rows with small clusters. */
struct image bake_small(const char *rows, uint32_t n_levels, bool cache_paths,
                        enum hpa_compress compress);

#endif
