/* test_level.c: reading MovingAI maps.
 *
 * What a good file holds is decided by plain_read() below, which cuts a file
 * into lines and words and knows what the format's note tolerates. What a bad
 * file is told is decided by tables. Files are handed over in memory of exactly
 * their size, so that a sanitizer sees a byte read behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "tests/support.h"

#define BLANKS " \t\r"

static enum diag_status
read_bytes(const uint8_t *data, size_t size, struct level *out,
           struct diag *diag)
{
	uint8_t *copy = exact_copy(data, size);
	enum diag_status status;

	memset(diag, 0, sizeof(*diag));
	status = level_read("level.map", copy, size, NULL, out, diag);
	free(copy);
	return status;
}

static enum diag_status
read_text(const char *text, struct level *out, struct diag *diag)
{
	return read_bytes((const uint8_t *)text, strlen(text), out, diag);
}

/* The plain reader */

struct line {
	const uint8_t *data;
	size_t size;
};

struct lines {
	struct line *lines;
	size_t n;
};

static void
split(const uint8_t *data, size_t size, struct lines *out)
{
	size_t begin = 0;
	size_t i;

	out->n = 0;
	out->lines = malloc((size + 1) * sizeof(*out->lines));
	assert_non_null(out->lines);
	for (i = 0; i < size; i++) {
		if (data[i] != '\n' && i + 1 < size)
			continue;
		out->lines[out->n].data = data + begin;
		out->lines[out->n].size = i - begin + (data[i] != '\n');
		begin = i + 1;
		out->n++;
	}
}

/* The words of a header line, at most three. 0 for lines that begin with white
 * space or hold bytes that no header has. */
static size_t
split_words(struct line line, char words[3][32])
{
	char text[64];
	size_t n = 0;
	char *word;

	while (line.size > 0 && strchr(BLANKS, line.data[line.size - 1]) &&
	       line.data[line.size - 1])
		line.size--;
	if (line.size == 0 || line.size >= sizeof(text) ||
	    memchr(line.data, 0, line.size) || strchr(BLANKS, *line.data))
		return 0;
	memcpy(text, line.data, line.size);
	text[line.size] = '\0';
	for (word = strtok(text, BLANKS); word; word = strtok(NULL, BLANKS)) {
		if (n == 3 || strlen(word) >= sizeof(words[n]))
			return 0;
		strcpy(words[n++], word);
	}
	return n;
}

static bool
plain_side(const char *text, uint32_t *side)
{
	unsigned long long number = strtoull(text, NULL, 10);

	if (*side || strspn(text, "0123456789") != strlen(text) ||
	    number == 0 || number > 65535)
		return false;
	*side = (uint32_t)number;
	return true;
}

/* Returns the number of header lines, 0 if they are not as they should be. */
static size_t
plain_header(const struct lines *lines, uint32_t *width, uint32_t *height)
{
	char words[3][32];
	size_t n_words, i;

	*width = *height = 0;
	for (i = 0; i < lines->n; i++) {
		n_words = split_words(lines->lines[i], words);
		if (i == 0) {
			if (n_words != 2 || strcmp(words[0], "type") ||
			    strcmp(words[1], "octile"))
				return 0;
		} else if (n_words == 1 && !strcmp(words[0], "map")) {
			return *width && *height ? i + 1 : 0;
		} else if (n_words != 2 ||
		           (strcmp(words[0], "height") &&
		            strcmp(words[0], "width")) ||
		           !plain_side(words[1],
		                       words[0][0] == 'h' ? height : width)) {
			return 0;
		}
	}
	return 0;
}

