/* test_smooth.c: smoothed paths, in all modes, against the oracle.
 *
 * Random levels with and without terrain costs, links and agents of several
 * sizes, under all three movement rules. Whatever the mode, a path is legal
 * step by step, costs no more than the query says and no less than the oracle;
 * so does a path that is walked in pieces, and the pieces' sizes do not change
 * it. Where both ends are near, the path is the shortest. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "src/bake/bake.h"
#include "tests/support.h"

#define N_LEVELS 1200
#define N_PAIRS 6
#define MAX_SIDE 90
#define MAX_CELLS 40000
#define MAX_LINKS 6
#define NEAR_STEPS 30
#define N_MODES 4

static const hpa_smoothing modes[N_MODES] = {
	HPA_SMOOTH_NONE, HPA_SMOOTH_RAYS, HPA_SMOOTH_SHORTCUTS,
	HPA_SMOOTH_CORRIDOR};

/* A baked level and who judges its paths. */
struct world {
	struct level level;
	bool has_terrain;
	struct bake_agent agent;
	uint32_t n_links;
	struct bake_link links[MAX_LINKS];
	struct bake_options options;
	struct bake_output file;
	hpa_map *map;
	hpa_query *query;
	struct oracle *oracle, *on_foot; /* with links, and without */
};

static hpa_cell path[MAX_CELLS], other_path[MAX_CELLS];

static void
describe(const struct world *world)
{
	fprintf(stderr,
	        "# cluster size %u, levels %u, moves %d, policy %d:%u, agent "
	        "size %u\n",
	        (unsigned)world->options.cluster_size,
	        (unsigned)world->options.n_levels, (int)world->options.moves,
	        (int)world->options.policy,
	        (unsigned)world->options.policy_parameter,
	        (unsigned)world->agent.size);
	for (uint32_t i = 0; i < world->n_links; i++)
		fprintf(stderr, "# link %u,%u %u,%u %u%s\n",
		        world->links[i].from_x, world->links[i].from_y,
		        world->links[i].to_x, world->links[i].to_y,
		        (unsigned)world->links[i].cost,
		        world->links[i].is_one_way ? " one-way" : "");
	draw_level(&world->level, NULL, 0);
}

#define CHECK(what, world, from, to, ...)                                      \
	do {                                                                   \
		if (!(what)) {                                                 \
			describe(world);                                       \
			fprintf(stderr, "# %u,%u to %u,%u: ", (from).x,        \
			        (from).y, (to).x, (to).y);                     \
			fprintf(stderr, __VA_ARGS__);                          \
			fprintf(stderr, "\n");                                 \
			fail_msg("%s", #what);                                 \
		}                                                              \
	} while (0)

/* Making worlds */

static void
add_terrain(struct rng *rng, struct level *level)
{
	const struct terrain_class mud = {
		"mud", (uint8_t)rng_between(rng, 2, 30), false};
	uint8_t number = (uint8_t)level_add_class(level, &mud);

	/* Patches, as mud has them. */
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t x = rng_below(rng, level->width);
		uint32_t y = rng_below(rng, level->height);
		uint32_t side = rng_between(rng, 1, 12);

		for (uint32_t v = y; v < y + side && v < level->height; v++)
			for (uint32_t u = x; u < x + side && u < level->width;
			     u++)
				if (level->cells[(size_t)v * level->width + u])
					level->cells[(size_t)v * level->width +
					             u] = number;
	}
}

/* Not between neighbours: cells would not tell the link from the step. */
static void
add_links(struct rng *rng, struct world *world)
{
	for (uint32_t i = 0; i < MAX_LINKS; i++) {
		hpa_cell from, to;

		if (!random_free_cell(rng, &world->level, &from) ||
		    !random_free_cell(rng, &world->level, &to))
			return;
		if (abs(from.x - to.x) <= 1 && abs(from.y - to.y) <= 1)
			continue;
		world->links[world->n_links++] = (struct bake_link){
			.from_x = from.x,
			.from_y = from.y,
			.to_x = to.x,
			.to_y = to.y,
			.cost = rng_below(rng, 20000),
			.is_one_way = rng_chance(rng, 50),
		};
	}
}

