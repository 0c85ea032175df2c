/* level.c: the table of level formats, and the way through it.
 *
 * Bytes that look like a format are read as it. Bytes that look like none go to
 * the reader that the file's suffix names, which knows best what to say about
 * a broken file of its own. */
#include "formats/level.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct level_format level_formats[] = {
	{"movingai", ".map", "MovingAI grid map, type octile", movingai_probe,
         movingai_read},
	{NULL, NULL, NULL, NULL, NULL},
};

static const struct level_format *
find_format(const char *name, const uint8_t *data, size_t size)
{
	const struct level_format *format;
	size_t name_size = strlen(name);
	size_t suffix_size;

	for (format = level_formats; format->name; format++)
		if (format->probe(data, size))
			return format;
	for (format = level_formats; format->name; format++) {
		suffix_size = strlen(format->suffix);
		if (name_size > suffix_size &&
		    strcmp(name + name_size - suffix_size, format->suffix) == 0)
			return format;
	}
	return NULL;
}

static enum diag_status
refuse_unknown(struct diag *diag)
{
	const struct level_format *format;
	char known[sizeof(diag->text)] = "";
	size_t used = 0;
	int n;

	for (format = level_formats; format->name; format++) {
		n = snprintf(known + used, sizeof(known) - used, "%s%s (%s)",
		             used ? ", " : "", format->what, format->suffix);
		if (n < 0 || (size_t)n >= sizeof(known) - used)
			break;
		used += (size_t)n;
	}
	known[used] = '\0';
	return diag_set(diag, DIAG_BAD_INPUT, 0,
	                "unknown level format; known: %.400s", known);
}

enum diag_status
level_read(const char *name, const uint8_t *data, size_t size,
           struct level *out, struct diag *diag)
{
	const struct level_format *format = find_format(name, data, size);

	*out = (struct level){0};
	if (!format)
		return refuse_unknown(diag);
	return format->read(data, size, out, diag);
}

enum diag_status
level_new(uint32_t width, uint32_t height, struct level *out, struct diag *diag)
{
	*out = (struct level){0};
	if (width == 0 || width > LEVEL_MAX_SIDE || height == 0 ||
	    height > LEVEL_MAX_SIDE)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "level of %lu x %lu cells; a side has 1 to %u",
		                (unsigned long)width, (unsigned long)height,
		                LEVEL_MAX_SIDE);
	/* calloc() guards the product. */
	out->cells = calloc(height, width);
	if (!out->cells)
		return diag_set(diag, DIAG_FAILED, 0,
		                "no memory for a level of %lu x %lu cells",
		                (unsigned long)width, (unsigned long)height);
	out->width = width;
	out->height = height;
	return DIAG_OK;
}

void
level_free(struct level *level)
{
	free(level->cells);
	*level = (struct level){0};
}
