/* corridor.c: the cheapest way inside the clusters of a path and the ring of
 * clusters around them.
 *
 * A* over cells, with the octile distance to the goal and the cost of the path
 * as a bound: a cell is looked at only if a way over it may still be cheaper.
 * The clusters of the corridor get slots, each with room for a cluster's cells,
 * so that the memory does not grow with the level. A path that needs more slots
 * than there are is done in pieces, each as long as its corridor fits. A search
 * whose open list is full is given up, and the path stays as it was.
 *
 * The open list is a heap of numbers, cost + heuristic above, cell below: the
 * order is total. A cell is put in again when a cheaper way to it is found; its
 * older entries are passed over.
 *
 * The same search, over the box around start and goal instead and for a bounded
 * number of cells, looks for a way around the other side of something. */
#include "src/grid/bits.h"
#include "src/grid/run.h"
#include "src/run/query.h"

#define CORRIDOR_CELLS 32768u
#define OPEN_SIZE 16384u
#define LOOK_AROUND_CELLS 400u

static uint32_t
count_clusters(const hpa_map *map)
{
	const struct hpa_view_level *level = &map->view.levels[0];

	return level->clusters_x * level->clusters_y;
}

static uint32_t
cells_of_slot(const hpa_map *map)
{
	return map->view.cluster_size * map->view.cluster_size;
}

static uint32_t
count_slots(const hpa_map *map)
{
	uint32_t n = CORRIDOR_CELLS / cells_of_slot(map);

	return n < count_clusters(map) ? n : count_clusters(map);
}

/* The parts of the room, one behind the other. */
static size_t
plan(const hpa_map *map, size_t *cost, size_t *slot_of, size_t *clusters,
     size_t *origins, size_t *move)
{
	size_t n_slots = count_slots(map);
	size_t n_cells = n_slots * cells_of_slot(map);
	size_t size = OPEN_SIZE * sizeof(uint64_t);

	*cost = size;
	size += n_cells * sizeof(uint32_t);
	*slot_of = size;
	size += count_clusters(map) * sizeof(uint32_t);
	*clusters = size;
	size += n_slots * sizeof(uint32_t);
	*origins = size;
	size += n_slots * sizeof(hpa_cell);
	*move = size;
	return size + n_cells;
}

size_t
corridor_size(const hpa_map *map)
{
	size_t cost, slot_of, clusters, origins, move;

	return plan(map, &cost, &slot_of, &clusters, &origins, &move);
}

void
corridor_init(struct corridor *corridor, const hpa_map *map, uint8_t *room)
{
	size_t cost, slot_of, clusters, origins, move;

	plan(map, &cost, &slot_of, &clusters, &origins, &move);
	corridor->map = map;
	corridor->open = (void *)room;
	corridor->cost = (void *)(room + cost);
	corridor->slot_of = (void *)(room + slot_of);
	corridor->clusters = (void *)(room + clusters);
	corridor->origins = (void *)(room + origins);
	corridor->move = room + move;
	corridor->max_slots = count_slots(map);
	corridor->n_slots = 0;
	memset(corridor->slot_of, 0xff,
	       count_clusters(map) * sizeof(*corridor->slot_of));
}

/* Slots */

static void
clear_slots(struct corridor *corridor)
{
	for (uint32_t i = 0; i < corridor->n_slots; i++)
		corridor->slot_of[corridor->clusters[i]] = HPA_NONE;
	corridor->n_slots = 0;
}

static bool
add_cluster(struct corridor *corridor, uint32_t cluster)
{
	const struct hpa_view_level *level = &corridor->map->view.levels[0];

	if (corridor->slot_of[cluster] != HPA_NONE)
		return true;
	if (corridor->n_slots == corridor->max_slots)
		return false;
	corridor->slot_of[cluster] = corridor->n_slots;
	corridor->origins[corridor->n_slots] = (hpa_cell){
		(uint16_t)(cluster % level->clusters_x * level->cluster_size),
		(uint16_t)(cluster / level->clusters_x * level->cluster_size)};
	corridor->clusters[corridor->n_slots++] = cluster;
	return true;
}

/* The cluster of a cell and those around it. */
static bool
add_ring(struct corridor *corridor, uint32_t x, uint32_t y)
{
	const struct hpa_view_level *level = &corridor->map->view.levels[0];
	uint32_t column = x / level->cluster_size;
	uint32_t row = y / level->cluster_size;
	bool fits = true;

	for (uint32_t r = row ? row - 1 : 0;
	     r <= row + 1 && r < level->clusters_y; r++)
		for (uint32_t c = column ? column - 1 : 0;
		     c <= column + 1 && c < level->clusters_x; c++)
			fits &= add_cluster(corridor,
			                    r * level->clusters_x + c);
	return fits;
}

