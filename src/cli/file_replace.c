/* file_replace.c: replace a file whole or not at all.
 *
 * The bytes go into a file without a name, in the same folder, and are flushed
 * to the disk; only then does it get one. Whoever ends the program before that,
 * and be it by SIGKILL, leaves nothing: the system frees what has no name.
 *
 * Where there is no old file the name is the final one. Else the file gets a
 * name beside it, and is renamed at once. That name is made from the final one.
 * Should a SIGKILL come in between, what it leaves is in the way of the next
 * one who replaces the same file, and is removed by him. Two programs that
 * replace a file at the same time may so take each other's away, which rename()
 * or the link then tells: they begin anew. What is renamed was whole before it
 * had a name, whoever made it.
 *
 * Not every file system has files without a name. On one that has not, a
 * temporary file is made, filled and renamed. An error removes it, and so does a
 * signal that ends the program: its handler removes all there are, as several
 * threads may be writing. SIGKILL leaves it.
 *
 * Between a name beside the file and its renaming, and while the name of a
 * temporary file is not yet listed for the handler, signals are held back: the
 * thread says so (`keeper`), and a handler that runs elsewhere meanwhile passes
 * its signal on to that thread. One that runs when nobody keeps signals back
 * says that the end has come (`ending`), after which nobody begins to. Each side
 * first says its own and then looks at the other's, so that at least one of them
 * sees. A name that is taken off the list is not freed after the end has come:
 * the handler may be looking at it. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hpa_layout.h"
#include "src/cli/cli.h"
#include "src/cli/file.h"

#define MAX_WRITE ((size_t)1 << 30)
#define PIECE 65536u

/* Not of every system. */
#ifndef O_TMPFILE
#define O_TMPFILE 0
#endif

/* Files beside the one that is replaced: of that hash, or whatever is free. */
#define PREFIX "/.hpabake-"
#define BESIDE_SIZE (sizeof(PREFIX) + 16)
#define ANY_NAME "XXXXXX"

/* So often two programs may take away each other's file. */
#define MAX_TRIES 16

/* So many symbolic links may lead from one to the next, as in Linux. */
#define MAX_LINKS 40

/* No error's number: it can't be done without a name. */
#define NEEDS_NAME (-1)

/* What ends the program, and what it says then. */
#define STOPPED "hpabake: stopped, no file is half written: "

static const struct {
	int number;
	const char *text;
} ending_signals[] = {
	{SIGHUP, STOPPED "hangup\n"},
	{SIGINT, STOPPED "interrupt\n"},
	{SIGQUIT, STOPPED "quit\n"},
	{SIGTERM, STOPPED "terminate\n"},
	{SIGXCPU, STOPPED "processor time is used up\n"},
	{SIGBUS, "hpabake: a level was cut off or can't be read any more\n"},
};

#define N_SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))

/* As many files may be written at once. */
#define MAX_TEMPORARIES 1024u

/* What the handler needs. */
static struct {
	_Atomic(char *) names[MAX_TEMPORARIES];
	atomic_bool is_kept, ending, is_told;
	pthread_t keeper; /* counts while is_kept */
} temporaries;

/* Held by the keeper, and while the writers are counted. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How the signals are handled while nobody writes; of the mode, what open()
 * would have given. */
static struct {
	unsigned n;
	struct sigaction before[N_SIGNALS];
	mode_t mode;
} writers;

static bool
write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		size_t piece = size < MAX_WRITE ? size : MAX_WRITE;
		ssize_t n = write(fd, data, piece);

		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static void
tell_why(int signal_number)
{
	for (size_t i = 0; i < N_SIGNALS; i++) {
		const char *text = ending_signals[i].text;

		if (ending_signals[i].number == signal_number &&
		    write(STDERR_FILENO, text, strlen(text)) < 0)
			return;
	}
}

static void
remove_and_end(int signal_number)
{
	atomic_store(&temporaries.ending, true);
	if (atomic_load(&temporaries.is_kept) &&
	    !pthread_equal(pthread_self(), temporaries.keeper)) {
		pthread_kill(temporaries.keeper, signal_number);
		return;
	}
	for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
		char *name = atomic_load(&temporaries.names[i]);

		if (name)
			unlink(name);
	}
	if (!atomic_exchange(&temporaries.is_told, true))
		tell_why(signal_number);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Have the handler called for signals that are not ignored. */
static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = remove_and_end};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		int number = ending_signals[i].number;

		sigaction(number, NULL, &writers.before[i]);
		if (writers.before[i].sa_handler != SIG_IGN)
			sigaction(number, &action, NULL);
	}
}

/* The mode that open() would have given it. */
static mode_t
default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

