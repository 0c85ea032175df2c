/* fuzz.h: what a fuzzer calls, and what the level readers have to keep to,
 * whatever bytes they are given.
 *
 * A fuzz_level_NAME.c hands bytes to the reader of the format NAME, fuzz_open.c to
 * that of baked files. It is linked with fuzz_driver.c into a test, or with
 * clang's fuzzer. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/level.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
fuzz_require(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "# %s\n", what);
	abort();
}

/* For an input that took the processor from `begin` on, by clock(): whatever else
 * runs on the machine does not count. */
static inline void
fuzz_require_a_second(clock_t begin)
{
	fuzz_require(clock() - begin < CLOCKS_PER_SEC,
	             "an input takes more than a second");
}

/* A loader that gives the same bytes for every name. */
struct fuzz_bytes {
	const uint8_t *data;
	size_t size;
};

static inline enum diag_status
fuzz_load(void *user, const char *name, const uint8_t **data, size_t *size,
          struct diag *diag)
{
	const struct fuzz_bytes *bytes = user;

	(void)name;
	(void)diag;
	*data = bytes->data;
	*size = bytes->size;
	return DIAG_OK;
}

/* Read a level and look at all of it: either there is one, whose cells have
 * classes, or there is none and a reason of one line. */
static inline void
fuzz_read_level(const struct level_options *options, const uint8_t *data,
                size_t size)
{
	struct level level;
	struct diag diag = {.status = DIAG_OK};
	clock_t begin = clock();
	enum diag_status status =
		level_read("fuzz", data, size, options, &level, &diag);

	if (status) {
		fuzz_require(diag.status == status && diag.text[0],
		             "an error without a text");
		fuzz_require(!level.cells && !level.width,
		             "an error with a level");
	} else {
		size_t n_cells = (size_t)level.width * level.height;

		fuzz_require(n_cells > 0, "a level without cells");
		for (size_t i = 0; i < n_cells; i++)
			fuzz_require(level.cells[i] < level.terrain.n,
			             "a cell without a class");
	}
	level_free(&level);
	fuzz_require_a_second(begin);
}

#endif
