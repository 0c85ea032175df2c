/* hpa_hubs.c: are the hub labels in order?
 *
 * That their distances are right is not checked, as that would take a search for
 * each node: a query that follows them looks at every step. */
#include "formats/hpa_check.h"

/* The edges of a node at level 1: those out of its cluster and its row. */
static uint32_t
count_edges(const struct hpa_view *view, uint32_t node)
{
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t cluster = hpa_cluster_at(level, hpa_node_x(view, node),
	                                  hpa_node_y(view, node));
	uint32_t local = node - hpa_get_u32(level->first, cluster);
	struct hpa_table table;

	hpa_view_table(view, level, cluster, &table);
	return hpa_get_u32(view->inter_first, (size_t)node + 1) -
	       hpa_get_u32(view->inter_first, node) +
	       hpa_table_end(&table, local) - hpa_table_begin(&table, local);
}

static hpa_status
check_label_of(const struct hpa_view *view, uint32_t node, uint32_t begin,
               uint32_t end, const char **detail)
{
	const struct hpa_hubs *hubs = &view->hubs;
	uint32_t n_edges = count_edges(view, node);

	for (uint32_t e = begin; e < end; e++) {
		uint32_t rank = hpa_hub_rank(hubs, hubs->is_wide, e);

		if (rank >= view->n_nodes ||
		    (e > begin &&
		     rank <= hpa_hub_rank(hubs, hubs->is_wide, e - 1)))
			return refuse(detail,
			              "a label's hubs are out of order");
		if (hpa_hub_distance(hubs, hubs->is_wide, e) > HPA_MAX_DISTANCE)
			return refuse(detail, "a hub is too far away");
		if (hubs->edges[e] >= n_edges)
			return refuse(detail, "a label names no edge");
	}
	return HPA_OK;
}

hpa_status
hpa_check_hubs(const struct hpa_view *view, const char **detail)
{
	hpa_status st = HPA_OK;
	uint32_t begin = 0;

	if (!view->hubs.first)
		return HPA_OK;
	if (hpa_hubs_first(&view->hubs, 0) != 0)
		return refuse(detail, "labels are out of order");
	/* What they end with is known to be inside. */
	for (uint32_t id = 0; id < view->n_nodes; id++)
		if (hpa_hubs_first(&view->hubs, id + 1) <
		    hpa_hubs_first(&view->hubs, id))
			return refuse(detail, "labels are out of order");
	for (uint32_t id = 0; id < view->n_nodes && st == HPA_OK; id++) {
		uint32_t end = hpa_hubs_first(&view->hubs, id + 1);

		st = check_label_of(view, id, begin, end, detail);
		begin = end;
	}
	return st;
}
