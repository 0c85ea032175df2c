/* diff.h: two baked files, or folders of them, compared.
 *
 *     cmd_diff.c     options, pairs of files, the limit of --fail-above
 *     diff_why.c     which options differ
 *     diff_cells.c   what changed in the level: cells and connections
 *     diff_print.c   the result as text and as Markdown
 *     diff_json.c    the result as JSON */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/cli/describe.h"
#include "src/cli/input.h"

/* Reasons, in words. */
#define DIFF_MAX_WHY 24u
struct diff_why {
	uint32_t n;
	char text[DIFF_MAX_WHY][128];
};

/* Some cells: how many, and the box around them. */
struct diff_cells {
	uint64_t n;
	uint32_t left, top, right, bottom; /* if n is not 0; all included */
};

/* Cells that are connected with each other: how many, and the first of them in
 * reading order. */
struct diff_region {
	uint64_t n;
	uint32_t x, y;
};

/* A region that fell into pieces or, read the other way, grew together from
 * them; the largest pieces first. */
#define DIFF_MAX_PIECES 4u
struct diff_event {
	uint64_t n; /* cells of all its pieces */
	uint32_t n_pieces;
	struct diff_region pieces[DIFF_MAX_PIECES];
};

/* Connections, of cells that are free before and after. */
#define DIFF_MAX_EVENTS 4u
struct diff_pairs {
	uint64_t n_pairs;  /* of cells that were connected and are not any
	                    * more, or the reverse */
	uint32_t n_events; /* regions that fell apart or grew together */
	struct diff_event events[DIFF_MAX_EVENTS]; /* the largest first */
};

/* What changed for one agent. */
#define DIFF_MAX_CLUSTERS 8u
struct diff_profile {
	char agent[HPA_AGENT_NAME_SIZE + 1];
	struct diff_cells opened, closed;
	struct diff_cells recosted; /* free in both, of another cost factor */
	uint32_t cluster_size;
	uint64_t n_clusters, n_touched;
	uint32_t n_listed; /* of the touched ones, in reading order */
	uint32_t clusters[DIFF_MAX_CLUSTERS][2];
	bool one_way; /* links make connections that lead one way */
	struct diff_pairs lost, gained;
};

/* What changed in the level, for each agent that both files have. */
struct diff_level {
	bool is_compared; /* the sides are equal */
	uint32_t n_profiles;
	struct diff_profile *profiles;
	uint32_t n_links_gone, n_links_added;
};

/* A file of one side, or of both. */
struct diff_row {
	char *name;
	bool in_old, in_new;
	struct describe_sums old, new;
	struct diff_why why;
	struct diff_level level;
	bool is_above; /* it grew by more than is allowed */
};

struct diff {
	const char *old, *new; /* as they were given */
	bool is_pair;          /* of files, not of folders */
	size_t n_rows;
	struct diff_row *rows;
	struct describe_sums old_sum, new_sum;   /* of all files */
	struct describe_sums old_both, new_both; /* of those on both sides */
	size_t n_both;
	bool has_limit, total_is_above;
};

/* The profile of that agent, "" for the only one; NULL if there is none. */
const struct hpa_view *diff_agent(const struct baked *baked, const char *name);

/* Why the bytes differ; nothing where they do not. */
void diff_why(const struct baked *old, const struct baked *new,
              struct diff_why *out);

/* What changed in the level. Free *out with diff_level_free(). */
enum diag_status diff_level(const struct baked *old, const struct baked *new,
                            struct diff_level *out, struct diag *diag);
void diff_level_free(struct diff_level *level);

/* Did anything change there? */
bool diff_profile_has_changed(const struct diff_profile *profile);
bool diff_level_has_changed(const struct diff_level *level);

/* 0 where no cell is free. */
double diff_bytes_per_cell(const struct describe_sums *sums);

enum diag_status diff_print_text(const struct diff *diff, struct diag *diag);
enum diag_status diff_print_markdown(const struct diff *diff,
                                     struct diag *diag);
enum diag_status diff_print_json(const struct diff *diff, struct diag *diag);

#endif