static bool
plain_row(struct line line, uint32_t width, uint8_t *cells)
{
	uint32_t x;

	if (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	if (line.size != width)
		return false;
	for (x = 0; x < width; x++) {
		if (!line.data[x] || !strchr(".GS@OTW", line.data[x]))
			return false;
		cells[x] = strchr(".GS", line.data[x]) != NULL;
	}
	return true;
}

static bool
plain_rest_is_blank(const struct lines *lines, size_t first)
{
	size_t i, k;

	for (i = first; i < lines->n; i++)
		for (k = 0; k < lines->lines[i].size; k++)
			if (!lines->lines[i].data[k] ||
			    !strchr(BLANKS, lines->lines[i].data[k]))
				return false;
	return true;
}

static bool
plain_cells(const struct lines *lines, size_t first, struct level *out)
{
	uint32_t y;

	if (lines->n - first < out->height)
		return false;
	out->cells = malloc((size_t)out->width * out->height);
	assert_non_null(out->cells);
	terrain_classes_init(&out->terrain);
	for (y = 0; y < out->height; y++)
		if (!plain_row(lines->lines[first + y], out->width,
		               out->cells + (size_t)y * out->width))
			return false;
	return plain_rest_is_blank(lines, first + out->height);
}

/* False for what is no good file. *n_lines may be NULL. */
static bool
plain_read(const uint8_t *data, size_t size, struct level *out, size_t *n_lines)
{
	struct lines lines;
	size_t first;
	bool ok;

	memset(out, 0, sizeof(*out));
	split(data, size, &lines);
	first = plain_header(&lines, &out->width, &out->height);
	ok = first != 0 && plain_cells(&lines, first, out);
	if (!ok)
		level_free(out);
	if (n_lines)
		*n_lines = lines.n;
	free(lines.lines);
	return ok;
}

static bool
same_level(const struct level *a, const struct level *b)
{
	if (a->width != b->width || a->height != b->height)
		return false;
	for (size_t i = 0; i < (size_t)a->width * a->height; i++)
		if (level_is_open(a, i) != level_is_open(b, i))
			return false;
	return true;
}

static void
assert_empty(const struct level *level)
{
	assert_null(level->cells);
	assert_int_equal(level->width, 0);
	assert_int_equal(level->height, 0);
}

/* Good files */

/* What data/README says. */
static const struct {
	const char *name;
	uint32_t width, height;
} own_levels[] = {
	{"castle.map", 64, 32},   {"cave.map", 120, 80},
	{"corridor.map", 100, 1}, {"crlf.map", 24, 12},
	{"empty.map", 40, 40},    {"islands.map", 64, 48},
	{"maze.map", 65, 65},     {"one_cell.map", 1, 1},
	{"rooms.map", 96, 64},
};

static void
check_own_level(const char *path, const char *name, void *user)
{
	struct level level, plain;
	struct diag diag;
	size_t size, i;
	uint8_t *data = read_file(path, &size);

	(void)user;
	assert_non_null(data);
	for (i = 0; i < N_ELEMENTS(own_levels); i++)
		if (!strcmp(own_levels[i].name, name))
			break;
	if (i == N_ELEMENTS(own_levels))
		fail_msg("%s is not in the table", name);
	assert_int_equal(read_bytes(data, size, &level, &diag), DIAG_OK);
	assert_int_equal(level.width, own_levels[i].width);
	assert_int_equal(level.height, own_levels[i].height);
	assert_true(plain_read(data, size, &plain, NULL));
	assert_true(same_level(&level, &plain));
	level_free(&level);
	level_free(&plain);
	free(data);
}

static void
own_levels_are_read_as_they_look(void **state)
{
	(void)state;
	assert_int_equal(
		for_each_file(data_folder(), ".map", check_own_level, NULL),
		N_ELEMENTS(own_levels));
}

/* All of them are the same level: three cells wide, two high. */
static const struct {
	const char *what, *text;
} tolerated[] = {
	{"as published", "type octile\nheight 2\nwidth 3\nmap\n.@G\nSTW\n"},
	{"width before height",
         "type octile\nwidth 3\nheight 2\nmap\n.@G\nSTW\n"},
	{"CR LF",
         "type octile\r\nheight 2\r\nwidth 3\r\nmap\r\n.@G\r\nSTW\r\n"},
	{"CR LF in some lines",
         "type octile\nheight 2\r\nwidth 3\nmap\r\n.@G\nSTW\r\n"},
	{"no final newline", "type octile\nheight 2\nwidth 3\nmap\n.@G\nSTW"},
	{"CR LF, no final newline",
         "type octile\r\nheight 2\r\nwidth 3\r\nmap\r\n.@G\r\nSTW"},
	{"half a CR LF at the end",
         "type octile\r\nheight 2\r\nwidth 3\r\nmap\r\n.@G\r\nSTW\r"},
	{"blank lines at the end",
         "type octile\nheight 2\nwidth 3\nmap\n.@G\nSTW\n\n \n\t\r\n\n"},
	{"blanks at the end, no newline",
         "type octile\nheight 2\nwidth 3\nmap\n.@G\nSTW\n\n  "},
	{"white space after header lines",
         "type octile \nheight 2\t\nwidth 3 \t \nmap  \n.@G\nSTW\n"},
	{"tabs and more than one space",
         "type  octile\nheight\t2\nwidth \t 3\nmap\n.@G\nSTW\n"},
	{"the other letters",
         "type octile\nheight 2\nwidth 3\nmap\nSOG\n.@T\n"},
	{"zeros before a number",
         "type octile\nheight 02\nwidth 0000000000003\nmap\n.@G\nSTW\n"},
};

static void
tolerances_are_tolerated(void **state)
{
	static const uint8_t cells[6] = {1, 0, 1, 1, 0, 0};
	struct level level;
	struct diag diag;
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(tolerated); i++) {
		if (read_text(tolerated[i].text, &level, &diag) != DIAG_OK)
			fail_msg("%s: line %lu: %s", tolerated[i].what,
			         diag.line, diag.text);
		assert_int_equal(level.width, 3);
		assert_int_equal(level.height, 2);
		for (size_t k = 0; k < sizeof(cells); k++)
			if (level_is_open(&level, k) != cells[k])
				fail_msg("%s: other cells", tolerated[i].what);
		level_free(&level);
	}
}

