/* hpa_unpack.c: packed bytes -> the raw bytes of a section.
 *
 * Numbers are variable in length: 7 bits a byte, the lowest first, the highest
 * bit set where more follow. In short (formats/hpa.md has all of it):
 *
 *     CELL  of a larger agent: how it differs from what the cells of the profile
 *           before make of it
 *     NODE  per cluster: where it differs from the nodes beside those of the
 *           clusters before
 *     INTR  per node: in which directions it has an edge without need, or none
 *           against expectation
 *     CLUS  nodes that are at all levels without need, and for each cluster
 *           whether its table is new, or how far back one with the same is
 *     TABL  per row the edges to later nodes: how many nodes are skipped, and
 *           what the weight exceeds the octile distance by
 *
 * All loops end with what is to be written or what is there to be read: a
 * reader that has come to the end gives zeros and remembers it. */
#include "formats/hpa_unpack.h"

#include "formats/hpa_shape.h"
#include "formats/hpa_table.h"

const char *const hpa_packed_ids[HPA_N_PACKED] = {
	HPA_ID_CELLS, HPA_ID_NODES, HPA_ID_INTER, HPA_ID_CLUSTERS,
	HPA_ID_TABLES,
};

struct reader {
	const uint8_t *at, *end;
	bool failed;
};

static uint8_t
get_byte(struct reader *in)
{
	if (in->at == in->end) {
		in->failed = true;
		return 0;
	}
	return *in->at++;
}

static uint32_t
get_number(struct reader *in)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t byte = get_byte(in);

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	if (number > UINT32_MAX)
		in->failed = true;
	return (uint32_t)number;
}

static bool
unpack_cells(const struct hpa_file *file, const struct hpa_section *section,
             struct reader *in, uint8_t *out)
{
	struct hpa_shape shape, smaller;
	const uint8_t *before;

	if (section->profile == 0 ||
	    !hpa_shape_read(file, section->profile, &shape) ||
	    !hpa_shape_read(file, section->profile - 1, &smaller) ||
	    smaller.agent_size > shape.agent_size ||
	    section->raw_size != (uint64_t)shape.stride * shape.height)
		return false;
	before = hpa_shape_cells(file, section->profile - 1, &shape);
	if (!before)
		return false;
	for (uint32_t y = 0; y < shape.height; y++, out += shape.stride) {
		hpa_shape_expect_cells(&shape, before,
		                       shape.agent_size - smaller.agent_size, y,
		                       out);
		for (size_t i = 0; i < shape.stride; i++)
			out[i] ^= get_byte(in);
	}
	return true;
}

/* Change what is expected in a cluster to what is there. */
static bool
change_places(struct reader *in, uint32_t n_places, uint64_t *places)
{
	uint32_t n = get_number(in);
	uint32_t place = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t gap = get_number(in);

		if (gap >= n_places - place)
			return false;
		place += gap;
		places[place / 64] ^= (uint64_t)1 << place % 64;
		place++;
	}
	return true;
}

/* Append the nodes of a cluster; false if there are more than `most`. */
static bool
put_nodes(const struct hpa_shape_window *window, const uint64_t *places,
          uint8_t *out, uint32_t most, uint32_t *n)
{
	for (uint32_t place = 0; place < HPA_MAX_PLACES; place++) {
		uint8_t *node = out + (size_t)*n * HPA_NODE_SIZE;

		if (places[place / 64] >> place % 64 == 0) {
			place |= 63;
			continue;
		}
		if (!(places[place / 64] >> place % 64 & 1))
			continue;
		if (*n == most)
			return false;
		hpa_put_le16(node + HPA_NODE_X,
		             (uint16_t)(window->x + place % window->width));
		hpa_put_le16(node + HPA_NODE_Y,
		             (uint16_t)(window->y + place / window->width));
		++*n;
	}
	return true;
}

static bool
unpack_nodes(const struct hpa_file *file, const struct hpa_section *section,
             struct reader *in, uint8_t *out)
{
	struct hpa_shape_nodes nodes = {.raw = out};
	uint64_t places[HPA_PLACE_WORDS];
	struct hpa_shape shape;
	const uint8_t *cells;
	uint32_t n_clusters, most, above = 0;

