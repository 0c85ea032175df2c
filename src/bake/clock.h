/* clock.h: how long things take. */
#ifndef BAKE_CLOCK_H
#define BAKE_CLOCK_H

#include <time.h>

/* Milliseconds since some time in the past. */
static inline double
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