/* All clusters that a run crosses. false: there are not enough slots. */
static bool
add_run(struct corridor *corridor, const struct bend *from,
        const struct bend *to)
{
	uint32_t size = corridor->map->view.cluster_size;
	uint32_t dx = grid_dx[to->move], dy = grid_dy[to->move];
	uint32_t x = from->x, y = from->y;
	bool fits = add_ring(corridor, x, y);

	for (uint32_t i = 0; i < to->length && fits; i++) {
		uint32_t next_x = x + dx, next_y = y + dy;

		if (next_x / size != x / size || next_y / size != y / size)
			fits = add_ring(corridor, next_x, next_y);
		x = next_x;
		y = next_y;
	}
	return fits;
}

/* The open list */

static bool
push(struct corridor *corridor, uint64_t entry)
{
	uint64_t *open = corridor->open;
	uint32_t at = corridor->n_open;

	if (at == OPEN_SIZE)
		return false;
	corridor->n_open++;
	while (at > 0 && open[(at - 1) / 2] > entry) {
		open[at] = open[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	open[at] = entry;
	return true;
}

static uint64_t
pop(struct corridor *corridor)
{
	uint64_t *open = corridor->open;
	uint64_t top = open[0], entry = open[--corridor->n_open];
	uint32_t n = corridor->n_open, at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && open[child + 1] < open[child])
			child++;
		if (open[child] >= entry)
			break;
		open[at] = open[child];
		at = child;
	}
	open[at] = entry;
	return top;
}

/* The search */

/* Where a cell's numbers are, or HPA_NONE outside of the corridor. */
static uint32_t
index_of(const struct corridor *corridor, uint32_t x, uint32_t y)
{
	const struct hpa_view_level *level = &corridor->map->view.levels[0];
	uint32_t size = level->cluster_size;
	uint32_t column = hpa_cluster_row(level, x);
	uint32_t row = hpa_cluster_row(level, y);
	uint32_t slot = corridor->slot_of[row * level->clusters_x + column];

	return slot == HPA_NONE ? HPA_NONE
	                        : (slot * size + y - row * size) * size + x -
	                                  column * size;
}

static hpa_cell
cell_of(const struct corridor *corridor, uint32_t index)
{
	const struct hpa_view_level *level = &corridor->map->view.levels[0];
	uint32_t size = level->cluster_size;
	/* All cells of a slot in one column: an index is below 2^16. */
	uint32_t line = hpa_cluster_row(level, index);
	uint32_t slot = hpa_cluster_row(level, line);
	hpa_cell origin = corridor->origins[slot];

	return (hpa_cell){(uint16_t)(origin.x + index - line * size),
	                  (uint16_t)(origin.y + line - slot * size)};
}

/* Look at the neighbours of a cell. false: the open list is full. */
static bool
expand(struct corridor *corridor, uint32_t index, hpa_cell goal, uint64_t below)
{
	const struct grid *grid = &corridor->map->grid;
	hpa_cell cell = cell_of(corridor, index);
	unsigned steps = grid_steps(grid, cell.x, cell.y);

	for (; steps; steps &= steps - 1) {
		unsigned d = grid_lowest_bit(steps);
		uint32_t x = cell.x + grid_dx[d], y = cell.y + grid_dy[d];
		uint64_t cost, least;
		uint32_t to = index_of(corridor, x, y);

		if (to == HPA_NONE)
			continue;
		cost = (uint64_t)corridor->cost[index] +
		       grid_step_cost(grid, cell.x, cell.y, d);
		least = cost + grid_octile(grid, x, y, goal.x, goal.y);
		if (cost >= corridor->cost[to] || least >= below)
			continue;
		corridor->cost[to] = (uint32_t)cost;
		corridor->move[to] = (uint8_t)d;
		if (!push(corridor, least << 32 | to))
			return false;
	}
	return true;
}

/* Is there a way that costs less than `below`? */
static bool
search(struct corridor *corridor, hpa_cell from, hpa_cell to, uint64_t below)
{
	const struct grid *grid = &corridor->map->grid;
	uint32_t goal = index_of(corridor, to.x, to.y);
	uint32_t start = index_of(corridor, from.x, from.y);
	uint64_t rest = grid_octile(grid, from.x, from.y, to.x, to.y);

	if (rest >= below || below > UINT32_MAX || start == HPA_NONE ||
	    goal == HPA_NONE)
		return false;
	memset(corridor->cost, 0xff,
	       (size_t)corridor->n_slots * cells_of_slot(corridor->map) *
	               sizeof(*corridor->cost));
	corridor->n_open = 0;
	corridor->cost[start] = 0;
	push(corridor, rest << 32 | start);
	while (corridor->n_open > 0 && corridor->n_left > 0) {
		uint64_t entry = pop(corridor);
		uint32_t index = (uint32_t)entry;
		hpa_cell cell = cell_of(corridor, index);

		if (index == goal)
			return true;
		if (entry >> 32 !=
		    corridor->cost[index] +
		            grid_octile(grid, cell.x, cell.y, to.x, to.y))
			continue;
		corridor->n_left--;
		if (!expand(corridor, index, to, below))
			return false;
	}
	return false;
}

