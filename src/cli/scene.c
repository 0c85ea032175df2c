/* scene.c: a baked level as shapes, layer by layer.
 *
 * The level lies in the upper left, with the title above it and the legend
 * below; without a legend it is all of the picture. Widths of lines follow the
 * scale, within limits, so that a small picture is not all lines and a large
 * one not all floor. */
#include "src/cli/cells.h"
#include "src/cli/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_WIDTH 520u /* pixels, of a picture with a legend */
#define MARKER_PER_PATH 7 / 2
#define WIDTHS_PER_SIDE 300 /* so many thinnest paths fill a picture */

static const picture_colour path_colours[SCENE_MAX_MARKED_PATHS] = {
	0xe4572eff, 0x0077b6ff, 0x8338ecff, 0x2b9348ff,
	0xd90484ff, 0xb07d00ff, 0x00857cff, 0x5c4033ff,
};

static int32_t
clamp(int32_t value, int32_t least, int32_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* A part of a cell's side, in hundredths, in units. */
static int32_t
part_of_cell(const struct scene *scene, int32_t hundredths)
{
	return (int32_t)scene->scale * PICTURE_UNIT * hundredths / 100;
}

int32_t
scene_path_width(const struct scene *scene)
{
	/* A path has to be seen in a picture that is shown as a whole. */
	uint32_t side = scene->view->width > scene->view->height
	                        ? scene->view->width
	                        : scene->view->height;
	int32_t least =
		(int32_t)(side * scene->scale) * PICTURE_UNIT / WIDTHS_PER_SIDE;

	return clamp(part_of_cell(scene, 28),
	             clamp(least, 2 * PICTURE_UNIT, 8 * PICTURE_UNIT),
	             8 * PICTURE_UNIT);
}

int32_t
scene_node_width(const struct scene *scene)
{
	return clamp(part_of_cell(scene, 42), 2 * PICTURE_UNIT,
	             10 * PICTURE_UNIT);
}

int32_t
scene_edge_width(const struct scene *scene)
{
	return clamp(part_of_cell(scene, 7), PICTURE_UNIT * 3 / 4,
	             2 * PICTURE_UNIT);
}

int32_t
scene_entrance_width(const struct scene *scene)
{
	return clamp(part_of_cell(scene, 30), 2 * PICTURE_UNIT,
	             6 * PICTURE_UNIT);
}

int32_t
scene_middle(const struct scene *scene, uint32_t cell)
{
	return (int32_t)((2 * cell + scene->view->agent_size) * scene->scale *
	                 PICTURE_UNIT / 2);
}

picture_colour
scene_path_colour(const struct scene *scene, size_t path)
{
	return scene->n_paths > SCENE_MAX_MARKED_PATHS
	               ? SCENE_WEB
	               : path_colours[path % SCENE_MAX_MARKED_PATHS];
}

/* What the layers draw into: places are counted from the level's corner. */
struct sheet {
	const struct scene *scene;
	const struct hpa_view *view;
	const struct hpa_view_level *level;
	struct picture *picture;
	int32_t left, top; /* units, of the level's corner */
};

static void
add(struct sheet *sheet, int32_t x1, int32_t y1, int32_t x2, int32_t y2)
{
	picture_add(sheet->picture, sheet->left + x1, sheet->top + y1,
	            sheet->left + x2, sheet->top + y2);
}

/* From the middle of one cell to that of another one. */
static void
add_line(struct sheet *sheet, uint32_t x1, uint32_t y1, uint32_t x2,
         uint32_t y2)
{
	add(sheet, scene_middle(sheet->scene, x1),
	    scene_middle(sheet->scene, y1), scene_middle(sheet->scene, x2),
	    scene_middle(sheet->scene, y2));
}

/* Where a coordinate of a cell's upper left corner is. */
static int32_t
corner(const struct sheet *sheet, uint32_t cell)
{
	return (int32_t)(cell * sheet->scene->scale) * PICTURE_UNIT;
}

/* A pixel wide, and a whole one, so that they are no blur. */
static void
draw_borders(struct sheet *sheet)
{
	const struct hpa_view *view = sheet->view;
	uint32_t size = sheet->level->cluster_size;
	int32_t right = corner(sheet, view->width);
	int32_t bottom = corner(sheet, view->height);

	picture_begin(sheet->picture, PICTURE_RECTS, SCENE_BORDER, 0);
	for (uint32_t x = size; x < view->width; x += size)
		add(sheet, corner(sheet, x), 0, corner(sheet, x) + PICTURE_UNIT,
		    bottom);
	for (uint32_t y = size; y < view->height; y += size)
		add(sheet, 0, corner(sheet, y), right,
		    corner(sheet, y) + PICTURE_UNIT);
}

/* Is there a step across a border line, which lies before a row or column,
 * from a cell along it? */
static bool
is_open(const struct hpa_view *view, uint32_t line, bool is_row, uint32_t along)
{
	if (is_row)
		return cells_is_free(view, along, line - 1) &&
		       cells_is_free(view, along, line);
	return cells_is_free(view, line - 1, along) &&
	       cells_is_free(view, line, along);
}

/* The entrances on a line; corners of clusters cut them. */
static void
draw_entrances_of(struct sheet *sheet, uint32_t line, bool is_row)
{
	const struct hpa_view *view = sheet->view;
	uint32_t n = is_row ? view->width : view->height, end;
	int32_t at = corner(sheet, line);
	int32_t inset = part_of_cell(sheet->scene, 25);

	for (uint32_t begin = 0; begin < n; begin = end) {
		int32_t from, to;

		end = begin;
		while (end < n && is_open(view, line, is_row, end) &&
		       (end == begin || end % view->cluster_size != 0))
			end++;
		from = corner(sheet, begin) + inset;
		to = corner(sheet, end) - inset;
		if (end > begin && is_row)
			add(sheet, from, at, to, at);
		else if (end > begin)
			add(sheet, at, from, at, to);
		else
			end++;
	}
}

static void
draw_entrances(struct sheet *sheet)
{
	uint32_t size = sheet->level->cluster_size;

	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_ENTRANCE,
	              scene_entrance_width(sheet->scene));
	for (uint32_t x = size; x < sheet->view->width; x += size)
		draw_entrances_of(sheet, x, false);
	for (uint32_t y = size; y < sheet->view->height; y += size)
		draw_entrances_of(sheet, y, true);
}

