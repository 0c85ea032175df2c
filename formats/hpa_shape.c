/* hpa_shape.c: what packing and unpacking have in common.
 *
 * Both sides see the same sections and expect the same of the next one, so only
 * the difference has to be told. Nothing here trusts them: they may be of any
 * codec, and nobody has checked them yet. */
#include "formats/hpa_shape.h"

#include <string.h>

const struct hpa_section *
hpa_shape_section(const struct hpa_file *file, const char *id, uint32_t profile,
                  size_t unit)
{
	const struct hpa_section *section = hpa_file_find(file, id, profile);

	if (!section || !section->raw || section->raw_size % unit != 0)
		return NULL;
	return section;
}

static uint32_t
n_along(uint32_t cells, uint32_t size)
{
	return (cells + size - 1) / size;
}

bool
hpa_shape_read(const struct hpa_file *file, uint32_t profile,
               struct hpa_shape *out)
{
	const struct hpa_section *facts =
		hpa_shape_section(file, HPA_ID_FACTS, profile, HPA_FACT_SIZE);
	const uint8_t *raw;

	if (!facts || facts->raw_size != HPA_FACT_SIZE)
		return false;
	raw = facts->raw;
	out->width = hpa_get_le32(raw + HPA_FACT_WIDTH);
	out->height = hpa_get_le32(raw + HPA_FACT_HEIGHT);
	out->cluster_size = hpa_get_le32(raw + HPA_FACT_CLUSTER_SIZE);
	out->n_levels = hpa_get_le32(raw + HPA_FACT_N_LEVELS);
	out->moves = hpa_get_le32(raw + HPA_FACT_MOVES);
	out->straight = hpa_get_le32(raw + HPA_FACT_STRAIGHT);
	out->diagonal = hpa_get_le32(raw + HPA_FACT_DIAGONAL);
	out->min_factor = hpa_get_le32(raw + HPA_FACT_MIN_FACTOR);
	out->agent_size = hpa_get_le32(raw + HPA_FACT_AGENT_SIZE);
	out->has_paths =
		hpa_get_le32(raw + HPA_FACT_FLAGS) & HPA_FACT_FLAG_PATHS;
	out->stride = ((size_t)out->width + 7) / 8;
	if (out->cluster_size < HPA_MIN_CLUSTER_SIZE ||
	    out->cluster_size > HPA_MAX_CLUSTER_SIZE)
		return false;
	out->reciprocal = UINT32_MAX / out->cluster_size + 1;
	out->clusters_x = n_along(out->width, out->cluster_size);
	return out->width > 0 && out->width <= HPA_MAX_SIDE &&
	       out->height > 0 && out->height <= HPA_MAX_SIDE &&
	       out->n_levels > 0 && out->n_levels <= HPA_MAX_LEVELS &&
	       out->straight <= HPA_WEIGHTED_STRAIGHT &&
	       out->diagonal <= HPA_WEIGHTED_DIAGONAL &&
	       out->min_factor <= HPA_MAX_FACTOR && out->agent_size > 0 &&
	       out->agent_size <= HPA_MAX_AGENT_SIZE;
}

uint32_t
hpa_shape_n_clusters(const struct hpa_shape *shape)
{
	return shape->clusters_x *
	       n_along(shape->height, shape->cluster_size);
}

/* The next n numbers of CLUS. */
static size_t
take(uint64_t *at, uint64_t n)
{
	uint64_t begin = *at;

	*at += 4 * n;
	return (size_t)begin;
}

bool
hpa_shape_levels(const struct hpa_file *file, uint32_t profile,
                 const struct hpa_shape *shape, uint64_t clusters_size,
                 struct hpa_shape_level *out)
{
	const struct hpa_section *section = hpa_shape_section(
		file, HPA_ID_LEVELS, profile, HPA_LEVEL_SIZE);
	uint64_t at = 0;

