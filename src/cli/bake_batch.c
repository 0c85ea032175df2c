/* bake_batch.c: the levels of a batch, side by side, and what there is to say
 * about each.
 *
 * A level that can't be baked does not stop the others; the worst status is that
 * of the batch. Several are baked at once (src/bake/batch.c); what is to be said
 * about each is kept with it and said in the order of the batch: how it was
 * read, its row of the table, its line of the report, its rule of the depfile,
 * its error.
 *
 * A level is read in any case, and then baked unless its output is up to date.
 *
 * A file may hold several levels: all of them are baked into a folder, or the
 * one that is picked into a file. As their names must not collide, which is
 * known only when they are read, such files are baked in their order. */
#include "src/cli/bake_batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/bake/batch.h"
#include "src/bake/clock.h"
#include "src/cli/depfile.h"
#include "src/cli/draw.h"
#include "src/cli/file.h"
#include "src/cli/input.h"
#include "src/cli/report.h"
#include "src/cli/text.h"
#include "src/cli/up_to_date.h"

/* So many failures are named in the last line. */
#define MAX_NAMED 8u

#define RED "\033[31m"
#define PLAIN "\033[0m"

/* A level, or a file of levels, and what there is to say about it. */
struct job {
	enum diag_status status;
	struct diag diag;
	enum report_outcome outcome;
	char *notes;     /* how it was read; NULL: nothing */
	bool is_several; /* a file of levels, still to be baked */
	char label[256]; /* what the table calls it */
	char name[LEVEL_NAME_SIZE];
	const char *format, *output;
	struct name_list inputs; /* the files it depends on */
	struct bake_report report;
	size_t n_bytes;
	uint64_t n_cells;
	double began, read_ms, write_ms, elapsed_ms;
};

struct batch {
	const struct bake_plan *plan;
	const struct batch_inputs *inputs;
	struct name_list more; /* outputs of files with several levels */
	uint64_t *weights;
	struct job *jobs; /* one for each input */
	int width;        /* of the table's first column */
	bool begun;       /* the table has its header */
	size_t counts[REPORT_N_OUTCOMES];
	struct name_list failed;
	struct progress progress;
	struct text report, rules; /* the report; the one depfile */
	enum diag_status worst;
};

/* What a level is called in the table and in the last line, where its name must
 * not begin a line of its own. */
static void
set_label(struct job *job, const char *file, const char *name)
{
	snprintf(job->label, sizeof(job->label), "%s%s%s", file,
	         *name ? ":" : "", name);
	for (char *c = job->label; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			*c = '?';
}

/* The table */

static int
name_width(const struct batch_inputs *inputs)
{
	size_t width = strlen("level");

	for (size_t i = 0; i < inputs->n; i++)
		if (strlen(inputs->list[i].label) > width)
			width = strlen(inputs->list[i].label);
	return (int)width;
}

static void
print_header(int width)
{
	printf("%-*s  %11s %9s %9s %10s %11s %11s\n", width, "level", "size",
	       "clusters", "nodes", "edges", "bytes", "time");
}

static void
print_row(int width, const struct job *job)
{
	const struct bake_report *report = &job->report;
	uint64_t edges = report->levels[0].inter_edges;
	char size[24], took[24];

	for (uint32_t l = 0; l < report->n_levels; l++)
		edges += report->levels[l].stored_edges;
	snprintf(size, sizeof(size), "%" PRIu32 "x%" PRIu32, report->width,
	         report->height);
	snprintf(took, sizeof(took), "%.1f ms", job->elapsed_ms);
	printf("%-*s  %11s %9" PRIu32 " %9" PRIu32 " %10" PRIu64
	       " %11zu %11s\n",
	       width, job->label, size, report->levels[0].clusters,
	       report->levels[0].nodes, edges, job->n_bytes,
	       job->outcome == REPORT_SKIPPED ? "skipped" : took);
}

static void
tell_row(struct batch *batch, const struct job *job)
{
	if (!batch->begun && (int)strlen(job->label) > batch->width)
		batch->width = (int)strlen(job->label);
	if (!batch->begun)
		print_header(batch->width);
	batch->begun = true;
	print_row(batch->width, job);
}

/* Baking */

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
	uint64_t max_bytes = batch->plan->max_bytes;

	out->memory = (struct bake_memory){
		.max_bytes = alone ? max_bytes : max_bytes / batch_threads(),
	};
	out->baking = *batch->plan->baking;
	out->reading = *batch->plan->reading;
	if (max_bytes == 0)
		return;
	out->baking.memory = &out->memory;
	out->reading.gate = (struct level_gate){admit, out};
}

