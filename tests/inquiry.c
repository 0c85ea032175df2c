/* inquiry.c: ask a map everything, as one does who does not trust its file.
 *
 * What is judged by is only what the map itself says of single cells and links;
 * whether costs are the least is not judged here. */
#include "tests/inquiry.h"

#include <stdlib.h>

#include "formats/hpa_layout.h"

#define MAX_CELLS 2048
#define HASH_SEED 1234567u

static const hpa_smoothing modes[] = {HPA_SMOOTH_NONE, HPA_SMOOTH_SHORTCUTS,
                                      HPA_SMOOTH_RAYS, HPA_SMOOTH_CORRIDOR};
#define N_MODES (sizeof(modes) / sizeof(modes[0]))

static void *
metered_alloc(void *user, size_t size)
{
	struct meter *meter = user;

	meter->now += size;
	if (meter->now > meter->most)
		meter->most = meter->now;
	return malloc(size);
}

static void
metered_free(void *user, void *memory, size_t size)
{
	struct meter *meter = user;

	meter->now -= size;
	free(memory);
}

hpa_allocator
meter_allocator(struct meter *meter)
{
	return (hpa_allocator){metered_alloc, metered_free, meter};
}

static bool
same(hpa_cell a, hpa_cell b)
{
	return a.x == b.x && a.y == b.y;
}

static bool
is_step(const hpa_map *map, hpa_moves moves, hpa_cell a, hpa_cell b)
{
	const hpa_cell beside[2] = {{a.x, b.y}, {b.x, a.y}};
	int dx = abs(a.x - b.x), dy = abs(a.y - b.y);
	int n_free = hpa_map_is_free(map, beside[0]) +
	             hpa_map_is_free(map, beside[1]);

	if (dx > 1 || dy > 1 || dx + dy == 0)
		return false;
	if (dx + dy == 1)
		return true;
	return n_free >= (moves == HPA_MOVES_8         ? 2
	                  : moves == HPA_MOVES_8_LOOSE ? 1
	                                               : 3);
}

static bool
is_link(const hpa_map *map, hpa_cell a, hpa_cell b)
{
	hpa_link link;

	for (uint32_t i = 0; hpa_map_link(map, i, &link); i++)
		if ((same(link.from, a) && same(link.to, b)) ||
		    (!link.is_one_way && same(link.from, b) &&
		     same(link.to, a)))
			return true;
	return false;
}

/* The cells of a path or of its beginning. */
static const char *
judge_steps(const hpa_map *map, const hpa_cell *cells, size_t n)
{
	hpa_facts facts;

	hpa_map_facts(map, &facts);
	for (size_t i = 0; i < n; i++)
		if (!hpa_map_is_free(map, cells[i]))
			return "a path is on a blocked cell";
	for (size_t i = 1; i < n; i++)
		if (!is_step(map, facts.moves, cells[i - 1], cells[i]) &&
		    !is_link(map, cells[i - 1], cells[i]))
			return "a path has an illegal step";
	return NULL;
}

static const char *
judge_cells(const hpa_map *map, const hpa_cell *cells, size_t n, hpa_cell from,
            hpa_cell to)
{
	if (n == 0 || !same(cells[0], from) || !same(cells[n - 1], to))
		return "a path does not have its ends";
	return judge_steps(map, cells, n);
}

static bool
is_answer(hpa_status st, hpa_status reachable)
{
	return st == reachable || (reachable == HPA_OK &&
	                           (st == HPA_CORRUPT || st == HPA_NO_ROOM));
}

/* A pair of cells, and whether there is a way. */
struct question {
	const hpa_map *map;
	hpa_query *query;
	hpa_cell from, to;
	hpa_status reachable;
};

static const char *
ask_for_path(const struct question *q)
{
	static hpa_cell cells[MAX_CELLS];
	size_t n;
	hpa_status st =
		hpa_query_path(q->query, q->from, q->to, cells, MAX_CELLS, &n);

	if (!is_answer(st, q->reachable))
		return "a path has a wrong status";
	return st == HPA_OK ? judge_cells(q->map, cells, n, q->from, q->to)
	                    : NULL;
}

static const char *
ask_for_pieces(const struct question *q, size_t most)
{
	static hpa_cell cells[MAX_CELLS];
	size_t n = 0, n_new = 1;
	uint64_t cost;
	hpa_status st = hpa_query_start(q->query, q->from, q->to, &cost);

	if (!is_answer(st, q->reachable))
		return "a walk has a wrong status";
	while (st == HPA_OK && n_new > 0 && n + most <= MAX_CELLS) {
		st = hpa_query_next(q->query, cells + n, most, &n_new);
		if (st == HPA_OK)
			n += n_new;
	}
	if (st == HPA_OK && n_new == 0)
		return judge_cells(q->map, cells, n, q->from, q->to);
	if (!is_answer(st, q->reachable))
		return "a walk ends wrongly";
	/* What was handed out before it is given up has been walked. */
	return judge_steps(q->map, cells, n);
}

