/* bake.c: runs the passes.
 *
 * run_terrain() and run_passes() are the pipeline, top to bottom; each call
 * fills in the next part of struct abstraction (passes.h), one for each profile.
 * Everything follows from the cells that an agent can stand on, so a profile
 * with the cells of an earlier one is that one again and takes no passes.
 *
 * OpenMP is used in the passes and nowhere else in the program. Without it the
 * pragmas are ignored and the bake is serial, with the same bytes. */
#include "src/bake/bake.h"

#include <stdlib.h>
#include <string.h>

#include "src/bake/batch.h"
#include "src/bake/clock.h"
#include "src/bake/passes.h"

#define DEFAULT_CLUSTER_SIZE 16u
#define DEFAULT_THRESHOLD 6u
#define DEFAULT_EVERY 4u

/* A level more is worth it while its clusters are at least so many along the
 * longer side. */
#define MIN_TOP_CLUSTERS 4u

const struct bake_name bake_move_names[] = {
	{"8", HPA_RULE_8, "diagonals where both cells beside are free"},
	{"8-loose", HPA_RULE_8_LOOSE, "diagonals where one of them is free"},
	{"4", HPA_RULE_4, "no diagonals"},
	{NULL, 0, NULL},
};

const struct bake_name bake_policy_names[] = {
	{"ends", HPA_POLICY_ENDS,
         "short entrances in the middle, others at both ends"},
	{"spread", HPA_POLICY_SPREAD,
         "as ends, but long ones at the third cell from each end"},
	{"every", HPA_POLICY_EVERY, "one transition for every K cells"},
	{NULL, 0, NULL},
};

const struct bake_name bake_compress_names[] = {
	{"none", HPA_COMPRESS_NONE, "store everything as it is"},
	{"cold", HPA_COMPRESS_COLD, "compress what a search does not touch"},
	{"all", HPA_COMPRESS_ALL, "compress everything; inflated when opened"},
	{NULL, 0, NULL},
};

const char *const bake_pass_names[BAKE_N_PASSES] = {
	"terrain", "nodes",      "repeats", "distances",
	"levels",  "components", "paths",   "layout",
};

const struct bake_name bake_kernel_names[] = {
	{"vector", BAKE_KERNEL_VECTOR, "fast, for cells of equal cost"},
	{"heap", BAKE_KERNEL_HEAP,
         "the reference: plain Dijkstra, no shortcuts"},
	{NULL, 0, NULL},
};

void
bake_options_default(struct bake_options *options)
{
	*options = (struct bake_options){
		.cluster_size = DEFAULT_CLUSTER_SIZE,
		.moves = HPA_RULE_8,
		.policy = HPA_POLICY_ENDS,
		.prune = true,
		.compress = HPA_COMPRESS_COLD,
	};
}

uint32_t
bake_default_levels(uint32_t width, uint32_t height, uint32_t cluster_size)
{
	uint32_t side = width > height ? width : height;
	uint32_t levels = 1;

	while (levels < HPA_MAX_LEVELS &&
	       cluster_size << levels <= HPA_MAX_TOP_CLUSTER_SIZE &&
	       side > (MIN_TOP_CLUSTERS - 1) * (cluster_size << levels))
		levels++;
	return levels;
}

