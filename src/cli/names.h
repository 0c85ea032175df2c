/* names.h: names of files: their parts, and lists of them. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* What follows the last slash; all of a name that ends there. */
const char *name_base(const char *name);

/* How much of such a part is no suffix. */
size_t name_stem_size(const char *base);

/* The functions below make a name, to be freed with free(), or return NULL where
 * there is no memory. */

/* FOLDER/NAME; NAME where the folder is "". */
char *name_join(const char *folder, const char *name);

/* `name` as it stands in a file: one that begins with a slash as it is, others
 * in the folder of that file. */
char *name_beside(const char *file, const char *name);

struct name_list {
	size_t n;
	char **names;
};

/* Append a name, which is freed with the list; NULL is one that there was no
 * memory for. False without memory, and then it has been freed. */
bool name_list_add(struct name_list *list, char *name);
void name_list_free(struct name_list *list);

#endif
