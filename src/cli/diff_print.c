/* diff_print.c: what a comparison found, for people.
 *
 * Text and Markdown are one table and one list of remarks, in two dresses. A
 * measure is what is compared: a row of the table has, for each, the old value,
 * the new one and the change. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/diff.h"
#include "src/cli/draw.h"

#define N_COLUMNS 12u
#define VALUE_SIZE 24u
#define MAX_NAMES 4u /* told of each reason */

static double
bytes_of(const struct describe_sums *sums)
{
	return (double)sums->bytes;
}

static double
nodes_of(const struct describe_sums *sums)
{
	return (double)sums->nodes;
}

static double
edges_of(const struct describe_sums *sums)
{
	return (double)sums->edges;
}

double
diff_bytes_per_cell(const struct describe_sums *sums)
{
	return sums->free_cells ? (double)sums->bytes / (double)sums->free_cells
	                        : 0;
}

static const struct measure {
	const char *name;
	int decimals;
	double (*of)(const struct describe_sums *sums);
} measures[N_COLUMNS / 3] = {
	{"bytes", 0, bytes_of},
	{"nodes", 0, nodes_of},
	{"edges", 0, edges_of},
	{"bytes per free cell", 2, diff_bytes_per_cell},
};

static const char *const column_names[3] = {"old", "new", "change"};

/* A line of the table as text. */
struct line {
	const char *name;
	char values[N_COLUMNS][VALUE_SIZE];
	int direction; /* of the bytes: 1 they grew, -1 they shrank */
};

struct table {
	size_t n;
	struct line *lines;
	int name_width, widths[N_COLUMNS];
};

/* How the result is dressed. */
struct dress {
	bool markdown, colour;
};

static void
write_change(const struct measure *measure, double old, double new, char *out)
{
	/* As the values are shown, so that equal ones have no change. */
	char before[VALUE_SIZE], after[VALUE_SIZE];

	snprintf(before, sizeof(before), "%.*f", measure->decimals, old);
	snprintf(after, sizeof(after), "%.*f", measure->decimals, new);
	if (!strcmp(before, after))
		snprintf(out, VALUE_SIZE, "=");
	else if (old > 0)
		snprintf(out, VALUE_SIZE, "%+.1f %%", 100 * (new - old) / old);
	else
		snprintf(out, VALUE_SIZE, "%+.*f", measure->decimals,
		         new - old);
}

/* A side that is NULL has no such file. */
static void
fill_line(struct line *line, const char *name, const struct describe_sums *old,
          const struct describe_sums *new)
{
	line->name = name;
	line->direction = old && new ? (new->bytes > old->bytes) -
	                                       (new->bytes < old->bytes)
	                             : 0;
	for (size_t m = 0; m < N_COLUMNS / 3; m++) {
		const struct measure *measure = &measures[m];
		char(*values)[VALUE_SIZE] = &line->values[3 * m];

		snprintf(values[0], VALUE_SIZE, "-");
		snprintf(values[1], VALUE_SIZE, "-");
		if (old)
			snprintf(values[0], VALUE_SIZE, "%.*f",
			         measure->decimals, measure->of(old));
		if (new)
			snprintf(values[1], VALUE_SIZE, "%.*f",
			         measure->decimals, measure->of(new));
		if (old && new)
			write_change(measure, measure->of(old),
			             measure->of(new), values[2]);
		else
			snprintf(values[2], VALUE_SIZE, "%s",
			         old ? "gone" : "added");
	}
}

static void
measure_table(struct table *table)
{
	table->name_width = (int)strlen("level");
	for (size_t c = 0; c < N_COLUMNS; c++)
		table->widths[c] = (int)strlen(column_names[c % 3]);
	for (size_t i = 0; i < table->n; i++) {
		int width = (int)strlen(table->lines[i].name);

		if (width > table->name_width)
			table->name_width = width;
		for (size_t c = 0; c < N_COLUMNS; c++) {
			width = (int)strlen(table->lines[i].values[c]);
			if (width > table->widths[c])
				table->widths[c] = width;
		}
	}
}