enum diag_status
out_of_memory(struct diag *diag)
{
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

static uint32_t
default_parameter(enum hpa_policy policy)
{
	switch (policy) {
	case HPA_POLICY_ENDS:
		return DEFAULT_THRESHOLD;
	case HPA_POLICY_EVERY:
		return DEFAULT_EVERY;
	case HPA_POLICY_SPREAD:
		break;
	}
	return 0;
}

static const struct bake_agent anyone = {.name = "", .size = 1};

enum diag_status
resolve_options(const struct level *level, struct bake_options *options,
                struct diag *diag)
{
	uint32_t size = options->cluster_size;

	if (size < HPA_MIN_CLUSTER_SIZE || size > HPA_MAX_CLUSTER_SIZE)
		return diag_set(diag, DIAG_USAGE, 0,
		                "cluster size %u is not from %u to %u",
		                (unsigned)size, HPA_MIN_CLUSTER_SIZE,
		                HPA_MAX_CLUSTER_SIZE);
	if (options->n_levels == 0)
		options->n_levels =
			bake_default_levels(level->width, level->height, size);
	if (options->n_levels > HPA_MAX_LEVELS ||
	    size << (options->n_levels - 1) > HPA_MAX_TOP_CLUSTER_SIZE)
		return diag_set(diag, DIAG_USAGE, 0,
		                "%u levels over clusters of %u: the top ones "
		                "would have a side above %u cells",
		                (unsigned)options->n_levels, (unsigned)size,
		                HPA_MAX_TOP_CLUSTER_SIZE);
	if (options->policy_parameter == 0)
		options->policy_parameter = default_parameter(options->policy);
	if (options->n_agents > HPA_MAX_PROFILES)
		return diag_set(diag, DIAG_USAGE, 0,
		                "there are %u agents; %u are allowed",
		                (unsigned)options->n_agents, HPA_MAX_PROFILES);
	if (options->n_agents == 0) {
		options->agents = &anyone;
		options->n_agents = 1;
	}
	return DIAG_OK;
}

static void
add_to_report(const struct abstraction *abs, struct bake_report *report)
{
	for (unsigned l = 0; l < abs->options.n_levels; l++) {
		const struct abstract_level *level = &abs->levels[l];
		struct bake_level_report *sum = &report->levels[l];

		sum->cluster_size = level->cluster_size;
		sum->clusters = level->n_clusters;
		sum->nodes += level->n_nodes;
		sum->inter_edges += level->n_inter;
		sum->intra_edges += level->n_intra;
		sum->stored_edges += level->n_stored;
	}
}

static void
fill_report(const struct abstraction *profiles, uint32_t n,
            struct bake_report *report)
{
	*report = (struct bake_report){
		.width = profiles->grid.width,
		.height = profiles->grid.height,
		.n_levels = profiles->options.n_levels,
		.n_profiles = n,
		.n_free_cells = profiles->n_free_cells,
		.n_components = profiles->n_components,
	};
	for (uint32_t p = 0; p < n; p++)
		add_to_report(&profiles[p], report);
}

/* What the passes take, one behind the other. */
struct watch {
	double began;
	double pass_ms[BAKE_N_PASSES];
};

/* A pass has ended and the next one begins. */
static void
count_pass(struct watch *watch, enum bake_pass pass)
{
	double now = clock_ms();

	watch->pass_ms[pass] += now - watch->began;
	watch->began = now;
}

/* The cells of every profile. Nobody looks at the level's after that, and with
 * `last` they are freed. */
static enum diag_status
run_terrain(struct abstraction *profiles, const struct bake_options *options,
            const struct source *source, struct level *last, struct diag *diag)
{
	enum diag_status st = DIAG_OK;

	for (uint32_t p = 0; p < options->n_agents && st == DIAG_OK; p++) {
		profiles[p].options = *options;
		profiles[p].agent = &options->agents[p];
		profiles[p].source = source;
		st = terrain_pass(&profiles[p], diag);
	}
	if (last) {
		free(last->cells);
		last->cells = NULL;
	}
	return st;
}

/* From the cells to the abstraction of one profile. */
static enum diag_status
run_passes(struct abstraction *abs, uint64_t *n_bytes, struct watch *watch,
           struct diag *diag)
{
	enum diag_status st = cluster_pass(abs, diag);

	if (st == DIAG_OK)
		st = link_ends_pass(abs, diag);
	if (st == DIAG_OK)
		st = node_pass(abs, diag);
	if (st == DIAG_OK)
		st = link_edges_pass(abs, diag);
	count_pass(watch, BAKE_PASS_NODES);
	if (st == DIAG_OK && abs->options.kernel != BAKE_KERNEL_HEAP &&
	    !abs->grid.classes)
		st = repeat_pass(abs, diag);
	if (st == DIAG_OK)
		st = memory_pass(abs, n_bytes, diag);
	count_pass(watch, BAKE_PASS_REPEATS);
	if (st == DIAG_OK)
		st = distance_pass(abs, diag);
	count_pass(watch, BAKE_PASS_DISTANCES);
	for (unsigned l = 1; l < abs->options.n_levels && st == DIAG_OK; l++)
		st = hierarchy_pass(abs, l, diag);
	count_pass(watch, BAKE_PASS_LEVELS);
	if (st == DIAG_OK)
		st = component_pass(abs, diag);
	count_pass(watch, BAKE_PASS_COMPONENTS);
	if (st == DIAG_OK && abs->options.cache_paths)
		st = paths_pass(abs, diag);
	count_pass(watch, BAKE_PASS_PATHS);
	return st;
}

/* The first profile that has the cells of this one, if it comes before it. */
static const struct abstraction *
find_same(const struct abstraction *profiles, const struct abstraction *abs)
{
	size_t size = abs->grid.stride * abs->grid.height;

	for (const struct abstraction *other = profiles; other < abs; other++)
		if (!memcmp(other->bits, abs->bits, size))
			return other;
	return NULL;
}

/* Make a profile what another one is, but for its agent. */
static void
share_profile(struct abstraction *abs, const struct abstraction *same)
{
	const struct bake_agent *agent = abs->agent;

	free(abs->own_bits);
	*abs = *same;
	abs->agent = agent;
	abs->same = same;
}

/* The profiles one after the other, then the file that holds them all. */
static enum diag_status
run_profiles(struct abstraction *profiles, const struct bake_options *options,
             struct bake_output *out, struct watch *watch, struct diag *diag)
{
	enum diag_status st = DIAG_OK;
	uint64_t n_bytes = 0;

	for (uint32_t p = 0; p < options->n_agents && st == DIAG_OK; p++) {
		const struct abstraction *same =
			find_same(profiles, &profiles[p]);

		if (same)
			share_profile(&profiles[p], same);
		else
			st = run_passes(&profiles[p], &n_bytes, watch, diag);
	}
	if (st == DIAG_OK)
		st = layout_pass(profiles, options->n_agents, out, diag);
	count_pass(watch, BAKE_PASS_LAYOUT);
	return st;
}

/* `last` is the level, or NULL if it is to be kept. */
static enum diag_status
run(const struct level *level, struct level *last,
    const struct bake_options *options, struct bake_output *out,
    struct bake_report *report, struct diag *diag)
{
	struct bake_options resolved = *options;
	enum diag_status st = resolve_options(level, &resolved, diag);
	struct source source = {.level = NULL};
	struct abstraction *profiles = NULL;
	struct watch watch = {.began = clock_ms()};

	*out = (struct bake_output){NULL, 0};
	if (st == DIAG_OK)
		st = bake_admit(level->width, level->height, &resolved, diag);
	if (st != DIAG_OK)
		return st;
	batch_use_threads(options->n_threads);
	profiles = calloc(resolved.n_agents, sizeof(*profiles));
	st = profiles ? source_pass(level, &resolved, &source, diag)
	              : out_of_memory(diag);
	if (st == DIAG_OK)
		st = run_terrain(profiles, &resolved, &source, last, diag);
	count_pass(&watch, BAKE_PASS_TERRAIN);
	if (st == DIAG_OK)
		st = run_profiles(profiles, &resolved, out, &watch, diag);
	if (st == DIAG_OK && report) {
		fill_report(profiles, resolved.n_agents, report);
		memcpy(report->pass_ms, watch.pass_ms, sizeof(watch.pass_ms));
	}
	for (uint32_t p = 0; profiles && p < resolved.n_agents; p++)
		abstraction_free(&profiles[p]);
	free(profiles);
	source_free(&source);
	return st;
}

enum diag_status
bake_run(const struct level *level, const struct bake_options *options,
         struct bake_output *out, struct bake_report *report, struct diag *diag)
{
	return run(level, NULL, options, out, report, diag);
}

enum diag_status
bake_run_last(struct level *level, const struct bake_options *options,
              struct bake_output *out, struct bake_report *report,
              struct diag *diag)
{
	enum diag_status st = run(level, level, options, out, report, diag);

	level_free(level);
	return st;
}

static void
free_each(struct bytes *list, uint32_t n)
{
	for (uint32_t i = 0; list && i < n; i++)
		free(list[i].data);
	free(list);
}

void
abstraction_free(struct abstraction *abs)
{
	if (abs->same)
		return;
	free_each(abs->paths, abs->levels[0].n_clusters);
	for (unsigned l = 0; l < HPA_MAX_LEVELS; l++) {
		struct abstract_level *level = &abs->levels[l];

		free(level->tables);
		arena_free(&level->arena);
		free(level->like);
		free(level->first);
		free(level->node);
		free(level->rank);
	}
	free(abs->link_ends);
	free(abs->link_edges);
	free(abs->reach_components);
	free(abs->reach_rows);
	free(abs->own_bits);
	free(abs->nodes);
	free(abs->inter_first);
	free(abs->inter_target);
	free(abs->labels);
	free(abs->run_labels);
}
