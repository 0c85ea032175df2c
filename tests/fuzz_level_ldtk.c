/* fuzz_level_ldtk.c: any bytes as an LDtk project or level. Whatever level file
 * it names is the same bytes again. */
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
	struct level_options options = {.format = "ldtk",
	                                .loader = {load, &bytes}};

	fuzz_read_level(&options, data, size);
	options.index = 1;
	fuzz_read_level(&options, data, size);
	options.pick = "Vault";
	fuzz_read_level(&options, data, size);
	return 0;
}
