/* level_json.h: what the readers of JSON levels share. */
#ifndef FORMATS_LEVEL_JSON_H
#define FORMATS_LEVEL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "formats/diag.h"

/* Read a JSON object, or fill in diag. Free it with json_decref(). */
json_t *level_json_read(const uint8_t *data, size_t size, struct diag *diag);

/* The text of that key, or NULL. */
const char *level_json_text(const json_t *object, const char *key);

/* The number of that key, `missing` where there is none, to *out; false for
 * what is no integer from least to most, and diag tells. */
bool level_json_number(const json_t *object, const char *key, int64_t least,
                       int64_t most, int64_t missing, int64_t *out,
                       struct diag *diag);

/* For probes: is it an object, and does the key stand somewhere in it? */
bool level_json_is_object(const uint8_t *data, size_t size);
bool level_json_has_key(const uint8_t *data, size_t size, const char *key);

#endif
