/* cmd_verify.c: is a baked file right?
 *
 * Three questions. Is it sound: all checks of the format, and the runtime opens
 * it. Is it the level: the same
 * cells, and baking the level again with the options in the file gives the same
 * content. Are its answers right: every problem of a .scen is answered by the
 * runtime and judged by the oracle, a plain Dijkstra on the grid that shares no
 * code with either. Without --level the level is what the file itself holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hpa_write.h"
#include "hpa.h"
#include "src/cli/cli.h"
#include "src/cli/input.h"
#include "src/cli/level_options.h"
#include "src/cli/oracle.h"
#include "src/cli/route.h"
#include "src/cli/stored.h"

#define MAX_COMPLAINTS 5u

struct options {
	const char *agent, *level, *scen;
	struct level_arguments reading;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "agent",
         .takes = "NAME",
         .what = "check the answers for the agent of that name; without it, "
                 "the file's first",
         .offset = offsetof(struct options, agent)},
	{.kind = CLI_TEXT,
         .name = "level",
         .takes = "LEVEL",
         .what = "compare with the level it was baked from",
         .offset = offsetof(struct options, level)},
	{.kind = CLI_TEXT,
         .name = "scen",
         .takes = "FILE",
         .what = "check the answers to all problems of a MovingAI .scen file",
         .offset = offsetof(struct options, scen)},
	LEVEL_OPTION_ROWS(struct options, reading),
	{.kind = CLI_END},
};

/* What the checks of the answers work with, and what they found. */
struct trial {
	const char *scen_name;
	const struct level *level;
	const hpa_map *map;
	hpa_query *query;
	struct oracle *oracle;
	struct route route;
	struct diag *diag;

	size_t n_problems, n_reachable, n_unreachable, n_blocked, n_outside;
	size_t n_wrong;
	double sum_excess, max_excess; /* parts of the optimum */
};

static bool
is_inside(const struct level *level, long x, long y)
{
	return x >= 0 && x < (long)level->width && y >= 0 &&
	       y < (long)level->height;
}

/* What the runtime has to answer, by the level alone. */
static hpa_status
expected_status(struct trial *trial, const struct scen_problem *p)
{
	const struct level *level = trial->level;

	if (!is_inside(level, p->from_x, p->from_y) ||
	    !is_inside(level, p->to_x, p->to_y))
		return HPA_OUTSIDE;
	if (!oracle_is_free(trial->oracle, p->from_x, p->from_y) ||
	    !oracle_is_free(trial->oracle, p->to_x, p->to_y))
		return HPA_BLOCKED;
	if (!oracle_connected(trial->oracle, (uint32_t)p->from_x,
	                      (uint32_t)p->from_y, (uint32_t)p->to_x,
	                      (uint32_t)p->to_y))
		return HPA_NO_PATH;
	return HPA_OK;
}

/* Count a wrong answer, and tell about it if it is among the first. */
#define COMPLAIN(trial, index, ...)                                            \
	do {                                                                   \
		char why_[256];                                                \
		snprintf(why_, sizeof(why_), __VA_ARGS__);                     \
		complain(trial, index, why_);                                  \
	} while (0)

static void
complain(struct trial *trial, size_t index, const char *why)
{
	if (trial->n_wrong++ >= MAX_COMPLAINTS)
		return;
	cli_set_file(trial->diag, trial->scen_name);
	diag_set(trial->diag, DIAG_CHECK, 0, "problem %zu: %s", index, why);
	cli_report(trial->diag);
}

/* What a path costs, as far as its cells tell. */
struct range {
	uint64_t least, most;
};

/* Does the path lead from start to goal by legal steps? *cost is their sum. */
static bool
path_is_legal(const struct trial *trial, hpa_cell from, hpa_cell to,
              struct range *cost)
{
	const hpa_cell *cells = trial->route.cells;
	size_t n = trial->route.n;

