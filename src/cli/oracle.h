/* oracle.h: the truth about a level, by plain Dijkstra on its grid.
 *
 * Shares no code with the baker or the runtime: it reads struct level and has
 * its own idea of the movement rules, so that it can judge both. */
#ifndef CLI_ORACLE_H
#define CLI_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"
#include "formats/level.h"

#define ORACLE_NO_PATH UINT64_MAX

struct oracle; /* a level, a movement rule and the scratch of a search */

/* A step between two cells that need not be neighbours. */
struct oracle_link {
	uint32_t from_x, from_y, to_x, to_y;
	uint64_t cost;
	bool is_one_way;
};

/* How an agent moves. */
struct oracle_rules {
	enum hpa_move_rule moves;
	uint32_t size;         /* it covers size x size cells; 0 means 1 */
	const bool *may_enter; /* per class; NULL: what is open to everyone */
	const bool *is_free;   /* per cell, instead of these two; or NULL */
	bool is_weighted;      /* factors count, and costs are in halves */
	uint32_t n_links;
	const struct oracle_link *links;
};

/* NULL where there is no memory. The level must outlive the oracle, the rules
 * need not. */
struct oracle *oracle_new(const struct level *level, enum hpa_move_rule moves);
struct oracle *oracle_new_with(const struct level *level,
                               const struct oracle_rules *rules);
void oracle_free(struct oracle *oracle);

/* Can the agent stand on a cell? Any integers. */
bool oracle_is_free(const struct oracle *oracle, long x, long y);

/* May one step from (x, y) to (x + dx, y + dy) be made? Any integers. */
bool oracle_step_is_legal(const struct oracle *oracle, long x, long y, long dx,
                          long dy);

/* Are both cells free and connected, by flood fill or, where there are links,
 * by search? */
bool oracle_connected(struct oracle *oracle, uint32_t x1, uint32_t y1,
                      uint32_t x2, uint32_t y2);

/* What a step or a link from one cell to another costs at the least, or
 * ORACLE_NO_PATH if there is neither. Any integers. */
uint64_t oracle_step_cost(const struct oracle *oracle, long x1, long y1,
                          long x2, long y2);

/* The same, and what it costs at the most: where a link joins neighbours, or
 * two links the same cells, a path does not tell which of them was taken.
 * false if there is none. */
bool oracle_step_costs(const struct oracle *oracle, long x1, long y1, long x2,
                       long y2, uint64_t *least, uint64_t *most);

/* The least cost between two free cells, in HPA_COST_STRAIGHT and
 * HPA_COST_DIAGONAL (twice that where factors count), or ORACLE_NO_PATH. */
uint64_t oracle_cost(struct oracle *oracle, uint32_t x1, uint32_t y1,
                     uint32_t x2, uint32_t y2);

#endif
