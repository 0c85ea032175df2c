/* test_pack.c: sections that are packed, and what is refused of them.
 *
 * A file with everything compressed has the sections of one that is stored, byte
 * for byte. Damage is done behind the deflate, where no checksum is left to
 * notice: the bytes of a section, packed or not, are changed and the file is put
 * together again. Whatever then comes out of unpacking must pass the checks that
 * a stored section has to, or be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "formats/hpa_layout.h"
#include "formats/hpa_pack.h"
#include "formats/hpa_read.h"
#include "formats/hpa_unpack.h"
#include "tests/support.h"
#include "tests/world.h"

#define MAX_SIDE 48
#define N_WORLDS 400
#define N_DAMAGED 60
#define MAX_CELLS 4096

static void
assert_same_sections(const struct hpa_file *a, const struct hpa_file *b)
{
	assert_int_equal(a->n_sections, b->n_sections);
	for (uint32_t i = 0; i < a->n_sections; i++) {
		const struct hpa_section *x = &a->sections[i];
		const struct hpa_section *y = &b->sections[i];

		assert_string_equal(x->id, y->id);
		assert_int_equal(x->profile, y->profile);
		assert_int_equal(x->raw_size, y->raw_size);
		if (x->raw && y->raw && x->raw_size > 0 &&
		    memcmp(x->raw, y->raw, x->raw_size))
			fail_msg("%s of profile %u", x->id,
			         (unsigned)x->profile);
	}
}

static void
packed_sections_are_those_that_are_stored(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_packed[HPA_N_PACKED] = {0};

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file stored, packed;

		options.compress = HPA_COMPRESS_NONE;
		world_bake(&world, &options, &stored);
		options.compress = HPA_COMPRESS_ALL;
		world_bake(&world, &options, &packed);
		assert_same_sections(&stored.file, &packed.file);
		for (uint32_t k = 0; k < packed.file.n_sections; k++)
			for (uint32_t p = 0; p < HPA_N_PACKED; p++)
				n_packed[p] +=
					packed.file.sections[k].codec ==
						HPA_CODEC_PACKED &&
					!strcmp(packed.file.sections[k].id,
				                hpa_packed_ids[p]);
		world_close(&stored);
		world_close(&packed);
		level_free(&world.level);
	}
	for (uint32_t p = 0; p < HPA_N_PACKED; p++) {
		printf("# %s packed %lu times\n", hpa_packed_ids[p],
		       (unsigned long)n_packed[p]);
		assert_true(n_packed[p] > 10);
	}
}

/* Unpacking alone, with its input and output in memory of exactly their size. */

static bool
unpack_copy(const struct hpa_file *file, const struct hpa_section *section,
            const uint8_t *packed, size_t size)
{
	uint8_t *in = malloc(size ? size : 1);
	uint8_t *out = malloc(section->raw_size ? section->raw_size : 1);
	bool ok;

	assert_true(in && out);
	if (size)
		memcpy(in, packed, size);
	ok = hpa_unpack(file, section, in, size, out);
	free(in);
	free(out);
	return ok;
}

static void
packed_bytes_that_are_cut_or_too_many_are_refused(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS / 8; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file opened;

		options.compress = HPA_COMPRESS_NONE;
		world_bake(&world, &options, &opened);
		for (uint32_t k = 0; k < opened.file.n_sections; k++) {
			const struct hpa_section *section =
				&opened.file.sections[k];
			uint8_t *bytes;
			size_t size;

			assert_true(hpa_pack(&opened.file, section, &bytes,
			                     &size));
			if (!bytes)
				continue;
			assert_true(unpack_copy(&opened.file, section, bytes,
			                        size));
			for (size_t n = 0; n < size && n < 300; n++)
				assert_false(unpack_copy(&opened.file, section,
				                         bytes, n));
			bytes = realloc(bytes, size + 1);
			assert_non_null(bytes);
			bytes[size] = 0;
			assert_false(unpack_copy(&opened.file, section, bytes,
			                         size + 1));
			free(bytes);
		}
		world_close(&opened);
		level_free(&world.level);
	}
}

/* Damage behind the deflate. */

struct part {
	uint8_t *bytes; /* what is deflated, or stored */
	size_t size;
};

static struct part
take_out(const struct hpa_section *section)
{
	struct hpa_section as_zlib = *section;
	struct hpa_blocks blocks;
	struct part part;
	uint8_t *room;

	if (section->codec == HPA_CODEC_PACKED) {
		as_zlib.codec = HPA_CODEC_ZLIB;
		as_zlib.raw_size = section->inflated_size;
	}
	part.size = as_zlib.raw_size;
	part.bytes = malloc(part.size ? part.size : 1);
	room = malloc(hpa_blocks_size(&as_zlib));
	assert_true(part.bytes && room);
	assert_int_equal(hpa_blocks_init(&blocks, &as_zlib, room), HPA_OK);
	assert_true(hpa_blocks_read(&blocks, 0, part.bytes, part.size));
	free(room);
	return part;
}

static void
damage(struct rng *rng, struct part *part)
{
	uint32_t n = rng_between(rng, 1, 3);

	for (uint32_t i = 0; i < n && part->size > 0; i++) {
		size_t at = rng_below(rng, (uint32_t)part->size);

		if (rng_chance(rng, 50))
			part->bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
		else
			part->bytes[at] = (uint8_t)rng_below(rng, 256);
	}
}

