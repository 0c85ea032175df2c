/* links.c: teleporters, ledges and doors, from the user's file to edges.
 *
 * A link is a step between any two cells, at a cost of its own. Its ends are
 * nodes of their clusters at every level, so that at each level the link is an
 * edge between two nodes and no table needs to have a way over it: tables stay
 * what the cells inside a cluster say, the same in both directions, whatever
 * links lead where. A profile uses the links whose two ends are free for its
 * agent. */
#include <stdio.h>
#include <stdlib.h>

#include "src/bake/passes.h"

#define MAX_WORDS 7u
#define MIN_WORDS 5u
#define MAX_LINE 256u

/* Reading */

struct words {
	char text[MAX_LINE];
	char *word[MAX_WORDS + 1];
	size_t n;
};

/* Cut a line into words; a comment ends it. False if it is too long. */
static bool
split(const uint8_t *line, size_t size, struct words *out)
{
	char *at = out->text;

	out->n = 0;
	if (size >= MAX_LINE)
		return false;
	memcpy(out->text, line, size);
	out->text[size] = 0;
	at[strcspn(at, "#\r")] = 0;
	for (;;) {
		at += strspn(at, " \t,");
		if (!*at)
			return true;
		if (out->n == MAX_WORDS + 1)
			return false;
		out->word[out->n++] = at;
		at += strcspn(at, " \t,");
		if (*at)
			*at++ = 0;
	}
}

static bool
parse_coordinate(const char *word, uint16_t *out)
{
	uint32_t number = 0;

	for (; *word >= '0' && *word <= '9' && number <= HPA_MAX_SIDE; word++)
		number = 10 * number + (uint32_t)(*word - '0');
	*out = (uint16_t)number;
	return !*word && number < HPA_MAX_SIDE;
}

/* A decimal number with up to three places, in thousandths. */
static bool
parse_cost(const char *word, uint32_t *out)
{
	uint64_t number = 0;
	uint32_t unit = 0;
	bool has_digit = false;

	for (; *word; word++) {
		if (*word == '.' && unit == 0) {
			unit = 1000;
			continue;
		}
		if (*word < '0' || *word > '9' || unit == 1)
			return false;
		number = 10 * number + (uint64_t)(*word - '0');
		has_digit = true;
		if (number > BAKE_MAX_LINK_COST)
			return false;
		unit /= 10;
	}
	number *= unit ? unit : 1000;
	*out = (uint32_t)number;
	return has_digit && number <= BAKE_MAX_LINK_COST;
}

static enum diag_status
parse_link(const struct words *words, unsigned long line,
           struct bake_link *out, struct diag *diag)
{
	char *const *word = words->word;

	*out = (struct bake_link){.line = line};
	if (words->n < MIN_WORDS || words->n > MAX_WORDS)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "a link is X1 Y1 X2 Y2 COST [one-way|two-way "
		                "[NAME]]");
	if (!parse_coordinate(word[0], &out->from_x) ||
	    !parse_coordinate(word[1], &out->from_y) ||
	    !parse_coordinate(word[2], &out->to_x) ||
	    !parse_coordinate(word[3], &out->to_y))
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "a coordinate of a link is a number from 0 to "
		                "%u",
		                HPA_MAX_SIDE - 1);
	if (out->from_x == out->to_x && out->from_y == out->to_y)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "a link has two different ends");
	if (!parse_cost(word[4], &out->cost))
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "cost '%s' is not a number from 0 to %u with "
		                "at most three decimals",
		                word[4], BAKE_MAX_LINK_COST / 1000);
	if (words->n > 5) {
		out->is_one_way = !strcmp(word[5], "one-way");
		if (!out->is_one_way && strcmp(word[5], "two-way") != 0)
			return diag_set(diag, DIAG_BAD_INPUT, line,
			                "direction '%s' is not one-way or "
			                "two-way",
			                word[5]);
	}
	if (words->n > 6) {
		if (strlen(word[6]) > HPA_LINK_NAME_SIZE)
			return diag_set(diag, DIAG_BAD_INPUT, line,
			                "a link's name has at most %u letters",
			                HPA_LINK_NAME_SIZE);
		for (const char *c = word[6]; *c; c++)
			if (*c <= ' ' || *c >= 0x7f)
				return diag_set(diag, DIAG_BAD_INPUT, line,
				                "a link's name is plain ASCII");
		snprintf(out->name, sizeof(out->name), "%s", word[6]);
	}
	return DIAG_OK;
}

