/* labels.c: pass 7, hub labels over the nodes of level 1, if they are wanted.
 *
 * Pruned landmark labelling (Akiba, Iwata and Yoshida): the nodes become hubs
 * one after the other. A search from the hub at hand gives every node that it
 * reaches an entry, but stops where two hubs before it already explain the
 * distance: what lies behind is explained by them as well. The labels then hold
 * the distances of all pairs, and no entry could be left out. Each node on the
 * way from a node back to its hub was reached before it and has that hub, too,
 * so an entry needs to remember no more than the first edge of that way.
 *
 * How long labels get is a matter of the order. The best next hub is the one
 * that lies on the most cheapest ways that no hub before it explains, and this
 * is estimated from samples (as by Delling, Goldberg, Pajor and Werneck): trees
 * of cheapest ways, pruned like the searches, from some nodes. Below a node of a
 * tree are the ways from the root that it would explain. The one with the most
 * below it in all trees is taken, what is below it is cut off, and so on. When
 * as many hubs were chosen as there were before, they get their searches and
 * new trees are grown, which are smaller and more by then: the less is left to
 * explain, the closer is the look at it.
 *
 * Trees are grown in parallel, each in a place of its own, as many as the rule
 * says and not as many as there are threads. All else is done in order. */
#include <stdlib.h>
#include <string.h>

#include "src/bake/passes.h"
#include "src/grid/heap.h"

/* The trees of a round have so many entries for each node, or a few more. */
#define SAMPLES_PER_NODE 32u

/* The hubs of the first round and, at least, of every other one. */
#define MIN_HUBS 16u

/* The trees of a round that are grown before it is known how large they get. */
#define FIRST_TREES 32u

/* Below that a thread is done before others have begun. */
#define MANY_NODES 1000u

#define NO_DISTANCE UINT64_MAX

struct edge {
	uint32_t to, cost;
};

/* The nodes and all edges of level 1. A node's own are in the order in which
 * entries count them. */
struct graph {
	uint32_t n;
	uint32_t *first; /* node -> its first edge; one more */
	struct edge *edges;
};

struct entry {
	uint32_t rank, distance, edge;
};

struct label {
	struct entry *entries;
	uint32_t n, max;
};

/* A thread's scratch: a search, and the label that it begins with, spread out.
 * Between searches all distances are NO_DISTANCE. */
struct scratch {
	struct heap heap;
	uint64_t *distance;    /* of nodes */
	uint64_t *to_hub;      /* rank -> distance of the root */
	uint32_t *parent_edge; /* which led to the node */
	uint32_t *place;       /* of the node in its tree */
	uint32_t *touched;
	uint32_t n_touched;
};

/* A node of a tree. Links are indices; a tree's root is in none of them, being
 * no better a hub for its own tree than for others. */
struct sample {
	uint32_t node, parent;
	uint32_t size; /* with all below it; 0: cut off */
	uint32_t child, sibling;
	uint32_t next; /* the same node in the tree before */
};

struct tree {
	struct sample *samples;
	uint32_t n, max;
	bool has_failed;
};

struct labelling {
	struct graph graph;
	struct label *labels;
	uint32_t n_hubs;
	uint64_t n_entries, max_distance;
	struct scratch scratch;

	uint32_t *roots; /* all nodes, shuffled */
	uint32_t next_root;
	bool *is_hub;
	struct sample *samples;
	size_t n_samples, max_samples;
	uint32_t *newest; /* node -> its last sample, or HPA_NONE */
	uint64_t *score;  /* node -> the size of all its samples */
	uint32_t *chosen;
};

static void
scratch_free(struct scratch *scratch)
{
	free(scratch->heap.entries);
	free(scratch->heap.where);
	free(scratch->distance);
	free(scratch->to_hub);
	free(scratch->parent_edge);
	free(scratch->place);
	free(scratch->touched);
}

