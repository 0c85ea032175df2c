/* bench_run.c: ask every problem in every way.
 *
 * First each way answers each problem once, and the answers are judged: by the
 * optimum, which is known (bench_truth.h), and step by step by the movement rule.
 * Only problems that have a path are then timed.
 *
 * The ways take turns every few problems, in an order that rotates, and all of
 * it is repeated; of the times of an answer the median counts. So whatever else
 * the machine does meets all ways alike. A turn is some problems long, and not
 * one, because a way that comes after another one finds the caches full of the
 * other one's data, which no game does: before a turn its last problem is asked
 * without a clock.
 *
 * A second round, with a clock inside the query, shows what its phases take.
 * That clock costs some time itself, and so the totals are the first round's. */
#include "src/cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/cli/bench_truth.h"
#include "src/cli/cli.h"
#include "src/flat/flat.h"
#include "src/run/query.h"

#define TURN 128u
#define N_FIRST 20u
#define MAX_COMPLAINTS 5u

/* All that is at work. */
struct runner {
	const char *file;
	const hpa_map *map;
	const struct truth_problems *problems;
	const struct bench_settings *settings;
	struct diag *diag;
	struct truth truth;
	hpa_query *query;
	struct flat_astar *astar;
	struct flat_jps *jps; /* NULL: not for these rules */
	hpa_cell *cells;
	size_t capacity;
	size_t n;       /* problems that have a path */
	float *samples; /* of every way, problem, repeat and part */
	struct bench_result *out;
};

/* What a way says to a problem. */
struct reply {
	hpa_status status;
	uint64_t cost; /* ask_path(): not told */
	uint64_t n_expanded;
	size_t n_cells;
};

static void
ask_flat(bool found, const struct flat_path *path, struct reply *out)
{
	*out = (struct reply){found ? HPA_OK : HPA_NO_PATH, path->cost,
	                      path->n_expanded, path->n};
}

static void
ask_astar(struct runner *runner, const struct truth_problem *problem,
          struct reply *out)
{
	struct flat_path path;
	bool found = flat_astar_find(runner->astar, problem->from, problem->to,
	                             runner->cells, &path);

	ask_flat(found, &path, out);
}

static void
ask_jps(struct runner *runner, const struct truth_problem *problem,
        struct reply *out)
{
	struct flat_path path;
	bool found = flat_jps_find(runner->jps, problem->from, problem->to,
	                           runner->cells, &path);

	ask_flat(found, &path, out);
}

static void
ask_path(struct runner *runner, const struct truth_problem *problem,
         struct reply *out)
{
	out->status =
		hpa_query_path(runner->query, problem->from, problem->to,
	                       runner->cells, runner->capacity, &out->n_cells);
}

static void
ask_cost(struct runner *runner, const struct truth_problem *problem,
         struct reply *out)
{
	out->status = hpa_query_cost(runner->query, problem->from, problem->to,
	                             &out->cost);
}

static void
ask_first(struct runner *runner, const struct truth_problem *problem,
          struct reply *out)
{
	out->status = hpa_query_start(runner->query, problem->from, problem->to,
	                              &out->cost);
	if (out->status == HPA_OK)
		out->status = hpa_query_next(runner->query, runner->cells,
		                             N_FIRST, &out->n_cells);
}

/* How an answer is to be judged. */
enum verdict {
	BY_COST,  /* it is a cost, which must be the least */
	BY_BOUND, /* it is a cost, not below the least */
	BY_CELLS, /* it is a path */
	BY_WALK   /* it is the first cells of a path, to be walked on */
};

static const struct way {
	const char *name;
	void (*ask)(struct runner *runner, const struct truth_problem *problem,
	            struct reply *out);
	enum verdict verdict;
	hpa_smoothing smoothing; /* of the ways that ask the baked level */
} ways[BENCH_N_WAYS] = {
	[BENCH_ASTAR] = {"flat_astar", ask_astar, BY_COST, HPA_SMOOTH_NONE},
	[BENCH_JPS] = {"flat_jps", ask_jps, BY_COST, HPA_SMOOTH_NONE},
	[BENCH_NONE] = {"none", ask_path, BY_CELLS, HPA_SMOOTH_NONE},
	[BENCH_RAYS] = {"rays", ask_path, BY_CELLS, HPA_SMOOTH_RAYS},
	[BENCH_SHORTCUTS] = {"shortcuts", ask_path, BY_CELLS,
                             HPA_SMOOTH_SHORTCUTS},
	[BENCH_CORRIDOR] = {"corridor", ask_path, BY_CELLS,
                            HPA_SMOOTH_CORRIDOR},
	[BENCH_COST] = {"cost", ask_cost, BY_BOUND, HPA_SMOOTH_SHORTCUTS},
	[BENCH_FIRST20] = {"first20", ask_first, BY_WALK, HPA_SMOOTH_SHORTCUTS},
};

