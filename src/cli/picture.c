/* picture.c: put a picture together, shape by shape. */
#include "src/cli/picture.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

void
picture_free(struct picture *picture)
{
	for (size_t i = 0; i < picture->n_shapes; i++)
		free(picture->shapes[i].text);
	free(picture->shapes);
	free(picture->quads);
	free(picture->cells.colours);
	free(picture->title);
	*picture = (struct picture){.n_shapes = 0};
}

/* Room for one more of them. */
static bool
make_room(void **items, size_t *capacity, size_t n, size_t size)
{
	size_t more = *capacity ? 2 * *capacity : FIRST_CAPACITY;
	void *moved;

	if (n < *capacity)
		return true;
	moved = realloc(*items, more * size);
	if (!moved)
		return false;
	*items = moved;
	*capacity = more;
	return true;
}

void
picture_begin(struct picture *picture, enum picture_kind kind,
              picture_colour colour, int32_t width)
{
	void *shapes = picture->shapes;

	if (picture->has_failed ||
	    !make_room(&shapes, &picture->max_shapes, picture->n_shapes,
	               sizeof(*picture->shapes))) {
		picture->has_failed = true;
		return;
	}
	picture->shapes = shapes;
	picture->shapes[picture->n_shapes++] =
		(struct picture_shape){.kind = kind,
	                               .colour = colour,
	                               .width = width,
	                               .first_quad = picture->n_quads};
}

void
picture_add(struct picture *picture, int32_t x1, int32_t y1, int32_t x2,
            int32_t y2)
{
	void *quads = picture->quads;

	if (picture->has_failed ||
	    !make_room(&quads, &picture->max_quads, picture->n_quads,
	               sizeof(*picture->quads))) {
		picture->has_failed = true;
		return;
	}
	picture->quads = quads;
	picture->quads[picture->n_quads++] =
		(struct picture_quad){x1, y1, x2, y2};
	picture->shapes[picture->n_shapes - 1].n_quads++;
}

int32_t
picture_write(struct picture *picture, picture_colour colour, int32_t x,
              int32_t y, int32_t size, const char *text)
{
	int32_t length = picture_text_length(size, text);
	struct picture_shape *shape;

	picture_begin(picture, PICTURE_TEXT, colour, picture_pen_width(size));
	if (picture->has_failed)
		return length;
	shape = &picture->shapes[picture->n_shapes - 1];
	shape->text = strdup(text);
	shape->x = x;
	shape->y = y;
	shape->size = size;
	shape->length = length;
	if (!shape->text)
		picture->has_failed = true;
	picture_add_letters(picture, x, y, size, text);
	return length;
}

bool
picture_put(struct picture_bytes *bytes, const void *data, size_t size)
{
	size_t capacity = bytes->capacity ? bytes->capacity : 4096;
	uint8_t *more;

	while (capacity - bytes->size < size) {
		if (capacity > SIZE_MAX / 2)
			return false;
		capacity *= 2;
	}
	if (capacity != bytes->capacity) {
		more = realloc(bytes->data, capacity);
		if (!more)
			return false;
		bytes->data = more;
		bytes->capacity = capacity;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return true;
}
