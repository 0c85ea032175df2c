/* test_invariants.c: the four invariants of the design.
 *
 *     1  levels, pruning and landmarks do not change the cost
 *     2  a path is found iff a flood fill connects the two cells
 *     3  the refined path is legal and costs exactly the abstract cost, which
 *        is never below the oracle's
 *     4  the bytes do not depend on the number of threads
 *
 * They are shown on thousands of random levels, with every movement rule,
 * policy and cluster size, and on every problem of the real levels, if they are
 * there. Invariant 3 has a sharper half: HPA* finds the cheapest path among
 * those that cross from cluster to cluster by transitions only. A search on the
 * cells that obeys this ban (ban_cost()) has to find the same cost. */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/scen.h"
#include "src/bake/bake.h"
#include "src/run/map.h"
#include "tests/support.h"

#define N_LEVELS 2500
#define N_PAIRS 12
#define MAX_VARIANTS 16
#define MAX_CELLS 300000

/* Sanitizers make all of it several times slower; there, every so many
 * problems of a real level do. */
#define PROBLEM_STRIDE (HAS_SANITIZER ? 23 : 1)

/* One bake of a level, open. */
struct baked_level {
	struct bake_options options;
	unsigned flags; /* it is opened with */
	struct bake_output file;
	hpa_map *map;
	hpa_query *query;
};

static hpa_cell path[MAX_CELLS], other_path[MAX_CELLS];
static hpa_waypoint waypoints[MAX_CELLS];

static void
describe(const struct level *level, const struct bake_options *options,
         unsigned flags)
{
	static const char *const policies[] = {"ends", "spread", "every"};

	fprintf(stderr,
	        "# cluster size %u, levels %u, moves %d, %s %u, prune %d, "
	        "cache %d, labels %d, compress %d, flags %u\n",
	        (unsigned)options->cluster_size, (unsigned)options->n_levels,
	        (int)options->moves, policies[options->policy],
	        (unsigned)options->policy_parameter, options->prune,
	        options->cache_paths, options->fast_queries,
	        (int)options->compress, flags);
	if (level->width <= 100)
		draw_level(level, NULL, 0);
}

#define CHECK(what, baked, level, from, to, ...)                               \
	do {                                                                   \
		if (!(what)) {                                                 \
			describe(level, &(baked)->options, (baked)->flags);    \
			fprintf(stderr, "# %u,%u to %u,%u: ", (from).x,        \
			        (from).y, (to).x, (to).y);                     \
			fprintf(stderr, __VA_ARGS__);                          \
			fprintf(stderr, "\n");                                 \
			fail_msg("%s", #what);                                 \
		}                                                              \
	} while (0)

static void
bake(const struct level *level, const struct bake_options *options,
     unsigned flags, struct baked_level *out)
{
	struct diag diag;
	const char *detail = "?";
	const hpa_open_options how = {.flags = flags, .detail = &detail};

	out->options = *options;
	out->flags = flags;
	if (bake_run(level, options, &out->file, NULL, &diag) != DIAG_OK) {
		describe(level, options, flags);
		fail_msg("%s", diag.text);
	}
	if (hpa_map_open_memory(out->file.data, out->file.size, &how,
	                        &out->map) != HPA_OK) {
		describe(level, options, flags);
		fail_msg("%s", detail);
	}
	assert_int_equal(hpa_query_new(out->map, NULL, &out->query), HPA_OK);
	hpa_query_set_smoothing(out->query, HPA_SMOOTH_NONE, 0);
}

static void
free_baked(struct baked_level *baked)
{
	hpa_query_free(baked->query);
	hpa_map_close(baked->map);
	free(baked->file.data);
}

/* Largest number of levels that the format allows, 6 at the most. */
static uint32_t
max_levels(uint32_t cluster_size)
{
	uint32_t levels = 1;

	while (levels < 6 && cluster_size << levels <= HPA_MAX_TOP_CLUSTER_SIZE)
		levels++;
	return levels;
}

static struct bake_options
random_options(struct rng *rng)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size =
		rng_chance(rng, 50)
			? rng_between(rng, HPA_MIN_CLUSTER_SIZE, 10)
			: rng_between(rng, HPA_MIN_CLUSTER_SIZE,
	                              HPA_MAX_CLUSTER_SIZE);
	options.n_levels = rng_between(rng, 1, max_levels(options.cluster_size));
	options.moves = (enum hpa_move_rule)rng_below(rng, 3);
	options.policy = (enum hpa_policy)rng_below(rng, 3);
	if (options.policy == HPA_POLICY_ENDS)
		options.policy_parameter = rng_between(rng, 1, 12);
	if (options.policy == HPA_POLICY_EVERY)
		options.policy_parameter = rng_between(rng, 1, 9);
	options.prune = rng_chance(rng, 70);
	options.cache_paths = rng_chance(rng, 40);
	options.fast_queries = rng_chance(rng, 40);
	options.compress = (enum hpa_compress)rng_below(rng, 3);
	options.n_threads = rng_between(rng, 1, 3);
	return options;
}

