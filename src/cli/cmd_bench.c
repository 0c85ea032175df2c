/* cmd_bench.c: how fast baked levels answer, beside searches on the grid.
 *
 * Files are benched one after the other, on one thread; one that can't be does
 * not stop the others. The answers of a folder's levels are kept, and summed up
 * when all are done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/bench.h"
#include "src/cli/bench_files.h"
#include "src/cli/bench_plot.h"
#include "src/cli/cli.h"
#include "src/cli/level_options.h"

#define N_REPEATS 3u

struct options {
	const char *scen, *agent, *plot;
	uint32_t limit, n_repeats;
	bool json;
	struct level_arguments reading;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "scen",
         .takes = "PATH",
         .what = "the problems: a MovingAI .scen file, or a folder of them; "
                 "without it, NAME.map.scen beside NAME.hpa or NAME.map",
         .offset = offsetof(struct options, scen)},
	{.kind = CLI_TEXT,
         .name = "agent",
         .takes = "NAME",
         .what = "for the agent of that name; without it, the file's first",
         .offset = offsetof(struct options, agent)},
	{.kind = CLI_NUMBER,
         .name = "limit",
         .takes = "N",
         .what = "ask N problems of each file, evenly spread, instead of all",
         .min = 1,
         .max = INT32_MAX,
         .offset = offsetof(struct options, limit)},
	{.kind = CLI_NUMBER,
         .name = "repeat",
         .takes = "N",
         .what = "time each answer N times; the median counts",
         .min = 1,
         .max = BENCH_MAX_REPEATS,
         .offset = offsetof(struct options, n_repeats)},
	{.kind = CLI_TEXT,
         .name = "plot",
         .takes = "DIR",
         .what = "draw four figures of each level into this folder, as SVG; "
                 "made if it is missing",
         .offset = offsetof(struct options, plot)},
	{.kind = CLI_SWITCH,
         .name = "json",
         .what = "print JSON: an object for one file, one of files and folders "
                 "for several",
         .offset = offsetof(struct options, json)},
	LEVEL_OPTION_ROWS(struct options, reading),
	{.kind = CLI_END},
};

static void
set_defaults(void *into)
{
	struct options *options = into;

	options->n_repeats = N_REPEATS;
}

/* All files, and what they have shown. */
struct session {
	const struct options *options;
	const struct level_options *reading;
	struct diag *diag;
	int width;                    /* of the table's first column */
	struct bench_result *results; /* of the files that could be benched */
	size_t n;
	struct bench_result *folders;
	size_t n_folders;
};

/* Ask the problems of an open map. */
static enum diag_status
bench_map(struct session *session, const char *file, const hpa_map *map,
          struct bench_result *out)
{
	const struct options *options = session->options;
	const struct bench_settings settings = {.n_repeats =
	                                                options->n_repeats};
	struct truth_problems problems = {.at = NULL};
	const hpa_map *profile = NULL;
	struct scen scen;
	enum diag_status status =
		input_agent(file, map, options->agent, &profile, session->diag);

	if (status)
		return status;
	status = bench_problems(file, options->scen, map, &scen, session->diag);
	if (!status)
		status = truth_find(profile, &scen, options->limit, &problems,
		                    session->diag);
	if (!status)
		status = bench_level(file, profile, &problems, &settings, out,
		                     session->diag);
	if (!status && options->plot)
		status = bench_plot(options->plot, file, profile, &scen,
		                    options->limit, &settings, out,
		                    session->diag);
	truth_problems_free(&problems);
	scen_free(&scen);
	if (status)
		bench_result_free(out);
	else
		out->name = strdup(file);
	return status;
}

/* Bench a file and keep what it has shown; the status also tells of wrong
 * answers. */
static enum diag_status
bench_file(struct session *session, const char *file)
{
	struct bench_result *out = &session->results[session->n];
	struct bench_map map;
	enum diag_status status =
		bench_map_open(file, session->reading, &map, session->diag);

	if (!status)
		status = bench_map(session, file, map.map, out);
	bench_map_close(&map);
	if (status)
		return status;
	session->n++;
	if (!out->name)
		return diag_set(session->diag, DIAG_FAILED, 0, "out of memory");
	if (out->n_wrong == 0)
		return DIAG_OK;
	cli_set_file(session->diag, file);
	return diag_set(session->diag, DIAG_CHECK, 0, "%zu answers are wrong",
	                out->n_wrong);
}

/* Add a level to its folder, by name. */
static bool
add_to_folder(struct session *session, const struct bench_result *result)
{
	char *name = bench_folder_of(result->name);
	size_t i = 0;

	while (name && i < session->n_folders &&
	       strcmp(session->folders[i].name, name) != 0)
		i++;
	if (!name)
		return false;
	if (i == session->n_folders)
		session->folders[session->n_folders++].name = name;
	else
		free(name);
	return bench_result_add(&session->folders[i], result);
}

