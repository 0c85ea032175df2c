/* bench_plot.c: the figures of the HPA* paper, for a level of the user's.
 *
 * What a path takes, and how much longer than the shortest one it is, are shown
 * against the length of the shortest path. Problems are sorted by that, and cut
 * into parts of equally many: a point is the mean of a part. What clusters of
 * other sizes and other numbers of levels make of it is found by baking the
 * level with them. */
#include "src/cli/bench_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/cli/bench_bake.h"
#include "src/cli/bench_files.h"
#include "src/cli/chart.h"
#include "src/cli/cli.h"

#define MAX_POINTS 16u
#define LEAST_IN_POINT 5u
#define MAX_LEVELS 4u
#define LEAST_LEVELS 3u
#define NAME_SIZE 64u

static const uint32_t cluster_sizes[] = {4, 6, 8, 10, 12, 16, 20, 24, 32};
#define N_CLUSTER_SIZES (sizeof(cluster_sizes) / sizeof(cluster_sizes[0]))

/* All that figures are made of. */
struct plot {
	const char *folder, *file;
	char stem[128];
	struct truth_problems problems; /* as the level is baked here */
	const struct bench_settings *settings;
	const struct bench_result *result; /* of the file itself */
	struct bench_base base;
	size_t n_levels;
	struct bench_result by_levels[MAX_LEVELS];
	struct bench_result by_size[N_CLUSTER_SIZES];
	struct diag *diag;
};

/* A chart with room for its points and names. */
struct figure {
	struct chart chart;
	struct chart_point points[CHART_MAX_SERIES][MAX_POINTS];
	char names[CHART_MAX_SERIES][NAME_SIZE];
	char title[256], subtitle[256];
};

/* A number of an answer. */
typedef double number_of(const struct bench_answer *answer);

static double
time_of(const struct bench_answer *answer)
{
	return answer->us[BENCH_TOTAL];
}

static double
nodes_of(const struct bench_answer *answer)
{
	return answer->n_expanded;
}

static double
excess_of(const struct bench_answer *answer)
{
	return answer->excess;
}

/* A problem by its length, to be sorted. */
struct by_length {
	double length;
	size_t index;
};

static int
compare(const void *a, const void *b)
{
	const struct by_length *p = a, *q = b;

	if (p->length != q->length)
		return p->length < q->length ? -1 : 1;
	return (p->index > q->index) - (p->index < q->index);
}

static struct by_length *
sort_by_length(const struct bench_result *result)
{
	struct by_length *sorted = calloc(result->n + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < result->n; i++)
		sorted[i] = (struct by_length){result->length[i], i};
	if (sorted)
		qsort(sorted, result->n, sizeof(*sorted), compare);
	return sorted;
}

/* The parts that problems are cut into. */
static size_t
count_points(const struct bench_result *result)
{
	size_t n = result->n / LEAST_IN_POINT;

	if (n == 0)
		return result->n > 0;
	return n < MAX_POINTS ? n : MAX_POINTS;
}

/* Means over parts of equally many problems; returns how many parts. */
static size_t
find_points(const struct bench_result *result, enum bench_way way,
            number_of *number, struct chart_point *points)
{
	struct by_length *sorted = sort_by_length(result);
	size_t n = sorted ? count_points(result) : 0;

	for (size_t p = 0; p < n; p++) {
		size_t from = p * result->n / n, to = (p + 1) * result->n / n;

		points[p] = (struct chart_point){0, 0};
		for (size_t i = from; i < to; i++) {
			const struct bench_answer *answer =
				&result->answers[way][sorted[i].index];

			points[p].x += sorted[i].length / (double)(to - from);
			points[p].y += number(answer) / (double)(to - from);
		}
	}
	free(sorted);
	return n;
}

/* How many problems a point stands for. */
static size_t
size_of_point(const struct bench_result *result)
{
	return result->n > 0 ? result->n / count_points(result) : 0;
}

static double
mean_of(const struct bench_result *result, enum bench_way way,
        number_of *number)
{
	double sum = 0;

	for (size_t i = 0; i < result->n; i++)
		sum += number(&result->answers[way][i]);
	return result->n > 0 ? sum / (double)result->n : 0;
}

/* Add a line against the length of paths, whose mean stands in the legend. */
static void
add_curve(struct figure *figure, const struct bench_result *result,
          enum bench_way way, number_of *number, const char *name,
          const char *label, const char *unit)
{
	size_t index = figure->chart.n_series++;
	double mean = mean_of(result, way, number);
	double digits = mean < 1 ? 1000 : mean < 100 ? 10 : 1;
	char text[32];

	chart_format(round(mean * digits) / digits, text, sizeof(text));
	snprintf(figure->names[index], NAME_SIZE, "%s, mean %s%s", name, text,
	         unit);
	figure->chart.series[index] = (struct chart_series){
		figure->names[index], label, figure->points[index],
		find_points(result, way, number, figure->points[index])};
}