/* Invariants 2 and 3 for one pair; returns the cost. */
static uint64_t
check_pair(const struct level *level, struct baked_level *baked,
           struct oracle *oracle, hpa_cell from, hpa_cell to, uint64_t least)
{
	hpa_status st, expected = HPA_OK;
	uint64_t cost = 0;
	size_t n = 0;
	const char *problem;

	if (!level_is_free(level, from) || !level_is_free(level, to))
		expected = HPA_BLOCKED;
	else if (!oracle_connected(oracle, from.x, from.y, to.x, to.y))
		expected = HPA_NO_PATH;
	st = hpa_query_path(baked->query, from, to, path, MAX_CELLS, &n);
	CHECK(st == expected, baked, level, from, to, "path: status %d not %d",
	      st, expected);
	st = hpa_map_reachable(baked->map, from, to);
	CHECK(st == expected, baked, level, from, to,
	      "reachable: status %d not %d", st, expected);
	st = hpa_query_cost(baked->query, from, to, &cost);
	CHECK(st == expected, baked, level, from, to, "cost: status %d not %d",
	      st, expected);
	if (expected != HPA_OK) {
		CHECK(n == 0, baked, level, from, to, "%zu cells", n);
		return ORACLE_NO_PATH;
	}
	problem = path_problem(oracle, path, n, from, to);
	CHECK(!problem, baked, level, from, to, "%s", problem);
	CHECK(path_cost(path, n) == cost, baked, level, from, to,
	      "the path costs %" PRIu64 ", not %" PRIu64, path_cost(path, n),
	      cost);
	CHECK(cost >= least, baked, level, from, to,
	      "%" PRIu64 " is less than the least, %" PRIu64, cost, least);
	return cost;
}

/* The abstract path begins and ends where it should and its costs rise to the
 * path's. */
static void
check_abstract(const struct level *level, struct baked_level *baked,
               hpa_cell from, hpa_cell to, uint64_t cost)
{
	size_t n = 0;
	hpa_status st = hpa_query_abstract_path(baked->query, from, to,
	                                        waypoints, MAX_CELLS, &n);

	CHECK(st == HPA_OK && n > 0, baked, level, from, to, "status %d, %zu",
	      st, n);
	CHECK(waypoints[0].cell.x == from.x && waypoints[0].cell.y == from.y &&
	              waypoints[0].cost == 0,
	      baked, level, from, to, "begins elsewhere");
	CHECK(waypoints[n - 1].cell.x == to.x &&
	              waypoints[n - 1].cell.y == to.y &&
	              waypoints[n - 1].cost == cost,
	      baked, level, from, to, "ends elsewhere");
	for (size_t i = 1; i < n; i++)
		CHECK(waypoints[i].cost > waypoints[i - 1].cost, baked, level,
		      from, to, "the costs do not rise at %zu", i);
}

/* The walk in pieces is the path. */
static void
check_walk(struct rng *rng, const struct level *level,
           struct baked_level *baked, hpa_cell from, hpa_cell to)
{
	size_t n = 0, n_walked = 0, piece = 1;
	uint64_t cost;

	assert_int_equal(hpa_query_path(baked->query, from, to, path, MAX_CELLS,
	                                &n),
	                 HPA_OK);
	assert_int_equal(hpa_query_start(baked->query, from, to, &cost),
	                 HPA_OK);
	while (piece > 0) {
		size_t capacity = rng_between(rng, 1, 20);

		assert_int_equal(hpa_query_next(baked->query,
		                                other_path + n_walked, capacity,
		                                &piece),
		                 HPA_OK);
		n_walked += piece;
		CHECK(piece == capacity || n_walked == n, baked, level, from,
		      to, "%zu of %zu cells, then no more", n_walked, n);
	}
	CHECK(n == n_walked && !memcmp(path, other_path, n * sizeof(*path)),
	      baked, level, from, to, "the walk is another path");
}

