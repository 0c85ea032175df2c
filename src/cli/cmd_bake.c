/* cmd_bake.c: hpabake bake: from the command line to a batch.
 *
 * The operands become levels and outputs in batch_inputs.c, the levels become
 * files in bake_batch.c. Here is what the options say about it. An option counts
 * where it is given, else what the file of --options-from has stored, else the
 * default. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/bake_batch.h"
#include "src/cli/cli.h"
#include "src/cli/file.h"
#include "src/cli/folder.h"
#include "src/cli/input.h"
#include "src/cli/level_options.h"
#include "src/cli/stored.h"

#define MAX_THREADS 1024u

/* Which options are given that a file may also tell. */
struct given {
	bool cluster_size, levels, transitions, threshold, moves, paths, labels, prune;
	bool compress;
};

struct options {
	const char *output, *folder;
	struct given given;
	uint32_t cluster_size, n_levels, threshold, n_threads;
	bool cache_paths, fast_queries, no_prune, quiet, verbose, force;
	const char *stored, *report, *depfile;
	bool depfiles, phony;
	struct cli_choice progress;
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
         .what = "write every baked level here, its suffix changed "
                 "to " BATCH_SUFFIX "; made if it is missing",
         .offset = offsetof(struct options, folder)},
	{.kind = CLI_NUMBER,
         .name = "cluster-size",
         .takes = "N",
         .what = "cells along the side of a cluster",
         .min = HPA_MIN_CLUSTER_SIZE,
         .max = HPA_MAX_CLUSTER_SIZE,
         .offset = offsetof(struct options, cluster_size),
         .given = offsetof(struct options, given.cluster_size)},
	{.kind = CLI_NUMBER,
         .name = "levels",
         .takes = "N",
         .what = "levels of the abstraction; without it, what the size of the "
                 "level asks for",
         .min = 1,
         .max = HPA_MAX_LEVELS,
         .offset = offsetof(struct options, n_levels),
         .given = offsetof(struct options, given.levels)},
	{.kind = CLI_CHOICE,
         .name = "transitions",
         .takes = "POLICY",
         .what = "where entrances are crossed:",
         .min = 1,
         .max = HPA_MAX_CLUSTER_SIZE,
         .names = bake_policy_names,
         .counted = "every",
         .offset = offsetof(struct options, policy),
         .given = offsetof(struct options, given.transitions)},
	{.kind = CLI_NUMBER,
         .name = "threshold",
         .takes = "N",
         .what = "for ends: from how many cells on an entrance is crossed at "
                 "both ends; without it, 6",
         .min = 1,
         .max = HPA_MAX_CLUSTER_SIZE + 1,
         .offset = offsetof(struct options, threshold),
         .given = offsetof(struct options, given.threshold)},
	{.kind = CLI_CHOICE,
         .name = "moves",
         .takes = "RULE",
         .what = "how units move:",
         .names = bake_move_names,
         .offset = offsetof(struct options, moves),
         .given = offsetof(struct options, given.moves)},
	{.kind = CLI_SWITCH,
         .name = "cache-paths",
         .what = "store the cells of every intra-edge's path",
         .offset = offsetof(struct options, cache_paths),
         .given = offsetof(struct options, given.paths)},
	{.kind = CLI_SWITCH,
         .name = "no-cache-paths",
         .what = "store none (default)",
         .offset = offsetof(struct options, cache_paths),
         .is_off = true,
         .given = offsetof(struct options, given.paths)},
	{.kind = CLI_SWITCH,
         .name = "fast-queries",
         .what = "store hub labels: paths without a search, in a larger file",
         .offset = offsetof(struct options, fast_queries),
         .given = offsetof(struct options, given.labels)},
	{.kind = CLI_SWITCH,
         .name = "no-fast-queries",
         .what = "store none (default)",
         .offset = offsetof(struct options, fast_queries),
         .is_off = true,
         .given = offsetof(struct options, given.labels)},
	{.kind = CLI_SWITCH,
         .name = "prune",
         .what = "leave redundant intra-edges out (default)",
         .offset = offsetof(struct options, no_prune),
         .is_off = true,
         .given = offsetof(struct options, given.prune)},
	{.kind = CLI_SWITCH,
         .name = "no-prune",
         .what = "store redundant intra-edges too",
         .offset = offsetof(struct options, no_prune),
         .given = offsetof(struct options, given.prune)},
	{.kind = CLI_CHOICE,
         .name = "compress",
         .takes = "WHAT",
         .what = "what is compressed:",
         .names = bake_compress_names,
         .offset = offsetof(struct options, compress),
         .given = offsetof(struct options, given.compress)},
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
	{.kind = CLI_TEXT,
         .name = "options-from",
         .takes = "FILE",
         .what = "take the options that are stored in this baked file, where "
                 "none are given",
         .offset = offsetof(struct options, stored)},
	{.kind = CLI_SWITCH,
         .letter = 'f',
         .name = "force",
         .what = "bake levels whose outputs are up to date, too",
         .offset = offsetof(struct options, force)},
	{.kind = CLI_SWITCH,
         .word = "MD",
         .name = "depfiles",
         .what = "write the files that each output depends on beside it, as "
                 "NAME.d",
         .offset = offsetof(struct options, depfiles)},
	{.kind = CLI_TEXT,
         .word = "MF",
         .name = "depfile",
         .takes = "FILE",
         .what = "write those of all outputs to this file",
         .offset = offsetof(struct options, depfile)},
	{.kind = CLI_SWITCH,
         .word = "MP",
         .name = "depfile-phony",
         .what = "with -MD or -MF: name all but the levels as targets, too",
         .offset = offsetof(struct options, phony)},
	{.kind = CLI_TEXT,
         .name = "report",
         .takes = "FILE",
         .what = "write what became of each level to this file, as JSON Lines",
         .offset = offsetof(struct options, report)},
	{.kind = CLI_CHOICE,
         .name = "progress",
         .takes = "HOW",
         .what = "what is told on stderr on the way:",
         .names = progress_mode_names,
         .offset = offsetof(struct options, progress)},
	{.kind = CLI_SWITCH,
         .letter = 'q',
         .name = "quiet",
         .what = "print errors only",
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
		.fast_queries = options->fast_queries,
		.compress = (enum hpa_compress)options->compress.value,
		.n_threads = options->n_threads,
		.kernel = (enum bake_kernel)options->kernel.value,
	};
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

