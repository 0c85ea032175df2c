/* test_faults.c: whatever call fails, the program says so and no file is lost.
 *
 * The program is run with a library before it (faults.c) that makes its N-th
 * allocation, read, write or whatever go wrong, for one N after the other until
 * there are no more. Each time it must
 *
 *     do what it would have done, or
 *     end with the documented code, 1, and one line that says why,
 *
 * and leave the folder that it writes into as it should be: the file in it is
 * the old one or the right new one, whole, and there is nothing beside it. Under
 * AddressSanitizer it must not leak either.
 *
 * Under sanitizers the suite tries some of the allocations, `make soak' all.
 *
 * And it is killed, at random moments and before calls that matter. Then there
 * is nothing to say, and SIGKILL may leave the new file beside the old one until
 * the next bake. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support.h"

/* Starting the instrumented program takes long: so many of the first calls are
 * tried then, and of later ones fewer and fewer. */
#define TRIES_ALL (!HAS_SANITIZER || test_is_soak())
#define DENSITY 4u
#define N_KILLS (HAS_SANITIZER && !test_is_soak() ? 100u : 1000u)
#define MAX_ARGUMENTS 24
#define MAX_NAME 4096

/* Where the runs happen, below the build directory. */
static struct {
	char folder[MAX_NAME], library[MAX_NAME];
	const char *program;
	bool has_unnamed; /* the disk has files without a name */
	bool no_unnamed;  /* as if it had not */
	struct rng rng;
} place;

/* What a run printed and how it ended. */
struct result {
	int status;
	uint8_t *out, *err;
	size_t out_size, err_size;
	bool fault_happened;
};

struct command {
	const char *name;
	const char *arguments[MAX_ARGUMENTS];
};

/* $D stands for the folder of our levels. */
static const struct command bakes[] = {
	{"bake", {"bake", "-q", "-j1", "$D/castle.map", "-o", "out/x.hpa"}},
	{"bake all of it",
         {"bake",
          "-q",
          "-j1",
          "--cache-paths",
          "--compress",
          "all",
          "--cluster-size",
          "8",
          "--levels",
          "2",
          "--agent",
          "a",
          "--agent",
          "b:size=2",
          "--terrain",
          "$D/keep.terrain",
          "--links",
          "links",
          "$D/keep.png",
          "-o",
          "out/x.hpa"}},
	{"bake tmx",
         {"bake", "-q", "-j1", "-v", "$D/village.tmx", "-o", "out/x.hpa"}},
	{"bake tmj",
         {"bake", "-q", "-j1", "$D/village.tmj", "-o", "out/x.hpa"}},
	{"bake ldtk",
         {"bake", "-q", "-j1", "$D/dungeon.ldtk", "--pick", "Vault", "-o",
          "out/x.hpa"}},
	{"bake yaml", {"bake", "-q", "-j1", "$D/keep.yaml", "-o", "out/x.hpa"}},
};

static const struct command readers[] = {
	{"info", {"info", "all.hpa"}},
	{"info --json", {"info", "--json", "all.hpa"}},
	{"info --dump", {"info", "--dump", "all.hpa"}},
	{"path", {"path", "castle.hpa", "2", "30", "49", "9", "--cells"}},
	{"path --scen", {"path", "castle.hpa", "--scen", "castle.scen"}},
	{"path --draw", {"path", "castle.hpa", "2", "30", "49", "9", "--draw"}},
	{"verify",
         {"verify", "castle.hpa", "--level", "$D/castle.map", "--scen",
          "castle.scen"}},
};
static void
name_in(const char *name, char *out)
{
	snprintf(out, MAX_NAME, "%.2000s/%s", place.folder, name);
}

