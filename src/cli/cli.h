/* cli.h: verbs and options as rows of tables.
 *
 * A verb is one const struct with a table of its options; main.c lists the
 * verbs. The rows drive the parser, --help, the manual pages (manual.h) and
 * what a shell completes (completion.h). */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/bake/bake.h"
#include "formats/diag.h"

/* What an option stores at its offset in the verb's struct. */
enum cli_kind {
	CLI_END = 0, /* the last row of a table */
	CLI_SWITCH,  /* bool: true; takes no value */
	CLI_TEXT,    /* const char *: the value, as it stands in argv */
	CLI_LIST,    /* struct cli_list: the values, in their order */
	CLI_NUMBER,  /* uint32_t: from min to max */
	CLI_CHOICE,  /* struct cli_choice: one of the names */
	CLI_SIZE,    /* struct cli_size: WxH, both from min to max */
	CLI_BYTES    /* uint64_t: a number above 0, maybe with K, M or G */
};

/* One of a table of names; a name that `counted` says has a number after it,
 * as in every:4, from min to max. */
struct cli_choice {
	int value;
	uint32_t number; /* 0: the name has none */
};

/* An option that may be given several times. */
#define CLI_MAX_LIST 64u
struct cli_list {
	uint32_t n;
	const char *items[CLI_MAX_LIST];
};

struct cli_size {
	uint32_t width, height;
};

struct cli_option {
	enum cli_kind kind;
	char letter;      /* 0: it has none */
	const char *word; /* after one dash, as in -MD; NULL: it has none */
	const char *name;
	const char *takes; /* what help calls the value, see completion.c */
	const char *what;
	size_t offset;
	uint32_t min, max;
	const struct bake_name *names;
	const char *counted; /* the name that takes a number, or NULL */
	bool count_is_optional; /* 0 is stored without one */
	bool is_off;  /* a switch that stores false */
	size_t given; /* offset of a bool that is set if the option is there;
	               * 0: none */
};

struct cli_verb {
	const char *name;
	const char *summary;
	const char *const *usage; /* what may follow the name; NULL ends it */
	const struct cli_option *options;
	size_t options_size;             /* of the struct they are stored in */
	void (*set_defaults)(void *options); /* NULL: all zero */

	/* Do it. operands are what is left of the command line. What goes wrong
	 * is in diag; the status is the program's exit code. */
	enum diag_status (*run)(const void *options, int n_operands,
	                        char **operands, struct diag *diag);
};

extern const struct cli_verb cmd_bake;
extern const struct cli_verb cmd_bench;
extern const struct cli_verb cmd_diff;
extern const struct cli_verb cmd_draw;
extern const struct cli_verb cmd_formats;
extern const struct cli_verb cmd_help;
extern const struct cli_verb cmd_info;
extern const struct cli_verb cmd_path;
extern const struct cli_verb cmd_tune;
extern const struct cli_verb cmd_verify;

/* The verbs by their names; NULL ends them. The program itself is one with an
 * empty name. */
extern const struct cli_verb *const cli_verbs[];
extern const struct cli_verb cli_program;

/* NULL: there is none. */
const struct cli_verb *cli_find_verb(const char *name);

/* What the exit codes mean, in a few words (name) and in a sentence (what). */
extern const struct bake_name cli_exit_codes[];

/* Parse argv, without the program's and the verb's name, into a verb's struct.
 * The operands move to the front of argv. --help is every table's; the rest is
 * not parsed then. DIAG_USAGE fills in diag. */
enum diag_status cli_parse(const struct cli_option *options, int argc,
                           char **argv, void *into, int *n_operands, bool *help,
                           struct diag *diag);

/* A verb's struct with the defaults in it, to be freed with free(); NULL
 * without memory. */
void *cli_new_options(const struct cli_verb *verb);

/* The row after `row`, or the first one after NULL, --help's being the last;
 * NULL after that. */
const struct cli_option *cli_next_row(const struct cli_option *options,
                                      const struct cli_option *row);

/* The short form of an option, "-o", or "" where there is none. */
#define CLI_SHORT_SIZE 8
void cli_short_form(const struct cli_option *row, char text[CLI_SHORT_SIZE]);

/* What is said of a row, and of one of its names, with the default that is in
 * `into`. They fit into CLI_TEXT_SIZE bytes. */
#define CLI_TEXT_SIZE 512
void cli_describe_row(const struct cli_option *row, const void *into,
                      char *text, size_t size);
void cli_describe_choice(const struct cli_option *row,
                         const struct bake_name *name, const void *into,
                         char *text, size_t size);

/* What follows a name: "", ":K" or "[:K]". */
const char *cli_choice_suffix(const struct cli_option *row,
                              const struct bake_name *name);

/* Print the rows of a table, --help's included, to stdout; defaults are taken
 * from `into`. */
void cli_print_options(const struct cli_option *options, const void *into);

/* Print --help of a verb to stdout. DIAG_FAILED fills in diag. */
enum diag_status cli_print_help(const struct cli_verb *verb, struct diag *diag);

/* A whole number in decimal, nothing before or after it. */
bool cli_parse_long(const char *text, long *out);

/* The name of a value in a table of names. */
const char *cli_name_of(const struct bake_name *names, int value);

/* Say that diag is about this file. */
void cli_set_file(struct diag *diag, const char *file);

/* DIAG_FAILED for a file with which something did not work, by the error's
 * number. */
enum diag_status cli_failed(struct diag *diag, const char *file, int error);

/* DIAG_FAILED for a write to stdout that did not work; errno says why. */
enum diag_status cli_write_failed(struct diag *diag);

/* Write bytes to stdout, all of them. */
enum diag_status cli_write_stdout(const void *data, size_t size,
                                  struct diag *diag);

/* Print a diag to stderr and empty it; nothing if it is empty. For verbs that
 * go on after an error; main prints the last one. */
void cli_report(struct diag *diag);

#endif
