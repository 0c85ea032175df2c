/* test_counts.c: the counts of a bake are those of the paper.
 *
 * Botea, Müller and Schaeffer count the nodes, inter-edges and intra-edges of
 * each level of the abstract graph (their Table 2). recount() below does it
 * again from the grid alone, by their definitions and as plainly as can be:
 *
 *     transition   a place where an entrance is crossed, as the policy says
 *     inter-edge   of level l: a transition across a border of l-clusters
 *     node         of level l: a cell with an inter-edge of level l; a cell
 *                  with two is one node
 *     intra-edge   of level l: two nodes of level l in one l-cluster that are
 *                  connected by steps inside it
 *
 * A node of level 2 is one of level 1 too and is counted at both; the table
 * counts it at the higher one, so that its numbers are the differences of ours.
 *
 * The baker finds the intra-edges of level l on the graph of level l - 1. That
 * the cells give the same number shows that no connection is lost on the way
 * up. The counts are compared with the baker's report and with what a reader
 * finds in the file, which is what `hpabake info` prints. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/hpa_view.h"
#include "src/bake/bake.h"
#include "tests/support.h"

#define MAX_LEVELS 5u

#define N_RANDOM 3000
#define MAX_SIDE 80
#define N_RANDOM_STORED 300
#define MAX_SIDE_STORED 24
#define NO_COST UINT32_MAX

struct counts {
	uint32_t clusters, nodes, inter_edges;
	uint64_t intra_edges;
};

struct recounted {
	struct counts levels[MAX_LEVELS];
	uint64_t n_free_cells;
	uint32_t n_components;
};

/* What is known about a level when its entrances have been looked at. */
struct marked {
	const struct level *level;
	const struct bake_options *options;
	bool *right, *down; /* per cell: a transition leads there */
	bool *seen;         /* scratch */
	uint32_t *todo;     /* scratch */
};

/* A part of the level. */
struct box {
	uint32_t x, y, right, bottom; /* the last two not included */
};

static void *
must_have(void *memory)
{
	assert_non_null(memory);
	return memory;
}

static size_t
n_cells(const struct level *level)
{
	return (size_t)level->width * level->height;
}

static bool
is_free(const struct level *level, uint32_t x, uint32_t y)
{
	return level_is_open(level, (size_t)y * level->width + x);
}

/* Is an entrance of that length crossed at this offset? */
static bool
is_crossed(const struct bake_options *options, uint32_t length, uint32_t offset)
{
	uint32_t parameter = options->policy_parameter;
	uint32_t middle = (length - 1) / 2;
	bool is_end = offset == 0 || offset == length - 1;
	uint32_t n_pieces, piece, begin, end;

	switch (options->policy) {
	case HPA_POLICY_ENDS:
		if (length < (parameter ? parameter : 6))
			return offset == middle;
		return is_end;
	case HPA_POLICY_SPREAD:
		if (length < 5)
			return offset == middle;
		if (length < 7)
			return is_end;
		return offset == 2 || offset == length - 3;
	case HPA_POLICY_EVERY:
		break;
	}
	/* In the middle of its piece? */
	parameter = parameter ? parameter : 4;
	n_pieces = length / parameter + (length % parameter != 0);
	for (piece = 0; piece < n_pieces; piece++) {
		begin = piece * length / n_pieces;
		end = (piece + 1) * length / n_pieces;
		if (offset == begin + (end - begin - 1) / 2)
			return true;
	}
	return false;
}

/* Cell number i along the border that begins at (x, y) and runs to the right or
 * down, or its neighbour on the other side: left of it or above. */
static size_t
border_cell(const struct level *level, uint32_t x, uint32_t y, bool is_row,
            uint32_t i, bool other_side)
{
	uint32_t at_x = is_row ? x + i : x - other_side;
	uint32_t at_y = is_row ? y - other_side : y + i;

	return (size_t)at_y * level->width + at_x;
}

/* Find the entrances of one border and mark their transitions. */
static void
mark_border(struct marked *marked, uint32_t x, uint32_t y, bool is_row,
            uint32_t length)
{
	const struct level *level = marked->level;
	bool *marks = is_row ? marked->down : marked->right;
	uint32_t begin, end, i;

	for (begin = 0; begin < length; begin = end + 1) {
		for (end = begin; end < length; end++) {
			size_t here =
				border_cell(level, x, y, is_row, end, false);
			size_t there =
				border_cell(level, x, y, is_row, end, true);

			if (!level_is_open(level, here) ||
			    !level_is_open(level, there))
				break;
		}
		for (i = begin; i < end; i++)
			if (is_crossed(marked->options, end - begin, i - begin))
				marks[border_cell(level, x, y, is_row, i,
				                  true)] = true;
	}
}

