/* flat.h: searches on the grid itself, without an abstraction, to measure paths
 * of baked files against.
 *
 * Both are written to be fast, for they are what a game would use instead: a
 * search clears nothing, divides nothing and allocates nothing. What is known
 * of a level before the first search (which steps are legal, a transposed copy
 * of its bits) is made once, and is not counted. */
#ifndef FLAT_FLAT_H
#define FLAT_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hpa.h"
#include "src/grid/grid.h"

struct flat_astar; /* a level and the scratch of a search over its cells */
struct flat_jps;   /* the same for a jump point search */

/* A path, or what else a search has to say. */
struct flat_path {
	uint64_t cost;       /* in the grid's units */
	uint64_t n_expanded; /* cells taken from the open list */
	size_t n;            /* cells of the path */
};

/* A* with a bucket queue. The grid must outlive it, the links, whose ends are
 * free, need not. A link may lead anywhere, so that with links nothing is known
 * of what is left of a way, and it is Dijkstra's search. NULL without memory;
 * free it with flat_astar_free(). */
struct flat_astar *flat_astar_new(const struct grid *grid,
                                  const hpa_link *links, uint32_t n_links);
void flat_astar_free(struct flat_astar *astar);

/* The cheapest path between two cells, cell by cell, both ends included, into
 * `cells`: room for as many as the level has free cells is enough. False if
 * there is none; n_expanded is filled in even so. */
bool flat_astar_find(struct flat_astar *astar, hpa_cell from, hpa_cell to,
                     hpa_cell *cells, struct flat_path *out);

/* Is jump point search defined on such a grid? Diagonals cut no corner, and all
 * cells cost the same. Links are not its business: there must be none. */
bool flat_jps_can(const struct grid *grid);

/* Jump point search, scanning rows and columns by words. As above; the path is
 * only the cells where it may turn, and a straight or diagonal line leads from
 * each to the next. */
struct flat_jps *flat_jps_new(const struct grid *grid);
void flat_jps_free(struct flat_jps *jps);
bool flat_jps_find(struct flat_jps *jps, hpa_cell from, hpa_cell to,
                   hpa_cell *cells, struct flat_path *out);

#endif
