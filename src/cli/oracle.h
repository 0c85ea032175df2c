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

/* NULL where there is no memory. The level must outlive the oracle. */
struct oracle *oracle_new(const struct level *level, enum hpa_move_rule moves);
void oracle_free(struct oracle *oracle);

/* May one step from (x, y) to (x + dx, y + dy) be made? Any integers. */
bool oracle_step_is_legal(const struct oracle *oracle, long x, long y, long dx,
                          long dy);

/* Are both cells free and connected, by flood fill? */
bool oracle_connected(struct oracle *oracle, uint32_t x1, uint32_t y1,
                      uint32_t x2, uint32_t y2);

/* The least cost between two free cells, in HPA_COST_STRAIGHT and
 * HPA_COST_DIAGONAL, or ORACLE_NO_PATH. */
uint64_t oracle_cost(struct oracle *oracle, uint32_t x1, uint32_t y1,
                     uint32_t x2, uint32_t y2);

#endif
