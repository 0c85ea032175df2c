/* folder.c: find files, folder by folder. */
#include "src/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/cli.h"

/* What a walk goes by. */
struct walk {
	const char *folder, *suffix;
	struct folder_names *out;
	struct diag *diag;
};

char *
folder_join(const char *folder, const char *name)
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

const char *
folder_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool
ends_in(const char *name, const char *suffix)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size > end && !strcmp(name + size - end, suffix);
}

/* Takes the name over. */
static bool
add_name(struct folder_names *names, char *name)
{
	if (names->n == names->capacity) {
		size_t capacity = names->capacity ? 2 * names->capacity : 64;
		char **more = realloc(names->names, capacity * sizeof(*more));

		if (!more) {
			free(name);
			return false;
		}
		names->names = more;
		names->capacity = capacity;
	}
	names->names[names->n++] = name;
	return true;
}

static enum diag_status
fail(struct walk *walk, const char *path, int error)
{
	cli_set_file(walk->diag, path);
	return diag_set(walk->diag, DIAG_FAILED, 0, "%s", strerror(error));
}

static enum diag_status walk_folder(struct walk *walk, const char *below);

/* `name` is relative to the walk's folder. */
static enum diag_status
look_at(struct walk *walk, char *name, const char *path)
{
	struct stat st;
	enum diag_status status = DIAG_OK;

	if (lstat(path, &st) != 0)
		status = fail(walk, path, errno);
	else if (S_ISDIR(st.st_mode))
		status = walk_folder(walk, name);
	else if (ends_in(name, walk->suffix)) {
		if (!add_name(walk->out, name))
			return fail(walk, path, ENOMEM);
		return DIAG_OK;
	}
	free(name);
	return status;
}

/* The folder `below` the walk's own; "" is that one itself. */
static enum diag_status
walk_folder(struct walk *walk, const char *below)
{
	char *folder = *below ? folder_join(walk->folder, below)
	                      : strdup(walk->folder);
	DIR *dir = folder ? opendir(folder) : NULL;
	enum diag_status status = DIAG_OK;
	struct dirent *entry;

	if (!dir)
		status = fail(walk, folder ? folder : walk->folder, errno);
	while (!status && (entry = readdir(dir)) != NULL) {
		char *name, *path;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		name = *below ? folder_join(below, entry->d_name)
		              : strdup(entry->d_name);
		path = folder_join(folder, entry->d_name);
		if (name && path) {
			status = look_at(walk, name, path);
		} else {
			status = fail(walk, folder, ENOMEM);
			free(name);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return status;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

enum diag_status
folder_list(const char *folder, const char *suffix, struct folder_names *out,
            struct diag *diag)
{
	struct walk walk = {folder, suffix, out, diag};
	enum diag_status status;

	*out = (struct folder_names){.n = 0};
	status = walk_folder(&walk, "");
	if (out->n > 0)
		qsort(out->names, out->n, sizeof(*out->names), by_bytes);
	return status;
}

void
folder_names_free(struct folder_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct folder_names){.n = 0};
}
