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
 * the clusters of all profiles being gone through level by level and in their
 * order. A new table goes behind those before it and its cluster is its owner,
 * so that the bytes follow from the abstraction alone. A section of a profile
 * that is the same as that of the profile before is left out. */
#include <stdlib.h>
#include <string.h>

#include "formats/hpa_write.h"
#include "src/bake/batch.h"
#include "src/bake/passes.h"

#define MAX_OFFSET UINT32_MAX

/* The clusters of all profiles and levels, counted through, and the tables they
 * share. */
struct pool {
	const struct abstraction *profiles;
	uint32_t n_profiles, n_clusters;
	uint32_t *offset; /* cluster -> offset of its table in TABL */
	uint64_t *hashes; /* of clusters that are like no earlier one */
	uint32_t *slots;  /* hash -> owner, or HPA_NONE */
	uint32_t *owners; /* in their order, which is that of their tables */
	uint32_t n_owners;
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
	uint32_t n_back; /* so many clusters before is one with the same */
};

static struct user
user_of(const struct abstraction *abs, unsigned l, uint32_t cluster)
{
	const struct abstract_level *level = &abs->levels[l];
	struct user user = {.abs = abs, .level = level};

	user.n_back = level->like ? cluster - level->like[cluster] : 0;
	user.first = level->first[cluster];
	user.n_nodes = level->first[cluster + 1] - user.first;
	user.table = &level->tables[cluster];
	if (abs->paths && l == 0 && abs->paths[cluster].size > 0)
		user.paths = &abs->paths[cluster];
	return user;
}

static struct user
user_at(const struct pool *pool, uint32_t index)
{
	const struct abstraction *abs = pool->profiles;
	struct user user;
	unsigned l = 0;

	while (index >= abs->levels[l].n_clusters) {
		index -= abs->levels[l].n_clusters;
		if (++l == abs->options.n_levels) {
			l = 0;
			abs++;
		}
	}
	user = user_of(abs, l, index);
	if (abs->same)
		user.n_back = (uint32_t)(abs - abs->same) *
		              (pool->n_clusters / pool->n_profiles);
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

/* The table of an owner also serves a user whose cheapest cells are no dearer
 * than the owner's: readers check its costs against these only once. */
static bool
can_share(const struct user *a, const struct user *b)
{
	if (b->abs->grid.min_factor < a->abs->grid.min_factor ||
	    a->n_nodes != b->n_nodes || !equal_bytes(a->table, b->table) ||
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
place_table(struct pool *pool, uint32_t index)
{
	struct user user = user_at(pool, index);
	size_t slot;

	if (user.n_back > 0) {
		pool->offset[index] = pool->offset[index - user.n_back];
		return;
	}
	slot = (size_t)pool->hashes[index] & pool->mask;
	while (pool->slots[slot] != HPA_NONE) {
		struct user owner = user_at(pool, pool->slots[slot]);

		if (can_share(&user, &owner)) {
			pool->offset[index] = pool->offset[pool->slots[slot]];
			return;
		}
		slot = (slot + 1) & pool->mask;
	}
	pool->slots[slot] = index;
	pool->owners[pool->n_owners++] = index;
	pool->offset[index] = (uint32_t)pool->tables_size;
	pool->tables_size += user.table->size;
	if (user.paths)
		pool->paths_size += user.paths->size;
}

static enum diag_status
count_clusters(struct pool *pool, struct diag *diag)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < pool->n_profiles; p++) {
		const struct abstraction *abs = &pool->profiles[p];

		for (unsigned l = 0; l < abs->options.n_levels; l++)
			n += abs->levels[l].n_clusters;
	}
	pool->n_clusters = (uint32_t)n;
	if (n >= HPA_NONE)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "too many clusters; bake with larger ones");
	return DIAG_OK;
}

static void
hash_users(struct pool *pool)
{
#pragma omp parallel for schedule(dynamic, 256)
	for (uint32_t i = 0; i < pool->n_clusters; i++) {
		struct user user = user_at(pool, i);

		if (user.n_back == 0)
			pool->hashes[i] = hash_user(&user);
	}
}

