/* batch_inputs.c: operands -> levels -> outputs.
 *
 * A folder is searched as a user would who knows what its files are called:
 * every file with a suffix of a level format is a level. Three kinds of them are
 * not, and are passed by: a file whose suffix is used for other things too, such
 * as .json, is a level only if its bytes look like one; parts of levels have a
 * suffix of their own; and the image that a ROS map names belongs to that map.
 * Other files that can't be read are broken levels, and that is told. Names that
 * begin with a dot are left alone.
 *
 * The order is that of the bytes of the names, whatever the locale. Links are
 * followed, but not into a folder that they lie in, by device and inode: so they
 * may lead in circles, and what is found does not depend on the order.
 *
 * Below the folder of the outputs the way to a level is the way below the folder
 * that it was found in. Levels of one folder that differ by their suffix only
 * keep it, so that none is in the way of another. */
#include "src/cli/batch_inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/level.h"
#include "src/cli/cli.h"
#include "src/cli/file.h"
#include "src/cli/level_options.h"

#define MAX_DEPTH 64u

/* A folder that is being searched. */
struct entered {
	dev_t device;
	ino_t inode;
};

struct collector {
	struct batch_inputs *inputs;
	const struct level_format *format; /* NULL: any */
	const char *root;                  /* the folder among the operands */
	unsigned depth;
	struct entered way[MAX_DEPTH]; /* from the root to where we are */
	bool uses_stdin;
	struct diag *diag;
};

static enum diag_status
out_of_memory(struct diag *diag)
{
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Printed into memory of its own; NULL without memory. */
static char *
join(const char *a, const char *between, const char *b)
{
	size_t size = strlen(a) + strlen(between) + strlen(b) + 1;
	char *out = malloc(size);

	if (out)
		snprintf(out, size, "%s%s%s", a, between, b);
	return out;
}

/* The list of inputs */

static struct batch_input *
add_input(struct batch_inputs *inputs, const char *file, const char *label)
{
	struct batch_input *input;

	if (inputs->n == inputs->capacity) {
		size_t capacity = 2 * inputs->capacity + 16;
		struct batch_input *list =
			realloc(inputs->list, capacity * sizeof(*list));

		if (!list)
			return NULL;
		inputs->list = list;
		inputs->capacity = capacity;
	}
	input = &inputs->list[inputs->n];
	*input = (struct batch_input){.file = strdup(file),
	                              .label = strdup(label)};
	inputs->n++;
	return input->file && input->label ? input : NULL;
}

/* Add one that could not be followed; what is wrong is in refusal. */
static enum diag_status
add_refusal(struct collector *collector, const char *name,
            const struct diag *refusal)
{
	struct batch_input *input =
		add_input(collector->inputs, name, base_name(name));

	if (input)
		input->refusal = malloc(sizeof(*refusal));
	if (!input || !input->refusal)
		return out_of_memory(collector->diag);
	*input->refusal = *refusal;
	cli_set_file(input->refusal, name);
	return DIAG_OK;
}

static enum diag_status
add_failure(struct collector *collector, const char *name, int error)
{
	struct diag refusal = {.line = 0};

	diag_set(&refusal, DIAG_FAILED, 0, "%s", strerror(error));
	return add_refusal(collector, name, &refusal);
}

static enum diag_status
add_file(struct collector *collector, const char *file)
{
	return add_input(collector->inputs, file, base_name(file))
	               ? DIAG_OK
	               : out_of_memory(collector->diag);
}

void
batch_inputs_free(struct batch_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++) {
		free(inputs->list[i].file);
		free(inputs->list[i].label);
		free(inputs->list[i].output);
		free(inputs->list[i].refusal);
	}
	free(inputs->list);
	*inputs = (struct batch_inputs){0};
}

/* Folders */

static bool
looks_like(const struct level_format *format, const char *file)
{
	struct file_bytes bytes;
	struct diag ignored;
	bool yes;

	if (!format->probe || file_map(file, &bytes, &ignored))
		return false;
	yes = format->probe(bytes.data, bytes.size);
	file_free(&bytes);
	return yes;
}

/* Is a file of that name a level of the format? */
static bool
is_level_of(const struct level_format *format, const char *file)
{
	return level_has_suffix(file, format->suffixes) &&
	       !level_has_suffix(file, format->parts) &&
	       (!level_has_suffix(file, format->shared) ||
	        looks_like(format, file));
}

static const struct level_format *
format_of(const struct collector *collector, const char *file)
{
	const struct level_format *format = collector->format;

	/* The user's word counts for more than what a file looks like. */
	if (format)
		return level_has_suffix(file, format->suffixes) ? format : NULL;
	for (format = level_formats; format->name; format++)
		if (is_level_of(format, file))
			return format;
	return NULL;
}

