/* cmd_diff.c: what became of baked files between one build and the next.
 *
 * Files are paired, two that are given or those of two folders that have the
 * same relative name; each pair is read, compared and forgotten but for its
 * row. A file that can't be read is told about and left out. With a limit it is
 * a check: growth above it, of a level or of all that are on both sides, is
 * exit code 4. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/cli.h"
#include "src/cli/diff.h"
#include "src/cli/folder.h"

#define SUFFIX ".hpa"
#define PERCENT_PARTS 100000u /* a limit counts thousandths of a percent */

struct options {
	const char *limit;
	bool json, markdown;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .name = "fail-above",
         .takes = "LIMIT",
         .what = "exit code 4 if a level, or all together, grew by more than "
                 "this: 1% or 512B",
         .offset = offsetof(struct options, limit)},
	{.kind = CLI_SWITCH,
         .name = "json",
         .what = "print JSON",
         .offset = offsetof(struct options, json)},
	{.kind = CLI_SWITCH,
         .name = "markdown",
         .what = "print Markdown, for a comment on a change",
         .offset = offsetof(struct options, markdown)},
	{.kind = CLI_END},
};

/* By how much a file may grow. */
struct limit {
	bool is_set, is_percent;
	uint64_t amount; /* bytes, or thousandths of a percent */
};

/* A decimal number in thousandths, or false. */
static bool
parse_thousandths(const char **text, uint64_t *out)
{
	size_t whole = strspn(*text, "0123456789");
	uint64_t number = 0;

	if (whole == 0 || whole > 12)
		return false;
	for (size_t i = 0; i < whole; i++)
		number = 10 * number + (uint64_t)(*(*text)++ - '0');
	if (**text == '.') {
		size_t decimals = strspn(++*text, "0123456789");

		if (decimals == 0 || decimals > 3)
			return false;
		for (size_t i = 0; i < 3; i++)
			number = 10 * number +
			         (i < decimals ? (uint64_t)(*(*text)++ - '0')
			                       : 0);
	} else {
		number *= 1000;
	}
	*out = number;
	return true;
}

static enum diag_status
parse_limit(const char *text, struct limit *out, struct diag *diag)
{
	const char *rest = text;

	*out = (struct limit){.is_set = text != NULL};
	if (!text)
		return DIAG_OK;
	if (parse_thousandths(&rest, &out->amount)) {
		out->is_percent = !strcmp(rest, "%");
		if (out->is_percent)
			return DIAG_OK;
		if (!strcmp(rest, "B") && !strchr(text, '.')) {
			out->amount /= 1000;
			return DIAG_OK;
		}
	}
	return diag_set(diag, DIAG_USAGE, 0,
	                "--fail-above takes a percentage such as 1%% or 0.5%%, "
	                "or bytes such as 512B, not '%s'",
	                text);
}

/* Did it grow by more than the limit? Percentages are compared without being
 * divided; no file has so many bytes that this could overflow. */
static bool
is_above(const struct limit *limit, uint64_t old, uint64_t new)
{
	if (!limit->is_set || new <= old)
		return false;
	if (limit->is_percent)
		return (new - old) * PERCENT_PARTS > limit->amount * old;
	return new - old > limit->amount;
}

/* Tell of one that did. */
static void
complain(const struct options *options, const char *name, uint64_t old,
         uint64_t new, struct diag *diag)
{
	cli_set_file(diag, name);
	diag_set(diag, DIAG_CHECK, 0,
	         "grew from %" PRIu64 " to %" PRIu64
	         " bytes (%+.3f %%), more than --fail-above %s",
	         old, new,
	         old ? 100 * ((double)new - (double)old) / (double)old : 0,
	         options->limit);
	cli_report(diag);
}

/* Read a side of a row. What is wrong is told at once. */
static enum diag_status
open_side(const char *path, struct baked *out, struct diag *diag)
{
	enum diag_status status =
		path ? input_baked(path, out, diag)
		     : diag_set(diag, DIAG_FAILED, 0, "out of memory");

	if (status)
		cli_report(diag);
	return status;
}

static enum diag_status
worse(enum diag_status a, enum diag_status b)
{
	return a > b ? a : b;
}

