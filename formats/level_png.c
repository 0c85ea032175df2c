/* level_png.c: read PNG images, with libpng.
 *
 * Every kind is read: gray, colour or palette, with and without alpha, 1 to 16
 * bits deep, interlaced or not. Depth is brought to 8 bits. Gamma and colour
 * profiles are not applied: the numbers in the file count, because they are what
 * a user's rules name. Chunks that do not bear on the pixels are not looked at.
 *
 * A short file with a boastful header costs no memory: before anything is
 * allocated the IDAT chunks, which hold the pixels, are added up. Deflate makes
 * at most 1032 bytes of one, so they must be that part of the pixels at least.
 * Everything else in the file is left to libpng, whose errors come back by
 * longjmp(): what has to be cleaned up is in a struct, where the jump can't
 * lose it. */
#include "formats/image.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t signature[8] = {0x89, 'P',  'N',  'G',
                                     '\r', '\n', 0x1a, '\n'};

int
png_probe(const uint8_t *data, size_t size)
{
	return size >= sizeof(signature) &&
	       memcmp(data, signature, sizeof(signature)) == 0;
}

#ifdef HAVE_PNG
#include <png.h>

#define NOT_A_PNG "not a PNG image: "
#define MAX_RATIO 1032u /* of deflate: 258 bytes from 2 bits */
#define IHDR_SIZE 13u
#define CHUNK_SIZE 12u /* length, type and CRC */

struct header {
	uint32_t width, height;
	uint32_t bits; /* of a pixel */
};

struct decoder {
	png_structp png;
	png_infop info;
	const uint8_t *at, *end;
	const struct image_sink *sink;
	struct image_shape shape;
	size_t row_size;
	uint8_t *pixels; /* a row, or all of them where they are interlaced */
	png_bytep *rows; /* of interlaced pixels */
	bool lacks_memory;
	struct diag *diag;
};

static uint32_t
get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static enum diag_status
read_header(const uint8_t *data, size_t size, struct header *out,
            struct diag *diag)
{
	static const uint8_t n_channels[8] = {1, 0, 3, 1, 2, 0, 4, 0};
	const uint8_t *ihdr = data + sizeof(signature);

	if (!png_probe(data, size))
		return diag_set(diag, DIAG_BAD_INPUT, 0, NOT_A_PNG "%s",
		                size ? "its first bytes are others"
		                     : "file is empty");
	if (size < sizeof(signature) + CHUNK_SIZE + IHDR_SIZE)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "file ends in its header");
	if (get_be32(ihdr) != IHDR_SIZE || memcmp(ihdr + 4, "IHDR", 4) != 0)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                NOT_A_PNG "its first chunk is not IHDR");
	out->width = get_be32(ihdr + 8);
	out->height = get_be32(ihdr + 12);
	out->bits = (uint32_t)ihdr[16] * n_channels[ihdr[17] & 7];
	return image_check_sides(out->width, out->height, diag);
}

/* The sum of what is there of the IDAT chunks. */
static uint64_t
add_up_idat(const uint8_t *data, size_t size)
{
	size_t at = sizeof(signature);
	uint64_t sum = 0;

	while (size - at >= CHUNK_SIZE) {
		size_t rest = size - at - CHUNK_SIZE;
		size_t length = get_be32(data + at);

		length = length < rest ? length : rest;
		if (memcmp(data + at + 4, "IDAT", 4) == 0)
			sum += length;
		at += CHUNK_SIZE + length;
	}
	return sum;
}

static enum diag_status
check_size(const uint8_t *data, size_t size, const struct header *header,
           struct diag *diag)
{
	uint64_t idat_size = add_up_idat(data, size);
	uint64_t needed =
		(uint64_t)header->width * header->height * header->bits / 8;

	if (idat_size > 0 && needed / MAX_RATIO <= idat_size)
		return DIAG_OK;
	return diag_set(diag, DIAG_BAD_INPUT, 0,
	                "%lu x %lu pixels can't be in %llu bytes of image data",
	                (unsigned long)header->width,
	                (unsigned long)header->height,
	                (unsigned long long)idat_size);
}

static void
on_error(png_structp png, png_const_charp text)
{
	struct decoder *decoder = png_get_error_ptr(png);

	if (decoder->lacks_memory)
		diag_set(decoder->diag, DIAG_FAILED, 0, "out of memory");
	else
		diag_set(decoder->diag, DIAG_BAD_INPUT, 0,
		         "damaged PNG image: %.200s", text);
	png_longjmp(png, 1);
}

/* Libpng does not tell damage from a lack of memory: this does. */
static png_voidp
on_alloc(png_structp png, png_alloc_size_t size)
{
	struct decoder *decoder = png_get_mem_ptr(png);
	void *memory = malloc(size);

	if (!memory)
		decoder->lacks_memory = true;
	return memory;
}

