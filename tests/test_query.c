/* test_query.c: the calls of libhpa, as a game uses them. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "hpa.h"
#include "src/bake/bake.h"
#include "src/run/map.h"
#include "tests/support.h"

#define MAX_CELLS 20000

/* Two rooms, one door, and a closet that nothing leads to. */
static const char two_rooms[] = "............@......\n"
				"............@......\n"
				"............@......\n"
				"...................\n"
				"............@......\n"
				"............@@@@@@@\n"
				"............@....@.\n"
				"............@....@@\n"
				"............@....@.\n";

static const hpa_cell left = {1, 7}, right = {17, 0}, closet = {14, 7},
		      wall = {12, 0};

struct fixture {
	struct level level;
	struct bake_output file;
	hpa_map *map;
	hpa_query *query;
};

static void
bake_level(struct fixture *f, bool cache_paths, enum hpa_compress compress)
{
	struct bake_options options;
	struct diag diag;

	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = 3;
	options.cache_paths = cache_paths;
	options.compress = compress;
	assert_int_equal(bake_run(&f->level, &options, &f->file, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(hpa_map_open_memory(f->file.data, f->file.size, NULL,
	                                     &f->map),
	                 HPA_OK);
	assert_int_equal(hpa_query_new(f->map, NULL, &f->query), HPA_OK);
	hpa_query_set_smoothing(f->query, HPA_SMOOTH_NONE, 0);
}

static int
set_up(void **state)
{
	static struct fixture f;

	level_from_text(two_rooms, &f.level);
	bake_level(&f, true, HPA_COMPRESS_COLD);
	*state = &f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hpa_query_free(f->query);
	hpa_map_close(f->map);
	free(f->file.data);
	level_free(&f->level);
	return 0;
}

static void
every_status_has_a_text_of_its_own(void **state)
{
	(void)state;
	for (int a = HPA_OK; a <= HPA_NO_ROOM; a++)
		for (int b = HPA_OK; b < a; b++)
			assert_string_not_equal(
				hpa_status_text((hpa_status)a),
				hpa_status_text((hpa_status)b));
}

static void
cells_outside_blocked_and_cut_off_are_told_apart(void **state)
{
	struct fixture *f = *state;
	const struct {
		hpa_cell from, to;
		hpa_status expected;
	} rows[] = {
		{left, right, HPA_OK},
		{left, closet, HPA_NO_PATH},
		{closet, left, HPA_NO_PATH},
		{left, wall, HPA_BLOCKED},
		{wall, left, HPA_BLOCKED},
		{left, {19, 0}, HPA_OUTSIDE},
		{{0, 9}, left, HPA_OUTSIDE},
		{wall, {UINT16_MAX, UINT16_MAX}, HPA_OUTSIDE},
	};

	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		hpa_cell cells[64];
		hpa_waypoint points[64];
		uint64_t cost = 12345;
		size_t n = 99;

		assert_int_equal(hpa_map_reachable(f->map, rows[i].from,
		                                   rows[i].to),
		                 rows[i].expected);
		assert_int_equal(hpa_query_cost(f->query, rows[i].from,
		                                rows[i].to, &cost),
		                 rows[i].expected);
		if (rows[i].expected != HPA_OK)
			assert_int_equal(cost, 12345);
		assert_int_equal(hpa_query_path(f->query, rows[i].from,
		                                rows[i].to, cells, 64, &n),
		                 rows[i].expected);
		assert_true((n == 0) == (rows[i].expected != HPA_OK));
		assert_int_equal(
			hpa_query_abstract_path(f->query, rows[i].from,
		                                rows[i].to, points, 64, &n),
			rows[i].expected);
		assert_true((n == 0) == (rows[i].expected != HPA_OK));
	}
}

static void
a_path_to_the_start_is_one_cell(void **state)
{
	struct fixture *f = *state;
	hpa_waypoint points[4];
	hpa_cell cells[4];
	uint64_t cost = 1;
	size_t n;

	assert_int_equal(hpa_query_path(f->query, left, left, cells, 4, &n),
	                 HPA_OK);
	assert_int_equal(n, 1);
	assert_int_equal(cells[0].x, left.x);
	assert_int_equal(cells[0].y, left.y);
	assert_int_equal(hpa_query_cost(f->query, left, left, &cost), HPA_OK);
	assert_int_equal(cost, 0);
	assert_int_equal(
		hpa_query_abstract_path(f->query, left, left, points, 4, &n),
		HPA_OK);
	assert_int_equal(n, 1);
}

/* A buffer that is too small gets the beginning, and the size is told. */
static void
no_room_tells_how_much_is_needed(void **state)
{
	struct fixture *f = *state;
	hpa_cell all[64], some[64];
	hpa_waypoint points[64], some_points[64];
	size_t n, n_told;

	assert_int_equal(hpa_query_path(f->query, left, right, all, 64, &n),
	                 HPA_OK);
	assert_true(n > 16);
	for (size_t room = 0; room <= n; room++) {
		hpa_status expected = room < n ? HPA_NO_ROOM : HPA_OK;

		memset(some, 0xee, sizeof(some));
		assert_int_equal(hpa_query_path(f->query, left, right, some,
		                                room, &n_told),
		                 expected);
		assert_int_equal(n_told, n);
		assert_memory_equal(some, all, room * sizeof(*some));
		assert_int_equal(some[room].x, 0xeeee);
	}
	assert_int_equal(hpa_query_abstract_path(f->query, left, right, points,
	                                         64, &n),
	                 HPA_OK);
	assert_true(n > 2);
	assert_int_equal(hpa_query_abstract_path(f->query, left, right,
	                                         some_points, 2, &n_told),
	                 HPA_NO_ROOM);
	assert_int_equal(n_told, n);
	assert_int_equal(some_points[1].cost, points[1].cost);
}

static void
a_walk_ends_and_other_calls_end_it(void **state)
{
	struct fixture *f = *state;
	hpa_cell cells[64];
	uint64_t cost;
	size_t n, i;

	assert_int_equal(hpa_query_next(f->query, cells, 64, &n), HPA_OK);
	assert_int_equal(n, 0);
	assert_int_equal(hpa_query_start(f->query, left, right, &cost), HPA_OK);
	assert_int_equal(hpa_query_next(f->query, cells, 64, &n), HPA_OK);
	assert_true(n > 1);
	for (i = 0; i < 3; i++) {
		assert_int_equal(hpa_query_next(f->query, cells, 64, &n),
		                 HPA_OK);
		assert_int_equal(n, 0);
	}
	assert_int_equal(hpa_query_start(f->query, left, right, &cost), HPA_OK);
	assert_int_equal(hpa_query_next(f->query, cells, 1, &n), HPA_OK);
	assert_int_equal(n, 1);
	assert_int_equal(hpa_query_cost(f->query, right, left, &cost), HPA_OK);
	assert_int_equal(hpa_query_next(f->query, cells, 64, &n), HPA_OK);
	assert_int_equal(n, 0);
	assert_int_equal(hpa_query_start(f->query, left, right, &cost), HPA_OK);
	assert_int_equal(hpa_query_start(f->query, left, wall, &cost),
	                 HPA_BLOCKED);
	assert_int_equal(hpa_query_next(f->query, cells, 64, &n), HPA_OK);
	assert_int_equal(n, 0);
}

static void
facts_are_those_of_the_level(void **state)
{
	struct fixture *f = *state;
	hpa_facts facts;
	size_t n_free = 0;

	for (size_t i = 0; i < strlen(two_rooms); i++)
		n_free += two_rooms[i] == '.';
	hpa_map_facts(f->map, &facts);
	assert_int_equal(facts.width, 19);
	assert_int_equal(facts.height, 9);
	assert_int_equal(facts.cluster_size, 4);
	assert_int_equal(facts.n_levels, 3);
	assert_int_equal(facts.moves, HPA_MOVES_8);
	assert_int_equal(facts.n_free_cells, n_free);
	/* The rooms, the closet, and two single cells beside it. */
	assert_int_equal(facts.n_components, 4);
	assert_int_equal(facts.cost_straight, 70);
	assert_int_equal(facts.cost_diagonal, 99);
	for (uint16_t y = 0; y < 11; y++)
		for (uint16_t x = 0; x < 21; x++) {
			hpa_cell cell = {x, y};

			assert_int_equal(hpa_map_is_free(f->map, cell),
			                 level_is_free(&f->level, cell));
		}
}

/* An allocator that counts, and fails at the n-th call. */
struct counter {
	size_t n_calls, fail_at, n_open, n_bytes, last_size;
};

static void *
counted_alloc(void *user, size_t size)
{
	struct counter *counter = user;

	if (++counter->n_calls == counter->fail_at)
		return NULL;
	counter->n_open++;
	counter->n_bytes += size;
	counter->last_size = size;
	return malloc(size);
}

static void
counted_free(void *user, void *memory, size_t size)
{
	struct counter *counter = user;

	assert_non_null(memory);
	counter->n_open--;
	counter->n_bytes -= size;
	free(memory);
}

static void
memory_comes_from_the_caller_and_only_at_the_beginning(void **state)
{
	struct fixture *f = *state;
	struct counter counter = {0};
	const hpa_allocator allocator = {counted_alloc, counted_free, &counter};
	const hpa_open_options how = {.allocator = &allocator};
	hpa_cell cells[64];
	hpa_map *map;
	hpa_query *query;
	uint64_t cost;
	size_t n, n_calls;

	assert_int_equal(hpa_map_open_memory(f->file.data, f->file.size, &how,
	                                     &map),
	                 HPA_OK);
	assert_true(counter.n_calls > 0);
	n_calls = counter.n_calls;
	assert_int_equal(hpa_query_new(map, &allocator, &query), HPA_OK);
	assert_int_equal(counter.n_calls, n_calls + 1);
	assert_int_equal(counter.last_size, hpa_query_size(map));
	n_calls = counter.n_calls;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(hpa_query_path(query, left, right, cells, 64,
		                                &n),
		                 HPA_OK);
		assert_int_equal(hpa_query_cost(query, right, left, &cost),
		                 HPA_OK);
	}
	assert_int_equal(counter.n_calls, n_calls);
	hpa_query_free(query);
	hpa_map_close(map);
	assert_int_equal(counter.n_open, 0);
	assert_int_equal(counter.n_bytes, 0);
}