static uint32_t
smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The borders of all clusters, to their left and above them. */
static void
mark_transitions(struct marked *marked)
{
	const struct level *level = marked->level;
	uint32_t size = marked->options->cluster_size;
	uint32_t x, y;

	for (y = 0; y < level->height; y += size)
		for (x = 0; x < level->width; x += size) {
			if (x > 0)
				mark_border(marked, x, y, false,
				            smaller(size, level->height - y));
			if (y > 0)
				mark_border(marked, x, y, true,
				            smaller(size, level->width - x));
		}
}

static void
mark(struct marked *marked, const struct level *level,
     const struct bake_options *options)
{
	size_t n = n_cells(level);

	marked->level = level;
	marked->options = options;
	marked->right = must_have(calloc(n, sizeof(bool)));
	marked->down = must_have(calloc(n, sizeof(bool)));
	marked->seen = must_have(calloc(n, sizeof(bool)));
	marked->todo = must_have(calloc(n, sizeof(uint32_t)));
	mark_transitions(marked);
}

static void
unmark(struct marked *marked)
{
	free(marked->right);
	free(marked->down);
	free(marked->seen);
	free(marked->todo);
}

/* Does the transition between these cells, if it is one, cross a border of
 * clusters of that size? */
static bool
crosses_right(const struct marked *marked, uint32_t x, uint32_t y,
              uint32_t size)
{
	return marked->right[(size_t)y * marked->level->width + x] &&
	       (x + 1) % size == 0;
}

static bool
crosses_down(const struct marked *marked, uint32_t x, uint32_t y, uint32_t size)
{
	return marked->down[(size_t)y * marked->level->width + x] &&
	       (y + 1) % size == 0;
}

static bool
is_node(const struct marked *marked, uint32_t x, uint32_t y, uint32_t size)
{
	return crosses_right(marked, x, y, size) ||
	       crosses_down(marked, x, y, size) ||
	       (x > 0 && crosses_right(marked, x - 1, y, size)) ||
	       (y > 0 && crosses_down(marked, x, y - 1, size));
}

/* May one step inside the box from (x, y) by (dx, dy)? */
static bool
may_step(const struct marked *marked, const struct box *box, uint32_t x,
         uint32_t y, int dx, int dy)
{
	uint32_t to_x = x + (uint32_t)dx, to_y = y + (uint32_t)dy;
	unsigned n_beside;

	/* What wrapped below 0 is beyond the right or lower edge. */
	if (to_x < box->x || to_x >= box->right || to_y < box->y ||
	    to_y >= box->bottom || !is_free(marked->level, to_x, to_y))
		return false;
	if (dx == 0 || dy == 0)
		return true;
	n_beside = (unsigned)is_free(marked->level, to_x, y) +
	           (unsigned)is_free(marked->level, x, to_y);
	switch (marked->options->moves) {
	case HPA_RULE_8:
		return n_beside == 2;
	case HPA_RULE_8_LOOSE:
		return n_beside > 0;
	case HPA_RULE_4:
		break;
	}
	return false;
}

/* Flood a box from a cell; returns how many nodes of level `size` there are. */
static uint64_t
flood(struct marked *marked, const struct box *box, uint32_t x, uint32_t y,
      uint32_t size)
{
	uint32_t width = marked->level->width;
	uint64_t n_nodes = 0;
	size_t n_todo = 0;
	int i;

	marked->seen[(size_t)y * width + x] = true;
	marked->todo[n_todo++] = y * width + x;
	while (n_todo > 0) {
		uint32_t cell = marked->todo[--n_todo];

		x = cell % width;
		y = cell / width;
		n_nodes += is_node(marked, x, y, size);
		for (i = 0; i < 9; i++) {
			int dx = i % 3 - 1, dy = i / 3 - 1;
			uint32_t to =
				cell + (uint32_t)dy * width + (uint32_t)dx;

			if ((dx == 0 && dy == 0) ||
			    !may_step(marked, box, x, y, dx, dy) ||
			    marked->seen[to])
				continue;
			marked->seen[to] = true;
			marked->todo[n_todo++] = to;
		}
	}
	return n_nodes;
}

