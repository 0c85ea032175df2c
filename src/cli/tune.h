/* tune.h: bake levels with all kinds of options, and weigh what comes of it. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "src/bake/bake.h"
#include "src/cli/bench.h"

/* What a bake with some options takes, all levels together. */
struct tune_row {
	struct bake_options options;
	uint64_t n_bytes;
	double bake_ms; /* on one thread */
	struct bench_result result;
	struct bench_stats path_us, cost_us, excess; /* of all problems */
	bool is_on_front; /* no other row is as good in bytes, time and excess
	                   * and better in one of them */
};

struct tune {
	size_t n_rows;
	struct tune_row *rows; /* the smallest first, when it is finished */
	uint64_t n_free_cells;
};

/* Rows for levels whose longest side is that: sizes of clusters, numbers of
 * levels that are of use there, places of transitions. False without memory.
 * Free it in any case. */
bool tune_init(struct tune *tune, uint32_t side, enum hpa_move_rule moves);
void tune_free(struct tune *tune);

/* Bake a level with every row's options and ask the problems, n_rounds times. */
enum diag_status tune_add(struct tune *tune, const char *file,
                          const struct level *level,
                          const struct truth_problems *problems,
                          uint32_t n_rounds, struct diag *diag);

/* Sum up, sort, and find the front. */
void tune_finish(struct tune *tune);

/* The best row of those that take no more than max_bytes, and whose paths take no
 * more than max_us; 0: as much as they like. With the first limit alone that is
 * the fastest one, with the second alone the smallest, with both the one with the
 * least excess. NULL: there is none. */
const struct tune_row *tune_choose(const struct tune *tune, uint64_t max_bytes,
                                   double max_us);

#endif
