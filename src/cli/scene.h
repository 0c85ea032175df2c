/* scene.h: a baked level, and what one wants to see of it, as a picture.
 *
 *     scene.c         the layers, from the ground up
 *     scene_cells.c   the colour of each cell
 *     scene_legend.c  the title, and what the signs mean */
#ifndef CLI_SCENE_H
#define CLI_SCENE_H

#include "src/cli/input.h"
#include "src/cli/picture.h"
#include "src/cli/route.h"

/* What can be drawn, from the bottom to the top. */
enum scene_layer {
	SCENE_TERRAIN = 0, /* classes of other factors than 1 */
	SCENE_COMPONENTS,  /* what is cut off from the largest one */
	SCENE_BORDERS,     /* of clusters */
	SCENE_ENTRANCES,
	SCENE_EDGES,
	SCENE_NODES,
	SCENE_LINKS,
	SCENE_PATHS,
	SCENE_LEGEND,
	SCENE_N_LAYERS
};

static inline unsigned
scene_bit(enum scene_layer layer)
{
	return 1u << layer;
}

struct scene_path {
	hpa_cell from, to;
	struct route route; /* n is 0: there is none */
	double length;
};

struct scene {
	const struct baked *baked;
	const struct hpa_view *view; /* the agent's */
	const char *title;
	uint32_t scale;  /* pixels along the side of a cell */
	uint32_t level;  /* whose clusters, nodes and edges, from 0 */
	unsigned layers; /* bits */
	size_t n_paths;
	const struct scene_path *paths;
	/* How many paths cross each cluster of the level, or NULL. */
	const uint32_t *heat;
	const char *heat_from; /* the file they are from */
	size_t n_heat_paths;
};

/* Above so many, paths are a web: thin, without markers, of one colour. */
#define SCENE_MAX_MARKED_PATHS 8u

/* Make *out, to be freed with picture_free(). DIAG_USAGE for a picture that is
 * too large. */
enum diag_status scene_make(const struct scene *scene, struct picture *out,
                            struct diag *diag);

/* The parts that the files above share. */

/* Where a cell's middle is, or rather that of an agent that stands on it; for
 * one of the two coordinates, without the level's corner. */
int32_t scene_middle(const struct scene *scene, uint32_t cell);

/* Widths of strokes, in units. */
int32_t scene_path_width(const struct scene *scene);
int32_t scene_node_width(const struct scene *scene);
int32_t scene_edge_width(const struct scene *scene);
int32_t scene_entrance_width(const struct scene *scene);

picture_colour scene_path_colour(const struct scene *scene, size_t path);

/* A dashed line, added to the last shape. */
void scene_dash(struct picture *picture, struct picture_quad line,
                int32_t dash);

/* The signs of a path's ends. */
void scene_start(struct picture *picture, int32_t x, int32_t y, int32_t width,
                 picture_colour colour);
void scene_goal(struct picture *picture, int32_t x, int32_t y, int32_t width,
                picture_colour colour);

/* scene_cells.c: fill in the cells of a picture and tell what colours there
 * are. */
enum scene_cell {
	SCENE_FLOOR = 0,
	SCENE_WALL = 1,
	SCENE_CLOSED = 2, /* open for another agent */
	SCENE_COMPONENT = 3,
	SCENE_N_COMPONENT_COLOURS = 8,
	SCENE_CLASS = SCENE_COMPONENT + SCENE_N_COMPONENT_COLOURS,
	SCENE_HEAT = SCENE_CLASS + (int)HPA_MAX_CLASSES,
	SCENE_N_HEAT_COLOURS = 64
};
bool scene_paint_cells(const struct scene *scene, struct picture_cells *out);

uint32_t scene_max_heat(const struct scene *scene);

/* How high capitals are, in pixels. */
uint32_t scene_text_size(const struct scene *scene);

/* scene_legend.c: how high the legend is in a picture of this width, in pixels;
 * and the title and the legend, whose top is at y. */
uint32_t scene_legend_height(const struct scene *scene,
                             struct picture *picture);
void scene_add_legend(const struct scene *scene, struct picture *picture,
                      uint32_t y);

#define SCENE_BACKGROUND 0xffffffffu
#define SCENE_INK 0x2b303bffu
#define SCENE_FAINT_INK 0x6b7280ffu
#define SCENE_FRAME 0x3b4252ffu
#define SCENE_BORDER 0x7484a8a0u
#define SCENE_ENTRANCE 0x2a9d8fd0u
#define SCENE_INTRA 0x3a6ea578u
#define SCENE_INTER 0x274c77f0u
#define SCENE_NODE 0x274c77ffu
#define SCENE_LINK 0x8338ecffu
#define SCENE_CASING 0xffffffe6u
#define SCENE_WEB 0xd9480f40u

#endif
