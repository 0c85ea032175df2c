/* faults.c: a library to be preloaded, with which one call goes wrong.
 *
 * FAULT=NAME:N:HOW in the environment says that the N-th call of NAME, from 1,
 * goes wrong: HOW is the error's number; or `short', and then it does less than
 * it was asked to; or `on', and then all later ones go wrong too; or `kill',
 * and then the program is killed before the call. NAME `memory' is for malloc,
 * calloc and realloc together. When it has happened the file that FAULT_MARK
 * names is made, so that who counts up N knows when to stop.
 *
 * NO_UNNAMED in the environment says that there are no files without a name, as
 * on some file systems.
 *
 * Allocations of libgomp are not counted, since it ends the program itself when
 * one fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	char name[32];
	unsigned long n;
	int error; /* 0: none, see the two below */
	bool is_short, goes_on, kills, is_ready;
	atomic_ulong n_calls;
} fault;

__attribute__((constructor)) static void
read_fault(void)
{
	const char *text = getenv("FAULT");
	const char *number = text ? strchr(text, ':') : NULL;
	const char *how = number ? strchr(number + 1, ':') : NULL;

	if (!how || (size_t)(number - text) >= sizeof(fault.name))
		return;
	memcpy(fault.name, text, (size_t)(number - text));
	fault.n = strtoul(number + 1, NULL, 10);
	fault.is_short = !strcmp(how + 1, "short");
	fault.goes_on = !strcmp(how + 1, "on");
	fault.kills = !strcmp(how + 1, "kill");
	fault.error = fault.goes_on ? ENOMEM : atoi(how + 1);
	fault.is_ready = true;
}

static void
mark(void)
{
	const char *name = getenv("FAULT_MARK");

	if (name)
		syscall(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, name,
		                                O_WRONLY | O_CREAT, 0666));
}

/* Is it this call's turn? */
static bool
goes_wrong(const char *name)
{
	unsigned long n;

	if (!fault.is_ready || strcmp(fault.name, name) != 0)
		return false;
	n = atomic_fetch_add(&fault.n_calls, 1) + 1;
	if (n != fault.n && !(fault.goes_on && n > fault.n))
		return false;
	mark();
	if (fault.kills)
		kill(getpid(), SIGKILL);
	if (fault.error)
		errno = fault.error;
	return true;
}

static bool
is_counted(const void *caller)
{
	Dl_info info;

	return !dladdr(caller, &info) || !info.dli_fname ||
	       (!strstr(info.dli_fname, "libgomp") &&
	        !strstr(info.dli_fname, "ld-linux"));
}

/* The real function, as a pointer of its type. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))
#define CALLER __builtin_return_address(0)

/* What is taken while the real allocator can't be found yet: by dlsym() itself,
 * and by the sanitizers' library when it sets itself up. Never given back. */
static _Alignas(16) char early[1 << 16];
static size_t n_early;
static bool is_looking_up; /* at the start, when there is one thread */

static size_t
min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void *
take_early(size_t size)
{
	void *memory = early + n_early;

	n_early += (size + 15) & ~(size_t)15;
	return n_early <= sizeof(early) ? memory : NULL;
}

static bool
is_early(const void *memory)
{
	return (const char *)memory >= early &&
	       (const char *)memory < early + sizeof(early);
}

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static bool
look_up(void)
{
	if (real_malloc)
		return true;
	if (is_looking_up)
		return false;
	is_looking_up = true;
	real_calloc = REAL(calloc);
	real_realloc = REAL(realloc);
	real_free = REAL(free);
	real_malloc = REAL(malloc);
	is_looking_up = false;
	return real_malloc != NULL;
}

void *
malloc(size_t size)
{
	if (!look_up())
		return take_early(size);
	return is_counted(CALLER) && goes_wrong("memory") ? NULL
	                                                  : real_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	if (!look_up())
		return take_early(n * size);
	return is_counted(CALLER) && goes_wrong("memory")
	               ? NULL
	               : real_calloc(n, size);
}

void *
realloc(void *memory, size_t size)
{
	if (!look_up() || is_early(memory)) {
		void *copy = malloc(size);

		if (copy && memory)
			memcpy(copy, memory,
			       min(size, (size_t)(early + sizeof(early) -
			                          (char *)memory)));
		return copy;
	}
	return is_counted(CALLER) && goes_wrong("memory")
	               ? NULL
	               : real_realloc(memory, size);
}

void
free(void *memory)
{
	if (!is_early(memory) && look_up())
		real_free(memory);
}

int
open(const char *name, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_UNNAMED")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return goes_wrong("open") ? -1 : REAL(open)(name, flags, mode);
}

int
mkstemp(char *name)
{
	return goes_wrong("mkstemp") ? -1 : REAL(mkstemp)(name);
}

ssize_t
read(int fd, void *data, size_t size)
{
	if (!goes_wrong("read"))
		return REAL(read)(fd, data, size);
	return fault.is_short ? REAL(read)(fd, data, (size + 1) / 2) : -1;
}

ssize_t
write(int fd, const void *data, size_t size)
{
	if (!goes_wrong("write"))
		return REAL(write)(fd, data, size);
	return fault.is_short ? REAL(write)(fd, data, size / 2) : -1;
}

int
fsync(int fd)
{
	return goes_wrong("fsync") ? -1 : REAL(fsync)(fd);
}

int
fchmod(int fd, mode_t mode)
{
	return goes_wrong("fchmod") ? -1 : REAL(fchmod)(fd, mode);
}

int
fstat(int fd, struct stat *st)
{
	return goes_wrong("fstat") ? -1 : REAL(fstat)(fd, st);
}

/* The file is closed nevertheless. */
int
close(int fd)
{
	int result = REAL(close)(fd);

	return goes_wrong("close") ? -1 : result;
}

int
linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	return goes_wrong("linkat")
	               ? -1
	               : REAL(linkat)(from_fd, from, to_fd, to, flags);
}

int
rename(const char *from, const char *to)
{
	return goes_wrong("rename") ? -1 : REAL(rename)(from, to);
}

/* Short: the file is cut off behind the map's back. */
void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	char name[32];

	if (fd < 0 || !goes_wrong("mmap"))
		return REAL(mmap)(at, size, protection, flags, fd, offset);
	if (!fault.is_short)
		return MAP_FAILED;
	at = REAL(mmap)(at, size, protection, flags, fd, offset);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return truncate(name, 0) == 0 ? at : MAP_FAILED;
}
