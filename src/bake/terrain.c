/* terrain.c: pass 1, from terrain classes to a bit per cell.
 *
 * The bits are laid out as in the file's CELL section and serve all later
 * passes. The source hash covers the size and the bits, so that two files with
 * the same level in them, whatever their line ends, are one source. */
#include <stdlib.h>

#include "src/bake/passes.h"

static uint32_t
pack_row(const struct level *level, uint32_t y, uint8_t *bits)
{
	const uint8_t *cells = level->cells + (size_t)y * level->width;
	const struct terrain_class *classes = level->terrain.classes;
	uint32_t n_free = 0;

	for (uint32_t x = 0; x < level->width; x++) {
		const struct terrain_class *terrain = &classes[cells[x]];

		if (terrain->factor == 0 || terrain->only_if_named)
			continue;
		bits[x / 8] |= (uint8_t)(1u << x % 8);
		n_free++;
	}
	return n_free;
}

static uint64_t
hash_source(const struct grid *grid)
{
	uint8_t size[8];

	hpa_put_le32(size, grid->width);
	hpa_put_le32(size + 4, grid->height);
	return hpa_hash(hpa_hash(HPA_HASH_SEED, size, sizeof(size)), grid->bits,
	                grid->stride * grid->height);
}

enum diag_status
terrain_pass(struct abstraction *abs, const struct level *level,
             struct diag *diag)
{
	size_t stride = grid_stride(level->width);
	uint64_t n_free = 0;

	abs->bits = calloc(level->height, stride);
	if (!abs->bits)
		return out_of_memory(diag);
	abs->grid = (struct grid){
		.bits = abs->bits,
		.stride = stride,
		.width = level->width,
		.height = level->height,
		.moves = abs->options.moves,
		.cost_straight = HPA_COST_STRAIGHT,
		.cost_diagonal = HPA_COST_DIAGONAL,
	};
#pragma omp parallel for reduction(+ : n_free)
	for (uint32_t y = 0; y < level->height; y++)
		n_free += pack_row(level, y, abs->bits + y * stride);
	abs->n_free_cells = n_free;
	abs->source_hash = hash_source(&abs->grid);
	return DIAG_OK;
}
