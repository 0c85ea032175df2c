/* report.h: what became of each level of a batch, as JSON Lines. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "formats/diag.h"
#include "src/bake/bake.h"

/* What can become of a level. */
enum report_outcome {
	REPORT_BAKED = 0,
	REPORT_UNCHANGED, /* baked, into the bytes that were there */
	REPORT_SKIPPED,   /* not baked: its output is up to date */
	REPORT_FAILED,
	REPORT_N_OUTCOMES
};
extern const char *const report_outcome_names[REPORT_N_OUTCOMES];

struct report_level {
	enum report_outcome outcome;
	const char *file, *output;
	const char *name;                 /* of one level of several; else "" */
	const char *format;               /* NULL: not known */
	const struct bake_report *counts; /* not of a failure */
	size_t n_bytes;
	double read_ms, write_ms, elapsed_ms;
	const struct diag *diag; /* of a failure */
};

/* Add its line; DIAG_FAILED without memory. */
enum diag_status report_add(FILE *to, const struct report_level *level,
                            struct diag *diag);

#endif
