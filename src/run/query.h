/* query.h: the scratch of a query, and how its parts work together.
 *
 *     query.c    the calls of hpa.h; makes the query in one piece
 *     connect.c  the costs from start and goal to the nodes of their clusters
 *     label.c    the path by hub labels, where the map has them
 *     search.c   A* over the levels, and inside one cluster when refining
 *     refine.c   the hops of an abstract path -> runs of equal moves
 *     memo.c     what was refined lately
 *     smooth.c   the runs -> a shorter path, as cells
 *     corridor.c the cheapest way near a path
 *
 * A search leaves the path as hops on a stack, the first one on top. Refining
 * takes the top hop off and either puts the hops of the level below in its
 * place or, at the bottom, turns it into runs; so it can stop after any cell. */
#ifndef RUN_QUERY_H
#define RUN_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/grid/distances.h"
#include "src/run/landmark.h"
#include "src/run/map.h"
#include "src/run/queue.h"

/* A node of a cluster is on its border or the end of a link. */
#define QUERY_MAX_LOCAL_NODES WINDOW_MAX_CELLS

/* A rectangle of cells; all sides are inside. */
struct box {
	uint32_t left, top, right, bottom;
};

#define MAX_BOXES 32u

/* A cluster of level 1. At level l + 1, l bits of both numbers do not count. */
struct square {
	uint32_t column, row;
};

/* A search over nodes. The goal of a query is one more, at index n_nodes. */
struct search {
	struct search_node *nodes;
	struct queue queue;
	uint32_t stamp;
	uint32_t target_x, target_y; /* what the heuristic aims at */
	const landmark_vector *landmarks; /* NULL: there are none to go by */
	landmark_vector target_distances;
	uint64_t limit; /* ways that must cost more are left out */
	uint64_t n_expanded;

	/* The octile distance is the longer side times the one plus the
	 * shorter times the other. */
	uint64_t per_longer, per_shorter;

	struct square start, goal; /* they are looked into */

	/* Links that are shorter than the crow flies spoil its estimate. Where
	 * they are entered is kept in a few boxes, so that an estimate does not
	 * take longer the more of them there are. */
	uint32_t n_boxes;
	struct box boxes[MAX_BOXES];
	uint64_t shortcut_rest; /* the least from an entry to the target;
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
	HOP_LINK,
	HOP_DIRECT /* from the start to the goal, in the window around them */
};

struct hop {
	uint32_t to; /* node; HPA_NONE: the goal */
	uint32_t kind;
	uint64_t cost;
};

/* The move of a link: to the node where its hop ends. */
#define WALK_JUMP GRID_N_DIRECTIONS

/* Equal moves: a direction, or one WALK_JUMP. */
struct run {
	uint8_t move;
	uint16_t length;
};

/* What was refined lately; see memo.c. */
#define MEMO_RUN_SLOTS 1024u
#define MEMO_MAX_RUNS 10u
#define MEMO_HOP_SLOTS 512u
#define MEMO_MAX_HOPS 7u

/* The runs from the lower to the higher node, the last one first. */
struct memo_runs {
	uint32_t lower, higher;
	uint8_t n; /* 0: the slot is empty */
	struct run runs[MEMO_MAX_RUNS];
};

/* The hops of an edge of a level above 1, the last one first. */
struct memo_hops {
	uint32_t from, to;
	uint8_t level, n;
	struct hop hops[MEMO_MAX_HOPS];
};

struct memo {
	struct memo_runs runs[MEMO_RUN_SLOTS];
	struct memo_hops hops[MEMO_HOP_SLOTS];
};

/* The least cost from the start to a hub; valid if the stamp is the query's. */
struct hub_cost {
	uint32_t stamp, cost;
};

/* What hub labels say of the path. */
struct label_path {
	struct hub_cost *costs; /* of hubs, by rank; none if there are no
	                         * labels */
	uint32_t stamp;
	uint32_t goal_node;  /* HPA_NONE: the way is inside one cluster */
	uint32_t goal_entry; /* of its label: the hub that is passed */
};

/* A walk along the path: where it stands, what it has still to do. */
struct walk {
	bool is_begun; /* the start has been handed out */
	uint32_t x, y;
	uint32_t node;    /* where the last hop ended */
	struct hop *hops; /* as many as query.c's plan says */
	size_t n_hops;
	struct run runs[WINDOW_MAX_CELLS]; /* the next one last */
	uint32_t n_runs;
	/* What is left to the path, by what is known of cheapest ones; see
	 * refine.c. */
	uint64_t n_moves_left, n_hops_left, n_expansions_left;
};

