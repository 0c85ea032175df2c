/* hpa_view.c: checked sections -> a graph to walk on, in place.
 *
 * FACT and LEVL say how large the level and the abstraction are, from which the
 * size of every array follows; no other sizes are accepted. What is in the arrays
 * is the matter of hpa_check.c. */
#include "formats/hpa_view.h"

#include <string.h>

#include "formats/hpa_check.h"

/* The raw bytes of a section. */
struct piece {
	const uint8_t *raw;
	uint64_t size;
};

/* The section, or false with the text that is given for that. */
static bool
find_piece(const struct hpa_file *file, const char *id, uint32_t profile,
           const char *missing, struct piece *out, const char **detail)
{
	const struct hpa_section *section = hpa_file_find(file, id, profile);

	if (!section) {
		*detail = missing;
		return false;
	}
	*out = (struct piece){section->raw, section->raw_size};
	return true;
}

#define FIND(file, id, view, out, detail)                                      \
	find_piece(file, id, (view)->profile, "section " id " is missing",     \
	           out, detail)
#define WRONG_SIZE(id) "the size of section " id " is wrong"

static hpa_status
check_facts(const struct hpa_view *view, const char **detail)
{
	if (view->width == 0 || view->width > HPA_MAX_SIDE ||
	    view->height == 0 || view->height > HPA_MAX_SIDE)
		return refuse(detail, "the level's size is out of range");
	if (view->cluster_size < HPA_MIN_CLUSTER_SIZE ||
	    view->cluster_size > HPA_MAX_CLUSTER_SIZE)
		return refuse(detail, "the cluster size is out of range");
	if (view->n_levels == 0 || view->n_levels > HPA_MAX_LEVELS ||
	    view->cluster_size << (view->n_levels - 1) >
	            HPA_MAX_TOP_CLUSTER_SIZE)
		return refuse(detail, "the number of levels is out of range");
	if (view->moves > HPA_RULE_4)
		return refuse(detail, "the movement rule is unknown");
	if (view->cost_straight != (is_weighted(view) ? HPA_WEIGHTED_STRAIGHT
	                                              : HPA_COST_STRAIGHT) ||
	    view->cost_diagonal != (is_weighted(view) ? HPA_WEIGHTED_DIAGONAL
	                                              : HPA_COST_DIAGONAL))
		return refuse(detail, "the costs of a step are wrong");
	if (view->policy > HPA_POLICY_EVERY ||
	    (view->policy == HPA_POLICY_EVERY && view->policy_parameter == 0))
		return refuse(detail, "the transition policy is unknown");
	if (view->flags & ~(HPA_FACT_FLAG_PRUNED | HPA_FACT_FLAG_PATHS |
	                    HPA_FACT_FLAG_WEIGHTED))
		return refuse(detail, "a flag is unknown");
	if (view->agent_size == 0 || view->agent_size > HPA_MAX_AGENT_SIZE)
		return refuse(detail, "the agent's size is out of range");
	if (view->min_factor == 0 || view->min_factor > HPA_MAX_FACTOR ||
	    (!is_weighted(view) && view->min_factor != 1))
		return refuse(detail, "the least factor is out of range");
	if (view->n_nodes == HPA_NONE)
		return refuse(detail, "the number of nodes is out of range");
	if (view->n_free_cells >= HPA_COMP_MIXED ||
	    view->n_components > view->n_free_cells ||
	    (view->n_components == 0) != (view->n_free_cells == 0))
		return refuse(detail, "the number of components is impossible");
	return HPA_OK;
}

