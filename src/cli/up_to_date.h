/* up_to_date.h: does a level's output need to be baked again? */
#ifndef CLI_UP_TO_DATE_H
#define CLI_UP_TO_DATE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/bake/bake.h"

/* Would baking the level give the file that is there under that name? If so, the
 * report (without times) and the size are those of the file. False whenever
 * there is a doubt. */
bool up_to_date(const char *output, const struct level *level,
                const struct bake_options *options, struct bake_report *report,
                size_t *n_bytes);

#endif
