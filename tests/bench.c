/* bench.c: how fast levels are baked, from file to file.
 *
 *     bench [--json] [--side N] [--only KIND] [--repeat N] [--compress WHAT]
 *           [FOLDER]
 *     bench --profiles [--json] [--repeat N] FOLDER
 *
 * Bakes the .map files of a folder and of the folders in it, then all of them as
 * one batch, then generated levels of side N (all kinds, or one; 0: none). Each
 * is baked in three ways: by the reference, plain Dijkstra with a heap, on one
 * thread; by what hpabake does on one thread; and on all. A bake is all of it:
 * the file is mapped and read, baked with three levels, and the output written,
 * flushed to the disk and renamed, in a folder made in $TMPDIR.
 *
 * The ways take turns, and the median of a way's times is shown: millions of
 * cells a second for all of it and for each pass, the bytes of the output per
 * free cell, and the most memory that the program held during the bake. With
 * --json the times are in milliseconds.
 *
 * With --profiles, six levels of the folder are baked with one to four agents, on
 * one thread, and a table is printed as README.md has it. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jansson.h>

#include "formats/level.h"
#include "src/bake/bake.h"
#include "src/bake/batch.h"
#include "src/bake/clock.h"
#include "src/cli/file.h"

#define MAX_REPEAT 31
#define MAX_REFERENCE_CELLS 4.2e6
#define MAX_REPEATED_CELLS 2e7
#define N_LEVELS 3

enum way { BY_HEAP, ONE_THREAD, ALL_THREADS, N_WAYS };
static const char *const way_names[N_WAYS] = {"heap", "1", "all"};

/* What is timed: all of it, reading, the passes, writing. */
enum { WHOLE, READ, PASSES, WRITE = PASSES + BAKE_N_PASSES, N_TIMES };

struct times {
	double ms[N_TIMES];
};

/* What a level's bakes have shown. */
struct result {
	char name[80];
	double cells, bytes, bytes_per_free_cell;
	bool has_way[N_WAYS];
	struct times times[N_WAYS]; /* medians */
	long peak_kb[N_WAYS];
};

struct bench {
	int n_repeat;
	uint32_t side;
	const char *only; /* NULL: all kinds */
	enum hpa_compress compress;
	bool json, profiles;
	json_t *rows;
	char folder[256]; /* for what is written */
	char **files;     /* all that were baked */
	uint32_t n_files;
};

static void
die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Forget the peak of memory up to now, where the system can do that. */
static void
reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "5", 1) != 1)
		fprintf(stderr, "bench: peaks include earlier levels\n");
	close(fd);
}

static long
peak_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	struct rusage usage;
	long kb = -1;

	while (status && kb < 0 && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %ld kB", &kb) != 1)
			kb = -1;
	if (status)
		fclose(status);
	getrusage(RUSAGE_SELF, &usage);
	return kb >= 0 ? kb : usage.ru_maxrss;
}

static struct bake_options
options_for(const struct bench *bench, enum way way)
{
	struct bake_options options;

	bake_options_default(&options);
	options.compress = bench->compress;
	options.n_levels = N_LEVELS;
	options.n_threads = way == ALL_THREADS ? 0 : 1;
	options.kernel = way == BY_HEAP ? BAKE_KERNEL_HEAP : BAKE_KERNEL_VECTOR;
	return options;
}

/* From a file to another one. false: it is no level. */
static bool
bake_file(const char *file, const char *output,
          const struct bake_options *options, struct times *times,
          struct result *result)
{
	double began = clock_ms(), then = began;
	struct bake_output baked;
	struct bake_report report;
	struct file_bytes bytes;
	const struct level_options reading = {.workers = &batch_workers};
	struct level level;
	struct diag diag;