/* Keep what level_describe() says for later. */
static void
take_notes(const struct batch *batch, struct job *job, const char *file,
           const struct level *level)
{
	size_t size;
	FILE *notes = open_memstream(&job->notes, &size);

	if (!notes)
		return;
	level_describe(notes, file, level, batch->plan->reading);
	fclose(notes);
}

static enum diag_status
write_output(const struct batch *batch, struct job *job,
             const struct bake_output *baked)
{
	const struct bake_plan *plan = batch->plan;
	double began = clock_ms();
	enum diag_status status = DIAG_OK;
	bool is_same = false;

	if (plan->folder)
		status = batch_inputs_make_way(job->output, plan->folder,
		                               &job->diag);
	if (!status && !strcmp(job->output, FILE_STDOUT))
		status = cli_write_stdout(baked->data, baked->size, &job->diag);
	else if (!status)
		status = file_replace(job->output, baked->data, baked->size,
		                      &is_same, &job->diag);
	job->outcome = is_same ? REPORT_UNCHANGED : REPORT_BAKED;
	job->n_bytes = baked->size;
	job->write_ms = clock_ms() - began;
	return status;
}

/* The files a job depends on: the level, those it names, those all need. */
static enum diag_status
list_inputs(const struct batch *batch, struct job *job, const char *file,
            struct name_list *opened)
{
	const struct name_list *all = &batch->plan->depended;
	bool ok = !strcmp(file, FILE_STDIN) ||
	          name_list_add(&job->inputs, strdup(file));

	for (size_t i = 0; ok && i < opened->n; i++)
		ok = name_list_add(&job->inputs, strdup(opened->names[i]));
	/* --options-from may name the output itself. */
	for (size_t i = 0; ok && i < all->n; i++)
		ok = !strcmp(all->names[i], job->output) ||
		     name_list_add(&job->inputs, strdup(all->names[i]));
	if (!ok)
		return diag_set(&job->diag, DIAG_FAILED, 0, "out of memory");
	for (size_t i = 0; i < job->inputs.n; i++)
		if (!depfile_can_name(job->inputs.names[i])) {
			cli_set_file(&job->diag, job->inputs.names[i]);
			return diag_set(&job->diag, DIAG_FAILED, 0,
			                "no depfile can name a file with a "
			                "line feed in its name");
		}
	return DIAG_OK;
}

static enum diag_status
write_depfile(const struct batch *batch, struct job *job)
{
	char *name = depfile_name(job->output);
	enum diag_status status = DIAG_FAILED;
	struct text text;

	if (!name)
		diag_set(&job->diag, DIAG_FAILED, 0, "out of memory");
	else
		status = text_begin(&text, &job->diag);
	if (!status) {
		depfile_rule(text.to, job->output, &job->inputs,
		             batch->plan->phony);
		status = text_end(&text, name, &job->diag);
	}
	free(name);
	return status;
}

/* A link of a text file that leads out of the level is wrong in its line there.
 * Of one from a baked file the baker says all that is known. */
static enum diag_status
check_links(const struct batch *batch, struct job *job,
            const struct level *level, const char *file)
{
	const struct bake_plan *plan = batch->plan;
	const struct bake_link *link =
		bake_stray_link(plan->baking, level->width, level->height);
	struct diag *diag = &job->diag;

	if (!link || !plan->links)
		return DIAG_OK;
	cli_set_file(diag, file);
	diag_set(diag, DIAG_BAD_INPUT, link->line,
	         "the link %u,%u to %u,%u leads out of the %" PRIu32
	         " x %" PRIu32 " cells of %s%s%s%s",
	         link->from_x, link->from_y, link->to_x, link->to_y,
	         level->width, level->height, diag->file,
	         *level->name ? ", level '" : "", level->name,
	         *level->name ? "'" : "");
	cli_set_file(diag, plan->links);
	return DIAG_BAD_INPUT;
}

/* Bake a level that was read, or find its output up to date; free it. */
static enum diag_status
bake_level(const struct batch *batch, const struct way *way, struct job *job,
           struct level *level, const char *file)
{
	struct bake_output baked = {NULL, 0};
	enum diag_status status;

