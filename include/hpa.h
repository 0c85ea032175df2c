/* hpa.h: libhpa, paths from baked levels.
 *
 * A baked level (.hpa) is opened as an hpa_map: immutable, shared by any number
 * of threads. A thread that asks for paths makes itself an hpa_query, all the
 * scratch a search needs, once; after that no call allocates. The library never
 * prints, exits or aborts and keeps no global state. All that it calls is, of
 * libc, malloc, free, the functions for bytes in memory, and those that open,
 * map and read a file; and, of zlib, inflate and its checksum.
 *
 *     hpa_map *map;
 *     hpa_query *query;
 *     hpa_cell cells[4096];
 *     size_t n;
 *
 *     if (hpa_map_open("castle.hpa", &map) == HPA_OK &&
 *         hpa_query_new(map, NULL, &query) == HPA_OK &&
 *         hpa_query_path(query, from, to, cells, 4096, &n) == HPA_OK)
 *             walk(cells, n);
 *
 * The same question gets the same path on every machine. */
#ifndef HPA_H
#define HPA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HPA_API __attribute__((visibility("default")))
#define HPA_MUST_USE __attribute__((warn_unused_result))
#else
#define HPA_API
#define HPA_MUST_USE
#endif

typedef struct hpa_map hpa_map;     /* a baked level; immutable, shared */
typedef struct hpa_query hpa_query; /* search scratch; one per thread */

typedef enum hpa_status {
	HPA_OK = 0,
	HPA_NO_PATH = 1,   /* both cells are free, nothing connects them */
	HPA_BLOCKED = 2,   /* start or goal is not walkable */
	HPA_OUTSIDE = 3,   /* start or goal lies outside the level */
	HPA_NO_MEMORY = 4, /* the allocator gave nothing */
	HPA_IO = 5,        /* open, stat, mmap or read failed; errno is kept */
	HPA_NOT_HPA = 6,   /* wrong magic */
	HPA_TOO_NEW = 7,   /* intact, of a newer major version */
	HPA_CORRUPT = 8,   /* a size, offset, index, checksum or hash does not
	                    * hold */
	HPA_NO_ROOM = 9    /* buffer too small; the number needed is returned */
} hpa_status;

typedef enum hpa_moves {
	HPA_MOVES_8 = 0,       /* diagonal where both cells beside it are free */
	HPA_MOVES_8_LOOSE = 1, /* diagonal where one of the two is free */
	HPA_MOVES_4 = 2        /* no diagonals */
} hpa_moves;

/* How a path is shortened after it was refined. None of them makes a path cost
 * more or breaks the movement rule, and a link is left out only for a way that
 * costs less. */
typedef enum hpa_smoothing {
	HPA_SMOOTH_SHORTCUTS = 0, /* stretches are replaced by a diagonal and
	                           * a straight line, while that gains */
	HPA_SMOOTH_NONE = 1,      /* the path is what the abstraction says */
	HPA_SMOOTH_RAYS = 2,      /* stretches are replaced by one straight
	                           * or diagonal line inside a box */
	HPA_SMOOTH_CORRIDOR = 3   /* shortcuts, then the cheapest way inside
	                           * the clusters of the path and those
	                           * around them */
} hpa_smoothing;

/* A cell, counted from the top left. A coordinate too large for the level,
 * such as a negative one that was cast, is answered by HPA_OUTSIDE. */
typedef struct hpa_cell {
	uint16_t x, y;
} hpa_cell;

/* Where memory comes from. free() gets back the size that alloc() was asked
 * for. alloc() returns memory aligned for any type, or NULL. */
typedef struct hpa_allocator {
	void *(*alloc)(void *user, size_t size);
	void (*free)(void *user, void *memory, size_t size);
	void *user;
} hpa_allocator;

/* Do not check the sections' checksums, content hash and insides: for data that
 * shipped with the game and can't have changed. What is given up: a damaged file
 * may make the call that opens it and any later one read or write out of bounds,
 * loop forever or answer wrongly. Without the flag a file that changed since it was
 * baked is refused, and one that is made up can do no more than answer wrongly.
 * Header, table and sizes are checked nevertheless, and so is what inflates. */
#define HPA_TRUST 1u

/* Read the file into memory from the allocator instead of mapping it. Who cuts
 * off a mapped file ends the program by SIGBUS at the next call, and who writes
 * to it changes what was checked; a copy is out of their reach. It costs the
 * file's size and the time to read it. */