static enum diag_status
add_link(struct bake_link **links, uint32_t *n, const struct bake_link *link,
         unsigned long line, struct diag *diag)
{
	struct bake_link *more;

	if (*n == HPA_MAX_LINKS)
		return diag_set(diag, DIAG_BAD_INPUT, line,
		                "more than %u links", HPA_MAX_LINKS);
	more = realloc(*links, ((size_t)*n + 1) * sizeof(*more));
	if (!more)
		return out_of_memory(diag);
	*links = more;
	more[(*n)++] = *link;
	return DIAG_OK;
}

enum diag_status
bake_links_read(const uint8_t *data, size_t size, struct bake_link **out,
                uint32_t *n, struct diag *diag)
{
	enum diag_status st = DIAG_OK;
	size_t at = 0;

	*out = NULL;
	*n = 0;
	for (unsigned long line = 1; at < size && st == DIAG_OK; line++) {
		const uint8_t *newline = memchr(data + at, '\n', size - at);
		size_t end = newline ? (size_t)(newline - data) : size;
		struct bake_link link;
		struct words words;

		if (!split(data + at, end - at, &words))
			st = diag_set(diag, DIAG_BAD_INPUT, line,
			              "a link's line is too long");
		else if (words.n > 0) {
			st = parse_link(&words, line, &link, diag);
			if (st == DIAG_OK)
				st = add_link(out, n, &link, line, diag);
		}
		at = end + 1;
	}
	if (st != DIAG_OK) {
		free(*out);
		*out = NULL;
		*n = 0;
	}
	return st;
}

/* Baking */

static bool
is_usable(const struct abstraction *abs, const struct bake_link *link)
{
	return grid_is_free(&abs->grid, link->from_x, link->from_y) &&
	       grid_is_free(&abs->grid, link->to_x, link->to_y);
}

static struct link_end
make_end(const struct abstraction *abs, uint16_t x, uint16_t y)
{
	const struct node cell = {.x = x, .y = y};

	return (struct link_end){cluster_of(&abs->levels[0], &cell), x, y};
}

static int
compare_ends(const void *a, const void *b)
{
	const struct link_end *x = a, *y = b;

	return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

const struct bake_link *
bake_stray_link(const struct bake_options *options, uint32_t width,
                uint32_t height)
{
	for (uint32_t i = 0; i < options->n_links; i++) {
		const struct bake_link *link = &options->links[i];

		if (link->from_x >= width || link->from_y >= height ||
		    link->to_x >= width || link->to_y >= height)
			return link;
	}
	return NULL;
}

enum diag_status
link_ends_pass(struct abstraction *abs, struct diag *diag)
{
	uint32_t n = abs->options.n_links;
	const struct bake_link *stray = bake_stray_link(
		&abs->options, abs->grid.width, abs->grid.height);
	struct link_end *ends;

	if (n == 0)
		return DIAG_OK;
	if (stray)
		return diag_set(
			diag, DIAG_BAD_INPUT, 0,
			"the link %u,%u to %u,%u leads out of the level",
			stray->from_x, stray->from_y, stray->to_x, stray->to_y);
	ends = malloc(2 * (size_t)n * sizeof(*ends));
	abs->link_ends = ends;
	if (!ends)
		return out_of_memory(diag);
	for (uint32_t i = 0; i < n; i++) {
		const struct bake_link *link = &abs->options.links[i];

		if (!is_usable(abs, link))
			continue;
		ends[abs->n_link_ends++] =
			make_end(abs, link->from_x, link->from_y);
		ends[abs->n_link_ends++] =
			make_end(abs, link->to_x, link->to_y);
	}
	qsort(ends, abs->n_link_ends, sizeof(*ends), compare_ends);
	return DIAG_OK;
}

static int
compare_edges(const void *a, const void *b)
{
	const struct link_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

enum diag_status
link_edges_pass(struct abstraction *abs, struct diag *diag)
{
	uint32_t n = abs->options.n_links;
	struct link_edge *edges;

	if (n == 0)
		return DIAG_OK;
	edges = malloc(2 * (size_t)n * sizeof(*edges));
	abs->link_edges = edges;
	if (!edges)
		return out_of_memory(diag);
	for (uint32_t i = 0; i < n; i++) {
		const struct bake_link *link = &abs->options.links[i];
		uint32_t from, to;

		if (!is_usable(abs, link))
			continue;
		from = node_at(abs, link->from_x, link->from_y);
		to = node_at(abs, link->to_x, link->to_y);
		edges[abs->n_link_edges++] = (struct link_edge){from, to, i};
		if (!link->is_one_way)
			edges[abs->n_link_edges++] =
				(struct link_edge){to, from, i};
	}
	qsort(edges, abs->n_link_edges, sizeof(*edges), compare_edges);
	return DIAG_OK;
}
