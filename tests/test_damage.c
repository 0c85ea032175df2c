/* test_damage.c: whatever happens to the bytes of a file, no harm is done.
 *
 * Six small files have all sections and all codecs between them. Each is
 * damaged at every byte, cut off at every length, lengthened, and has each
 * number of its header, of its table and of its sections replaced by those that
 * programmers forget. What must become of it depends on what is put right then:
 *
 *     nothing: it is refused.
 *     The checksums: it is refused, or it holds the same sections as before and
 *     gives the same answers, which are those of the oracle.
 *     These and the content hash, as if it had been written so: it is refused, or
 *     gives answers that are possible: legal paths between the right cells, found
 *     in bounded time and memory. The specification says in 8.4 what of a section
 *     no reader can check.
 *
 * The suite tries numbers at some places of the sections, drawn by a seed that is
 * printed, `make soak' at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/image.h"
#include "tests/inquiry.h"
#include "tests/subjects.h"
#include "tests/support.h"

#define N_QUESTIONS 4u
#define N_FIXED_QUESTIONS 24u
#define MAX_APPENDED 64u

struct subject {
	const char *name;
	struct image image;
	uint64_t answers, content;
};

static struct {
	struct rng rng;
	struct subject subjects[N_SUBJECTS];
	unsigned long n_refused, n_same, n_other;
	size_t most_memory; /* per byte of the file */
} all;

/* What the sections say, whatever their codecs and places. */
static uint64_t
content_of(const struct image *image)
{
	struct image sealed = image_copy(image);
	uint64_t hash;

	image_seal(&sealed);
	hash = hpa_get_le64(sealed.data + HPA_OFF_CONTENT_HASH);
	free(sealed.data);
	return hash;
}

static hpa_status
open_image(const struct image *image, struct meter *meter, hpa_map **map)
{
	const char *detail = NULL;
	const hpa_allocator allocator = meter_allocator(meter);
	const hpa_open_options how = {.allocator = &allocator,
	                              .detail = &detail};
	hpa_status st =
		hpa_map_open_memory(image->data, image->size, &how, map);

	if (st != HPA_OK) {
		assert_null(*map);
		assert_non_null(detail);
		assert_int_equal(meter->now, 0);
	}
	return st;
}

/* What was done to the file, for the log. */
struct damage {
	const struct subject *subject;
	const char *what;
	size_t at;
	uint64_t value;
};

static void
fail_damage(const struct damage *damage, const char *why)
{
	fail_msg("%s, %s at %lu, %llx: %s", damage->subject->name, damage->what,
	         (unsigned long)damage->at, (unsigned long long)damage->value,
	         why);
}

/* What was put right after the damage. */
enum seal { SEAL_NOTHING, SEAL_SUMS, SEAL_ALL };

/* One that opens: is it the same, or harmless? */
static void
judge_open(const struct damage *damage, const struct image *image,
           enum seal seal, const hpa_map *map)
{
	const struct subject *subject = damage->subject;
	const char *wrong;

	if (content_of(image) == subject->content) {
		if (inquiry_hash(map, N_FIXED_QUESTIONS) != subject->answers)
			fail_damage(damage, "other answers by the same bytes");
		all.n_same++;
		return;
	}
	if (seal != SEAL_ALL)
		fail_damage(damage, "it opens with other sections");
	wrong = inquire(&all.rng, map, N_QUESTIONS);
	if (wrong)
		fail_damage(damage, wrong);
	all.n_other++;
}

static void
judge(const struct damage *damage, const struct image *image, enum seal seal)
{
	struct image exact = image_copy(image);
	struct meter meter = {0, 0};
	hpa_map *map;
	hpa_status st = open_image(&exact, &meter, &map);

	if (st != HPA_OK) {
		if (st != HPA_CORRUPT && st != HPA_NOT_HPA && st != HPA_TOO_NEW)
			fail_damage(damage, hpa_status_text(st));
		all.n_refused++;
	} else {
		if (seal == SEAL_NOTHING)
			fail_damage(damage, "it opens");
		judge_open(damage, &exact, seal, map);
		hpa_map_close(map);
	}
	if (exact.size > 0 && meter.most / exact.size > all.most_memory)
		all.most_memory = meter.most / exact.size;
	free(exact.data);
}

