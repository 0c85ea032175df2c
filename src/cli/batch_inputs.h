/* batch_inputs.h: from the operands of a batch to its levels and where their
 * outputs go. */
#ifndef CLI_BATCH_INPUTS_H
#define CLI_BATCH_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/diag.h"

#define BATCH_SUFFIX ".hpa"

/* A file of levels, or an operand that could not be followed. */
struct batch_input {
	char *file;
	char *label;   /* what tables call it: its own name, or below a folder
	               * the way to it */
	char *output;  /* NULL if it was refused */
	bool is_found; /* in a folder, not named by the user */
	bool keeps_suffix;    /* in its output's name */
	struct diag *refusal; /* NULL: it is a file to be read */
};

struct batch_inputs {
	size_t n, capacity;
	struct batch_input *list;
	size_t n_passed; /* files in folders that are no levels */
};

/* What the operands stand for, in their order: a file for itself, a folder for
 * the levels below it, by name, @LIST for what stands in that file. With
 * `format`, which may be NULL, folders are searched for its suffixes; without
 * `folders` they are left as they are. What goes wrong with one operand is its
 * refusal; DIAG_FAILED and DIAG_USAGE are about all. Free *out with
 * batch_inputs_free() in any case. */
enum diag_status batch_inputs_collect(size_t n, char **operands,
                                      const char *format, bool folders,
                                      struct batch_inputs *out,
                                      struct diag *diag);
void batch_inputs_free(struct batch_inputs *inputs);

/* Name the outputs: the one `output`, or names below `folder`, one of which is
 * NULL. No output may be another one or its own level. */
enum diag_status batch_inputs_name(struct batch_inputs *inputs,
                                   const char *output, const char *folder,
                                   struct diag *diag);

/* The output of one of several levels of an input; name is the level's. NULL
 * without memory. */
char *batch_inputs_name_one(const struct batch_input *input, const char *folder,
                            const char *name);

/* Are both names of one regular file? */
bool batch_inputs_same_file(const char *a, const char *b);

/* Make the folders that lead to an output, below `folder`, which is there. */
enum diag_status batch_inputs_make_way(const char *output, const char *folder,
                                       struct diag *diag);

#endif