static enum diag_status
write_figure(const struct plot *plot, const char *kind, struct figure *figure)
{
	char file[4096];

	figure->chart.title = figure->title;
	figure->chart.subtitle = figure->subtitle;
	if (snprintf(file, sizeof(file), "%s/%s-%s.svg", plot->folder,
	             plot->stem, kind) >= (int)sizeof(file))
		return diag_set(plot->diag, DIAG_FAILED, 0,
		                "a name of a figure is too long");
	return chart_write(file, &figure->chart, plot->diag);
}

static const char *const level_names[MAX_LEVELS] = {
	"HPA*, 1 level", "HPA*, 2 levels", "HPA*, 3 levels", "HPA*, 4 levels"};
static const char *const level_labels[MAX_LEVELS] = {"1 level", "2 levels",
                                                     "3 levels", "4 levels"};

static void
add_levels(struct figure *figure, const struct plot *plot, number_of *number,
           const char *unit)
{
	add_curve(figure, plot->result, BENCH_ASTAR, number, "A*", "A*", unit);
	if (plot->result->answers[BENCH_JPS])
		add_curve(figure, plot->result, BENCH_JPS, number,
		          "jump point search", "jump points", unit);
	for (size_t l = 0; l < plot->n_levels; l++)
		add_curve(figure, &plot->by_levels[l], BENCH_SHORTCUTS, number,
		          level_names[l], level_labels[l], unit);
}

static enum diag_status
plot_time(const struct plot *plot)
{
	struct figure figure = {
		.chart = {.x_label = "length of the shortest path (cells)",
	                  .y_label = "time per path (µs)",
	                  .log_y = true}};

	snprintf(figure.title, sizeof(figure.title), "Time to find a path: %s",
	         plot->stem);
	snprintf(figure.subtitle, sizeof(figure.subtitle),
	         "%zu problems, each point the mean of %zu; whole paths, "
	         "smoothed by shortcuts; clusters of %" PRIu32 " cells",
	         plot->result->n, size_of_point(plot->result),
	         plot->base.options.cluster_size);
	add_levels(&figure, plot, time_of, " µs");
	return write_figure(plot, "time", &figure);
}

static enum diag_status
plot_nodes(const struct plot *plot)
{
	struct figure figure = {
		.chart = {.x_label = "length of the shortest path (cells)",
	                  .y_label = "nodes expanded per path",
	                  .log_y = true}};

	snprintf(figure.title, sizeof(figure.title), "Effort of the search: %s",
	         plot->stem);
	snprintf(figure.subtitle, sizeof(figure.subtitle),
	         "cells, or nodes of the abstraction, taken from the open "
	         "list; %zu problems, each point the mean of %zu",
	         plot->result->n, size_of_point(plot->result));
	add_levels(&figure, plot, nodes_of, "");
	return write_figure(plot, "nodes", &figure);
}

static enum diag_status
plot_excess(const struct plot *plot)
{
	static const struct {
		enum bench_way way;
		const char *name, *label;
	} lines[] = {
		{BENCH_NONE, "before smoothing", "before"},
		{BENCH_RAYS, "rays", "rays"},
		{BENCH_SHORTCUTS, "shortcuts (default)", "shortcuts"},
		{BENCH_CORRIDOR, "corridor", "corridor"},
	};
	struct figure figure = {
		.chart = {.x_label = "length of the shortest path (cells)",
	                  .y_label = "excess over the shortest path (%)"}};

	snprintf(figure.title, sizeof(figure.title),
	         "Paths before and after smoothing: %s", plot->stem);
	snprintf(figure.subtitle, sizeof(figure.subtitle),
	         "by how much paths are longer than the shortest ones; %zu "
	         "problems, each point the mean of %zu",
	         plot->result->n, size_of_point(plot->result));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add_curve(&figure, plot->result, lines[i].way, excess_of,
		          lines[i].name, lines[i].label, " %");
	return write_figure(plot, "excess", &figure);
}

/* Add the mean of a part of the answer, against the size of clusters. */
static void
add_part(struct figure *figure, const struct plot *plot, enum bench_part part,
         const char *name)
{
	size_t index = figure->chart.n_series++;
	struct chart_point *points = figure->points[index];

	for (size_t i = 0; i < N_CLUSTER_SIZES; i++)
		points[i] = (struct chart_point){
			cluster_sizes[i],
			bench_time(&plot->by_size[i], BENCH_SHORTCUTS, part)
				.mean};
	figure->chart.series[index] = (struct chart_series){
		name, bench_part_names[part], points, N_CLUSTER_SIZES};
}

