/* chart.h: line charts as SVG. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/diag.h"

#define CHART_MAX_SERIES 8u

struct chart_point {
	double x, y;
};

struct chart_series {
	const char *name;                 /* in the legend */
	const char *label;                /* at the end of the line; short */
	const struct chart_point *points; /* from left to right */
	size_t n;
};

struct chart {
	const char *title, *subtitle;
	const char *x_label, *y_label; /* with their units */
	bool log_y; /* powers of ten; points at 0 are left out */
	size_t n_series;
	struct chart_series series[CHART_MAX_SERIES];
};

/* A number as people write it: 0.05, 20, 1,000. */
void chart_format(double value, char *text, size_t size);

/* Write a chart to a file. DIAG_FAILED fills in diag. */
enum diag_status chart_write(const char *file, const struct chart *chart,
                             struct diag *diag);

#endif
