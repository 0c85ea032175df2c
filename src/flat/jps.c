/* jps.c: jump point search (Harabor and Grastien 2011), on bit rows.
 *
 * Of all equally long ways, only those are looked at that go diagonally first;
 * so a search needs to stop only where a wall ends beside it. Where diagonals
 * cut no corner that is a simple thing to see. On the way east a way that turns
 * up can be worth it only at a cell whose upper neighbour is free while the one
 * before it was blocked; from there it may go on up, or up and east. A diagonal
 * way meets no such cells: at each of its cells it looks straight on to both
 * sides.
 *
 * A straight look is where the time goes. It reads three rows, a word of at
 * least 57 cells at a time, and finds the first cell where one of the rows
 * beside begins to be free, or where the row itself ends, by counting zeros.
 * Columns are rows of a transposed copy. Every row has a margin of 64 blocked
 * cells at both ends, and there is a blocked row above and below.
 *
 * What a diagonal way sees is offered at once, in the name of the cell where the
 * way began: of diagonal arrivals only the goal is ever open. Where to go on from
 * a cell depends on the straight direction in which it was reached. Of several
 * that cost the same one is enough: what the others would go on to, and this one
 * does not, is reached more cheaply by a diagonal from the cell before. */
#include "src/flat/flat.h"

#include <stdlib.h>
#include <string.h>

#include "src/flat/known.h"
#include "src/flat/queue.h"

#define MARGIN 64u
/* Of a cell: the direction in which it was reached. */
#define DIRECTION_BITS 7u
#define IS_CLOSED 8u

#define N_SEEN 56u /* cells that a word shows for sure besides its first */

/* Free cells as bits, the leftmost lowest, with margins; or transposed. */
struct rows {
	uint8_t *bits;
	size_t stride; /* bytes a row */
};

struct flat_jps {
	const struct grid *grid;
	struct rows rows, columns;
	uint64_t *known;
	hpa_cell *parent; /* where the jump to a cell began */
	size_t n_cells;
	uint32_t stamp;
	struct flat_queue queue;

	/* Of the search at hand. */
	hpa_cell goal;
	hpa_cell from; /* the cell whose jumps are made */
};

bool
flat_jps_can(const struct grid *grid)
{
	return grid->moves == HPA_RULE_8 && !grid->classes;
}

static bool
rows_init(struct rows *rows, uint32_t length, uint32_t n)
{
	rows->stride = (size_t)(length + 7) / 8 + 2 * MARGIN / 8;
	rows->bits = calloc((size_t)n + 2, rows->stride);
	return rows->bits != NULL;
}

static void
rows_set(struct rows *rows, uint32_t x, uint32_t y)
{
	rows->bits[(size_t)(y + 1) * rows->stride + (x + MARGIN) / 8] |=
		(uint8_t)(1u << x % 8);
}

static inline bool
rows_has(const struct rows *rows, uint32_t x, uint32_t y)
{
	return rows->bits[(size_t)(y + 1) * rows->stride + (x + MARGIN) / 8] >>
	               x % 8 &
	       1;
}

static void
copy_cells(struct flat_jps *jps)
{
	const struct grid *grid = jps->grid;

	for (uint32_t y = 0; y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++)
			if (grid_is_free(grid, x, y)) {
				rows_set(&jps->rows, x, y);
				rows_set(&jps->columns, y, x);
			}
}

/* What is open at once differs by less than twice the longest jump costs: along
 * a diagonal and then straight on. */
static uint64_t
greatest_spread(const struct grid *grid)
{
	return 2 * (uint64_t)grid->cost_diagonal *
	       ((uint64_t)grid->width + grid->height);
}

struct flat_jps *
flat_jps_new(const struct grid *grid)
{
	struct flat_jps *jps = calloc(1, sizeof(*jps));

	if (!jps)
		return NULL;
	jps->grid = grid;
	jps->n_cells = (size_t)grid->width * grid->height;
	jps->known = calloc(jps->n_cells, sizeof(*jps->known));
	jps->parent = malloc(jps->n_cells * sizeof(*jps->parent));
	if (!jps->known || !jps->parent ||
	    !rows_init(&jps->rows, grid->width, grid->height) ||
	    !rows_init(&jps->columns, grid->height, grid->width) ||
	    !flat_queue_init(&jps->queue, greatest_spread(grid),
	                     GRID_N_DIRECTIONS * jps->n_cells + 1)) {
		flat_jps_free(jps);
		return NULL;
	}
	copy_cells(jps);
	return jps;
}

void
flat_jps_free(struct flat_jps *jps)
{
	if (!jps)
		return;
	flat_queue_free(&jps->queue);
	free(jps->rows.bits);
	free(jps->columns.bits);
	free(jps->known);
	free(jps->parent);
	free(jps);
}