	if (!hpa_shape_read(file, section->profile, &shape))
		return false;
	cells = hpa_shape_cells(file, section->profile, &shape);
	if (!cells)
		return false;
	most = (uint32_t)(section->raw_size / HPA_NODE_SIZE);
	n_clusters = hpa_shape_n_clusters(&shape);
	for (uint32_t c = 0; c < n_clusters; c++) {
		struct hpa_shape_window window = hpa_shape_cluster(&shape, c);

		hpa_shape_expect_nodes(&shape, cells, &nodes, c, &above,
		                       places);
		if (!change_places(in, window.width * window.height, places) ||
		    !put_nodes(&window, places, out, most, &nodes.n))
			return false;
	}
	return section->raw_size == (size_t)nodes.n * HPA_NODE_SIZE;
}

static bool
unpack_inter(const struct hpa_file *file, const struct hpa_section *section,
             struct reader *in, uint8_t *out)
{
	uint64_t n_numbers = section->raw_size / 4;
	struct hpa_shape_nodes nodes;
	struct hpa_shape shape;
	uint8_t *target;
	uint32_t most, n = 0;

	if (!hpa_shape_read(file, section->profile, &shape) ||
	    !hpa_shape_find_nodes(file, section->profile, &nodes) ||
	    n_numbers < (uint64_t)nodes.n + 1)
		return false;
	most = (uint32_t)(n_numbers - nodes.n - 1);
	target = out + 4 * ((size_t)nodes.n + 1);
	for (uint32_t i = 0; i < nodes.n; i++) {
		uint8_t differs = get_byte(in);

		hpa_put_le32(out + 4 * (size_t)i, n);
		for (uint32_t d = 0; d < HPA_N_STRAIGHT; d++) {
			uint32_t to =
				hpa_shape_neighbour(&shape, &nodes, i, d);

			if ((to != HPA_NONE) == (differs >> d & 1))
				continue;
			if (to == HPA_NONE || n == most)
				return false;
			hpa_put_le32(target + 4 * (size_t)n++, to);
		}
	}
	hpa_put_le32(out + 4 * (size_t)nodes.n, n);
	return section->raw_size == 4 * ((uint64_t)nodes.n + 1 + n);
}

/* What CLUS is made from. */
struct clusters {
	struct hpa_shape shape;
	struct hpa_shape_level levels[HPA_MAX_LEVELS];
	struct hpa_shape_nodes nodes;
	const uint8_t *inter;
	struct reader everywhere; /* nodes that are at all levels without need */
	uint8_t *out;
};

/* INTR, if every index in it is in range. */
static const uint8_t *
find_inter(const struct hpa_file *file, const struct hpa_section *section,
           uint32_t n_nodes)
{
	const struct hpa_section *inter =
		hpa_shape_section(file, HPA_ID_INTER, section->profile, 4);
	uint64_t n_numbers = inter ? inter->raw_size / 4 : 0;
	uint32_t begin = 0;

	if (n_numbers < (uint64_t)n_nodes + 1)
		return NULL;
	for (uint32_t i = 0; i <= n_nodes; i++) {
		uint32_t end = hpa_get_u32(inter->raw, i);

		if (end < begin || end > n_numbers - n_nodes - 1)
			return NULL;
		begin = end;
	}
	for (uint64_t i = (uint64_t)n_nodes + 1; i < n_numbers; i++)
		if (hpa_get_u32(inter->raw, (size_t)i) >= n_nodes)
			return NULL;
	return inter->raw;
}

/* Tells for one node after the other whether it is at a level. */
struct level_test {
	struct reader list;
	uint32_t n_left, next;
};

static struct level_test
begin_level(const struct clusters *clusters)
{
	struct level_test test = {.list = clusters->everywhere};

	test.n_left = get_number(&test.list);
	test.next = test.n_left ? get_number(&test.list) : HPA_NONE;
	return test;
}