const char *
bench_way_name(enum bench_way way)
{
	return ways[way].name;
}

static bool
has_way(const struct runner *runner, unsigned way)
{
	unsigned asked = runner->settings->ways;

	return (way != BENCH_JPS || runner->jps) &&
	       (!asked || asked >> way & 1);
}

static void
prepare(struct runner *runner, unsigned way)
{
	hpa_query_set_smoothing(runner->query, ways[way].smoothing, 0);
}

/* Judging */

/* Count a wrong answer, and tell about it if it is among the first. */
static void
complain(struct runner *runner, const struct truth_problem *problem,
         unsigned way, const char *why)
{
	if (runner->out->n_wrong++ >= MAX_COMPLAINTS)
		return;
	cli_set_file(runner->diag, runner->file);
	diag_set(runner->diag, DIAG_CHECK, 0, "problem %zu, %s: %s",
	         problem->index, ways[way].name, why);
	cli_report(runner->diag);
}

/* Make room for n cells, and some. */
static bool
grow(struct runner *runner, size_t n)
{
	hpa_cell *cells = realloc(runner->cells, 2 * n * sizeof(*cells));

	if (!cells)
		return false;
	runner->cells = cells;
	runner->capacity = 2 * n;
	return true;
}

/* Walk the rest of a path whose first cells are there. */
static void
walk_on(struct runner *runner, struct reply *reply)
{
	size_t n = reply->n_cells;

	while (n > 0 && reply->status == HPA_OK) {
		if (runner->capacity - reply->n_cells < N_FIRST &&
		    !grow(runner, runner->capacity)) {
			reply->status = HPA_NO_MEMORY;
			return;
		}
		reply->status = hpa_query_next(runner->query,
		                               runner->cells + reply->n_cells,
		                               N_FIRST, &n);
		reply->n_cells += n;
	}
}

/* Ask once, with as much room as it takes. */
static void
ask_with_room(struct runner *runner, const struct truth_problem *problem,
              unsigned way, struct reply *out)
{
	prepare(runner, way);
	*out = (struct reply){HPA_OK, 0, 0, 0};
	ways[way].ask(runner, problem, out);
	if (out->status == HPA_NO_ROOM && grow(runner, out->n_cells))
		ways[way].ask(runner, problem, out);
	if (ways[way].verdict == BY_WALK)
		walk_on(runner, out);
	if (way >= BENCH_NONE)
		out->n_expanded = hpa_query_expanded(runner->query);
}

/* Equal costs may have different lengths, since the ratio of the costs is not
 * quite that of the lengths: a shorter path than the cheapest one is as good as
 * it. */
static double
excess_of(double length, double least)
{
	return length > least && least > 0 ? 100 * (length / least - 1) : 0;
}

/* Judge the answer to the problem, number i of those that have a path. */
static void
judge(struct runner *runner, size_t i, unsigned way, const struct reply *reply)
{
	const struct truth_problem *problem = &runner->problems->at[i];
	struct bench_answer *answer = &runner->out->answers[way][i];
	double least = problem->length, length = least;
	uint64_t cost = reply->cost;

	answer->n_expanded = (double)reply->n_expanded;
	if (reply->status != HPA_OK) {
		complain(runner, problem, way, "it finds no path");
		return;
	}
	if (ways[way].verdict == BY_CELLS || ways[way].verdict == BY_WALK) {
		if (!truth_measure(&runner->truth, problem->from, problem->to,
		                   runner->cells, reply->n_cells, &cost,
		                   &length)) {
			complain(runner, problem, way, "its path is not legal");
			return;
		}
	} else if (ways[way].verdict == BY_BOUND) {
		length = least * (double)cost /
		         (double)(problem->optimum ? problem->optimum : 1);
	}
	if (cost < problem->optimum ||
	    (ways[way].verdict == BY_COST && cost != problem->optimum))
		complain(runner, problem, way, "its cost can't be right");
	answer->excess = excess_of(length, least);
}

