/* baked.c: levels baked in memory. */
#include "tests/baked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

const char three_clusters[] = "............\n"
			      "............\n"
			      "............\n"
			      "............\n";

const char four_clusters[] = ".@..........@...\n"
			     ".@..........@...\n"
			     ".@..........@...\n"
			     ".@..............\n";

struct bake_options
small_clusters(void)
{
	struct bake_options options;

	bake_options_default(&options);
	options.cluster_size = 4;
	options.compress = HPA_COMPRESS_NONE;
	return options;
}

static void
must(enum diag_status code, const struct diag *diag)
{
	if (code == DIAG_OK)
		return;
	fprintf(stderr, "a level does not bake: %s\n", diag->text);
	abort();
}

struct image
bake_level(const struct level *level, const struct bake_options *options)
{
	struct bake_output out;
	struct image exact;
	struct diag diag;

	must(bake_run(level, options, &out, NULL, &diag), &diag);
	exact = image_copy(&(struct image){out.data, out.size});
	free(out.data);
	return exact;
}

struct image
bake_rows(const char *rows, const struct bake_options *options)
{
	struct level level;
	struct image image;

	level_from_text(rows, &level);
	image = bake_level(&level, options);
	level_free(&level);
	return image;
}

struct image
bake_all_free(uint32_t width, uint32_t height,
              const struct bake_options *options)
{
	struct level level;
	struct image image;
	struct diag diag;

	must(level_new(width, height, NULL, &level, &diag), &diag);
	memset(level.cells, 1, (size_t)width * height);
	image = bake_level(&level, options);
	level_free(&level);
	return image;
}

struct image
bake_small(const char *rows, uint32_t n_levels, bool cache_paths,
           enum hpa_compress compress)
{
	struct bake_options options = small_clusters();

	options.n_levels = n_levels;
	options.cache_paths = cache_paths;
	options.compress = compress;
	return bake_rows(rows, &options);
}
