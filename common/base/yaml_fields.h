/* SPDX-License-Identifier: MIT */
/*
 * yaml_fields: a YAML mapping into a struct, by a table. Unknown keys are refused with
 * their line and the nearest known key; a key whose own keys are all comments ("policy:") is a
 * mapping without any; numbers have ranges; a value with trailing junk
 * ("60%", "80x") is refused. What the table does not describe (lists, nested mappings) is
 * stored as its node for the caller to walk.
 *
 *     static const struct yaml_field fields[] = {
 *         {.key = "tp", .type = YAML_UNSIGNED, .offset = offsetof(struct x, tp), .minimum = 1,
 *          .maximum = 1024},
 *         {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct x, switches)},
 *     };
 */
#ifndef BASE_YAML_FIELDS_H
#define BASE_YAML_FIELDS_H

#include "base/yaml_document.h"
#include <stdbool.h>
#include <stdint.h>

enum yaml_type {
    YAML_TEXT,     /* const char *, points into the document */
    YAML_UNSIGNED, /* uint64_t */
    YAML_REAL,     /* double */
    YAML_BYTES,    /* uint64_t (parse_bytes); a unit is required */
    YAML_BOOLEAN,  /* bool */
    YAML_CHOICE,   /* unsigned: index into choices */
    YAML_NODE      /* const struct yaml_node * */
};

#define YAML_MINIMUM_DIGITS 6u

/* Packed: there are hundreds, and the plugin counts its bytes. */
struct yaml_field {
    const char *key;
    union {
        double maximum;             /* numbers; 0 means no maximum */
        const char *const *choices; /* YAML_CHOICE: NULL-terminated */
    };
    float minimum; /* numbers; counts with YAML_MINIMUM_DIGITS digits: 0.1 is 0.1 */
    uint16_t offset;
    uint8_t type; /* enum yaml_type */
    bool required;
};

/* Fields that are absent leave the struct as it was (set defaults first). The key
 * `schema` is always allowed. On failure the struct may be part filled. */
int yaml_fields_load(const struct yaml_node *mapping, const struct yaml_field *fields, size_t count,
                     void *target, struct error_info *err);

/* The known name nearest to a mistyped one (edit distance <= 2, capitals or not), or NULL; for "did
 * you mean". */
const char *name_nearest(const char *name, const char *const *known, size_t count);

#endif
