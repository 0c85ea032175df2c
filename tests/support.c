/* support.c: what the tests share.
 *
 * The levels are made to be awkward: besides noise there are rooms, mazes and
 * caves, whose shapes games have, walls with one hole, which make paths long,
 * and diagonal stripes, where the movement rules differ most. */
#include "tests/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_SEED 20040712u

uint64_t
test_seed(void)
{
	static bool printed;
	const char *text = getenv("HPA_SEED");
	uint64_t seed = text && *text ? strtoull(text, NULL, 0) : DEFAULT_SEED;

	if (!printed) {
		printf("# seed %llu\n", (unsigned long long)seed);
		fflush(stdout);
	}
	printed = true;
	return seed;
}

bool
test_is_soak(void)
{
	const char *text = getenv("HPA_SOAK");

	return text && *text && strcmp(text, "0") != 0;
}

uint64_t
rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t
rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

uint32_t
rng_between(struct rng *rng, uint32_t least, uint32_t most)
{
	return least + rng_below(rng, most - least + 1);
}

bool
rng_chance(struct rng *rng, uint32_t percent)
{
	return rng_below(rng, 100) < percent;
}

static void *
must_have(void *memory)
{
	if (!memory) {
		fputs("# no memory\n", stderr);
		abort();
	}
	return memory;
}

static void
must_make(uint32_t width, uint32_t height, struct level *out)
{
	struct diag diag;

	if (level_new(width, height, NULL, out, &diag) != DIAG_OK) {
		fprintf(stderr, "# %s\n", diag.text);
		abort();
	}
}

static uint8_t *
cell_at(struct level *level, uint32_t x, uint32_t y)
{
	return &level->cells[(size_t)y * level->width + x];
}

static size_t
n_cells(const struct level *level)
{
	return (size_t)level->width * level->height;
}

static void
fill(struct level *level, uint8_t value)
{
	memset(level->cells, value, n_cells(level));
}

/* Turn some cells into `value`. */
static void
sprinkle(struct rng *rng, struct level *level, uint32_t percent, uint8_t value)
{
	size_t i;

	for (i = 0; i < n_cells(level); i++)
		if (rng_chance(rng, percent))
			level->cells[i] = value;
}

static void
make_empty(struct rng *rng, struct level *level)
{
	(void)rng;
	fill(level, 1);
}

static void
make_blocked(struct rng *rng, struct level *level)
{
	(void)rng;
	fill(level, 0);
}

static void
make_noise(struct rng *rng, struct level *level)
{
	fill(level, 1);
	sprinkle(rng, level, rng_below(rng, 60), 0);
}

static void
make_rooms(struct rng *rng, struct level *level)
{
	uint32_t side = rng_between(rng, 3, 12);
	uint32_t doors = rng_between(rng, 2, 25);
	uint32_t x, y;

	for (y = 0; y < level->height; y++)
		for (x = 0; x < level->width; x++)
			*cell_at(level, x, y) =
				(x % side != 0 && y % side != 0) ||
				rng_chance(rng, doors);
}

/* Walk at random from crossing to crossing, carving, and turn back where all
 * around is carved; then break some walls, for other ways round. */
static void
make_maze(struct rng *rng, struct level *level)
{
	static const int dx[4] = {2, 0, -2, 0}, dy[4] = {0, 2, 0, -2};
	uint8_t *from = must_have(calloc(n_cells(level), 1));
	uint32_t x = 0, y = 0;
	uint32_t to_x, to_y;
	unsigned d, tried;

	fill(level, 0);
	*cell_at(level, 0, 0) = 1;
	from[0] = 4;
	for (;;) {
		d = rng_below(rng, 4);
		for (tried = 0; tried < 4; tried++, d = (d + 1) % 4) {
			to_x = x + (uint32_t)dx[d];
			to_y = y + (uint32_t)dy[d];
			if (to_x < level->width && to_y < level->height &&
			    !*cell_at(level, to_x, to_y))
				break;
		}
		if (tried < 4) {
			*cell_at(level, (x + to_x) / 2, (y + to_y) / 2) = 1;
			*cell_at(level, to_x, to_y) = 1;
			x = to_x;
			y = to_y;
			from[(size_t)y * level->width + x] = (uint8_t)d;
			continue;
		}
		d = from[(size_t)y * level->width + x];
		if (d == 4)
			break;
		x -= (uint32_t)dx[d];
		y -= (uint32_t)dy[d];
	}
	free(from);
	sprinkle(rng, level, rng_below(rng, 8), 1);
}