/* Write the runs of the way found behind the last bend, which is its start.
 * false: there is no room for them. */
static bool
append_way(struct corridor *corridor, hpa_cell to, uint32_t capacity,
           struct bends *out)
{
	uint32_t begin = out->n, length = 0;
	hpa_cell from = {out->at[begin - 1].x, out->at[begin - 1].y};
	hpa_cell cell = to;

	/* From the goal back, then the runs are turned around. */
	while (cell.x != from.x || cell.y != from.y) {
		unsigned d = corridor->move[index_of(corridor, cell.x, cell.y)];
		struct bend *run = &out->at[out->n - 1];

		if (length == 0 || run->move != d) {
			if (out->n == capacity) {
				out->n = begin;
				return false;
			}
			length = 0;
			run = &out->at[out->n++];
			*run = (struct bend){
				.x = cell.x, .y = cell.y, .move = (uint8_t)d};
		}
		run->length = (uint16_t)++length;
		cell.x = (uint16_t)(cell.x - grid_dx[d]);
		cell.y = (uint16_t)(cell.y - grid_dy[d]);
	}
	for (uint32_t i = begin, j = out->n; i + 1 < j; i++) {
		struct bend run = out->at[i];

		out->at[i] = out->at[--j];
		out->at[j] = run;
	}
	return true;
}

/* The last bend of the piece that begins at bend `first`: as many runs as the
 * corridor has room for, up to a link. */
static uint32_t
find_piece(struct corridor *corridor, const struct bends *path, uint32_t first)
{
	uint32_t last = first;

	clear_slots(corridor);
	while (last + 1 < path->n && path->at[last + 1].move != WALK_JUMP &&
	       add_run(corridor, &path->at[last], &path->at[last + 1]))
		last++;
	return last;
}

void
corridor_shorten(struct corridor *corridor, const struct bends *path,
                 uint32_t capacity, struct bends *out)
{
	uint32_t at = 0;

	corridor->n_left = UINT32_MAX;
	out->n = 0;
	out->at[out->n++] = path->at[0];
	while (at + 1 < path->n) {
		uint32_t last = find_piece(corridor, path, at);
		const struct bend *a = &path->at[at], *b = &path->at[last];
		hpa_cell from = {a->x, a->y}, to = {b->x, b->y};
		uint32_t room = capacity - (path->n - 1 - last);

		if (last > at &&
		    search(corridor, from, to, b->cost - a->cost) &&
		    append_way(corridor, to, room, out)) {
			at = last;
			continue;
		}
		if (last == at)
			last++; /* a link, or a run too long */
		while (at < last)
			out->at[out->n++] = path->at[++at];
	}
	clear_slots(corridor);
}

/* All clusters of the box that holds every way between two cells at less than
 * so much. */
static bool
add_box(struct corridor *corridor, hpa_cell from, hpa_cell to, uint64_t below)
{
	const struct hpa_view_level *level = &corridor->map->view.levels[0];
	const struct grid *grid = &corridor->map->grid;
	/* Going out and back again costs twice the way. */
	uint32_t beyond = (uint32_t)((below - grid_octile(grid, from.x, from.y,
	                                                  to.x, to.y)) /
	                             (2 * (uint64_t)grid->cost_straight *
	                              grid->min_factor));
	uint32_t left = from.x < to.x ? from.x : to.x;
	uint32_t top = from.y < to.y ? from.y : to.y;
	uint32_t right = from.x + to.x - left + beyond;
	uint32_t bottom = from.y + to.y - top + beyond;

	left = left > beyond ? left - beyond : 0;
	top = top > beyond ? top - beyond : 0;
	right = right < grid->width ? right : grid->width - 1;
	bottom = bottom < grid->height ? bottom : grid->height - 1;
	for (uint32_t row = hpa_cluster_row(level, top);
	     row <= hpa_cluster_row(level, bottom); row++)
		for (uint32_t column = hpa_cluster_row(level, left);
		     column <= hpa_cluster_row(level, right); column++)
			if (!add_cluster(corridor,
			                 row * level->clusters_x + column))
				return false;
	return true;
}

bool
corridor_look_around(struct corridor *corridor, const struct bends *path,
                     uint64_t below, uint32_t capacity, struct bends *out)
{
	const struct bend *a = &path->at[0], *b = &path->at[path->n - 1];
	hpa_cell from = {a->x, a->y}, to = {b->x, b->y};
	bool found;

	corridor->n_left = LOOK_AROUND_CELLS;
	clear_slots(corridor);
	out->n = 0;
	out->at[out->n++] = *a;
	found = add_box(corridor, from, to, below) &&
	        search(corridor, from, to, below) &&
	        append_way(corridor, to, capacity, out);
	clear_slots(corridor);
	return found;
}
