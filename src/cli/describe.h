/* describe.h: what is in a baked file, in words and as JSON, for the verbs that
 * tell of it. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <jansson.h>
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

/* The functions below return NULL where there is no memory. */

json_t *describe_json_hash(uint64_t hash);

/* Append, or make the array NULL. */
void describe_json_add(json_t **array, json_t *item);

/* Print to stdout. json is borrowed; NULL says that there was no memory. */
enum diag_status describe_print_json(const json_t *json, struct diag *diag);

#endif
