/* describe.h: what is in a baked file, worded once for all verbs. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <stdint.h>

#include "formats/hpa_view.h"
#include "src/cli/input.h"

/* What a file amounts to, all its profiles together. */
struct describe_sums {
	uint64_t bytes, nodes;
	uint64_t edges; /* inter-edges, and intra-edges as they are stored */
	uint64_t free_cells;
};

struct describe_sums describe_sum(const struct baked *baked);

const char *describe_codec(const struct hpa_section *section);

/* What the policy's parameter is called, or NULL if it has none. */
const char *describe_parameter(enum hpa_policy policy);

#endif
