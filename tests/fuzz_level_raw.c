/* fuzz_level_raw.c: any bytes as a raw level; the first two are its sides. */
#include "tests/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct level_options options = {.format = "raw"};

	if (size < 2)
		return 0;
	options.width = data[0];
	options.height = data[1];
	fuzz_read_level(&options, data + 2, size - 2);
	if (options.width)
		options.height = (uint32_t)(size - 2) / options.width;
	fuzz_read_level(&options, data + 2,
	                (size_t)options.width * options.height);
	return 0;
}