/* Do the operands and the places of outputs fit together? */
static enum diag_status
check_places(const struct options *options, int n_operands, struct diag *diag)
{
	bool to_stdout =
		options->output && !strcmp(options->output, FILE_STDOUT);

	if (n_operands == 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bake takes one level or more, and there is "
		                "none");
	if (!options->output == !options->folder)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bake takes one of -o FILE and -d DIR%s",
		                options->output ? ", not both" : "");
	if (to_stdout && isatty(STDOUT_FILENO))
		return diag_set(
			diag, DIAG_USAGE, 0,
			"-o - writes bytes to standard output, which is "
			"a terminal; > FILE or | PROGRAM takes them");
	if (to_stdout && (options->depfiles || options->depfile))
		return diag_set(diag, DIAG_USAGE, 0,
		                "%s takes an output with a name, not -o -",
		                options->depfile ? "-MF" : "-MD");
	if (to_stdout && options->report &&
	    !strcmp(options->report, FILE_STDOUT))
		return diag_set(diag, DIAG_USAGE, 0,
		                "--report takes another FILE than -o, not -");
	if (options->phony && !options->depfiles && !options->depfile)
		return diag_set(diag, DIAG_USAGE, 0,
		                "-MP goes with -MD or -MF only");
	return DIAG_OK;
}

static enum diag_status
check_inputs(const struct options *options, const struct batch_inputs *inputs,
             struct diag *diag)
{
	if (inputs->n == 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "bake takes one level or more, and the lists "
		                "name none");
	if (options->output && inputs->n > 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "-o takes the output of one level, not of %zu; "
		                "-d DIR takes them all",
		                inputs->n);
	return DIAG_OK;
}

static enum diag_status
check_options(const struct options *options, const struct bake_options *bake,
              struct diag *diag)
{
	if (options->threshold && bake->policy != HPA_POLICY_ENDS)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--threshold goes with --transitions ends "
		                "only");
	if (bake->n_levels > max_levels(bake->cluster_size))
		return diag_set(diag, DIAG_USAGE, 0,
		                "--levels takes a number from 1 to %" PRIu32
		                " with clusters of %" PRIu32
		                " cells, not '%" PRIu32 "'",
		                max_levels(bake->cluster_size),
		                bake->cluster_size, bake->n_levels);
	return DIAG_OK;
}

static enum diag_status
read_agents(const struct cli_list *list, struct stored_extras *extras,
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
				return diag_set(
					diag, DIAG_USAGE, 0,
					"--agent takes agents of different "
					"names, and two are '%s'",
					extras->agents[i].name);
	}
	return DIAG_OK;
}

/* Take from a file what the options do not say. */
static void
take_stored(const struct options *options, const struct bake_options *stored,
            struct bake_options *bake)
{
	const struct given *given = &options->given;

	if (!given->cluster_size)
		bake->cluster_size = stored->cluster_size;
	if (!given->levels)
		bake->n_levels = stored->n_levels;
	if (!given->moves)
		bake->moves = stored->moves;
	if (!given->paths)
		bake->cache_paths = stored->cache_paths;
	if (!given->labels)
		bake->fast_queries = stored->fast_queries;
	if (!given->prune)
		bake->prune = stored->prune;
	if (!given->compress)
		bake->compress = stored->compress;
	if (given->transitions)
		return;
	bake->policy = stored->policy;
	if (!given->threshold)
		bake->policy_parameter = stored->policy_parameter;
}

