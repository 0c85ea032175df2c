/* bench_truth.h: the right answers to problems. */
#ifndef CLI_BENCH_TRUTH_H
#define CLI_BENCH_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"
#include "formats/scen.h"
#include "src/run/map.h"

/* How one moves on a map, and how long a way is. */
struct truth {
	const struct grid *grid;
	hpa_link *links; /* those whose ends are free */
	uint32_t n_links;
	bool by_cost; /* lengths are costs: counting steps does not tell */
};

/* False without memory. Free it in any case. */
bool truth_init(struct truth *truth, const hpa_map *map);
void truth_free(struct truth *truth);

/* What a path costs, and its length in straight steps. False if one of its steps
 * is not legal, or if it does not lead from one cell to the other. */
bool truth_measure(const struct truth *truth, hpa_cell from, hpa_cell to,
                   const hpa_cell *cells, size_t n, uint64_t *cost,
                   double *length);

struct truth_problem {
	size_t index; /* in the .scen */
	hpa_cell from, to;
	uint64_t optimum; /* the least cost */
	double length;    /* of the shortest path */
};

/* Problems that have a path stand before those that have none. One of which a
 * cell has no place in 16 bits can't be asked, and has no path. */
struct truth_problems {
	struct truth_problem *at;
	size_t n_paths, n_others, n_not_asked;
};

/* Find the optimum of all problems, or of `limit` ones, evenly spread, by flat
 * A*. Fills *out, to be freed with truth_problems_free(), or fills in diag. */
enum diag_status truth_find(const hpa_map *map, const struct scen *scen,
                            size_t limit, struct truth_problems *out,
                            struct diag *diag);
void truth_problems_free(struct truth_problems *problems);

#endif
