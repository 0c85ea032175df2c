/* manual.h: a manual page, made from the table of a verb and from prose. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include <stdio.h>

#include "src/cli/cli.h"
#include "src/cli/prose.h"

/* Write the page of a verb, or of the program. `own` is the page's prose, for
 * its sections and options; `common` that of options which several verbs have,
 * and is used where `own` has none. DIAG_BAD_INPUT for prose about an option
 * that there is not. */
enum diag_status manual_write(FILE *to, const struct cli_verb *verb,
                              const struct prose *own,
                              const struct prose *common, struct diag *diag);

#endif