static void
judge_all(const struct damage *damage, struct image *image)
{
	const struct image *good = &damage->subject->image;
	struct image sealed;

	if (image->size == good->size &&
	    !memcmp(image->data, good->data, good->size))
		return;
	judge(damage, image, SEAL_NOTHING);
	sealed = image_copy(image);
	if (sealed.size != good->size && sealed.size >= HPA_HEADER_SIZE)
		hpa_put_le64(sealed.data + HPA_OFF_FILE_SIZE, sealed.size);
	image_seal_sums(&sealed);
	judge(damage, &sealed, SEAL_SUMS);
	image_seal(&sealed);
	judge(damage, &sealed, SEAL_ALL);
	free(sealed.data);
}

/* The files */

static void
add_subject(uint32_t index, const char *name, struct image image)
{
	struct subject *subject = &all.subjects[index];
	struct meter meter = {0, 0};
	hpa_map *map;

	subject->name = name;
	subject->image = image;
	assert_int_equal(open_image(&subject->image, &meter, &map), HPA_OK);
	subject->answers = inquiry_hash(map, N_FIXED_QUESTIONS);
	subject->content = content_of(&subject->image);
	hpa_map_close(map);
}

static int
set_up(void **state)
{
	struct image images[N_SUBJECTS];

	(void)state;
	all.rng.state = test_seed();
	subjects_bake(images);
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		add_subject(i, subject_names[i], images[i]);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		free(all.subjects[i].image.data);
	return 0;
}

static void
tell(void)
{
	printf("# %lu refused; %lu opened with the same sections, %lu with "
	       "others; at most %lu bytes taken per byte\n",
	       all.n_refused, all.n_same, all.n_other,
	       (unsigned long)all.most_memory);
	all.n_refused = all.n_same = all.n_other = 0;
}

/* The tests */

static bool
has_codec(const char *id, uint8_t codec)
{
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct image *image = &all.subjects[i].image;

		for (uint32_t k = 0; k < image_n_sections(image); k++) {
			const uint8_t *entry = image_entry(image, k);

			if (!memcmp(entry + HPA_ENT_ID, id, 4) &&
			    entry[HPA_ENT_CODEC] == codec)
				return true;
		}
	}
	return false;
}

static void
the_files_have_all_sections_and_codecs(void **state)
{
	static const struct {
		const char *id;
		uint8_t codec;
	} rows[] = {
		{"AGNT", 0}, {"TERR", 0}, {"LINK", 0}, {"FACT", 0}, {"CELL", 0},
		{"COMP", 0}, {"NODE", 0}, {"INTR", 0}, {"LEVL", 0}, {"LEDG", 0},
		{"REAC", 0}, {"CLUS", 0}, {"TABL", 0}, {"PATH", 0}, {"AGNT", 1},
		{"TERR", 1}, {"FACT", 1}, {"LEVL", 1}, {"PATH", 1}, {"CELL", 2},
		{"NODE", 2}, {"INTR", 2}, {"CLUS", 2}, {"TABL", 2},
	};

	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++)
		printf("# %s: %lu bytes\n", all.subjects[i].name,
		       (unsigned long)all.subjects[i].image.size);
	for (size_t i = 0; i < N_ELEMENTS(rows); i++)
		if (!has_codec(rows[i].id, rows[i].codec))
			fail_msg("no %s by codec %u", rows[i].id,
			         rows[i].codec);
}