#define HPA_COPY 2u

/* Make no landmarks: distances from four nodes to all others, by which a search
 * expands two to four times fewer nodes. They take 16 bytes from the allocator
 * for each node, 48 while they are measured, and about twice the time that it
 * takes to check a file that is searched in place, more where many clusters share
 * a table. Without them, of ways that cost the same another one may be found.
 * Maps of more than 65536 nodes, and those with links or hub labels, never have
 * any. In a file they are made for one profile after the other, but never for
 * more than four million edges. */
#define HPA_NO_LANDMARKS 4u

typedef struct hpa_open_options {
	unsigned flags; /* 0, or some of the three above, by | */
	const hpa_allocator *allocator; /* NULL: malloc and free */
	const char **detail; /* NULL, or where to put a constant text on what a
	                      * bad file breaks */
} hpa_open_options;

/* What is in a map. */
typedef struct hpa_facts {
	uint32_t width, height; /* cells */
	uint32_t cluster_size;  /* cells along the side of a level-1 cluster */
	uint32_t n_levels;
	hpa_moves moves;
	uint32_t cost_straight, cost_diagonal; /* the unit of every cost */
	uint32_t n_nodes;
	uint32_t n_components;
	uint64_t n_free_cells;
	uint64_t content_hash, source_hash, options_hash;
	uint32_t n_profiles; /* in the file */
	uint32_t profile;    /* the number of this one, from 0 */
	uint32_t agent_size; /* cells along the side of its agent */
	char agent[33];      /* its name, or "" in a file without agents */
	uint32_t n_links;
} hpa_facts;

/* A link: a step between two cells that need not be neighbours. */
typedef struct hpa_link {
	hpa_cell from, to;
	uint32_t cost;
	int is_one_way;
	char name[33]; /* "": it has none */
} hpa_link;

/* One step of an abstract path. */
typedef struct hpa_waypoint {
	hpa_cell cell;
	uint64_t cost; /* from the start to here */
} hpa_waypoint;

/* Constant text for a status. Any thread. */
HPA_API const char *hpa_status_text(hpa_status status);

/* Map and check a baked file. On HPA_OK free *out with hpa_map_close();
 * otherwise *out is NULL. The file may be renamed or unlinked while it is open
 * but must not be written to or cut off, see HPA_COPY. */
HPA_API HPA_MUST_USE hpa_status hpa_map_open(const char *file, hpa_map **out);

/* The same with options; NULL means the defaults. */
HPA_API HPA_MUST_USE hpa_status
hpa_map_open_with(const char *file, const hpa_open_options *options,
                  hpa_map **out);

/* The same for a file's bytes in memory. They are not copied, whatever the
 * flags: keep them, unchanged, until the map is closed. */
HPA_API HPA_MUST_USE hpa_status
hpa_map_open_memory(const void *data, size_t size,
                    const hpa_open_options *options, hpa_map **out);

/* Free a map. All its queries must be freed before. NULL is fine. */
HPA_API void hpa_map_close(hpa_map *map);

/* A file may hold several profiles of its level, one for each kind of agent. An
 * open map is its first profile; these give the others, by number or by the
 * agent's name, or NULL if there is none. They belong to the map that was
 * opened, take part in all calls below and must not be closed. Any thread. */
HPA_API const hpa_map *hpa_map_profile(const hpa_map *map, uint32_t profile);
HPA_API const hpa_map *hpa_map_agent(const hpa_map *map, const char *name);

/* Fill in a link of the level, by number; 0 if there are not so many. An agent
 * uses those whose two ends are free for it. Any thread. */
HPA_API int hpa_map_link(const hpa_map *map, uint32_t index, hpa_link *out);

/* Fill in what is known about the map. Any thread. */
HPA_API void hpa_map_facts(const hpa_map *map, hpa_facts *out);

/* 1 if the agent may stand on the cell, 0 if not or if it lies outside. An
 * agent of k x k cells stands on the one at its top left. Any thread. */
HPA_API int hpa_map_is_free(const hpa_map *map, hpa_cell cell);

/* Is there a path? Read from the component labels, without a search: HPA_OK,
 * HPA_NO_PATH, HPA_BLOCKED or HPA_OUTSIDE. Any thread. */
HPA_API HPA_MUST_USE hpa_status hpa_map_reachable(const hpa_map *map,
                                                  hpa_cell from, hpa_cell to);

