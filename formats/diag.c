/* diag.c: fill in a struct diag. */
#include "formats/diag.h"

#include <stdarg.h>
#include <stdio.h>

enum diag_status
diag_set(struct diag *diag, enum diag_status status, unsigned long line,
         const char *format, ...)
{
	va_list args;

	diag->status = status;
	diag->line = line;
	va_start(args, format);
	vsnprintf(diag->text, sizeof(diag->text), format, args);
	va_end(args);
	return status;
}
