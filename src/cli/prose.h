/* prose.h: what a manual page says beyond the tables, read from a file.
 *
 * The file is roff in parts. A line `.SH NAME` begins a section of the page, a
 * line `@option NAME` what is to be said about an option after its row has been
 * described. Before the first part there are comments (.\") only. */
#ifndef CLI_PROSE_H
#define CLI_PROSE_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/diag.h"

struct prose_part {
	bool is_option;
	const char *name;
	const char *text;   /* whole lines, without the one that begins it */
	unsigned long line; /* of the file, the one that begins it */
};

/* All zero: there is none. */
struct prose {
	const char *file;
	char *text;
	struct prose_part *parts; /* in the order of the file */
	size_t n;
};

/* Read a file; its name must outlive *out. Fills *out, to be freed in any case,
 * or fills in diag: DIAG_FAILED, or DIAG_BAD_INPUT for a text outside the parts
 * and a part that comes twice. */
enum diag_status prose_read(const char *file, struct prose *out,
                            struct diag *diag);
void prose_free(struct prose *prose);

/* The text of a part; NULL: there is none. */
const char *prose_section(const struct prose *prose, const char *name);
const char *prose_option(const struct prose *prose, const char *name);

#endif