static enum diag_status
sum_up_folders(struct session *session)
{
	for (size_t i = 0; i < session->n; i++)
		if (!add_to_folder(session, &session->results[i]))
			return diag_set(session->diag, DIAG_FAILED, 0,
			                "out of memory");
	return DIAG_OK;
}

static json_t *
json_results(const struct bench_result *results, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(array, bench_json(&results[i])) !=
		    0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static enum diag_status
print_json(const struct session *session, bool several)
{
	json_t *json =
		several ? json_pack("{s:o, s:o}", "files",
	                            json_results(session->results, session->n),
	                            "folders",
	                            json_results(session->folders,
	                                         session->n_folders))
			: bench_json(&session->results[0]);

	return bench_print_json(json, session->diag);
}

static void
print_folders(const struct session *session)
{
	for (size_t i = 0; i < session->n_folders; i++) {
		printf("\n");
		bench_print(&session->folders[i]);
	}
}

static int
name_width(int n, char **files)
{
	int width = (int)strlen("level");

	for (int i = 0; i < n; i++)
		if ((int)strlen(files[i]) > width)
			width = (int)strlen(files[i]);
	return width;
}

/* One file has all its tables, several have a line each. */
static void
print_file(const struct session *session, bool several)
{
	const struct bench_result *result = &session->results[session->n - 1];

	if (!several) {
		bench_print(result);
		return;
	}
	if (session->n == 1)
		bench_print_head(session->width);
	bench_print_line(session->width, result);
	fflush(stdout);
}

static enum diag_status
bench_files(struct session *session, int n, char **files)
{
	bool json = session->options->json;
	enum diag_status worst = DIAG_OK, status;

	for (int i = 0; i < n; i++) {
		size_t n_before = session->n;

		status = bench_file(session, files[i]);
		if (!json && session->n > n_before)
			print_file(session, n > 1);
		if (status)
			cli_report(session->diag);
		worst = status > worst ? status : worst;
	}
	if (session->n == 0)
		return worst;
	status = sum_up_folders(session);
	if (!status && json)
		status = print_json(session, n > 1);
	else if (!status && n > 1)
		print_folders(session);
	return status > worst ? status : worst;
}

static void
free_results(struct bench_result *results, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bench_result_free(&results[i]);
	free(results);
}

static enum diag_status
bench_with(const struct options *options, const struct level_options *reading,
           int n, char **files, struct diag *diag)
{
	struct session session = {.options = options,
	                          .reading = reading,
	                          .diag = diag,
	                          .width = name_width(n, files)};
	enum diag_status status;

	session.results = calloc((size_t)n + 1, sizeof(*session.results));
	session.folders = calloc((size_t)n + 1, sizeof(*session.folders));
	if (session.results && session.folders)
		status = bench_files(&session, n, files);
	else
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	free_results(session.results, session.n);
	free_results(session.folders, session.n_folders);
	return status;
}

/* The figures of one file may not take the place of another one's. */
static enum diag_status
check_stems(int n, char **files, struct diag *diag)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++) {
			const char *a, *b;
			int a_size = bench_stem_of(files[i], &a);
			int b_size = bench_stem_of(files[k], &b);

			if (a_size == b_size && !memcmp(a, b, (size_t)a_size))
				return diag_set(diag, DIAG_USAGE, 0,
				                "the figures of '%s' and '%s' "
				                "would have the same names",
				                files[k], files[i]);
		}
	return DIAG_OK;
}

/* Make the folder of figures, if it is not there. */
static enum diag_status
make_folder(const char *name, struct diag *diag)
{
	if (mkdir(name, 0777) == 0 || errno == EEXIST)
		return DIAG_OK;
	cli_set_file(diag, name);
	return diag_set(diag, DIAG_FAILED, 0, "%s", strerror(errno));
}

static enum diag_status
check_usage(const struct options *options, int n, char **files,
            struct diag *diag)
{
	if (n < 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bench takes one file or more, and there is "
		                "none");
	if (options->plot && check_stems(n, files, diag))
		return DIAG_USAGE;
	return bench_check_scen(options->scen, n, diag);
}

static enum diag_status
run(const void *verb_options, int n, char **files, struct diag *diag)
{
	const struct options *options = verb_options;
	struct level_source source;
	enum diag_status status = check_usage(options, n, files, diag);

	if (status)
		return status;
	if (options->plot)
		status = make_folder(options->plot, diag);
	if (status)
		return status;
	status = level_source_open(&options->reading, &source, diag);
	if (!status)
		status = bench_with(options, &source.options, n, files, diag);
	level_source_close(&source);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... FILE... [--scen PATH] [--json]",
	NULL,
};

const struct cli_verb cmd_bench = {
	.name = "bench",
	.summary = "Time paths of baked files, beside searches on the grid",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.set_defaults = set_defaults,
	.run = run,
};
