/* oracle.c: the truth about a level, by plain Dijkstra on its grid.
 *
 * Everything starts from oracle_step_is_legal(), the movement rules as one
 * reads them in the manual. oracle_new() asks it about all eight steps of every
 * cell and keeps the answers as bits; the search knows nothing else.
 *
 * An agent that covers several cells, factors of terrain and links are taken as
 * they come: where it can stand is looked up cell by cell, a step costs the mean
 * of its two cells' factors, a link is one more step of its cell.
 *
 * The open list is a bucket queue: no step costs more than the dearest one, so
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
#include <string.h>

#define NO_CELL UINT32_MAX /* no level has that many cells */
#define NO_LABEL 0u

/* What the search knows of a cell. */
struct cell {
	uint64_t cost; /* base + cost from the start; below base: unseen */
	uint32_t next, previous; /* in the list of its slot */
};

struct step {
	int dx, dy;
};

#define N_STEPS 8u
static const struct step steps[N_STEPS] = {
	{0, -1}, {-1, 0}, {1, 0}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1},
};

struct oracle {
	const struct level *level;
	enum hpa_move_rule moves;
	bool is_weighted;
	uint32_t n_links;
	struct oracle_link *links; /* a two-way one twice */
	bool *is_free;             /* per cell */
	bool *has_link;            /* per cell; NULL: there are none */
	uint8_t *legal;            /* per cell, bit i: steps[i] is legal */
	struct cell *cells;
	uint64_t base;   /* of the next search */
	uint32_t n_slots; /* a power of 2 above the dearest step */
	uint32_t *slots; /* first cell of each list, or NO_CELL */
	uint64_t n_open; /* cells in the lists */
	uint32_t *labels; /* per cell; NO_LABEL where it is blocked */
	bool labelled;
};

bool
oracle_is_free(const struct oracle *oracle, long x, long y)
{
	const struct level *level = oracle->level;

	return x >= 0 && y >= 0 && x < (long)level->width &&
	       y < (long)level->height &&
	       oracle->is_free[(size_t)y * level->width + (size_t)x];
}

