/* level_movingai.c: read MovingAI grid maps (.map).
 *
 * The layout, as published with the benchmarks of N. Sturtevant (2012):
 *
 *     type octile
 *     height H
 *     width W
 *     map
 *     H rows of W letters
 *
 *     .  G  S     free: ground, ground, swamp
 *     @  O  T     blocked: outside, outside, trees
 *     W           water: blocked for all agents that do not name it
 *
 * Other letters have a meaning only if the user gives them one.
 *
 * Real files differ, so these are tolerated: height and width in either order,
 * lines ended by CR LF, white space at the end of header lines, a last line
 * without its end, blank lines after the last row (they are rows where a blank is
 * a letter of the user's and rows are missing). Everything else is refused
 * with the line it is in: what looks like a map may be one of another game, and
 * a guess would bake walls where there are none.
 *
 * Reading is three steps: the header; the shape, which finds every row and
 * allocates nothing, so that a short file with a boastful header costs no
 * memory; the letters, many rows at once where they are found by their number,
 * as they are when all lines end alike. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/level.h"
#include "formats/text.h"

#define NOT_A_MAP "not a MovingAI map: "

struct reader {
	struct text_lines lines;
	const struct terrain_table *table;
	const struct workers *workers;
	struct diag *diag;
};

struct header {
	uint32_t width, height;
};

/* What the letters mean as long as the user does not say otherwise. */
struct meaning {
	const char *letters;
	struct terrain_class terrain;
};

static const struct meaning meanings[] = {
	{".G", {"ground", 1, false}},  {"S", {"swamp", 1, false}},
	{"@O", {"blocked", 0, false}}, {"T", {"trees", 0, false}},
	{"W", {"water", 1, true}},
};
#define N_MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

/* The class of each letter, or NO_LETTER. */
#define NO_LETTER 0xffu
#define NOT_A_CLASS (0xffu & ~(TERRAIN_MAX_CLASSES - 1))

struct alphabet {
	uint8_t terrain[256];
};

static enum diag_status
refuse_line(const struct reader *reader, const char *what, struct text line)
{
	return diag_set(reader->diag, DIAG_BAD_INPUT, reader->lines.line,
	                "%s '%s'", what, text_quote(line).text);
}

static enum diag_status
read_type(struct reader *reader)
{
	struct text line, value;

	if (!text_next_line(&reader->lines, &line))
		return diag_set(reader->diag, DIAG_BAD_INPUT, 1,
		                NOT_A_MAP "file is empty");
	line = text_trim_end(line);
	if (!text_has_keyword(line, "type", &value))
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                NOT_A_MAP "first line is '%s', "
		                          "not 'type octile'",
		                text_quote(line).text);
	if (!text_is(value, "octile"))
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                "type '%s' is not supported (octile is)",
		                text_quote(value).text);
	return DIAG_OK;
}

/* A side from its header line; *side is 0 before the first one. */
static enum diag_status
read_side(const struct reader *reader, struct text line, struct text value,
          uint32_t *side)
{
	uint32_t number = 0;
	size_t i;

	if (*side != 0)
		return refuse_line(reader, "duplicate header line", line);
	for (i = 0; i < value.size && number <= LEVEL_MAX_SIDE; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			break;
		number = 10 * number + value.data[i] - '0';
	}
	if (i < value.size || number == 0 || number > LEVEL_MAX_SIDE)
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                "'%s' is not a number from 1 to %u",
		                text_quote(line).text, LEVEL_MAX_SIDE);
	*side = number;
	return DIAG_OK;
}

static enum diag_status
read_header_line(const struct reader *reader, struct text line,
                 struct header *header)
{
	struct text value;

	if (text_has_keyword(line, "height", &value))
		return read_side(reader, line, value, &header->height);
	if (text_has_keyword(line, "width", &value))
		return read_side(reader, line, value, &header->width);
	if (text_has_keyword(line, "type", &value))
		return refuse_line(reader, "duplicate header line", line);
	return refuse_line(reader, "unknown header line", line);
}

/* Read up to the line `map` and past it. */
static enum diag_status
read_header(struct reader *reader, struct header *header)
{
	struct text line;
	enum diag_status st = read_type(reader);

	while (st == DIAG_OK) {
		if (!text_next_line(&reader->lines, &line))
			return diag_set(reader->diag, DIAG_BAD_INPUT,
			                reader->lines.line,
			                "file ends in the header, before "
			                "a line 'map'");
		line = text_trim_end(line);
		if (text_is(line, "map"))
			break;
		st = read_header_line(reader, line, header);
	}
	if (st == DIAG_OK && (header->height == 0 || header->width == 0))
		st = diag_set(reader->diag, DIAG_BAD_INPUT, reader->lines.line,
		              "header has no %s before 'map'",
		              header->height == 0 ? "height" : "width");
	return st;
}

