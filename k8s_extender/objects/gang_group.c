/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/gang_group.h"
#include "base/cleanup.h"
#include "k8s_extender/objects/pod_record.h"
#include "k8s_extender/objects/pod_requests.h"
#include <string.h>

#define COMPLETION_INDEX "batch.kubernetes.io/job-completion-index"

/* --- the source ------------------------------------------------------------------- */

static const struct json_value *object_or_null(const struct json_value *value)
{
    return json_value_kind(value) == JSON_OBJECT ? value : NULL;
}

static const struct json_value *find_owner(const struct json_value *metadata)
{
    const struct json_value *owners = json_value_get(metadata, "ownerReferences");
    for (size_t i = 0; i < json_value_count(owners); i++) {
        bool controls = false;
        const struct json_value *controller =
            json_value_get(json_value_at(owners, i), "controller");
        if (json_value_kind(controller) == JSON_BOOLEAN)
            json_value_boolean(controller, &controls);
        if (controls)
            return json_value_at(owners, i);
    }
    return NULL;
}

static bool has_gate(const struct json_value *spec)
{
    const struct json_value *gates = json_value_get(spec, "schedulingGates");
    for (size_t i = 0; i < json_value_count(gates); i++) {
        const char *name = json_value_text(json_value_get(json_value_at(gates, i), "name"));
        if (name && strcmp(name, GANG_GATE) == 0)
            return true;
    }
    return false;
}

void gang_source_open(const struct json_value *object, struct gang_source *ret)
{
    const struct json_value *metadata = json_value_get(object, "metadata");
    *ret = (struct gang_source){
        .object = object,
        .labels = object_or_null(json_value_get(metadata, "labels")),
        .annotations = object_or_null(json_value_get(metadata, "annotations")),
        .owner = find_owner(metadata),
        .environment = json_value_get(pod_requests_gpu_container(object), "env"),
        .name = json_value_text(json_value_get(metadata, "name")),
        .gated = has_gate(json_value_get(object, "spec")),
    };
}

const char *gang_source_find(const struct gang_source *source, const char *key)
{
    const char *label = json_value_text(json_value_get(source->labels, key));
    return label ? label : gang_source_annotation(source, key);
}

const char *gang_source_annotation(const struct gang_source *source, const char *key)
{
    return json_value_text(json_value_get(source->annotations, key));
}

/* The last of two equal names counts, as in the container. */
static const struct json_value *find_variable(const struct gang_source *source, const char *name)
{
    for (size_t i = json_value_count(source->environment); i > 0; i--) {
        const struct json_value *variable = json_value_at(source->environment, i - 1);
        const char *found = json_value_text(json_value_get(variable, "name"));
        if (found && strcmp(found, name) == 0)
            return variable;
    }
    return NULL;
}

const char *gang_source_variable(const struct gang_source *source, const char *name)
{
    return json_value_text(json_value_get(find_variable(source, name), "value"));
}

bool gang_source_ranks_by_completion(const struct gang_source *source)
{
    const struct json_value *from =
        json_value_get(find_variable(source, "PET_NODE_RANK"), "valueFrom");
    const char *path =
        json_value_text(json_value_get(json_value_get(from, "fieldRef"), "fieldPath"));
    return path && strstr(path, COMPLETION_INDEX);
}

const char *gang_source_native(const struct gang_source *source)
{
    const struct json_value *group =
        json_value_get(json_value_get(source->object, "spec"), "schedulingGroup");
    return json_value_text(json_value_get(group, "podGroupName"));
}

/* --- groups ----------------------------------------------------------------------- */

/* Names as in the projects' API packages (2026-08). owner: the label with the name of the
 * object that knows the size; NULL: the group's own. */
