/* file.c: read files whole; replace them whole or not at all.
 *
 * Replacing writes a temporary file in the same folder, has it flushed to the
 * disk and renames it. An error removes the temporary file, and so does a
 * signal that ends the program: its handler removes all there are, as several
 * threads may be writing.
 *
 * None is missed. A thread that makes a temporary file holds signals back until
 * the name is in the list, and says so (`maker`): a handler that runs elsewhere
 * meanwhile passes its signal on to that thread. One that runs when nobody makes
 * a file says that the end has come (`ending`), after which nobody begins to.
 * Each side first says its own and then looks at the other's, so that at least
 * one of them sees. A name that is taken off the list is not freed after the end
 * has come: the handler may be looking at it. */
#include "src/cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/cli.h"

#define MAX_SIZE (SIZE_MAX / 2)
#define FIRST_READ 65536u
#define MAX_WRITE ((size_t)1 << 30)
#define PIECE 65536u
#define TEMPORARY "/.hpabake-XXXXXX"

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
	atomic_bool is_making, ending, is_told;
	pthread_t maker; /* counts while is_making */
} temporaries;

/* Held while a temporary file is made, and while the writers are counted. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How the signals are handled while nobody writes; of the mode, what open()
 * would have given. */
static struct {
	unsigned n;
	struct sigaction before[N_SIGNALS];
	mode_t mode;
} writers;

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

/* A file, or standard input. */
static int
open_to_read(const char *name)
{
	if (!strcmp(name, FILE_STDIN))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return open(name, O_RDONLY | O_CLOEXEC);
}

enum diag_status
file_read(const char *name, struct file_bytes *out, struct diag *diag)
{
	int fd = open_to_read(name);
	enum diag_status status = DIAG_OK;

	*out = (struct file_bytes){.data = NULL};
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
	if (bytes->is_mapped)
		munmap(bytes->data, bytes->size);
	else
		free(bytes->data);
	*bytes = (struct file_bytes){.data = NULL};
}

/* Map a regular file that has something in it. */
static bool
map_all(int fd, struct file_bytes *out)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uintmax_t)st.st_size > MAX_SIZE)
		return false;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	*out = (struct file_bytes){data, (size_t)st.st_size, true};
	return true;
}

enum diag_status
file_map(const char *name, struct file_bytes *out, struct diag *diag)
{
	int fd;
	bool mapped;

	/* Of standard input others may have read a part. */
	if (!strcmp(name, FILE_STDIN))
		return file_read(name, out, diag);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	*out = (struct file_bytes){.data = NULL};
	if (fd < 0)
		return failed(diag, name, errno);
	mapped = map_all(fd, out);
	close(fd);
	return mapped ? DIAG_OK : file_read(name, out, diag);
}

/* So many samples of a file are looked at, of so many bytes. */
#define N_SAMPLES 16u
#define SAMPLE_SIZE 2048u

/* A level whose cells change more often along a row has more nodes. Where each
 * cell differs from the one before it is so many times the work of one where
 * none does. */
#define CHANGE_WEIGHT 128u

static uint64_t
count_changes(const uint8_t *data, size_t size)
{
	uint64_t n = 0;

	for (size_t i = 1; i < size; i++)
		n += data[i] != data[i - 1];
	return n;
}

uint64_t
file_weight(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct file_bytes bytes;
	uint64_t n_changes = 0, weight;

	if (fd < 0)
		return 0;
	if (!map_all(fd, &bytes)) {
		close(fd);
		return 0;
	}
	close(fd);
	weight = bytes.size;
	if (bytes.size > N_SAMPLES * SAMPLE_SIZE) {
		for (size_t i = 0; i < N_SAMPLES; i++)
			n_changes += count_changes(
				bytes.data + bytes.size / N_SAMPLES * i,
				SAMPLE_SIZE);
		weight += bytes.size * n_changes / (N_SAMPLES * SAMPLE_SIZE) *
		          CHANGE_WEIGHT;
	} else {
		weight += count_changes(bytes.data, bytes.size) * CHANGE_WEIGHT;
	}
	file_free(&bytes);
	return weight;
}

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
	if (atomic_load(&temporaries.is_making) &&
	    !pthread_equal(pthread_self(), temporaries.maker)) {
		pthread_kill(temporaries.maker, signal_number);
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

/* mkstemp() that the handler can't miss. */
static int
make_temporary(char *name)
{
	sigset_t ending, before;
	int fd = -1;

	sigemptyset(&ending);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(&ending, ending_signals[i].number);
	pthread_mutex_lock(&lock);
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	temporaries.maker = pthread_self();
	atomic_store(&temporaries.is_making, true);
	errno = EINTR;
	if (!atomic_load(&temporaries.ending))
		fd = mkstemp(name);
	if (fd >= 0 && !list_name(name)) {
		unlink(name);
		close(fd);
		fd = -1;
	}
	atomic_store(&temporaries.is_making, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_unlock(&lock);
	return fd;
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

	if (!write_all(fd, data, size) || fchmod(fd, writers.mode) != 0 ||
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
	char *beside = temporary_name(name);
	int fd, error;

	if (!beside)
		return ENOMEM;
	file_begin_writing();
	fd = make_temporary(beside);
	error = fd < 0 ? errno : fill(fd, data, size);
	if (!error && rename(beside, name) != 0)
		error = errno;
	if (error && fd >= 0)
		unlink(beside);
	drop_name(beside);
	file_end_writing();
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
		error = replace(name, data, size);
	else if (!S_ISREG(st.st_mode))
		error = write_to(name, data, size);
	else if (has_bytes(name, &st, data, size))
		same = true;
	else
		error = replace_real(name, data, size);
	if (is_same)
		*is_same = same;
	return error ? failed(diag, name, error) : DIAG_OK;
}