/* What the part is stored as, by the codec; appended to a file. */
static size_t
put_part(const struct part *part, uint8_t codec, uint8_t *out)
{
	uint8_t *list = out;
	uLongf size = compressBound((uLong)part->size);

	if (codec == HPA_CODEC_STORED) {
		if (part->size)
			memcpy(out, part->bytes, part->size);
		return part->size;
	}
	if (codec == HPA_CODEC_PACKED) {
		hpa_put_le32(out + HPA_PACKED_SIZE, (uint32_t)part->size);
		list += HPA_PACKED_BLOCKS;
	}
	assert_true(part->size > 0 && part->size <= HPA_BLOCK_SIZE);
	hpa_put_le32(list + HPA_ZLIB_BLOCK_SIZE, HPA_BLOCK_SIZE);
	hpa_put_le32(list + HPA_ZLIB_N_BLOCKS, 1);
	assert_int_equal(compress2(list + HPA_ZLIB_ENDS + 4, &size, part->bytes,
	                           (uLong)part->size, 6),
	                 Z_OK);
	hpa_put_le32(list + HPA_ZLIB_ENDS, (uint32_t)size);
	return (size_t)(list - out) + HPA_ZLIB_ENDS + 4 + size;
}

/* The file with one section changed. */
static struct part
put_together(const struct hpa_file *file, uint32_t changed,
             const struct part *instead)
{
	size_t head = HPA_HEADER_SIZE + (size_t)file->n_sections *
	                                        HPA_ENTRY_SIZE;
	struct part out = {
		calloc(1, file->size + 2 * instead->size + 1000), head};

	assert_non_null(out.bytes);
	memcpy(out.bytes, file->data, head);
	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];
		uint8_t *entry = out.bytes + HPA_HEADER_SIZE +
		                 (size_t)i * HPA_ENTRY_SIZE;
		size_t at = (out.size + 7) & ~(size_t)7;
		size_t size = section->stored_size;

		if (i == changed)
			size = put_part(instead, section->codec,
			                out.bytes + at);
		else if (size > 0)
			memcpy(out.bytes + at, section->stored, size);
		hpa_put_le64(entry + HPA_ENT_OFFSET, at);
		hpa_put_le64(entry + HPA_ENT_STORED_SIZE, size);
		hpa_put_le32(entry + HPA_ENT_CRC,
		             (uint32_t)crc32_z(0, out.bytes + at, size));
		out.size = at + size;
	}
	hpa_put_le64(out.bytes + HPA_OFF_FILE_SIZE, out.size);
	hpa_put_le32(out.bytes + HPA_OFF_TABLE_CRC,
	             (uint32_t)crc32_z(0, out.bytes + HPA_HEADER_SIZE,
	                               head - HPA_HEADER_SIZE));
	hpa_put_le32(out.bytes + HPA_OFF_HEADER_CRC,
	             (uint32_t)crc32_z(0, out.bytes, HPA_OFF_HEADER_CRC));
	return out;
}

static void
assert_answer(hpa_status st)
{
	assert_true(st <= HPA_OUTSIDE || st == HPA_CORRUPT ||
	            st == HPA_NO_ROOM);
}

static void
ask(struct rng *rng, const struct world *world, const hpa_map *map)
{
	static hpa_cell cells[MAX_CELLS];
	hpa_query *query;

	assert_int_equal(hpa_query_new(map, NULL, &query), HPA_OK);
	for (uint32_t i = 0; i < 6; i++) {
		hpa_cell from = random_cell(rng, &world->level);
		hpa_cell to = random_cell(rng, &world->level);
		uint64_t cost;
		size_t n;

		assert_answer(hpa_query_path(query, from, to, cells, MAX_CELLS,
		                             &n));
		assert_answer(hpa_query_cost(query, from, to, &cost));
	}
	hpa_query_free(query);
}

/* Open it and ask every profile; false where it is refused. */
static bool
use(struct rng *rng, const struct world *world, const struct part *image)
{
	const char *detail = NULL;
	hpa_open_options how = {.detail = &detail};
	hpa_facts facts;
	hpa_map *map;
	hpa_status st =
		hpa_map_open_memory(image->bytes, image->size, &how, &map);

	if (st != HPA_OK) {
		assert_int_equal(st, HPA_CORRUPT);
		assert_non_null(detail);
		return false;
	}
	hpa_map_facts(map, &facts);
	for (uint32_t p = 0; p < facts.n_profiles; p++)
		ask(rng, world, hpa_map_profile(map, p));
	hpa_map_close(map);
	return true;
}

static void
damage_behind_the_deflate_does_no_harm(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_opened = 0, n_refused = 0;

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS / 2; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file opened;

		options.compress = HPA_COMPRESS_ALL;
		world_bake(&world, &options, &opened);
		for (uint32_t k = 0; k < N_DAMAGED; k++) {
			uint32_t at = rng_below(&rng, opened.file.n_sections);
			struct part part =
				take_out(&opened.file.sections[at]);
			struct part image;

			damage(&rng, &part);
			image = put_together(&opened.file, at, &part);
			if (use(&rng, &world, &image))
				n_opened++;
			else
				n_refused++;
			free(image.bytes);
			free(part.bytes);
		}
		world_close(&opened);
		level_free(&world.level);
	}
	printf("# %lu damaged files opened, %lu refused\n",
	       (unsigned long)n_opened, (unsigned long)n_refused);
	assert_true(n_opened > 0 && n_refused > n_opened);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_sections_are_those_that_are_stored),
		cmocka_unit_test(
			packed_bytes_that_are_cut_or_too_many_are_refused),
		cmocka_unit_test(damage_behind_the_deflate_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