/* Pairs of nodes that are connected inside a box; adds its components. */
static uint64_t
count_pairs(struct marked *marked, const struct box *box, uint32_t size,
            uint32_t *n_components)
{
	uint32_t width = marked->level->width;
	uint64_t n_pairs = 0;
	uint64_t n;
	uint32_t x, y;

	for (y = box->y; y < box->bottom; y++)
		memset(marked->seen + (size_t)y * width + box->x, 0,
		       box->right - box->x);
	for (y = box->y; y < box->bottom; y++)
		for (x = box->x; x < box->right; x++) {
			if (!is_free(marked->level, x, y) ||
			    marked->seen[(size_t)y * width + x])
				continue;
			n = flood(marked, box, x, y, size);
			n_pairs += n * (n - (n > 0)) / 2;
			++*n_components;
		}
	return n_pairs;
}

static struct box
cluster_box(const struct level *level, uint32_t x, uint32_t y, uint32_t size)
{
	struct box box = {x, y, smaller(x + size, level->width),
	                  smaller(y + size, level->height)};

	return box;
}

static struct counts
count_level(struct marked *marked, uint32_t size)
{
	const struct level *level = marked->level;
	struct counts counts = {0, 0, 0, 0};
	uint32_t ignored = 0;
	struct box box;
	uint32_t x, y;

	for (y = 0; y < level->height; y++)
		for (x = 0; x < level->width; x++) {
			counts.nodes += is_node(marked, x, y, size);
			counts.inter_edges +=
				(uint32_t)crosses_right(marked, x, y, size) +
				(uint32_t)crosses_down(marked, x, y, size);
		}
	for (y = 0; y < level->height; y += size)
		for (x = 0; x < level->width; x += size) {
			box = cluster_box(level, x, y, size);
			counts.clusters++;
			counts.intra_edges +=
				count_pairs(marked, &box, size, &ignored);
		}
	return counts;
}

static void
recount(const struct level *level, const struct bake_options *options,
        struct recounted *out)
{
	struct box all = {0, 0, level->width, level->height};
	struct marked marked;
	uint32_t l;
	size_t i;

	memset(out, 0, sizeof(*out));
	mark(&marked, level, options);
	for (l = 0; l < options->n_levels; l++)
		out->levels[l] =
			count_level(&marked, options->cluster_size << l);
	for (i = 0; i < n_cells(level); i++)
		out->n_free_cells += level_is_open(level, i);
	count_pairs(&marked, &all, 1, &out->n_components);
	unmark(&marked);
}

/* Comparing */

static void
describe(const struct level *level, const struct bake_options *options)
{
	static const char *const policies[] = {"ends", "spread", "every"};
	static const char *const moves[] = {"8", "8-loose", "4"};

	fprintf(stderr,
	        "# clusters of %u, %u levels, %s:%u, moves %s, prune %d\n",
	        (unsigned)options->cluster_size, (unsigned)options->n_levels,
	        policies[options->policy], (unsigned)options->policy_parameter,
	        moves[options->moves], options->prune);
	draw_level(level, NULL, 0);
}

static void
must_bake(const struct level *level, const struct bake_options *options,
          struct bake_output *out, struct bake_report *report)
{
	struct diag diag;

	if (bake_run(level, options, out, report, &diag) == DIAG_OK)
		return;
	describe(level, options);
	fail_msg("%s", diag.text);
}

static bool
same_counts(const struct counts *counts, const struct bake_level_report *found)
{
	return counts->clusters == found->clusters &&
	       counts->nodes == found->nodes &&
	       counts->inter_edges == found->inter_edges &&
	       counts->intra_edges == found->intra_edges;
}

/* What a reader finds in the file, as a report. */
static void
report_of_file(const struct bake_output *baked, struct bake_report *out)
{
	const char *detail = "?";
	struct hpa_file file;
	struct hpa_view view;
	uint8_t *room;
	uint32_t l;

	memset(out, 0, sizeof(*out));
	assert_int_equal(
		hpa_file_read(baked->data, baked->size, true, &file, &detail),
		HPA_OK);
	room = must_have(malloc((size_t)file.inflated_size + 1));
	assert_int_equal(hpa_file_inflate(&file, room, &detail), HPA_OK);
	assert_int_equal(hpa_view_init(&file, 0, &view, &detail), HPA_OK);
	out->width = view.width;
	out->height = view.height;
	out->n_levels = view.n_levels;
	out->n_free_cells = view.n_free_cells;
	out->n_components = view.n_components;
	for (l = 0; l < view.n_levels; l++) {
		out->levels[l].cluster_size = view.levels[l].cluster_size;
		out->levels[l].clusters =
			view.levels[l].clusters_x * view.levels[l].clusters_y;
		out->levels[l].nodes = view.levels[l].n_nodes;
		out->levels[l].inter_edges = view.levels[l].n_inter;
		out->levels[l].intra_edges = view.levels[l].n_intra;
		out->levels[l].stored_edges = view.levels[l].n_stored;
	}
	free(room);
}

