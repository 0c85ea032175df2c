/* completion.h: what makes bash complete command lines of hpabake. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdio.h>

/* Write a script for bash, to be sourced. It completes verbs, options, names
 * that options take, files and folders, and needs nothing but bash. */
void completion_write(FILE *to);

#endif
