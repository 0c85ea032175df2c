/* route.c: ask for paths and measure them. */
#include "src/cli/route.h"

#include <stdlib.h>

#define FIRST_CAPACITY 4096u
#define SQRT_2 1.4142135623730951

bool
route_to_cell(long x, long y, hpa_cell *out)
{
	*out = (hpa_cell){(uint16_t)x, (uint16_t)y};
	return x >= 0 && x <= UINT16_MAX && y >= 0 && y <= UINT16_MAX;
}

static bool
set_capacity(struct route *route, size_t capacity)
{
	hpa_cell *cells =
		realloc(route->cells, capacity * sizeof(*route->cells));

	if (!cells)
		return false;
	route->cells = cells;
	route->capacity = capacity;
	return true;
}

hpa_status
route_find(hpa_query *query, hpa_cell from, hpa_cell to, struct route *out)
{
	hpa_status st;

	out->n = 0;
	if (!out->cells && !set_capacity(out, FIRST_CAPACITY))
		return HPA_NO_MEMORY;
	st = hpa_query_path(query, from, to, out->cells, out->capacity,
	                    &out->n);
	if (st != HPA_NO_ROOM)
		return st;
	if (!set_capacity(out, out->n))
		return HPA_NO_MEMORY;
	return hpa_query_path(query, from, to, out->cells, out->capacity,
	                      &out->n);
}

static bool
same_cell(hpa_cell a, hpa_cell b)
{
	return a.x == b.x && a.y == b.y;
}

/* The length of the shortest link between two cells. */
static double
link_length(const hpa_map *map, hpa_cell from, hpa_cell to)
{
	double least = 0;
	bool found = false;
	hpa_facts facts;
	hpa_link link;

	hpa_map_facts(map, &facts);
	for (uint32_t i = 0; hpa_map_link(map, i, &link); i++) {
		double length = (double)link.cost / facts.cost_straight;

		if (!(same_cell(link.from, from) && same_cell(link.to, to)) &&
		    (link.is_one_way || !same_cell(link.from, to) ||
		     !same_cell(link.to, from)))
			continue;
		least = !found || length < least ? length : least;
		found = true;
	}
	return least;
}

/* May the agent go from one cell of a path to the next without a link? */
static bool
is_step(const hpa_map *map, hpa_cell from, hpa_cell to)
{
	int dx = abs(from.x - to.x), dy = abs(from.y - to.y);
	bool beside_x, beside_y;
	hpa_facts facts;

	if (dx > 1 || dy > 1)
		return false;
	if (dx == 0 || dy == 0)
		return true;
	hpa_map_facts(map, &facts);
	beside_x = hpa_map_is_free(map, (hpa_cell){to.x, from.y}) != 0;
	beside_y = hpa_map_is_free(map, (hpa_cell){from.x, to.y}) != 0;
	if (facts.moves == HPA_MOVES_8)
		return beside_x && beside_y;
	return facts.moves == HPA_MOVES_8_LOOSE && (beside_x || beside_y);
}

double
route_length(const hpa_map *map, const struct route *route)
{
	const hpa_cell *cells = route->cells;
	size_t n_straight = 0, n_diagonal = 0;
	double jumped = 0;

	for (size_t i = 1; i < route->n; i++)
		if (!is_step(map, cells[i - 1], cells[i]))
			jumped += link_length(map, cells[i - 1], cells[i]);
		else if (cells[i].x != cells[i - 1].x &&
		         cells[i].y != cells[i - 1].y)
			n_diagonal++;
		else
			n_straight++;
	return (double)n_straight + (double)n_diagonal * SQRT_2 + jumped;
}