static bool
scratch_make(struct scratch *scratch, uint32_t n)
{
	scratch->heap.entries = calloc(n, sizeof(*scratch->heap.entries));
	scratch->heap.where = calloc(n, sizeof(*scratch->heap.where));
	scratch->distance = malloc(n * sizeof(*scratch->distance));
	scratch->to_hub = malloc(n * sizeof(*scratch->to_hub));
	scratch->parent_edge = calloc(n, sizeof(*scratch->parent_edge));
	scratch->place = calloc(n, sizeof(*scratch->place));
	scratch->touched = calloc(n, sizeof(*scratch->touched));
	if (!scratch->heap.entries || !scratch->heap.where ||
	    !scratch->distance || !scratch->to_hub || !scratch->parent_edge ||
	    !scratch->place || !scratch->touched)
		return false;
	/* NO_DISTANCE, byte by byte. */
	memset(scratch->distance, 0xff, n * sizeof(*scratch->distance));
	memset(scratch->to_hub, 0xff, n * sizeof(*scratch->to_hub));
	return true;
}

static uint32_t
count_edges(const struct abstraction *abs)
{
	const struct abstract_level *level = &abs->levels[0];
	uint32_t n = abs->inter_first[abs->n_nodes];

	for (uint32_t c = 0; c < level->n_clusters; c++) {
		struct hpa_table table;

		hpa_table_at(level->tables[c].data, &table);
		n += table.n_edges;
	}
	return n;
}

static struct edge *
add_edges(const struct abstraction *abs, const struct hpa_table *table,
          uint32_t first, uint32_t local, struct edge *out)
{
	uint32_t node = first + local;

	for (uint32_t e = abs->inter_first[node];
	     e < abs->inter_first[node + 1]; e++) {
		uint32_t to = abs->inter_target[e];

		*out++ = (struct edge){to, transition_cost(abs, node, to)};
	}
	for (uint32_t e = hpa_table_begin(table, local);
	     e < hpa_table_end(table, local); e++)
		*out++ = (struct edge){first + hpa_table_target(table, e),
		                       hpa_table_weight(table, e)};
	return out;
}

static bool
make_graph(const struct abstraction *abs, struct graph *graph)
{
	const struct abstract_level *level = &abs->levels[0];
	struct edge *end;

	graph->n = abs->n_nodes;
	graph->first = malloc(((size_t)graph->n + 1) * sizeof(*graph->first));
	graph->edges = malloc(count_edges(abs) * sizeof(*graph->edges));
	if (!graph->first || !graph->edges)
		return false;
	end = graph->edges;
	for (uint32_t c = 0; c < level->n_clusters; c++) {
		struct hpa_table table;

		hpa_table_at(level->tables[c].data, &table);
		for (uint32_t i = 0; i < table.n_nodes; i++) {
			graph->first[level->first[c] + i] =
				(uint32_t)(end - graph->edges);
			end = add_edges(abs, &table, level->first[c], i, end);
		}
	}
	graph->first[graph->n] = (uint32_t)(end - graph->edges);
	return true;
}

/* The search */

static void
reach(struct scratch *scratch, uint32_t node, uint64_t distance, uint32_t edge)
{
	if (distance >= scratch->distance[node])
		return;
	if (scratch->distance[node] == NO_DISTANCE) {
		scratch->touched[scratch->n_touched++] = node;
		heap_insert(&scratch->heap, node, distance, 0);
	} else {
		heap_lower(&scratch->heap, node, distance, 0);
	}
	scratch->distance[node] = distance;
	scratch->parent_edge[node] = edge;
}

static void
expand(const struct graph *graph, struct scratch *scratch, uint32_t node)
{
	for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++)
		reach(scratch, graph->edges[e].to,
		      scratch->distance[node] + graph->edges[e].cost, e);
}

static void
begin_search(const struct labelling *all, struct scratch *scratch,
             uint32_t root)
{
	const struct label *label = &all->labels[root];

	for (uint32_t i = 0; i < label->n; i++)
		scratch->to_hub[label->entries[i].rank] =
			label->entries[i].distance;
	scratch->heap.n = 0;
	scratch->n_touched = 0;
	reach(scratch, root, 0, HPA_NONE);
}

