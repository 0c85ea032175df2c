/* fuzz_level_ros.c: any bytes as the YAML of a ROS map. Whatever image it names
 * is the same small one: images have fuzzers of their own. */
#include "tests/fuzz.h"

static const uint8_t image[] = "P5\n3 2\n255\n\x00\xcd\xfe\xff\x80\x01";

static enum diag_status
load(void *user, const char *name, const uint8_t **data, size_t *size,
     struct diag *diag)
{
	(void)user;
	(void)diag;
	fuzz_require(name[0] != '\0', "a file without a name");
	*data = image;
	*size = sizeof(image) - 1;
	return DIAG_OK;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct level_options options = {.format = "ros",
	                                      .loader = {load, NULL}};

	fuzz_read_level(&options, data, size);
	return 0;
}