/* The least cost of a path that crosses from cluster to cluster by the file's
 * inter-edges only: cells whose cost fell are gone through again and again
 * until nothing falls. */
struct ban {
	const struct hpa_view *view;
	const struct oracle *oracle;
	uint32_t width, height;
	uint8_t *exits; /* bit per step of below */
	uint64_t *cost;
	uint32_t *queue;
	uint8_t *queued;
};

static const int step_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int step_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};

static void
mark_transitions(struct ban *ban)
{
	const struct hpa_view *view = ban->view;

	for (uint32_t u = 0; u < view->n_nodes; u++) {
		uint32_t x = hpa_node_x(view, u), y = hpa_node_y(view, u);
		uint32_t e = hpa_get_u32(view->inter_first, u);
		uint32_t end = hpa_get_u32(view->inter_first, (size_t)u + 1);

		for (; e < end; e++) {
			uint32_t v = hpa_get_u32(view->inter_target, e);

			for (unsigned d = 0; d < 8; d += 2)
				if ((int)hpa_node_x(view, v) ==
				            (int)x + step_x[d] &&
				    (int)hpa_node_y(view, v) ==
				            (int)y + step_y[d])
					ban->exits[y * ban->width + x] |=
						(uint8_t)(1u << d);
		}
	}
}

static bool
ban_allows(const struct ban *ban, uint32_t cell, unsigned d)
{
	long x = cell % ban->width, y = cell / ban->width;
	long size = ban->view->cluster_size;

	if (!oracle_step_is_legal(ban->oracle, x, y, step_x[d], step_y[d]))
		return false;
	return (x / size == (x + step_x[d]) / size &&
	        y / size == (y + step_y[d]) / size) ||
	       (ban->exits[cell] >> d & 1);
}

static void
ban_solve(struct ban *ban, hpa_cell from)
{
	uint32_t n = ban->width * ban->height, head = 0, tail = 0, n_queued = 1;

	memset(ban->cost, 0xff, n * sizeof(*ban->cost));
	memset(ban->queued, 0, n);
	ban->queue[tail++] = from.y * ban->width + from.x;
	ban->cost[ban->queue[0]] = 0;
	while (n_queued > 0) {
		uint32_t cell = ban->queue[head];

		head = (head + 1) % (n + 1);
		n_queued--;
		ban->queued[cell] = 0;
		for (unsigned d = 0; d < 8; d++) {
			uint32_t to;
			uint64_t cost = ban->cost[cell] +
			                (d % 2 ? HPA_COST_DIAGONAL
			                       : HPA_COST_STRAIGHT);

			if (!ban_allows(ban, cell, d))
				continue;
			to = (uint32_t)((int)cell + step_x[d] +
			                step_y[d] * (int)ban->width);
			if (cost >= ban->cost[to])
				continue;
			ban->cost[to] = cost;
			if (ban->queued[to])
				continue;
			ban->queued[to] = 1;
			ban->queue[tail] = to;
			tail = (tail + 1) % (n + 1);
			n_queued++;
		}
	}
}

static void
check_ban(const struct level *level, struct baked_level *baked,
          struct oracle *oracle, hpa_cell from, const hpa_cell *to,
          const uint64_t *cost, size_t n)
{
	size_t n_cells = (size_t)level->width * level->height;
	struct ban ban = {
		.view = &baked->map->view,
		.oracle = oracle,
		.width = level->width,
		.height = level->height,
		.exits = calloc(n_cells, 1),
		.cost = malloc(n_cells * sizeof(uint64_t)),
		.queue = malloc((n_cells + 1) * sizeof(uint32_t)),
		.queued = malloc(n_cells),
	};

	assert_true(ban.exits && ban.cost && ban.queue && ban.queued);
	mark_transitions(&ban);
	ban_solve(&ban, from);
	for (size_t i = 0; i < n; i++) {
		uint64_t least = ban.cost[to[i].y * level->width + to[i].x];

		CHECK(cost[i] == least, baked, level, from, to[i],
		      "abstract cost %" PRIu64 ", least %" PRIu64, cost[i],
		      least);
	}
	free(ban.exits);
	free(ban.cost);
	free(ban.queue);
	free(ban.queued);
}

/* The other bakes that must give the same costs: more and fewer levels, pruned
 * and not, cached and not, with landmarks and without. */
static size_t
bake_variants(const struct level *level, const struct bake_options *options,
              struct baked_level *out)
{
	uint32_t most = max_levels(options->cluster_size);
	size_t n = 0;

