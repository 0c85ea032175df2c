/* bench.c: how fast levels are baked.
 *
 *     bench [--json] [--side N] [--only KIND] [--repeat N] [FOLDER]
 *
 * Bakes the .map files of a folder's sub-folders, then generated levels of side
 * N (all, or of one kind), each with the reference kernel and one thread, with one thread and with
 * all. The ways take turns and the median of their times is shown, in millions
 * of cells a second; so are the level-1 distances alone, the share of each pass
 * (one thread), the bytes per free cell and the peak of memory up to then. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <jansson.h>

#include "formats/level.h"
#include "src/bake/bake.h"

#define MAX_REPEAT 31
#define MAX_REFERENCE_CELLS ((uint64_t)1 << 22)

enum way { BY_HEAP, ONE_THREAD, ALL_THREADS, N_WAYS };
static const char *const way_names[N_WAYS] = {"heap", "1 thread", "all"};

/* What the ways took in one repetition: all, then each pass. */
struct times {
	double ms[1 + BAKE_N_PASSES];
};

struct bench {
	int n_repeat;
	uint32_t side;
	const char *only; /* NULL: all kinds */
	bool json;
	json_t *rows;
};

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(const struct times *times, int n, int what)
{
	double sorted[MAX_REPEAT];

	for (int i = 0; i < n; i++)
		sorted[i] = times[i].ms[what];
	qsort(sorted, (size_t)n, sizeof(sorted[0]), compare);
	return sorted[n / 2];
}

static long
peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void
bake_once(const struct level *level, enum way way, struct times *times,
          struct bake_report *report, size_t *size)
{
	struct bake_options options;
	struct bake_output out;
	struct diag diag;
	double began = now_ms();

	bake_options_default(&options);
	options.n_levels = 3;
	options.n_threads = way == ALL_THREADS ? 0 : 1;
	options.kernel = way == BY_HEAP ? BAKE_KERNEL_HEAP : BAKE_KERNEL_VECTOR;
	if (bake_run(level, &options, &out, report, &diag) != DIAG_OK) {
		fprintf(stderr, "bench: %s\n", diag.text);
		exit(1);
	}
	times->ms[0] = now_ms() - began;
	memcpy(times->ms + 1, report->pass_ms, sizeof(report->pass_ms));
	*size = out.size;
	free(out.data);
}

static void
print_row(const char *name, double cells, struct times (*times)[MAX_REPEAT],
          int n, const struct bake_report *report, size_t size)
{
	int distances = 1 + BAKE_PASS_DISTANCES;

	printf("%-20.20s %8.2f |", name, cells / 1e6);
	for (int w = 0; w < N_WAYS; w++)
		printf(" %7.1f", cells / 1e3 / median(times[w], n, 0));
	printf(" |");
	for (int w = 0; w < N_WAYS; w++)
		printf(" %7.1f", cells / 1e3 /
		                         (median(times[w], n, distances) +
		                          median(times[w], n, distances - 1)));
	printf(" |");
	for (int p = 0; p < BAKE_N_PASSES; p++)
		if (p != BAKE_PASS_PATHS)
			printf(" %3.0f",
			       100 * median(times[ONE_THREAD], n, 1 + p) /
			               median(times[ONE_THREAD], n, 0));
	printf(" | %6.3f %5ld\n",
	       (double)size / (double)(report->n_free_cells + 1),
	       peak_kb() / 1024);
	fflush(stdout);
}

static json_t *
row_json(const char *name, double cells, struct times (*times)[MAX_REPEAT],
         int n, const struct bake_report *report, size_t size)
{
	json_t *row =
		json_pack("{s:s, s:f, s:f, s:i}", "level", name, "cells", cells,
	                  "bytes_per_free_cell",
	                  (double)size / (double)(report->n_free_cells + 1),
	                  "peak_kb", (int)peak_kb());

	for (int w = 0; w < N_WAYS; w++) {
		json_t *way = json_object();

		json_object_set_new(way, "all_ms",
		                    json_real(median(times[w], n, 0)));
		for (int p = 0; p < BAKE_N_PASSES; p++)
			json_object_set_new(
				way, bake_pass_names[p],
				json_real(median(times[w], n, 1 + p)));
		json_object_set_new(row, way_names[w], way);
	}
	return row;
}

static void
bench_level(struct bench *bench, const char *name, const struct level *level)
{
	static struct times times[N_WAYS][MAX_REPEAT];
	double cells = (double)level->width * level->height;
	int n = cells > 1e7 ? 1 : bench->n_repeat;
	struct bake_report report;
	size_t size = 0;

	memset(times, 0, sizeof(times));
	for (int i = 0; i < n; i++)
		for (int w = 0; w < N_WAYS; w++)
			if (w != BY_HEAP || cells <= MAX_REFERENCE_CELLS)
				bake_once(level, (enum way)w, &times[w][i],
				          &report, &size);
	if (bench->json)
		json_array_append_new(bench->rows, row_json(name, cells, times,
		                                            n, &report, size));
	else
		print_row(name, cells, times, n, &report, size);
}

