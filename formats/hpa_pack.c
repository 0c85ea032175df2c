/* hpa_pack.c: the raw bytes of a section -> packed bytes.
 *
 * The other side of hpa_unpack.c, function by function. A packer may take for
 * granted what a baker makes; whether it came out right is tried at the end, by
 * unpacking, and a section that does not come back as it was is not packed. */
#include "formats/hpa_pack.h"

#include <stdlib.h>
#include <string.h>

#include "formats/hpa_shape.h"
#include "formats/hpa_table.h"
#include "formats/hpa_unpack.h"

struct buffer {
	uint8_t *data;
	size_t size, room;
	bool failed; /* no memory */
};

static void
put_byte(struct buffer *out, uint8_t byte)
{
	if (out->size == out->room) {
		size_t room = out->room ? 2 * out->room : 4096;
		uint8_t *data = realloc(out->data, room);

		if (!data) {
			out->failed = true;
			return;
		}
		out->data = data;
		out->room = room;
	}
	out->data[out->size++] = byte;
}

static void
put_number(struct buffer *out, uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_byte(out, (uint8_t)(number | 0x80));
	put_byte(out, (uint8_t)number);
}

static bool
pack_cells(const struct hpa_file *file, const struct hpa_section *section,
           struct buffer *out)
{
	struct hpa_shape shape, smaller;
	const uint8_t *before = NULL, *raw = section->raw;
	uint8_t *row;

	if (section->profile == 0 ||
	    !hpa_shape_read(file, section->profile, &shape) ||
	    !hpa_shape_read(file, section->profile - 1, &smaller) ||
	    smaller.agent_size > shape.agent_size)
		return false;
	before = hpa_shape_cells(file, section->profile - 1, &shape);
	if (!before)
		return false;
	row = malloc(shape.stride);
	out->failed = !row;
	for (uint32_t y = 0; row && y < shape.height; y++, raw += shape.stride) {
		hpa_shape_expect_cells(&shape, before,
		                       shape.agent_size - smaller.agent_size, y,
		                       row);
		for (size_t i = 0; i < shape.stride; i++)
			put_byte(out, raw[i] ^ row[i]);
	}
	free(row);
	return true;
}

static uint32_t
count_ones(const uint64_t *places)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HPA_PLACE_WORDS; i++)
		for (uint64_t bits = places[i]; bits; bits &= bits - 1)
			n++;
	return n;
}

static void
put_places(struct buffer *out, const uint64_t *places)
{
	uint32_t next = 0;

	put_number(out, count_ones(places));
	for (uint32_t i = 0; i < HPA_PLACE_WORDS; i++)
		for (uint64_t bits = places[i]; bits; bits &= bits - 1) {
			uint32_t place =
				64 * i + (uint32_t)__builtin_ctzll(bits);

			put_number(out, place - next);
			next = place + 1;
		}
}

static bool
pack_nodes(const struct hpa_file *file, const struct hpa_section *section,
           struct buffer *out)
{
	struct hpa_shape_nodes nodes = {.raw = section->raw};
	uint32_t n = (uint32_t)(section->raw_size / HPA_NODE_SIZE), above = 0;
	uint64_t places[HPA_PLACE_WORDS];
	struct hpa_shape shape;
	const uint8_t *cells;
	uint32_t n_clusters;

	if (!hpa_shape_read(file, section->profile, &shape))
		return false;
	cells = hpa_shape_cells(file, section->profile, &shape);
	n_clusters = hpa_shape_n_clusters(&shape);
	for (uint32_t c = 0; cells && c < n_clusters; c++) {
		struct hpa_shape_window window = hpa_shape_cluster(&shape, c);

		hpa_shape_expect_nodes(&shape, cells, &nodes, c, &above,
		                       places);
		for (; nodes.n < n; nodes.n++) {
			uint32_t x = hpa_shape_x(&nodes, nodes.n) - window.x;
			uint32_t y = hpa_shape_y(&nodes, nodes.n) - window.y;
			uint32_t place = y * window.width + x;

			if (x >= window.width || y >= window.height)
				break;
			places[place / 64] ^= (uint64_t)1 << place % 64;
		}
		put_places(out, places);
	}
	return cells;
}

