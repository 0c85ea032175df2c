/* hpa_view.c: checked sections -> a graph to walk on, in place.
 *
 * hpa_view_init() reads FACT and LEVL, from which the size of every array
 * follows, and accepts no other sizes. hpa_view_check() then goes once over
 * everything else, allocating nothing, in an order in which each part may rely
 * on those before it:
 *
 *     cells       no bit beyond the width, as many free ones as stated
 *     nodes       free, in their cluster, in order
 *     ranks       of each level lead to nodes in the right cluster; the links
 *                 up lead to the same node
 *     inter-edges between neighbours in different clusters, both ways; a node
 *                 is at exactly the levels whose borders its edges cross
 *     tables      see below
 *     components  neighbouring free cells have one label
 *     terrain     every class is known, free cells have a factor
 *     links       both ends are inside; each usable one is an edge between the
 *                 right nodes, which are at all levels, and is known to the
 *                 components
 *     hubs        in order, of a rank that a node can have, over an edge that
 *                 the node has; that the distances are right is not checked
 *
 * A file has a view for each profile. Only the tables are one list for all of
 * them, and are checked for all of them together.
 *
 * A query's search takes a node from its heap once. That is right as long as no
 * edge is shorter than the octile distance of its ends, so this is checked for
 * every intra-edge, and that both directions of one cost the same.
 *
 * Clusters share tables, and a file could make a million of them share a huge
 * one. So that the work stays in proportion to the file's size, the inside of a
 * table is looked at once, for its owner, the first cluster that uses it. The
 * owners' tables lie one behind the other in the order of their owners; any
 * other cluster's offset is right if the record there names an owner before it
 * that has the same offset. For that owner the offset was a new one, or else
 * the same record would have had to name a still earlier owner. What remains to
 * be compared for a shared table is how the nodes lie, which decides their
 * octile distances. */
#include "formats/hpa_view.h"

#include <string.h>

#define N_STRAIGHT 4u /* directions, clockwise from east */

/* Two straight steps and a diagonal one: what a shortest way spends at the most
 * in a square of 2 x 2 cells (hpa.md shows why). */
#define COST_OF_SQUARE (2 * HPA_COST_STRAIGHT + HPA_COST_DIAGONAL)

static hpa_status
refuse(const char **detail, const char *why)
{
	*detail = why;
	return HPA_CORRUPT;
}

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

static bool
is_weighted(const struct hpa_view *view)
{
	return view->flags & HPA_FACT_FLAG_WEIGHTED;
}

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