static bool
is_at_level(const struct clusters *clusters, struct level_test *test,
            uint32_t node, uint32_t l)
{
	if (node == test->next) {
		test->n_left--;
		test->next = test->n_left
		                     ? node + 1 + get_number(&test->list)
		                     : HPA_NONE;
		return true;
	}
	return l == 0 || hpa_shape_top(&clusters->shape, &clusters->nodes,
	                               clusters->inter, node) >= l;
}

static uint32_t
cluster_of(const struct clusters *clusters, uint32_t l, uint32_t node)
{
	const struct hpa_shape_level *level = &clusters->levels[l];
	uint32_t x = hpa_shape_x(&clusters->nodes, node);
	uint32_t y = hpa_shape_y(&clusters->nodes, node);
	uint64_t cluster = (uint64_t)(y / level->cluster_size) *
	                           level->clusters_x +
	                   x / level->cluster_size;

	return cluster < level->n_clusters ? (uint32_t)cluster : HPA_NONE;
}

static void
add_at(uint8_t *array, size_t i, uint32_t n)
{
	hpa_put_le32(array + 4 * i, hpa_get_u32(array, i) + n);
}

/* `first` of a level: count, then add up. */
static bool
put_first(const struct clusters *clusters, uint32_t l)
{
	const struct hpa_shape_level *level = &clusters->levels[l];
	struct level_test test = begin_level(clusters);
	uint8_t *first = clusters->out + level->first;

	memset(first, 0, 4 * ((size_t)level->n_clusters + 1));
	for (uint32_t i = 0; i < clusters->nodes.n; i++) {
		uint32_t c;

		if (!is_at_level(clusters, &test, i, l))
			continue;
		c = cluster_of(clusters, l, i);
		if (c == HPA_NONE)
			return false;
		add_at(first, (size_t)c + 1, 1);
	}
	for (uint32_t c = 0; c < level->n_clusters; c++)
		add_at(first, (size_t)c + 1, hpa_get_u32(first, c));
	return hpa_get_u32(first, level->n_clusters) == level->n_nodes;
}

/* `node` of a level: each into the next place of its cluster, for which the
 * begins move on; then back with them. */
static void
put_ranks(const struct clusters *clusters, uint32_t l)
{
	const struct hpa_shape_level *level = &clusters->levels[l];
	struct level_test test = begin_level(clusters);
	uint8_t *first = clusters->out + level->first;
	uint8_t *node = clusters->out + level->node;

	for (uint32_t i = 0; i < clusters->nodes.n; i++) {
		uint32_t c;

		if (!is_at_level(clusters, &test, i, l))
			continue;
		c = cluster_of(clusters, l, i);
		hpa_put_le32(node + 4 * (size_t)hpa_get_u32(first, c), i);
		add_at(first, c, 1);
	}
	for (uint32_t c = level->n_clusters; c > 0; c--)
		hpa_put_le32(first + 4 * (size_t)c,
		             hpa_get_u32(first, (size_t)c - 1));
	hpa_put_le32(first, 0);
}

/* The rank of a node at a level, or HPA_NONE. */
static uint32_t
rank_of(const struct clusters *clusters, uint32_t l, uint32_t wanted)
{
	const struct hpa_shape_level *level = &clusters->levels[l];
	const uint8_t *first = clusters->out + level->first;
	const uint8_t *node = clusters->out + level->node;
	uint32_t c = cluster_of(clusters, l, wanted);
	uint32_t begin, end;

	if (c == HPA_NONE)
		return HPA_NONE;
	begin = hpa_get_u32(first, c);
	end = hpa_get_u32(first, (size_t)c + 1);
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		uint32_t id = hpa_get_u32(node, middle);

		if (id == wanted)
			return middle;
		if (id < wanted)
			begin = middle + 1;
		else
			end = middle;
	}
	return HPA_NONE;
}

