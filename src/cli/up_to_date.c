/* up_to_date.c: does a level's output need to be baked again?
 *
 * Times of files do not count, only what is in them. The level has been read,
 * with its terrain applied, so its source hash is known, and it costs a small
 * part of a bake. Where the file's header has the same one, the file is opened
 * with all checks that there are, and must agree in all that is stored of the
 * options, the agents and the links, in the version of the format and in how it
 * is compressed. A damaged file is no output. */
#include "src/cli/up_to_date.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/input.h"
#include "src/cli/stored.h"

static bool
is_file(const char *name)
{
	struct stat st;

	return strcmp(name, FILE_STDOUT) != 0 && stat(name, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

/* Is it a baked file whose header has that source hash? */
static bool
has_source(const char *name, uint64_t source)
{
	struct file_bytes bytes;
	struct hpa_file *file;
	struct diag ignored;
	const char *detail;
	bool same;

	if (file_map(name, &bytes, &ignored))
		return false;
	file = malloc(sizeof(*file));
	same = file &&
	       hpa_file_read(bytes.data, bytes.size, false, file, &detail) ==
	               HPA_OK &&
	       file->source_hash == source;
	free(file);
	file_free(&bytes);
	return same;
}

bool
up_to_date(const char *output, const struct level *level,
           const struct bake_options *options, struct bake_report *report,
           size_t *n_bytes)
{
	struct bake_identity wanted, stored;
	struct baked *baked;
	struct diag ignored;
	bool same;

	if (!is_file(output) ||
	    bake_identity(level, options, &wanted, &ignored) ||
	    !has_source(output, wanted.source))
		return false;
	baked = malloc(sizeof(*baked));
	if (!baked || input_baked(output, baked, &ignored)) {
		free(baked);
		return false;
	}
	bake_identity_of(&baked->file, &stored);
	same = stored.source == wanted.source &&
	       stored.options == wanted.options &&
	       bake_is_written_so(&baked->file, options->compress);
	if (same) {
		stored_report(baked, report);
		*n_bytes = baked->file.size;
	}
	input_close_baked(baked);
	free(baked);
	return same;
}