void
file_begin_writing(void)
{
	pthread_mutex_lock(&lock);
	if (writers.n++ == 0) {
		catch_signals();
		writers.mode = default_mode();
	}
	pthread_mutex_unlock(&lock);
}

void
file_end_writing(void)
{
	pthread_mutex_lock(&lock);
	if (--writers.n == 0)
		for (size_t i = 0; i < N_SIGNALS; i++)
			sigaction(ending_signals[i].number, &writers.before[i],
			          NULL);
	pthread_mutex_unlock(&lock);
}

/* Put a name on the list; false if that is full. */
static bool
list_name(char *name)
{
	for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
		char *none = NULL;

		if (atomic_compare_exchange_strong(&temporaries.names[i], &none,
		                                   name))
			return true;
	}
	errno = EMFILE;
	return false;
}

/* Take a name off the list and free it. */
static void
drop_name(char *name)
{
	for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
		char *same = name;

		if (atomic_compare_exchange_strong(&temporaries.names[i], &same,
		                                   NULL))
			break;
	}
	if (!atomic_load(&temporaries.ending))
		free(name);
}

/* Hold back the signals that end the program, unless the end has come: false
 * then. Call keep_no_signals() in both cases. */
static bool
keep_signals(sigset_t *before)
{
	sigset_t ending;

	sigemptyset(&ending);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&ending, ending_signals[i].number);
	pthread_mutex_lock(&lock);
	pthread_sigmask(SIG_BLOCK, &ending, before);
	temporaries.keeper = pthread_self();
	atomic_store(&temporaries.is_kept, true);
	if (!atomic_load(&temporaries.ending))
		return true;
	errno = EINTR;
	return false;
}

/* Leaves errno as it is. */
static void
keep_no_signals(const sigset_t *before)
{
	int error = errno;

	atomic_store(&temporaries.is_kept, false);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	pthread_mutex_unlock(&lock);
	errno = error;
}

/* mkstemp() that the handler can't miss. */
static int
make_temporary(char *name)
{
	sigset_t before;
	int fd = -1;

	if (keep_signals(&before))
		fd = mkstemp(name);
	if (fd >= 0 && !list_name(name)) {
		unlink(name);
		close(fd);
		fd = -1;
	}
	keep_no_signals(&before);
	return fd;
}

static size_t
folder_size(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? (size_t)(slash - name) : 0;
}

/* A name in the folder of `name`, which ends like that; NULL without memory. */
static char *
name_beside(const char *name, const char *end)
{
	size_t size = folder_size(name);
	char *out = malloc(size + 1 + BESIDE_SIZE);

	if (!out)
		return NULL;
	if (strrchr(name, '/'))
		memcpy(out, name, size);
	else
		out[size++] = '.';
	snprintf(out + size, BESIDE_SIZE, PREFIX "%s", end);
	return out;
}

/* The mode of the file that is replaced, else what open() would give it. Not every
 * file system has modes. */
static bool
set_mode(int fd, const char *name)
{
	struct stat old;
	mode_t mode = stat(name, &old) == 0 ? old.st_mode & 0777 : writers.mode;

	return fchmod(fd, mode) == 0 || errno == EPERM;
}

/* What `name` will be. 0, or the error's number. */
static int
fill(int fd, const char *name, const uint8_t *data, size_t size)
{
	if (!write_all(fd, data, size) || !set_mode(fd, name) || fsync(fd) != 0)
		return errno;
	return 0;
}

/* 0, or the error's number. */
static int
replace_by_temporary(const char *name, const uint8_t *data, size_t size)
{
	char *temporary = name_beside(name, ANY_NAME);
	int fd, error;

	if (!temporary)
		return ENOMEM;
	fd = make_temporary(temporary);
	error = fd < 0 ? errno : fill(fd, name, data, size);
	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	if (!error && rename(temporary, name) != 0)
		error = errno;
	if (error && fd >= 0)
		unlink(temporary);
	drop_name(temporary);
	return error;
}

/* A file without a name in the folder of `name`; -1 where there can't be one. */
static int
open_unnamed(const char *name)
{
	char *folder;
	int fd;

	if (!O_TMPFILE)
		return -1;
	folder = name_beside(name, "");
	if (!folder)
		return -1;
	folder[strlen(folder) + 1 - sizeof(PREFIX)] = '\0';
	fd = open(folder[0] ? folder : "/", O_TMPFILE | O_WRONLY | O_CLOEXEC,
	          0600);
	free(folder);
	return fd;
}

