/* SPDX-License-Identifier: MIT */
/*
 * label_set: labels or annotations, sorted by key; they belong to a record's arena.
 */
#ifndef K8S_EXTENDER_OBJECTS_LABEL_SET_H
#define K8S_EXTENDER_OBJECTS_LABEL_SET_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json_document.h"
#include <stdbool.h>
#include <stddef.h>

#define LABEL_SET_MAXIMUM 4096u

struct label {
    const char *key, *value;
};

struct label_set {
    const struct label *labels; /* by key, bytewise */
    size_t count;
};

/* Says which keys are kept; NULL keeps all. */
typedef bool (*label_filter_fn)(const char *key);

/* A JSON object of texts; NULL is the empty set. */
int label_set_read(const struct json_value *object, label_filter_fn keep, struct arena *arena,
                   struct label_set *ret, struct error_info *err);
const char *label_set_find(const struct label_set *set, const char *key); /* NULL: not there */

#endif
