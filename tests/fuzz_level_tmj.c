/* fuzz_level_tmj.c: any bytes as a map in Tiled's JSON. Whatever tileset it names
 * is the same bytes again. Read three times, for the ways to say what blocks. */
#include "tests/fuzz.h"

struct bytes {
	const uint8_t *data;
	size_t size;
};

static enum diag_status
load(void *user, const char *name, const uint8_t **data, size_t *size,
     struct diag *diag)
{
	const struct bytes *bytes = user;

	(void)name;
	(void)diag;
	*data = bytes->data;
	*size = bytes->size;
	return DIAG_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {data, size};
	struct level_options options = {.format = "tmj",
	                                .loader = {load, &bytes}};

	fuzz_read_level(&options, data, size);
	options.layer = "Ground";
	fuzz_read_level(&options, data, size);
	options.layer = NULL;
	options.property = "collides";
	fuzz_read_level(&options, data, size);
	return 0;
}
