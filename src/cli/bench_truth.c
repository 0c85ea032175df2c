/* bench_truth.c: the right answers to problems, by flat A*.
 *
 * They are found once for a level and its rules, and judge the answers of any
 * number of bakes of it. A path of flat A* is judged by the movement rule too:
 * one that is not legal is a fault of hpabake, and there is no going on. */
#include "src/cli/bench_truth.h"

#include <stdlib.h>

#include "src/flat/flat.h"

#define SQRT_2 1.4142135623730951

bool
truth_init(struct truth *truth, const hpa_map *map)
{
	hpa_facts facts;
	hpa_link link;

	*truth = (struct truth){.grid = &map->grid};
	hpa_map_facts(map, &facts);
	truth->links = calloc((size_t)facts.n_links + 1, sizeof(link));
	for (uint32_t i = 0; truth->links && hpa_map_link(map, i, &link); i++)
		if (hpa_map_is_free(map, link.from) &&
		    hpa_map_is_free(map, link.to))
			truth->links[truth->n_links++] = link;
	truth->by_cost = truth->grid->classes || truth->n_links > 0;
	return truth->links != NULL;
}

void
truth_free(struct truth *truth)
{
	free(truth->links);
	truth->links = NULL;
}

static bool
same_cell(hpa_cell a, hpa_cell b)
{
	return a.x == b.x && a.y == b.y;
}

/* What a step or a link costs at the least; UINT64_MAX if there is neither. */
static uint64_t
step_cost(const struct truth *truth, hpa_cell from, hpa_cell to)
{
	const struct grid *grid = truth->grid;
	uint64_t least = UINT64_MAX;

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++)
		if (from.x + grid_dx[d] == to.x &&
		    from.y + grid_dy[d] == to.y &&
		    grid_may_step(grid, from.x, from.y, d))
			least = grid_step_cost(grid, from.x, from.y, d);
	for (uint32_t i = 0; i < truth->n_links; i++) {
		const hpa_link *link = &truth->links[i];

		if (link->cost < least &&
		    ((same_cell(link->from, from) && same_cell(link->to, to)) ||
		     (!link->is_one_way && same_cell(link->from, to) &&
		      same_cell(link->to, from))))
			least = link->cost;
	}
	return least;
}

bool
truth_measure(const struct truth *truth, hpa_cell from, hpa_cell to,
              const hpa_cell *cells, size_t n, uint64_t *cost, double *length)
{
	size_t n_diagonal = 0;

	*cost = 0;
	if (n == 0 || !same_cell(cells[0], from) ||
	    !same_cell(cells[n - 1], to))
		return false;
	for (size_t i = 1; i < n; i++) {
		uint64_t step = step_cost(truth, cells[i - 1], cells[i]);

		if (step == UINT64_MAX)
			return false;
		*cost += step;
		n_diagonal += cells[i].x != cells[i - 1].x &&
		              cells[i].y != cells[i - 1].y;
	}
	*length = truth->by_cost ? (double)*cost / truth->grid->cost_straight
	                         : (double)(n - 1 - n_diagonal) +
	                                   (double)n_diagonal * SQRT_2;
	return true;
}

static bool
to_cell(long x, long y, hpa_cell *out)
{
	*out = (hpa_cell){(uint16_t)x, (uint16_t)y};
	return x >= 0 && x <= UINT16_MAX && y >= 0 && y <= UINT16_MAX;
}

/* What it takes to find the answers. */
struct finder {
	struct truth truth;
	struct flat_astar *astar;
	hpa_cell *cells;
};

static bool
open_finder(struct finder *finder, const hpa_map *map)
{
	size_t n_free = (size_t)map->view.n_free_cells;

	*finder = (struct finder){.astar = NULL};
	finder->cells = malloc((n_free + 1) * sizeof(*finder->cells));
	if (!finder->cells || !truth_init(&finder->truth, map))
		return false;
	finder->astar = flat_astar_new(&map->grid, finder->truth.links,
	                               finder->truth.n_links);
	return finder->astar != NULL;
}

static void
close_finder(struct finder *finder)
{
	flat_astar_free(finder->astar);
	truth_free(&finder->truth);
	free(finder->cells);
}

/* Is there a path? Fill in its cost and length. */
static bool
find_path(struct finder *finder, struct truth_problem *problem, bool *is_legal)
{
	struct flat_path path;
	uint64_t cost;

	if (!flat_astar_find(finder->astar, problem->from, problem->to,
	                     finder->cells, &path))
		return false;
	problem->optimum = path.cost;
	*is_legal &=
		truth_measure(&finder->truth, problem->from, problem->to,
	                      finder->cells, path.n, &cost, &problem->length) &&
		cost == path.cost;
	return true;
}

/* Fill in the problems: those with a path from the front, the others from the
 * back. */
static bool
find_all(struct finder *finder, const struct scen *scen, size_t n,
         struct truth_problems *out)
{
	bool is_legal = true;

	for (size_t i = 0; i < n; i++) {
		struct truth_problem problem = {.index = i * scen->n_problems /
		                                         n};
		const struct scen_problem *p = &scen->problems[problem.index];

		if (!to_cell(p->from_x, p->from_y, &problem.from) ||
		    !to_cell(p->to_x, p->to_y, &problem.to))
			out->n_not_asked++;
		else if (find_path(finder, &problem, &is_legal))
			out->at[out->n_paths++] = problem;
		else
			out->at[n - ++out->n_others] = problem;
	}
	for (size_t i = 0; i < out->n_others; i++)
		out->at[out->n_paths + i] = out->at[n - out->n_others + i];
	return is_legal;
}

enum diag_status
truth_find(const hpa_map *map, const struct scen *scen, size_t limit,
           struct truth_problems *out, struct diag *diag)
{
	size_t n = limit && limit < scen->n_problems ? limit : scen->n_problems;
	enum diag_status status = DIAG_OK;
	struct finder finder;
	bool ok = open_finder(&finder, map);

	*out = (struct truth_problems){.n_paths = 0};
	out->at = calloc(n + 1, sizeof(*out->at));
	if (!ok || !out->at)
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	else if (!find_all(&finder, scen, n, out))
		status = diag_set(diag, DIAG_CHECK, 0,
		                  "the flat A* steps where it may not");
	if (status)
		truth_problems_free(out);
	close_finder(&finder);
	return status;
}

void
truth_problems_free(struct truth_problems *problems)
{
	free(problems->at);
	*problems = (struct truth_problems){.n_paths = 0};
}