static void
add_edge(struct sheet *sheet, uint32_t from, uint32_t to)
{
	const struct hpa_view *view = sheet->view;

	add_line(sheet, hpa_node_x(view, from), hpa_node_y(view, from),
	         hpa_node_x(view, to), hpa_node_y(view, to));
}

/* The edges of a cluster as the file has them: those that pruning left. */
static void
draw_intra_edges(struct sheet *sheet, uint32_t cluster)
{
	const struct hpa_view_level *level = sheet->level;
	uint32_t first = hpa_get_u32(level->first, cluster);
	struct hpa_table table;

	hpa_view_table(sheet->view, level, cluster, &table);
	for (uint32_t from = 0; from < table.n_nodes; from++) {
		uint32_t edge = hpa_table_begin(&table, from);

		for (; edge < hpa_table_end(&table, from); edge++) {
			uint32_t to = hpa_table_target(&table, edge);

			if (to > from)
				add_edge(sheet,
				         hpa_node_of_rank(level, first + from),
				         hpa_node_of_rank(level, first + to));
		}
	}
}

static uint32_t
cluster_of(const struct sheet *sheet, uint32_t node)
{
	return hpa_cluster_at(sheet->level, hpa_node_x(sheet->view, node),
	                      hpa_node_y(sheet->view, node));
}

