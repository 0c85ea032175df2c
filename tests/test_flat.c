/* test_flat.c: the flat searches against the oracle.
 *
 * Random levels, plain and with terrain costs and links, under all movement
 * rules, and random problems on them, among which are some without a path. The
 * cost is the oracle's, and the cells that are handed out add up to it by legal
 * steps. One search after another is made with the same scratch, so that what
 * an earlier one left behind would show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/bake/bake.h"
#include "src/flat/flat.h"
#include "src/flat/known.h"
#include "src/run/map.h"
#include "tests/world.h"

#define N_LEVELS 2000
#define N_PAIRS 40
#define MAX_SIDE 150
#define MAX_CELLS (MAX_SIDE * MAX_SIDE)

static hpa_cell path[MAX_CELLS];

/* A level as a grid, by way of a baked file, and its judge. */
struct arena {
	struct world world;
	struct bake_output file;
	hpa_map *map;
	uint32_t n_links;
	hpa_link links[WORLD_MAX_LINKS];
	struct oracle *oracle;
	struct flat_astar *astar;
	struct flat_jps *jps; /* NULL: not for these rules */
};

static void
make_world(struct rng *rng, struct world *world)
{
	struct bake_options *options = &world->options;

	memset(world, 0, sizeof(*world));
	random_level(rng, rng_chance(rng, 20) ? MAX_SIDE : 60, &world->level);
	if (rng_chance(rng, 20))
		world_add_terrain(rng, world);
	if (rng_chance(rng, 20))
		world_add_links(rng, world);
	bake_options_default(options);
	options->cluster_size = 8;
	options->n_levels = 1;
	options->n_threads = 1;
	options->moves = (enum hpa_move_rule)(
		rng_chance(rng, 60) ? 0 : rng_between(rng, 1, 2));
	options->n_links = world->n_links;
	options->links = world->links;
}

/* The links of the file, as it stores their costs. */
static void
make_oracle(struct arena *arena)
{
	struct oracle_link links[WORLD_MAX_LINKS];
	struct oracle_rules rules = {
		.moves = arena->world.options.moves,
		.is_weighted =
			arena->map->grid.cost_straight == HPA_WEIGHTED_STRAIGHT,
		.links = links,
	};
	hpa_link link;

	for (uint32_t i = 0; hpa_map_link(arena->map, i, &link); i++) {
		links[rules.n_links++] = (struct oracle_link){
			link.from.x, link.from.y, link.to.x,
			link.to.y,   link.cost,   link.is_one_way != 0};
		if (hpa_map_is_free(arena->map, link.from) &&
		    hpa_map_is_free(arena->map, link.to))
			arena->links[arena->n_links++] = link;
	}
	arena->oracle = oracle_new_with(&arena->world.level, &rules);
	assert_non_null(arena->oracle);
}

