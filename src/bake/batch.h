/* batch.h: many levels on all cores. */
#ifndef BAKE_BATCH_H
#define BAKE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/workers.h"

/* Have what follows in this thread use so many; 0: all cores. */
void batch_use_threads(unsigned n_threads);

/* How many that are. */
unsigned batch_threads(void);

/* These threads, for what knows of none. */
extern const struct workers batch_workers;

/* Jobs 0 … n-1. weights[] says which take longer; of bytes of a level's file, 16
 * million are much.
 *
 * work() does one, on a thread of its own while others do theirs, or `alone`:
 * it may then use all threads and all memory. Where it is not alone it may
 * refuse, by false, and is called again when it is. finish() is called once for
 * each, in their order, by one thread at a time. */
struct batch_jobs {
	uint32_t n;
	const uint64_t *weights;
	bool (*work)(void *user, uint32_t job, bool alone);
	void (*finish)(void *user, uint32_t job);
	void *user;
};

/* Do all jobs. false: there was no memory to begin. */
bool batch_run(const struct batch_jobs *jobs);

#endif