/* The steps from a node into other clusters. */
static void
draw_inter_edges(struct sheet *sheet, uint32_t node)
{
	const struct hpa_view *view = sheet->view;
	uint32_t edge = hpa_get_u32(view->inter_first, node);
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)node + 1);

	for (; edge < end; edge++) {
		uint32_t to = hpa_get_u32(view->inter_target, edge);

		if (to > node &&
		    cluster_of(sheet, node) != cluster_of(sheet, to))
			add_edge(sheet, node, to);
	}
}

static void
draw_edges(struct sheet *sheet)
{
	const struct hpa_view_level *level = sheet->level;
	uint32_t n_clusters = level->clusters_x * level->clusters_y;
	int32_t width = scene_edge_width(sheet->scene);

	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_INTRA, width);
	for (uint32_t cluster = 0; cluster < n_clusters; cluster++)
		draw_intra_edges(sheet, cluster);
	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_INTER, 2 * width);
	for (uint32_t rank = 0; rank < level->n_nodes; rank++)
		draw_inter_edges(sheet, hpa_node_of_rank(level, rank));
}

static void
draw_nodes(struct sheet *sheet)
{
	int32_t width = scene_node_width(sheet->scene);

	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_NODE, width);
	for (uint32_t rank = 0; rank < sheet->level->n_nodes; rank++) {
		uint32_t node = hpa_node_of_rank(sheet->level, rank);

		add_edge(sheet, node, node);
	}
}

void
scene_dash(struct picture *picture, struct picture_quad line, int32_t dash)
{
	int32_t dx = line.x2 - line.x1, dy = line.y2 - line.y1;
	int32_t longer = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
	int32_t n = longer / dash / 2 * 2 + 1;

	for (int32_t i = 0; i < n; i += 2)
		picture_add(picture, line.x1 + (int32_t)((int64_t)dx * i / n),
		            line.y1 + (int32_t)((int64_t)dy * i / n),
		            line.x1 + (int32_t)((int64_t)dx * (i + 1) / n),
		            line.y1 + (int32_t)((int64_t)dy * (i + 1) / n));
}

/* Does the agent use the link? Both its ends are free for it then. */
static bool
is_used(const struct hpa_view *view, const uint8_t *link)
{
	return cells_is_free(view, hpa_get_le16(link + HPA_LINK_FROM_X),
	                     hpa_get_le16(link + HPA_LINK_FROM_Y)) &&
	       cells_is_free(view, hpa_get_le16(link + HPA_LINK_TO_X),
	                     hpa_get_le16(link + HPA_LINK_TO_Y));
}

/* A dot where a link may be entered, a dashed line to where it leads. */
static void
draw_link(struct sheet *sheet, const uint8_t *link)
{
	const struct scene *scene = sheet->scene;
	int32_t width = scene_edge_width(scene) * 2;
	bool is_one_way =
		hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY;
	struct picture_quad line = {
		sheet->left +
			scene_middle(scene,
	                             hpa_get_le16(link + HPA_LINK_FROM_X)),
		sheet->top + scene_middle(scene,
	                                  hpa_get_le16(link + HPA_LINK_FROM_Y)),
		sheet->left +
			scene_middle(scene, hpa_get_le16(link + HPA_LINK_TO_X)),
		sheet->top +
			scene_middle(scene, hpa_get_le16(link + HPA_LINK_TO_Y)),
	};

	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_LINK, width);
	scene_dash(sheet->picture, line, 4 * width);
	picture_begin(sheet->picture, PICTURE_STROKES, SCENE_LINK, 4 * width);
	picture_add(sheet->picture, line.x1, line.y1, line.x1, line.y1);
	if (!is_one_way)
		picture_add(sheet->picture, line.x2, line.y2, line.x2, line.y2);
}