/* A bend of a path: where a run of equal moves ends. */
struct bend {
	uint16_t x, y;
	uint16_t length; /* of the run that ends here */
	uint8_t move;    /* its direction or WALK_JUMP */
	uint8_t walls;   /* a bit per direction: it is clear so far only */
	uint8_t pass;    /* of smoothing, in which it was made */
	uint64_t cost;   /* from the first bend to here */
	uint16_t clear[GRID_N_DIRECTIONS]; /* so many moves are known to be
	                                    * possible from here */
};

/* A path, or the piece of it that is being smoothed: the first bend is where
 * it begins. */
struct bends {
	struct bend *at; /* query.c's plan says how many */
	uint32_t n;
	uint8_t pass; /* that makes it */
};

struct smooth {
	hpa_smoothing mode;
	uint32_t box;
	uint32_t capacity; /* of each of the two */
	struct bends path, spare;
	uint32_t n_final;    /* bends that are smoothed and may be walked */
	uint32_t next;       /* the bend that is walked to */
	uint32_t n_walked;   /* moves made on the way to it */
	uint32_t look_ahead; /* cells that are smoothed before some are
	                      * handed out */
	bool is_whole;       /* the path is refined to its end */
	bool in_pieces;
};

/* Scratch of a search over cells, in clusters that have a slot. */
struct corridor {
	const hpa_map *map;
	uint32_t *slot_of;  /* of every cluster; HPA_NONE: it has none */
	uint32_t *clusters; /* slot -> its cluster */
	hpa_cell *origins;  /* slot -> its first cell */
	uint32_t n_slots, max_slots;
	uint32_t *cost; /* of the cells of each slot */
	uint8_t *move;  /* that led there */
	uint64_t *open;
	uint32_t n_open;
	uint32_t n_left; /* cells that may still be expanded */
};

/* What a query's time is spent on, for those who measure. */
enum query_phase {
	QUERY_BETWEEN = 0, /* the calls */
	QUERY_CONNECT,
	QUERY_SEARCH,
	QUERY_REFINE,
	QUERY_SMOOTH,
	QUERY_N_PHASES
};

struct query_clock {
	uint64_t (*now_ns)(void);
	uint64_t lap_ns; /* when the phase at hand began */
	uint64_t spent_ns[QUERY_N_PHASES];
};

struct hpa_query {
	const hpa_map *map;
	hpa_allocator allocator;
	size_t size;
	hpa_cell from, to;
	/* To the nodes of the start's cluster, and from those of the goal's; if
	 * that is one cluster, also inside it. WINDOW_NO_PATH: there is no
	 * way. */
	uint32_t start_cost[QUERY_MAX_LOCAL_NODES];
	uint32_t goal_cost[QUERY_MAX_LOCAL_NODES];
	uint32_t inside_cost;
	uint64_t cost; /* of the path over the abstraction */
	struct search search;
	struct label_path label;
	struct walk walk;
	struct distances distances;
	struct memo memo;
	struct smooth smooth;
	struct corridor corridor;
	bool is_direct;          /* two runs, or the way in the window around
	                       * start and goal, are the path */
	uint64_t direct_cost;    /* its cost then */
	uint32_t window_cost;    /* of the way in the window, or WINDOW_NO_PATH
	                       * where it was not looked at or has none */
	struct hpa_blocks paths; /* of the cached ones, if there are any */
	struct query_clock *clock; /* NULL: nobody measures */
};

/* What was done since the last lap was this. */
static inline void
query_lap(struct hpa_query *query, enum query_phase phase)
{
	struct query_clock *clock = query->clock;
	uint64_t now;

	if (!clock)
		return;
	now = clock->now_ns();
	clock->spent_ns[phase] += now - clock->lap_ns;
	clock->lap_ns = now;
}

/* connect.c: fill in start_cost, goal_cost and inside_cost. */
void connect_start_and_goal(struct hpa_query *query);

/* Begin the search from the start: every node of its cluster, and the goal if
 * it lies there too. */
void connect_search(struct hpa_query *query);

/* Try what is simple: is there a way from start to goal that nothing is cheaper
 * than? Then is_direct and direct_cost tell of it. */
bool connect_at_once(struct hpa_query *query);

/* Otherwise, when the abstraction's way is known to be of that cost: is the
 * simple one cheaper? Fills in is_direct and direct_cost. */
void connect_directly(struct hpa_query *query, uint64_t cost);

/* label.c */

/* Find the cheapest way from the start to the goal, which are connected, by the
 * labels of the map. False if they know of none. */
bool label_find(struct hpa_query *query);

/* Put the hops of the path found on the empty stack of the walk. False if the
 * labels do not lead along it. */
bool label_push_path(struct hpa_query *query);

