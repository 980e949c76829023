/* SPDX-License-Identifier: MIT */
/*
 * json_document: JSON read through json-c (json_document.c is the only file that includes
 * it) into a tree of our own, which is also what reports build (json_value.c). Such a tree is
 * written as JSON or as YAML.
 * Limits on reading: JSON_MAXIMUM_BYTES, JSON_MAXIMUM_DEPTH; invalid UTF-8, trailing text,
 * NaN and duplicate keys are refused with source and byte offset.
 */
#ifndef BASE_JSON_DOCUMENT_H
#define BASE_JSON_DOCUMENT_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAXIMUM_BYTES ((size_t)64 << 20)
#define JSON_MAXIMUM_DEPTH 32u

enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value; /* owned by whoever created or parsed the root; children by their parent */

/* Reading. */
struct json_value *json_value_parse(const char *text, size_t bytes, const char *source,
                                    struct error_info *err);
/* Of a text from strangers: at most so many values (openings and commas are counted) are given to
 * json-c, which takes up to 800 bytes for the two of a {}. */
struct json_value *json_value_parse_within(const char *text, size_t bytes, size_t maximum_values,
                                           const char *source, struct error_info *err);
void json_value_free(struct json_value *value);                 /* a root; NULL is fine */
enum json_kind json_value_kind(const struct json_value *value); /* NULL counts as JSON_NULL */
const struct json_value *json_value_get(const struct json_value *object, const char *key);
size_t json_value_count(const struct json_value *array);
const struct json_value *json_value_at(const struct json_value *array, size_t index);
/* count and at also walk an object's members, in the order of the text. */
const char *json_value_key(const struct json_value *value);  /* of a member, else NULL */
const char *json_value_text(const struct json_value *value); /* JSON_TEXT, else NULL */
/* 0, or -1 when the value is not a whole number in the range. */
int json_value_unsigned(const struct json_value *value, uint64_t maximum, uint64_t *ret);
int json_value_real(const struct json_value *value, double *ret);
int json_value_boolean(const struct json_value *value, bool *ret);

/* Building. Sticky failure as in text_buffer: a failed allocation marks the root's
 * builder, and json_value_write reports it. `key` is NULL to append to an array. The
 * functions that make a child return it (owned by its parent), or NULL after a failure;
 * every function accepts a NULL parent and then does nothing. */
struct json_value *json_value_create_object(void);
struct json_value *json_value_create_array(void);
struct json_value *json_add_object(struct json_value *parent, const char *key);
struct json_value *json_add_array(struct json_value *parent, const char *key);
void json_add_text(struct json_value *parent, const char *key, const char *text); /* NULL: null */
void json_add_unsigned(struct json_value *parent, const char *key, uint64_t number);
void json_add_signed(struct json_value *parent, const char *key, int64_t number);
/* Rounded to `digits` significant digits; not finite: null. */
void json_add_real(struct json_value *parent, const char *key, double number, unsigned digits);
void json_add_boolean(struct json_value *parent, const char *key, bool truth);
void json_add_null(struct json_value *parent, const char *key);

enum json_style { JSON_STYLE_PRETTY, JSON_STYLE_COMPACT };
int json_value_write(const struct json_value *value, enum json_style style, struct text_buffer *out,
                     struct error_info *err);

DEFINE_CLEANUP(json_value);

#endif
