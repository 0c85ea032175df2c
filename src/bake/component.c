/* component.c: pass 8, which cells can be reached from which.
 *
 * Two cells are connected iff straight steps connect them, whatever the
 * movement rule: a diagonal step needs at least one free cell beside it, and
 * around that one two straight steps make the same way. So the components are
 * found on runs (free stretches of a row): a run joins those above it that it
 * touches, in a union-find whose roots are the earliest runs. Threads find and
 * join the runs of bands of rows; the seams between bands are joined last.
 * Components are numbered in reading order of their first cells.
 *
 * Then the links are looked at. Components that reach each other over links are
 * one; what is left of one-way links is a relation between components, of which
 * the file keeps the closure (reach.c).
 *
 * The file keeps one label per cluster where all its free cells agree, as they
 * do nearly everywhere. A mixed cluster has a label for each of its own runs,
 * in reading order. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/bits.h"

struct run {
	uint32_t begin, end; /* columns, end not included */
	uint32_t label;      /* parent in the union-find, later the component */
};

struct runs {
	struct run *runs;
	size_t n;
	size_t *row; /* first run of each row; one more */
};

/* A band is so many rows. */
#define BAND_HEIGHT 64u

/* The next column from x on, before end, where a cell is (not) free. */
static uint32_t
next_column(const struct grid *grid, uint32_t x, uint32_t y, uint32_t end,
            bool is_free)
{
	while (x < end) {
		uint32_t n = end - x < 32 ? end - x : 32;
		uint32_t bits = grid_row_bits(grid, x, y, n);

		if (!is_free)
			bits ^= (uint32_t)(((uint64_t)1 << n) - 1);
		if (bits)
			return x + grid_lowest_bit(bits);
		x += n;
	}
	return end;
}

/* The runs of a row begin where a cell is free and the one before is not. */
static size_t
count_runs(const struct grid *grid, uint32_t y)
{
	const uint8_t *row = grid->bits + y * grid->stride;
	uint64_t before = 0;
	size_t n = 0, i = 0;

	for (; i < grid->stride; i += 8) {
		uint64_t bits = 0;

		if (grid->stride - i >= 8)
			bits = hpa_get_le64(row + i);
		else
			for (unsigned k = 0; i + k < grid->stride; k++)
				bits |= (uint64_t)row[i + k] << 8 * k;
		n += (size_t)__builtin_popcountll(bits & ~(bits << 1 | before));
		before = bits >> 63;
	}
	return n;
}

static void
fill_row(struct runs *runs, const struct grid *grid, uint32_t y)
{
	uint32_t x = next_column(grid, 0, y, grid->width, true);
	size_t run = runs->row[y];

	while (x < grid->width) {
		uint32_t end = next_column(grid, x, y, grid->width, false);

		runs->runs[run] = (struct run){x, end, (uint32_t)run};
		run++;
		x = next_column(grid, end, y, grid->width, true);
	}
}

static uint32_t
find_root(struct run *runs, uint32_t run)
{
	while (runs[run].label != run) {
		runs[run].label = runs[runs[run].label].label;
		run = runs[run].label;
	}
	return run;
}

static void
join(struct run *runs, uint32_t a, uint32_t b)
{
	a = find_root(runs, a);
	b = find_root(runs, b);
	if (a < b)
		runs[b].label = a;
	else
		runs[a].label = b;
}

/* Join the runs of a row with those above that they touch. */
static void
join_rows(struct runs *runs, uint32_t y)
{
	size_t above = runs->row[y - 1];
	size_t here = runs->row[y];

	while (above < runs->row[y] && here < runs->row[y + 1]) {
		const struct run *a = &runs->runs[above];
		const struct run *h = &runs->runs[here];

		if (a->begin < h->end && h->begin < a->end)
			join(runs->runs, (uint32_t)above, (uint32_t)here);
		if (a->end < h->end)
			above++;
		else
			here++;
	}
}

/* Roots come first, so that going in order every parent has its number. */
static uint32_t
number_components(struct runs *runs)
{
	uint32_t n = 0;

	for (size_t i = 0; i < runs->n; i++) {
		struct run *run = &runs->runs[i];

		if (run->label == i)
			run->label = n++;
		else
			run->label = runs->runs[run->label].label;
	}
	return n;
}

uint64_t
component_bytes(const struct abstraction *abs)
{
	uint64_t n = 0;

#pragma omp parallel for schedule(static) reduction(+ : n)
	for (uint32_t y = 0; y < abs->grid.height; y++)
		n += count_runs(&abs->grid, y);
	return n * sizeof(struct run) +
	       (uint64_t)abs->grid.height * sizeof(size_t);
}

static bool
count_all_runs(struct runs *runs, const struct grid *grid)
{
	runs->row = calloc((size_t)grid->height + 1, sizeof(*runs->row));
	if (!runs->row)
		return false;
#pragma omp parallel for schedule(static)
	for (uint32_t y = 0; y < grid->height; y++)
		runs->row[y + 1] = count_runs(grid, y);
	for (uint32_t y = 0; y < grid->height; y++)
		runs->row[y + 1] += runs->row[y];
	runs->n = runs->row[grid->height];
	runs->runs = malloc((runs->n + 1) * sizeof(*runs->runs));
	return runs->runs != NULL;
}