/* There is no path, and none may be found. */
static void
judge_none(struct runner *runner, unsigned way,
           const struct truth_problem *problem)
{
	struct reply reply;

	ask_with_room(runner, problem, way, &reply);
	if (reply.status == HPA_OK)
		complain(runner, problem, way,
		         "it finds a path where there is none");
}

static void
judge_way(struct runner *runner, unsigned way)
{
	const struct truth_problems *problems = runner->problems;
	struct reply reply;

	for (size_t i = 0; i < problems->n_paths; i++) {
		ask_with_room(runner, &problems->at[i], way, &reply);
		judge(runner, i, way, &reply);
	}
	for (size_t i = 0; i < problems->n_others; i++)
		judge_none(runner, way, &problems->at[problems->n_paths + i]);
}

/* Timing */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static float *
sample_at(const struct runner *runner, unsigned way, size_t problem,
          uint32_t repeat)
{
	return runner->samples +
	       ((way * runner->n + problem) * runner->settings->n_repeats +
	        repeat) *
	               BENCH_N_PARTS;
}

static void
time_total(struct runner *runner, unsigned way, size_t i, float *sample)
{
	struct reply reply;
	uint64_t began = now_ns();

	ways[way].ask(runner, &runner->problems->at[i], &reply);
	sample[BENCH_TOTAL] = (float)(now_ns() - began) / 1000;
}

/* The parts of an answer, as a query calls them. */
static const enum query_phase phases[BENCH_N_PARTS] = {
	[BENCH_CONNECT] = QUERY_CONNECT,
	[BENCH_SEARCH] = QUERY_SEARCH,
	[BENCH_REFINE] = QUERY_REFINE,
	[BENCH_SMOOTH] = QUERY_SMOOTH,
};

const char *const bench_part_names[BENCH_N_PARTS] = {
	"total", "connect", "search", "refine", "smooth"};

static void
time_phases(struct runner *runner, unsigned way, size_t i, float *sample)
{
	struct query_clock clock = {.now_ns = now_ns};
	struct reply reply;

	clock.lap_ns = now_ns();
	runner->query->clock = &clock;
	ways[way].ask(runner, &runner->problems->at[i], &reply);
	runner->query->clock = NULL;
	for (unsigned p = BENCH_CONNECT; p < BENCH_N_PARTS; p++)
		sample[p] = (float)clock.spent_ns[phases[p]] / 1000;
}

typedef void time_one(struct runner *runner, unsigned way, size_t i,
                      float *sample);

/* Time a way over some problems. */
static void
take_turn(struct runner *runner, unsigned way, size_t first, uint32_t repeat,
          time_one *time)
{
	size_t end = first + TURN < runner->n ? first + TURN : runner->n;
	struct reply reply;

	prepare(runner, way);
	ways[way].ask(runner, &runner->problems->at[end - 1], &reply);
	for (size_t i = first; i < end; i++)
		time(runner, way, i, sample_at(runner, way, i, repeat));
}

/* Time all ways from `least` on over all problems. */
static void
take_turns(struct runner *runner, unsigned least, time_one *time)
{
	unsigned n_ways = BENCH_N_WAYS - least;

	for (uint32_t r = 0; r < runner->settings->n_repeats; r++)
		for (size_t i = 0; i < runner->n; i += TURN)
			for (unsigned k = 0; k < n_ways; k++) {
				unsigned way =
					least +
					(unsigned)((k + r + i / TURN) % n_ways);

				if (has_way(runner, way))
					take_turn(runner, way, i, r, time);
			}
}

