/* layout.c: pass 9, the sections, and the file made of them.
 *
 * The sections are those of formats/hpa.md, each made in one piece of memory
 * whose size is known before. Most of a level's clusters look like another one,
 * so a table is stored once for all clusters that have
 *
 *     the same record,
 *     the same cached paths, if there are any, and
 *     nodes that lie the same way: with two nodes or more, at the same
 *     distances from the first one.
 *
 * The last condition costs next to nothing and makes the file cheap to check: a
 * reader compares nodes instead of edges. Equal tables are found by their hash,
 * the clusters being gone through level by level and in their order. A new
 * table goes behind those before it and its cluster is its owner, so that the
 * bytes follow from the abstraction alone. */
#include <stdlib.h>

#include "formats/hpa_write.h"
#include "src/bake/passes.h"

#define N_SECTIONS 9u
#define MAX_OFFSET UINT32_MAX

/* The clusters of all levels, counted through, and the tables they share. */
struct pool {
	uint32_t n_clusters;
	uint32_t *offset; /* cluster -> offset of its table in TABL */
	uint32_t *slots;  /* hash -> owner, or HPA_NONE */
	size_t mask;
	size_t tables_size, paths_size;
};

/* A cluster and what is in its table. */
struct user {
	const struct abstraction *abs;
	const struct abstract_level *level;
	uint32_t first, n_nodes;
	const struct bytes *table;
	const struct bytes *paths; /* NULL: none */
};

static struct user
user_at(const struct abstraction *abs, uint32_t index)
{
	const struct abstract_level *level = abs->levels;
	struct user user = {.abs = abs};

	while (index >= level->n_clusters)
		index -= level++->n_clusters;
	user.level = level;
	user.first = level->first[index];
	user.n_nodes = level->first[index + 1] - user.first;
	user.table = &level->tables[index];
	if (abs->paths && level == abs->levels && abs->paths[index].size > 0)
		user.paths = &abs->paths[index];
	return user;
}

/* How far a node lies from the cluster's first one. */
static uint64_t
relative_place(const struct user *user, uint32_t i)
{
	const uint32_t *ids = user->level->node + user->first;
	const struct node *first = &user->abs->nodes[ids[0]];
	const struct node *node = &user->abs->nodes[ids[i]];

	return (uint64_t)(uint32_t)(node->x - first->x) << 32 |
	       (uint32_t)(node->y - first->y);
}

static uint64_t
hash_user(const struct user *user)
{
	uint64_t hash =
		hpa_hash(HPA_HASH_SEED, user->table->data, user->table->size);

	for (uint32_t i = 1; i < user->n_nodes; i++)
		hash = hpa_hash_mix(hash, relative_place(user, i));
	if (user->paths)
		hash = hpa_hash(hash, user->paths->data, user->paths->size);
	return hash;
}

