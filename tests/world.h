/* world.h: random levels with terrain, agents and links, and how to bake them. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include "src/bake/bake.h"
#include "tests/support.h"

#define WORLD_MAX_LINKS 12
#define WORLD_MAX_AGENTS 4

/* A level, what is baked of it, and who asks. */
struct world {
	struct level level;
	uint32_t n_agents, n_links;
	struct bake_agent agents[WORLD_MAX_AGENTS];
	struct bake_link links[WORLD_MAX_LINKS];
	struct bake_options options;
};

/* Free cells become patches of mud, road and deep water. */
void world_add_terrain(struct rng *rng, struct world *world);

/* After the terrain, of which their capabilities are. */
void world_add_agents(struct rng *rng, struct world *world);

void world_add_links(struct rng *rng, struct world *world);

/* Random ones; they point into the world. */
struct bake_options world_options(struct rng *rng, const struct world *world);

#endif
