/* diff_cells.c: what changed in a level between two bakes of it.
 *
 * Cells are compared one by one. Connections can be compared exactly without
 * looking at pairs of cells: every cell that is free in both files has a
 * component there and one here, and cells that agree in both are a group. Two
 * cells lost their connection if their groups are of one component before and
 * of two after. So with N cells in a component and n in a group
 *
 *     lost = sum of N (N - 1) / 2 over the old components
 *          - sum of n (n - 1) / 2 over the groups
 *
 * and an old component that has several groups is a region that fell apart, the
 * groups its pieces. With old and new exchanged the same tells what was gained.
 *
 * One-way links connect components without making them one. Where there are any,
 * the pairs of groups are looked at one by one: a pair of cells lost something
 * if a way between them, in either direction, is not there any more. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/cells.h"
#include "src/cli/diff.h"

/* Cells of one component before and one after. */
struct group {
	uint32_t old, new;
	struct diff_region region;
};

struct groups {
	size_t n, capacity;
	struct group *at;
};

#define FIRST_CAPACITY 1024u

static void
add_cell(struct diff_cells *cells, uint32_t x, uint32_t y)
{
	if (cells->n++ == 0) {
		cells->left = cells->right = x;
		cells->top = y;
	}
	cells->left = x < cells->left ? x : cells->left;
	cells->right = x > cells->right ? x : cells->right;
	cells->bottom = y;
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_places(const struct diff_region *a, const struct diff_region *b)
{
	int order = compare_numbers(a->y, b->y);

	return order ? order : compare_numbers(a->x, b->x);
}

static int
by_old(const void *a, const void *b)
{
	const struct group *left = a, *right = b;
	int order = compare_numbers(left->old, right->old);

	if (order == 0)
		order = compare_numbers(left->new, right->new);
	return order ? order : compare_places(&left->region, &right->region);
}

/* Make one group of those that are the same, which brings them into order. */
static void
unite_groups(struct groups *groups)
{
	size_t n = 0;

	if (groups->n == 0)
		return;
	qsort(groups->at, groups->n, sizeof(*groups->at), by_old);
	for (size_t i = 1; i < groups->n; i++) {
		struct group *last = &groups->at[n];
		const struct group *group = &groups->at[i];

		if (group->old == last->old && group->new == last->new)
			last->region.n += group->region.n;
		else
			groups->at[++n] = *group;
	}
	groups->n = n + 1;
}

/* There are few groups and many runs of cells: so room for more is made only
 * where uniting does not make it. */
static bool
make_room(struct groups *groups)
{
	size_t capacity =
		groups->capacity ? 2 * groups->capacity : FIRST_CAPACITY;
	struct group *at;

	if (groups->n < groups->capacity)
		return true;
	unite_groups(groups);
	if (groups->n < groups->capacity / 2)
		return true;
	at = realloc(groups->at, capacity * sizeof(*at));
	if (!at)
		return false;
	groups->at = at;
	groups->capacity = capacity;
	return true;
}

/* The runs of cells of a row that are free in both; all cells of a run are of
 * one component. */
static bool
add_runs(struct groups *groups, const struct hpa_view *old,
         const struct hpa_view *new, uint32_t y)
{
	for (uint32_t x = 0; x < old->width; x++) {
		uint32_t begin = x;

		while (x < old->width && cells_is_free(old, x, y) &&
		       cells_is_free(new, x, y))
			x++;
		if (x == begin)
			continue;
		if (!make_room(groups))
			return false;
		groups->at[groups->n++] = (struct group){
			hpa_view_component(old, begin, y),
			hpa_view_component(new, begin, y),
			{x - begin, begin, y},
		};
	}
	return true;
}

static uint64_t
n_pairs_of(uint64_t n)
{
	return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

/* A piece among the largest ones of an event. */
static void
add_piece(struct diff_event *event, const struct diff_region *piece)
{
	uint32_t n = event->n_pieces++;
	uint32_t i = n < DIFF_MAX_PIECES ? n : DIFF_MAX_PIECES - 1;

	event->n += piece->n;
	if (n >= DIFF_MAX_PIECES && event->pieces[i].n >= piece->n)
		return;
	for (; i > 0 && event->pieces[i - 1].n < piece->n; i--)
		event->pieces[i] = event->pieces[i - 1];
	event->pieces[i] = *piece;
}

static void
add_event(struct diff_pairs *pairs, const struct diff_event *event)
{
	uint32_t n = pairs->n_events++;
	uint32_t i = n < DIFF_MAX_EVENTS ? n : DIFF_MAX_EVENTS - 1;

	if (n >= DIFF_MAX_EVENTS && pairs->events[i].n >= event->n)
		return;
	for (; i > 0 && pairs->events[i - 1].n < event->n; i--)
		pairs->events[i] = pairs->events[i - 1];
	pairs->events[i] = *event;
}

/* What the old components fell into. The groups are in order. */
static void
find_lost(const struct groups *groups, struct diff_pairs *out)
{
	*out = (struct diff_pairs){.n_pairs = 0};
	for (size_t i = 0, end; i < groups->n; i = end) {
		struct diff_event event = {.n = 0};

		for (end = i; end < groups->n &&
		              groups->at[end].old == groups->at[i].old;
		     end++) {
			const struct diff_region *piece =
				&groups->at[end].region;

			add_piece(&event, piece);
			out->n_pairs -= n_pairs_of(piece->n);
		}
		out->n_pairs += n_pairs_of(event.n);
		if (event.n_pieces > 1)
			add_event(out, &event);
	}
}

/* Read the groups the other way, from new to old. */
static void
turn_groups(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		struct group *group = &groups->at[i];
		uint32_t old = group->old;

		group->old = group->new;
		group->new = old;
	}
	unite_groups(groups);
}

/* Is there a way from `a` to `b` or back that the other view has not? */
static bool
has_more(const struct hpa_view *old, const struct hpa_view *new,
         const struct group *a, const struct group *b)
{
	return (hpa_view_reaches(old, a->old, b->old) &&
	        !hpa_view_reaches(new, a->new, b->new)) ||
	       (hpa_view_reaches(old, b->old, a->old) &&
	        !hpa_view_reaches(new, b->new, a->new));
}

static uint64_t
count_pairs_lost(const struct groups *groups, const struct hpa_view *old,
                 const struct hpa_view *new)
{
	uint64_t n = 0;

	for (size_t i = 0; i < groups->n; i++)
		for (size_t j = 0; j < i; j++)
			if (has_more(old, new, &groups->at[i], &groups->at[j]))
				n += groups->at[i].region.n *
				     groups->at[j].region.n;
	return n;
}

static bool
find_pairs(const struct hpa_view *old, const struct hpa_view *new,
           struct diff_profile *out)
{
	struct groups groups = {.n = 0};
	bool good = true;

	for (uint32_t y = 0; good && y < old->height; y++)
		good = add_runs(&groups, old, new, y);
	if (good) {
		out->one_way = old->n_reach > 0 || new->n_reach > 0;
		unite_groups(&groups);
		find_lost(&groups, &out->lost);
		if (out->one_way)
			out->lost.n_pairs = count_pairs_lost(&groups, old, new);
		turn_groups(&groups);
		find_lost(&groups, &out->gained);
		if (out->one_way)
			out->gained.n_pairs =
				count_pairs_lost(&groups, new, old);
	}
	free(groups.at);
	return good;
}

/* Compare a row of cells, and mark the clusters that changed. */
static void
compare_row(const struct hpa_view *old, const struct hpa_view *new, uint32_t y,
            uint8_t *touched, struct diff_profile *out)
{
	for (uint32_t x = 0; x < old->width; x++) {
		bool before = cells_is_free(old, x, y),
		     after = cells_is_free(new, x, y);

		if (before && !after)
			add_cell(&out->closed, x, y);
		else if (after && !before)
			add_cell(&out->opened, x, y);
		else if (after &&
		         cells_factor(old, x, y) != cells_factor(new, x, y))
			add_cell(&out->recosted, x, y);
		else
			continue;
		touched[x / new->cluster_size] = 1;
	}
}

static void
list_clusters(const uint8_t *touched, uint32_t n, uint32_t y,
              struct diff_profile *out)
{
	for (uint32_t x = 0; x < n; x++) {
		if (!touched[x])
			continue;
		out->n_touched++;
		if (out->n_listed == DIFF_MAX_CLUSTERS)
			continue;
		out->clusters[out->n_listed][0] = x;
		out->clusters[out->n_listed++][1] = y;
	}
}

static bool
compare_profile(const struct hpa_view *old, const struct hpa_view *new,
                struct diff_profile *out)
{
	const struct hpa_view_level *level = &new->levels[0];
	uint8_t *touched = malloc(level->clusters_x);
	bool good = touched != NULL;

	*out = (struct diff_profile){.cluster_size = new->cluster_size,
	                             .n_clusters = (uint64_t)level->clusters_x *
	                                           level->clusters_y};
	memcpy(out->agent, new->agent, sizeof(out->agent));
	for (uint32_t cy = 0; good && cy < level->clusters_y; cy++) {
		uint32_t top = cy * new->cluster_size;

		memset(touched, 0, level->clusters_x);
		for (uint32_t y = top;
		     y - top < new->cluster_size &&y < new->height; y++)
			compare_row(old, new, y, touched, out);
		list_clusters(touched, level->clusters_x, cy, out);
	}
	free(touched);
	return good && find_pairs(old, new, out);
}

static int
by_record(const void *a, const void *b)
{
	return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b,
	              HPA_LINK_SIZE);
}

