/* scene_cells.c: the colour of each cell of a level.
 *
 * A cell is floor if the agent may stand on it or, where the agent is larger
 * than a cell, if it is under one that stands beside it; closed if that holds
 * for another agent of the file only; else a wall. Floor has the colour of the
 * first of these that has something to say: heat, component, terrain. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/cells.h"
#include "src/cli/scene.h"

/* Ramps and hues are for light ground: the floor, and paths over it, must stay
 * readable. */
static const picture_colour component_colours[SCENE_N_COMPONENT_COLOURS] = {
	0xa8d5baff, 0xf4c095ff, 0xb8c0ffff, 0xf7b2c4ff,
	0xd4e09bff, 0xa9def9ff, 0xe0bbe4ff, 0xffe08aff,
};

static const picture_colour class_colours[] = {
	0xcfe3f1ff, 0xdfe5c0ff, 0xead7bbff, 0xd9cfe6ff,
	0xbfdcd4ff, 0xf0cfc4ff, 0xd8d4c4ff, 0xc4cfe0ff,
};
#define N_CLASS_COLOURS (sizeof(class_colours) / sizeof(class_colours[0]))

static const picture_colour heat_ramp[] = {
	0xffeeb0ff, 0xfecf66ff, 0xfd9a43ff, 0xe8472bff, 0x9e0b2aff,
};
#define N_RAMP (sizeof(heat_ramp) / sizeof(heat_ramp[0]))

static picture_colour
mix(picture_colour a, picture_colour b, uint32_t part, uint32_t whole)
{
	picture_colour mixed = 0;

	for (unsigned shift = 0; shift < 32; shift += 8)
		mixed |= ((a >> shift & 0xff) * (whole - part) +
		          (b >> shift & 0xff) * part) /
		                 whole
		         << shift;
	return mixed;
}

static void
set_palette(const struct hpa_view *view, picture_colour *palette)
{
	const uint32_t last = SCENE_N_HEAT_COLOURS - 1;
	uint32_t n_shown = 0;

	palette[SCENE_FLOOR] = 0xf7f4edff;
	palette[SCENE_WALL] = 0x3b4252ff;
	palette[SCENE_CLOSED] = 0xb4b9c4ff;
	memcpy(palette + SCENE_COMPONENT, component_colours,
	       sizeof(component_colours));
	for (uint32_t i = 0; i < view->n_classes; i++)
		if (cells_class_factor(view, i) > 1)
			palette[SCENE_CLASS + i] =
				class_colours[n_shown++ % N_CLASS_COLOURS];
	for (uint32_t i = 0; i <= last; i++) {
		uint32_t at = i * (uint32_t)(N_RAMP - 1);
		uint32_t step = i < last ? at / last : (uint32_t)N_RAMP - 2;

		palette[SCENE_HEAT + i] =
			mix(heat_ramp[step], heat_ramp[step + 1],
		            at - step * last, last);
	}
}

/* Colours of components: that of the largest is the floor's. */
static uint8_t *
colour_components(const struct hpa_view *view)
{
	uint64_t *n_cells =
		calloc((size_t)view->n_components + 1, sizeof(*n_cells));
	uint8_t *colours = calloc((size_t)view->n_components + 1, 1);
	uint32_t largest = 0, next = 0;

	for (uint32_t y = 0; n_cells && y < view->height; y++)
		for (uint32_t x = 0; x < view->width; x++) {
			uint32_t begin = x;

			while (x < view->width && cells_is_free(view, x, y))
				x++;
			if (x > begin)
				n_cells[hpa_view_component(view, begin, y)] +=
					x - begin;
		}
	for (uint32_t i = 0; n_cells && i < view->n_components; i++)
		if (n_cells[i] > n_cells[largest])
			largest = i;
	for (uint32_t i = 0; colours && i < view->n_components; i++)
		if (i != largest)
			colours[i] =
				(uint8_t)(SCENE_COMPONENT +
			                  next++ % SCENE_N_COMPONENT_COLOURS);
	if (!n_cells) {
		free(colours);
		colours = NULL;
	}
	free(n_cells);
	return colours;
}

uint32_t
scene_max_heat(const struct scene *scene)
{
	const struct hpa_view_level *level = &scene->view->levels[scene->level];
	size_t n = (size_t)level->clusters_x * level->clusters_y;
	uint32_t most = 0;

	for (size_t i = 0; scene->heat && i < n; i++)
		if (scene->heat[i] > most)
			most = scene->heat[i];
	return most;
}

