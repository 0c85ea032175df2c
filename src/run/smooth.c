/* smooth.c: make a refined path shorter.
 *
 * A path is kept as its bends, and what lies between two of them as a run of
 * equal moves. A stretch of a path is as short as can be if its runs have only
 * two directions, neighbours on the compass: no way between its ends is
 * shorter. So only stretches with a third direction are looked at.
 *
 * Shortcuts. The bends are gone through one by one. From each one, the few bends
 * before it are looked back at until one is out of sight, and the farthest one is
 * taken that it can be joined to by two runs, a diagonal and a straight one in
 * either order. The first of the two begins at the earlier bend and the second
 * ends at the later one, so all that has to be known is how far each bend sees in
 * the eight directions; that is found once, as far as it is asked for, and kept
 * with the bend. Where no two bends can be joined, the corner is cut between two
 * runs: by as many moves of both as can be replaced. All of it is repeated until
 * nothing is gained; pairs of bends that were there the last time are passed
 * over.
 *
 * Rays (Jansen and Buro 2007). From each cell of the path, rays in eight
 * directions look for the last cell of the path that they meet inside a box.
 *
 * Where terrain costs, what replaces a stretch is paid cell by cell and has to
 * be cheaper. A link is never part of a stretch.
 *
 * The room for bends is bounded. A path of more of them is smoothed in pieces:
 * the first half of what is there may be walked, the rest is smoothed again
 * with what follows. A path that is asked for piece by piece begins with small
 * ones. */
#include "src/grid/run.h"
#include "src/run/query.h"

#define MAX_BENDS 2048u
#define LOOK_BACK 8u /* bends */
#define MAX_PASSES 16u
#define FIRST_LOOK_AHEAD 64u /* cells */

/* Where to look around: at paths of at most so many steps that are longer than the
 * crow flies by at most one part of so many, for ways that are shorter by more
 * than one part of so many. */
#define LOOK_AROUND_STEPS 120u
#define LOOK_AROUND_SPAN 6u
#define LOOK_AROUND_GAIN 18u

uint32_t
smooth_capacity(const hpa_map *map)
{
	uint64_t most = map->view.n_free_cells + 8;

	return most < MAX_BENDS ? (uint32_t)most : MAX_BENDS;
}

/* How far a bend sees */

/* Is it known that so many moves in a direction are not possible? */
static inline bool
is_walled(const struct bend *bend, unsigned direction, uint32_t length)
{
	return bend->clear[direction] < length && bend->walls >> direction & 1;
}

/* Are so many moves in a direction possible from a bend? */
static inline bool
sees(const struct grid *grid, struct bend *bend, unsigned direction,
     uint32_t length)
{
	uint32_t known = bend->clear[direction];

	if (known >= length)
		return true;
	known += grid_run(grid, bend->x + grid_dx[direction] * known,
	                  bend->y + grid_dy[direction] * known, direction,
	                  length - known);
	bend->clear[direction] = (uint16_t)known;
	if (known < length)
		bend->walls |= (uint8_t)(1u << direction);
	return known >= length;
}

static bool
is_clear(const struct grid *grid, struct bend *a, struct bend *b,
         const struct grid_legs *legs)
{
	unsigned back = grid_opposite(legs->second);

	/* What is known comes first, then the cell where they meet. */
	return !is_walled(a, legs->first, legs->n_first) &&
	       !is_walled(b, back, legs->n_second) &&
	       grid_is_free(grid, a->x + grid_dx[legs->first] * legs->n_first,
	                    a->y + grid_dy[legs->first] * legs->n_first) &&
	       sees(grid, a, legs->first, legs->n_first) &&
	       sees(grid, b, back, legs->n_second);
}

/* Find the cheaper of the two orders that is clear and costs less than
 * `below`. */
static bool
find_shortcut(const struct grid *grid, struct bend *a, struct bend *b,
              uint64_t below, struct grid_legs *out)
{
	struct grid_legs legs = grid_legs(grid, a->x, a->y, b->x, b->y);
	bool found = false;

	for (unsigned order = 0; order < 2; order++) {
		if (is_clear(grid, a, b, &legs)) {
			uint64_t cost = grid_legs_cost(grid, a->x, a->y, &legs);

			if (cost < below) {
				below = cost;
				*out = legs;
				found = true;
			}
			if (!grid->classes)
				break;
		}
		legs = grid_legs_swapped(legs);
	}
	return found;
}

