/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/pod_patch.h"
#include "base/json_document.h"
#include "k8s_extender/api/request_text.h"

#include <string.h>

static const char *const operator_words[] = {
    [SELECTOR_IN] = "In",         [SELECTOR_NOT_IN] = "NotIn",
    [SELECTOR_EXISTS] = "Exists", [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
    [SELECTOR_GREATER] = "Gt",    [SELECTOR_LESS] = "Lt",
};

static void add_requirement(struct json_value *list, const char *key,
                            enum selector_operator operator, const char * const * values,
                            size_t count)
{
    struct json_value *requirement = json_add_object(list, NULL);
    json_add_text(requirement, "key", key);
    json_add_text(requirement, "operator", operator_words[operator]);
    if (count == 0)
        return;
    struct json_value *texts = json_add_array(requirement, "values");
    for (size_t i = 0; i < count; i++)
        json_add_text(texts, NULL, values[i]);
}

static bool is_pin(const struct selector_requirement *requirement, const char *node)
{
    return requirement->of_field &&
           requirement->operator== SELECTOR_IN && requirement->value_count == 1 &&
               strcmp(requirement->key, "metadata.name") == 0 &&
           strcmp(requirement->values[0], node) == 0;
}

/* The requirements of one kind, then the pin where it belongs to them and is not there yet. */
static void add_requirements(struct json_value *term, const struct selector_term *from, bool fields,
                             const char *node)
{
    struct json_value *list = NULL;
    bool pinned = !fields;
    for (size_t i = 0; i < from->requirement_count; i++) {
        const struct selector_requirement *requirement = &from->requirements[i];
        if (requirement->of_field != fields)
            continue;
        if (!list)
            list = json_add_array(term, fields ? "matchFields" : "matchExpressions");
        add_requirement(list, requirement->key, requirement->operator, requirement->values,
                        requirement->value_count);
        pinned = pinned || is_pin(requirement, node);
    }
    if (pinned)
        return;
    if (!list)
        list = json_add_array(term, "matchFields");
    add_requirement(list, "metadata.name", SELECTOR_IN, &node, 1);
}

static void add_affinity(struct json_value *spec, const struct node_selector *affinity,
                         const char *node)
{
    static const struct selector_term none;
    struct json_value *node_affinity =
        json_add_object(json_add_object(spec, "affinity"), "nodeAffinity");
    struct json_value *terms = json_add_array(
        json_add_object(node_affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
        "nodeSelectorTerms");
    if (affinity->term_count == 0)
        add_requirements(json_add_object(terms, NULL), &none, true, node);
    for (size_t i = 0; i < affinity->term_count; i++) {
        const struct selector_term *from = &affinity->terms[i];
        struct json_value *term = json_add_object(terms, NULL);
        if (from->requirement_count == 0)
            continue;
        add_requirements(term, from, false, node);
        add_requirements(term, from, true, node);
    }
}

static void add_gate(struct json_value *spec, const char *gate)
{
    struct json_value *entry = json_add_object(json_add_array(spec, "schedulingGates"), NULL);
    json_add_text(entry, "$patch", "delete");
    json_add_text(entry, "name", gate);
}

static void add_change(struct json_value *root, const struct pod_change *change)
{
    struct json_value *metadata = json_add_object(root, "metadata");
    if (change->uid)
        json_add_text(metadata, "uid", change->uid);
    if (change->resource_version)
        json_add_text(metadata, "resourceVersion", change->resource_version);
    if (change->annotations.count > 0) {
        struct json_value *annotations = json_add_object(metadata, "annotations");
        for (size_t i = 0; i < change->annotations.count; i++)
            json_add_text(annotations, change->annotations.labels[i].key,
                          change->annotations.labels[i].value);
    }
    if (!change->remove_gate && !change->node)
        return;
    struct json_value *spec = json_add_object(root, "spec");
    if (change->remove_gate)
        add_gate(spec, change->remove_gate);
    if (change->node)
        add_affinity(spec, &change->affinity, change->node);
}

int pod_patch_request(const struct pod_change *change, struct arena *arena, struct api_request *ret,
                      struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    struct api_request request = {.method = "PATCH",
                                  .content_type = "application/strategic-merge-patch+json"};
    if (!root)
        return error_set_memory(err);
    add_change(root, change);
    if (request_set_path(&request, arena, "/api/v1", change->namespace, "pods", change->pod, err) <
            0 ||
        request_set_body(&request, arena, root, err) < 0)
        return -1;
    *ret = request;
    return 0;
}

int pod_delete_request(const char *namespace, const char *pod, const char *uid,
                       const char *resource_version, struct arena *arena, struct api_request *ret,
                       struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    struct api_request request = {.method = "DELETE", .content_type = "application/json"};
    if (!root)
        return error_set_memory(err);
    json_add_text(root, "apiVersion", "v1");
    json_add_text(root, "kind", "DeleteOptions");
    struct json_value *preconditions = json_add_object(root, "preconditions");
    json_add_text(preconditions, "uid", uid);
    if (resource_version && *resource_version)
        json_add_text(preconditions, "resourceVersion", resource_version);
    if (request_set_path(&request, arena, "/api/v1", namespace, "pods", pod, err) < 0 ||
        request_set_body(&request, arena, root, err) < 0)
        return -1;
    *ret = request;
    return 0;
}

int pod_bind_request(const char *namespace, const char *pod, const char *uid, const char *node,
                     struct arena *arena, struct api_request *ret, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    struct api_request request = {.method = "POST", .content_type = "application/json"};
    if (!root)
        return error_set_memory(err);
    json_add_text(root, "apiVersion", "v1");
    json_add_text(root, "kind", "Binding");
    struct json_value *metadata = json_add_object(root, "metadata");
    json_add_text(metadata, "name", pod);
    json_add_text(metadata, "namespace", namespace);
    json_add_text(metadata, "uid", uid);
    struct json_value *target = json_add_object(root, "target");
    json_add_text(target, "apiVersion", "v1");
    json_add_text(target, "kind", "Node");
    json_add_text(target, "name", node);
    if (request_set_path(&request, arena, "/api/v1", namespace, "pods", pod, err) < 0)
        return -1;
    request.path = arena_format(arena, "%s/binding", request.path);
    if (!request.path)
        return error_set_memory(err);
    if (request_set_body(&request, arena, root, err) < 0)
        return -1;
    *ret = request;
    return 0;
}
