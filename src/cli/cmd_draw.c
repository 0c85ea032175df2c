/* cmd_draw.c: a picture of a baked level.
 *
 * Asks libhpa for the paths that are to be seen, decides what else there is
 * room for, and hands over to scene.h. What is drawn without being asked for
 * depends on how large a cell and a cluster are in pixels: where there is no
 * room for a sign it would hide what it stands on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/cli/cli.h"
#include "src/cli/file.h"
#include "src/cli/folder.h"
#include "src/cli/scene.h"

#define MAX_SCALE 64u
#define WANTED_SIDE 1536u /* pixels of the longer side of the level */
#define MAX_DEFAULT_SCALE 24u
#define MIN_CLUSTER_PIXELS 40u /* below, the clusters of a higher level */
#define MIN_NODE_SCALE 8u
#define MIN_ENTRANCE_SCALE 4u

struct options {
	const char *output, *agent, *scen, *heat, *layers;
	uint32_t scale, level;
	struct cli_list paths;
	struct cli_choice smooth;
};

static const struct cli_option option_rows[] = {
	{.kind = CLI_TEXT,
         .letter = 'o',
         .name = "output",
         .takes = "FILE",
         .what = "write the picture here; its suffix, .png or .svg, decides "
                 "what it is",
         .offset = offsetof(struct options, output)},
	{.kind = CLI_NUMBER,
         .name = "scale",
         .takes = "N",
         .what = "pixels along the side of a cell; without it, what makes a "
                 "picture of about 1500",
         .min = 1,
         .max = MAX_SCALE,
         .offset = offsetof(struct options, scale)},
	{.kind = CLI_NUMBER,
         .name = "level",
         .takes = "N",
         .what = "draw the clusters, nodes and edges of this level; without "
                 "it, of the lowest that there is room for",
         .min = 1,
         .max = HPA_MAX_LEVELS,
         .offset = offsetof(struct options, level)},
	{.kind = CLI_TEXT,
         .name = "agent",
         .takes = "NAME",
         .what = "the level as this agent sees it; without it, the file's "
                 "first",
         .offset = offsetof(struct options, agent)},
	{.kind = CLI_LIST,
         .name = "path",
         .takes = "X1,Y1,X2,Y2",
         .what = "draw the path between two cells; may be given several times",
         .offset = offsetof(struct options, paths)},
	{.kind = CLI_TEXT,
         .name = "scen",
         .takes = "FILE",
         .what = "draw the paths of all problems of a MovingAI .scen file",
         .offset = offsetof(struct options, scen)},
	{.kind = CLI_TEXT,
         .name = "heat",
         .takes = "FILE",
         .what = "colour clusters by how many paths of a .scen file cross them",
         .offset = offsetof(struct options, heat)},
	{.kind = CLI_CHOICE,
         .name = "smooth",
         .takes = "MODE",
         .what = "how paths are shortened:",
         .offset = offsetof(struct options, smooth),
         .min = 1,
         .max = UINT16_MAX,
         .names = input_smoothing_names,
         .counted = "rays",
         .count_is_optional = true},
	{.kind = CLI_TEXT,
         .name = "layers",
         .takes = "LIST",
         .what = "what is drawn: names with commas between them, of terrain, "
                 "components, borders, entrances, edges, nodes, links, paths, "
                 "legend, or all; +NAME and -NAME change what is drawn anyway",
         .offset = offsetof(struct options, layers)},
	{.kind = CLI_END},
};

/* By enum scene_layer. */
static const char *const layer_names[SCENE_N_LAYERS] = {
	"terrain", "components", "borders", "entrances", "edges",
	"nodes",   "links",      "paths",   "legend",
};
#define ALL_LAYERS ((1u << SCENE_N_LAYERS) - 1)

/* One run of the verb. */
struct session {
	const struct options *options;
	const char *name;
	struct baked baked;
	const struct hpa_view *view; /* the agent's */
	hpa_map *map;
	const hpa_map *profile; /* the same as libhpa has it */
	hpa_query *query;
	struct scene scene;
	struct scene_path *paths;
	uint32_t *heat;
	struct diag *diag;
};

static bool
has_suffix(const char *name, const char *suffix)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size > end && !strcasecmp(name + size - end, suffix);
}

/* The bits of the names of that length, 0 if there is no such name. */
static unsigned
find_layer(const char *name, size_t size)
{
	for (unsigned i = 0; i < SCENE_N_LAYERS; i++)
		if (strlen(layer_names[i]) == size &&
		    !memcmp(layer_names[i], name, size))
			return 1u << i;
	return size == 3 && !memcmp(name, "all", 3) ? ALL_LAYERS : 0;
}

