/* chart.c: line charts as SVG.
 *
 * A chart is text on a white sheet: the title and what it is about, a legend,
 * what goes up, the lines over a light grid, what goes right. Every line also
 * has its name where it ends, in its colour, pushed up or down where names would
 * touch. Series differ in colour and in the shape of their points, so that they
 * can be told apart without colours too.
 *
 * Ticks are at 1, 2 or 5 times a power of ten. An axis that is not logarithmic
 * begins at 0. */
#include "src/cli/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/file.h"

#define WIDTH 860.0
#define LEFT 72.0
#define RIGHT 690.0 /* of the plot; names of lines stand behind it */
#define LEGEND_TOP 92.0
#define LEGEND_ROW 22.0
#define PLOT_HEIGHT 320.0
#define N_TICKS 6.0
#define MAX_TICKS 40u
#define LABEL_GAP 16.0
#define CHAR_WIDTH 6.9 /* of the legend's letters, about */

#define INK "#222222"
#define FAINT_INK "#666666"
#define GRID "#e6e6e6"
#define FONT                                                                   \
	"system-ui, 'Segoe UI', 'Helvetica Neue', 'Liberation Sans', Arial, "  \
	"sans-serif"

/* Colours that those who see fewer colours can tell apart (Okabe and Ito). */
static const char *const colours[CHART_MAX_SERIES] = {
	"#4d4d4d", "#0072b2", "#d55e00", "#009e73",
	"#b8568f", "#c98500", "#3a9bd9", "#7a5195"};

struct axis {
	double least, most;
	double from, to; /* on the sheet */
	bool is_log;
	size_t n_ticks;
	double ticks[MAX_TICKS];
};

struct sheet {
	FILE *out;
	const struct chart *chart;
	double top, bottom, height;
	struct axis x, y;
};

static void
put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
		}
}

/* A text with the attributes that the format makes. */
#define PUT_TEXT(out, text, ...)                                               \
	do {                                                                   \
		fputs("<text ", out);                                          \
		fprintf(out, __VA_ARGS__);                                     \
		fputc('>', out);                                               \
		put_text(out, text);                                           \
		fputs("</text>\n", out);                                       \
	} while (0)

/* Axes */

/* 1, 2 or 5 times a power of ten, not below a positive number. */
static double
nice_above(double number)
{
	double power = pow(10, floor(log10(number) + 1e-9));

	for (int i = 0; i < 3; i++) {
		static const double factors[] = {1, 2, 5};

		if (number <= power * factors[i] * (1 + 1e-9))
			return power * factors[i];
	}
	return 10 * power;
}

/* The one before, among 1, 2 and 5 times powers of ten. */
static double
nice_before(double nice)
{
	double power = pow(10, floor(log10(nice) + 1e-9));
	double factor = nice / power;

	return factor < 1.5 ? power / 2 : factor < 3 ? power : 2 * power;
}

/* From 0 to the tick above the most, or to the most itself. */
static void
set_linear(struct axis *axis, double most, bool is_rounded)
{
	double step = nice_above(most > 0 ? most / N_TICKS : 1);

	axis->least = 0;
	axis->most = is_rounded ? step * ceil(most / step - 1e-9) : most;
	if (axis->most <= 0)
		axis->most = step;
	while (axis->n_ticks < MAX_TICKS &&
	       (double)axis->n_ticks * step <= axis->most * (1 + 1e-9)) {
		axis->ticks[axis->n_ticks] = (double)axis->n_ticks * step;
		axis->n_ticks++;
	}
}

/* Ticks at powers of ten, and between them where there are few. */
static void
set_log(struct axis *axis, double least, double most)
{
	bool is_long;

	axis->is_log = true;
	axis->most = nice_above(most);
	axis->least = nice_above(least);
	if (axis->least > least * (1 + 1e-9))
		axis->least = nice_before(axis->least);
	if (axis->least >= axis->most)
		axis->least = axis->most / 10;
	is_long = axis->most / axis->least > 300;
	for (double tick = axis->least;
	     tick <= axis->most * (1 + 1e-9) && axis->n_ticks < MAX_TICKS;
	     tick = nice_above(tick * 1.5)) {
		double power = log10(tick);

		if (!is_long || fabs(power - round(power)) < 1e-6)
			axis->ticks[axis->n_ticks++] = tick;
	}
}

static double
place(const struct axis *axis, double value)
{
	double part = axis->is_log ? log(value / axis->least) /
	                                     log(axis->most / axis->least)
	                           : (value - axis->least) /
	                                     (axis->most - axis->least);

	return axis->from + part * (axis->to - axis->from);
}

static bool
is_shown(const struct chart *chart, const struct chart_point *point)
{
	return !chart->log_y || point->y > 0;
}

