/* input.c: read what verbs take from files, and name the file in what is wrong
 * with it. */
#include "src/cli/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/bake/batch.h"
#include "src/cli/cli.h"
#include "src/cli/level_options.h"

enum diag_status
input_level_noting(const char *name, const struct level_options *options,
                   uint32_t index, struct level *out, struct name_list *opened,
                   struct diag *diag)
{
	struct level_options how = *options;
	struct level_files files = {.level = name};
	struct file_bytes bytes;
	enum diag_status status = file_map(name, &bytes, diag);

	*out = (struct level){0};
	if (opened)
		*opened = (struct name_list){0, NULL};
	if (status)
		return status;
	how.index = index;
	how.workers = &batch_workers;
	how.loader = level_files_loader(&files);
	status = level_read(name, bytes.data, bytes.size, &how, out, diag);
	if (status)
		cli_set_file(diag, name);
	if (opened) {
		*opened = files.names;
		files.names = (struct name_list){0, NULL};
	}
	level_files_free(&files);
	file_free(&bytes);
	return status;
}

enum diag_status
input_level(const char *name, const struct level_options *options,
            uint32_t index, struct level *out, struct diag *diag)
{
	return input_level_noting(name, options, index, out, NULL, diag);
}

enum diag_status
input_check_single(const char *name, const struct level_options *options,
                   struct level *level, struct diag *diag)
{
	if (level->n_in_file <= 1 || options->pick)
		return DIAG_OK;
	diag_set(diag, DIAG_USAGE, 0,
	         "file has %lu levels, the first is '%s'; --pick NAME takes "
	         "one of them",
	         (unsigned long)level->n_in_file, level->name);
	cli_set_file(diag, name);
	level_free(level);
	return DIAG_USAGE;
}

enum diag_status
input_one_level(const char *name, const struct level_options *options,
                struct level *out, struct diag *diag)
{
	enum diag_status status = input_level(name, options, 0, out, diag);

	return status ? status : input_check_single(name, options, out, diag);
}

static enum diag_status
check_scen(const struct scen *scen, uint32_t width, uint32_t height,
           struct diag *diag)
{
	for (size_t i = 0; i < scen->n_problems; i++) {
		const struct scen_problem *problem = &scen->problems[i];

		if ((problem->width && problem->width != (long)width) ||
		    (problem->height && problem->height != (long)height))
			return diag_set(diag, DIAG_BAD_INPUT, 0,
			                "problem %zu is for a level of "
			                "%ld x %ld cells, this one has "
			                "%u x %u",
			                i, problem->width, problem->height,
			                (unsigned)width, (unsigned)height);
	}
	return DIAG_OK;
}

enum diag_status
input_scen(const char *name, uint32_t width, uint32_t height, struct scen *out,
           struct diag *diag)
{
	struct file_bytes bytes;
	enum diag_status status = file_read(name, &bytes, diag);

	*out = (struct scen){0};
	if (status)
		return status;
	status = scen_read(bytes.data, bytes.size, out, diag);
	if (!status) {
		status = check_scen(out, width, height, diag);
		if (status)
			scen_free(out);
	}
	if (status)
		cli_set_file(diag, name);
	file_free(&bytes);
	return status;
}

const struct bake_name input_smoothing_names[] = {
	{"none", HPA_SMOOTH_NONE, "leave it as the abstraction says"},
	{"rays", HPA_SMOOTH_RAYS,
         "replace stretches by one line of at most K cells (16)"},
	{"shortcuts", HPA_SMOOTH_SHORTCUTS,
         "replace stretches by a diagonal and a straight line"},
	{"corridor", HPA_SMOOTH_CORRIDOR,
         "search the clusters of the path and those around them"},
	{NULL, 0, NULL},
};

enum diag_status
input_refuse_baked(const char *name, hpa_status status, const char *detail,
                   struct diag *diag)
{
	int error = errno;

	cli_set_file(diag, name);
	if (status == HPA_IO)
		return diag_set(diag, DIAG_FAILED, 0, "%s", strerror(error));
	if (status == HPA_NO_MEMORY)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return diag_set(diag, DIAG_BAD_INPUT, 0, "%s%s%s",
	                hpa_status_text(status), detail ? ": " : "",
	                detail ? detail : "");
}