/* What a list says, and what it adds to and takes from the layers that are
 * drawn anyway. */
struct layer_list {
	unsigned only, plus, minus; /* only 0: it names none */
};

static enum diag_status
parse_layers(const char *list, struct layer_list *out, struct diag *diag)
{
	*out = (struct layer_list){0, 0, 0};
	while (list && *list) {
		size_t size = strcspn(list, ",");
		bool signs = *list == '+' || *list == '-';
		unsigned bits =
			size > 0 ? find_layer(list + signs, size - signs) : 0;

		if (bits == 0)
			return diag_set(
				diag, DIAG_USAGE, 0,
				"--layers takes names of terrain, components, "
				"borders, entrances, edges, nodes, links, "
				"paths, legend and all, with commas between "
				"them and + or - before them, not '%.*s'",
				(int)size, list);
		/* Of a name that is told twice the last time counts. */
		out->plus &= ~bits;
		out->minus &= ~bits;
		if (*list == '+')
			out->plus |= bits;
		else if (*list == '-')
			out->minus |= bits;
		else
			out->only |= bits;
		list += size;
		if (*list == ',' && list[1] == '\0')
			break;
		list += *list == ',';
	}
	return DIAG_OK;
}

static uint32_t
default_scale(const struct hpa_view *view)
{
	uint32_t side = view->width > view->height ? view->width : view->height;
	uint32_t scale = (WANTED_SIDE + side / 2) / side;

	if (scale > MAX_DEFAULT_SCALE)
		return MAX_DEFAULT_SCALE;
	return scale > 0 ? scale : 1;
}

/* The lowest level whose clusters are not too small to be told apart. */
static uint32_t
default_level(const struct hpa_view *view, uint32_t scale)
{
	uint32_t level = 0;

	while (level + 1 < view->n_levels &&
	       view->levels[level].cluster_size * scale < MIN_CLUSTER_PIXELS)
		level++;
	return level;
}

/* What there is room for. */
static unsigned
default_layers(const struct session *session)
{
	const struct options *options = session->options;
	unsigned layers = ALL_LAYERS;

	if (session->scene.scale < MIN_NODE_SCALE || options->heat ||
	    session->scene.n_paths > SCENE_MAX_MARKED_PATHS)
		layers &= ~(scene_bit(SCENE_EDGES) | scene_bit(SCENE_NODES));
	if (session->scene.scale < MIN_ENTRANCE_SCALE || options->heat ||
	    session->scene.n_paths > SCENE_MAX_MARKED_PATHS)
		layers &= ~scene_bit(SCENE_ENTRANCES);
	if (options->heat)
		layers &= ~scene_bit(SCENE_COMPONENTS);
	return layers;
}

static enum diag_status
refuse(struct session *session, hpa_status st)
{
	return input_refuse_baked(session->name, st, NULL, session->diag);
}

static enum diag_status
open_session(struct session *session)
{
	hpa_open_options how = {.flags = HPA_TRUST};
	enum diag_status status =
		input_baked(session->name, &session->baked, session->diag);
	const struct options *options = session->options;
	hpa_facts facts;
	hpa_status st;

	if (status)
		return status;
	/* All of it has been checked. */
	st = hpa_map_open_memory(session->baked.bytes.data,
	                         session->baked.bytes.size, &how,
	                         &session->map);
	if (st != HPA_OK)
		return refuse(session, st);
	status = input_agent(session->name, session->map, options->agent,
	                     &session->profile, session->diag);
	if (status)
		return status;
	hpa_map_facts(session->profile, &facts);
	session->view = &session->baked.views[facts.profile];
	st = hpa_query_new(session->profile, NULL, &session->query);
	if (st != HPA_OK)
		return refuse(session, st);
	hpa_query_set_smoothing(session->query,
	                        (hpa_smoothing)options->smooth.value,
	                        options->smooth.number);
	return DIAG_OK;
}

static void
close_session(struct session *session)
{
	for (size_t i = 0; i < session->scene.n_paths; i++)
		free(session->paths[i].route.cells);
	free(session->paths);
	free(session->heat);
	hpa_query_free(session->query);
	hpa_map_close(session->map);
	input_close_baked(&session->baked);
}

