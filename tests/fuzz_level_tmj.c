/* fuzz_level_tmj.c: any bytes as a map in Tiled's JSON. Whatever tileset it names
 * is the same bytes again. Read three times, for the ways to say what blocks. */
#include "tests/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct level_options options = {.format = "tmj",
	                                .loader = {fuzz_load, &bytes}};

	fuzz_read_level(&options, data, size);
	options.layer = "Ground";
	fuzz_read_level(&options, data, size);
	options.layer = NULL;
	options.property = "collides";
	fuzz_read_level(&options, data, size);
	return 0;
}
