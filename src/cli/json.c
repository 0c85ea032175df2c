/* json.c: what all JSON that is printed has in common. */
#include "src/cli/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"

#define HASH_SIZE 17 /* 16 digits and a 0 */

json_t *
cli_json_name(const char *name)
{
	json_t *json = json_string(name);
	char *copy;

	if (json)
		return json;
	copy = strdup(name);
	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	json = copy ? json_string(copy) : NULL;
	free(copy);
	return json;
}

json_t *
cli_json_hash(uint64_t hash)
{
	char text[HASH_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	return json_string(text);
}

void
cli_json_add(json_t **array, json_t *item)
{
	if (json_array_append_new(*array, item) != 0) {
		json_decref(*array);
		*array = NULL;
	}
}

enum diag_status
cli_json_print(const json_t *json, unsigned digits, struct diag *diag)
{
	if (!json)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	errno = 0;
	if (json_dumpf(json, stdout,
	               JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) != 0 ||
	    putchar('\n') == EOF)
		return cli_write_failed(diag);
	return DIAG_OK;
}