static void
an_allocator_that_fails_is_survived(void **state)
{
	static const enum hpa_compress compress[] = {
		HPA_COMPRESS_NONE, HPA_COMPRESS_COLD, HPA_COMPRESS_ALL};
	struct level level;

	(void)state;
	level_from_text(two_rooms, &level);
	for (size_t i = 0; i < 3; i++) {
		struct fixture f = {.level = level};
		bool done = false;

		bake_level(&f, true, compress[i]);
		for (size_t fail_at = 1; !done; fail_at++) {
			struct counter counter = {.fail_at = fail_at};
			const hpa_allocator allocator = {
				counted_alloc, counted_free, &counter};
			const hpa_open_options how = {.allocator = &allocator};
			hpa_map *map;
			hpa_query *query = NULL;
			hpa_status st = hpa_map_open_memory(
				f.file.data, f.file.size, &how, &map);

			if (st == HPA_OK)
				st = hpa_query_new(map, &allocator, &query);
			done = counter.n_calls < fail_at;
			assert_int_equal(st, done ? HPA_OK : HPA_NO_MEMORY);
			assert_true(done || !query);
			hpa_query_free(query);
			hpa_map_close(map);
			assert_int_equal(counter.n_open, 0);
		}
		hpa_query_free(f.query);
		hpa_map_close(f.map);
		free(f.file.data);
	}
	level_free(&level);
}

