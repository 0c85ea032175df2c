/* cmd_info.c: what is in a baked file, for people or as JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/describe.h"
#include "src/cli/dump.h"
#include "src/cli/input.h"
#include "src/cli/json.h"

struct options {
	const char *agent;
	bool json, dump;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "agent",
         .takes = "NAME",
         .what = "tell of the agent of that name; without it, of all",
         .offset = offsetof(struct options, agent)},
	{.kind = CLI_SWITCH,
         .name = "json",
         .what = "print JSON: an object for one file, an array for several",
         .offset = offsetof(struct options, json)},
	{.kind = CLI_SWITCH,
         .name = "dump",
         .what = "print every cell, node and edge, a line each",
         .offset = offsetof(struct options, dump)},
	{.kind = CLI_END},
};

static bool
is_critical(const struct hpa_section *section)
{
	return section->flags & HPA_FLAG_CRITICAL;
}

static uint64_t
n_clusters(const struct hpa_view_level *level)
{
	return (uint64_t)level->clusters_x * level->clusters_y;
}

static void
print_options(const struct hpa_view *view)
{
	const char *parameter = describe_parameter(view->policy);

	printf("  clusters      %" PRIu32 "x%" PRIu32 " cells, %" PRIu32
	       " level%s\n",
	       view->cluster_size, view->cluster_size, view->n_levels,
	       view->n_levels == 1 ? "" : "s");
	printf("  moves         %s\n",
	       cli_name_of(bake_move_names, (int)view->moves));
	printf("  transitions   %s",
	       cli_name_of(bake_policy_names, (int)view->policy));
	if (parameter)
		printf(", %s %" PRIu32, parameter, view->policy_parameter);
	printf("\n  pruned        %s\n  cached paths  %s\n",
	       view->flags & HPA_FACT_FLAG_PRUNED ? "yes" : "no",
	       view->flags & HPA_FACT_FLAG_PATHS ? "yes" : "no");
}

static void
print_levels(const struct hpa_view *view)
{
	printf("\n  level    cluster  clusters      nodes  inter-edges"
	       "  intra-edges       stored\n");
	for (uint32_t l = 0; l < view->n_levels; l++) {
		const struct hpa_view_level *level = &view->levels[l];
		char size[24];

		snprintf(size, sizeof(size), "%" PRIu32 "x%" PRIu32,
		         level->cluster_size, level->cluster_size);
		printf("  %5" PRIu32 "  %9s  %8" PRIu64 "  %9" PRIu32
		       "  %11" PRIu32 "  %11" PRIu64 "  %11" PRIu64 "\n",
		       l + 1, size, n_clusters(level), level->n_nodes,
		       level->n_inter, level->n_intra, level->n_stored);
	}
}

/* The profiles of a file that names its agents. */
static void
print_agents(const struct baked *baked)
{
	printf("\n  agent             size  terrain               free cells"
	       "  components      nodes\n");
	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		const struct hpa_view *view = &baked->views[p];

		printf("  %-16s  %4" PRIu32 "  %-20s  %10" PRIu64 "  %10" PRIu32
		       "  %9" PRIu32 "\n",
		       view->agent, view->agent_size,
		       view->agent_terrain[0] ? view->agent_terrain : "any",
		       view->n_free_cells, view->n_components, view->n_nodes);
	}
}

static void
print_sections(const struct hpa_file *file)
{
	printf("\n  section  codec   critical    raw bytes  stored bytes\n");
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];

		printf("  %-7s  %-6s  %-8s  %11zu  %12zu", section->id,
		       describe_codec(section), is_critical(section) ? "yes" : "no",
		       section->raw_size, section->stored_size);
		if (section->profile > 0)
			printf("  profile %" PRIu32, section->profile);
		printf("\n");
	}
}