static uint32_t
n_clusters(const struct hpa_view_level *level)
{
	return level->clusters_x * level->clusters_y;
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

/* Text, then zeros; *out gets one 0 more. */
static bool
read_text(const uint8_t *text, size_t size, char *out)
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
	if (!read_text(record + HPA_AGENT_NAME, HPA_AGENT_NAME_SIZE,
	               view->agent) ||
	    !view->agent[0] ||
	    !read_text(record + HPA_AGENT_TERRAIN, HPA_AGENT_TERRAIN_SIZE,
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

/* A row of REAC in bytes. */
static size_t
reach_stride(uint32_t n)
{
	return ((size_t)n + 7) / 8;
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
	if (wide > 1 || section->raw_size !=
	                        hpa_hubs_size(view->n_nodes, n, wide != 0))
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

/* The number of bits that are set: first of each 2, then 4, then 8, then their
 * sum in the highest byte. */
static uint32_t
count_ones(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(bits * 0x0101010101010101u >> 56);
}

/* The bits of n cells of a row, at most 32, the first one lowest. */
static uint32_t
row_bits(const struct hpa_view *view, uint32_t x, uint32_t y, uint32_t n)
{
	const uint8_t *row = view->cells + y * view->stride;
	uint32_t first = x / 8, end = (x + n + 7) / 8;
	uint64_t bits = 0;

	while (end > first)
		bits = bits << 8 | row[--end];
	return (uint32_t)(bits >> x % 8 & (((uint64_t)1 << n) - 1));
}

static bool
is_free(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	return view->cells[y * view->stride + x / 8] >> x % 8 & 1;
}

static hpa_status
check_cells(const struct hpa_view *view, const char **detail)
{
	size_t size = view->stride * view->height;
	uint32_t spare = (uint32_t)view->stride * 8 - view->width;
	uint64_t n_free = 0;
	size_t i;

	for (i = 0; size - i >= 8; i += 8)
		n_free += count_ones(hpa_get_le64(view->cells + i));
	for (; i < size; i++)
		n_free += count_ones(view->cells[i]);
	if (n_free != view->n_free_cells)
		return refuse(detail, "the number of free cells is wrong");
	for (i = view->stride; i <= size; i += view->stride)
		if (view->cells[i - 1] >> (8 - spare) != 0)
			return refuse(detail, "a cell beyond the width is set");
	return HPA_OK;
}

/* The cells of a level-1 cluster. */
struct window {
	uint32_t x, y, width, height;
};

static struct window
cluster_window(const struct hpa_view *view, uint32_t cluster)
{
	const struct hpa_view_level *level = &view->levels[0];
	struct window window = {
		.x = cluster % level->clusters_x * level->cluster_size,
		.y = cluster / level->clusters_x * level->cluster_size,
		.width = level->cluster_size,
		.height = level->cluster_size,
	};

	if (window.width > view->width - window.x)
		window.width = view->width - window.x;
	if (window.height > view->height - window.y)
		window.height = view->height - window.y;
	return window;
}

/* The nodes of a level-1 cluster: free cells of it, in reading order. */
static hpa_status
check_cluster_nodes(const struct hpa_view *view, uint32_t cluster,
                    const char **detail)
{
	const uint8_t *first = view->levels[0].first;
	struct window window = cluster_window(view, cluster);
	uint32_t end = hpa_get_u32(first, (size_t)cluster + 1);
	uint32_t least = 0;

	for (uint32_t id = hpa_get_u32(first, cluster); id < end; id++) {
		uint32_t x = hpa_node_x(view, id) - window.x;
		uint32_t y = hpa_node_y(view, id) - window.y;
		uint32_t place = y * window.width + x;

		if (x >= window.width || y >= window.height)
			return refuse(detail, "a node is not in its cluster");
		if (place < least)
			return refuse(detail, "nodes are out of order");
		if (!is_free(view, window.x + x, window.y + y))
			return refuse(detail, "a node is on a blocked cell");
		least = place + 1;
	}
	return HPA_OK;
}

static hpa_status
check_nodes(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = HPA_OK;

	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		st = check_cluster_nodes(view, c, detail);
	return st;
}

/* The ranks of one cluster of a level above the first. */
static hpa_status
check_cluster_ranks(const struct hpa_view *view,
                    const struct hpa_view_level *level, uint32_t cluster,
                    const char **detail)
{
	uint32_t rank = hpa_get_u32(level->first, cluster);
	uint32_t end = hpa_get_u32(level->first, (size_t)cluster + 1);
	uint32_t least = 0;

	for (; rank < end; rank++) {
		uint32_t id = hpa_get_u32(level->node, rank);

		if (id >= view->n_nodes)
			return refuse(detail, "a rank has no node");
		if (id < least)
			return refuse(detail, "ranks are out of order");
		if (hpa_cluster_at(level, hpa_node_x(view, id),
		                   hpa_node_y(view, id)) != cluster)
			return refuse(detail, "a rank is not in its cluster");
		least = id + 1;
	}
	return HPA_OK;
}

/* The links from a level to the one above: to the same nodes, and to all of
 * these. Different ranks are different nodes, so counting is enough. */
static hpa_status
check_up(const struct hpa_view_level *level, const char **detail)
{
	const struct hpa_view_level *above = level + 1;
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < level->n_nodes; rank++) {
		uint32_t up = hpa_get_u32(level->up, rank);

		if (up == HPA_NONE)
			continue;
		if (up >= above->n_nodes ||
		    hpa_get_u32(above->node, up) !=
		            hpa_node_of_rank(level, rank))
			return refuse(detail, "a link up leads astray");
		n++;
	}
	if (n != above->n_nodes)
		return refuse(detail, "a node is not at the level below");
	return HPA_OK;
}

static hpa_status
check_ranks(const struct hpa_view *view, const char **detail)
{
	hpa_status st = HPA_OK;

	for (uint32_t l = 1; l < view->n_levels && st == HPA_OK; l++) {
		const struct hpa_view_level *level = &view->levels[l];
		uint32_t n = n_clusters(level);

		for (uint32_t c = 0; c < n && st == HPA_OK; c++)
			st = check_cluster_ranks(view, level, c, detail);
		if (st == HPA_OK)
			st = check_up(level - 1, detail);
	}
	return st;
}

/* The direction of the straight step between two nodes, or N_STRAIGHT. */
static uint32_t
direction_of(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t dx = hpa_node_x(view, to) - hpa_node_x(view, from);
	uint32_t dy = hpa_node_y(view, to) - hpa_node_y(view, from);

	if (dy == 0 && dx == 1)
		return 0;
	if (dx == 0 && dy == 1)
		return 1;
	if (dy == 0 && dx == UINT32_MAX)
		return 2;
	if (dx == 0 && dy == UINT32_MAX)
		return 3;
	return N_STRAIGHT;
}

/* How many levels have the two nodes in different clusters. These are the
 * lowest ones, because clusters are made of clusters. */
static uint32_t
levels_crossed(const struct hpa_view *view, uint32_t a, uint32_t b)
{
	uint32_t l = 0;

	while (l < view->n_levels &&
	       hpa_cluster_at(&view->levels[l], hpa_node_x(view, a),
	                      hpa_node_y(view, a)) !=
	               hpa_cluster_at(&view->levels[l], hpa_node_x(view, b),
	                              hpa_node_y(view, b)))
		l++;
	return l;
}

static bool
has_inter_edge(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t edge = hpa_get_u32(view->inter_first, from);
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)from + 1);

	for (; edge < end; edge++)
		if (hpa_get_u32(view->inter_target, edge) == to)
			return true;
	return false;
}

/* The number of levels that a node belongs to, by its links up. */
static uint32_t
levels_of(const struct hpa_view *view, uint32_t id)
{
	uint32_t rank = id, l = 0;

	while (view->levels[l].up) {
		rank = hpa_get_u32(view->levels[l].up, rank);
		if (rank == HPA_NONE)
			break;
		l++;
	}
	return l + 1;
}

/* One node's inter-edges; those to higher nodes are added to the counts of the
 * levels they cross. */
static hpa_status
check_node_inter(const struct hpa_view *view, uint32_t id, uint32_t *n_inter,
                 const char **detail)
{
	uint32_t edge = hpa_get_u32(view->inter_first, id);
	uint32_t end = hpa_get_u32(view->inter_first, (size_t)id + 1);
	uint32_t least = 0, highest = 0;

	for (; edge < end; edge++) {
		uint32_t to = hpa_get_u32(view->inter_target, edge);
		uint32_t direction, crossed;

		if (to >= view->n_nodes)
			return refuse(detail, "an inter-edge leads nowhere");
		direction = direction_of(view, id, to);
		crossed = levels_crossed(view, id, to);
		if (direction == N_STRAIGHT || crossed == 0)
			return refuse(detail, "an inter-edge is no transition");
		if (direction < least)
			return refuse(detail, "inter-edges are out of order");
		if (!has_inter_edge(view, to, id))
			return refuse(detail, "an inter-edge has no way back");
		least = direction + 1;
		if (crossed > highest)
			highest = crossed;
		for (uint32_t l = 0; l < crossed && id < to; l++)
			n_inter[l]++;
	}
	/* The ends of links are at all levels. */
	if (levels_of(view, id) != highest &&
	    !(view->n_link_edges > 0 &&
	      levels_of(view, id) == view->n_levels))
		return refuse(detail, "a node is at the wrong levels");
	return HPA_OK;
}

static hpa_status
check_inter_firsts(const struct hpa_view *view, const char **detail)
{
	uint64_t n_targets = 2 * (uint64_t)view->levels[0].n_inter;
	uint64_t begin = 0;

	if (hpa_get_u32(view->inter_first, 0) != 0 ||
	    hpa_get_u32(view->inter_first, view->n_nodes) != n_targets)
		return refuse(detail, "the number of inter-edges is wrong");
	for (uint32_t id = 0; id < view->n_nodes; id++) {
		uint64_t end = hpa_get_u32(view->inter_first, (size_t)id + 1);

		/* Where it falls the difference is huge. */
		if (end - begin > N_STRAIGHT)
			return refuse(detail, "inter-edges are out of order");
		begin = end;
	}
	return HPA_OK;
}

static hpa_status
check_inter(const struct hpa_view *view, const char **detail)
{
	uint32_t n_inter[HPA_MAX_LEVELS] = {0};
	hpa_status st = check_inter_firsts(view, detail);

	for (uint32_t id = 0; id < view->n_nodes && st == HPA_OK; id++)
		st = check_node_inter(view, id, n_inter, detail);
	for (uint32_t l = 0; l < view->n_levels && st == HPA_OK; l++)
		if (n_inter[l] != view->levels[l].n_inter)
			st = refuse(detail,
			            "the number of inter-edges is wrong");
	return st;
}

/* The check of all tables: where it is, what it has found. */
struct table_check {
	const struct hpa_view *const *views;
	const struct hpa_view *view; /* the one it is at */
	uint64_t index;    /* of the cluster, counted through all profiles and
	                    * levels */
	size_t end;        /* of the tables that have an owner */
	uint64_t n_stored; /* edges of this level so far */
};

/* A cluster and its nodes' ranks. */
struct user {
	const struct hpa_view *view;
	const struct hpa_view_level *level;
	uint32_t first, n_nodes, offset;
};

static struct user
user_at(const struct hpa_view *view, const struct hpa_view_level *level,
        uint32_t cluster)
{
	uint32_t first = hpa_get_u32(level->first, cluster);

	return (struct user){
		.view = view,
		.level = level,
		.first = first,
		.n_nodes =
			hpa_get_u32(level->first, (size_t)cluster + 1) - first,
		.offset = hpa_get_u32(level->table, cluster),
	};
}

/* The cluster of that index, which must be one. */
static struct user
user_of_index(const struct hpa_view *const *views, uint32_t index)
{
	uint32_t l = 0;

	while (index >= n_clusters(&(*views)->levels[l])) {
		index -= n_clusters(&(*views)->levels[l]);
		if (++l == (*views)->n_levels) {
			l = 0;
			views++;
		}
	}
	return user_at(*views, &(*views)->levels[l], index);
}

static uint32_t
octile(const struct hpa_view *view, uint32_t a, uint32_t b)
{
	uint32_t x1 = hpa_node_x(view, a), x2 = hpa_node_x(view, b);
	uint32_t y1 = hpa_node_y(view, a), y2 = hpa_node_y(view, b);
	uint32_t dx = x1 < x2 ? x2 - x1 : x1 - x2;
	uint32_t dy = y1 < y2 ? y2 - y1 : y1 - y2;
	uint32_t shorter = dx < dy ? dx : dy;

	if (view->moves == HPA_RULE_4)
		return (dx + dy) * view->cost_straight * view->min_factor;
	return (shorter * view->cost_diagonal +
	        (dx + dy - 2 * shorter) * view->cost_straight) *
	       view->min_factor;
}

/* The most that a way inside a cluster of this level can cost. */
static uint64_t
max_weight(const struct hpa_view *view, const struct hpa_view_level *level)
{
	uint64_t squares = (view->cluster_size + 1) / 2;

	squares *= level->cluster_size / view->cluster_size;
	if (is_weighted(view))
		return squares * squares * 4 * HPA_WEIGHTED_DIAGONAL *
		       HPA_MAX_FACTOR;
	return squares * squares * COST_OF_SQUARE;
}

/* The edge to a node in a row whose targets rise, or HPA_NONE. */
static uint32_t
find_edge(const struct hpa_table *table, uint32_t from, uint32_t to)
{
	uint32_t low = hpa_table_begin(table, from);
	uint32_t high = hpa_table_end(table, from);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t target = hpa_table_target(table, middle);

		if (target == to)
			return middle;
		if (target < to)
			low = middle + 1;
		else
			high = middle;
	}
	return HPA_NONE;
}