static hpa_status
read_facts(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	struct piece piece;
	const uint8_t *raw;

	if (!FIND(file, HPA_ID_FACTS, view, &piece, detail))
		return HPA_CORRUPT;
	if (piece.size != HPA_FACT_SIZE)
		return refuse(detail, WRONG_SIZE(HPA_ID_FACTS));
	raw = piece.raw;
	view->width = hpa_get_le32(raw + HPA_FACT_WIDTH);
	view->height = hpa_get_le32(raw + HPA_FACT_HEIGHT);
	view->cluster_size = hpa_get_le32(raw + HPA_FACT_CLUSTER_SIZE);
	view->n_levels = hpa_get_le32(raw + HPA_FACT_N_LEVELS);
	view->moves = (enum hpa_move_rule)hpa_get_le32(raw + HPA_FACT_MOVES);
	view->cost_straight = hpa_get_le32(raw + HPA_FACT_STRAIGHT);
	view->cost_diagonal = hpa_get_le32(raw + HPA_FACT_DIAGONAL);
	view->policy = (enum hpa_policy)hpa_get_le32(raw + HPA_FACT_POLICY);
	view->policy_parameter = hpa_get_le32(raw + HPA_FACT_PARAMETER);
	view->flags = hpa_get_le32(raw + HPA_FACT_FLAGS);
	view->agent_size = hpa_get_le32(raw + HPA_FACT_AGENT_SIZE);
	view->min_factor = hpa_get_le32(raw + HPA_FACT_MIN_FACTOR);
	view->n_nodes = hpa_get_le32(raw + HPA_FACT_N_NODES);
	view->n_components = hpa_get_le32(raw + HPA_FACT_N_COMPONENTS);
	view->n_free_cells = hpa_get_le64(raw + HPA_FACT_N_FREE_CELLS);
	return check_facts(view, detail);
}

static hpa_status
read_level(const struct hpa_view *view, const uint8_t *raw, uint32_t l,
           struct hpa_view_level *level, const char **detail)
{
	uint32_t size = view->cluster_size << l;

	level->cluster_size = size;
	level->reciprocal = UINT32_MAX / size + 1;
	level->clusters_x = (view->width + size - 1) / size;
	level->clusters_y = (view->height + size - 1) / size;
	level->n_nodes = hpa_get_le32(raw + HPA_LEVEL_N_NODES);
	level->n_inter = hpa_get_le32(raw + HPA_LEVEL_N_INTER);
	level->n_intra = hpa_get_le64(raw + HPA_LEVEL_N_INTRA);
	level->n_stored = hpa_get_le64(raw + HPA_LEVEL_N_STORED);
	if (hpa_get_le32(raw + HPA_LEVEL_CLUSTER_SIZE) != size)
		return refuse(detail, "a level's cluster size is wrong");
	if (hpa_get_le32(raw + HPA_LEVEL_RESERVED) != 0)
		return refuse(detail, "a level's reserved bytes are not 0");
	if (level->n_nodes > (l ? level[-1].n_nodes : view->n_nodes) ||
	    (l == 0 && level->n_nodes != view->n_nodes))
		return refuse(detail, "a level's number of nodes is wrong");
	if (level->n_intra < level->n_stored ||
	    (!(view->flags & HPA_FACT_FLAG_PRUNED) &&
	     level->n_intra != level->n_stored))
		return refuse(detail, "a level's number of edges is wrong");
	return HPA_OK;
}

static hpa_status
read_levels(const struct hpa_file *file, struct hpa_view *view,
            const char **detail)
{
	hpa_status st = HPA_OK;
	struct piece piece;

	if (!FIND(file, HPA_ID_LEVELS, view, &piece, detail))
		return HPA_CORRUPT;
	if (piece.size != (uint64_t)view->n_levels * HPA_LEVEL_SIZE)
		return refuse(detail, WRONG_SIZE(HPA_ID_LEVELS));
	for (uint32_t l = 0; l < view->n_levels && st == HPA_OK; l++)
		st = read_level(view, piece.raw + (size_t)l * HPA_LEVEL_SIZE, l,
		                &view->levels[l], detail);
	return st;
}