	job->format = level->format;
	snprintf(job->name, sizeof(job->name), "%s", level->name);
	if (batch->plan->verbose)
		take_notes(batch, job, file, level);
	if (!batch->plan->force && up_to_date(job->output, level, &way->baking,
	                                      &job->report, &job->n_bytes)) {
		job->outcome = REPORT_SKIPPED;
		level_free(level);
		return DIAG_OK;
	}
	status = check_links(batch, job, level, file);
	if (status) {
		level_free(level);
		return status;
	}
	status = bake_run_last(level, &way->baking, &baked, &job->report,
	                       &job->diag);
	if (status)
		cli_set_file(&job->diag, file);
	else
		status = write_output(batch, job, &baked);
	free(baked.data);
	return status;
}

/* The same, with all that belongs to an output. */
static void
make_output(const struct batch *batch, const struct way *way, struct job *job,
            struct level *level, const char *file, struct name_list *opened)
{
	const struct bake_plan *plan = batch->plan;

	job->read_ms = clock_ms() - job->began;
	job->n_cells = (uint64_t)level->width * level->height;
	job->status = bake_level(batch, way, job, level, file);
	if (!job->status && (plan->depfiles || plan->depfile))
		job->status = list_inputs(batch, job, file, opened);
	if (!job->status && plan->depfiles && !plan->depfile)
		job->status = write_depfile(batch, job);
	job->elapsed_ms = clock_ms() - job->began;
}

/* Telling */

static void
note_failure(struct batch *batch, enum diag_status status, struct diag *diag)
{
	if (status > batch->worst)
		batch->worst = status;
	if (status)
		cli_report(diag);
}

static void
report_line(struct batch *batch, const struct job *job, const char *file)
{
	struct report_level level = {
		.outcome = job->outcome,
		.file = file,
		.output = job->output,
		.name = job->name,
		.format = job->format,
		.counts = &job->report,
		.n_bytes = job->n_bytes,
		.read_ms = job->read_ms,
		.write_ms = job->write_ms,
		.elapsed_ms = job->elapsed_ms,
		.diag = &job->diag,
	};
	struct diag diag = {.line = 0};

	note_failure(batch, report_add(batch->report.to, &level, &diag), &diag);
}

static void
tell_notes(const struct job *job)
{
	const struct bake_report *report = &job->report;

	fflush(stdout);
	fputs(job->notes, stderr);
	if (report->n_unlabelled > 0)
		fprintf(stderr,
		        "%s: no hub labels for %" PRIu32 " of %" PRIu32
		        " agents: they can use links\n",
		        job->label, report->n_unlabelled, report->n_profiles);
}

/* Say what there is to say about a level, and be done with it. */
static void
tell(struct batch *batch, struct job *job, const char *file)
{
	const struct bake_plan *plan = batch->plan;

	if (job->status)
		job->outcome = REPORT_FAILED;
	batch->counts[job->outcome]++;
	progress_hide(&batch->progress);
	if (job->notes)
		tell_notes(job);
	if (!job->status && !plan->quiet)
		tell_row(batch, job);
	if (job->status && batch->failed.n <= MAX_NAMED)
		name_list_add(&batch->failed, strdup(job->label));
	if (batch->report.to)
		report_line(batch, job, file);
	if (!job->status && batch->rules.to)
		depfile_rule(batch->rules.to, job->output, &job->inputs,
		             plan->phony);
	note_failure(batch, job->status, &job->diag);
	fflush(stdout);
	progress_show(&batch->progress);
	free(job->notes);
	name_list_free(&job->inputs);
}

static void
step(struct batch *batch, size_t index, const struct job *job)
{
	struct progress_level level = {
		.file = batch->inputs->list[index].file,
		.status = report_outcome_names[job->status ? REPORT_FAILED
	                                                   : job->outcome],
		.weight = batch->weights[index],
		.n_cells = job->n_cells,
	};

	progress_step(&batch->progress, &level);
}

/* Files of several levels */

/* Keep the output of one of several levels in mind, unless there is one of that
 * name; *name is NULL without memory. */