static bool
equal_bytes(const struct bytes *a, const struct bytes *b)
{
	if (!a || !b)
		return a == b;
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static bool
can_share(const struct user *a, const struct user *b)
{
	if (a->n_nodes != b->n_nodes || !equal_bytes(a->table, b->table) ||
	    !equal_bytes(a->paths, b->paths))
		return false;
	for (uint32_t i = 1; i < a->n_nodes; i++)
		if (relative_place(a, i) != relative_place(b, i))
			return false;
	return true;
}

static enum diag_status
too_large(const char *what, struct diag *diag)
{
	return diag_set(diag, DIAG_BAD_INPUT, 0,
	                "its %s exceed 4 GiB; bake with larger clusters or "
	                "fewer levels",
	                what);
}

/* Give a cluster the table of an earlier one, or the next place. */
static void
place_table(struct pool *pool, const struct abstraction *abs, uint32_t index)
{
	struct user user = user_at(abs, index);
	size_t slot = (size_t)hash_user(&user) & pool->mask;

	while (pool->slots[slot] != HPA_NONE) {
		struct user owner = user_at(abs, pool->slots[slot]);

		if (can_share(&user, &owner)) {
			pool->offset[index] = pool->offset[pool->slots[slot]];
			return;
		}
		slot = (slot + 1) & pool->mask;
	}
	pool->slots[slot] = index;
	pool->offset[index] = (uint32_t)pool->tables_size;
	pool->tables_size += user.table->size;
	if (user.paths)
		pool->paths_size += user.paths->size;
}

static enum diag_status
place_tables(struct pool *pool, const struct abstraction *abs,
             struct diag *diag)
{
	size_t n_slots = 2;

	for (unsigned l = 0; l < abs->options.n_levels; l++)
		pool->n_clusters += abs->levels[l].n_clusters;
	while (n_slots / 2 < pool->n_clusters)
		n_slots *= 2;
	pool->mask = n_slots - 1;
	pool->slots = malloc(n_slots * sizeof(*pool->slots));
	pool->offset = malloc((size_t)pool->n_clusters * sizeof(*pool->offset));
	if (!pool->slots || !pool->offset)
		return out_of_memory(diag);
	/* HPA_NONE, byte by byte. */
	memset(pool->slots, 0xff, n_slots * sizeof(*pool->slots));
	for (uint32_t i = 0; i < pool->n_clusters; i++) {
		place_table(pool, abs, i);
		if (pool->tables_size > MAX_OFFSET)
			return too_large("tables", diag);
		if (pool->paths_size > MAX_OFFSET)
			return too_large("cached paths", diag);
	}
	return DIAG_OK;
}

/* Memory for a section, one byte more so that none of it is NULL. */
static bool
make_section(struct hpa_new_section *section, struct bytes *out)
{
	out->data = calloc(1, out->size + 1);
	section->raw = out->data;
	section->raw_size = out->size;
	return out->data != NULL;
}

static uint8_t *
put_array(uint8_t *out, const uint32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hpa_put_le32(out + 4 * i, values[i]);
	return out + 4 * n;
}

static void
put_facts(const struct abstraction *abs, uint8_t *out)
{
	const struct bake_options *options = &abs->options;
	uint32_t flags = (options->prune ? HPA_FACT_FLAG_PRUNED : 0) |
	                 (options->cache_paths ? HPA_FACT_FLAG_PATHS : 0);

	hpa_put_le32(out + HPA_FACT_WIDTH, abs->grid.width);
	hpa_put_le32(out + HPA_FACT_HEIGHT, abs->grid.height);
	hpa_put_le32(out + HPA_FACT_CLUSTER_SIZE, options->cluster_size);
	hpa_put_le32(out + HPA_FACT_N_LEVELS, options->n_levels);
	hpa_put_le32(out + HPA_FACT_MOVES, options->moves);
	hpa_put_le32(out + HPA_FACT_STRAIGHT, abs->grid.cost_straight);
	hpa_put_le32(out + HPA_FACT_DIAGONAL, abs->grid.cost_diagonal);
	hpa_put_le32(out + HPA_FACT_POLICY, options->policy);
	hpa_put_le32(out + HPA_FACT_PARAMETER, options->policy_parameter);
	hpa_put_le32(out + HPA_FACT_FLAGS, flags);
	hpa_put_le32(out + HPA_FACT_N_NODES, abs->n_nodes);
	hpa_put_le32(out + HPA_FACT_N_COMPONENTS, abs->n_components);
	hpa_put_le64(out + HPA_FACT_N_FREE_CELLS, abs->n_free_cells);
}

static void
put_nodes(const struct abstraction *abs, uint8_t *out)
{
	for (uint32_t id = 0; id < abs->n_nodes; id++) {
		hpa_put_le16(out + HPA_NODE_X, abs->nodes[id].x);
		hpa_put_le16(out + HPA_NODE_Y, abs->nodes[id].y);
		out += HPA_NODE_SIZE;
	}
}

static void
put_level(const struct abstract_level *level, uint8_t *out)
{
	hpa_put_le32(out + HPA_LEVEL_CLUSTER_SIZE, level->cluster_size);
	hpa_put_le32(out + HPA_LEVEL_N_NODES, level->n_nodes);
	hpa_put_le32(out + HPA_LEVEL_N_INTER, level->n_inter);
	hpa_put_le64(out + HPA_LEVEL_N_INTRA, level->n_intra);
	hpa_put_le64(out + HPA_LEVEL_N_STORED, level->n_stored);
}

/* The bytes that hpa_view.c expects for a level in CLUS. */
static size_t
clusters_size(const struct abstraction *abs, unsigned l)
{
	const struct abstract_level *level = &abs->levels[l];
	size_t n = 2 * (size_t)level->n_clusters + 1;

	if (l > 0)
		n += level->n_nodes;
	if (l + 1 < abs->options.n_levels)
		n += level->n_nodes;
	return 4 * n;
}

static uint8_t *
put_clusters(const struct abstraction *abs, const struct pool *pool, unsigned l,
             uint8_t *out)
{
	const struct abstract_level *level = &abs->levels[l];
	const uint32_t *offset = pool->offset;

	for (unsigned below = 0; below < l; below++)
		offset += abs->levels[below].n_clusters;
	out = put_array(out, level->first, (size_t)level->n_clusters + 1);
	out = put_array(out, offset, level->n_clusters);
	if (l > 0)
		out = put_array(out, level->node, level->n_nodes);
	if (l + 1 == abs->options.n_levels)
		return out;
	for (uint32_t rank = 0; rank < level->n_nodes; rank++, out += 4)
		hpa_put_le32(out, level[1].rank[level->node[rank]]);
	return out;
}

/* Copy the tables of owners, and their paths, one behind the other. */
static void
put_tables(const struct abstraction *abs, const struct pool *pool,
           uint8_t *tables, uint8_t *paths)
{
	size_t end = 0, paths_end = 0;

	for (uint32_t i = 0; i < pool->n_clusters; i++) {
		struct user user = user_at(abs, i);
		uint8_t *record = tables + end;

		if (pool->offset[i] != end)
			continue;
		memcpy(record, user.table->data, user.table->size);
		hpa_put_le32(record + HPA_TABLE_OWNER, i);
		end += user.table->size;
		if (!user.paths)
			continue;
		hpa_put_le32(record + HPA_TABLE_PATHS, (uint32_t)paths_end);
		memcpy(paths + paths_end, user.paths->data, user.paths->size);
		paths_end += user.paths->size;
	}
}

/* The sections in their order; `own` is the memory of those made here. */
enum {
	FACTS,
	CELLS,
	COMPONENTS,
	NODES,
	INTER,
	LEVELS,
	CLUSTERS,
	TABLES,
	PATHS
};

static const char *const ids[N_SECTIONS] = {
	[FACTS] = HPA_ID_FACTS,           [CELLS] = HPA_ID_CELLS,
	[COMPONENTS] = HPA_ID_COMPONENTS, [NODES] = HPA_ID_NODES,
	[INTER] = HPA_ID_INTER,           [LEVELS] = HPA_ID_LEVELS,
	[CLUSTERS] = HPA_ID_CLUSTERS,     [TABLES] = HPA_ID_TABLES,
	[PATHS] = HPA_ID_PATHS,
};

static void
plan_sizes(const struct abstraction *abs, const struct pool *pool,
           struct bytes *own)
{
	uint32_t n_targets = abs->inter_first[abs->n_nodes];
	unsigned n_levels = abs->options.n_levels;

	own[FACTS].size = HPA_FACT_SIZE;
	own[COMPONENTS].size =
		4 * (abs->levels[0].n_clusters + abs->n_run_labels);
	own[NODES].size = (size_t)abs->n_nodes * HPA_NODE_SIZE;
	own[INTER].size = 4 * ((size_t)abs->n_nodes + 1 + n_targets);
	own[LEVELS].size = (size_t)n_levels * HPA_LEVEL_SIZE;
	for (unsigned l = 0; l < n_levels; l++)
		own[CLUSTERS].size += clusters_size(abs, l);
	own[TABLES].size = pool->tables_size;
	own[PATHS].size = pool->paths_size;
}

static void
put_sections(const struct abstraction *abs, const struct pool *pool,
             const struct bytes *own)
{
	uint32_t n_targets = abs->inter_first[abs->n_nodes];
	uint8_t *clusters = own[CLUSTERS].data;
	uint8_t *rest;

	put_facts(abs, own[FACTS].data);
	rest = put_array(own[COMPONENTS].data, abs->labels,
	                 abs->levels[0].n_clusters);
	put_array(rest, abs->run_labels, abs->n_run_labels);
	put_nodes(abs, own[NODES].data);
	rest = put_array(own[INTER].data, abs->inter_first,
	                 (size_t)abs->n_nodes + 1);
	put_array(rest, abs->inter_target, n_targets);
	for (unsigned l = 0; l < abs->options.n_levels; l++) {
		put_level(&abs->levels[l],
		          own[LEVELS].data + (size_t)l * HPA_LEVEL_SIZE);
		clusters = put_clusters(abs, pool, l, clusters);
	}
	put_tables(abs, pool, own[TABLES].data, own[PATHS].data);
}

static enum diag_status
write_sections(const struct abstraction *abs, const struct pool *pool,
               struct bytes *own, struct bake_output *out, struct diag *diag)
{
	struct hpa_new_section sections[N_SECTIONS];
	uint32_t n_sections = abs->options.cache_paths ? PATHS + 1 : PATHS;
	uint64_t options_hash;

	plan_sizes(abs, pool, own);
	for (uint32_t i = 0; i < N_SECTIONS; i++) {
		sections[i].id = ids[i];
		sections[i].is_hot = i != PATHS;
		if (i != CELLS && !make_section(&sections[i], &own[i]))
			return out_of_memory(diag);
	}
	sections[CELLS].raw = abs->bits;
	sections[CELLS].raw_size = abs->grid.stride * abs->grid.height;
	put_sections(abs, pool, own);
	options_hash =
		hpa_hash(HPA_HASH_SEED, own[FACTS].data + HPA_FACT_OPTIONS,
	                 HPA_FACT_OPTIONS_END - HPA_FACT_OPTIONS);
	if (!hpa_write(sections, n_sections, abs->options.compress,
	               abs->source_hash, options_hash, &out->data, &out->size))
		return out_of_memory(diag);
	return DIAG_OK;
}

enum diag_status
layout_pass(const struct abstraction *abs, struct bake_output *out,
            struct diag *diag)
{
	struct bytes own[N_SECTIONS] = {{NULL, 0}};
	struct pool pool = {0};
	enum diag_status st = place_tables(&pool, abs, diag);

	if (st == DIAG_OK)
		st = write_sections(abs, &pool, own, out, diag);
	for (uint32_t i = 0; i < N_SECTIONS; i++)
		free(own[i].data);
	free(pool.slots);
	free(pool.offset);
	return st;
}