/* The list of bends while it is made */

static void
append(struct bends *bends, struct bend bend)
{
	bends->at[bends->n++] = bend;
}

/* Was it made since all pairs of bends were last looked at? */
static bool
is_recent(const struct bends *bends, uint32_t i)
{
	return bends->at[i].pass + 1 >= bends->pass;
}

/* Go on from the last bend by a run, if it has a length. */
static void
append_run(const struct grid *grid, struct bends *bends, unsigned direction,
           uint32_t length)
{
	const struct bend *last = &bends->at[bends->n - 1];
	struct bend bend = {.length = (uint16_t)length,
	                    .move = (uint8_t)direction,
	                    .pass = bends->pass};

	if (length == 0)
		return;
	bend.x = (uint16_t)(last->x + grid_dx[direction] * length);
	bend.y = (uint16_t)(last->y + grid_dy[direction] * length);
	bend.cost = last->cost +
	            grid_run_cost(grid, last->x, last->y, direction, length);
	append(bends, bend);
}

/* Which two directions may a stretch still have? A bit for the lower of each
 * two neighbours. */
static unsigned
pairs_of(const struct grid *grid, unsigned direction)
{
	unsigned turn = grid->moves == HPA_RULE_4 ? 2 : 1;

	return 1u << direction |
	       1u << (direction + GRID_N_DIRECTIONS - turn) % GRID_N_DIRECTIONS;
}

/* Put two runs, or one, in the place of those between bend `from` and the last
 * one, which stays. */
static void
replace(const struct grid *grid, struct bends *bends, uint32_t from,
        const struct grid_legs *legs)
{
	struct bend last = bends->at[bends->n - 1];
	struct bend *end;

	bends->n = from + 1;
	append_run(grid, bends, legs->first, legs->n_first);
	append_run(grid, bends, legs->second, legs->n_second);
	end = &bends->at[bends->n - 1];
	if (bends->n > from + 1) {
		memcpy(end->clear, last.clear, sizeof(last.clear));
		end->walls = last.walls;
	}
}

/* Corners */

/* Two runs of a stretch whose ends are cut off: the last moves of the first
 * run and the first ones of the second. */
struct corner {
	const struct bend *first, *second; /* where the runs end and begin */
	unsigned first_move, second_move;
	uint64_t cost; /* of what is between the two */
};

/* Can t moves of both runs be replaced, and does it gain? */
static bool
may_cut(const struct grid *grid, const struct corner *corner, uint32_t t,
        struct grid_legs *out)
{
	unsigned back = grid_opposite(corner->first_move);
	unsigned on = corner->second_move;
	struct bend a = {.x = (uint16_t)(corner->first->x + grid_dx[back] * t),
	                 .y = (uint16_t)(corner->first->y + grid_dy[back] * t)};
	struct bend b = {.x = (uint16_t)(corner->second->x + grid_dx[on] * t),
	                 .y = (uint16_t)(corner->second->y + grid_dy[on] * t)};
	uint64_t cost = corner->cost +
	                grid_run_cost(grid, a.x, a.y, corner->first_move, t) +
	                grid_run_cost(grid, corner->second->x,
	                              corner->second->y, on, t);

	return find_shortcut(grid, &a, &b, cost, out);
}

/* Cut the corner between the run that leaves bend `from` and the last one. */
static bool
cut_corner(const struct grid *grid, struct bends *bends, uint32_t from)
{
	struct bend *at = bends->at;
	struct bend first = at[from + 1], second = at[bends->n - 2];
	struct bend last = at[bends->n - 1];
	const struct corner corner = {&first, &second, first.move, last.move,
	                              second.cost - first.cost};
	uint32_t most = first.length < last.length ? first.length : last.length;
	uint32_t t = 1, too_far = most + 1;
	struct grid_legs legs, longer;

	if (!may_cut(grid, &corner, 1, &legs))
		return false;
	while (t + 1 < too_far) {
		/* Most cuts are short: try twice as much, then halve. */
		uint32_t next = too_far > most ? 2 * t : (t + too_far) / 2;

		next = next >= too_far ? too_far - 1 : next;
		if (may_cut(grid, &corner, next, &longer)) {
			t = next;
			legs = longer;
		} else {
			too_far = next;
		}
	}
	bends->n = from + 1;
	append_run(grid, bends, first.move, first.length - t);
	append_run(grid, bends, legs.first, legs.n_first);
	append_run(grid, bends, legs.second, legs.n_second);
	append_run(grid, bends, last.move, last.length - t);
	return true;
}