/* The links of a file in order. Free it with free(); NULL where there is no
 * memory. */
static const uint8_t **
sorted_links(const struct hpa_view *view)
{
	const uint8_t **links =
		calloc((size_t)view->n_links + 1, sizeof(*links));

	for (uint32_t i = 0; links && i < view->n_links; i++)
		links[i] = hpa_view_link(view, i);
	if (links)
		qsort(links, view->n_links, sizeof(*links), by_record);
	return links;
}

/* Links that only one of the files has. */
static bool
compare_links(const struct hpa_view *old, const struct hpa_view *new,
              struct diff_level *out)
{
	const uint8_t **before = sorted_links(old), **after = sorted_links(new);
	uint32_t i = 0, j = 0;
	bool good = before && after;

	while (good && (i < old->n_links || j < new->n_links)) {
		int order = i == old->n_links ? 1
		            : j == new->n_links
		                    ? -1
		                    : by_record(&before[i], &after[j]);

		out->n_links_gone += order < 0;
		out->n_links_added += order > 0;
		i += order <= 0;
		j += order >= 0;
	}
	free(before);
	free(after);
	return good;
}

enum diag_status
diff_level(const struct baked *old, const struct baked *new,
           struct diff_level *out, struct diag *diag)
{
	const struct hpa_view *before = &old->views[0];
	const struct hpa_view *after = &new->views[0];

