/* bake_batch.h: bake the levels of a batch, and tell what became of each. */
#ifndef CLI_BAKE_BATCH_H
#define CLI_BAKE_BATCH_H

#include "src/cli/batch_inputs.h"
#include "src/cli/level_options.h"
#include "src/cli/progress.h"

/* What all levels of the batch share. */
struct bake_plan {
	const struct bake_options *baking;
	const struct level_options *reading;
	const char *links;  /* the text file of links, or NULL */
	const char *folder; /* of the outputs; NULL: there is one, to a file */
	uint64_t max_bytes; /* of memory; 0: no limit */
	bool quiet, verbose;
	bool force; /* bake what is up to date, too */
	enum progress_mode progress;
	const char *report;        /* a file, or NULL */
	bool depfiles;             /* one beside each output */
	const char *depfile;       /* one for all, or NULL */
	bool phony;                /* see depfile_rule() */
	struct name_list depended; /* files that all levels depend on */
};

/* Bake all inputs. A level that can't be baked is reported on stderr and does
 * not keep others from it. The worst status, or DIAG_FAILED about the whole,
 * with diag filled in. */
enum diag_status bake_batch(const struct bake_plan *plan,
                            const struct batch_inputs *inputs,
                            struct diag *diag);

#endif
