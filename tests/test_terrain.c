/* test_terrain.c: the invariants with terrain costs, agents and links.
 *
 * Random levels get random classes with factors, agents of random size and
 * capability, and random links, in all combinations, thousands each. The oracle
 * knows of these things only what the manual says: an agent stands where all
 * cells that it covers are of its classes, a step costs the mean of two
 * factors, a link is a step of its own.
 *
 *     1  levels and pruning do not change the cost
 *     2  a path is found iff the oracle finds one
 *     3  the path is legal, costs what the query says and never less than the
 *        oracle's; exactly that where HPA* has nothing to lose: with one
 *        cluster, or with straight moves and a transition at every cell
 *     4  the bytes do not depend on threads
 *
 * What is uniform stays what it was: classes without a price of their own change
 * no byte. */
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
#include "tests/world.h"

#define N_LEVELS 2000
#define N_PAIRS 6
#define MAX_SIDE 40
#define MAX_CELLS 4096
#define N_VARIANTS 3

/* One bake of the world, open. */
struct variant {
	struct bake_options options;
	struct bake_output file;
	hpa_map *map;
};

static hpa_cell path[MAX_CELLS];

static void
describe(const struct world *world, const struct bake_options *options)
{
	fprintf(stderr,
	        "# cluster size %u, levels %u, moves %d, policy %d:%u, prune "
	        "%d, cache %d\n",
	        (unsigned)options->cluster_size, (unsigned)options->n_levels,
	        (int)options->moves, (int)options->policy,
	        (unsigned)options->policy_parameter, options->prune,
	        options->cache_paths);
	for (uint32_t i = 0; i < world->n_agents; i++)
		fprintf(stderr, "# agent %s:size=%u,terrain=%s\n",
		        world->agents[i].name, (unsigned)world->agents[i].size,
		        world->agents[i].terrain);
	for (uint32_t i = 0; i < world->n_links; i++)
		fprintf(stderr, "# link %u,%u %u,%u %u%s\n",
		        world->links[i].from_x, world->links[i].from_y,
		        world->links[i].to_x, world->links[i].to_y,
		        (unsigned)world->links[i].cost,
		        world->links[i].is_one_way ? " one-way" : "");
	for (uint32_t y = 0; y < world->level.height; y++) {
		fprintf(stderr, "# ");
		for (uint32_t x = 0; x < world->level.width; x++)
			fprintf(stderr, "%u",
			        world->level
			                .cells[(size_t)y * world->level.width +
			                       x]);
		fprintf(stderr, "\n");
	}
}

