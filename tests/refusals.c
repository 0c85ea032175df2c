/* refusals.c: a baked file is damaged on purpose, and refused for that. */
#include "tests/refusals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/inquiry.h"
#include "tests/parts.h"

uint8_t *
entry_of(const struct image *image, const char *id)
{
	uint8_t *entry = image_find(image, id);

	if (!entry)
		fail_msg("there is no section %s", id);
	return entry;
}

uint8_t *
section_of(const struct image *image, const char *id)
{
	return image->data + hpa_get_le64(entry_of(image, id) + HPA_ENT_OFFSET);
}

void
put(uint8_t *at, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

hpa_status
try_to_open(const struct image *image, hpa_map **map, const char **detail)
{
	hpa_open_options options = {.detail = detail};

	*detail = NULL;
	return hpa_map_open_memory(image->data, image->size, &options, map);
}

void
assert_opens(const struct image *image)
{
	const char *detail;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st != HPA_OK)
		fail_msg("%s: %s", hpa_status_text(st), detail);
	hpa_map_close(map);
}

void
assert_refused(const struct image *image, hpa_status status, const char *why)
{
	const char *detail;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st == HPA_OK)
		hpa_map_close(map);
	else
		assert_null(map);
	if (st != status || !detail || strcmp(detail, why) != 0)
		fail_msg("\"%s: %s\" where \"%s: %s\" is right",
		         hpa_status_text(st), detail ? detail : "",
		         hpa_status_text(status), why);
}

void
assert_file_refused(const struct image *image, const char *why,
                    const char *culprit)
{
	const char *detail = NULL;
	struct hpa_file file;

	assert_int_equal(
		hpa_file_read(image->data, image->size, true, &file, &detail),
		HPA_CORRUPT);
	assert_string_equal(detail, why);
	assert_string_equal(file.culprit, culprit);
}

void
assert_section_refused(const struct image *image, const char *id,
                       const uint8_t *raw, size_t size, const char *why)
{
	struct image changed = with_section(image, id, raw, size);

	assert_refused(&changed, HPA_CORRUPT, why);
	free(changed.data);
}

static void
apply_patches(const struct image *image, const struct patch *patches)
{
	for (; patches->id[0]; patches++)
		put(section_of(image, patches->id) + patches->offset,
		    patches->width, patches->value);
	image_seal(image);
}

void
assert_refusals(const struct image *good, const struct refusal *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct image image = image_copy(good);

		apply_patches(&image, rows[i].patches);
		assert_refused(&image, HPA_CORRUPT, rows[i].why);
		free(image.data);
	}
}

bool
use_damaged(struct rng *rng, const struct image *image)
{
	const char *detail, *wrong;
	hpa_map *map;
	hpa_status st = try_to_open(image, &map, &detail);

	if (st != HPA_OK) {
		assert_true(st == HPA_CORRUPT || st == HPA_NOT_HPA ||
		            st == HPA_TOO_NEW);
		assert_non_null(detail);
		return false;
	}
	wrong = inquire(rng, map, 4);
	if (wrong)
		fail_msg("%s", wrong);
	hpa_map_close(map);
	return true;
}
