/* hpa_check.c: a view -> one that no query can be led astray by.
 *
 * What hpa_view_init() has found is gone over once, allocating nothing, in an
 * order in which each part may rely on those before it:
 *
 *     cells       no bit beyond the width, as many free ones as stated
 *     nodes       free, in their cluster, in order
 *     ranks       of each level lead to nodes in the right cluster; the links
 *                 up lead to the same node
 *     inter-edges between neighbours in different clusters, both ways; a node
 *                 is at exactly the levels whose borders its edges cross
 *     tables      see hpa_check_tables.c
 *     components  neighbouring free cells have one label
 *     terrain     every class is known, free cells have a factor
 *     links       both ends are inside; each usable one is an edge between the
 *                 right nodes, which are at all levels, and is known to the
 *                 components
 *     hubs        in order, of a rank that a node can have, over an edge that
 *                 the node has; that the distances are right is not checked
 *
 * A file has a view for each profile. Only the tables are one list for all of
 * them, and are checked for all of them together. */
#include "formats/hpa_check.h"

#define N_STRAIGHT 4u /* directions, clockwise from east */

static hpa_status
check_cells(const struct hpa_view *view, const char **detail)
{
	size_t size = view->stride * view->height;
	uint32_t spare = (uint32_t)view->stride * 8 - view->width;
	uint64_t n_free = 0;
	size_t i;

	for (i = 0; size - i >= 8; i += 8)
		n_free += count_ones(hpa_get_le64(view->cells + i));
	for (; i < size; i++)
		n_free += count_ones(view->cells[i]);
	if (n_free != view->n_free_cells)
		return refuse(detail, "the number of free cells is wrong");
	for (i = view->stride; i <= size; i += view->stride)
		if (view->cells[i - 1] >> (8 - spare) != 0)
			return refuse(detail, "a cell beyond the width is set");
	return HPA_OK;
}

/* The nodes of a level-1 cluster: free cells of it, in reading order. */
static hpa_status
check_cluster_nodes(const struct hpa_view *view, uint32_t cluster,
                    const char **detail)
{
	const uint8_t *first = view->levels[0].first;
	struct window window = cluster_window(view, cluster);
	uint32_t end = hpa_get_u32(first, (size_t)cluster + 1);
	uint32_t least = 0;

	for (uint32_t id = hpa_get_u32(first, cluster); id < end; id++) {
		uint32_t x = hpa_node_x(view, id) - window.x;
		uint32_t y = hpa_node_y(view, id) - window.y;
		uint32_t place = y * window.width + x;

		if (x >= window.width || y >= window.height)
			return refuse(detail, "a node is not in its cluster");
		if (place < least)
			return refuse(detail, "nodes are out of order");
		if (!is_free(view, window.x + x, window.y + y))
			return refuse(detail, "a node is on a blocked cell");
		least = place + 1;
	}
	return HPA_OK;
}

static hpa_status
check_nodes(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = HPA_OK;

	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		st = check_cluster_nodes(view, c, detail);
	return st;
}

/* The ranks of one cluster of a level above the first. */
static hpa_status
check_cluster_ranks(const struct hpa_view *view,
                    const struct hpa_view_level *level, uint32_t cluster,
                    const char **detail)
{
	uint32_t rank = hpa_get_u32(level->first, cluster);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);
	uint32_t least = 0;

	for (; rank < end; rank++) {
		uint32_t id = hpa_get_u32(level->node, rank);

		if (id >= view->n_nodes)
			return refuse(detail, "a rank has no node");
		if (id < least)
			return refuse(detail, "ranks are out of order");
		if (hpa_cluster_at(level, hpa_node_x(view, id),
		                   hpa_node_y(view, id)) != cluster)
			return refuse(detail, "a rank is not in its cluster");
		least = id + 1;
	}
	return HPA_OK;
}

/* The links from a level to the one above: to the same nodes, and to all of
 * these. Different ranks are different nodes, so counting is enough. */
static hpa_status
check_up(const struct hpa_view_level *level, const char **detail)
{
	const struct hpa_view_level *above = level + 1;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < level->n_nodes; rank++) {
		uint32_t up = hpa_get_u32(level->up, rank);

		if (up == HPA_NONE)
			continue;
		if (up >= above->n_nodes ||
		    hpa_get_u32(above->node, up) !=
		            hpa_node_of_rank(level, rank))
			return refuse(detail, "a link up leads astray");
		n++;
	}
	if (n != above->n_nodes)
		return refuse(detail, "a node is not at the level below");
	return HPA_OK;
}