#define CHECK(what, world, variant, ...)                                       \
	do {                                                                   \
		if (!(what)) {                                                 \
			describe(world, &(variant)->options);                  \
			fprintf(stderr, "# ");                                 \
			fprintf(stderr, __VA_ARGS__);                          \
			fprintf(stderr, "\n");                                 \
			fail_msg("%s", #what);                                 \
		}                                                              \
	} while (0)

static void
bake(const struct world *world, const struct bake_options *options,
     struct variant *out)
{
	struct diag diag;
	const char *detail = "?";
	const hpa_open_options how = {.detail = &detail};

	out->options = *options;
	if (bake_run(&world->level, options, &out->file, NULL, &diag) !=
	    DIAG_OK) {
		describe(world, options);
		fail_msg("%s", diag.text);
	}
	if (hpa_map_open_memory(out->file.data, out->file.size, &how,
	                        &out->map) != HPA_OK) {
		describe(world, options);
		fail_msg("%s", detail);
	}
}

/* As chosen; with one level, hub labels and nothing pruned; on three threads. */
static void
bake_variants(const struct world *world, struct variant *variants)
{
	struct bake_options options = world->options;

	bake(world, &options, &variants[0]);
	options.n_levels = 1;
	options.prune = false;
	options.fast_queries = true;
	bake(world, &options, &variants[1]);
	options = world->options;
	options.n_threads = 3;
	bake(world, &options, &variants[2]);
	CHECK(variants[0].file.size == variants[2].file.size &&
	              !memcmp(variants[0].file.data, variants[2].file.data,
	                      variants[0].file.size),
	      world, &variants[0], "threads change the bytes");
}

static bool
is_weighted(const hpa_map *map)
{
	hpa_facts facts;

	hpa_map_facts(map, &facts);
	return facts.cost_straight == 2 * HPA_COST_STRAIGHT;
}

/* The oracle's idea of an agent: read from its text, class by class. */
static struct oracle *
oracle_for(const struct world *world, const struct bake_agent *agent,
           bool weighted)
{
	const struct terrain_classes *terrain = &world->level.terrain;
	bool may_enter[TERRAIN_MAX_CLASSES] = {false};
	struct oracle_link links[WORLD_MAX_LINKS];
	struct oracle_rules rules = {
		.moves = world->options.moves,
		.size = agent ? agent->size : 1,
		.may_enter = may_enter,
		.is_weighted = weighted,
		.n_links = world->n_links,
		.links = links,
	};
	uint64_t unit = weighted ? 2 * HPA_COST_STRAIGHT : HPA_COST_STRAIGHT;
	struct oracle *oracle;

	for (uint32_t i = 0; i < terrain->n; i++) {
		const struct terrain_class *class = &terrain->classes[i];
		char list[300], name[64];

		snprintf(list, sizeof(list), "+%s+",
		         agent ? agent->terrain : "");
		snprintf(name, sizeof(name), "+%s+", class->name);
		may_enter[i] = class->factor > 0 &&
		               (strlen(list) > 2 ? strstr(list, name) != NULL
		                                 : !class->only_if_named);
	}
	for (uint32_t i = 0; i < world->n_links; i++)
		links[i] = (struct oracle_link){
			world->links[i].from_x,
			world->links[i].from_y,
			world->links[i].to_x,
			world->links[i].to_y,
			(world->links[i].cost * unit + 500) / 1000,
			world->links[i].is_one_way};
	oracle = oracle_new_with(&world->level, &rules);
	assert_non_null(oracle);
	return oracle;
}

/* The sum of the path's steps, each of which must be legal. */
static uint64_t
cost_of_path(const struct oracle *oracle, size_t n)
{
	uint64_t cost = 0;

	for (size_t i = 1; i < n; i++) {
		uint64_t step =
			oracle_step_cost(oracle, path[i - 1].x, path[i - 1].y,
		                         path[i].x, path[i].y);

		if (step == ORACLE_NO_PATH)
			return ORACLE_NO_PATH;
		cost += step;
	}
	return cost;
}

/* Must HPA* find the very least here? */
static bool
is_exact(const struct world *world, const struct bake_options *options)
{
	return (world->level.width <= options->cluster_size &&
	        world->level.height <= options->cluster_size) ||
	       (options->moves == HPA_RULE_4 &&
	        options->policy == HPA_POLICY_EVERY &&
	        options->policy_parameter == 1);
}

/* Invariants 2 and 3 for one pair; returns the cost. */
static uint64_t
check_pair(const struct world *world, const struct variant *variant,
           const hpa_map *map, hpa_query *query, struct oracle *oracle,
           hpa_cell from, hpa_cell to)
{
	uint64_t least = ORACLE_NO_PATH, cost = 0;
	hpa_status st, expected = HPA_OK;
	size_t n = 0;

	if (!oracle_is_free(oracle, from.x, from.y) ||
	    !oracle_is_free(oracle, to.x, to.y))
		expected = HPA_BLOCKED;
	else
		least = oracle_cost(oracle, from.x, from.y, to.x, to.y);
	if (expected == HPA_OK && least == ORACLE_NO_PATH)
		expected = HPA_NO_PATH;
	st = hpa_map_reachable(map, from, to);
	CHECK(st == expected, world, variant, "%u,%u to %u,%u: %d not %d",
	      from.x, from.y, to.x, to.y, st, expected);
	st = hpa_query_path(query, from, to, path, MAX_CELLS, &n);
	CHECK(st == expected, world, variant, "%u,%u to %u,%u: %d not %d",
	      from.x, from.y, to.x, to.y, st, expected);
	if (expected != HPA_OK)
		return ORACLE_NO_PATH;
	CHECK(n > 0 && path[0].x == from.x && path[0].y == from.y &&
	              path[n - 1].x == to.x && path[n - 1].y == to.y,
	      world, variant, "%u,%u to %u,%u: other ends", from.x, from.y,
	      to.x, to.y);
	assert_int_equal(hpa_query_cost(query, from, to, &cost), HPA_OK);
	CHECK(cost_of_path(oracle, n) == cost, world, variant,
	      "%u,%u to %u,%u: the path costs %" PRIu64 ", not %" PRIu64,
	      from.x, from.y, to.x, to.y, cost_of_path(oracle, n), cost);
	CHECK(cost >= least && (cost == least ||
	                        !is_exact(world, &variant->options)),
	      world, variant,
	      "%u,%u to %u,%u: %" PRIu64 ", and the least is %" PRIu64, from.x,
	      from.y, to.x, to.y, cost, least);
	return cost;
}

/* The nearest cell is one that can be reached, and none is nearer. */
static void
check_nearest(const struct world *world, const struct variant *variant,
              const hpa_map *map, struct oracle *oracle, hpa_cell from,
              hpa_cell to)
{
	hpa_cell found = {0, 0};

	if (!oracle_is_free(oracle, from.x, from.y))
		return;
	assert_int_equal(hpa_map_nearest(map, from, to, &found), HPA_OK);
	CHECK(oracle_connected(oracle, from.x, from.y, found.x, found.y),
	      world, variant, "%u,%u is nearest to %u,%u and not reachable",
	      found.x, found.y, to.x, to.y);
	if (oracle_connected(oracle, from.x, from.y, to.x, to.y))
		CHECK(found.x == to.x && found.y == to.y, world, variant,
		      "%u,%u can be reached itself", to.x, to.y);
}

static void
check_agent(struct rng *rng, const struct world *world,
            const struct variant *variants, uint32_t profile)
{
	const struct bake_agent *agent =
		world->n_agents ? &world->agents[profile] : NULL;
	struct oracle *oracle =
		oracle_for(world, agent, is_weighted(variants[0].map));
	const hpa_map *maps[N_VARIANTS];
	hpa_query *queries[N_VARIANTS];

	for (size_t v = 0; v < N_VARIANTS; v++) {
		maps[v] = agent ? hpa_map_agent(variants[v].map, agent->name)
		                : variants[v].map;
		assert_non_null(maps[v]);
		assert_ptr_equal(maps[v],
		                 hpa_map_profile(variants[v].map, profile));
		assert_int_equal(hpa_query_new(maps[v], NULL, &queries[v]),
		                 HPA_OK);
		hpa_query_set_smoothing(queries[v], HPA_SMOOTH_NONE, 0);
	}
	for (int i = 0; i < N_PAIRS; i++) {
		hpa_cell from = random_cell(rng, &world->level);
		hpa_cell to = random_cell(rng, &world->level);
		uint64_t cost[N_VARIANTS];

		for (int tries = 0; tries < 20 &&
		                    !oracle_is_free(oracle, from.x, from.y);
		     tries++)
			from = random_cell(rng, &world->level);
		for (int tries = 0;
		     tries < 20 && !oracle_is_free(oracle, to.x, to.y); tries++)
			to = random_cell(rng, &world->level);
		for (size_t v = 0; v < N_VARIANTS; v++)
			cost[v] = check_pair(world, &variants[v], maps[v],
			                     queries[v], oracle, from, to);
		CHECK(cost[0] == cost[1], world, &variants[0],
		      "%u,%u to %u,%u: %" PRIu64 " with all levels, %" PRIu64
		      " with one",
		      from.x, from.y, to.x, to.y, cost[0], cost[1]);
		check_nearest(world, &variants[0], maps[0], oracle, from, to);
	}
	for (size_t v = 0; v < N_VARIANTS; v++)
		hpa_query_free(queries[v]);
	oracle_free(oracle);
}

struct combination {
	bool terrain, agents, links;
};

static void
check_world(struct rng *rng, const struct combination *with)
{
	struct variant variants[N_VARIANTS];
	struct world world = {.n_agents = 0};
	uint32_t n_profiles;

	random_level(rng, rng_chance(rng, 15) ? 10 : MAX_SIDE, &world.level);
	if (with->terrain)
		world_add_terrain(rng, &world);
	if (with->agents)
		world_add_agents(rng, &world);
	if (with->links)
		world_add_links(rng, &world);
	world.options = world_options(rng, &world);
	bake_variants(&world, variants);
	n_profiles = world.n_agents ? world.n_agents : 1;
	for (uint32_t p = 0; p < n_profiles; p++)
		check_agent(rng, &world, variants, p);
	for (size_t v = 0; v < N_VARIANTS; v++) {
		hpa_map_close(variants[v].map);
		free(variants[v].file.data);
	}
	level_free(&world.level);
}

static void
check_combination(struct combination with)
{
	struct rng rng = {test_seed()};
	int n = HAS_SANITIZER ? N_LEVELS / 8 : N_LEVELS;

	for (int i = 0; i < n; i++)
		check_world(&rng, &with);
}

static void
invariants_hold_with_terrain(void **state)
{
	(void)state;
	check_combination((struct combination){true, false, false});
}

static void
invariants_hold_with_agents(void **state)
{
	(void)state;
	check_combination((struct combination){false, true, false});
}

static void
invariants_hold_with_links(void **state)
{
	(void)state;
	check_combination((struct combination){false, false, true});
}

static void
invariants_hold_with_terrain_and_agents(void **state)
{
	(void)state;
	check_combination((struct combination){true, true, false});
}

static void
invariants_hold_with_terrain_and_links(void **state)
{
	(void)state;
	check_combination((struct combination){true, false, true});
}

static void
invariants_hold_with_all_three(void **state)
{
	(void)state;
	check_combination((struct combination){true, true, true});
}

static struct bake_output
bake_plain(const struct level *level)
{
	struct bake_options options;
	struct bake_output out;
	struct diag diag;

	bake_options_default(&options);
	assert_int_equal(bake_run(level, &options, &out, NULL, &diag), DIAG_OK);
	return out;
}

/* Classes that cost no more than plain ground do not show in the file. */
static void
uniform_levels_have_the_same_bytes(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int i = 0; i < 200; i++) {
		static const struct terrain_class grass = {"grass", 1, false};
		static const struct terrain_class wall = {"wall", 0, false};
		struct bake_output plain, classes;
		struct level level;
		uint8_t number[2];

		random_level(&rng, MAX_SIDE, &level);
		plain = bake_plain(&level);
		number[1] = (uint8_t)level_add_class(&level, &grass);
		number[0] = (uint8_t)level_add_class(&level, &wall);
		for (size_t c = 0; c < (size_t)level.width * level.height; c++)
			if (rng_chance(&rng, 50))
				level.cells[c] = number[level.cells[c]];
		classes = bake_plain(&level);
		assert_int_equal(plain.size, classes.size);
		assert_memory_equal(plain.data, classes.data, plain.size);
		free(plain.data);
		free(classes.data);
		level_free(&level);
	}
}