	*cost = (struct range){0, 0};
	if (n == 0 || cells[0].x != from.x || cells[0].y != from.y ||
	    cells[n - 1].x != to.x || cells[n - 1].y != to.y)
		return false;
	for (size_t i = 1; i < n; i++) {
		struct range step;

		if (!oracle_step_costs(trial->oracle, cells[i - 1].x,
		                       cells[i - 1].y, cells[i].x, cells[i].y,
		                       &step.least, &step.most))
			return false;
		cost->least += step.least;
		cost->most += step.most;
	}
	return true;
}

/* The smoothed path is legal too, and costs between the least and what the
 * other one does. */
static void
judge_smoothed(struct trial *trial, size_t index, hpa_cell from, hpa_cell to,
               uint64_t least, uint64_t most)
{
	struct range cost;
	hpa_status st;

	hpa_query_set_smoothing(trial->query, HPA_SMOOTH_SHORTCUTS, 0);
	st = route_find(trial->query, from, to, &trial->route);
	hpa_query_set_smoothing(trial->query, HPA_SMOOTH_NONE, 0);
	if (st != HPA_OK || !path_is_legal(trial, from, to, &cost))
		COMPLAIN(trial, index, "the smoothed path is not legal");
	else if (cost.most < least || cost.least > most)
		COMPLAIN(trial, index,
		         "the smoothed path costs %" PRIu64
		         ", not %" PRIu64 " to %" PRIu64,
		         cost.least, least, most);
}

/* A path was found, as it should be: judge it. */
static void
judge_path(struct trial *trial, size_t index, hpa_cell from, hpa_cell to)
{
	struct range cost;
	uint64_t optimum, stated = 0;
	double excess;

	if (!path_is_legal(trial, from, to, &cost)) {
		COMPLAIN(trial, index, "the path is not legal");
		return;
	}
	if (hpa_query_cost(trial->query, from, to, &stated) != HPA_OK ||
	    stated < cost.least || stated > cost.most) {
		COMPLAIN(trial, index,
		         "the path costs %" PRIu64 ", the query says %" PRIu64,
		         cost.least, stated);
		return;
	}
	optimum = oracle_cost(trial->oracle, from.x, from.y, to.x, to.y);
	if (stated < optimum) {
		COMPLAIN(trial, index,
		         "the path costs %" PRIu64 ", less than the least, "
		         "%" PRIu64,
		         stated, optimum);
		return;
	}
	judge_smoothed(trial, index, from, to, optimum, stated);
	excess = optimum ? (double)(stated - optimum) / (double)optimum : 0;
	trial->sum_excess += excess;
	if (excess > trial->max_excess)
		trial->max_excess = excess;
}

/* DIAG_FAILED where the question could not be asked. */
static enum diag_status
judge_problem(struct trial *trial, size_t index, const struct scen_problem *p)
{
	hpa_status expected = expected_status(trial, p), st, reachable;
	hpa_cell from = {(uint16_t)p->from_x, (uint16_t)p->from_y};
	hpa_cell to = {(uint16_t)p->to_x, (uint16_t)p->to_y};

	trial->n_reachable += expected == HPA_OK;
	trial->n_unreachable += expected == HPA_NO_PATH;
	trial->n_blocked += expected == HPA_BLOCKED;
	trial->n_outside += expected == HPA_OUTSIDE;
	if (expected == HPA_OUTSIDE &&
	    (p->from_x != from.x || p->from_y != from.y || p->to_x != to.x ||
	     p->to_y != to.y))
		return DIAG_OK; /* more than the runtime can be asked */
	st = route_find(trial->query, from, to, &trial->route);
	reachable = hpa_map_reachable(trial->map, from, to);
	if (st == HPA_NO_MEMORY)
		return diag_set(trial->diag, DIAG_FAILED, 0, "out of memory");
	if (st != expected || reachable != expected)
		COMPLAIN(trial, index,
		         "the answers are \"%s\" and, without a search, "
		         "\"%s\"; right is \"%s\"",
		         hpa_status_text(st), hpa_status_text(reachable),
		         hpa_status_text(expected));
	else if (st == HPA_OK)
		judge_path(trial, index, from, to);
	return DIAG_OK;
}