static const struct {
    const char *key;
    enum gang_size_from size_from;
    const char *owner;
    const char *owner_kind; /* that it may have; NULL: any */
    bool counts_nodes;
    const char *size_key;
    bool many_owners;
} groups[] = {
    {"scheduling.x-k8s.io/pod-group", .size_from = GANG_SIZE_OF_POD_GROUP},
    {"pod-group.scheduling.sigs.k8s.io", .size_from = GANG_SIZE_OF_KOORDINATOR},
    {"scheduling.k8s.io/group-name", .size_from = GANG_SIZE_OF_VOLCANO},
    {GANG_JOBSET_UID, .size_from = GANG_SIZE_OF_JOBSET, .owner = "jobset.sigs.k8s.io/jobset-name",
     .counts_nodes = true, .many_owners = true},
    {"jobset.sigs.k8s.io/jobset-name", .size_from = GANG_SIZE_OF_JOBSET, .counts_nodes = true,
     .many_owners = true},
    {"leaderworkerset.sigs.k8s.io/group-key", .size_key = "leaderworkerset.sigs.k8s.io/size",
     .many_owners = true},
    {"training.kubeflow.org/job-name", .size_from = GANG_SIZE_OF_PYTORCHJOB,
     .owner_kind = "PyTorchJob", .counts_nodes = true},
    {"batch.kubernetes.io/job-name", .size_from = GANG_SIZE_OF_JOB},
    {"job-name", .size_from = GANG_SIZE_OF_JOB},
};

static const char *owner_text(const struct gang_source *source, const char *field)
{
    return json_value_text(json_value_get(source->owner, field));
}

static bool may_ask(const struct gang_source *source, const char *wanted_kind)
{
    const char *kind = owner_text(source, "kind");
    return !wanted_kind || !kind || strcmp(kind, wanted_kind) == 0;
}

static void take_row(const struct gang_source *source, size_t row, const char *name,
                     struct gang_group *ret)
{
    const char *owner = groups[row].owner ? gang_source_find(source, groups[row].owner) : name;
    *ret = (struct gang_group){
        .name = name,
        .found_by = groups[row].key,
        .size_from = groups[row].size_from,
        .asks = owner && groups[row].size_from != GANG_SIZE_GIVEN &&
                may_ask(source, groups[row].owner_kind),
        .size_owner = owner,
        .counts_nodes = groups[row].counts_nodes,
        .size_key = groups[row].size_key,
        .many_owners = groups[row].many_owners,
    };
}

void gang_group_find(const struct gang_source *source, struct gang_group *ret)
{
    const char *native = gang_source_native(source);
    if (native) {
        *ret = (struct gang_group){.name = native,
                                   .found_by = "spec.schedulingGroup.podGroupName",
                                   .size_from = GANG_SIZE_OF_POD_GROUP,
                                   .asks = true,
                                   .size_owner = native};
        return;
    }
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        const char *name = gang_source_find(source, groups[i].key);
        if (name) {
            take_row(source, i, name, ret);
            return;
        }
    }
    *ret = (struct gang_group){.name = owner_text(source, "uid"),
                               .found_by = "metadata.ownerReferences"};
}

/* --- indexes ---------------------------------------------------------------------- */

static const char *stateful_index(const struct gang_source *source, const char **ret_from)
{
    const char *kind = owner_text(source, "kind");
    if (!kind || strcmp(kind, "StatefulSet") != 0)
        return NULL;
    *ret_from = "apps.kubernetes.io/pod-index";
    const char *index = gang_source_find(source, *ret_from);
    if (index)
        return index;
    *ret_from = "metadata.name";
    const char *dash = source->name ? strrchr(source->name, '-') : NULL;
    return dash ? dash + 1 : NULL;
}

const char *gang_group_index(const struct gang_source *source, const char **ret_from)
{
    static const char *const keys[] = {
        COMPLETION_INDEX,
        "training.kubeflow.org/replica-index",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "gang.scheduling.koordinator.sh/network-topology-index",
        "volcano.sh/task-index",
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const char *index = gang_source_find(source, keys[i]);
        if (index) {
            *ret_from = keys[i];
            return index;
        }
    }
    return stateful_index(source, ret_from);
}