static void
put_up(const struct clusters *clusters, uint32_t l)
{
	const struct hpa_shape_level *level = &clusters->levels[l];
	const uint8_t *node = clusters->out + level->node;
	uint8_t *up = clusters->out + level->up;

	for (uint32_t rank = 0; rank < level->n_nodes; rank++) {
		uint32_t id = level->node ? hpa_get_u32(node, rank) : rank;

		hpa_put_le32(up + 4 * (size_t)rank,
		             rank_of(clusters, l + 1, id));
	}
}

static bool
put_levels(const struct clusters *clusters)
{
	uint32_t n_levels = clusters->shape.n_levels;

	for (uint32_t l = 0; l < n_levels; l++) {
		if (!put_first(clusters, l))
			return false;
		if (l > 0)
			put_ranks(clusters, l);
	}
	for (uint32_t l = 0; l + 1 < n_levels; l++)
		put_up(clusters, l);
	return true;
}

/* The clusters of the profiles before one, counted through. */
struct clusters_before {
	uint32_t n, n_levels;
	struct {
		const uint8_t *table;
		uint32_t n_clusters;
	} levels[HPA_MAX_PROFILES * HPA_MAX_LEVELS];
};

/* The table of one of them. */
static uint32_t
table_before(const struct clusters_before *before, uint32_t wanted)
{
	uint32_t i = 0;

	while (wanted >= before->levels[i].n_clusters)
		wanted -= before->levels[i++].n_clusters;
	return hpa_get_u32(before->levels[i].table, wanted);
}

/* The table of the cluster that is n_back before number c of level l. */
static bool
table_back(const struct clusters_before *before,
           const struct clusters *clusters, uint32_t l, uint32_t c,
           uint32_t n_back, uint32_t *out)
{
	while (n_back > c) {
		n_back -= c;
		if (l == 0) {
			if (n_back > before->n)
				return false;
			*out = table_before(before, before->n - n_back);
			return true;
		}
		c = clusters->levels[--l].n_clusters;
	}
	*out = hpa_get_u32(clusters->out + clusters->levels[l].table,
	                   c - n_back);
	return true;
}

static bool
find_before(const struct hpa_file *file, uint32_t profile,
            struct clusters_before *out)
{
	uint64_t n = 0;

	out->n_levels = 0;
	for (uint32_t p = 0; p < profile; p++) {
		const struct hpa_section *section =
			hpa_shape_section(file, HPA_ID_CLUSTERS, p, 4);
		struct hpa_shape_level levels[HPA_MAX_LEVELS];
		struct hpa_shape shape;

		if (!section || !hpa_shape_read(file, p, &shape) ||
		    !hpa_shape_levels(file, p, &shape, section->raw_size,
		                      levels))
			return false;
		for (uint32_t l = 0; l < shape.n_levels; l++) {
			out->levels[out->n_levels].table =
				section->raw + levels[l].table;
			out->levels[out->n_levels++].n_clusters =
				levels[l].n_clusters;
			n += levels[l].n_clusters;
		}
	}
	out->n = (uint32_t)n;
	return n < HPA_NONE;
}

static bool
put_tables(const struct hpa_file *file, const struct hpa_section *section,
           const struct clusters *clusters, struct reader *in)
{
	uint64_t next = (uint64_t)get_number(in) * HPA_TABLE_ALIGN;
	struct clusters_before before;

	if (!find_before(file, section->profile, &before))
		return false;
	for (uint32_t l = 0; l < clusters->shape.n_levels; l++) {
		const struct hpa_shape_level *level = &clusters->levels[l];

		for (uint32_t c = 0; c < level->n_clusters; c++) {
			uint32_t n_back = get_number(in);
			uint32_t offset = (uint32_t)next;

			if (next > UINT32_MAX)
				return false;
			if (n_back == 0)
				next += (uint64_t)get_number(in) *
				        HPA_TABLE_ALIGN;
			else if (!table_back(&before, clusters, l, c, n_back,
			                     &offset))
				return false;
			hpa_put_le32(clusters->out + level->table +
			                     4 * (size_t)c,
			             offset);
		}
	}
	return true;
}

static bool
unpack_clusters(const struct hpa_file *file, const struct hpa_section *section,
                struct reader *in, uint8_t *out)
{
	struct clusters clusters = {.out = out, .everywhere = *in};
	uint32_t n_everywhere = get_number(in);