/* What the undamaged ones answer is right. */
static void
the_answers_are_those_of_the_oracle(void **state)
{
	struct level level;
	struct oracle *oracle;

	(void)state;
	level_from_text(subjects_level, &level);
	oracle = oracle_new(&level, HPA_RULE_8);
	assert_non_null(oracle);
	for (uint32_t i = 0; i < 3; i++) {
		struct meter meter = {0, 0};
		hpa_query *query;
		hpa_map *map;

		assert_int_equal(
			open_image(&all.subjects[i].image, &meter, &map),
			HPA_OK);
		assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
		for (uint32_t k = 0; k < 400; k++) {
			hpa_cell from = random_cell(&all.rng, &level);
			hpa_cell to = random_cell(&all.rng, &level);
			uint64_t cost = 0, least = ORACLE_NO_PATH;
			hpa_status st = hpa_query_cost(query, from, to, &cost);

			if (level_is_free(&level, from) &&
			    level_is_free(&level, to))
				least = oracle_cost(oracle, from.x, from.y,
				                    to.x, to.y);
			assert_int_equal(st == HPA_OK, least != ORACLE_NO_PATH);
			assert_true(st != HPA_OK || cost >= least);
		}
		hpa_query_free(query);
		hpa_map_close(map);
	}
	oracle_free(oracle);
	level_free(&level);
}

/* Every single bit, no bit, all bits, all bits turned. */
static uint8_t
pattern(uint8_t byte, uint32_t number)
{
	if (number < 8)
		return byte ^ (uint8_t)(1u << number);
	return number == 8 ? 0 : number == 9 ? 0xff : (uint8_t)~byte;
}
#define N_PATTERNS 11u

static void
damage_byte(const struct subject *subject, struct image *image, size_t at,
            uint32_t number)
{
	uint8_t before = image->data[at];
	struct damage damage = {subject, "byte", at, pattern(before, number)};

	image->data[at] = (uint8_t)damage.value;
	judge_all(&damage, image);
	image->data[at] = before;
}

static void
every_byte_may_be_damaged(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct subject *subject = &all.subjects[i];
		struct image image = image_copy(&subject->image);

		for (size_t at = 0; at < image.size; at++)
			for (uint32_t k = 0; k < N_PATTERNS; k++)
				damage_byte(subject, &image, at, k);
		free(image.data);
	}
	tell();
}

static void
the_end_may_be_missing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct subject *subject = &all.subjects[i];

		for (size_t size = 0; size < subject->image.size; size++) {
			struct damage damage = {subject, "cut", size, 0};
			struct image cut = image_cut(&subject->image, size);

			judge_all(&damage, &cut);
			free(cut.data);
		}
	}
	assert_int_equal(all.n_same + all.n_other, 0);
	tell();
}

static void
there_may_be_more(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct subject *subject = &all.subjects[i];
		size_t size = subject->image.size;

		for (uint32_t n = 1; n <= 2 * MAX_APPENDED; n++) {
			struct damage damage = {subject, "longer", n, n % 2};
			struct image more = {malloc(size + n), size + n / 2};

			more.size += n % 2;
			assert_non_null(more.data);
			memcpy(more.data, subject->image.data, size);
			for (size_t k = size; k < more.size; k++)
				more.data[k] =
					(uint8_t)(n % 2 * rng_next(&all.rng));
			judge_all(&damage, &more);
			free(more.data);
		}
	}
	assert_int_equal(all.n_same + all.n_other, 0);
	tell();
}

/* Numbers that programmers forget; the last two are one off. */
#define N_VALUES 8u

static uint64_t
awkward(uint64_t before, uint32_t number)
{
	static const uint64_t values[] = {0,          1,
	                                  INT32_MAX,  (uint64_t)INT32_MAX + 1,
	                                  UINT32_MAX, UINT64_MAX};

	if (number < 6)
		return values[number];
	return number == 6 ? before - 1 : before + 1;
}

