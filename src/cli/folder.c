/* folder.c: find files, folder by folder.
 *
 * The order is that of the bytes of the names, whatever the locale. Where links
 * are followed each folder on the way is known by device and inode, and is not
 * entered again: so links may lead in circles, and what is found does not depend
 * on the order. */
#include "src/cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"

/* A folder that the walk is in. */
struct entered {
	const struct entered *above; /* NULL: it is the first */
	dev_t device;
	ino_t inode;
};

static enum diag_status
out_of_memory(struct diag *diag)
{
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

bool
folder_is_there(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

enum diag_status
folder_make(const char *name, struct diag *diag)
{
	if (mkdir(name, 0777) == 0 || errno == EEXIST)
		return DIAG_OK;
	return cli_failed(diag, name, errno);
}

static bool
is_inside(const struct entered *way, const struct stat *st)
{
	for (; way; way = way->above)
		if (way->device == st->st_dev && way->inode == st->st_ino)
			return true;
	return false;
}

static int
is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

static int
compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static enum diag_status walk_folder(const struct folder_walk *walk,
                                    struct folder_entry *folder,
                                    const struct stat *st,
                                    const struct entered *way);

static enum diag_status
walk_entry(const struct folder_walk *walk, struct folder_entry *entry,
           const struct entered *way)
{
	struct stat st;
	int failed = walk->follows_links ? stat(entry->path, &st)
	                                 : lstat(entry->path, &st);

	if (failed)
		entry->error = errno;
	else
		entry->mode = st.st_mode;
	if (S_ISDIR(entry->mode))
		return walk_folder(walk, entry, &st, way);
	return walk->visit(walk->user, entry);
}

/* Something by the name of `leaf` in a folder. */
static enum diag_status
walk_leaf(const struct folder_walk *walk, const struct folder_entry *folder,
          const char *leaf, const struct entered *way)
{
	char *path = name_join(folder->path, leaf);
	char *name = name_join(folder->name, leaf);
	struct folder_entry entry = {.path = path, .name = name};
	enum diag_status status = path && name ? walk_entry(walk, &entry, way)
	                                       : out_of_memory(walk->diag);

	free(path);
	free(name);
	return status;
}

static enum diag_status
walk_folder(const struct folder_walk *walk, struct folder_entry *folder,
            const struct stat *st, const struct entered *way)
{
	const struct entered here = {way, st->st_dev, st->st_ino};
	struct dirent **entries = NULL;
	enum diag_status status = DIAG_OK;
	int n;

	if (is_inside(way, st))
		return DIAG_OK;
	n = scandir(folder->path, &entries, is_entry, compare_entries);
	if (n < 0) {
		folder->error = errno;
		return walk->visit(walk->user, folder);
	}
	for (int i = 0; i < n; i++) {
		const char *leaf = entries[i]->d_name;

		if (!status && (walk->sees_hidden || leaf[0] != '.'))
			status = walk_leaf(walk, folder, leaf, &here);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum diag_status
folder_walk(const struct folder_walk *walk, const char *folder)
{
	struct folder_entry root = {.path = folder, .name = ""};
	struct stat st;

	if (stat(folder, &st) != 0) {
		root.error = errno;
		return walk->visit(walk->user, &root);
	}
	root.mode = st.st_mode;
	return walk_folder(walk, &root, &st, NULL);
}

/* Lists */

struct lister {
	const char *suffix;
	struct name_list *out;
	struct diag *diag;
};

static bool
ends_in(const char *name, const char *suffix)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size > end && !strcmp(name + size - end, suffix);
}

static enum diag_status
list_entry(void *user, const struct folder_entry *entry)
{
	struct lister *lister = user;

	if (entry->error) {
		cli_set_file(lister->diag, entry->path);
		return diag_set(lister->diag, DIAG_FAILED, 0, "%s",
		                strerror(entry->error));
	}
	if (ends_in(entry->name, lister->suffix) &&
	    !name_list_add(lister->out, strdup(entry->name)))
		return out_of_memory(lister->diag);
	return DIAG_OK;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

enum diag_status
folder_list(const char *folder, const char *suffix, struct name_list *out,
            struct diag *diag)
{
	struct lister lister = {suffix, out, diag};
	const struct folder_walk walk = {
		.sees_hidden = true,
		.visit = list_entry,
		.user = &lister,
		.diag = diag,
	};
	enum diag_status status;

	*out = (struct name_list){0, NULL};
	status = folder_walk(&walk, folder);
	if (out->n > 0)
		qsort(out->names, out->n, sizeof(*out->names), by_bytes);
	return status;
}