/* One row: other nodes, rising, at costs that are possible. */
static hpa_status
check_row(const struct hpa_view *view, const struct user *user,
          const struct hpa_table *table, uint32_t from, const char **detail)
{
	uint32_t end = hpa_table_end(table, from);
	uint32_t id = hpa_node_of_rank(user->level, user->first + from);
	uint64_t most = max_weight(view, user->level);
	uint32_t least = 0;

	for (uint32_t e = hpa_table_begin(table, from); e < end; e++) {
		uint32_t to = hpa_table_target(table, e);
		uint32_t weight = hpa_table_weight(table, e);

		if (to >= table->n_nodes || to == from)
			return refuse(detail, "an intra-edge leads nowhere");
		if (to < least)
			return refuse(detail, "intra-edges are out of order");
		least = to + 1;
		to = hpa_node_of_rank(user->level, user->first + to);
		if (weight < octile(view, id, to) || weight > most)
			return refuse(detail, "an intra-edge's cost is "
			                      "impossible");
	}
	return HPA_OK;
}

/* Every edge to a higher node has its like back, and there are no others back:
 * as many edges lead down as up. */
static hpa_status
check_symmetry(const struct hpa_table *table, const char **detail)
{
	uint32_t n_up = 0, begin = 0;

	for (uint32_t from = 0; from < table->n_nodes; from++) {
		uint32_t end = hpa_table_end(table, from);

		for (uint32_t e = begin; e < end; e++) {
			uint32_t to = hpa_table_target(table, e), back;

			if (to < from)
				continue;
			back = find_edge(table, to, from);
			if (back == HPA_NONE ||
			    hpa_table_weight(table, back) !=
			            hpa_table_weight(table, e))
				return refuse(detail, "an intra-edge has no "
				                      "way back");
			n_up++;
		}
		begin = end;
	}
	if (table->n_edges != 2 * (uint64_t)n_up)
		return refuse(detail, "an intra-edge has no way back");
	return HPA_OK;
}