static void
write_file(const char *name, const void *data, size_t size)
{
	char path[MAX_NAME];
	FILE *file;

	name_in(name, path);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static bool
exists(const char *name)
{
	char path[MAX_NAME];

	name_in(name, path);
	return access(path, F_OK) == 0;
}

static void
remove_file(const char *name)
{
	char path[MAX_NAME];

	name_in(name, path);
	unlink(path);
}

static uint8_t *
contents(const char *name, size_t *size)
{
	char path[MAX_NAME];

	name_in(name, path);
	return read_file(path, size);
}

static void
redirect(int to, const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(99);
	close(fd);
}

/* In the child: the program, with that fault or none. */
static void
execute(const struct command *command, const char *fault)
{
	static char room[MAX_ARGUMENTS][MAX_NAME];
	static char name[] = "hpabake";
	char *arguments[MAX_ARGUMENTS + 2] = {name};

	for (int i = 0; i < MAX_ARGUMENTS && command->arguments[i]; i++) {
		const char *argument = command->arguments[i];

		if (!strncmp(argument, "$D", 2))
			snprintf(room[i], MAX_NAME, "%s%s", data_folder(),
			         argument + 2);
		else
			snprintf(room[i], MAX_NAME, "%s", argument);
		arguments[i + 1] = room[i];
	}
	if (chdir(place.folder) != 0)
		_exit(99);
	redirect(STDOUT_FILENO, "stdout");
	redirect(STDERR_FILENO, "stderr");
	/* What starting a thread takes is not ours. */
	setenv("OMP_THREAD_LIMIT", "1", 1);
	if (fault) {
		setenv("FAULT", fault, 1);
		setenv("FAULT_MARK", "mark", 1);
		setenv("LD_PRELOAD", place.library, 1);
		if (place.no_unnamed)
			setenv("NO_UNNAMED", "1", 1);
	}
	execv(place.program, arguments);
	_exit(99);
}

static struct result
run(const struct command *command, const char *fault)
{
	struct result result = {0};
	pid_t child;

	remove_file("mark");
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		execute(command, fault);
	assert_int_equal(waitpid(child, &result.status, 0), child);
	result.out = contents("stdout", &result.out_size);
	result.err = contents("stderr", &result.err_size);
	assert_true(result.out && result.err);
	result.fault_happened = exists("mark");
	return result;
}

static void
free_result(struct result *result)
{
	free(result->out);
	free(result->err);
}

static void
fail_run(const struct command *command, const char *fault,
         const struct result *result, const char *why)
{
	fail_msg("%s with %s: %s; status %#x, it said: %.3000s", command->name,
	         fault, why, (unsigned)result->status,
	         (const char *)result->err);
}

/* Is its last line one of ours? */
static bool
is_complaint(const struct result *result)
{
	const char *text = (const char *)result->err, *last = text;

	for (const char *c = text; *c; c++)
		if (*c == '\n' && c[1])
			last = c + 1;
	return !strncmp(last, "hpabake: ", 9) && strchr(last, '\n') &&
	       strlen(text) == result->err_size;
}

/* Judge the end of a run; true if it did what it should have. */
static bool
judge(const struct command *command, const char *fault,
      const struct result *result, const struct result *good)
{
	if (!WIFEXITED(result->status))
		fail_run(command, fault, result, "it crashed");
	if (WEXITSTATUS(result->status) == 0) {
		if (result->out_size != good->out_size ||
		    memcmp(result->out, good->out, good->out_size) != 0)
			fail_run(command, fault, result, "it printed less");
		return true;
	}
	if (WEXITSTATUS(result->status) != 1)
		fail_run(command, fault, result, "another exit code than 1");
	if (!is_complaint(result))
		fail_run(command, fault, result, "it did not say why");
	return false;
}

static void
ignore_file(const char *path, const char *name, void *user)
{
	(void)path;
	(void)name;
	(void)user;
}

/* The file in out/ is these bytes. */
static bool
file_is(const uint8_t *data, size_t size)
{
	size_t n = 0;
	uint8_t *found = contents("out/x.hpa", &n);
	bool same = found && n == size && !memcmp(found, data, size);

	free(found);
	return same;
}

/* The files in out/, but for that one. */
static size_t
count_others(void)
{
	char path[MAX_NAME];

	name_in("out", path);
	return for_each_file(path, "", ignore_file, NULL) - 3; /* . and .. */
}

static bool
folder_has(const uint8_t *data, size_t size)
{
	return file_is(data, size) && count_others() == 0;
}

/* A file to be replaced, and by what. */
struct replacement {
	const uint8_t *old, *new;
	size_t old_size, new_size;
};

static void
judge_folder(const struct command *command, const char *fault,
             const struct result *result, bool succeeded,
             const struct replacement *files)
{
	/* A fault behind the rename can't undo it. */
	if (!succeeded && folder_has(files->new, files->new_size))
		return;
	if (!(succeeded ? folder_has(files->new, files->new_size)
	                : folder_has(files->old, files->old_size)))
		fail_run(command, fault, result, "the folder is wrong");
}

static const char old_file[] = "an old file";

/* The next call to go wrong. */
static unsigned long
after(unsigned long n)
{
	if (TRIES_ALL)
		return n + 1;
	return n + 1 + rng_below(&place.rng, (uint32_t)(2 * n / DENSITY + 1));
}

/* How many runs had a fault, and how many of these failed. */
struct tally {
	unsigned long n_runs, n_failed;
};

/* Run a command with one N after the other. */
static struct tally
try_faults(const struct command *command, const char *call, const char *how,
           bool writes)
{
	struct replacement files = {(const uint8_t *)old_file, NULL,
	                            sizeof(old_file), 0};
	struct result good;
	struct tally tally = {0, 0};
	unsigned long n;
	bool more = true;

	if (writes)
		write_file("out/x.hpa", old_file, sizeof(old_file));
	good = run(command, NULL);
	if (good.status != 0)
		fail_run(command, "nothing", &good, "it fails");
	if (writes)
		files.new = contents("out/x.hpa", &files.new_size);
	for (n = 1; more; n = after(n)) {
		char fault[64];
		struct result result;
		bool ok;

		snprintf(fault, sizeof(fault), "%s:%lu:%s", call, n, how);
		if (writes)
			write_file("out/x.hpa", old_file, sizeof(old_file));
		result = run(command, fault);
		ok = judge(command, fault, &result, &good);
		more = result.fault_happened;
		if (!more && !ok)
			fail_run(command, fault, &result, "without a fault");
		if (writes)
			judge_folder(command, fault, &result, ok, &files);
		free_result(&result);
		tally.n_runs += more;
		tally.n_failed += more && !ok;
	}
	free((void *)(uintptr_t)files.new);
	free_result(&good);
	return tally;
}

static void
try_memory(const struct command *commands, size_t n, bool writes)
{
	for (size_t i = 0; i < n; i++) {
		struct tally once =
			try_faults(&commands[i], "memory", "12", writes);
		struct tally on =
			try_faults(&commands[i], "memory", "on", writes);

		printf("# %s: %lu allocations failed alone, %lu with all "
		       "after them\n",
		       commands[i].name, once.n_runs, on.n_runs);
		fflush(stdout);
		assert_true(once.n_failed > 0 && on.n_failed > 0);
	}
}

static void
an_allocation_of_a_bake_may_fail(void **state)
{
	(void)state;
	try_memory(bakes, N_ELEMENTS(bakes), true);
}

static void
an_allocation_of_a_reader_may_fail(void **state)
{
	(void)state;
	try_memory(readers, N_ELEMENTS(readers), false);
}

/* Two bakes, with and without files that have no name. */
static struct tally
try_bakes(const char *call, const char *how)
{
	struct tally sum = {0, 0};

	for (unsigned i = 0; i < 4; i++) {
		struct tally tally;

		place.no_unnamed = i / 2;
		tally = try_faults(&bakes[i % 2], call, how, true);
		sum.n_runs += tally.n_runs;
		sum.n_failed += tally.n_failed;
	}
	place.no_unnamed = false;
	return sum;
}

static void
a_call_of_the_system_may_fail(void **state)
{
	static const struct {
		const char *call, *how;
		bool is_survived; /* it is tried again, or done otherwise */
	} rows[] = {
		{"open", "13", false},    {"open", "24", false},
		{"read", "5", false},     {"read", "short", true},
		{"read", "4", true},      {"mkstemp", "30", false},
		{"mkstemp", "13", false}, {"write", "28", false},
		{"write", "5", false},    {"write", "short", true},
		{"write", "4", true},     {"fchmod", "5", false},
		{"fchmod", "1", true},    {"fsync", "5", false},
		{"fsync", "28", false},   {"close", "5", false},
		{"rename", "5", false},   {"rename", "30", false},
		{"rename", "2", false},   {"linkat", "1", true},
		{"linkat", "17", true},   {"linkat", "28", true},
		{"fstat", "5", true},     {"mmap", "12", true},
	};

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		struct tally tally = try_bakes(rows[i].call, rows[i].how);

		if (tally.n_runs == 0)
			fail_msg("%s is never called", rows[i].call);
		if ((tally.n_failed == 0) != rows[i].is_survived)
			fail_msg("%lu of %lu runs failed by %s %s",
			         tally.n_failed, tally.n_runs, rows[i].call,
			         rows[i].how);
	}
	for (size_t i = 0; i < N_ELEMENTS(readers); i++) {
		struct tally tally =
			try_faults(&readers[i], "open", "13", false);

		assert_true(tally.n_failed > 0);
		try_faults(&readers[i], "read", "5", false);
		tally = try_faults(&readers[i], "read", "short", false);
		assert_int_equal(tally.n_failed, 0);
	}
}

