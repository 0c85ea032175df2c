/* dump.c: all that is in a baked file, as lines of text.
 *
 * A line is a keyword and its words, and says one thing. The order follows the
 * file: what serves all profiles, then each profile with its cells, nodes and
 * edges, then its levels. Nodes go by their ids everywhere and edges are told
 * once, so that a second reader can be compared with this one line by line,
 * whatever the codecs. */
#include "src/cli/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/cli/cli.h"

/* Longer than any way inside a cluster of level 1. */
#define MAX_MOVES 1024u
#define N_DIRECTIONS 8u

static const char *const direction_names[N_DIRECTIONS] = {"E", "SE", "S", "SW",
                                                          "W", "NW", "N", "NE"};
static const int step_x[N_DIRECTIONS] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int step_y[N_DIRECTIONS] = {0, 1, 1, 1, 0, -1, -1, -1};

/* What is read of a cached path. */
struct paths {
	struct hpa_blocks blocks;
	uint8_t *room;
};

static const char *
or_dash(const char *text)
{
	return text[0] ? text : "-";
}

/* A text of the file that may fill all its bytes. */
static void
print_field(FILE *out, const uint8_t *text, size_t size)
{
	if (text[0] == 0)
		fprintf(out, "-");
	else
		fprintf(out, "%.*s", (int)size, (const char *)text);
}

static void
print_head(FILE *out, const struct baked *baked)
{
	const struct hpa_file *file = &baked->file;
	const struct hpa_view *view = &baked->views[0];

	fprintf(out, "hpa %u.%u\n", file->major, file->minor);
	fprintf(out, "hashes %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n",
	        file->content_hash, file->source_hash, file->options_hash);
	fprintf(out,
	        "level %" PRIu32 " %" PRIu32 " %s %" PRIu32 " %" PRIu32 "\n",
	        view->width, view->height,
	        cli_name_of(bake_move_names, (int)view->moves),
	        view->cost_straight, view->cost_diagonal);
}

static uint32_t
class_at(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << view->class_log2;
	uint32_t byte = view->cell_classes[y * view->class_stride + bit / 8];

	return byte >> bit % 8 & ((1u << (1u << view->class_log2)) - 1);
}

static void
print_terrain(FILE *out, const struct hpa_view *view)
{
	for (uint32_t i = 0; i < view->n_classes; i++) {
		const uint8_t *class = view->classes + i * HPA_CLASS_SIZE;

		fprintf(out, "class %" PRIu32 " %" PRIu32 " ", i,
		        hpa_get_le32(class + HPA_CLASS_FACTOR));
		print_field(out, class + HPA_CLASS_NAME, HPA_CLASS_NAME_SIZE);
		fprintf(out, "\n");
	}
	for (uint32_t y = 0; y < view->height && view->n_classes > 0; y++) {
		fprintf(out, "terrain %" PRIu32, y);
		for (uint32_t x = 0, end; x < view->width; x = end) {
			uint32_t class = class_at(view, x, y);

			for (end = x + 1; end < view->width; end++)
				if (class_at(view, end, y) != class)
					break;
			fprintf(out, " %" PRIu32 "-%" PRIu32 ":%" PRIu32, x,
			        end - 1, class);
		}
		fprintf(out, "\n");
	}
}

static void
print_links(FILE *out, const struct hpa_view *view)
{
	for (uint32_t i = 0; i < view->n_links; i++) {
		const uint8_t *link = hpa_view_link(view, i);

		fprintf(out, "link %" PRIu32 " %u %u %u %u %" PRIu32 " %s ", i,
		        hpa_get_le16(link + HPA_LINK_FROM_X),
		        hpa_get_le16(link + HPA_LINK_FROM_Y),
		        hpa_get_le16(link + HPA_LINK_TO_X),
		        hpa_get_le16(link + HPA_LINK_TO_Y),
		        hpa_get_le32(link + HPA_LINK_COST),
		        hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY
		                ? "one-way"
		                : "two-way");
		print_field(out, link + HPA_LINK_NAME, HPA_LINK_NAME_SIZE);
		fprintf(out, "\n");
	}
}