static void
compare(const struct level *level, const struct bake_options *options,
        const struct recounted *counted, const struct bake_report *found)
{
	uint32_t l;

	assert_int_equal(found->width, level->width);
	assert_int_equal(found->height, level->height);
	assert_int_equal(found->n_levels, options->n_levels);
	if (found->n_free_cells != counted->n_free_cells ||
	    found->n_components != counted->n_components) {
		describe(level, options);
		fail_msg("%" PRIu64 " free cells in %" PRIu32 " components, "
		         "counted %" PRIu64 " in %" PRIu32,
		         found->n_free_cells, found->n_components,
		         counted->n_free_cells, counted->n_components);
	}
	for (l = 0; l < options->n_levels; l++) {
		const struct counts *c = &counted->levels[l];
		const struct bake_level_report *f = &found->levels[l];

		assert_int_equal(f->cluster_size, options->cluster_size << l);
		if (same_counts(c, f))
			continue;
		describe(level, options);
		fail_msg("level %" PRIu32 ": %" PRIu32 " clusters, %" PRIu32
		         " nodes, %" PRIu32 " inter-, %" PRIu64
		         " intra-edges, counted %" PRIu32 ", %" PRIu32
		         ", %" PRIu32 ", %" PRIu64,
		         l + 1, f->clusters, f->nodes, f->inter_edges,
		         f->intra_edges, c->clusters, c->nodes, c->inter_edges,
		         c->intra_edges);
	}
}

/* Pruning leaves out edges, nothing else. */
static void
check_stored(const struct level *level, const struct bake_options *options,
             const struct bake_report *report)
{
	uint32_t l;

	for (l = 0; l < options->n_levels; l++) {
		const struct bake_level_report *found = &report->levels[l];

		if (options->prune ? found->stored_edges <= found->intra_edges
		                   : found->stored_edges == found->intra_edges)
			continue;
		describe(level, options);
		fail_msg("level %" PRIu32 ": %" PRIu64 " of %" PRIu64
		         " edges are stored",
		         l + 1, found->stored_edges, found->intra_edges);
	}
}

static void
check_counts(const struct level *level, const struct bake_options *options)
{
	struct bake_output baked;
	struct bake_report report, in_file;
	struct recounted counted;

	must_bake(level, options, &baked, &report);
	report_of_file(&baked, &in_file);
	free(baked.data);
	recount(level, options, &counted);
	compare(level, options, &counted, &report);
	compare(level, options, &counted, &in_file);
	check_stored(level, options, &report);
	check_stored(level, options, &in_file);
}

/* Cases worked out by hand. '|' and '-' in the drawings are borders. */

#define ENDS(threshold) HPA_POLICY_ENDS, threshold
#define SPREAD HPA_POLICY_SPREAD, 0
#define EVERY(k) HPA_POLICY_EVERY, k