static void
letters_are_free_or_blocked(void **state)
{
	static const uint8_t cells[7] = {1, 1, 1, 0, 0, 0, 0};
	struct level level;
	struct diag diag;

	(void)state;
	assert_int_equal(
		read_text("type octile\nheight 1\nwidth 7\nmap\n.GS@OTW\n",
	                  &level, &diag),
		DIAG_OK);
	for (size_t i = 0; i < sizeof(cells); i++)
		assert_int_equal(level_is_open(&level, i), cells[i]);
	level_free(&level);
}

static void
longest_side_is_read(void **state)
{
	static char wide[65535 + 64], tall[2 * 65535 + 64];
	struct level level;
	struct diag diag;
	size_t n, i;

	(void)state;
	n = (size_t)sprintf(wide, "type octile\nheight 1\nwidth 65535\nmap\n");
	memset(wide + n, '.', 65535);
	wide[n + 65534] = '@';
	assert_int_equal(read_text(wide, &level, &diag), DIAG_OK);
	assert_int_equal(level.width, 65535);
	assert_int_equal(level.cells[65533], 1);
	assert_int_equal(level.cells[65534], 0);
	level_free(&level);

	n = (size_t)sprintf(tall, "type octile\nheight 65535\nwidth 1\nmap\n");
	for (i = 0; i < 65535; i++)
		memcpy(tall + n + 2 * i, i == 65534 ? "@\n" : ".\n", 2);
	assert_int_equal(read_text(tall, &level, &diag), DIAG_OK);
	assert_int_equal(level.height, 65535);
	assert_int_equal(level.cells[65533], 1);
	assert_int_equal(level.cells[65534], 0);
	level_free(&level);
}

/* Bad files */

#define NOT_A_MAP "not a MovingAI map: "
#define NO_NUMBER " is not a number from 1 to 65535"
#define KNOWN_LETTERS                                                          \
	" (known: . G S free, @ O T W blocked; --terrain gives others a "     \
	"meaning)"

