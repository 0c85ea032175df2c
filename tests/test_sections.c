/* test_sections.c: what is refused of the sections of a level: facts, levels,
 * cells, nodes, labels of components, clusters, terrain and agents. The world of
 * subjects.c has three classes of terrain and three agents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hpa.h"
#include "tests/baked.h"
#include "tests/parts.h"
#include "tests/refusals.h"
#include "tests/subjects.h"

#define LEVEL(l, field, width, value)                                          \
	{                                                                      \
		HPA_ID_LEVELS, (l)*HPA_LEVEL_SIZE + HPA_LEVEL_##field, width,  \
			value                                                  \
	}

static void
facts_and_levels_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the level's size is out of range", {FACT(WIDTH, 0), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(HEIGHT, 65536), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(WIDTH, 65536), NO_MORE}},
		{"the level's size is out of range",
	         {FACT(HEIGHT, 0), NO_MORE}},
		{"the cluster size is out of range",
	         {FACT(CLUSTER_SIZE, 3), NO_MORE}},
		{"the cluster size is out of range",
	         {FACT(CLUSTER_SIZE, 33), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 0), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 13), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 33), NO_MORE}},
		{"the number of levels is out of range",
	         {FACT(N_LEVELS, 12), FACT(CLUSTER_SIZE, 5), NO_MORE}},
		{"the size of section LEVL is wrong",
	         {FACT(N_LEVELS, 3), NO_MORE}},
		{"the movement rule is unknown", {FACT(MOVES, 3), NO_MORE}},
		{"the costs of a step are wrong",
	         {FACT(STRAIGHT, 71), NO_MORE}},
		{"the costs of a step are wrong",
	         {FACT(DIAGONAL, 100), NO_MORE}},
		{"the transition policy is unknown",
	         {FACT(POLICY, 3), NO_MORE}},
		{"the transition policy is unknown",
	         {FACT(POLICY, 2), FACT(PARAMETER, 0), NO_MORE}},
		{"a flag is unknown", {FACT(FLAGS, 8), NO_MORE}},
		{"the costs of a step are wrong", {FACT(FLAGS, 5), NO_MORE}},
		{"terrain and its flag do not agree",
	         {FACT(FLAGS, 5), FACT(STRAIGHT, 140), FACT(DIAGONAL, 198),
	          NO_MORE}},
		{"the agent's size is out of range",
	         {FACT(AGENT_SIZE, 0), NO_MORE}},
		{"the agent's size is out of range",
	         {FACT(AGENT_SIZE, 65), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 0), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 2), NO_MORE}},
		{"the number of nodes is out of range",
	         {FACT(N_NODES, HPA_NONE), NO_MORE}},
		{"the number of components is impossible",
	         {FACT(N_COMPONENTS, 0), NO_MORE}},
		{"the number of components is impossible",
	         {FACT(N_COMPONENTS, 49), NO_MORE}},
		{"the number of components is impossible",
	         {{HPA_ID_FACTS, HPA_FACT_N_FREE_CELLS, 8, 1u << 31}, NO_MORE}},
		{"a level's number of nodes is wrong",
	         {FACT(N_NODES, 5), NO_MORE}},
		{"a level's number of nodes is wrong",
	         {LEVEL(1, N_NODES, 4, 5), NO_MORE}},
		{"a level's cluster size is wrong",
	         {LEVEL(1, CLUSTER_SIZE, 4, 9), NO_MORE}},
		{"a level's reserved bytes are not 0",
	         {LEVEL(0, RESERVED, 4, 1), NO_MORE}},
		{"a level's number of edges is wrong",
	         {LEVEL(0, N_STORED, 8, 2), NO_MORE}},
		{"a level's number of edges is wrong",
	         {LEVEL(0, N_INTRA, 8, 2), FACT(FLAGS, 0), NO_MORE}},
		{"the number of intra-edges is wrong",
	         {LEVEL(0, N_STORED, 8, 0), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {LEVEL(1, N_INTER, 4, 0), NO_MORE}},
		{"the size of section INTR is wrong",
	         {LEVEL(0, N_INTER, 4, 3), NO_MORE}},
		{"the size of section CLUS is wrong",
	         {LEVEL(1, N_NODES, 4, 1), NO_MORE}},
		{"the size of section CELL is wrong",
	         {FACT(HEIGHT, 3), NO_MORE}},
	};
	struct image good =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

#define CELL_ROW(y, bits)                                                      \
	{                                                                      \
		HPA_ID_CELLS, 2 * (y), 2, bits                                 \
	}
#define NODE(id, x)                                                            \
	{                                                                      \
		HPA_ID_NODES, (id)*HPA_NODE_SIZE + HPA_NODE_X, 2, x            \
	}
#define LABEL(i, label)                                                        \
	{                                                                      \
		HPA_ID_COMPONENTS, 4 * (i), 4, label                           \
	}
#define FREE_CELLS(n)                                                          \
	{                                                                      \
		HPA_ID_FACTS, HPA_FACT_N_FREE_CELLS, 8, n                      \
	}

static void
cells_nodes_and_labels_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the number of free cells is wrong",
	         {CELL_ROW(0, 0x0ffe), NO_MORE}},
		{"the number of free cells is wrong",
	         {FREE_CELLS(47), NO_MORE}},
		{"a cell beyond the width is set",
	         {CELL_ROW(0, 0x1ffe), NO_MORE}},
		{"a cell beyond the width is set", {FACT(WIDTH, 11), NO_MORE}},
		{"a node is on a blocked cell",
	         {CELL_ROW(1, 0x0ff7), FREE_CELLS(47), NO_MORE}},
		{"a node is not in its cluster", {NODE(0, 4), NO_MORE}},
		{"a node is not in its cluster", {NODE(3, 12), NO_MORE}},
		{"nodes are out of order", {NODE(1, 7), NODE(2, 4), NO_MORE}},
		{"nodes are out of order", {NODE(1, 7), NO_MORE}},
		{"a label is out of range", {LABEL(0, 1), NO_MORE}},
		{"a cluster's label is wrong",
	         {LABEL(0, HPA_COMP_NONE), NO_MORE}},
		{"a cluster's labels are not in place",
	         {LABEL(0, HPA_COMP_MIXED), NO_MORE}},
		{"neighbouring cells have two labels",
	         {FACT(N_COMPONENTS, 2), LABEL(1, 1), NO_MORE}},
	};
	struct image good =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

static void
a_cluster_without_neighbours_is_checked(void **state)
{
	/* A label of the cluster, then those of its four runs. */
	static const struct refusal rows[] = {
		{"neighbouring cells have two labels", {LABEL(3, 1), NO_MORE}},
	};
	struct image good =
		bake_small(".@..\n.@..\n", 1, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

static void
labels_of_runs_are_checked(void **state)
{
	/* Four labels of clusters, then the first one's runs: left, right. */
	static const struct refusal rows[] = {
		{"a label is out of range", {LABEL(5, 2), NO_MORE}},
		{"neighbouring cells have two labels", {LABEL(6, 1), NO_MORE}},
		{"neighbouring cells have two labels", {LABEL(1, 0), NO_MORE}},
		{"neighbouring cells have two labels",
	         {LABEL(5, 0), LABEL(7, 0), NO_MORE}},
		{"a cluster's labels are not in place",
	         {LABEL(0, HPA_COMP_MIXED + 1), NO_MORE}},
		{"the number of labels is wrong", {LABEL(0, 0), NO_MORE}},
	};
	struct image good =
		bake_small(four_clusters, 1, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* The arrays of three_clusters, by their places in the sections. */
#define INTER_FIRST(i, value)                                                  \
	{                                                                      \
		HPA_ID_INTER, 4 * (i), 4, value                                \
	}
#define INTER_TARGET(i, value)                                                 \
	{                                                                      \
		HPA_ID_INTER, 20 + 4 * (i), 4, value                           \
	}
#define FIRST_1(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 4 * (i), 4, value                             \
	}
#define UP_1(i, value)                                                         \
	{                                                                      \
		HPA_ID_CLUSTERS, 28 + 4 * (i), 4, value                        \
	}
#define FIRST_2(i, value)                                                      \
	{                                                                      \
		HPA_ID_CLUSTERS, 44 + 4 * (i), 4, value                        \
	}
#define NODE_2(i, value)                                                       \
	{                                                                      \
		HPA_ID_CLUSTERS, 64 + 4 * (i), 4, value                        \
	}

static void
ranks_and_inter_edges_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"a level's clusters do not cover it",
	         {FIRST_1(0, 1), NO_MORE}},
		{"a level's clusters do not cover it",
	         {FIRST_2(2, 3), NO_MORE}},
		{"clusters are out of order", {FIRST_1(1, 4), NO_MORE}},
		{"a rank has no node", {NODE_2(0, 4), NO_MORE}},
		{"a rank is not in its cluster", {NODE_2(0, 3), NO_MORE}},
		{"ranks are out of order",
	         {FIRST_2(1, 2), NODE_2(1, 1), NO_MORE}},
		{"a link up leads astray", {NODE_2(0, 1), NO_MORE}},
		{"a link up leads astray", {UP_1(2, 2), NO_MORE}},
		{"a node is not at the level below",
	         {UP_1(2, HPA_NONE), NO_MORE}},
		{"a node is at the wrong levels",
	         {NODE_2(0, 1), UP_1(1, 0), UP_1(2, HPA_NONE), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {INTER_FIRST(0, 1), NO_MORE}},
		{"the number of inter-edges is wrong",
	         {INTER_FIRST(4, 3), NO_MORE}},
		{"inter-edges are out of order", {INTER_FIRST(1, 3), NO_MORE}},
		{"inter-edges are out of order",
	         {INTER_FIRST(1, HPA_NONE), NO_MORE}},
		{"an inter-edge leads nowhere", {INTER_TARGET(0, 4), NO_MORE}},
		{"an inter-edge is no transition",
	         {INTER_TARGET(0, 2), NO_MORE}},
		{"an inter-edge is no transition",
	         {INTER_TARGET(0, 0), NO_MORE}},
		{"an inter-edge has no way back",
	         {INTER_TARGET(1, 3), NO_MORE}},
		{"a node is at the wrong levels",
	         {INTER_FIRST(1, 0), INTER_FIRST(2, 1), NO_MORE}},
	};
	struct image good =
		bake_small(three_clusters, 2, false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* Every cell at a border is a node: (3, 0) to (3, 2) and the row below these
 * are the first seven, of which (3, 3) has an edge to the right and one down. */
static void
inter_edges_of_a_corner_are_checked(void **state)
{
	static const char rows[] = "........\n........\n........\n........\n"
				   "........\n........\n........\n........\n";
	struct bake_options options;
	struct image good, image;
	uint8_t *first, *target;

	(void)state;
	bake_options_default(&options);
	options.cluster_size = 4;
	options.n_levels = 1;
	options.policy = HPA_POLICY_EVERY;
	options.policy_parameter = 1;
	options.compress = HPA_COMPRESS_NONE;
	good = bake_rows(rows, &options);
	image = image_copy(&good);
	first = section_of(&image, HPA_ID_INTER);
	target = first + 4 * (28 + 1);
	assert_int_equal(hpa_get_u32(first, 6), 6);
	assert_int_equal(hpa_get_u32(first, 7), 8);
	/* Down first, then to the right. */
	hpa_put_le32(target + 4 * 6, hpa_get_u32(target, 7));
	hpa_put_le32(target + 4 * 7,
	             hpa_get_u32(section_of(&good, HPA_ID_INTER), 28 + 1 + 6));
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "inter-edges are out of order");
	/* From (3, 0) to (3, 1), which is in the same cluster. */
	memcpy(image.data, good.data, good.size);
	hpa_put_le32(target, 1);
	image_seal(&image);
	assert_refused(&image, HPA_CORRUPT, "an inter-edge is no transition");
	free(image.data);
	free(good.data);
}

/* The file with just these nodes at level 2. Its first level is left alone. */
static struct image
with_upper_nodes(const struct image *image, const uint32_t *ids, uint32_t n)
{
	const uint8_t *old = section_of(image, HPA_ID_CLUSTERS);
	const uint8_t *nodes = section_of(image, HPA_ID_NODES);
	uint32_t n_nodes = hpa_get_le32(section_of(image, HPA_ID_FACTS) +
	                                HPA_FACT_N_NODES);
	uint32_t n_old = hpa_get_le32(section_of(image, HPA_ID_LEVELS) +
	                              HPA_LEVEL_SIZE + HPA_LEVEL_N_NODES);
	uint8_t raw[256] = {0}, levels[2 * HPA_LEVEL_SIZE];
	uint8_t *up = raw + 4 * (4 + 3), *first = up + 4 * n_nodes;
	uint8_t *node = first + 4 * (3 + 2);
	struct image other, out;

	memcpy(raw, old, (size_t)(first - raw));
	memset(up, 0xff, 4 * n_nodes);
	memcpy(first, old + (first - raw), 4 * (3 + 2));
	hpa_put_le32(first + 4, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = hpa_get_le16(nodes + ids[i] * HPA_NODE_SIZE);

		hpa_put_le32(up + 4 * ids[i], i);
		hpa_put_le32(node + 4 * i, ids[i]);
		if (x < 8)
			hpa_put_le32(first + 4, i + 1);
	}
	hpa_put_le32(first + 8, n);
	assert_int_equal(hpa_get_le64(entry_of(image, HPA_ID_CLUSTERS) +
	                              HPA_ENT_RAW_SIZE),
	                 node - raw + 4 * (ptrdiff_t)n_old);
	memcpy(levels, section_of(image, HPA_ID_LEVELS), sizeof(levels));
	hpa_put_le32(levels + HPA_LEVEL_SIZE + HPA_LEVEL_N_NODES, n);
	other = with_section(image, HPA_ID_CLUSTERS, raw,
	                     (size_t)(node - raw) + 4 * n);
	out = with_section(&other, HPA_ID_LEVELS, levels, sizeof(levels));
	free(other.data);
	return out;
}

/* Node 0 is at level 2 if a link begins or ends there, 2 and 3 because their
 * edge crosses its border. */
static void
levels_of_nodes_are_checked(void **state)
{
	static const struct bake_link there = {3, 1, 8, 1, 1000, true, "", 0};
	static const struct bake_link back = {8, 1, 3, 1, 1000, true, "", 0};
	static const struct {
		const struct bake_link *link;
		const char *why;
		uint32_t n, ids[4];
	} rows[] = {
		{NULL, NULL, 2, {2, 3}},
		{NULL, "a node is at the wrong levels", 3, {1, 2, 3}},
		{&there, NULL, 3, {0, 2, 3}},
		{&there, "a node is at the wrong levels", 2, {0, 3}},
		{&there, "a link is not at every level", 2, {2, 3}},
		{&back, NULL, 3, {0, 2, 3}},
		{&back, "a link is not at every level", 2, {2, 3}},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct bake_options options;
		struct image good, image;

		bake_options_default(&options);
		options.cluster_size = 4;
		options.n_levels = 2;
		options.compress = HPA_COMPRESS_NONE;
		options.n_links = rows[i].link ? 1 : 0;
		options.links = rows[i].link;
		good = bake_rows(three_clusters, &options);
		image = with_upper_nodes(&good, rows[i].ids, rows[i].n);
		if (rows[i].why)
			assert_refused(&image, HPA_CORRUPT, rows[i].why);
		else
			assert_opens(&image);
		free(image.data);
		free(good.data);
	}
}

#define TERR(offset, width, value)                                             \
	{                                                                      \
		HPA_ID_TERRAIN, offset, width, value                           \
	}
#define CLASS(i, field, width, value)                                          \
	TERR(HPA_TERR_CLASSES + (i)*HPA_CLASS_SIZE + HPA_CLASS_##field, width, \
	     value)
#define AGENT(offset, value)                                                   \
	{                                                                      \
		HPA_ID_AGENTS, offset, 1, value                                \
	}

static void
terrain_and_agents_are_checked(void **state)
{
	static const struct refusal rows[] = {
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 0), NO_MORE}},
		{"the least factor is out of range",
	         {FACT(MIN_FACTOR, 256), NO_MORE}},
		{"the least factor is wrong", {FACT(MIN_FACTOR, 2), NO_MORE}},
		{"an agent's name is no text", {AGENT(0, 7), NO_MORE}},
		{"an agent's name is no text", {AGENT(31, 'x'), NO_MORE}},
		{"an agent's name is no text",
	         {{HPA_ID_AGENTS, 0, 8, 0}, NO_MORE}},
		{"an agent's name is no text",
	         {AGENT(HPA_AGENT_TERRAIN, 0x7f), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_N_CLASSES, 4, 0), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_N_CLASSES, 4, 65), NO_MORE}},
		{"the number of classes is out of range",
	         {TERR(HPA_TERR_BITS_LOG2, 4, 4), NO_MORE}},
		{"the size of section TERR is wrong",
	         {TERR(HPA_TERR_N_CLASSES, 4, 2), NO_MORE}},
		{"a terrain class is wrong", {CLASS(1, NAME, 1, 7), NO_MORE}},
		{"a terrain class is wrong",
	         {CLASS(1, FACTOR, 4, 256), NO_MORE}},
		{"a free cell has no factor",
	         {CLASS(1, FACTOR, 4, 0), NO_MORE}},
		{"a cell's class is unknown",
	         {TERR(HPA_TERR_CLASSES + 3 * HPA_CLASS_SIZE, 1, 3), NO_MORE}},
		{"profiles do not have one level", {FACT(MOVES, 1), NO_MORE}},
		{"profiles do not have one level", {FACT(WIDTH, 14), NO_MORE}},
	};
	struct image good = subject_bake("world");

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

