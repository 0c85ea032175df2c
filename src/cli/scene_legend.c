/* scene_legend.c: what the signs of a picture mean.
 *
 * Entries stand one after the other, in lines as wide as the level. Only what
 * can be seen has one. They are laid out twice: to know how high the picture
 * will be, and to draw them. */
#include "src/cli/cells.h"
#include "src/cli/scene.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_ENTRIES 48u
#define LABEL_SIZE 128u

/* The sign before a label. */
enum sign {
	SIGN_BOX,
	SIGN_COMPONENTS,
	SIGN_BORDER,
	SIGN_ENTRANCE,
	SIGN_NODE,
	SIGN_EDGES,
	SIGN_LINK,
	SIGN_PATH,
	SIGN_START,
	SIGN_GOAL,
	SIGN_HEAT
};

struct entry {
	enum sign sign;
	picture_colour colour;
	char label[LABEL_SIZE];
};

struct legend {
	const struct scene *scene;
	const picture_colour *palette;
	uint32_t n;
	struct entry entries[MAX_ENTRIES];
};

static void add(struct legend *legend, enum sign sign, picture_colour colour,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void
add(struct legend *legend, enum sign sign, picture_colour colour,
    const char *format, ...)
{
	struct entry *entry = &legend->entries[legend->n];
	va_list args;

	if (legend->n == MAX_ENTRIES)
		return;
	entry->sign = sign;
	entry->colour = colour;
	va_start(args, format);
	vsnprintf(entry->label, sizeof(entry->label), format, args);
	va_end(args);
	legend->n++;
}

static bool
shows(const struct legend *legend, enum scene_layer layer)
{
	return legend->scene->layers & scene_bit(layer);
}

/* Which colours are there? */
static void
find_colours(const struct picture_cells *cells, bool used[256])
{
	size_t n = (size_t)cells->width * cells->height;

	memset(used, 0, 256);
	for (size_t i = 0; i < n; i++)
		used[cells->colours[i]] = true;
}

static void
add_classes(struct legend *legend, const bool *used)
{
	const struct hpa_view *view = legend->scene->view;

	for (uint32_t i = 0; i < view->n_classes; i++) {
		const uint8_t *class =
			view->classes + (size_t)i * HPA_CLASS_SIZE;

		if (used[SCENE_CLASS + i])
			add(legend, SIGN_BOX, legend->palette[SCENE_CLASS + i],
			    "%.*s, factor %" PRIu32, (int)HPA_CLASS_NAME_SIZE,
			    (const char *)class + HPA_CLASS_NAME,
			    cells_class_factor(view, i));
	}
}

static void
add_cells(struct legend *legend, const struct picture_cells *cells)
{
	const struct hpa_view *view = legend->scene->view;
	bool used[256];

	find_colours(cells, used);
	if (used[SCENE_WALL])
		add(legend, SIGN_BOX, legend->palette[SCENE_WALL], "wall");
	if (used[SCENE_CLOSED])
		add(legend, SIGN_BOX, legend->palette[SCENE_CLOSED],
		    "closed to %s", view->agent);
	if (used[SCENE_COMPONENT])
		add(legend, SIGN_COMPONENTS, 0,
		    "smaller components (%" PRIu32 " in all)",
		    view->n_components);
	add_classes(legend, used);
}

static void
add_graph(struct legend *legend)
{
	const struct hpa_view_level *level =
		&legend->scene->view->levels[legend->scene->level];

	if (shows(legend, SCENE_BORDERS) &&
	    level->clusters_x * level->clusters_y > 1)
		add(legend, SIGN_BORDER, SCENE_BORDER | 0xff,
		    "border of clusters");
	if (shows(legend, SCENE_ENTRANCES) && level->n_inter > 0)
		add(legend, SIGN_ENTRANCE, SCENE_ENTRANCE, "entrance");
	if (shows(legend, SCENE_NODES) && level->n_nodes > 0)
		add(legend, SIGN_NODE, SCENE_NODE, "node");
	if (shows(legend, SCENE_EDGES) && level->n_nodes > 0)
		add(legend, SIGN_EDGES, SCENE_INTRA, "edge");
	if (shows(legend, SCENE_LINKS) && legend->scene->view->n_links > 0)
		add(legend, SIGN_LINK, SCENE_LINK, "link");
}

static void
add_paths(struct legend *legend)
{
	const struct scene *scene = legend->scene;
	size_t n_found = 0;

	if (!shows(legend, SCENE_PATHS) || scene->n_paths == 0)
		return;
	for (size_t i = 0; i < scene->n_paths; i++)
		n_found += scene->paths[i].route.n > 0;
	if (scene->n_paths > SCENE_MAX_MARKED_PATHS) {
		add(legend, SIGN_PATH, SCENE_WEB | 0xff, "%zu paths", n_found);
		return;
	}
	add(legend, SIGN_START, scene_path_colour(scene, 0), "start");
	add(legend, SIGN_GOAL, scene_path_colour(scene, 0), "goal");
	for (size_t i = 0; i < scene->n_paths; i++)
		if (scene->paths[i].route.n > 0)
			add(legend, SIGN_PATH, scene_path_colour(scene, i),
			    "path of length %.1f", scene->paths[i].length);
		else
			add(legend, SIGN_PATH, scene_path_colour(scene, i),
			    "no path");
}

static void
add_heat(struct legend *legend)
{
	const struct scene *scene = legend->scene;

	if (scene->heat)
		add(legend, SIGN_HEAT, 0,
		    "%" PRIu32 " of the %zu paths of %s cross the cluster",
		    scene_max_heat(scene), scene->n_heat_paths,
		    scene->heat_from);
}

static void
fill(const struct scene *scene, const struct picture_cells *cells,
     struct legend *out)
{
	out->scene = scene;
	out->palette = cells->palette;
	out->n = 0;
	add_heat(out);
	add_paths(out);
	add_cells(out, cells);
	add_graph(out);
}

/* Boxes side by side, in whole pixels so that no seams show. */
static void
draw_boxes(struct picture *picture, const picture_colour *colours, int32_t n,
           int32_t x, int32_t y, int32_t width, int32_t height)
{
	const int32_t line = PICTURE_UNIT;
	int32_t left = x / line, right = (x + width) / line;
	int32_t top = y / line * line, bottom = (y + height) / line * line;

	picture_begin(picture, PICTURE_RECTS, SCENE_FAINT_INK, 0);
	picture_add(picture, (left - 1) * line, top - line, (right + 1) * line,
	            bottom + line);
	for (int32_t i = 0; i < n; i++) {
		picture_begin(picture, PICTURE_RECTS, colours[i], 0);
		picture_add(picture, (left + (right - left) * i / n) * line,
		            top, (left + (right - left) * (i + 1) / n) * line,
		            bottom);
	}
}

/* As many of the colours of components as there are, up to four. */
static int32_t
n_component_boxes(const struct scene *scene)
{
	return scene->view->n_components < 5
	               ? (int32_t)scene->view->n_components - 1
	               : 4;
}

static int32_t
sign_width(const struct scene *scene, enum sign sign, int32_t size)
{
	switch (sign) {
	case SIGN_NODE:
		return scene_node_width(scene);
	case SIGN_START:
	case SIGN_GOAL:
		return size;
	case SIGN_COMPONENTS:
		return size * (1 + n_component_boxes(scene));
	case SIGN_HEAT:
		return size * 14;
	default:
		return size * 2;
	}
}

/* The ramp, with a 0 at its left end; the label follows on the right. */
static void
draw_ramp(const struct legend *legend, struct picture *picture, int32_t x,
          int32_t y, int32_t size)
{
	int32_t zero =
		picture_write(picture, SCENE_INK, x, y + size, size, "0");

	draw_boxes(picture, legend->palette + SCENE_HEAT, SCENE_N_HEAT_COLOURS,
	           x + zero + size / 2, y,
	           sign_width(legend->scene, SIGN_HEAT, size) - zero - size / 2,
	           size);
}

/* A line from left to right, round ends included, in the middle of the sign. */
static void
draw_line(struct picture *picture, picture_colour colour, int32_t x, int32_t y,
          int32_t length, int32_t width)
{
	int32_t inset = length > width ? width / 2 : length / 2;

	picture_begin(picture, PICTURE_STROKES, colour, width);
	picture_add(picture, x + inset, y, x + length - inset, y);
}

static void
draw_sign(const struct legend *legend, const struct entry *entry,
          struct picture *picture, int32_t x, int32_t y, int32_t size)
{
	const struct scene *scene = legend->scene;
	int32_t width = sign_width(legend->scene, entry->sign, size);
	int32_t middle = y + size / 2;
	int32_t edge = scene_edge_width(scene);

	switch (entry->sign) {
	case SIGN_BOX:
		draw_boxes(picture, &entry->colour, 1, x, y, width, size);
		break;
	case SIGN_COMPONENTS:
		draw_boxes(picture, legend->palette + SCENE_COMPONENT,
		           n_component_boxes(scene), x, y, width, size);
		break;
	case SIGN_BORDER:
		draw_line(picture, entry->colour, x, middle, width,
		          PICTURE_UNIT);
		break;
	case SIGN_ENTRANCE:
		draw_line(picture, entry->colour, x, middle, width,
		          scene_entrance_width(scene));
		break;
	case SIGN_NODE:
		draw_line(picture, entry->colour, x, middle, width,
		          scene_node_width(scene));
		break;
	case SIGN_EDGES:
		draw_line(picture, entry->colour, x, middle, width, edge);
		break;
	case SIGN_LINK:
		picture_begin(picture, PICTURE_STROKES, entry->colour,
		              2 * edge);
		scene_dash(picture,
		           (struct picture_quad){x, middle, x + width, middle},
		           4 * edge);
		break;
	case SIGN_PATH:
		draw_line(picture, entry->colour, x, middle, width,
		          scene_path_width(scene));
		break;
	case SIGN_START:
		scene_start(picture, x + width / 2, middle, size, SCENE_INK);
		break;
	case SIGN_GOAL:
		scene_goal(picture, x + width / 2, middle, size, SCENE_INK);
		break;
	case SIGN_HEAT:
		draw_ramp(legend, picture, x, y, size);
		break;
	}
}

/* Draw the entries from y on, or only count: the height of their lines, in
 * units. */
static int32_t
lay_out(const struct legend *legend, struct picture *picture, int32_t y,
        bool draw)
{
	int32_t size = (int32_t)scene_text_size(legend->scene) * PICTURE_UNIT;
	int32_t left = 2 * size, x = left, top = y;
	int32_t right = (int32_t)picture->width * PICTURE_UNIT - left;

	for (uint32_t i = 0; i < legend->n; i++) {
		const struct entry *entry = &legend->entries[i];
		int32_t sign = sign_width(legend->scene, entry->sign, size);
		int32_t length = sign + size * 3 / 4 +
		                 picture_text_length(size, entry->label);

		if (x > left && x + length > right) {
			x = left;
			y += size * 2;
		}
		if (draw) {
			draw_sign(legend, entry, picture, x, y, size);
			picture_write(picture, SCENE_INK,
			              x + sign + size * 3 / 4, y + size, size,
			              entry->label);
		}
		x += length + size * 5 / 2;
	}
	return y + size - top;
}

uint32_t
scene_legend_height(const struct scene *scene, struct picture *picture)
{
	struct legend legend;

	fill(scene, &picture->cells, &legend);
	return (uint32_t)(lay_out(&legend, picture, 0, false) / PICTURE_UNIT);
}

static void
add_title(const struct scene *scene, struct picture *picture)
{
	const struct hpa_view *view = scene->view;
	uint32_t cluster = view->levels[scene->level].cluster_size;
	int32_t size = (int32_t)scene_text_size(scene) * PICTURE_UNIT;
	char facts[256];

	picture_write(picture, SCENE_INK, 2 * size, 16 * size / 5, size * 6 / 5,
	              scene->title);
	snprintf(facts, sizeof(facts),
	         "%" PRIu32 " x %" PRIu32 " cells, clusters of %" PRIu32
	         " x %" PRIu32 " (level %" PRIu32 " of %" PRIu32 ")%s%s",
	         view->width, view->height, cluster, cluster, scene->level + 1,
	         view->n_levels, view->agent[0] ? ", agent " : "", view->agent);
	picture_write(picture, SCENE_FAINT_INK, 2 * size, 26 * size / 5, size,
	              facts);
}

void
scene_add_legend(const struct scene *scene, struct picture *picture, uint32_t y)
{
	struct legend legend;

	add_title(scene, picture);
	fill(scene, &picture->cells, &legend);
	lay_out(&legend, picture, (int32_t)y * PICTURE_UNIT, true);
}
