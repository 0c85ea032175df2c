/* bits.h: a grid's rows as words.
 *
 * What is asked cell by cell elsewhere is asked here for up to 32 cells at
 * once. */
#ifndef GRID_BITS_H
#define GRID_BITS_H

#include "src/grid/grid.h"

/* Is the cell free? A bit for each of n <= 32 cells of a row from x on, all of
 * them inside the grid, the leftmost in the lowest bit. */
static inline uint32_t
grid_row_bits(const struct grid *grid, uint32_t x, uint32_t y, uint32_t n)
{
	const uint8_t *row = grid->bits + y * grid->stride;
	size_t byte = x / 8;
	uint64_t bits = 0;

	if (grid->stride - byte >= 8) {
		bits = hpa_get_le64(row + byte);
	} else {
		for (unsigned i = 0; byte + i < grid->stride; i++)
			bits |= (uint64_t)row[byte + i] << 8 * i;
	}
	return (uint32_t)(bits >> x % 8 & (((uint64_t)1 << n) - 1));
}

/* The free cells of a row. Bits behind its last cell are 0. */
static inline uint64_t
grid_count_free(const struct grid *grid, uint32_t y)
{
	const uint8_t *row = grid->bits + y * grid->stride;
	uint64_t n = 0;
	size_t i = 0;

	for (; grid->stride - i >= 8; i += 8)
		n += (uint64_t)__builtin_popcountll(hpa_get_le64(row + i));
	for (; i < grid->stride; i++)
		n += (uint64_t)__builtin_popcount(row[i]);
	return n;
}

/* The number of the lowest bit that is set; there is one. */
static inline uint32_t
grid_lowest_bit(uint64_t bits)
{
	return (uint32_t)__builtin_ctzll(bits);
}

#endif