static const struct {
	const char *text;
	unsigned long line;
	const char *reason;
} broken[] = {
	/* What is no map at all */
	{"", 1, NOT_A_MAP "file is empty"},
	{"\n", 1, NOT_A_MAP "first line is '', not 'type octile'"},
	{"...\n...\n", 1, NOT_A_MAP "first line is '...', not 'type octile'"},
	{"Type octile\nheight 1\nwidth 1\nmap\n.\n", 1,
         NOT_A_MAP "first line is 'Type octile', not 'type octile'"},
	{"typeoctile\n", 1,
         NOT_A_MAP "first line is 'typeoctile', not 'type octile'"},
	{" type octile\n", 1,
         NOT_A_MAP "first line is ' type octile', not 'type octile'"},
	{"\xef\xbb\xbftype octile\n", 1,
         NOT_A_MAP
         "first line is '\\xef\\xbb\\xbftype octile', not 'type octile'"},
	{"0123456789012345678901234567890123456789012345\n", 1,
         NOT_A_MAP "first line is '01234567890123456789012345678901234567890"
                   "...', not 'type octile'"},

	/* The header */
	{"type\nheight 1\n", 1, "type '' is not supported (octile is)"},
	{"type tile\nheight 1\nwidth 1\nmap\n.\n", 1,
         "type 'tile' is not supported (octile is)"},
	{"type octile 2\nheight 1\nwidth 1\nmap\n.\n", 1,
         "type 'octile 2' is not supported (octile is)"},
	{"type octile\rheight 1\rwidth 1\rmap\r.\r", 1,
         "type 'octile\\x0dheight 1\\x0dwidth 1\\x0dmap\\x0d.' "
         "is not supported (octile is)"},
	{"type octile", 1, "file ends in the header, before a line 'map'"},
	{"type octile\nheight 1\nwidth 1\n", 3,
         "file ends in the header, before a line 'map'"},
	{"type octile\nwidth 1\nmap\n.\n", 3,
         "header has no height before 'map'"},
	{"type octile\nheight 1\nmap\n.\n", 3,
         "header has no width before 'map'"},
	{"type octile\nmap\n.\n", 2, "header has no height before 'map'"},
	{"type octile\nheight 1\nheight 1\nwidth 1\nmap\n.\n", 3,
         "duplicate header line 'height 1'"},
	{"type octile\nheight 1\nwidth 1\nwidth 2\nmap\n.\n", 4,
         "duplicate header line 'width 2'"},
	{"type octile\ntype octile\nheight 1\nwidth 1\nmap\n.\n", 2,
         "duplicate header line 'type octile'"},
	{"type octile\nheight 1\nwidth 1\nground 1\nmap\n.\n", 4,
         "unknown header line 'ground 1'"},
	{"type octile\nheight 1\n\nwidth 1\nmap\n.\n", 3,
         "unknown header line ''"},
	{"type octile\nheight 1\nwidth 1\nmaps\n.\n", 4,
         "unknown header line 'maps'"},
	{"type octile\nheight 1\nwidth 1\nmap x\n.\n", 4,
         "unknown header line 'map x'"},
	{"type octile\nheight=1\nwidth=1\nmap\n.\n", 2,
         "unknown header line 'height=1'"},

	/* Its numbers */
	{"type octile\nheight 0\n", 2, "'height 0'" NO_NUMBER},
	{"type octile\nheight\n", 2, "'height'" NO_NUMBER},
	{"type octile\nheight -1\n", 2, "'height -1'" NO_NUMBER},
	{"type octile\nheight +1\n", 2, "'height +1'" NO_NUMBER},
	{"type octile\nheight 1.0\n", 2, "'height 1.0'" NO_NUMBER},
	{"type octile\nheight 0x10\n", 2, "'height 0x10'" NO_NUMBER},
	{"type octile\nheight 1 2\n", 2, "'height 1 2'" NO_NUMBER},
	{"type octile\nheight two\n", 2, "'height two'" NO_NUMBER},
	{"type octile\nheight 65536\n", 2, "'height 65536'" NO_NUMBER},
	{"type octile\nheight 1\nwidth 65536\n", 3, "'width 65536'" NO_NUMBER},
	{"type octile\nheight 1\nwidth 4294967297\n", 3,
         "'width 4294967297'" NO_NUMBER},
	{"type octile\nheight 1\nwidth 18446744073709551617\n", 3,
         "'width 18446744073709551617'" NO_NUMBER},

	/* The shape */
	{"type octile\nheight 2\nwidth 3\nmap\n...\n..\n", 6,
         "row has 2 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n....\n...\n", 5,
         "row has 4 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n... \n...\n", 5,
         "row has 4 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n\n...\n...\n", 5,
         "row has 0 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n...\n\n...\n", 6,
         "row has 0 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n...\r\r\n...\n", 5,
         "row has 4 cells, header says 3"},
	{"type octile\nheight 2\nwidth 3\nmap\n", 4,
         "file ends after 0 rows, header says 2"},
	{"type octile\nheight 2\nwidth 3\nmap", 4,
         "file ends after 0 rows, header says 2"},
	{"type octile\nheight 3\nwidth 3\nmap\n...\n...\n", 6,
         "file ends after 2 rows, header says 3"},
	{"type octile\nheight 3\nwidth 3\nmap\n...\n...\n\n\n", 6,
         "file ends after 2 rows, header says 3"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\n@@@\n", 6,
         "2 rows, header says 1"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\n@@@\n...\nand so on\n", 6,
         "3 rows, header says 1"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\n@@@@\n", 6,
         "text after the last row: '@@@@'"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\nabc\n", 6,
         "text after the last row: 'abc'"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\n\n \nfin.\n", 8,
         "text after the last row: 'fin.'"},
	{"type octile\nheight 1\nwidth 3\nmap\n...\n\n...\n", 7,
         "text after the last row: '...'"},

	/* The letters */
	{"type octile\nheight 2\nwidth 3\nmap\n...\n..#\n", 6,
         "unknown terrain letter '#' at column 3" KNOWN_LETTERS},
	{"type octile\nheight 2\nwidth 3\nmap\n.x#\n..#\n", 5,
         "unknown terrain letter 'x' at column 2" KNOWN_LETTERS},
	{"type octile\nheight 1\nwidth 3\nmap\n. .\n", 5,
         "unknown terrain letter ' ' at column 2" KNOWN_LETTERS},
	{"type octile\nheight 1\nwidth 3\nmap\ng..\n", 5,
         "unknown terrain letter 'g' at column 1" KNOWN_LETTERS},
	{"type octile\nheight 1\nwidth 3\nmap\n..\t\n", 5,
         "unknown terrain letter 0x09 at column 3" KNOWN_LETTERS},
	{"type octile\nheight 1\nwidth 3\nmap\n\xc3\xa4.\n", 5,
         "unknown terrain letter 0xc3 at column 1" KNOWN_LETTERS},
	{"type octile\nheight 1\nwidth 3\nmap\n..\r.\n", 5,
         "row has 4 cells, header says 3"},
};