static enum diag_status
plot_clusters(const struct plot *plot)
{
	static const char *const names[BENCH_N_PARTS] = {
		[BENCH_TOTAL] = "total",
		[BENCH_CONNECT] = "connect start and goal",
		[BENCH_SEARCH] = "search",
		[BENCH_REFINE] = "refine",
		[BENCH_SMOOTH] = "smooth by shortcuts",
	};
	struct figure figure = {
		.chart = {.x_label = "side of a cluster (cells)",
	                  .y_label = "mean time per path (µs)"}};

	snprintf(figure.title, sizeof(figure.title),
	         "Effort and cluster size: %s", plot->stem);
	snprintf(figure.subtitle, sizeof(figure.subtitle),
	         "what the phases of a query take, mean of %zu problems; "
	         "%" PRIu32 " level%s of clusters",
	         plot->result->n, plot->base.options.n_levels,
	         plot->base.options.n_levels == 1 ? "" : "s");
	for (unsigned p = 0; p < BENCH_N_PARTS; p++)
		add_part(&figure, plot, p, names[p]);
	return write_figure(plot, "clusters", &figure);
}

/* The level, baked with these options. */
static enum diag_status
bench_options(struct plot *plot, uint32_t cluster_size, uint32_t n_levels,
              struct bench_result *out)
{
	const struct bench_settings settings = {plot->settings->n_repeats,
	                                        1u << BENCH_SHORTCUTS};
	struct bake_options options = plot->base.options;

	options.cluster_size = cluster_size;
	options.n_levels = n_levels;
	while (options.n_levels > 1 && cluster_size << (options.n_levels - 1) >
	                                       HPA_MAX_TOP_CLUSTER_SIZE)
		options.n_levels--;
	return bench_variant(plot->file, &plot->base.level, &options,
	                     &plot->problems, &settings, out, NULL, plot->diag);
}

static enum diag_status
bench_others(struct plot *plot)
{
	const struct bake_options *own = &plot->base.options;
	enum diag_status status = DIAG_OK;

	plot->n_levels = own->n_levels < LEAST_LEVELS ? LEAST_LEVELS
	                 : own->n_levels > MAX_LEVELS ? MAX_LEVELS
	                                              : own->n_levels;
	for (uint32_t l = 0; !status && l < plot->n_levels; l++)
		status = bench_options(plot, own->cluster_size, l + 1,
		                       &plot->by_levels[l]);
	for (size_t i = 0; !status && i < N_CLUSTER_SIZES; i++)
		status = bench_options(plot, cluster_sizes[i], own->n_levels,
		                       &plot->by_size[i]);
	return status;
}

/* Costs may be in other units than those of the file: where an agent enters no
 * dear terrain, a level of what it sees has none. */
static enum diag_status
find_optima(struct plot *plot, const struct scen *scen, size_t limit)
{
	struct bake_output baked = {NULL, 0};
	hpa_map *map;
	enum diag_status status =
		bench_bake(&plot->base.level, &plot->base.options, &baked, &map,
	                   NULL, plot->diag);

	if (!status)
		status = truth_find(map, scen, limit, &plot->problems,
		                    plot->diag);
	hpa_map_close(map);
	free(baked.data);
	return status;
}

static void
close_plot(struct plot *plot)
{
	for (size_t i = 0; i < MAX_LEVELS; i++)
		bench_result_free(&plot->by_levels[i]);
	for (size_t i = 0; i < N_CLUSTER_SIZES; i++)
		bench_result_free(&plot->by_size[i]);
	truth_problems_free(&plot->problems);
	bench_base_free(&plot->base);
}

enum diag_status
bench_plot(const char *folder, const char *file, const hpa_map *map,
           const struct scen *scen, size_t limit,
           const struct bench_settings *settings,
           const struct bench_result *result, struct diag *diag)
{
	static enum diag_status (*const figures[])(const struct plot *plot) = {
		plot_time, plot_nodes, plot_excess, plot_clusters};
	const char *base;
	int stem = bench_stem_of(file, &base);
	struct plot plot = {.folder = folder,
	                    .file = file,
	                    .settings = settings,
	                    .result = result,
	                    .diag = diag};
	enum diag_status status = bench_base_of(map, &plot.base, diag);

	snprintf(plot.stem, sizeof(plot.stem), "%.*s", stem, base);
	if (!status)
		status = find_optima(&plot, scen, limit);
	if (!status)
		status = bench_others(&plot);
	for (size_t i = 0; !status && i < 4; i++)
		status = figures[i](&plot);
	close_plot(&plot);
	return status;
}