static hpa_status
find_cells(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	struct piece cells, labels;
	uint64_t labels_size = 4 * (uint64_t)n_clusters(&view->levels[0]);

	if (!FIND(file, HPA_ID_CELLS, view, &cells, detail) ||
	    !FIND(file, HPA_ID_COMPONENTS, view, &labels, detail))
		return HPA_CORRUPT;
	view->stride = (view->width + 7) / 8;
	if (cells.size != (uint64_t)view->stride * view->height)
		return refuse(detail, WRONG_SIZE(HPA_ID_CELLS));
	if (labels.size < labels_size || labels.size % 4 != 0)
		return refuse(detail, WRONG_SIZE(HPA_ID_COMPONENTS));
	view->cells = cells.raw;
	view->labels = labels.raw;
	view->run_labels = labels.raw + labels_size;
	view->n_run_labels = (size_t)(labels.size - labels_size) / 4;
	return HPA_OK;
}

static hpa_status
find_nodes(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	uint64_t n_firsts = (uint64_t)view->n_nodes + 1;
	uint64_t n_targets = 2 * (uint64_t)view->levels[0].n_inter;
	struct piece nodes, inter;

	if (!FIND(file, HPA_ID_NODES, view, &nodes, detail) ||
	    !FIND(file, HPA_ID_INTER, view, &inter, detail))
		return HPA_CORRUPT;
	if (nodes.size != (uint64_t)view->n_nodes * HPA_NODE_SIZE)
		return refuse(detail, WRONG_SIZE(HPA_ID_NODES));
	if (inter.size != 4 * (n_firsts + n_targets))
		return refuse(detail, WRONG_SIZE(HPA_ID_INTER));
	view->nodes = nodes.raw;
	view->inter_first = inter.raw;
	view->inter_target = inter.raw + 4 * n_firsts;
	return HPA_OK;
}

static bool
has_node(uint32_t l)
{
	return l > 0;
}

static bool
has_up(const struct hpa_view *view, uint32_t l)
{
	return l + 1 < view->n_levels;
}

static uint64_t
clusters_size(const struct hpa_view *view)
{
	uint64_t n = 0;

	for (uint32_t l = 0; l < view->n_levels; l++) {
		const struct hpa_view_level *level = &view->levels[l];
		uint64_t n_arrays = (uint64_t)has_node(l) + has_up(view, l);

		n += 2 * (uint64_t)n_clusters(level) + 1 +
		     n_arrays * level->n_nodes;
	}
	return 4 * n;
}

/* Step over an array of n u32. */
static const uint8_t *
take(const uint8_t **at, size_t n)
{
	const uint8_t *array = *at;

	*at += 4 * n;
	return array;
}

static hpa_status
find_clusters(const struct hpa_file *file, struct hpa_view *view,
              const char **detail)
{
	struct piece piece;
	const uint8_t *at;

	if (!FIND(file, HPA_ID_CLUSTERS, view, &piece, detail))
		return HPA_CORRUPT;
	if (piece.size != clusters_size(view))
		return refuse(detail, WRONG_SIZE(HPA_ID_CLUSTERS));
	at = piece.raw;
	for (uint32_t l = 0; l < view->n_levels; l++) {
		struct hpa_view_level *level = &view->levels[l];

		level->first = take(&at, (size_t)n_clusters(level) + 1);
		level->table = take(&at, n_clusters(level));
		if (has_node(l))
			level->node = take(&at, level->n_nodes);
		if (has_up(view, l))
			level->up = take(&at, level->n_nodes);
	}
	return HPA_OK;
}

/* Every rank is in one cluster; finds the most that are. */
static hpa_status
count_nodes(struct hpa_view_level *level, const char **detail)
{
	uint32_t n = n_clusters(level);
	uint32_t begin = 0;

	if (hpa_get_u32(level->first, 0) != 0 ||
	    hpa_get_u32(level->first, n) != level->n_nodes)
		return refuse(detail, "a level's clusters do not cover it");
	for (uint32_t c = 0; c < n; c++) {
		uint32_t end = hpa_get_u32(level->first, (size_t)c + 1);

		if (end < begin)
			return refuse(detail, "clusters are out of order");
		if (end - begin > level->max_nodes)
			level->max_nodes = end - begin;
		begin = end;
	}
	return HPA_OK;
}