static enum diag_status
choose_level(struct session *session)
{
	const struct options *options = session->options;
	struct scene *scene = &session->scene;

	scene->baked = &session->baked;
	scene->view = session->view;
	scene->scale =
		options->scale ? options->scale : default_scale(session->view);
	scene->level = options->level
	                       ? options->level - 1
	                       : default_level(session->view, scene->scale);
	if (scene->level < session->view->n_levels)
		return DIAG_OK;
	cli_set_file(session->diag, session->name);
	return diag_set(session->diag, DIAG_USAGE, 0,
	                "it has no level %u; --level takes a number from 1 to "
	                "%u",
	                (unsigned)options->level,
	                (unsigned)session->view->n_levels);
}

/* The cells of a problem; both lie in the level. */
static bool
find_ends(const struct session *session, const struct scen_problem *problem,
          hpa_cell *from, hpa_cell *to)
{
	const struct hpa_view *view = session->view;

	return route_to_cell(problem->from_x, problem->from_y, from) &&
	       route_to_cell(problem->to_x, problem->to_y, to) &&
	       from->x < view->width && from->y < view->height &&
	       to->x < view->width && to->y < view->height;
}

/* Find a path; that there is none is fine. */
static enum diag_status
find_path(struct session *session, hpa_cell from, hpa_cell to,
          struct route *out)
{
	hpa_status st = route_find(session->query, from, to, out);

	if (st == HPA_OK || st == HPA_NO_PATH || st == HPA_BLOCKED)
		return DIAG_OK;
	return refuse(session, st);
}

static enum diag_status
add_path(struct session *session, hpa_cell from, hpa_cell to)
{
	struct scene_path *path = &session->paths[session->scene.n_paths++];
	enum diag_status status;
	hpa_cell *cells;

	path->from = from;
	path->to = to;
	status = find_path(session, from, to, &path->route);
	if (status)
		return status;
	path->length = route_length(session->profile, &path->route);
	/* There may be thousands: no more room than each needs. */
	cells = realloc(path->route.cells,
	                (path->route.n + 1) * sizeof(*cells));
	if (cells)
		path->route.cells = cells;
	return DIAG_OK;
}

/* X1,Y1,X2,Y2 */
static enum diag_status
parse_path(const struct session *session, const char *text, hpa_cell *from,
           hpa_cell *to)
{
	const struct hpa_view *view = session->view;
	struct scen_problem problem;
	int used = -1;
	enum diag_status status = DIAG_OK;

	if (strspn(text, "0123456789,") != strlen(text) ||
	    sscanf(text, "%7ld,%7ld,%7ld,%7ld%n", &problem.from_x,
	           &problem.from_y, &problem.to_x, &problem.to_y, &used) != 4 ||
	    text[used] != '\0')
		status = diag_set(session->diag, DIAG_USAGE, 0,
		                  "--path takes two cells as X1,Y1,X2,Y2, not "
		                  "'%s'",
		                  text);
	else if (!find_ends(session, &problem, from, to))
		status = diag_set(
			session->diag, DIAG_USAGE, 0,
			"--path %s: the level has only %u x %u cells, "
			"from 0,0 on",
			text, (unsigned)view->width, (unsigned)view->height);
	return status;
}

/* Read a .scen; one whose problems are outside is of another level. */
static enum diag_status
read_scen(const struct session *session, const char *name, struct scen *out)
{
	const struct hpa_view *view = session->view;
	enum diag_status status =
		input_scen(name, view->width, view->height, out, session->diag);
	hpa_cell from, to;

	for (size_t i = 0; !status && i < out->n_problems; i++) {
		if (find_ends(session, &out->problems[i], &from, &to))
			continue;
		cli_set_file(session->diag, name);
		status = diag_set(session->diag, DIAG_BAD_INPUT, 0,
		                  "problem %zu lies outside of the level", i);
		scen_free(out);
	}
	return status;
}

static enum diag_status
find_paths(struct session *session)
{
	const struct options *options = session->options;
	struct scen scen = {.n_problems = 0};
	enum diag_status status = DIAG_OK;
	hpa_cell from, to;

	if (options->scen)
		status = read_scen(session, options->scen, &scen);
	if (status)
		return status;
	session->paths = calloc(options->paths.n + scen.n_problems + 1,
	                        sizeof(*session->paths));
	if (!session->paths)
		status = refuse(session, HPA_NO_MEMORY);
	for (uint32_t i = 0; !status && i < options->paths.n; i++) {
		status = parse_path(session, options->paths.items[i], &from,
		                    &to);
		if (!status)
			status = add_path(session, from, to);
	}
	for (size_t i = 0; !status && i < scen.n_problems; i++)
		if (find_ends(session, &scen.problems[i], &from, &to))
			status = add_path(session, from, to);
	scen_free(&scen);
	session->scene.paths = session->paths;
	return status;
}

