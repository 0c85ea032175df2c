/* test_scen.c: reading MovingAI problem files.
 *
 * What a good file holds is decided by plain_read() below, which cuts a file
 * into lines and fields and has libc read the numbers. What a bad file is told
 * is decided by a table. Files are handed over in memory of exactly their size,
 * so that a sanitizer sees a byte read behind them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/scen.h"
#include "tests/support.h"

#define DIGITS "0123456789"

static enum diag_status
read_bytes(const uint8_t *data, size_t size, struct scen *out,
           struct diag *diag)
{
	uint8_t *copy = exact_copy(data, size);
	enum diag_status status;

	memset(diag, 0, sizeof(*diag));
	status = scen_read(copy, size, out, diag);
	free(copy);
	return status;
}

static enum diag_status
read_text(const char *text, struct scen *out, struct diag *diag)
{
	return read_bytes((const uint8_t *)text, strlen(text), out, diag);
}

/* Append, printf-like, to a text that has room for it. */
static void __attribute__((format(printf, 3, 4)))
append(char *text, size_t *size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	*size += (size_t)vsnprintf(text + *size, 256, format, args);
	va_end(args);
}

/* The plain reader */

#define MAX_FIELDS 64u

struct fields {
	size_t n;
	char text[MAX_FIELDS][128]; /* longer ones are cut, and wrong then */
};

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cut a line into fields. A NUL, which no good field has, becomes a '?'. */
static void
split_fields(const uint8_t *line, size_t size, struct fields *out)
{
	size_t length = 0;
	size_t i;

	out->n = 0;
	for (i = 0; i <= size && out->n < MAX_FIELDS; i++) {
		if (i < size && !is_blank(line[i])) {
			if (length < sizeof(out->text[0]) - 1)
				out->text[out->n][length++] =
					(char)(line[i] ? line[i] : '?');
		} else if (length > 0) {
			out->text[out->n++][length] = '\0';
			length = 0;
		}
	}
}

static bool
plain_whole(const char *text, long *out)
{
	const char *digits = text + (*text == '-');

	if (!*digits || strspn(digits, DIGITS) != strlen(digits))
		return false;
	*out = strtol(text, NULL, 10);
	return *out >= -2147483647L && *out <= 2147483647L;
}

/* Digits with a point somewhere, perhaps an exponent of two digits. */
static bool
plain_decimal(const char *text, double *out)
{
	size_t n_whole = strspn(text, DIGITS);
	const char *p = text + n_whole;
	size_t n_decimals = 0;
	long exponent = 0;

	if (*p == '.') {
		n_decimals = strspn(++p, DIGITS);
		p += n_decimals;
	}
	if (strlen(text) > 32 || n_whole + n_decimals == 0)
		return false;
	if (*p == 'e' || *p == 'E') {
		p += 1 + (p[1] == '+' && p[2] != '-');
		if (strlen(p) > 3 || !plain_whole(p, &exponent) ||
		    exponent > 99)
			return false;
		p = "";
	}
	*out = strtod(text, NULL);
	return !*p;
}

static const char *
from_end(const struct fields *fields, size_t n)
{
	return fields->text[fields->n - n];
}

static bool
plain_problem(const struct fields *fields, struct scen_problem *out)
{
	long bucket;

	return fields->n >= 9 && plain_whole(fields->text[0], &bucket) &&
	       plain_whole(from_end(fields, 7), &out->width) &&
	       plain_whole(from_end(fields, 6), &out->height) &&
	       plain_whole(from_end(fields, 5), &out->from_x) &&
	       plain_whole(from_end(fields, 4), &out->from_y) &&
	       plain_whole(from_end(fields, 3), &out->to_x) &&
	       plain_whole(from_end(fields, 2), &out->to_y) &&
	       plain_decimal(from_end(fields, 1), &out->optimum);
}

static bool
plain_version(const struct fields *fields)
{
	return fields->n == 2 && !strcmp(fields->text[0], "version") &&
	       (!strcmp(fields->text[1], "1") ||
	        !strcmp(fields->text[1], "1.0"));
}