/* The rows, and the totals where they are of more than one. */
static bool
make_table(const struct diff *diff, struct table *out)
{
	*out = (struct table){
		.lines = calloc(diff->n_rows + 2, sizeof(*out->lines))};
	if (!out->lines)
		return false;
	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_row *row = &diff->rows[i];

		fill_line(&out->lines[out->n++], row->name,
		          row->in_old ? &row->old : NULL,
		          row->in_new ? &row->new : NULL);
	}
	if (diff->n_both != diff->n_rows)
		fill_line(&out->lines[out->n++], "on both sides",
		          &diff->old_both, &diff->new_both);
	if (!diff->is_pair)
		fill_line(&out->lines[out->n++], "total", &diff->old_sum,
		          &diff->new_sum);
	measure_table(out);
	return true;
}

/* A name as it may stand in a table: on one line and, in Markdown, without
 * what would be read as a mark. */
static void
print_name(const char *name, const struct dress *dress)
{
	for (; *name; name++) {
		if (dress->markdown && strchr("|\\`*_<", *name))
			putchar('\\');
		putchar((unsigned char)*name < ' ' || *name == '\x7f' ? '?'
		                                                      : *name);
	}
}

static void
print_text_head(const struct table *table)
{
	printf("%*s", table->name_width, "");
	for (size_t c = 0; c < N_COLUMNS; c += 3)
		printf("  %*s",
		       table->widths[c] + table->widths[c + 1] +
		               table->widths[c + 2] + 4,
		       measures[c / 3].name);
	printf("\n%-*s", table->name_width, "level");
	for (size_t c = 0; c < N_COLUMNS; c++)
		printf("  %*s", table->widths[c], column_names[c % 3]);
	printf("\n");
}

static void
print_text_line(const struct table *table, const struct line *line,
                const struct dress *dress)
{
	static const char *const colours[3] = {"\033[32m", "", "\033[31m"};
	const char *colour = colours[line->direction + 1];

	print_name(line->name, dress);
	printf("%*s", table->name_width - (int)strlen(line->name), "");
	for (size_t c = 0; c < N_COLUMNS; c++) {
		bool shown = dress->colour && c == 2 && *colour;

		printf("  %s%*s%s", shown ? colour : "", table->widths[c],
		       line->values[c], shown ? "\033[0m" : "");
	}
	printf("\n");
}

static void
print_markdown_head(void)
{
	printf("| level |");
	for (size_t c = 0; c < N_COLUMNS; c++)
		printf(" %s%s%s |", c % 3 ? "" : measures[c / 3].name,
		       c % 3 ? "" : ", ", column_names[c % 3]);
	printf("\n|---|");
	for (size_t c = 0; c < N_COLUMNS; c++)
		printf("--:|");
	printf("\n");
}

static void
print_markdown_line(const struct line *line, const struct dress *dress)
{
	printf("| ");
	print_name(line->name, dress);
	printf(" |");
	for (size_t c = 0; c < N_COLUMNS; c++)
		printf(" %s |", line->values[c]);
	printf("\n");
}

static void
print_table(const struct table *table, const struct dress *dress)
{
	if (dress->markdown)
		print_markdown_head();
	else
		print_text_head(table);
	for (size_t i = 0; i < table->n; i++)
		if (dress->markdown)
			print_markdown_line(&table->lines[i], dress);
		else
			print_text_line(table, &table->lines[i], dress);
}

/* Remarks: a heading and the lines below it. */

static void
print_heading(const char *text, const struct dress *dress)
{
	printf(dress->markdown ? "\n**%s**\n\n" : "\n%s\n", text);
}

static void
print_bullet(const struct dress *dress)
{
	fputs(dress->markdown ? "- " : "  ", stdout);
}

static bool
has_reason(const struct diff_row *row, const char *reason)
{
	for (uint32_t i = 0; i < row->why.n; i++)
		if (!strcmp(row->why.text[i], reason))
			return true;
	return false;
}

