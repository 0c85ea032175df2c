/* input.h: the files that verbs take, read and checked. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "formats/hpa_view.h"
#include "formats/level.h"
#include "formats/scen.h"
#include "hpa.h"
#include "src/bake/bake.h"
#include "src/cli/file.h"
#include "src/cli/level_options.h"

/* A baked level: its bytes, its sections and what is in them. */
struct baked {
	struct file_bytes bytes;
	struct hpa_file file;
	uint8_t *inflated;
	uint32_t n_profiles;
	struct hpa_view views[HPA_MAX_PROFILES];
};

/* Each fills *out, or fills in diag, with the file's name, and leaves *out
 * empty. */

/* Level number `index`, from 0, of a file, or the one that the options pick.
 * What it refers to is read too. Free it with level_free(). A broken one leaves
 * in *out what level_read() leaves there. */
enum diag_status input_level(const char *name,
                             const struct level_options *options,
                             uint32_t index, struct level *out,
                             struct diag *diag);

/* The same, and *opened, which may be NULL, gets the names of the files that were
 * read for it besides its own. Free it with name_list_free() in any case. */
enum diag_status input_level_noting(const char *name,
                                    const struct level_options *options,
                                    uint32_t index, struct level *out,
                                    struct name_list *opened,
                                    struct diag *diag);

/* Refuse, and free, a level that is one of several of which none was picked. */
enum diag_status input_check_single(const char *name,
                                    const struct level_options *options,
                                    struct level *level, struct diag *diag);

/* The level of a file; where there are several the options must pick one. */
enum diag_status input_one_level(const char *name,
                                 const struct level_options *options,
                                 struct level *out, struct diag *diag);

/* The problems of a level of that size; a .scen that states another one is
 * refused. Free it with scen_free(). */
enum diag_status input_scen(const char *name, uint32_t width, uint32_t height,
                            struct scen *out, struct diag *diag);

/* A baked level, with all checks that there are. Close it with
 * input_close_baked(). *out must not move. */
enum diag_status input_baked(const char *name, struct baked *out,
                             struct diag *diag);
void input_close_baked(struct baked *baked);

/* The profile of an agent in an open file; NULL means its first. DIAG_USAGE
 * names those that there are. */
enum diag_status input_agent(const char *name, const hpa_map *map,
                             const char *agent, const hpa_map **out,
                             struct diag *diag);

/* Say that there is no such agent among those known, with commas between. */
enum diag_status input_refuse_agent(const char *name, const char *known,
                                    const char *agent, struct diag *diag);

/* The links of a text file. Free *out with free(). */
enum diag_status input_links(const char *name, struct bake_link **out,
                             uint32_t *n, struct diag *diag);

/* The modes of smoothing, by enum hpa_smoothing. */
extern const struct bake_name input_smoothing_names[];

/* What the runtime says about a file, as a diag. detail may be NULL. */
enum diag_status input_refuse_baked(const char *name, hpa_status status,
                                    const char *detail, struct diag *diag);

#endif
