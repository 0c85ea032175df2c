/* run.c: where one can step, and how far one can go straight on.
 *
 * The steps from a cell follow from the bits around it. Along a row, up to 64
 * cells are looked at together. In the other directions a run touches one or two
 * neighbouring bits in each row; a row's are read as 16 bits. That may touch the
 * byte behind those that are asked for: where it might not be there, at the end
 * of the grid, one goes cell by cell. */
#include "src/grid/run.h"

#include "src/grid/bits.h"

/* The bits of cells from x on of a row, nine of them or more. */
static inline unsigned
pair_at(const uint8_t *row, uint32_t x)
{
	return (unsigned)hpa_get_le16(row + x / 8) >> x % 8;
}

static unsigned
steps_one_by_one(const struct grid *grid, uint32_t x, uint32_t y)
{
	unsigned steps = 0;

	for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++)
		steps |= (unsigned)grid_may_step(grid, x, y, d) << d;
	return steps;
}

/* Directions whose neighbours on the compass are both free, or one of them. */
static unsigned
beside(unsigned free, bool both)
{
	unsigned next = (free >> 1 | free << 7) & 0xff;
	unsigned before = (free << 1 | free >> 7) & 0xff;

	return both ? next & before : next | before;
}

unsigned
grid_steps(const struct grid *grid, uint32_t x, uint32_t y)
{
	const unsigned straight = 0x55;
	const uint8_t *row = grid->bits + y * grid->stride;
	unsigned above, here, below, free;

	if (x == 0 || y == 0 || x + 1 >= grid->width || y + 2 >= grid->height)
		return steps_one_by_one(grid, x, y);
	/* Three cells of each of three rows, then clockwise from east. */
	above = pair_at(row - grid->stride, x - 1);
	here = pair_at(row, x - 1);
	below = pair_at(row + grid->stride, x - 1);
	free = (here >> 2 & 1) | (below >> 2 & 1) << 1 | (below >> 1 & 1) << 2 |
	       (below & 1) << 3 | (here & 1) << 4 | (above & 1) << 5 |
	       (above >> 1 & 1) << 6 | (above >> 2 & 1) << 7;
	switch (grid->moves) {
	case HPA_RULE_8:
		return free & (straight | beside(free, true));
	case HPA_RULE_8_LOOSE:
		return free & (straight | beside(free, false));
	case HPA_RULE_4:
		break;
	}
	return free & straight;
}

/* The longest run that stays inside the grid. */
static uint32_t
moves_to_edge(const struct grid *grid, uint32_t x, uint32_t y,
              unsigned direction, uint32_t most)
{
	uint32_t dx = grid_dx[direction], dy = grid_dy[direction];
	uint32_t room_x = dx == 1 ? grid->width - 1 - x : x;
	uint32_t room_y = dy == 1 ? grid->height - 1 - y : y;

	if (dx && room_x < most)
		most = room_x;
	if (dy && room_y < most)
		most = room_y;
	return most;
}

static uint32_t
run_by_cells(const struct grid *grid, uint32_t x, uint32_t y,
             unsigned direction, uint32_t most)
{
	uint32_t n = 0;

	while (n < most && grid_may_step(grid, x, y, direction)) {
		x += grid_dx[direction];
		y += grid_dy[direction];
		n++;
	}
	return n;
}

/* 8 bytes of the grid from `byte` on, zeros behind its end. */
static uint64_t
word_at(const struct grid *grid, size_t byte)
{
	size_t size = grid->stride * grid->height;
	uint64_t bits = 0;

	if (size >= 8 && byte <= size - 8)
		return hpa_get_le64(grid->bits + byte);
	for (unsigned i = 0; i < 8 && byte + i < size; i++)
		bits |= (uint64_t)grid->bits[byte + i] << 8 * i;
	return bits;
}

static uint32_t
run_east(const struct grid *grid, uint32_t x, uint32_t y, uint32_t most)
{
	size_t row = y * grid->stride;
	uint32_t n = 0;

	while (n < most) {
		uint32_t at = x + 1 + n;
		uint64_t blocked = ~word_at(grid, row + at / 8) >> at % 8;
		uint32_t n_seen = 64 - at % 8;

		/* The shift brought in zeros, which are no walls. */
		if (blocked) {
			n += grid_lowest_bit(blocked);
			break;
		}
		n += n_seen;
	}
	return n < most ? n : most;
}