static enum diag_status
add_output(struct batch *batch, size_t index, char *name, struct diag *diag)
{
	const struct batch_input *list = batch->inputs->list;
	bool taken = false;

	if (!name_list_add(&batch->more, name))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	for (size_t i = 0; i < batch->inputs->n; i++)
		taken |= (i != index && list[i].output &&
		          !strcmp(list[i].output, name)) ||
		         batch_inputs_same_file(list[i].file, name);
	for (size_t i = 0; i + 1 < batch->more.n; i++)
		taken |= !strcmp(batch->more.names[i], name);
	if (!taken)
		return DIAG_OK;
	cli_set_file(diag, list[index].file);
	return diag_set(diag, DIAG_USAGE, 0,
	                "one of its levels would become '%s', which is another "
	                "level or its output; -d takes levels of different "
	                "names",
	                name);
}

/* Bake one of several levels of a file into the folder. One that could not be
 * read has an output all the same, so that what is said of the others does not
 * depend on it. */
static void
bake_one_of_several(struct batch *batch, const struct way *way, size_t index,
                    struct job *job, struct level *level,
                    struct name_list *opened)
{
	const struct batch_input *input = &batch->inputs->list[index];
	struct diag diag = {.line = 0};
	enum diag_status status = add_output(
		batch, index,
		batch_inputs_name_one(input, batch->plan->folder, level->name),
		&diag);

	set_label(job, input->label, level->name);
	snprintf(job->name, sizeof(job->name), "%s", level->name);
	if (!status)
		job->output = batch->more.names[batch->more.n - 1];
	if (!job->status) {
		job->status = status;
		job->diag = diag;
	}
	if (job->status)
		level_free(level);
	else
		make_output(batch, way, job, level, input->file, opened);
}

/* Bake all levels of a file, or the picked one, and tell about each. */
static void
bake_several(struct batch *batch, size_t index)
{
	const struct batch_input *input = &batch->inputs->list[index];
	bool picked = batch->plan->reading->pick != NULL;
	struct level_kept kept = {NULL, NULL};
	struct job total = {.status = DIAG_OK};
	uint32_t n_levels = 1;

	for (uint32_t i = 0; i < n_levels; i++) {
		struct job job = {.began = clock_ms()};
		struct name_list opened;
		struct level level;
		struct way way;

		choose_way(batch, true, &way);
		way.reading.kept = &kept;
		set_label(&job, input->label, "");
		job.status = input_level_noting(input->file, &way.reading, i,
		                                &level, &opened, &job.diag);
		if (level.n_in_file > 0) {
			n_levels = picked ? 1 : level.n_in_file;
			bake_one_of_several(batch, &way, index, &job, &level,
			                    &opened);
		}
		name_list_free(&opened);
		if (job.status > total.status)
			total.status = job.status;
		total.outcome = job.outcome;
		total.n_cells += job.n_cells;
		tell(batch, &job, input->file);
	}
	level_kept_free(&kept);
	step(batch, index, &total);
}

/* The batch */

/* Bake the one level of a file, or leave it for bake_several(). */
static void
bake_file(const struct batch *batch, const struct way *way,
          const struct batch_input *input, struct job *job)
{
	bool to_file = !batch->plan->folder;
	struct name_list opened;
	struct level level;

	job->status = input_level_noting(input->file, &way->reading, 0, &level,
	                                 &opened, &job->diag);
	/* Where the first one is broken there still are the others. */
	job->is_several = !to_file && level.n_in_file > 1;
	if (!job->status && to_file)
		job->status = input_check_single(input->file, &way->reading,
		                                 &level, &job->diag);
	if (job->is_several)
		level_free(&level);
	else if (!job->status)
		make_output(batch, way, job, &level, input->file, &opened);
	name_list_free(&opened);
}

/* false: it does not fit beside others. */
static bool
work(void *user, uint32_t index, bool alone)
{
	struct batch *batch = user;
	const struct batch_input *input = &batch->inputs->list[index];
	struct job *job = &batch->jobs[index];
	struct way way;

	free(job->notes);
	name_list_free(&job->inputs);
	*job = (struct job){.began = clock_ms(), .output = input->output};
	set_label(job, input->label, "");
	choose_way(batch, alone, &way);
	if (input->refusal) {
		job->diag = *input->refusal;
		job->status = job->diag.status;
	} else {
		bake_file(batch, &way, input, job);
	}
	if (!alone && way.memory.was_exceeded)
		return false;
	if (!job->is_several)
		step(batch, index, job);
	return true;
}