static void
broken_files_are_refused_with_line_and_reason(void **state)
{
	struct level level, plain;
	struct diag diag;
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(broken); i++) {
		const char *text = broken[i].text;

		assert_int_equal(read_text(text, &level, &diag),
		                 DIAG_BAD_INPUT);
		assert_int_equal(diag.status, DIAG_BAD_INPUT);
		assert_string_equal(diag.text, broken[i].reason);
		if (diag.line != broken[i].line)
			fail_msg("%s: line %lu, not %lu", diag.text, diag.line,
			         broken[i].line);
		assert_string_equal(diag.file, "");
		assert_empty(&level);
		assert_false(plain_read((const uint8_t *)text, strlen(text),
		                        &plain, NULL));
	}
}

static void
nul_is_no_letter(void **state)
{
	static const uint8_t row[] =
		"type octile\nheight 1\nwidth 3\nmap\n.\0.";
	static const uint8_t side[] =
		"type octile\nheight 1\0\nwidth 1\nmap\n.";
	struct level level;
	struct diag diag;

	(void)state;
	assert_int_equal(read_bytes(row, sizeof(row) - 1, &level, &diag),
	                 DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 5);
	assert_string_equal(diag.text, "unknown terrain letter 0x00 at column "
	                               "2" KNOWN_LETTERS);
	assert_int_equal(read_bytes(side, sizeof(side) - 1, &level, &diag),
	                 DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 2);
	assert_string_equal(diag.text, "'height 1\\x00'" NO_NUMBER);
}

