/* report.c: JSON Lines: an object for each level, in the order of the batch.
 *
 * Its schema is documented in hpabake(1) and has a version in its name. Members
 * may be added to it; what changes its meaning gets another version. A level
 * that was not baked has no times of passes, and one that failed has no
 * counts. */
#include "src/cli/report.h"

#include "src/cli/json.h"

#define SCHEMA "hpabake-report-1"

const char *const report_outcome_names[REPORT_N_OUTCOMES] = {
	"baked",
	"unchanged",
	"skipped",
	"failed",
};

/* The functions below return NULL where there is no memory. */

static json_t *
json_levels(const struct bake_report *counts)
{
	json_t *array = json_array();

	for (uint32_t l = 0; l < counts->n_levels; l++) {
		const struct bake_level_report *level = &counts->levels[l];

		json_array_append_new(
			array,
			json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		                  "level", (json_int_t)l + 1, "cluster_size",
		                  (json_int_t)level->cluster_size, "clusters",
		                  (json_int_t)level->clusters, "nodes",
		                  (json_int_t)level->nodes, "inter_edges",
		                  (json_int_t)level->inter_edges, "intra_edges",
		                  (json_int_t)level->intra_edges,
		                  "stored_edges",
		                  (json_int_t)level->stored_edges));
	}
	return array;
}

static json_t *
json_times(const struct report_level *level)
{
	json_t *times = json_pack("{s:f, s:f}", "total", level->elapsed_ms,
	                          "read", level->read_ms);
	json_t *passes = json_object();

	if (level->outcome != REPORT_BAKED &&
	    level->outcome != REPORT_UNCHANGED) {
		json_decref(passes);
		return times;
	}
	for (unsigned pass = 0; pass < BAKE_N_PASSES; pass++)
		json_object_set_new(passes, bake_pass_names[pass],
		                    json_real(level->counts->pass_ms[pass]));
	json_object_set_new(times, "passes", passes);
	json_object_set_new(times, "write", json_real(level->write_ms));
	return times;
}

/* What is no error and yet likely to be one. */
static json_t *
json_warnings(const struct bake_report *counts)
{
	uint64_t n_cells = (uint64_t)counts->width * counts->height;
	json_t *array = json_array();

	if (counts->n_free_cells == 0)
		json_array_append_new(array, json_string("no cell is free"));
	if (counts->n_free_cells == n_cells)
		json_array_append_new(array, json_string("no cell is blocked"));
	return array;
}

static json_t *
json_error(const struct diag *diag)
{
	return json_pack("{s:i, s:o, s:I, s:o}", "exit_code", (int)diag->status,
	                 "file", cli_json_name(diag->file), "line",
	                 (json_int_t)diag->line, "text",
	                 cli_json_name(diag->text));
}

/* What is known of a level that did not fail. */
static json_t *
json_counts(const struct report_level *level)
{
	const struct bake_report *counts = level->counts;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
	                 "bytes", (json_int_t)level->n_bytes, "width",
	                 (json_int_t)counts->width, "height",
	                 (json_int_t)counts->height, "free_cells",
	                 (json_int_t)counts->n_free_cells, "components",
	                 (json_int_t)counts->n_components, "profiles",
	                 (json_int_t)counts->n_profiles, "levels",
	                 json_levels(counts), "time_ms", json_times(level),
	                 "warnings", json_warnings(counts));
}

static json_t *
json_level(const struct report_level *level)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:s?}", "schema", SCHEMA, "status",
		report_outcome_names[level->outcome], "file",
		cli_json_name(level->file), "name", cli_json_name(level->name),
		"output",
		level->output ? cli_json_name(level->output) : json_null(),
		"format", level->format);
	json_t *more = NULL;

	if (level->outcome != REPORT_FAILED)
		more = json_counts(level);
	else
		more = json_pack("{s:o}", "error", json_error(level->diag));
	if (!json || !more || json_object_update(json, more) != 0) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}

enum diag_status
report_add(FILE *to, const struct report_level *level, struct diag *diag)
{
	json_t *json = json_level(level);
	bool ok = json && json_dumpf(json, to, JSON_COMPACT) == 0 &&
	          fputc('\n', to) != EOF;

	json_decref(json);
	return ok ? DIAG_OK
	          : diag_set(diag, DIAG_FAILED, 0, "no memory for the report");
}