static void
print_profile(FILE *out, const struct hpa_view *view)
{
	fprintf(out, "profile %" PRIu32 " %s %" PRIu32 " %s\n", view->profile,
	        or_dash(view->agent), view->agent_size,
	        or_dash(view->agent_terrain));
	fprintf(out,
	        "facts %" PRIu32 " %" PRIu32 " %s %" PRIu32 " %s %s %" PRIu64
	        " %" PRIu32 " %" PRIu32 "\n",
	        view->cluster_size, view->n_levels,
	        cli_name_of(bake_policy_names, (int)view->policy),
	        view->policy_parameter,
	        view->flags & HPA_FACT_FLAG_PRUNED ? "pruned" : "-",
	        view->flags & HPA_FACT_FLAG_PATHS ? "paths" : "-",
	        view->n_free_cells, view->n_components, view->min_factor);
}

static bool
is_free(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	return view->cells[y * view->stride + x / 8] >> x % 8 & 1;
}

static void
print_cells(FILE *out, const struct hpa_view *view)
{
	for (uint32_t y = 0; y < view->height; y++) {
		fprintf(out, "row %" PRIu32, y);
		for (uint32_t x = 0, end; x < view->width; x = end) {
			for (end = x; end < view->width; end++)
				if (!is_free(view, end, y))
					break;
			if (end > x)
				fprintf(out,
				        " %" PRIu32 "-%" PRIu32 ":%" PRIu32, x,
				        end - 1,
				        hpa_view_component(view, x, y));
			else
				end++;
		}
		fprintf(out, "\n");
	}
}

static void
print_nodes(FILE *out, const struct hpa_view *view)
{
	for (uint32_t id = 0; id < view->n_nodes; id++)
		fprintf(out, "node %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", id,
		        hpa_node_x(view, id), hpa_node_y(view, id));
	for (uint32_t id = 0; id < view->n_nodes; id++) {
		uint32_t e = hpa_get_u32(view->inter_first, id);
		uint32_t end = hpa_get_u32(view->inter_first, (size_t)id + 1);

		for (; e < end; e++) {
			uint32_t to = hpa_get_u32(view->inter_target, e);

			if (to > id)
				fprintf(out, "inter %" PRIu32 " %" PRIu32 "\n",
				        id, to);
		}
	}
	for (uint32_t i = 0; i < view->n_link_edges; i++) {
		const uint8_t *edge = hpa_view_link_edge(view, i);

		fprintf(out, "jump %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
		        hpa_get_le32(edge + HPA_LEDGE_FROM),
		        hpa_get_le32(edge + HPA_LEDGE_TO),
		        hpa_get_le32(edge + HPA_LEDGE_LINK));
	}
}

static void
print_reach(FILE *out, const struct hpa_view *view)
{
	for (uint32_t i = 0; i < view->n_reach; i++) {
		uint32_t from = hpa_get_u32(view->reach_components, i);

		fprintf(out, "reach %" PRIu32, from);
		for (uint32_t k = 0; k < view->n_reach; k++) {
			uint32_t to = hpa_get_u32(view->reach_components, k);

			if (to != from && hpa_view_reaches(view, from, to))
				fprintf(out, " %" PRIu32, to);
		}
		fprintf(out, "\n");
	}
}

/* The runs of a cached path, from the lower node to the higher one; false where
 * they do not lead there. */
static bool
print_path(FILE *out, const struct hpa_view *view, struct paths *paths,
           uint32_t paths_at, uint32_t edge, uint32_t from, uint32_t to)
{
	uint32_t x = hpa_node_x(view, from), y = hpa_node_y(view, from);
	uint32_t n_moves = 0;
	uint8_t start[4], run;
	size_t at = paths_at;

	if (!hpa_blocks_read(&paths->blocks, at + 4 * (size_t)edge, start, 4))
		return false;
	at += hpa_get_le32(start);
	while (x != hpa_node_x(view, to) || y != hpa_node_y(view, to)) {
		uint32_t direction, length;

		if (!hpa_blocks_read(&paths->blocks, at++, &run, 1))
			return false;
		direction = run & HPA_RUN_DIRECTION;
		length = ((uint32_t)run >> HPA_RUN_LENGTH_SHIFT) + 1;
		x += length * (uint32_t)step_x[direction];
		y += length * (uint32_t)step_y[direction];
		n_moves += length;
		if (n_moves > MAX_MOVES)
			return false;
		fprintf(out, " %s%" PRIu32, direction_names[direction], length);
	}
	return true;
}