static const struct {
	const char *rows;
	uint32_t cluster_size, n_levels;
	enum hpa_policy policy;
	uint32_t parameter;
	struct counts levels[3];
} by_hand[] = {
	/* Two clusters of 4 x 4. The entrance has 4 cells, fewer than 6: one
         * transition. Each cluster has one node, so no pairs. */
	{"........\n........\n........\n........\n",
         4,
         1,
         ENDS(6),
         {{2, 2, 1, 0}}},
	/* An entrance of 6 cells: one transition at each end, two nodes in each
         * cluster. */
	{"............\n............\n............\n............\n"
         "............\n............\n",
         6,
         1,
         ENDS(6),
         {{2, 4, 2, 2}}},
	/* The same with a threshold above 6. */
	{"............\n............\n............\n............\n"
         "............\n............\n",
         6,
         1,
         ENDS(7),
         {{2, 2, 1, 0}}},
	/* Four clusters, four borders of 4 cells. The middle is the second
         * cell, never a corner, so the 8 ends are 8 nodes, two in each cluster.
         * At level 2 there is one cluster and no border. */
	{"........\n........\n........\n........\n"
         "........\n........\n........\n........\n",
         4,
         2,
         ENDS(6),
         {{4, 8, 4, 4}, {1, 0, 0, 0}}},
	/* The same, crossed at both ends: 8 transitions. In each cluster the
         * corner in the middle of the level serves two borders: 3 nodes, not 4,
         * and 3 pairs. */
	{"........\n........\n........\n........\n"
         "........\n........\n........\n........\n",
         4,
         1,
         ENDS(1),
         {{4, 12, 8, 12}}},
	/* A corner that serves two borders, alone: 3 nodes, 2 transitions. */
	{"@@@@@@@@\n@@@@@@@@\n@@@@@@@@\n@@@..@@@\n"
         "@@@.@@@@\n@@@@@@@@\n@@@@@@@@\n@@@@@@@@\n",
         4,
         1,
         ENDS(6),
         {{4, 3, 2, 0}}},
	/* Six clusters in a row, 5 borders, of which every second is one of the
         * three 2-clusters: those in between have a node on either side. The
         * two 3-clusters (the second one ragged) meet at one border. */
	{"........................\n........................\n"
         "........................\n........................\n",
         4,
         3,
         ENDS(6),
         {{6, 10, 5, 4}, {3, 4, 2, 1}, {2, 2, 1, 0}}},
	/* The same with a wall across the fourth cluster: its two nodes, and
         * those of the second 2-cluster, are not connected. */
	{".............@..........\n.............@..........\n"
         ".............@..........\n.............@..........\n",
         4,
         2,
         ENDS(6),
         {{6, 10, 5, 3}, {3, 4, 2, 0}}},
	/* A wall splits the upper left cluster; one gets from its left to its
         * right part through the others only. Borders: right 1 entrance; below
         * 2 entrances, of 1 and 2 cells, and one of 4. Nodes: upper left 3,
         * upper right 2, lower left 3, lower right 2. Pairs: 1 (right part), 1,
         * 3, 1. */
	{".@......\n.@......\n.@......\n.@......\n"
         "........\n........\n........\n........\n",
         4,
         1,
         ENDS(6),
         {{4, 10, 5, 6}}},
	/* The entrances of an obstacle on either side of a border: rows 0 and
         * 3 to 5 are free on both sides. */
	{"............\n......@.....\n.....@......\n............\n"
         "............\n............\n",
         6,
         1,
         ENDS(2),
         {{2, 6, 3, 6}}},
	/* One border of 10 cells, by policy. */
	{"....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n",
         10,
         1,
         SPREAD,
         {{2, 4, 2, 2}}},
	{"....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n",
         10,
         1,
         EVERY(1),
         {{2, 20, 10, 90}}},
	/* Three pieces of at most 4 cells. */
	{"....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n",
         10,
         1,
         EVERY(4),
         {{2, 6, 3, 6}}},
	{"....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n"
         "....................\n....................\n",
         10,
         1,
         EVERY(10),
         {{2, 2, 1, 0}}},
	/* Entrances of 4, 5 and 7 cells for the three tiers of `spread`: 1, 2
         * and 2 transitions. */
	{"..............\n..............\n..............\n..............\n"
         ".......@......\n.......@......\n.......@......\n",
         7,
         1,
         SPREAD,
         {{2, 2, 1, 0}}},
	{"..............\n..............\n..............\n..............\n"
         "..............\n.......@......\n.......@......\n",
         7,
         1,
         SPREAD,
         {{2, 4, 2, 2}}},
	{"..............\n..............\n..............\n..............\n"
         "..............\n..............\n..............\n",
         7,
         1,
         SPREAD,
         {{2, 4, 2, 2}}},
};