/* The terrain's rules are not in a file, though what they did is. */
static void
note_terrain(const struct options *options, const struct baked *baked)
{
	struct diag note = {.line = 0};

	if (baked->views[0].n_classes == 0 || options->reading.terrain ||
	    options->quiet)
		return;
	cli_set_file(&note, options->stored);
	diag_set(&note, DIAG_OK, 0,
	         "it has terrain, the rules for which are not in it; "
	         "--terrain FILE says them");
	cli_report(&note);
}

/* Options, agents and links of --options-from. */
static enum diag_status
read_stored(const struct options *options, struct bake_options *bake,
            struct stored_extras *extras, struct diag *diag)
{
	struct baked *baked = malloc(sizeof(*baked));
	struct bake_options stored;
	enum diag_status status;

	if (!baked)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	status = input_baked(options->stored, baked, diag);
	if (status) {
		free(baked);
		return status;
	}
	if (stored_extras(baked, extras)) {
		stored = stored_options(baked, extras);
		take_stored(options, &stored, bake);
		bake->n_agents = stored.n_agents;
		bake->n_links = stored.n_links;
		note_terrain(options, baked);
	} else {
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	}
	input_close_baked(baked);
	free(baked);
	return status;
}

/* All that the baker is told; its agents and links are in extras. */
static enum diag_status
gather(const struct options *options, struct bake_options *bake,
       struct stored_extras *extras, struct diag *diag)
{
	enum diag_status status = DIAG_OK;

	*bake = baker_options(options);
	if (options->stored)
		status = read_stored(options, bake, extras, diag);
	if (!status && options->agents.n > 0) {
		status = read_agents(&options->agents, extras, diag);
		bake->n_agents = options->agents.n;
	}
	if (!status && options->links) {
		free(extras->links);
		extras->links = NULL;
		status = input_links(options->links, &extras->links,
		                     &bake->n_links, diag);
	}
	bake->agents = extras->agents;
	bake->links = extras->links;
	return status ? status : check_options(options, bake, diag);
}

/* The files besides the levels that outputs depend on. */
static bool
list_depended(const struct options *options, struct name_list *out)
{
	const char *const files[] = {options->reading.terrain, options->links,
	                             options->stored};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && strcmp(files[i], FILE_STDIN) != 0)
			ok = name_list_add(out, strdup(files[i]));
	return ok;
}

static enum diag_status
bake_inputs(const struct options *options, const struct bake_options *bake,
            const struct batch_inputs *inputs, struct diag *diag)
{
	struct level_source source;
	struct bake_plan plan = {
		.baking = bake,
		.reading = &source.options,
		.links = options->links,
		.folder = options->folder,
		.max_bytes = options->max_bytes,
		/* The table would be among the bytes. */
		.quiet = options->quiet ||
	                 (options->output &&
	                  !strcmp(options->output, FILE_STDOUT)),
		.verbose = options->verbose,
		.force = options->force,
		.progress = (enum progress_mode)options->progress.value,
		.report = options->report,
		.depfiles = options->depfiles,
		.depfile = options->depfile,
		.phony = options->phony,
	};
	/* Without what the options name nothing is read as it is meant. */
	enum diag_status status =
		level_source_open(&options->reading, &source, diag);

	if (!status && !list_depended(options, &plan.depended))
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	if (!status)
		status = bake_batch(&plan, inputs, diag);
	name_list_free(&plan.depended);
	level_source_close(&source);
	return status;
}

static enum diag_status
run_inputs(const struct options *options, const struct batch_inputs *inputs,
           struct diag *diag)
{
	struct stored_extras extras = {.links = NULL};
	struct bake_options bake;
	enum diag_status status = gather(options, &bake, &extras, diag);

	if (!status && options->folder)
		status = folder_make(options->folder, diag);
	if (!status)
		status = bake_inputs(options, &bake, inputs, diag);
	free(extras.links);
	return status;
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	const struct options *options = verb_options;
	struct batch_inputs inputs = {0};
	enum diag_status status = check_places(options, n, diag);

	if (!status)
		status = batch_inputs_collect(
			(size_t)n, operands, options->reading.format,
			options->folder != NULL, &inputs, diag);
	if (!status)
		status = check_inputs(options, &inputs, diag);
	if (!status)
		status = batch_inputs_name(&inputs, options->output,
		                           options->folder, diag);
	if (!status)
		status = run_inputs(options, &inputs, diag);
	batch_inputs_free(&inputs);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... LEVEL -o FILE",
	"[OPTION]... LEVEL|FOLDER|@LIST... -d DIR",
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