/* Narrow where that is enough. */
static bool
has_right_width(const struct hpa_table *table)
{
	if (!table->wide)
		return table->n_nodes <= HPA_NARROW_MAX_NODES;
	if (table->n_nodes > HPA_NARROW_MAX_NODES)
		return true;
	for (uint32_t e = 0; e < table->n_edges; e++)
		if (hpa_table_weight(table, e) > HPA_NARROW_MAX_WEIGHT)
			return true;
	return false;
}

/* Make a table of the bytes there and check that it fits them: *size is what
 * it takes. */
static hpa_status
read_record(const uint8_t *record, size_t left, struct hpa_table *out,
            size_t *size, const char **detail)
{
	uint64_t unpadded, padded, end = 0;
	uint32_t n, wide;

	if (left < HPA_TABLE_ENDS)
		return refuse(detail, "a table is cut off");
	n = hpa_get_le16(record + HPA_TABLE_N_NODES);
	wide = hpa_get_le16(record + HPA_TABLE_WIDE);
	if (wide > 1)
		return refuse(detail, "a table's width is unknown");
	if ((size_t)n * (wide ? 4 : 2) > left - HPA_TABLE_ENDS)
		return refuse(detail, "a table is cut off");
	hpa_table_at(record, out);
	for (uint32_t i = 0; i < n; i++) {
		if (hpa_table_end(out, i) < end)
			return refuse(detail, "a table's rows are out of "
			                      "order");
		end = hpa_table_end(out, i);
	}
	unpadded = HPA_TABLE_ENDS + (uint64_t)n * (wide ? 4 : 2) +
	           end * (wide ? 6 : 3);
	padded = hpa_table_size(n, out->n_edges, out->wide);
	if (padded > left)
		return refuse(detail, "a table is cut off");
	*size = (size_t)padded;
	for (size_t i = (size_t)unpadded; i < *size; i++)
		if (record[i] != 0)
			return refuse(detail, "a table's padding is not 0");
	return HPA_OK;
}

/* A table behind those that are known: this cluster's own. */
static hpa_status
check_own_table(struct table_check *check, const struct user *user,
                struct hpa_table *table, const char **detail)
{
	const struct hpa_view *view = check->view;
	const uint8_t *record = view->tables + check->end;
	size_t size;
	hpa_status st = read_record(record, view->tables_size - check->end,
	                            table, &size, detail);

	if (st != HPA_OK)
		return st;
	if (hpa_get_le32(record + HPA_TABLE_OWNER) != check->index)
		return refuse(detail, "a table's owner is wrong");
	if (table->n_nodes != user->n_nodes)
		return refuse(detail, "a table's number of nodes is wrong");
	for (uint32_t i = 0; i < table->n_nodes && st == HPA_OK; i++)
		st = check_row(view, user, table, i, detail);
	if (st == HPA_OK)
		st = check_symmetry(table, detail);
	if (st == HPA_OK && !has_right_width(table))
		st = refuse(detail, "a table's width is wrong");
	check->end += size;
	return st;
}

/* How far a node lies from the cluster's first one. */
static uint64_t
relative_place(const struct user *user, uint32_t i)
{
	const struct hpa_view *view = user->view;
	uint32_t first = hpa_node_of_rank(user->level, user->first);
	uint32_t node = hpa_node_of_rank(user->level, user->first + i);

	return (uint64_t)(hpa_node_x(view, node) - hpa_node_x(view, first))
	               << 32 |
	       (hpa_node_y(view, node) - hpa_node_y(view, first));
}

/* An earlier cluster's table. */
static hpa_status
check_shared_table(const struct table_check *check, const struct user *user,
                   struct hpa_table *table, const char **detail)
{
	const struct hpa_view *view = check->view;
	const uint8_t *record = view->tables + user->offset;
	struct user owner;
	uint32_t index;

