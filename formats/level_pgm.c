/* level_pgm.c: read PGM, the gray images of Netpbm.
 *
 * The layout:
 *
 *     P5 or P2
 *     WIDTH HEIGHT MAXVAL     1 to 65535; white space between all of these
 *     one byte of white space
 *     the pixels, row by row from the top
 *
 * A # begins a comment that ends with its line; it may stand wherever white
 * space may, before the byte that ends the header.
 *
 * The pixels of P5 are a byte each, or two, the high one first, where MAXVAL is
 * more than 255. Those of P2 are decimal numbers with white space, and comments,
 * between them. 0 is black, MAXVAL white; a gray level is what a pixel has of
 * 255 parts, rounded.
 *
 * White space behind the last pixel is tolerated, anything else is not: a file
 * with more than its header says is damaged or holds several images.
 *
 * A short file with a boastful header costs no memory: the size of P5's pixels
 * is known, and a number of P2 takes two bytes at least, with the white space
 * before it. */
#include <string.h>

#include "formats/image.h"

#define NOT_A_PGM "not a PGM image: "
#define MAX_MAXVAL 65535u

struct reader {
	const uint8_t *at, *end;
	unsigned long line;
	struct diag *diag;
};

struct header {
	bool plain; /* P2 */
	uint32_t width, height, maxval;
};

static bool
is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void
skip_space(struct reader *reader)
{
	bool comment = false;

	while (reader->at < reader->end &&
	       (comment || is_space(*reader->at) || *reader->at == '#')) {
		if (*reader->at == '#')
			comment = true;
		if (*reader->at == '\n') {
			comment = false;
			reader->line++;
		}
		reader->at++;
	}
}

/* A number from least to most, with white space before it and a byte of it, or
 * the end, behind. */
static enum diag_status
read_number(struct reader *reader, const char *what, uint32_t least,
            uint32_t most, uint32_t *out)
{
	const uint8_t *begin;
	uint32_t number = 0;

	skip_space(reader);
	begin = reader->at;
	while (reader->at < reader->end && *reader->at >= '0' &&
	       *reader->at <= '9') {
		if (number <= most)
			number = 10 * number + *reader->at - '0';
		reader->at++;
	}
	if (begin == reader->end)
		return diag_set(reader->diag, DIAG_BAD_INPUT, reader->line,
		                "file ends before its %s", what);
	if (begin == reader->at ||
	    (reader->at < reader->end && !is_space(*reader->at) &&
	     *reader->at != '#'))
		return diag_set(reader->diag, DIAG_BAD_INPUT, reader->line,
		                "byte 0x%02x where a number is expected: the "
		                "%s",
		                *reader->at, what);
	if (number < least || number > most)
		return diag_set(reader->diag, DIAG_BAD_INPUT, reader->line,
		                "%s is not from %lu to %lu", what,
		                (unsigned long)least, (unsigned long)most);
	*out = number;
	return DIAG_OK;
}

static enum diag_status
read_magic(struct reader *reader, struct header *header)
{
	size_t size = (size_t)(reader->end - reader->at);

	if (size == 0)
		return diag_set(reader->diag, DIAG_BAD_INPUT, 1,
		                NOT_A_PGM "file is empty");
	if (size >= 2 && reader->at[0] == 'P' && reader->at[1] >= '1' &&
	    reader->at[1] <= '7' && reader->at[1] != '2' &&
	    reader->at[1] != '5')
		return diag_set(reader->diag, DIAG_BAD_INPUT, 1,
		                "Netpbm's format P%c is not supported (P2 and "
		                "P5 are)",
		                reader->at[1]);
	if (!pgm_probe(reader->at, size))
		return diag_set(reader->diag, DIAG_BAD_INPUT, 1,
		                NOT_A_PGM "it does not begin with P2 or P5");
	header->plain = reader->at[1] == '2';
	reader->at += 2;
	return DIAG_OK;
}

static enum diag_status
read_header(struct reader *reader, struct header *header)
{
	enum diag_status st = read_magic(reader, header);

	if (st == DIAG_OK)
		st = read_number(reader, "width", 1, LEVEL_MAX_SIDE,
		                 &header->width);
	if (st == DIAG_OK)
		st = read_number(reader, "height", 1, LEVEL_MAX_SIDE,
		                 &header->height);
	if (st == DIAG_OK)
		st = read_number(reader, "highest value", 1, MAX_MAXVAL,
		                 &header->maxval);
	if (st == DIAG_OK && !header->plain) {
		if (reader->at < reader->end && !is_space(*reader->at))
			return diag_set(reader->diag, DIAG_BAD_INPUT,
			                reader->line,
			                "comment right before the pixels");
		reader->at += reader->at < reader->end;
	}
	return st;
}

