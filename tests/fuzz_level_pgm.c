/* fuzz_level_pgm.c: any bytes as a PGM image. */
#include "tests/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct level_options options = {.format = "pgm"};

	fuzz_read_level(&options, data, size);
	return 0;
}