/* Fill in a row whose files are, as far as they are there, open. */
static enum diag_status
compare(const struct diff *diff, const struct baked *old,
        const struct baked *new, struct diff_row *row, struct diag *diag)
{
	if (row->in_old)
		row->old = describe_sum(old);
	if (row->in_new)
		row->new = describe_sum(new);
	if (!row->in_old || !row->in_new)
		return DIAG_OK;
	diff_why(old, new, &row->why);
	/* In a folder, bytes that are the same need no look at the cells. */
	if (!diff->is_pair && row->why.n == 0)
		return DIAG_OK;
	return diff_level(old, new, &row->level, diag);
}

/* Sets *good if the row can be shown. */
static enum diag_status
read_row(const struct diff *diff, const char *old_path, const char *new_path,
         struct diff_row *row, bool *good, struct diag *diag)
{
	struct baked old = {.inflated = NULL}, new = {.inflated = NULL};
	enum diag_status old_status = DIAG_OK, new_status = DIAG_OK, status;

	if (row->in_old)
		old_status = open_side(old_path, &old, diag);
	if (row->in_new)
		new_status = open_side(new_path, &new, diag);
	status = worse(old_status, new_status);
	if (!status) {
		status = compare(diff, &old, &new, row, diag);
		if (status)
			cli_report(diag);
	}
	*good = !status;
	if (row->in_old && !old_status)
		input_close_baked(&old);
	if (row->in_new && !new_status)
		input_close_baked(&new);
	return status;
}

static void
free_row(struct diff_row *row)
{
	diff_level_free(&row->level);
	free(row->name);
}

/* Read the rows, and keep those that can be shown. */
static enum diag_status
read_rows(struct diff *diff, struct diag *diag)
{
	enum diag_status worst = DIAG_OK;
	size_t n = 0;

	for (size_t i = 0; i < diff->n_rows; i++) {
		struct diff_row row = diff->rows[i];
		char *old_path = diff->is_pair
		                         ? strdup(diff->old)
		                         : name_join(diff->old, row.name);
		char *new_path = diff->is_pair
		                         ? strdup(diff->new)
		                         : name_join(diff->new, row.name);
		bool good;

		worst = worse(worst, read_row(diff, old_path, new_path, &row,
		                              &good, diag));
		free(old_path);
		free(new_path);
		if (good)
			diff->rows[n++] = row;
		else
			free_row(&row);
	}
	diff->n_rows = n;
	return worst;
}

static bool
add_row(struct diff *diff, const char *name, bool in_old, bool in_new)
{
	struct diff_row *row = &diff->rows[diff->n_rows];

	*row = (struct diff_row){
		.name = strdup(name), .in_old = in_old, .in_new = in_new};
	diff->n_rows += row->name != NULL;
	return row->name != NULL;
}

/* Pair the names of two folders; both lists are in order. */
static bool
pair_names(const struct name_list *old, const struct name_list *new,
           struct diff *diff)
{
	size_t i = 0, j = 0;
	bool good = true;

	diff->rows = calloc(old->n + new->n + 1, sizeof(*diff->rows));
	while (good && diff->rows && (i < old->n || j < new->n)) {
		int order = i == old->n ? 1
		            : j == new->n
		                    ? -1
		                    : strcmp(old->names[i], new->names[j]);

		good = add_row(diff, order > 0 ? new->names[j] : old->names[i],
		               order <= 0, order >= 0);
		i += order <= 0;
		j += order >= 0;
	}
	return good && diff->rows;
}

static enum diag_status
find_rows(struct diff *diff, struct diag *diag)
{
	struct name_list old, new = {.n = 0};
	enum diag_status status = folder_list(diff->old, SUFFIX, &old, diag);

	if (!status)
		status = folder_list(diff->new, SUFFIX, &new, diag);
	if (!status && !pair_names(&old, &new, diff))
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	if (!status && diff->n_rows == 0)
		status = diag_set(diag, DIAG_USAGE, 0,
		                  "there is no file *" SUFFIX " in %s and %s",
		                  diff->old, diff->new);
	name_list_free(&old);
	name_list_free(&new);
	return status;
}

static enum diag_status
make_pair(struct diff *diff, struct diag *diag)
{
	diff->rows = calloc(1, sizeof(*diff->rows));
	if (diff->rows && add_row(diff, name_base(diff->new), true, true))
		return DIAG_OK;
	return diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

static void
add_sums(struct describe_sums *to, const struct describe_sums *from)
{
	to->bytes += from->bytes;
	to->nodes += from->nodes;
	to->edges += from->edges;
	to->free_cells += from->free_cells;
}

static void
add_up(struct diff *diff)
{
	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_row *row = &diff->rows[i];

		add_sums(&diff->old_sum, &row->old);
		add_sums(&diff->new_sum, &row->new);
		if (!row->in_old || !row->in_new)
			continue;
		add_sums(&diff->old_both, &row->old);
		add_sums(&diff->new_both, &row->new);
		diff->n_both++;
	}
}