static uint32_t
run_west(const struct grid *grid, uint32_t x, uint32_t y, uint32_t most)
{
	size_t row = y * grid->stride;
	uint32_t n = 0;

	while (n < most) {
		/* The cells left of `end`, the nearest in the highest bit. */
		uint32_t end = x - n;
		size_t last = row + (end - 1) / 8;
		uint64_t bits = last >= 7 ? word_at(grid, last - 7)
		                          : word_at(grid, 0) << 8 * (7 - last);
		uint32_t unused = 7 - (end - 1) % 8;
		uint64_t blocked = ~bits << unused;
		uint32_t n_seen = 64 - unused;

		if (blocked) {
			n += (uint32_t)__builtin_clzll(blocked);
			break;
		}
		n += n_seen;
	}
	return n < most ? n : most;
}

static uint32_t
run_along_column(const struct grid *grid, uint32_t x, uint32_t y, bool down,
                 uint32_t most)
{
	const uint8_t *at = grid->bits + y * grid->stride + x / 8;
	ptrdiff_t step =
		down ? (ptrdiff_t)grid->stride : -(ptrdiff_t)grid->stride;
	unsigned bit = 1u << x % 8;
	uint32_t n = 0;

	while (n < most && at[step] & bit) {
		at += step;
		n++;
	}
	return n;
}

/* A diagonal step looks at a square of 2 x 2 cells: where it begins, where it
 * ends, and both beside it. */
static uint32_t
run_diagonally(const struct grid *grid, uint32_t x, uint32_t y,
               unsigned direction, uint32_t most)
{
	ptrdiff_t step = grid_dy[direction] == 1 ? (ptrdiff_t)grid->stride
	                                         : -(ptrdiff_t)grid->stride;
	bool right = grid_dx[direction] == 1;
	const uint8_t *row = grid->bits + y * grid->stride;
	unsigned ahead = right ? 2 : 1, besides = right ? 1 : 2;
	bool strict = grid->moves == HPA_RULE_8;
	uint32_t left = right ? x : x - 1; /* column of the square */
	uint32_t n = 0;

	while (n < most) {
		unsigned here = pair_at(row, left);
		unsigned next = pair_at(row + step, left);
		bool side = here & ahead, other = next & besides;

		if (!(next & ahead) ||
		    (strict ? !(side && other) : !(side || other)))
			break;
		left += grid_dx[direction];
		row += step;
		n++;
	}
	return n;
}

/* Does a run, and one byte more, stay below the end of the grid's bytes? */
static bool
has_byte_behind(const struct grid *grid, uint32_t y, unsigned direction,
                uint32_t most)
{
	uint32_t lowest = grid_dy[direction] == 1 ? y + most : y;

	return lowest + 1 < grid->height;
}

uint32_t
grid_run(const struct grid *grid, uint32_t x, uint32_t y, unsigned direction,
         uint32_t most)
{
	most = moves_to_edge(grid, x, y, direction, most);
	switch (direction) {
	case 0:
		return run_east(grid, x, y, most);
	case 2:
	case 6:
		return run_along_column(grid, x, y, direction == 2, most);
	case 4:
		return run_west(grid, x, y, most);
	default:
		break;
	}
	if (grid->moves == HPA_RULE_4)
		return 0;
	if (!has_byte_behind(grid, y, direction, most))
		return run_by_cells(grid, x, y, direction, most);
	return run_diagonally(grid, x, y, direction, most);
}

uint64_t
grid_run_cost(const struct grid *grid, uint32_t x, uint32_t y,
              unsigned direction, uint32_t length)
{
	uint64_t cost = 0;

	if (!grid->classes)
		return (uint64_t)length * (direction % 2 ? grid->cost_diagonal
		                                         : grid->cost_straight);
	for (uint32_t i = 0; i < length; i++) {
		cost += grid_step_cost(grid, x, y, direction);
		x += grid_dx[direction];
		y += grid_dy[direction];
	}
	return cost;
}

bool
grid_legs_are_clear(const struct grid *grid, uint32_t x, uint32_t y,
                    const struct grid_legs *legs)
{
	uint32_t turn_x = x + grid_dx[legs->first] * legs->n_first;
	uint32_t turn_y = y + grid_dy[legs->first] * legs->n_first;

	/* Where they turn is most often where a wall is. */
	return grid_is_free(grid, turn_x, turn_y) &&
	       grid_run(grid, x, y, legs->first, legs->n_first) ==
	               legs->n_first &&
	       grid_run(grid, turn_x, turn_y, legs->second, legs->n_second) ==
	               legs->n_second;
}

uint64_t
grid_legs_cost(const struct grid *grid, uint32_t x, uint32_t y,
               const struct grid_legs *legs)
{
	return grid_run_cost(grid, x, y, legs->first, legs->n_first) +
	       grid_run_cost(grid, x + grid_dx[legs->first] * legs->n_first,
	                     y + grid_dy[legs->first] * legs->n_first,
	                     legs->second, legs->n_second);
}