	if (user->offset > check->end ||
	    HPA_TABLE_ENDS > check->end - user->offset)
		return refuse(detail, "a table is not in its place");
	index = hpa_get_le32(record + HPA_TABLE_OWNER);
	if (index >= check->index)
		return refuse(detail, "a table's owner is wrong");
	owner = user_of_index(check->views, index);
	if (owner.offset != user->offset)
		return refuse(detail, "a table's owner is wrong");
	if (owner.n_nodes != user->n_nodes)
		return refuse(detail, "a table's number of nodes is wrong");
	/* What a table may hold depends on the cheapest factor. */
	if (owner.view->min_factor < view->min_factor)
		return refuse(detail, "a table is shared by clusters that "
		                      "differ");
	for (uint32_t i = 1; i < user->n_nodes; i++)
		if (relative_place(&owner, i) != relative_place(user, i))
			return refuse(detail, "a table is shared by clusters "
			                      "that differ");
	hpa_table_at(record, table);
	return HPA_OK;
}

/* The edges of level 1, and no others, have paths if any have. */
static hpa_status
check_table_paths(const struct hpa_view *view, const struct user *user,
                  const struct hpa_table *table, const char **detail)
{
	bool wanted = (view->flags & HPA_FACT_FLAG_PATHS) &&
	              user->level == view->levels && table->n_edges > 0;

	if ((table->paths != HPA_NONE) != wanted)
		return refuse(detail, "a table's cached paths are wrong");
	if (wanted && view->paths &&
	    (table->paths > view->paths->raw_size ||
	     table->n_edges > (view->paths->raw_size - table->paths) / 4))
		return refuse(detail, "a table's cached paths are cut off");
	return HPA_OK;
}

static hpa_status
check_cluster_table(struct table_check *check, const struct user *user,
                    const char **detail)
{
	struct hpa_table table;
	hpa_status st =
		user->offset == check->end
			? check_own_table(check, user, &table, detail)
			: check_shared_table(check, user, &table, detail);

	if (st == HPA_OK)
		st = check_table_paths(check->view, user, &table, detail);
	if (st == HPA_OK)
		check->n_stored += table.n_edges / 2;
	check->index++;
	return st;
}

static hpa_status
check_level_tables(struct table_check *check,
                   const struct hpa_view_level *level, const char **detail)
{
	uint32_t n = n_clusters(level);

	check->n_stored = 0;
	for (uint32_t c = 0; c < n; c++) {
		struct user user = user_at(check->view, level, c);
		hpa_status st = check_cluster_table(check, &user, detail);

		if (st != HPA_OK)
			return st;
	}
	if (check->n_stored != level->n_stored)
		return refuse(detail, "the number of intra-edges is wrong");
	return HPA_OK;
}

static hpa_status
check_tables(const struct hpa_view *const *views, uint32_t n_profiles,
             const char **detail)
{
	struct table_check check = {.views = views};
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < n_profiles; p++) {
		check.view = views[p];
		for (uint32_t l = 0;
		     l < views[p]->n_levels && st == HPA_OK; l++)
			st = check_level_tables(&check, &views[p]->levels[l],
			                        detail);
	}
	if (st == HPA_OK && check.end != views[0]->tables_size)
		return refuse(detail, "there is something behind the tables");
	return st;
}

/* Where runs of free cells begin in the bits of a row. */
static uint32_t
run_starts(uint32_t bits)
{
	return bits & ~(bits << 1);
}

static uint32_t
count_runs(const struct hpa_view *view, const struct window *window)
{
	uint32_t n = 0;

	for (uint32_t y = 0; y < window->height; y++)
		n += count_ones(run_starts(row_bits(
			view, window->x, window->y + y, window->width)));
	return n;
}

static bool
is_mixed(uint32_t label)
{
	return label != HPA_COMP_NONE && (label & HPA_COMP_MIXED);
}

/* A cluster's own label, or that its runs are the next ones. */
static hpa_status
check_label(const struct hpa_view *view, uint32_t cluster, uint32_t *n_runs,
            const char **detail)
{
	struct window window = cluster_window(view, cluster);
	uint32_t label = hpa_get_u32(view->labels, cluster);
	uint32_t n = count_runs(view, &window);

	if ((n == 0) != (label == HPA_COMP_NONE))
		return refuse(detail, "a cluster's label is wrong");
	if (n == 0)
		return HPA_OK;
	if (!is_mixed(label)) {
		if (label >= view->n_components)
			return refuse(detail, "a label is out of range");
		return HPA_OK;
	}
	if ((label & ~HPA_COMP_MIXED) != *n_runs ||
	    n > view->n_run_labels - *n_runs)
		return refuse(detail, "a cluster's labels are not in place");
	*n_runs += n;
	return HPA_OK;
}

static hpa_status
check_labels(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = HPA_OK;
	uint32_t n_runs = 0;

	for (size_t i = 0; i < view->n_run_labels; i++)
		if (hpa_get_u32(view->run_labels, i) >= view->n_components)
			return refuse(detail, "a label is out of range");
	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		st = check_label(view, c, &n_runs, detail);
	if (st == HPA_OK && n_runs != view->n_run_labels)
		st = refuse(detail, "the number of labels is wrong");
	return st;
}

/* The component of each cell of a cluster; HPA_COMP_NONE for blocked ones. */
struct label_map {
	struct window window;
	uint32_t label[HPA_MAX_CLUSTER_SIZE][HPA_MAX_CLUSTER_SIZE];
};

static void
draw_labels(const struct hpa_view *view, uint32_t cluster,
            struct label_map *out)
{
	uint32_t label = hpa_get_u32(view->labels, cluster);
	bool mixed = is_mixed(label);
	size_t run = label & ~HPA_COMP_MIXED;