static int
compare(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(const struct runner *runner, unsigned way, size_t i, unsigned part)
{
	uint32_t n = runner->settings->n_repeats;
	float sorted[BENCH_MAX_REPEATS];

	for (uint32_t r = 0; r < n; r++)
		sorted[r] = sample_at(runner, way, i, r)[part];
	qsort(sorted, n, sizeof(sorted[0]), compare);
	return (double)sorted[n / 2];
}

static bool
time_all(struct runner *runner)
{
	runner->samples = calloc(
		BENCH_N_WAYS * runner->n * runner->settings->n_repeats + 1,
		BENCH_N_PARTS * sizeof(*runner->samples));
	if (!runner->samples)
		return false;
	take_turns(runner, BENCH_ASTAR, time_total);
	take_turns(runner, BENCH_NONE, time_phases);
	for (unsigned w = 0; w < BENCH_N_WAYS; w++)
		for (size_t i = 0; has_way(runner, w) && i < runner->n; i++)
			for (unsigned p = 0; p < BENCH_N_PARTS; p++)
				runner->out->answers[w][i].us[p] =
					median(runner, w, i, p);
	return true;
}

/* Making it ready */

static bool
open_runner(struct runner *runner)
{
	const struct grid *grid = &runner->map->grid;
	bool has_jps;

	runner->capacity = (size_t)runner->map->view.n_free_cells + 64;
	runner->cells = malloc(runner->capacity * sizeof(*runner->cells));
	if (!runner->cells || !truth_init(&runner->truth, runner->map) ||
	    hpa_query_new(runner->map, NULL, &runner->query) != HPA_OK)
		return false;
	has_jps = flat_jps_can(grid) && runner->truth.n_links == 0;
	runner->astar = flat_astar_new(grid, runner->truth.links,
	                               runner->truth.n_links);
	runner->jps = has_jps ? flat_jps_new(grid) : NULL;
	return runner->astar && (runner->jps || !has_jps);
}

static bool
open_result(struct runner *runner)
{
	const struct truth_problems *problems = runner->problems;
	struct bench_result *out = runner->out;

	out->n_levels = 1;
	out->n = problems->n_paths;
	out->n_unreachable = problems->n_others + problems->n_not_asked;
	out->n_problems = out->n + out->n_unreachable;
	out->length = calloc(out->n + 1, sizeof(*out->length));
	if (!out->length)
		return false;
	for (size_t i = 0; i < out->n; i++)
		out->length[i] = problems->at[i].length;
	for (unsigned w = 0; w < BENCH_N_WAYS; w++) {
		if (!has_way(runner, w))
			continue;
		out->answers[w] = calloc(out->n + 1, sizeof(*out->answers[w]));
		if (!out->answers[w])
			return false;
	}
	return true;
}

static void
close_runner(struct runner *runner)
{
	flat_jps_free(runner->jps);
	flat_astar_free(runner->astar);
	hpa_query_free(runner->query);
	truth_free(&runner->truth);
	free(runner->cells);
	free(runner->samples);
}

enum diag_status
bench_level(const char *file, const hpa_map *map,
            const struct truth_problems *problems,
            const struct bench_settings *settings, struct bench_result *out,
            struct diag *diag)
{
	struct runner runner = {.file = file,
	                        .map = map,
	                        .problems = problems,
	                        .settings = settings,
	                        .diag = diag,
	                        .n = problems->n_paths,
	                        .out = out};
	bool ok;

	*out = (struct bench_result){.n = 0};
	ok = open_runner(&runner) && open_result(&runner);
	for (unsigned w = 0; ok && w < BENCH_N_WAYS; w++)
		if (has_way(&runner, w))
			judge_way(&runner, w);
	ok = ok && time_all(&runner);
	close_runner(&runner);
	if (ok)
		return DIAG_OK;
	bench_result_free(out);
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

void
bench_result_free(struct bench_result *result)
{
	free(result->name);
	free(result->length);
	for (unsigned w = 0; w < BENCH_N_WAYS; w++)
		free(result->answers[w]);
	*result = (struct bench_result){.n = 0};
}

/* Put n more items behind those in *array. */
static bool
append(void **array, size_t n, const void *more, size_t n_more, size_t size)
{
	char *grown = realloc(*array, (n + n_more + 1) * size);

	if (!grown)
		return false;
	memcpy(grown + n * size, more, n_more * size);
	*array = grown;
	return true;
}

static bool
append_way(struct bench_result *folder, const struct bench_result *level,
           unsigned way)
{
	struct bench_answer **answers = &folder->answers[way];
	void *array = *answers;
	bool ok;

	if (!level->answers[way] || (folder->n_levels > 0 && !*answers)) {
		free(*answers);
		*answers = NULL;
		return true;
	}
	ok = append(&array, folder->n, level->answers[way], level->n,
	            sizeof(**answers));
	*answers = array;
	return ok;
}

bool
bench_result_add(struct bench_result *folder, const struct bench_result *level)
{
	void *lengths = folder->length;
	bool ok = append(&lengths, folder->n, level->length, level->n,
	                 sizeof(*level->length));

	folder->length = lengths;
	for (unsigned w = 0; ok && w < BENCH_N_WAYS; w++)
		ok = append_way(folder, level, w);
	if (!ok)
		return false;
	folder->n_levels += level->n_levels;
	folder->n_problems += level->n_problems;
	folder->n_unreachable += level->n_unreachable;
	folder->n_wrong += level->n_wrong;
	folder->n += level->n;
	return true;
}