static void
print_findings(const struct trial *trial)
{
	size_t n = trial->n_reachable ? trial->n_reachable : 1;

	printf("problems     %10zu\n"
	       "reachable    %10zu\n"
	       "unreachable  %10zu\n"
	       "blocked      %10zu\n"
	       "outside      %10zu\n"
	       "wrong        %10zu\n"
	       "excess mean  %10.4f %%\n"
	       "excess max   %10.4f %%\n",
	       trial->n_problems, trial->n_reachable, trial->n_unreachable,
	       trial->n_blocked, trial->n_outside, trial->n_wrong,
	       100 * trial->sum_excess / (double)n, 100 * trial->max_excess);
}

static enum diag_status
judge_all(struct trial *trial, const struct scen *scen)
{
	enum diag_status status = DIAG_OK;

	for (size_t i = 0; !status && i < scen->n_problems; i++)
		status = judge_problem(trial, i, &scen->problems[i]);
	if (status)
		return status;
	trial->n_problems = scen->n_problems;
	print_findings(trial);
	if (trial->n_wrong == 0)
		return DIAG_OK;
	cli_set_file(trial->diag, trial->scen_name);
	return diag_set(trial->diag, DIAG_CHECK, 0,
	                "%zu of %zu answers are wrong", trial->n_wrong,
	                trial->n_problems);
}

/* The links of a file, as the oracle takes them. Free *out with free(). */
static bool
oracle_links(const hpa_map *map, struct oracle_link **out, uint32_t *n)
{
	hpa_facts facts;
	hpa_link link;

	hpa_map_facts(map, &facts);
	*n = facts.n_links;
	*out = calloc((size_t)facts.n_links + 1, sizeof(**out));
	for (uint32_t i = 0; *out && hpa_map_link(map, i, &link); i++)
		(*out)[i] = (struct oracle_link){
			link.from.x, link.from.y, link.to.x,
			link.to.y,   link.cost,   link.is_one_way != 0};
	return *out != NULL;
}

/* Where an agent can stand, as the file has it. NULL without memory. */
static bool *
free_cells(const hpa_map *map, const struct level *level)
{
	bool *out = calloc((size_t)level->width * level->height, sizeof(*out));
	bool *is_free = out;

	for (uint32_t y = 0; out && y < level->height; y++)
		for (uint32_t x = 0; x < level->width; x++) {
			hpa_cell cell = {(uint16_t)x, (uint16_t)y};

			*is_free++ = hpa_map_is_free(map, cell) != 0;
		}
	return out;
}

/* An oracle that moves as the agent of a profile does. */
static struct oracle *
make_oracle(const struct hpa_view *view, const struct level *level,
            bool is_own, const hpa_map *map, struct diag *diag)
{
	struct bake_agent agent = {.size = view->agent_size};
	bool may_enter[TERRAIN_MAX_CLASSES];
	struct oracle_rules rules = {
		.moves = view->moves,
		.size = view->agent_size,
		.may_enter = may_enter,
		.is_weighted = (view->flags & HPA_FACT_FLAG_WEIGHTED) != 0,
	};
	bool is_as_in_file = is_own && view->agent[0];
	bool *is_free = NULL;
	struct oracle_link *links = NULL;
	struct oracle *oracle = NULL;

	memcpy(agent.name, view->agent, sizeof(agent.name));
	memcpy(agent.terrain, view->agent_terrain, sizeof(agent.terrain));
	/* The file's own level does not tell why an agent can't enter a cell:
	 * where nothing is weighted it has no classes. */
	if (is_as_in_file)
		is_free = free_cells(map, level);
	else if (bake_agent_classes(&agent, &level->terrain, may_enter, diag))
		return NULL;
	rules.is_free = is_free;
	if ((is_free || !is_as_in_file) &&
	    oracle_links(map, &links, &rules.n_links)) {
		rules.links = links;
		oracle = oracle_new_with(level, &rules);
	}
	free(links);
	free(is_free);
	if (!oracle)
		diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return oracle;
}

static enum diag_status
check_answers(const char *scen_name, const struct level *level, bool is_own,
              const hpa_map *map, const struct hpa_view *view,
              struct diag *diag)
{
	struct trial trial = {.scen_name = scen_name,
	                      .level = level,
	                      .map = map,
	                      .diag = diag};
	struct scen scen;
	enum diag_status status = input_scen(scen_name, level->width,
	                                     level->height, &scen, diag);

