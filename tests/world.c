/* world.c: random levels with terrain, agents and links. */
#include "tests/world.h"

#include <stdio.h>
#include <stdlib.h>

struct world
random_world(struct rng *rng, uint32_t max_side)
{
	struct world world = {0};

	random_level(rng, max_side, &world.level);
	if (rng_chance(rng, 30))
		world_add_terrain(rng, &world);
	if (rng_chance(rng, 60))
		world_add_agents(rng, &world);
	if (rng_chance(rng, 30))
		world_add_links(rng, &world);
	return world;
}

void
world_add_terrain(struct rng *rng, struct world *world)
{
	static const struct terrain_class classes[] = {
		{"mud", 3, false}, {"road", 1, false}, {"deep", 2, true}};
	struct level *level = &world->level;
	uint8_t number[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct terrain_class class = classes[i];

		if (i == 0)
			class.factor = (uint8_t)rng_between(rng, 1, 255);
		number[i] = (uint8_t)level_add_class(level, &class);
	}
	if (rng_chance(rng, 30))
		level->terrain.classes[TERRAIN_GROUND].factor =
			(uint8_t)rng_between(rng, 2, 9);
	for (size_t i = 0; i < (size_t)level->width * level->height; i++)
		if (level->cells[i] && rng_chance(rng, 60))
			level->cells[i] = number[rng_below(rng, 3)];
}

void
world_add_agents(struct rng *rng, struct world *world)
{
	static const char *const terrains[] = {"", "ground", "ground+road",
	                                       "deep", "mud+ground+deep"};
	bool has_classes = world->level.terrain.n > 2;

	world->n_agents = rng_between(rng, 1, WORLD_MAX_AGENTS);
	for (uint32_t i = 0; i < world->n_agents; i++) {
		struct bake_agent *agent = &world->agents[i];

		snprintf(agent->name, sizeof(agent->name), "agent%u",
		         (unsigned)i);
		agent->size = rng_chance(rng, 50) ? 1 : rng_between(rng, 1, 4);
		snprintf(agent->terrain, sizeof(agent->terrain), "%s",
		         terrains[rng_below(rng, has_classes ? 5 : 2)]);
	}
}

void
world_add_links(struct rng *rng, struct world *world)
{
	/* Often few, sometimes more than a query looks at one by one. */
	uint32_t n =
		rng_between(rng, 1, rng_chance(rng, 90) ? 12 : WORLD_MAX_LINKS);

	for (uint32_t i = 0; i < n; i++) {
		hpa_cell from, to;

		if (!random_free_cell(rng, &world->level, &from) ||
		    !random_free_cell(rng, &world->level, &to))
			return;
		/* Now and then on a blocked cell. Not between neighbours: the
		 * cells of a path would not tell the link from the step. */
		if (rng_chance(rng, 15))
			to = random_cell(rng, &world->level);
		if (abs(from.x - to.x) <= 1 && abs(from.y - to.y) <= 1)
			continue;
		world->links[world->n_links++] = (struct bake_link){
			.from_x = from.x,
			.from_y = from.y,
			.to_x = to.x,
			.to_y = to.y,
			.cost = rng_chance(rng, 20) ? 0
			        : rng_chance(rng, 50)
			                ? rng_below(rng, 5000)
			                : rng_below(rng, 200000),
			.is_one_way = rng_chance(rng, 50),
		};
	}
}

struct bake_options
world_options(struct rng *rng, const struct world *world)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size = rng_chance(rng, 10)
	                               ? HPA_MAX_CLUSTER_SIZE
	                               : rng_between(rng, 4, 12);
	options.n_levels = rng_between(rng, 1, 4);
	options.moves = (enum hpa_move_rule)rng_below(rng, 3);
	options.policy = (enum hpa_policy)rng_below(rng, 3);
	if (options.policy == HPA_POLICY_EVERY)
		options.policy_parameter = rng_between(rng, 1, 3);
	options.cache_paths = rng_chance(rng, 30);
	options.fast_queries = rng_chance(rng, 20);
	options.compress = (enum hpa_compress)rng_below(rng, 3);
	options.n_threads = 1;
	options.n_agents = world->n_agents;
	options.agents = world->agents;
	options.n_links = world->n_links;
	options.links = world->links;
	return options;
}

/* No test can go on without it. */
static void
give_up(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

void
world_bake(const struct world *world, const struct bake_options *options,
           struct world_file *out)
{
	const char *detail = "";
	struct diag diag;

	if (bake_run(&world->level, options, &out->image, NULL, &diag) !=
	    DIAG_OK)
		give_up("bake", diag.text);
	if (hpa_file_read(out->image.data, out->image.size, true, &out->file,
	                  &detail) != HPA_OK)
		give_up("open", detail);
	out->room = malloc(out->file.inflated_size + 1);
	if (!out->room)
		give_up("open", "out of memory");
	if (hpa_file_inflate(&out->file, out->room, &detail) != HPA_OK)
		give_up(out->file.culprit, detail);
}

void
world_close(struct world_file *file)
{
	free(file->room);
	free(file->image.data);
}
