/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/pod_admission.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/gang_identity.h"
#include "k8s_extender/objects/pod_record.h"
#include <stdio.h>
#include <string.h>

#define SUBDOMAIN_PREFIX "parplan-"
#define PATH_BYTES 64u
#define FIELD_BYTES 96u
#define DENIED_CODE 422u
#define FAILED_CODE 500u

static const struct {
    const char *name, *annotation;
} variables[] = {
    {"PARPLAN_NODE_RANK", ANNOTATION_NODE_RANK}, {"PARPLAN_PLAN_ID", ANNOTATION_PLAN_ID},
    {"PARPLAN_TP_RANK", ANNOTATION_TP_RANK},     {"PARPLAN_PP_RANK", ANNOTATION_PP_RANK},
    {"PARPLAN_DP_RANK", ANNOTATION_DP_RANK},     {"PARPLAN_CP_RANK", ANNOTATION_CP_RANK},
    {"PARPLAN_EP_RANK", ANNOTATION_EP_RANK},     {"MASTER_ADDR", ANNOTATION_MASTER_ADDR},
    {"NODE_RANK", ANNOTATION_NODE_RANK},         {"PET_NODE_RANK", ANNOTATION_NODE_RANK},
    {"PET_MASTER_ADDR", ANNOTATION_MASTER_ADDR},
};

static const struct json_value *get(const struct json_value *object, const char *first,
                                    const char *second)
{
    const struct json_value *value = json_value_get(json_value_get(object, first), second);
    return json_value_kind(value) == JSON_NULL ? NULL : value;
}

static const char *text_of(const struct json_value *object, const char *first, const char *second)
{
    return json_value_text(get(object, first, second));
}

/* NULL: no gang, or not wanted. */
static const char *gang_of(const struct json_value *pod)
{
    const char *gang = json_value_text(json_value_get(get(pod, "metadata", "labels"), LABEL_GANG));
    return gang && gang_wish_of_label(gang) != GANG_WISH_NONE ? gang : NULL;
}

