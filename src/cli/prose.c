/* prose.c: cut a file of roff into the parts of a manual page.
 *
 * The parts lie in one copy of the file: the line that begins a part becomes
 * the part's name, and its first byte the end of the part before. */
#include "src/cli/prose.h"

#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/file.h"

static const char section_mark[] = ".SH ";
static const char option_mark[] = "@option ";

static bool
begins_with(const char *text, const char *mark)
{
	return strncmp(text, mark, strlen(mark)) == 0;
}

static const struct prose_part *
find_part(const struct prose *prose, bool is_option, const char *name)
{
	for (size_t i = 0; i < prose->n; i++)
		if (prose->parts[i].is_option == is_option &&
		    !strcmp(prose->parts[i].name, name))
			return &prose->parts[i];
	return NULL;
}

static enum diag_status
add_part(struct prose *prose, const struct prose_part *part, struct diag *diag)
{
	struct prose_part *more;

	if (find_part(prose, part->is_option, part->name))
		return diag_set(diag, DIAG_BAD_INPUT, part->line,
		                "%s%s begins here for the second time",
		                part->is_option ? option_mark : section_mark,
		                part->name);
	more = realloc(prose->parts, (prose->n + 1) * sizeof(*more));
	if (!more)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	prose->parts = more;
	prose->parts[prose->n++] = *part;
	return DIAG_OK;
}

/* Take a line, which ends before `next`. */
static enum diag_status
take_line(struct prose *prose, char *line, char *next, unsigned long number,
          struct diag *diag)
{
	bool is_option = begins_with(line, option_mark);
	struct prose_part part = {is_option, NULL, next, number};

	if (is_option || begins_with(line, section_mark)) {
		part.name =
			line + strlen(is_option ? option_mark : section_mark);
		line[0] = '\0';
		next[-1] = '\0';
		return add_part(prose, &part, diag);
	}
	if (prose->n == 0 && !begins_with(line, ".\\\""))
		return diag_set(diag, DIAG_BAD_INPUT, number,
		                "a line '.SH NAME' or '@option NAME' must come "
		                "first");
	return DIAG_OK;
}

static enum diag_status
cut(struct prose *prose, struct diag *diag)
{
	enum diag_status status = DIAG_OK;
	char *line = prose->text, *end;
	unsigned long number = 0;

	while (!status && (end = strchr(line, '\n'))) {
		status = take_line(prose, line, end + 1, ++number, diag);
		line = end + 1;
	}
	if (!status && *line)
		status = diag_set(diag, DIAG_BAD_INPUT, number + 1,
		                  "the last line has no end");
	return status;
}

enum diag_status
prose_read(const char *file, struct prose *out, struct diag *diag)
{
	struct file_bytes bytes;
	enum diag_status status = file_read(file, &bytes, diag);

	*out = (struct prose){.file = file};
	if (status)
		return status;
	out->text = malloc(bytes.size + 1);
	if (out->text) {
		memcpy(out->text, bytes.data, bytes.size);
		out->text[bytes.size] = '\0';
		status = cut(out, diag);
	} else {
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	}
	if (status)
		cli_set_file(diag, file);
	file_free(&bytes);
	return status;
}

void
prose_free(struct prose *prose)
{
	free(prose->parts);
	free(prose->text);
	*prose = (struct prose){0};
}

const char *
prose_section(const struct prose *prose, const char *name)
{
	const struct prose_part *part = find_part(prose, false, name);

	return part ? part->text : NULL;
}

const char *
prose_option(const struct prose *prose, const char *name)
{
	const struct prose_part *part = find_part(prose, true, name);

	return part ? part->text : NULL;
}