static void
open_arena(struct rng *rng, struct arena *arena)
{
	const struct grid *grid;
	struct diag diag;

	memset(arena, 0, sizeof(*arena));
	make_world(rng, &arena->world);
	assert_int_equal(bake_run(&arena->world.level, &arena->world.options,
	                          &arena->file, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(hpa_map_open_memory(arena->file.data, arena->file.size,
	                                     NULL, &arena->map),
	                 HPA_OK);
	make_oracle(arena);
	grid = &arena->map->grid;
	arena->astar = flat_astar_new(grid, arena->links, arena->n_links);
	assert_non_null(arena->astar);
	if (!flat_jps_can(grid) || arena->n_links > 0)
		return;
	arena->jps = flat_jps_new(grid);
	assert_non_null(arena->jps);
}

static void
close_arena(struct arena *arena)
{
	flat_jps_free(arena->jps);
	flat_astar_free(arena->astar);
	oracle_free(arena->oracle);
	hpa_map_close(arena->map);
	free(arena->file.data);
	level_free(&arena->world.level);
}

#define CHECK(what, arena, from, to)                                           \
	do {                                                                   \
		if (!(what)) {                                                 \
			draw_level(&(arena)->world.level, NULL, 0);            \
			fail_msg("%u,%u to %u,%u, rule %d: %s", (from).x,      \
			         (from).y, (to).x, (to).y,                     \
			         (int)(arena)->world.options.moves, #what);    \
		}                                                              \
	} while (0)

static int
sign(int a)
{
	return (a > 0) - (a < 0);
}

/* The cost of the lines between the cells of a path, step by step; that of a
 * step or a link where they are one step or far apart. */
static uint64_t
cost_of_lines(const struct arena *arena, const hpa_cell *cells, size_t n)
{
	uint64_t cost = 0;

	for (size_t i = 1; i < n; i++) {
		long x = cells[i - 1].x, y = cells[i - 1].y;
		int dx = sign(cells[i].x - cells[i - 1].x);
		int dy = sign(cells[i].y - cells[i - 1].y);
		uint64_t step = oracle_step_cost(arena->oracle, x, y,
		                                 cells[i].x, cells[i].y);

		if (step != ORACLE_NO_PATH) {
			cost += step;
			continue;
		}
		for (; x != cells[i].x || y != cells[i].y; x += dx, y += dy) {
			step = oracle_step_cost(arena->oracle, x, y, x + dx,
			                        y + dy);
			if (step == ORACLE_NO_PATH)
				return ORACLE_NO_PATH;
			cost += step;
		}
	}
	return cost;
}

static void
judge(const struct arena *arena, hpa_cell from, hpa_cell to, bool found,
      const struct flat_path *answer, uint64_t optimum)
{
	CHECK(found == (optimum != ORACLE_NO_PATH), arena, from, to);
	if (!found)
		return;
	CHECK(answer->cost == optimum, arena, from, to);
	CHECK(answer->n > 0 && answer->n <= MAX_CELLS, arena, from, to);
	CHECK(path[0].x == from.x && path[0].y == from.y, arena, from, to);
	CHECK(path[answer->n - 1].x == to.x && path[answer->n - 1].y == to.y,
	      arena, from, to);
	CHECK(cost_of_lines(arena, path, answer->n) == optimum, arena, from,
	      to);
}

static void
ask(struct arena *arena, hpa_cell from, hpa_cell to)
{
	uint64_t optimum =
		oracle_cost(arena->oracle, from.x, from.y, to.x, to.y);
	struct flat_path answer;
	bool found;

	found = flat_astar_find(arena->astar, from, to, path, &answer);
	judge(arena, from, to, found, &answer, optimum);
	if (!arena->jps)
		return;
	found = flat_jps_find(arena->jps, from, to, path, &answer);
	judge(arena, from, to, found, &answer, optimum);
}

static void
flat_searches_find_what_the_oracle_finds(void **state)
{
	struct rng rng = {test_seed()};
	size_t n_jps = 0;

	(void)state;
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct arena arena;

		open_arena(&rng, &arena);
		n_jps += arena.jps != NULL;
		for (unsigned p = 0; p < N_PAIRS; p++)
			ask(&arena, random_cell(&rng, &arena.world.level),
			    random_cell(&rng, &arena.world.level));
		close_arena(&arena);
	}
	assert_true(n_jps > N_LEVELS / 10);
}

/* After as many searches as there are stamps, what is known is forgotten. */
static void
stamps_come_round(void **state)
{
	struct rng rng = {test_seed()};
	struct arena arena;

	(void)state;
	do {
		open_arena(&rng, &arena);
		if (arena.jps && arena.map->view.n_free_cells > 50)
			break;
		close_arena(&arena);
	} while (true);
	for (uint32_t i = 0; i <= KNOWN_MAX_STAMP; i++) {
		hpa_cell cell = {0, 0};
		struct flat_path answer;

		flat_astar_find(arena.astar, cell, cell, path, &answer);
		flat_jps_find(arena.jps, cell, cell, path, &answer);
		if (i % 1000 == 0 || i > KNOWN_MAX_STAMP - 10)
			ask(&arena, random_cell(&rng, &arena.world.level),
			    random_cell(&rng, &arena.world.level));
	}
	close_arena(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_searches_find_what_the_oracle_finds),
		cmocka_unit_test(stamps_come_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