/* False for what is no good file; *line is then the one that is not. */
static bool
plain_read(const uint8_t *data, size_t size, struct scen *out,
           unsigned long *line)
{
	size_t begin = 0;
	size_t i;
	struct fields fields;
	bool ok = size > 0;

	out->n_problems = 0;
	out->problems = calloc(size + 1, sizeof(*out->problems));
	assert_non_null(out->problems);
	*line = size == 0;
	for (i = 0; i < size && ok; i++) {
		if (data[i] != '\n' && i + 1 < size)
			continue;
		++*line;
		split_fields(data + begin, i - begin + (data[i] != '\n'),
		             &fields);
		begin = i + 1;
		if (*line == 1)
			ok = plain_version(&fields);
		else if (fields.n > 0)
			ok = plain_problem(&fields,
			                   &out->problems[out->n_problems++]);
	}
	if (!ok)
		scen_free(out);
	return ok;
}

static bool
same_problem(const struct scen_problem *a, const struct scen_problem *b,
             double tolerance)
{
	return a->width == b->width && a->height == b->height &&
	       a->from_x == b->from_x && a->from_y == b->from_y &&
	       a->to_x == b->to_x && a->to_y == b->to_y &&
	       fabs(a->optimum - b->optimum) <= tolerance * b->optimum;
}

static bool
same_scen(const struct scen *a, const struct scen *b, double tolerance)
{
	size_t i;

	if (a->n_problems != b->n_problems)
		return false;
	for (i = 0; i < a->n_problems; i++)
		if (!same_problem(&a->problems[i], &b->problems[i], tolerance))
			return false;
	return true;
}

static void
assert_empty(const struct scen *scen)
{
	assert_null(scen->problems);
	assert_int_equal(scen->n_problems, 0);
}

/* Good files */

/* Both of them in each of the files below. */
static const struct scen_problem two_problems[] = {
	{49, 40, 1, 11, 47, 38, 62.4558},
	{49, 40, 3, 4, 3, 4, 0},
};

static const struct {
	const char *what, *text;
} tolerated[] = {
	{"as published", "version 1\n"
                         "15\tmaps/arena.map\t49\t40\t1\t11\t47\t38\t62.4558\n"
                         "0\tmaps/arena.map\t49\t40\t3\t4\t3\t4\t0\n"},
	{"spaces and 1.0", "version 1.0\n"
                           "15 maps/arena.map 49 40 1 11 47 38 62.4558\n"
                           "0 maps/arena.map 49 40 3 4 3 4 0.00000000\n"},
	{"CR LF, no final newline",
         "version 1\r\n"
         "15 maps/arena.map 49 40 1 11 47 38 62.4558\r\n"
         "0 maps/arena.map 49 40 3 4 3 4 0"},
	{"spaces in the name, which ends in a number",
         "version 1\n"
         "15 my maps/the arena 2 49 40 1 11 47 38 62.4558\n"
         "0 my maps/the arena 2 49 40 3 4 3 4 0\n"},
	{"blank lines and white space",
         "version 1 \n\n \t\n"
         "  15\t maps/arena.map  49 40 1 11 47 38 62.4558  \n\n"
         "0 maps/arena.map 49 40 3 4 3 4 0\n\n \n"},
	{"other ways to write a length",
         "version 1\n"
         "15 maps/arena.map 49 40 1 11 47 38 6.24558e1\n"
         "0 maps/arena.map 49 40 3 4 3 4 .0\n"},
	{"zeros before the numbers",
         "version 1\n"
         "15 maps/arena.map 0000000000049 40 01 11 47 38 062.4558000\n"
         "0 maps/arena.map 49 40 3 4 3 4 0.\n"},
};

static void
tolerances_are_tolerated(void **state)
{
	struct scen_problem problems[2];
	struct scen expected = {2, problems};
	struct scen scen;
	struct diag diag;
	size_t i;

	(void)state;
	memcpy(problems, two_problems, sizeof(problems));
	for (i = 0; i < N_ELEMENTS(tolerated); i++) {
		if (read_text(tolerated[i].text, &scen, &diag) != DIAG_OK)
			fail_msg("%s: line %lu: %s", tolerated[i].what,
			         diag.line, diag.text);
		if (!same_scen(&scen, &expected, 0))
			fail_msg("%s: other problems", tolerated[i].what);
		scen_free(&scen);
	}
}

static void
file_may_have_no_problems(void **state)
{
	struct scen scen;
	struct diag diag;

	(void)state;
	assert_int_equal(read_text("version 1", &scen, &diag), DIAG_OK);
	assert_int_equal(scen.n_problems, 0);
	scen_free(&scen);
	assert_empty(&scen);
}

