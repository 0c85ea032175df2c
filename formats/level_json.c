/* level_json.c: what the readers of JSON levels share.
 *
 * Jansson makes a tree of the whole file, which takes some twenty times the
 * room of the shortest numbers. Its errors know the line, but what is wrong
 * with the meaning of a tree has none. It takes a lack of memory for a wrong
 * token, so its allocations are watched; the watch is for the whole program and
 * remembers by thread. A byte order mark, which Jansson does not know, is
 * skipped. */
#include "formats/level_json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MARK "\xef\xbb\xbf"

static _Thread_local bool lacks_memory;

static void *
watched_malloc(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		lacks_memory = true;
	return memory;
}

static void
watch_memory(void)
{
	json_set_alloc_funcs(watched_malloc, free);
}

/* Jansson quotes what it stumbled over, whatever that is. */
static void
refuse_text(json_error_t *error, struct diag *diag)
{
	for (char *c = error->text; *c; c++)
		if ((uint8_t)*c < ' ' || *c == 0x7f)
			*c = '?';
	diag_set(diag, DIAG_BAD_INPUT,
	         error->line > 0 ? (unsigned long)error->line : 1,
	         "not JSON: %s", error->text);
}

/* The size of the byte order mark that the text may begin with. */
static size_t
mark_size(const uint8_t *data, size_t size)
{
	size_t mark = strlen(MARK);

	return size >= mark && !memcmp(data, MARK, mark) ? mark : 0;
}

json_t *
level_json_read(const uint8_t *data, size_t size, struct diag *diag)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t mark = mark_size(data, size);
	json_error_t error;
	json_t *root;

	pthread_once(&once, watch_memory);
	lacks_memory = false;
	root = json_loadb((const char *)data + mark, size - mark, 0, &error);
	if (!root && lacks_memory)
		diag_set(diag, DIAG_FAILED, 0, "out of memory");
	else if (!root)
		refuse_text(&error, diag);
	if (root && !json_is_object(root)) {
		diag_set(diag, DIAG_BAD_INPUT, 0, "not a JSON object");
		json_decref(root);
		root = NULL;
	}
	return root;
}

const char *
level_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool
level_json_number(const json_t *object, const char *key, int64_t least,
                  int64_t most, int64_t missing, int64_t *out,
                  struct diag *diag)
{
	const json_t *value = json_object_get(object, key);

	*out = missing;
	if (!value || json_is_null(value))
		return true;
	*out = json_integer_value(value);
	if (json_is_integer(value) && *out >= least && *out <= most)
		return true;
	*out = missing;
	diag_set(diag, DIAG_BAD_INPUT, 0,
	         "'%s' is not a number from %lld to %lld", key,
	         (long long)least, (long long)most);
	return false;
}

bool
level_json_is_object(const uint8_t *data, size_t size)
{
	size_t i = mark_size(data, size);

	while (i < size && data[i] && strchr(" \t\r\n", data[i]))
		i++;
	return i < size && data[i] == '{';
}

bool
level_json_has_key(const uint8_t *data, size_t size, const char *key)
{
	const uint8_t *at = data, *end = data + size;
	size_t key_size = strlen(key);

	while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
		at++;
		if ((size_t)(end - at) > key_size &&
		    !memcmp(at, key, key_size) && at[key_size] == '"')
			return true;
	}
	return false;
}
