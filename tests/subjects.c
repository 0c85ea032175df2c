/* subjects.c: six small files that have all sections and codecs.
 *
 * They are as small as they can be for that, because what is done to them is
 * done at every byte. At this size packing does not pay, so one is packed by
 * force. */
#include "tests/subjects.h"

#include <stdlib.h>
#include <string.h>

#include "tests/baked.h"
#include "tests/support.h"

/* A hall and a yard, some rooms, a closet that nothing leads to. */
const char subjects_level[] = ".....@.......\n"
			      ".....@.......\n"
			      "........@@@..\n"
			      ".....@..@.@..\n"
			      "@@.@@@..@@@..\n"
			      ".....@.......\n"
			      ".....@.......\n"
			      ".............\n"
			      ".....@.......\n";

const char *const subject_names[N_SUBJECTS] = {
	"stored", "cold", "deflated", "labelled", "world", "packed world"};

static struct bake_options
usual_options(void)
{
	struct bake_options options = small_clusters();

	options.n_levels = 2;
	options.n_threads = 1;
	return options;
}

static struct image
bake_plain(enum hpa_compress compress, bool cache_paths, bool labels)
{
	struct bake_options options = usual_options();

	options.compress = compress;
	options.cache_paths = cache_paths;
	options.fast_queries = labels;
	return bake_rows(subjects_level, &options);
}

/* Terrain with factors, three agents, links of both kinds. */
static struct image
bake_world(void)
{
	static const struct terrain_class mud = {"mud", 3, false};
	static const struct bake_agent agents[] = {
		{"fox", 1, ""}, {"ox", 2, ""}, {"snail", 2, "ground"}};
	static const struct bake_link links[] = {
		{0, 0, 9, 3, 1500, true, "hole", 0},
		{1, 8, 11, 0, 9000, false, "", 0}};
	struct bake_options options = usual_options();
	struct image image;
	struct level level;

	options.cache_paths = true;
	options.n_agents = 3;
	options.agents = agents;
	options.n_links = 2;
	options.links = links;
	level_from_text(subjects_level, &level);
	level_add_class(&level, &mud);
	for (uint32_t i = 6; i < 8; i++)
		for (uint32_t x = 0; x < 4; x++)
			level.cells[i * level.width + x] =
				(uint8_t)(level.terrain.n - 1);
	image = bake_level(&level, &options);
	level_free(&level);
	return image;
}

void
subjects_bake(struct image out[N_SUBJECTS])
{
	out[0] = bake_plain(HPA_COMPRESS_NONE, false, false);
	out[1] = bake_plain(HPA_COMPRESS_COLD, true, false);
	out[2] = bake_plain(HPA_COMPRESS_ALL, true, false);
	out[3] = bake_plain(HPA_COMPRESS_ALL, false, true);
	out[4] = bake_world();
	out[5] = image_pack(&out[4]);
}

struct image
subject_bake(const char *name)
{
	struct image images[N_SUBJECTS], found = {NULL, 0};

	subjects_bake(images);
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		if (!strcmp(subject_names[i], name))
			found = images[i];
		else
			free(images[i].data);
	}
	if (!found.data)
		abort();
	return found;
}