/* The cells that this header speaks of would take 4 GiB, four times what the
 * program may have: a reader that allocated them would say that there is no
 * memory. A sanitizer has an address space of its own making, to which no limit
 * can be set. */
static void
boastful_header_allocates_nothing(void **state)
{
	static const char header[] =
		"type octile\nheight 65535\nwidth 65535\nmap\n";
	static char text[sizeof(header) + 65536];
	struct rlimit before, limit;
	struct level level;
	struct diag diag;
	enum diag_status status;

	(void)state;
	memcpy(text, header, sizeof(header) - 1);
	memset(text + sizeof(header) - 1, '.', 65535);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 30;
	if (!HAS_SANITIZER)
		assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	status = read_text(text, &level, &diag);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(status, DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 5);
	assert_string_equal(diag.text,
	                    "file ends after 1 rows, header says 65535");
	assert_empty(&level);
}

/* A file that lost its end is refused at its last line, unless all it lost is
 * white space. */
static void
check_truncations(const char *path, const char *name, void *user)
{
	struct level whole, level;
	struct diag diag;
	size_t size, cut, n_needed;
	unsigned long n_lines = 0;
	uint8_t *data = read_file(path, &size);

	(void)user;
	assert_non_null(data);
	assert_true(plain_read(data, size, &whole, NULL));
	n_needed = size;
	while (strchr("\r\n", data[n_needed - 1]))
		n_needed--;
	for (cut = 0; cut <= size; cut++) {
		enum diag_status status = read_bytes(data, cut, &level, &diag);

		n_lines += cut > 0 && (cut == 1 || data[cut - 2] == '\n');
		if ((status == DIAG_OK) != (cut >= n_needed))
			fail_msg("%s cut at %zu: status %d", name, cut, status);
		if (status == DIAG_OK)
			assert_true(same_level(&level, &whole));
		else if (status != DIAG_BAD_INPUT ||
		         diag.line != (n_lines ? n_lines : 1))
			fail_msg("%s cut at %zu: line %lu of %lu: %s", name,
			         cut, diag.line, n_lines, diag.text);
		level_free(&level);
	}
	level_free(&whole);
	free(data);
}

static void
truncated_files_are_refused_at_their_end(void **state)
{
	(void)state;
	assert_int_not_equal(
		for_each_file(data_folder(), ".map", check_truncations, NULL),
		0);
}

/* Bytes that the format knows are the ones that do most harm. */
static void
damage(struct rng *rng, uint8_t *data, size_t *size)
{
	static const char known[] = ".GS@OTW \t\r\n0123456789map-\0\xff";
	size_t at = rng_below(rng, (uint32_t)*size);

	switch (rng_below(rng, 4)) {
	case 0: /* any byte */
		data[at] = (uint8_t)rng_next(rng);
		break;
	case 1: /* a piece is lost */
	{
		size_t n = 1 + rng_below(rng, rng_chance(rng, 50) ? 2 : 40);

		n = n < *size - at ? n : *size - at - 1;
		memmove(data + at, data + at + n, *size - at - n);
		*size -= n;
		break;
	}
	default:
		data[at] = (uint8_t)known[rng_below(rng, sizeof(known) - 1)];
	}
	/* Half of it in the header, which is a small part of the file. */
	if (rng_chance(rng, 50))
		data[rng_below(rng, *size < 48 ? (uint32_t)*size : 48)] =
			(uint8_t)known[rng_below(rng, sizeof(known) - 1)];
}

static void
check_damaged(const char *name, uint64_t round, const uint8_t *data,
              size_t size, unsigned *n_good)
{
	struct level level, plain;
	struct diag diag;
	enum diag_status status = read_bytes(data, size, &level, &diag);
	size_t n_lines;
	bool good = plain_read(data, size, &plain, &n_lines);

	if ((status == DIAG_OK) != good)
		fail_msg("%s, round %lu: status %d, should be %s", name,
		         (unsigned long)round, status, good ? "good" : "bad");
	if (good)
		assert_true(same_level(&level, &plain));
	else if (status != DIAG_BAD_INPUT || diag.line < 1 ||
	         diag.line > (n_lines ? n_lines : 1) || !diag.text[0])
		fail_msg("%s, round %lu: line %lu of %zu: %s", name,
		         (unsigned long)round, diag.line, n_lines, diag.text);
	*n_good += good;
	level_free(&level);
	level_free(&plain);
}