static bool
pack_inter(const struct hpa_file *file, const struct hpa_section *section,
           struct buffer *out)
{
	struct hpa_shape_nodes nodes;
	struct hpa_shape shape;
	const uint8_t *target;

	if (!hpa_shape_read(file, section->profile, &shape) ||
	    !hpa_shape_find_nodes(file, section->profile, &nodes))
		return false;
	target = section->raw + 4 * ((size_t)nodes.n + 1);
	for (uint32_t i = 0; i < nodes.n; i++) {
		uint32_t edge = hpa_get_u32(section->raw, i);
		uint32_t end = hpa_get_u32(section->raw, (size_t)i + 1);
		uint8_t differs = 0;

		for (uint32_t d = 0; d < HPA_N_STRAIGHT; d++) {
			uint32_t to =
				hpa_shape_neighbour(&shape, &nodes, i, d);

			if (to == HPA_NONE)
				continue;
			if (edge < end && hpa_get_u32(target, edge) == to)
				edge++;
			else
				differs |= (uint8_t)(1u << d);
		}
		put_byte(out, differs);
	}
	return true;
}

/* Is a node at the top level without an edge that crosses its borders? */
static bool
is_everywhere(const struct hpa_shape *shape, const struct hpa_shape_level *level,
              const uint8_t *clusters, const struct hpa_shape_nodes *nodes,
              const uint8_t *inter, uint32_t node)
{
	uint32_t rank = node, top = 0;

	while (top + 1 < shape->n_levels) {
		uint32_t up = hpa_get_u32(clusters + level[top].up, rank);

		if (up == HPA_NONE)
			break;
		rank = up;
		top++;
	}
	return top > hpa_shape_top(shape, nodes, inter, node);
}

/* Nodes that are at levels without need, by what each is above the last. */
static void
put_everywhere(struct buffer *out, const struct hpa_shape *shape,
               const struct hpa_shape_level *levels, const uint8_t *clusters,
               const struct hpa_shape_nodes *nodes, const uint8_t *inter)
{
	uint32_t n = 0, next = 0;

	for (uint32_t i = 0; i < nodes->n; i++)
		n += is_everywhere(shape, levels, clusters, nodes, inter, i);
	put_number(out, n);
	for (uint32_t i = 0; n > 0 && i < nodes->n; i++) {
		if (!is_everywhere(shape, levels, clusters, nodes, inter, i))
			continue;
		put_number(out, i - next);
		next = i + 1;
	}
}

/* The size of the record at an offset of TABL. */
static size_t
size_of_table(const struct hpa_section *tables, size_t offset)
{
	struct hpa_table table;

	hpa_table_at(tables->raw + offset, &table);
	return (size_t)hpa_table_size(table.n_nodes, table.n_edges, table.wide);
}

/* For each cluster of a profile: a new table, or how far back it was used.
 * `last` is, for each place of TABL, 1 more than the last cluster with it. */
static void
put_tables(struct buffer *out, const struct hpa_file *file, uint32_t profile,
           const struct hpa_section *tables, uint32_t *last)
{
	struct hpa_shape_walk walk;
	size_t end = 0;
	bool begun = false;

	hpa_shape_walk(file, &walk);
	while (hpa_shape_next(&walk) && walk.profile <= profile) {
		const struct hpa_shape_level *level = &walk.levels[walk.level];
		size_t offset = hpa_get_u32(walk.clusters + level->table,
		                            walk.cluster);
		size_t slot = offset / HPA_TABLE_ALIGN;
		bool is_new = offset == end;
		size_t size = is_new ? size_of_table(tables, offset) : 0;

		if (walk.profile == profile) {
			if (!begun)
				put_number(out,
				           (uint32_t)(end / HPA_TABLE_ALIGN));
			begun = true;
			put_number(out, is_new ? 0
			                       : walk.index + 1 - last[slot]);
			if (is_new)
				put_number(out, (uint32_t)(size /
				                           HPA_TABLE_ALIGN));
		}
		end += size;
		last[slot] = walk.index + 1;
	}
}

static bool
pack_clusters(const struct hpa_file *file, const struct hpa_section *section,
              struct buffer *out)
{
	const struct hpa_section *tables =
		hpa_shape_section(file, HPA_ID_TABLES, 0, HPA_TABLE_ALIGN);
	const struct hpa_section *inter =
		hpa_shape_section(file, HPA_ID_INTER, section->profile, 4);
	struct hpa_shape_level levels[HPA_MAX_LEVELS];
	struct hpa_shape_nodes nodes;
	struct hpa_shape shape;
	uint32_t *last;

