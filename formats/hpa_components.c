/* hpa_components.c: which component a cell belongs to, and whether the file tells
 * that without contradicting itself.
 *
 * A cluster has one label, or, where it is mixed, one for each run of free cells
 * in its rows. Neighbouring free cells must have one label; as those beside each
 * other in a row of a cluster are of one run, what remains to be compared is rows
 * of mixed clusters, and borders. */
#include "formats/hpa_check.h"

/* Where runs of free cells begin in the bits of a row. */
static uint32_t
run_starts(uint32_t bits)
{
	return bits & ~(bits << 1);
}

static uint32_t
count_runs(const struct hpa_view *view, const struct window *window)
{
	uint32_t n = 0;

	for (uint32_t y = 0; y < window->height; y++)
		n += count_ones(run_starts(row_bits(
			view, window->x, window->y + y, window->width)));
	return n;
}

static bool
is_mixed(uint32_t label)
{
	return label != HPA_COMP_NONE && (label & HPA_COMP_MIXED);
}

/* A cluster's own label, or that its runs are the next ones. */
static hpa_status
check_label(const struct hpa_view *view, uint32_t cluster, uint32_t *n_runs,
            const char **detail)
{
	struct window window = cluster_window(view, cluster);
	uint32_t label = hpa_get_u32(view->labels, cluster);
	uint32_t n = count_runs(view, &window);

	if ((n == 0) != (label == HPA_COMP_NONE))
		return refuse(detail, "a cluster's label is wrong");
	if (n == 0)
		return HPA_OK;
	if (!is_mixed(label)) {
		if (label >= view->n_components)
			return refuse(detail, "a label is out of range");
		return HPA_OK;
	}
	if ((label & ~HPA_COMP_MIXED) != *n_runs ||
	    n > view->n_run_labels - *n_runs)
		return refuse(detail, "a cluster's labels are not in place");
	*n_runs += n;
	return HPA_OK;
}

static hpa_status
check_labels(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = HPA_OK;
	uint32_t n_runs = 0;

	for (size_t i = 0; i < view->n_run_labels; i++)
		if (hpa_get_u32(view->run_labels, i) >= view->n_components)
			return refuse(detail, "a label is out of range");
	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		st = check_label(view, c, &n_runs, detail);
	if (st == HPA_OK && n_runs != view->n_run_labels)
		st = refuse(detail, "the number of labels is wrong");
	return st;
}

/* The component of each cell of a cluster; HPA_COMP_NONE for blocked ones. */
struct label_map {
	struct window window;
	uint32_t label[HPA_MAX_CLUSTER_SIZE][HPA_MAX_CLUSTER_SIZE];
};

static void
draw_labels(const struct hpa_view *view, uint32_t cluster,
            struct label_map *out)
{
	uint32_t label = hpa_get_u32(view->labels, cluster);
	bool mixed = is_mixed(label);
	size_t run = label & ~HPA_COMP_MIXED;

	out->window = cluster_window(view, cluster);
	for (uint32_t y = 0; y < out->window.height; y++) {
		uint32_t bits = row_bits(view, out->window.x, out->window.y + y,
		                         out->window.width);
		uint32_t starts = run_starts(bits);

		for (uint32_t x = 0; x < out->window.width; x++) {
			if (mixed && (starts >> x & 1))
				label = hpa_get_u32(view->run_labels, run++);
			out->label[y][x] =
				bits >> x & 1 ? label : HPA_COMP_NONE;
		}
	}
}

static bool
labels_agree(uint32_t a, uint32_t b)
{
	return a == b || a == HPA_COMP_NONE || b == HPA_COMP_NONE;
}

/* Cells beside each other in a row are of one run. */
static bool
agrees_inside(const struct label_map *map)
{
	for (uint32_t y = 1; y < map->window.height; y++)
		for (uint32_t x = 0; x < map->window.width; x++)
			if (!labels_agree(map->label[y - 1][x],
			                  map->label[y][x]))
				return false;
	return true;
}

static bool
agrees_to_the_right(const struct label_map *map, const struct label_map *right)
{
	for (uint32_t y = 0; y < map->window.height; y++)
		if (!labels_agree(map->label[y][map->window.width - 1],
		                  right->label[y][0]))
			return false;
	return true;
}

static bool
agrees_below(const struct label_map *map, const struct label_map *below)
{
	for (uint32_t x = 0; x < map->window.width; x++)
		if (!labels_agree(map->label[map->window.height - 1][x],
		                  below->label[0][x]))
			return false;
	return true;
}

/* Do two clusters have to be compared cell by cell? */
static bool
may_disagree(const struct hpa_view *view, uint32_t a, uint32_t b)
{
	uint32_t label_a = hpa_get_u32(view->labels, a);
	uint32_t label_b = hpa_get_u32(view->labels, b);

	return is_mixed(label_a) || !labels_agree(label_a, label_b);
}

/* A cluster in itself and towards its neighbours to the right and below. */
static bool
agrees(const struct hpa_view *view, uint32_t cluster)
{
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t right = cluster + 1, below = cluster + level->clusters_x;
	bool look_right = right % level->clusters_x != 0 &&
	                  may_disagree(view, cluster, right);
	bool look_below =
		below < n_clusters(level) && may_disagree(view, cluster, below);
	struct label_map map, other;

	if (!is_mixed(hpa_get_u32(view->labels, cluster)) && !look_right &&
	    !look_below)
		return true;
	draw_labels(view, cluster, &map);
	if (!agrees_inside(&map))
		return false;
	if (look_right) {
		draw_labels(view, right, &other);
		if (!agrees_to_the_right(&map, &other))
			return false;
	}
	if (look_below) {
		draw_labels(view, below, &other);
		if (!agrees_below(&map, &other))
			return false;
	}
	return true;
}

hpa_status
hpa_check_components(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = check_labels(view, detail);

	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		if (!agrees(view, c))
			st = refuse(detail,
			            "neighbouring cells have two labels");
	return st;
}

uint32_t
hpa_view_component(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	uint32_t cluster = hpa_cluster_at(&view->levels[0], x, y);
	uint32_t label = hpa_get_u32(view->labels, cluster);
	struct window window;
	uint32_t run;

	if (!is_mixed(label))
		return label;
	/* The runs above, and those of the row up to the cell's own. */
	window = cluster_window(view, cluster);
	window.height = y - window.y;
	run = (label & ~HPA_COMP_MIXED) + count_runs(view, &window);
	run += count_ones(
		run_starts(row_bits(view, window.x, y, x - window.x + 1)));
	return hpa_get_u32(view->run_labels, run - 1);
}
