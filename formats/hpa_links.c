/* hpa_links.c: links, the edges that they are, and what they connect.
 *
 * REAC has a row of bits for each component that a link touches: those that can
 * be reached from it. It must be closed: who reaches another reaches all that
 * this one does. */
#include "formats/hpa_check.h"

static bool
is_inside(const struct hpa_view *view, const uint8_t *cell)
{
	return hpa_get_le16(cell) < view->width &&
	       hpa_get_le16(cell + 2) < view->height;
}

/* The edges that a link is in this profile: none if an end is blocked. */
static uint32_t
count_link_edges(const struct hpa_view *view, const uint8_t *link)
{
	if (!is_free(view, hpa_get_le16(link + HPA_LINK_FROM_X),
	             hpa_get_le16(link + HPA_LINK_FROM_Y)) ||
	    !is_free(view, hpa_get_le16(link + HPA_LINK_TO_X),
	             hpa_get_le16(link + HPA_LINK_TO_Y)))
		return 0;
	return hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY ? 1 : 2;
}

static bool
node_is_at(const struct hpa_view *view, uint32_t node, const uint8_t *cell)
{
	return hpa_node_x(view, node) == hpa_get_le16(cell) &&
	       hpa_node_y(view, node) == hpa_get_le16(cell + 2);
}

/* Does the edge go from one end of its link to the other, in a direction that
 * it has? */
static bool
follows_link(const struct hpa_view *view, uint32_t from, uint32_t to,
             const uint8_t *link)
{
	const uint8_t *begin = link + HPA_LINK_FROM_X;
	const uint8_t *end = link + HPA_LINK_TO_X;

	if (node_is_at(view, from, begin) && node_is_at(view, to, end))
		return true;
	return !(hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY) &&
	       node_is_at(view, from, end) && node_is_at(view, to, begin);
}

static hpa_status
check_link_edge(const struct hpa_view *view, uint32_t index,
                const char **detail)
{
	const uint8_t *edge = hpa_view_link_edge(view, index);
	uint32_t from = hpa_get_le32(edge + HPA_LEDGE_FROM);
	uint32_t to = hpa_get_le32(edge + HPA_LEDGE_TO);
	uint32_t link = hpa_get_le32(edge + HPA_LEDGE_LINK);

	if (from >= view->n_nodes || to >= view->n_nodes ||
	    link >= view->n_links)
		return refuse(detail, "a link leads nowhere");
	if (index > 0) {
		const uint8_t *before = edge - HPA_LEDGE_SIZE;
		uint32_t last = hpa_get_le32(before + HPA_LEDGE_FROM);

		if (last > from ||
		    (last == from &&
		     hpa_get_le32(before + HPA_LEDGE_LINK) >= link))
			return refuse(detail, "links are out of order");
	}
	if (!follows_link(view, from, to, hpa_view_link(view, link)))
		return refuse(detail, "a link is not where it should be");
	if (levels_of(view, from) != view->n_levels ||
	    levels_of(view, to) != view->n_levels)
		return refuse(detail, "a link is not at every level");
	if (!hpa_view_reaches(view,
	                      hpa_view_component(view, hpa_node_x(view, from),
	                                         hpa_node_y(view, from)),
	                      hpa_view_component(view, hpa_node_x(view, to),
	                                         hpa_node_y(view, to))))
		return refuse(detail, "a link is not in the components");
	return HPA_OK;
}

static bool
reach_bit(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	const uint8_t *row =
		view->reach_rows + from * reach_stride(view->n_reach);

	return row[to / 8] >> to % 8 & 1;
}

/* Has one row all bits of another? There may be a million pairs of them. */
static bool
has_bits_of(const uint8_t *row, const uint8_t *other, size_t size)
{
	uint64_t missing = 0;
	size_t i;

	for (i = 0; size - i >= 8; i += 8)
		missing |= hpa_get_le64(other + i) & ~hpa_get_le64(row + i);
	for (; i < size; i++)
		missing |= other[i] & ~(uint64_t)row[i];
	return missing == 0;
}

/* Components rise; each reaches itself and all that those it reaches reach. */
static hpa_status
check_reach(const struct hpa_view *view, const char **detail)
{
	uint32_t n = view->n_reach;
	size_t stride = reach_stride(n);
	const uint8_t *rows = view->reach_rows;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t component = hpa_get_u32(view->reach_components, i);

		if (component >= view->n_components ||
		    (i > 0 &&
		     component <= hpa_get_u32(view->reach_components, i - 1)) ||
		    !reach_bit(view, i, i) ||
		    (n % 8 != 0 && rows[i * stride + stride - 1] >> n % 8 != 0))
			return refuse(detail, "reachable components are wrong");
		for (uint32_t k = 0; k < n; k++)
			if (reach_bit(view, i, k) &&
			    !has_bits_of(rows + i * stride, rows + k * stride,
			                 stride))
				return refuse(detail, "reachable components "
				                      "are wrong");
	}
	return HPA_OK;
}

hpa_status
hpa_check_links(const struct hpa_view *view, const char **detail)
{
	char name[HPA_LINK_NAME_SIZE + 1];
	hpa_status st = check_reach(view, detail);
	uint32_t n_edges = 0;

	for (uint32_t i = 0; i < view->n_links && st == HPA_OK; i++) {
		const uint8_t *link = hpa_view_link(view, i);

		if ((hpa_get_le32(link + HPA_LINK_FLAGS) & ~HPA_LINK_ONE_WAY) ||
		    hpa_get_le32(link + HPA_LINK_COST) > HPA_MAX_LINK_COST ||
		    !hpa_read_text(link + HPA_LINK_NAME, HPA_LINK_NAME_SIZE,
		                   name))
			return refuse(detail, "a link is wrong");
		if (!is_inside(view, link + HPA_LINK_FROM_X) ||
		    !is_inside(view, link + HPA_LINK_TO_X))
			return refuse(detail, "a link leads out of the level");
		n_edges += count_link_edges(view, link);
	}
	if (st == HPA_OK && n_edges != view->n_link_edges)
		st = refuse(detail, "the number of links is wrong");
	for (uint32_t i = 0; i < n_edges && st == HPA_OK; i++)
		st = check_link_edge(view, i, detail);
	return st;
}

uint32_t
hpa_view_first_link_edge(const struct hpa_view *view, uint32_t node)
{
	uint32_t low = 0, high = view->n_link_edges;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const uint8_t *edge = hpa_view_link_edge(view, middle);

		if (hpa_get_le32(edge + HPA_LEDGE_FROM) < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The place of a component in REAC, or n_reach. */
static uint32_t
find_reach_row(const struct hpa_view *view, uint32_t component)
{
	uint32_t low = 0, high = view->n_reach;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t found = hpa_get_u32(view->reach_components, middle);

		if (found == component)
			return middle;
		if (found < component)
			low = middle + 1;
		else
			high = middle;
	}
	return view->n_reach;
}

bool
hpa_view_reaches(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t row, column;

	if (from == to)
		return true;
	row = find_reach_row(view, from);
	column = find_reach_row(view, to);
	return row < view->n_reach && column < view->n_reach &&
	       reach_bit(view, row, column);
}
