/* bench_bake.c: bake a level once more, with other options.
 *
 * A baked file holds what its profiles' agents see of the level, and no more. A
 * level made of that, with a class for each cost factor, has the same ways at
 * the same costs. */
#include "src/cli/bench_bake.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/cli/bench_truth.h"
#include "src/cli/cli.h"

/* The number of the class of a factor, which is added if there is none. */
static uint8_t
class_of(struct level *level, uint32_t factor)
{
	struct terrain_class wanted = {.factor = (uint8_t)factor};

	if (factor == 1)
		return 1;
	snprintf(wanted.name, sizeof(wanted.name), "factor%u", factor);
	return (uint8_t)level_add_class(level, &wanted);
}

static void
copy_cells(const struct grid *grid, struct level *level)
{
	uint8_t *cell = level->cells;

	for (uint32_t y = 0; y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++, cell++)
			if (grid_is_free(grid, x, y))
				*cell = grid->classes
				                ? class_of(level,
				                           grid_factor(grid, x,
				                                       y))
				                : 1;
}

/* The links that the agent may take, in thousandths of a step. */
static bool
copy_links(const hpa_map *map, struct bench_base *base)
{
	uint32_t straight = map->grid.cost_straight;
	struct truth truth;
	bool ok = truth_init(&truth, map);

	if (ok)
		base->links =
			calloc((size_t)truth.n_links + 1, sizeof(*base->links));
	ok = ok && base->links;
	for (uint32_t i = 0; ok && i < truth.n_links; i++) {
		const hpa_link *link = &truth.links[i];

		base->links[i] = (struct bake_link){
			.from_x = link->from.x,
			.from_y = link->from.y,
			.to_x = link->to.x,
			.to_y = link->to.y,
			.cost = (uint32_t)(UINT64_C(1000) * link->cost /
		                           straight),
			.is_one_way = link->is_one_way != 0,
		};
	}
	base->options.n_links = truth.n_links;
	truth_free(&truth);
	return ok;
}

enum diag_status
bench_base_of(const hpa_map *map, struct bench_base *out, struct diag *diag)
{
	const struct hpa_view *view = &map->view;
	enum diag_status status;

	*out = (struct bench_base){.links = NULL};
	bake_options_default(&out->options);
	out->options.cluster_size = view->cluster_size;
	out->options.n_levels = view->n_levels;
	out->options.moves = view->moves;
	out->options.policy = view->policy;
	out->options.policy_parameter = view->policy_parameter;
	status = level_new(view->width, view->height, NULL, &out->level, diag);
	if (status)
		return status;
	copy_cells(&map->grid, &out->level);
	if (!copy_links(map, out))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	out->options.links = out->links;
	return DIAG_OK;
}

void
bench_base_free(struct bench_base *base)
{
	level_free(&base->level);
	free(base->links);
	base->links = NULL;
}

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

enum diag_status
bench_bake(const struct level *level, const struct bake_options *options,
           struct bake_output *out, hpa_map **map, struct bench_bake *bake,
           struct diag *diag)
{
	const char *detail = NULL;
	const hpa_open_options how = {.detail = &detail};
	double began = now_ms();
	enum diag_status status = bake_run(level, options, out, NULL, diag);

	*map = NULL;
	if (status)
		return status;
	if (bake)
		*bake = (struct bench_bake){out->size, now_ms() - began};
	if (hpa_map_open_memory(out->data, out->size, &how, map) != HPA_OK)
		status = diag_set(diag, DIAG_FAILED, 0,
		                  "what was baked can't be opened: %s",
		                  detail ? detail : "out of memory");
	return status;
}

enum diag_status
bench_variant(const char *file, const struct level *level,
              const struct bake_options *options,
              const struct truth_problems *problems,
              const struct bench_settings *settings, struct bench_result *out,
              struct bench_bake *bake, struct diag *diag)
{
	struct bake_output baked = {NULL, 0};
	hpa_map *map;
	enum diag_status status =
		bench_bake(level, options, &baked, &map, bake, diag);

	*out = (struct bench_result){.n = 0};
	if (!status)
		status = bench_level(file, map, problems, settings, out, diag);
	hpa_map_close(map);
	free(baked.data);
	if (!status && out->n_wrong > 0)
		status = diag_set(diag, DIAG_CHECK, 0,
		                  "%zu answers of another bake of it are wrong",
		                  out->n_wrong);
	if (status)
		cli_set_file(diag, file);
	return status;
}
