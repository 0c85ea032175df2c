/* json.h: what all JSON that is printed has in common. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

/* A name, in which bytes that are no UTF-8 can't be told. NULL without
 * memory. */
json_t *cli_json_name(const char *name);

#endif