	if (status)
		return status;
	trial.oracle = make_oracle(view, level, is_own, map, diag);
	if (!trial.oracle)
		status = diag->status;
	else if (hpa_query_new(map, NULL, &trial.query) != HPA_OK)
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	if (!status) {
		hpa_query_set_smoothing(trial.query, HPA_SMOOTH_NONE, 0);
		status = judge_all(&trial, &scen);
	}
	hpa_query_free(trial.query);
	free(trial.route.cells);
	oracle_free(trial.oracle);
	scen_free(&scen);
	return status;
}

static enum diag_status
compare_hash(const char *what, uint64_t stored, uint64_t found,
             struct diag *diag)
{
	if (stored == found)
		return DIAG_OK;
	return diag_set(diag, DIAG_CHECK, 0,
	                "its %s hash is %016" PRIx64 ", baking the level again "
	                "gives %016" PRIx64,
	                what, stored, found);
}

static enum diag_status
check_content(const struct baked *baked, const struct level *level,
              struct diag *diag)
{
	const struct hpa_file *file = &baked->file;
	struct stored_extras extras = {.links = NULL};
	struct bake_options options;
	struct bake_output out;
	struct hpa_file again;
	const char *detail = NULL;
	enum diag_status status;

	if (!stored_extras(baked, &extras))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	options = stored_options(baked, &extras);
	options.compress = HPA_COMPRESS_NONE; /* the hashes are the same */
	status = bake_run(level, &options, &out, NULL, diag);
	free(extras.links);
	if (status)
		return status;
	if (hpa_file_read(out.data, out.size, false, &again, &detail) != HPA_OK)
		status = diag_set(diag, DIAG_FAILED, 0,
		                  "what was baked again can't be read: %s",
		                  detail);
	if (!status)
		status = compare_hash("source", file->source_hash,
		                      again.source_hash, diag);
	if (!status)
		status = compare_hash("options", file->options_hash,
		                      again.options_hash, diag);
	if (!status)
		status = compare_hash("content", file->content_hash,
		                      again.content_hash, diag);
	free(out.data);
	return status;
}

static enum diag_status
check_size(const hpa_map *map, const struct level *level, struct diag *diag)
{
	hpa_facts facts;

	hpa_map_facts(map, &facts);
	if (facts.width == level->width && facts.height == level->height)
		return DIAG_OK;
	return diag_set(diag, DIAG_CHECK, 0,
	                "it has %" PRIu32 " x %" PRIu32
	                " cells, the level %" PRIu32 " x %" PRIu32,
	                facts.width, facts.height, level->width, level->height);
}

/* Where the agent can stand here, it can in the level, and the other way. */
static enum diag_status
check_cells(const hpa_map *map, const struct level *level,
            const struct oracle *oracle, struct diag *diag)
{
	for (uint32_t y = 0; y < level->height; y++)
		for (uint32_t x = 0; x < level->width; x++) {
			hpa_cell cell = {(uint16_t)x, (uint16_t)y};
			bool here = hpa_map_is_free(map, cell) != 0;

			if (here != oracle_is_free(oracle, x, y))
				return diag_set(
					diag, DIAG_CHECK, 0,
					"cell %" PRIu32 ",%" PRIu32
					" is %s here, %s in the level",
					x, y, here ? "free" : "blocked",
					here ? "blocked" : "free");
		}
	return DIAG_OK;
}

/* The class of a cell in a file, as its terrain says. */
static uint8_t
stored_class(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << view->class_log2;
	unsigned byte = view->cell_classes[y * view->class_stride + bit / 8];

	return (uint8_t)(byte >> bit % 8 &
	                 ((1u << (1u << view->class_log2)) - 1));
}

static void
set_stored_classes(const struct hpa_view *view, struct level *level)
{
	level->terrain.n = view->n_classes;
	for (uint32_t i = 0; i < view->n_classes; i++) {
		const uint8_t *record =
			view->classes + (size_t)i * HPA_CLASS_SIZE;
		struct terrain_class *class = &level->terrain.classes[i];

		memcpy(class->name, record + HPA_CLASS_NAME,
		       sizeof(class->name) - 1);
		class->factor =
			(uint8_t)hpa_get_le32(record + HPA_CLASS_FACTOR);
		class->only_if_named = false;
	}
}