	if (!tables || !inter ||
	    !hpa_shape_read(file, section->profile, &shape) ||
	    !hpa_shape_levels(file, section->profile, &shape, section->raw_size,
	                      levels) ||
	    !hpa_shape_find_nodes(file, section->profile, &nodes))
		return false;
	last = calloc(tables->raw_size / HPA_TABLE_ALIGN + 1, sizeof(*last));
	if (last) {
		put_everywhere(out, &shape, levels, section->raw, &nodes,
		               inter->raw);
		put_tables(out, file, section->profile, tables, last);
	}
	out->failed = out->failed || !last;
	free(last);
	return true;
}

/* The edges of a row that lead to later nodes. */
static void
put_row(struct buffer *out, const struct hpa_shape_walk *walk,
        const struct hpa_shape_members *members, const struct hpa_table *table,
        uint32_t row)
{
	uint32_t begin = hpa_table_begin(table, row);
	uint32_t end = hpa_table_end(table, row);
	uint32_t before = row;

	while (begin < end && hpa_table_target(table, begin) < row)
		begin++;
	put_number(out, end - begin);
	for (uint32_t e = begin; e < end; e++) {
		uint32_t to = hpa_table_target(table, e);
		uint64_t octile = hpa_shape_octile(
			&walk->shape, &walk->nodes,
			hpa_shape_member(members, row),
			hpa_shape_member(members, to));
		uint32_t excess =
			hpa_table_weight(table, e) - (uint32_t)octile;

		put_number(out, 2 * (to - before - 1) + (excess != 0));
		if (excess != 0)
			put_number(out, excess);
		before = to;
	}
}

static bool
pack_tables(const struct hpa_file *file, const struct hpa_section *section,
            struct buffer *out)
{
	struct hpa_shape_walk walk;
	uint32_t paths = 0;
	size_t end = 0;

	hpa_shape_walk(file, &walk);
	while (hpa_shape_next(&walk)) {
		const struct hpa_shape_level *level = &walk.levels[walk.level];
		struct hpa_shape_members members;
		struct hpa_table table;

		if (hpa_get_u32(walk.clusters + level->table, walk.cluster) !=
		            end ||
		    end == section->raw_size)
			continue;
		hpa_table_at(section->raw + end, &table);
		if (!hpa_shape_members(&walk, &members) ||
		    members.n != table.n_nodes)
			return false;
		for (uint32_t i = 0; i < members.n; i++)
			put_row(out, &walk, &members, &table, i);
		if (table.paths != HPA_NONE) {
			put_number(out, table.paths - paths);
			paths = table.paths;
		}
		end += (size_t)hpa_table_size(table.n_nodes, table.n_edges,
		                              table.wide);
	}
	return true;
}

typedef bool pack_function(const struct hpa_file *file,
                           const struct hpa_section *section,
                           struct buffer *out);

/* In the order of hpa_packed_ids. */
static pack_function *const packers[HPA_N_PACKED] = {
	pack_cells, pack_nodes, pack_inter, pack_clusters, pack_tables,
};

/* Does it come back as it was? */
static bool
comes_back(const struct hpa_file *file, const struct hpa_section *section,
           struct buffer *packed)
{
	uint8_t *raw = malloc(section->raw_size + 1);
	bool same;

	if (!raw) {
		packed->failed = true;
		return false;
	}
	same = hpa_unpack(file, section, packed->data, packed->size, raw) &&
	       !memcmp(raw, section->raw, section->raw_size);
	free(raw);
	return same;
}

bool
hpa_pack(const struct hpa_file *file, const struct hpa_section *section,
         uint8_t **out, size_t *size)
{
	struct buffer buffer = {0};
	bool ok = false;

	for (uint32_t i = 0; i < HPA_N_PACKED; i++)
		if (!strcmp(section->id, hpa_packed_ids[i]))
			ok = packers[i](file, section, &buffer) &&
			     !buffer.failed &&
			     comes_back(file, section, &buffer);
	*out = ok ? buffer.data : NULL;
	*size = buffer.size;
	if (!ok)
		free(buffer.data);
	return !buffer.failed;
}
