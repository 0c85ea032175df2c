/* cmd_bake.c: levels in, baked files out, a table of them on stdout.
 *
 * A level that can't be baked does not stop the ones after it; the worst status
 * is the verb's. Several are baked at once (batch.c); what there is to say about
 * each is kept with it and said in the order of the command line.
 *
 * A file may hold several levels: all of them are baked into a folder, or the
 * one that is picked into a file. As their names must not collide, which is
 * known only when they are read, such files are baked in their order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/bake/batch.h"
#include "src/cli/cli.h"
#include "src/cli/file.h"
#include "src/cli/input.h"
#include "src/cli/level_options.h"

#define SUFFIX ".hpa"
#define MAX_THREADS 1024u

struct options {
	const char *output, *folder;
	uint32_t cluster_size, n_levels, threshold, n_threads;
	bool cache_paths, no_prune, quiet, verbose;
	struct level_arguments reading;
	struct cli_list agents;
	const char *links;
	struct cli_choice moves, policy, compress, kernel;
	uint64_t max_bytes; /* 0: no limit */
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .letter = 'o',
         .name = "output",
         .takes = "FILE",
         .what = "write the one baked level here",
         .offset = offsetof(struct options, output)},
	{.kind = CLI_TEXT,
         .letter = 'd',
         .name = "directory",
         .takes = "DIR",
         .what = "write every baked level here, its suffix changed to " SUFFIX
                 "; made if it is missing",
         .offset = offsetof(struct options, folder)},
	{.kind = CLI_NUMBER,
         .name = "cluster-size",
         .takes = "N",
         .what = "cells along the side of a cluster",
         .min = HPA_MIN_CLUSTER_SIZE,
         .max = HPA_MAX_CLUSTER_SIZE,
         .offset = offsetof(struct options, cluster_size)},
	{.kind = CLI_NUMBER,
         .name = "levels",
         .takes = "N",
         .what = "levels of the abstraction; without it, what the size of the "
                 "level asks for",
         .min = 1,
         .max = HPA_MAX_LEVELS,
         .offset = offsetof(struct options, n_levels)},
	{.kind = CLI_CHOICE,
         .name = "transitions",
         .takes = "POLICY",
         .what = "where entrances are crossed:",
         .min = 1,
         .max = HPA_MAX_CLUSTER_SIZE,
         .names = bake_policy_names,
         .counted = "every",
         .offset = offsetof(struct options, policy)},
	{.kind = CLI_NUMBER,
         .name = "threshold",
         .takes = "N",
         .what = "for ends: from how many cells on an entrance is crossed at "
                 "both ends; without it, 6",
         .min = 1,
         .max = HPA_MAX_CLUSTER_SIZE + 1,
         .offset = offsetof(struct options, threshold)},
	{.kind = CLI_CHOICE,
         .name = "moves",
         .takes = "RULE",
         .what = "how units move:",
         .names = bake_move_names,
         .offset = offsetof(struct options, moves)},
	{.kind = CLI_SWITCH,
         .name = "cache-paths",
         .what = "store the cells of every intra-edge's path",
         .offset = offsetof(struct options, cache_paths)},
	{.kind = CLI_SWITCH,
         .name = "no-prune",
         .what = "store redundant intra-edges too",
         .offset = offsetof(struct options, no_prune)},
	{.kind = CLI_CHOICE,
         .name = "compress",
         .takes = "WHAT",
         .what = "what is compressed:",
         .names = bake_compress_names,
         .offset = offsetof(struct options, compress)},
	{.kind = CLI_LIST,
         .name = "agent",
         .takes = "AGENT",
         .what = "bake a profile for NAME[:size=N][,terrain=CLASS+CLASS]; "
                 "may be given several times",
         .offset = offsetof(struct options, agents)},
	{.kind = CLI_TEXT,
         .name = "links",
         .takes = "FILE",
         .what = "extra steps between cells (teleporters, ledges, doors)",
         .offset = offsetof(struct options, links)},
	{.kind = CLI_NUMBER,
         .letter = 'j',
         .name = "jobs",
         .takes = "N",
         .what = "threads to bake with; 0 means all cores",
         .max = MAX_THREADS,
         .offset = offsetof(struct options, n_threads)},
	{.kind = CLI_BYTES,
         .name = "memlimit",
         .takes = "SIZE",
         .what = "refuse levels that take more memory, in bytes or with K, M "
                 "or G",
         .offset = offsetof(struct options, max_bytes)},
	{.kind = CLI_CHOICE,
         .name = "kernel",
         .takes = "HOW",
         .what = "how distances are computed; the bytes are the same:",
         .names = bake_kernel_names,
         .offset = offsetof(struct options, kernel)},
	{.kind = CLI_SWITCH,
         .letter = 'q',
         .name = "quiet",
         .what = "print no table",
         .offset = offsetof(struct options, quiet)},
	{.kind = CLI_SWITCH,
         .letter = 'v',
         .name = "verbose",
         .what = "tell on stderr how each level was read",
         .offset = offsetof(struct options, verbose)},
	LEVEL_OPTION_ROWS(struct options, reading),
	{.kind = CLI_END},
};

