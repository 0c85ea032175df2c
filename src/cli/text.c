/* text.c: a text that is made in memory and becomes a file, whole. */
#include "src/cli/text.h"

#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/file.h"

static enum diag_status
out_of_memory(struct diag *diag)
{
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

enum diag_status
text_begin(struct text *text, struct diag *diag)
{
	*text = (struct text){NULL, NULL, 0};
	text->to = open_memstream(&text->bytes, &text->size);
	return text->to ? DIAG_OK : out_of_memory(diag);
}

enum diag_status
text_end(struct text *text, const char *file, struct diag *diag)
{
	/* fclose() makes the bytes; an error before it is remembered. */
	bool failed = ferror(text->to);
	enum diag_status status;

	failed |= fclose(text->to) != 0;
	if (failed)
		status = out_of_memory(diag);
	else if (!strcmp(file, FILE_STDOUT))
		status = cli_write_stdout(text->bytes, text->size, diag);
	else
		status = file_replace(file, (const uint8_t *)text->bytes,
		                      text->size, NULL, diag);
	free(text->bytes);
	*text = (struct text){NULL, NULL, 0};
	return status;
}
