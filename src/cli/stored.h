/* stored.h: the options that a baked file was baked with. */
#ifndef CLI_STORED_H
#define CLI_STORED_H

#include "src/bake/bake.h"
#include "src/cli/input.h"

/* The agents and links of a file, as the baker takes them. */
struct stored_extras {
	struct bake_agent agents[HPA_MAX_PROFILES];
	struct bake_link *links;
};

/* Copy them; free out->links with free(). false without memory. */
bool stored_extras(const struct baked *baked, struct stored_extras *out);

/* All options that the file tells, with these agents and links. */
struct bake_options stored_options(const struct baked *baked,
                                   const struct stored_extras *extras);

/* What the bake of the file has reported, but for the times. */
void stored_report(const struct baked *baked, struct bake_report *out);

#endif