/* Find all runs and join them. */
static bool
find_runs(struct runs *runs, const struct grid *grid)
{
	uint32_t n_bands = (grid->height + BAND_HEIGHT - 1) / BAND_HEIGHT;

	if (!count_all_runs(runs, grid))
		return false;
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t band = 0; band < n_bands; band++) {
		uint32_t begin = band * BAND_HEIGHT;
		uint32_t end = grid->height - begin < BAND_HEIGHT
		                       ? grid->height
		                       : begin + BAND_HEIGHT;

		for (uint32_t y = begin; y < end; y++) {
			fill_row(runs, grid, y);
			if (y > begin)
				join_rows(runs, y);
		}
	}
	for (uint32_t y = BAND_HEIGHT; y < grid->height; y += BAND_HEIGHT)
		join_rows(runs, y);
	return true;
}

/* The label of the run that holds a free cell. */
static uint32_t
label_at(const struct runs *runs, uint32_t x, uint32_t y)
{
	size_t low = runs->row[y], high = runs->row[y + 1];

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (runs->runs[middle].begin <= x)
			low = middle;
		else
			high = middle;
	}
	return runs->runs[low].label;
}

/* The labels of a window's own runs, in reading order; returns their number. */
static uint32_t
window_labels(const struct runs *runs, const struct grid *grid,
              struct grid_window window, uint32_t *out)
{
	uint32_t end = window.x + window.width;
	uint32_t n = 0;

	for (uint32_t y = window.y; y < window.y + window.height; y++) {
		uint32_t x = next_column(grid, window.x, y, end, true);

		while (x < end) {
			out[n++] = label_at(runs, x, y);
			x = next_column(grid, x, y, end, false);
			x = next_column(grid, x, y, end, true);
		}
	}
	return n;
}

/* Label the clusters of a row of them by the runs that reach into each. */
static void
label_row(struct abstraction *abs, const struct runs *runs, uint32_t cluster_y)
{
	const struct abstract_level *level = &abs->levels[0];
	uint32_t size = level->cluster_size;
	uint32_t *labels = abs->labels + cluster_y * level->clusters_x;
	uint32_t y = cluster_y * size;
	uint32_t end = abs->grid.height - y < size ? abs->grid.height : y + size;

	for (uint32_t i = 0; i < level->clusters_x; i++)
		labels[i] = HPA_COMP_NONE;
	for (size_t r = runs->row[y]; r < runs->row[end]; r++) {
		const struct run *run = &runs->runs[r];
		uint32_t last = (run->end - 1) / size;

		for (uint32_t i = run->begin / size; i <= last; i++)
			if (labels[i] == HPA_COMP_NONE)
				labels[i] = run->label;
			else if (labels[i] != run->label)
				labels[i] = HPA_COMP_MIXED;
	}
}

static bool
append_labels(struct abstraction *abs, size_t *max, const uint32_t *labels,
              uint32_t n)
{
	if (*max - abs->n_run_labels < n) {
		size_t more = 2 * *max + HPA_MAX_CLUSTER_SIZE *
						 HPA_MAX_CLUSTER_SIZE;
		uint32_t *list =
			realloc(abs->run_labels, more * sizeof(*list));

		if (!list)
			return false;
		abs->run_labels = list;
		*max = more;
	}
	memcpy(abs->run_labels + abs->n_run_labels, labels,
	       n * sizeof(*labels));
	abs->n_run_labels += n;
	return true;
}

static bool
label_clusters(struct abstraction *abs, const struct runs *runs)
{
	uint32_t n_clusters = abs->levels[0].n_clusters;
	size_t max = 0;

	abs->labels = malloc((size_t)n_clusters * sizeof(*abs->labels));
	if (!abs->labels)
		return false;
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t y = 0; y < abs->levels[0].clusters_y; y++)
		label_row(abs, runs, y);
	/* The mixed ones, of which there are few, in their order. */
	for (uint32_t c = 0; c < n_clusters; c++) {
		uint32_t own[HPA_MAX_CLUSTER_SIZE * HPA_MAX_CLUSTER_SIZE];
		uint32_t n;

		if (abs->labels[c] != HPA_COMP_MIXED)
			continue;
		n = window_labels(runs, &abs->grid, cluster_window(abs, c),
		                  own);
		abs->labels[c] |= (uint32_t)abs->n_run_labels;
		if (!append_labels(abs, &max, own, n))
			return false;
	}
	return true;
}

/* Give the components that links join one number. */
static enum diag_status
join_by_links(struct abstraction *abs, struct runs *runs, struct diag *diag)
{
	uint32_t n = abs->n_link_edges;
	struct reach_edge *edges;
	uint32_t *renumbered;
	enum diag_status st;

	if (abs->options.n_links == 0)
		return DIAG_OK;
	edges = malloc(((size_t)n + 1) * sizeof(*edges));
	renumbered = malloc(((size_t)abs->n_components + 1) *
	                    sizeof(*renumbered));
	if (!edges || !renumbered) {
		free(edges);
		free(renumbered);
		return out_of_memory(diag);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct node *from = &abs->nodes[abs->link_edges[i].from];
		const struct node *to = &abs->nodes[abs->link_edges[i].to];

		edges[i].from = label_at(runs, from->x, from->y);
		edges[i].to = label_at(runs, to->x, to->y);
	}
	st = reach_find(abs, edges, n, renumbered, diag);
	for (size_t i = 0; i < runs->n && st == DIAG_OK; i++)
		runs->runs[i].label = renumbered[runs->runs[i].label];
	free(edges);
	free(renumbered);
	return st;
}

enum diag_status
component_pass(struct abstraction *abs, struct diag *diag)
{
	enum diag_status st = DIAG_OK;
	struct runs runs = {0};
	bool ok = find_runs(&runs, &abs->grid);

	if (ok) {
		abs->n_components = number_components(&runs);
		st = join_by_links(abs, &runs, diag);
	}
	ok = ok && (st != DIAG_OK || label_clusters(abs, &runs));
	free(runs.runs);
	free(runs.row);
	return ok ? st : out_of_memory(diag);
}