/* Whether a list of objects has one of that name. */
static bool has_named(const struct json_value *list, const char *name)
{
    for (size_t i = 0; i < json_value_count(list); i++) {
        const char *other = json_value_text(json_value_get(json_value_at(list, i), "name"));
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* --- what is added ---------------------------------------------------------------- */

void pod_admission_subdomain(const char *gang, char ret[SUBDOMAIN_BYTES])
{
    size_t bytes = strlen(SUBDOMAIN_PREFIX);
    if (gang_wish_of_label(gang) == GANG_WISH_AUTO)
        gang = "auto";
    memcpy(ret, SUBDOMAIN_PREFIX, bytes);
    for (; *gang && bytes < SUBDOMAIN_BYTES - 1; gang++) {
        bool upper = *gang >= 'A' && *gang <= 'Z';
        ret[bytes++] = (char)(upper                          ? *gang - 'A' + 'a'
                              : *gang == '_' || *gang == '.' ? '-'
                                                             : *gang);
    }
    if (*gang)
        ret[bytes - 1] = 'x';
    ret[bytes] = '\0';
}

static struct json_value *add_operation(struct json_value *patch, const char *path)
{
    struct json_value *operation = json_add_object(patch, NULL);
    json_add_text(operation, "op", "add");
    json_add_text(operation, "path", path);
    return operation;
}

static void add_gate(const struct json_value *pod, struct json_value *patch)
{
    const struct json_value *gates = get(pod, "spec", "schedulingGates");
    if (get(pod, "spec", "schedulingGroup") || has_named(gates, GANG_GATE))
        return;
    struct json_value *operation =
        add_operation(patch, gates ? "/spec/schedulingGates/-" : "/spec/schedulingGates");
    struct json_value *gate = gates ? json_add_object(operation, "value")
                                    : json_add_object(json_add_array(operation, "value"), NULL);
    json_add_text(gate, "name", GANG_GATE);
}

/* [a-z0-9]([-a-z0-9]{0,61}[a-z0-9])? */
static bool is_dns_label(const char *name)
{
    size_t bytes = strlen(name);
    return bytes >= 1 && bytes < SUBDOMAIN_BYTES && name[0] != '-' && name[bytes - 1] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == bytes;
}

static void add_names(const struct json_value *pod, const char *gang, struct json_value *patch)
{
    char subdomain[SUBDOMAIN_BYTES];
    const char *name = text_of(pod, "metadata", "name");
    pod_admission_subdomain(gang, subdomain);
    if (!get(pod, "spec", "subdomain"))
        json_add_text(add_operation(patch, "/spec/subdomain"), "value", subdomain);
    if (!get(pod, "spec", "hostname") && name && is_dns_label(name))
        json_add_text(add_operation(patch, "/spec/hostname"), "value", name);
}

static bool asks_gpus(const struct json_value *container)
{
    const struct json_value *limits = get(container, "resources", "limits");
    for (size_t i = 0; i < json_value_count(limits); i++)
        if (resource_is_gpu(json_value_key(json_value_at(limits, i))))
            return true;
    return false;
}

static void fill_variable(struct json_value *variable, size_t index)
{
    if (index == COUNT_OF(variables)) {
        json_add_text(variable, "name", "MASTER_PORT");
        json_add_text(variable, "value", DEFAULT_MASTER_PORT);
        return;
    }
    char field[FIELD_BYTES];
    snprintf(field, sizeof(field), "metadata.annotations['%s']", variables[index].annotation);
    json_add_text(variable, "name", variables[index].name);
    json_add_text(json_add_object(json_add_object(variable, "valueFrom"), "fieldRef"), "fieldPath",
                  field);
}

static void add_variables(const struct json_value *container, size_t index,
                          struct json_value *patch)
{
    char path[PATH_BYTES];
    const struct json_value *present = json_value_get(container, "env");
    bool has_list = json_value_kind(present) == JSON_ARRAY;
    struct json_value *list = NULL;
    snprintf(path, sizeof(path), "/spec/containers/%zu/env%s", index, has_list ? "/-" : "");
    if (!has_list)
        list = json_add_array(add_operation(patch, path), "value");
    for (size_t i = 0; i <= COUNT_OF(variables); i++) {
        const char *name = i < COUNT_OF(variables) ? variables[i].name : "MASTER_PORT";
        if (has_named(present, name))
            continue;
        fill_variable(has_list ? json_add_object(add_operation(patch, path), "value")
                               : json_add_object(list, NULL),
                      i);
    }
}

struct json_value *pod_admission_patch(const struct json_value *pod)
{
    struct json_value *patch = json_value_create_array();
    const char *gang = gang_of(pod);
    if (!patch || !gang)
        return patch;
    add_gate(pod, patch);
    add_names(pod, gang, patch);
    const struct json_value *containers = get(pod, "spec", "containers");
    for (size_t i = 0; i < json_value_count(containers); i++)
        if (asks_gpus(json_value_at(containers, i)))
            add_variables(json_value_at(containers, i), i, patch);
    return patch;
}

/* --- what is refused -------------------------------------------------------------- */

static bool is_output(const char *key)
{
    return gang_annotation_is_output(key) || strcmp(key, ANNOTATION_PLAN_SHAPE) == 0;
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

/* The first output of `annotations` that is not the same in `others`. */
static const char *changed_output(const struct json_value *annotations,
                                  const struct json_value *others)
{
    for (size_t i = 0; i < json_value_count(annotations); i++) {
        const struct json_value *member = json_value_at(annotations, i);
        const char *key = json_value_key(member);
        if (key && is_output(key) &&
            !same_text(json_value_text(member), json_value_text(json_value_get(others, key))))
            return key;
    }
    return NULL;
}

static int check_outputs(const struct json_value *pod, const struct json_value *old,
                         struct error_info *err)
{
    const struct json_value *now = get(pod, "metadata", "annotations");
    const struct json_value *before = get(old, "metadata", "annotations");
    const char *key = changed_output(now, before);
    if (!key)
        key = changed_output(before, now);
    return key ? error_set(err, "annotation %s is written by parplan alone; leave it as it is", key)
               : 0;
}

static int check_created(const struct json_value *pod, struct error_info *err)
{
    const char *node = text_of(pod, "spec", "nodeName");
    if (!gang_of(pod))
        return 0;
    if (node && *node)
        return error_set(err, "a pod of a gang gets its node from parplan; take spec.nodeName out "
                              "(a nodeSelector may stay)");
    if (json_value_count(get(pod, "spec", "resourceClaims")) > 0)
        return error_set(err, "the GPUs of spec.resourceClaims cannot be counted for a gang; ask "
                              "for them in limits, as nvidia.com/gpu: 8");
    return 0;
}

static int check_changed(const struct json_value *pod, const struct json_value *old,
                         struct error_info *err)
{
    if (!same_text(json_value_text(json_value_get(get(pod, "metadata", "labels"), LABEL_GANG)),
                   json_value_text(json_value_get(get(old, "metadata", "labels"), LABEL_GANG))))
        return error_set(err, "the label " LABEL_GANG " of a pod stays as it was made; delete the "
                              "pod and make another");
    if (has_named(get(old, "spec", "schedulingGates"), GANG_GATE) &&
        !has_named(get(pod, "spec", "schedulingGates"), GANG_GATE))
        return error_set(err, "the scheduling gate " GANG_GATE " is taken away by parplan once the "
                              "whole gang has its nodes; to give the gang up, delete its pods");
    return 0;
}

int pod_admission_check(const struct json_value *pod, const struct json_value *old,
                        struct error_info *err)
{
    if (check_outputs(pod, old, err) < 0)
        return -1;
    return old ? check_changed(pod, old, err) : check_created(pod, err);
}

/* --- the answer ------------------------------------------------------------------- */

void pod_admission_answer(const struct admission_question *question, const char *own_user,
                          struct text_buffer *out)
{
    struct error_info err = {.kind = ERROR_NONE};
    bool concerns_us = strcmp(question->kind, "Pod") == 0 && question->object != NULL &&
                       strcmp(question->user, own_user) != 0;
    if (!concerns_us) {
        admission_write_allowed(question, NULL, out);
    } else if (pod_admission_check(question->object, question->old_object, &err) < 0) {
        admission_write_denied(question, DENIED_CODE, err.text, out);
    } else if (question->old_object) {
        admission_write_allowed(question, NULL, out);
    } else {
        CLEANUP(json_value) struct json_value *patch = pod_admission_patch(question->object);
        if (patch)
            admission_write_allowed(question, patch, out);
        else
            admission_write_denied(question, FAILED_CODE, "parplan: out of memory", out);
    }
}
