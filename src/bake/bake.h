/* bake.h: a level and options in, the bytes of a baked file out.
 *
 * All of hpabake that the command line sees of the baker. */
#ifndef BAKE_BAKE_H
#define BAKE_BAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/diag.h"
#include "formats/hpa_read.h"
#include "formats/level.h"

/* Whom a profile is for: an agent that covers size x size cells and may enter
 * some terrain classes. */
struct bake_agent {
	char name[HPA_AGENT_NAME_SIZE + 1];
	uint32_t size;
	char terrain[HPA_AGENT_TERRAIN_SIZE + 1]; /* names with '+' between
	                                           * them; "": all that are
	                                           * open to everyone */
};

/* A step between two cells that need not be neighbours. */
struct bake_link {
	uint16_t from_x, from_y, to_x, to_y;
	uint32_t cost; /* in thousandths of a straight step on plain ground */
	bool is_one_way;
	char name[HPA_LINK_NAME_SIZE + 1]; /* "": none */
	unsigned long line; /* of the text file it is from; else 0 */
};

/* How distances are computed; the bytes are the same. */
enum bake_kernel {
	BAKE_KERNEL_VECTOR = 0,
	BAKE_KERNEL_HEAP = 1 /* the reference: all of it by plain Dijkstra */
};

/* How much memory a bake may take, about. */
struct bake_memory {
	uint64_t max_bytes;
	bool was_exceeded; /* set where a bake is refused for that reason */
};

/* What the user may choose. All but threads, kernel, compress and memory are
 * stored in the file. */
struct bake_options {
	uint32_t cluster_size;
	uint32_t n_levels; /* 0: chosen from the level's size */
	enum hpa_move_rule moves;
	enum hpa_policy policy;
	uint32_t policy_parameter; /* threshold of `ends`, k of `every:k`;
	                            * 0: the policy's default */
	bool prune;
	bool cache_paths;
	bool fast_queries; /* make hub labels */
	enum hpa_compress compress;
	unsigned n_threads; /* 0: all cores */
	uint32_t n_agents;  /* 0: one without a name, of one cell */
	const struct bake_agent *agents;
	uint32_t n_links;
	const struct bake_link *links;
	enum bake_kernel kernel;
	struct bake_memory *memory; /* NULL: there is no limit */
};

#define BAKE_MAX_LINK_COST 65535000u /* thousandths of a step */

/* What the bake did, for people and reports. */
struct bake_level_report {
	uint32_t cluster_size, clusters, nodes, inter_edges;
	uint64_t intra_edges;  /* node pairs connected inside a cluster */
	uint64_t stored_edges; /* of these, what pruning left */
};

/* The passes as their times are told. */
enum bake_pass {
	BAKE_PASS_TERRAIN = 0,
	BAKE_PASS_NODES,
	BAKE_PASS_REPEATS,
	BAKE_PASS_DISTANCES,
	BAKE_PASS_LEVELS,
	BAKE_PASS_LABELS,
	BAKE_PASS_COMPONENTS,
	BAKE_PASS_PATHS,
	BAKE_PASS_LAYOUT,
	BAKE_N_PASSES
};
extern const char *const bake_pass_names[BAKE_N_PASSES];

struct bake_report {
	uint32_t width, height, n_levels;
	uint32_t n_profiles;
	uint32_t n_unlabelled; /* that should have labels and have none */
	struct bake_level_report levels[HPA_MAX_LEVELS]; /* of all profiles */
	uint64_t n_free_cells;
	uint32_t n_components;
	double pass_ms[BAKE_N_PASSES]; /* all profiles together */
};

/* A baked file in memory. */
struct bake_output {
	uint8_t *data;
	size_t size;
};

void bake_options_default(struct bake_options *options);

/* agent.c: an agent from `name:size=2,terrain=ground+road`; the parts behind
 * the name may be left out. DIAG_USAGE says what is wrong. */
enum diag_status bake_agent_parse(const char *text, struct bake_agent *out,
                                  struct diag *diag);

/* Which of a level's classes an agent may enter. DIAG_USAGE for a name that is
 * none of them. */
enum diag_status bake_agent_classes(const struct bake_agent *agent,
                                    const struct terrain_classes *terrain,
                                    bool may_enter[TERRAIN_MAX_CLASSES],
                                    struct diag *diag);

/* links.c: links from a text file, a line each:
 *
 *     # from   to      cost   direction  name
 *     12 3     40 3    1.5    two-way    portal
 *
 * The last two may be left out. Free *out with free(). */
enum diag_status bake_links_read(const uint8_t *data, size_t size,
                                 struct bake_link **out, uint32_t *n,
                                 struct diag *diag);

/* The first of the links that leads out of a level of that size, which
 * bake_run() refuses; NULL: none does. */
const struct bake_link *bake_stray_link(const struct bake_options *options,
                                        uint32_t width, uint32_t height);

/* The names of the options' values, as the command line spells them; one row
 * per value, ended by a NULL name. */
struct bake_name {
	const char *name;
	int value;
	const char *what;
};
extern const struct bake_name bake_move_names[];
extern const struct bake_name bake_policy_names[];   /* every:k is "every" */
extern const struct bake_name bake_compress_names[];
extern const struct bake_name bake_kernel_names[];

/* The levels that n_levels = 0 stands for. */
uint32_t bake_default_levels(uint32_t width, uint32_t height,
                             uint32_t cluster_size);

/* memory.c: may a level of that size be baked? This much is known before it is
 * made: what its cells and clusters take. bake_run() asks again when it knows
 * the nodes, before it works on them. DIAG_BAD_INPUT says how much would be
 * needed. */
enum diag_status bake_admit(uint32_t width, uint32_t height,
                            const struct bake_options *options,
                            struct diag *diag);

/* identity.c: what the content of a bake follows from: the source hash, and a
 * hash of the stored options, the agents and the links. */
struct bake_identity {
	uint64_t source, options;
};

/* Of a bake that is not made, or of a file that is open and inflated. */
enum diag_status bake_identity(const struct level *level,
                               const struct bake_options *options,
                               struct bake_identity *out, struct diag *diag);
void bake_identity_of(const struct hpa_file *file, struct bake_identity *out);

/* Would its content, with that option, be written into the same bytes today: in
 * this version of the format, by this compressor, the same sections
 * compressed? The file is open and inflated. */
bool bake_is_written_so(const struct hpa_file *file,
                        enum hpa_compress compress);

/* An option by which its sections are compressed as they are. */
enum hpa_compress bake_compress_of(const struct hpa_file *file);

/* Run all passes. On DIAG_OK free out->data with free(); otherwise *out is
 * empty and diag (without its file) says why. report may be NULL. The bytes
 * depend on nothing but the level and the stored options and compress. */
enum diag_status bake_run(const struct level *level,
                          const struct bake_options *options,
                          struct bake_output *out, struct bake_report *report,
                          struct diag *diag);

/* The same, and free the level: its cells as soon as they are not needed any
 * more, which is long before the end. */
enum diag_status bake_run_last(struct level *level,
                               const struct bake_options *options,
                               struct bake_output *out,
                               struct bake_report *report, struct diag *diag);

#endif