	batch_use_threads(options->n_threads);
	if (file_map(file, &bytes, &diag) != DIAG_OK)
		die(diag.text);
	if (level_read(file, bytes.data, bytes.size, &reading, &level,
	               &diag) !=
	    DIAG_OK) {
		file_free(&bytes);
		return false;
	}
	file_free(&bytes);
	times->ms[READ] = clock_ms() - then;
	if (bake_run_last(&level, options, &baked, &report, &diag) != DIAG_OK)
		die(diag.text);
	memcpy(times->ms + PASSES, report.pass_ms, sizeof(report.pass_ms));
	then = clock_ms();
	if (file_replace(output, baked.data, baked.size, NULL, &diag) != DIAG_OK)
		die(diag.text);
	times->ms[WRITE] = clock_ms() - then;
	times->ms[WHOLE] = clock_ms() - began;
	result->cells = (double)report.width * report.height;
	result->bytes = (double)baked.size;
	result->bytes_per_free_cell =
		(double)baked.size / (double)(report.n_free_cells + 1);
	free(baked.data);
	return true;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct times
medians(const struct times *times, int n)
{
	struct times out;

	for (int t = 0; t < N_TIMES; t++) {
		double sorted[MAX_REPEAT];

		for (int i = 0; i < n; i++)
			sorted[i] = times[i].ms[t];
		qsort(sorted, (size_t)n, sizeof(sorted[0]), compare);
		out.ms[t] = sorted[n / 2];
	}
	return out;
}

static void
print_header(void)
{
	printf("%-20s %7s %5s | %6s |", "Mcells/s", "Mcells", "way", "whole");
	printf(" %6s", "read");
	for (int p = 0; p < BAKE_N_PASSES; p++)
		if (p != BAKE_PASS_PATHS)
			printf(" %6.6s", bake_pass_names[p]);
	printf(" %6s | %6s %6s\n", "write", "B/free", "MB");
}

static void
print_speed(double cells, double ms)
{
	if (ms > cells / 1e3 / 99999)
		printf(" %6.*f", cells / 1e3 / ms < 100, cells / 1e3 / ms);
	else
		printf(" %6s", "-");
}

static void
print_result(const struct result *result)
{
	for (int w = 0; w < N_WAYS; w++) {
		const double *ms = result->times[w].ms;

		if (!result->has_way[w])
			continue;
		printf("%-20.20s %7.2f %5s |", result->name,
		       result->cells / 1e6, way_names[w]);
		print_speed(result->cells, ms[WHOLE]);
		printf(" |");
		for (int t = READ; t < N_TIMES; t++)
			if (t != PASSES + BAKE_PASS_PATHS)
				print_speed(result->cells, ms[t]);
		if (result->peak_kb[w])
			printf(" | %6.3f %6.1f", result->bytes_per_free_cell,
			       (double)result->peak_kb[w] / 1024);
		printf("\n");
	}
	fflush(stdout);
}

static json_t *
times_json(const struct times *times, long peak)
{
	json_t *out = json_object();

	json_object_set_new(out, "whole_ms", json_real(times->ms[WHOLE]));
	json_object_set_new(out, "read_ms", json_real(times->ms[READ]));
	json_object_set_new(out, "write_ms", json_real(times->ms[WRITE]));
	for (int p = 0; p < BAKE_N_PASSES; p++) {
		char name[32];

		snprintf(name, sizeof(name), "%s_ms", bake_pass_names[p]);
		json_object_set_new(out, name,
		                    json_real(times->ms[PASSES + p]));
	}
	json_object_set_new(out, "peak_kb", json_integer(peak));
	return out;
}

static void
add_result(struct bench *bench, const struct result *result)
{
	json_t *row;

	if (!bench->json) {
		print_result(result);
		return;
	}
	row = json_pack("{s:s, s:f, s:f}", "level", result->name, "cells",
	                result->cells, "bytes_per_free_cell",
	                result->bytes_per_free_cell);
	for (int w = 0; w < N_WAYS; w++)
		if (result->has_way[w])
			json_object_set_new(row, way_names[w],
			                    times_json(&result->times[w],
			                               result->peak_kb[w]));
	json_array_append_new(bench->rows, row);
}

/* Add what one level has shown to a sum of several. */
static void
add_up(struct result *sum, const struct result *result)
{
	sum->cells += result->cells;
	for (int w = 0; w < N_WAYS; w++) {
		sum->has_way[w] = result->has_way[w];
		for (int t = 0; t < N_TIMES; t++)
			sum->times[w].ms[t] += result->times[w].ms[t];
	}
}

/* A new file each time: one with the same bytes would be left alone. */
static const char *
output_name(const struct bench *bench, char *name, size_t size, uint32_t number)
{
	if (snprintf(name, size, "%s/%u.hpa", bench->folder, number) >=
	    (int)size)
		die("name too long");
	unlink(name);
	return name;
}

/* false: it is no level. */
static bool
bench_file(struct bench *bench, const char *file, const char *name,
           struct result *result)
{
	static struct times times[N_WAYS][MAX_REPEAT];
	char output[sizeof(bench->folder) + 32];
	int n = bench->n_repeat;

