/* agent.c: whom a profile is for, in words: `name:size=2,terrain=ground+road`.
 *
 * Names are short and without blanks or marks, so that they can stand in lists
 * and in file names. */
#include <stdlib.h>
#include <string.h>

#include "src/bake/bake.h"

static const char size_key[] = "size=", terrain_key[] = "terrain=";

static enum diag_status
refuse(struct diag *diag, const char *text)
{
	return diag_set(diag, DIAG_USAGE, 0,
	                "--agent takes NAME[:size=N][,terrain=CLASS+CLASS], "
	                "N from 1 to %u, not '%.100s'",
	                HPA_MAX_AGENT_SIZE, text);
}

static bool
is_name_char(char c)
{
	return c > ' ' && c < 0x7f && !strchr(":,+=/", c);
}

/* Copy the name that text begins with; its size, or 0 if it is none. */
static size_t
take_name(const char *text, char *out, size_t max)
{
	size_t n = 0;

	while (text[n] && is_name_char(text[n]))
		n++;
	if (n == 0 || n > max)
		return 0;
	memcpy(out, text, n);
	out[n] = 0;
	return n;
}

/* A list of names with '+' between them; its size, or 0 if it is none. */
static size_t
take_names(const char *text, char *out, size_t max)
{
	size_t n = strcspn(text, ",");
	char name[HPA_CLASS_NAME_SIZE + 1];
	size_t at = 0;

	if (n == 0 || n > max)
		return 0;
	while (at < n) {
		size_t size =
			take_name(text + at, name, HPA_CLASS_NAME_SIZE - 1);

		at += size;
		if (size == 0 || (at < n && text[at++] != '+') ||
		    (at == n && text[at - 1] == '+'))
			return 0;
	}
	memcpy(out, text, n);
	out[n] = 0;
	return n;
}

/* Read one `key=value`; its size, or 0. */
static size_t
take_part(const char *text, struct bake_agent *out)
{
	size_t size_n = sizeof(size_key) - 1;
	size_t terrain_n = sizeof(terrain_key) - 1;

	if (!strncmp(text, size_key, size_n)) {
		char *end;
		unsigned long size = strtoul(text + size_n, &end, 10);

		if (text[size_n] < '0' || text[size_n] > '9' || size == 0 ||
		    size > HPA_MAX_AGENT_SIZE)
			return 0;
		out->size = (uint32_t)size;
		return (size_t)(end - text);
	}
	if (!strncmp(text, terrain_key, terrain_n)) {
		size_t n = take_names(text + terrain_n, out->terrain,
		                      HPA_AGENT_TERRAIN_SIZE);

		return n ? n + terrain_n : 0;
	}
	return 0;
}

/* Does the part have a key that has been read? */
static bool
is_repeated(const char *text, const struct bake_agent *read)
{
	return (read->size > 0 &&
	        !strncmp(text, size_key, sizeof(size_key) - 1)) ||
	       (read->terrain[0] &&
	        !strncmp(text, terrain_key, sizeof(terrain_key) - 1));
}

enum diag_status
bake_agent_parse(const char *text, struct bake_agent *out, struct diag *diag)
{
	size_t at;

	*out = (struct bake_agent){.size = 0};
	at = take_name(text, out->name, HPA_AGENT_NAME_SIZE);
	if (at == 0)
		return refuse(diag, text);
	for (char mark = ':'; text[at]; mark = ',') {
		size_t n = 0;

		if (text[at] == mark && is_repeated(text + at + 1, out))
			return diag_set(diag, DIAG_USAGE, 0,
			                "--agent takes size= and terrain= once "
			                "each, not '%.100s'",
			                text);
		if (text[at] == mark)
			n = take_part(text + at + 1, out);
		if (n == 0)
			return refuse(diag, text);
		at += 1 + n;
	}
	if (out->size == 0)
		out->size = 1;
	return DIAG_OK;
}

enum diag_status
bake_agent_classes(const struct bake_agent *agent,
                   const struct terrain_classes *terrain,
                   bool may_enter[TERRAIN_MAX_CLASSES], struct diag *diag)
{
	const char *at = agent->terrain;
	char name[HPA_CLASS_NAME_SIZE + 1];

	for (uint32_t i = 0; i < TERRAIN_MAX_CLASSES; i++)
		may_enter[i] = !*at && i < terrain->n &&
		               terrain->classes[i].factor > 0 &&
		               !terrain->classes[i].only_if_named;
	while (*at) {
		size_t n = take_name(at, name, HPA_CLASS_NAME_SIZE - 1);
		int class = terrain_find_class(terrain, name);

		if (class < 0)
			return diag_set(diag, DIAG_USAGE, 0,
			                "--agent %s: terrain= takes classes that "
			                "the level has, not '%s'",
			                agent->name, name);
		if (terrain->classes[class].factor == 0)
			return diag_set(diag, DIAG_USAGE, 0,
			                "--agent %s: terrain= takes classes that "
			                "can be entered, not '%s', whose factor "
			                "is 0; --terrain gives it another",
			                agent->name, name);
		may_enter[class] = true;
		at += n;
		at += *at == '+';
	}
	return DIAG_OK;
}
