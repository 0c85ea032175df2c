/* depfile.c: rules that compilers write with -MD.
 *
 *     out/a.hpa: levels/a.yaml levels/a.pgm
 *
 * make takes a blank or a colon for the end of a name, # for a comment and $ for
 * a variable, and all can be quoted; backslashes before those but $ are doubled,
 * others stand for themselves. ninja reads the same. What can't be quoted is a
 * line feed. */
#include "src/cli/depfile.h"

#include <stdlib.h>
#include <string.h>

#define SUFFIX ".hpa"
#define BY_BACKSLASH " \t#:"

static void
put_name(FILE *to, const char *name)
{
	for (; *name; name++) {
		size_t n = strspn(name, "\\");

		if (n > 0 && name[n] && strchr(BY_BACKSLASH, name[n]))
			for (size_t i = 0; i < n; i++)
				fputc('\\', to);
		for (; n > 0; n--)
			fputc(*name++, to);
		if (!*name)
			return;
		if (strchr(BY_BACKSLASH, *name))
			fputc('\\', to);
		else if (*name == '$')
			fputc('$', to);
		fputc(*name, to);
	}
}

void
depfile_rule(FILE *to, const char *output, const struct name_list *inputs,
             bool phony)
{
	put_name(to, output);
	fputc(':', to);
	for (size_t i = 0; i < inputs->n; i++) {
		fputs(i ? " \\\n " : " ", to);
		put_name(to, inputs->names[i]);
	}
	fputc('\n', to);
	for (size_t i = 1; phony && i < inputs->n; i++) {
		put_name(to, inputs->names[i]);
		fputs(":\n", to);
	}
}

bool
depfile_can_name(const char *name)
{
	return !strchr(name, '\n');
}

char *
depfile_name(const char *output)
{
	size_t size = strlen(output), suffix = strlen(SUFFIX);
	char *out = malloc(size + 3);

	if (!out)
		return NULL;
	if (size > suffix && !strcmp(output + size - suffix, SUFFIX))
		size -= suffix;
	memcpy(out, output, size);
	memcpy(out + size, ".d", 3);
	return out;
}
