/* route.h: paths of a baked level, for verbs that ask for many. */
#ifndef CLI_ROUTE_H
#define CLI_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "hpa.h"

/* The last path that was found, in room that grows as needed. Begins as zero;
 * free cells with free(). */
struct route {
	hpa_cell *cells;
	size_t n, capacity;
};

/* Coordinates that a cell can't hold lie outside of any level: false. */
bool route_to_cell(long x, long y, hpa_cell *out);

/* What hpa_query_path() says; without a path n is 0. HPA_NO_MEMORY where there
 * is no room for it. */
hpa_status route_find(hpa_query *query, hpa_cell from, hpa_cell to,
                      struct route *out);

/* The length of a path: 1 for a straight step, the root of 2 for a diagonal
 * one, and for a link what it costs in straight steps on plain ground. */
double route_length(const hpa_map *map, const struct route *route);

#endif