bool
oracle_step_is_legal(const struct oracle *oracle, long x, long y, long dx,
                     long dy)
{
	bool beside_x, beside_y;

	if (dx < -1 || dx > 1 || dy < -1 || dy > 1 || (dx == 0 && dy == 0))
		return false;
	if (!oracle_is_free(oracle, x, y) || !oracle_is_free(oracle, x + dx, y + dy))
		return false;
	if (dx == 0 || dy == 0)
		return true;
	beside_x = oracle_is_free(oracle, x + dx, y);
	beside_y = oracle_is_free(oracle, x, y + dy);
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

static uint32_t
factor_of(const struct oracle *oracle, long x, long y)
{
	const struct level *level = oracle->level;

	return level->terrain
		.classes[level->cells[(size_t)y * level->width + (size_t)x]]
		.factor;
}

/* What a legal step costs. */
static uint64_t
cost_of_step(const struct oracle *oracle, long x, long y, long dx, long dy)
{
	uint64_t cost = dx && dy ? HPA_COST_DIAGONAL : HPA_COST_STRAIGHT;

	if (!oracle->is_weighted)
		return cost;
	return cost * (factor_of(oracle, x, y) +
	               factor_of(oracle, x + dx, y + dy));
}

static bool
is_step_of(const struct oracle_link *link, long x1, long y1, long x2, long y2)
{
	return x1 == (long)link->from_x && y1 == (long)link->from_y &&
	       x2 == (long)link->to_x && y2 == (long)link->to_y;
}

bool
oracle_step_costs(const struct oracle *oracle, long x1, long y1, long x2,
                  long y2, uint64_t *least, uint64_t *most)
{
	bool found = oracle_step_is_legal(oracle, x1, y1, x2 - x1, y2 - y1);

	*least = ORACLE_NO_PATH;
	*most = 0;
	if (found)
		*least = *most = cost_of_step(oracle, x1, y1, x2 - x1, y2 - y1);
	for (uint32_t i = 0; i < oracle->n_links; i++) {
		const struct oracle_link *link = &oracle->links[i];

		if (!is_step_of(link, x1, y1, x2, y2))
			continue;
		found = true;
		if (link->cost < *least)
			*least = link->cost;
		if (link->cost > *most)
			*most = link->cost;
	}
	return found;
}

uint64_t
oracle_step_cost(const struct oracle *oracle, long x1, long y1, long x2,
                 long y2)
{
	uint64_t least, most;

	oracle_step_costs(oracle, x1, y1, x2, y2, &least, &most);
	return least;
}

/* May the agent cover the cell? */
static bool
may_cover(const struct level *level, const struct oracle_rules *rules, size_t i)
{
	return rules->may_enter ? rules->may_enter[level->cells[i]]
	                        : level_is_open(level, i);
}

static bool
fits(const struct level *level, const struct oracle_rules *rules, uint32_t x,
     uint32_t y)
{
	uint32_t size = rules->size ? rules->size : 1;

	if (size > level->width - x || size > level->height - y)
		return false;
	for (uint32_t dy = 0; dy < size; dy++)
		for (uint32_t dx = 0; dx < size; dx++)
			if (!may_cover(level, rules,
			               (size_t)(y + dy) * level->width + x +
			                       dx))
				return false;
	return true;
}

static void
find_free_cells(struct oracle *oracle, const struct oracle_rules *rules)
{
	const struct level *level = oracle->level;
	bool *is_free = oracle->is_free;

	if (rules->is_free) {
		memcpy(is_free, rules->is_free,
		       (size_t)level->width * level->height * sizeof(*is_free));
		return;
	}
	for (uint32_t y = 0; y < level->height; y++)
		for (uint32_t x = 0; x < level->width; x++)
			*is_free++ = fits(level, rules, x, y);
}

/* Take the links whose ends are free, each in its directions. */
static bool
take_links(struct oracle *oracle, const struct oracle_rules *rules)
{
	const struct level *level = oracle->level;

	if (rules->n_links == 0)
		return true;
	oracle->links = calloc(2 * (size_t)rules->n_links,
	                       sizeof(*oracle->links));
	oracle->has_link = calloc((size_t)level->width * level->height,
	                          sizeof(*oracle->has_link));
	if (!oracle->links || !oracle->has_link)
		return false;
	for (uint32_t i = 0; i < rules->n_links; i++) {
		const struct oracle_link *link = &rules->links[i];

		if (!oracle_is_free(oracle, link->from_x, link->from_y) ||
		    !oracle_is_free(oracle, link->to_x, link->to_y))
			continue;
		oracle->links[oracle->n_links++] = *link;
		oracle->has_link[link->from_y * level->width + link->from_x] =
			true;
		if (link->is_one_way)
			continue;
		oracle->links[oracle->n_links++] = (struct oracle_link){
			link->to_x,   link->to_y, link->from_x,
			link->from_y, link->cost, false};
		oracle->has_link[link->to_y * level->width + link->to_x] = true;
	}
	return true;
}

static bool
make_slots(struct oracle *oracle)
{
	uint64_t dearest = HPA_COST_DIAGONAL;

	if (oracle->is_weighted)
		dearest *= 2 * 255;
	for (uint32_t i = 0; i < oracle->n_links; i++)
		if (oracle->links[i].cost > dearest)
			dearest = oracle->links[i].cost;
	oracle->n_slots = 1;
	while (oracle->n_slots <= dearest)
		oracle->n_slots *= 2;
	oracle->slots = malloc(oracle->n_slots * sizeof(*oracle->slots));
	for (uint32_t i = 0; oracle->slots && i < oracle->n_slots; i++)
		oracle->slots[i] = NO_CELL;
	return oracle->slots != NULL;
}

struct oracle *
oracle_new_with(const struct level *level, const struct oracle_rules *rules)
{
	size_t n_cells = (size_t)level->width * level->height;
	struct oracle *oracle = calloc(1, sizeof(*oracle));

	if (!oracle)
		return NULL;
	oracle->level = level;
	oracle->moves = rules->moves;
	oracle->is_weighted = rules->is_weighted;
	oracle->base = 1; /* all cells are below it */
	oracle->is_free = calloc(n_cells, sizeof(*oracle->is_free));
	oracle->legal = calloc(n_cells, sizeof(*oracle->legal));
	oracle->cells = calloc(n_cells, sizeof(*oracle->cells));
	oracle->labels = calloc(n_cells, sizeof(*oracle->labels));
	if (!oracle->is_free || !oracle->legal || !oracle->cells ||
	    !oracle->labels) {
		oracle_free(oracle);
		return NULL;
	}
	find_free_cells(oracle, rules);
	find_legal_steps(oracle);
	if (!take_links(oracle, rules) || !make_slots(oracle)) {
		oracle_free(oracle);
		return NULL;
	}
	return oracle;
}

struct oracle *
oracle_new(const struct level *level, enum hpa_move_rule moves)
{
	const struct oracle_rules rules = {.moves = moves};

	return oracle_new_with(level, &rules);
}

void
oracle_free(struct oracle *oracle)
{
	if (!oracle)
		return;
	free(oracle->links);
	free(oracle->has_link);
	free(oracle->is_free);
	free(oracle->legal);
	free(oracle->cells);
	free(oracle->slots);
	free(oracle->labels);
	free(oracle);
}

static bool
is_free_cell(const struct oracle *oracle, uint32_t x, uint32_t y)
{
	return oracle_is_free(oracle, (long)x, (long)y);
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
	size_t n_cells = (size_t)oracle->level->width * oracle->level->height;
	uint32_t label = NO_LABEL;
	size_t i;

	for (i = 0; i < n_cells; i++)
		if (oracle->is_free[i] && oracle->labels[i] == NO_LABEL)
			flood(oracle, (uint32_t)i, ++label);
	oracle->labelled = true;
}

bool
oracle_connected(struct oracle *oracle, uint32_t x1, uint32_t y1, uint32_t x2,
                 uint32_t y2)
{
	if (!is_free_cell(oracle, x1, y1) || !is_free_cell(oracle, x2, y2))
		return false;
	if (oracle->n_links > 0)
		return oracle_cost(oracle, x1, y1, x2, y2) != ORACLE_NO_PATH;
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
	uint32_t *slot = &oracle->slots[cost & (oracle->n_slots - 1)];

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
		oracle->slots[cell->cost & (oracle->n_slots - 1)] = cell->next;
	if (cell->next != NO_CELL)
		oracle->cells[cell->next].previous = cell->previous;
	oracle->n_open--;
}

/* Offer a cell a way. A closed one is never cheaper to reach, so what gets
 * cheaper is still open. */
static void
offer(struct oracle *oracle, uint32_t to, uint64_t cost)
{
	uint64_t known = oracle->cells[to].cost;

	if (known >= oracle->base && known <= cost)
		return;
	if (known >= oracle->base)
		close_cell(oracle, to);
	open_cell(oracle, to, cost);
}

static void
relax_links(struct oracle *oracle, uint32_t from, uint64_t from_cost)
{
	for (uint32_t i = 0; i < oracle->n_links; i++) {
		const struct oracle_link *link = &oracle->links[i];

		if (cell_index(oracle, link->from_x, link->from_y) == from)
			offer(oracle,
			      cell_index(oracle, link->to_x, link->to_y),
			      from_cost + link->cost);
	}
}

/* Offer each neighbour the way over this cell. */
static void
relax(struct oracle *oracle, uint32_t from)
{
	uint64_t from_cost = oracle->cells[from].cost;
	unsigned legal = oracle->legal[from];
	uint32_t width = oracle->level->width;

	for (unsigned i = 0; i < N_STEPS; i++)
		if (legal >> i & 1)
			offer(oracle, step_to(from, width, &steps[i]),
			      from_cost + cost_of_step(oracle, from % width,
			                               from / width,
			                               steps[i].dx,
			                               steps[i].dy));
	if (oracle->has_link && oracle->has_link[from])
		relax_links(oracle, from, from_cost);
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
		while (oracle->slots[cost & (oracle->n_slots - 1)] == NO_CELL)
			cost++;
		i = oracle->slots[cost & (oracle->n_slots - 1)];
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

	for (i = 0; i < oracle->n_slots; i++)
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
	oracle->base = last + oracle->n_slots;
	return found ? last - base : ORACLE_NO_PATH;
}
