/* reach.c: which components links lead to.
 *
 * Only the components that a link touches matter, and there are few of them.
 * Their relation is a square of bits; Warshall's method closes it. Components
 * that reach each other become one, under the number of the first. The others
 * keep their order, so that numbers still follow the reading order. What is then
 * left of the relation between different components is kept for the file. */
#include <stdlib.h>

#include "src/bake/passes.h"

#define MAX_TOUCHED 8192u

/* The components that links touch, and the closed relation between them. */
struct relation {
	uint32_t n;
	uint32_t *components; /* rising */
	size_t stride;
	uint8_t *rows;
};

static int
compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
get_bit(const struct relation *relation, uint32_t from, uint32_t to)
{
	return relation->rows[from * relation->stride + to / 8] >> to % 8 & 1;
}

static void
set_bit(struct relation *relation, uint32_t from, uint32_t to)
{
	relation->rows[from * relation->stride + to / 8] |=
		(uint8_t)(1u << to % 8);
}

/* The place of a component that is touched. */
static uint32_t
place_of(const struct relation *relation, uint32_t component)
{
	const uint32_t *found =
		bsearch(&component, relation->components, relation->n,
	                sizeof(component), compare_numbers);

	return (uint32_t)(found - relation->components);
}

static bool
gather(struct relation *relation, const struct reach_edge *edges, uint32_t n)
{
	uint32_t *list = malloc((2 * (size_t)n + 1) * sizeof(*list));
	uint32_t n_list = 0, n_unique = 0;

	relation->components = list;
	if (!list)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (edges[i].from == edges[i].to)
			continue;
		list[n_list++] = edges[i].from;
		list[n_list++] = edges[i].to;
	}
	qsort(list, n_list, sizeof(*list), compare_numbers);
	for (uint32_t i = 0; i < n_list; i++)
		if (i == 0 || list[i] != list[i - 1])
			list[n_unique++] = list[i];
	relation->n = n_unique;
	return true;
}

static void
close_relation(struct relation *relation)
{
	uint32_t n = relation->n;
	size_t stride = relation->stride;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++) {
			if (!get_bit(relation, i, k))
				continue;
			for (size_t b = 0; b < stride; b++)
				relation->rows[i * stride + b] |=
					relation->rows[k * stride + b];
		}
}

static bool
relate(struct relation *relation, const struct reach_edge *edges, uint32_t n)
{
	relation->stride = ((size_t)relation->n + 7) / 8;
	relation->rows = calloc((size_t)relation->n + 1, relation->stride + 1);
	if (!relation->rows)
		return false;
	for (uint32_t i = 0; i < relation->n; i++)
		set_bit(relation, i, i);
	for (uint32_t i = 0; i < n; i++)
		if (edges[i].from != edges[i].to)
			set_bit(relation, place_of(relation, edges[i].from),
			        place_of(relation, edges[i].to));
	close_relation(relation);
	return true;
}

/* The first of the components that reach each other. */
static uint32_t
leader_of(const struct relation *relation, uint32_t i)
{
	uint32_t k = 0;

	while (!get_bit(relation, i, k) || !get_bit(relation, k, i))
		k++;
	return k;
}

/* Number the components anew, joined ones as their leader. */
static uint32_t
renumber(const struct relation *relation, uint32_t n_components, uint32_t *out)
{
	uint32_t next = 0, i = 0;

	for (uint32_t c = 0; c < n_components; c++) {
		if (i < relation->n && relation->components[i] == c) {
			uint32_t leader = leader_of(relation, i++);

			if (relation->components[leader] != c) {
				out[c] = out[relation->components[leader]];
				continue;
			}
		}
		out[c] = next++;
	}
	return next;
}

/* Does a leader reach another one, or the other way? */
static bool
is_tied(const struct relation *relation, uint32_t i)
{
	for (uint32_t k = 0; k < relation->n; k++)
		if (get_bit(relation, i, k) != get_bit(relation, k, i))
			return true;
	return false;
}

/* Keep what is left of the relation. */
static enum diag_status
keep(struct abstraction *abs, const struct relation *relation,
     const uint32_t *renumbered, struct diag *diag)
{
	uint32_t *places = malloc(((size_t)relation->n + 1) * sizeof(*places));
	uint32_t n = 0;
	size_t stride;

	if (!places)
		return out_of_memory(diag);
	for (uint32_t i = 0; i < relation->n; i++)
		if (leader_of(relation, i) == i && is_tied(relation, i))
			places[n++] = i;
	stride = ((size_t)n + 7) / 8;
	abs->n_reach = n;
	abs->reach_components = malloc(((size_t)n + 1) * sizeof(*places));
	abs->reach_rows = calloc((size_t)n + 1, stride + 1);
	if (!abs->reach_components || !abs->reach_rows) {
		free(places);
		return out_of_memory(diag);
	}
	for (uint32_t i = 0; i < n; i++) {
		abs->reach_components[i] =
			renumbered[relation->components[places[i]]];
		for (uint32_t k = 0; k < n; k++)
			if (get_bit(relation, places[i], places[k]))
				abs->reach_rows[i * stride + k / 8] |=
					(uint8_t)(1u << k % 8);
	}
	free(places);
	if (n > HPA_MAX_REACH)
		return diag_set(diag, DIAG_BAD_INPUT, 0,
		                "one-way links tie %u components together; "
		                "%u are allowed",
		                n, HPA_MAX_REACH);
	return DIAG_OK;
}

enum diag_status
reach_find(struct abstraction *abs, const struct reach_edge *edges, uint32_t n,
           uint32_t *renumbered, struct diag *diag)
{
	struct relation relation = {.n = 0};
	enum diag_status st = DIAG_OK;

	if (!gather(&relation, edges, n))
		return out_of_memory(diag);
	if (relation.n > MAX_TOUCHED)
		st = diag_set(diag, DIAG_BAD_INPUT, 0,
		              "links touch %u components; %u are allowed",
		              relation.n, MAX_TOUCHED);
	else if (!relate(&relation, edges, n))
		st = out_of_memory(diag);
	if (st == DIAG_OK) {
		abs->n_components =
			renumber(&relation, abs->n_components, renumbered);
		st = keep(abs, &relation, renumbered, diag);
	}
	free(relation.components);
	free(relation.rows);
	return st;
}