static hpa_status
view_profiles(struct baked *baked, const char **detail)
{
	const struct hpa_view *views[HPA_MAX_PROFILES];
	hpa_status st = HPA_OK;

	baked->n_profiles = hpa_file_profiles(&baked->file);
	for (uint32_t p = 0; p < baked->n_profiles && st == HPA_OK; p++) {
		views[p] = &baked->views[p];
		st = hpa_view_init(&baked->file, p, &baked->views[p], detail);
	}
	return st == HPA_OK ? hpa_view_check(views, baked->n_profiles, detail)
	                    : st;
}

static hpa_status
check_content(struct baked *baked, const char **detail)
{
	uint8_t *room = malloc(hpa_file_content_room(&baked->file) + 1);
	hpa_status st = HPA_NO_MEMORY;

	if (room)
		st = hpa_file_check_content(&baked->file, room, detail);
	free(room);
	return st;
}

static hpa_status
look_inside(struct baked *baked, const char **detail)
{
	hpa_status st = hpa_file_read(baked->bytes.data, baked->bytes.size,
	                              true, &baked->file, detail);

	if (st != HPA_OK)
		return st;
	if (baked->file.inflated_size > SIZE_MAX - 1)
		return HPA_NO_MEMORY;
	baked->inflated = malloc((size_t)baked->file.inflated_size + 1);
	if (!baked->inflated)
		return HPA_NO_MEMORY;
	st = hpa_file_inflate(&baked->file, baked->inflated, detail);
	if (st == HPA_OK)
		st = check_content(baked, detail);
	return st == HPA_OK ? view_profiles(baked, detail) : st;
}

enum diag_status
input_baked(const char *name, struct baked *out, struct diag *diag)
{
	const char *detail = NULL;
	enum diag_status status;
	char text[128];
	hpa_status st;

	*out = (struct baked){.inflated = NULL};
	status = file_read(name, &out->bytes, diag);
	if (status)
		return status;
	st = look_inside(out, &detail);
	if (st == HPA_OK)
		return DIAG_OK;
	if (detail && out->file.culprit[0]) {
		snprintf(text, sizeof(text), "%s (%s)", detail,
		         out->file.culprit);
		detail = text;
	}
	input_close_baked(out);
	return input_refuse_baked(name, st, detail, diag);
}

void
input_close_baked(struct baked *baked)
{
	free(baked->inflated);
	baked->inflated = NULL;
	file_free(&baked->bytes);
}

enum diag_status
input_agent(const char *name, const hpa_map *map, const char *agent,
            const hpa_map **out, struct diag *diag)
{
	char known[256] = "";
	size_t used = 0;
	hpa_facts facts;

	*out = agent ? hpa_map_agent(map, agent) : map;
	if (*out)
		return DIAG_OK;
	hpa_map_facts(map, &facts);
	for (uint32_t p = 0; p < facts.n_profiles && used < sizeof(known); p++) {
		hpa_map_facts(hpa_map_profile(map, p), &facts);
		used += (size_t)snprintf(known + used, sizeof(known) - used,
		                         "%s%s", p ? ", " : "", facts.agent);
	}
	return input_refuse_agent(name, known, agent, diag);
}

enum diag_status
input_refuse_agent(const char *name, const char *known, const char *agent,
                   struct diag *diag)
{
	cli_set_file(diag, name);
	return diag_set(diag, DIAG_USAGE, 0,
	                "--agent takes one of the file's agents (%s), not '%s'",
	                known[0] ? known : "it names none", agent);
}

enum diag_status
input_links(const char *name, struct bake_link **out, uint32_t *n,
            struct diag *diag)
{
	struct file_bytes bytes;
	enum diag_status status = file_read(name, &bytes, diag);

	*out = NULL;
	*n = 0;
	if (status)
		return status;
	status = bake_links_read(bytes.data, bytes.size, out, n, diag);
	if (status)
		cli_set_file(diag, name);
	file_free(&bytes);
	return status;
}
