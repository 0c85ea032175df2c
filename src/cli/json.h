/* json.h: what all JSON that is printed has in common. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "formats/diag.h"

/* The functions that make JSON return NULL where there is no memory. */

/* A name, in which bytes that are no UTF-8 can't be told. */
json_t *cli_json_name(const char *name);

json_t *cli_json_hash(uint64_t hash);

/* Append, or make the array NULL. */
void cli_json_add(json_t **array, json_t *item);

/* Print to stdout, numbers that are not whole with so many digits; 0 is for all
 * that they have. json is borrowed; NULL says that there was no memory. */
enum diag_status cli_json_print(const json_t *json, unsigned digits,
                                struct diag *diag);

#endif
