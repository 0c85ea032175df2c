/* astar.c: A* over the cells of a grid.
 *
 * What a cell is known by is one number (known.h), what is open lies in a
 * bucket queue (queue.h). The legal steps of every cell are a byte, made when
 * the level is. A cell that gets cheaper is pushed once more, and what is popped
 * closed is skipped; of equal sums the one pushed last is popped first, which
 * runs for the goal instead of widening a front.
 *
 * The search is compiled for uniform levels without links and for all others,
 * so that the former do not pay for what they do not have. */
#include "src/flat/flat.h"

#include <stdlib.h>

#include "src/flat/known.h"
#include "src/flat/queue.h"

/* How a cell was reached: in one of the directions, or by a link. */
#define BY_LINK GRID_N_DIRECTIONS
#define DIRECTION_BITS 15u
#define IS_CLOSED 16u

/* A link in one of its directions. */
struct jump {
	hpa_cell start, to;
	size_t from; /* the cell of the start */
	uint32_t cost;
};

struct flat_astar {
	const struct grid *grid;
	uint64_t *known;
	uint8_t *legal;  /* a bit per direction */
	uint8_t *factor; /* NULL: all cells cost the same */
	struct jump *jumps;
	uint32_t n_jumps;
	bool *is_jump;     /* per cell: a link begins there */
	uint32_t *came_by; /* per cell: the jump that was the last step */
	size_t n_cells;
	uint32_t stamp;
	struct flat_queue queue;
	ptrdiff_t step[GRID_N_DIRECTIONS]; /* from a cell's index to the next */
};

static void
add_jump(struct flat_astar *astar, hpa_cell from, hpa_cell to, uint32_t cost)
{
	size_t cell = (size_t)from.y * astar->grid->width + from.x;

	astar->jumps[astar->n_jumps++] = (struct jump){from, to, cell, cost};
	astar->is_jump[cell] = true;
}

static bool
take_links(struct flat_astar *astar, const hpa_link *links, uint32_t n_links)
{
	if (n_links == 0)
		return true;
	astar->jumps = calloc(2 * (size_t)n_links, sizeof(*astar->jumps));
	astar->is_jump = calloc(astar->n_cells, sizeof(*astar->is_jump));
	astar->came_by = malloc(astar->n_cells * sizeof(*astar->came_by));
	if (!astar->jumps || !astar->is_jump || !astar->came_by)
		return false;
	for (uint32_t i = 0; i < n_links; i++) {
		const hpa_link *link = &links[i];

		add_jump(astar, link->from, link->to, link->cost);
		if (!link->is_one_way)
			add_jump(astar, link->to, link->from, link->cost);
	}
	return true;
}

static void
find_legal_steps(struct flat_astar *astar)
{
	const struct grid *grid = astar->grid;
	uint8_t *legal = astar->legal;

	for (uint32_t y = 0; y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++, legal++)
			for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++)
				if (grid_is_free(grid, x, y) &&
				    grid_may_step(grid, x, y, d))
					*legal |= (uint8_t)(1u << d);
}

static bool
copy_factors(struct flat_astar *astar)
{
	const struct grid *grid = astar->grid;
	uint8_t *factor;

	if (!grid->classes)
		return true;
	factor = astar->factor = malloc(astar->n_cells);
	for (uint32_t y = 0; factor && y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++)
			*factor++ = (uint8_t)grid_factor(grid, x, y);
	return astar->factor != NULL;
}

/* A step adds its cost to that of a way, and takes as much off what the rest is
 * thought to cost or adds it. */
static uint64_t
greatest_spread(const struct flat_astar *astar)
{
	const struct grid *grid = astar->grid;
	uint64_t most = grid->cost_diagonal;

	if (astar->factor)
		most *= UINT8_MAX;
	for (uint32_t i = 0; i < astar->n_jumps; i++)
		if (astar->jumps[i].cost > most)
			most = astar->jumps[i].cost;
	return 2 * most;
}

struct flat_astar *
flat_astar_new(const struct grid *grid, const hpa_link *links, uint32_t n_links)
{
	struct flat_astar *astar = calloc(1, sizeof(*astar));

	if (!astar)
		return NULL;
	astar->grid = grid;
	astar->n_cells = (size_t)grid->width * grid->height;
	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++)
		astar->step[d] = (int32_t)grid_dy[d] * (ptrdiff_t)grid->width +
		                 (int32_t)grid_dx[d];
	astar->known = calloc(astar->n_cells, sizeof(*astar->known));
	astar->legal = calloc(astar->n_cells, 1);
	if (!astar->known || !astar->legal || !copy_factors(astar) ||
	    !take_links(astar, links, n_links) ||
	    !flat_queue_init(&astar->queue, greatest_spread(astar),
	                     GRID_N_DIRECTIONS * astar->n_cells +
	                             astar->n_jumps + 1)) {
		flat_astar_free(astar);
		return NULL;
	}
	find_legal_steps(astar);
	return astar;
}

void
flat_astar_free(struct flat_astar *astar)
{
	if (!astar)
		return;
	flat_queue_free(&astar->queue);
	free(astar->known);
	free(astar->legal);
	free(astar->factor);
	free(astar->jumps);
	free(astar->is_jump);
	free(astar->came_by);
	free(astar);
}

static size_t
index_of(const struct flat_astar *astar, uint32_t x, uint32_t y)
{
	return (size_t)y * astar->grid->width + x;
}