/* The level that the file itself holds, as the profile's agent sees it. */
static enum diag_status
level_of(const hpa_map *map, const struct hpa_view *view, struct level *out,
         struct diag *diag)
{
	enum diag_status status =
		level_new(view->width, view->height, NULL, out, diag);

	if (status)
		return status;
	if (view->n_classes > 0)
		set_stored_classes(view, out);
	for (uint32_t y = 0; y < view->height; y++)
		for (uint32_t x = 0; x < view->width; x++) {
			hpa_cell cell = {(uint16_t)x, (uint16_t)y};
			uint8_t *class = &out->cells[(size_t)y * view->width + x];

			if (view->n_classes > 0)
				*class = stored_class(view, x, y);
			else
				*class = hpa_map_is_free(map, cell) != 0;
		}
	return DIAG_OK;
}

/* Is the level, as the agent sees it, what the file holds? */
static enum diag_status
check_level(const struct baked *baked, const hpa_map *map,
            const struct hpa_view *view, const struct level *level,
            bool is_own, struct diag *diag)
{
	enum diag_status status = check_size(map, level, diag);
	struct oracle *oracle;

	if (status)
		return status;
	oracle = make_oracle(view, level, is_own, map, diag);
	if (!oracle)
		return diag->status;
	status = check_cells(map, level, oracle, diag);
	oracle_free(oracle);
	if (!status)
		status = check_content(baked, level, diag);
	return status;
}

static enum diag_status
read_level(const struct options *options, struct level *out, struct diag *diag)
{
	struct level_source source;
	enum diag_status status =
		level_source_open(&options->reading, &source, diag);

	*out = (struct level){0};
	if (!status)
		status = input_one_level(options->level, &source.options, out,
		                         diag);
	/* Its classes are copied into the level. */
	level_source_close(&source);
	return status;
}

static enum diag_status
check_all(const char *name, const struct options *options,
          const struct baked *baked, const hpa_map *map, struct diag *diag)
{
	hpa_facts facts;
	const struct hpa_view *view;
	struct level level = {0};
	enum diag_status status;
	bool is_own = !options->level;

	hpa_map_facts(map, &facts);
	view = &baked->views[facts.profile];
	status = is_own ? level_of(map, view, &level, diag)
	                : read_level(options, &level, diag);
	if (status)
		goto out;
	cli_set_file(diag, name);
	printf("structure    sound\n");
	/* What agents see of a level does not tell what it was. */
	if (!is_own || !view->agent[0]) {
		status = check_level(baked, map, view, &level, is_own, diag);
		if (status)
			goto out;
		printf("level        %s\n",
		       is_own ? "consistent with itself" : "the same");
	}
	if (options->scen)
		status = check_answers(options->scen, &level, is_own, map,
		                       view, diag);
out:
	level_free(&level);
	return status;
}

static enum diag_status
run(const void *verb_options, int n, char **names, struct diag *diag)
{
	const struct options *options = verb_options;
	const char *detail = NULL;
	const hpa_open_options how = {.detail = &detail};
	struct baked baked;
	enum diag_status status;
	const hpa_map *profile;
	hpa_map *map;
	hpa_status st;

	if (n != 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "verify takes one file, not %d", n);
	status = input_baked(names[0], &baked, diag);
	if (status)
		return status;
	st = hpa_map_open_memory(baked.bytes.data, baked.bytes.size, &how,
	                         &map);
	if (st != HPA_OK)
		status = input_refuse_baked(names[0], st, detail, diag);
	else
		status = input_agent(names[0], map, options->agent, &profile,
		                     diag);
	if (!status)
		status = check_all(names[0], options, &baked, profile, diag);
	hpa_map_close(map);
	input_close_baked(&baked);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... FILE [--level LEVEL] [--scen FILE]",
	NULL,
};

const struct cli_verb cmd_verify = {
	.name = "verify",
	.summary = "Check a baked file, its level and its answers",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
