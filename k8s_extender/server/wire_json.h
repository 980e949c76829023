/* SPDX-License-Identifier: MIT */
/*
 * wire_json: what the readers and writers of the wire share: members whatever their key's case
 * (as Go reads them), and texts written as JSON.
 */
#ifndef K8S_EXTENDER_SERVER_WIRE_JSON_H
#define K8S_EXTENDER_SERVER_WIRE_JSON_H

#include "base/error.h"
#include "base/json_document.h"
#include "base/text_buffer.h"

/* The member called so in any case; two of them are an error. *ret NULL: none, or null. */
int wire_json_member(const struct json_value *object, const char *key,
                     const struct json_value **ret, struct error_info *err);
/* A member that must be a text, "" where it is absent or null. It belongs to the tree. */
int wire_json_text(const struct json_value *object, const char *key, const char **ret,
                   struct error_info *err);

/* With its quotes; quotes, backslashes and control characters escaped, bytes that are no UTF-8
 * as U+FFFD. */
void wire_json_add_text(struct text_buffer *out, const char *text);
/* The same, of at most `maximum` bytes of the text, cut between two characters. */
void wire_json_add_cut(struct text_buffer *out, const char *text, size_t maximum);

#endif