static bool
rest_is_blank(const struct reader *reader)
{
	const uint8_t *p = reader->lines.at;

	while (p < reader->lines.end && (text_is_blank(*p) || *p == '\n'))
		p++;
	return p == reader->lines.end;
}

/* The column of the first letter that is none, or the number of letters. */
static size_t
find_bad_letter(struct text row, const struct alphabet *alphabet)
{
	size_t i = 0;

	while (i < row.size && alphabet->terrain[row.data[i]] != NO_LETTER)
		i++;
	return i;
}

static bool
is_letter(const struct terrain_table *table, uint8_t letter)
{
	for (size_t i = 0; i < N_MEANINGS; i++)
		if (letter && strchr(meanings[i].letters, letter))
			return true;
	return terrain_lookup(table, TERRAIN_LETTER, letter) >= 0;
}

static bool
is_row(struct text line, const struct header *header,
       const struct terrain_table *table)
{
	for (size_t i = 0; i < line.size; i++)
		if (!is_letter(table, line.data[i]))
			return false;
	return line.size == header->width;
}

/* Something follows the last row: more rows or another kind of text. */
static enum diag_status
refuse_rest(struct reader *reader, const struct header *header)
{
	unsigned long first = reader->lines.line + 1;
	unsigned long n_rows = header->height;
	struct text line = {NULL, 0};

	while (text_next_line(&reader->lines, &line) &&
	       is_row(line, header, reader->table))
		n_rows++;
	if (n_rows > header->height)
		return diag_set(reader->diag, DIAG_BAD_INPUT, first,
		                "%lu rows, header says %lu", n_rows,
		                (unsigned long)header->height);
	while (text_trim_end(line).size == 0 &&
	       text_next_line(&reader->lines, &line))
		continue;
	return refuse_line(reader,
	                   "text after the last row:", text_trim_end(line));
}

/* Is there no row any more? One of blanks is a row where a blank is a letter. */
static bool
ends_early(const struct reader *reader, const struct header *header)
{
	struct text_lines lines = reader->lines;
	struct text line;

	if (!text_next_line(&lines, &line))
		return true;
	return text_trim_end(line).size == 0 &&
	       !is_row(line, header, reader->table) && rest_is_blank(reader);
}

/* Are there as many rows as the header says, each as long as it says, and
 * nothing behind them? Takes a copy of the reader: the rows are read again.
 * *stride is how far their beginnings lie apart, or 0 if not equally far. */
static enum diag_status
check_shape(struct reader reader, const struct header *header, size_t *stride)
{
	const uint8_t *first = reader.lines.at;
	unsigned long n_rows;
	struct text row;

	*stride = 0;
	for (n_rows = 0; n_rows < header->height; n_rows++) {
		if (ends_early(&reader, header))
			return diag_set(reader.diag, DIAG_BAD_INPUT,
			                reader.lines.line,
			                "file ends after %lu rows, "
			                "header says %lu",
			                n_rows, (unsigned long)header->height);
		text_next_line(&reader.lines, &row);
		if (row.size != header->width)
			return diag_set(reader.diag, DIAG_BAD_INPUT,
			                reader.lines.line,
			                "row has %zu cells, header says %lu",
			                row.size, (unsigned long)header->width);
		if (n_rows == 1)
			*stride = (size_t)(row.data - first);
		if (*stride > 0 && row.data != first + n_rows * *stride)
			*stride = 0;
	}
	return rest_is_blank(&reader) ? DIAG_OK : refuse_rest(&reader, header);
}

static enum diag_status
refuse_letter(const struct reader *reader, struct text row,
              const struct alphabet *alphabet)
{
	size_t column = find_bad_letter(row, alphabet);
	uint8_t letter = row.data[column];
	char shown[8];

	if (letter >= ' ' && letter <= '~')
		snprintf(shown, sizeof(shown), "'%c'", letter);
	else
		snprintf(shown, sizeof(shown), "0x%02x", letter);
	return diag_set(reader->diag, DIAG_BAD_INPUT, reader->lines.line,
	                "unknown terrain letter %s at column %zu "
	                "(known: . G S free, @ O T W blocked; "
	                "--terrain gives others a meaning)",
	                shown, column + 1);
}

