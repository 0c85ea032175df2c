/* map.c: open a baked level and tell what is in it.
 *
 * A file is mapped, or copied where it might be cut off meanwhile, its container
 * read (hpa_read.h), what is compressed and has to be searched in place is
 * inflated into one allocation, and the arrays are looked up and checked
 * (hpa_view.h). What searches go by besides is measured (landmark.h). From then
 * on the map never changes, so that threads share it without a lock. */
#include "src/run/map.h"
#include "src/run/landmark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

static hpa_status
check_content(hpa_map *map, const char **detail)
{
	const hpa_allocator *allocator = &map->allocator;
	size_t size = hpa_file_content_room(&map->file);
	uint8_t *room = NULL;
	hpa_status st;

	if (size > 0) {
		room = allocator->alloc(allocator->user, size);
		if (!room)
			return HPA_NO_MEMORY;
	}
	st = hpa_file_check_content(&map->file, room, detail);
	if (room)
		allocator->free(allocator->user, room, size);
	return st;
}

static void
set_grid(hpa_map *map)
{
	const struct hpa_view *view = &map->view;
	struct grid *grid = &map->grid;

	*grid = (struct grid){
		.bits = view->cells,
		.stride = view->stride,
		.width = view->width,
		.height = view->height,
		.moves = view->moves,
		.cost_straight = view->cost_straight,
		.cost_diagonal = view->cost_diagonal,
		.min_factor = view->min_factor,
		.classes = view->cell_classes,
		.class_stride = view->class_stride,
		.class_log2 = view->class_log2,
	};
	for (uint32_t i = 0; i < view->n_classes; i++)
		grid->factor[i] = (uint8_t)hpa_get_le32(
			view->classes + (size_t)i * HPA_CLASS_SIZE +
			HPA_CLASS_FACTOR);
}

static hpa_status
read_profiles(hpa_map *map, bool deep, const char **detail)
{
	const struct hpa_view *views[HPA_MAX_PROFILES];
	hpa_status st = HPA_OK;

	for (uint32_t p = 0; p < map->n_profiles && st == HPA_OK; p++) {
		map[p].first = map;
		views[p] = &map[p].view;
		st = hpa_view_init(&map->file, p, &map[p].view, detail);
		if (st == HPA_OK)
			set_grid(&map[p]);
	}
	if (st == HPA_OK && deep)
		st = hpa_view_check(views, map->n_profiles, detail);
	return st;
}

/* Make the maps of a file whose container has been read. */
static hpa_status
make_maps(const struct hpa_file *file, const hpa_allocator *allocator,
          unsigned flags, hpa_map **out, const char **detail)
{
	uint32_t n = hpa_file_profiles(file);
	hpa_map *map = allocator->alloc(allocator->user, n * sizeof(*map));
	bool deep = !(flags & HPA_TRUST);
	hpa_status st;

	if (!map)
		return HPA_NO_MEMORY;
	memset(map, 0, n * sizeof(*map));
	map->allocator = *allocator;
	map->n_profiles = n;
	map->file = *file;
	st = inflate_sections(map, detail);
	if (st == HPA_OK && deep)
		st = check_content(map, detail);
	if (st == HPA_OK)
		st = read_profiles(map, deep, detail);
	if (st == HPA_OK && !(flags & HPA_NO_LANDMARKS))
		st = landmark_make(map, allocator);
	if (st == HPA_OK) {
		*out = map;
		map = NULL;
	}
	hpa_map_close(map);
	return st;
}

hpa_status
hpa_map_open_memory(const void *data, size_t size,
                    const hpa_open_options *options, hpa_map **out)
{
	hpa_allocator allocator =
		hpa_allocator_or_default(options ? options->allocator : NULL);
	unsigned flags = options ? options->flags : 0;
	const char *detail = NULL;
	struct hpa_file file;
	hpa_status st =
		hpa_file_read(data, size, !(flags & HPA_TRUST), &file, &detail);

	*out = NULL;
	if (st == HPA_OK)
		st = make_maps(&file, &allocator, flags, out, &detail);
	if (options && options->detail)
		*options->detail = detail;
	return st;
}

