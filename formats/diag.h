/* diag.h: what is wrong with an input, in words for a person.
 *
 * Readers and passes fill in a diag and return its status; only the command
 * line prints it, as `hpabake: FILE:LINE: TEXT`. */
#ifndef FORMATS_DIAG_H
#define FORMATS_DIAG_H

/* The status is the program's exit code. */
enum diag_status {
	DIAG_OK = 0,
	DIAG_FAILED = 1,    /* operational: no memory, no file, no space */
	DIAG_USAGE = 2,     /* an option or argument is wrong */
	DIAG_BAD_INPUT = 3, /* a file is not what it should be */
	DIAG_CHECK = 4      /* a check was made and failed */
};

struct diag {
	enum diag_status status;
	char file[512]; /* empty: no file is concerned */
	unsigned long line; /* counted from 1; 0: no line is concerned */
	char text[512];
};

/* Fill in status, line and text (printf-like); the file name is left alone.
 * Returns status, so that a reader can `return diag_set(...)`. */
enum diag_status diag_set(struct diag *diag, enum diag_status status,
                          unsigned long line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