/* By the book: every cell is looked at. */
static hpa_cell
plain_nearest(struct oracle *oracle, const struct level *level, hpa_cell from,
              hpa_cell to, enum hpa_move_rule moves)
{
	uint64_t best = UINT64_MAX;
	hpa_cell cell = {0, 0};

	for (uint32_t y = 0; y < level->height; y++)
		for (uint32_t x = 0; x < level->width; x++) {
			uint64_t dx = (uint64_t)labs((long)x - to.x);
			uint64_t dy = (uint64_t)labs((long)y - to.y);
			uint64_t less = dx < dy ? dx : dy;
			uint64_t more = dx < dy ? dy : dx;
			uint64_t cost = moves == HPA_RULE_4
			                        ? 70 * (dx + dy)
			                        : 99 * less + 70 * (more - less);

			if (cost < best && oracle_connected(oracle, from.x,
			                                    from.y, x, y)) {
				best = cost;
				cell = (hpa_cell){(uint16_t)x, (uint16_t)y};
			}
		}
	return cell;
}

static void
nearest_is_what_looking_at_every_cell_finds(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct fixture f = {.map = NULL};
		struct bake_options options;
		struct oracle *oracle;
		struct diag diag;
		hpa_cell from;

		random_level(&rng, 70, &f.level);
		bake_options_default(&options);
		options.cluster_size = rng_between(&rng, 4, 20);
		options.moves = (enum hpa_move_rule)rng_below(&rng, 3);
		assert_int_equal(
			bake_run(&f.level, &options, &f.file, NULL, &diag),
			DIAG_OK);
		assert_int_equal(hpa_map_open_memory(f.file.data, f.file.size,
		                                     NULL, &f.map),
		                 HPA_OK);
		oracle = oracle_new(&f.level, options.moves);
		for (int k = 0;
		     k < 10 && random_free_cell(&rng, &f.level, &from); k++) {
			hpa_cell to = random_cell(&rng, &f.level);
			hpa_cell expected = plain_nearest(
				oracle, &f.level, from, to, options.moves);
			hpa_cell found = {0, 0};

			assert_int_equal(
				hpa_map_nearest(f.map, from, to, &found),
				HPA_OK);
			if (found.x != expected.x || found.y != expected.y) {
				hpa_cell all[] = {from, to, found, expected};

				draw_level(&f.level, all, 4);
				fail_msg("nearest to %u,%u is %u,%u, not %u,%u",
				         to.x, to.y, expected.x, expected.y,
				         found.x, found.y);
			}
		}
		oracle_free(oracle);
		hpa_map_close(f.map);
		free(f.file.data);
		level_free(&f.level);
	}
}