static void
draw_links(struct sheet *sheet)
{
	for (uint32_t i = 0; i < sheet->view->n_links; i++) {
		const uint8_t *link = hpa_view_link(sheet->view, i);

		if (is_used(sheet->view, link))
			draw_link(sheet, link);
	}
}

/* A path's lines: a bend is where its direction changes. A link is a jump,
 * which the link's own line shows. */
static void
add_path(struct sheet *sheet, const struct scene_path *path)
{
	size_t begin = 0;

	for (size_t i = 1; i < path->route.n; i++) {
		const hpa_cell *cell = &path->route.cells[i];
		bool jumped = abs(cell->x - cell[-1].x) > 1 ||
		              abs(cell->y - cell[-1].y) > 1;
		bool goes_on = i + 1 < path->route.n &&
		               cell[1].x - cell->x == cell->x - cell[-1].x &&
		               cell[1].y - cell->y == cell->y - cell[-1].y;

		if (!jumped && goes_on)
			continue;
		if (!jumped)
			add_line(sheet, path->route.cells[begin].x,
			         path->route.cells[begin].y, cell->x, cell->y);
		begin = i;
	}
	if (path->route.n == 1)
		add_line(sheet, path->from.x, path->from.y, path->from.x,
		         path->from.y);
}

void
scene_start(struct picture *picture, int32_t x, int32_t y, int32_t width,
            picture_colour colour)
{
	picture_begin(picture, PICTURE_STROKES, SCENE_CASING, width * 13 / 10);
	picture_add(picture, x, y, x, y);
	picture_begin(picture, PICTURE_STROKES, colour, width);
	picture_add(picture, x, y, x, y);
	picture_begin(picture, PICTURE_STROKES, SCENE_BACKGROUND,
	              width * 5 / 9);
	picture_add(picture, x, y, x, y);
}

void
scene_goal(struct picture *picture, int32_t x, int32_t y, int32_t width,
           picture_colour colour)
{
	picture_begin(picture, PICTURE_STROKES, SCENE_CASING, width * 13 / 10);
	picture_add(picture, x, y, x, y);
	picture_begin(picture, PICTURE_STROKES, colour, width);
	picture_add(picture, x, y, x, y);
}

static void
draw_ends(struct sheet *sheet, const struct scene_path *path,
          picture_colour colour)
{
	const struct scene *scene = sheet->scene;
	int32_t width = scene_path_width(scene) * MARKER_PER_PATH;

	scene_start(
		sheet->picture, sheet->left + scene_middle(scene, path->from.x),
		sheet->top + scene_middle(scene, path->from.y), width, colour);
	scene_goal(sheet->picture,
	           sheet->left + scene_middle(scene, path->to.x),
	           sheet->top + scene_middle(scene, path->to.y), width, colour);
}

static void
draw_paths(struct sheet *sheet)
{
	const struct scene *scene = sheet->scene;
	bool is_web = scene->n_paths > SCENE_MAX_MARKED_PATHS;
	int32_t width = scene_path_width(scene);

	for (size_t i = 0; !is_web && i < scene->n_paths; i++) {
		picture_begin(sheet->picture, PICTURE_STROKES, SCENE_CASING,
		              width + 2 * PICTURE_UNIT);
		add_path(sheet, &scene->paths[i]);
	}
	for (size_t i = 0; i < scene->n_paths; i++) {
		picture_begin(sheet->picture, PICTURE_STROKES,
		              scene_path_colour(scene, i),
		              is_web ? width * 2 / 3 : width);
		add_path(sheet, &scene->paths[i]);
	}
	for (size_t i = 0; !is_web && i < scene->n_paths; i++)
		draw_ends(sheet, &scene->paths[i], scene_path_colour(scene, i));
}

