/* fuzz_level_png.c: any bytes as a PNG image.
 *
 * A byte changed in a chunk leaves its CRC wrong, and that is all the reader
 * would see. So the bytes are read twice: as they are, and with every CRC put
 * right. */
#include <zlib.h>

#include "tests/fuzz.h"

#define SIGNATURE_SIZE 8u
#define CHUNK_SIZE 12u

static void
put_crcs_right(uint8_t *data, size_t size)
{
	size_t at = SIGNATURE_SIZE;

	while (size >= at && size - at >= CHUNK_SIZE) {
		size_t length = (size_t)data[at] << 24 |
		                (size_t)data[at + 1] << 16 |
		                (size_t)data[at + 2] << 8 | data[at + 3];
		uint8_t *end;
		uLong crc;

		if (length > size - at - CHUNK_SIZE)
			return;
		end = data + at + 8 + length;
		crc = crc32(0, data + at + 4, (uInt)length + 4);
		for (int i = 0; i < 4; i++)
			end[i] = (uint8_t)(crc >> (24 - 8 * i));
		at += CHUNK_SIZE + length;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct level_options options = {.format = "png"};
	uint8_t *copy = malloc(size + 1);

	fuzz_read_level(&options, data, size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	put_crcs_right(copy, size);
	fuzz_read_level(&options, copy, size);
	free(copy);
	return 0;
}
