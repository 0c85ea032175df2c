/* depfile.h: the files that an output depends on, as make and ninja read it. */
#ifndef CLI_DEPFILE_H
#define CLI_DEPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/cli/level_options.h"

/* Write the rule of an output; inputs begin with the level. With `phony` all
 * inputs but the level get rules without a recipe. */
void depfile_rule(FILE *to, const char *output, const struct name_list *inputs,
                  bool phony);

/* Can the name stand in a depfile? */
bool depfile_can_name(const char *name);

/* What the depfile of an output is called: the suffix .d instead of .hpa. NULL
 * without memory. */
char *depfile_name(const char *output);

#endif