static void
end_search(const struct labelling *all, struct scratch *scratch, uint32_t root)
{
	const struct label *label = &all->labels[root];

	for (uint32_t i = 0; i < label->n; i++)
		scratch->to_hub[label->entries[i].rank] = NO_DISTANCE;
	for (uint32_t i = 0; i < scratch->n_touched; i++)
		scratch->distance[scratch->touched[i]] = NO_DISTANCE;
}

/* Do hubs explain the distance from the root? */
static bool
is_explained(const struct labelling *all, const struct scratch *scratch,
             uint32_t node)
{
	const struct label *label = &all->labels[node];
	uint64_t distance = scratch->distance[node];

	for (uint32_t i = 0; i < label->n; i++) {
		uint64_t to_hub = scratch->to_hub[label->entries[i].rank];

		if (to_hub <= distance &&
		    to_hub + label->entries[i].distance <= distance)
			return true;
	}
	return false;
}

/* The node that the search goes on from, or HPA_NONE. */
static uint32_t
next_unexplained(const struct labelling *all, struct scratch *scratch)
{
	while (scratch->heap.n > 0) {
		uint32_t node = heap_pop(&scratch->heap).item;

		if (!is_explained(all, scratch, node))
			return node;
	}
	return HPA_NONE;
}

/* The node that an edge leaves. */
static uint32_t
source_of(const struct graph *graph, uint32_t edge, uint32_t to)
{
	uint32_t e = graph->first[to];

	/* Every edge has one back. */
	while (edge < graph->first[graph->edges[e].to] ||
	       edge >= graph->first[graph->edges[e].to + 1])
		e++;
	return graph->edges[e].to;
}

/* Which of a node's own edges leads to another. */
static uint32_t
edge_to(const struct graph *graph, uint32_t node, uint32_t to)
{
	uint32_t i = 0;

	while (graph->edges[graph->first[node] + i].to != to)
		i++;
	return i;
}

/* Labels */

static bool
add_entry(struct labelling *all, uint32_t node, uint32_t rank)
{
	const struct scratch *scratch = &all->scratch;
	struct label *label = &all->labels[node];
	uint64_t distance = scratch->distance[node];
	uint32_t edge = 0;

	if (label->n == label->max) {
		uint32_t max = 2 * label->max + 8;
		struct entry *more =
			realloc(label->entries, max * sizeof(*more));

		if (!more)
			return false;
		label->entries = more;
		label->max = max;
	}
	if (distance > 0)
		edge = edge_to(&all->graph, node,
		               source_of(&all->graph,
		                         scratch->parent_edge[node], node));
	label->entries[label->n++] =
		(struct entry){rank, (uint32_t)distance, edge};
	if (distance > all->max_distance)
		all->max_distance = distance;
	all->n_entries++;
	return true;
}

/* Make a node the next hub. */
static bool
add_hub(struct labelling *all, uint32_t root)
{
	struct scratch *scratch = &all->scratch;
	uint32_t node, rank = all->n_hubs++;
	bool ok = true;

	begin_search(all, scratch, root);
	while (ok && (node = next_unexplained(all, scratch)) != HPA_NONE) {
		expand(&all->graph, scratch, node);
		ok = add_entry(all, node, rank);
	}
	end_search(all, scratch, root);
	return ok;
}

/* Trees */

static bool
add_sample(const struct labelling *all, struct scratch *scratch,
           struct tree *tree, uint32_t node)
{
	uint32_t parent = HPA_NONE;

	if (tree->n == tree->max) {
		uint32_t max = 2 * tree->max + 64;
		struct sample *more =
			realloc(tree->samples, max * sizeof(*more));

		if (!more)
			return false;
		tree->samples = more;
		tree->max = max;
	}
	if (tree->n > 0)
		parent = scratch->place[source_of(
			&all->graph, scratch->parent_edge[node], node)];
	scratch->place[node] = tree->n;
	tree->samples[tree->n++] = (struct sample){
		.node = node,
		.parent = parent,
		.size = 1,
		.child = HPA_NONE,
		.sibling = HPA_NONE,
	};
	return true;
}