/* Was the reason told with a row before this one? */
static bool
is_told(const struct diff *diff, size_t row, const char *reason)
{
	for (size_t i = 0; i < row; i++)
		if (has_reason(&diff->rows[i], reason))
			return true;
	return false;
}

/* A reason, and of which files it is one. */
static void
print_reason(const struct diff *diff, const char *reason,
             const struct dress *dress)
{
	size_t n = 0;

	print_bullet(dress);
	print_name(reason, dress);
	for (size_t i = 0; i < diff->n_rows; i++)
		n += has_reason(&diff->rows[i], reason);
	if (n == diff->n_both && n > 1) {
		printf(": all %zu levels\n", n);
		return;
	}
	if (!diff->is_pair) {
		size_t told = 0;

		for (size_t i = 0; i < diff->n_rows && told < MAX_NAMES; i++) {
			if (!has_reason(&diff->rows[i], reason))
				continue;
			printf(told++ ? ", " : ": ");
			print_name(diff->rows[i].name, dress);
		}
		if (n > told)
			printf(" and %zu more", n - told);
	}
	printf("\n");
}

static void
print_reasons(const struct diff *diff, const struct dress *dress)
{
	bool is_first = true;

	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_why *why = &diff->rows[i].why;

		for (uint32_t w = 0; w < why->n; w++) {
			if (is_told(diff, i, why->text[w]))
				continue;
			if (is_first)
				print_heading("why", dress);
			is_first = false;
			print_reason(diff, why->text[w], dress);
		}
	}
	if (is_first && diff->n_both > 0)
		print_heading(diff->n_both > 1 ? "the same bytes on both sides"
		                               : "the same bytes",
		              dress);
}

static void
print_cells(const char *what, const struct diff_cells *cells,
            const struct dress *dress)
{
	if (cells->n == 0)
		return;
	print_bullet(dress);
	printf("cells %s: %" PRIu64 ", in %" PRIu32 ",%" PRIu32 " to %" PRIu32
	       ",%" PRIu32 "\n",
	       what, cells->n, cells->left, cells->top, cells->right,
	       cells->bottom);
}

static void
print_clusters(const struct diff_profile *profile, const struct dress *dress)
{
	print_bullet(dress);
	printf("clusters touched: %" PRIu64 " of %" PRIu64 ":",
	       profile->n_touched, profile->n_clusters);
	for (uint32_t i = 0; i < profile->n_listed; i++)
		printf(" %" PRIu32 ",%" PRIu32, profile->clusters[i][0],
		       profile->clusters[i][1]);
	printf("%s\n", profile->n_touched > profile->n_listed ? " ..." : "");
}

/* The pieces of an event, the largest first. */
static void
print_pieces(const struct diff_event *event)
{
	uint32_t n = event->n_pieces < DIFF_MAX_PIECES ? event->n_pieces
	                                               : DIFF_MAX_PIECES;

	for (uint32_t i = 0; i < n; i++)
		printf("%s %" PRIu64 " at %" PRIu32 ",%" PRIu32, i ? "," : ":",
		       event->pieces[i].n, event->pieces[i].x,
		       event->pieces[i].y);
	if (event->n_pieces > n)
		printf(" and %" PRIu32 " smaller", event->n_pieces - n);
	printf("\n");
}

static void
print_lost(const struct diff_pairs *lost, const struct dress *dress)
{
	print_bullet(dress);
	printf("pairs of cells that lost their connection: %" PRIu64 "\n",
	       lost->n_pairs);
	for (uint32_t i = 0; i < lost->n_events && i < DIFF_MAX_EVENTS; i++) {
		print_bullet(dress);
		printf("a region of %" PRIu64 " cells fell into %" PRIu32,
		       lost->events[i].n, lost->events[i].n_pieces);
		print_pieces(&lost->events[i]);
	}
	if (lost->n_events > DIFF_MAX_EVENTS) {
		print_bullet(dress);
		printf("%" PRIu32 " smaller regions fell apart\n",
		       lost->n_events - DIFF_MAX_EVENTS);
	}
}