/* Shortcuts */

/* Shorten what leads to the last bend, back to bend `begin` at the most. */
static bool
shorten(const struct grid *grid, struct bends *bends, uint32_t begin)
{
	uint32_t last = bends->n - 1;
	unsigned pairs = ~0u;
	uint32_t corner = HPA_NONE, best = HPA_NONE;
	bool is_last_recent = is_recent(bends, last), any_recent = false;
	struct grid_legs legs, found;

	if (last - begin > LOOK_BACK)
		begin = last - LOOK_BACK;
	for (uint32_t i = last; i-- > begin;) {
		pairs &= pairs_of(grid, bends->at[i + 1].move);
		if (pairs && !grid->classes)
			continue;
		if (last - i < 2)
			continue;
		if (corner == HPA_NONE) {
			corner = i;
			for (uint32_t k = i; k <= last; k++)
				any_recent |= is_recent(bends, k);
		}
		if (!is_last_recent && !is_recent(bends, i))
			continue;
		if (find_shortcut(grid, &bends->at[i], &bends->at[last],
		                  bends->at[last].cost - bends->at[i].cost,
		                  &found)) {
			best = i;
			legs = found;
		} else {
			break;
		}
	}
	if (best != HPA_NONE) {
		replace(grid, bends, best, &legs);
		return true;
	}
	return any_recent && cut_corner(grid, bends, corner);
}

/* Go on by one bend of the path before. */
static void
take(const struct grid *grid, struct bends *bends, const struct bend *bend)
{
	struct bend *last = &bends->at[bends->n - 1];
	struct bend next = *bend;

	next.cost = last->cost;
	if (bend->move != WALK_JUMP)
		next.cost += grid_run_cost(grid, last->x, last->y, bend->move,
		                           bend->length);
	if (bends->n > 1 && last->move == bend->move &&
	    bend->move != WALK_JUMP) {
		next.length = (uint16_t)(next.length + last->length);
		next.pass = bends->pass;
		*last = next;
	} else {
		append(bends, next);
	}
}

/* One time through the path. */
static bool
pass_shortcuts(const struct grid *grid, const struct bends *path,
               struct bends *out, uint32_t capacity)
{
	uint32_t begin = 0;
	bool gained = false;

	out->n = 0;
	append(out, path->at[0]);
	for (uint32_t i = 1; i < path->n; i++) {
		take(grid, out, &path->at[i]);
		if (path->at[i].move == WALK_JUMP) {
			begin = out->n - 1;
			continue;
		}
		/* A cut corner takes two bends more. */
		while (out->n - 1 > begin &&
		       out->n + (path->n - i) + 2 <= capacity &&
		       shorten(grid, out, begin))
			gained = true;
	}
	return gained;
}

static void
swap_bends(struct smooth *smooth)
{
	struct bends path = smooth->path;

	smooth->path = smooth->spare;
	smooth->spare = path;
}

static void
smooth_by_shortcuts(struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	struct smooth *smooth = &query->smooth;
	bool gained = true;

	for (uint32_t i = 0; i < smooth->path.n; i++)
		smooth->path.at[i].pass = 0;
	for (uint8_t pass = 1; pass <= MAX_PASSES && gained; pass++) {
		smooth->spare.pass = pass;
		gained = pass_shortcuts(grid, &smooth->path, &smooth->spare,
		                        smooth->capacity);
		swap_bends(smooth);
	}
}

/* Rays */

/* A cell of a path: so many moves behind the bend before `run`. */
struct spot {
	uint32_t run, offset;
	uint32_t x, y;
	uint64_t cost;
};

