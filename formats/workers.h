/* workers.h: loops whose turns may be shared among threads.
 *
 * What is in formats knows nothing of threads. Who calls it may lend it some. */
#ifndef FORMATS_WORKERS_H
#define FORMATS_WORKERS_H

#include <stddef.h>

/* One turn of a loop. Turns write to places of their own. */
typedef void workers_turn(void *user, size_t i);

struct workers {
	/* Take the turns 0 … n-1, each once; when it returns all are done. A
	 * lower one does not begin after a higher one. */
	void (*run)(size_t n, workers_turn *turn, void *user);
};

/* workers may be NULL: there is only the caller then. */
static inline void
workers_run(const struct workers *workers, size_t n, workers_turn *turn,
            void *user)
{
	if (workers && n > 1) {
		workers->run(n, turn, user);
		return;
	}
	for (size_t i = 0; i < n; i++)
		turn(user, i);
}

#endif
