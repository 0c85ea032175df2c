/* text.h: a text that is made in memory and becomes a file, whole. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "formats/diag.h"

struct text {
	FILE *to; /* to be printed to; NULL before and after */
	char *bytes;
	size_t size;
};

/* DIAG_FAILED without memory. What is begun must be ended, which writes the
 * file, or to standard output for -, or says what is wrong. */
enum diag_status text_begin(struct text *text, struct diag *diag);
enum diag_status text_end(struct text *text, const char *file,
                          struct diag *diag);

#endif