static hpa_status
find_tables(const struct hpa_file *file, struct hpa_view *view,
            const char **detail)
{
	const struct hpa_section *paths = hpa_file_find(file, HPA_ID_PATHS, 0);
	struct piece tables;

	if (!find_piece(file, HPA_ID_TABLES, 0, "section TABL is missing",
	                &tables, detail))
		return HPA_CORRUPT;
	view->tables = tables.raw;
	view->tables_size = (size_t)tables.size;
	if (paths && !(view->flags & HPA_FACT_FLAG_PATHS))
		return refuse(detail, "cached paths are there, but no flag");
	view->paths = paths;
	return HPA_OK;
}

bool
hpa_read_text(const uint8_t *text, size_t size, char *out)
{
	size_t n = 0;

	while (n < size && text[n] > ' ' && text[n] < 0x7f)
		n++;
	memcpy(out, text, n);
	out[n] = 0;
	for (; n < size; n++)
		if (text[n] != 0)
			return false;
	return true;
}

/* Who the profile is for; a file without agents has one profile. */
static hpa_status
read_agent(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	const struct hpa_section *section =
		hpa_file_find(file, HPA_ID_AGENTS, 0);
	const uint8_t *record;

	if (!section)
		return HPA_OK;
	if (section->raw_size == 0 || section->raw_size % HPA_AGENT_SIZE != 0 ||
	    section->raw_size > HPA_MAX_PROFILES * HPA_AGENT_SIZE)
		return refuse(detail, WRONG_SIZE(HPA_ID_AGENTS));
	record = section->raw + (size_t)view->profile * HPA_AGENT_SIZE;
	if (!hpa_read_text(record + HPA_AGENT_NAME, HPA_AGENT_NAME_SIZE,
	                   view->agent) ||
	    !view->agent[0] ||
	    !hpa_read_text(record + HPA_AGENT_TERRAIN, HPA_AGENT_TERRAIN_SIZE,
	                   view->agent_terrain))
		return refuse(detail, "an agent's name is no text");
	return HPA_OK;
}

static hpa_status
find_terrain(const struct hpa_file *file, struct hpa_view *view,
             const char **detail)
{
	const struct hpa_section *section =
		hpa_file_find(file, HPA_ID_TERRAIN, 0);
	uint64_t records, rows;

	if (!section != !is_weighted(view))
		return refuse(detail, "terrain and its flag do not agree");
	if (!section)
		return HPA_OK;
	if (section->raw_size < HPA_TERR_CLASSES)
		return refuse(detail, WRONG_SIZE(HPA_ID_TERRAIN));
	view->n_classes = hpa_get_le32(section->raw + HPA_TERR_N_CLASSES);
	view->class_log2 = hpa_get_le32(section->raw + HPA_TERR_BITS_LOG2);
	if (view->n_classes == 0 || view->n_classes > HPA_MAX_CLASSES ||
	    view->class_log2 > 3)
		return refuse(detail, "the number of classes is out of range");
	view->class_stride =
		(((size_t)view->width << view->class_log2) + 7) / 8;
	records = (uint64_t)view->n_classes * HPA_CLASS_SIZE;
	rows = (uint64_t)view->class_stride * view->height;
	if (section->raw_size != HPA_TERR_CLASSES + records + rows)
		return refuse(detail, WRONG_SIZE(HPA_ID_TERRAIN));
	view->classes = section->raw + HPA_TERR_CLASSES;
	view->cell_classes = view->classes + records;
	return HPA_OK;
}

static hpa_status
find_links(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	const struct hpa_section *links = hpa_file_find(file, HPA_ID_LINKS, 0);
	struct piece edges;

	if (!links)
		return HPA_OK;
	if (links->raw_size % HPA_LINK_SIZE != 0 ||
	    links->raw_size / HPA_LINK_SIZE > HPA_MAX_LINKS)
		return refuse(detail, WRONG_SIZE(HPA_ID_LINKS));
	if (!FIND(file, HPA_ID_LINK_EDGES, view, &edges, detail))
		return HPA_CORRUPT;
	if (edges.size % HPA_LEDGE_SIZE != 0 ||
	    edges.size / HPA_LEDGE_SIZE > 2 * HPA_MAX_LINKS)
		return refuse(detail, WRONG_SIZE(HPA_ID_LINK_EDGES));
	view->links = links->raw;
	view->n_links = (uint32_t)(links->raw_size / HPA_LINK_SIZE);
	view->link_edges = edges.raw;
	view->n_link_edges = (uint32_t)(edges.size / HPA_LEDGE_SIZE);
	return HPA_OK;
}

