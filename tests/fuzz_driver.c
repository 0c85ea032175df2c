/* fuzz_driver.c: run a fuzz target without a fuzzer.
 *
 * The target fuzz_level_NAME is fed with our own levels of the format NAME, those
 * of fuzz_seeds.h and some of HPA_MAPS, fuzz_open with baked ones, damaged in
 * random ways. The seed is printed and taken back, HPA_FUZZ_ROUNDS is how often. Inputs
 * are handed over in memory of exactly their size, for the sanitizers; what is
 * found shows as a crash. With HPA_FUZZ_SEEDS the undamaged ones are written into
 * the folder of that name instead, for a fuzzer to begin with. */
#include "tests/fuzz.h"

#include "tests/fuzz_seeds.h"
#include "tests/subjects.h"
#include "tests/support.h"

#define DEFAULT_ROUNDS 3000u
#define DEFAULT_ROUNDS_OF_OPEN 30000u
#define MAX_SEED_SIZE 5000u
#define MAX_SEEDS 32u
#define PREFIX "fuzz_level_"

struct bytes {
	uint8_t *data;
	size_t size;
};

struct corpus {
	struct bytes seeds[MAX_SEEDS];
	uint32_t n;
};

static void *
must_have(void *memory)
{
	fuzz_require(memory != NULL, "no memory");
	return memory;
}

static void
add_seed(const char *path, const char *name, void *user)
{
	struct corpus *corpus = user;
	struct bytes seed;

	(void)name;
	if (corpus->n == MAX_SEEDS)
		return;
	seed.data = read_file(path, &seed.size);
	if (seed.data && seed.size <= MAX_SEED_SIZE)
		corpus->seeds[corpus->n++] = seed;
	else
		free(seed.data);
}

/* NULL: the program reads no levels. */
static const struct level_format *
find_format(const char *program)
{
	const char *name = strstr(program, PREFIX);
	const struct level_format *format = level_formats;

	if (!name)
		return NULL;
	name += strlen(PREFIX);
	while (format->name && strcmp(format->name, name) != 0)
		format++;
	fuzz_require(format->name != NULL, "there is no such format");
	return format;
}

static void
gather_baked(struct corpus *out)
{
	struct image images[N_SUBJECTS];

	subjects_bake(images);
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		out->seeds[out->n++] =
			(struct bytes){images[i].data, images[i].size};
}

static void
add_text(struct corpus *out, const char *text)
{
	struct bytes seed = {NULL, strlen(text)};

	fuzz_require(out->n < MAX_SEEDS, "too many to begin with");
	seed.data = must_have(malloc(seed.size));
	memcpy(seed.data, text, seed.size);
	out->seeds[out->n++] = seed;
}

/* All small files of the format that we have. */
static void
gather_levels(const struct level_format *format, struct corpus *out)
{
	const char *folders[] = {"formats/ldtk", "formats/png", "formats/ros",
	                         "formats/tmx"};
	char suffixes[64];

	for (size_t i = 0; i < N_ELEMENTS(fuzz_seeds); i++)
		if (!strcmp(fuzz_seeds[i].format, format->name))
			add_text(out, fuzz_seeds[i].text);
	snprintf(suffixes, sizeof(suffixes), "%s", format->suffixes);
	for (char *suffix = strtok(suffixes, " "); suffix;
	     suffix = strtok(NULL, " ")) {
		for_each_file(data_folder(), suffix, add_seed, out);
		for (size_t i = 0; i < N_ELEMENTS(folders); i++)
			if (maps_folder(folders[i]))
				for_each_file(maps_folder(folders[i]), suffix,
				              add_seed, out);
	}
}

