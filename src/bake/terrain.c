/* terrain.c: pass 1, from terrain classes to what an agent can stand on.
 *
 * source_pass() looks at the level once for all profiles: do any factors other
 * than 1 matter, and if so, the packed classes as the TERR section has them. A
 * level without factors takes no further part in any of this.
 *
 * terrain_pass() makes the bits of one profile, laid out as in the CELL section:
 * an agent of k x k cells stands on a cell if it may enter all of the k x k
 * cells of which this one is the top left. That is found in two sweeps: how many
 * cells in a row, counted from the right, and of these how many rows, counted
 * from the bottom.
 *
 * The source hash covers the size and what is open to everyone, so that two
 * files with the same level in them, whatever their line ends, are one source.
 * Where classes matter, it covers them too. */
#include <stdlib.h>

#include "src/bake/passes.h"
#include "src/grid/bits.h"

/* 16 cells, a byte each. */
typedef uint8_t cell_vector __attribute__((vector_size(16)));
typedef uint64_t word_vector __attribute__((vector_size(16)));
#define N_LANES sizeof(cell_vector)

/* The classes that may be entered, as a list. */
struct class_list {
	uint32_t n;
	uint8_t classes[TERRAIN_MAX_CLASSES];
};

static struct class_list
list_classes(const bool *may_enter)
{
	struct class_list list = {.n = 0};

	for (uint32_t c = 0; c < TERRAIN_MAX_CLASSES; c++)
		if (may_enter[c])
			list.classes[list.n++] = (uint8_t)c;
	return list;
}

/* The lowest bits of eight bytes, of which all others are 0, as one. */
static uint8_t
gather_bits(uint64_t bytes)
{
	return (uint8_t)(bytes * 0x0102040810204080u >> 56);
}

/* Compare 16 cells at once with each class. */
static void
pack_lanes(const uint8_t *cells, const struct class_list *list, uint8_t *bits)
{
	cell_vector lanes, is_free = {0};
	word_vector words;

	memcpy(&lanes, cells, sizeof(lanes));
	for (uint32_t i = 0; i < list->n; i++)
		is_free |= (cell_vector)(lanes == list->classes[i]);
	words = (word_vector)(is_free & 1);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	words[0] = __builtin_bswap64(words[0]);
	words[1] = __builtin_bswap64(words[1]);
#endif
	bits[0] = gather_bits(words[0]);
	bits[1] = gather_bits(words[1]);
}

static void
pack_row(const struct level *level, const bool *may_enter,
         const struct class_list *list, uint32_t y, uint8_t *bits)
{
	const uint8_t *cells = level->cells + (size_t)y * level->width;
	uint32_t x = 0;

	for (; level->width - x >= N_LANES; x += N_LANES)
		pack_lanes(cells + x, list, bits + x / 8);
	for (; x < level->width; x++)
		bits[x / 8] |= (uint8_t)(may_enter[cells[x]] << x % 8);
}

/* The bits of the cells that may be entered; NULL without memory. */
static uint8_t *
pack_cells(const struct level *level, const bool *may_enter)
{
	size_t stride = grid_stride(level->width);
	uint8_t *bits = calloc(level->height, stride);
	struct class_list list = list_classes(may_enter);

	if (!bits)
		return NULL;
#pragma omp parallel for
	for (uint32_t y = 0; y < level->height; y++)
		pack_row(level, may_enter, &list, y, bits + y * stride);
	return bits;
}

static bool
get_bit(const uint8_t *row, uint32_t x)
{
	return row[x / 8] >> x % 8 & 1;
}

/* Leave the cells where an agent of that size fits: `height[x]` counts the rows
 * below that are free over its whole width. */
static void
shrink_row(uint8_t *row, uint32_t width, uint32_t size, uint32_t *height)
{
	uint32_t n_free = 0;

	for (uint32_t x = width; x-- > 0;) {
		n_free = get_bit(row, x) ? n_free + 1 : 0;
		height[x] = n_free >= size ? height[x] + 1 : 0;
		if (height[x] < size)
			row[x / 8] &= (uint8_t) ~(1u << x % 8);
	}
}

static bool
shrink(const struct grid *grid, uint8_t *bits, uint32_t size)
{
	uint32_t *height = calloc(grid->width, sizeof(*height));

	if (!height)
		return false;
	for (uint32_t y = grid->height; y-- > 0;)
		shrink_row(bits + y * grid->stride, grid->width, size, height);
	free(height);
	return true;
}

static uint64_t
hash_bits(const struct level *level, const uint8_t *bits)
{
	uint8_t size[8];

	hpa_put_le32(size, level->width);
	hpa_put_le32(size + 4, level->height);
	return hpa_hash(hpa_hash(HPA_HASH_SEED, size, sizeof(size)), bits,
	                grid_stride(level->width) * level->height);
}

static uint64_t
hash_classes(uint64_t hash, const struct source *source)
{
	const struct level *level = source->level;

	for (uint32_t i = 0; i < level->terrain.n; i++) {
		const struct terrain_class *class = &level->terrain.classes[i];
		uint8_t record[HPA_CLASS_NAME_SIZE + 1] = {0};

		memcpy(record, class->name, strlen(class->name));
		record[HPA_CLASS_NAME_SIZE] = source->factor[i];
		hash = hpa_hash(hash, record, sizeof(record));
	}
	return hpa_hash(hash, level->cells,
	                (size_t)level->width * level->height);
}

/* The classes that the options' agents may enter, all together. */
static enum diag_status
classes_in_use(const struct level *level, const struct bake_options *options,
               bool *in_use, struct diag *diag)
{
	for (uint32_t i = 0; i < options->n_agents; i++) {
		bool may_enter[TERRAIN_MAX_CLASSES];
		enum diag_status st = bake_agent_classes(
			&options->agents[i], &level->terrain, may_enter, diag);

		if (st != DIAG_OK)
			return st;
		for (uint32_t c = 0; c < TERRAIN_MAX_CLASSES; c++)
			in_use[c] |= may_enter[c];
	}
	return DIAG_OK;
}