static void
print_text(const char *name, const struct baked *baked)
{
	const struct hpa_file *file = &baked->file;
	const struct hpa_view *view = &baked->views[0];

	printf("%s\n", name);
	printf("  format        %u.%u, %zu bytes, compressor %s\n", file->major,
	       file->minor, file->size,
	       file->compressor[0] ? file->compressor : "none");
	printf("  level         %" PRIu32 "x%" PRIu32 " cells, %" PRIu64
	       " free, %" PRIu32 " component%s\n",
	       view->width, view->height, view->n_free_cells,
	       view->n_components, view->n_components == 1 ? "" : "s");
	if (view->n_classes > 0)
		printf("  terrain       %" PRIu32
		       " classes, least factor %" PRIu32 "\n",
		       view->n_classes, view->min_factor);
	if (view->n_links > 0)
		printf("  links         %" PRIu32 "\n", view->n_links);
	print_options(view);
	printf("  content hash  %016" PRIx64 "\n"
	       "  source hash   %016" PRIx64 "\n"
	       "  options hash  %016" PRIx64 "\n",
	       file->content_hash, file->source_hash, file->options_hash);
	if (view->agent[0])
		print_agents(baked);
	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		if (baked->n_profiles > 1)
			printf("\n  %s:", baked->views[p].agent);
		print_levels(&baked->views[p]);
	}
	print_sections(file);
}

/* The functions below return NULL where there is no memory. */

static json_t *
json_options(const struct hpa_file *file, const struct hpa_view *view)
{
	const char *parameter = describe_parameter(view->policy);
	json_t *json = json_pack(
		"{s:I, s:I, s:s, s:s, s:b, s:b, s:b}", "cluster_size",
		(json_int_t)view->cluster_size, "levels",
		(json_int_t)view->n_levels, "moves",
		cli_name_of(bake_move_names, (int)view->moves), "transitions",
		cli_name_of(bake_policy_names, (int)view->policy), "prune",
		(view->flags & HPA_FACT_FLAG_PRUNED) != 0, "cache_paths",
		(view->flags & HPA_FACT_FLAG_PATHS) != 0, "fast_queries",
		hpa_file_find(file, HPA_ID_LABELS, 0) != NULL);

	if (parameter &&
	    json_object_set_new(json, parameter,
	                        json_integer(view->policy_parameter)) != 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *
json_level(uint32_t number, const struct hpa_view_level *level)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "level",
	                 (json_int_t)number, "cluster_size",
	                 (json_int_t)level->cluster_size, "clusters",
	                 (json_int_t)n_clusters(level), "nodes",
	                 (json_int_t)level->n_nodes, "inter_edges",
	                 (json_int_t)level->n_inter, "intra_edges",
	                 (json_int_t)level->n_intra, "stored_edges",
	                 (json_int_t)level->n_stored);
}

static json_t *
json_section(const struct hpa_section *section)
{
	return json_pack("{s:s, s:I, s:s, s:b, s:I, s:I}", "id", section->id,
	                 "profile", (json_int_t)section->profile, "codec",
	                 describe_codec(section), "critical",
	                 is_critical(section), "raw_bytes",
	                 (json_int_t)section->raw_size, "stored_bytes",
	                 (json_int_t)section->stored_size);
}

static json_t *
json_levels(const struct hpa_view *view)
{
	json_t *array = json_array();

	for (uint32_t l = 0; l < view->n_levels; l++)
		cli_json_add(&array, json_level(l + 1, &view->levels[l]));
	return array;
}

static json_t *
json_sections(const struct hpa_file *file)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < file->n_sections; i++)
		cli_json_add(&array, json_section(&file->sections[i]));
	return array;
}

static json_t *
json_agent(const struct hpa_view *view)
{
	return json_pack("{s:s, s:I, s:s, s:I, s:I, s:o}", "name", view->agent,
	                 "size", (json_int_t)view->agent_size, "terrain",
	                 view->agent_terrain, "free_cells",
	                 (json_int_t)view->n_free_cells, "components",
	                 (json_int_t)view->n_components, "levels",
	                 json_levels(view));
}

/* None in a file that names no agents. */
static json_t *
json_agents(const struct baked *baked)
{
	json_t *array = json_array();

	for (uint32_t p = 0; p < baked->n_profiles; p++)
		if (baked->views[p].agent[0])
			cli_json_add(&array, json_agent(&baked->views[p]));
	return array;
}