static void
counts_are_those_worked_out_by_hand(void **state)
{
	static const enum hpa_move_rule moves[] = {HPA_RULE_8, HPA_RULE_8_LOOSE,
	                                           HPA_RULE_4};
	struct bake_options options;
	struct bake_output baked;
	struct bake_report report;
	struct level level;
	size_t i, m;
	uint32_t l;

	(void)state;
	bake_options_default(&options);
	for (i = 0; i < N_ELEMENTS(by_hand); i++) {
		level_from_text(by_hand[i].rows, &level);
		options.cluster_size = by_hand[i].cluster_size;
		options.n_levels = by_hand[i].n_levels;
		options.policy = by_hand[i].policy;
		options.policy_parameter = by_hand[i].parameter;
		for (m = 0; m < N_ELEMENTS(moves); m++) {
			options.moves = moves[m];
			must_bake(&level, &options, &baked, &report);
			for (l = 0; l < options.n_levels; l++)
				if (!same_counts(&by_hand[i].levels[l],
				                 &report.levels[l])) {
					describe(&level, &options);
					fail_msg("case %zu, level %u", i,
					         l + 1);
				}
			free(baked.data);
			/* The plain count is put to the same test. */
			check_counts(&level, &options);
		}
		level_free(&level);
	}
}

/* The paper's estimate of the worst case (3.6.1), made exact: c x c clusters of
 * n x n cells; along each border free and blocked cells alternate, which gives
 * k transitions of one cell; inside, all is free. */
static void
make_gates(uint32_t c, uint32_t n, struct level *out)
{
	struct diag diag;
	uint32_t side = c * n;
	uint32_t x, y, i, k;

	assert_int_equal(level_new(side, side, NULL, out, &diag), DIAG_OK);
	for (y = 0; y < side; y++)
		for (x = 0; x < side; x++) {
			i = x % n;
			k = y % n;
			/* Not a corner, and odd along a border. */
			out->cells[y * side + x] =
				i == 0 || i == n - 1
					? k % 2 == 1 && k < n - 1
					: (k != 0 && k != n - 1) || i % 2 == 1;
		}
}

static uint64_t
pairs(uint64_t n)
{
	return n * (n - 1) / 2;
}

static void
counts_of_the_worst_case_are_the_papers(void **state)
{
	const uint32_t n = 8, k = 3;
	struct bake_options options;
	struct bake_output baked;
	struct bake_report report;
	struct level level;
	uint32_t c, l;

	(void)state;
	bake_options_default(&options);
	options.cluster_size = n;
	options.n_levels = 3;
	for (c = 4; c <= 8; c += 4) {
		make_gates(c, n, &level);
		must_bake(&level, &options, &baked, &report);
		for (l = 0; l < options.n_levels; l++) {
			const struct bake_level_report *found =
				&report.levels[l];
			/* A border of level l has 2^(l-1) times as many. */
			uint64_t kl = (uint64_t)k << l;
			uint64_t cl = c >> l;
			uint64_t inside = cl > 2 ? (cl - 2) * (cl - 2) : 0;
			uint64_t at_edge = cl > 2 ? 4 * (cl - 2) : 0;
			uint64_t at_corner = cl > 1 ? 4 : 0;

			assert_int_equal(found->inter_edges,
			                 2 * cl * (cl - 1) * kl);
			assert_int_equal(found->nodes, 4 * cl * (cl - 1) * kl);
			assert_int_equal(found->intra_edges,
			                 inside * pairs(4 * kl) +
			                         at_edge * pairs(3 * kl) +
			                         at_corner * pairs(2 * kl));
		}
		free(baked.data);
		level_free(&level);
	}
}

/* Our own levels, and every option that counts. */

static const struct {
	enum hpa_policy policy;
	uint32_t parameter;
} policies[] = {
	{ENDS(1)},  {ENDS(5)},  {ENDS(6)},   {ENDS(0)},  {ENDS(33)},
	{SPREAD},   {EVERY(1)}, {EVERY(2)},  {EVERY(3)}, {EVERY(4)},
	{EVERY(0)}, {EVERY(7)}, {EVERY(32)},
};

static void
check_own_level(const char *path, const char *name, void *user)
{
	static const uint32_t sizes[] = {4, 5, 10, 16, 32};
	struct bake_options options;
	struct level level;
	struct diag diag;
	size_t file_size, i, s;
	uint8_t *data = read_file(path, &file_size);
	unsigned m;

	(void)name;
	(void)user;
	assert_non_null(data);
	assert_int_equal(level_read("level.map", data, file_size, NULL, &level,
	                            &diag),
	                 DIAG_OK);
	free(data);
	bake_options_default(&options);
	options.n_threads = 1;
	for (i = 0; i < N_ELEMENTS(policies); i++)
		for (s = 0; s < N_ELEMENTS(sizes); s++)
			for (m = 0; m < 3; m++) {
				options.cluster_size = sizes[s];
				options.n_levels =
					1 + (uint32_t)(i + s + m) % MAX_LEVELS;
				options.policy = policies[i].policy;
				options.policy_parameter =
					policies[i].parameter;
				options.moves = (enum hpa_move_rule)m;
				options.prune = (i + s) % 2 == 0;
				check_counts(&level, &options);
			}
	level_free(&level);
}