/* Is there a cell that may be entered and has a factor other than 1? */
static bool
find_factors(const struct level *level, const bool *in_use)
{
	bool matters[256] = {false}, found = false;
	size_t n = (size_t)level->width * level->height;

	for (uint32_t c = 0; c < level->terrain.n; c++) {
		matters[c] = in_use[c] && level->terrain.classes[c].factor != 1;
		found |= matters[c];
	}
	if (!found)
		return false;
	for (size_t i = 0; i < n; i++)
		if (matters[level->cells[i]])
			return true;
	return false;
}

static unsigned
bits_for(uint32_t n_classes)
{
	unsigned log2 = 0;

	while (n_classes > 1u << (1u << log2))
		log2++;
	return log2;
}

static bool
pack_classes(struct source *source)
{
	const struct level *level = source->level;

	source->class_log2 = bits_for(level->terrain.n);
	source->class_stride =
		grid_class_stride(level->width, source->class_log2);
	source->classes = calloc(level->height, source->class_stride);
	if (!source->classes)
		return false;
	for (uint32_t y = 0; y < level->height; y++) {
		const uint8_t *cells = level->cells + (size_t)y * level->width;
		uint8_t *row = source->classes + y * source->class_stride;

		for (uint32_t x = 0; x < level->width; x++) {
			size_t bit = (size_t)x << source->class_log2;

			row[bit / 8] |= (uint8_t)(cells[x] << bit % 8);
		}
	}
	return true;
}

enum diag_status
source_pass(const struct level *level, const struct bake_options *options,
            struct source *out, struct diag *diag)
{
	const struct bake_agent anyone = {.name = ""};
	bool in_use[TERRAIN_MAX_CLASSES] = {false};
	enum diag_status st = classes_in_use(level, options, in_use, diag);

	*out = (struct source){.level = level};
	if (st == DIAG_OK)
		st = bake_agent_classes(&anyone, &level->terrain, out->is_open,
		                        diag);
	if (st != DIAG_OK)
		return st;
	out->open = pack_cells(level, out->is_open);
	if (!out->open)
		return out_of_memory(diag);
	out->hash = hash_bits(level, out->open);
	out->is_weighted = find_factors(level, in_use);
	for (uint32_t i = 0; i < level->terrain.n; i++)
		if (in_use[i])
			out->factor[i] = level->terrain.classes[i].factor;
	if (out->is_weighted || options->agents->name[0])
		out->hash = hash_classes(out->hash, out);
	if (out->is_weighted && !pack_classes(out))
		return out_of_memory(diag);
	return DIAG_OK;
}

void
source_free(struct source *source)
{
	free(source->classes);
	free(source->open);
}

static uint64_t
count_free(const struct grid *grid)
{
	uint64_t n_free = 0;

#pragma omp parallel for reduction(+ : n_free)
	for (uint32_t y = 0; y < grid->height; y++)
		n_free += grid_count_free(grid, y);
	return n_free;
}

/* The least factor of a free cell. */
static uint32_t
find_min_factor(const struct grid *grid)
{
	uint32_t least = HPA_MAX_FACTOR + 1;

	if (!grid->classes)
		return 1;
#pragma omp parallel for reduction(min : least)
	for (uint32_t y = 0; y < grid->height; y++)
		for (uint32_t x = 0; x < grid->width; x++)
			if (grid_is_free(grid, x, y) &&
			    grid_factor(grid, x, y) < least)
				least = grid_factor(grid, x, y);
	return least > HPA_MAX_FACTOR ? 1 : least;
}

static void
set_grid(struct abstraction *abs)
{
	const struct source *source = abs->source;
	const struct level *level = source->level;
	struct grid *grid = &abs->grid;

	*grid = (struct grid){
		.bits = abs->bits,
		.stride = grid_stride(level->width),
		.width = level->width,
		.height = level->height,
		.moves = abs->options.moves,
		.cost_straight = identity_straight(source->is_weighted),
		.cost_diagonal = identity_diagonal(source->is_weighted),
		.classes = source->classes,
		.class_stride = source->class_stride,
		.class_log2 = source->class_log2,
	};
	memcpy(grid->factor, source->factor, sizeof(grid->factor));
}

/* Bits of a profile's own, or those of what is open to everyone if they are
 * the same. */
static bool
set_bits(struct abstraction *abs, const bool *may_enter)
{
	const struct source *source = abs->source;

	if (abs->agent->size == 1 &&
	    !memcmp(may_enter, source->is_open, sizeof(source->is_open))) {
		abs->bits = source->open;
		return true;
	}
	abs->own_bits = pack_cells(source->level, may_enter);
	abs->bits = abs->own_bits;
	return abs->bits != NULL;
}

enum diag_status
terrain_pass(struct abstraction *abs, struct diag *diag)
{
	const struct level *level = abs->source->level;
	bool may_enter[TERRAIN_MAX_CLASSES];
	enum diag_status st = bake_agent_classes(abs->agent, &level->terrain,
	                                         may_enter, diag);

	if (st != DIAG_OK)
		return st;
	if (!set_bits(abs, may_enter))
		return out_of_memory(diag);
	set_grid(abs);
	if (abs->agent->size > 1 &&
	    !shrink(&abs->grid, abs->own_bits, abs->agent->size))
		return out_of_memory(diag);
	abs->n_free_cells = count_free(&abs->grid);
	abs->grid.min_factor = find_min_factor(&abs->grid);
	return DIAG_OK;
}