/* search.c */

/* Gather the links that are shorter than the crow flies, once for a query. */
void search_find_shortcuts(struct hpa_query *query);

/* Begin the search of the query's start and goal. */
void search_begin(struct hpa_query *query);

/* Offer a way to a node (n_nodes: the goal). */
void search_reach(struct hpa_query *query, uint32_t node, uint64_t cost,
                  uint32_t parent);

/* Find the cheapest way from the start, which is connected, to the goal. False
 * if there is none. */
bool search_path(struct hpa_query *query);

/* Put the hops of the path found on the empty stack of the walk. */
void search_push_path(struct hpa_query *query);

/* Find the way that an intra-edge of a level above 1 stands for, from a node to
 * the hop's end, and put its hops, of the level below, on the stack. False if
 * there is none that costs so little, or the walk has no expansions left. */
bool search_push_edge(struct hpa_query *query, uint32_t from,
                      const struct hop *hop);

/* refine.c */

/* Fill in the query's distances: from a cell inside a window, or inside its
 * cluster. */
void refine_solve_window(struct hpa_query *query, struct grid_window window,
                         uint32_t x, uint32_t y);
void refine_solve_cluster(struct hpa_query *query, uint32_t x, uint32_t y);

/* Do two runs lead from start to goal at the least cost there can be? */
bool refine_is_straight(const struct hpa_query *query);

/* Begin the walk whose hops are on the stack, at the start. */
void refine_begin(struct hpa_query *query);

/* Walk on: up to `capacity` cells to out (NULL: they are only counted).
 * HPA_CORRUPT where an edge has no way behind it. */
hpa_status refine_next(struct hpa_query *query, hpa_cell *out, size_t capacity,
                       size_t *n);

/* Walk on by a run of equal moves, or by a jump. A length of 0 is the end of the
 * path. */
hpa_status refine_run(struct hpa_query *query, struct run *out);

/* memo.c: what an edge was refined to, or NULL; and keep it. */
const struct memo_runs *memo_find_runs(struct memo *memo, uint32_t lower,
                                       uint32_t higher);
void memo_keep_runs(struct memo *memo, uint32_t lower, uint32_t higher,
                    const struct run *runs, uint32_t n);
const struct memo_hops *memo_find_hops(struct memo *memo, uint32_t from,
                                       const struct hop *edge);
void memo_keep_hops(struct memo *memo, uint32_t from, const struct hop *edge,
                    const struct hop *hops, size_t n);

/* smooth.c */

/* How many bends a query on this map needs room for, twice. */
uint32_t smooth_capacity(const hpa_map *map);

/* Begin with the path that the walk is about to make: piece by piece, or as a
 * whole as far as there is room. */
void smooth_begin(struct hpa_query *query, bool in_pieces);

/* As refine_next(), for the smoothed path. */
hpa_status smooth_next(struct hpa_query *query, hpa_cell *out, size_t capacity,
                       size_t *n);

/* corridor.c */

/* Bytes that a corridor takes, and how it is made in so many, 8-aligned. */
size_t corridor_size(const hpa_map *map);
void corridor_init(struct corridor *corridor, const hpa_map *map,
                   uint8_t *room);

/* Put the path into out, of that capacity, which the path's own number of bends
 * does not exceed; pieces are replaced where that costs less. The costs of the
 * bends are not filled in. */
void corridor_shorten(struct corridor *corridor, const struct bends *path,
                      uint32_t capacity, struct bends *out);

/* Look at some cells between the ends of a path, whatever clusters it crosses,
 * for a way that costs less than `below`; put it into out if there is one. */
bool corridor_look_around(struct corridor *corridor, const struct bends *path,
                          uint64_t below, uint32_t capacity, struct bends *out);

/* There is nothing to walk, or no more. */
static inline void
query_end_walk(struct hpa_query *query)
{
	query->walk.is_begun = true;
	query->walk.n_hops = 0;
	query->walk.n_runs = 0;
	query->smooth.next = query->smooth.n_final;
	query->smooth.is_whole = true;
}

static inline void
walk_push(struct walk *walk, uint32_t to, uint32_t kind, uint64_t cost)
{
	walk->hops[walk->n_hops++] = (struct hop){to, kind, cost};
}

/* Is the path to be made shorter than what the hops say? */
static inline bool
query_smooths(const struct hpa_query *query)
{
	switch (query->smooth.mode) {
	case HPA_SMOOTH_SHORTCUTS:
	case HPA_SMOOTH_RAYS:
	case HPA_SMOOTH_CORRIDOR:
		return true;
	case HPA_SMOOTH_NONE:
		break;
	}
	return false;
}

#endif
