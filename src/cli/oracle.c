/* oracle.c: the truth about a level, by plain Dijkstra on its grid.
 *
 * Everything starts from oracle_step_is_legal(), the movement rules as one
 * reads them in the manual. oracle_new() asks it about all eight steps of every
 * cell and keeps the answers as bits; the search knows nothing else.
 *
 * The open list is a bucket queue: no step costs more than a diagonal one, so
 * the costs of the open cells differ by that much at most and a ring of slots,
 * one per cost, holds them all. A slot is a list linked through the cells, both
 * ways, so that a cell whose cost falls changes its slot in place and a search
 * allocates nothing.
 *
 * Nothing is cleared between searches. Costs are stored on top of a base that
 * each search sets above all costs stored before: what lies below it has not
 * been seen yet. */
#include "src/cli/oracle.h"

#include <stdlib.h>

#define N_SLOTS 128u /* a power of 2 */
_Static_assert(N_SLOTS > HPA_COST_DIAGONAL && N_SLOTS > HPA_COST_STRAIGHT,
               "a slot for each cost that can be open at once");

#define NO_CELL UINT32_MAX /* no level has that many cells */
#define NO_LABEL 0u

/* What the search knows of a cell. */
struct cell {
	uint64_t cost; /* base + cost from the start; below base: unseen */
	uint32_t next, previous; /* in the list of its slot */
};

struct step {
	int dx, dy;
	uint32_t cost;
};

#define N_STEPS 8u
static const struct step steps[N_STEPS] = {
	{0, -1, HPA_COST_STRAIGHT},  {-1, 0, HPA_COST_STRAIGHT},
	{1, 0, HPA_COST_STRAIGHT},   {0, 1, HPA_COST_STRAIGHT},
	{-1, -1, HPA_COST_DIAGONAL}, {1, -1, HPA_COST_DIAGONAL},
	{-1, 1, HPA_COST_DIAGONAL},  {1, 1, HPA_COST_DIAGONAL},
};

struct oracle {
	const struct level *level;
	enum hpa_move_rule moves;
	uint8_t *legal;      /* per cell, bit i: steps[i] is legal */
	struct cell *cells;
	uint64_t base;       /* of the next search */
	uint32_t slots[N_SLOTS]; /* first cell of each list, or NO_CELL */
	uint64_t n_open;     /* cells in the lists */
	uint32_t *labels;    /* per cell; NO_LABEL where it is blocked */
	bool labelled;
};

static bool
is_free(const struct oracle *oracle, long x, long y)
{
	const struct level *level = oracle->level;

	return x >= 0 && y >= 0 && x < (long)level->width &&
	       y < (long)level->height &&
	       level_is_open(level, (size_t)y * level->width + (size_t)x);
}

bool
oracle_step_is_legal(const struct oracle *oracle, long x, long y, long dx,
                     long dy)
{
	bool beside_x, beside_y;

	if (dx < -1 || dx > 1 || dy < -1 || dy > 1 || (dx == 0 && dy == 0))
		return false;
	if (!is_free(oracle, x, y) || !is_free(oracle, x + dx, y + dy))
		return false;
	if (dx == 0 || dy == 0)
		return true;
	beside_x = is_free(oracle, x + dx, y);
	beside_y = is_free(oracle, x, y + dy);
	switch (oracle->moves) {
	case HPA_RULE_8:
		return beside_x && beside_y;
	case HPA_RULE_8_LOOSE:
		return beside_x || beside_y;
	case HPA_RULE_4:
		return false;
	}
	return false;
}

static void
find_legal_steps(struct oracle *oracle)
{
	const struct level *level = oracle->level;
	uint8_t *legal = oracle->legal;
	uint32_t x, y;
	unsigned i;

	for (y = 0; y < level->height; y++)
		for (x = 0; x < level->width; x++, legal++)
			for (i = 0; i < N_STEPS; i++)
				if (oracle_step_is_legal(oracle, x, y,
				                         steps[i].dx,
				                         steps[i].dy))
					*legal |= (uint8_t)(1u << i);
}

struct oracle *
oracle_new(const struct level *level, enum hpa_move_rule moves)
{
	size_t n_cells = (size_t)level->width * level->height;
	struct oracle *oracle = calloc(1, sizeof(*oracle));
	unsigned i;

	if (!oracle)
		return NULL;
	oracle->level = level;
	oracle->moves = moves;
	oracle->legal = calloc(n_cells, sizeof(*oracle->legal));
	oracle->cells = calloc(n_cells, sizeof(*oracle->cells));
	oracle->labels = calloc(n_cells, sizeof(*oracle->labels));
	if (!oracle->legal || !oracle->cells || !oracle->labels) {
		oracle_free(oracle);
		return NULL;
	}
	oracle->base = 1; /* all cells are below it */
	for (i = 0; i < N_SLOTS; i++)
		oracle->slots[i] = NO_CELL;
	find_legal_steps(oracle);
	return oracle;
}

void
oracle_free(struct oracle *oracle)
{
	if (!oracle)
		return;
	free(oracle->legal);
	free(oracle->cells);
	free(oracle->labels);
	free(oracle);
}

static bool
is_free_cell(const struct oracle *oracle, uint32_t x, uint32_t y)
{
	const struct level *level = oracle->level;

	return x < level->width && y < level->height &&
	       level_is_open(level, (size_t)y * level->width + x);
}

