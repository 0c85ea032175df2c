/* scen.c: read MovingAI problem files (.scen), version 1.
 *
 *     version 1
 *     bucket map width height x1 y1 x2 y2 length
 *
 * One problem a line, fields set apart by tabs or spaces. The numbers are taken
 * from the end of the line, so that a map's name may contain spaces. Tolerated:
 * `version 1.0`, lines ended by CR LF, blank lines, a last line without its
 * end. Numbers are read here and not by libc, whose idea of a decimal point
 * depends on the locale. */
#include "formats/scen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/text.h"

#define MAX_WHOLE 2147483647L /* no level is larger, everywhere a long */
#define MAX_NUMBER_SIZE 32u   /* characters */
#define MIN_PROBLEM_SIZE 18u  /* "0 m 1 1 0 0 0 0 0" and a line end */

struct reader {
	struct text_lines lines;
	struct diag *diag;
};

/* Where the numbers of a problem go, from the end of the line. */
enum field { Y2, X2, Y1, X1, HEIGHT, WIDTH, BUCKET, N_FIELDS };
static const char *const field_names[N_FIELDS] = {
	"y2", "x2", "y1", "x1", "height", "width", "bucket",
};

static enum diag_status
read_version(struct reader *reader)
{
	struct text line, value;

	if (!text_next_line(&reader->lines, &line))
		return diag_set(reader->diag, DIAG_BAD_INPUT, 1,
		                "not a MovingAI problem file: file is empty");
	line = text_trim(line);
	if (!text_has_keyword(line, "version", &value))
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                "not a MovingAI problem file: first line is "
		                "'%s', not 'version 1'",
		                text_quote(line).text);
	if (!text_is(value, "1") && !text_is(value, "1.0"))
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                "version '%s' is not supported (1 is)",
		                text_quote(value).text);
	return DIAG_OK;
}

/* Digits, after a '-' perhaps. */
static bool
parse_whole(struct text text, long *out)
{
	bool negative = text.size > 1 && *text.data == '-';
	size_t i = negative ? 1 : 0;
	long number = 0;
	long digit;

	for (; i < text.size; i++) {
		digit = (long)text.data[i] - '0';
		if (digit < 0 || digit > 9 || number > (MAX_WHOLE - digit) / 10)
			return false;
		number = 10 * number + digit;
	}
	*out = negative ? -number : number;
	return true;
}

/* Read digits into *number and return how many there were. */
static size_t
parse_digits(struct text *text, double *number)
{
	size_t n = 0;

	for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9';
	     n++)
		*number = 10 * *number + (text->data[n] - '0');
	text->data += n;
	text->size -= n;
	return n;
}

/* The rest of a decimal number: nothing, or an exponent of two digits. */
static bool
parse_exponent(struct text text, long *out)
{
	*out = 0;
	if (text.size == 0)
		return true;
	if (*text.data != 'e' && *text.data != 'E')
		return false;
	text.data++;
	text.size--;
	if (text.size > 1 && *text.data == '+' && text.data[1] != '-') {
		text.data++;
		text.size--;
	}
	return text.size > 0 && text.size <= 3 && parse_whole(text, out) &&
	       *out >= -99 && *out <= 99;
}

/* A decimal number that is not negative. Its digits are gathered as a whole
 * number, then scaled once: exact to the last bit for the 15 digits and the
 * powers of ten that a double holds. */
static bool
parse_decimal(struct text text, double *out)
{
	double number = 0;
	double power = 1;
	size_t n_digits, n_decimals = 0;
	long exponent;

	if (text.size > MAX_NUMBER_SIZE)
		return false;
	n_digits = parse_digits(&text, &number);
	if (text.size > 0 && *text.data == '.') {
		text.data++;
		text.size--;
		n_decimals = parse_digits(&text, &number);
	}
	if (n_digits + n_decimals == 0 || !parse_exponent(text, &exponent))
		return false;
	exponent -= (long)n_decimals;
	for (long i = 0; i < labs(exponent); i++)
		power *= 10;
	*out = exponent < 0 ? number / power : number * power;
	return true;
}

static size_t
count_fields(struct text line)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < line.size; i++)
		if (!text_is_blank(line.data[i]) &&
		    (i == 0 || text_is_blank(line.data[i - 1])))
			n++;
	return n;
}

/* Take the last field off a line that has one. */
static struct text
last_field(struct text *line)
{
	struct text field;
	size_t start;

	*line = text_trim(*line);
	start = line->size;
	while (start > 0 && !text_is_blank(line->data[start - 1]))
		start--;
	field.data = line->data + start;
	field.size = line->size - start;
	line->size = start;
	return field;
}

/* The bucket is the only number at the beginning of the line. */
static struct text
first_field(struct text line)
{
	size_t size = 0;

	while (size < line.size && !text_is_blank(line.data[size]))
		size++;
	return (struct text){line.data, size};
}

static enum diag_status
refuse_field(const struct reader *reader, const char *name, struct text field,
             const char *what)
{
	return diag_set(reader->diag, DIAG_BAD_INPUT, reader->lines.line,
	                "%s '%s' is not %s", name, text_quote(field).text,
	                what);
}

static enum diag_status
read_problem(const struct reader *reader, struct text line,
             struct scen_problem *out)
{
	size_t n_fields = count_fields(line);
	long numbers[N_FIELDS];
	struct text field;
	unsigned i;

	if (n_fields < 9)
		return diag_set(reader->diag, DIAG_BAD_INPUT,
		                reader->lines.line,
		                "problem has %zu fields, not 9: bucket map "
		                "width height x1 y1 x2 y2 length",
		                n_fields);
	field = last_field(&line);
	if (!parse_decimal(field, &out->optimum))
		return refuse_field(reader, "length", field, "a length");
	for (i = 0; i < N_FIELDS; i++) {
		field = i == BUCKET ? first_field(line) : last_field(&line);
		if (!parse_whole(field, &numbers[i]))
			return refuse_field(reader, field_names[i], field,
			                    "a whole number");
	}
	out->width = numbers[WIDTH];
	out->height = numbers[HEIGHT];
	out->from_x = numbers[X1];
	out->from_y = numbers[Y1];
	out->to_x = numbers[X2];
	out->to_y = numbers[Y2];
	return DIAG_OK;
}

static enum diag_status
read_problems(struct reader *reader, struct scen *out)
{
	enum diag_status st;
	struct text line;

	while (text_next_line(&reader->lines, &line)) {
		line = text_trim(line);
		if (line.size == 0)
			continue;
		st = read_problem(reader, line,
		                  &out->problems[out->n_problems]);
		if (st != DIAG_OK)
			return st;
		out->n_problems++;
	}
	return DIAG_OK;
}

enum diag_status
scen_read(const uint8_t *data, size_t size, struct scen *out, struct diag *diag)
{
	struct reader reader = {{data, data + size, 0}, diag};
	enum diag_status st;

	*out = (struct scen){0};
	st = read_version(&reader);
	if (st != DIAG_OK)
		return st;
	/* As many as there could be, and one to try the next line in. */
	out->problems =
		calloc(size / MIN_PROBLEM_SIZE + 1, sizeof(*out->problems));
	if (!out->problems)
		return diag_set(diag, DIAG_FAILED, 0,
		                "no memory for the problems");
	st = read_problems(&reader, out);
	if (st != DIAG_OK)
		scen_free(out);
	return st;
}

void
scen_free(struct scen *scen)
{
	free(scen->problems);
	*scen = (struct scen){0};
}