/* Sizes and links, from the last node on, which has none below it. */
static void
link_tree(struct tree *tree)
{
	struct sample *samples = tree->samples;

	for (uint32_t i = tree->n; i-- > 1;) {
		struct sample *parent = &samples[samples[i].parent];

		parent->size += samples[i].size;
		samples[i].sibling = parent->child;
		parent->child = i;
	}
}

static void
grow_tree(const struct labelling *all, struct scratch *scratch, uint32_t root,
          struct tree *tree)
{
	uint32_t node;
	bool ok = true;

	begin_search(all, scratch, root);
	while (ok && (node = next_unexplained(all, scratch)) != HPA_NONE) {
		expand(&all->graph, scratch, node);
		ok = add_sample(all, scratch, tree, node);
	}
	end_search(all, scratch, root);
	if (ok)
		link_tree(tree);
	tree->has_failed = !ok;
}

static uint32_t
shifted(uint32_t link, uint32_t by)
{
	return link == HPA_NONE ? HPA_NONE : link + by;
}

/* Add a tree, but for its root, to the samples. */
static bool
append_tree(struct labelling *all, const struct tree *tree)
{
	size_t wanted = all->n_samples + tree->n;
	uint32_t by = (uint32_t)all->n_samples;

	if (wanted >= HPA_NONE)
		return false;
	if (wanted > all->max_samples) {
		size_t max = wanted + wanted / 2;
		struct sample *more =
			realloc(all->samples, max * sizeof(*more));

		if (!more)
			return false;
		all->samples = more;
		all->max_samples = max;
	}
	for (uint32_t i = 0; i < tree->n; i++) {
		struct sample *sample = &all->samples[by + i];
		uint32_t node = tree->samples[i].node;

		*sample = tree->samples[i];
		if (i == 0) {
			sample->size = 0;
			continue;
		}
		sample->parent =
			sample->parent ? sample->parent + by : HPA_NONE;
		sample->child = shifted(sample->child, by);
		sample->sibling = shifted(sample->sibling, by);
		sample->next = all->newest[node];
		all->newest[node] = by + i;
		all->score[node] += sample->size;
	}
	all->n_samples = wanted;
	return true;
}

static bool
grow_trees(struct labelling *all, const uint32_t *roots, struct tree *trees,
           uint32_t n)
{
	bool ok = true;

#pragma omp parallel reduction(&& : ok) if (all->graph.n >= MANY_NODES)
	{
		struct scratch scratch = {0};

		ok = scratch_make(&scratch, all->graph.n);
#pragma omp for schedule(dynamic, 1)
		for (uint32_t i = 0; i < n; i++)
			if (ok)
				grow_tree(all, &scratch, roots[i], &trees[i]);
			else
				trees[i].has_failed = true;
		scratch_free(&scratch);
	}
	for (uint32_t i = 0; i < n; i++) {
		ok = ok && !trees[i].has_failed && append_tree(all, &trees[i]);
		free(trees[i].samples);
	}
	return ok;
}

/* Take up to n of the nodes that are no hubs, each at most once in a round that
 * has taken n_taken before; returns how many. */
static uint32_t
take_roots(struct labelling *all, uint32_t n, uint32_t n_taken, uint32_t *out)
{
	uint32_t n_left = all->graph.n - all->n_hubs - n_taken;
	uint32_t taken = 0;

	n = n < n_left ? n : n_left;
	while (taken < n) {
		uint32_t node = all->roots[all->next_root];

		all->next_root = (all->next_root + 1) % all->graph.n;
		if (!all->is_hub[node])
			out[taken++] = node;
	}
	return taken;
}

