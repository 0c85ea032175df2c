/* bench_report.c: what a bench has shown, as tables and as JSON.
 *
 * Means, percentiles and the worst are taken over problems, each of which
 * counts once; those of a folder over the problems of all its levels. A
 * percentile is the least value that so many percent of the values do not
 * exceed. */
#include "src/cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
percentile(const double *sorted, size_t n, size_t percent)
{
	size_t rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

/* Sums of n values, which are sorted by that. */
static struct bench_stats
sum_up(double *values, size_t n)
{
	struct bench_stats stats = {0, 0, 0, 0, 0};

	if (n == 0)
		return stats;
	qsort(values, n, sizeof(*values), compare);
	for (size_t i = 0; i < n; i++)
		stats.mean += values[i] / (double)n;
	stats.p50 = percentile(values, n, 50);
	stats.p95 = percentile(values, n, 95);
	stats.p99 = percentile(values, n, 99);
	stats.max = values[n - 1];
	return stats;
}

/* Sums of the numbers that lie `offset` bytes into the answers of a way. */
static struct bench_stats
sum_up_answers(const struct bench_result *result, enum bench_way way,
               size_t offset)
{
	const struct bench_answer *answers = result->answers[way];
	struct bench_stats stats = {0, 0, 0, 0, 0};
	double *values = malloc((result->n + 1) * sizeof(*values));

	for (size_t i = 0; values && answers && i < result->n; i++)
		memcpy(&values[i], (const char *)&answers[i] + offset,
		       sizeof(values[i]));
	if (values && answers)
		stats = sum_up(values, result->n);
	free(values);
	return stats;
}

struct bench_stats
bench_time(const struct bench_result *result, enum bench_way way,
           enum bench_part part)
{
	return sum_up_answers(result, way,
	                      offsetof(struct bench_answer, us) +
	                              part * sizeof(double));
}

struct bench_stats
bench_excess(const struct bench_result *result, enum bench_way way)
{
	return sum_up_answers(result, way,
	                      offsetof(struct bench_answer, excess));
}

struct bench_stats
bench_expanded(const struct bench_result *result, enum bench_way way)
{
	return sum_up_answers(result, way,
	                      offsetof(struct bench_answer, n_expanded));
}

static double
mean_us(const struct bench_result *result, enum bench_way way)
{
	return bench_time(result, way, BENCH_TOTAL).mean;
}

/* How many times faster than another way; 0: it can't be told. */
static double
speedup(const struct bench_result *result, enum bench_way way,
        enum bench_way other)
{
	double us = mean_us(result, way);

	return us > 0 ? mean_us(result, other) / us : 0;
}

static void
print_speedup(const struct bench_result *result, enum bench_way way,
              enum bench_way other)
{
	if (result->answers[other] && result->n > 0)
		printf(" %7.1f", speedup(result, way, other));
	else
		printf(" %7s", "-");
}

static void
print_times(const struct bench_result *result)
{
	printf("\n  %-22s %8s %8s %8s %8s %7s %7s %8s\n", "microseconds",
	       "mean", "p50", "p99", "worst", "x A*", "x JPS", "nodes");
	for (unsigned w = 0; w < BENCH_N_WAYS; w++) {
		struct bench_stats us = bench_time(result, w, BENCH_TOTAL);

		if (!result->answers[w]) {
			printf("  %-22s not for these rules\n",
			       bench_way_name(w));
			continue;
		}
		printf("  %-22s %8.1f %8.1f %8.1f %8.1f", bench_way_name(w),
		       us.mean, us.p50, us.p99, us.max);
		print_speedup(result, w, BENCH_ASTAR);
		print_speedup(result, w, BENCH_JPS);
		printf(" %8.0f\n", bench_expanded(result, w).mean);
	}
}

static void
print_phases(const struct bench_result *result)
{
	printf("\n  %-22s %8s %8s %8s %8s\n", "phases", "mean", "p50", "p99",
	       "worst");
	for (unsigned w = BENCH_NONE; w < BENCH_N_WAYS; w++)
		for (unsigned p = BENCH_CONNECT; p < BENCH_N_PARTS; p++) {
			struct bench_stats us = bench_time(result, w, p);

			if (us.max > 0)
				printf("  %-12s %-9s %8.1f %8.1f %8.1f %8.1f\n",
				       bench_way_name(w), bench_part_names[p],
				       us.mean, us.p50, us.p99, us.max);
		}
}

static void
print_excess(const struct bench_result *result)
{
	printf("\n  %-22s %8s %8s %8s %8s\n", "excess in percent", "mean",
	       "p95", "p99", "worst");
	for (unsigned w = BENCH_NONE; w < BENCH_N_WAYS; w++) {
		struct bench_stats excess = bench_excess(result, w);

		printf("  %-22s %8.4f %8.4f %8.4f %8.4f\n", bench_way_name(w),
		       excess.mean, excess.p95, excess.p99, excess.max);
	}
}

void
bench_print(const struct bench_result *result)
{
	printf("%s: ", result->name);
	if (result->n_levels > 1)
		printf("%zu levels, ", result->n_levels);
	printf("%zu problems, %zu without a path, %zu wrong answers\n",
	       result->n_problems, result->n_unreachable, result->n_wrong);
	print_times(result);
	print_phases(result);
	print_excess(result);
}

void
bench_print_head(int width)
{
	printf("%-*s %8s %6s %9s %9s %9s %7s %7s %8s %8s %8s\n", width, "level",
	       "problems", "wrong", "A* us", "JPS us", "path us", "x A*",
	       "x JPS", "excess %", "p99", "worst");
}

void
bench_print_line(int width, const struct bench_result *result)
{
	struct bench_stats excess = bench_excess(result, BENCH_SHORTCUTS);

	printf("%-*s %8zu %6zu %9.1f", width, result->name, result->n_problems,
	       result->n_wrong, mean_us(result, BENCH_ASTAR));
	if (result->answers[BENCH_JPS])
		printf(" %9.1f", mean_us(result, BENCH_JPS));
	else
		printf(" %9s", "-");
	printf(" %9.1f", mean_us(result, BENCH_SHORTCUTS));
	print_speedup(result, BENCH_SHORTCUTS, BENCH_ASTAR);
	print_speedup(result, BENCH_SHORTCUTS, BENCH_JPS);
	printf(" %8.4f %8.4f %8.4f\n", excess.mean, excess.p99, excess.max);
}

/* The functions below return NULL where there is no memory. */

/* A number, or null where there is none. */
static json_t *
number_or_null(const struct bench_result *result, enum bench_way way,
               double number)
{
	return result->answers[way] && result->n > 0 ? json_real(number)
	                                             : json_null();
}

static json_t *
json_phases(const struct bench_result *result, enum bench_way way)
{
	json_t *json = json_object();

	for (unsigned p = BENCH_CONNECT; p < BENCH_N_PARTS; p++) {
		struct bench_stats us = bench_time(result, way, p);

		json_object_set_new(json, bench_part_names[p],
		                    json_pack("{s:f, s:f, s:f, s:f}", "mean_us",
		                              us.mean, "p50_us", us.p50,
		                              "p99_us", us.p99, "max_us",
		                              us.max));
	}
	return json;
}

static json_t *
json_way(const struct bench_result *result, enum bench_way way)
{
	struct bench_stats us = bench_time(result, way, BENCH_TOTAL);
	struct bench_stats excess = bench_excess(result, way);
	const struct {
		const char *key;
		enum bench_way about;
		double number;
	} rows[] = {
		{"mean_us", way, us.mean},
		{"p50_us", way, us.p50},
		{"p99_us", way, us.p99},
		{"max_us", way, us.max},
		{"excess_mean", way, excess.mean},
		{"excess_p95", way, excess.p95},
		{"excess_p99", way, excess.p99},
		{"excess_max", way, excess.max},
		{"speedup_astar", BENCH_ASTAR,
	         speedup(result, way, BENCH_ASTAR)},
		{"speedup_jps", BENCH_JPS, speedup(result, way, BENCH_JPS)},
		{"expanded", way, bench_expanded(result, way).mean},
	};
	json_t *json = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_object_set_new(
			json, rows[i].key,
			number_or_null(result, rows[i].about, rows[i].number));
	json_object_set_new(json, "phases", json_phases(result, way));
	return json;
}

json_t *
bench_json(const struct bench_result *result)
{
	json_t *json = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", result->name,
		"levels", (json_int_t)result->n_levels, "problems",
		(json_int_t)result->n_problems, "unreachable",
		(json_int_t)result->n_unreachable, "wrong",
		(json_int_t)result->n_wrong, "flat_astar_us",
		number_or_null(result, BENCH_ASTAR,
	                       mean_us(result, BENCH_ASTAR)),
		"flat_jps_us",
		number_or_null(result, BENCH_JPS, mean_us(result, BENCH_JPS)));

	for (unsigned w = BENCH_NONE; json && w < BENCH_N_WAYS; w++)
		if (json_object_set_new(json, bench_way_name(w),
		                        json_way(result, w)) != 0) {
			json_decref(json);
			return NULL;
		}
	return json;
}
