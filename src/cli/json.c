/* json.c: what all JSON that is printed has in common. */
#include "src/cli/json.h"

#include <stdlib.h>
#include <string.h>

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