/* A ray from a spot to a later one. */
struct ray {
	unsigned direction;
	uint32_t length;
	struct spot to;
};

/* Its cost is for those who need it, see below. */
static struct spot
spot_on(const struct bends *path, uint32_t run, uint32_t offset)
{
	const struct bend *begin = &path->at[run - 1];
	unsigned d = path->at[run].move;

	return (struct spot){run, offset, begin->x + grid_dx[d] * offset,
	                     begin->y + grid_dy[d] * offset, 0};
}

/* From the run's beginning cell by cell where terrain differs. */
static uint64_t
cost_of_spot(const struct grid *grid, const struct bends *path,
             const struct spot *spot)
{
	const struct bend *begin = &path->at[spot->run - 1];

	return begin->cost + grid_run_cost(grid, begin->x, begin->y,
	                                   path->at[spot->run].move,
	                                   spot->offset);
}

/* How many moves lead from (x, y) in a direction to a spot; 0: they do not. */
static uint32_t
moves_to(uint32_t x, uint32_t y, unsigned direction, const struct spot *spot)
{
	int32_t dx = (int32_t)(spot->x - x), dy = (int32_t)(spot->y - y);
	int32_t n = dx ? dx * (int32_t)grid_dx[direction]
	               : dy * (int32_t)grid_dy[direction];

	return n > 0 && dx == n * (int32_t)grid_dx[direction] &&
	                       dy == n * (int32_t)grid_dy[direction]
	               ? (uint32_t)n
	               : 0;
}

/* Where a ray from (x, y) meets a run: how many moves from the run's beginning,
 * or HPA_NONE. */
static uint32_t
meet(uint32_t x, uint32_t y, unsigned ray, const struct bend *begin,
     const struct bend *end)
{
	int32_t rx = (int32_t)grid_dx[ray], ry = (int32_t)grid_dy[ray];
	int32_t ex = (int32_t)grid_dx[end->move];
	int32_t ey = (int32_t)grid_dy[end->move];
	int32_t cross = rx * ey - ry * ex, offset;

	if (cross == 0)
		return end->length; /* if it is met at all */
	offset = ((int32_t)begin->x - (int32_t)x) * ry -
	         ((int32_t)begin->y - (int32_t)y) * rx;
	/* begin + offset * e lies on the ray's line. */
	if (offset % cross != 0)
		return HPA_NONE;
	offset /= cross;
	return offset >= 0 && offset <= end->length ? (uint32_t)offset
	                                            : HPA_NONE;
}

/* The ray from a spot that gains the most. */
static bool
find_ray(const struct grid *grid, const struct bends *path,
         const struct spot *from, uint32_t box, struct ray *out)
{
	struct bend eye = {.x = (uint16_t)from->x, .y = (uint16_t)from->y};
	uint64_t best = 0;

	for (uint32_t run = from->run + 1;
	     run < path->n && run - from->run <= LOOK_BACK &&
	     path->at[run].move != WALK_JUMP;
	     run++)
		for (unsigned d = 0; d < GRID_N_DIRECTIONS; d++) {
			uint32_t offset =
				meet(from->x, from->y, d, &path->at[run - 1],
			             &path->at[run]);
			struct spot to;
			uint64_t cost;
			uint32_t length;

			if (offset == HPA_NONE)
				continue;
			to = spot_on(path, run, offset);
			length = moves_to(from->x, from->y, d, &to);
			if (length == 0 || length > box ||
			    !sees(grid, &eye, d, length))
				continue;
			to.cost = cost_of_spot(grid, path, &to);
			cost = from->cost +
			       grid_run_cost(grid, from->x, from->y, d, length);
			if (cost + best >= to.cost)
				continue;
			best = to.cost - cost;
			*out = (struct ray){d, length, to};
		}
	return best > 0;
}

