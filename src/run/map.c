/* map.c: open a baked level and tell what is in it.
 *
 * A file is mapped, its container read (hpa_read.h), what is compressed and has
 * to be searched in place is inflated into one allocation, and the arrays are
 * looked up and checked (hpa_view.h). From then on the map never changes, so
 * that threads share it without a lock. */
#include "src/run/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *
default_alloc(void *user, size_t size)
{
	(void)user;
	return malloc(size);
}

static void
default_free(void *user, void *memory, size_t size)
{
	(void)user;
	(void)size;
	free(memory);
}

hpa_allocator
hpa_allocator_or_default(const hpa_allocator *allocator)
{
	const hpa_allocator standard = {default_alloc, default_free, NULL};

	return allocator ? *allocator : standard;
}

static hpa_status
inflate_sections(hpa_map *map, const char **detail)
{
	hpa_allocator *allocator = &map->allocator;
	uint64_t size = map->file.inflated_size;

	if (size == 0)
		return HPA_OK;
	if (size > SIZE_MAX)
		return HPA_NO_MEMORY;
	map->inflated_size = (size_t)size;
	map->inflated = allocator->alloc(allocator->user, (size_t)size);
	if (!map->inflated)
		return HPA_NO_MEMORY;
	return hpa_file_inflate(&map->file, map->inflated, detail);
}

static void
set_grid(hpa_map *map)
{
	const struct hpa_view *view = &map->view;

	map->grid = (struct grid){
		.bits = view->cells,
		.stride = view->stride,
		.width = view->width,
		.height = view->height,
		.moves = view->moves,
		.cost_straight = view->cost_straight,
		.cost_diagonal = view->cost_diagonal,
	};
}

static hpa_status
read_map(hpa_map *map, const uint8_t *data, size_t size, unsigned flags,
         const char **detail)
{
	bool deep = !(flags & HPA_TRUST);
	hpa_status st = hpa_file_read(data, size, deep, &map->file, detail);

	if (st == HPA_OK)
		st = inflate_sections(map, detail);
	if (st == HPA_OK)
		st = hpa_view_init(&map->file, &map->view, detail);
	if (st == HPA_OK && deep)
		st = hpa_view_check(&map->view, detail);
	if (st == HPA_OK)
		set_grid(map);
	return st;
}

hpa_status
hpa_map_open_memory(const void *data, size_t size,
                    const hpa_open_options *options, hpa_map **out)
{
	hpa_allocator allocator =
		hpa_allocator_or_default(options ? options->allocator : NULL);
	const char *detail = NULL;
	hpa_status st = HPA_NO_MEMORY;
	hpa_map *map;

	*out = NULL;
	map = allocator.alloc(allocator.user, sizeof(*map));
	if (map) {
		*map = (struct hpa_map){.allocator = allocator};
		st = read_map(map, data, size, options ? options->flags : 0,
		              &detail);
	}
	if (st == HPA_OK) {
		*out = map;
		map = NULL;
	}
	if (options && options->detail)
		*options->detail = detail;
	hpa_map_close(map);
	return st;
}

/* Map a whole file; an empty one is no mapping and no error. */
static hpa_status
map_file(const char *name, void **mapping, size_t *size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int error = 0;

	*mapping = NULL;
	*size = 0;
	if (fd < 0)
		return HPA_IO;
	if (fstat(fd, &st) != 0)
		error = errno;
	else if (S_ISDIR(st.st_mode))
		error = EISDIR;
	else if ((uintmax_t)st.st_size > SIZE_MAX)
		error = EFBIG;
	else if (st.st_size > 0) {
		*size = (size_t)st.st_size;
		*mapping = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*mapping == MAP_FAILED) {
			error = errno;
			*mapping = NULL;
		}
	}
	close(fd);
	errno = error;
	return error ? HPA_IO : HPA_OK;
}

hpa_status
hpa_map_open_with(const char *file, const hpa_open_options *options,
                  hpa_map **out)
{
	void *mapping;
	size_t size;
	hpa_status st = map_file(file, &mapping, &size);

	*out = NULL;
	if (options && options->detail)
		*options->detail = NULL;
	if (st != HPA_OK)
		return st;
	st = hpa_map_open_memory(mapping, size, options, out);
	if (st == HPA_OK) {
		(*out)->mapping = mapping;
		(*out)->mapping_size = size;
	} else if (mapping) {
		munmap(mapping, size);
	}
	return st;
}

hpa_status
hpa_map_open(const char *file, hpa_map **out)
{
	return hpa_map_open_with(file, NULL, out);
}

void
hpa_map_close(hpa_map *map)
{
	hpa_allocator allocator;

	if (!map)
		return;
	allocator = map->allocator;
	if (map->inflated)
		allocator.free(allocator.user, map->inflated,
		               map->inflated_size);
	if (map->mapping)
		munmap(map->mapping, map->mapping_size);
	allocator.free(allocator.user, map, sizeof(*map));
}

void
hpa_map_facts(const hpa_map *map, hpa_facts *out)
{
	const struct hpa_view *view = &map->view;

	*out = (hpa_facts){
		.width = view->width,
		.height = view->height,
		.cluster_size = view->cluster_size,
		.n_levels = view->n_levels,
		.moves = (hpa_moves)view->moves,
		.cost_straight = view->cost_straight,
		.cost_diagonal = view->cost_diagonal,
		.n_nodes = view->n_nodes,
		.n_components = view->n_components,
		.n_free_cells = view->n_free_cells,
		.content_hash = map->file.content_hash,
		.source_hash = map->file.source_hash,
		.options_hash = map->file.options_hash,
	};
}

int
hpa_map_is_free(const hpa_map *map, hpa_cell cell)
{
	return grid_is_free(&map->grid, cell.x, cell.y);
}

hpa_status
hpa_map_check_cells(const hpa_map *map, hpa_cell from, hpa_cell to)
{
	const struct grid *grid = &map->grid;

	if (from.x >= grid->width || from.y >= grid->height ||
	    to.x >= grid->width || to.y >= grid->height)
		return HPA_OUTSIDE;
	if (!grid_is_free(grid, from.x, from.y) ||
	    !grid_is_free(grid, to.x, to.y))
		return HPA_BLOCKED;
	return HPA_OK;
}

hpa_status
hpa_map_reachable(const hpa_map *map, hpa_cell from, hpa_cell to)
{
	hpa_status st = hpa_map_check_cells(map, from, to);

	if (st != HPA_OK)
		return st;
	return hpa_view_component(&map->view, from.x, from.y) ==
	                       hpa_view_component(&map->view, to.x, to.y)
	               ? HPA_OK
	               : HPA_NO_PATH;
}

const char *
hpa_status_text(hpa_status status)
{
	switch (status) {
	case HPA_OK:
		return "ok";
	case HPA_NO_PATH:
		return "no path";
	case HPA_BLOCKED:
		return "start or goal is blocked";
	case HPA_OUTSIDE:
		return "start or goal lies outside the level";
	case HPA_NO_MEMORY:
		return "out of memory";
	case HPA_IO:
		return "the file can't be read";
	case HPA_NOT_HPA:
		return "not a baked level";
	case HPA_TOO_NEW:
		return "baked by a newer version";
	case HPA_CORRUPT:
		return "the file is damaged";
	case HPA_NO_ROOM:
		return "the buffer is too small";
	}
	return "unknown status";
}