	memset(times, 0, sizeof(times));
	*result = (struct result){.cells = 0};
	snprintf(result->name, sizeof(result->name), "%s", name);
	for (int i = 0; i < n; i++)
		for (int w = ALL_THREADS; w >= 0; w--) {
			struct bake_options options =
				options_for(bench, (enum way)w);
			long peak;

			if (w == BY_HEAP && result->cells > MAX_REFERENCE_CELLS)
				continue;
			reset_peak();
			if (!bake_file(file,
			               output_name(bench, output,
			                           sizeof(output), 0),
			               &options, &times[w][i], result))
				return false;
			peak = peak_kb();
			if (peak > result->peak_kb[w])
				result->peak_kb[w] = peak;
			result->has_way[w] = true;
			if (result->cells > MAX_REPEATED_CELLS)
				n = 1;
		}
	for (int w = 0; w < N_WAYS; w++)
		result->times[w] = medians(times[w], n);
	unlink(output);
	add_result(bench, result);
	return true;
}

static void
keep_file(struct bench *bench, const char *file)
{
	bench->files = realloc(bench->files, (bench->n_files + 1) *
	                                             sizeof(*bench->files));
	if (!bench->files)
		die("out of memory");
	bench->files[bench->n_files++] = strdup(file);
}

static bool
is_map(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".map");
}

/* The levels of a folder, and those of the folders in it. */
static void
bench_folder(struct bench *bench, const char *folder, bool deep)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort);
	struct result sum = {.cells = 0};
	int n_levels = 0;

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		struct result result;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (is_map(name) && bench_file(bench, path, name, &result)) {
			keep_file(bench, path);
			add_up(&sum, &result);
			n_levels++;
		} else if (deep && !is_map(name) && name[0] != '.') {
			bench_folder(bench, path, false);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (n_levels < 2)
		return;
	snprintf(sum.name, sizeof(sum.name), "= all %d", n_levels);
	add_result(bench, &sum);
}

/* All levels as one batch, a thread for each or several. */
struct batch {
	struct bench *bench;
	enum way way;
};

static bool
bake_of_batch(void *user, uint32_t job, bool alone)
{
	const struct batch *batch = user;
	struct bake_options options = options_for(batch->bench, batch->way);
	char output[sizeof(batch->bench->folder) + 32];
	struct result result;
	struct times times;

	(void)alone;
	bake_file(batch->bench->files[job],
	          output_name(batch->bench, output, sizeof(output), job),
	          &options, &times, &result);
	return true;
}

static void
finish_of_batch(void *user, uint32_t job)
{
	const struct batch *batch = user;
	char output[sizeof(batch->bench->folder) + 32];

	output_name(batch->bench, output, sizeof(output), job);
}

static double
time_batch(struct bench *bench, enum way way, const uint64_t *weights)
{
	struct batch batch = {bench, way};
	struct batch_jobs jobs = {bench->n_files, weights, bake_of_batch,
	                          finish_of_batch, &batch};
	double began = clock_ms();

	batch_use_threads(way == ALL_THREADS ? 0 : 1);
	if (!batch_run(&jobs))
		die("out of memory");
	return clock_ms() - began;
}