/* A section of another size, with nothing else changed. */
static void
sizes_of_sections_are_checked(void **state)
{
	static const struct {
		const char *id;
		int more; /* bytes */
		const char *why;
	} rows[] = {
		{"FACT", 4, "the size of section FACT is wrong"},
		{"FACT", -4, "the size of section FACT is wrong"},
		{"LEVL", 32, "the size of section LEVL is wrong"},
		{"CELL", 1, "the size of section CELL is wrong"},
		{"COMP", 1, "the size of section COMP is wrong"},
		{"COMP", -40, "the size of section COMP is wrong"},
		{"NODE", 4, "the size of section NODE is wrong"},
		{"INTR", 4, "the size of section INTR is wrong"},
		{"CLUS", 4, "the size of section CLUS is wrong"},
		{"AGNT", 1, "the size of section AGNT is wrong"},
		{"TERR", 1, "the size of section TERR is wrong"},
		{"TERR", -152, "the size of section TERR is wrong"},
		{"LINK", 1, "the size of section LINK is wrong"},
		{"LINK", (HPA_MAX_LINKS - 1) * HPA_LINK_SIZE,
	         "the size of section LINK is wrong"},
		{"LEDG", 1, "the size of section LEDG is wrong"},
		{"LEDG", (2 * HPA_MAX_LINKS - 2) * HPA_LEDGE_SIZE,
	         "the size of section LEDG is wrong"},
		{"REAC", 1, "the size of section REAC is wrong"},
		{"REAC", -11, "the size of section REAC is wrong"},
		{"TABL", -1, "a table is cut off"},
	};
	static uint8_t bytes[(HPA_MAX_LINKS + 1) * HPA_LINK_SIZE];
	struct image good = subject_bake("world");

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		size_t size = (size_t)hpa_get_le64(entry_of(&good, rows[i].id) +
		                                   HPA_ENT_RAW_SIZE);

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, section_of(&good, rows[i].id), size);
		assert_section_refused(&good, rows[i].id, bytes,
		                       (size_t)((long)size + rows[i].more),
		                       rows[i].why);
	}
	free(good.data);
}

