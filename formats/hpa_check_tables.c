/* hpa_check_tables.c: are the tables of intra-edges what a query relies on?
 *
 * A search takes a node from its heap once. That is right as long as no edge is
 * shorter than the octile distance of its ends, so this is checked for every
 * intra-edge, and that both directions of one cost the same.
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
#include "formats/hpa_check.h"

/* Two straight steps and a diagonal one: what a shortest way spends at the most
 * in a square of 2 x 2 cells (hpa.md shows why). */
#define COST_OF_SQUARE (2 * HPA_COST_STRAIGHT + HPA_COST_DIAGONAL)

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
			back = hpa_table_find(table, to, from);
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

hpa_status
hpa_check_tables(const struct hpa_view *const *views, uint32_t n_profiles,
                 const char **detail)
{
	struct table_check check = {.views = views};
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < n_profiles; p++) {
		check.view = views[p];
		for (uint32_t l = 0; l < views[p]->n_levels && st == HPA_OK;
		     l++)
			st = check_level_tables(&check, &views[p]->levels[l],
			                        detail);
	}
	if (st == HPA_OK && check.end != views[0]->tables_size)
		return refuse(detail, "there is something behind the tables");
	return st;
}