/* One damage, in place; the input never grows. */
static void
damage(struct rng *rng, struct bytes *input)
{
	uint32_t size = (uint32_t)input->size;
	uint32_t at = rng_below(rng, size);
	uint32_t rest = size - at;
	uint32_t from, n;

	switch (rng_below(rng, 7)) {
	case 0: /* a bit */
		input->data[at] ^= (uint8_t)(1u << rng_below(rng, 8));
		break;
	case 1: /* a byte */
		input->data[at] = (uint8_t)rng_next(rng);
		break;
	case 2: /* a number at its limits */
		memset(input->data + at, rng_chance(rng, 50) ? 0 : 0xff,
		       rest < 4 ? rest : 4);
		break;
	case 3: /* a digit */
		input->data[at] = (uint8_t)('0' + rng_below(rng, 10));
		break;
	case 4: /* something is cut out */
		n = rng_between(rng, 1, rest < 40 ? rest : 40);
		memmove(input->data + at, input->data + at + n, rest - n);
		input->size -= n;
		break;
	case 5: /* something comes again elsewhere */
		from = rng_below(rng, size);
		n = rng_between(rng, 1, 40);
		n = n < size - from ? n : size - from;
		n = n < rest ? n : rest;
		memmove(input->data + at, input->data + from, n);
		break;
	default: /* the end is missing */
		if (rng_chance(rng, 25))
			input->size = at;
	}
}

static void
run_damaged(struct rng *rng, const struct bytes *seed)
{
	struct bytes input = {must_have(malloc(seed->size + 1)), seed->size};
	uint32_t n = rng_between(rng, 1, 6);
	uint8_t *exact;

	memcpy(input.data, seed->data, seed->size);
	for (uint32_t i = 0; i < n && input.size > 0; i++)
		damage(rng, &input);
	exact = must_have(malloc(input.size ? input.size : 1));
	memcpy(exact, input.data, input.size);
	LLVMFuzzerTestOneInput(exact, input.size);
	free(exact);
	free(input.data);
}

static void
write_seeds(const struct corpus *corpus, const char *folder)
{
	char name[4096];

	for (uint32_t i = 0; i < corpus->n; i++) {
		FILE *file;

		snprintf(name, sizeof(name), "%s/%u", folder, (unsigned)i);
		file = fopen(name, "wb");
		fuzz_require(file && fwrite(corpus->seeds[i].data, 1,
		                            corpus->seeds[i].size,
		                            file) == corpus->seeds[i].size,
		             "a seed can't be written");
		fclose(file);
	}
}

static void
run_all(struct rng *rng, const struct corpus *corpus, unsigned long n)
{
	for (uint32_t i = 0; i < corpus->n; i++)
		LLVMFuzzerTestOneInput(corpus->seeds[i].data,
		                       corpus->seeds[i].size);
	for (unsigned long i = 0; i < n; i++)
		run_damaged(rng, &corpus->seeds[rng_below(rng, corpus->n)]);
}

int
main(int argc, char **argv)
{
	const char *rounds = getenv("HPA_FUZZ_ROUNDS");
	const char *folder = getenv("HPA_FUZZ_SEEDS");
	struct rng rng = {test_seed()};
	struct corpus corpus = {.n = 0};
	const struct level_format *format = find_format(argv[0]);
	unsigned long n = format ? DEFAULT_ROUNDS : DEFAULT_ROUNDS_OF_OPEN;

	(void)argc;
	if (rounds && *rounds)
		n = strtoul(rounds, NULL, 10);
	printf("1..1\n");
	if (format && format->needs) {
		printf("ok 1 # SKIP built without %s\n", format->needs);
		return 0;
	}
	if (format)
		gather_levels(format, &corpus);
	else
		gather_baked(&corpus);
	fuzz_require(corpus.n > 0, "there is nothing to begin with");
	if (folder)
		write_seeds(&corpus, folder);
	else
		run_all(&rng, &corpus, n);
	printf("ok 1 - %lu damaged files of %lu do no harm\n", n,
	       (unsigned long)corpus.n);
	for (uint32_t i = 0; i < corpus.n; i++)
		free(corpus.seeds[i].data);
	return 0;
}