/* The largest change first. */
static int
by_change(const void *a, const void *b)
{
	const struct diff_row *left = a, *right = b;
	uint64_t l = left->old.bytes > left->new.bytes
	                     ? left->old.bytes - left->new.bytes
	                     : left->new.bytes - left->old.bytes;
	uint64_t r = right->old.bytes > right->new.bytes
	                     ? right->old.bytes - right->new.bytes
	                     : right->new.bytes - right->old.bytes;

	return l != r ? (l < r) - (l > r) : strcmp(left->name, right->name);
}

static void
apply_limit(struct diff *diff, const struct limit *limit)
{
	diff->has_limit = limit->is_set;
	for (size_t i = 0; i < diff->n_rows; i++) {
		struct diff_row *row = &diff->rows[i];

		row->is_above = row->in_old && row->in_new &&
		                is_above(limit, row->old.bytes, row->new.bytes);
	}
	diff->total_is_above =
		!diff->is_pair &&
		is_above(limit, diff->old_both.bytes, diff->new_both.bytes);
}

static enum diag_status
tell_growth(const struct options *options, const struct diff *diff,
            struct diag *diag)
{
	enum diag_status status = DIAG_OK;

	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_row *row = &diff->rows[i];

		if (!row->is_above)
			continue;
		complain(options, row->name, row->old.bytes, row->new.bytes,
		         diag);
		status = DIAG_CHECK;
	}
	if (!diff->total_is_above)
		return status;
	complain(options, "all levels on both sides", diff->old_both.bytes,
	         diff->new_both.bytes, diag);
	return DIAG_CHECK;
}

static enum diag_status
print(const struct options *options, const struct diff *diff, struct diag *diag)
{
	if (options->json)
		return diff_print_json(diff, diag);
	if (options->markdown)
		return diff_print_markdown(diff, diag);
	return diff_print_text(diff, diag);
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (n != 2)
		return diag_set(diag, DIAG_USAGE, 0,
		                "diff takes OLD and NEW, two files or two "
		                "folders, and there %s %d",
		                n == 1 ? "is" : "are", n);
	if (options->json && options->markdown)
		return diag_set(diag, DIAG_USAGE, 0,
		                "--json and --markdown exclude each other");
	return DIAG_OK;
}

/* Both or none of them must be folders. */
static enum diag_status
check_kinds(char **operands, struct diag *diag)
{
	bool is_folder = folder_is_there(operands[1]);
	const char *folder = operands[is_folder], *other = operands[!is_folder];

	if (folder_is_there(operands[0]) == is_folder)
		return DIAG_OK;
	if (access(other, F_OK) != 0)
		return cli_failed(diag, other, errno);
	return diag_set(diag, DIAG_USAGE, 0,
	                "diff takes two files or two folders; %s is a folder, "
	                "%s is not",
	                folder, other);
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	const struct options *options = verb_options;
	struct diff diff = {.old = operands[0]};
	struct limit limit;
	enum diag_status status = check_usage(options, n, diag);

	if (!status)
		status = check_kinds(operands, diag);
	if (!status)
		status = parse_limit(options->limit, &limit, diag);
	if (status)
		return status;
	diff.new = operands[1];
	diff.is_pair = !folder_is_there(diff.old);
	status = diff.is_pair ? make_pair(&diff, diag) : find_rows(&diff, diag);
	if (!status) {
		status = read_rows(&diff, diag);
		add_up(&diff);
		qsort(diff.rows, diff.n_rows, sizeof(*diff.rows), by_change);
		apply_limit(&diff, &limit);
		if (diff.n_rows > 0)
			status = worse(status, print(options, &diff, diag));
		status = worse(status, tell_growth(options, &diff, diag));
	}
	for (size_t i = 0; i < diff.n_rows; i++)
		free_row(&diff.rows[i]);
	free(diff.rows);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... OLD NEW",
	NULL,
};

const struct cli_verb cmd_diff = {
	.name = "diff",
	.summary = "Compare baked files, or folders of them",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