	for (uint32_t levels = 1; levels <= most; levels += 1 + levels / 3) {
		struct bake_options other = *options;

		other.n_levels = levels;
		other.prune = levels % 2 == 0;
		other.cache_paths = !options->cache_paths;
		other.fast_queries = levels % 3 == 2;
		bake(level, &other, levels % 2 ? HPA_NO_LANDMARKS : 0,
		     &out[n++]);
	}
	return n;
}

static void
check_level(struct rng *rng, const struct level *level)
{
	struct bake_options options = random_options(rng);
	struct oracle *oracle = oracle_new(level, options.moves);
	struct baked_level baked, others[MAX_VARIANTS];
	hpa_cell from = random_cell(rng, level), to[N_PAIRS];
	uint64_t cost[N_PAIRS];
	size_t n_others, i, k;

	assert_non_null(oracle);
	bake(level, &options, 0, &baked);
	n_others = bake_variants(level, &options, others);
	if (rng_chance(rng, 90))
		random_free_cell(rng, level, &from);
	for (i = 0; i < N_PAIRS; i++) {
		uint64_t least;

		to[i] = random_cell(rng, level);
		if (rng_chance(rng, 80))
			random_free_cell(rng, level, &to[i]);
		least = oracle_cost(oracle, from.x, from.y, to[i].x, to[i].y);
		cost[i] = check_pair(level, &baked, oracle, from, to[i], least);
		for (k = 0; k < n_others; k++) {
			uint64_t other = check_pair(level, &others[k], oracle,
			                            from, to[i], least);

			CHECK(other == cost[i], &others[k], level, from, to[i],
			      "%" PRIu64 " and %" PRIu64, other, cost[i]);
		}
		if (cost[i] != ORACLE_NO_PATH && i < 4) {
			check_abstract(level, &baked, from, to[i], cost[i]);
			check_walk(rng, level, &baked, from, to[i]);
		}
	}
	if (level_is_free(level, from))
		check_ban(level, &baked, oracle, from, to, cost, N_PAIRS);
	for (k = 0; k < n_others; k++)
		free_baked(&others[k]);
	free_baked(&baked);
	oracle_free(oracle);
}

static void
invariants_hold_on_random_levels(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int i = 0; i < N_LEVELS; i++) {
		struct level level;

		random_level(&rng, i % 10 ? 40 : 100, &level);
		check_level(&rng, &level);
		level_free(&level);
	}
}

/* Cached or searched for, the path is the same, cell by cell. */
static void
a_cache_does_not_change_the_path(void **state)
{
	struct rng rng = {test_seed() + 1};

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct bake_options options = random_options(&rng);
		struct baked_level with, without;
		struct level level;

		random_level(&rng, 60, &level);
		options.cache_paths = true;
		bake(&level, &options, 0, &with);
		options.cache_paths = false;
		bake(&level, &options, 0, &without);
		for (int k = 0; k < 20; k++) {
			hpa_cell from = {0, 0}, to = {0, 0};
			size_t n = 0, n_other = 0;
			hpa_status st;

			random_free_cell(&rng, &level, &from);
			random_free_cell(&rng, &level, &to);
			st = hpa_query_path(with.query, from, to, path,
			                    MAX_CELLS, &n);
			CHECK(st == hpa_query_path(without.query, from, to,
			                           other_path, MAX_CELLS,
			                           &n_other),
			      &with, &level, from, to, "status %d", st);
			CHECK(n == n_other &&
			              !memcmp(path, other_path,
			                      n * sizeof(*path)),
			      &with, &level, from, to, "another path");
		}
		free_baked(&with);
		free_baked(&without);
		level_free(&level);
	}
}

static void
threads_do_not_change_the_bytes(void **state)
{
	static const unsigned n_threads[] = {2, 7};
	struct rng rng = {test_seed() + 2};

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct bake_options options = random_options(&rng);
		struct baked_level one, more;
		struct level level;

		random_level(&rng, 100, &level);
		options.n_threads = 1;
		bake(&level, &options, 0, &one);
		for (size_t k = 0; k < 2; k++) {
			options.n_threads = n_threads[k];
			bake(&level, &options, 0, &more);
			assert_int_equal(one.file.size, more.file.size);
			assert_memory_equal(one.file.data, more.file.data,
			                    one.file.size);
			free_baked(&more);
		}
		free_baked(&one);
		level_free(&level);
	}
}

/* All problems of one real level, with the bakes below side by side. The least
 * cost is what the .scen states, as far as its folder can be trusted, less what
 * 99/70 is above the root of 2. */
