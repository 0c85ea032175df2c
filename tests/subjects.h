/* subjects.h: six small files that have all sections and codecs. */
#ifndef TESTS_SUBJECTS_H
#define TESTS_SUBJECTS_H

#include "tests/image.h"

#define N_SUBJECTS 6u

extern const char *const subject_names[N_SUBJECTS];

/* The level that they are of, as level_from_text() takes it. The first three are
 * plain, with straight and diagonal moves. */
extern const char subjects_level[];

/* Bake them; free each one's data with free(). */
void subjects_bake(struct image out[N_SUBJECTS]);

/* The one of that name. */
struct image subject_bake(const char *name);

#endif
