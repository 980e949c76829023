/* SPDX-License-Identifier: MIT */
/*
 * json_value: the tree behind json_document.h, for the files of common/base that make or
 * walk it. A tree lies in one arena that its root's document owns: about 64 bytes a value.
 */
#ifndef BASE_JSON_VALUE_H
#define BASE_JSON_VALUE_H

#include "base/arena.h"
#include "base/json_document.h"

#define JSON_MAXIMUM_TREE_BYTES ((size_t)2 << 30)

enum json_number_form { JSON_UNSIGNED, JSON_SIGNED, JSON_REAL };

struct json_document;

struct json_value {
    struct json_document *document;
    const char *key; /* of a member of an object */
    enum json_kind kind : 8;
    enum json_number_form form : 8;
    unsigned digits : 8; /* significant digits that a JSON_REAL is written with */
    unsigned count;      /* of children */
    union {
        bool truth;
        uint64_t number_unsigned;
        int64_t number_signed;
        double number_real;
        const char *text;
        struct json_value **children;
    };
};

#define JSON_REAL_DIGITS 17u /* what a double needs to come back the same */

/* A child of the kind, its value still zero; NULL for a NULL parent and when memory is
 * short, which also marks the tree as failed. The key is copied. */
struct json_value *json_value_add(struct json_value *parent, const char *key, enum json_kind kind);
/* Makes a text of a value; bytes that are no UTF-8 become U+FFFD. */
void json_value_set_text(struct json_value *value, const char *text);
bool json_value_failed(const struct json_value *value);
void json_value_write_number(const struct json_value *value, struct text_buffer *out);

#endif