static void
damage_number(const struct subject *subject, struct image *image, size_t at,
              uint32_t width)
{
	uint8_t before[8];
	uint64_t number = 0;

	memcpy(before, image->data + at, width);
	for (uint32_t i = 0; i < width; i++)
		number |= (uint64_t)before[i] << 8 * i;
	for (uint32_t k = 0; k < N_VALUES; k++) {
		struct damage damage = {subject, "number", at,
		                        awkward(number, k)};

		for (uint32_t i = 0; i < width; i++)
			image->data[at + i] = (uint8_t)(damage.value >> 8 * i);
		judge_all(&damage, image);
	}
	memcpy(image->data + at, before, width);
}

struct field {
	uint32_t offset, width;
};

static const struct field header_fields[] = {
	{HPA_OFF_MAJOR, 2},        {HPA_OFF_MINOR, 2},
	{HPA_OFF_HEADER_SIZE, 4},  {HPA_OFF_FILE_SIZE, 8},
	{HPA_OFF_N_SECTIONS, 4},   {HPA_OFF_ENTRY_SIZE, 4},
	{HPA_OFF_CONTENT_HASH, 8}, {HPA_OFF_SOURCE_HASH, 8},
	{HPA_OFF_OPTIONS_HASH, 8}, {HPA_OFF_INFLATED_SIZE, 8},
	{HPA_OFF_COMPRESSOR, 8},   {HPA_OFF_TABLE_CRC, 4},
	{HPA_OFF_HEADER_CRC, 4},
};

static const struct field entry_fields[] = {
	{HPA_ENT_ID, 4},       {HPA_ENT_FLAGS, 2},  {HPA_ENT_CODEC, 1},
	{HPA_ENT_ALIGN, 1},    {HPA_ENT_OFFSET, 8}, {HPA_ENT_STORED_SIZE, 8},
	{HPA_ENT_RAW_SIZE, 8}, {HPA_ENT_CRC, 4},    {HPA_ENT_PROFILE, 4},
};

#define N_FIELDS(fields) (sizeof(fields) / sizeof(*(fields)))

static void
every_number_of_header_and_table_may_be_wrong(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct subject *subject = &all.subjects[i];
		struct image image = image_copy(&subject->image);
		uint32_t n = image_n_sections(&image);

		for (size_t k = 0; k < N_FIELDS(header_fields); k++)
			damage_number(subject, &image, header_fields[k].offset,
			              header_fields[k].width);
		for (uint32_t s = 0; s < n; s++)
			for (size_t k = 0; k < N_FIELDS(entry_fields); k++)
				damage_number(subject, &image,
				              HPA_HEADER_SIZE +
				                      s * HPA_ENTRY_SIZE +
				                      entry_fields[k].offset,
				              entry_fields[k].width);
		free(image.data);
	}
	tell();
}

/* Numbers of 4 bytes at every place that can hold one, and of 2 bytes. */
static void
every_number_of_a_section_may_be_wrong(void **state)
{
	uint32_t step = test_is_soak() ? 1 : 7;

	(void)state;
	for (uint32_t i = 0; i < N_SUBJECTS; i++) {
		const struct subject *subject = &all.subjects[i];
		struct image image = image_copy(&subject->image);
		size_t begin =
			HPA_HEADER_SIZE +
			(size_t)HPA_ENTRY_SIZE * image_n_sections(&image);
		size_t at = begin + 4 * rng_below(&all.rng, step);

		for (; at + 4 <= image.size; at += 4 * step) {
			damage_number(subject, &image, at, 4);
			damage_number(subject, &image, at, 2);
			damage_number(subject, &image, at + 2, 2);
		}
		free(image.data);
	}
	tell();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_files_have_all_sections_and_codecs),
		cmocka_unit_test(the_answers_are_those_of_the_oracle),
		cmocka_unit_test(every_byte_may_be_damaged),
		cmocka_unit_test(the_end_may_be_missing),
		cmocka_unit_test(there_may_be_more),
		cmocka_unit_test(every_number_of_header_and_table_may_be_wrong),
		cmocka_unit_test(every_number_of_a_section_may_be_wrong),
	};

	return cmocka_run_group_tests_name("damage", tests, set_up, tear_down);
}