/* Where cells of the middle row are blocked, or those of one beside it begin to
 * be free, seen from the lower bit to the higher one. */
static inline uint64_t
stops_upward(uint64_t above, uint64_t row, uint64_t below)
{
	return (above & ~(above << 1)) | (below & ~(below << 1)) | ~row;
}

static inline uint64_t
stops_downward(uint64_t above, uint64_t row, uint64_t below)
{
	return (above & ~(above >> 1)) | (below & ~(below >> 1)) | ~row;
}

/* How many cells to the first stop to the right of (x, y). */
static inline uint32_t
look_right(const struct rows *rows, uint32_t x, uint32_t y)
{
	const uint64_t seen = (((uint64_t)1 << N_SEEN) - 1) << 1;
	const uint8_t *row = rows->bits + (size_t)(y + 1) * rows->stride;
	uint32_t at = x + MARGIN, n = 0;

	for (;; n += N_SEEN) {
		const uint8_t *byte = row + (at + n) / 8;
		uint64_t stops =
			seen &
			stops_upward(
				hpa_get_le64(byte - rows->stride) >> at % 8,
				hpa_get_le64(byte) >> at % 8,
				hpa_get_le64(byte + rows->stride) >> at % 8);

		if (stops)
			return n + (uint32_t)__builtin_ctzll(stops);
	}
}

static inline uint32_t
look_left(const struct rows *rows, uint32_t x, uint32_t y)
{
	const uint64_t seen = (((uint64_t)1 << N_SEEN) - 1) << (63 - N_SEEN);
	const uint8_t *row = rows->bits + (size_t)(y + 1) * rows->stride;
	uint32_t at = x + MARGIN, n = 0;
	unsigned shift = 7 - at % 8;

	for (;; n += N_SEEN) {
		const uint8_t *byte = row + (at - n) / 8 - 7;
		uint64_t stops =
			seen & stops_downward(hpa_get_le64(byte - rows->stride)
		                                      << shift,
		                              hpa_get_le64(byte) << shift,
		                              hpa_get_le64(byte + rows->stride)
		                                      << shift);

		if (stops)
			return n + (uint32_t)__builtin_clzll(stops);
	}
}

static inline void
offer(struct flat_jps *jps, uint32_t x, uint32_t y, uint64_t cost,
      unsigned direction)
{
	size_t cell = (size_t)y * jps->grid->width + x;
	uint64_t known = known_of(jps->stamp, cost, direction);

	if (!known_is_better(known, jps->known[cell]))
		return;
	jps->known[cell] = known;
	jps->parent[cell] = jps->from;
	flat_queue_push(
		&jps->queue,
		cost + grid_octile(jps->grid, x, y, jps->goal.x, jps->goal.y),
		x, y);
}

/* Jump along a row, or along a column, which is a row of the other kind, and
 * offer what is found: the goal, if it lies before the first stop, or the stop,
 * if it is free. */
static inline void
jump_straight(struct flat_jps *jps, uint32_t x, uint32_t y, uint64_t cost,
              unsigned direction)
{
	bool is_column = direction == 2 || direction == 6;
	bool is_back = direction == 4 || direction == 6;
	const struct rows *rows = is_column ? &jps->columns : &jps->rows;
	uint32_t along = is_column ? y : x, across = is_column ? x : y;
	uint32_t goal_along = is_column ? jps->goal.y : jps->goal.x;
	uint32_t goal_across = is_column ? jps->goal.x : jps->goal.y;
	uint32_t n = is_back ? look_left(rows, along, across)
	                     : look_right(rows, along, across);
	uint32_t stop = is_back ? along - n : along + n;
	uint32_t to_goal = is_back ? along - goal_along : goal_along - along;

	if (goal_across == across && to_goal - 1 < n) {
		n = to_goal;
		stop = goal_along;
	} else if (!rows_has(rows, stop, across)) {
		return;
	}
	cost += n * (uint64_t)jps->grid->cost_straight;
	if (is_column)
		offer(jps, x, stop, cost, direction);
	else
		offer(jps, stop, y, cost, direction);
}

/* Walk diagonally, and look to both sides. */
static inline void
jump_diagonal(struct flat_jps *jps, uint32_t x, uint32_t y, uint64_t cost,
              unsigned direction)
{
	unsigned one = direction - 1, other = (direction + 1) % 8;
	uint32_t dx = grid_dx[direction], dy = grid_dy[direction];

	while (rows_has(&jps->rows, x + dx, y) &&
	       rows_has(&jps->rows, x, y + dy) &&
	       rows_has(&jps->rows, x + dx, y + dy)) {
		x += dx;
		y += dy;
		cost += jps->grid->cost_diagonal;
		if (x == jps->goal.x && y == jps->goal.y) {
			offer(jps, x, y, cost, direction);
			return;
		}
		jump_straight(jps, x, y, cost, one);
		jump_straight(jps, x, y, cost, other);
	}
}