static hpa_status
check_ranks(const struct hpa_view *view, const char **detail)
{
	hpa_status st = HPA_OK;

	for (uint32_t l = 1; l < view->n_levels && st == HPA_OK; l++) {
		const struct hpa_view_level *level = &view->levels[l];
		uint32_t n = n_clusters(level);

		for (uint32_t c = 0; c < n && st == HPA_OK; c++)
			st = check_cluster_ranks(view, level, c, detail);
		if (st == HPA_OK)
			st = check_up(level - 1, detail);
	}
	return st;
}

/* The direction of the straight step between two nodes, or N_STRAIGHT. */
static uint32_t
direction_of(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t dx = hpa_node_x(view, to) - hpa_node_x(view, from);
	uint32_t dy = hpa_node_y(view, to) - hpa_node_y(view, from);

	if (dy == 0 && dx == 1)
		return 0;
	if (dx == 0 && dy == 1)
		return 1;
	if (dy == 0 && dx == UINT32_MAX)
		return 2;
	if (dx == 0 && dy == UINT32_MAX)
		return 3;
	return N_STRAIGHT;
}

/* How many levels have the two nodes in different clusters. These are the
 * lowest ones, because clusters are made of clusters. */
static uint32_t
levels_crossed(const struct hpa_view *view, uint32_t a, uint32_t b)
{
	uint32_t l = 0;

	while (l < view->n_levels &&
	       hpa_cluster_at(&view->levels[l], hpa_node_x(view, a),
	                      hpa_node_y(view, a)) !=
	               hpa_cluster_at(&view->levels[l], hpa_node_x(view, b),
	                              hpa_node_y(view, b)))
		l++;
	return l;
}

static bool
has_inter_edge(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t edge = hpa_get_u32(view->inter_first, from);
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)from + 1);

	for (; edge < end; edge++)
		if (hpa_get_u32(view->inter_target, edge) == to)
			return true;
	return false;
}

/* What is counted on the way from node to node. */
struct inter_check {
	uint32_t n_inter[HPA_MAX_LEVELS]; /* edges that cross each level */
	uint32_t n_ends; /* nodes that can still be ends of links only */
};

/* One node's inter-edges; those to higher nodes are counted. */
static hpa_status
check_node_inter(const struct hpa_view *view, uint32_t id,
                 struct inter_check *check, const char **detail)
{
	uint32_t edge = hpa_get_u32(view->inter_first, id);
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)id + 1);
	uint32_t least = 0, highest = 0;

	for (; edge < end; edge++) {
		uint32_t to = hpa_get_u32(view->inter_target, edge);
		uint32_t direction, crossed;

		if (to >= view->n_nodes)
			return refuse(detail, "an inter-edge leads nowhere");
		direction = direction_of(view, id, to);
		crossed = levels_crossed(view, id, to);
		if (direction == N_STRAIGHT || crossed == 0)
			return refuse(detail, "an inter-edge is no transition");
		if (direction < least)
			return refuse(detail, "inter-edges are out of order");
		if (!has_inter_edge(view, to, id))
			return refuse(detail, "an inter-edge has no way back");
		least = direction + 1;
		if (crossed > highest)
			highest = crossed;
		for (uint32_t l = 0; l < crossed && id < to; l++)
			check->n_inter[l]++;
	}
	if (levels_of(view, id) == highest)
		return HPA_OK;
	/* The ends of links are at all levels. Were there more of these, a
	 * small file could have clusters full of nodes. */
	if (levels_of(view, id) != view->n_levels || check->n_ends == 0)
		return refuse(detail, "a node is at the wrong levels");
	check->n_ends--;
	return HPA_OK;
}

static hpa_status
check_inter_firsts(const struct hpa_view *view, const char **detail)
{
	uint64_t n_targets = 2 * (uint64_t)view->levels[0].n_inter;
	uint64_t begin = 0;

	if (hpa_get_u32(view->inter_first, 0) != 0 ||
	    hpa_get_u32(view->inter_first, view->n_nodes) != n_targets)
		return refuse(detail, "the number of inter-edges is wrong");
	for (uint32_t id = 0; id < view->n_nodes; id++) {
		uint64_t end = hpa_get_u32(view->inter_first, (size_t)id + 1);

		/* Where it falls the difference is huge. */
		if (end - begin > N_STRAIGHT)
			return refuse(detail, "inter-edges are out of order");
		begin = end;
	}
	return HPA_OK;
}

