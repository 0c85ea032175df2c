/* bench.h: how fast a baked level answers, beside searches on the grid.
 *
 *     bench_truth.c  finds the right answers
 *     bench_run.c    asks the problems in all ways, judges and times the answers
 *     bench_report.c sums up, prints and makes JSON */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"
#include "hpa.h"
#include "src/cli/bench_truth.h"

/* The ways in which a problem is answered. */
enum bench_way {
	BENCH_ASTAR = 0,
	BENCH_JPS,
	BENCH_NONE, /* the first that asks the baked level */
	BENCH_RAYS,
	BENCH_SHORTCUTS,
	BENCH_CORRIDOR,
	BENCH_COST,
	BENCH_FIRST20,
	BENCH_N_WAYS
};

/* What an answer takes: all of it, and the phases of a query. */
enum bench_part {
	BENCH_TOTAL = 0,
	BENCH_CONNECT,
	BENCH_SEARCH,
	BENCH_REFINE,
	BENCH_SMOOTH,
	BENCH_N_PARTS
};
extern const char *const bench_part_names[BENCH_N_PARTS];

/* How a way answered a problem. */
struct bench_answer {
	double us[BENCH_N_PARTS]; /* medians of the repeats */
	double excess;            /* percent over the optimum */
	double n_expanded;
};

/* What a level, or a folder of levels, has shown. There are n problems that have
 * a path; lengths and answers are of these. */
struct bench_result {
	char *name;
	size_t n_levels;
	size_t n_problems, n_unreachable, n_wrong;
	size_t n;
	double *length; /* of the shortest path, in straight steps */
	struct bench_answer *answers[BENCH_N_WAYS]; /* NULL: not asked, or not
	                                             * for these rules */
};

#define BENCH_MAX_REPEATS 99u

struct bench_settings {
	uint32_t n_repeats; /* 1 to BENCH_MAX_REPEATS */
	unsigned ways;      /* a bit for each that is asked; 0: all */
};

/* Ask the problems of one profile of a map. Fills *out but for its name, to be
 * freed with bench_result_free(), or fills in diag, without a file. Wrong answers
 * are counted, and the first few told on stderr under the name of the file. */
enum diag_status bench_level(const char *file, const hpa_map *map,
                             const struct truth_problems *problems,
                             const struct bench_settings *settings,
                             struct bench_result *out, struct diag *diag);
void bench_result_free(struct bench_result *result);

/* Add a level's answers to those of its folder, which begins as zero. A way that
 * is not for the rules of one of its levels is left out. False without memory;
 * the folder is then good for nothing but to be freed. */
bool bench_result_add(struct bench_result *folder,
                      const struct bench_result *level);

/* The name of a way, as an option has it. */
const char *bench_way_name(enum bench_way way);

/* Sums of one number over the answers; all 0 where there are none. */
struct bench_stats {
	double mean, p50, p95, p99, max;
};

struct bench_stats bench_time(const struct bench_result *result,
                              enum bench_way way, enum bench_part part);
struct bench_stats bench_expanded(const struct bench_result *result,
                                  enum bench_way way);
struct bench_stats bench_excess(const struct bench_result *result,
                                enum bench_way way);

/* All there is to say about a result, as tables. */
void bench_print(const struct bench_result *result);

/* One line of a table of several, and its head. */
void bench_print_head(int width);
void bench_print_line(int width, const struct bench_result *result);

/* The same as JSON; NULL without memory. */
json_t *bench_json(const struct bench_result *result);

/* Print it and free it. NULL says that there was no memory. */
enum diag_status bench_print_json(json_t *json, struct diag *diag);

#endif