static bool
has_known_suffix(const char *file)
{
	const struct level_format *format = level_formats;

	while (format->name && !level_has_suffix(file, format->suffixes))
		format++;
	return format->name != NULL;
}

static bool
is_on_the_way(const struct collector *collector, const struct stat *st)
{
	for (unsigned i = 0; i < collector->depth; i++)
		if (collector->way[i].device == st->st_dev &&
		    collector->way[i].inode == st->st_ino)
			return true;
	return false;
}

static int
is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int
compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static enum diag_status search(struct collector *collector, const char *folder,
                               const struct stat *st);

/* A file, or a folder, that was found. */
static enum diag_status
take(struct collector *collector, const char *name)
{
	struct batch_input *input;
	struct stat st;

	if (stat(name, &st) != 0)
		return has_known_suffix(name)
		               ? add_failure(collector, name, errno)
		               : DIAG_OK;
	if (S_ISDIR(st.st_mode))
		return search(collector, name, &st);
	if (!S_ISREG(st.st_mode) || !has_known_suffix(name))
		return DIAG_OK;
	if (!format_of(collector, name)) {
		collector->inputs->n_passed++;
		return DIAG_OK;
	}
	input = add_input(collector->inputs, name,
	                  name + strlen(collector->root) + 1);
	if (!input)
		return out_of_memory(collector->diag);
	input->is_found = true;
	return DIAG_OK;
}

static enum diag_status
search(struct collector *collector, const char *folder, const struct stat *st)
{
	struct dirent **entries = NULL;
	enum diag_status status = DIAG_OK;
	int n;

	if (is_on_the_way(collector, st))
		return DIAG_OK;
	if (collector->depth == MAX_DEPTH)
		return add_failure(collector, folder, ELOOP);
	n = scandir(folder, &entries, is_shown, compare_entries);
	if (n < 0)
		return add_failure(collector, folder, errno);
	collector->way[collector->depth++] =
		(struct entered){st->st_dev, st->st_ino};
	for (int i = 0; i < n; i++) {
		char *name = join(folder, "/", entries[i]->d_name);

		if (!status)
			status = name ? take(collector, name)
			              : out_of_memory(collector->diag);
		free(name);
		free(entries[i]);
	}
	collector->depth--;
	free(entries);
	return status;
}

/* The names that a level asks for; none of them is read. */
struct asked {
	const char *level;
	char *name; /* of the first */
};

static enum diag_status
note_name(void *user, const char *name, const uint8_t **data, size_t *size,
          struct diag *diag)
{
	struct asked *asked = user;

	(void)data;
	(void)size;
	free(asked->name);
	asked->name = level_files_beside(asked->level, name);
	return diag_set(diag, DIAG_FAILED, 0, "not now");
}

/* The image that a level names, or NULL. */
static char *
picture_of(const char *file)
{
	struct asked asked = {file, NULL};
	struct level_options options = {.loader = {note_name, &asked}};
	struct file_bytes bytes;
	struct diag ignored;
	struct level level;

	if (file_map(file, &bytes, &ignored))
		return NULL;
	if (!level_read(file, bytes.data, bytes.size, &options, &level,
	                &ignored))
		level_free(&level);
	file_free(&bytes);
	return asked.name;
}

/* Take off the list what belongs to another level. */
static void
drop_pictures(struct collector *collector, size_t first)
{
	struct batch_inputs *inputs = collector->inputs;

	for (size_t i = first; i < inputs->n; i++) {
		const struct level_format *format =
			format_of(collector, inputs->list[i].file);
		char *picture = format && format->has_picture
		                        ? picture_of(inputs->list[i].file)
		                        : NULL;

		for (size_t k = inputs->n; picture && k-- > first;) {
			struct batch_input *other = &inputs->list[k];

			if (strcmp(base_name(other->file),
			           base_name(picture)) != 0 ||
			    !batch_inputs_same_file(other->file, picture))
				continue;
			free(other->file);
			free(other->label);
			memmove(other, other + 1,
			        (--inputs->n - k) * sizeof(*other));
			inputs->n_passed++;
			i -= k < i;
		}
		free(picture);
	}
}

static enum diag_status
add_folder(struct collector *collector, const char *folder,
           const struct stat *st)
{
	size_t first = collector->inputs->n, size = strlen(folder);
	struct diag refusal = {.line = 0};
	char *root = strdup(folder);
	enum diag_status status;

	if (!root)
		return out_of_memory(collector->diag);
	while (size > 1 && root[size - 1] == '/')
		root[--size] = '\0';
	collector->root = root;
	status = search(collector, root, st);
	if (!status)
		drop_pictures(collector, first);
	if (!status && collector->inputs->n == first) {
		diag_set(&refusal, DIAG_BAD_INPUT, 0,
		         "there is no level in it");
		status = add_refusal(collector, folder, &refusal);
	}
	free(root);
	return status;
}