	out->window = cluster_window(view, cluster);
	for (uint32_t y = 0; y < out->window.height; y++) {
		uint32_t bits = row_bits(view, out->window.x, out->window.y + y,
		                         out->window.width);
		uint32_t starts = run_starts(bits);

		for (uint32_t x = 0; x < out->window.width; x++) {
			if (mixed && (starts >> x & 1))
				label = hpa_get_u32(view->run_labels, run++);
			out->label[y][x] =
				bits >> x & 1 ? label : HPA_COMP_NONE;
		}
	}
}

static bool
labels_agree(uint32_t a, uint32_t b)
{
	return a == b || a == HPA_COMP_NONE || b == HPA_COMP_NONE;
}

/* Cells beside each other in a row are of one run. */
static bool
agrees_inside(const struct label_map *map)
{
	for (uint32_t y = 1; y < map->window.height; y++)
		for (uint32_t x = 0; x < map->window.width; x++)
			if (!labels_agree(map->label[y - 1][x],
			                  map->label[y][x]))
				return false;
	return true;
}

static bool
agrees_to_the_right(const struct label_map *map, const struct label_map *right)
{
	for (uint32_t y = 0; y < map->window.height; y++)
		if (!labels_agree(map->label[y][map->window.width - 1],
		                  right->label[y][0]))
			return false;
	return true;
}

static bool
agrees_below(const struct label_map *map, const struct label_map *below)
{
	for (uint32_t x = 0; x < map->window.width; x++)
		if (!labels_agree(map->label[map->window.height - 1][x],
		                  below->label[0][x]))
			return false;
	return true;
}

/* Do two clusters have to be compared cell by cell? */
static bool
may_disagree(const struct hpa_view *view, uint32_t a, uint32_t b)
{
	uint32_t label_a = hpa_get_u32(view->labels, a);
	uint32_t label_b = hpa_get_u32(view->labels, b);

	return is_mixed(label_a) || !labels_agree(label_a, label_b);
}

/* A cluster in itself and towards its neighbours to the right and below. */
static bool
agrees(const struct hpa_view *view, uint32_t cluster)
{
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t right = cluster + 1, below = cluster + level->clusters_x;
	bool look_right = right % level->clusters_x != 0 &&
	                  may_disagree(view, cluster, right);
	bool look_below =
		below < n_clusters(level) && may_disagree(view, cluster, below);
	struct label_map map, other;

	if (!is_mixed(hpa_get_u32(view->labels, cluster)) && !look_right &&
	    !look_below)
		return true;
	draw_labels(view, cluster, &map);
	if (!agrees_inside(&map))
		return false;
	if (look_right) {
		draw_labels(view, right, &other);
		if (!agrees_to_the_right(&map, &other))
			return false;
	}
	if (look_below) {
		draw_labels(view, below, &other);
		if (!agrees_below(&map, &other))
			return false;
	}
	return true;
}

static hpa_status
check_components(const struct hpa_view *view, const char **detail)
{
	uint32_t n = n_clusters(&view->levels[0]);
	hpa_status st = check_labels(view, detail);

	for (uint32_t c = 0; c < n && st == HPA_OK; c++)
		if (!agrees(view, c))
			st = refuse(detail,
			            "neighbouring cells have two labels");
	return st;
}

static uint32_t
class_at(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << view->class_log2;
	uint32_t byte = view->cell_classes[y * view->class_stride + bit / 8];

	return byte >> bit % 8 & ((1u << (1u << view->class_log2)) - 1);
}

static uint32_t
class_factor(const struct hpa_view *view, uint32_t class)
{
	return hpa_get_le32(view->classes + (size_t)class * HPA_CLASS_SIZE +
	                    HPA_CLASS_FACTOR);
}

static hpa_status
check_classes(const struct hpa_view *view, const char **detail)
{
	char name[HPA_CLASS_NAME_SIZE + 1];

	for (uint32_t i = 0; i < view->n_classes; i++)
		if (!read_text(view->classes + (size_t)i * HPA_CLASS_SIZE +
		                       HPA_CLASS_NAME,
		               HPA_CLASS_NAME_SIZE, name) ||
		    class_factor(view, i) > HPA_MAX_FACTOR)
			return refuse(detail, "a terrain class is wrong");
	return HPA_OK;
}

/* Free cells have a factor, and none a smaller one than the least. */
static hpa_status
check_terrain(const struct hpa_view *view, const char **detail)
{
	uint32_t least = HPA_MAX_FACTOR + 1;
	hpa_status st = check_classes(view, detail);

	for (uint32_t y = 0; y < view->height && st == HPA_OK; y++) {
		for (uint32_t x = 0; x < view->width; x++) {
			uint32_t class = class_at(view, x, y), factor;

			if (class >= view->n_classes)
				return refuse(detail, "a cell's class is "
				                      "unknown");
			factor = class_factor(view, class);
			if (!is_free(view, x, y))
				continue;
			if (factor == 0)
				return refuse(detail, "a free cell has no "
				                      "factor");
			least = factor < least ? factor : least;
		}
	}
	if (st == HPA_OK && least <= HPA_MAX_FACTOR &&
	    least != view->min_factor)
		st = refuse(detail, "the least factor is wrong");
	return st;
}

static bool
is_inside(const struct hpa_view *view, const uint8_t *cell)
{
	return hpa_get_le16(cell) < view->width &&
	       hpa_get_le16(cell + 2) < view->height;
}

