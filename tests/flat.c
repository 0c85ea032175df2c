/* flat.c: JSON from standard input, a leaf per line, NAME=VALUE, for shell tests.
 * A name is the way to the leaf: levels.0.nodes=8. */
#include <jansson.h>
#include <stdio.h>

static void
walk(const char *name, const json_t *json)
{
	const char *dot = *name ? "." : "";
	char below[256];

	if (json_is_object(json)) {
		json_t *object = json_incref((json_t *)json);
		const char *key;
		json_t *value;

		json_object_foreach(object, key, value)
		{
			snprintf(below, sizeof(below), "%s%s%s", name, dot,
			         key);
			walk(below, value);
		}
		json_decref(object);
	} else if (json_is_array(json)) {
		for (size_t i = 0; i < json_array_size(json); i++) {
			snprintf(below, sizeof(below), "%s%s%zu", name, dot, i);
			walk(below, json_array_get(json, i));
		}
	} else if (json_is_string(json)) {
		printf("%s=%s\n", name, json_string_value(json));
	} else if (json_is_integer(json)) {
		printf("%s=%lld\n", name, (long long)json_integer_value(json));
	} else {
		printf("%s=%s\n", name,
		       json_is_true(json)    ? "true"
		       : json_is_false(json) ? "false"
		                             : "?");
	}
}

int
main(void)
{
	json_error_t error;
	json_t *json = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);

	if (!json) {
		fprintf(stderr, "line %d: %s\n", error.line, error.text);
		return 1;
	}
	walk("", json);
	json_decref(json);
	return 0;
}
