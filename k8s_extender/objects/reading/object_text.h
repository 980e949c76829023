/* SPDX-License-Identifier: MIT */
/*
 * object_text: the JSON of one object of the API as a tree. What no record keeps and nobody can
 * bound (metadata.managedFields, status.images of a node: half of its bytes) is left out before
 * the text is read, and an escaped NUL, which the API allows in annotations, becomes a blank: no
 * user's text may hide a pod from the count of what is free.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H
#define K8S_EXTENDER_OBJECTS_READING_OBJECT_TEXT_H

#include "base/json_document.h"

/* what: "a node", for messages. */
struct json_value *object_text_parse(const char *text, size_t bytes, const char *what,
                                     struct error_info *err);

#endif