	if (!section || section->raw_size / HPA_LEVEL_SIZE != shape->n_levels)
		return false;
	for (uint32_t l = 0; l < shape->n_levels; l++) {
		const uint8_t *raw = section->raw + (size_t)l * HPA_LEVEL_SIZE;
		struct hpa_shape_level *level = &out[l];
		uint32_t size = shape->cluster_size << l;

		*level = (struct hpa_shape_level){.cluster_size = size};
		level->clusters_x = n_along(shape->width, size);
		level->n_clusters =
			level->clusters_x * n_along(shape->height, size);
		level->n_nodes = hpa_get_le32(raw + HPA_LEVEL_N_NODES);
		level->first = take(&at, (uint64_t)level->n_clusters + 1);
		level->table = take(&at, level->n_clusters);
		if (l > 0)
			level->node = take(&at, level->n_nodes);
		if (l + 1 < shape->n_levels)
			level->up = take(&at, level->n_nodes);
	}
	return at == clusters_size;
}

const uint8_t *
hpa_shape_cells(const struct hpa_file *file, uint32_t profile,
                const struct hpa_shape *shape)
{
	const struct hpa_section *section =
		hpa_shape_section(file, HPA_ID_CELLS, profile, 1);

	if (!section ||
	    section->raw_size != (uint64_t)shape->stride * shape->height)
		return NULL;
	return section->raw;
}

bool
hpa_shape_find_nodes(const struct hpa_file *file, uint32_t profile,
                     struct hpa_shape_nodes *out)
{
	const struct hpa_section *nodes =
		hpa_shape_section(file, HPA_ID_NODES, profile, HPA_NODE_SIZE);

	if (!nodes)
		return false;
	out->raw = nodes->raw;
	out->n = (uint32_t)(nodes->raw_size / HPA_NODE_SIZE);
	return nodes->raw_size / HPA_NODE_SIZE < HPA_NONE;
}

struct hpa_shape_window
hpa_shape_cluster(const struct hpa_shape *shape, uint32_t cluster)
{
	uint32_t size = shape->cluster_size;
	uint32_t clusters_x = n_along(shape->width, size);
	struct hpa_shape_window window = {
		.x = cluster % clusters_x * size,
		.y = cluster / clusters_x * size,
		.width = size,
		.height = size,
	};

	if (window.width > shape->width - window.x)
		window.width = shape->width - window.x;
	if (window.height > shape->height - window.y)
		window.height = shape->height - window.y;
	return window;
}

/* Let the bits of a row stay that are set in another one, too. */
static void
meet_row(uint8_t *row, const uint8_t *other, size_t stride)
{
	size_t i;

	for (i = 0; stride - i >= 8; i += 8)
		hpa_put_le64(row + i,
		             hpa_get_le64(row + i) & hpa_get_le64(other + i));
	for (; i < stride; i++)
		row[i] &= other[i];
}

/* Let a bit of a row stay if the one that is n to its right is set too. */
static void
narrow_row(uint8_t *row, size_t stride, uint32_t n)
{
	size_t skip = n / 8;
	unsigned shift = n % 8;

	for (size_t i = 0; i < stride; i++) {
		uint32_t next = i + skip < stride ? row[i + skip] : 0;

		if (i + skip + 1 < stride)
			next |= (uint32_t)row[i + skip + 1] << 8;
		row[i] &= (uint8_t)(next >> shift);
	}
}

void
hpa_shape_expect_cells(const struct hpa_shape *shape, const uint8_t *before,
                       uint32_t n_more, uint32_t y, uint8_t *row)
{
	uint32_t n = 1, step;

	memset(row, 0, shape->stride);
	if (n_more >= shape->height - y)
		return;
	memcpy(row, before + y * shape->stride, shape->stride);
	for (uint32_t i = 1; i <= n_more; i++)
		meet_row(row, before + (y + i) * shape->stride, shape->stride);
	/* A bit stands for n cells: then it may for twice as many. */
	for (; n <= n_more; n += step) {
		step = n <= n_more + 1 - n ? n : n_more + 1 - n;
		narrow_row(row, shape->stride, step);
	}
}

static bool
is_free(const struct hpa_shape *shape, const uint8_t *cells, uint32_t x,
        uint32_t y)
{
	return cells[y * shape->stride + x / 8] >> x % 8 & 1;
}

