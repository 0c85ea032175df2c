/* level_options.c: from the command line to how levels are read. */
#include "src/cli/level_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum diag_status
read_terrain(const char *name, struct terrain_table *table, struct diag *diag)
{
	struct file_bytes bytes;
	enum diag_status status = file_read(name, &bytes, diag);

	if (status)
		return status;
	status = terrain_read(bytes.data, bytes.size, table, diag);
	if (status)
		cli_set_file(diag, name);
	file_free(&bytes);
	return status;
}

enum diag_status
level_source_open(const struct level_arguments *arguments,
                  struct level_source *out, struct diag *diag)
{
	enum diag_status status = DIAG_OK;

	*out = (struct level_source){
		.options = {
			.format = arguments->format,
			.width = arguments->size.width,
			.height = arguments->size.height,
			.layer = arguments->layer,
			.property = arguments->property,
			.gray_threshold = (int)arguments->gray_threshold,
			.pick = arguments->pick,
		}};
	if (arguments->format && level_check_format(arguments->format, diag))
		return DIAG_USAGE;
	/* The first rule that fits counts: the command line has a say in what
	 * a file says. */
	if (arguments->blocked)
		status = terrain_block(arguments->blocked, &out->terrain, diag);
	if (!status && arguments->terrain)
		status = read_terrain(arguments->terrain, &out->terrain, diag);
	if (arguments->blocked || arguments->terrain)
		out->options.terrain = &out->terrain;
	return status;
}

void
level_source_close(struct level_source *source)
{
	terrain_free(&source->terrain);
	source->options.terrain = NULL;
}

bool
name_list_add(struct name_list *list, char *name)
{
	char **names =
		name ? realloc(list->names, (list->n + 1) * sizeof(*names))
		     : NULL;

	if (!names) {
		free(name);
		return false;
	}
	list->names = names;
	names[list->n++] = name;
	return true;
}

void
name_list_free(struct name_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct name_list){0, NULL};
}

char *
level_files_beside(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	size_t folder =
		slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0;
	size_t size = strlen(name) + 1;
	char *out = malloc(folder + size);

	if (out) {
		memcpy(out, file, folder);
		memcpy(out + folder, name, size);
	}
	return out;
}

static enum diag_status
load(void *user, const char *name, const uint8_t **data, size_t *size,
     struct diag *diag)
{
	struct level_files *files = user;
	struct file_bytes *more =
		realloc(files->files, (files->n + 1) * sizeof(*more));
	char *path = level_files_beside(files->level, name);
	enum diag_status status;

	if (more)
		files->files = more;
	if (more && path)
		status = file_read(path, &more[files->n], diag);
	else
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	if (status) {
		free(path);
		return status;
	}
	*data = more[files->n].data;
	*size = more[files->n].size;
	files->n++;
	if (!name_list_add(&files->names, path))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return DIAG_OK;
}

struct level_loader
level_files_loader(struct level_files *files)
{
	return (struct level_loader){load, files};
}

void
level_files_free(struct level_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		file_free(&files->files[i]);
	free(files->files);
	name_list_free(&files->names);
	*files = (struct level_files){.level = files->level};
}

static void
describe_classes(FILE *to, const struct level *level)
{
	size_t counts[TERRAIN_MAX_CLASSES] = {0};
	size_t n_cells = (size_t)level->width * level->height;

	for (size_t i = 0; i < n_cells; i++)
		counts[level->cells[i]]++;
	fprintf(to, "  %-16s  %6s  %10s\n", "class", "factor", "cells");
	for (uint32_t i = 0; i < level->terrain.n; i++) {
		const struct terrain_class *terrain =
			&level->terrain.classes[i];

		fprintf(to, "  %-16s  %6u  %10zu%s\n", terrain->name,
		        terrain->factor, counts[i],
		        terrain->factor == 0     ? "  blocked"
		        : terrain->only_if_named ? "  blocked unless named"
		                                 : "");
	}
}

void
level_describe(FILE *to, const char *name, const struct level *level,
               const struct level_options *options)
{
	fprintf(to, "%s%s%s: %s, %" PRIu32 "x%" PRIu32 " cells\n", name,
	        level->name[0] ? ":" : "", level->name,
	        level->format ? level->format : "?", level->width,
	        level->height);
	if (options->terrain)
		fprintf(to,
		        "  rules of --blocked and --terrain come first: "
		        "%" PRIu32 "%s\n",
		        options->terrain->n_rules,
		        options->terrain->has_rest ? ", and one for the rest"
		                                   : "");
	if (level->how[0])
		fprintf(to, "  %s\n", level->how);
	describe_classes(to, level);
}