static void
check_problems(const struct level *level, const struct scen *scen,
               bool is_trusted, struct baked_level *baked, size_t n_baked)
{
	struct oracle *oracle = oracle_new(level, HPA_RULE_8);

	assert_non_null(oracle);
	for (size_t i = 0; i < scen->n_problems; i += PROBLEM_STRIDE) {
		const struct scen_problem *p = &scen->problems[i];
		hpa_cell from = {(uint16_t)p->from_x, (uint16_t)p->from_y};
		hpa_cell to = {(uint16_t)p->to_x, (uint16_t)p->to_y};
		double stated = is_trusted ? p->optimum : 0;
		uint64_t least =
			(uint64_t)(stated * HPA_COST_STRAIGHT * 0.9999);
		uint64_t cost = check_pair(level, &baked[0], oracle, from, to,
		                           least);

		for (size_t k = 1; k < n_baked; k++) {
			uint64_t other = cost;
			hpa_status st = hpa_query_cost(baked[k].query, from,
			                               to, &other);

			CHECK(st == HPA_OK || cost == ORACLE_NO_PATH, &baked[k],
			      level, from, to, "status %d", st);
			CHECK(other == cost, &baked[k], level, from, to,
			      "%" PRIu64 " and %" PRIu64, other, cost);
		}
	}
	oracle_free(oracle);
}

static void
check_map(const char *folder, const char *name, bool is_trusted)
{
	static const struct {
		uint32_t n_levels;
		bool prune;
		unsigned n_threads;
	} variants[] = {{0, true, 2}, {1, true, 1}, {2, false, 3}};
	const size_t n_variants = N_ELEMENTS(variants);
	struct baked_level baked[N_ELEMENTS(variants)];
	struct diag diag = {.text = ""};
	char file[512];
	size_t size;
	uint8_t *data;
	struct level level;
	struct scen scen;

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	data = read_maps_file(file, &size);
	assert_non_null(data);
	assert_int_equal(scen_read(data, size, &scen, &diag), DIAG_OK);
	free(data);
	file[strlen(file) - strlen(".scen")] = '\0';
	data = read_maps_file(file, &size);
	assert_non_null(data);
	assert_int_equal(level_read(file, data, size, NULL, &level, &diag), DIAG_OK);
	free(data);
	for (size_t k = 0; k < n_variants; k++) {
		struct bake_options options;

		bake_options_default(&options);
		options.n_levels = variants[k].n_levels;
		options.prune = variants[k].prune;
		options.n_threads = variants[k].n_threads;
		bake(&level, &options, 0, &baked[k]);
	}
	check_problems(&level, &scen, is_trusted, baked, n_variants);
	for (size_t k = 0; k < n_variants; k++)
		free_baked(&baked[k]);
	level_free(&level);
	scen_free(&scen);
}

static void
invariants_hold_on_real_levels(void **state)
{
	static const struct {
		const char *name;
		bool is_trusted; /* its lengths are optimal */
	} folders[] = {
		{"dao", true},    {"da2", true},   {"sc1", true},
		{"bg512", true},  {"cities", true}, {"rooms", true},
		{"random", true}, {"mazes", true}, {"wc3maps512", false},
	};
	const char *root = getenv("HPA_MAPS");
	size_t n_maps = 0;

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(folders); i++) {
		char path_name[4096];
		struct dirent *entry;
		DIR *dir;

		snprintf(path_name, sizeof(path_name), "%s/%s",
		         root ? root : ".", folders[i].name);
		dir = root ? opendir(path_name) : NULL;
		if (!dir)
			continue;
		while ((entry = readdir(dir))) {
			const char *dot = strstr(entry->d_name, ".map.scen");

			if (!dot || dot[strlen(".map.scen")])
				continue;
			check_map(folders[i].name, entry->d_name,
			          folders[i].is_trusted);
			n_maps++;
		}
		closedir(dir);
	}
	if (n_maps == 0)
		printf("# no real levels in HPA_MAPS, nothing to show\n");
	else
		printf("# %zu real levels, every %d. problem\n", n_maps,
		       PROBLEM_STRIDE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invariants_hold_on_random_levels),
		cmocka_unit_test(a_cache_does_not_change_the_path),
		cmocka_unit_test(threads_do_not_change_the_bytes),
		cmocka_unit_test(invariants_hold_on_real_levels),
	};

	return cmocka_run_group_tests_name("invariants", tests, NULL, NULL);
}