/* Go on from a cell that was reached in this straight direction: straight on,
 * and to each side where a wall ends. */
static inline void
expand(struct flat_jps *jps, uint32_t x, uint32_t y, uint64_t cost,
       unsigned direction)
{
	jump_straight(jps, x, y, cost, direction);
	for (unsigned turn = 2; turn <= 6; turn += 4) {
		unsigned side = (direction + turn) % 8;
		unsigned between = (direction + (turn == 2 ? 1 : 7)) % 8;
		uint32_t side_x = x + grid_dx[side], side_y = y + grid_dy[side];

		if (!rows_has(&jps->rows, side_x, side_y) ||
		    rows_has(&jps->rows, side_x - grid_dx[direction],
		             side_y - grid_dy[direction]))
			continue;
		jump_straight(jps, x, y, cost, side);
		jump_diagonal(jps, x, y, cost, between);
	}
}

static void
expand_start(struct flat_jps *jps, hpa_cell from)
{
	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d += 2) {
		jump_straight(jps, from.x, from.y, 0, d);
		jump_diagonal(jps, from.x, from.y, 0, d + 1);
	}
}

static bool
search(struct flat_jps *jps, uint64_t *n_expanded)
{
	uint32_t x, y;

	while (flat_queue_pop(&jps->queue, &x, &y)) {
		size_t cell = (size_t)y * jps->grid->width + x;
		uint64_t known = jps->known[cell];

		if (known & IS_CLOSED)
			continue;
		++*n_expanded;
		if (x == jps->goal.x && y == jps->goal.y)
			return true;
		jps->known[cell] = known | IS_CLOSED;
		jps->from = (hpa_cell){(uint16_t)x, (uint16_t)y};
		expand(jps, x, y, known_cost(known),
		       (unsigned)known & DIRECTION_BITS);
	}
	return false;
}

/* Steps between two cells that lie on a line. */
static uint32_t
distance(uint32_t a, uint32_t b)
{
	return a < b ? b - a : a - b;
}

/* Where a jump turned from the diagonal to straight on; false if it did not. */
static bool
find_bend(hpa_cell from, hpa_cell to, hpa_cell *out)
{
	uint32_t dx = distance(from.x, to.x), dy = distance(from.y, to.y);
	uint32_t n = dx < dy ? dx : dy;

	out->x = (uint16_t)(from.x < to.x ? from.x + n : from.x - n);
	out->y = (uint16_t)(from.y < to.y ? from.y + n : from.y - n);
	return dx != dy && n > 0;
}

static size_t
trace(const struct flat_jps *jps, hpa_cell from, hpa_cell *cells)
{
	hpa_cell at = jps->goal, bend;
	size_t n = 0;

	cells[n++] = at;
	while (at.x != from.x || at.y != from.y) {
		hpa_cell parent =
			jps->parent[(size_t)at.y * jps->grid->width + at.x];

		if (find_bend(parent, at, &bend))
			cells[n++] = bend;
		cells[n++] = parent;
		at = parent;
	}
	flat_reverse(cells, n);
	return n;
}

/* Make the start's jumps: it was reached from nowhere, and is closed. */
static void
begin(struct flat_jps *jps, hpa_cell from, hpa_cell to)
{
	jps->stamp = known_next_stamp(jps->known, jps->n_cells, jps->stamp);
	jps->from = from;
	jps->goal = to;
	flat_queue_begin(&jps->queue,
	                 grid_octile(jps->grid, from.x, from.y, to.x, to.y));
	jps->known[(size_t)from.y * jps->grid->width + from.x] =
		known_of(jps->stamp, 0, IS_CLOSED);
	expand_start(jps, from);
}

bool
flat_jps_find(struct flat_jps *jps, hpa_cell from, hpa_cell to, hpa_cell *cells,
              struct flat_path *out)
{
	const struct grid *grid = jps->grid;

	*out = (struct flat_path){.n = 0};
	if (!grid_is_free(grid, from.x, from.y) ||
	    !grid_is_free(grid, to.x, to.y))
		return false;
	begin(jps, from, to);
	if ((from.x != to.x || from.y != to.y) &&
	    !search(jps, &out->n_expanded))
		return false;
	out->cost = known_cost(jps->known[(size_t)to.y * grid->width + to.x]);
	out->n = trace(jps, from, cells);
	return true;
}
