/* progress.h: how far a batch has come, on stderr. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/bake/bake.h"

enum progress_mode {
	PROGRESS_AUTO = 0, /* a bar if stderr is a terminal, else nothing */
	PROGRESS_JSON = 1,
	PROGRESS_NONE = 2
};
extern const struct bake_name progress_mode_names[];

/* All of it is progress.c's. */
struct progress {
	bool has_bar, has_colour, is_json, is_hidden;
	pthread_mutex_t lock;
	unsigned columns;
	uint32_t n_levels, n_done;
	uint64_t weight, weight_done; /* of the files */
	uint64_t n_cells;
	double began_ms, drawn_ms;
};

/* A level that is done. */
struct progress_level {
	const char *file;
	const char *status;
	uint64_t weight, n_cells;
};

/* Begin with a batch of files whose weights have that sum. */
void progress_begin(struct progress *progress, enum progress_mode mode,
                    uint32_t n_levels, uint64_t weight);

/* May be called by several threads at once, also between hide and show. */
void progress_step(struct progress *progress,
                   const struct progress_level *level);

/* Nothing is drawn from hide to show, and what was is gone. For one thread at a
 * time, which may print meanwhile. */
void progress_hide(struct progress *progress);
void progress_show(struct progress *progress);

void progress_end(struct progress *progress);

#endif
