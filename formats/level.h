/* level.h: a level as the baker sees it, and the table of formats it can be
 * read from. */
#ifndef FORMATS_LEVEL_H
#define FORMATS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"
#include "formats/terrain.h"
#include "formats/workers.h"

#define LEVEL_MAX_SIDE 65535u /* a coordinate is 16 bits in the file */
#define LEVEL_MAX_CELLS ((uint64_t)1 << 31)
#define LEVEL_NAME_SIZE 64u
#define LEVEL_HOW_SIZE 160u

/* cells[y * width + x] is the terrain class: 0 blocked, 1 plain, more as
 * `terrain` says. */
struct level {
	uint32_t width, height;
	uint8_t *cells;
	struct terrain_classes terrain;
	char name[LEVEL_NAME_SIZE]; /* of one level of several; else empty */
	uint32_t n_in_file;         /* how many levels the file has */
	const char *format;         /* the name of its format */
	char how[LEVEL_HOW_SIZE];   /* what the reader went by, for people: a
	                             * threshold, a layer; may be empty */
};

/* A file that a level file refers to, such as an image or a tileset: by the
 * name that stands there, relative to the level file. load() gives its bytes,
 * which last until done() is called with the same user, or fills in diag. */
struct level_loader {
	enum diag_status (*load)(void *user, const char *name,
	                         const uint8_t **data, size_t *size,
	                         struct diag *diag);
	void *user;
};

/* Asked before a level of that size is made: DIAG_OK, or diag is filled in and
 * the level is not read. */
struct level_gate {
	enum diag_status (*admit)(void *user, uint32_t width, uint32_t height,
	                          struct diag *diag);
	void *user;
};

/* What a reader keeps of a file of several levels, so as not to take it apart
 * again for each of them. It is for one file and one thread, all zero at first,
 * and to be freed with level_kept_free(). */
struct level_kept {
	void *data;
	void (*free)(void *data);
};

/* What the user may say about how a level is read. All zero: the defaults. */
struct level_options {
	const char *format;   /* NULL: by probe, else by suffix */
	uint32_t width, height; /* for raw bytes, which do not tell it */
	const char *layer;    /* of Tiled and LDtk; NULL: the usual one */
	const char *property; /* of Tiled: the tile property that blocks */
	int gray_threshold;   /* images: darker than this is blocked;
	                       * -1 and 0: the format's own */
	const struct terrain_table *terrain; /* NULL: no rules */
	const char *pick;     /* the name of one of the file's levels */
	uint32_t index;       /* else its number, from 0 */
	struct level_loader loader; /* load NULL: there are no other files */
	struct level_gate gate;     /* admit NULL: all sizes are welcome */
	struct level_kept *kept;    /* NULL: nothing is kept */
	const struct workers *workers; /* to read with; may be NULL */
};

/* One row per format. probe() looks at the bytes only and says whether they
 * could be this format; read() fills *out, to be freed with level_free(), or
 * fills in diag (without its file) and leaves *out empty, but for the name and
 * n_in_file of a broken level, where those are known: the others of its file may
 * be good. */
struct level_format {
	const char *name;
	const char *suffixes; /* each with its dot, spaces between them */
	/* Of these: those that other kinds of files have too, and those of
	 * files that are only parts of a level; NULL: none. */
	const char *shared, *parts;
	bool has_picture; /* it names an image, which is no level then */
	const char *what;     /* one line for people */
	const char *needs;    /* the library it was built without, or NULL */
	int (*probe)(const uint8_t *data, size_t size);
	enum diag_status (*read)(const uint8_t *data, size_t size,
	                         const struct level_options *options,
	                         struct level *out, struct diag *diag);
};

/* All formats; ends with a row whose name is NULL. */
extern const struct level_format level_formats[];

/* The format of that name, or NULL. */
const struct level_format *level_find_format(const char *name);

/* DIAG_USAGE, and diag names those that there are, if there is no format of that
 * name. */
enum diag_status level_check_format(const char *name, struct diag *diag);

/* Does a file's name end in one of the suffixes? NULL has none. */
bool level_has_suffix(const char *name, const char *suffixes);

/* Read a level of any known format: the one that the options name, else by
 * probe, else by the suffix of `name`. options may be NULL. *out is filled or
 * left as read() of the format does it. */
enum diag_status level_read(const char *name, const uint8_t *data, size_t size,
                            const struct level_options *options,
                            struct level *out, struct diag *diag);

/* Make a level of blocked cells, with the classes of the user's table or, where
 * there is none, the two that are always there. DIAG_BAD_INPUT for a size out of
 * range, DIAG_FAILED where there is no memory, or what the gate says. A reader
 * calls it only when it knows that the input really holds that many cells.
 * options may be NULL. */
enum diag_status level_new(uint32_t width, uint32_t height,
                           const struct level_options *options,
                           struct level *out, struct diag *diag);
void level_free(struct level *level);
void level_kept_free(struct level_kept *kept);

/* The number of the level's class of that name, which is added if there is
 * none; -1 where there are too many. A class that the user has priced stays as
 * he wants it. */
int level_add_class(struct level *level, const struct terrain_class *wanted);

/* The same of what a format takes cells for that no rule is about: where the
 * user's class of that name is another one, the name gets a number. Only ground
 * is what he says it is. */
int level_add_usual_class(struct level *level,
                          const struct terrain_class *usual);

/* May a unit without special abilities enter the cell of that index? */
static inline bool
level_is_open(const struct level *level, size_t cell)
{
	const struct terrain_class *terrain =
		&level->terrain.classes[level->cells[cell]];

	return terrain->factor != 0 && !terrain->only_if_named;
}

/* Another file, which the level names. */
enum diag_status level_load_other(const struct level_options *options,
                                  const char *name, const uint8_t **data,
                                  size_t *size, struct diag *diag);

/* The readers, one file each. */
int ldtk_probe(const uint8_t *data, size_t size);
enum diag_status ldtk_read(const uint8_t *data, size_t size,
                           const struct level_options *options,
                           struct level *out, struct diag *diag);
int movingai_probe(const uint8_t *data, size_t size);
enum diag_status movingai_read(const uint8_t *data, size_t size,
                               const struct level_options *options,
                               struct level *out, struct diag *diag);
int pgm_probe(const uint8_t *data, size_t size);
enum diag_status pgm_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);
int png_probe(const uint8_t *data, size_t size);
enum diag_status png_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);
enum diag_status raw_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);
int ros_probe(const uint8_t *data, size_t size);
enum diag_status ros_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);
int tmj_probe(const uint8_t *data, size_t size);
enum diag_status tmj_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);
int tmx_probe(const uint8_t *data, size_t size);
enum diag_status tmx_read(const uint8_t *data, size_t size,
                          const struct level_options *options,
                          struct level *out, struct diag *diag);

#endif