static bool
print_table(FILE *out, const struct hpa_view *view, uint32_t l,
            uint32_t cluster, struct paths *paths)
{
	const struct hpa_view_level *level = &view->levels[l];
	uint32_t first = hpa_get_u32(level->first, cluster);
	struct hpa_table table;

	hpa_view_table(view, level, cluster, &table);
	for (uint32_t i = 0; i < table.n_nodes; i++) {
		uint32_t from = hpa_node_of_rank(level, first + i);
		uint32_t e = hpa_table_begin(&table, i);

		for (; e < hpa_table_end(&table, i); e++) {
			uint32_t to = hpa_table_target(&table, e);

			if (to < i)
				continue;
			to = hpa_node_of_rank(level, first + to);
			fprintf(out,
			        "edge %" PRIu32 " %" PRIu32 " %" PRIu32
			        " %" PRIu32,
			        l + 1, from, to, hpa_table_weight(&table, e));
			if (view->paths && table.paths != HPA_NONE &&
			    !print_path(out, view, paths, table.paths, e, from,
			                to))
				return false;
			fprintf(out, "\n");
		}
	}
	return true;
}

/* A cluster with its nodes, then its edges. */
static bool
print_clusters(FILE *out, const struct hpa_view *view, uint32_t l,
               struct paths *paths)
{
	const struct hpa_view_level *level = &view->levels[l];
	uint32_t n = level->clusters_x * level->clusters_y;

	for (uint32_t c = 0; c < n; c++) {
		uint32_t rank = hpa_get_u32(level->first, c);
		uint32_t end = hpa_get_u32(level->first, (size_t)c + 1);

		fprintf(out, "cluster %" PRIu32 " %" PRIu32, l + 1, c);
		for (; rank < end; rank++)
			fprintf(out, " %" PRIu32,
			        hpa_node_of_rank(level, rank));
		fprintf(out, "\n");
		if (!print_table(out, view, l, c, paths))
			return false;
	}
	return true;
}

static bool
print_levels(FILE *out, const struct hpa_view *view, struct paths *paths)
{
	for (uint32_t l = 0; l < view->n_levels; l++) {
		const struct hpa_view_level *level = &view->levels[l];

		fprintf(out,
		        "abstract %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
		        " %" PRIu64 " %" PRIu64 "\n",
		        l + 1, level->cluster_size, level->n_nodes,
		        level->n_inter, level->n_intra, level->n_stored);
		if (!print_clusters(out, view, l, paths))
			return false;
	}
	return true;
}

static enum diag_status
open_paths(const struct hpa_section *section, struct paths *paths,
           struct diag *diag)
{
	*paths = (struct paths){.room = NULL};
	if (!section)
		return DIAG_OK;
	paths->room = malloc(hpa_blocks_size(section) + 1);
	if (!paths->room ||
	    hpa_blocks_init(&paths->blocks, section, paths->room) != HPA_OK)
		return diag_set(diag, DIAG_FAILED, 0, "out of memory");
	return DIAG_OK;
}

enum diag_status
dump_baked(FILE *out, const struct baked *baked, struct diag *diag)
{
	struct paths paths;
	enum diag_status status =
		open_paths(baked->views[0].paths, &paths, diag);

	if (!status) {
		print_head(out, baked);
		print_terrain(out, &baked->views[0]);
		print_links(out, &baked->views[0]);
	}
	for (uint32_t p = 0; p < baked->n_profiles && !status; p++) {
		const struct hpa_view *view = &baked->views[p];

		print_profile(out, view);
		print_cells(out, view);
		print_nodes(out, view);
		print_reach(out, view);
		if (!print_levels(out, view, &paths)) {
			fprintf(out, "\n");
			status = diag_set(diag, DIAG_BAD_INPUT, 0,
			                  "a cached path leads nowhere");
		}
	}
	free(paths.room);
	return status;
}