static bool
give_name(int fd, const char *name)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* 0, an error's number, or NEEDS_NAME. */
static int
name_and_rename(int fd, const char *beside, const char *name)
{
	sigset_t before;
	int error = NEEDS_NAME;

	if (!keep_signals(&before)) {
		error = errno;
	} else {
		unlink(beside);
		if (give_name(fd, beside))
			error = rename(beside, name) == 0 ? 0 : errno;
		else if (errno == EEXIST)
			error = ENOENT;
		if (error > 0 && error != ENOENT)
			unlink(beside);
	}
	keep_no_signals(&before);
	return error;
}

/* 0, an error's number, ENOENT if somebody was in the way, or NEEDS_NAME. */
static int
replace_unnamed(const char *name, const char *beside, const uint8_t *data,
                size_t size)
{
	int fd = open_unnamed(name), error;

	if (fd < 0)
		return NEEDS_NAME;
	error = fill(fd, name, data, size);
	if (!error && !give_name(fd, name))
		error = errno == EEXIST ? name_and_rename(fd, beside, name)
		                        : NEEDS_NAME;
	close(fd); /* what was flushed is safe */
	return error;
}

/* 0, or the error's number. */
static int
replace(const char *name, const uint8_t *data, size_t size)
{
	const char *slash = strrchr(name, '/');
	const char *last = slash ? slash + 1 : name;
	uint64_t hash =
		hpa_hash(HPA_HASH_SEED, (const uint8_t *)last, strlen(last));
	char end[17], *beside;
	int error = ENOENT;

	snprintf(end, sizeof(end), "%016" PRIx64, hash);
	beside = name_beside(name, end);
	if (!beside)
		return ENOMEM;
	file_begin_writing();
	for (int i = 0; i < MAX_TRIES && error == ENOENT; i++)
		error = replace_unnamed(name, beside, data, size);
	if (error == ENOENT || error == NEEDS_NAME)
		error = replace_by_temporary(name, data, size);
	file_end_writing();
	free(beside);
	return error;
}

/* Where a symbolic link leads, from here; NULL if it does not, for which errno
 * says why: EINVAL where it is no link, ENOENT where there is nothing. */
static char *
follow_link(const char *name)
{
	char target[PATH_MAX], *out;
	ssize_t n = readlink(name, target, sizeof(target));
	size_t size = 0;

	if (n == sizeof(target))
		errno = ENAMETOOLONG;
	if (n <= 0 || n == sizeof(target))
		return NULL;
	if (target[0] != '/' && strrchr(name, '/'))
		size = folder_size(name) + 1;
	out = malloc(size + (size_t)n + 1);
	if (!out)
		return NULL;
	memcpy(out, name, size);
	memcpy(out + size, target, (size_t)n);
	out[size + (size_t)n] = '\0';
	return out;
}

/* Replace the file that symbolic links lead to, not the links, or make it. If it
 * is there and they do not lead to it, it has no name any more. */
static int
replace_real(const char *name, bool is_there, const uint8_t *data, size_t size)
{
	char *real = NULL, *next = follow_link(name);
	int error;

	for (int i = 0; next && i < MAX_LINKS; i++) {
		free(real);
		real = next;
		next = follow_link(real);
	}
	error = next ? ELOOP : errno;
	if (error == EINVAL || (error == ENOENT && !is_there))
		error = replace(real ? real : name, data, size);
	free(next);
	free(real);
	return error;
}

/* Read the next bytes and compare them; nothing is kept, as the file may be
 * large. */
static bool
next_are(int fd, const uint8_t *data, size_t size)
{
	uint8_t piece[PIECE];

	while (size) {
		ssize_t n = read(fd, piece, size < PIECE ? size : PIECE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || memcmp(piece, data, (size_t)n) != 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

static bool
has_bytes(const char *name, const struct stat *st, const uint8_t *data,
          size_t size)
{
	int fd;
	bool equal;

	if ((uintmax_t)st->st_size != size)
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	equal = fd >= 0 && next_are(fd, data, size);
	if (fd >= 0)
		close(fd);
	return equal;
}

/* 0, or the error's number. */
static int
write_to(const char *name, const uint8_t *data, size_t size)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);
	int error = fd >= 0 && write_all(fd, data, size) ? 0 : errno;

	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	return error;
}

enum diag_status
file_replace(const char *name, const uint8_t *data, size_t size, bool *is_same,
             struct diag *diag)
{
	struct stat st;
	bool same = false;
	int error = 0;

	if (stat(name, &st) != 0)
		error = errno == ENOENT ? replace_real(name, false, data, size)
		                        : errno;
	else if (!S_ISREG(st.st_mode))
		error = write_to(name, data, size);
	else if (has_bytes(name, &st, data, size))
		same = true;
	else
		error = replace_real(name, true, data, size);
	if (is_same)
		*is_same = same;
	return error ? cli_failed(diag, name, error) : DIAG_OK;
}