static enum diag_status
place_tables(struct pool *pool, struct diag *diag)
{
	size_t n_slots = 2;
	enum diag_status st = count_clusters(pool, diag);

	if (st != DIAG_OK)
		return st;
	while (n_slots / 2 < pool->n_clusters)
		n_slots *= 2;
	pool->mask = n_slots - 1;
	pool->slots = malloc(n_slots * sizeof(*pool->slots));
	pool->offset = malloc((size_t)pool->n_clusters * sizeof(*pool->offset));
	pool->hashes = malloc((size_t)pool->n_clusters * sizeof(*pool->hashes));
	pool->owners = malloc((size_t)pool->n_clusters * sizeof(*pool->owners));
	if (!pool->slots || !pool->offset || !pool->hashes || !pool->owners)
		return out_of_memory(diag);
	hash_users(pool);
	/* HPA_NONE, byte by byte. */
	memset(pool->slots, 0xff, n_slots * sizeof(*pool->slots));
	for (uint32_t i = 0; i < pool->n_clusters; i++) {
		place_table(pool, i);
		if (pool->tables_size > MAX_OFFSET)
			return too_large("tables", diag);
		if (pool->paths_size > MAX_OFFSET)
			return too_large("cached paths", diag);
	}
	/* Only the places count from here on. */
	free(pool->slots);
	free(pool->hashes);
	pool->slots = NULL;
	pool->hashes = NULL;
	return DIAG_OK;
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
	identity_put_options(&abs->options, abs->agent,
	                     abs->source->is_weighted, out);
	hpa_put_le32(out + HPA_FACT_WIDTH, abs->grid.width);
	hpa_put_le32(out + HPA_FACT_HEIGHT, abs->grid.height);
	hpa_put_le32(out + HPA_FACT_MIN_FACTOR, abs->grid.min_factor);
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

/* A level's part of CLUS; `offset` are its clusters' tables. */
static uint8_t *
put_clusters(const struct abstraction *abs, unsigned l, const uint32_t *offset,
             uint8_t *out)
{
	const struct abstract_level *level = &abs->levels[l];

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

/* Copy the tables of owners to their places. */
static void
put_tables(const struct pool *pool, uint8_t *tables)
{
#pragma omp parallel for schedule(static)
	for (uint32_t i = 0; i < pool->n_owners; i++) {
		uint32_t owner = pool->owners[i];
		struct user user = user_at(pool, owner);
		uint8_t *record = tables + pool->offset[owner];

		memcpy(record, user.table->data, user.table->size);
		hpa_put_le32(record + HPA_TABLE_OWNER, owner);
	}
}

/* Copy the paths of owners, one behind the other, and tell their tables. */
static void
put_paths(const struct pool *pool, uint8_t *tables, uint8_t *paths)
{
	size_t end = 0;

	for (uint32_t i = 0; i < pool->n_owners; i++) {
		uint32_t owner = pool->owners[i];
		struct user user = user_at(pool, owner);
		uint8_t *record = tables + pool->offset[owner];

		if (!user.paths)
			continue;
		hpa_put_le32(record + HPA_TABLE_PATHS, (uint32_t)end);
		memcpy(paths + end, user.paths->data, user.paths->size);
		end += user.paths->size;
	}
}

/* The list of sections while it grows. */
struct sections {
	uint32_t n;
	struct hpa_new_section list[HPA_MAX_SECTIONS];
};

static void
append_section(struct sections *sections, const char *id, uint32_t profile,
               const uint8_t *raw, size_t size)
{
	sections->list[sections->n++] = (struct hpa_new_section){
		.id = id,
		.profile = profile,
		.is_hot = strcmp(id, HPA_ID_PATHS) != 0,
		.raw = raw,
		.raw_size = size,
	};
}

/* A section of zeros to be filled in; NULL without memory. One byte more, so
 * that none of it is NULL. */
static uint8_t *
add_section(struct sections *sections, const char *id, uint32_t profile,
            size_t size)
{
	uint8_t *data = calloc(1, size + 1);

	if (!data)
		return NULL;
	append_section(sections, id, profile, data, size);
	sections->list[sections->n - 1].own = data;
	return data;
}

/* Take back the last section if the profile before has the same. */
static void
share_section(struct sections *sections)
{
	struct hpa_new_section *last = &sections->list[sections->n - 1];
	uint32_t i = sections->n - 1;

	while (i-- > 0) {
		const struct hpa_new_section *other = &sections->list[i];

		if (strcmp(other->id, last->id) != 0)
			continue;
		if (other->raw_size == last->raw_size &&
		    !memcmp(other->raw, last->raw, last->raw_size)) {
			sections->n--;
			free(last->own);
		}
		return;
	}
}

static bool
add_agents(struct sections *sections, const struct pool *pool)
{
	uint8_t *out;

	if (!pool->profiles->agent->name[0])
		return true;
	out = add_section(sections, HPA_ID_AGENTS, 0,
	                  (size_t)pool->n_profiles * HPA_AGENT_SIZE);
	for (uint32_t p = 0; out && p < pool->n_profiles; p++)
		identity_put_agent(pool->profiles[p].agent,
		                   out + (size_t)p * HPA_AGENT_SIZE);
	return out != NULL;
}

static bool
add_terrain(struct sections *sections, const struct source *source)
{
	const struct terrain_classes *terrain = &source->level->terrain;
	size_t rows = source->class_stride * source->level->height;
	size_t records = (size_t)terrain->n * HPA_CLASS_SIZE;
	uint8_t *out, *record;

	if (!source->is_weighted)
		return true;
	out = add_section(sections, HPA_ID_TERRAIN, 0,
	                  HPA_TERR_CLASSES + records + rows);
	if (!out)
		return false;
	hpa_put_le32(out + HPA_TERR_N_CLASSES, terrain->n);
	hpa_put_le32(out + HPA_TERR_BITS_LOG2, source->class_log2);
	record = out + HPA_TERR_CLASSES;
	for (uint32_t i = 0; i < terrain->n; i++, record += HPA_CLASS_SIZE) {
		memcpy(record + HPA_CLASS_NAME, terrain->classes[i].name,
		       strlen(terrain->classes[i].name));
		hpa_put_le32(record + HPA_CLASS_FACTOR, source->factor[i]);
	}
	memcpy(record, source->classes, rows);
	return true;
}

static bool
add_links(struct sections *sections, const struct abstraction *abs)
{
	uint32_t n = abs->options.n_links;
	uint8_t *out;

	if (n == 0)
		return true;
	out = add_section(sections, HPA_ID_LINKS, 0, (size_t)n * HPA_LINK_SIZE);
	for (uint32_t i = 0; out && i < n; i++)
		identity_put_link(&abs->options.links[i],
		                  abs->source->is_weighted,
		                  out + (size_t)i * HPA_LINK_SIZE);
	return out != NULL;
}

/* The sections of one profile, each a function that sizes and fills it. */
static bool
make_facts(const struct abstraction *abs, struct sections *sections, uint32_t p)
{
	uint8_t *out = add_section(sections, HPA_ID_FACTS, p, HPA_FACT_SIZE);

	if (out)
		put_facts(abs, out);
	return out != NULL;
}

static bool
make_cells(const struct abstraction *abs, struct sections *sections, uint32_t p)
{
	append_section(sections, HPA_ID_CELLS, p, abs->bits,
	               abs->grid.stride * abs->grid.height);
	return true;
}

static bool
make_components(const struct abstraction *abs, struct sections *sections,
                uint32_t p)
{
	uint32_t n = abs->levels[0].n_clusters;
	uint8_t *out = add_section(sections, HPA_ID_COMPONENTS, p,
	                           4 * (n + abs->n_run_labels));

	if (out)
		put_array(put_array(out, abs->labels, n), abs->run_labels,
		          abs->n_run_labels);
	return out != NULL;
}

static bool
make_nodes(const struct abstraction *abs, struct sections *sections, uint32_t p)
{
	uint8_t *out = add_section(sections, HPA_ID_NODES, p,
	                           (size_t)abs->n_nodes * HPA_NODE_SIZE);

	if (out)
		put_nodes(abs, out);
	return out != NULL;
}

static bool
make_inter(const struct abstraction *abs, struct sections *sections, uint32_t p)
{
	size_t n_firsts = (size_t)abs->n_nodes + 1;
	uint32_t n_targets = abs->inter_first[abs->n_nodes];
	uint8_t *out = add_section(sections, HPA_ID_INTER, p,
	                           4 * (n_firsts + n_targets));

	if (out)
		put_array(put_array(out, abs->inter_first, n_firsts),
		          abs->inter_target, n_targets);
	return out != NULL;
}

static bool
make_levels(const struct abstraction *abs, struct sections *sections,
            uint32_t p)
{
	unsigned n = abs->options.n_levels;
	uint8_t *out = add_section(sections, HPA_ID_LEVELS, p,
	                           (size_t)n * HPA_LEVEL_SIZE);

	for (unsigned l = 0; out && l < n; l++)
		put_level(&abs->levels[l], out + (size_t)l * HPA_LEVEL_SIZE);
	return out != NULL;
}

static bool
make_link_edges(const struct abstraction *abs, struct sections *sections,
                uint32_t p)
{
	uint8_t *out = add_section(sections, HPA_ID_LINK_EDGES, p,
	                           (size_t)abs->n_link_edges * HPA_LEDGE_SIZE);

	for (uint32_t i = 0; out && i < abs->n_link_edges; i++) {
		const struct link_edge *edge = &abs->link_edges[i];
		uint8_t *record = out + (size_t)i * HPA_LEDGE_SIZE;

		hpa_put_le32(record + HPA_LEDGE_FROM, edge->from);
		hpa_put_le32(record + HPA_LEDGE_TO, edge->to);
		hpa_put_le32(record + HPA_LEDGE_LINK, edge->link);
	}
	return out != NULL;
}

static bool
make_reach(const struct abstraction *abs, struct sections *sections, uint32_t p)
{
	uint32_t n = abs->n_reach;
	size_t rows = (size_t)n * (((size_t)n + 7) / 8);
	uint8_t *out = add_section(sections, HPA_ID_REACH, p,
	                           HPA_REACH_COMPONENTS + 4 * (size_t)n + rows);

	if (!out)
		return false;
	hpa_put_le32(out + HPA_REACH_N, n);
	if (n > 0)
		memcpy(put_array(out + HPA_REACH_COMPONENTS,
		                 abs->reach_components, n),
		       abs->reach_rows, rows);
	return true;
}

struct profile_section {
	bool (*make)(const struct abstraction *abs, struct sections *sections,
	             uint32_t p);
	bool is_for_links;
};

static const struct profile_section profile_sections[] = {
	{make_facts, false},      {make_cells, false},
	{make_components, false}, {make_nodes, false},
	{make_inter, false},      {make_levels, false},
	{make_link_edges, true},  {make_reach, true},
};
#define N_PROFILE_SECTIONS                                                     \
	(sizeof(profile_sections) / sizeof(profile_sections[0]))

/* CLUS needs to know where the tables are: *offset moves on. */
static bool
add_clusters(struct sections *sections, const struct abstraction *abs,
             uint32_t p, const uint32_t **offset)
{
	size_t size = 0;
	uint8_t *out;

	for (unsigned l = 0; l < abs->options.n_levels; l++)
		size += clusters_size(abs, l);
	out = add_section(sections, HPA_ID_CLUSTERS, p, size);
	if (!out)
		return false;
	for (unsigned l = 0; l < abs->options.n_levels; l++) {
		out = put_clusters(abs, l, *offset, out);
		*offset += abs->levels[l].n_clusters;
	}
	share_section(sections);
	return true;
}

static bool
add_profile(struct sections *sections, const struct abstraction *abs,
            uint32_t p, const uint32_t **offset)
{
	for (size_t i = 0; i < N_PROFILE_SECTIONS; i++) {
		if (profile_sections[i].is_for_links &&
		    abs->options.n_links == 0)
			continue;
		if (!profile_sections[i].make(abs, sections, p))
			return false;
		share_section(sections);
	}
	return add_clusters(sections, abs, p, offset);
}

static bool
add_tables(struct sections *sections, const struct pool *pool)
{
	bool has_paths = pool->profiles->options.cache_paths;
	uint8_t *tables =
		add_section(sections, HPA_ID_TABLES, 0, pool->tables_size);
	uint8_t *paths = NULL;

	if (has_paths)
		paths = add_section(sections, HPA_ID_PATHS, 0,
		                    pool->paths_size);
	if (!tables || (has_paths && !paths))
		return false;
	put_tables(pool, tables);
	if (has_paths)
		put_paths(pool, tables, paths);
	return true;
}

static bool
add_all(struct sections *sections, const struct pool *pool)
{
	const uint32_t *offset = pool->offset;

	if (!add_agents(sections, pool) ||
	    !add_terrain(sections, pool->profiles->source) ||
	    !add_links(sections, pool->profiles))
		return false;
	for (uint32_t p = 0; p < pool->n_profiles; p++)
		if (!add_profile(sections, &pool->profiles[p], p, &offset))
			return false;
	return add_tables(sections, pool);
}

/* What the user chose: the options among the facts, the agents and links. */
static uint64_t
hash_options(const struct sections *sections)
{
	uint64_t hash = HPA_HASH_SEED;

	for (uint32_t i = 0; i < sections->n; i++) {
		const struct hpa_new_section *section = &sections->list[i];

		if (!strcmp(section->id, HPA_ID_FACTS))
			hash = hpa_hash(hash, section->raw + HPA_FACT_OPTIONS,
			                HPA_FACT_OPTIONS_END -
			                        HPA_FACT_OPTIONS);
		else if (!strcmp(section->id, HPA_ID_AGENTS) ||
		         !strcmp(section->id, HPA_ID_LINKS))
			hash = hpa_hash(hash, section->raw, section->raw_size);
	}
	return hash;
}

/* Free the tables, which are in their section. */
static void
release_tables(struct abstraction *abs)
{
	for (unsigned l = 0; !abs->same && l < abs->options.n_levels; l++) {
		arena_free(&abs->levels[l].arena);
		free(abs->levels[l].tables);
		abs->levels[l].tables = NULL;
	}
}

static enum diag_status
write_sections(struct abstraction *profiles, const struct pool *pool,
               struct sections *sections, struct bake_output *out,
               struct diag *diag)
{
	const struct abstraction *abs = pool->profiles;

	if (!add_all(sections, pool))
		return out_of_memory(diag);
	for (uint32_t p = 0; p < pool->n_profiles; p++)
		release_tables(&profiles[p]);
	if (!hpa_write(sections->list, sections->n, abs->options.compress,
	               abs->source->hash, hash_options(sections), &batch_workers,
	               &out->data, &out->size))
		return out_of_memory(diag);
	return DIAG_OK;
}

enum diag_status
layout_pass(struct abstraction *profiles, uint32_t n_profiles,
            struct bake_output *out, struct diag *diag)
{
	struct sections *sections = calloc(1, sizeof(*sections));
	struct pool pool = {.profiles = profiles, .n_profiles = n_profiles};
	enum diag_status st =
		sections ? place_tables(&pool, diag) : out_of_memory(diag);

	if (st == DIAG_OK)
		st = write_sections(profiles, &pool, sections, out, diag);
	for (uint32_t i = 0; sections && i < sections->n; i++)
		free(sections->list[i].own);
	free(sections);
	free(pool.slots);
	free(pool.hashes);
	free(pool.owners);
	free(pool.offset);
	return st;
}