/* The class of a cell as a colour; the floor's for what costs as plain
 * ground. */
static uint8_t
class_colour(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	if (cells_factor(view, x, y) <= 1)
		return SCENE_FLOOR;
	return (uint8_t)(SCENE_CLASS + cells_class(view, x, y));
}

/* What decides on the colour of floor. */
struct paint {
	const struct scene *scene;
	uint8_t *components; /* NULL: they are not shown */
	uint32_t max_heat;
};

static uint8_t
floor_colour(const struct paint *paint, uint32_t x, uint32_t y)
{
	const struct scene *scene = paint->scene;
	const struct hpa_view *view = scene->view;
	const struct hpa_view_level *level = &view->levels[scene->level];
	uint8_t colour = SCENE_FLOOR;

	if (scene->heat) {
		uint32_t heat = scene->heat[hpa_cluster_at(level, x, y)];

		if (heat > 0)
			return (uint8_t)(SCENE_HEAT +
			                 (uint64_t)heat *
			                         (SCENE_N_HEAT_COLOURS - 1) /
			                         paint->max_heat);
	}
	if (paint->components)
		colour = paint->components[hpa_view_component(view, x, y)];
	if (colour == SCENE_FLOOR && scene->layers & scene_bit(SCENE_TERRAIN))
		colour = class_colour(view, x, y);
	return colour;
}

/* Colour what the agents of a view stand on, as far as it is not floor yet. */
static void
paint_free(const struct hpa_view *view, const struct paint *paint,
           uint8_t *colours)
{
	for (uint32_t y = 0; y < view->height; y++)
		for (uint32_t x = 0; x < view->width; x++)
			if (cells_is_free(view, x, y))
				*(colours + (size_t)y * view->width + x) =
					paint ? floor_colour(paint, x, y)
					      : SCENE_CLOSED;
}

/* Spread colours over the walls behind them: n cells in a line, `step` apart,
 * each over the size - 1 that follow it. */
static void
spread_line(uint8_t *colours, uint32_t n, size_t step, uint32_t size)
{
	uint8_t colour = SCENE_WALL;
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++, colours += step) {
		if (*colours != SCENE_WALL) {
			colour = *colours;
			left = size - 1;
		} else if (left > 0) {
			*colours = colour;
			left--;
		}
	}
}

/* From the cells that agents stand on to those that are under them. */
static void
spread(const struct hpa_view *view, uint8_t *colours)
{
	if (view->agent_size == 1)
		return;
	for (uint32_t y = 0; y < view->height; y++)
		spread_line(colours + (size_t)y * view->width, view->width, 1,
		            view->agent_size);
	for (uint32_t x = 0; x < view->width; x++)
		spread_line(colours + x, view->height, view->width,
		            view->agent_size);
}

/* The cells as the agents of a view see them; without a paint all that is open
 * has one colour. NULL where there is no memory. */
static uint8_t *
paint_view(const struct hpa_view *view, const struct paint *paint)
{
	size_t n = (size_t)view->width * view->height;
	uint8_t *colours = malloc(n);

	if (!colours)
		return NULL;
	memset(colours, SCENE_WALL, n);
	paint_free(view, paint, colours);
	spread(view, colours);
	return colours;
}

/* Mark what is a wall here and open for another agent. */
static bool
add_closed(const struct baked *baked, const struct hpa_view *own,
           uint8_t *colours)
{
	size_t n = (size_t)own->width * own->height;

	for (uint32_t p = 0; p < baked->n_profiles; p++) {
		uint8_t *other;

		if (baked->views[p].profile == own->profile)
			continue;
		other = paint_view(&baked->views[p], NULL);
		if (!other)
			return false;
		for (size_t i = 0; i < n; i++)
			if (colours[i] == SCENE_WALL)
				colours[i] = other[i];
		free(other);
	}
	return true;
}

bool
scene_paint_cells(const struct scene *scene, struct picture_cells *out)
{
	const struct hpa_view *view = scene->view;
	struct paint paint = {.scene = scene,
	                      .max_heat = scene_max_heat(scene)};
	bool with_components = scene->layers & scene_bit(SCENE_COMPONENTS);

	set_palette(view, out->palette);
	out->scale = scene->scale;
	out->width = view->width;
	out->height = view->height;
	if (with_components)
		paint.components = colour_components(view);
	if (!with_components || paint.components)
		out->colours = paint_view(view, &paint);
	free(paint.components);
	return out->colours && add_closed(scene->baked, view, out->colours);
}
