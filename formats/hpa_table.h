/* hpa_table.h: the intra-edges of one cluster, as the file has them.
 *
 * A cluster's nodes are numbered 0 … n-1 in the order of their ids. Its table
 * has a row per node: the nodes it has an edge to, in rising order, and the
 * costs. A table names no cell, so that clusters with equal distances share
 * one. Narrow tables (below 256 nodes, 16-bit costs) take 3 bytes an edge, wide
 * ones 6. */
#ifndef FORMATS_HPA_TABLE_H
#define FORMATS_HPA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/hpa_layout.h"

/* A table in the file, ready to be walked. */
struct hpa_table {
	uint32_t n_nodes, n_edges;
	uint32_t paths; /* offset in PATH, or HPA_NONE */
	bool wide;
	const uint8_t *ends, *weights, *targets;
};

/* The bytes that a table of this shape takes, padding included. May be more than
 * a small machine's size_t holds. */
static inline uint64_t
hpa_table_size(uint32_t n_nodes, uint32_t n_edges, bool wide)
{
	uint64_t size = HPA_TABLE_ENDS + (uint64_t)n_nodes * (wide ? 4 : 2) +
	                (uint64_t)n_edges * (wide ? 6 : 3);

	return (size + HPA_TABLE_ALIGN - 1) & ~(uint64_t)(HPA_TABLE_ALIGN - 1);
}

static inline uint32_t
hpa_table_end(const struct hpa_table *table, uint32_t node)
{
	return table->wide ? hpa_get_le32(table->ends + 4 * (size_t)node)
	                   : hpa_get_le16(table->ends + 2 * (size_t)node);
}

/* The first edge of a node's row; the row ends at hpa_table_end(). */
static inline uint32_t
hpa_table_begin(const struct hpa_table *table, uint32_t node)
{
	return node ? hpa_table_end(table, node - 1) : 0;
}

static inline uint32_t
hpa_table_weight(const struct hpa_table *table, uint32_t edge)
{
	return table->wide ? hpa_get_le32(table->weights + 4 * (size_t)edge)
	                   : hpa_get_le16(table->weights + 2 * (size_t)edge);
}

static inline uint32_t
hpa_table_target(const struct hpa_table *table, uint32_t edge)
{
	return table->wide ? hpa_get_le16(table->targets + 2 * (size_t)edge)
	                   : table->targets[edge];
}

/* Look at a record that was checked before. */
static inline void
hpa_table_at(const uint8_t *record, struct hpa_table *out)
{
	out->paths = hpa_get_le32(record + HPA_TABLE_PATHS);
	out->n_nodes = hpa_get_le16(record + HPA_TABLE_N_NODES);
	out->wide = hpa_get_le16(record + HPA_TABLE_WIDE) != 0;
	out->ends = record + HPA_TABLE_ENDS;
	out->n_edges =
		out->n_nodes ? hpa_table_end(out, out->n_nodes - 1) : 0;
	out->weights = out->ends + (size_t)out->n_nodes * (out->wide ? 4 : 2);
	out->targets =
		out->weights + (size_t)out->n_edges * (out->wide ? 4 : 2);
}

/* The edge between two nodes of the table, or HPA_NONE; the targets of a row
 * rise. */
static inline uint32_t
hpa_table_find(const struct hpa_table *table, uint32_t from, uint32_t to)
{
	uint32_t low = hpa_table_begin(table, from);
	uint32_t high = hpa_table_end(table, from);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t target = hpa_table_target(table, middle);

		if (target == to)
			return middle;
		if (target < to)
			low = middle + 1;
		else
			high = middle;
	}
	return HPA_NONE;
}

#endif