static json_t *
json_baked(const char *name, const struct baked *baked)
{
	const struct hpa_file *file = &baked->file;
	const struct hpa_view *view = &baked->views[0];

	return json_pack(
		"{s:o, s:{s:i, s:i}, s:I, s:I, s:I, s:I, s:I, s:s, s:o,"
		" s:{s:o, s:o, s:o}, s:I, s:I, s:o, s:o, s:o}",
		"file", cli_json_name(name), "format", "major", (int)file->major,
		"minor", (int)file->minor, "bytes", (json_int_t)file->size,
		"width", (json_int_t)view->width, "height",
		(json_int_t)view->height, "free_cells",
		(json_int_t)view->n_free_cells, "components",
		(json_int_t)view->n_components, "compressor", file->compressor,
		"options", json_options(file, view), "hashes", "content",
		cli_json_hash(file->content_hash), "source",
		cli_json_hash(file->source_hash), "options",
		cli_json_hash(file->options_hash), "terrain_classes",
		(json_int_t)view->n_classes, "links", (json_int_t)view->n_links,
		"agents", json_agents(baked), "levels", json_levels(view),
		"sections", json_sections(file));
}

/* The array of all files, or the only file's object, if there is one. */
static enum diag_status
print_json(const json_t *array, bool several, struct diag *diag)
{
	if (array && !several && json_array_size(array) == 0)
		return DIAG_OK;
	return cli_json_print(several ? array : json_array_get(array, 0), 0,
	                      diag);
}

/* Leave only the profile of that agent. */
static enum diag_status
keep_agent(const char *name, const char *agent, struct baked *baked,
           struct diag *diag)
{
	char known[256] = "";
	size_t used = 0;

	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used,
			                         sizeof(known) - used, "%s%s",
			                         p ? ", " : "",
			                         baked->views[p].agent);
		if (strcmp(baked->views[p].agent, agent) != 0)
			continue;
		baked->views[0] = baked->views[p];
		baked->n_profiles = 1;
		return DIAG_OK;
	}
	input_close_baked(baked);
	return input_refuse_agent(name, known, agent, diag);
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (n == 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "info takes one file or more, and there is "
		                "none");
	if (options->json && options->dump)
		return diag_set(diag, DIAG_USAGE, 0,
		                "info takes one of --json and --dump, not "
		                "both");
	return DIAG_OK;
}

/* Tell of one file, in JSON by an item of the array. */
static enum diag_status
tell(const struct options *options, const char *name, json_t **array,
     struct diag *diag)
{
	struct baked baked;
	enum diag_status status = input_baked(name, &baked, diag);

	if (!status && options->agent)
		status = keep_agent(name, options->agent, &baked, diag);
	if (status)
		return status;
	if (options->json) {
		cli_json_add(array, json_baked(name, &baked));
	} else if (options->dump) {
		status = dump_baked(stdout, &baked, diag);
		if (status)
			cli_set_file(diag, name);
	} else {
		print_text(name, &baked);
	}
	input_close_baked(&baked);
	return status;
}

static enum diag_status
run(const void *verb_options, int n, char **names, struct diag *diag)
{
	const struct options *options = verb_options;
	enum diag_status worst = check_usage(options, n, diag), status;
	json_t *array;

	if (worst)
		return worst;
	array = json_array();
	for (int i = 0; i < n; i++) {
		status = tell(options, names[i], &array, diag);
		if (status > worst)
			worst = status;
		if (status)
			cli_report(diag);
		else if (!options->json && i + 1 < n)
			printf("\n");
	}
	if (options->json) {
		status = print_json(array, n > 1, diag);
		worst = status > worst ? status : worst;
	}
	json_decref(array);
	return worst;
}

static const char *const usage[] = {
	"[--agent NAME] [--json | --dump] FILE...",
	NULL,
};

const struct cli_verb cmd_info = {
	.name = "info",
	.summary = "Tell what is in baked files",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