static void
on_free(png_structp png, png_voidp memory)
{
	(void)png;
	free(memory);
}

/* Libpng goes on without a chunk that is damaged. What is transparent is blocked,
 * so without that one cells would change. */
static void
on_warning(png_structp png, png_const_charp text)
{
	if (!strncmp(text, "tRNS", 4))
		png_error(png, text);
}

static void
on_read(png_structp png, png_bytep out, size_t size)
{
	struct decoder *decoder = png_get_io_ptr(png);

	if (size > (size_t)(decoder->end - decoder->at))
		png_error(png, "file ends too early");
	memcpy(out, decoder->at, size);
	decoder->at += size;
}

/* Have any kind of image delivered with 8 bits per channel. */
static void
set_up(struct decoder *decoder)
{
	png_structp png = decoder->png;
	png_infop info = decoder->info;

	png_set_read_fn(png, decoder, on_read);
	png_set_user_limits(png, LEVEL_MAX_SIDE, LEVEL_MAX_SIDE);
	png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_read_info(png, info);
	png_set_expand(png);
	png_set_scale_16(png);
	png_set_interlace_handling(png);
	png_read_update_info(png, info);
	decoder->shape = (struct image_shape){png_get_image_width(png, info),
	                                      png_get_image_height(png, info),
	                                      png_get_channels(png, info)};
	decoder->row_size =
		(size_t)decoder->shape.width * decoder->shape.n_channels;
	if (png_get_rowbytes(png, info) != decoder->row_size)
		png_error(png, "unknown kind of pixels");
}

static void
allocate(struct decoder *decoder, uint32_t n_rows)
{
	decoder->pixels = calloc(n_rows, decoder->row_size);
	decoder->rows = malloc(n_rows * sizeof(*decoder->rows));
	if (!decoder->pixels || !decoder->rows) {
		diag_set(decoder->diag, DIAG_FAILED, 0,
		         "no memory for an image of %lu x %lu pixels",
		         (unsigned long)decoder->shape.width,
		         (unsigned long)decoder->shape.height);
		png_longjmp(decoder->png, 1);
	}
	for (uint32_t y = 0; y < n_rows; y++)
		decoder->rows[y] = decoder->pixels + y * decoder->row_size;
}

/* Everything that libpng can leave by longjmp(). */
static enum diag_status
decode(struct decoder *decoder)
{
	const struct image_sink *sink = decoder->sink;
	bool interlaced;
	enum diag_status st;

	if (setjmp(png_jmpbuf(decoder->png)))
		return decoder->diag->status;
	set_up(decoder);
	st = sink->begin(sink->user, &decoder->shape, decoder->diag);
	if (st != DIAG_OK)
		return st;
	interlaced = png_get_interlace_type(decoder->png, decoder->info) !=
	             PNG_INTERLACE_NONE;
	allocate(decoder, interlaced ? decoder->shape.height : 1);
	if (interlaced)
		png_read_image(decoder->png, decoder->rows);
	for (uint32_t y = 0; y < decoder->shape.height; y++) {
		if (!interlaced)
			png_read_row(decoder->png, decoder->rows[0], NULL);
		sink->row(sink->user, y, decoder->rows[interlaced ? y : 0]);
	}
	png_read_end(decoder->png, NULL);
	return DIAG_OK;
}

enum diag_status
png_decode(const uint8_t *data, size_t size, const struct image_sink *sink,
           struct diag *diag)
{
	struct decoder decoder = {
		.at = data, .end = data + size, .sink = sink, .diag = diag};
	struct header header = {0, 0, 0};
	enum diag_status st = read_header(data, size, &header, diag);

	if (st == DIAG_OK)
		st = check_size(data, size, &header, diag);
	if (st != DIAG_OK)
		return st;
	decoder.png = png_create_read_struct_2(
		PNG_LIBPNG_VER_STRING, &decoder, on_error, on_warning, &decoder,
		on_alloc, on_free);
	if (decoder.png)
		decoder.info = png_create_info_struct(decoder.png);
	st = decoder.info
	             ? decode(&decoder)
	             : diag_set(diag, DIAG_FAILED, 0, "libpng can't be set up");
	png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
	free(decoder.rows);
	free(decoder.pixels);
	return st;
}
#else
enum diag_status
png_decode(const uint8_t *data, size_t size, const struct image_sink *sink,
           struct diag *diag)
{
	(void)data;
	(void)size;
	(void)sink;
	return diag_set(diag, DIAG_FAILED, 0,
	                "PNG image can't be read: this hpabake was built "
	                "without libpng");
}
#endif

enum diag_status
png_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	return image_read_level(png_decode, data, size, options, out, diag);
}
