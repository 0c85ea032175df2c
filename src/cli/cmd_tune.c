/* cmd_tune.c: which options are the best for these levels?
 *
 * Levels are read one after the other, baked with every row's options in memory
 * and asked the same problems; what comes of it is added up. Then a table, and
 * with a limit on bytes or time the bake to type. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/bench_bake.h"
#include "src/cli/bench_files.h"
#include "src/cli/cli.h"
#include "src/cli/level_options.h"
#include "src/cli/tune.h"

#define N_PROBLEMS 200u
#define N_ROUNDS 2u
#define SEED 1u

struct options {
	const char *scen;
	uint32_t n_problems, n_rounds, seed;
	uint64_t budget_bytes; /* 0: no limit */
	uint32_t target_us;    /* 0: no limit */
	struct cli_choice moves;
	bool json;
	struct level_arguments reading;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "scen",
         .takes = "PATH",
         .what = "the problems: a MovingAI .scen file, or a folder of them; "
                 "without it, random ones",
         .offset = offsetof(struct options, scen)},
	{.kind = CLI_NUMBER,
         .name = "problems",
         .takes = "N",
         .what = "how many are asked of each level",
         .min = 1,
         .max = INT32_MAX,
         .offset = offsetof(struct options, n_problems)},
	{.kind = CLI_NUMBER,
         .name = "seed",
         .takes = "N",
         .what = "where the random problems come from",
         .min = 1,
         .max = INT32_MAX,
         .offset = offsetof(struct options, seed)},
	{.kind = CLI_NUMBER,
         .name = "repeat",
         .takes = "N",
         .what = "go through all bakes N times; the best time of each counts",
         .min = 1,
         .max = BENCH_MAX_REPEATS,
         .offset = offsetof(struct options, n_rounds)},
	{.kind = CLI_BYTES,
         .name = "budget",
         .takes = "BYTES",
         .what = "name the options with the fastest paths whose files, all "
                 "together, are no larger; in bytes or with K, M or G",
         .offset = offsetof(struct options, budget_bytes)},
	{.kind = CLI_NUMBER,
         .name = "target-us",
         .takes = "N",
         .what = "name the options with the smallest files whose paths take "
                 "no more than N microseconds in the mean; with both, those "
                 "with the shortest paths",
         .min = 1,
         .max = INT32_MAX,
         .offset = offsetof(struct options, target_us)},
	{.kind = CLI_CHOICE,
         .name = "moves",
         .takes = "RULE",
         .what = "how units move:",
         .names = bake_move_names,
         .offset = offsetof(struct options, moves)},
	{.kind = CLI_SWITCH,
         .name = "json",
         .what = "print JSON",
         .offset = offsetof(struct options, json)},
	LEVEL_OPTION_ROWS(struct options, reading),
	{.kind = CLI_END},
};

static void
set_defaults(void *into)
{
	struct options *options = into;
	struct bake_options bake;

	bake_options_default(&bake);
	options->n_problems = N_PROBLEMS;
	options->n_rounds = N_ROUNDS;
	options->seed = SEED;
	options->moves.value = (int)bake.moves;
}

struct session {
	const struct options *options;
	const struct level_options *reading;
	int n;
	char **files;
	struct tune tune;
	struct diag *diag;
};

/* The problems of a level, with their optimum. It is baked for that: to know
 * what is connected, and what steps cost. */
static enum diag_status
find_problems(struct session *session, const char *file,
              const struct level *level, struct truth_problems *out)
{
	const struct options *options = session->options;
	struct bake_output baked = {NULL, 0};
	struct bake_options baking;
	struct scen scen = {0, NULL};
	enum diag_status status;
	hpa_map *map;

	bake_options_default(&baking);
	baking.moves = (enum hpa_move_rule)options->moves.value;
	status = bench_bake(level, &baking, &baked, &map, NULL, session->diag);
	if (!status && options->scen)
		status = bench_problems(file, options->scen, map, &scen,
		                        session->diag);
	else if (!status)
		status = bench_random_problems(map, options->n_problems,
		                               options->seed, &scen,
		                               session->diag);
	if (!status)
		status = truth_find(map, &scen, options->n_problems, out,
		                    session->diag);
	if (!status)
		session->tune.n_free_cells += map->view.n_free_cells;
	scen_free(&scen);
	hpa_map_close(map);
	free(baked.data);
	return status;
}

static enum diag_status
tune_level(struct session *session, const char *file, const struct level *level)
{
	struct truth_problems problems = {.at = NULL};
	enum diag_status status =
		find_problems(session, file, level, &problems);

	if (!status)
		status = tune_add(&session->tune, file, level, &problems,
		                  session->options->n_rounds, session->diag);
	truth_problems_free(&problems);
	if (status && !session->diag->file[0])
		cli_set_file(session->diag, file);
	return status;
}