static void
bench_batch(struct bench *bench)
{
	uint64_t *weights = calloc(bench->n_files + 1, sizeof(*weights));
	double ms[N_WAYS][MAX_REPEAT], median[N_WAYS];
	int n = bench->n_repeat;

	if (!weights)
		die("out of memory");
	for (uint32_t i = 0; i < bench->n_files; i++)
		weights[i] = file_weight(bench->files[i]);
	for (int i = 0; i < n; i++)
		for (int w = ONE_THREAD; w < N_WAYS; w++)
			ms[w][i] = time_batch(bench, (enum way)w, weights);
	for (int w = ONE_THREAD; w < N_WAYS; w++) {
		qsort(ms[w], (size_t)n, sizeof(ms[w][0]), compare);
		median[w] = ms[w][n / 2];
	}
	free(weights);
	if (bench->json)
		json_array_append_new(
			bench->rows,
			json_pack("{s:i, s:f, s:f}", "batch",
		                  (int)bench->n_files, "1_ms",
		                  median[ONE_THREAD], "all_ms",
		                  median[ALL_THREADS]));
	else
		printf("a batch of %u levels: 1 thread %.1f ms, all %.1f ms, "
		       "%.2f times\n",
		       bench->n_files, median[ONE_THREAD], median[ALL_THREADS],
		       median[ONE_THREAD] / median[ALL_THREADS]);
	fflush(stdout);
}

/* Several agents in one file. */

static const char *const profile_levels[] = {
	"dao/orz700d",       "dao/brc202d",      "da2/ht_0_hightown",
	"sc1/AcrosstheCape", "sc1/TheFrozenSea", "bg512/AR0602SR",
};
#define N_PROFILE_LEVELS (sizeof(profile_levels) / sizeof(profile_levels[0]))

static const struct bake_agent one_size[] = {
	{.name = "a", .size = 1},
	{.name = "b", .size = 1, .terrain = "ground"},
};
static const struct bake_agent sizes[] = {
	{.name = "a", .size = 1},
	{.name = "b", .size = 2},
	{.name = "c", .size = 3},
	{.name = "d", .size = 4},
};

struct crew {
	const char *title;
	const struct bake_agent *agents;
	uint32_t n;
};

static const struct crew crews[] = {
	{"1 agent", one_size, 1},
	{"2, same cells", one_size, 2},
	{"2 sizes", sizes, 2},
	{"4 sizes", sizes, 4},
};
#define N_CREWS (sizeof(crews) / sizeof(crews[0]))

/* What a level with a crew takes. */
struct cost {
	double bytes, packed_bytes, ms;
};

static double
bake_crew(const struct bench *bench, const char *file, const struct crew *crew,
          enum hpa_compress compress, struct times *times)
{
	struct bake_options options = options_for(bench, ONE_THREAD);
	char output[sizeof(bench->folder) + 32];
	struct result result;

	options.n_levels = 0;
	options.agents = crew->agents;
	options.n_agents = crew->n;
	options.compress = compress;
	if (!bake_file(file, output_name(bench, output, sizeof(output), 0),
	               &options, times, &result))
		die("a file is no level");
	unlink(output);
	return result.bytes;
}

/* The crews take turns. */
static void
bench_crews(const struct bench *bench, const char *file, struct cost *costs)
{
	static struct times times[N_CREWS][MAX_REPEAT];
	struct times ignored;

	for (int i = 0; i < bench->n_repeat; i++)
		for (size_t c = 0; c < N_CREWS; c++)
			costs[c].bytes =
				bake_crew(bench, file, &crews[c],
			                  HPA_COMPRESS_COLD, &times[c][i]);
	for (size_t c = 0; c < N_CREWS; c++) {
		costs[c].ms = medians(times[c], bench->n_repeat).ms[WHOLE];
		costs[c].packed_bytes = bake_crew(bench, file, &crews[c],
		                                  HPA_COMPRESS_ALL, &ignored);
	}
}

static void
add_costs(struct bench *bench, const char *name, const struct cost *costs)
{
	json_t *row = json_object();

	if (!bench->json)
		printf("| %s |", name);
	json_object_set_new(row, "level", json_string(name));
	for (size_t c = 0; c < N_CREWS; c++) {
		const struct cost *cost = &costs[c];

		if (!bench->json)
			printf(" %.0f / %.1f / %.1f |", cost->bytes / 1e3,
			       cost->packed_bytes / 1e3, cost->ms);
		json_object_set_new(row, crews[c].title,
		                    json_pack("{s:f, s:f, s:f}", "bytes",
		                              cost->bytes, "packed_bytes",
		                              cost->packed_bytes, "ms",
		                              cost->ms));
	}
	if (!bench->json)
		printf("\n");
	json_array_append_new(bench->rows, row);
	fflush(stdout);
}

