/* kernel.c: distances inside one cluster of uniform cost, by vectors.
 *
 * A row of the cluster is a vector with a lane of 16 bits for each cell. Each
 * row takes from its neighbour row what the three steps between them offer,
 * for all cells at once, and then lets its cells reach each other along the
 * row: by 1 cell, by 2, by 4, by 8, each with the least of what is there, so
 * that a few operations stand for walking the whole row. One sweep down and one
 * up are enough for an open cluster; walls that wind take more of them, until
 * nothing changes. What is left are the distances: all of them are costs of
 * ways, and no step makes one smaller.
 *
 * A step that can't be made costs KERNEL_FAR. Two of these can be added without
 * leaving the 16 bits with sign that every instruction set compares fast. A
 * cost in a cluster of 16 is at most 15 296 (formats/hpa.md shows why) and so
 * never comes near it. In wider clusters it may: as a way reaches any height
 * by steps of at most 99, a cost within one step below KERNEL_FAR tells.
 *
 * The vectors are the compiler's, of a size that all 64-bit machines have. On
 * x86-64 the same source is compiled a second time for AVX2, whose minima and
 * moves across lanes the base set lacks; the processor is asked once per
 * cluster. */
#include "src/grid/kernel.h"

#include "src/grid/bits.h"

typedef int64_t wide_vector __attribute__((vector_size(16), may_alias));

#define FAR_LANES                                                              \
	((kernel_vector){KERNEL_FAR, KERNEL_FAR, KERNEL_FAR, KERNEL_FAR,       \
	                 KERNEL_FAR, KERNEL_FAR, KERNEL_FAR, KERNEL_FAR})

/* MIN_LANES: the lesser of each two lanes. TAKE_FROM: eight lanes from lane n of
 * `a` on, those of `b` behind them. Compilers find the one instruction for each
 * by themselves, but for gcc on x86-64, which is told. */
#if defined(__x86_64__)
#include <immintrin.h>
#define MIN_LANES(a, b)                                                        \
	(kernel_vector) _mm_min_epi16((__m128i)(a), (__m128i)(b))
#define TAKE_FROM(a, b, n)                                                     \
	(kernel_vector)                                                        \
		_mm_or_si128(_mm_srli_si128((__m128i)(a), 2 * (n)),            \
	                     _mm_slli_si128((__m128i)(b), 16 - 2 * (n)))
