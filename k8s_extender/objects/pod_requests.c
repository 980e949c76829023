/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/pod_requests.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include <string.h>

#define HUGE_PAGES_PREFIX "hugepages-"

struct counter {
    struct arena *arena;
    struct error_info *err;
    const struct json_value *statuses; /* containers and init containers of a resize */
    bool is_infeasible;                /* what that resize asks for will not be given */
    struct resource_list sum;          /* containers and restartable init containers */
    struct resource_list restartable;  /* those init containers seen so far */
    struct resource_list largest_step;
};

static int add_to(const struct counter *counter, struct resource_list *sum,
                  const struct resource_list *more)
{
    if (resource_list_add(sum, more, counter->arena, sum) < 0)
        return error_set_memory(counter->err);
    return 0;
}

static int raise_to(const struct counter *counter, struct resource_list *list,
                    const struct resource_list *other)
{
    if (resource_list_maximum(list, other, counter->arena, list) < 0)
        return error_set_memory(counter->err);
    return 0;
}

static int read_list(struct counter *counter, const struct json_value *parent, const char *name,
                     struct resource_list *ret)
{
    if (resource_list_read(json_value_get(parent, name), counter->arena, ret, counter->err) < 0)
        return error_prefix(counter->err, "%s", name);
    return 0;
}

/* --- one container ---------------------------------------------------------------- */

/* Limits of resources that have no request; one that is 0 by request stays 0. */
static void drop_requested(const struct json_value *requests, struct resource_list *limits,
                           struct resource_amount *kept)
{
    static const char *const names[RESOURCE_KIND_COUNT] = {"cpu", "memory", "ephemeral-storage",
                                                           "pods"};
    unsigned count = 0;
    for (unsigned i = 0; i < RESOURCE_KIND_COUNT; i++)
        if (json_value_get(requests, names[i]))
            limits->amounts[i] = 0;
    for (unsigned i = 0; i < limits->other_count; i++)
        if (!json_value_get(requests, limits->others[i].name))
            kept[count++] = limits->others[i];
    limits->others = kept;
    limits->other_count = count;
}

static int read_asked(struct counter *counter, const struct json_value *object,
                      struct resource_list *ret)
{
    struct resource_amount kept[RESOURCE_LIST_MAXIMUM_OTHERS];
    struct resource_list requests, limits;
    const struct json_value *resources;
    if (object_field_object(object, "resources", &resources, counter->err) < 0 ||
        read_list(counter, resources, "requests", &requests) < 0 ||
        read_list(counter, resources, "limits", &limits) < 0)
        return -1;
    drop_requested(json_value_get(resources, "requests"), &limits, kept);
    if (add_to(counter, &requests, &limits) < 0)
        return -1;
    *ret = requests;
    return 0;
}

static const struct json_value *find_status(const struct json_value *statuses, const char *name)
{
    for (size_t i = 0; name && i < json_value_count(statuses); i++) {
        const struct json_value *status = json_value_at(statuses, i);
        const char *of = json_value_text(json_value_get(status, "name"));
        if (of && strcmp(of, name) == 0)
            return status;
    }
    return NULL;
}

static int raise_to_given(struct counter *counter, const struct json_value *container,
                          struct resource_list *asked)
{
    const struct json_value *status =
        find_status(counter->statuses, json_value_text(json_value_get(container, "name")));
    struct resource_list has, allocated;
    if (!status)
        return 0;
    if (read_list(counter, json_value_get(status, "resources"), "requests", &has) < 0 ||
        read_list(counter, status, "allocatedResources", &allocated) < 0)
        return -1;
    /* The two that can be resized: all else is given as it was asked for. */
    if (counter->is_infeasible &&
        json_value_kind(json_value_get(status, "resources")) == JSON_OBJECT)
        asked->amounts[RESOURCE_CPU] = asked->amounts[RESOURCE_MEMORY] = 0;
    if (raise_to(counter, asked, &has) < 0)
        return -1;
    return raise_to(counter, asked, &allocated);
}

/* stays: beside the others, so that it can be resized. */
static int read_container(struct counter *counter, const struct json_value *container, bool stays,
                          struct resource_list *ret)
{
    if (json_value_kind(container) != JSON_OBJECT)
        return error_set(counter->err, "a container is no object");
    if (read_asked(counter, container, ret) < 0)
        return -1;
    return stays ? raise_to_given(counter, container, ret) : 0;
}

/* --- the pod ---------------------------------------------------------------------- */

static int count_container(struct counter *counter, const struct json_value *container)
{
    struct resource_list asked;
    if (read_container(counter, container, true, &asked) < 0)
        return -1;
    return add_to(counter, &counter->sum, &asked);
}

static bool restarts_always(const struct json_value *container)
{
    const char *policy = json_value_text(json_value_get(container, "restartPolicy"));
    return policy && strcmp(policy, "Always") == 0;
}