static void
set_options(struct rng *rng, struct world *world)
{
	struct bake_options *options = &world->options;

	bake_options_default(options);
	options->cluster_size = rng_chance(rng, 30) ? 16 :
	                        rng_between(rng, 4, HPA_MAX_CLUSTER_SIZE);
	options->n_levels = rng_between(rng, 1, 3);
	options->moves = (enum hpa_move_rule)rng_below(rng, 3);
	options->policy = (enum hpa_policy)rng_below(rng, 3);
	if (options->policy == HPA_POLICY_EVERY)
		options->policy_parameter = rng_between(rng, 1, 9);
	options->cache_paths = rng_chance(rng, 30);
	options->fast_queries = rng_chance(rng, 40);
	options->n_threads = 1;
	options->n_links = world->n_links;
	options->links = world->links;
	if (world->agent.size > 1) {
		options->n_agents = 1;
		options->agents = &world->agent;
	}
}

static void
make_oracle(struct world *world)
{
	struct oracle_link links[MAX_LINKS];
	struct oracle_rules rules = {
		.moves = world->options.moves,
		.size = world->agent.size,
		.n_links = world->n_links,
		.links = links,
	};
	hpa_facts facts;

	hpa_map_facts(world->map, &facts);
	rules.is_weighted = facts.cost_straight == HPA_WEIGHTED_STRAIGHT;
	for (uint32_t i = 0; i < world->n_links; i++)
		links[i] = (struct oracle_link){
			world->links[i].from_x,
			world->links[i].from_y,
			world->links[i].to_x,
			world->links[i].to_y,
			(world->links[i].cost * (uint64_t)facts.cost_straight +
		         500) / 1000,
			world->links[i].is_one_way};
	world->oracle = oracle_new_with(&world->level, &rules);
	rules.n_links = 0;
	world->on_foot = oracle_new_with(&world->level, &rules);
	assert_true(world->oracle && world->on_foot);
}