static void
nearest_refuses_what_it_can_not_start_from(void **state)
{
	struct fixture *f = *state;
	hpa_cell outside = {19, 3}, out = {7, 7};

	assert_int_equal(hpa_map_nearest(f->map, wall, left, &out),
	                 HPA_BLOCKED);
	assert_int_equal(hpa_map_nearest(f->map, outside, left, &out),
	                 HPA_OUTSIDE);
	assert_int_equal(hpa_map_nearest(f->map, left, outside, &out),
	                 HPA_OUTSIDE);
	assert_int_equal(out.x, 7);
}

/* Cells that only links connect, at the highest cost that a link has. */
#define N_ISLANDS 1000u

static void
paths_may_cost_more_than_32_bits(void **state)
{
	static struct bake_link links[N_ISLANDS - 1];
	static char rows[2 * N_ISLANDS + 1];
	const hpa_cell first = {0, 0}, last = {2 * (N_ISLANDS - 1), 0};
	hpa_cell cells[N_ISLANDS];
	struct bake_options options;
	struct fixture f;
	struct diag diag;
	uint64_t cost;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i + 1 < N_ISLANDS; i++)
		links[i] = (struct bake_link){
			.from_x = (uint16_t)(2 * i),
			.to_x = (uint16_t)(2 * i + 2),
			.cost = BAKE_MAX_LINK_COST,
		};
	memset(rows, '.', sizeof(rows) - 1);
	for (uint32_t i = 1; i < sizeof(rows) - 2; i += 2)
		rows[i] = '@';
	rows[sizeof(rows) - 2] = '\n';
	level_from_text(rows, &f.level);
	bake_options_default(&options);
	options.n_links = N_ISLANDS - 1;
	options.links = links;
	assert_int_equal(bake_run(&f.level, &options, &f.file, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(
		hpa_map_open_memory(f.file.data, f.file.size, NULL, &f.map),
		HPA_OK);
	assert_int_equal(hpa_query_new(f.map, NULL, &f.query), HPA_OK);
	for (int mode = 0; mode <= HPA_SMOOTH_CORRIDOR; mode++) {
		hpa_query_set_smoothing(f.query, (hpa_smoothing)mode, 0);
		assert_int_equal(hpa_query_cost(f.query, first, last, &cost),
		                 HPA_OK);
		assert_true(cost > UINT32_MAX);
		assert_int_equal(hpa_query_path(f.query, first, last, cells,
		                                N_ISLANDS, &n),
		                 HPA_OK);
		assert_int_equal(n, N_ISLANDS);
		assert_int_equal(cells[n - 1].x, last.x);
	}
	tear_down((void *[]){&f});
}

/* With links of both directions, the way back costs what the way costs: unless
 * the estimate, which looks at where many of them are entered at once, says too
 * much. */
#define N_PORTALS 200u

static void
many_portals_cost_the_same_both_ways(void **state)
{
	enum { SIDE = 100 };
	static struct bake_link links[N_PORTALS];
	static char rows[SIDE * (SIDE + 1) + 1];
	struct rng rng = {test_seed()};
	struct bake_options options;
	struct fixture f;
	struct diag diag;

	(void)state;
	for (uint32_t i = 0; i < N_PORTALS; i++)
		links[i] = (struct bake_link){
			.from_x = (uint16_t)rng_below(&rng, SIDE),
			.from_y = (uint16_t)rng_below(&rng, SIDE / 2),
			.to_x = (uint16_t)rng_below(&rng, SIDE),
			.to_y = (uint16_t)rng_between(&rng, SIDE / 2, SIDE - 1),
			.cost = rng_below(&rng, 60000),
		};
	memset(rows, '.', sizeof(rows) - 1);
	for (uint32_t y = 0; y < SIDE; y++)
		rows[y * (SIDE + 1) + SIDE] = '\n';
	level_from_text(rows, &f.level);
	bake_options_default(&options);
	options.n_links = N_PORTALS;
	options.links = links;
	assert_int_equal(bake_run(&f.level, &options, &f.file, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(
		hpa_map_open_memory(f.file.data, f.file.size, NULL, &f.map),
		HPA_OK);
	assert_int_equal(hpa_query_new(f.map, NULL, &f.query), HPA_OK);
	hpa_query_set_smoothing(f.query, HPA_SMOOTH_NONE, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		hpa_cell from = random_cell(&rng, &f.level);
		hpa_cell to = random_cell(&rng, &f.level);
		uint64_t cost, back;

		assert_int_equal(hpa_query_cost(f.query, from, to, &cost),
		                 HPA_OK);
		assert_int_equal(hpa_query_cost(f.query, to, from, &back),
		                 HPA_OK);
		assert_true(cost == back);
	}
	tear_down((void *[]){&f});
}

/* A temporary file with these bytes; its name is in `name`. */
static void
write_temporary(const void *data, size_t size, char *name)
{
	int fd;

	strcpy(name, "test_query-XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static void
a_file_opens_as_its_bytes_do(void **state)
{
	struct fixture *f = *state;
	hpa_cell cells[64], expected[64];
	hpa_query *query;
	hpa_map *map;
	char name[32];
	size_t n, n_expected;

	assert_int_equal(hpa_query_path(f->query, left, right, expected, 64,
	                                &n_expected),
	                 HPA_OK);
	write_temporary(f->file.data, f->file.size, name);
	for (unsigned flags = 0; flags < 4; flags++) {
		const hpa_open_options how = {.flags = flags};

		assert_int_equal(hpa_map_open_with(name, &how, &map), HPA_OK);
		assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
		hpa_query_set_smoothing(query, HPA_SMOOTH_NONE, 0);
		assert_int_equal(hpa_query_path(query, left, right, cells, 64,
		                                &n),
		                 HPA_OK);
		assert_int_equal(n, n_expected);
		assert_memory_equal(cells, expected, n * sizeof(*cells));
		hpa_query_free(query);
		hpa_map_close(map);
	}
	assert_int_equal(hpa_map_open(name, &map), HPA_OK);
	unlink(name);
	assert_int_equal(hpa_map_reachable(map, left, right), HPA_OK);
	hpa_map_close(map);
}

static void
a_copy_does_not_mind_what_becomes_of_its_file(void **state)
{
	struct fixture *f = *state;
	struct counter counter = {0};
	const hpa_allocator allocator = {counted_alloc, counted_free, &counter};
	const hpa_open_options how = {.flags = HPA_COPY,
	                              .allocator = &allocator};
	hpa_query *query;
	hpa_map *map;
	char name[32];
	uint64_t cost;

	write_temporary(f->file.data, f->file.size, name);
	assert_int_equal(hpa_map_open_with(name, &how, &map), HPA_OK);
	assert_true(counter.n_bytes > f->file.size);
	assert_int_equal(truncate(name, 0), 0);
	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	assert_int_equal(hpa_query_cost(query, left, right, &cost), HPA_OK);
	hpa_query_free(query);
	hpa_map_close(map);
	assert_int_equal(counter.n_open, 0);
	assert_int_equal(truncate(name, (off_t)f->file.size), 0);
	assert_int_equal(hpa_map_open_with(name, &how, &map), HPA_NOT_HPA);
	counter = (struct counter){.fail_at = 1};
	assert_int_equal(hpa_map_open_with(name, &how, &map), HPA_NO_MEMORY);
	assert_null(map);
	assert_int_equal(counter.n_open, 0);
	unlink(name);
}

static void
what_is_no_file_is_refused(void **state)
{
	hpa_map *map = (hpa_map *)state;
	char name[32];

	errno = 0;
	assert_int_equal(hpa_map_open("no/such/file", &map), HPA_IO);
	assert_int_equal(errno, ENOENT);
	assert_null(map);
	errno = 0;
	assert_int_equal(hpa_map_open(".", &map), HPA_IO);
	assert_int_equal(errno, EISDIR);
	/* Nobody writes to it, so that waiting would be for ever. */
	strcpy(name, "test_query-fifo");
	assert_int_equal(mkfifo(name, 0600), 0);
	errno = 0;
	assert_int_equal(hpa_map_open(name, &map), HPA_IO);
	assert_int_equal(errno, ENODEV);
	assert_null(map);
	unlink(name);
	write_temporary("", 0, name);
	errno = EINTR;
	assert_int_equal(hpa_map_open(name, &map), HPA_NOT_HPA);
	assert_int_not_equal(errno, 0);
	unlink(name);
	write_temporary("type octile\nheight 1\n", 21, name);
	assert_int_equal(hpa_map_open(name, &map), HPA_NOT_HPA);
	assert_null(map);
	unlink(name);
}

/* Threads that ask the same questions, each beginning with another one. What a
 * thread was told does not depend on the order: it is a sum of hashes. */
#define N_THREADS 8
#define N_QUESTIONS (HAS_SANITIZER && !test_is_soak() ? 1000u : 100000u)

struct asker {
	const struct fixture *f;
	uint64_t seed;
	uint32_t first;
	uint64_t told;
};

/* The better a path is, the longer it takes: all modes, but most often none. */
static hpa_smoothing
mode_of_question(uint32_t number)
{
	if (number % 128 == 0)
		return HPA_SMOOTH_CORRIDOR;
	if (number % 16 == 1)
		return HPA_SMOOTH_RAYS;
	return number % 8 == 2 ? HPA_SMOOTH_SHORTCUTS : HPA_SMOOTH_NONE;
}

static uint64_t
hash_of_answer(hpa_query *query, const struct asker *asker, uint32_t number)
{
	struct rng rng = {asker->seed + number};
	hpa_cell from = random_cell(&rng, &asker->f->level);
	hpa_cell to = random_cell(&rng, &asker->f->level);
	hpa_cell cells[256];
	size_t n = 0;
	hpa_status st;

	hpa_query_set_smoothing(query, mode_of_question(number), 0);
	st = hpa_query_path(query, from, to, cells, 256, &n);
	n = n < 256 ? n : 256;
	return hpa_hash(number + (uint64_t)st, (const uint8_t *)cells,
	                n * sizeof(*cells));
}

static void *
ask(void *argument)
{
	struct asker *asker = argument;
	hpa_query *query;

	if (hpa_query_new(asker->f->map, NULL, &query) != HPA_OK)
		return NULL;
	for (uint32_t i = 0; i < N_QUESTIONS; i++)
		asker->told +=
			hash_of_answer(query, asker,
		                       (asker->first + i) % N_QUESTIONS);
	hpa_query_free(query);
	return asker;
}

/* A level whose cached paths are worth deflating. */
static void
bake_large(struct fixture *f)
{
	struct rng rng = {test_seed()};

	*f = (struct fixture){.map = NULL};
	do {
		level_free(&f->level);
		random_level(&rng, 120, &f->level);
	} while (f->level.width < 60 || f->level.height < 60);
	bake_level(f, true, HPA_COMPRESS_COLD);
}

/* Calls of malloc, calloc and realloc by all that is linked into this program;
 * the linker leads them here. */
static atomic_size_t n_allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *
__wrap_malloc(size_t size)
{
	n_allocations++;
	return __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	n_allocations++;
	return __real_calloc(n, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
	n_allocations++;
	return __real_realloc(memory, size);
}

static void
no_call_allocates_but_those_that_make_something(void **state)
{
	struct rng rng = {test_seed()};
	struct fixture fixture, *f = &fixture;
	hpa_query *query;
	size_t n_before;

	(void)state;
	bake_large(f);
	n_before = n_allocations;
	assert_int_equal(hpa_query_new(f->map, NULL, &query), HPA_OK);
	assert_int_equal(n_allocations, n_before + 1);
	for (unsigned i = 0; i < 2000; i++) {
		static hpa_cell cells[256];
		hpa_cell from = random_cell(&rng, &f->level);
		hpa_cell to = random_cell(&rng, &f->level);
		uint64_t cost;
		size_t n = 0;
		hpa_status st;

		hpa_query_set_smoothing(query, (hpa_smoothing)(i % 4), 0);
		st = hpa_query_path(query, from, to, cells, 256, &n);
		st = hpa_query_start(query, from, to, &cost);
		while (st == HPA_OK && n > 0)
			st = hpa_query_next(query, cells, 32, &n);
		st = hpa_map_nearest(f->map, from, to, &cells[0]);
		(void)st;
	}
	assert_int_equal(n_allocations, n_before + 1);
	hpa_query_free(query);
	tear_down((void **)&f);
}

static void
threads_get_the_answers_that_one_gets(void **state)
{
	struct fixture fixture, *f = &fixture;
	struct asker askers[N_THREADS], alone = {f, test_seed(), 0, 0};
	pthread_t threads[N_THREADS];

	(void)state;
	bake_large(f);
	for (uint32_t i = 0; i < N_THREADS; i++) {
		askers[i] = alone;
		askers[i].first = i * (N_QUESTIONS / N_THREADS);
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
	}
	assert_non_null(ask(&alone));
	for (size_t i = 0; i < N_THREADS; i++) {
		void *answered;

		assert_int_equal(pthread_join(threads[i], &answered), 0);
		assert_non_null(answered);
		assert_true(askers[i].told == alone.told);
	}
	tear_down((void **)&f);
}

/* The promise of the levels: a level more, fewer nodes taken. */
static void
levels_save_expansions(void **state)
{
	struct fixture f = {.map = NULL};
	hpa_cell from = {3, 3}, to = {396, 396};
	uint64_t expanded[2], cost;

	(void)state;
	assert_int_equal(level_new(400, 400, NULL, &f.level, &(struct diag){0}),
	                 DIAG_OK);
	for (size_t i = 0; i < 400 * 400; i++)
		f.level.cells[i] = (i % 400) % 20 != 0 || (i / 400) % 7 == 3;
	for (uint32_t i = 0; i < 2; i++) {
		struct bake_options options;

		bake_options_default(&options);
		options.n_levels = i ? 4 : 1;
		assert_int_equal(bake_run(&f.level, &options, &f.file, NULL,
		                          &(struct diag){0}),
		                 DIAG_OK);
		assert_int_equal(hpa_map_open_memory(f.file.data, f.file.size,
		                                     NULL, &f.map),
		                 HPA_OK);
		assert_int_equal(hpa_query_new(f.map, NULL, &f.query), HPA_OK);
		assert_int_equal(hpa_query_cost(f.query, from, to, &cost),
		                 HPA_OK);
		expanded[i] = hpa_query_expanded(f.query);
		hpa_query_free(f.query);
		hpa_map_close(f.map);
		free(f.file.data);
	}
	printf("# %lu nodes with one level, %lu with four\n",
	       (unsigned long)expanded[0], (unsigned long)expanded[1]);
	assert_true(expanded[1] < expanded[0]);
	level_free(&f.level);
}

/* Bake an open level and open it: has it landmarks? */
static bool
has_landmarks(const struct level *level, const struct bake_options *options,
              unsigned flags)
{
	const hpa_open_options how = {.flags = flags};
	struct bake_output file;
	struct diag diag;
	hpa_map *map;
	bool has;

	assert_int_equal(bake_run(level, options, &file, NULL, &diag), DIAG_OK);
	assert_int_equal(hpa_map_open_memory(file.data, file.size, &how, &map),
	                 HPA_OK);
	has = map->landmarks != NULL;
	hpa_map_close(map);
	free(file.data);
	return has;
}

/* Each cluster of four by four cells with a transition at every cell of its
 * border has twelve nodes. */
static void
landmarks_are_made_where_they_pay(void **state)
{
	enum { SIDE = 320, SMALL_SIDE = 64 };
	static char rows[SIDE * (SIDE + 1) + 1];
	struct bake_options options;
	struct level large, small;

	(void)state;
	memset(rows, '.', sizeof(rows) - 1);
	for (size_t y = 1; y <= SIDE; y++)
		rows[y * (SIDE + 1) - 1] = '\n';
	level_from_text(rows, &large);
	level_from_text(rows + (SIDE - SMALL_SIDE) * (SIDE + 1), &small);
	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	assert_true(has_landmarks(&small, &options, 0));
	assert_false(has_landmarks(&small, &options, HPA_NO_LANDMARKS));
	assert_false(has_landmarks(&large, &options, 0));
	options.fast_queries = true;
	assert_false(has_landmarks(&small, &options, 0));
	level_free(&large);
	level_free(&small);
}

/* A file says in few bytes that many profiles have many edges. */
static void
landmarks_of_all_profiles_have_one_limit(void **state)
{
	enum { SIDE = 576 };
	static char rows[SIDE * (SIDE + 1) + 1];
	const struct bake_agent agents[] = {{.name = "a", .size = 1},
	                                    {.name = "b", .size = 1}};
	struct bake_options options;
	struct bake_output file;
	struct level level;
	struct diag diag;
	hpa_map *map;

	(void)state;
	memset(rows, '.', sizeof(rows) - 1);
	for (size_t y = 1; y <= SIDE; y++)
		rows[y * (SIDE + 1) - 1] = '\n';
	level_from_text(rows, &level);
	bake_options_default(&options);
	options.cluster_size = 32;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	options.prune = false;
	options.n_agents = 2;
	options.agents = agents;
	assert_int_equal(bake_run(&level, &options, &file, NULL, &diag),
	                 DIAG_OK);
	assert_int_equal(hpa_map_open_memory(file.data, file.size, NULL, &map),
	                 HPA_OK);
	assert_non_null(hpa_map_profile(map, 0)->landmarks);
	assert_null(hpa_map_profile(map, 1)->landmarks);
	hpa_map_close(map);
	free(file.data);
	level_free(&level);
}

int
main(void)
{
#define WITH_ROOMS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_text_of_its_own),
		WITH_ROOMS(cells_outside_blocked_and_cut_off_are_told_apart),
		WITH_ROOMS(a_path_to_the_start_is_one_cell),
		WITH_ROOMS(no_room_tells_how_much_is_needed),
		WITH_ROOMS(a_walk_ends_and_other_calls_end_it),
		WITH_ROOMS(facts_are_those_of_the_level),
		WITH_ROOMS(memory_comes_from_the_caller_and_only_at_the_beginning),
		cmocka_unit_test(no_call_allocates_but_those_that_make_something),
		cmocka_unit_test(an_allocator_that_fails_is_survived),
		cmocka_unit_test(nearest_is_what_looking_at_every_cell_finds),
		WITH_ROOMS(nearest_refuses_what_it_can_not_start_from),
		cmocka_unit_test(paths_may_cost_more_than_32_bits),
		cmocka_unit_test(many_portals_cost_the_same_both_ways),
		WITH_ROOMS(a_file_opens_as_its_bytes_do),
		WITH_ROOMS(a_copy_does_not_mind_what_becomes_of_its_file),
		WITH_ROOMS(what_is_no_file_is_refused),
		cmocka_unit_test(threads_get_the_answers_that_one_gets),
		cmocka_unit_test(levels_save_expansions),
		cmocka_unit_test(landmarks_are_made_where_they_pay),
		cmocka_unit_test(landmarks_of_all_profiles_have_one_limit),
	};

	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