/* Count a path in the clusters that it crosses, once in each: `last` says which
 * path a cluster was counted for, 0 for none. */
static void
count_path(struct session *session, const struct route *route, uint32_t *last)
{
	const struct hpa_view_level *level =
		&session->view->levels[session->scene.level];
	uint32_t number = (uint32_t)++session->scene.n_heat_paths;

	for (size_t i = 0; i < route->n; i++) {
		uint32_t cluster = hpa_cluster_at(level, route->cells[i].x,
		                                  route->cells[i].y);

		session->heat[cluster] += last[cluster] != number;
		last[cluster] = number;
	}
}

static enum diag_status
find_heat(struct session *session)
{
	const struct hpa_view_level *level =
		&session->view->levels[session->scene.level];
	size_t n = (size_t)level->clusters_x * level->clusters_y;
	uint32_t *last = calloc(n, sizeof(*last));
	struct scen scen = {.n_problems = 0};
	struct route route = {.n = 0};
	enum diag_status status =
		read_scen(session, session->options->heat, &scen);
	hpa_cell from, to;

	session->heat = calloc(n, sizeof(*session->heat));
	if (!status && (!session->heat || !last))
		status = refuse(session, HPA_NO_MEMORY);
	for (size_t i = 0; !status && i < scen.n_problems; i++) {
		if (!find_ends(session, &scen.problems[i], &from, &to))
			continue;
		status = find_path(session, from, to, &route);
		if (!status && route.n > 0)
			count_path(session, &route, last);
	}
	scen_free(&scen);
	free(route.cells);
	free(last);
	session->scene.heat = session->heat;
	return status;
}

static enum diag_status
write_picture(const struct session *session)
{
	const char *output = session->options->output;
	struct picture_bytes bytes = {.data = NULL};
	struct picture picture;
	enum diag_status status =
		scene_make(&session->scene, &picture, session->diag);

	if (status)
		return status;
	status = has_suffix(output, ".png")
	                 ? picture_png(&picture, &bytes, session->diag)
	                 : picture_svg(&picture, &bytes, session->diag);
	picture_free(&picture);
	if (status)
		cli_set_file(session->diag, output);
	else
		status = file_replace(output, bytes.data, bytes.size, NULL,
		                      session->diag);
	free(bytes.data);
	return status;
}

static enum diag_status
check_usage(const struct options *options, int n, struct diag *diag)
{
	if (n != 1)
		return diag_set(diag, DIAG_USAGE, 0,
		                "draw takes one baked FILE, and there %s %d",
		                n == 1 ? "is" : "are", n);
	if (!options->output)
		return diag_set(diag, DIAG_USAGE, 0,
		                "draw needs -o FILE, a name that ends in .png "
		                "or .svg");
	if (!has_suffix(options->output, ".png") &&
	    !has_suffix(options->output, ".svg"))
		return diag_set(diag, DIAG_USAGE, 0,
		                "-o takes a name that ends in .png or .svg, "
		                "not '%s'",
		                options->output);
	return DIAG_OK;
}

static enum diag_status
run(const void *verb_options, int n, char **operands, struct diag *diag)
{
	struct session session = {.options = verb_options, .diag = diag};
	struct layer_list list;
	enum diag_status status = check_usage(session.options, n, diag);

	if (!status)
		status = parse_layers(session.options->layers, &list, diag);
	if (status)
		return status;
	session.name = operands[0];
	session.scene.title = folder_base_name(session.name);
	status = open_session(&session);
	if (!status)
		status = choose_level(&session);
	if (!status)
		status = find_paths(&session);
	if (!status && session.options->heat) {
		session.scene.heat_from =
			folder_base_name(session.options->heat);
		status = find_heat(&session);
	}
	if (!status) {
		unsigned layers =
			list.only ? list.only : default_layers(&session);

		session.scene.layers = (layers | list.plus) & ~list.minus;
		status = write_picture(&session);
	}
	close_session(&session);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... FILE -o OUT.png",
	"[OPTION]... FILE -o OUT.svg",
	NULL,
};

const struct cli_verb cmd_draw = {
	.name = "draw",
	.summary = "Draw a picture of a baked file",
	.usage = usage,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
