/* progress.c: a bar for people, JSON for machines.
 *
 * The bar is one line that is drawn over itself, at most so often a second, and
 * leaves the cursor at its begin: what is printed next writes over it. So there
 * is nothing to be cleaned up if the program is ended. Whoever prints to the
 * terminal hides it before.
 *
 * How many cells there are is not known before all levels are read; the time
 * that is left is told by the weights of their files (file.h).
 *
 * In JSON each step is an object on a line of its own:
 *
 *     {"schema": "hpabake-progress-1", "event": "level", ...}
 */
#include "src/cli/progress.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/bake/clock.h"
#include "src/cli/draw.h"
#include "src/cli/json.h"

#define SCHEMA "hpabake-progress-1"
#define MIN_BETWEEN_MS 50.0
#define BAR_WIDTH 24u
#define GREEN "\033[32m"
#define PLAIN "\033[0m"
#define ERASE "\r\033[K"

const struct bake_name progress_mode_names[] = {
	{"auto", PROGRESS_AUTO, "a bar if standard error is a terminal"},
	{"json", PROGRESS_JSON, "an object on a line for each step"},
	{"none", PROGRESS_NONE, "nothing"},
	{NULL, 0, NULL},
};

static double
cells_per_second(const struct progress *progress)
{
	double ms = clock_ms() - progress->began_ms;

	return ms > 0 ? (double)progress->n_cells * 1e3 / ms : 0;
}

/* Negative: not known yet. */
static double
seconds_left(const struct progress *progress)
{
	double ms = clock_ms() - progress->began_ms;
	double done = (double)progress->weight_done;

	if (progress->n_done == 0 || progress->weight_done == 0)
		return -1;
	return ms / 1e3 * ((double)progress->weight - done) / done;
}

/* The part of the work that is done, in 1/BAR_WIDTH. */
static unsigned
filled(const struct progress *progress)
{
	if (progress->n_done == progress->n_levels || progress->weight == 0)
		return progress->n_done == progress->n_levels ? BAR_WIDTH : 0;
	return (unsigned)((double)progress->weight_done /
	                  (double)progress->weight * BAR_WIDTH);
}

static void
draw(struct progress *progress)
{
	static const char full[] = "########################";
	static const char empty[] = "........................";
	unsigned n = filled(progress);
	double left = seconds_left(progress);
	char text[96], rest[32] = "";
	int room = (int)progress->columns - (int)BAR_WIDTH - 4;

	if (left >= 0)
		snprintf(rest, sizeof(rest), "  %.0f s left", left);
	snprintf(text, sizeof(text),
	         "%" PRIu32 "/%" PRIu32 " levels  %.1f Mcells  %.1f Mcells/s%s",
	         progress->n_done, progress->n_levels,
	         (double)progress->n_cells / 1e6,
	         cells_per_second(progress) / 1e6, rest);
	fprintf(stderr, ERASE "[%s%.*s%s%.*s] %.*s\r",
	        progress->has_colour ? GREEN : "", (int)n, full,
	        progress->has_colour ? PLAIN : "", (int)(BAR_WIDTH - n), empty,
	        room > 0 ? room : 0, text);
	fflush(stderr);
	progress->drawn_ms = clock_ms();
}

static void
print_json(json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	/* In one piece, as other lines may come between. */
	if (text)
		fprintf(stderr, "%s\n", text);
	free(text);
	json_decref(json);
}

static void
print_event(const char *event, const struct progress *progress)
{
	print_json(json_pack("{s:s, s:s, s:I, s:I, s:I}", "schema", SCHEMA,
	                     "event", event, "levels",
	                     (json_int_t)progress->n_levels, "done",
	                     (json_int_t)progress->n_done, "cells",
	                     (json_int_t)progress->n_cells));
}

static void
print_level(const struct progress *progress, const struct progress_level *level)
{
	double left = seconds_left(progress);

	print_json(json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:s, s:f, s:o}",
	                     "schema", SCHEMA, "event", "level", "levels",
	                     (json_int_t)progress->n_levels, "done",
	                     (json_int_t)progress->n_done, "cells",
	                     (json_int_t)progress->n_cells, "file",
	                     cli_json_name(level->file), "status",
	                     level->status, "cells_per_second",
	                     cells_per_second(progress), "seconds_left",
	                     left >= 0 ? json_real(left) : json_null()));
}

static bool
is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

void
progress_begin(struct progress *progress, enum progress_mode mode,
               uint32_t n_levels, uint64_t weight)
{
	struct draw_style style = draw_style_of(stderr);

	*progress = (struct progress){
		.has_bar = mode == PROGRESS_AUTO && isatty(STDERR_FILENO) &&
	                   !is_dumb(),
		.has_colour = style.colour,
		.is_json = mode == PROGRESS_JSON,
		.columns = style.columns,
		.n_levels = n_levels,
		.weight = weight,
		.began_ms = clock_ms(),
	};
	pthread_mutex_init(&progress->lock, NULL);
	if (progress->is_json)
		print_event("begin", progress);
	if (progress->has_bar)
		draw(progress);
}

void
progress_step(struct progress *progress, const struct progress_level *level)
{
	pthread_mutex_lock(&progress->lock);
	progress->n_done++;
	progress->n_cells += level->n_cells;
	progress->weight_done += level->weight;
	if (progress->is_json)
		print_level(progress, level);
	if (progress->has_bar && !progress->is_hidden &&
	    clock_ms() - progress->drawn_ms >= MIN_BETWEEN_MS)
		draw(progress);
	pthread_mutex_unlock(&progress->lock);
}

void
progress_hide(struct progress *progress)
{
	pthread_mutex_lock(&progress->lock);
	progress->is_hidden = true;
	if (progress->has_bar)
		fputs(ERASE, stderr);
	pthread_mutex_unlock(&progress->lock);
}

void
progress_show(struct progress *progress)
{
	pthread_mutex_lock(&progress->lock);
	progress->is_hidden = false;
	if (progress->has_bar && progress->n_done < progress->n_levels)
		draw(progress);
	pthread_mutex_unlock(&progress->lock);
}

void
progress_end(struct progress *progress)
{
	if (progress->has_bar)
		fputs(ERASE, stderr);
	if (progress->is_json)
		print_event("end", progress);
	pthread_mutex_destroy(&progress->lock);
}
