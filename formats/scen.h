/* scen.h: MovingAI problem files (.scen), version 1. */
#ifndef FORMATS_SCEN_H
#define FORMATS_SCEN_H

#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"

/* One problem. Coordinates as written: they may lie outside any level. */
struct scen_problem {
	long width, height; /* of the level, as the file says */
	long from_x, from_y, to_x, to_y;
	double optimum; /* stated length; 0 with from != to: no path */
};

struct scen {
	size_t n_problems;
	struct scen_problem *problems;
};

/* Fill *out, to be freed with scen_free(), or fill in diag (without its file)
 * and leave *out empty. */
enum diag_status scen_read(const uint8_t *data, size_t size, struct scen *out,
                           struct diag *diag);
void scen_free(struct scen *scen);

#endif