static void
counts_of_our_own_levels_are_right(void **state)
{
	(void)state;
	assert_int_not_equal(
		for_each_file(data_folder(), ".map", check_own_level, NULL), 0);
}

/* Random levels */

static void
random_options(struct rng *rng, struct bake_options *out)
{
	bake_options_default(out);
	out->cluster_size = rng_chance(rng, 50) ? rng_between(rng, 4, 10)
	                                        : rng_between(rng, 4, 32);
	out->n_levels = rng_between(rng, 1, MAX_LEVELS);
	out->moves = (enum hpa_move_rule)rng_below(rng, 3);
	out->policy = (enum hpa_policy)rng_below(rng, 3);
	if (out->policy == HPA_POLICY_ENDS)
		out->policy_parameter = rng_below(rng, 34);
	if (out->policy == HPA_POLICY_EVERY)
		out->policy_parameter = rng_below(rng, 33);
	out->prune = rng_chance(rng, 50);
	out->compress = (enum hpa_compress)rng_below(rng, 3);
	out->n_threads = rng_chance(rng, 10) ? rng_between(rng, 2, 5) : 1;
}

static void
counts_of_random_levels_are_right(void **state)
{
	struct rng rng = {test_seed()};
	struct bake_options options;
	struct level level;
	unsigned round;

	(void)state;
	for (round = 0; round < N_RANDOM; round++) {
		random_level(&rng, MAX_SIDE, &level);
		random_options(&rng, &options);
		check_counts(&level, &options);
		level_free(&level);
	}
}

/* Stored edges: those that no third node lies on. The costs between the nodes
 * of an l-cluster are found on its cells, where a border of level-1 clusters is
 * crossed at transitions only. */

/* The cost of a step inside a box, 0 where there is none. */
static uint32_t
banned_step(const struct marked *marked, const struct box *box, uint32_t x,
            uint32_t y, int dx, int dy)
{
	uint32_t size = marked->options->cluster_size;
	uint32_t width = marked->level->width;
	uint32_t to_x = x + (uint32_t)dx, to_y = y + (uint32_t)dy;

	if ((dx == 0 && dy == 0) || !may_step(marked, box, x, y, dx, dy))
		return 0;
	if (x / size == to_x / size && y / size == to_y / size)
		return dx && dy ? HPA_COST_DIAGONAL : HPA_COST_STRAIGHT;
	if (dx && dy)
		return 0;
	if (dx)
		return marked->right[(size_t)y * width + smaller(x, to_x)]
		               ? HPA_COST_STRAIGHT
		               : 0;
	return marked->down[(size_t)smaller(y, to_y) * width + x]
	               ? HPA_COST_STRAIGHT
	               : 0;
}

/* Costs from a cell to all of the box: whoever got cheaper tells his neighbours
 * until nobody does. */
static void
find_costs(struct marked *marked, const struct box *box, uint32_t start,
           uint32_t *costs)
{
	uint32_t width = marked->level->width;
	size_t n = n_cells(marked->level);
	size_t n_todo = 0;
	size_t i;
	int d;

	for (i = 0; i < n; i++)
		costs[i] = NO_COST;
	memset(marked->seen, 0, n);
	costs[start] = 0;
	marked->todo[n_todo++] = start;
	while (n_todo > 0) {
		/* The first one, so that few are told twice. */
		uint32_t cell = marked->todo[0];

		n_todo--;
		memmove(marked->todo, marked->todo + 1,
		        n_todo * sizeof(*marked->todo));
		marked->seen[cell] = false;
		for (d = 0; d < 9; d++) {
			int dx = d % 3 - 1, dy = d / 3 - 1;
			uint32_t step = banned_step(marked, box, cell % width,
			                            cell / width, dx, dy);
			uint32_t to =
				cell + (uint32_t)dy * width + (uint32_t)dx;

			if (step == 0 || costs[cell] + step >= costs[to])
				continue;
			costs[to] = costs[cell] + step;
			if (!marked->seen[to])
				marked->todo[n_todo++] = to;
			marked->seen[to] = true;
		}
	}
}