static void
set_axes(struct sheet *sheet)
{
	const struct chart *chart = sheet->chart;
	double most_x = 0, most_y = 0, least_y = HUGE_VAL;

	for (size_t s = 0; s < chart->n_series; s++)
		for (size_t i = 0; i < chart->series[s].n; i++) {
			const struct chart_point *point =
				&chart->series[s].points[i];

			if (!is_shown(chart, point))
				continue;
			most_x = fmax(most_x, point->x);
			most_y = fmax(most_y, point->y);
			least_y = fmin(least_y, point->y);
		}
	sheet->x = (struct axis){.from = LEFT, .to = RIGHT};
	sheet->y = (struct axis){.from = sheet->bottom, .to = sheet->top};
	set_linear(&sheet->x, most_x, false);
	if (chart->log_y && most_y > 0)
		set_log(&sheet->y, least_y, most_y);
	else
		set_linear(&sheet->y, most_y, true);
}

void
chart_format(double value, char *text, size_t size)
{
	long whole = lround(value);

	if (fabs(value - (double)whole) > 1e-9 || whole < 1000)
		snprintf(text, size, "%.6g", value);
	else if (whole < 1000000)
		snprintf(text, size, "%ld,%03ld", whole / 1000, whole % 1000);
	else
		snprintf(text, size, "%ld,%03ld,%03ld", whole / 1000000,
		         whole / 1000 % 1000, whole % 1000);
}

static void
draw_axes(const struct sheet *sheet)
{
	char text[40];

	for (size_t i = 0; i < sheet->y.n_ticks; i++) {
		double y = place(&sheet->y, sheet->y.ticks[i]);

		fprintf(sheet->out,
		        "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT,
		        y, RIGHT);
		chart_format(sheet->y.ticks[i], text, sizeof(text));
		PUT_TEXT(sheet->out, text,
		         "class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
		         "text-anchor=\"end\"",
		         LEFT - 10, y + 4);
	}
	for (size_t i = 0; i < sheet->x.n_ticks; i++) {
		double x = place(&sheet->x, sheet->x.ticks[i]);

		fprintf(sheet->out,
		        "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x,
		        sheet->top, sheet->bottom);
		chart_format(sheet->x.ticks[i], text, sizeof(text));
		PUT_TEXT(sheet->out, text,
		         "class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
		         "text-anchor=\"middle\"",
		         x, sheet->bottom + 20);
	}
	fprintf(sheet->out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n",
	        LEFT, sheet->bottom, RIGHT);
	PUT_TEXT(sheet->out, sheet->chart->x_label,
	         "class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"",
	         (LEFT + RIGHT) / 2, sheet->bottom + 46);
	PUT_TEXT(sheet->out, sheet->chart->y_label,
	         "class=\"label\" x=\"%.1f\" y=\"%.1f\"", 20.0,
	         sheet->top - 14);
}

/* Lines */

static void
draw_marker(FILE *out, size_t series, double x, double y)
{
	static const char *const shapes[] = {
		"m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
		"m-3.2 -3.2h6.4v6.4h-6.4z",
		"m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
		"m0 -4.2l4.2 7h-8.4z",
	};

	fprintf(out, "<path class=\"s%zu dot\" d=\"M%.1f %.1f%s\"/>\n", series,
	        x, y, shapes[series % 4]);
}

static void
draw_line(const struct sheet *sheet, size_t index)
{
	const struct chart_series *series = &sheet->chart->series[index];
	char pen = 'M';

	fprintf(sheet->out, "<path class=\"s%zu line\" d=\"", index);
	for (size_t i = 0; i < series->n; i++) {
		if (!is_shown(sheet->chart, &series->points[i]))
			continue;
		fprintf(sheet->out, "%c%.1f %.1f", pen,
		        place(&sheet->x, series->points[i].x),
		        place(&sheet->y, series->points[i].y));
		pen = 'L';
	}
	fprintf(sheet->out, "\"/>\n");
	for (size_t i = 0; i < series->n; i++)
		if (is_shown(sheet->chart, &series->points[i]))
			draw_marker(sheet->out, index,
			            place(&sheet->x, series->points[i].x),
			            place(&sheet->y, series->points[i].y));
}

/* The name of a line where it ends. */
struct label {
	size_t series;
	double x, y; /* the end */
	double at;   /* where the name is put */
};

static int
compare_labels(const void *a, const void *b)
{
	const struct label *p = a, *q = b;

	return (p->y > q->y) - (p->y < q->y);
}

static size_t
find_labels(const struct sheet *sheet, struct label *labels)
{
	size_t n = 0;

	for (size_t s = 0; s < sheet->chart->n_series; s++) {
		const struct chart_series *series = &sheet->chart->series[s];
		size_t last = series->n;

		while (last > 0 &&
		       !is_shown(sheet->chart, &series->points[last - 1]))
			last--;
		if (last == 0)
			continue;
		labels[n] = (struct label){
			s, place(&sheet->x, series->points[last - 1].x),
			place(&sheet->y, series->points[last - 1].y), 0};
		labels[n].at = labels[n].y;
		n++;
	}
	return n;
}

