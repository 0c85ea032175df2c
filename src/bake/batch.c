/* batch.c: many levels on all cores.
 *
 * Small levels are given to threads whole, the largest first, so that at the end
 * none waits long for another. A level that is too large for that, or that
 * wants all the memory there is, gets all threads at once, each of its passes
 * being parallel. What is done is handed over in the order of the batch.
 *
 * Where all cores are used, each thread is started on one of its own. A bake is
 * over in the time that a scheduler takes to see that two threads share a core
 * while another one is idle. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_setaffinity() */
#endif
#include "src/bake/batch.h"

#include <stdlib.h>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

/* From this weight on two levels at once would take too much memory. */
#define LARGE ((uint64_t)16 << 20)

struct batch {
	const struct batch_jobs *jobs;
	uint32_t *order; /* the largest first */
	bool *done;
	uint32_t next; /* to be handed over */
	bool finishing; /* a thread is at it */
};

#ifdef _OPENMP
#ifdef __linux__

/* Move the calling thread to a core that no other one has taken. */
static void
take_core(const cpu_set_t *allowed, cpu_set_t *taken)
{
	size_t core = (size_t)sched_getcpu();
	cpu_set_t one;

	if (CPU_ISSET(core, taken)) {
		core = 0;
		while (!CPU_ISSET(core, allowed) || CPU_ISSET(core, taken))
			core++;
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		/* It is as well if these fail. */
		(void)sched_setaffinity(0, sizeof(one), &one);
		(void)sched_setaffinity(0, sizeof(*allowed), allowed);
	}
	CPU_SET(core, taken);
}

/* A thread that waits for another one spins, and keeps it from its core where
 * the two have the same. So the first time there is one too many: libgomp then
 * waits for those that start by sleeping. Later, who is there gives way until
 * all are. */
static void
spread_threads(int n)
{
	static bool is_later;
	cpu_set_t allowed, taken;
	int n_here = 0;

	if (omp_get_proc_bind() != omp_proc_bind_false ||
	    sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
	    CPU_COUNT(&allowed) != n)
		return;
	CPU_ZERO(&taken);
	if (!is_later) {
#pragma omp parallel num_threads(n + 1)
		(void)omp_get_thread_num();
		is_later = true;
	}
#pragma omp parallel num_threads(n)
	{
		__atomic_add_fetch(&n_here, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&n_here, __ATOMIC_RELAXED) <
		       omp_get_num_threads())
			sched_yield();
#pragma omp critical(spread)
		take_core(&allowed, &taken);
	}
}

#else

static void
spread_threads(int n)
{
	(void)n;
}

#endif
#endif

void
batch_use_threads(unsigned n_threads)
{
#ifdef _OPENMP
	static int n_used;
	int n = n_threads ? (int)n_threads : omp_get_num_procs();

	omp_set_num_threads(n);
	if (omp_in_parallel() || n == n_used)
		return;
	if (n > 1)
		spread_threads(n);
	n_used = n;
#else
	(void)n_threads;
#endif
}

unsigned
batch_threads(void)
{
#ifdef _OPENMP
	return (unsigned)omp_get_max_threads();
#else
	return 1;
#endif
}

static void
run_turns(size_t n, workers_turn *turn, void *user)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t i = 0; i < n; i++)
		turn(user, i);
}

const struct workers batch_workers = {run_turns};

/* Hand over what is done up to the first that is not. One thread at a time does
 * it, for others too. */
static void
finish(struct batch *batch, uint32_t done)
{
	bool mine = false;

#pragma omp critical(batch)
	{
		batch->done[done] = true;
		mine = !batch->finishing;
		batch->finishing = true;
	}
	while (mine) {
		uint32_t job = 0;

#pragma omp critical(batch)
		{
			mine = batch->next < batch->jobs->n &&
			       batch->done[batch->next];
			if (mine)
				job = batch->next++;
			else
				batch->finishing = false;
		}
		if (mine)
			batch->jobs->finish(batch->jobs->user, job);
	}
}

static void
run_alone(struct batch *batch, uint32_t job)
{
	batch->jobs->work(batch->jobs->user, job, true);
	finish(batch, job);
}

/* Sort by weight, equal ones as they come; there are thousands at most, and
 * mostly in order of their folder. */
static void
sort(struct batch *batch)
{
	const uint64_t *weights = batch->jobs->weights;

	for (uint32_t i = 0; i < batch->jobs->n; i++) {
		uint32_t place = i;

		for (; place > 0 &&
		       weights[batch->order[place - 1]] < weights[i];
		     place--)
			batch->order[place] = batch->order[place - 1];
		batch->order[place] = i;
	}
}

/* The first ones of the order that should get all threads: those that are
 * large, or so much heavier than what is left for one thread that the others
 * would wait for it longer than is lost where threads share a level. */
static uint32_t
count_large(const struct batch *batch, unsigned n_threads)
{
	const struct batch_jobs *jobs = batch->jobs;
	uint64_t left = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < jobs->n; i++)
		left += jobs->weights[i];
	for (; n < jobs->n; n++) {
		uint64_t weight = jobs->weights[batch->order[n]];

		if (weight < LARGE && weight <= left / n_threads / 7 * 8)
			break;
		left -= weight;
	}
	return n;
}

static void
run(struct batch *batch, unsigned n_threads)
{
	const struct batch_jobs *jobs = batch->jobs;
	uint32_t n_large = count_large(batch, n_threads);

	for (uint32_t i = 0; i < n_large; i++)
		run_alone(batch, batch->order[i]);
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = n_large; i < jobs->n; i++) {
		uint32_t job = batch->order[i];

		if (jobs->work(jobs->user, job, false)) {
			finish(batch, job);
			batch->order[i] = UINT32_MAX;
		}
	}
	/* Those that did not fit beside others. */
	for (uint32_t i = n_large; i < jobs->n; i++)
		if (batch->order[i] != UINT32_MAX)
			run_alone(batch, batch->order[i]);
}

bool
batch_run(const struct batch_jobs *jobs)
{
	struct batch batch = {.jobs = jobs};
	unsigned n_threads = batch_threads();
	bool ok;

	batch.order = malloc(((size_t)jobs->n + 1) * sizeof(*batch.order));
	batch.done = calloc((size_t)jobs->n + 1, sizeof(*batch.done));
	ok = batch.order && batch.done;
	if (ok && n_threads > 1) {
		sort(&batch);
		run(&batch, n_threads);
	} else if (ok) {
		for (uint32_t i = 0; i < jobs->n; i++)
			run_alone(&batch, i);
	}
	free(batch.order);
	free(batch.done);
	return ok;
}
