/* file.c: read files whole; replace them whole or not at all.
 *
 * Replacing writes a temporary file in the same folder, has it flushed to the
 * disk and renames it. An error removes the temporary file, and so does a
 * signal that ends the program: its handler runs in the thread that writes
 * (another one that gets the signal, of the baker's say, passes it on), and is
 * held back while the file comes into being, so that it always knows of it. */
#include "src/cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/cli.h"

#define MAX_SIZE (SIZE_MAX / 2)
#define FIRST_READ 65536u
#define MAX_WRITE ((size_t)1 << 30)
#define TEMPORARY "/.hpabake-XXXXXX"

static const int ending_signals[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU,
};

#define N_SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))

/* What the handler needs: set while there is a temporary file. */
static struct {
	char *volatile name;
	pthread_t thread;
} temporary;

static enum diag_status
failed(struct diag *diag, const char *name, int error)
{
	cli_set_file(diag, name);
	return diag_set(diag, DIAG_FAILED, 0, "%s", strerror(error));
}

/* Make room for more; keeps one byte of it for finding the end. */
static bool
grow(struct file_bytes *bytes, size_t *capacity)
{
	uint8_t *data;

	if (*capacity > MAX_SIZE / 2) {
		errno = EFBIG;
		return false;
	}
	*capacity *= 2;
	data = realloc(bytes->data, *capacity);
	if (!data)
		return false;
	bytes->data = data;
	return true;
}

static bool
read_all(int fd, struct file_bytes *out)
{
	struct stat st;
	size_t capacity = FIRST_READ;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uintmax_t)st.st_size < MAX_SIZE)
		capacity = (size_t)st.st_size + 1;
	out->data = malloc(capacity);
	if (!out->data)
		return false;
	for (;;) {
		ssize_t n;

		if (out->size == capacity && !grow(out, &capacity))
			return false;
		n = read(fd, out->data + out->size, capacity - out->size);
		if (n == 0)
			return true;
		if (n > 0)
			out->size += (size_t)n;
		else if (errno != EINTR)
			return false;
	}
}

enum diag_status
file_read(const char *name, struct file_bytes *out, struct diag *diag)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	enum diag_status status = DIAG_OK;

	*out = (struct file_bytes){NULL, 0};
	if (fd < 0)
		return failed(diag, name, errno);
	if (!read_all(fd, out)) {
		status = failed(diag, name, errno);
		file_free(out);
	}
	close(fd);
	return status;
}

void
file_free(struct file_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct file_bytes){NULL, 0};
}

static bool
write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		size_t piece = size < MAX_WRITE ? size : MAX_WRITE;
		ssize_t n = write(fd, data, piece);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static void
remove_and_end(int signal_number)
{
	if (!pthread_equal(pthread_self(), temporary.thread)) {
		pthread_kill(temporary.thread, signal_number);
		return;
	}
	if (temporary.name)
		unlink(temporary.name);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Have the handler called for signals that are not ignored. */
static void
catch_signals(struct sigaction *before)
{
	struct sigaction action = {.sa_handler = remove_and_end};

	temporary.thread = pthread_self();
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		sigaction(ending_signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void
restore_signals(const struct sigaction *before)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(ending_signals[i], &before[i], NULL);
}

/* mkstemp() that the handler can't miss. */
static int
make_temporary(char *name)
{
	sigset_t ending, before;
	int fd;

	sigemptyset(&ending);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&ending, ending_signals[i]);
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	fd = mkstemp(name);
	if (fd >= 0)
		temporary.name = name;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* The mode that open() would have given it. */
static mode_t
default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* A name for the temporary file, in the folder of `name`; NULL without
 * memory. */
static char *
temporary_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *folder = slash ? name : ".";
	size_t size = slash ? (size_t)(slash - name) : 1;
	char *out = malloc(size + sizeof(TEMPORARY));

	if (out) {
		memcpy(out, folder, size);
		memcpy(out + size, TEMPORARY, sizeof(TEMPORARY));
	}
	return out;
}

/* Fill and close the temporary file. 0, or the error's number. */
static int
fill(int fd, const uint8_t *data, size_t size)
{
	int error = 0;

	if (!write_all(fd, data, size) || fchmod(fd, default_mode()) != 0 ||
	    fsync(fd) != 0)
		error = errno;
	if (close(fd) != 0 && !error)
		error = errno;
	return error;
}

/* 0, or the error's number. */
static int
replace(const char *name, const uint8_t *data, size_t size)
{
	struct sigaction before[N_SIGNALS];
	char *beside = temporary_name(name);
	int fd, error;

	if (!beside)
		return ENOMEM;
	catch_signals(before);
	fd = make_temporary(beside);
	error = fd < 0 ? errno : fill(fd, data, size);
	if (!error && rename(beside, name) != 0)
		error = errno;
	if (error && fd >= 0)
		unlink(beside);
	temporary.name = NULL;
	restore_signals(before);
	free(beside);
	return error;
}

/* Replace the file that a symbolic link leads to, not the link. */
static int
replace_real(const char *name, const uint8_t *data, size_t size)
{
	char *real = realpath(name, NULL);
	int error = real ? replace(real, data, size) : errno;

	free(real);
	return error;
}

static bool
has_bytes(const char *name, const struct stat *st, const uint8_t *data,
          size_t size)
{
	struct file_bytes old;
	struct diag ignored;
	bool equal;

	if ((uintmax_t)st->st_size != size ||
	    file_read(name, &old, &ignored) != DIAG_OK)
		return false;
	equal = old.size == size && memcmp(old.data, data, size) == 0;
	file_free(&old);
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
file_replace(const char *name, const uint8_t *data, size_t size,
             struct diag *diag)
{
	struct stat st;
	int error = 0;

	if (stat(name, &st) != 0)
		error = replace(name, data, size);
	else if (!S_ISREG(st.st_mode))
		error = write_to(name, data, size);
	else if (!has_bytes(name, &st, data, size))
		error = replace_real(name, data, size);
	return error ? failed(diag, name, error) : DIAG_OK;
}