static void
make(const struct command *command)
{
	struct result result = run(command, NULL);

	if (result.status != 0)
		fail_run(command, "nothing", &result, "it fails");
	free_result(&result);
}

static void
copy_level(const char *name, const char *to)
{
	char path[MAX_NAME];
	uint8_t *data;
	size_t size;

	snprintf(path, sizeof(path), "%.2000s/%s", data_folder(), name);
	data = read_file(path, &size);
	assert_non_null(data);
	write_file(to, data, size);
	free(data);
}

static void
a_level_may_be_cut_off_while_it_is_read(void **state)
{
	static const struct command command = {
		"bake", {"bake", "-q", "own.map", "-o", "out/x.hpa"}};
	static const char fault[] = "mmap:1:short";
	struct result result;

	(void)state;
	copy_level("castle.map", "own.map");
	write_file("out/x.hpa", old_file, sizeof(old_file));
	result = run(&command, fault);
	if (!WIFSIGNALED(result.status) || WTERMSIG(result.status) != SIGBUS)
		fail_run(&command, fault, &result, "SIGBUS did not end it");
	if (!is_complaint(&result))
		fail_run(&command, fault, &result, "it did not say why");
	if (!folder_has((const uint8_t *)old_file, sizeof(old_file)))
		fail_run(&command, fault, &result, "the folder is wrong");
	free_result(&result);
	remove_file("own.map");
}