static uint32_t
cell_index(const struct oracle *oracle, uint32_t x, uint32_t y)
{
	return y * oracle->level->width + x;
}

/* The cell a legal step leads to. Wraps as unsigned numbers do. */
static uint32_t
step_to(uint32_t from, uint32_t width, const struct step *step)
{
	return from + (uint32_t)step->dy * width + (uint32_t)step->dx;
}

/* Label all that is connected to a free cell. The cells to go on from are kept
 * in a list through `next`, which no search uses now. */
static void
flood(struct oracle *oracle, uint32_t start, uint32_t label)
{
	uint32_t todo = start;
	uint32_t from, to;
	unsigned i;

	oracle->labels[start] = label;
	oracle->cells[start].next = NO_CELL;
	while (todo != NO_CELL) {
		from = todo;
		todo = oracle->cells[from].next;
		/* Only the four straight steps: a diagonal one is legal, under
		 * any rule, only if a cell beside it is free, and then two
		 * straight steps over that cell lead to the same place. */
		for (i = 0; i < 4; i++) {
			if (!(oracle->legal[from] >> i & 1))
				continue;
			to = step_to(from, oracle->level->width, &steps[i]);
			if (oracle->labels[to] != NO_LABEL)
				continue;
			oracle->labels[to] = label;
			oracle->cells[to].next = todo;
			todo = to;
		}
	}
}

static void
label_all(struct oracle *oracle)
{
	const struct level *level = oracle->level;
	size_t n_cells = (size_t)level->width * level->height;
	uint32_t label = NO_LABEL;
	size_t i;

	for (i = 0; i < n_cells; i++)
		if (level_is_open(level, i) && oracle->labels[i] == NO_LABEL)
			flood(oracle, (uint32_t)i, ++label);
	oracle->labelled = true;
}

bool
oracle_connected(struct oracle *oracle, uint32_t x1, uint32_t y1, uint32_t x2,
                 uint32_t y2)
{
	if (!is_free_cell(oracle, x1, y1) || !is_free_cell(oracle, x2, y2))
		return false;
	if (!oracle->labelled)
		label_all(oracle);
	return oracle->labels[cell_index(oracle, x1, y1)] ==
	       oracle->labels[cell_index(oracle, x2, y2)];
}

/* Put a cell at the head of the list for its cost. */
static void
open_cell(struct oracle *oracle, uint32_t i, uint64_t cost)
{
	struct cell *cell = &oracle->cells[i];
	uint32_t *slot = &oracle->slots[cost % N_SLOTS];

	cell->cost = cost;
	cell->previous = NO_CELL;
	cell->next = *slot;
	if (*slot != NO_CELL)
		oracle->cells[*slot].previous = i;
	*slot = i;
	oracle->n_open++;
}

static void
close_cell(struct oracle *oracle, uint32_t i)
{
	const struct cell *cell = &oracle->cells[i];

	if (cell->previous != NO_CELL)
		oracle->cells[cell->previous].next = cell->next;
	else
		oracle->slots[cell->cost % N_SLOTS] = cell->next;
	if (cell->next != NO_CELL)
		oracle->cells[cell->next].previous = cell->previous;
	oracle->n_open--;
}

/* Offer each neighbour the way over this cell. A closed one is never cheaper
 * to reach, so what gets cheaper is still open. */
static void
relax(struct oracle *oracle, uint32_t from)
{
	uint64_t from_cost = oracle->cells[from].cost;
	unsigned legal = oracle->legal[from];
	uint64_t cost, known;
	uint32_t to;
	unsigned i;

	for (i = 0; i < N_STEPS; i++) {
		if (!(legal >> i & 1))
			continue;
		to = step_to(from, oracle->level->width, &steps[i]);
		cost = from_cost + steps[i].cost;
		known = oracle->cells[to].cost;
		if (known >= oracle->base && known <= cost)
			continue;
		if (known >= oracle->base)
			close_cell(oracle, to);
		open_cell(oracle, to, cost);
	}
}

/* Close cells in the order of their costs until the goal is closed or none is
 * open. Returns the cost of the last one. */
static uint64_t
search(struct oracle *oracle, uint32_t start, uint32_t goal, bool *found)
{
	uint64_t cost = oracle->base;
	uint32_t i;

	*found = false;
	open_cell(oracle, start, cost);
	while (oracle->n_open > 0 && !*found) {
		while (oracle->slots[cost % N_SLOTS] == NO_CELL)
			cost++;
		i = oracle->slots[cost % N_SLOTS];
		close_cell(oracle, i);
		*found = i == goal;
		relax(oracle, i);
	}
	return cost;
}

static void
empty_slots(struct oracle *oracle)
{
	unsigned i;

	for (i = 0; i < N_SLOTS; i++)
		oracle->slots[i] = NO_CELL;
	oracle->n_open = 0;
}

uint64_t
oracle_cost(struct oracle *oracle, uint32_t x1, uint32_t y1, uint32_t x2,
            uint32_t y2)
{
	uint64_t base = oracle->base;
	uint64_t last;
	bool found;

	if (!is_free_cell(oracle, x1, y1) || !is_free_cell(oracle, x2, y2))
		return ORACLE_NO_PATH;
	last = search(oracle, cell_index(oracle, x1, y1),
	              cell_index(oracle, x2, y2), &found);
	empty_slots(oracle);
	oracle->base = last + N_SLOTS;
	return found ? last - base : ORACLE_NO_PATH;
}
