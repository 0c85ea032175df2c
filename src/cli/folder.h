/* folder.h: the files in a folder and in the folders in it. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stddef.h>

#include "formats/diag.h"

/* Names relative to the folder, in the order of their bytes. */
struct folder_names {
	size_t n, capacity;
	char **names;
};

/* Fill *out with all files whose name ends in `suffix`. Links to folders are
 * not followed. Free *out with folder_names_free(), in any case. DIAG_FAILED
 * fills in diag. */
enum diag_status folder_list(const char *folder, const char *suffix,
                             struct folder_names *out, struct diag *diag);
void folder_names_free(struct folder_names *names);

/* FOLDER/NAME, to be freed with free(), or NULL where there is no memory. */
char *folder_join(const char *folder, const char *name);

/* The last part of a path. */
const char *folder_base_name(const char *path);

#endif
