/* bench_plot.h: what a bench has shown, as figures. */
#ifndef CLI_BENCH_PLOT_H
#define CLI_BENCH_PLOT_H

#include "src/cli/bench.h"

/* Draw the figures of a level into a folder that is there, as NAME-time.svg,
 * NAME-nodes.svg, NAME-excess.svg and NAME-clusters.svg, where NAME is the file's
 * without its suffix. The level is baked with other numbers of levels and other
 * sizes of clusters for them. `limit` is truth_find()'s. */
enum diag_status bench_plot(const char *folder, const char *file,
                            const hpa_map *map, const struct scen *scen,
                            size_t limit, const struct bench_settings *settings,
                            const struct bench_result *result,
                            struct diag *diag);

#endif