static void
open_world(struct world *world)
{
	struct diag diag;

	assert_int_equal(bake_run(&world->level, &world->options, &world->file,
	                          NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(hpa_map_open_memory(world->file.data, world->file.size,
	                                     NULL, &world->map),
	                 HPA_OK);
	assert_int_equal(hpa_query_new(world->map, NULL, &world->query),
	                 HPA_OK);
	make_oracle(world);
}

static void
close_world(struct world *world)
{
	oracle_free(world->oracle);
	oracle_free(world->on_foot);
	hpa_query_free(world->query);
	hpa_map_close(world->map);
	free(world->file.data);
	level_free(&world->level);
}

/* Judging */

/* The sum of the steps; ORACLE_NO_PATH if one is not legal or an end is
 * another. */
static uint64_t
cost_of(const struct world *world, const hpa_cell *cells, size_t n,
        hpa_cell from, hpa_cell to)
{
	uint64_t cost = 0;

	if (n == 0 || cells[0].x != from.x || cells[0].y != from.y ||
	    cells[n - 1].x != to.x || cells[n - 1].y != to.y)
		return ORACLE_NO_PATH;
	for (size_t i = 1; i < n; i++) {
		uint64_t step =
			oracle_step_cost(world->oracle, cells[i - 1].x,
		                         cells[i - 1].y, cells[i].x, cells[i].y);

		if (step == ORACLE_NO_PATH)
			return ORACLE_NO_PATH;
		cost += step;
	}
	return cost;
}

static size_t
walk(struct rng *rng, const struct world *world, hpa_cell from, hpa_cell to,
     uint32_t max_piece)
{
	size_t n = 0, piece, capacity;
	uint64_t cost;

	assert_int_equal(hpa_query_start(world->query, from, to, &cost),
	                 HPA_OK);
	do {
		capacity = rng_between(rng, 1, max_piece);
		assert_int_equal(hpa_query_next(world->query, other_path + n,
		                                capacity, &piece),
		                 HPA_OK);
		n += piece;
	} while (piece == capacity);
	assert_int_equal(hpa_query_next(world->query, other_path, 1, &piece),
	                 HPA_OK);
	assert_int_equal(piece, 0);
	return n;
}

/* In pieces; `path` is used up. */
static void
check_walk(struct rng *rng, const struct world *world, hpa_cell from,
           hpa_cell to, uint64_t least, uint64_t most)
{
	size_t n = walk(rng, world, from, to, 7), again;
	uint64_t cost;

	/* other_path[0] was not overwritten: nothing was left to write. */
	memcpy(path, other_path, n * sizeof(*path));
	cost = cost_of(world, path, n, from, to);
	CHECK(cost >= least && cost <= most, world, from, to,
	      "the walk costs %" PRIu64 ", not %" PRIu64 " to %" PRIu64, cost,
	      least, most);
	again = walk(rng, world, from, to, 300);
	CHECK(n == again && !memcmp(path, other_path, n * sizeof(*path)), world,
	      from, to, "the pieces' sizes change the walk");
}

/* One mode; returns the path's cost. */
static uint64_t
check_mode(struct rng *rng, const struct world *world, hpa_smoothing mode,
           hpa_cell from, hpa_cell to, uint64_t least)
{
	uint64_t stated = 0, cost;
	size_t n = 0, n_other = 0, some;

	hpa_query_set_smoothing(world->query, mode, rng_below(rng, 40));
	assert_int_equal(hpa_query_cost(world->query, from, to, &stated),
	                 HPA_OK);
	assert_int_equal(
		hpa_query_path(world->query, from, to, path, MAX_CELLS, &n),
		HPA_OK);
	cost = cost_of(world, path, n, from, to);
	CHECK(cost != ORACLE_NO_PATH, world, from, to,
	      "mode %d: an illegal path", mode);
	CHECK(cost >= least && cost <= stated, world, from, to,
	      "mode %d: %" PRIu64 ", not %" PRIu64 " to %" PRIu64, mode, cost,
	      least, stated);
	CHECK(mode != HPA_SMOOTH_NONE || cost == stated, world, from, to,
	      "%" PRIu64 " without smoothing, not %" PRIu64, cost, stated);
	some = rng_between(rng, 1, (uint32_t)n);
	CHECK(hpa_query_path(world->query, from, to, other_path, some,
	                     &n_other) == (some < n ? HPA_NO_ROOM : HPA_OK) &&
	              n_other == n &&
	              !memcmp(path, other_path, some * sizeof(*path)),
	      world, from, to, "mode %d: another path with less room", mode);
	check_walk(rng, world, from, to, least, stated);
	return cost;
}

static bool
is_near(hpa_cell a, hpa_cell b)
{
	return abs(a.x - b.x) < NEAR_STEPS && abs(a.y - b.y) < NEAR_STEPS;
}

static void
check_pair(struct rng *rng, const struct world *world, hpa_cell from,
           hpa_cell to)
{
	uint64_t cost[N_MODES];
	uint64_t least =
		oracle_cost(world->oracle, from.x, from.y, to.x, to.y);

	if (least == ORACLE_NO_PATH)
		return;
	for (size_t m = 0; m < N_MODES; m++)
		cost[m] = check_mode(rng, world, modes[m], from, to, least);
	CHECK(cost[3] <= cost[2], world, from, to,
	      "the corridor costs %" PRIu64 ", shortcuts %" PRIu64, cost[3],
	      cost[2]);
	/* Less than 30 steps cost less than 30 straight ones. No path costs more
	 * than those that links have no part in. */
	least = oracle_cost(world->on_foot, from.x, from.y, to.x, to.y);
	if (!world->has_terrain && is_near(from, to) &&
	    least < NEAR_STEPS * HPA_COST_STRAIGHT)
		for (size_t m = 1; m < N_MODES; m++)
			CHECK(cost[m] <= least, world, from, to,
			      "near, yet %" PRIu64 " and not %" PRIu64, cost[m],
			      least);
}

struct combination {
	bool terrain, links, agents;
};

static void
check_world(struct rng *rng, const struct combination *with)
{
	struct world world = {.agent = {.name = "cart", .size = 1}};

	random_level(rng, rng_chance(rng, 20) ? 12 : MAX_SIDE, &world.level);
	world.has_terrain = with->terrain;
	if (with->terrain)
		add_terrain(rng, &world.level);
	if (with->links)
		add_links(rng, &world);
	if (with->agents)
		world.agent.size = rng_between(rng, 2, 3);
	set_options(rng, &world);
	open_world(&world);
	for (int i = 0; i < N_PAIRS; i++) {
		hpa_cell from = random_cell(rng, &world.level);
		hpa_cell to = random_cell(rng, &world.level);

		for (int tries = 0;
		     tries < 50 &&
		     (!oracle_is_free(world.oracle, from.x, from.y) ||
		      !oracle_is_free(world.oracle, to.x, to.y) ||
		      (i % 2 && !is_near(from, to)));
		     tries++) {
			from = random_cell(rng, &world.level);
			to = random_cell(rng, &world.level);
		}
		if (oracle_is_free(world.oracle, from.x, from.y) &&
		    oracle_is_free(world.oracle, to.x, to.y))
			check_pair(rng, &world, from, to);
	}
	close_world(&world);
}

static void
check_combination(struct combination with)
{
	struct rng rng = {test_seed()};
	int n = HAS_SANITIZER ? N_LEVELS / 6 : N_LEVELS;

	for (int i = 0; i < n; i++)
		check_world(&rng, &with);
}

static void
smoothing_is_legal_and_never_lengthens(void **state)
{
	(void)state;
	check_combination((struct combination){false, false, false});
}

static void
smoothing_pays_for_terrain(void **state)
{
	(void)state;
	check_combination((struct combination){true, false, false});
}

static void
smoothing_keeps_links(void **state)
{
	(void)state;
	check_combination((struct combination){false, true, false});
}

static void
smoothing_minds_the_size_of_agents(void **state)
{
	(void)state;
	check_combination((struct combination){false, false, true});
}

static void
smoothing_does_all_at_once(void **state)
{
	(void)state;
	check_combination((struct combination){true, true, true});
}

/* A path with more bends than a query has room for: strips of a square wave,
 * joined at alternating ends. */
static void
paths_with_many_bends_are_smoothed_in_pieces(void **state)
{
	enum { SIDE = 200 };
	struct world world = {.agent = {.name = "cart", .size = 1}};
	struct rng rng = {test_seed()};
	char *rows = malloc(SIDE * (SIDE + 1) + 1), *at = rows;

	(void)state;
	assert_non_null(rows);
	for (uint32_t y = 0; y < SIDE; y++) {
		for (uint32_t x = 0; x < SIDE; x++) {
			uint32_t in = y % 4, end = y / 4 % 2 ? 0 : SIDE - 4;
			bool wave = x % 2 == 0 ? in < 3
			                       : in == (x % 4 == 1 ? 0 : 2);

			*at++ = wave || (in == 3 && x == end) ? '.' : '@';
		}
		*at++ = '\n';
	}
	*at = '\0';
	level_from_text(rows, &world.level);
	free(rows);
	bake_options_default(&world.options);
	world.options.n_threads = 1;
	open_world(&world);
	check_pair(&rng, &world, (hpa_cell){0, 0}, (hpa_cell){0, SIDE - 2});
	check_pair(&rng, &world, (hpa_cell){0, SIDE - 2},
	           (hpa_cell){SIDE - 2, 2});
	close_world(&world);
}

/* The room of a ray and the wrong mode. */
static void
modes_are_what_they_say(void **state)
{
	static const char rows[] = "..........\n"
				   ".@@@@@@@@.\n"
				   "..........\n";
	struct world world = {.agent = {.name = "cart", .size = 1}};
	const hpa_cell from = {0, 0}, to = {9, 2};
	size_t n = 0;

	(void)state;
	level_from_text(rows, &world.level);
	bake_options_default(&world.options);
	world.options.cluster_size = 4;
	world.options.n_threads = 1;
	open_world(&world);
	hpa_query_set_smoothing(world.query, (hpa_smoothing)99, 0);
	assert_int_equal(
		hpa_query_path(world.query, from, to, path, MAX_CELLS, &n),
		HPA_OK);
	assert_true(n >= 12);
	assert_int_equal(hpa_query_start(world.query, from, to,
	                                 &(uint64_t){0}),
	                 HPA_OK);
	/* Choosing a mode ends a walk. */
	hpa_query_set_smoothing(world.query, HPA_SMOOTH_SHORTCUTS, 0);
	assert_int_equal(hpa_query_next(world.query, path, 8, &n), HPA_OK);
	assert_int_equal(n, 0);
	close_world(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smoothing_is_legal_and_never_lengthens),
		cmocka_unit_test(smoothing_pays_for_terrain),
		cmocka_unit_test(smoothing_keeps_links),
		cmocka_unit_test(smoothing_minds_the_size_of_agents),
		cmocka_unit_test(smoothing_does_all_at_once),
		cmocka_unit_test(paths_with_many_bends_are_smoothed_in_pieces),
		cmocka_unit_test(modes_are_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
