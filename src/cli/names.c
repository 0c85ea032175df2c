/* names.c: names of files: their parts, and lists of them. */
#include "src/cli/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
name_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

size_t
name_stem_size(const char *base)
{
	const char *dot = strrchr(base, '.');

	return dot && dot > base ? (size_t)(dot - base) : strlen(base);
}

char *
name_join(const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	size_t length = strlen(folder);
	char *path = malloc(size);

	while (length > 1 && folder[length - 1] == '/')
		length--;
	if (path)
		snprintf(path, size, "%.*s%s%s", (int)length, folder,
		         length && folder[length - 1] != '/' ? "/" : "", name);
	return path;
}

char *
name_beside(const char *file, const char *name)
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