/* Blocked cells around and in this one; the edge counts as rock. */
static unsigned
count_rock(struct level *level, uint32_t x, uint32_t y)
{
	unsigned n = 0;
	uint32_t at_x, at_y, i;

	for (i = 0; i < 9; i++) {
		at_x = x + i % 3 - 1;
		at_y = y + i / 3 - 1;
		n += at_x >= level->width || at_y >= level->height ||
		     !*cell_at(level, at_x, at_y);
	}
	return n;
}

/* A cell becomes rock among rocks, and free otherwise, a few times over. */
static void
make_cave(struct rng *rng, struct level *level)
{
	uint8_t *next = must_have(calloc(n_cells(level), 1));
	uint32_t n_rounds = rng_between(rng, 1, 4);
	uint32_t x, y;

	fill(level, 1);
	sprinkle(rng, level, rng_between(rng, 38, 48), 0);
	while (n_rounds--) {
		for (y = 0; y < level->height; y++)
			for (x = 0; x < level->width; x++)
				next[(size_t)y * level->width + x] =
					count_rock(level, x, y) < 5;
		memcpy(level->cells, next, n_cells(level));
	}
	free(next);
}

/* Walls across the level with one hole each. */
static void
make_serpentine(struct rng *rng, struct level *level)
{
	bool upright = rng_chance(rng, 50);
	bool at_ends = rng_chance(rng, 70);
	uint32_t length = upright ? level->height : level->width;
	uint32_t n_lines = upright ? level->width : level->height;
	uint32_t gap = rng_between(rng, 2, 6);
	uint32_t hole, line, i;

	fill(level, 1);
	for (line = gap - 1; line < n_lines; line += gap) {
		hole = rng_below(rng, length);
		if (at_ends)
			hole = line / gap % 2 ? 0 : length - 1;
		for (i = 0; i < length; i++)
			*cell_at(level, upright ? line : i,
			         upright ? i : line) = i == hole;
	}
}

/* Diagonal walls, one cell thick: a rule that cut both corners would leak
 * through them. */
static void
make_stripes(struct rng *rng, struct level *level)
{
	uint32_t gap = rng_between(rng, 2, 7);
	uint32_t holes = rng_below(rng, 30);
	bool falling = rng_chance(rng, 50);
	uint32_t x, y;

	for (y = 0; y < level->height; y++)
		for (x = 0; x < level->width; x++)
			*cell_at(level, x, y) =
				(falling ? x + gap * y - y : x + y) % gap !=
					0 ||
				rng_chance(rng, holes);
}

/* As often as it stands here. */
static void (*const makers[])(struct rng *, struct level *) = {
	make_noise, make_noise,      make_noise,      make_rooms,   make_rooms,
	make_maze,  make_maze,       make_cave,       make_cave,    make_cave,
	make_empty, make_serpentine, make_serpentine, make_stripes, make_blocked,
};

static uint32_t
random_side(struct rng *rng, uint32_t max_side)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 1;
	case 1:
		return max_side;
	case 2:
		return rng_between(rng, 1, max_side < 8 ? max_side : 8);
	default:
		return rng_between(rng, 1, max_side);
	}
}

void
random_level(struct rng *rng, uint32_t max_side, struct level *out)
{
	uint32_t width = random_side(rng, max_side);
	uint32_t height = random_side(rng, max_side);
	uint32_t kind = rng_below(rng, sizeof(makers) / sizeof(makers[0]));

	must_make(width, height, out);
	makers[kind](rng, out);
}

void
level_from_text(const char *rows, struct level *out)
{
	size_t width = strcspn(rows, "\n");
	size_t height = strlen(rows) / (width + 1);
	size_t i;

	must_make((uint32_t)width, (uint32_t)height, out);
	for (i = 0; i < width * height; i++)
		out->cells[i] = rows[i + i / width] == '.';
}

bool
level_is_free(const struct level *level, hpa_cell cell)
{
	return cell.x < level->width && cell.y < level->height &&
	       level_is_open(level, (size_t)cell.y * level->width + cell.x);
}

hpa_cell
random_cell(struct rng *rng, const struct level *level)
{
	hpa_cell cell;

	cell.x = (uint16_t)rng_below(rng, level->width);
	cell.y = (uint16_t)rng_below(rng, level->height);
	return cell;
}

