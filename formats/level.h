/* level.h: a level as the baker sees it, and the table of formats it can be
 * read from. */
#ifndef FORMATS_LEVEL_H
#define FORMATS_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"

#define LEVEL_MAX_SIDE 65535u /* a coordinate is 16 bits in the file */

/* cells[y * width + x] is the terrain class: 0 blocked, 1 plain. */
struct level {
	uint32_t width, height;
	uint8_t *cells;
};

/* One row per format. probe() looks at the bytes only and says whether they
 * could be this format; read() fills *out, to be freed with level_free(), or
 * fills in diag (without its file) and leaves *out empty. */
struct level_format {
	const char *name;
	const char *suffix; /* with its dot */
	const char *what;   /* one line for people */
	int (*probe)(const uint8_t *data, size_t size);
	enum diag_status (*read)(const uint8_t *data, size_t size,
	                         struct level *out, struct diag *diag);
};

/* All formats; ends with a row whose name is NULL. */
extern const struct level_format level_formats[];

/* Read a level of any known format: by probe, else by the suffix of `name`. */
enum diag_status level_read(const char *name, const uint8_t *data, size_t size,
                            struct level *out, struct diag *diag);

/* Make a level of blocked cells. DIAG_FAILED where there is no memory. */
enum diag_status level_new(uint32_t width, uint32_t height, struct level *out,
                           struct diag *diag);
void level_free(struct level *level);

/* The readers, one file each. */
int movingai_probe(const uint8_t *data, size_t size);
enum diag_status movingai_read(const uint8_t *data, size_t size,
                               struct level *out, struct diag *diag);

#endif