/* Expect a node at a cell of the window if it is free. */
static void
expect(const struct hpa_shape *shape, const uint8_t *cells,
       const struct hpa_shape_window *window, uint32_t x, uint32_t y,
       uint64_t *places)
{
	uint32_t place;

	if (!is_free(shape, cells, x, y))
		return;
	place = (y - window->y) * window->width + (x - window->x);
	places[place / 64] |= (uint64_t)1 << place % 64;
}

void
hpa_shape_expect_nodes(const struct hpa_shape *shape, const uint8_t *cells,
                       const struct hpa_shape_nodes *nodes, uint32_t cluster,
                       uint32_t *above, uint64_t places[HPA_PLACE_WORDS])
{
	struct hpa_shape_window window = hpa_shape_cluster(shape, cluster);
	uint32_t column = hpa_shape_row(shape, window.x);
	uint32_t row = hpa_shape_row(shape, window.y);

	memset(places, 0, HPA_PLACE_WORDS * sizeof(places[0]));
	/* The cluster to the left is the one before. */
	for (uint32_t i = nodes->n; window.x > 0 && i-- > 0;) {
		uint32_t x = hpa_shape_x(nodes, i), y = hpa_shape_y(nodes, i);

		if (hpa_shape_row(shape, x) + 1 != column ||
		    hpa_shape_row(shape, y) != row)
			break;
		if (x + 1 == window.x)
			expect(shape, cells, &window, x + 1, y, places);
	}
	for (; window.y > 0 && *above < nodes->n; ++*above) {
		uint32_t x = hpa_shape_x(nodes, *above);
		uint32_t y = hpa_shape_y(nodes, *above);

		if (hpa_shape_row(shape, x) > column ||
		    hpa_shape_row(shape, y) + 1 != row)
			break;
		if (y + 1 == window.y)
			expect(shape, cells, &window, x, y + 1, places);
	}
}

/* Nodes are ordered by this. */
static uint64_t
order_of(const struct hpa_shape *shape, uint32_t x, uint32_t y)
{
	uint32_t size = shape->cluster_size;
	uint32_t column = hpa_shape_row(shape, x);
	uint32_t row = hpa_shape_row(shape, y);
	uint64_t cluster = (uint64_t)row * shape->clusters_x + column;

	return cluster * HPA_MAX_PLACES + (y - row * size) * size + x -
	       column * size;
}

static uint32_t
find_node(const struct hpa_shape *shape, const struct hpa_shape_nodes *nodes,
          uint32_t x, uint32_t y)
{
	uint64_t wanted = order_of(shape, x, y);
	uint32_t begin = 0, end = nodes->n;

	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		uint64_t order = order_of(shape, hpa_shape_x(nodes, middle),
		                          hpa_shape_y(nodes, middle));

		if (order == wanted)
			return middle;
		if (order < wanted)
			begin = middle + 1;
		else
			end = middle;
	}
	return HPA_NONE;
}

static const int32_t step_x[HPA_N_STRAIGHT] = {1, 0, -1, 0};
static const int32_t step_y[HPA_N_STRAIGHT] = {0, 1, 0, -1};

uint32_t
hpa_shape_neighbour(const struct hpa_shape *shape,
                    const struct hpa_shape_nodes *nodes, uint32_t node,
                    uint32_t direction)
{
	uint32_t x = hpa_shape_x(nodes, node), y = hpa_shape_y(nodes, node);
	uint32_t to_x = x + (uint32_t)step_x[direction];
	uint32_t to_y = y + (uint32_t)step_y[direction];

	if (to_x >= shape->width || to_y >= shape->height ||
	    (hpa_shape_row(shape, x) == hpa_shape_row(shape, to_x) &&
	     hpa_shape_row(shape, y) == hpa_shape_row(shape, to_y)))
		return HPA_NONE;
	return find_node(shape, nodes, to_x, to_y);
}

/* The highest level, from 0, at which two coordinates lie in different
 * clusters, or 0: clusters of level l are 2^l of level 0 wide. */
