/* cmd_path.c: ask a baked file for paths, by the means a game has: libhpa.
 *
 * A line per question, as the manual says. Lines are put together by hand and
 * written whole: a file of problems asks for millions of cells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpa.h"
#include "src/cli/cli.h"
#include "src/cli/draw.h"
#include "src/cli/file.h"
#include "src/cli/input.h"
#include "src/cli/route.h"

#define CELL_TEXT 12u /* "65535,65535 " */
#define HEAD_TEXT 96u /* all that stands before the cells */

struct options {
	const char *agent, *scen;
	struct cli_choice smooth;
	bool cells, draw;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "agent",
         .takes = "NAME",
         .what = "for the agent of that name; without it, the file's first",
         .offset = offsetof(struct options, agent)},
	{.kind = CLI_TEXT,
         .name = "scen",
         .takes = "FILE",
         .what = "answer all problems of a MovingAI .scen file",
         .offset = offsetof(struct options, scen)},
	{.kind = CLI_CHOICE,
         .name = "smooth",
         .takes = "MODE",
         .what = "how the path is shortened:",
         .offset = offsetof(struct options, smooth),
         .min = 1,
         .max = UINT16_MAX,
         .names = input_smoothing_names,
         .counted = "rays",
         .count_is_optional = true},
	{.kind = CLI_SWITCH,
         .name = "cells",
         .what = "print the cells of the path too",
         .offset = offsetof(struct options, cells)},
	{.kind = CLI_SWITCH,
         .name = "draw",
         .what = "draw the level and the path",
         .offset = offsetof(struct options, draw)},
	{.kind = CLI_END},
};

struct session {
	const char *name;
	const struct options *options;
	struct file_bytes bytes; /* of standard input; the map is in them */
	hpa_map *map;
	const hpa_map *profile; /* of the agent */
	hpa_query *query;
	struct route route;
	char *line;
	size_t line_size;
	struct diag *diag;
};

static const char *
status_word(hpa_status st)
{
	switch (st) {
	case HPA_OK:
		return "ok";
	case HPA_NO_PATH:
		return "no-path";
	case HPA_BLOCKED:
		return "blocked";
	case HPA_OUTSIDE:
		return "outside";
	default:
		return NULL;
	}
}

/* Room for the line that tells of the path. */
static bool
make_line(struct session *session)
{
	size_t size = HEAD_TEXT + session->route.n * CELL_TEXT;
	char *line;

	if (size <= session->line_size)
		return true;
	line = realloc(session->line, size);
	if (!line)
		return false;
	session->line = line;
	session->line_size = size;
	return true;
}

static char *
put_number(char *out, unsigned number)
{
	char digits[5];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (n)
		*out++ = digits[--n];
	return out;
}

static char *
put_cells(char *out, const hpa_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*out++ = i ? ' ' : '\t';
		out = put_number(out, cells[i].x);
		*out++ = ',';
		out = put_number(out, cells[i].y);
	}
	return out;
}

static enum diag_status
print_answer(struct session *session, size_t index, const char *word)
{
	char *end;

	if (!make_line(session))
		return input_refuse_baked(session->name, HPA_NO_MEMORY, NULL,
		                          session->diag);
	end = session->line;
	end += snprintf(end, HEAD_TEXT, "%zu\t%s\t%.6f\t%zu", index, word,
	                route_length(session->profile, &session->route),
	                session->route.n);
	if (session->options->cells)
		end = put_cells(end, session->route.cells, session->route.n);
	*end++ = '\n';
	errno = 0;
	if (fwrite(session->line, (size_t)(end - session->line), 1, stdout) !=
	    1)
		return cli_write_failed(session->diag);
	return DIAG_OK;
}

static enum diag_status
answer(struct session *session, size_t index,
       const struct scen_problem *problem)
{
	hpa_status st = HPA_OUTSIDE;
	enum diag_status status;
	hpa_cell from, to;
	bool from_fits = route_to_cell(problem->from_x, problem->from_y, &from);
	bool to_fits = route_to_cell(problem->to_x, problem->to_y, &to);
	const char *word;

	session->route.n = 0;
	if (from_fits && to_fits)
		st = route_find(session->query, from, to, &session->route);
	word = status_word(st);
	if (!word)
		return input_refuse_baked(session->name, st, NULL,
		                          session->diag);
	status = print_answer(session, index, word);
	if (!status && session->options->draw) {
		const hpa_cell nowhere = {UINT16_MAX, UINT16_MAX};
		const struct draw_scene scene = {
			session->profile,       from_fits ? from : nowhere,
			to_fits ? to : nowhere, session->route.cells,
			session->route.n,
		};
		const struct draw_style style = draw_style_of(stdout);

		status = draw_scene(stdout, &scene, &style, session->diag);
	}
	return status;
}