/* Once through the path, cell by cell. */
static void
smooth_by_rays(struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	struct smooth *smooth = &query->smooth;
	const struct bends *path = &smooth->path;
	struct bends *out = &smooth->spare;
	uint32_t run = 1, offset = 0, n_walked = 0;
	uint64_t cost = path->at[0].cost; /* up to there */

	out->n = 0;
	append(out, path->at[0]);
	while (run < path->n) {
		const struct bend *end = &path->at[run];
		struct spot from;
		struct ray ray;

		if (end->move == WALK_JUMP || offset == end->length) {
			struct bend rest = *end;

			if (end->move != WALK_JUMP)
				rest.length = (uint16_t)n_walked;
			if (rest.length > 0)
				take(grid, out, &rest);
			cost = end->cost;
			run++;
			offset = n_walked = 0;
			continue;
		}
		from = spot_on(path, run, offset);
		from.cost = cost;
		/* A ray takes two bends more. */
		if (out->n + (path->n - run) + 2 <= smooth->capacity &&
		    find_ray(grid, path, &from, smooth->box, &ray)) {
			append_run(grid, out, end->move, n_walked);
			append_run(grid, out, ray.direction, ray.length);
			run = ray.to.run;
			offset = ray.to.offset;
			cost = ray.to.cost;
			n_walked = 0;
			continue;
		}
		cost += grid_step_cost(grid, from.x, from.y, end->move);
		offset++;
		n_walked++;
	}
	swap_bends(smooth);
}

/* Corridor */

/* Merge runs that go on and fill in the costs. */
static void
tidy(struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	struct smooth *smooth = &query->smooth;

	smooth->spare.n = 0;
	append(&smooth->spare, smooth->path.at[0]);
	for (uint32_t i = 1; i < smooth->path.n; i++)
		take(grid, &smooth->spare, &smooth->path.at[i]);
	swap_bends(smooth);
}

static void
smooth_by_corridor(struct hpa_query *query)
{
	struct smooth *smooth = &query->smooth;

	corridor_shorten(&query->corridor, &smooth->path, smooth->capacity,
	                 &smooth->spare);
	swap_bends(smooth);
	tidy(query);
	smooth_by_shortcuts(query);
}

/* A path that is much longer than the crow flies may go around the wrong side of
 * something. Where it is short that is worth a look. */
static void
look_around(struct hpa_query *query)
{
	const struct grid *grid = &query->map->grid;
	struct smooth *smooth = &query->smooth;
	const struct bend *a = &smooth->path.at[0];
	const struct bend *b = &smooth->path.at[smooth->path.n - 1];
	uint64_t least = grid_octile(grid, a->x, a->y, b->x, b->y);
	uint64_t below = b->cost - b->cost / LOOK_AROUND_GAIN;
	uint64_t step = (uint64_t)grid->cost_straight * grid->min_factor;

	if (b->cost > LOOK_AROUND_STEPS * step || below <= least ||
	    b->cost - least > least / LOOK_AROUND_SPAN ||
	    !corridor_look_around(&query->corridor, &smooth->path, below,
	                          smooth->capacity, &smooth->spare))
		return;
	swap_bends(smooth);
	tidy(query);
	smooth_by_shortcuts(query);
}

/* Walking the path */

void
smooth_begin(struct hpa_query *query, bool in_pieces)
{
	struct smooth *smooth = &query->smooth;

	smooth->path.n = 0;
	append(&smooth->path,
	       (struct bend){.x = query->from.x, .y = query->from.y});
	smooth->n_final = 1;
	smooth->next = 0;
	smooth->n_walked = 0;
	smooth->look_ahead = in_pieces ? FIRST_LOOK_AHEAD : UINT32_MAX;
	smooth->is_whole = false;
	smooth->in_pieces = in_pieces;
}

/* Refine until there is enough to be smoothed. */
static hpa_status
gather(struct hpa_query *query)
{
	struct smooth *smooth = &query->smooth;
	const struct grid *grid = &query->map->grid;
	hpa_status st = HPA_OK;
	uint64_t n_cells = 0;

	for (uint32_t i = 1; i < smooth->path.n; i++)
		n_cells += smooth->path.at[i].length;
	/* Shortcuts need room to work in. */
	while (smooth->path.n < smooth->capacity - 4 &&
	       n_cells < smooth->look_ahead) {
		struct run run;
		struct bend bend;

		st = refine_run(query, &run);
		if (st != HPA_OK || run.length == 0) {
			smooth->is_whole = st == HPA_OK;
			break;
		}
		bend = (struct bend){.x = (uint16_t)query->walk.x,
		                     .y = (uint16_t)query->walk.y,
		                     .length = run.length,
		                     .move = run.move};
		n_cells += run.length;
		take(grid, &smooth->path, &bend);
	}
	return st;
}