static void
bench_profiles(struct bench *bench, const char *folder)
{
	if (!bench->json) {
		printf("| level |");
		for (size_t c = 0; c < N_CREWS; c++)
			printf(" %s |", crews[c].title);
		printf("\n|---|--:|--:|--:|--:|\n");
	}
	for (size_t i = 0; i < N_PROFILE_LEVELS; i++) {
		struct cost costs[N_CREWS];
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s.map", folder,
		         profile_levels[i]);
		bench_crews(bench, file, costs);
		add_costs(bench, profile_levels[i], costs);
	}
}

/* Generated levels */

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

/* Write a level as a file of its own. */
static void
write_level(const char *file, uint32_t side,
            bool (*is_free)(uint32_t x, uint32_t y))
{
	FILE *out = fopen(file, "wb");
	char *row = malloc((size_t)side + 1);

	if (!out || !row)
		die("the generated level can't be written");
	fprintf(out, "type octile\nheight %u\nwidth %u\nmap\n", side, side);
	for (uint32_t y = 0; y < side; y++) {
		for (uint32_t x = 0; x < side; x++)
			row[x] = is_free(x, y) ? '.' : '@';
		row[side] = '\n';
		fwrite(row, 1, (size_t)side + 1, out);
	}
	free(row);
	/* What is still to be written would slow down the bakes. */
	if (fflush(out) || fsync(fileno(out)) || fclose(out))
		die("the generated level can't be written");
}

static void
bench_generated(struct bench *bench, const char *name,
                bool (*is_free)(uint32_t x, uint32_t y))
{
	char file[sizeof(bench->folder) + 32], label[64];
	struct result result;

	if (bench->only && strcmp(bench->only, name) != 0)
		return;
	snprintf(file, sizeof(file), "%s/level.map", bench->folder);
	snprintf(label, sizeof(label), "%s %u", name, bench->side);
	write_level(file, bench->side, is_free);
	bench_file(bench, file, label, &result);
	unlink(file);
}

static enum hpa_compress
find_compress(const char *name)
{
	const struct bake_name *row = bake_compress_names;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	if (!row->name)
		die("--compress takes none, cold or all");
	return (enum hpa_compress)row->value;
}

static void
parse(int argc, char **argv, struct bench *bench, const char **folder)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			bench->json = true;
		else if (!strcmp(argv[i], "--profiles"))
			bench->profiles = true;
		else if (!strcmp(argv[i], "--side") && i + 1 < argc)
			bench->side = (uint32_t)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			bench->only = argv[++i];
		else if (!strcmp(argv[i], "--compress") && i + 1 < argc)
			bench->compress = find_compress(argv[++i]);
		else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
			bench->n_repeat = atoi(argv[++i]);
		else
			*folder = argv[i];
	}
	if (bench->n_repeat < 1 || bench->n_repeat > MAX_REPEAT)
		bench->n_repeat = 5;
}

static void
bench_speed(struct bench *bench, const char *folder)
{
	if (!bench->json)
		print_header();
	if (folder && !bench->only)
		bench_folder(bench, folder, true);
	if (bench->n_files > 1)
		bench_batch(bench);
	if (bench->side == 0)
		return;
	bench_generated(bench, "empty", empty);
	bench_generated(bench, "rooms", rooms);
	bench_generated(bench, "maze", maze);
	bench_generated(bench, "random", random_cells);
	bench_generated(bench, "islands", islands);
}

int
main(int argc, char **argv)
{
	struct bench bench = {
		.n_repeat = 5, .side = 2048, .compress = HPA_COMPRESS_COLD};
	const char *temporary = getenv("TMPDIR"), *folder = NULL;

	parse(argc, argv, &bench, &folder);
	snprintf(bench.folder, sizeof(bench.folder), "%s/hpabench-XXXXXX",
	         temporary ? temporary : "/tmp");
	if (!mkdtemp(bench.folder))
		die("there is no folder for temporary files");
	bench.rows = json_array();
	if (bench.profiles)
		bench_profiles(&bench, folder ? folder : ".");
	else
		bench_speed(&bench, folder);
	if (bench.json)
		json_dumpf(bench.rows, stdout, JSON_INDENT(1));
	json_decref(bench.rows);
	for (uint32_t i = 0; i < bench.n_files; i++)
		free(bench.files[i]);
	free(bench.files);
	rmdir(bench.folder);
	return 0;
}