static int count_init_container(struct counter *counter, const struct json_value *container)
{
    struct resource_list asked;
    bool stays = restarts_always(container);
    if (read_container(counter, container, stays, &asked) < 0)
        return -1;
    if (!stays)
        return add_to(counter, &asked, &counter->restartable) < 0
                   ? -1
                   : raise_to(counter, &counter->largest_step, &asked);
    if (add_to(counter, &counter->sum, &asked) < 0 ||
        add_to(counter, &counter->restartable, &asked) < 0)
        return -1;
    return raise_to(counter, &counter->largest_step, &counter->restartable);
}

static int count_list(struct counter *counter, const struct json_value *object, const char *name,
                      const char *status_name,
                      int (*count)(struct counter *, const struct json_value *))
{
    const struct json_value *containers;
    const struct json_value *status = json_value_get(object, "status");
    if (object_field_list(json_value_get(object, "spec"), name, OBJECT_LIST_UNLIMITED, &containers,
                          counter->err) < 0 ||
        object_field_list(status, status_name, OBJECT_LIST_UNLIMITED, &counter->statuses,
                          counter->err) < 0)
        return -1;
    for (size_t i = 0; i < json_value_count(containers); i++)
        if (count(counter, json_value_at(containers, i)) < 0)
            return error_prefix(counter->err, "%s[%zu]", name, i);
    return 0;
}

/* Only what Kubernetes supports at that level; what else stands there is refused by its API. */
static int take_pod_level(struct counter *counter, const struct json_value *spec)
{
    struct resource_list pod_level;
    if (read_asked(counter, spec, &pod_level) < 0)
        return error_prefix(counter->err, "spec");
    for (unsigned kind = RESOURCE_CPU; kind <= RESOURCE_MEMORY; kind++)
        if (pod_level.amounts[kind] > 0)
            counter->sum.amounts[kind] = pod_level.amounts[kind];
    for (unsigned i = 0; i < pod_level.other_count; i++) {
        const struct resource_amount *other = &pod_level.others[i];
        if (strncmp(other->name, HUGE_PAGES_PREFIX, strlen(HUGE_PAGES_PREFIX)) != 0)
            continue;
        if (raise_to(counter, &counter->sum,
                     &(struct resource_list){.others = other, .other_count = 1}) < 0)
            return -1;
    }
    return 0;
}

static bool is_infeasible(const struct json_value *object)
{
    const struct json_value *conditions =
        json_value_get(json_value_get(object, "status"), "conditions");
    for (size_t i = 0; i < json_value_count(conditions); i++) {
        const struct json_value *condition = json_value_at(conditions, i);
        const char *type = json_value_text(json_value_get(condition, "type"));
        const char *reason = json_value_text(json_value_get(condition, "reason"));
        if (type && strcmp(type, "PodResizePending") == 0)
            return reason && strcmp(reason, "Infeasible") == 0;
    }
    return false;
}

static int count_pod(struct counter *counter, const struct json_value *object)
{
    const struct json_value *spec = json_value_get(object, "spec");
    struct resource_list overhead;
    if (count_list(counter, object, "containers", "containerStatuses", count_container) < 0 ||
        count_list(counter, object, "initContainers", "initContainerStatuses",
                   count_init_container) < 0 ||
        raise_to(counter, &counter->sum, &counter->largest_step) < 0 ||
        take_pod_level(counter, spec) < 0 || read_list(counter, spec, "overhead", &overhead) < 0)
        return -1;
    return add_to(counter, &counter->sum, &overhead);
}

int pod_requests_read(const struct json_value *object, struct arena *arena,
                      struct resource_list *ret, struct error_info *err)
{
    struct counter counter = {.arena = arena, .err = err, .is_infeasible = is_infeasible(object)};
    if (count_pod(&counter, object) < 0)
        return -1;
    counter.sum.amounts[RESOURCE_PODS] = 1;
    *ret = counter.sum;
    return 0;
}

/* --- which container -------------------------------------------------------------- */

static bool names_gpus(const struct json_value *list)
{
    for (size_t i = 0; i < json_value_count(list); i++) {
        const char *name = json_value_key(json_value_at(list, i));
        if (name && resource_is_gpu(name))
            return true;
    }
    return false;
}

const struct json_value *pod_requests_gpu_container(const struct json_value *object)
{
    const struct json_value *containers =
        json_value_get(json_value_get(object, "spec"), "containers");
    for (size_t i = 0; i < json_value_count(containers); i++) {
        const struct json_value *container = json_value_at(containers, i);
        const struct json_value *resources = json_value_get(container, "resources");
        if (names_gpus(json_value_get(resources, "limits")) ||
            names_gpus(json_value_get(resources, "requests")))
            return container;
    }
    return NULL;
}