/* The longest side of the levels, which are all read: the rows depend on it. */
static enum diag_status
find_side(struct session *session, uint32_t *side)
{
	enum diag_status status = DIAG_OK;

	*side = 1;
	for (int i = 0; !status && i < session->n; i++) {
		struct level level;

		status = input_one_level(session->files[i], session->reading,
		                         &level, session->diag);
		if (status)
			break;
		*side = level.width > *side ? level.width : *side;
		*side = level.height > *side ? level.height : *side;
		level_free(&level);
	}
	return status;
}

static enum diag_status
tune_levels(struct session *session)
{
	uint32_t side;
	enum diag_status status = find_side(session, &side);

	if (!status &&
	    !tune_init(&session->tune, side,
	               (enum hpa_move_rule)session->options->moves.value))
		status = diag_set(session->diag, DIAG_FAILED, 0,
		                  "out of memory");
	for (int i = 0; !status && i < session->n; i++) {
		struct level level;

		status = input_one_level(session->files[i], session->reading,
		                         &level, session->diag);
		if (status)
			break;
		status = tune_level(session, session->files[i], &level);
		level_free(&level);
	}
	if (!status)
		tune_finish(&session->tune);
	return status;
}

/* The command to type */

/* Does a shell leave the text as it is? */
static bool
is_plain(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
	                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                  "0123456789_-+=:,./%@")] == '\0';
}

static void
put_word(FILE *out, const char *text)
{
	fputc(' ', out);
	if (is_plain(text)) {
		fputs(text, out);
		return;
	}
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

static void
put_option(FILE *out, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(out, " --%s", name);
	put_word(out, value);
}

/* The options on how levels are read, as they were given. */
static void
put_reading(FILE *out, const struct level_arguments *reading)
{
	put_option(out, "format", reading->format);
	put_option(out, "blocked", reading->blocked);
	put_option(out, "terrain", reading->terrain);
	if (reading->gray_threshold)
		fprintf(out, " --gray-threshold %" PRIu32,
		        reading->gray_threshold);
	if (reading->size.width)
		fprintf(out, " --size %" PRIu32 "x%" PRIu32,
		        reading->size.width, reading->size.height);
	put_option(out, "layer", reading->layer);
	put_option(out, "property", reading->property);
	put_option(out, "pick", reading->pick);
}

/* The policy as --transitions takes it. */
static void
put_policy(FILE *out, const struct bake_options *options)
{
	fputs(cli_name_of(bake_policy_names, (int)options->policy), out);
	if (options->policy == HPA_POLICY_EVERY)
		fprintf(out, ":%" PRIu32, options->policy_parameter);
}

/* One level goes beside itself, several into a folder. */
static void
put_output(FILE *out, int n, char **files)
{
	const char *slash = strrchr(files[0], '/');
	const char *dot = strrchr(slash ? slash : files[0], '.');
	size_t stem = dot ? (size_t)(dot - files[0]) : strlen(files[0]);
	size_t size = stem + sizeof(".hpa");
	char *name = malloc(size);

	if (n > 1 || !name) {
		fputs(" -d baked", out);
	} else {
		snprintf(name, size, "%.*s.hpa", (int)stem, files[0]);
		fputs(" -o", out);
		put_word(out, name);
	}
	free(name);
}

/* The bake with a row's options; NULL without memory. Free it with free(). */
static char *
make_command(const struct session *session, const struct tune_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
	        "hpabake bake --cluster-size %" PRIu32 " --levels %" PRIu32
	        " --transitions ",
	        row->options.cluster_size, row->options.n_levels);
	put_policy(out, &row->options);
	if (row->options.moves != HPA_RULE_8)
		put_option(
			out, "moves",
			cli_name_of(bake_move_names, (int)row->options.moves));
	put_reading(out, &session->options->reading);
	for (int i = 0; i < session->n; i++)
		put_word(out, session->files[i]);
	put_output(out, session->n, session->files);
	fclose(out);
	return text;
}

/* What it says */

static double
bytes_per_cell(const struct session *session, const struct tune_row *row)
{
	uint64_t n = session->tune.n_free_cells;

	return n > 0 ? (double)row->n_bytes / (double)n : 0;
}

static void
print_row(const struct session *session, const struct tune_row *row)
{
	printf("%c %7" PRIu32 " %6" PRIu32 "  ", row->is_on_front ? '*' : ' ',
	       row->options.cluster_size, row->options.n_levels);
	if (row->options.policy == HPA_POLICY_EVERY)
		printf("every:%-5" PRIu32, row->options.policy_parameter);
	else
		printf("%-11s", cli_name_of(bake_policy_names,
		                            (int)row->options.policy));
	printf(" %11" PRIu64 " %7.3f %8.1f %8.1f %8.1f %8.4f %8.4f %8.4f\n",
	       row->n_bytes, bytes_per_cell(session, row), row->bake_ms,
	       row->path_us.mean, row->cost_us.mean, row->excess.mean,
	       row->excess.p99, row->excess.max);
}

