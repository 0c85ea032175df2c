/* describe.c: facts of baked files, worded once for all verbs. */
#include "src/cli/describe.h"

struct describe_sums
describe_sum(const struct baked *baked)
{
	struct describe_sums sums = {
		.bytes = baked->file.size,
		.free_cells = baked->views[0].n_free_cells,
	};

	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		const struct hpa_view *view = &baked->views[p];

		sums.nodes += view->n_nodes;
		sums.edges += view->levels[0].n_inter;
		for (uint32_t l = 0; l < view->n_levels; l++)
			sums.edges += view->levels[l].n_stored;
	}
	return sums;
}

const char *
describe_codec(const struct hpa_section *section)
{
	static const char *const names[] = {"stored", "zlib", "packed"};

	return names[section->codec];
}

const char *
describe_parameter(enum hpa_policy policy)
{
	switch (policy) {
	case HPA_POLICY_ENDS:
		return "threshold";
	case HPA_POLICY_EVERY:
		return "every";
	case HPA_POLICY_SPREAD:
		break;
	}
	return NULL;
}