	*out = (struct diff_level){.is_compared = false};
	if (before->width != after->width || before->height != after->height)
		return DIAG_OK;
	out->is_compared = true;
	if (compare_links(before, after, out))
		out->profiles = calloc(new->n_profiles, sizeof(*out->profiles));
	for (uint32_t p = 0; out->profiles && p < new->n_profiles; p++) {
		const struct hpa_view *twin =
			diff_agent(old, new->views[p].agent);

		if (!twin)
			continue;
		if (!compare_profile(twin, &new->views[p],
		                     &out->profiles[out->n_profiles++]))
			diff_level_free(out);
	}
	return out->profiles ? DIAG_OK
	                     : diag_set(diag, DIAG_FAILED, 0, "out of memory");
}

void
diff_level_free(struct diff_level *level)
{
	free(level->profiles);
	*level = (struct diff_level){.is_compared = false};
}

bool
diff_profile_has_changed(const struct diff_profile *profile)
{
	return profile->n_touched > 0 || profile->lost.n_pairs > 0 ||
	       profile->gained.n_pairs > 0;
}

bool
diff_level_has_changed(const struct diff_level *level)
{
	for (uint32_t p = 0; p < level->n_profiles; p++)
		if (diff_profile_has_changed(&level->profiles[p]))
			return true;
	return level->n_links_gone > 0 || level->n_links_added > 0;
}