	if (!hpa_shape_read(file, section->profile, &clusters.shape) ||
	    !hpa_shape_levels(file, section->profile, &clusters.shape,
	                      section->raw_size, clusters.levels) ||
	    !hpa_shape_find_nodes(file, section->profile, &clusters.nodes))
		return false;
	clusters.inter = find_inter(file, section, clusters.nodes.n);
	if (!clusters.inter)
		return false;
	for (uint32_t i = 0; i < n_everywhere && !in->failed; i++)
		get_number(in);
	return put_levels(&clusters) &&
	       put_tables(file, section, &clusters, in);
}

/* An edge of a packed table, to a later node of the cluster. */
struct edge {
	uint32_t to, weight;
};

/* A table while it is unpacked. */
struct packed_table {
	const struct hpa_shape_walk *walk;
	struct hpa_shape_members members;
	uint32_t n_edges, heaviest;
	bool is_wide;
};

/* The next edge of node `from`; out->to is the one before, or `from`. */
static bool
get_edge(const struct packed_table *table, struct reader *in, uint32_t from,
         struct edge *out)
{
	uint32_t token = get_number(in);
	uint64_t weight = token & 1 ? get_number(in) : 0;

	if (token / 2 >= table->members.n - 1 - out->to)
		return false;
	out->to += token / 2 + 1;
	weight += hpa_shape_octile(&table->walk->shape, &table->walk->nodes,
	                           hpa_shape_member(&table->members, from),
	                           hpa_shape_member(&table->members, out->to));
	out->weight = (uint32_t)weight;
	return weight <= UINT32_MAX;
}

/* Go over the edges; the reader is a copy, because they are gone over more than
 * once. */
typedef void take_edge(void *user, uint32_t from, const struct edge *edge);

static bool
each_edge(const struct packed_table *table, struct reader *in, take_edge *take,
          void *user)
{
	for (uint32_t i = 0; i < table->members.n; i++) {
		struct edge edge = {.to = i};
		uint32_t n = get_number(in);

		for (uint32_t k = 0; k < n; k++) {
			if (!get_edge(table, in, i, &edge))
				return false;
			take(user, i, &edge);
		}
	}
	return true;
}

static void
measure_edge(void *user, uint32_t from, const struct edge *edge)
{
	struct packed_table *table = user;

	(void)from;
	table->n_edges += 2;
	if (edge->weight > table->heaviest)
		table->heaviest = edge->weight;
}

/* A table that is written; `ends` are counts at first, then the next place of
 * each row, which in the end is where the row ends. */
struct new_table {
	uint8_t *ends, *weights, *targets;
	bool is_wide;
};

static uint32_t
get_sized(const uint8_t *array, uint32_t i, bool is_wide)
{
	return is_wide ? hpa_get_u32(array, i)
	               : hpa_get_le16(array + 2 * (size_t)i);
}

static void
put_sized(uint8_t *array, uint32_t i, bool is_wide, uint32_t value)
{
	if (is_wide)
		hpa_put_le32(array + 4 * (size_t)i, value);
	else
		hpa_put_le16(array + 2 * (size_t)i, (uint16_t)value);
}

static void
add_to_row(struct new_table *table, uint32_t row, uint32_t n)
{
	put_sized(table->ends, row, table->is_wide,
	          get_sized(table->ends, row, table->is_wide) + n);
}

static void
count_edge(void *user, uint32_t from, const struct edge *edge)
{
	add_to_row(user, from, 1);
	add_to_row(user, edge->to, 1);
}

static void
append(struct new_table *table, uint32_t from, uint32_t to, uint32_t weight)
{
	uint32_t at = get_sized(table->ends, from, table->is_wide);

	put_sized(table->weights, at, table->is_wide, weight);
	if (table->is_wide)
		hpa_put_le16(table->targets + 2 * (size_t)at, (uint16_t)to);
	else
		table->targets[at] = (uint8_t)to;
	add_to_row(table, from, 1);
}

