/* text.c: pieces of a text file that lies in memory. */
#include "formats/text.h"

#include <stdio.h>
#include <string.h>

bool
text_next_line(struct text_lines *lines, struct text *line)
{
	size_t rest = (size_t)(lines->end - lines->at);
	const uint8_t *newline;

	*line = (struct text){lines->at, 0};
	if (rest == 0)
		return false;
	newline = memchr(lines->at, '\n', rest);
	line->size = newline ? (size_t)(newline - lines->at) : rest;
	lines->at += newline ? line->size + 1 : line->size;
	lines->line++;
	if (line->size > 0 && line->data[line->size - 1] == '\r')
		line->size--;
	return true;
}

struct text
text_trim_end(struct text text)
{
	while (text.size > 0 && text_is_blank(text.data[text.size - 1]))
		text.size--;
	return text;
}

struct text
text_trim(struct text text)
{
	text = text_trim_end(text);
	while (text.size > 0 && text_is_blank(*text.data)) {
		text.data++;
		text.size--;
	}
	return text;
}

bool
text_is(struct text text, const char *word)
{
	return text.size == strlen(word) &&
	       memcmp(text.data, word, text.size) == 0;
}

bool
text_has_keyword(struct text line, const char *keyword, struct text *value)
{
	size_t size = strlen(keyword);

	if (line.size < size || memcmp(line.data, keyword, size) != 0 ||
	    (line.size > size && !text_is_blank(line.data[size])))
		return false;
	while (size < line.size && text_is_blank(line.data[size]))
		size++;
	*value = (struct text){line.data + size, line.size - size};
	return true;
}

struct text_quoted
text_quote(struct text text)
{
	struct text_quoted out = {""};
	size_t used = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (used > 40) {
			snprintf(out.text + used, sizeof(out.text) - used,
			         "...");
			break;
		}
		if (text.data[i] >= ' ' && text.data[i] <= '~')
			out.text[used++] = (char)text.data[i];
		else
			used += (size_t)snprintf(out.text + used,
			                         sizeof(out.text) - used,
			                         "\\x%02x", text.data[i]);
	}
	return out;
}
