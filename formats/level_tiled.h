/* level_tiled.h: what Tiled's XML and its JSON have in common.
 *
 * The readers of the two describe a map to the calls below, in the order of the
 * file; tiled_make_level() then decides what blocks and makes the level. A
 * failing call has filled in the map's diag. */
#ifndef FORMATS_LEVEL_TILED_H
#define FORMATS_LEVEL_TILED_H

#include "formats/level.h"

/* A name of someone else's making, fit for a message: cut where it is long,
 * without control characters. */
struct tiled_shown {
	char text[64];
};
struct tiled_shown tiled_show(const char *text);

enum tiled_coding { TILED_PLAIN, TILED_CSV, TILED_BASE64 };
enum tiled_packing { TILED_STORED, TILED_DEFLATED, TILED_ZSTD };

struct tiled_place {
	int32_t x, y;
	uint32_t width, height;
};

/* A rectangle of tiles. Its data are map->bytes[begin ... begin + size - 1]:
 * tile ids of four bytes, little-endian, if they are plain. */
struct tiled_chunk {
	struct tiled_place place;
	enum tiled_coding coding;
	enum tiled_packing packing;
	size_t layer, begin, size;
	unsigned long line;
};

struct tiled_layer {
	size_t name; /* where in map->bytes */
	uint32_t width, height;
	bool is_chosen; /* its tiles matter */
	unsigned long line;
};

#define TILED_INLINE SIZE_MAX

struct tiled_tileset {
	size_t source; /* where in map->bytes, or TILED_INLINE */
	uint32_t first;
	unsigned long line;
};

/* A map under construction. All zero but for the first two. */
struct tiled_map {
	const struct level_options *options;
	struct diag *diag;
	uint32_t width, height;
	bool infinite;

	uint8_t *bytes;
	size_t n_bytes, bytes_room;
	struct tiled_layer *layers; /* of tiles, those in groups too */
	size_t n_layers, layers_room;
	struct tiled_chunk *chunks; /* in the order of the layers */
	size_t n_chunks, chunks_room;
	struct tiled_tileset *tilesets;
	size_t n_tilesets, tilesets_room;
	uint32_t *blocking; /* ids of tiles whose property says so */
	size_t n_blocking, blocking_room;
};

void tiled_free(struct tiled_map *map);

/* Only orthogonal maps are taken; NULL is one. */
enum diag_status tiled_set_orientation(struct tiled_map *map, const char *name,
                                       unsigned long line);

enum diag_status tiled_add_layer(struct tiled_map *map, const char *name,
                                 uint32_t width, uint32_t height,
                                 unsigned long line);

/* A chunk of the layer added last. Encoding and compression are Tiled's names
 * for them; NULL and "" mean none. */
enum diag_status tiled_add_chunk(struct tiled_map *map,
                                 struct tiled_place place, const char *encoding,
                                 const char *compression, unsigned long line);

/* More data of the chunk added last. */
enum diag_status tiled_add_data(struct tiled_map *map, const void *data,
                                size_t size);
enum diag_status tiled_add_tile(struct tiled_map *map, uint32_t id);

/* source is NULL for a tileset whose tiles stand in the map. */
enum diag_status tiled_add_tileset(struct tiled_map *map, uint32_t first,
                                   const char *source, unsigned long line);

/* A true property of a tile of the tileset whose first tile is `first`; kept
 * if it is one that blocks. */
enum diag_status tiled_add_property(struct tiled_map *map, uint32_t first,
                                    uint32_t tile, const char *name);

/* Is this text of a property's value a yes? */
bool tiled_is_true(const char *value);

enum diag_status tiled_make_level(struct tiled_map *map, struct level *out);

/* Add the properties of a tileset file's tiles. What is wrong with the file
 * goes to `diag`, which is not the map's. */
enum diag_status tiled_read_tsx(struct tiled_map *map, uint32_t first,
                                const uint8_t *data, size_t size,
                                struct diag *diag);
enum diag_status tiled_read_tsj(struct tiled_map *map, uint32_t first,
                                const uint8_t *data, size_t size,
                                struct diag *diag);

#endif