static void
set_defaults(void *into)
{
	struct options *options = into;
	struct bake_options bake;

	bake_options_default(&bake);
	options->cluster_size = bake.cluster_size;
	options->n_levels = bake.n_levels;
	options->n_threads = bake.n_threads;
	options->moves.value = (int)bake.moves;
	options->policy.value = (int)bake.policy;
	options->compress.value = (int)bake.compress;
	options->cache_paths = bake.cache_paths;
	options->no_prune = !bake.prune;
}

static struct bake_options
baker_options(const struct options *options)
{
	enum hpa_policy policy = (enum hpa_policy)options->policy.value;

	return (struct bake_options){
		.cluster_size = options->cluster_size,
		.n_levels = options->n_levels,
		.moves = (enum hpa_move_rule)options->moves.value,
		.policy = policy,
		.policy_parameter = policy == HPA_POLICY_ENDS
	                                    ? options->threshold
	                                    : options->policy.number,
		.prune = !options->no_prune,
		.cache_paths = options->cache_paths,
		.compress = (enum hpa_compress)options->compress.value,
		.n_threads = options->n_threads,
		.kernel = (enum bake_kernel)options->kernel.value,
	};
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* DIR/STEM.hpa for a level's file, or DIR/STEM_NAME.hpa for one of several
 * levels in it; name may be empty. NULL without memory. */
static char *
name_in_folder(const char *folder, const char *file, const char *name)
{
	const char *base = base_name(file);
	const char *dot = strrchr(base, '.');
	int stem =
		(int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
	size_t size = strlen(folder) + 1 + (size_t)stem + 1 + strlen(name) +
	              sizeof(SUFFIX);
	char *out = malloc(size);
	char *c;

	if (!out)
		return NULL;
	snprintf(out, size, "%s/%.*s%s%s" SUFFIX, folder, stem, base,
	         *name ? "_" : "", name);
	for (c = out + strlen(folder) + 1; *c; c++)
		if (*c == '/')
			*c = '_';
	return out;
}

static void
free_names(char **names, int n)
{
	for (int i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

/* The name of each level's output, to be freed with free_names(); NULL without
 * memory. */
static char **
output_names(const struct options *options, int n, char **levels)
{
	char **names = calloc((size_t)n, sizeof(*names));

	for (int i = 0; names && i < n; i++) {
		names[i] = options->output ? strdup(options->output)
		                           : name_in_folder(options->folder,
		                                            levels[i], "");
		if (!names[i]) {
			free_names(names, n);
			return NULL;
		}
	}
	return names;
}

static bool
same_file(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	return stat(a, &a_stat) == 0 && stat(b, &b_stat) == 0 &&
	       S_ISREG(a_stat.st_mode) && a_stat.st_dev == b_stat.st_dev &&
	       a_stat.st_ino == b_stat.st_ino;
}

/* No output may be another one or a level. */
static enum diag_status
check_names(int n, char **levels, char **outputs, struct diag *diag)
{
	for (int i = 0; i < n; i++) {
		if (same_file(levels[i], outputs[i]))
			return diag_set(diag, DIAG_USAGE, 0,
			                "'%s' is a level and can't be its own "
			                "output",
			                levels[i]);
		for (int k = 0; k < i; k++)
			if (!strcmp(outputs[i], outputs[k]))
				return diag_set(diag, DIAG_USAGE, 0,
				                "'%s' and '%s' would both "
				                "become '%s'",
				                levels[k], levels[i],
				                outputs[i]);
	}
	return DIAG_OK;
}

/* The most levels that clusters of this size carry. */
static uint32_t
max_levels(uint32_t cluster_size)
{
	uint32_t n = 1;

	while (n < HPA_MAX_LEVELS &&
	       cluster_size << n <= HPA_MAX_TOP_CLUSTER_SIZE)
		n++;
	return n;
}

static enum diag_status
check_usage(const struct options *options, int n_levels, struct diag *diag)
{
	if (n_levels == 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bake takes one level or more, and there is "
		                "none");
	if (!options->output == !options->folder)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bake takes one of -o FILE and -d DIR%s",
		                options->output ? ", not both" : "");
	if (options->output && n_levels > 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "-o takes the output of one level, not of %d; "
		                "-d DIR takes them all",
		                n_levels);
	if (options->threshold && options->policy.value != HPA_POLICY_ENDS)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--threshold goes with --transitions ends "
		                "only");
	if (options->n_levels > max_levels(options->cluster_size))
		return diag_set(diag, DIAG_USAGE, 0,
		                "--levels takes a number from 1 to %" PRIu32
		                " with clusters of %" PRIu32
		                " cells, not '%" PRIu32 "'",
		                max_levels(options->cluster_size),
		                options->cluster_size, options->n_levels);
	return DIAG_OK;
}

static int
name_width(int n, char **levels)
{
	int width = (int)strlen("level");

	for (int i = 0; i < n; i++) {
		int size = (int)strlen(base_name(levels[i]));

		width = size > width ? size : width;
	}
	return width;
}

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
print_header(int width)
{
	printf("%-*s  %11s %9s %9s %10s %11s %11s\n", width, "level", "size",
	       "clusters", "nodes", "edges", "bytes", "time");
}

static void
print_row(int width, const char *label, const struct bake_report *report,
          size_t bytes, double ms)
{
	uint64_t edges = report->levels[0].inter_edges;
	char size[24];

	for (uint32_t l = 0; l < report->n_levels; l++)
		edges += report->levels[l].stored_edges;
	snprintf(size, sizeof(size), "%" PRIu32 "x%" PRIu32, report->width,
	         report->height);
	printf("%-*s  %11s %9" PRIu32 " %9" PRIu32 " %10" PRIu64
	       " %11zu %8.1f ms\n",
	       width, label, size, report->levels[0].clusters,
	       report->levels[0].nodes, edges, bytes, ms);
}

/* A level, or a file of levels, and what there is to say about it. */
struct job {
	enum diag_status status;
	struct diag diag;
	char *notes; /* how it was read; NULL: nothing */
	bool is_several; /* a file of levels, still to be baked */
	char label[256]; /* what the table calls it; "": it was not baked */
	struct bake_report report;
	size_t n_bytes;
	double began, elapsed_ms;
};

/* The whole run: what all levels share. */
struct batch {
	const struct options *options;
	const struct level_options *reading;
	struct bake_options baking;
	int n;
	char **files, **outputs; /* n of each */
	char **more;             /* outputs of files with several levels */
	int n_more;
	int width;  /* of the table's first column */
	bool begun; /* the table has its header */
	struct job *jobs; /* n */
	enum diag_status worst;
};

/* Keep what level_describe() says for later. */
static void
take_notes(const struct batch *batch, struct job *job, const char *file,
           const struct level *level)
{
	size_t size;
	FILE *notes = open_memstream(&job->notes, &size);

	if (!notes)
		return;
	level_describe(notes, file, level, batch->reading);
	fclose(notes);
}

/* How a job is done: with what memory it may take. */
struct way {
	struct bake_memory memory;
	struct bake_options baking;
	struct level_options reading;
};

static enum diag_status
admit(void *user, uint32_t width, uint32_t height, struct diag *diag)
{
	const struct way *way = user;

	return bake_admit(width, height, &way->baking, diag);
}

/* Alone a job may take all the memory that is allowed, else a thread's share.
 * *out must not move. */
static void
choose_way(const struct batch *batch, bool alone, struct way *out)
{
	uint64_t max_bytes = batch->options->max_bytes;

	out->memory = (struct bake_memory){
		.max_bytes = alone ? max_bytes : max_bytes / batch_threads(),
	};
	out->baking = batch->baking;
	out->reading = *batch->reading;
	if (max_bytes == 0)
		return;
	out->baking.memory = &out->memory;
	out->reading.gate = (struct level_gate){admit, out};
}

/* Bake a level that was read, and free it. label is what the table calls it. */
static enum diag_status
bake_level(const struct batch *batch, const struct way *way, struct job *job,
           struct level *level, const char *file, const char *label,
           const char *output)
{
	struct bake_output baked = {NULL, 0};
	enum diag_status status;

	if (batch->options->verbose)
		take_notes(batch, job, file, level);
	status = bake_run_last(level, &way->baking, &baked, &job->report,
	                       &job->diag);
	if (status)
		cli_set_file(&job->diag, file);
	if (!status)
		status = file_replace(output, baked.data, baked.size, NULL,
		                      &job->diag);
	if (!status)
		snprintf(job->label, sizeof(job->label), "%s", label);
	job->n_bytes = baked.size;
	job->elapsed_ms = now_ms() - job->began;
	free(baked.data);
	return status;
}

/* Say what there is to say about a level. */
static void
report_job(struct batch *batch, struct job *job)
{
	if (job->notes) {
		fflush(stdout);
		fputs(job->notes, stderr);
		free(job->notes);
	}
	if (job->label[0] && !batch->options->quiet) {
		if (!batch->begun && (int)strlen(job->label) > batch->width)
			batch->width = (int)strlen(job->label);
		if (!batch->begun)
			print_header(batch->width);
		batch->begun = true;
		print_row(batch->width, job->label, &job->report, job->n_bytes,
		          job->elapsed_ms);
	}
	if (job->status > batch->worst)
		batch->worst = job->status;
	if (job->status)
		cli_report(&job->diag);
}

/* Keep the output of one of several levels in mind, unless there is one of that
 * name; *name is NULL without memory. */
static enum diag_status
add_output(struct batch *batch, int file, char *name, struct diag *diag)
{
	char **more = name ? realloc(batch->more, ((size_t)batch->n_more + 1) *
	                                                  sizeof(*more))
	                   : NULL;
	bool taken = false;

	if (!more) {
		free(name);
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	}
	for (int i = 0; i < batch->n; i++)
		taken |= (i != file && !strcmp(batch->outputs[i], name)) ||
		         same_file(batch->files[i], name);
	for (int i = 0; i < batch->n_more; i++)
		taken |= !strcmp(more[i], name);
	batch->more = more;
	more[batch->n_more++] = name;
	if (!taken)
		return DIAG_OK;
	cli_set_file(diag, batch->files[file]);
	return diag_set(diag, DIAG_USAGE, 0,
	                "one of its levels would become '%s', which is another "
	                "level or its output",
	                name);
}

/* Bake one of several levels of a file into the folder. */
static enum diag_status
bake_one_of_several(struct batch *batch, const struct way *way, int file,
                    struct job *job, struct level *level)
{
	const char *name = batch->files[file];
	enum diag_status status = add_output(
		batch, file,
		name_in_folder(batch->options->folder, name, level->name),
		&job->diag);
	char label[sizeof(job->label)];

	if (status) {
		level_free(level);
		return status;
	}
	snprintf(label, sizeof(label), "%s:%s", base_name(name), level->name);
	return bake_level(batch, way, job, level, name, label,
	                  batch->more[batch->n_more - 1]);
}

/* Bake all levels of a file, or the picked one, and report each. */
static void
bake_several(struct batch *batch, int file)
{
	bool picked = batch->options->reading.pick != NULL;
	uint32_t n_levels = 1;

	for (uint32_t index = 0; index < n_levels; index++) {
		struct job job = {.began = now_ms()};
		struct level level;
		struct way way;

		choose_way(batch, true, &way);
		job.status = input_level(batch->files[file], &way.reading,
		                         index, &level, &job.diag);
		if (!job.status) {
			n_levels = picked ? 1 : level.n_in_file;
			job.status = bake_one_of_several(batch, &way, file,
			                                 &job, &level);
		}
		report_job(batch, &job);
	}
}

/* Bake the one level of a file, or leave it for bake_several(). false: it does
 * not fit beside others. */
static bool
bake_file(void *user, uint32_t file, bool alone)
{
	struct batch *batch = user;
	struct job *job = &batch->jobs[file];
	const char *name = batch->files[file];
	bool to_file = batch->options->output != NULL;
	struct level level;
	struct way way;

	free(job->notes);
	*job = (struct job){.began = now_ms()};
	choose_way(batch, alone, &way);
	job->status = to_file ? input_one_level(name, &way.reading, &level,
	                                        &job->diag)
	                      : input_level(name, &way.reading, 0, &level,
	                                    &job->diag);
	if (!job->status) {
		job->is_several = !to_file && level.n_in_file > 1;
		if (job->is_several)
			level_free(&level);
		else
			job->status = bake_level(batch, &way, job, &level, name,
			                         base_name(name),
			                         batch->outputs[file]);
	}
	return alone || !way.memory.was_exceeded;
}

static void
finish_file(void *user, uint32_t file)
{
	struct batch *batch = user;
	struct job *job = &batch->jobs[file];

	if (job->is_several)
		bake_several(batch, (int)file);
	else
		report_job(batch, job);
}

static enum diag_status
run_jobs(struct batch *batch, struct diag *diag)
{
	size_t n = (size_t)batch->n;
	uint64_t *weights = calloc(n + 1, sizeof(*weights));
	struct batch_jobs jobs = {.n = (uint32_t)n,
	                          .weights = weights,
	                          .work = bake_file,
	                          .finish = finish_file,
	                          .user = batch};
	bool ok;

	batch->jobs = calloc(n + 1, sizeof(*batch->jobs));
	for (size_t i = 0; weights && n > 1 && i < n; i++)
		weights[i] = file_weight(batch->files[i]);
	batch_use_threads(batch->baking.n_threads);
	file_begin_writing();
	ok = weights && batch->jobs && batch_run(&jobs);
	file_end_writing();
	free(weights);
	free(batch->jobs);
	free_names(batch->more, batch->n_more);
	return ok ? batch->worst
	          : diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

static enum diag_status
bake_all(const struct options *options, const struct bake_options *baking,
         int n, char **files, char **outputs, struct diag *diag)
{
	struct level_source source;
	struct batch batch = {.options = options,
	                      .reading = &source.options,
	                      .baking = *baking,
	                      .n = n,
	                      .files = files,
	                      .outputs = outputs,
	                      .width = name_width(n, files)};
	enum diag_status status =
		level_source_open(&options->reading, &source, diag);

	/* Without what the options name nothing is read as it is meant. */
	if (!status)
		status = run_jobs(&batch, diag);
	level_source_close(&source);
	return status;
}

/* The agents and links that the options name. */
struct extras {
	struct bake_agent agents[HPA_MAX_PROFILES];
	struct bake_link *links;
};

static enum diag_status
read_agents(const struct cli_list *list, struct extras *extras,
            struct diag *diag)
{
	if (list->n > HPA_MAX_PROFILES)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--agent may be given %u times, not %" PRIu32,
		                HPA_MAX_PROFILES, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		enum diag_status status = bake_agent_parse(
			list->items[i], &extras->agents[i], diag);

		if (status)
			return status;
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(extras->agents[k].name,
			            extras->agents[i].name))
				return diag_set(diag, DIAG_USAGE, 0,
				                "there are two agents '%s'",
				                extras->agents[i].name);
	}
	return DIAG_OK;
}

static enum diag_status
bake_with_extras(const struct options *options, int n, char **levels,
                 char **outputs, struct diag *diag)
{
	struct bake_options bake = baker_options(options);
	struct extras extras = {.links = NULL};
	enum diag_status status = read_agents(&options->agents, &extras, diag);

	if (!status && options->links)
		status = input_links(options->links, &extras.links,
		                     &bake.n_links, diag);
	bake.agents = extras.agents;
	bake.n_agents = options->agents.n;
	bake.links = extras.links;
	if (!status)
		status = bake_all(options, &bake, n, levels, outputs, diag);
	free(extras.links);
	return status;
}

static enum diag_status
run(const void *verb_options, int n, char **levels, struct diag *diag)
{
	const struct options *options = verb_options;
	enum diag_status status = check_usage(options, n, diag);
	char **outputs;

	if (status)
		return status;
	outputs = output_names(options, n, levels);
	if (!outputs)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	status = check_names(n, levels, outputs, diag);
	if (!status && options->folder && mkdir(options->folder, 0777) != 0 &&
	    errno != EEXIST) {
		cli_set_file(diag, options->folder);
		status = diag_set(diag, DIAG_FAILED, 0, "%s", strerror(errno));
	}
	if (!status)
		status = bake_with_extras(options, n, levels, outputs, diag);
	free_names(outputs, n);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... LEVEL -o FILE",
	"[OPTION]... LEVEL... -d DIR",
	NULL,
};

const struct cli_verb cmd_bake = {
	.name = "bake",
	.summary = "Bake levels into .hpa files",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.set_defaults = set_defaults,
	.run = run,
};