static void
damage_file(const char *path, const char *name, void *user)
{
	unsigned *n_good = user;
	struct rng rng = {test_seed()};
	size_t size, damaged_size;
	uint8_t *data = read_file(path, &size);
	uint8_t *damaged;
	uint64_t round;

	assert_non_null(data);
	damaged = exact_copy(data, size);
	for (round = 0; round < 2000; round++) {
		memcpy(damaged, data, size);
		damaged_size = size;
		damage(&rng, damaged, &damaged_size);
		check_damaged(name, round, damaged, damaged_size, n_good);
	}
	free(damaged);
	free(data);
}

static void
damaged_files_are_judged_like_by_the_plain_reader(void **state)
{
	unsigned n_good = 0;

	(void)state;
	assert_int_not_equal(
		for_each_file(data_folder(), ".map", damage_file, &n_good), 0);
	assert_int_not_equal(n_good, 0);
}

/* Real broken files */

/* Line 0: a tolerance, read like the plain reader does. The reason is how the
 * text begins. */
static const struct {
	const char *name;
	unsigned long line;
	const char *reason;
} real_broken[] = {
	/* 99 letters in each row */
	{"100_island_rows_one_short.map", 5,
         "row has 99 cells, header says 100"},
	{"Instance-16-0-7_type_unknown.map", 1,
         "type 'unknown' is not supported (octile is)"},
	/* 4 + 256 lines, a blank one, then the second header */
	{"Paris_1_256_two_maps_concatenated.map", 262,
         "text after the last row: 'type octile'"},
	/* CR LF is fine */
	{"StarCraft_Frozen_Sea_CRLF.map", 0, ""},
	/* 4 + 49 lines, a blank one, then the citation */
	{"arena_trailing_bibtex.map", 55, "text after the last row: '////"},
	{"bloodvenomfalls-mixed01_cost_header.map", 4,
         "unknown header line 'ground 1'"},
	{"bloodvenomfalls-mixed02_cost_header.map", 4,
         "unknown header line 'ground 1'"},
	/* Git's idea of a symbolic link, checked out as text */
	{"bloodvenomfalls_symlink_text.map", 1,
         NOT_A_MAP "first line is 'bloodvenomfalls-mixed02.map'"},
	{"brc202d_no_header.map", 1, NOT_A_MAP "first line is '@@@@"},
	{"den012d_hdr_height_width_free_obstacle.map", 1,
         NOT_A_MAP "first line is 'height 350'"},
	/* Start and goal are letters in the grid */
	{"den602d_AB_endpoints_in_grid.map", 68,
         "unknown terrain letter 'B' at column 705"},
	{"empty_16x16_hdr_MapWidth_CRLF.map", 1,
         NOT_A_MAP "first line is 'MapWidth=16'"},
	/* Also has a row too many, but its header comes first */
	{"keydoor_21rows_height20.map", 4,
         "unknown header line 'key 16 4 13 10'"},
	{"maze512-1-0_hdr_MapWidth.map", 1,
         NOT_A_MAP "first line is 'MapWidth=512'"},
	{"maze512-8-0_hash_walls_AB.map", 5,
         "unknown terrain letter '#' at column 1"},
	{"self-test_space_char.map", 9,
         "unknown terrain letter ':' at column 13"},
	{"small_hash_AB.map", 5, "unknown terrain letter '#' at column 22"},
};