/* A class for each letter: the user's, else the usual one. */
static enum diag_status
make_alphabet(const struct terrain_table *table, struct level *level,
              struct alphabet *out, struct diag *diag)
{
	memset(out->terrain, NO_LETTER, sizeof(out->terrain));
	for (size_t i = 0; i < N_MEANINGS; i++) {
		const char *letter = meanings[i].letters;

		for (; *letter; letter++) {
			int terrain = terrain_lookup(table, TERRAIN_LETTER,
			                             (uint8_t)*letter);

			if (terrain < 0)
				terrain = level_add_usual_class(
					level, &meanings[i].terrain);
			if (terrain < 0)
				return diag_set(diag, DIAG_BAD_INPUT, 0,
				                "too many terrain classes");
			out->terrain[(uint8_t)*letter] = (uint8_t)terrain;
		}
	}
	for (uint32_t letter = ' '; letter < 256; letter++) {
		int terrain = terrain_lookup(table, TERRAIN_LETTER, letter);

		if (terrain >= 0)
			out->terrain[letter] = (uint8_t)terrain;
	}
	return DIAG_OK;
}

/* Read the letters of a row; false if one of them is none. */
static bool
read_row(const uint8_t *letters, const struct alphabet *alphabet, uint32_t n,
         uint8_t *cells)
{
	uint8_t all = 0;

	for (uint32_t x = 0; x < n; x++) {
		uint8_t class = alphabet->terrain[letters[x]];

		cells[x] = class;
		all |= class;
	}
	return (all & NOT_A_CLASS) == 0;
}

/* A level's rows, so many to a turn. */
#define BAND_HEIGHT 64u
#define MAX_BANDS (LEVEL_MAX_SIDE / BAND_HEIGHT + 1)

struct rows {
	const uint8_t *first;
	size_t stride;
	const struct alphabet *alphabet;
	struct level *level;
	bool is_bad[MAX_BANDS]; /* has a letter that is none */
};

static void
read_band(void *user, size_t band)
{
	struct rows *rows = user;
	const struct level *level = rows->level;
	size_t y = band * BAND_HEIGHT, end = y + BAND_HEIGHT;

	for (; y < end && y < level->height; y++)
		if (!read_row(rows->first + y * rows->stride, rows->alphabet,
		              level->width, level->cells + y * level->width))
			rows->is_bad[band] = true;
}

/* Read the rows of a file whose shape is right, whose beginnings are `stride`
 * apart; false if there is a letter that is none. */
static bool
read_strided(const struct reader *reader, size_t stride,
             const struct alphabet *alphabet, struct level *level)
{
	struct rows rows = {reader->lines.at, stride, alphabet, level, {false}};
	size_t n = (level->height + BAND_HEIGHT - 1) / BAND_HEIGHT;

	workers_run(reader->workers, n, read_band, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows.is_bad[i])
			return false;
	return true;
}

/* Read the rows of a file whose shape is right; stride may be 0. */
static enum diag_status
read_rows(struct reader *reader, size_t stride, const struct alphabet *alphabet,
          struct level *level)
{
	uint8_t *cells = level->cells;
	struct text row;

	if (stride > 0 && read_strided(reader, stride, alphabet, level))
		return DIAG_OK;
	/* Line by line, to the bad one if there is one. */
	for (uint32_t y = 0; y < level->height; y++) {
		text_next_line(&reader->lines, &row);
		if (!read_row(row.data, alphabet, level->width, cells))
			return refuse_letter(reader, row, alphabet);
		cells += level->width;
	}
	return DIAG_OK;
}

static void
tell_how(const struct terrain_table *table, struct level *level)
{
	if (table && table->has_rest)
		snprintf(level->how, sizeof(level->how),
		         "what no rule is for is %s",
		         level->terrain.classes[table->rest].name);
	else
		snprintf(level->how, sizeof(level->how),
		         "letters . G S are free, @ O T W blocked");
}

int
movingai_probe(const uint8_t *data, size_t size)
{
	struct text start = {data, size < 6 ? size : 6};
	struct text value;

	return text_has_keyword(start, "type", &value);
}

enum diag_status
movingai_read(const uint8_t *data, size_t size,
              const struct level_options *options, struct level *out,
              struct diag *diag)
{
	struct reader reader = {.lines = {data, data + size, 0},
	                        .table = options->terrain,
	                        .workers = options->workers,
	                        .diag = diag};
	struct header header = {0, 0};
	struct alphabet alphabet;
	enum diag_status st;
	size_t stride;

	*out = (struct level){0};
	st = read_header(&reader, &header);
	if (st == DIAG_OK)
		st = check_shape(reader, &header, &stride);
	if (st == DIAG_OK)
		st = level_new(header.width, header.height, options, out,
		               diag);
	if (st == DIAG_OK)
		st = make_alphabet(options->terrain, out, &alphabet, diag);
	if (st == DIAG_OK)
		st = read_rows(&reader, stride, &alphabet, out);
	if (st == DIAG_OK)
		tell_how(options->terrain, out);
	if (st != DIAG_OK)
		level_free(out);
	return st;
}