static void
finish(void *user, uint32_t index)
{
	struct batch *batch = user;
	struct job *job = &batch->jobs[index];

	if (job->is_several)
		bake_several(batch, index);
	else
		tell(batch, job, batch->inputs->list[index].file);
}

/* One line on stderr: how many, and which have failed. */
static void
print_summary(const struct batch *batch)
{
	const size_t *counts = batch->counts;
	bool colour = counts[REPORT_FAILED] > 0 && draw_style_of(stderr).colour;

	fflush(stdout);
	fprintf(stderr,
	        "hpabake: %zu baked, %zu unchanged, %zu skipped, %s%zu "
	        "failed%s",
	        counts[REPORT_BAKED], counts[REPORT_UNCHANGED],
	        counts[REPORT_SKIPPED], colour ? RED : "",
	        counts[REPORT_FAILED], colour ? PLAIN : "");
	for (size_t i = 0; i < batch->failed.n && i < MAX_NAMED; i++)
		fprintf(stderr, "%s %s", i ? "," : ":", batch->failed.names[i]);
	if (counts[REPORT_FAILED] > MAX_NAMED)
		fprintf(stderr, " and %zu more",
		        counts[REPORT_FAILED] - MAX_NAMED);
	fputc('\n', stderr);
	if (batch->plan->verbose && batch->inputs->n_passed > 0)
		fprintf(stderr,
		        "hpabake: %zu files with suffixes of levels are none\n",
		        batch->inputs->n_passed);
}

static bool
needs_summary(const struct batch *batch)
{
	size_t n = 0;

	for (size_t i = 0; i < REPORT_N_OUTCOMES; i++)
		n += batch->counts[i];
	return n > 1 && (!batch->plan->quiet || batch->counts[REPORT_FAILED]);
}

static uint64_t
weigh(struct batch *batch)
{
	size_t n = batch->inputs->n;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t weight =
			n > 1 ? file_weight(batch->inputs->list[i].file) : 0;

		batch->weights[i] = weight ? weight : 1;
		sum += batch->weights[i];
	}
	return sum;
}

/* Begin the files that are about all levels. */
static enum diag_status
begin(struct batch *batch, struct diag *diag)
{
	const struct bake_plan *plan = batch->plan;
	enum diag_status status = DIAG_OK;

	if (plan->report)
		status = text_begin(&batch->report, diag);
	if (!status && plan->depfile)
		status = text_begin(&batch->rules, diag);
	return status;
}

static void
end(struct batch *batch)
{
	struct diag diag = {.line = 0};

	if (batch->report.to)
		note_failure(
			batch,
			text_end(&batch->report, batch->plan->report, &diag),
			&diag);
	if (batch->rules.to)
		note_failure(
			batch,
			text_end(&batch->rules, batch->plan->depfile, &diag),
			&diag);
}

static bool
run_jobs(struct batch *batch)
{
	struct batch_jobs jobs = {.n = (uint32_t)batch->inputs->n,
	                          .weights = batch->weights,
	                          .work = work,
	                          .finish = finish,
	                          .user = batch};
	uint64_t weight = weigh(batch);
	bool ok;

	progress_begin(&batch->progress,
	               batch->plan->quiet &&
	                               batch->plan->progress == PROGRESS_AUTO
	                       ? PROGRESS_NONE
	                       : batch->plan->progress,
	               jobs.n, weight);
	batch_use_threads(batch->plan->baking->n_threads);
	file_begin_writing();
	ok = batch_run(&jobs);
	file_end_writing();
	progress_end(&batch->progress);
	return ok;
}

enum diag_status
bake_batch(const struct bake_plan *plan, const struct batch_inputs *inputs,
           struct diag *diag)
{
	struct batch batch = {
		.plan = plan, .inputs = inputs, .width = name_width(inputs)};
	enum diag_status status = begin(&batch, diag);

	batch.weights = calloc(inputs->n + 1, sizeof(*batch.weights));
	batch.jobs = calloc(inputs->n + 1, sizeof(*batch.jobs));
	if (!status && (!batch.weights || !batch.jobs || !run_jobs(&batch)))
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	end(&batch);
	if (needs_summary(&batch))
		print_summary(&batch);
	free(batch.weights);
	free(batch.jobs);
	name_list_free(&batch.more);
	name_list_free(&batch.failed);
	return status ? status : batch.worst;
}
