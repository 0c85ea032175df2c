/* folder.h: the files in a folder and in the folders in it. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "formats/diag.h"
#include "src/cli/names.h"

/* Is there a folder of that name? */
bool folder_is_there(const char *name);

/* Make a folder, unless it is there. DIAG_FAILED fills in diag. */
enum diag_status folder_make(const char *name, struct diag *diag);

/* What a walk comes by. */
struct folder_entry {
	const char *path; /* from where hpabake stands */
	const char *name; /* below the folder of the walk, which itself is "" */
	mode_t mode;      /* as in struct stat; 0: it can't be told */
	int error;        /* errno of what can't be looked at, or 0 */
};

struct folder_walk {
	bool follows_links; /* into folders, too */
	bool sees_hidden;   /* names that begin with a dot */
	/* Called for all but folders, and for a folder that can't be read. What
	 * is not DIAG_OK ends the walk. */
	enum diag_status (*visit)(void *user, const struct folder_entry *entry);
	void *user;
	struct diag *diag; /* for a lack of memory */
};

/* Walk through a folder, in the order of the bytes of the names in each. Links
 * are not followed into a folder that they lie in. The status is that of the
 * last visit, or DIAG_FAILED. */
enum diag_status folder_walk(const struct folder_walk *walk,
                             const char *folder);

/* Fill *out with all files whose name ends in `suffix`, by their names below the
 * folder, in the order of their bytes. Links to folders are not followed. Free
 * *out with name_list_free(), in any case. DIAG_FAILED fills in diag. */
enum diag_status folder_list(const char *folder, const char *suffix,
                             struct name_list *out, struct diag *diag);

#endif