static void
check_real_broken(const char *path, const char *name, void *user)
{
	size_t size, i;
	uint8_t *data = read_file(path, &size);
	struct level level, plain;
	struct diag diag;
	enum diag_status status;

	(void)user;
	assert_non_null(data);
	for (i = 0; i < N_ELEMENTS(real_broken); i++)
		if (!strcmp(real_broken[i].name, name))
			break;
	if (i == N_ELEMENTS(real_broken))
		fail_msg("%s is not in the table", name);
	status = read_bytes(data, size, &level, &diag);
	assert_int_equal(plain_read(data, size, &plain, NULL),
	                 status == DIAG_OK);
	if (real_broken[i].line == 0) {
		assert_int_equal(status, DIAG_OK);
		assert_true(same_level(&level, &plain));
	} else if (status != DIAG_BAD_INPUT ||
	           diag.line != real_broken[i].line ||
	           strncmp(diag.text, real_broken[i].reason,
	                   strlen(real_broken[i].reason))) {
		fail_msg("%s: status %d, line %lu: %s", name, status, diag.line,
		         diag.text);
	}
	level_free(&level);
	level_free(&plain);
	free(data);
}

static void
real_broken_files_are_refused_or_tolerated(void **state)
{
	const char *folder = maps_folder("malformed");

	(void)state;
	if (folder)
		assert_int_equal(
			for_each_file(folder, ".map", check_real_broken, NULL),
			N_ELEMENTS(real_broken));
}

/* The table of formats */

static void
format_is_known_by_its_bytes_or_its_suffix(void **state)
{
	static const char good[] = "type octile\nheight 1\nwidth 1\nmap\n.\n";
	static const char bad[] = "no map\n";
	const uint8_t *good_data = (const uint8_t *)good;
	const uint8_t *bad_data = (const uint8_t *)bad;
	struct level level;
	struct diag diag;

	(void)state;
	assert_int_equal(level_read("level.txt", good_data, sizeof(good) - 1, NULL,
	                            &level, &diag),
	                 DIAG_OK);
	assert_int_equal(level.cells[0], 1);
	level_free(&level);
	assert_int_equal(level_read("level.map", bad_data, sizeof(bad) - 1, NULL,
	                            &level, &diag),
	                 DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 1);
	assert_string_equal(diag.text, NOT_A_MAP "first line is 'no map', "
	                                         "not 'type octile'");
	assert_int_equal(
		level_read("map", bad_data, sizeof(bad) - 1, NULL, &level, &diag),
		DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 0);
	assert_non_null(strstr(diag.text, "unknown level format; known: "));
	assert_non_null(strstr(diag.text, "movingai (.map)"));
	assert_empty(&level);
}

static void
level_has_1_to_65535_cells_a_side(void **state)
{
	static const uint32_t wrong[][2] = {
		{0, 1}, {1, 0}, {65536, 1}, {1, 65536}, {UINT32_MAX, 1}};
	struct level level;
	struct diag diag;
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(wrong); i++) {
		assert_int_equal(
			level_new(wrong[i][0], wrong[i][1], NULL, &level, &diag),
			DIAG_BAD_INPUT);
		assert_empty(&level);
	}
	assert_int_equal(level_new(65535, 2, NULL, &level, &diag), DIAG_OK);
	assert_int_equal(level.cells[2 * 65535 - 1], 0);
	level_free(&level);
	assert_empty(&level);
}

int
main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(own_levels_are_read_as_they_look),
		cmocka_unit_test(tolerances_are_tolerated),
		cmocka_unit_test(letters_are_free_or_blocked),
		cmocka_unit_test(longest_side_is_read),
		cmocka_unit_test(broken_files_are_refused_with_line_and_reason),
		cmocka_unit_test(nul_is_no_letter),
		cmocka_unit_test(boastful_header_allocates_nothing),
		cmocka_unit_test(truncated_files_are_refused_at_their_end),
		cmocka_unit_test(
			damaged_files_are_judged_like_by_the_plain_reader),
		cmocka_unit_test(format_is_known_by_its_bytes_or_its_suffix),
		cmocka_unit_test(level_has_1_to_65535_cells_a_side),
		cmocka_unit_test(real_broken_files_are_refused_or_tolerated),
	};

	/* cmocka writes a skipped test as one that failed. */
	if (!maps_folder("malformed"))
		tests[N_ELEMENTS(tests) - 1].name =
			"real_broken_files # SKIP no folder HPA_MAPS/malformed";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