/* Build systems look at a file's time. */
static void
a_file_that_has_its_bytes_is_left_alone(void **state)
{
	static const struct timespec past[2] = {{1000000000, 0},
	                                        {1000000000, 0}};
	char path[MAX_NAME];
	struct stat before, after_it;

	(void)state;
	name_in("out/x.hpa", path);
	make(&bakes[0]);
	assert_int_equal(utimensat(AT_FDCWD, path, past, 0), 0);
	assert_int_equal(stat(path, &before), 0);
	make(&bakes[0]);
	assert_int_equal(stat(path, &after_it), 0);
	assert_int_equal(after_it.st_mtime, before.st_mtime);
	assert_int_equal(after_it.st_ino, before.st_ino);
	make(&bakes[1]);
	assert_int_equal(stat(path, &after_it), 0);
	assert_int_not_equal(after_it.st_mtime, before.st_mtime);
}

static double
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Start a bake, end it by a signal after so long. */
static void
run_and_kill(const struct command *command, int signal_number,
             uint32_t after_us)
{
	const struct timespec pause = {after_us / 1000000,
	                               after_us % 1000000 * 1000};
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		signal(signal_number, SIG_DFL);
		execute(command, NULL);
	}
	nanosleep(&pause, NULL);
	kill(child, signal_number);
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* Two files that replace each other, and which of them should be there. */
struct rivals {
	struct command commands[2];
	uint8_t *data[2];
	size_t size[2], n_beside;
	uint32_t took_us;
	int there;
	unsigned long n_ended, n_replaced, n_left;
};

static void
meet_rivals(struct rivals *rivals)
{
	double begin_us = now_us();

	for (int i = 0; i < 2; i++) {
		make(&rivals->commands[i]);
		rivals->data[i] = contents("out/x.hpa", &rivals->size[i]);
	}
	rivals->took_us = (uint32_t)(now_us() - begin_us) / 2;
	rivals->there = 1;
}