static uint32_t
top_between(const struct hpa_shape *shape, uint32_t a, uint32_t b)
{
	uint32_t differs = hpa_shape_row(shape, a) ^ hpa_shape_row(shape, b);
	uint32_t top = differs ? 31 - (uint32_t)__builtin_clz(differs) : 0;

	return top < shape->n_levels ? top : shape->n_levels - 1;
}

uint32_t
hpa_shape_top(const struct hpa_shape *shape,
              const struct hpa_shape_nodes *nodes, const uint8_t *inter,
              uint32_t node)
{
	const uint8_t *target = inter + 4 * ((size_t)nodes->n + 1);
	uint32_t end = hpa_get_u32(inter, (size_t)node + 1);
	uint32_t x = hpa_shape_x(nodes, node), y = hpa_shape_y(nodes, node);
	uint32_t top = 0;

	for (uint32_t e = hpa_get_u32(inter, node); e < end; e++) {
		uint32_t to = hpa_get_u32(target, e);
		uint32_t top_x = top_between(shape, x, hpa_shape_x(nodes, to));
		uint32_t top_y = top_between(shape, y, hpa_shape_y(nodes, to));

		top = top_x > top ? top_x : top;
		top = top_y > top ? top_y : top;
	}
	return top;
}

static uint32_t
distance(uint32_t a, uint32_t b)
{
	return a < b ? b - a : a - b;
}

uint64_t
hpa_shape_octile(const struct hpa_shape *shape,
                 const struct hpa_shape_nodes *nodes, uint32_t a, uint32_t b)
{
	uint32_t dx = distance(hpa_shape_x(nodes, a), hpa_shape_x(nodes, b));
	uint32_t dy = distance(hpa_shape_y(nodes, a), hpa_shape_y(nodes, b));
	uint32_t both = dx < dy ? dx : dy;

	if (shape->moves == HPA_RULE_4)
		both = 0;
	return ((uint64_t)shape->diagonal * both +
	        (uint64_t)shape->straight * (dx + dy - 2 * both)) *
	       shape->min_factor;
}

void
hpa_shape_walk(const struct hpa_file *file, struct hpa_shape_walk *walk)
{
	*walk = (struct hpa_shape_walk){
		.file = file,
		.n_profiles = hpa_file_profiles(file),
		.profile = HPA_NONE,
		.index = HPA_NONE,
	};
}

static bool
enter_profile(struct hpa_shape_walk *walk)
{
	const struct hpa_section *clusters = hpa_shape_section(
		walk->file, HPA_ID_CLUSTERS, walk->profile, 4);

	if (!clusters ||
	    !hpa_shape_read(walk->file, walk->profile, &walk->shape) ||
	    !hpa_shape_levels(walk->file, walk->profile, &walk->shape,
	                      clusters->raw_size, walk->levels) ||
	    !hpa_shape_find_nodes(walk->file, walk->profile, &walk->nodes))
		return false;
	walk->clusters = clusters->raw;
	walk->level = 0;
	walk->cluster = 0;
	return true;
}

bool
hpa_shape_next(struct hpa_shape_walk *walk)
{
	walk->index++;
	if (walk->profile != HPA_NONE) {
		if (++walk->cluster < walk->levels[walk->level].n_clusters)
			return true;
		walk->cluster = 0;
		if (++walk->level < walk->shape.n_levels)
			return true;
	}
	return ++walk->profile < walk->n_profiles && enter_profile(walk);
}

bool
hpa_shape_members(const struct hpa_shape_walk *walk,
                  struct hpa_shape_members *out)
{
	const struct hpa_shape_level *level = &walk->levels[walk->level];
	const uint8_t *first = walk->clusters + level->first;
	uint32_t begin = hpa_get_u32(first, walk->cluster);
	uint32_t end = hpa_get_u32(first, (size_t)walk->cluster + 1);

	out->node = level->node ? walk->clusters + level->node : NULL;
	out->first = begin;
	out->n = end - begin;
	if (begin > end || end > level->n_nodes || out->n > UINT16_MAX)
		return false;
	for (uint32_t i = 0; i < out->n; i++)
		if (hpa_shape_member(out, i) >= walk->nodes.n)
			return false;
	return true;
}
