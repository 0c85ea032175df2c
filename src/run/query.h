/* query.h: the scratch of a query, and how its parts work together.
 *
 *     query.c    the calls of hpa.h; makes the query in one piece
 *     connect.c  the costs from start and goal to the nodes of their clusters
 *     search.c   A* over the levels, and inside one cluster when refining
 *     refine.c   the hops of an abstract path -> cells
 *
 * A search leaves the path as hops on a stack, the first one on top. Refining
 * takes the top hop off and either puts the hops of the level below in its
 * place or, at the bottom, turns it into moves from cell to cell; so it can
 * stop after any cell. */
#ifndef RUN_QUERY_H
#define RUN_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/grid/heap.h"
#include "src/grid/window.h"
#include "src/run/map.h"

/* A node of a cluster is on its border or the end of a link. */
#define QUERY_MAX_LOCAL_NODES WINDOW_MAX_CELLS

/* What a search knows of a node; valid if the stamp is the search's. */
struct search_node {
	uint64_t cost;
	uint32_t parent; /* HPA_NONE: the search began here */
	uint32_t stamp;
};

/* A search over nodes. The goal of a query is one more, at index n_nodes. */
struct search {
	struct search_node *nodes;
	struct heap heap;
	uint32_t stamp;
	uint32_t target_x, target_y; /* what the heuristic aims at */
	uint64_t n_expanded;

	/* Links that are shorter than the crow flies spoil its estimate. */
	uint32_t n_shortcuts;
	hpa_cell *shortcuts;     /* where they are entered */
	uint64_t shortcut_rest;  /* the least from an entry to the target;
	                          * HPA_NO_SHORTCUT: none is taken */
};

#define HPA_NO_SHORTCUT UINT64_MAX

/* Where a hop leads and by what: an inter-edge, an intra-edge of a level, a
 * link, or the way from the start or to the goal inside one cluster. */
enum hop_kind {
	HOP_INTER = 0,
	HOP_LEVEL_1 = 1, /* and so on up to the top level */
	HOP_FROM_START = HPA_MAX_LEVELS + 1,
	HOP_TO_GOAL,
	HOP_LINK
};

struct hop {
	uint32_t to; /* node; HPA_NONE: the goal */
	uint32_t kind;
};

/* The move of a link: to the node where its hop ends. */
#define WALK_JUMP GRID_N_DIRECTIONS

/* A walk along the path: where it stands, what it has still to do. */
struct walk {
	bool is_begun; /* the start has been handed out */
	uint32_t x, y;
	uint32_t node; /* where the last hop ended */
	struct hop *hops; /* as many as query.c's plan says */
	size_t n_hops;
	uint8_t moves[WINDOW_MAX_CELLS]; /* directions or WALK_JUMP, the next
	                                  * one last */
	uint32_t n_moves;
};

struct hpa_query {
	const hpa_map *map;
	hpa_allocator allocator;
	size_t size;
	hpa_cell from, to;
	uint32_t start_cluster, goal_cluster; /* of level 1 */
	uint32_t goal_cost[QUERY_MAX_LOCAL_NODES];
	struct search search;
	struct walk walk;
	struct window_field field;
	struct hpa_blocks paths; /* of the cached ones, if there are any */
};

/* connect.c: fill in start_cluster, goal_cluster and goal_cost, and begin the
 * search from the start: every node of its cluster, and the goal if it lies
 * there too. */
void connect_start_and_goal(struct hpa_query *query);

/* search.c */

/* Gather the links that are shorter than the crow flies, once for a query. */
void search_find_shortcuts(struct hpa_query *query);

/* Begin a search that aims at a cell, over links or without them. */
void search_begin(struct hpa_query *query, uint32_t x, uint32_t y,
                  bool with_links);

/* Offer a way to a node (n_nodes: the goal). */
void search_reach(struct hpa_query *query, uint32_t node, uint64_t cost,
                  uint32_t parent);

/* Find the cheapest way from the start, which is connected, to the goal. False
 * if there is none. */
bool search_path(struct hpa_query *query);

/* Put the hops of the path found on the empty stack of the walk. */
void search_push_path(struct hpa_query *query);

/* Find the way that an intra-edge of a level above 1 stands for, between two
 * nodes of one cluster, and put its hops, of the level below, on the stack.
 * False if there is none. */
bool search_push_edge(struct hpa_query *query, uint32_t level, uint32_t from,
                      uint32_t to);

/* refine.c */

/* Walk on: up to `capacity` cells to out (NULL: they are only counted).
 * HPA_CORRUPT where an edge has no way behind it. */
hpa_status refine_next(struct hpa_query *query, hpa_cell *out, size_t capacity,
                       size_t *n);

/* There is nothing to walk, or no more. */
static inline void
walk_end(struct walk *walk)
{
	walk->is_begun = true;
	walk->n_hops = 0;
	walk->n_moves = 0;
}

static inline void
walk_push(struct walk *walk, uint32_t to, uint32_t kind)
{
	walk->hops[walk->n_hops++] = (struct hop){to, kind};
}

#endif