/* Grow the trees of a round: some, then as many as seem to be missing. */
static bool
sample_ways(struct labelling *all)
{
	uint32_t n = all->graph.n, n_taken = 0, wanted = FIRST_TREES;
	uint64_t enough = (uint64_t)SAMPLES_PER_NODE * n;
	bool ok = true;

	all->n_samples = 0;
	memset(all->score, 0, n * sizeof(*all->score));
	/* HPA_NONE, byte by byte. */
	memset(all->newest, 0xff, n * sizeof(*all->newest));
	while (ok && all->n_samples < enough) {
		uint32_t *roots = malloc(wanted * sizeof(*roots));
		struct tree *trees = calloc(wanted, sizeof(*trees));
		uint32_t n_more =
			roots && trees ? take_roots(all, wanted, n_taken, roots)
				       : 0;

		ok = roots && trees &&
		     (n_more == 0 || grow_trees(all, roots, trees, n_more));
		free(roots);
		free(trees);
		if (n_more == 0)
			break;
		n_taken += n_more;
		if (all->n_samples < enough)
			wanted = (uint32_t)((enough - all->n_samples) *
			                    n_taken / all->n_samples) +
			         1;
	}
	return ok;
}

/* The order */

/* Take a sample and all below it out of its tree. */
static void
cut_off(struct labelling *all, uint32_t top)
{
	struct sample *samples = all->samples;
	uint32_t size = samples[top].size, i = top;

	for (uint32_t up = samples[top].parent; up != HPA_NONE;
	     up = samples[up].parent) {
		samples[up].size -= size;
		all->score[samples[up].node] -= size;
	}
	/* Down to the first child, else on to the next branch. What was cut
	 * off before has nothing left below it. */
	for (;;) {
		size = samples[i].size;
		all->score[samples[i].node] -= size;
		samples[i].size = 0;
		if (size > 0 && samples[i].child != HPA_NONE) {
			i = samples[i].child;
			continue;
		}
		while (i != top && samples[i].sibling == HPA_NONE)
			i = samples[i].parent;
		if (i == top)
			return;
		i = samples[i].sibling;
	}
}

/* Choose the best hubs, one after the other; returns how many. */
static uint32_t
choose_hubs(struct labelling *all)
{
	uint32_t n = all->n_hubs < MIN_HUBS ? MIN_HUBS : all->n_hubs;
	uint32_t n_chosen = 0;
	struct heap *heap = &all->scratch.heap;

	heap->n = 0;
	for (uint32_t node = 0; node < all->graph.n; node++)
		if (!all->is_hub[node])
			heap_insert(heap, node, UINT64_MAX - all->score[node],
			            0);
	while (heap->n > 0 && n_chosen < n) {
		struct heap_entry top = heap_pop(heap);
		uint64_t key = UINT64_MAX - all->score[top.item];

		/* Scores only fall, so one that is not up to date is not too
		 * late in the heap. */
		if (key != top.key) {
			heap_insert(heap, top.item, key, 0);
			continue;
		}
		for (uint32_t i = all->newest[top.item]; i != HPA_NONE;
		     i = all->samples[i].next)
			if (all->samples[i].size > 0)
				cut_off(all, i);
		all->is_hub[top.item] = true;
		all->chosen[n_chosen++] = top.item;
	}
	return n_chosen;
}

/* A fixed order without a pattern. */
static void
shuffle_roots(struct labelling *all)
{
	uint64_t state = HPA_HASH_SEED;

	for (uint32_t i = 0; i < all->graph.n; i++)
		all->roots[i] = i;
	for (uint32_t i = all->graph.n; i > 1; i--) {
		uint32_t other, node = all->roots[i - 1];

		state = hpa_hash_mix(state, i);
		other = (uint32_t)((state >> 32) * i >> 32);
		all->roots[i - 1] = all->roots[other];
		all->roots[other] = node;
	}
}