static hpa_status
check_inter(const struct hpa_view *view, const char **detail)
{
	struct inter_check check = {.n_ends = 2 * view->n_link_edges};
	hpa_status st = check_inter_firsts(view, detail);

	for (uint32_t id = 0; id < view->n_nodes && st == HPA_OK; id++)
		st = check_node_inter(view, id, &check, detail);
	for (uint32_t l = 0; l < view->n_levels && st == HPA_OK; l++)
		if (check.n_inter[l] != view->levels[l].n_inter)
			st = refuse(detail,
			            "the number of inter-edges is wrong");
	return st;
}

static uint32_t
class_at(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << view->class_log2;
	uint32_t byte = view->cell_classes[y * view->class_stride + bit / 8];

	return byte >> bit % 8 & ((1u << (1u << view->class_log2)) - 1);
}

static uint32_t
class_factor(const struct hpa_view *view, uint32_t class)
{
	return hpa_get_le32(view->classes + (size_t) class * HPA_CLASS_SIZE +
	                    HPA_CLASS_FACTOR);
}

static hpa_status
check_classes(const struct hpa_view *view, const char **detail)
{
	char name[HPA_CLASS_NAME_SIZE + 1];

	for (uint32_t i = 0; i < view->n_classes; i++)
		if (!hpa_read_text(view->classes + (size_t)i * HPA_CLASS_SIZE +
		                           HPA_CLASS_NAME,
		                   HPA_CLASS_NAME_SIZE, name) ||
		    class_factor(view, i) > HPA_MAX_FACTOR)
			return refuse(detail, "a terrain class is wrong");
	return HPA_OK;
}

/* Free cells have a factor, and none a smaller one than the least. */
static hpa_status
check_terrain(const struct hpa_view *view, const char **detail)
{
	uint32_t least = HPA_MAX_FACTOR + 1;
	hpa_status st = check_classes(view, detail);

	for (uint32_t y = 0; y < view->height && st == HPA_OK; y++) {
		for (uint32_t x = 0; x < view->width; x++) {
			uint32_t class = class_at(view, x, y), factor;

			if (class >= view->n_classes)
				return refuse(detail, "a cell's class is "
				                      "unknown");
			factor = class_factor(view, class);
			if (!is_free(view, x, y))
				continue;
			if (factor == 0)
				return refuse(detail, "a free cell has no "
				                      "factor");
			least = factor < least ? factor : least;
		}
	}
	if (st == HPA_OK && least <= HPA_MAX_FACTOR &&
	    least != view->min_factor)
		st = refuse(detail, "the least factor is wrong");
	return st;
}

static hpa_status
check_profile(const struct hpa_view *view, const char **detail)
{
	hpa_status st = check_cells(view, detail);

	if (st == HPA_OK)
		st = check_nodes(view, detail);
	if (st == HPA_OK)
		st = check_ranks(view, detail);
	if (st == HPA_OK)
		st = check_inter(view, detail);
	if (st == HPA_OK)
		st = hpa_check_components(view, detail);
	if (st == HPA_OK && is_weighted(view))
		st = check_terrain(view, detail);
	if (st == HPA_OK && view->links)
		st = hpa_check_links(view, detail);
	return st;
}

/* What the profiles of a file have in common. */
static hpa_status
check_alike(const struct hpa_view *view, const struct hpa_view *first,
            const char **detail)
{
	if (view->width != first->width || view->height != first->height ||
	    view->moves != first->moves || view->flags != first->flags)
		return refuse(detail, "profiles do not have one level");
	return HPA_OK;
}

hpa_status
hpa_view_check(const struct hpa_view *const *views, uint32_t n_profiles,
               const char **detail)
{
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < n_profiles && st == HPA_OK; p++) {
		st = check_alike(views[p], views[0], detail);
		if (st == HPA_OK)
			st = check_profile(views[p], detail);
	}
	if (st == HPA_OK)
		st = hpa_check_tables(views, n_profiles, detail);
	for (uint32_t p = 0; p < n_profiles && st == HPA_OK; p++)
		st = hpa_check_hubs(views[p], detail);
	return st;
}
