/* entrance.c: pass 3, entrances and where they are crossed.
 *
 * An entrance is a maximal stretch along the border of two clusters that is
 * free on both sides. The policy places its transitions:
 *
 *     ends      shorter than the threshold: one in the middle; else one at
 *               each end (Botea, Müller and Schaeffer: 6)
 *     spread    below 5 the middle, below 7 both ends, else the third cell
 *               from each end
 *     every:k   cut into pieces of at most k cells, as even as can be, one in
 *               the middle of each
 *
 * The middle of an even stretch is the cell before it. Each cluster looks at
 * its own four borders; that both sides of one find the same transitions
 * follows from the symmetry of the definition, and lets clusters work in
 * parallel without sharing anything. */
#include "src/bake/passes.h"
#include "src/grid/bits.h"

#define SPREAD_MIDDLE_BELOW 5u
#define SPREAD_ENDS_BELOW 7u
#define SPREAD_INSET 2u

/* The border of a cluster towards one side. */
struct border {
	uint32_t x, y; /* its first cell */
	uint32_t length;
	bool is_row;       /* runs along x */
	unsigned outwards; /* direction that leads across */
};

static uint32_t
two_places(uint32_t first, uint32_t last, uint32_t *out)
{
	out[0] = first;
	out[1] = last;
	return first == last ? 1 : 2;
}

static uint32_t
one_per_piece(uint32_t length, uint32_t max_piece, uint32_t *out)
{
	uint32_t n = (length + max_piece - 1) / max_piece;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t begin = length * i / n;
		uint32_t end = length * (i + 1) / n;

		out[i] = begin + (end - begin - 1) / 2;
	}
	return n;
}

/* Where an entrance of this length is crossed: offsets in rising order. */
static uint32_t
place_transitions(const struct bake_options *options, uint32_t length,
                  uint32_t *out)
{
	uint32_t middle = (length - 1) / 2;
	uint32_t last = length - 1;

	switch (options->policy) {
	case HPA_POLICY_ENDS:
		if (length < options->policy_parameter)
			return two_places(middle, middle, out);
		return two_places(0, last, out);
	case HPA_POLICY_SPREAD:
		if (length < SPREAD_MIDDLE_BELOW)
			return two_places(middle, middle, out);
		if (length < SPREAD_ENDS_BELOW)
			return two_places(0, last, out);
		return two_places(SPREAD_INSET, last - SPREAD_INSET, out);
	case HPA_POLICY_EVERY:
		break;
	}
	return one_per_piece(length, options->policy_parameter, out);
}

/* The cells of a border that are free on both sides, a bit each. */
static uint32_t
find_open(const struct grid *grid, const struct border *border)
{
	uint32_t beyond_x = border->x + grid_dx[border->outwards];
	uint32_t beyond_y = border->y + grid_dy[border->outwards];
	uint32_t left = beyond_x < border->x ? beyond_x : border->x;
	uint32_t open = 0;

	if (beyond_x >= grid->width || beyond_y >= grid->height)
		return 0;
	if (border->is_row)
		return grid_row_bits(grid, border->x, border->y,
		                     border->length) &
		       grid_row_bits(grid, border->x, beyond_y, border->length);
	for (uint32_t i = 0; i < border->length; i++) {
		const uint8_t *row =
			grid->bits + (border->y + i) * grid->stride;
		unsigned both = row[left / 8] >> left % 8 &
		                row[(left + 1) / 8] >> (left + 1) % 8 & 1;

		open |= both << i;
	}
	return open;
}

static void
mark_entrance(const struct abstraction *abs, const struct border *border,
              struct grid_window window, uint32_t begin, uint32_t end,
              uint8_t *exits)
{
	uint32_t places[HPA_MAX_CLUSTER_SIZE];
	uint32_t n = place_transitions(&abs->options, end - begin, places);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t along = begin + places[i];
		uint32_t x = border->x + (border->is_row ? along : 0);
		uint32_t y = border->y + (border->is_row ? 0 : along);

		exits[(y - window.y) * window.width + x - window.x] |=
			(uint8_t)(1u << border->outwards);
	}
}

static void
mark_border(const struct abstraction *abs, const struct border *border,
            struct grid_window window, uint8_t *exits)
{
	uint64_t open = find_open(&abs->grid, border);

	while (open) {
		uint32_t begin = grid_lowest_bit(open);
		uint32_t end = begin + grid_lowest_bit(~(open >> begin));

		mark_entrance(abs, border, window, begin, end, exits);
		open &= ~(uint64_t)0 << end;
	}
}

void
entrance_find(const struct abstraction *abs, struct grid_window window,
              uint8_t *exits)
{
	uint32_t right = window.x + window.width - 1;
	uint32_t bottom = window.y + window.height - 1;
	const struct border borders[] = {
		{right, window.y, window.height, false, 0},
		{window.x, bottom, window.width, true, 2},
		{window.x, window.y, window.height, false, 4},
		{window.x, window.y, window.width, true, 6},
	};

	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
		mark_border(abs, &borders[i], window, exits);
}
