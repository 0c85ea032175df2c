/* cells.h: the cells of a baked level, one by one. */
#ifndef CLI_CELLS_H
#define CLI_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/hpa_view.h"

/* May the view's agent stand there? The cell lies inside. */
static inline bool
cells_is_free(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	return view->cells[y * view->stride + x / 8] >> x % 8 & 1;
}

/* The terrain class of a cell of a level that has classes. */
static inline uint32_t
cells_class(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	size_t bit = (size_t)x << view->class_log2;
	uint32_t mask = (1u << (1u << view->class_log2)) - 1;
	uint32_t byte = view->cell_classes[y * view->class_stride + bit / 8];

	return byte >> bit % 8 & mask;
}

static inline uint32_t
cells_class_factor(const struct hpa_view *view, uint32_t class)
{
	return hpa_get_le32(view->classes + (size_t) class * HPA_CLASS_SIZE +
	                    HPA_CLASS_FACTOR);
}

/* The cost factor of a cell; 1 where the level has no classes. */
static inline uint32_t
cells_factor(const struct hpa_view *view, uint32_t x, uint32_t y)
{
	if (view->n_classes == 0)
		return 1;
	return cells_class_factor(view, cells_class(view, x, y));
}

#endif
