/* refusals.h: a baked file is damaged on purpose, and refused for that.
 *
 * The damage is done at named offsets and the checksums are put right again, so
 * that the reader has to notice the damage itself. What is not as asserted fails
 * the test. */
#ifndef TESTS_REFUSALS_H
#define TESTS_REFUSALS_H

#include "include/hpa.h"
#include "tests/image.h"
#include "tests/support.h"

/* The table entry of the first section of that id, and its stored bytes. */
uint8_t *entry_of(const struct image *image, const char *id);
uint8_t *section_of(const struct image *image, const char *id);

/* A little-endian number of so many bytes. */
void put(uint8_t *at, unsigned width, uint64_t value);

hpa_status try_to_open(const struct image *image, hpa_map **map,
                       const char **detail);
void assert_opens(const struct image *image);
void assert_refused(const struct image *image, hpa_status status,
                    const char *why);

/* The same of the container alone, which names the section. */
void assert_file_refused(const struct image *image, const char *why,
                         const char *culprit);

/* The file with other bytes in a section, as with_section() makes it, is corrupt
 * for that reason. */
void assert_section_refused(const struct image *image, const char *id,
                            const uint8_t *raw, size_t size, const char *why);

/* Bytes of a section that become others. */
struct patch {
	const char *id; /* "" ends the list */
	uint32_t offset;
	unsigned width; /* bytes */
	uint64_t value;
};

#define NO_MORE                                                                \
	{                                                                      \
		"", 0, 0, 0                                                    \
	}

/* What is patched together, and for what it is corrupt. */
struct refusal {
	const char *why;
	struct patch patches[4];
};

/* Each of the rows is refused. */
void assert_refusals(const struct image *good, const struct refusal *rows,
                     size_t n);

/* Any damage: open the file and use it. False if it is refused. */
bool use_damaged(struct rng *rng, const struct image *image);

#define FACT(field, value)                                                     \
	{                                                                      \
		HPA_ID_FACTS, HPA_FACT_##field, 4, value                       \
	}

#endif