static bool
rival_is_there(const struct rivals *rivals, int i)
{
	return file_is(rivals->data[i], rivals->size[i]);
}

/* Let the other one replace the file, but for a signal at any moment. */
static void
end_by(struct rivals *rivals, int signal_number)
{
	size_t n_before = rivals->n_beside;
	int other = 1 - rivals->there;

	run_and_kill(&rivals->commands[other], signal_number,
	             rng_below(&place.rng, rivals->took_us * 5 / 4));
	rivals->n_ended++;
	rivals->n_beside = count_others();
	rivals->n_left += rivals->n_beside > n_before;
	if (rivals->n_beside > n_before + (signal_number == SIGKILL) ||
	    (rivals->n_beside > 1 && place.has_unnamed))
		fail_msg("signal %d left %lu files", signal_number,
		         (unsigned long)rivals->n_beside);
	if (rival_is_there(rivals, rivals->there))
		return;
	if (!rival_is_there(rivals, other))
		fail_msg("signal %d: neither the old nor the new file",
		         signal_number);
	rivals->there = other;
	rivals->n_replaced++;
}

/* Whatever the moment, the old file is there or the new one. */
static void
a_bake_may_be_killed_at_any_moment(void **state)
{
	static const int others[] = {SIGTERM, SIGINT, SIGHUP};
	struct rivals rivals = {
		.commands = {{"bake",
	                      {"bake", "-q", "--cache-paths", "--cluster-size",
	                       "4", "$D/cave.map", "-o", "out/x.hpa"}},
	                     {"bake",
	                      {"bake", "-q", "--levels", "2", "$D/cave.map",
	                       "-o", "out/x.hpa"}}}};

	(void)state;
	meet_rivals(&rivals);
	for (uint32_t i = 0; i < N_KILLS; i++) {
		end_by(&rivals, SIGKILL);
		if (i % 4 == 0)
			end_by(&rivals, others[i / 4 % N_ELEMENTS(others)]);
	}
	printf("# %lu bakes ended, %lu replaced the file first, %lu left one "
	       "beside it\n",
	       rivals.n_ended, rivals.n_replaced, rivals.n_left);
	assert_true(rivals.n_replaced > 0 &&
	            rivals.n_replaced < rivals.n_ended);
	for (int i = 0; i < 2; i++) {
		make(&rivals.commands[i]);
		assert_true(rival_is_there(&rivals, i));
		free(rivals.data[i]);
	}
	assert_true(count_others() == 0 || !place.has_unnamed);
}

/* What is beside a file until the next bake comes, if this is where it ends. */
static void
a_bake_may_be_killed_before_a_call(void **state)
{
	static const struct {
		const char *fault;
		size_t n_left;
	} rows[] = {
		{"write:1:kill", 0},  {"fchmod:1:kill", 0},
		{"fsync:1:kill", 0},  {"linkat:1:kill", 0},
		{"linkat:2:kill", 0}, {"rename:1:kill", 1},
	};
	struct result result;

	(void)state;
	if (!place.has_unnamed)
		skip();
	for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
		write_file("out/x.hpa", old_file, sizeof(old_file));
		result = run(&bakes[0], rows[i].fault);
		if (!WIFSIGNALED(result.status))
			fail_run(&bakes[0], rows[i].fault, &result, "it lived");
		free_result(&result);
		assert_true(
			file_is((const uint8_t *)old_file, sizeof(old_file)));
		assert_int_equal(count_others(), rows[i].n_left);
		make(&bakes[0]);
		assert_int_equal(count_others(), 0);
		assert_false(
			file_is((const uint8_t *)old_file, sizeof(old_file)));
	}
	remove_file("out/x.hpa");
	result = run(&bakes[0], "linkat:1:kill");
	free_result(&result);
	assert_false(exists("out/x.hpa"));
	write_file("out/x.hpa", old_file, sizeof(old_file));
	assert_int_equal(count_others(), 0);
}

#define N_AT_ONCE 4