/* The shortest problems there are fill the file: none is lost. */
static void
shortest_problems_are_all_read(void **state)
{
	static char text[16 + 1000 * 18 + 256];
	struct scen scen;
	struct diag diag;
	size_t size = 0;
	size_t i;

	(void)state;
	append(text, &size, "version 1\n");
	for (i = 0; i < 1000; i++)
		append(text, &size, "0 m 1 1 0 0 0 0 %zu\n", i % 10);
	assert_int_equal(read_text(text, &scen, &diag), DIAG_OK);
	assert_int_equal(scen.n_problems, 1000);
	for (i = 0; i < 1000; i++)
		assert_true(scen.problems[i].optimum == (double)(i % 10));
	scen_free(&scen);
}

static void
coordinates_are_read_as_written(void **state)
{
	struct scen scen;
	struct diag diag;

	(void)state;
	assert_int_equal(read_text("version 1\n"
	                           "0 m 0 0 -1 -2147483647 65536 2147483647 "
	                           "3\n",
	                           &scen, &diag),
	                 DIAG_OK);
	assert_int_equal(scen.problems[0].width, 0);
	assert_int_equal(scen.problems[0].from_x, -1);
	assert_true(scen.problems[0].from_y == -2147483647L);
	assert_int_equal(scen.problems[0].to_x, 65536);
	assert_true(scen.problems[0].to_y == 2147483647L);
	scen_free(&scen);
}

static const struct {
	const char *text;
	double value;
} lengths[] = {
	{"0", 0},
	{"1", 1},
	{"2.41421", 2.41421},
	{"1234.56", 1234.56},
	{"244.95000000", 244.95},
	{"5.", 5},
	{".5", .5},
	{"1e3", 1000},
	{"1E+03", 1000},
	{"12345e-3", 12.345},
	{"0.1", 0.1},
	{"123456789.012345", 123456789.012345},
	{"999999999999999", 999999999999999},
};

static void
lengths_are_exact(void **state)
{
	struct scen scen;
	struct diag diag;
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(lengths); i++) {
		snprintf(text, sizeof(text), "version 1\n0 m 1 1 0 0 0 0 %s\n",
		         lengths[i].text);
		assert_int_equal(read_text(text, &scen, &diag), DIAG_OK);
		/* Bit by bit: no tolerance. */
		if (scen.problems[0].optimum != lengths[i].value)
			fail_msg("%s was read as %.17g", lengths[i].text,
			         scen.problems[0].optimum);
		scen_free(&scen);
	}
}

/* Bad files */

#define NO_SCEN "not a MovingAI problem file: "
#define NO_WHOLE "is not a whole number"