/* 0, or the error's number. */
static int
map_bytes(int fd, struct map_bytes *bytes)
{
	void *data = mmap(NULL, bytes->size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return errno;
	bytes->data = data;
	bytes->n_read = bytes->size;
	return 0;
}

static int
copy_bytes(int fd, struct map_bytes *bytes)
{
	while (bytes->n_read < bytes->size) {
		ssize_t n = read(fd, (uint8_t *)bytes->data + bytes->n_read,
		                 bytes->size - bytes->n_read);

		if (n == 0)
			break;
		if (n > 0)
			bytes->n_read += (size_t)n;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

static void
free_bytes(const struct map_bytes *bytes, const hpa_allocator *allocator)
{
	if (bytes->data && bytes->is_copy)
		allocator->free(allocator->user, bytes->data, bytes->size);
	else if (bytes->data)
		munmap(bytes->data, bytes->size);
}

static int
measure(int fd, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	/* As mmap() says of what has no size: pipes, devices. */
	if (!S_ISREG(st.st_mode))
		return ENODEV;
	if ((uintmax_t)st.st_size > SIZE_MAX)
		return EFBIG;
	*size = (size_t)st.st_size;
	return 0;
}

/* Take the bytes of an open file; *error is its number, with HPA_IO. */
static hpa_status
take_bytes(int fd, const hpa_allocator *allocator, struct map_bytes *bytes,
           int *error)
{
	*error = measure(fd, &bytes->size);
	if (*error)
		return HPA_IO;
	/* An empty file can't be mapped, and is none of ours. */
	if (bytes->size == 0)
		return HPA_OK;
	if (bytes->is_copy) {
		bytes->data = allocator->alloc(allocator->user, bytes->size);
		if (!bytes->data)
			return HPA_NO_MEMORY;
		*error = copy_bytes(fd, bytes);
	} else {
		*error = map_bytes(fd, bytes);
	}
	return *error ? HPA_IO : HPA_OK;
}

static hpa_status
read_bytes(const char *name, const hpa_allocator *allocator,
           struct map_bytes *bytes)
{
	/* Else a pipe would be waited for until someone writes to it. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	hpa_status st;
	int error;

	if (fd < 0)
		return HPA_IO;
	st = take_bytes(fd, allocator, bytes, &error);
	close(fd);
	if (st != HPA_OK)
		free_bytes(bytes, allocator);
	if (st == HPA_IO)
		errno = error;
	return st;
}

hpa_status
hpa_map_open_with(const char *file, const hpa_open_options *options,
                  hpa_map **out)
{
	hpa_allocator allocator =
		hpa_allocator_or_default(options ? options->allocator : NULL);
	struct map_bytes bytes = {.is_copy = options &&
	                                 (options->flags & HPA_COPY)};
	hpa_status st = read_bytes(file, &allocator, &bytes);

	*out = NULL;
	if (options && options->detail)
		*options->detail = NULL;
	if (st != HPA_OK)
		return st;
	st = hpa_map_open_memory(bytes.data, bytes.n_read, options, out);
	if (st == HPA_OK)
		(*out)->bytes = bytes;
	else
		free_bytes(&bytes, &allocator);
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
	free_bytes(&map->bytes, &allocator);
	for (uint32_t p = 0; p < map->n_profiles; p++)
		if (map[p].landmarks)
			allocator.free(allocator.user, map[p].landmarks,
			               landmark_size(&map[p]));
	allocator.free(allocator.user, map, map->n_profiles * sizeof(*map));
}

const hpa_map *
hpa_map_agent(const hpa_map *map, const char *name)
{
	const hpa_map *first = map->first;

	for (uint32_t p = 0; p < first->n_profiles; p++)
		if (!strcmp(first[p].view.agent, name))
			return &first[p];
	return NULL;
}

const hpa_map *
hpa_map_profile(const hpa_map *map, uint32_t profile)
{
	return profile < map->first->n_profiles ? map->first + profile : NULL;
}

int
hpa_map_link(const hpa_map *map, uint32_t index, hpa_link *out)
{
	const uint8_t *link;

	if (index >= map->view.n_links)
		return 0;
	link = hpa_view_link(&map->view, index);
	*out = (hpa_link){
		.from = {hpa_get_le16(link + HPA_LINK_FROM_X),
	                 hpa_get_le16(link + HPA_LINK_FROM_Y)},
		.to = {hpa_get_le16(link + HPA_LINK_TO_X),
	               hpa_get_le16(link + HPA_LINK_TO_Y)},
		.cost = hpa_get_le32(link + HPA_LINK_COST),
		.is_one_way = hpa_get_le32(link + HPA_LINK_FLAGS) &
	                      HPA_LINK_ONE_WAY,
	};
	memcpy(out->name, link + HPA_LINK_NAME, HPA_LINK_NAME_SIZE);
	return 1;
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
		.content_hash = map->first->file.content_hash,
		.source_hash = map->first->file.source_hash,
		.options_hash = map->first->file.options_hash,
		.n_profiles = map->first->n_profiles,
		.profile = view->profile,
		.agent_size = view->agent_size,
		.n_links = view->n_links,
	};
	memcpy(out->agent, view->agent, sizeof(out->agent));
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
	return hpa_view_reaches(&map->view,
	                        hpa_view_component(&map->view, from.x, from.y),
	                        hpa_view_component(&map->view, to.x, to.y))
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