static hpa_status
find_reach(const struct hpa_file *file, struct hpa_view *view,
           const char **detail)
{
	struct piece piece;
	uint32_t n;

	if (!view->links)
		return HPA_OK;
	if (!FIND(file, HPA_ID_REACH, view, &piece, detail))
		return HPA_CORRUPT;
	if (piece.size < HPA_REACH_COMPONENTS)
		return refuse(detail, WRONG_SIZE(HPA_ID_REACH));
	n = hpa_get_le32(piece.raw + HPA_REACH_N);
	if (n > HPA_MAX_REACH ||
	    piece.size != HPA_REACH_COMPONENTS + 4 * (uint64_t)n +
	                          (uint64_t)n * reach_stride(n))
		return refuse(detail, WRONG_SIZE(HPA_ID_REACH));
	view->n_reach = n;
	view->reach_components = piece.raw + HPA_REACH_COMPONENTS;
	view->reach_rows = view->reach_components + 4 * (size_t)n;
	return HPA_OK;
}

static hpa_status
find_hubs(const struct hpa_file *file, struct hpa_view *view,
          const char **detail)
{
	const struct hpa_section *section =
		hpa_file_find(file, HPA_ID_LABELS, view->profile);
	uint64_t least = hpa_hubs_size(view->n_nodes, 0, false);
	uint32_t wide, n;

	if (!section || section->stored_size == 0)
		return HPA_OK;
	if (!section->raw)
		return refuse(detail, "section HUBS is not stored");
	if (section->raw_size < least)
		return refuse(detail, WRONG_SIZE(HPA_ID_LABELS));
	wide = hpa_get_le32(section->raw + HPA_HUBS_WIDE);
	n = hpa_get_u32(section->raw + HPA_HUBS_FIRST, view->n_nodes);
	if (wide > 1 ||
	    section->raw_size != hpa_hubs_size(view->n_nodes, n, wide != 0))
		return refuse(detail, WRONG_SIZE(HPA_ID_LABELS));
	if (!wide && view->n_nodes > HPA_NARROW_MAX_HUBS)
		return refuse(detail, "narrow labels can't name all hubs");
	if (view->n_link_edges > 0)
		return refuse(detail, "there are labels beside links");
	hpa_hubs_at(section->raw, view->n_nodes, &view->hubs);
	return HPA_OK;
}

hpa_status
hpa_view_init(const struct hpa_file *file, uint32_t profile,
              struct hpa_view *out, const char **detail)
{
	hpa_status st;

	*out = (struct hpa_view){.profile = profile};
	st = read_agent(file, out, detail);
	if (st == HPA_OK)
		st = read_facts(file, out, detail);
	if (st == HPA_OK)
		st = find_terrain(file, out, detail);
	if (st == HPA_OK)
		st = find_links(file, out, detail);
	if (st == HPA_OK)
		st = find_reach(file, out, detail);
	if (st == HPA_OK)
		st = read_levels(file, out, detail);
	if (st == HPA_OK)
		st = find_cells(file, out, detail);
	if (st == HPA_OK)
		st = find_nodes(file, out, detail);
	if (st == HPA_OK)
		st = find_clusters(file, out, detail);
	for (uint32_t l = 0; l < out->n_levels && st == HPA_OK; l++)
		st = count_nodes(&out->levels[l], detail);
	if (st == HPA_OK)
		st = find_tables(file, out, detail);
	if (st == HPA_OK)
		st = find_hubs(file, out, detail);
	return st;
}
