/* file.c: read files whole, or map them. */
#include "src/cli/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/cli.h"

#define MAX_SIZE (SIZE_MAX / 2)
#define FIRST_READ 65536u

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
		return cli_failed(diag, name, errno);
	if (!read_all(fd, out)) {
		status = cli_failed(diag, name, errno);
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
		return cli_failed(diag, name, errno);
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