/* Pick the k-th free cell, so that a rare one is found as well. */
bool
random_free_cell(struct rng *rng, const struct level *level, hpa_cell *out)
{
	size_t n_free = 0;
	size_t i, k;

	for (i = 0; i < n_cells(level); i++)
		n_free += level_is_open(level, i);
	if (n_free == 0)
		return false;
	k = rng_below(rng, (uint32_t)n_free);
	for (i = 0; !level_is_open(level, i) || k-- > 0;)
		i++;
	out->x = (uint16_t)(i % level->width);
	out->y = (uint16_t)(i / level->width);
	return true;
}

const char *
path_problem(const struct oracle *oracle, const hpa_cell *cells, size_t n,
             hpa_cell from, hpa_cell to)
{
	size_t i;

	if (n == 0)
		return "the path has no cells";
	if (cells[0].x != from.x || cells[0].y != from.y)
		return "the path does not begin at the start";
	if (cells[n - 1].x != to.x || cells[n - 1].y != to.y)
		return "the path does not end at the goal";
	for (i = 1; i < n; i++)
		if (!oracle_step_is_legal(oracle, cells[i - 1].x,
		                          cells[i - 1].y,
		                          (long)cells[i].x - cells[i - 1].x,
		                          (long)cells[i].y - cells[i - 1].y))
			return "the path has an illegal step";
	return NULL;
}

uint64_t
path_cost(const hpa_cell *cells, size_t n)
{
	uint64_t n_straight = 0, n_diagonal = 0;
	size_t i;

	for (i = 1; i < n; i++) {
		if (cells[i].x != cells[i - 1].x &&
		    cells[i].y != cells[i - 1].y)
			n_diagonal++;
		else
			n_straight++;
	}
	return n_straight * HPA_COST_STRAIGHT + n_diagonal * HPA_COST_DIAGONAL;
}

void
draw_level(const struct level *level, const hpa_cell *cells, size_t n)
{
	char *drawing = must_have(malloc(n_cells(level)));
	uint32_t y;
	size_t i;

	for (i = 0; i < n_cells(level); i++)
		drawing[i] = level->cells[i] ? '.' : '@';
	for (i = 0; i < n; i++)
		if (cells[i].x < level->width && cells[i].y < level->height)
			drawing[(size_t)cells[i].y * level->width +
			        cells[i].x] = '*';
	fprintf(stderr, "# %lu x %lu\n", (unsigned long)level->width,
	        (unsigned long)level->height);
	for (y = 0; y < level->height; y++)
		fprintf(stderr, "# %.*s\n", (int)level->width,
		        drawing + (size_t)y * level->width);
	free(drawing);
}

uint8_t *
read_file(const char *name, size_t *size)
{
	FILE *file = fopen(name, "rb");
	uint8_t *data = NULL;
	long end;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 &&
	    fseek(file, 0, SEEK_SET) == 0) {
		*size = (size_t)end;
		data = must_have(calloc(*size + 1, 1));
		if (fread(data, 1, *size, file) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(file);
	return data;
}

static bool
ends_in(const char *name, const char *suffix)
{
	size_t size = strlen(name), suffix_size = strlen(suffix);

	return size >= suffix_size &&
	       strcmp(name + size - suffix_size, suffix) == 0;
}

uint8_t *
exact_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = must_have(malloc(size ? size : 1));

	if (size)
		memcpy(copy, data, size);
	return copy;
}

size_t
for_each_file(const char *folder, const char *suffix,
              void (*use)(const char *path, const char *name, void *user),
              void *user)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort);
	size_t n_used = 0;
	char path[4096];
	int i;

	for (i = 0; i < n; i++) {
		if (ends_in(entries[i]->d_name, suffix)) {
			snprintf(path, sizeof(path), "%s/%s", folder,
			         entries[i]->d_name);
			use(path, entries[i]->d_name, user);
			n_used++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n_used;
}

const char *
data_folder(void)
{
	static char path[4096];
	const char *top = getenv("top_srcdir");

	snprintf(path, sizeof(path), "%s/data", top && *top ? top : ".");
	return path;
}

const char *
maps_folder(const char *name)
{
	static char path[4096];
	const char *maps = getenv("HPA_MAPS");
	struct stat st;

	if (!maps || !*maps)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", maps, name);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? path : NULL;
}

uint8_t *
read_maps_file(const char *name, size_t *size)
{
	const char *folder = getenv("HPA_MAPS");
	uint8_t *data = NULL;
	char path[4096];

	if (!folder || !*folder) {
		printf("# HPA_MAPS is not set\n");
	} else {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		data = read_file(path, size);
		if (!data)
			printf("# no file %s\n", path);
	}
	fflush(stdout);
	return data;
}
