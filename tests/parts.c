/* parts.c: a baked file taken apart, to be written again in another way. */
#include "tests/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void
take_sections(struct parts *out)
{
	out->n = out->file.n_sections;
	for (uint32_t i = 0; i < out->n; i++) {
		const struct hpa_section *section = &out->file.sections[i];

		assert_non_null(section->raw);
		out->sections[i] = (struct hpa_new_section){
			section->id,
			section->profile,
			(section->flags & HPA_FLAG_CRITICAL) != 0,
			section->raw,
			section->raw_size,
			NULL,
			!strcmp(section->id, HPA_ID_LABELS),
		};
	}
}

void
take_apart(const struct image *image, struct parts *out)
{
	const char *detail = NULL;

	assert_int_equal(hpa_file_read(image->data, image->size, true,
	                               &out->file, &detail),
	                 HPA_OK);
	take_sections(out);
}

struct image
put_together(const struct parts *parts, enum hpa_compress compress)
{
	struct parts copy = *parts;
	struct image image;

	assert_true(hpa_write(copy.sections, parts->n, compress,
	                      parts->file.source_hash, parts->file.options_hash,
	                      NULL, &image.data, &image.size));
	return image;
}

struct hpa_new_section *
part_of(struct parts *parts, const char *id)
{
	for (uint32_t i = 0; i < parts->n; i++)
		if (!strcmp(parts->sections[i].id, id))
			return &parts->sections[i];
	fail_msg("there is no section %s", id);
	return NULL;
}

struct image
store(const struct image *image)
{
	const char *detail = NULL;
	struct image stored;
	struct parts parts;
	uint8_t *room;

	assert_int_equal(hpa_file_read(image->data, image->size, true,
	                               &parts.file, &detail),
	                 HPA_OK);
	room = malloc((size_t)parts.file.inflated_size + 1);
	assert_non_null(room);
	assert_int_equal(hpa_file_inflate(&parts.file, room, &detail), HPA_OK);
	take_sections(&parts);
	stored = put_together(&parts, HPA_COMPRESS_NONE);
	free(room);
	return stored;
}

struct image
with_section(const struct image *image, const char *id, const uint8_t *raw,
             size_t size)
{
	struct hpa_new_section *section, changed;
	struct image written, exact;
	struct parts parts;

	take_apart(image, &parts);
	section = part_of(&parts, id);
	changed = *section;
	changed.raw = raw;
	changed.raw_size = size;
	parts.n--;
	memmove(section, section + 1,
	        (size_t)(parts.sections + parts.n - section) * sizeof(changed));
	parts.sections[parts.n++] = changed;
	written = put_together(&parts, HPA_COMPRESS_NONE);
	exact = image_copy(&written);
	free(written.data);
	return exact;
}