static void
bench_file(struct bench *bench, const char *path, const char *name)
{
	FILE *file = fopen(path, "rb");
	struct level level;
	struct stat st;
	struct diag diag;
	uint8_t *data;

	if (!file || fstat(fileno(file), &st) != 0)
		exit(1);
	data = malloc((size_t)st.st_size + 1);
	if (!data ||
	    fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		exit(1);
	fclose(file);
	if (level_read(name, data, (size_t)st.st_size, NULL, &level, &diag) ==
	    DIAG_OK) {
		bench_level(bench, name, &level);
		level_free(&level);
	}
	free(data);
}

static int
is_map(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".map");
}

/* The levels of a folder, and those of the folders in it. */
static void
bench_folder(struct bench *bench, const char *folder, bool deep)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, deep ? NULL : is_map, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (is_map(entries[i]))
			bench_file(bench, path, name);
		else if (deep && name[0] != '.' && strcmp(name, "malformed"))
			bench_folder(bench, path, false);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* A number from coordinates, the same everywhere. */
static uint32_t
noise(uint32_t x, uint32_t y)
{
	uint64_t hash = ((uint64_t)y << 32 | x) + 1;

	hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(hash >> 33);
}

static bool
empty(uint32_t x, uint32_t y)
{
	(void)x, (void)y;
	return true;
}

static bool
rooms(uint32_t x, uint32_t y)
{
	uint32_t rx = x / 24, ry = y / 24;

	if (x % 24 && y % 24)
		return true;
	if (x % 24 == 0 && y % 24 == 0)
		return false;
	return x % 24 ? x % 24 / 3 == noise(rx, 2 * ry) % 8
	              : y % 24 / 3 == noise(rx, 2 * ry + 1) % 8;
}

static bool
maze(uint32_t x, uint32_t y)
{
	if (x % 2 == 0 && y % 2 == 0)
		return true;
	if (x % 2 && y % 2)
		return false;
	return noise(x, y) % 100 < 55;
}

static bool
random_cells(uint32_t x, uint32_t y)
{
	return noise(x, y) % 100 >= 25;
}

/* Discs of land in a lattice, with rooms on them. */
static bool
islands(uint32_t x, uint32_t y)
{
	uint32_t seed = noise(x / 512, y / 512);
	int64_t dx = (int64_t)(x % 512) - 256, dy = (int64_t)(y % 512) - 256;
	int64_t radius = 150 + seed % 130;

	return dx * dx + dy * dy <
	               radius * radius + noise(x / 8, y / 8) % 4096 &&
	       rooms(x + seed % 24, y);
}

static void
bench_generated(struct bench *bench, const char *name, uint32_t side,
                bool (*is_free)(uint32_t x, uint32_t y))
{
	struct level level;
	struct diag diag;
	char label[64];

	if (bench->only && strcmp(bench->only, name) != 0)
		return;

	if (level_new(side, side, NULL, &level, &diag) != DIAG_OK)
		exit(1);
	for (uint32_t y = 0; y < side; y++)
		for (uint32_t x = 0; x < side; x++)
			level.cells[(size_t)y * side + x] = is_free(x, y);
	snprintf(label, sizeof(label), "%s %u", name, (unsigned)side);
	bench_level(bench, label, &level);
	level_free(&level);
}

int
main(int argc, char **argv)
{
	struct bench bench = {.n_repeat = 5, .side = 2048};
	const char *folder = NULL;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			bench.json = true;
		else if (!strcmp(argv[i], "--side") && i + 1 < argc)
			bench.side = (uint32_t)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			bench.only = argv[++i];
		else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
			bench.n_repeat = atoi(argv[++i]);
		else
			folder = argv[i];
	}
	if (bench.n_repeat < 1 || bench.n_repeat > MAX_REPEAT)
		bench.n_repeat = 5;
	bench.rows = json_array();
	if (!bench.json)
		printf("%-20s %8s | whole bake, Mcells/s    | level-1 "
		       "distances       | terrain nodes repeats distances "
		       "levels components layout %% | B/free cell, peak MB\n"
		       "%-20s %8s | %7s %7s %7s | %7s %7s %7s |\n",
		       "level", "Mcells", "", "", "heap", "1", "all", "heap",
		       "1", "all");
	if (folder)
		bench_folder(&bench, folder, true);
	if (bench.side > 0) {
		bench_generated(&bench, "empty", bench.side, empty);
		bench_generated(&bench, "rooms", bench.side, rooms);
		bench_generated(&bench, "maze", bench.side, maze);
		bench_generated(&bench, "random", bench.side, random_cells);
		bench_generated(&bench, "islands", bench.side, islands);
	}
	if (bench.json)
		json_dumpf(bench.rows, stdout, JSON_INDENT(1));
	json_decref(bench.rows);
	return 0;
}