#else
#define MIN_LANES(a, b) ((((a) < (b)) & (a)) | (~((a) < (b)) & (b)))
#define TAKE_FROM(a, b, n)                                                     \
	__builtin_shufflevector(a, b, (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, \
	                        (n) + 5, (n) + 6, (n) + 7)
#endif

#define KERNEL_TARGET
#define KERNEL_PARTS 2
#define KERNEL_NAME(name) narrow_##name
#include "src/grid/kernel_rows.h"
#undef KERNEL_PARTS
#undef KERNEL_NAME
#define KERNEL_PARTS 4
#define KERNEL_NAME(name) wide_##name
#include "src/grid/kernel_rows.h"
#undef KERNEL_TARGET
#undef KERNEL_PARTS
#undef KERNEL_NAME

#if defined(__x86_64__) && !defined(__AVX2__)
#define HAS_AVX2_BUILD 1
#define KERNEL_TARGET __attribute__((target("avx2")))
#undef TAKE_FROM
#define TAKE_FROM(a, b, n)                                                     \
	(kernel_vector) _mm_alignr_epi8((__m128i)(b), (__m128i)(a), 2 * (n))
#define KERNEL_PARTS 2
#define KERNEL_NAME(name) narrow_avx2_##name
#include "src/grid/kernel_rows.h"
#undef KERNEL_PARTS
#undef KERNEL_NAME
#define KERNEL_PARTS 4
#define KERNEL_NAME(name) wide_avx2_##name
#include "src/grid/kernel_rows.h"
#undef KERNEL_TARGET
#undef KERNEL_PARTS
#undef KERNEL_NAME
#endif

/* The steps of one row: `cost` where a bit is set. */
static inline void
put_steps(kernel_vector *out, uint32_t n_parts, uint32_t bits, uint32_t cost)
{
	const kernel_vector low = {1, 2, 4, 8, 16, 32, 64, 128};
	const kernel_vector high = {256,  512,  1024,  2048,
	                            4096, 8192, 16384, INT16_MIN};
	const kernel_vector zero = {0};
	int16_t step = (int16_t)((int)cost - KERNEL_FAR);

	for (uint32_t i = 0; i < n_parts; i += 2, bits >>= 2 * KERNEL_LANES) {
		kernel_vector all = zero + (int16_t)bits;

		out[i] = FAR_LANES + (((all & low) != zero) & step);
		out[i + 1] = FAR_LANES + (((all & high) != zero) & step);
	}
}

struct diagonals {
	uint32_t left, right;
};

/* The cells of a row that a diagonal step from the row above leads to. */
static struct diagonals
find_diagonals(const struct grid *grid, uint32_t above, uint32_t row)
{
	uint32_t left = row & above << 1, right = row & above >> 1;

	switch (grid->moves) {
	case HPA_RULE_8:
		return (struct diagonals){left & above & row << 1,
		                          right & above & row >> 1};
	case HPA_RULE_8_LOOSE:
		return (struct diagonals){left & (above | row << 1),
		                          right & (above | row >> 1)};
	case HPA_RULE_4:
		break;
	}
	return (struct diagonals){0, 0};
}

static inline __attribute__((always_inline)) void
prepare_row(const struct grid *grid, uint32_t above, uint32_t row, size_t at,
            uint32_t n, struct kernel *out)
{
	struct diagonals diagonal = find_diagonals(grid, above, row);
	uint32_t run = row & row << 1;

	put_steps(out->above + at, n, row & above, grid->cost_straight);
	put_steps(out->above_left + at, n, diagonal.left, grid->cost_diagonal);
	put_steps(out->above_right + at, n, diagonal.right,
	          grid->cost_diagonal);
	/* A bit of `run`: so many cells before this one are free too. */
	for (unsigned s = 0; 1u << s < n * KERNEL_LANES; s++) {
		put_steps(out->along[s] + at, n, run, grid->cost_straight << s);
		run &= run << (1u << s);
	}
}

void
kernel_prepare(const struct grid *grid, struct grid_window window,
               struct kernel *out)
{
	uint32_t above = 0;

	out->window = window;
	out->n_parts = window.width > 2 * KERNEL_LANES ? 4 : 2;
#ifdef HAS_AVX2_BUILD
	out->has_avx2 = __builtin_cpu_supports("avx2");
#else
	out->has_avx2 = false;
#endif
	for (uint32_t y = 0; y < window.height; y++) {
		uint32_t row = grid_row_bits(grid, window.x, window.y + y,
		                             window.width);

		/* The number of parts is a constant in both. */
		if (out->n_parts == 2)
			prepare_row(grid, above, row, (size_t)y * 2, 2, out);
		else
			prepare_row(grid, above, row, (size_t)y * 4, 4, out);
		above = row;
	}
}

static void
sweep(struct kernel *kernel, uint32_t from)
{
	bool wide = kernel->n_parts == 4;

#ifdef HAS_AVX2_BUILD
	if (kernel->has_avx2) {
		if (wide)
			wide_avx2_sweep(kernel, from);
		else
			narrow_avx2_sweep(kernel, from);
		return;
	}
#endif
	if (wide)
		wide_sweep(kernel, from);
	else
		narrow_sweep(kernel, from);
}

/* Is a cost so near the limit that others may lie beyond? */
static bool
is_cut_off(const struct kernel *kernel)
{
	uint32_t n = kernel->window.height * kernel->n_parts;
	kernel_vector any = {0};
	wide_vector words;

	for (uint32_t i = 0; i < n; i++)
		any |= (kernel->cost[i] >=
		        (int16_t)(KERNEL_FAR - (int)HPA_COST_DIAGONAL)) &
		       (kernel->cost[i] < (int16_t)KERNEL_FAR);
	words = (wide_vector)any;
	return (words[0] | words[1]) != 0;
}

bool
kernel_solve(struct kernel *kernel, uint32_t x, uint32_t y)
{
	const struct grid_window *window = &kernel->window;
	uint32_t n = window->height * kernel->n_parts;
	uint32_t place = (y - window->y) * kernel->n_parts * KERNEL_LANES +
	                 (x - window->x);

	for (uint32_t i = 0; i < n; i++)
		kernel->cost[i] = FAR_LANES;
	kernel->cost[place / KERNEL_LANES][place % KERNEL_LANES] = 0;
	sweep(kernel, y - window->y);
	return (window->width <= 2 * KERNEL_LANES &&
	        window->height <= 2 * KERNEL_LANES) ||
	       !is_cut_off(kernel);
}