static void
print_table(const struct session *session, const char *command)
{
	const struct tune *tune = &session->tune;

	printf("%zu problems", tune->rows[0].result.n_problems);
	if (session->options->scen)
		printf("\n\n");
	else
		printf(", random, --seed %" PRIu32 "\n\n",
		       session->options->seed);
	printf("  %7s %6s  %-11s %11s %7s %8s %8s %8s %8s %8s %8s\n", "cluster",
	       "levels", "transitions", "bytes", "B/cell", "bake ms", "path us",
	       "cost us", "excess %", "p99", "worst");
	for (size_t i = 0; i < tune->n_rows; i++)
		print_row(session, &tune->rows[i]);
	printf("\n* no other options are smaller, faster and closer to the "
	       "shortest paths\n");
	if (command)
		printf("\n%s\n", command);
}

static json_t *
json_row(const struct session *session, const struct tune_row *row)
{
	char policy[32];

	snprintf(policy, sizeof(policy),
	         row->options.policy == HPA_POLICY_EVERY ? "%s:%" PRIu32 : "%s",
	         cli_name_of(bake_policy_names, (int)row->options.policy),
	         row->options.policy_parameter);
	return json_pack(
		"{s:I, s:I, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:f, s:b}",
		"cluster_size", (json_int_t)row->options.cluster_size, "levels",
		(json_int_t)row->options.n_levels, "transitions", policy,
		"bytes", (json_int_t)row->n_bytes, "bytes_per_free_cell",
		bytes_per_cell(session, row), "bake_ms", row->bake_ms,
		"path_us", row->path_us.mean, "cost_us", row->cost_us.mean,
		"excess_mean", row->excess.mean, "excess_p99", row->excess.p99,
		"excess_max", row->excess.max, "pareto", row->is_on_front);
}

static json_t *
json_rows(const struct session *session)
{
	json_t *array = json_array();

	for (size_t i = 0; i < session->tune.n_rows; i++)
		if (json_array_append_new(
			    array, json_row(session, &session->tune.rows[i])) !=
		    0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static enum diag_status
print_json(const struct session *session, const struct tune_row *choice,
           const char *command)
{
	const struct bench_result *result = &session->tune.rows[0].result;
	json_t *json = json_pack(
		"{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "levels",
		(json_int_t)session->n, "problems",
		(json_int_t)result->n_problems, "unreachable",
		(json_int_t)result->n_unreachable, "seed",
		session->options->scen ? json_null()
				       : json_integer(session->options->seed),
		"rows", json_rows(session), "choice",
		choice ? json_row(session, choice) : json_null(), "command",
		command ? json_string(command) : json_null());

	return bench_print_json(json, session->diag);
}

/* No row keeps to the limits: which would be the nearest? */
static enum diag_status
complain(const struct session *session)
{
	const struct tune *tune = &session->tune;
	double least_us = tune->rows[0].path_us.mean;

	for (size_t i = 1; i < tune->n_rows; i++)
		if (tune->rows[i].path_us.mean < least_us)
			least_us = tune->rows[i].path_us.mean;
	return diag_set(session->diag, DIAG_CHECK, 0,
	                "no options keep to the limits: the smallest bake has "
	                "%" PRIu64 " bytes, the fastest takes %.1f us a path",
	                tune->rows[0].n_bytes, least_us);
}

static enum diag_status
tell(const struct session *session)
{
	const struct options *options = session->options;
	bool is_limited = options->budget_bytes > 0 || options->target_us > 0;
	const struct tune_row *choice =
		is_limited ? tune_choose(&session->tune, options->budget_bytes,
	                                 options->target_us)
			   : NULL;
	char *command = choice ? make_command(session, choice) : NULL;
	enum diag_status status = DIAG_OK;

	if (choice && !command)
		return diag_set(session->diag, DIAG_FAILED, 0, "out of memory");
	if (options->json)
		status = print_json(session, choice, command);
	else
		print_table(session, command);
	free(command);
	if (!status && is_limited && !choice)
		status = complain(session);
	return status;
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (n < 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "tune takes one level or more, and there is "
		                "none");
	return bench_check_scen(options->scen, n, diag);
}

static enum diag_status
run(const void *verb_options, int n, char **files, struct diag *diag)
{
	const struct options *options = verb_options;
	struct session session = {
		.options = options, .n = n, .files = files, .diag = diag};
	struct level_source source;
	enum diag_status status = check_usage(options, n, diag);

	if (status)
		return status;
	status = level_source_open(&options->reading, &source, diag);
	session.reading = &source.options;
	if (!status)
		status = tune_levels(&session);
	if (!status)
		status = tell(&session);
	tune_free(&session.tune);
	level_source_close(&source);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... LEVEL... [--scen PATH]",
	"[OPTION]... LEVEL... [--budget BYTES] [--target-us N]",
	NULL,
};

const struct cli_verb cmd_tune = {
	.name = "tune",
	.summary = "Try options for levels and name the best",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.set_defaults = set_defaults,
	.run = run,
};