/* The edges that a link is in this profile: none if an end is blocked. */
static uint32_t
count_link_edges(const struct hpa_view *view, const uint8_t *link)
{
	if (!is_free(view, hpa_get_le16(link + HPA_LINK_FROM_X),
	             hpa_get_le16(link + HPA_LINK_FROM_Y)) ||
	    !is_free(view, hpa_get_le16(link + HPA_LINK_TO_X),
	             hpa_get_le16(link + HPA_LINK_TO_Y)))
		return 0;
	return hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY ? 1 : 2;
}

static bool
node_is_at(const struct hpa_view *view, uint32_t node, const uint8_t *cell)
{
	return hpa_node_x(view, node) == hpa_get_le16(cell) &&
	       hpa_node_y(view, node) == hpa_get_le16(cell + 2);
}

/* Does the edge go from one end of its link to the other, in a direction that
 * it has? */
static bool
follows_link(const struct hpa_view *view, uint32_t from, uint32_t to,
             const uint8_t *link)
{
	const uint8_t *begin = link + HPA_LINK_FROM_X;
	const uint8_t *end = link + HPA_LINK_TO_X;

	if (node_is_at(view, from, begin) && node_is_at(view, to, end))
		return true;
	return !(hpa_get_le32(link + HPA_LINK_FLAGS) & HPA_LINK_ONE_WAY) &&
	       node_is_at(view, from, end) && node_is_at(view, to, begin);
}

static hpa_status
check_link_edge(const struct hpa_view *view, uint32_t index,
                const char **detail)
{
	const uint8_t *edge = hpa_view_link_edge(view, index);
	uint32_t from = hpa_get_le32(edge + HPA_LEDGE_FROM);
	uint32_t to = hpa_get_le32(edge + HPA_LEDGE_TO);
	uint32_t link = hpa_get_le32(edge + HPA_LEDGE_LINK);

	if (from >= view->n_nodes || to >= view->n_nodes ||
	    link >= view->n_links)
		return refuse(detail, "a link leads nowhere");
	if (index > 0) {
		const uint8_t *before = edge - HPA_LEDGE_SIZE;
		uint32_t last = hpa_get_le32(before + HPA_LEDGE_FROM);

		if (last > from ||
		    (last == from &&
		     hpa_get_le32(before + HPA_LEDGE_LINK) >= link))
			return refuse(detail, "links are out of order");
	}
	if (!follows_link(view, from, to, hpa_view_link(view, link)))
		return refuse(detail, "a link is not where it should be");
	if (levels_of(view, from) != view->n_levels ||
	    levels_of(view, to) != view->n_levels)
		return refuse(detail, "a link is not at every level");
	if (!hpa_view_reaches(view,
	                      hpa_view_component(view, hpa_node_x(view, from),
	                                         hpa_node_y(view, from)),
	                      hpa_view_component(view, hpa_node_x(view, to),
	                                         hpa_node_y(view, to))))
		return refuse(detail, "a link is not in the components");
	return HPA_OK;
}

static bool
reach_bit(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	const uint8_t *row =
		view->reach_rows + from * reach_stride(view->n_reach);

	return row[to / 8] >> to % 8 & 1;
}

/* Has one row all bits of another? There may be a million pairs of them. */
static bool
has_bits_of(const uint8_t *row, const uint8_t *other, size_t size)
{
	uint64_t missing = 0;
	size_t i;

	for (i = 0; size - i >= 8; i += 8)
		missing |= hpa_get_le64(other + i) & ~hpa_get_le64(row + i);
	for (; i < size; i++)
		missing |= other[i] & ~(uint64_t)row[i];
	return missing == 0;
}

/* Components rise; each reaches itself and all that those it reaches reach. */
static hpa_status
check_reach(const struct hpa_view *view, const char **detail)
{
	uint32_t n = view->n_reach;
	size_t stride = reach_stride(n);
	const uint8_t *rows = view->reach_rows;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t component = hpa_get_u32(view->reach_components, i);

		if (component >= view->n_components ||
		    (i > 0 && component <= hpa_get_u32(view->reach_components,
		                                       i - 1)) ||
		    !reach_bit(view, i, i) ||
		    (n % 8 != 0 &&
		     rows[i * stride + stride - 1] >> n % 8 != 0))
			return refuse(detail, "reachable components are wrong");
		for (uint32_t k = 0; k < n; k++)
			if (reach_bit(view, i, k) &&
			    !has_bits_of(rows + i * stride, rows + k * stride,
			                 stride))
				return refuse(detail, "reachable components "
				                      "are wrong");
	}
	return HPA_OK;
}

static hpa_status
check_links(const struct hpa_view *view, const char **detail)
{
	char name[HPA_LINK_NAME_SIZE + 1];
	hpa_status st = check_reach(view, detail);
	uint32_t n_edges = 0;

	for (uint32_t i = 0; i < view->n_links && st == HPA_OK; i++) {
		const uint8_t *link = hpa_view_link(view, i);

		if ((hpa_get_le32(link + HPA_LINK_FLAGS) & ~HPA_LINK_ONE_WAY) ||
		    hpa_get_le32(link + HPA_LINK_COST) > HPA_MAX_LINK_COST ||
		    !read_text(link + HPA_LINK_NAME, HPA_LINK_NAME_SIZE, name))
			return refuse(detail, "a link is wrong");
		if (!is_inside(view, link + HPA_LINK_FROM_X) ||
		    !is_inside(view, link + HPA_LINK_TO_X))
			return refuse(detail, "a link leads out of the level");
		n_edges += count_link_edges(view, link);
	}
	if (st == HPA_OK && n_edges != view->n_link_edges)
		st = refuse(detail, "the number of links is wrong");
	for (uint32_t i = 0; i < n_edges && st == HPA_OK; i++)
		st = check_link_edge(view, i, detail);
	return st;
}