static const char *
ask_for_cost(const struct question *q)
{
	static hpa_waypoint points[MAX_CELLS];
	hpa_facts facts;
	uint64_t cost;
	size_t n;

	hpa_map_facts(q->map, &facts);
	if (!is_answer(hpa_query_cost(q->query, q->from, q->to, &cost),
	               q->reachable))
		return "a cost has a wrong status";
	if (hpa_query_expanded(q->query) > (uint64_t)facts.n_nodes + 1)
		return "a search takes a node twice";
	if (!is_answer(hpa_query_abstract_path(q->query, q->from, q->to, points,
	                                       MAX_CELLS, &n),
	               q->reachable))
		return "an abstract path has a wrong status";
	return NULL;
}

static const char *
ask_for_nearest(const struct question *q)
{
	hpa_cell cell;
	hpa_status st = hpa_map_nearest(q->map, q->from, q->to, &cell);

	if (st != HPA_OK && st != HPA_BLOCKED && st != HPA_OUTSIDE)
		return "the nearest cell has a wrong status";
	if (st == HPA_OK && !hpa_map_is_free(q->map, cell))
		return "the nearest cell is blocked";
	return NULL;
}

static const char *
ask(const struct question *q)
{
	const char *wrong = ask_for_cost(q);

	if (!wrong)
		wrong = ask_for_nearest(q);
	for (size_t i = 0; i < N_MODES && !wrong; i++) {
		hpa_query_set_smoothing(q->query, modes[i], 0);
		wrong = ask_for_path(q);
		if (!wrong)
			wrong = ask_for_pieces(q, 1 + 3 * i);
	}
	return wrong;
}

static hpa_cell
any_cell(struct rng *rng, const hpa_facts *facts)
{
	return (hpa_cell){(uint16_t)rng_below(rng, facts->width),
	                  (uint16_t)rng_below(rng, facts->height)};
}

const char *
inquire(struct rng *rng, const hpa_map *map, uint32_t n_questions)
{
	const char *wrong = NULL;
	hpa_facts facts;

	hpa_map_facts(map, &facts);
	for (uint32_t p = 0; p < facts.n_profiles && !wrong; p++) {
		struct question q = {.map = hpa_map_profile(map, p)};

		if (hpa_query_new(q.map, NULL, &q.query) != HPA_OK)
			return "there is no memory for a query";
		for (uint32_t i = 0; i < n_questions && !wrong; i++) {
			q.from = any_cell(rng, &facts);
			q.to = any_cell(rng, &facts);
			q.reachable = hpa_map_reachable(q.map, q.from, q.to);
			wrong = ask(&q);
		}
		hpa_query_free(q.query);
	}
	return wrong;
}

static uint64_t
hash_answer(const struct question *q, uint64_t hash)
{
	static hpa_cell cells[MAX_CELLS];
	uint64_t cost = 0;
	size_t n = 0;
	hpa_status st = hpa_query_cost(q->query, q->from, q->to, &cost);

	hash = hpa_hash_mix(hash + (uint64_t)st, cost);
	st = hpa_query_path(q->query, q->from, q->to, cells, MAX_CELLS, &n);
	hash = hpa_hash_mix(hash + (uint64_t)st, n);
	for (size_t i = 0; i < n && i < MAX_CELLS; i++)
		hash = hpa_hash_mix(hash,
		                    (uint64_t)cells[i].x << 16 | cells[i].y);
	return hash;
}

uint64_t
inquiry_hash(const hpa_map *map, uint32_t n_questions)
{
	struct rng rng = {HASH_SEED};
	uint64_t hash = HPA_HASH_SEED;
	hpa_facts facts;

	hpa_map_facts(map, &facts);
	for (uint32_t p = 0; p < facts.n_profiles; p++) {
		struct question q = {.map = hpa_map_profile(map, p)};

		if (hpa_query_new(q.map, NULL, &q.query) != HPA_OK)
			return 0;
		for (uint32_t i = 0; i < n_questions; i++) {
			q.from = any_cell(&rng, &facts);
			q.to = any_cell(&rng, &facts);
			hpa_query_set_smoothing(q.query, modes[i % N_MODES], 0);
			hash = hash_answer(&q, hash);
		}
		hpa_query_free(q.query);
	}
	return hash;
}
