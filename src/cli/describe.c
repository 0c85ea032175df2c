/* describe.c: facts of baked files, worded once for all verbs. */
#include "src/cli/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"

#define HASH_SIZE 17 /* 16 digits and a 0 */

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

json_t *
describe_json_hash(uint64_t hash)
{
	char text[HASH_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	return json_string(text);
}

void
describe_json_add(json_t **array, json_t *item)
{
	if (json_array_append_new(*array, item) != 0) {
		json_decref(*array);
		*array = NULL;
	}
}

enum diag_status
describe_print_json(const json_t *json, struct diag *diag)
{
	if (!json)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	errno = 0;
	if (json_dumpf(json, stdout, JSON_INDENT(2)) != 0)
		return cli_write_failed(diag);
	printf("\n");
	return DIAG_OK;
}
