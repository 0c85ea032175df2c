/* world.h: random levels with terrain, agents and links, and how to bake them. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include "formats/hpa_read.h"
#include "src/bake/bake.h"
#include "tests/support.h"

#define WORLD_MAX_LINKS 40
#define WORLD_MAX_AGENTS 4

/* A level, what is baked of it, and who asks. */
struct world {
	struct level level;
	uint32_t n_agents, n_links;
	struct bake_agent agents[WORLD_MAX_AGENTS];
	struct bake_link links[WORLD_MAX_LINKS];
	struct bake_options options;
};

/* A level of any kind, often with terrain, agents and links. */
struct world random_world(struct rng *rng, uint32_t max_side);

/* Free cells become patches of mud, road and deep water. */
void world_add_terrain(struct rng *rng, struct world *world);

/* After the terrain, of which their capabilities are. */
void world_add_agents(struct rng *rng, struct world *world);

void world_add_links(struct rng *rng, struct world *world);

/* Random ones; they point into the world. */
struct bake_options world_options(struct rng *rng, const struct world *world);

/* A baked file in memory and its sections, inflated. */
struct world_file {
	struct bake_output image;
	struct hpa_file file;
	uint8_t *room;
};

/* Bake, and open what came of it; aborts if one of them fails. Close it
 * with world_close(); it must not move. */
void world_bake(const struct world *world, const struct bake_options *options,
                struct world_file *out);
void world_close(struct world_file *file);

#endif
