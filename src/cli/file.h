/* file.h: whole files, in and out. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"

/* What standard input and output are called; a file of that name is ./- */
#define FILE_STDIN "-"
#define FILE_STDOUT "-"

/* The bytes of a file; data is aligned for any type and never NULL. */
struct file_bytes {
	uint8_t *data;
	size_t size;
	bool is_mapped; /* it may not be written to */
};

/* Read all of a file, or of what else the name stands for, a pipe for instance.
 * Free *out with file_free(). DIAG_FAILED fills in diag and leaves *out
 * empty. */
enum diag_status file_read(const char *name, struct file_bytes *out,
                           struct diag *diag);
void file_free(struct file_bytes *bytes);

/* The same, by a map of the file where it can be mapped. Who cuts the file off
 * meanwhile ends the program, by SIGBUS. */
enum diag_status file_map(const char *name, struct file_bytes *out,
                          struct diag *diag);

/* How much work a level's file is likely to be: a number to compare with those
 * of others, 0 for what can't be looked at without reading it. */
uint64_t file_weight(const char *name);

/* Give a file these bytes, whole or not at all: they are written beside it and
 * take its place when they are safe. A file that has them already is left
 * alone, and *is_same is true then; is_same may be NULL. What is no regular
 * file, /dev/null for instance, is written to. Threads may write files of
 * different names at once. DIAG_FAILED fills in diag; the file is then as it
 * was. */
enum diag_status file_replace(const char *name, const uint8_t *data,
                              size_t size, bool *is_same, struct diag *diag);

/* Between these two a signal that ends the program is told on stderr and leaves
 * no temporary file; they nest. file_replace() does so by itself, but knows only
 * of its own time. */
void file_begin_writing(void);
void file_end_writing(void);

#endif