/* The pairs of nodes of a cluster that have no third node between them. */
static uint64_t
count_needed(struct marked *marked, const struct box *box, uint32_t size)
{
	uint32_t width = marked->level->width;
	size_t cells = n_cells(marked->level);
	uint32_t *nodes = must_have(calloc(cells, sizeof(*nodes)));
	uint32_t *costs;
	uint64_t n_needed = 0;
	size_t n = 0;
	size_t u, v, w;
	uint32_t x, y;

	for (y = box->y; y < box->bottom; y++)
		for (x = box->x; x < box->right; x++)
			if (is_node(marked, x, y, size))
				nodes[n++] = y * width + x;
	costs = must_have(calloc(n + 1, cells * sizeof(*costs)));
	for (u = 0; u < n; u++)
		find_costs(marked, box, nodes[u], costs + u * cells);
	for (u = 0; u < n; u++)
		for (w = u + 1; w < n; w++) {
			uint32_t direct = costs[u * cells + nodes[w]];

			for (v = 0; v < n && direct != NO_COST; v++)
				if (v != u && v != w &&
				    costs[u * cells + nodes[v]] != NO_COST &&
				    costs[u * cells + nodes[v]] +
				                    costs[v * cells +
				                          nodes[w]] ==
				            direct)
					break;
			n_needed += direct != NO_COST && v == n;
		}
	free(costs);
	free(nodes);
	return n_needed;
}

static void
check_needed(const struct level *level, const struct bake_options *options)
{
	struct bake_output baked;
	struct bake_report report;
	struct marked marked;
	struct box box;
	uint64_t n_needed;
	uint32_t l, size, x, y;

	must_bake(level, options, &baked, &report);
	free(baked.data);
	mark(&marked, level, options);
	for (l = 0; l < options->n_levels; l++) {
		size = options->cluster_size << l;
		n_needed = 0;
		for (y = 0; y < level->height; y += size)
			for (x = 0; x < level->width; x += size) {
				box = cluster_box(level, x, y, size);
				n_needed += count_needed(&marked, &box, size);
			}
		if (report.levels[l].stored_edges == n_needed)
			continue;
		describe(level, options);
		fail_msg("level %" PRIu32 ": %" PRIu64
		         " edges are stored, needed are %" PRIu64,
		         l + 1, report.levels[l].stored_edges, n_needed);
	}
	unmark(&marked);
}

static void
pruning_leaves_the_edges_without_a_node_between(void **state)
{
	struct rng rng = {test_seed()};
	struct bake_options options;
	struct level level;
	unsigned round;

	(void)state;
	for (round = 0; round < N_RANDOM_STORED; round++) {
		random_level(&rng, MAX_SIDE_STORED, &level);
		random_options(&rng, &options);
		options.cluster_size = rng_between(&rng, 4, 8);
		options.prune = true;
		check_needed(&level, &options);
		level_free(&level);
	}
}

/* The number of levels that is chosen where none is given. */
static void
levels_are_added_while_the_top_has_4_clusters(void **state)
{
	static const uint32_t sides[] = {1,   63,   64,   65,    96,   97,
	                                 128, 129,  192,  193,   256,  512,
	                                 767, 1024, 4096, 16384, 65535};
	size_t i;
	uint32_t size, levels;

	(void)state;
	/* The manual's examples. */
	assert_int_equal(bake_default_levels(64, 64, 16), 1);
	assert_int_equal(bake_default_levels(128, 128, 16), 2);
	assert_int_equal(bake_default_levels(512, 512, 16), 4);
	for (i = 0; i < N_ELEMENTS(sides); i++)
		for (size = 4; size <= 32; size++) {
			/* Clusters of the next level, rounded up. */
			for (levels = 1; levels < 12; levels++) {
				uint32_t next = size << levels;

				if (next > 8192 ||
				    (sides[i] + next - 1) / next < 4)
					break;
			}
			assert_int_equal(bake_default_levels(sides[i], 1, size),
			                 levels);
			assert_int_equal(bake_default_levels(1, sides[i], size),
			                 levels);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_worked_out_by_hand),
		cmocka_unit_test(counts_of_the_worst_case_are_the_papers),
		cmocka_unit_test(counts_of_our_own_levels_are_right),
		cmocka_unit_test(counts_of_random_levels_are_right),
		cmocka_unit_test(
			pruning_leaves_the_edges_without_a_node_between),
		cmocka_unit_test(levels_are_added_while_the_top_has_4_clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
