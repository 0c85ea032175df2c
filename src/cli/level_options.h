/* level_options.h: the options on how levels are read, for all verbs that read
 * levels, and the files that levels refer to. */
#ifndef CLI_LEVEL_OPTIONS_H
#define CLI_LEVEL_OPTIONS_H

#include <stdio.h>

#include "formats/level.h"
#include "src/cli/cli.h"
#include "src/cli/file.h"

/* The options as they are given; a part of a verb's struct. */
struct level_arguments {
	const char *format, *layer, *property, *pick;
	const char *terrain, *blocked;
	struct cli_size size;
	uint32_t gray_threshold;
};

/* The rows of a verb's table whose struct has them in `member`. */
#define LEVEL_OPTION_ROWS(type, member)                                        \
	{.kind = CLI_TEXT,                                                     \
         .name = "format",                                                     \
         .takes = "NAME",                                                      \
         .what = "the level's format, instead of what it looks like; hpabake " \
                 "formats lists them",                                         \
         .offset = offsetof(type, member.format)},                             \
	{.kind = CLI_TEXT,                                                     \
         .name = "blocked",                                                    \
         .takes = "LIST",                                                      \
         .what = "what else is blocked: letters, values, ranges of values, "   \
                 "colours #rrggbb, with commas between them",                  \
         .offset = offsetof(type, member.blocked)},                            \
	{.kind = CLI_TEXT,                                                     \
         .name = "terrain",                                                    \
         .takes = "FILE",                                                      \
         .what = "what letters, values and colours stand for: a line for "     \
                 "each, as in '#0000ff water 0'",                              \
         .offset = offsetof(type, member.terrain)},                            \
	{.kind = CLI_NUMBER,                                                   \
         .name = "gray-threshold",                                             \
         .takes = "N",                                                         \
         .what = "images: what is darker is blocked; without it, 128",         \
         .min = 1,                                                             \
         .max = 255,                                                           \
         .offset = offsetof(type, member.gray_threshold)},                     \
	{.kind = CLI_SIZE,                                                     \
         .name = "size",                                                       \
         .takes = "WxH",                                                       \
         .what = "raw bytes: the level's width and height",                    \
         .min = 1,                                                             \
         .max = LEVEL_MAX_SIDE,                                                \
         .offset = offsetof(type, member.size)},                               \
	{.kind = CLI_TEXT,                                                     \
         .name = "layer",                                                      \
         .takes = "NAME",                                                      \
         .what = "Tiled, LDtk: the layer that tells what is blocked",          \
         .offset = offsetof(type, member.layer)},                              \
	{.kind = CLI_TEXT,                                                     \
         .name = "property",                                                   \
         .takes = "NAME",                                                      \
         .what = "Tiled: the property of tiles that are blocked",              \
         .offset = offsetof(type, member.property)},                           \
	{.kind = CLI_TEXT,                                                     \
         .name = "pick",                                                       \
         .takes = "NAME",                                                      \
         .what = "one level of a file that has several",                       \
         .offset = offsetof(type, member.pick)}

/* The same as the readers take it. */
struct level_source {
	struct level_options options; /* without index and loader */
	struct terrain_table terrain;
};

/* Read what the arguments name. Fills *out, to be closed in any case, or fills
 * in diag. *out must not move; the arguments must outlive it. */
enum diag_status level_source_open(const struct level_arguments *arguments,
                                   struct level_source *out,
                                   struct diag *diag);
void level_source_close(struct level_source *source);

/* Names of files, on the heap. */
struct name_list {
	size_t n;
	char **names;
};

/* Add a name that is on the heap; false, and it is freed, without memory. NULL
 * is no name. */
bool name_list_add(struct name_list *list, char *name);
void name_list_free(struct name_list *list);

/* The files that one level refers to, by names relative to its own; all but
 * `level` begin as zero. This is where files are opened that the user has not
 * named. */
struct level_files {
	const char *level;
	struct file_bytes *files;
	size_t n;
	struct name_list names; /* of those that could be read */
};

/* The name of a file that stands in the folder of another one; NULL without
 * memory. */
char *level_files_beside(const char *file, const char *name);

/* *files must not move while it is used; free its contents afterwards. */
struct level_loader level_files_loader(struct level_files *files);
void level_files_free(struct level_files *files);

/* Tell how a level was read. */
void level_describe(FILE *to, const char *name, const struct level *level,
                    const struct level_options *options);

#endif