/* Lists */

static enum diag_status
claim_stdin(struct collector *collector)
{
	if (collector->uses_stdin)
		return diag_set(collector->diag, DIAG_USAGE, 0,
		                "standard input can be read once, and is named "
		                "twice");
	collector->uses_stdin = true;
	return DIAG_OK;
}

/* A file, a folder or - for standard input. */
static enum diag_status
add_named(struct collector *collector, const char *name, bool folders)
{
	struct stat st;

	if (!strcmp(name, FILE_STDIN))
		return claim_stdin(collector) ? DIAG_USAGE
		                              : add_file(collector, name);
	if (folders && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		return add_folder(collector, name, &st);
	return add_file(collector, name);
}

/* The name in a line, without the blanks around it; NULL if there is none. */
static char *
name_in_line(char *line)
{
	size_t size;

	line += strspn(line, " \t");
	size = strlen(line);
	while (size > 0 && strchr(" \t\r", line[size - 1]))
		line[--size] = '\0';
	return size == 0 || *line == '#' ? NULL : line;
}

static enum diag_status
add_lines(struct collector *collector, char *text, bool folders)
{
	enum diag_status status = DIAG_OK;

	while (!status && text) {
		char *end = strchr(text, '\n');
		char *name;

		if (end)
			*end = '\0';
		name = name_in_line(text);
		if (name)
			status = add_named(collector, name, folders);
		text = end ? end + 1 : NULL;
	}
	return status;
}

static enum diag_status
add_list(struct collector *collector, const char *list, bool folders)
{
	struct diag refusal = {.line = 0};
	struct file_bytes bytes;
	enum diag_status status;
	char *text;

	if (!strcmp(list, FILE_STDIN) && claim_stdin(collector))
		return DIAG_USAGE;
	if (file_read(list, &bytes, &refusal))
		return add_refusal(collector, list, &refusal);
	if (memchr(bytes.data, 0, bytes.size)) {
		file_free(&bytes);
		diag_set(&refusal, DIAG_BAD_INPUT, 0,
		         "a list has a name in each line, this is no text");
		return add_refusal(collector, list, &refusal);
	}
	text = strndup((char *)bytes.data, bytes.size);
	file_free(&bytes);
	status = text ? add_lines(collector, text, folders)
	              : out_of_memory(collector->diag);
	free(text);
	return status;
}

enum diag_status
batch_inputs_collect(size_t n, char **operands, const char *format,
                     bool folders, struct batch_inputs *out, struct diag *diag)
{
	struct collector collector = {
		.inputs = out,
		.format = format ? level_find_format(format) : NULL,
		.diag = diag,
	};
	enum diag_status status = DIAG_OK;

	*out = (struct batch_inputs){0};
	for (size_t i = 0; !status && i < n; i++)
		status =
			operands[i][0] == '@'
				? add_list(&collector, operands[i] + 1, folders)
				: add_named(&collector, operands[i], folders);
	return status;
}

/* Outputs */

char *
batch_inputs_name_one(const struct batch_input *input, const char *folder,
                      const char *name)
{
	const char *base = base_name(input->label);
	const char *dot = input->keeps_suffix ? NULL : strrchr(base, '.');
	size_t stem = dot && dot > base ? (size_t)(dot - input->label)
	                                : strlen(input->label);
	size_t size = strlen(folder) + 1 + stem + 1 + strlen(name) +
	              sizeof(BATCH_SUFFIX);
	char *out = malloc(size);
	char *c;

	if (!out)
		return NULL;
	snprintf(out, size, "%s/%.*s%s%s" BATCH_SUFFIX, folder, (int)stem,
	         input->label, *name ? "_" : "", name);
	for (c = out + strlen(folder) + 1 + stem; *c; c++)
		if (*c == '/')
			*c = '_';
	return out;
}

bool
batch_inputs_same_file(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	/* Standard input is no file, whatever there is of that name. */
	return strcmp(a, FILE_STDIN) != 0 && strcmp(b, FILE_STDOUT) != 0 &&
	       stat(a, &a_stat) == 0 && stat(b, &b_stat) == 0 &&
	       S_ISREG(a_stat.st_mode) && a_stat.st_dev == b_stat.st_dev &&
	       a_stat.st_ino == b_stat.st_ino;
}

/* The inputs that have an output, by its name. */
struct sorted {
	size_t n;
	struct batch_input **list;
};

static int
compare_outputs(const void *a, const void *b)
{
	const struct batch_input *const *x = a, *const *y = b;
	int order = strcmp((*x)->output, (*y)->output);

	/* Those of one name stay in the order of the command line. */
	return order ? order : (*x > *y) - (*x < *y);
}

static bool
sort_by_output(struct batch_inputs *inputs, struct sorted *out)
{
	*out = (struct sorted){0, malloc((inputs->n + 1) * sizeof(*out->list))};
	if (!out->list)
		return false;
	for (size_t i = 0; i < inputs->n; i++)
		if (inputs->list[i].output)
			out->list[out->n++] = &inputs->list[i];
	qsort(out->list, out->n, sizeof(*out->list), compare_outputs);
	return true;
}

/* Were both found in one folder? */
static bool
is_beside(const struct batch_input *a, const struct batch_input *b)
{
	size_t size = (size_t)(base_name(a->file) - a->file);

	return a->is_found && b->is_found &&
	       size == (size_t)(base_name(b->file) - b->file) &&
	       !memcmp(a->file, b->file, size);
}

/* Let those in one folder that would have one output keep their suffixes. */
static bool
tell_apart(struct batch_inputs *inputs, const char *folder)
{
	struct sorted sorted;
	bool ok = sort_by_output(inputs, &sorted);

	for (size_t i = 1; ok && i < sorted.n; i++) {
		struct batch_input *a = sorted.list[i - 1];
		struct batch_input *b = sorted.list[i];

		if (!strcmp(a->output, b->output) && is_beside(a, b))
			a->keeps_suffix = b->keeps_suffix = true;
	}
	for (size_t i = 0; ok && i < sorted.n; i++) {
		struct batch_input *input = sorted.list[i];

		if (!input->keeps_suffix)
			continue;
		free(input->output);
		input->output = batch_inputs_name_one(input, folder, "");
		ok = input->output;
	}
	free(sorted.list);
	return ok;
}

/* No output may be another one. */
static enum diag_status
check_distinct(struct batch_inputs *inputs, struct diag *diag)
{
	enum diag_status status = DIAG_OK;
	struct sorted sorted;

	if (!sort_by_output(inputs, &sorted))
		return out_of_memory(diag);
	for (size_t i = 1; !status && i < sorted.n; i++) {
		const struct batch_input *a = sorted.list[i - 1];
		const struct batch_input *b = sorted.list[i];

		if (!strcmp(a->output, b->output))
			status = diag_set(diag, DIAG_USAGE, 0,
			                  "'%s' and '%s' would both become "
			                  "'%s'; -d takes levels of different "
			                  "names",
			                  a->file, b->file, a->output);
	}
	free(sorted.list);
	return status;
}

/* Name an output, and refuse what has no name or would lose its level. */
static enum diag_status
name_output(struct batch_input *input, const char *output, const char *folder,
            struct diag *diag)
{
	if (folder && !strcmp(input->file, FILE_STDIN))
		return diag_set(diag, DIAG_USAGE, 0,
		                "a level from standard input has no name to "
		                "call its output by; -o FILE gives one");
	input->output = folder ? batch_inputs_name_one(input, folder, "")
	                       : strdup(output);
	if (!input->output)
		return out_of_memory(diag);
	if (batch_inputs_same_file(input->file, input->output))
		return diag_set(diag, DIAG_USAGE, 0,
		                "'%s' is a level and can't be its own output; "
		                "%s takes another place",
		                input->file, folder ? "-d" : "-o");
	return DIAG_OK;
}

enum diag_status
batch_inputs_name(struct batch_inputs *inputs, const char *output,
                  const char *folder, struct diag *diag)
{
	enum diag_status status = DIAG_OK;

	for (size_t i = 0; !status && i < inputs->n; i++)
		if (!inputs->list[i].refusal)
			status = name_output(&inputs->list[i], output, folder,
			                     diag);
	if (!status && folder && !tell_apart(inputs, folder))
		return out_of_memory(diag);
	return status ? status : check_distinct(inputs, diag);
}

enum diag_status
batch_inputs_make_way(const char *output, const char *folder, struct diag *diag)
{
	char *name = strdup(output);
	enum diag_status status = name ? DIAG_OK : out_of_memory(diag);
	char *slash = name ? strchr(name + strlen(folder) + 1, '/') : NULL;

	for (; !status && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0777) != 0 && errno != EEXIST) {
			cli_set_file(diag, name);
			status = diag_set(diag, DIAG_FAILED, 0, "%s",
			                  strerror(errno));
		}
		*slash = '/';
	}
	free(name);
	return status;
}