/* Every begin of one is too short, whatever is read of it. */
static void
a_section_that_is_cut_off_is_refused(void **state)
{
	static const struct {
		const char *subject, *id, *why;
	} rows[] = {
		{"world", "TERR", "the size of section TERR is wrong"},
		{"world", "REAC", "the size of section REAC is wrong"},
		{"world", "TABL", "a table is cut off"},
		{"labelled", "HUBS", "the size of section HUBS is wrong"},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct image good = subject_bake(rows[i].subject);
		struct image stored = store(&good);
		const uint8_t *raw = section_of(&stored, rows[i].id);

		for (size_t size = 0; size < 12; size++) {
			if (size == 0 && !strcmp(rows[i].id, "HUBS"))
				continue; /* there are none */
			assert_section_refused(&stored, rows[i].id, raw, size,
			                       rows[i].why);
		}
		free(stored.data);
		free(good.data);
	}
}

/* Sections of one file for profile 0, those of another one for profile 1. */
static void
profiles_are_of_one_height(void **state)
{
	static const uint8_t agents[2 * HPA_AGENT_SIZE] = {
		[0] = 'a', [HPA_AGENT_SIZE] = 'b'};
	struct image first =
		bake_small(three_clusters, 1, false, HPA_COMPRESS_NONE);
	struct image second =
		bake_small("............\n............\n............\n", 1,
	                   false, HPA_COMPRESS_NONE);
	struct parts parts, others;
	struct image both;

	(void)state;
	take_apart(&first, &parts);
	take_apart(&second, &others);
	for (uint32_t i = 0; i < others.n; i++) {
		if (!strcmp(others.sections[i].id, HPA_ID_TABLES))
			continue;
		parts.sections[parts.n] = others.sections[i];
		parts.sections[parts.n++].profile = 1;
	}
	parts.sections[parts.n++] = (struct hpa_new_section){
		HPA_ID_AGENTS, 0, true, agents, sizeof(agents), NULL, false};
	both = put_together(&parts, HPA_COMPRESS_NONE);
	assert_refused(&both, HPA_CORRUPT, "profiles do not have one level");
	free(both.data);
	free(second.data);
	free(first.data);
}

