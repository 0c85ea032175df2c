/* level_raw.c: read levels that are nothing but bytes.
 *
 * The layout: a byte per cell, row by row from the top, nothing before, between
 * or behind them. A byte is a terrain value:
 *
 *     0           free
 *     1 to 255    blocked
 *
 * unless the user's rules for values say otherwise. The bytes do not tell the
 * level's sides; the user does, with --size. No bytes look like this format, so
 * it is chosen by name or suffix only. */
#include <stdio.h>

#include "formats/level.h"

static enum diag_status
check_size(size_t size, const struct level_options *options, struct diag *diag)
{
	uint64_t n_cells = (uint64_t)options->width * options->height;

	if (n_cells == 0)
		return diag_set(diag, DIAG_USAGE, 0,
		                "raw bytes do not tell the level's sides; say "
		                "them with --size WxH (there are %zu bytes)",
		                size);
	if (n_cells != size)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "file has %zu bytes, --size %lux%lu asks for "
		                "%llu",
		                size, (unsigned long)options->width,
		                (unsigned long)options->height,
		                (unsigned long long)n_cells);
	return DIAG_OK;
}

enum diag_status
raw_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	uint8_t of_value[256];
	enum diag_status st;

	*out = (struct level){0};
	st = check_size(size, options, diag);
	if (st == DIAG_OK)
		st = level_new(options->width, options->height,
		               options, out, diag);
	if (st != DIAG_OK)
		return st;
	for (uint32_t value = 0; value < 256; value++) {
		int terrain =
			terrain_lookup(options->terrain, TERRAIN_VALUE, value);

		if (terrain < 0)
			terrain =
				(int)(value ? TERRAIN_BLOCKED : TERRAIN_GROUND);
		of_value[value] = (uint8_t)terrain;
	}
	for (size_t i = 0; i < size; i++)
		out->cells[i] = of_value[data[i]];
	snprintf(out->how, sizeof(out->how), "0 is free, other bytes blocked");
	return DIAG_OK;
}