/* How many of the bends will not change any more: all, or those in the first
 * half of the cells. */
static uint32_t
count_final(const struct smooth *smooth)
{
	const struct bends *path = &smooth->path;
	uint64_t n_cells = 0, n_before = 0;
	uint32_t n = 1;

	if (smooth->is_whole)
		return path->n;
	for (uint32_t i = 1; i < path->n; i++)
		n_cells += path->at[i].length;
	while (n + 1 < path->n && 2 * n_before < n_cells)
		n_before += path->at[n++].length;
	return n;
}

/* Smooth the next piece; what was walked goes. */
static hpa_status
smooth_more(struct hpa_query *query)
{
	struct smooth *smooth = &query->smooth;
	struct bends *path = &smooth->path;
	uint32_t gone = smooth->n_final - 1;
	bool is_all = !smooth->in_pieces && path->n == 1;
	hpa_status st;

	path->n -= gone;
	memmove(path->at, path->at + gone, path->n * sizeof(*path->at));
	query_lap(query, QUERY_SMOOTH);
	st = gather(query);
	query_lap(query, QUERY_REFINE);
	if (st != HPA_OK)
		return st;
	is_all &= smooth->is_whole;
	if (smooth->mode == HPA_SMOOTH_RAYS)
		smooth_by_rays(query);
	else
		smooth_by_shortcuts(query);
	if (is_all && smooth->mode != HPA_SMOOTH_RAYS)
		look_around(query);
	if (smooth->mode == HPA_SMOOTH_CORRIDOR && !smooth->in_pieces)
		smooth_by_corridor(query);
	smooth->n_final = count_final(smooth);
	smooth->next = 1;
	smooth->n_walked = 0;
	if (smooth->look_ahead < UINT32_MAX / 2)
		smooth->look_ahead *= 2;
	return HPA_OK;
}

/* Make sure that there is a bend to walk to. */
static bool
find_bend(struct hpa_query *query, hpa_status *st)
{
	struct smooth *smooth = &query->smooth;

	while (*st == HPA_OK && smooth->next >= smooth->n_final &&
	       !smooth->is_whole)
		*st = smooth_more(query);
	return *st == HPA_OK && smooth->next < smooth->n_final;
}

/* The cells on the way to the next bend, as many as there is room for. */
static size_t
walk_run(struct smooth *smooth, hpa_cell *out, size_t capacity)
{
	const struct bend *bend = &smooth->path.at[smooth->next];
	size_t left = (size_t)bend->length - smooth->n_walked;
	size_t n = left < capacity ? left : capacity;

	if (bend->move == WALK_JUMP) {
		if (out)
			*out = (hpa_cell){bend->x, bend->y};
	} else if (out) {
		uint32_t dx = grid_dx[bend->move], dy = grid_dy[bend->move];
		uint32_t x = bend->x - dx * (uint32_t)left;
		uint32_t y = bend->y - dy * (uint32_t)left;

		for (size_t i = 0; i < n; i++) {
			x += dx;
			y += dy;
			out[i] = (hpa_cell){(uint16_t)x, (uint16_t)y};
		}
	}
	smooth->n_walked += (uint32_t)n;
	if (n == left) {
		smooth->next++;
		smooth->n_walked = 0;
	}
	return n;
}

hpa_status
smooth_next(struct hpa_query *query, hpa_cell *out, size_t capacity, size_t *n)
{
	struct walk *walk = &query->walk;
	struct smooth *smooth = &query->smooth;
	hpa_status st = HPA_OK;

	*n = 0;
	if (!walk->is_begun && capacity > 0) {
		walk->is_begun = true;
		if (out)
			*out = query->from;
		*n = 1;
	}
	while (*n < capacity && find_bend(query, &st))
		*n += walk_run(smooth, out ? out + *n : NULL, capacity - *n);
	if (st != HPA_OK) {
		query_end_walk(query);
		*n = 0;
	}
	return st;
}