static bool
labelling_make(struct labelling *all, const struct abstraction *abs)
{
	uint32_t n = abs->n_nodes;

	all->labels = calloc(n, sizeof(*all->labels));
	all->roots = malloc(n * sizeof(*all->roots));
	all->is_hub = calloc(n, sizeof(*all->is_hub));
	all->newest = malloc(n * sizeof(*all->newest));
	all->score = malloc(n * sizeof(*all->score));
	all->chosen = malloc(n * sizeof(*all->chosen));
	if (!all->labels || !all->roots || !all->is_hub || !all->newest ||
	    !all->score || !all->chosen || !scratch_make(&all->scratch, n) ||
	    !make_graph(abs, &all->graph))
		return false;
	shuffle_roots(all);
	return true;
}

static void
labelling_free(struct labelling *all)
{
	for (uint32_t i = 0; all->labels && i < all->graph.n; i++)
		free(all->labels[i].entries);
	free(all->labels);
	free(all->graph.first);
	free(all->graph.edges);
	free(all->roots);
	free(all->is_hub);
	free(all->samples);
	free(all->newest);
	free(all->score);
	free(all->chosen);
	scratch_free(&all->scratch);
}

/* Choose hubs and give them their searches until all nodes are hubs. */
static bool
label_nodes(struct labelling *all)
{
	while (all->n_hubs < all->graph.n) {
		uint32_t n_chosen;

		if (!sample_ways(all))
			return false;
		n_chosen = choose_hubs(all);
		for (uint32_t i = 0; i < n_chosen; i++)
			if (!add_hub(all, all->chosen[i]))
				return false;
	}
	return true;
}

/* The section */

static void
put_entry(uint8_t *raw, const struct hpa_hubs *hubs, uint32_t i,
          const struct entry *entry)
{
	uint8_t *rank = raw + (hubs->ranks - raw);
	uint8_t *distance = raw + (hubs->distances - raw);

	if (hubs->is_wide) {
		hpa_put_le32(rank + 4 * (size_t)i, entry->rank);
		hpa_put_le32(distance + 4 * (size_t)i, entry->distance);
	} else {
		hpa_put_le16(rank + 2 * (size_t)i, (uint16_t)entry->rank);
		hpa_put_le16(distance + 3 * (size_t)i,
		             (uint16_t)entry->distance);
		distance[3 * (size_t)i + 2] = (uint8_t)(entry->distance >> 16);
	}
	raw[(hubs->edges - raw) + i] = (uint8_t)entry->edge;
}

static bool
put_labels(const struct labelling *all, struct bytes *out)
{
	uint32_t n = all->graph.n, i = 0;
	uint32_t n_entries = (uint32_t)all->n_entries;
	bool is_wide = n > HPA_NARROW_MAX_HUBS ||
	               all->max_distance > HPA_NARROW_MAX_DISTANCE;
	struct hpa_hubs hubs;

	out->size = (size_t)hpa_hubs_size(n, n_entries, is_wide);
	out->data = malloc(out->size);
	if (!out->data)
		return false;
	hpa_put_le32(out->data + HPA_HUBS_WIDE, is_wide);
	hpa_put_le32(out->data + HPA_HUBS_FIRST + 4 * (size_t)n, n_entries);
	hpa_hubs_at(out->data, n, &hubs);
	for (uint32_t node = 0; node < n; node++) {
		const struct label *label = &all->labels[node];

		hpa_put_le32(out->data + HPA_HUBS_FIRST + 4 * (size_t)node, i);
		for (uint32_t k = 0; k < label->n; k++)
			put_entry(out->data, &hubs, i++, &label->entries[k]);
	}
	return true;
}

enum diag_status
labels_pass(struct abstraction *abs, struct diag *diag)
{
	struct labelling all = {.n_hubs = 0};
	bool ok = true;

	if (!abs->options.fast_queries || abs->n_nodes == 0 ||
	    abs->n_link_edges > 0)
		return DIAG_OK;
	ok = labelling_make(&all, abs) && label_nodes(&all);
	if (ok && all.max_distance <= HPA_MAX_DISTANCE &&
	    all.n_entries < HPA_NONE)
		ok = put_labels(&all, &abs->hubs);
	labelling_free(&all);
	return ok ? DIAG_OK : out_of_memory(diag);
}
