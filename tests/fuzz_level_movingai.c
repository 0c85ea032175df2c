/* fuzz_level_movingai.c: any bytes as a MovingAI map, once with the usual
 * letters and once with a price for some. */
#include "tests/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char rules[] = "G forest 3\nW water 2\n* rest 1\n";
	struct level_options options = {.format = "movingai"};
	struct terrain_table terrain = {.n_rules = 0};
	struct diag diag;

	fuzz_read_level(&options, data, size);
	fuzz_require(terrain_read((const uint8_t *)rules, sizeof(rules) - 1,
	                          &terrain, &diag) == DIAG_OK,
	             "the rules are read");
	options.terrain = &terrain;
	fuzz_read_level(&options, data, size);
	terrain_free(&terrain);
	return 0;
}