static enum diag_status
answer_scen(struct session *session)
{
	struct scen scen;
	enum diag_status status;
	hpa_facts facts;

	hpa_map_facts(session->map, &facts);
	status = input_scen(session->options->scen, facts.width, facts.height,
	                    &scen, session->diag);
	for (size_t i = 0; !status && i < scen.n_problems; i++)
		status = answer(session, i, &scen.problems[i]);
	scen_free(&scen);
	return status;
}

static enum diag_status
parse_problem(char **operands, struct scen_problem *out, struct diag *diag)
{
	static const char *const names[] = {"X1", "Y1", "X2", "Y2"};
	long numbers[4];

	for (size_t i = 0; i < 4; i++)
		if (!cli_parse_long(operands[i], &numbers[i]))
			return diag_set(diag, DIAG_USAGE, 0,
			                "%s takes a whole number, not '%s'",
			                names[i], operands[i]);
	*out = (struct scen_problem){
		.from_x = numbers[0],
		.from_y = numbers[1],
		.to_x = numbers[2],
		.to_y = numbers[3],
	};
	return DIAG_OK;
}

static enum diag_status
open_map(struct session *session)
{
	const char *detail = NULL;
	const hpa_open_options how = {.flags = HPA_COPY, .detail = &detail};
	enum diag_status status = DIAG_OK;
	hpa_status st = HPA_OK;

	/* Standard input has no name that libhpa could open. */
	if (!strcmp(session->name, FILE_STDIN)) {
		status = file_read(session->name, &session->bytes,
		                   session->diag);
		if (!status)
			st = hpa_map_open_memory(session->bytes.data,
			                         session->bytes.size, &how,
			                         &session->map);
	} else {
		st = hpa_map_open_with(session->name, &how, &session->map);
	}
	if (st != HPA_OK)
		status = input_refuse_baked(session->name, st, detail,
		                            session->diag);
	return status;
}

static enum diag_status
open_session(struct session *session)
{
	const struct options *options = session->options;
	enum diag_status status = open_map(session);
	hpa_status st;

	if (!status)
		status =
			input_agent(session->name, session->map, options->agent,
		                    &session->profile, session->diag);
	if (status)
		return status;
	st = hpa_query_new(session->profile, NULL, &session->query);
	if (st != HPA_OK)
		return input_refuse_baked(session->name, st, NULL,
		                          session->diag);
	hpa_query_set_smoothing(session->query,
	                        (hpa_smoothing)options->smooth.value,
	                        options->smooth.number);
	return DIAG_OK;
}

static void
close_session(struct session *session)
{
	free(session->line);
	free(session->route.cells);
	hpa_query_free(session->query);
	hpa_map_close(session->map);
	file_free(&session->bytes);
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (options->scen && n != 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "path --scen takes one FILE and nothing else");
	if (!options->scen && n != 5)
		return diag_set(diag, DIAG_USAGE, 0,
		                "path takes FILE X1 Y1 X2 Y2, or FILE and "
		                "--scen FILE");
	if (options->scen && options->draw)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--draw goes with one question, not with "
		                "--scen");
	return DIAG_OK;
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	const struct options *options = verb_options;
	struct session session = {.options = options, .diag = diag};
	struct scen_problem problem;
	enum diag_status status = check_usage(options, n, diag);

	if (!status && !options->scen)
		status = parse_problem(operands + 1, &problem, diag);
	if (status)
		return status;
	session.name = operands[0];
	status = open_session(&session);
	if (!status)
		status = options->scen ? answer_scen(&session)
		                       : answer(&session, 0, &problem);
	close_session(&session);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... FILE X1 Y1 X2 Y2",
	"[OPTION]... FILE --scen FILE",
	NULL,
};

const struct cli_verb cmd_path = {
	.name = "path",
	.summary = "Find paths in a baked file",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
