/* bench_bake.h: other bakes of one level, and how they answer. */
#ifndef CLI_BENCH_BAKE_H
#define CLI_BENCH_BAKE_H

#include "src/bake/bake.h"
#include "src/cli/bench.h"

/* A level and how it is baked where nothing else is said. */
struct bench_base {
	struct level level;
	struct bake_link *links;
	struct bake_options options;
};

/* From an open profile: the cells that its agent sees, its links, and the
 * options it was baked with. *out must not move; free it in any case. */
enum diag_status bench_base_of(const hpa_map *map, struct bench_base *out,
                               struct diag *diag);
void bench_base_free(struct bench_base *base);

/* What a bake took and gave. */
struct bench_bake {
	size_t n_bytes;
	double ms;
};

/* Bake a level in memory, and open it. *out is the bytes, to be freed after the
 * map is closed. bake may be NULL. */
enum diag_status bench_bake(const struct level *level,
                            const struct bake_options *options,
                            struct bake_output *out, hpa_map **map,
                            struct bench_bake *bake, struct diag *diag);

/* Bake a level, and bench it. DIAG_CHECK if an answer is wrong. */
enum diag_status bench_variant(const char *file, const struct level *level,
                               const struct bake_options *options,
                               const struct truth_problems *problems,
                               const struct bench_settings *settings,
                               struct bench_result *out,
                               struct bench_bake *bake, struct diag *diag);

#endif