static const struct {
	const char *text;
	unsigned long line;
	const char *reason;
} broken[] = {
	{"", 1, NO_SCEN "file is empty"},
	{"\n", 1, NO_SCEN "first line is '', not 'version 1'"},
	{"0 m 1 1 0 0 0 0 0\n", 1,
         NO_SCEN "first line is '0 m 1 1 0 0 0 0 0', not 'version 1'"},
	{"Version 1\n", 1,
         NO_SCEN "first line is 'Version 1', not 'version 1'"},
	{"versions 1\n", 1,
         NO_SCEN "first line is 'versions 1', not 'version 1'"},
	{"\x1b[2J012345678901234567890123456789012345678901234567\n", 1,
         NO_SCEN "first line is '\\x1b[2J0123456789012345678901234567890123..."
                 "', not 'version 1'"},
	{"version\n", 1, "version '' is not supported (1 is)"},
	{"version 2\n", 1, "version '2' is not supported (1 is)"},
	{"version 1.1\n", 1, "version '1.1' is not supported (1 is)"},
	{"version 10\n", 1, "version '10' is not supported (1 is)"},
	{"version 1 graph\n", 1, "version '1 graph' is not supported (1 is)"},

	{"version 1\n0 m 1 1 0 0 0 0 0\n0 m 1 1 0 0 0 0\n", 3,
         "problem has 8 fields, not 9: bucket map width height x1 y1 x2 y2 "
         "length"},
	{"version 1\n\n\nhello\n", 4,
         "problem has 1 fields, not 9: bucket map width height x1 y1 x2 y2 "
         "length"},
	{"version 1\nx m 1 1 0 0 0 0 0\n", 2, "bucket 'x' " NO_WHOLE},
	{"version 1\n0 m a 1 0 0 0 0 0\n", 2, "width 'a' " NO_WHOLE},
	{"version 1\n0 m 1 1.5 0 0 0 0 0\n", 2, "height '1.5' " NO_WHOLE},
	{"version 1\n0 m 1 1 +1 0 0 0 0\n", 2, "x1 '+1' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 - 0 0 0\n", 2, "y1 '-' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 0 0x1 0 0\n", 2, "x2 '0x1' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 0 0 2147483648 0\n", 2,
         "y2 '2147483648' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 0 0 -2147483648 0\n", 2,
         "y2 '-2147483648' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 0 0 18446744073709551617 0\n", 2,
         "y2 '18446744073709551617' " NO_WHOLE},
	{"version 1\n0 m 1 1 0 0 0 0 -1\n", 2, "length '-1' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 1,5\n", 2, "length '1,5' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 .\n", 2, "length '.' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 nan\n", 2, "length 'nan' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 inf\n", 2, "length 'inf' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 1e\n", 2, "length '1e' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 1e+-1\n", 2,
         "length '1e+-1' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 1e100\n", 2,
         "length '1e100' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 1x\n", 2, "length '1x' is not a length"},
	{"version 1\n0 m 1 1 0 0 0 0 123456789012345678901234567890123\n", 2,
         "length '123456789012345678901234567890123' is not a length"},
};

static void
broken_files_are_refused_with_line_and_reason(void **state)
{
	struct scen scen, plain;
	unsigned long line;
	struct diag diag;
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(broken); i++) {
		const char *text = broken[i].text;

		assert_int_equal(read_text(text, &scen, &diag), DIAG_BAD_INPUT);
		assert_int_equal(diag.status, DIAG_BAD_INPUT);
		assert_string_equal(diag.text, broken[i].reason);
		if (diag.line != broken[i].line)
			fail_msg("%s: line %lu, not %lu", diag.text, diag.line,
			         broken[i].line);
		assert_string_equal(diag.file, "");
		assert_empty(&scen);
		assert_false(plain_read((const uint8_t *)text, strlen(text),
		                        &plain, &line));
		assert_int_equal(line, broken[i].line);
	}
}

/* The reader and the plain reader agree on what is good, on what is in it and
 * on the line that is not. */
static bool
check_bytes(const char *what, size_t which, const uint8_t *data, size_t size)
{
	struct scen scen, plain;
	unsigned long line;
	struct diag diag;
	enum diag_status status = read_bytes(data, size, &scen, &diag);
	bool good = plain_read(data, size, &plain, &line);

	if (status != (good ? DIAG_OK : DIAG_BAD_INPUT))
		fail_msg("%s %zu: status %d, should be %s: %s", what, which,
		         status, good ? "good" : "bad", diag.text);
	if (good && !same_scen(&scen, &plain, 1e-14))
		fail_msg("%s %zu: other problems", what, which);
	if (!good && diag.line != line)
		fail_msg("%s %zu: line %lu, should be %lu: %s", what, which,
		         diag.line, line, diag.text);
	scen_free(&scen);
	scen_free(&plain);
	return good;
}

/* A file of all sorts of good lines. */
static size_t
make_good(struct rng *rng, char *text, unsigned n)
{
	static const char *const names[] = {"m", "maps/dao/arena.map", "a b",
	                                    "c 7"};
	static const char *const ends[] = {"\n", "\r\n", " \n", "\n\n"};
	static const char *const gaps[] = {" ", "\t", "  "};
	size_t size = 0;
	unsigned i, k;

	append(text, &size, "version 1\n");
	for (i = 0; i < n; i++) {
		const char *gap = gaps[rng_below(rng, N_ELEMENTS(gaps))];

		append(text, &size, "%u%s%s", rng_below(rng, 100), gap,
		       names[rng_below(rng, N_ELEMENTS(names))]);
		for (k = 0; k < 6; k++)
			append(text, &size, "%s%u", gap, rng_below(rng, 1000));
		append(text, &size, "%s%u.%u%s", gap, rng_below(rng, 1000),
		       rng_below(rng, 100000),
		       ends[rng_below(rng, N_ELEMENTS(ends))]);
	}
	return size;
}