/* A thin line around the level. */
static void
draw_frame(struct sheet *sheet)
{
	int32_t right = corner(sheet, sheet->view->width);
	int32_t bottom = corner(sheet, sheet->view->height);
	const int32_t line = PICTURE_UNIT;

	picture_begin(sheet->picture, PICTURE_RECTS, SCENE_FRAME, 0);
	add(sheet, -line, -line, right + line, 0);
	add(sheet, -line, bottom, right + line, bottom + line);
	add(sheet, -line, 0, 0, bottom);
	add(sheet, right, 0, right + line, bottom);
}

/* From the bottom to the top. */
static const struct {
	enum scene_layer layer;
	void (*draw)(struct sheet *sheet);
} layers[] = {
	{SCENE_BORDERS, draw_borders}, {SCENE_ENTRANCES, draw_entrances},
	{SCENE_EDGES, draw_edges},     {SCENE_NODES, draw_nodes},
	{SCENE_LINKS, draw_links},     {SCENE_PATHS, draw_paths},
	{SCENE_LEGEND, draw_frame},
};

static enum diag_status
check_size(uint64_t width, uint64_t height, uint32_t scale, struct diag *diag)
{
	if (width <= PICTURE_MAX_SIDE && height <= PICTURE_MAX_SIDE)
		return DIAG_OK;
	return diag_set(diag, DIAG_USAGE, 0,
	                "--scale %u makes a picture of %llu x %llu pixels, and "
	                "%u is the most",
	                (unsigned)scale, (unsigned long long)width,
	                (unsigned long long)height, PICTURE_MAX_SIDE);
}

uint32_t
scene_text_size(const struct scene *scene)
{
	/* Larger in a large picture, which is seen from farther away. */
	return (uint32_t)clamp(
		(int32_t)(scene->view->width * scene->scale) / 95, 9, 40);
}

/* The picture's sides, and where in it the level lies. */
static enum diag_status
lay_out(const struct scene *scene, struct picture *out, struct diag *diag)
{
	uint64_t width = (uint64_t)scene->view->width * scene->scale;
	uint64_t height = (uint64_t)scene->view->height * scene->scale;
	bool has_legend = scene->layers & scene_bit(SCENE_LEGEND);
	enum diag_status status = check_size(width, height, scene->scale, diag);
	uint32_t size, margin;

	if (status)
		return status;
	out->width = (uint32_t)width;
	out->height = (uint32_t)height;
	if (!has_legend)
		return DIAG_OK;
	size = scene_text_size(scene);
	margin = 2 * size;
	width = width + 2 * margin < MIN_WIDTH ? MIN_WIDTH : width + 2 * margin;
	out->cells.x = (int32_t)margin;
	out->cells.y = (int32_t)(margin + 22 * size / 5);
	out->width = (uint32_t)width;
	height += (uint64_t)out->cells.y + 2 * margin +
	          scene_legend_height(scene, out);
	out->height = (uint32_t)height;
	return check_size(width, height, scene->scale, diag);
}

enum diag_status
scene_make(const struct scene *scene, struct picture *out, struct diag *diag)
{
	const struct hpa_view *view = scene->view;
	struct sheet sheet = {scene, view, &view->levels[scene->level],
	                      out,   0,    0};
	enum diag_status status = DIAG_OK;

	*out = (struct picture){.background = SCENE_BACKGROUND};
	out->title = strdup(scene->title);
	if (!out->title || !scene_paint_cells(scene, &out->cells))
		status = diag_set(diag, DIAG_FAILED, 0, "out of memory");
	if (!status)
		status = lay_out(scene, out, diag);
	if (status) {
		picture_free(out);
		return status;
	}
	sheet.left = out->cells.x * PICTURE_UNIT;
	sheet.top = out->cells.y * PICTURE_UNIT;
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (scene->layers & scene_bit(layers[i].layer))
			layers[i].draw(&sheet);
	if (scene->layers & scene_bit(SCENE_LEGEND))
		scene_add_legend(scene, out,
		                 (uint32_t)out->cells.y +
		                         view->height * scene->scale +
		                         (uint32_t)out->cells.x);
	return DIAG_OK;
}
