/* fuzz_level_ldtk.c: any bytes as an LDtk project or level. Whatever level file
 * it names is the same bytes again. */
#include "tests/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct level_options options = {.format = "ldtk",
	                                .loader = {fuzz_load, &bytes}};

	fuzz_read_level(&options, data, size);
	options.index = 1;
	fuzz_read_level(&options, data, size);
	options.pick = "Vault";
	fuzz_read_level(&options, data, size);
	return 0;
}
