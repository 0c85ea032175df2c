/* dump.h: all that is in a baked file, as lines of text. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include <stdio.h>

#include "src/cli/input.h"

/* Write every cell, node, level, edge, link and cached path of a file that was
 * checked. hpabake(1) has the format. DIAG_BAD_INPUT where a cached path, which
 * no check looks into, leads nowhere. */
enum diag_status dump_baked(FILE *out, const struct baked *baked,
                            struct diag *diag);

#endif