static hpa_status
check_profile(const struct hpa_view *view, const char **detail)
{
	hpa_status st = check_cells(view, detail);

	if (st == HPA_OK)
		st = check_nodes(view, detail);
	if (st == HPA_OK)
		st = check_ranks(view, detail);
	if (st == HPA_OK)
		st = check_inter(view, detail);
	if (st == HPA_OK)
		st = check_components(view, detail);
	if (st == HPA_OK && is_weighted(view))
		st = check_terrain(view, detail);
	if (st == HPA_OK && view->links)
		st = check_links(view, detail);
	return st;
}

/* The edges of a node at level 1: those out of its cluster and its row. */
static uint32_t
count_edges(const struct hpa_view *view, uint32_t node)
{
	const struct hpa_view_level *level = &view->levels[0];
	uint32_t cluster = hpa_cluster_at(level, hpa_node_x(view, node),
	                                  hpa_node_y(view, node));
	uint32_t local = node - hpa_get_u32(level->first, cluster);
	struct hpa_table table;

	hpa_view_table(view, level, cluster, &table);
	return hpa_get_u32(view->inter_first, (size_t)node + 1) -
	       hpa_get_u32(view->inter_first, node) +
	       hpa_table_end(&table, local) - hpa_table_begin(&table, local);
}

static hpa_status
check_label_of(const struct hpa_view *view, uint32_t node, uint32_t begin,
               uint32_t end, const char **detail)
{
	const struct hpa_hubs *hubs = &view->hubs;
	uint32_t n_edges = count_edges(view, node);

	for (uint32_t e = begin; e < end; e++) {
		uint32_t rank = hpa_hub_rank(hubs, hubs->is_wide, e);

		if (rank >= view->n_nodes ||
		    (e > begin &&
		     rank <= hpa_hub_rank(hubs, hubs->is_wide, e - 1)))
			return refuse(detail, "a label's hubs are out of order");
		if (hpa_hub_distance(hubs, hubs->is_wide, e) > HPA_MAX_DISTANCE)
			return refuse(detail, "a hub is too far away");
		if (hubs->edges[e] >= n_edges)
			return refuse(detail, "a label names no edge");
	}
	return HPA_OK;
}

static hpa_status
check_hubs(const struct hpa_view *view, const char **detail)
{
	hpa_status st = HPA_OK;
	uint32_t begin = 0;

	if (!view->hubs.first)
		return HPA_OK;
	if (hpa_hubs_first(&view->hubs, 0) != 0)
		return refuse(detail, "labels are out of order");
	/* What they end with is known to be inside. */
	for (uint32_t id = 0; id < view->n_nodes; id++)
		if (hpa_hubs_first(&view->hubs, id + 1) <
		    hpa_hubs_first(&view->hubs, id))
			return refuse(detail, "labels are out of order");
	for (uint32_t id = 0; id < view->n_nodes && st == HPA_OK; id++) {
		uint32_t end = hpa_hubs_first(&view->hubs, id + 1);

		st = check_label_of(view, id, begin, end, detail);
		begin = end;
	}
	return st;
}

/* What the profiles of a file have in common. */
static hpa_status
check_alike(const struct hpa_view *view, const struct hpa_view *first,
            const char **detail)
{
	if (view->width != first->width || view->height != first->height ||
	    view->moves != first->moves || view->flags != first->flags)
		return refuse(detail, "profiles do not have one level");
	return HPA_OK;
}

hpa_status
hpa_view_check(const struct hpa_view *const *views, uint32_t n_profiles,
               const char **detail)
{
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < n_profiles && st == HPA_OK; p++) {
		st = check_alike(views[p], views[0], detail);
		if (st == HPA_OK)
			st = check_profile(views[p], detail);
	}
	if (st == HPA_OK)
		st = check_tables(views, n_profiles, detail);
	for (uint32_t p = 0; p < n_profiles && st == HPA_OK; p++)
		st = check_hubs(views[p], detail);
	return st;
}

uint32_t
hpa_view_first_link_edge(const struct hpa_view *view, uint32_t node)
{
	uint32_t low = 0, high = view->n_link_edges;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const uint8_t *edge = hpa_view_link_edge(view, middle);

		if (hpa_get_le32(edge + HPA_LEDGE_FROM) < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The place of a component in REAC, or n_reach. */
static uint32_t
find_reach_row(const struct hpa_view *view, uint32_t component)
{
	uint32_t low = 0, high = view->n_reach;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t found = hpa_get_u32(view->reach_components, middle);

		if (found == component)
			return middle;
		if (found < component)
			low = middle + 1;
		else
			high = middle;
	}
	return view->n_reach;
}

bool
hpa_view_reaches(const struct hpa_view *view, uint32_t from, uint32_t to)
{
	uint32_t row, column;

	if (from == to)
		return true;
	row = find_reach_row(view, from);
	column = find_reach_row(view, to);
	return row < view->n_reach && column < view->n_reach &&
	       reach_bit(view, row, column);
}

uint32_t
hpa_view_component(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	uint32_t cluster = hpa_cluster_at(&view->levels[0], x, y);
	uint32_t label = hpa_get_u32(view->labels, cluster);
	struct window window;
	uint32_t run;

	if (!is_mixed(label))
		return label;
	/* The runs above, and those of the row up to the cell's own. */
	window = cluster_window(view, cluster);
	window.height = y - window.y;
	run = (label & ~HPA_COMP_MIXED) + count_runs(view, &window);
	run += count_ones(
		run_starts(row_bits(view, window.x, y, x - window.x + 1)));
	return hpa_get_u32(view->run_labels, run - 1);
}