static void
print_gained(const struct diff_pairs *gained, const struct dress *dress)
{
	print_bullet(dress);
	printf("pairs of cells that gained a connection: %" PRIu64 "\n",
	       gained->n_pairs);
	for (uint32_t i = 0; i < gained->n_events && i < DIFF_MAX_EVENTS; i++) {
		print_bullet(dress);
		printf("%" PRIu32 " regions grew together, of %" PRIu64
		       " cells",
		       gained->events[i].n_pieces, gained->events[i].n);
		print_pieces(&gained->events[i]);
	}
	if (gained->n_events > DIFF_MAX_EVENTS) {
		print_bullet(dress);
		printf("%" PRIu32 " smaller regions grew together\n",
		       gained->n_events - DIFF_MAX_EVENTS);
	}
}

static void
print_profile(const struct diff_profile *profile, const struct dress *dress)
{
	char heading[sizeof(profile->agent) + 32];

	snprintf(heading, sizeof(heading), "the level%s%s",
	         profile->agent[0] ? " for agent " : "", profile->agent);
	print_heading(heading, dress);
	if (!diff_profile_has_changed(profile)) {
		print_bullet(dress);
		printf("the same cells and connections\n");
		return;
	}
	print_cells("opened", &profile->opened, dress);
	print_cells("closed", &profile->closed, dress);
	print_cells("of another cost", &profile->recosted, dress);
	if (profile->n_touched > 0)
		print_clusters(profile, dress);
	print_lost(&profile->lost, dress);
	print_gained(&profile->gained, dress);
}

/* What changed in the level of two files. */
static void
print_level(const struct diff_level *level, const struct dress *dress)
{
	for (uint32_t p = 0; p < level->n_profiles; p++)
		print_profile(&level->profiles[p], dress);
	if (level->n_links_gone > 0 || level->n_links_added > 0) {
		print_heading("the links", dress);
		print_bullet(dress);
		printf("gone: %" PRIu32 ", added: %" PRIu32 "\n",
		       level->n_links_gone, level->n_links_added);
	}
}

/* The same of one of many files, on a line for each agent. */
static void
print_summary(const struct diff_row *row, const struct dress *dress)
{
	for (uint32_t p = 0; p < row->level.n_profiles; p++) {
		const struct diff_profile *profile = &row->level.profiles[p];

		print_bullet(dress);
		print_name(row->name, dress);
		printf("%s%s: %" PRIu64 " cells opened, %" PRIu64
		       " closed; %" PRIu64
		       " pairs of cells lost their connection, %" PRIu64
		       " gained one\n",
		       profile->agent[0] ? ", agent " : "", profile->agent,
		       profile->opened.n, profile->closed.n,
		       profile->lost.n_pairs, profile->gained.n_pairs);
	}
}

static void
print_levels(const struct diff *diff, const struct dress *dress)
{
	bool is_first = true;

	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct diff_level *level = &diff->rows[i].level;

		if (diff->is_pair)
			print_level(level, dress);
		if (diff->is_pair || !diff_level_has_changed(level))
			continue;
		if (is_first)
			print_heading("what changed in the levels", dress);
		is_first = false;
		print_summary(&diff->rows[i], dress);
	}
}

static enum diag_status
print(const struct diff *diff, const struct dress *dress, struct diag *diag)
{
	struct table table;

	if (!make_table(diff, &table))
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	print_table(&table, dress);
	print_reasons(diff, dress);
	print_levels(diff, dress);
	free(table.lines);
	return DIAG_OK;
}

enum diag_status
diff_print_text(const struct diff *diff, struct diag *diag)
{
	const struct dress dress = {.colour = draw_style_of(stdout).colour};

	return print(diff, &dress, diag);
}

enum diag_status
diff_print_markdown(const struct diff *diff, struct diag *diag)
{
	const struct dress dress = {.markdown = true};

	return print(diff, &dress, diag);
}
