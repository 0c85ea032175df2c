/* bench_files.h: what a bench is made of: a map and its problems. */
#ifndef CLI_BENCH_FILES_H
#define CLI_BENCH_FILES_H

#include "src/cli/input.h"

/* A baked file, or a level that was baked in memory. */
struct bench_map {
	hpa_map *map;
	struct bake_output baked; /* of a level */
};

/* Open a baked file, or read a level and bake it with the default options. Close
 * it in any case. */
enum diag_status bench_map_open(const char *file,
                                const struct level_options *reading,
                                struct bench_map *out, struct diag *diag);
void bench_map_close(struct bench_map *map);

/* The problems of a file: those of the .scen file, or of the one of its name in
 * the folder `scen`, or of the one beside it (castle.map.scen or castle.scen for
 * castle.hpa). scen may be NULL. Free *out with scen_free(). */
enum diag_status bench_problems(const char *file, const char *scen,
                                const hpa_map *map, struct scen *out,
                                struct diag *diag);

/* n problems between random free cells that are connected, the same from the same
 * seed; none where there are no such cells. Free *out with scen_free(). */
enum diag_status bench_random_problems(const hpa_map *map, size_t n,
                                       uint64_t seed, struct scen *out,
                                       struct diag *diag);

/* A .scen file is for one file: DIAG_USAGE where there are several. */
enum diag_status bench_check_scen(const char *scen, int n_files,
                                  struct diag *diag);

/* The name of a file without its folder and its suffix: where it begins, and its
 * size. */
int bench_stem_of(const char *file, const char **out);

/* The folder that a file lies in; NULL without memory. */
char *bench_folder_of(const char *file);

#endif
