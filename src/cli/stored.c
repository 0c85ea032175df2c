/* stored.c: from a baked file back to the options it was baked with.
 *
 * All that the content depends on is in the file, but for the level. How the
 * level was read is not: nor are the options of the machine, such as threads. */
#include "src/cli/stored.h"

#include <stdlib.h>
#include <string.h>

static void
copy_link(const struct hpa_view *view, uint32_t i, struct bake_link *link)
{
	const uint8_t *record = hpa_view_link(view, i);
	uint64_t cost = hpa_get_le32(record + HPA_LINK_COST);

	link->from_x = hpa_get_le16(record + HPA_LINK_FROM_X);
	link->from_y = hpa_get_le16(record + HPA_LINK_FROM_Y);
	link->to_x = hpa_get_le16(record + HPA_LINK_TO_X);
	link->to_y = hpa_get_le16(record + HPA_LINK_TO_Y);
	/* In thousandths; back to the same whole cost. */
	link->cost = (uint32_t)(1000 * cost / view->cost_straight);
	link->is_one_way =
		hpa_get_le32(record + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY;
	memcpy(link->name, record + HPA_LINK_NAME, HPA_LINK_NAME_SIZE);
}

bool
stored_extras(const struct baked *baked, struct stored_extras *out)
{
	const struct hpa_view *first = &baked->views[0];

	out->links = calloc((size_t)first->n_links + 1, sizeof(*out->links));
	for (uint32_t i = 0; out->links && i < first->n_links; i++)
		copy_link(first, i, &out->links[i]);
	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		const struct hpa_view *view = &baked->views[p];
		struct bake_agent *agent = &out->agents[p];

		memcpy(agent->name, view->agent, sizeof(agent->name));
		memcpy(agent->terrain, view->agent_terrain,
		       sizeof(agent->terrain));
		agent->size = view->agent_size;
	}
	return out->links != NULL;
}

struct bake_options
stored_options(const struct baked *baked, const struct stored_extras *extras)
{
	const struct hpa_view *view = &baked->views[0];

	return (struct bake_options){
		.agents = extras->agents,
		.n_agents = baked->n_profiles,
		.links = extras->links,
		.n_links = view->n_links,
		.cluster_size = view->cluster_size,
		.n_levels = view->n_levels,
		.moves = view->moves,
		.policy = view->policy,
		.policy_parameter = view->policy_parameter,
		.prune = (view->flags & HPA_FACT_FLAG_PRUNED) != 0,
		.cache_paths = (view->flags & HPA_FACT_FLAG_PATHS) != 0,
		.compress = bake_compress_of(&baked->file),
	};
}

void
stored_report(const struct baked *baked, struct bake_report *out)
{
	const struct hpa_view *first = &baked->views[0];

	*out = (struct bake_report){
		.width = first->width,
		.height = first->height,
		.n_levels = first->n_levels,
		.n_profiles = baked->n_profiles,
		.n_free_cells = first->n_free_cells,
		.n_components = first->n_components,
	};
	for (uint32_t p = 0; p < baked->n_profiles; p++)
		for (uint32_t l = 0; l < first->n_levels; l++) {
			const struct hpa_view_level *level =
				&baked->views[p].levels[l];
			struct bake_level_report *sum = &out->levels[l];

			sum->cluster_size = level->cluster_size;
			sum->clusters = level->clusters_x * level->clusters_y;
			sum->nodes += level->n_nodes;
			sum->inter_edges += level->n_inter;
			sum->intra_edges += level->n_intra;
			sum->stored_edges += level->n_stored;
		}
}