static inline uint64_t
step_cost(const struct flat_astar *astar, size_t from, size_t to, unsigned d,
          bool is_plain)
{
	uint64_t step =
		d % 2 ? astar->grid->cost_diagonal : astar->grid->cost_straight;

	if (is_plain || !astar->factor)
		return step;
	return step / 2 * (astar->factor[from] + (uint64_t)astar->factor[to]);
}

/* What is left from a cell to the goal, at the least. */
static inline uint64_t
estimate(const struct flat_astar *astar, uint32_t x, uint32_t y, hpa_cell to,
         bool is_plain)
{
	if (!is_plain && astar->n_jumps > 0)
		return 0;
	return grid_octile(astar->grid, x, y, to.x, to.y);
}

static inline void
follow_links(struct flat_astar *astar, size_t from, uint64_t cost, hpa_cell to)
{
	for (uint32_t i = 0; i < astar->n_jumps; i++) {
		const struct jump *jump = &astar->jumps[i];
		size_t cell = index_of(astar, jump->to.x, jump->to.y);
		uint64_t offer =
			known_of(astar->stamp, cost + jump->cost, BY_LINK);

		if (jump->from != from ||
		    !known_is_better(offer, astar->known[cell]))
			continue;
		astar->known[cell] = offer;
		astar->came_by[cell] = i;
		flat_queue_push(&astar->queue,
		                cost + jump->cost +
		                        estimate(astar, jump->to.x, jump->to.y,
		                                 to, false),
		                jump->to.x, jump->to.y);
	}
}

/* Offer every neighbour of a cell the way over it. */
static inline void
expand(struct flat_astar *astar, uint32_t x, uint32_t y, size_t from,
       uint64_t cost, hpa_cell to, bool is_plain)
{
	for (unsigned legal = astar->legal[from]; legal; legal &= legal - 1) {
		unsigned d = (unsigned)__builtin_ctz(legal);
		size_t cell = from + (size_t)astar->step[d];
		uint64_t sum = cost + step_cost(astar, from, cell, d, is_plain);
		uint64_t offer = known_of(astar->stamp, sum, d);
		uint32_t to_x = x + grid_dx[d], to_y = y + grid_dy[d];

		if (!known_is_better(offer, astar->known[cell]))
			continue;
		astar->known[cell] = offer;
		flat_queue_push(&astar->queue,
		                sum + estimate(astar, to_x, to_y, to, is_plain),
		                to_x, to_y);
	}
	if (!is_plain && astar->is_jump && astar->is_jump[from])
		follow_links(astar, from, cost, to);
}

/* Close cells until the goal is. */
static inline bool
search(struct flat_astar *astar, hpa_cell to, bool is_plain,
       uint64_t *n_expanded)
{
	size_t goal = index_of(astar, to.x, to.y);
	uint32_t x, y;

	while (flat_queue_pop(&astar->queue, &x, &y)) {
		size_t cell = index_of(astar, x, y);
		uint64_t known = astar->known[cell];

		if (known & IS_CLOSED)
			continue;
		++*n_expanded;
		if (cell == goal)
			return true;
		astar->known[cell] = known | IS_CLOSED;
		expand(astar, x, y, cell, known_cost(known), to, is_plain);
	}
	return false;
}

/* The cell from which another one was reached. */
static hpa_cell
previous(const struct flat_astar *astar, hpa_cell at)
{
	size_t cell = index_of(astar, at.x, at.y);
	unsigned d = (unsigned)(astar->known[cell] & DIRECTION_BITS);

	if (d == BY_LINK)
		return astar->jumps[astar->came_by[cell]].start;
	return (hpa_cell){(uint16_t)(at.x - grid_dx[d]),
	                  (uint16_t)(at.y - grid_dy[d])};
}

/* Put down the cells of the path, by the steps that led to them. */
static size_t
trace(const struct flat_astar *astar, hpa_cell from, hpa_cell to,
      hpa_cell *cells)
{
	hpa_cell at = to;
	size_t n = 0;

	cells[n++] = at;
	while (at.x != from.x || at.y != from.y) {
		at = previous(astar, at);
		cells[n++] = at;
	}
	flat_reverse(cells, n);
	return n;
}

bool
flat_astar_find(struct flat_astar *astar, hpa_cell from, hpa_cell to,
                hpa_cell *cells, struct flat_path *out)
{
	const struct grid *grid = astar->grid;
	bool is_plain = !astar->factor && astar->n_jumps == 0;
	uint64_t rest = estimate(astar, from.x, from.y, to, is_plain);
	bool found;

	*out = (struct flat_path){.n = 0};
	if (!grid_is_free(grid, from.x, from.y) ||
	    !grid_is_free(grid, to.x, to.y))
		return false;
	astar->stamp =
		known_next_stamp(astar->known, astar->n_cells, astar->stamp);
	flat_queue_begin(&astar->queue, rest);
	astar->known[index_of(astar, from.x, from.y)] =
		known_of(astar->stamp, 0, 0);
	flat_queue_push(&astar->queue, rest, from.x, from.y);
	found = is_plain ? search(astar, to, true, &out->n_expanded)
	                 : search(astar, to, false, &out->n_expanded);
	if (!found)
		return false;
	out->cost = known_cost(astar->known[index_of(astar, to.x, to.y)]);
	out->n = trace(astar, from, to, cells);
	return true;
}