/* Without PATH it is the flags alone that tell of cached paths. */
static void
profiles_have_the_same_flags(void **state)
{
	static const struct refusal rows[] = {
		{"profiles do not have one level",
	         {FACT(FLAGS, HPA_FACT_FLAG_PRUNED | HPA_FACT_FLAG_WEIGHTED),
	          NO_MORE}},
	};
	struct image good = subject_bake("world"), less;
	struct parts parts;

	(void)state;
	take_apart(&good, &parts);
	assert_string_equal(parts.sections[parts.n - 1].id, HPA_ID_PATHS);
	parts.n--;
	less = put_together(&parts, HPA_COMPRESS_NONE);
	assert_opens(&less);
	assert_refusals(&less, rows, N_ELEMENTS(rows));
	free(less.data);
	free(good.data);
}

static void
labels_agree_from_above_to_below(void **state)
{
	static const struct refusal rows[] = {
		{"neighbouring cells have two labels",
	         {FACT(N_COMPONENTS, 2), LABEL(1, 1), NO_MORE}},
	};
	struct image good = bake_small("....\n....\n....\n....\n....\n", 1,
	                               false, HPA_COMPRESS_NONE);

	(void)state;
	assert_refusals(&good, rows, N_ELEMENTS(rows));
	free(good.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_and_levels_are_checked),
		cmocka_unit_test(cells_nodes_and_labels_are_checked),
		cmocka_unit_test(a_cluster_without_neighbours_is_checked),
		cmocka_unit_test(labels_of_runs_are_checked),
		cmocka_unit_test(ranks_and_inter_edges_are_checked),
		cmocka_unit_test(inter_edges_of_a_corner_are_checked),
		cmocka_unit_test(levels_of_nodes_are_checked),
		cmocka_unit_test(terrain_and_agents_are_checked),
		cmocka_unit_test(sizes_of_sections_are_checked),
		cmocka_unit_test(a_section_that_is_cut_off_is_refused),
		cmocka_unit_test(profiles_are_of_one_height),
		cmocka_unit_test(profiles_have_the_same_flags),
		cmocka_unit_test(labels_agree_from_above_to_below),
	};

	return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}
