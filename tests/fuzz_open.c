/* fuzz_open.c: any bytes as a baked file, opened and asked for paths. Once as they
 * are, and once with all checksums put right, without which little would get past
 * the first checks. What they take from the allocator at once is bounded by how
 * many they are. */
#include "tests/fuzz.h"

#include "tests/image.h"
#include "tests/inquiry.h"

#define N_QUESTIONS 3u

/* Room for the map itself, and by how much a byte can grow: deflate's best, the
 * same of what is being unpacked. */
#define MAX_FIXED ((size_t)1 << 20)
#define MAX_RATIO (2 * (size_t)HPA_MAX_RATIO)

static void
open_and_ask(const uint8_t *data, size_t size)
{
	struct meter meter = {0, 0};
	const hpa_allocator allocator = meter_allocator(&meter);
	const char *detail = NULL, *wrong;
	const hpa_open_options how = {.allocator = &allocator,
	                              .detail = &detail};
	struct rng rng = {hpa_hash(HPA_HASH_SEED, data, size)};
	clock_t begin = clock();
	hpa_map *map;
	hpa_status st = hpa_map_open_memory(data, size, &how, &map);

	if (st == HPA_OK) {
		wrong = inquire(&rng, map, N_QUESTIONS);
		if (wrong)
			fuzz_require(0, wrong);
		hpa_map_close(map);
	} else {
		fuzz_require(st == HPA_CORRUPT || st == HPA_NOT_HPA ||
		                     st == HPA_TOO_NEW,
		             "a wrong status");
		fuzz_require(detail && !map, "an error without a text");
	}
	fuzz_require(meter.now == 0, "memory is not given back");
	fuzz_require(meter.most <= MAX_FIXED + MAX_RATIO * size,
	             "too much memory is taken");
	fuzz_require_a_second(begin);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct image as_it_is = {(uint8_t *)(uintptr_t)data, size};
	struct image sealed = image_copy(&as_it_is);

	open_and_ask(data, size);
	if (size >= HPA_HEADER_SIZE)
		hpa_put_le64(sealed.data + HPA_OFF_FILE_SIZE, size);
	image_seal(&sealed);
	open_and_ask(sealed.data, sealed.size);
	free(sealed.data);
	return 0;
}