/* Rows come in their order, so what is appended to later ones comes in the
 * order of its targets. */
static void
place_edge(void *user, uint32_t from, const struct edge *edge)
{
	append(user, from, edge->to, edge->weight);
	append(user, edge->to, from, edge->weight);
}

/* Write the inside of a record, in memory that is 0. */
static void
put_table(const struct packed_table *table, const struct reader *in,
          uint8_t *record)
{
	uint32_t n = table->members.n, sum = 0;
	size_t unit = table->is_wide ? 4 : 2;
	struct new_table new = {.ends = record + HPA_TABLE_ENDS,
	                        .is_wide = table->is_wide};
	struct reader copy = *in;

	new.weights = new.ends + unit * n;
	new.targets = new.weights + unit * table->n_edges;
	each_edge(table, &copy, count_edge, &new);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t count = get_sized(new.ends, i, new.is_wide);

		put_sized(new.ends, i, new.is_wide, sum);
		sum += count;
	}
	copy = *in;
	each_edge(table, &copy, place_edge, &new);
}

/* TABL while it is written. */
struct table_writer {
	uint8_t *out;
	size_t size, end;
	uint32_t paths;
};

/* The table of the cluster at which the walk is, its owner. */
static bool
unpack_table(const struct hpa_shape_walk *walk, struct reader *in,
             struct table_writer *writer)
{
	struct packed_table table = {.walk = walk};
	struct reader begin = *in;
	uint8_t *record = writer->out + writer->end;
	uint32_t paths = HPA_NONE;
	uint64_t size;

	if (!hpa_shape_members(walk, &table.members) ||
	    !each_edge(&table, in, measure_edge, &table))
		return false;
	table.is_wide = table.members.n > HPA_NARROW_MAX_NODES ||
	                table.heaviest > HPA_NARROW_MAX_WEIGHT;
	size = hpa_table_size(table.members.n, table.n_edges, table.is_wide);
	if (size > writer->size - writer->end)
		return false;
	memset(record, 0, (size_t)size);
	if (walk->shape.has_paths && walk->level == 0 && table.n_edges > 0) {
		writer->paths += get_number(in);
		paths = writer->paths;
	}
	hpa_put_le32(record + HPA_TABLE_PATHS, paths);
	hpa_put_le16(record + HPA_TABLE_N_NODES, (uint16_t)table.members.n);
	hpa_put_le16(record + HPA_TABLE_WIDE, table.is_wide);
	hpa_put_le32(record + HPA_TABLE_OWNER, walk->index);
	put_table(&table, &begin, record);
	writer->end += (size_t)size;
	return true;
}

static bool
unpack_tables(const struct hpa_file *file, const struct hpa_section *section,
              struct reader *in, uint8_t *out)
{
	struct table_writer writer = {.out = out, .size = section->raw_size};
	struct hpa_shape_walk walk;

	hpa_shape_walk(file, &walk);
	while (hpa_shape_next(&walk)) {
		const struct hpa_shape_level *level = &walk.levels[walk.level];

		if (hpa_get_u32(walk.clusters + level->table, walk.cluster) !=
		    writer.end)
			continue;
		if (!unpack_table(&walk, in, &writer))
			return false;
	}
	return writer.end == writer.size;
}

typedef bool unpack_function(const struct hpa_file *file,
                             const struct hpa_section *section,
                             struct reader *in, uint8_t *out);

/* In the order of hpa_packed_ids. */
static unpack_function *const unpackers[HPA_N_PACKED] = {
	unpack_cells, unpack_nodes, unpack_inter, unpack_clusters,
	unpack_tables,
};

bool
hpa_unpack(const struct hpa_file *file, const struct hpa_section *section,
           const uint8_t *packed, size_t packed_size, uint8_t *out)
{
	struct reader in = {.at = packed, .end = packed + packed_size};

	for (uint32_t i = 0; i < HPA_N_PACKED; i++)
		if (!strcmp(section->id, hpa_packed_ids[i]))
			return unpackers[i](file, section, &in, out) &&
			       !in.failed && in.at == in.end;
	return false;
}