/* The cell nearest to `to` (as the crow flies, in octile distance; of equals
 * the one first in reading order) that can be reached from `from`. `to` may be
 * blocked or cut off; when it can be reached it is the answer itself. HPA_OK,
 * or HPA_BLOCKED or HPA_OUTSIDE for `from`, HPA_OUTSIDE for `to`. Any thread. */
HPA_API HPA_MUST_USE hpa_status hpa_map_nearest(const hpa_map *map,
                                                hpa_cell from, hpa_cell to,
                                                hpa_cell *out);

/* Bytes that a query on this map takes from its allocator, in one piece. */
HPA_API size_t hpa_query_size(const hpa_map *map);

/* Make a query. allocator may be NULL: malloc and free. On HPA_OK free *out
 * with hpa_query_free(), before the map is closed; otherwise *out is NULL.
 * Calls with one query are not made from two threads at once. */
HPA_API HPA_MUST_USE hpa_status hpa_query_new(const hpa_map *map,
                                              const hpa_allocator *allocator,
                                              hpa_query **out);
HPA_API void hpa_query_free(hpa_query *query);

/* Choose how the next paths of a query are smoothed; HPA_SMOOTH_SHORTCUTS if it
 * was never called. `box` is how many cells a ray reaches, 0 for the default
 * (16); other modes do not read it. An unknown mode is HPA_SMOOTH_NONE.
 *
 * With every mode but HPA_SMOOTH_NONE, two straight runs from start to goal are
 * tried first, and start and goal that lie near each other (both coordinates
 * differ by less than 30) are also looked at directly, in a window of 32 x 32
 * cells around them; the cheapest way is the path. */
HPA_API void hpa_query_set_smoothing(hpa_query *query, hpa_smoothing mode,
                                     uint32_t box);

/* The calls below return HPA_NO_PATH, HPA_BLOCKED or HPA_OUTSIDE where there is
 * no path, and HPA_CORRUPT where the file's numbers contradict each other. Counts
 * are 0 then and other outputs untouched, but for the cells of a path that is found
 * to be corrupt as it is written. */

/* The cost of the path before it is smoothed, in units of the facts'
 * cost_straight and cost_diagonal. That of hpa_query_path() is the same with
 * HPA_SMOOTH_NONE and never more with another mode. */
HPA_API HPA_MUST_USE hpa_status hpa_query_cost(hpa_query *query, hpa_cell from,
                                               hpa_cell to, uint64_t *cost);

/* The path before refinement: from, the abstract nodes in order, to. *n is the
 * number of way-points; HPA_NO_ROOM if it is above capacity (the first
 * `capacity` ones are written then). */
HPA_API HPA_MUST_USE hpa_status
hpa_query_abstract_path(hpa_query *query, hpa_cell from, hpa_cell to,
                        hpa_waypoint *out, size_t capacity, size_t *n);

/* The path cell by cell, from and to included. Cells that follow each other are
 * neighbours or the two ends of a link. *n is its number of cells; HPA_NO_ROOM
 * if it is above capacity (the first `capacity` ones are written then). */
HPA_API HPA_MUST_USE hpa_status hpa_query_path(hpa_query *query, hpa_cell from,
                                               hpa_cell to, hpa_cell *out,
                                               size_t capacity, size_t *n);

/* A path piece by piece: start finds it, each next refines only a little farther
 * than the cells it writes. With HPA_SMOOTH_NONE the cells are those of
 * hpa_query_path(). Else each piece is smoothed with what follows it, at first
 * 64 cells and later more, so that the path may be a little longer than that
 * one; it does not depend on the capacities. HPA_SMOOTH_CORRIDOR smooths by
 * shortcuts here. *n is the number written, below capacity only at the end of
 * the path, 0 after it. Any other call with this query ends the walk. */
HPA_API HPA_MUST_USE hpa_status hpa_query_start(hpa_query *query, hpa_cell from,
                                                hpa_cell to, uint64_t *cost);
HPA_API HPA_MUST_USE hpa_status hpa_query_next(hpa_query *query, hpa_cell *out,
                                               size_t capacity, size_t *n);

/* Nodes taken from the open list by the query's last main search: the effort,
 * for comparing bakes. 0 where nothing had to be searched: by hub labels, or
 * where start and goal were connected directly. */
HPA_API uint64_t hpa_query_expanded(const hpa_query *query);

#ifdef __cplusplus
}
#endif

#endif