/* Can the pixels be there? */
static enum diag_status
check_size(const struct reader *reader, const struct header *header)
{
	uint64_t n_pixels = (uint64_t)header->width * header->height;
	uint64_t size = (uint64_t)(reader->end - reader->at);
	uint64_t needed =
		header->plain || header->maxval > 255 ? 2 * n_pixels : n_pixels;

	if (size >= needed)
		return DIAG_OK;
	return diag_set(reader->diag, DIAG_BAD_INPUT, 0,
	                "%lu x %lu pixels take %s%llu bytes, file has %llu "
	                "after its header",
	                (unsigned long)header->width,
	                (unsigned long)header->height,
	                header->plain ? "at least " : "",
	                (unsigned long long)needed, (unsigned long long)size);
}

static uint8_t
scale(uint32_t value, uint32_t maxval)
{
	return (uint8_t)((value * 255u + maxval / 2) / maxval);
}

static enum diag_status
read_binary_row(struct reader *reader, const struct header *header, uint32_t y,
                uint8_t *row)
{
	bool wide = header->maxval > 255;

	for (uint32_t x = 0; x < header->width; x++) {
		uint32_t value = *reader->at++;

		if (wide)
			value = value << 8 | *reader->at++;
		if (value > header->maxval)
			return diag_set(reader->diag, DIAG_BAD_INPUT, 0,
			                "pixel %lu,%lu is %lu, more than the "
			                "highest value, %lu",
			                (unsigned long)x, (unsigned long)y,
			                (unsigned long)value,
			                (unsigned long)header->maxval);
		row[x] = scale(value, header->maxval);
	}
	return DIAG_OK;
}

static enum diag_status
read_plain_row(struct reader *reader, const struct header *header, uint8_t *row)
{
	enum diag_status st = DIAG_OK;

	for (uint32_t x = 0; st == DIAG_OK && x < header->width; x++) {
		uint32_t value = 0;

		st = read_number(reader, "next pixel", 0, header->maxval,
		                 &value);
		row[x] = scale(value, header->maxval);
	}
	return st;
}

static enum diag_status
read_rows(struct reader *reader, const struct header *header,
          const struct image_sink *sink)
{
	const struct image_shape shape = {header->width, header->height, 1};
	uint8_t row[LEVEL_MAX_SIDE];
	enum diag_status st = sink->begin(sink->user, &shape, reader->diag);

	for (uint32_t y = 0; st == DIAG_OK && y < header->height; y++) {
		st = header->plain ? read_plain_row(reader, header, row)
		                   : read_binary_row(reader, header, y, row);
		if (st == DIAG_OK)
			sink->row(sink->user, y, row);
	}
	return st;
}

static enum diag_status
check_end(struct reader *reader, const struct header *header)
{
	size_t n_bytes;

	if (header->plain)
		skip_space(reader);
	while (reader->at < reader->end && is_space(*reader->at))
		reader->at++;
	if (reader->at == reader->end)
		return DIAG_OK;
	n_bytes = (size_t)(reader->end - reader->at);
	return diag_set(reader->diag, DIAG_BAD_INPUT,
	                header->plain ? reader->line : 0,
	                "%zu byte%s after the last pixel", n_bytes,
	                n_bytes == 1 ? "" : "s");
}

int
pgm_probe(const uint8_t *data, size_t size)
{
	return size >= 3 && data[0] == 'P' &&
	       (data[1] == '2' || data[1] == '5') &&
	       (is_space(data[2]) || data[2] == '#');
}

enum diag_status
pgm_decode(const uint8_t *data, size_t size, const struct image_sink *sink,
           struct diag *diag)
{
	struct reader reader = {data, data + size, 1, diag};
	struct header header = {.width = 0};
	enum diag_status st = read_header(&reader, &header);

	if (st == DIAG_OK)
		st = check_size(&reader, &header);
	if (st == DIAG_OK)
		st = read_rows(&reader, &header, sink);
	if (st == DIAG_OK)
		st = check_end(&reader, &header);
	return st;
}

enum diag_status
pgm_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	return image_read_level(pgm_decode, data, size, options, out, diag);
}
