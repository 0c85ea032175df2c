/* tune.c: bake levels with all kinds of options, and weigh what comes of it.
 *
 * The grid is small: a few sizes of clusters, one to four levels, and the
 * policies for transitions, the densest last. Every bake answers the same
 * problems, whose optimum is found once. All bakes are gone through several times,
 * and the best time of each counts: what else the machine did then disturbed it the
 * least. */
#include "src/cli/tune.h"

#include <stdlib.h>

#include "src/cli/bench_bake.h"
#include "src/cli/cli.h"

static const uint32_t cluster_sizes[] = {8, 12, 16, 24, 32};
#define N_SIZES (sizeof(cluster_sizes) / sizeof(cluster_sizes[0]))
#define MAX_LEVELS 4u
#define N_REPEATS 3u /* of an answer; the median counts */

static const struct {
	enum hpa_policy policy;
	uint32_t parameter;
} policies[] = {
	{HPA_POLICY_ENDS, 0},
	{HPA_POLICY_SPREAD, 0},
	{HPA_POLICY_EVERY, 4},
};
#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

static void
add_row(struct tune *tune, uint32_t cluster_size, uint32_t n_levels,
        size_t policy, enum hpa_move_rule moves)
{
	struct bake_options *options = &tune->rows[tune->n_rows++].options;

	bake_options_default(options);
	options->cluster_size = cluster_size;
	options->n_levels = n_levels;
	options->policy = policies[policy].policy;
	options->policy_parameter = policies[policy].parameter;
	options->moves = moves;
	options->n_threads = 1;
}

/* One cluster at the top is a level without borders. */
static bool
is_of_use(uint32_t cluster_size, uint32_t n_levels, uint32_t side)
{
	return n_levels == 1 || cluster_size << (n_levels - 1) < side;
}

bool
tune_init(struct tune *tune, uint32_t side, enum hpa_move_rule moves)
{
	*tune = (struct tune){.n_rows = 0};
	tune->rows =
		calloc(N_SIZES * MAX_LEVELS * N_POLICIES, sizeof(*tune->rows));
	if (!tune->rows)
		return false;
	for (size_t s = 0; s < N_SIZES; s++)
		for (uint32_t l = 1; l <= MAX_LEVELS; l++)
			for (size_t p = 0; p < N_POLICIES; p++)
				if (is_of_use(cluster_sizes[s], l, side))
					add_row(tune, cluster_sizes[s], l, p,
					        moves);
	return true;
}

void
tune_free(struct tune *tune)
{
	for (size_t i = 0; i < tune->n_rows; i++)
		bench_result_free(&tune->rows[i].result);
	free(tune->rows);
	*tune = (struct tune){.n_rows = 0};
}

/* What one bake of one level has shown in its best round. */
struct trial {
	struct bench_result result;
	struct bench_bake bake;
	double us;
};

/* Bake and bench once more, and keep what is better. */
static enum diag_status
try_row(const struct tune_row *row, const char *file, const struct level *level,
        const struct truth_problems *problems, struct trial *best,
        struct diag *diag)
{
	const struct bench_settings settings = {
		N_REPEATS, 1u << BENCH_SHORTCUTS | 1u << BENCH_COST};
	bool is_first = best->result.n_levels == 0;
	struct trial trial = {.us = 0};
	enum diag_status status =
		bench_variant(file, level, &row->options, problems, &settings,
	                      &trial.result, &trial.bake, diag);

	if (!status)
		trial.us =
			bench_time(&trial.result, BENCH_SHORTCUTS, BENCH_TOTAL)
				.mean;
	if (!is_first && trial.bake.ms > best->bake.ms)
		trial.bake.ms = best->bake.ms;
	best->bake = trial.bake;
	if (!status && (is_first || trial.us < best->us)) {
		bench_result_free(&best->result);
		*best = trial;
	} else {
		bench_result_free(&trial.result);
	}
	return status;
}

static enum diag_status
add_trial(struct tune_row *row, const struct trial *trial, struct diag *diag)
{
	row->n_bytes += trial->bake.n_bytes;
	row->bake_ms += trial->bake.ms;
	if (!bench_result_add(&row->result, &trial->result))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return DIAG_OK;
}

enum diag_status
tune_add(struct tune *tune, const char *file, const struct level *level,
         const struct truth_problems *problems, uint32_t n_rounds,
         struct diag *diag)
{
	struct trial *trials = calloc(tune->n_rows, sizeof(*trials));
	enum diag_status status = DIAG_OK;

	if (!trials)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	for (uint32_t r = 0; r < n_rounds; r++)
		for (size_t i = 0; !status && i < tune->n_rows; i++)
			status = try_row(&tune->rows[i], file, level, problems,
			                 &trials[i], diag);
	for (size_t i = 0; i < tune->n_rows; i++) {
		if (!status)
			status = add_trial(&tune->rows[i], &trials[i], diag);
		bench_result_free(&trials[i].result);
	}
	free(trials);
	return status;
}

/* Is one no worse in all three, and better in one? */
static bool
dominates(const struct tune_row *a, const struct tune_row *b)
{
	double us = a->path_us.mean - b->path_us.mean;
	double excess = a->excess.mean - b->excess.mean;

	return a->n_bytes <= b->n_bytes && us <= 0 && excess <= 0 &&
	       (a->n_bytes < b->n_bytes || us < 0 || excess < 0);
}

static int
compare(const void *a, const void *b)
{
	const struct tune_row *p = a, *q = b;

	if (p->n_bytes != q->n_bytes)
		return p->n_bytes < q->n_bytes ? -1 : 1;
	return (p->path_us.mean > q->path_us.mean) -
	       (p->path_us.mean < q->path_us.mean);
}

void
tune_finish(struct tune *tune)
{
	for (size_t i = 0; i < tune->n_rows; i++) {
		struct tune_row *row = &tune->rows[i];

		row->path_us =
			bench_time(&row->result, BENCH_SHORTCUTS, BENCH_TOTAL);
		row->cost_us =
			bench_time(&row->result, BENCH_COST, BENCH_TOTAL);
		row->excess = bench_excess(&row->result, BENCH_SHORTCUTS);
	}
	qsort(tune->rows, tune->n_rows, sizeof(*tune->rows), compare);
	for (size_t i = 0; i < tune->n_rows; i++) {
		tune->rows[i].is_on_front = true;
		for (size_t k = 0; k < tune->n_rows; k++)
			if (dominates(&tune->rows[k], &tune->rows[i]))
				tune->rows[i].is_on_front = false;
	}
}

/* What is to be least, under the limits that there are. */
static double
price_of(const struct tune_row *row, uint64_t max_bytes, double max_us)
{
	if (max_bytes > 0 && max_us > 0)
		return row->excess.mean;
	return max_bytes > 0 ? row->path_us.mean : (double)row->n_bytes;
}

const struct tune_row *
tune_choose(const struct tune *tune, uint64_t max_bytes, double max_us)
{
	const struct tune_row *best = NULL;

	for (size_t i = 0; i < tune->n_rows; i++) {
		const struct tune_row *row = &tune->rows[i];

		if ((max_bytes > 0 && row->n_bytes > max_bytes) ||
		    (max_us > 0 && row->path_us.mean > max_us))
			continue;
		if (!best || price_of(row, max_bytes, max_us) <
		                     price_of(best, max_bytes, max_us))
			best = row;
	}
	return best;
}