static void
truncated_files_are_judged_like_by_the_plain_reader(void **state)
{
	struct rng rng = {test_seed()};
	size_t n_good = 0;
	char text[4096];
	size_t size, cut;

	(void)state;
	size = make_good(&rng, text, 20);
	for (cut = 0; cut <= size; cut++)
		n_good +=
			check_bytes("cut at", cut, (const uint8_t *)text, cut);
	assert_in_range(n_good, 20, size - 1);
}

static void
damaged_files_are_judged_like_by_the_plain_reader(void **state)
{
	static const char known[] = " \t\r\n0123456789.-+eEversion\0\xff";
	struct rng rng = {test_seed()};
	size_t n_good = 0;
	char text[4096];
	size_t size, round;
	unsigned i, n;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size = make_good(&rng, text, rng_below(&rng, 8));
		n = rng_between(&rng, 1, 3);
		for (i = 0; i < n; i++)
			text[rng_below(&rng, (uint32_t)size)] =
				known[rng_below(&rng, sizeof(known) - 1)];
		n_good += check_bytes("round", round, (const uint8_t *)text,
		                      size);
	}
	assert_in_range(n_good, 1, 20000 - 1);
}

/* Real files */

static const char *const folders[] = {"bg512", "cities", "da2",
                                      "dao",   "mazes",  "random",
                                      "rooms", "sc1",    "wc3maps512"};

static void
check_real(const char *path, const char *name, void *user)
{
	struct scen scen, plain;
	unsigned long line;
	struct diag diag;
	size_t size;
	uint8_t *data = read_file(path, &size);

	(void)user;
	assert_non_null(data);
	if (read_bytes(data, size, &scen, &diag) != DIAG_OK)
		fail_msg("%s:%lu: %s", name, diag.line, diag.text);
	assert_true(plain_read(data, size, &plain, &line));
	assert_int_not_equal(scen.n_problems, 0);
	if (!same_scen(&scen, &plain, 0))
		fail_msg("%s: other problems", name);
	scen_free(&scen);
	scen_free(&plain);
	free(data);
}

static void
real_files_are_read_as_they_look(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_ELEMENTS(folders); i++) {
		const char *folder = maps_folder(folders[i]);

		if (folder)
			assert_int_not_equal(for_each_file(folder, ".scen",
			                                   check_real, NULL),
			                     0);
		else
			printf("# no folder HPA_MAPS/%s\n", folders[i]);
	}
}

/* Problems of another kind, on a graph. */
static void
real_broken_file_is_refused(void **state)
{
	static const char name[] = "malformed/24a_0_version_1_graph.scen";
	struct scen scen;
	struct diag diag;
	size_t size;
	uint8_t *data;

	(void)state;
	if (!maps_folder("malformed"))
		return;
	data = read_maps_file(name, &size);
	assert_non_null(data);
	assert_int_equal(read_bytes(data, size, &scen, &diag), DIAG_BAD_INPUT);
	assert_int_equal(diag.line, 1);
	assert_string_equal(diag.text,
	                    "version '1 graph' is not supported (1 is)");
	assert_empty(&scen);
	free(data);
}

int
main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(tolerances_are_tolerated),
		cmocka_unit_test(file_may_have_no_problems),
		cmocka_unit_test(shortest_problems_are_all_read),
		cmocka_unit_test(coordinates_are_read_as_written),
		cmocka_unit_test(lengths_are_exact),
		cmocka_unit_test(broken_files_are_refused_with_line_and_reason),
		cmocka_unit_test(
			truncated_files_are_judged_like_by_the_plain_reader),
		cmocka_unit_test(
			damaged_files_are_judged_like_by_the_plain_reader),
		cmocka_unit_test(real_files_are_read_as_they_look),
		cmocka_unit_test(real_broken_file_is_refused),
	};

	/* cmocka writes a skipped test as one that failed. */
	if (!maps_folder("dao"))
		tests[N_ELEMENTS(tests) - 2].name =
			"real_files # SKIP no folder HPA_MAPS/dao";
	if (!maps_folder("malformed"))
		tests[N_ELEMENTS(tests) - 1].name =
			"real_broken_file # SKIP no folder HPA_MAPS/malformed";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
