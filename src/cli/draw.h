/* draw.h: a level and a path, drawn with characters. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "formats/diag.h"
#include "hpa.h"

/* What the output can show. */
struct draw_style {
	bool utf8;
	bool colour;
	unsigned columns;
};

/* Start and goal may lie outside and are left out then; n_cells may be 0. */
struct draw_scene {
	const hpa_map *map;
	hpa_cell from, to;
	const hpa_cell *cells;
	size_t n_cells;
};

/* What this output can show: UTF-8 if the locale's name says so, colours on a
 * terminal unless NO_COLOR is set, 100 columns or what the terminal has. */
struct draw_style draw_style_of(FILE *out);

/* Draw it, scaled down until it fits, with a legend. DIAG_FAILED where there is
 * no memory. */
enum diag_status draw_scene(FILE *out, const struct draw_scene *scene,
                            const struct draw_style *style, struct diag *diag);

#endif