/* A profile that is the same as the one before adds next to nothing. */
static void
equal_profiles_share_their_sections(void **state)
{
	const struct bake_agent agents[] = {{"one", 1, ""}, {"two", 1, ""}};
	struct rng rng = {test_seed()};
	struct bake_options options;
	struct bake_output one, two;
	struct level level;
	struct diag diag;

	(void)state;
	random_level(&rng, 100, &level);
	bake_options_default(&options);
	options.compress = HPA_COMPRESS_COLD;
	options.agents = agents;
	options.n_agents = 1;
	assert_int_equal(bake_run(&level, &options, &one, NULL, &diag),
	                 DIAG_OK);
	options.n_agents = 2;
	assert_int_equal(bake_run(&level, &options, &two, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(two.size, one.size + HPA_AGENT_SIZE);
	free(one.data);
	free(two.data);
	level_free(&level);
}

/* The cost of the cheapest path between two cells for one profile. */
static uint32_t
cost_for(const hpa_map *map, uint32_t profile, hpa_cell from, hpa_cell to)
{
	hpa_query *query;
	uint64_t cost = 0;
	hpa_status st;

	assert_int_equal(
		hpa_query_new(hpa_map_profile(map, profile), NULL, &query),
		HPA_OK);
	st = hpa_query_cost(query, from, to, &cost);
	hpa_query_free(query);
	return st == HPA_OK ? (uint32_t)cost : UINT32_MAX - (uint32_t)st;
}

static void
agents_of_one_size_are_one_profile_in_any_order(void **state)
{
	const struct bake_agent agents[] = {
		{"one", 1, ""}, {"big", 2, ""}, {"two", 1, ""}, {"too", 2, ""}};
	struct rng rng = {test_seed()};
	struct bake_options options;
	struct bake_output both, all;
	struct bake_report report_both, report_all;
	struct level level;
	struct diag diag;
	hpa_map *map;

	(void)state;
	random_level(&rng, 100, &level);
	bake_options_default(&options);
	options.agents = agents;
	options.n_agents = 2;
	assert_int_equal(bake_run(&level, &options, &both, &report_both, &diag),
	                 DIAG_OK);
	options.n_agents = 4;
	assert_int_equal(bake_run(&level, &options, &all, &report_all, &diag),
	                 DIAG_OK);
	assert_int_equal(report_all.levels[0].stored_edges,
	                 2 * report_both.levels[0].stored_edges);
	assert_int_equal(hpa_map_open_memory(all.data, all.size, NULL, &map),
	                 HPA_OK);
	for (int i = 0; i < 50; i++) {
		hpa_cell from = random_cell(&rng, &level);
		hpa_cell to = random_cell(&rng, &level);

		for (uint32_t p = 0; p < 2; p++)
			assert_int_equal(cost_for(map, p, from, to),
			                 cost_for(map, p + 2, from, to));
	}
	hpa_map_close(map);
	free(both.data);
	free(all.data);
	level_free(&level);
}

struct agent_text {
	const char *text;
	bool is_good;
};

static void
agents_are_read_as_the_manual_says(void **state)
{
	static const struct agent_text rows[] = {
		{"man", true},
		{"tank:size=2", true},
		{"boat:terrain=water", true},
		{"tank:size=2,terrain=ground+road", true},
		{"tank:terrain=ground+road,size=2", true},
		{"", false},
		{":size=2", false},
		{"tank:", false},
		{"tank:size=", false},
		{"tank:size=0", false},
		{"tank:size=65", false},
		{"tank:size=2x", false},
		{"tank:weight=2", false},
		{"tank,size=2", false},
		{"tank:terrain=", false},
		{"tank:terrain=a+", false},
		{"tank:terrain=+a", false},
		{"a b", false},
		{"tank:size=2,size=1", false},
		{"tank:size=1,size=1", false},
		{"boat:terrain=water,terrain=ground", false},
		{"tank:size=2,terrain=a,size=2", false},
		{"tank:terrain=a,size=2,terrain=a", false},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct bake_agent agent;
		struct diag diag;
		enum diag_status st =
			bake_agent_parse(rows[i].text, &agent, &diag);

		if ((st == DIAG_OK) != rows[i].is_good)
			fail_msg("'%s': %d", rows[i].text, st);
	}
}

struct links_text {
	const char *text;
	unsigned long bad_line; /* 0: it is good */
	uint32_t n;
};

static void
links_are_read_as_the_manual_says(void **state)
{
	static const struct links_text rows[] = {
		{"", 0, 0},
		{"# nothing\n\n", 0, 0},
		{"1 2 3 4 5\n", 0, 1},
		{"1 2 3 4 5.125 one-way cliff # down\n6 7 8 9 0\r\n", 0, 2},
		{"1,2 3,4 5 two-way\n", 0, 1},
		{"1 2 3 4\n", 1, 0},
		{"\n1 2 3 4 5 sideways\n", 2, 0},
		{"1 2 1 2 5\n", 1, 0},
		{"1 2 3 65535 5\n", 1, 0},
		{"1 2 3 -4 5\n", 1, 0},
		{"1 2 3 4 5.1234\n", 1, 0},
		{"1 2 3 4 65536\n", 1, 0},
		{"1 2 3 4 .\n", 1, 0},
		{"1 2 3 4 5 one-way a b\n", 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct bake_link *links = NULL;
		uint32_t n = 0;
		struct diag diag = {.line = 0};
		enum diag_status st = bake_links_read(
			(const uint8_t *)rows[i].text, strlen(rows[i].text),
			&links, &n, &diag);

		if ((st != DIAG_OK) != (rows[i].bad_line != 0) ||
		    n != rows[i].n ||
		    (st != DIAG_OK && diag.line != rows[i].bad_line))
			fail_msg("'%s': %d, line %lu, %u links", rows[i].text,
			         st, diag.line, (unsigned)n);
		free(links);
	}
}

static void
links_know_their_lines(void **state)
{
	static const char text[] = "# two\n1 2 3 4 5\n\n6 7 8 9 0 one-way";
	struct bake_link *links;
	struct diag diag;
	uint32_t n;

	(void)state;
	assert_int_equal(bake_links_read((const uint8_t *)text,
	                                 sizeof(text) - 1, &links, &n, &diag),
	                 DIAG_OK);
	assert_int_equal(n, 2);
	assert_int_equal(links[0].line, 2);
	assert_int_equal(links[1].line, 4);
	free(links);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_are_read_as_the_manual_says),
		cmocka_unit_test(links_are_read_as_the_manual_says),
		cmocka_unit_test(links_know_their_lines),
		cmocka_unit_test(uniform_levels_have_the_same_bytes),
		cmocka_unit_test(equal_profiles_share_their_sections),
		cmocka_unit_test(
			agents_of_one_size_are_one_profile_in_any_order),
		cmocka_unit_test(invariants_hold_with_terrain),
		cmocka_unit_test(invariants_hold_with_agents),
		cmocka_unit_test(invariants_hold_with_links),
		cmocka_unit_test(invariants_hold_with_terrain_and_agents),
		cmocka_unit_test(invariants_hold_with_terrain_and_links),
		cmocka_unit_test(invariants_hold_with_all_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