static void
programs_may_replace_a_file_at_once(void **state)
{
	static const struct command commands[2] = {
		{"bake", {"bake", "-q", "$D/castle.map", "-o", "out/x.hpa"}},
		{"bake",
	         {"bake", "-q", "--moves", "4", "$D/castle.map", "-o",
	          "out/x.hpa"}}};
	uint32_t n = test_is_soak() ? 1000 : 25;
	uint8_t *data[2];
	size_t size[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		make(&commands[i]);
		data[i] = contents("out/x.hpa", &size[i]);
	}
	for (uint32_t round = 0; round < n; round++) {
		pid_t children[N_AT_ONCE];

		for (int i = 0; i < N_AT_ONCE; i++) {
			children[i] = fork();
			assert_true(children[i] >= 0);
			if (children[i] == 0)
				execute(&commands[i % 2], NULL);
		}
		for (int i = 0; i < N_AT_ONCE; i++) {
			int status;

			assert_int_equal(waitpid(children[i], &status, 0),
			                 children[i]);
			assert_int_equal(status, 0);
		}
		assert_true(folder_has(data[0], size[0]) ||
		            folder_has(data[1], size[1]));
	}
	free(data[0]);
	free(data[1]);
}

static bool
has_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_WRONLY, 0600);

	return fd >= 0 && close(fd) == 0;
}

static bool
find_library(void)
{
	snprintf(place.library, MAX_NAME, "%.2000s/tests/.libs/faults.so",
	         getenv("top_builddir"));
	return access(place.library, R_OK) == 0;
}

static int
set_up(void **state)
{
	static const struct command makers[] = {
		{"castle.hpa",
	         {"bake", "-q", "$D/castle.map", "-o", "castle.hpa"}},
		{"all.hpa", {"bake",       "-q",        "--cache-paths",
	                     "--compress", "all",       "--cluster-size",
	                     "8",          "--levels",  "2",
	                     "--agent",    "a",         "--agent",
	                     "b:size=2",   "--terrain", "$D/keep.terrain",
	                     "--links",    "links",     "$D/keep.png",
	                     "-o",         "all.hpa"}},
	};
	static const char links[] = "5 2  28 13  4  one-way  tunnel\n";
	static const char scen[] = "version 1\n"
				   "0 castle.map 64 32 2 30 49 9 0\n"
				   "0 castle.map 64 32 2 30 3 30 0\n";
	const char *top = getenv("top_builddir");
	char path[MAX_NAME];

	(void)state;
	place.rng.state = test_seed();
	place.program = getenv("HPABAKE");
	if (!place.program || !top)
		return -1;
	snprintf(place.folder, MAX_NAME, "%.2000s/tests/test_faults.tmp", top);
	name_in("out", path);
	if ((mkdir(place.folder, 0777) != 0 && errno != EEXIST) ||
	    (mkdir(path, 0777) != 0 && errno != EEXIST))
		return -1;
	place.has_unnamed = has_unnamed(path);
	write_file("links", links, sizeof(links) - 1);
	write_file("castle.scen", scen, sizeof(scen) - 1);
	for (size_t i = 0; i < N_ELEMENTS(makers); i++)
		make(&makers[i]);
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {
		"stdout",  "stderr",     "mark",        "links",
		"all.hpa", "castle.hpa", "castle.scen", "out/x.hpa"};
	char path[MAX_NAME];

	(void)state;
	for (size_t i = 0; i < N_ELEMENTS(names); i++)
		remove_file(names[i]);
	name_in("out", path);
	return rmdir(path) || rmdir(place.folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_the_system_may_fail),
		cmocka_unit_test(an_allocation_of_a_bake_may_fail),
		cmocka_unit_test(an_allocation_of_a_reader_may_fail),
		cmocka_unit_test(a_level_may_be_cut_off_while_it_is_read),
		cmocka_unit_test(a_file_that_has_its_bytes_is_left_alone),
		cmocka_unit_test(a_bake_may_be_killed_before_a_call),
		cmocka_unit_test(a_bake_may_be_killed_at_any_moment),
		cmocka_unit_test(programs_may_replace_a_file_at_once),
	};

	if (!getenv("top_builddir") || !find_library()) {
		printf("1..0 # SKIP no shared library was built\n");
		return 0;
	}
	/* The sanitizers' library minds another one before it unless it is told
	 * not to. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=1", 1);
	return cmocka_run_group_tests_name("faults", tests, set_up, tear_down);
}
