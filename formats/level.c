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
	{.name = "ldtk",
         .suffixes = ".ldtk .ldtkl",
         .parts = ".ldtkl",
         .what = "LDtk project or level, IntGrid layers",
         .probe = ldtk_probe,
         .read = ldtk_read},
	{.name = "movingai",
         .suffixes = ".map",
         .what = "MovingAI grid map, type octile",
         .probe = movingai_probe,
         .read = movingai_read},
	{.name = "png",
         .suffixes = ".png",
         .what = "PNG image, a pixel per cell",
#ifndef HAVE_PNG
         .needs = "libpng",
#endif
         .probe = png_probe,
         .read = png_read},
	{.name = "pgm",
         .suffixes = ".pgm",
         .what = "PGM gray image, a pixel per cell",
         .probe = pgm_probe,
         .read = pgm_read},
	{.name = "ros",
         .suffixes = ".yaml .yml",
         .shared = ".yaml .yml",
         .has_picture = true,
         .what = "ROS map_server map, with its image",
         .probe = ros_probe,
#ifdef HAVE_YAML
         .read = ros_read},
#else
         .needs = "libyaml"},
#endif
	{.name = "raw",
         .suffixes = ".raw .bin",
         .shared = ".raw .bin",
         .what = "raw bytes, one per cell",
         .read = raw_read},
	{.name = "tmj",
         .suffixes = ".tmj .json",
         .shared = ".json",
         .what = "Tiled map, JSON",
         .probe = tmj_probe,
         .read = tmj_read},
	{.name = "tmx",
         .suffixes = ".tmx",
         .what = "Tiled map, XML",
#ifdef HAVE_EXPAT
         .read = tmx_read,
#else
         .needs = "expat",
#endif
         .probe = tmx_probe},
	{.name = NULL},
};

bool
level_has_suffix(const char *name, const char *suffixes)
{
	size_t name_size = strlen(name);

	while (suffixes && *suffixes) {
		size_t size = strcspn(suffixes, " ");

		if (name_size > size &&
		    !strncmp(name + name_size - size, suffixes, size))
			return true;
		suffixes += size;
		suffixes += *suffixes == ' ';
	}
	return false;
}

const struct level_format *
level_find_format(const char *name)
{
	const struct level_format *format = level_formats;

	while (format->name && strcmp(format->name, name) != 0)
		format++;
	return format->name ? format : NULL;
}

enum diag_status
level_load_other(const struct level_options *options, const char *name,
                 const uint8_t **data, size_t *size, struct diag *diag)
{
	const struct level_loader *loader = &options->loader;

	if (!loader->load)
		return diag_set(diag, DIAG_FAILED, 0,
		                "no other files can be read here");
	return loader->load(loader->user, name, data, size, diag);
}

enum diag_status
level_check_format(const char *name, struct diag *diag)
{
	const struct level_format *format;
	char known[128] = "";
	size_t used = 0;

	if (level_find_format(name))
		return DIAG_OK;
	for (format = level_formats; format->name && used < sizeof(known);
	     format++)
		used += (size_t)snprintf(known + used, sizeof(known) - used,
		                         "%s%s", used ? ", " : "",
		                         format->name);
	return diag_set(diag, DIAG_USAGE, 0, "--format takes one of %s, not '%s'",
	                known, name);
}

static const struct level_format *
find_format(const char *name, const uint8_t *data, size_t size)
{
	const struct level_format *format;

	for (format = level_formats; format->name; format++)
		if (format->probe && format->probe(data, size))
			return format;
	for (format = level_formats; format->name; format++)
		if (level_has_suffix(name, format->suffixes))
			return format;
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
		             used ? ", " : "", format->name, format->suffixes);
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
           const struct level_options *options, struct level *out,
           struct diag *diag)
{
	const struct level_options none = {.format = NULL};
	const struct level_format *format;
	enum diag_status status;

	*out = (struct level){0};
	if (!options)
		options = &none;
	format = options->format ? level_find_format(options->format)
	                         : find_format(name, data, size);
	if (options->format && level_check_format(options->format, diag))
		return DIAG_USAGE;
	if (!format)
		return refuse_unknown(diag);
	if (format->needs)
		return diag_set(diag, DIAG_FAILED, 0,
		                "%s can't be read: this hpabake was built "
		                "without %s",
		                format->what, format->needs);
	status = format->read(data, size, options, out, diag);
	out->format = status ? NULL : format->name;
	return status;
}

enum diag_status
level_new(uint32_t width, uint32_t height, const struct level_options *options,
          struct level *out, struct diag *diag)
{
	const struct terrain_table *terrain = options ? options->terrain : NULL;

	*out = (struct level){0};
	if (width == 0 || width > LEVEL_MAX_SIDE || height == 0 ||
	    height > LEVEL_MAX_SIDE)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "level of %lu x %lu cells; a side has 1 to %u",
		                (unsigned long)width, (unsigned long)height,
		                LEVEL_MAX_SIDE);
	if (options && options->gate.admit) {
		enum diag_status st = options->gate.admit(
			options->gate.user, width, height, diag);

		if (st != DIAG_OK)
			return st;
	}
	/* calloc() guards the product. */
	out->cells = calloc(height, width);
	if (!out->cells)
		return diag_set(diag, DIAG_FAILED, 0,
		                "no memory for a level of %lu x %lu cells",
		                (unsigned long)width, (unsigned long)height);
	if (terrain && terrain->classes.n > 0)
		out->terrain = terrain->classes;
	else
		terrain_classes_init(&out->terrain);
	out->width = width;
	out->height = height;
	out->n_in_file = 1;
	return DIAG_OK;
}

void
level_free(struct level *level)
{
	free(level->cells);
	*level = (struct level){0};
}

void
level_kept_free(struct level_kept *kept)
{
	if (kept->data)
		kept->free(kept->data);
	*kept = (struct level_kept){NULL, NULL};
}

int
level_add_class(struct level *level, const struct terrain_class *wanted)
{
	int found = terrain_find_class(&level->terrain, wanted->name);

	return found >= 0 ? found : terrain_add_class(&level->terrain, wanted);
}

int
level_add_usual_class(struct level *level, const struct terrain_class *usual)
{
	struct terrain_class wanted = *usual;
	int class = terrain_find_class(&level->terrain, usual->name);

	if (class == (int)TERRAIN_GROUND)
		return class;
	class = terrain_add_class(&level->terrain, &wanted);
	for (unsigned i = 2;
	     class < 0 && terrain_find_class(&level->terrain, wanted.name) >= 0;
	     i++) {
		snprintf(wanted.name, sizeof(wanted.name), "%.16s-%u",
		         usual->name, i);
		class = terrain_add_class(&level->terrain, &wanted);
	}
	return class;
}
