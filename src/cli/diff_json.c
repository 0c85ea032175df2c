/* diff_json.c: what a comparison found, for programs. */
#include <stdio.h>

#include "src/cli/json.h"
#include "src/cli/diff.h"

/* The functions below return NULL where there is no memory. */

static json_t *
json_sums(bool is_there, const struct describe_sums *sums)
{
	if (!is_there)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:f}", "bytes",
	                 (json_int_t)sums->bytes, "nodes",
	                 (json_int_t)sums->nodes, "edges",
	                 (json_int_t)sums->edges, "free_cells",
	                 (json_int_t)sums->free_cells, "bytes_per_free_cell",
	                 diff_bytes_per_cell(sums));
}

static json_t *
json_why(const struct diff_why *why)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < why->n; i++)
		describe_json_add(&array, cli_json_name(why->text[i]));
	return array;
}

static json_t *
json_cells(const struct diff_cells *cells)
{
	if (cells->n == 0)
		return json_pack("{s:i}", "cells", 0);
	return json_pack("{s:I, s:[I, I, I, I]}", "cells", (json_int_t)cells->n,
	                 "box", (json_int_t)cells->left, (json_int_t)cells->top,
	                 (json_int_t)cells->right, (json_int_t)cells->bottom);
}

static json_t *
json_event(const struct diff_event *event)
{
	json_t *pieces = json_array();

	for (uint32_t i = 0; i < event->n_pieces && i < DIFF_MAX_PIECES; i++) {
		const struct diff_region *piece = &event->pieces[i];

		describe_json_add(&pieces, json_pack("{s:I, s:[I, I]}", "cells",
		                                     (json_int_t)piece->n, "at",
		                                     (json_int_t)piece->x,
		                                     (json_int_t)piece->y));
	}
	return json_pack("{s:I, s:I, s:o}", "cells", (json_int_t)event->n,
	                 "n_pieces", (json_int_t)event->n_pieces, "pieces",
	                 pieces);
}

static json_t *
json_pairs(const struct diff_pairs *pairs)
{
	json_t *regions = json_array();

	for (uint32_t i = 0; i < pairs->n_events && i < DIFF_MAX_EVENTS; i++)
		describe_json_add(&regions, json_event(&pairs->events[i]));
	return json_pack("{s:I, s:I, s:o}", "pairs", (json_int_t)pairs->n_pairs,
	                 "n_regions", (json_int_t)pairs->n_events, "regions",
	                 regions);
}

static json_t *
json_profile(const struct diff_profile *profile)
{
	json_t *clusters = json_array();

	for (uint32_t i = 0; i < profile->n_listed; i++)
		describe_json_add(
			&clusters,
			json_pack("[I, I]", (json_int_t)profile->clusters[i][0],
		                  (json_int_t)profile->clusters[i][1]));
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}",
	                 "agent", profile->agent, "opened",
	                 json_cells(&profile->opened), "closed",
	                 json_cells(&profile->closed), "recosted",
	                 json_cells(&profile->recosted), "cluster_size",
	                 (json_int_t)profile->cluster_size, "n_clusters",
	                 (json_int_t)profile->n_clusters, "n_touched",
	                 (json_int_t)profile->n_touched, "touched", clusters,
	                 "lost", json_pairs(&profile->lost), "gained",
	                 json_pairs(&profile->gained));
}

/* null where levels of different sizes were not compared. */
static json_t *
json_level(const struct diff_level *level)
{
	json_t *profiles;

	if (!level->is_compared)
		return json_null();
	profiles = json_array();
	for (uint32_t p = 0; p < level->n_profiles; p++)
		describe_json_add(&profiles, json_profile(&level->profiles[p]));
	return json_pack("{s:o, s:I, s:I}", "agents", profiles, "links_gone",
	                 (json_int_t)level->n_links_gone, "links_added",
	                 (json_int_t)level->n_links_added);
}

static json_t *
json_row(const struct diff *diff, const struct diff_row *row)
{
	json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
	                         cli_json_name(row->name), "old",
	                         json_sums(row->in_old, &row->old), "new",
	                         json_sums(row->in_new, &row->new), "why",
	                         json_why(&row->why), "level",
	                         json_level(&row->level));

	if (json && diff->has_limit)
		json_object_set_new(json, "above_limit",
		                    json_boolean(row->is_above));
	return json;
}

enum diag_status
diff_print_json(const struct diff *diff, struct diag *diag)
{
	json_t *rows = json_array(), *json;
	enum diag_status status;

	for (size_t i = 0; i < diff->n_rows; i++)
		describe_json_add(&rows, json_row(diff, &diff->rows[i]));
	json = json_pack("{s:i, s:o, s:o, s:o, s:{s:o, s:o}, s:{s:o, s:o}}",
	                 "version", 1, "old", cli_json_name(diff->old),
	                 "new", cli_json_name(diff->new), "levels", rows,
	                 "on_both_sides", "old",
	                 json_sums(true, &diff->old_both), "new",
	                 json_sums(true, &diff->new_both), "total", "old",
	                 json_sums(true, &diff->old_sum), "new",
	                 json_sums(true, &diff->new_sum));
	status = describe_print_json(json, diag);
	json_decref(json);
	return status;
}
