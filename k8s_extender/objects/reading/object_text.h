/* SPDX-License-Identifier: MIT */
/*
 * object_text: the JSON of one object of the API as a tree. What no record needs becomes null
 * before the text is read: metadata.managedFields, status.images of a node (half of its bytes),
 * probes and free keys of volume drivers of a pod, and most of a pod that asks for no GPU and has
 * no label or annotation of parplan's (json-c costs 25 ns a byte, leaving out 1). An escaped NUL,
 * which the API allows in annotations and commands and a tree of ours does not, becomes U+FFFD. So
 * no text of a user's hides a pod from the count of what is free. Offsets in messages are those of
 * what is left.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H
#define K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H

#include "base/json_document.h"

/* etcd holds 1.5 MiB of one object as protobuf; the JSON of the API writes each of <, > and & in
 * six bytes, and names of fields that protobuf has as one byte; without metadata.managedFields */
#define OBJECT_TEXT_MAXIMUM_BYTES ((size_t)12 << 20)

enum object_kind { OBJECT_NODE, OBJECT_POD };

struct json_value *object_text_parse(const char *text, size_t bytes, enum object_kind kind,
                                     struct error_info *err);

#endif