/* Push names apart: down from the top, then up from the bottom. */
static void
spread_labels(const struct sheet *sheet, struct label *labels, size_t n)
{
	double most = sheet->bottom;

	qsort(labels, n, sizeof(*labels), compare_labels);
	for (size_t i = 1; i < n; i++)
		labels[i].at = fmax(labels[i].at, labels[i - 1].at + LABEL_GAP);
	for (size_t i = n; i-- > 0; most -= LABEL_GAP)
		labels[i].at = most = fmin(labels[i].at, most);
}

static void
draw_labels(const struct sheet *sheet)
{
	struct label labels[CHART_MAX_SERIES];
	size_t n = find_labels(sheet, labels);

	spread_labels(sheet, labels, n);
	for (size_t i = 0; i < n; i++) {
		const struct label *label = &labels[i];

		fprintf(sheet->out,
		        "<path class=\"s%zu lead\" d=\"M%.1f %.1fL%.1f %.1f"
		        "\"/>\n",
		        label->series, label->x + 6, label->y, RIGHT + 14,
		        label->at);
		PUT_TEXT(sheet->out, sheet->chart->series[label->series].label,
		         "class=\"t%zu name\" x=\"%.1f\" y=\"%.1f\"",
		         label->series, RIGHT + 18, label->at + 4);
	}
}

/* Letters of a text, not bytes. */
static size_t
n_letters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Draw the legend, or only find out where it ends. */
static double
draw_legend(const struct sheet *sheet, bool is_drawn)
{
	double x = 20, y = LEGEND_TOP;

	for (size_t s = 0; s < sheet->chart->n_series; s++) {
		const char *name = sheet->chart->series[s].name;
		double width = 34 + CHAR_WIDTH * (double)n_letters(name) + 20;

		if (x + width > WIDTH && x > 20) {
			x = 20;
			y += LEGEND_ROW;
		}
		if (is_drawn) {
			fprintf(sheet->out,
			        "<path class=\"s%zu line\" "
			        "d=\"M%.1f %.1fh24\"/>\n",
			        s, x, y - 4);
			draw_marker(sheet->out, s, x + 12, y - 4);
			PUT_TEXT(sheet->out, name,
			         "class=\"legend\" x=\"%.1f\" y=\"%.1f\"",
			         x + 32, y);
		}
		x += width;
	}
	return y;
}

static void
draw_head(const struct sheet *sheet)
{
	FILE *out = sheet->out;

	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
	        "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	        "font-family=\"" FONT "\" fill=\"" INK "\">\n<title>",
	        WIDTH, sheet->height, WIDTH, sheet->height);
	put_text(out, sheet->chart->title);
	fprintf(out, "</title>\n<style>\n"
	             ".title { font-size: 20px; font-weight: 600 }\n"
	             ".about, .tick { font-size: 13px; fill: " FAINT_INK " }\n"
	             ".label, .legend { font-size: 13px }\n"
	             ".name { font-size: 13px; font-weight: 600 }\n"
	             ".grid { stroke: " GRID " }\n"
	             ".axis { stroke: " FAINT_INK " }\n"
	             ".line { stroke-width: 2; stroke-linejoin: round; fill: "
	             "none }\n"
	             ".lead { stroke-width: 1; opacity: 0.5; fill: none }\n"
	             ".dot { stroke: #ffffff; stroke-width: 1 }\n");
	for (size_t s = 0; s < sheet->chart->n_series; s++)
		fprintf(out,
		        ".s%zu.line, .s%zu.lead { stroke: %s }\n"
		        ".s%zu.dot, .t%zu { fill: %s }\n",
		        s, s, colours[s], s, s, colours[s]);
	fprintf(out, "</style>\n<rect width=\"100%%\" height=\"100%%\" "
	             "fill=\"#ffffff\"/>\n");
	PUT_TEXT(out, sheet->chart->title, "class=\"title\" x=\"20\" y=\"36\"");
	PUT_TEXT(out, sheet->chart->subtitle,
	         "class=\"about\" x=\"20\" y=\"60\"");
}

static void
draw_chart(FILE *out, const struct chart *chart)
{
	struct sheet sheet = {.out = out, .chart = chart};

	sheet.top = draw_legend(&sheet, false) + 52;
	sheet.bottom = sheet.top + PLOT_HEIGHT;
	sheet.height = sheet.bottom + 66;
	set_axes(&sheet);
	draw_head(&sheet);
	draw_legend(&sheet, true);
	draw_axes(&sheet);
	for (size_t s = chart->n_series; s-- > 0;)
		draw_line(&sheet, s);
	draw_labels(&sheet);
	fprintf(out, "</svg>\n");
}

enum diag_status
chart_write(const char *file, const struct chart *chart, struct diag *diag)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	enum diag_status status;

	if (out)
		draw_chart(out, chart);
	if (!out || fclose(out) != 0)
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	else
		status = file_replace(file, (const uint8_t *)text, size, NULL,
		                      diag);
	free(text);
	return status;
}
