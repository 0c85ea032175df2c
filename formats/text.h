/* text.h: pieces of a text file that lies in memory, as its readers take them. */
#ifndef FORMATS_TEXT_H
#define FORMATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line or a part of one; not ended by NUL. */
struct text {
	const uint8_t *data;
	size_t size;
};

/* What is left to be read, and the number of the line that was read last. */
struct text_lines {
	const uint8_t *at, *end;
	unsigned long line;
};

/* The next line without its end, which may be CR LF; false, and an empty one,
 * after the last. */
bool text_next_line(struct text_lines *lines, struct text *line);

/* White space within a line. */
static inline bool
text_is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Without white space at the end, or at both ends. */
struct text text_trim_end(struct text text);
struct text text_trim(struct text text);

bool text_is(struct text text, const char *word);

/* Is this a line of that keyword, alone or with white space behind it? If so,
 * *value is what follows that. */
bool text_has_keyword(struct text line, const char *keyword,
                      struct text *value);

/* Bytes as a person can read them: what is not printable as \xNN, long texts
 * cut. */
struct text_quoted {
	char text[64];
};
struct text_quoted text_quote(struct text text);

#endif
