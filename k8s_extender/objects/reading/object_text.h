/* SPDX-License-Identifier: MIT */
/*
 * object_text: the JSON of one object of the API as a tree of what records need, and of nothing
 * else: json-c takes up to 800 bytes for the two of a {}, and 25 ns a byte, leaving out 1. The
 * tables of what is kept name every field that node_record, pod_record and what they call read: a
 * new field is a line there. Keys are compared as they are written: the API escapes none of ours.
 * Of a pod that asks for no GPU and has no label or annotation of parplan's most is left out; so it
 * is of one that has more values than a tree may have (*ret_cut): what it takes from its node is
 * still counted. An escaped NUL, which the API allows in annotations and commands and a tree of
 * ours does not, becomes U+FFFD. So no text of a user's hides a pod from the count of what is free.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H
#define K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H

#include "base/json_document.h"

/* etcd holds 1.5 MiB of one object as protobuf; the JSON of the API writes each of <, > and & in
 * six bytes, and names of fields that protobuf has as one byte; without metadata.managedFields */
#define OBJECT_TEXT_MAXIMUM_BYTES ((size_t)12 << 20)

#define OBJECT_MAXIMUM_VALUES 50000u /* kept, openings and commas: 20 MB at the worst */

enum object_kind { OBJECT_NODE, OBJECT_POD };

/* ret_cut may be NULL. Offsets in errors of what is no JSON are those of the text, or, where
 * json_value_parse found it, of what is kept. */
struct json_value *object_text_parse(const char *text, size_t bytes, enum object_kind kind,
                                     bool *ret_cut, struct error_info *err);
/* The same for what the scheduler asks: of its member Pod what records need, and the rest whole. */
struct json_value *object_text_parse_arguments(const char *text, size_t bytes, const char *what,
                                               struct error_info *err);

#endif
