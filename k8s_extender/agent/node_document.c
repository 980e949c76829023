/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/node_document.h"
#include "base/json_document.h"
#include "k8s_extender/objects/node_record.h"
#include <string.h>

#define ANSWER "the API server's answer"

char *node_document_annotation(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *node = json_value_parse(text, bytes, ANSWER, err);
    if (!node)
        return NULL;
    const char *kind = json_value_text(json_value_get(node, "kind"));
    const struct json_value *metadata = json_value_get(node, "metadata");
    if (!kind || strcmp(kind, "Node") != 0 || !metadata)
        return error_null(error_set(err, ANSWER " is no Node"));
    const char *annotation = json_value_text(
        json_value_get(json_value_get(metadata, "annotations"), NODE_TOPOLOGY_ANNOTATION));
    char *copy = memory_copy_text(annotation ? annotation : "");
    return copy ? copy : error_null(error_set_memory(err));
}

int node_document_patch(const char *annotation, struct text_buffer *out, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *patch = json_value_create_object();
    struct json_value *metadata = json_add_object(patch, "metadata");
    json_add_text(json_add_object(metadata, "annotations"), NODE_TOPOLOGY_ANNOTATION, annotation);
    return json_value_write(patch, JSON_STYLE_COMPACT, out, err);
}
