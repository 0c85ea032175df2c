/* bench_files.c: what a bench is made of: a map, baked or to be baked, and the
 * problems beside it. */
#include "src/cli/bench_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/bench_bake.h"
#include "src/cli/cli.h"
#include "src/run/map.h"

#define MAX_TRIES 1000u /* for a problem whose ends are connected */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *
bench_folder_of(const char *file)
{
	const char *base = base_name(file);

	return base == file ? strdup(".")
	                    : strndup(file, (size_t)(base - file) - 1);
}

int
bench_stem_of(const char *file, const char **out)
{
	const char *base = base_name(file);
	const char *dot = strrchr(base, '.');

	*out = base;
	return (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static bool
is_folder(const char *name)
{
	struct stat found;

	return stat(name, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool
is_there(const char *name)
{
	struct stat found;

	return stat(name, &found) == 0;
}

/* castle.map.scen or castle.scen in a folder, for castle.hpa or castle.map. */
static char *
find_in(const char *folder, const char *file)
{
	static const char *const suffixes[] = {".map.scen", ".scen"};
	const char *base;
	int stem = bench_stem_of(file, &base);
	size_t size = strlen(folder) + strlen(base) + 16;
	char *name = malloc(size);

	for (size_t i = 0; name && i < 2; i++) {
		snprintf(name, size, "%s/%.*s%s", folder, stem, base,
		         suffixes[i]);
		if (is_there(name))
			return name;
	}
	free(name);
	return NULL;
}

/* The name of the file of problems; NULL if there is none. */
static char *
find_scen(const char *file, const char *scen)
{
	char *folder, *found;

	if (scen && !is_folder(scen))
		return strdup(scen);
	if (scen) {
		found = find_in(scen, file);
		if (found)
			return found;
	}
	folder = bench_folder_of(file);
	found = folder ? find_in(folder, file) : NULL;
	free(folder);
	return found;
}

enum diag_status
bench_problems(const char *file, const char *scen, const hpa_map *map,
               struct scen *out, struct diag *diag)
{
	char *name = find_scen(file, scen);
	enum diag_status status;
	hpa_facts facts;

	*out = (struct scen){0};
	if (!name) {
		cli_set_file(diag, file);
		return diag_set(diag, DIAG_FAILED, 0,
		                "there is no .map.scen or .scen of that name; "
		                "--scen names its problems");
	}
	hpa_map_facts(map, &facts);
	status = input_scen(name, facts.width, facts.height, out, diag);
	free(name);
	return status;
}

enum diag_status
bench_check_scen(const char *scen, int n_files, struct diag *diag)
{
	if (n_files == 1 || !scen || is_folder(scen))
		return DIAG_OK;
	return diag_set(diag, DIAG_USAGE, 0,
	                "--scen takes a folder where there are several files, "
	                "not '%s'",
	                scen);
}

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* All free cells of a map; NULL without memory. */
static hpa_cell *
list_free_cells(const hpa_map *map)
{
	const struct grid *grid = &map->grid;
	hpa_cell *cells =
		calloc((size_t)map->view.n_free_cells + 1, sizeof(*cells));
	hpa_cell *cell = cells;

	for (uint32_t y = 0; cells && y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++)
			if (grid_is_free(grid, x, y))
				*cell++ = (hpa_cell){(uint16_t)x, (uint16_t)y};
	return cells;
}

enum diag_status
bench_random_problems(const hpa_map *map, size_t n, uint64_t seed,
                      struct scen *out, struct diag *diag)
{
	uint64_t n_free = map->view.n_free_cells;
	hpa_cell *cells = list_free_cells(map);

	*out = (struct scen){0};
	out->problems = calloc(n + 1, sizeof(*out->problems));
	for (size_t i = 0; cells && out->problems && n_free > 0 &&
	                   out->n_problems < n && i < MAX_TRIES * n;
	     i++) {
		hpa_cell from = cells[next_random(&seed) % n_free];
		hpa_cell to = cells[next_random(&seed) % n_free];

		if (hpa_map_reachable(map, from, to) == HPA_OK)
			out->problems[out->n_problems++] =
				(struct scen_problem){.from_x = from.x,
			                              .from_y = from.y,
			                              .to_x = to.x,
			                              .to_y = to.y};
	}
	free(cells);
	if (cells && out->problems)
		return DIAG_OK;
	scen_free(out);
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

/* Read a level and bake it. */
static enum diag_status
bake(const char *file, const struct level_options *reading,
     struct bench_map *out, struct diag *diag)
{
	struct bake_options options;
	struct level level;
	enum diag_status status = input_one_level(file, reading, &level, diag);

	if (status)
		return status;
	bake_options_default(&options);
	status = bench_bake(&level, &options, &out->baked, &out->map, NULL,
	                    diag);
	if (status)
		cli_set_file(diag, file);
	level_free(&level);
	return status;
}

enum diag_status
bench_map_open(const char *file, const struct level_options *reading,
               struct bench_map *out, struct diag *diag)
{
	const char *detail = NULL;
	const hpa_open_options how = {.detail = &detail};
	hpa_status st;

	*out = (struct bench_map){.map = NULL};
	st = hpa_map_open_with(file, &how, &out->map);
	if (st == HPA_OK)
		return DIAG_OK;
	if (st != HPA_NOT_HPA)
		return input_refuse_baked(file, st, detail, diag);
	return bake(file, reading, out, diag);
}

void
bench_map_close(struct bench_map *map)
{
	hpa_map_close(map->map);
	free(map->baked.data);
	*map = (struct bench_map){.map = NULL};
}
