/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/pod_placement.h"
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/pod_requests.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include <string.h>

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

struct reader {
    struct pod_record *pod;
    struct arena *arena;
    struct error_info *err;
};

static bool text_is(const struct json_value *value, const char *text)
{
    const char *found = json_value_text(value);
    return found && strcmp(found, text) == 0;
}

/* --- gates ------------------------------------------------------------------------ */

int pod_placement_gates(const struct json_value *spec, struct pod_record *pod,
                        struct error_info *err)
{
    const struct json_value *gates;
    if (object_field_list(spec, "schedulingGates", OBJECT_LIST_UNLIMITED, &gates, err) < 0)
        return -1;
    for (size_t i = 0; i < json_value_count(gates); i++) {
        bool ours = text_is(json_value_get(json_value_at(gates, i), "name"), GANG_GATE);
        pod->gated = pod->gated || ours;
        pod->foreign_gates += !ours;
    }
    double priority = 0;
    const struct json_value *value = json_value_get(spec, "priority");
    if (json_value_kind(value) != JSON_NULL &&
        (json_value_real(value, &priority) < 0 || priority < INT32_MIN || priority > INT32_MAX))
        return error_set(err, "priority is no whole number of 32 bits");
    pod->priority = (int32_t)priority;
    return 0;
}

/* --- tolerations ------------------------------------------------------------------ */

/* One that Kubernetes would not know (an operator or effect of later versions) tolerates nothing
 * here; it is left out. */
static int read_toleration(const struct reader *reader, const struct json_value *object,
                           struct pod_toleration *tolerations)
{
    const char *key = NULL, *value = NULL, *effect = NULL, *operator= NULL;
    if (object_field_text(object, "key", &key, reader->err) < 0 ||
        object_field_text(object, "value", &value, reader->err) < 0 ||
        object_field_text(object, "effect", &effect, reader->err) < 0 ||
        object_field_text(object, "operator", &operator, reader->err) < 0)
        return -1;
    struct pod_toleration toleration = {
        .key = key ? key : "",
        .value = value ? value : "",
        .exists = operator&& strcmp(operator, "Exists") == 0,
        .every_effect = !effect || !*effect,
    };
    enum taint_effect of = TAINT_NO_SCHEDULE;
    bool equal = !operator|| !* operator|| strcmp(operator, "Equal") == 0;
    if ((!toleration.exists && !equal) ||
        (!toleration.every_effect && !taint_effect_read(effect, &of)))
        return 0;
    toleration.effect = (int)of;
    tolerations[reader->pod->toleration_count++] = toleration;
    return 0;
}

static int read_tolerations(const struct reader *reader, const struct json_value *spec)
{
    const struct json_value *list;
    if (object_field_list(spec, "tolerations", POD_TOLERATIONS_MAXIMUM, &list, reader->err) < 0)
        return -1;
    size_t count = json_value_count(list);
    struct pod_toleration *tolerations =
        arena_allocate_array(reader->arena, count, sizeof(*tolerations));
    if (!tolerations)
        return error_set_memory(reader->err);
    for (size_t i = 0; i < count; i++)
        if (read_toleration(reader, json_value_at(list, i), tolerations) < 0)
            return error_prefix(reader->err, "tolerations");
    reader->pod->tolerations = tolerations;
    return 0;
}

/* --- selectors -------------------------------------------------------------------- */

static int read_selectors(const struct reader *reader, const struct json_value *spec)
{
    const struct json_value *affinity, *of_node;
    if (label_set_read(json_value_get(spec, "nodeSelector"), NULL, reader->arena,
                       &reader->pod->node_labels, reader->err) < 0)
        return error_prefix(reader->err, "nodeSelector");
    if (object_field_object(spec, "affinity", &affinity, reader->err) < 0 ||
        object_field_object(affinity, "nodeAffinity", &of_node, reader->err) < 0 ||
        node_selector_read(json_value_get(of_node, REQUIRED), reader->arena, &reader->pod->affinity,
                           reader->err) < 0)
        return error_prefix(reader->err, "affinity");
    return 0;
}

/* --- what only the scheduler judges ------------------------------------------------ */

static bool uses_volume_topology(const struct json_value *spec)
{
    const struct json_value *volumes = json_value_get(spec, "volumes");
    for (size_t i = 0; i < json_value_count(volumes); i++) {
        const struct json_value *volume = json_value_at(volumes, i);
        if (json_value_get(volume, "persistentVolumeClaim") || json_value_get(volume, "ephemeral"))
            return true;
    }
    return false;
}

static bool uses_spread(const struct json_value *spec)
{
    const struct json_value *list = json_value_get(spec, "topologySpreadConstraints");
    for (size_t i = 0; i < json_value_count(list); i++)
        if (!text_is(json_value_get(json_value_at(list, i), "whenUnsatisfiable"), "ScheduleAnyway"))
            return true;
    return false;
}

static bool uses_pod_affinity(const struct json_value *spec)
{
    static const char *const kinds[] = {"podAffinity", "podAntiAffinity"};
    const struct json_value *affinity = json_value_get(spec, "affinity");
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (json_value_count(json_value_get(json_value_get(affinity, kinds[i]), REQUIRED)) > 0)
            return true;
    return false;
}

static bool uses_claims(const struct json_value *spec)
{
    return json_value_count(json_value_get(spec, "resourceClaims")) > 0;
}

static bool has_host_port(const struct json_value *container)
{
    const struct json_value *ports = json_value_get(container, "ports");
    for (size_t i = 0; i < json_value_count(ports); i++) {
        double port = 0;
        json_value_real(json_value_get(json_value_at(ports, i), "hostPort"), &port);
        if (port > 0)
            return true;
    }
    return false;
}

static bool uses_host_ports(const struct json_value *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const struct json_value *containers = json_value_get(spec, lists[i]);
        for (size_t j = 0; j < json_value_count(containers); j++)
            if (has_host_port(json_value_at(containers, j)))
                return true;
    }
    return false;
}

static unsigned foreign_of(const struct json_value *spec)
{
    static const struct {
        enum pod_foreign bit;
        bool (*uses)(const struct json_value *spec);
    } rows[] = {
        {POD_USES_VOLUME_TOPOLOGY, uses_volume_topology}, {POD_USES_SPREAD, uses_spread},
        {POD_USES_POD_AFFINITY, uses_pod_affinity},       {POD_USES_CLAIMS, uses_claims},
        {POD_USES_HOST_PORTS, uses_host_ports},
    };
    unsigned foreign = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].uses(spec))
            foreign |= rows[i].bit;
    return foreign;
}

/* --- the command ------------------------------------------------------------------ */

static int take_words(const struct reader *reader, const struct json_value *list,
                      const char **arguments)
{
    for (size_t i = 0; i < json_value_count(list); i++) {
        const char *word = json_value_text(json_value_at(list, i));
        if (!word)
            return error_set(reader->err, "a word of the command is no text");
        arguments[reader->pod->argument_count++] = word;
    }
    return 0;
}

static int read_arguments(const struct reader *reader, const struct json_value *container)
{
    const struct json_value *command, *args;
    if (object_field_list(container, "command", POD_ARGUMENTS_MAXIMUM, &command, reader->err) < 0 ||
        object_field_list(container, "args", POD_ARGUMENTS_MAXIMUM, &args, reader->err) < 0)
        return -1;
    size_t count = json_value_count(command) + json_value_count(args);
    if (count > POD_ARGUMENTS_MAXIMUM)
        return error_set(reader->err, "the command has %zu words; at most %u are possible", count,
                         POD_ARGUMENTS_MAXIMUM);
    const char **arguments = arena_allocate_array(reader->arena, count, sizeof(*arguments));
    if (!arguments)
        return error_set_memory(reader->err);
    reader->pod->arguments = arguments;
    return take_words(reader, command, arguments) < 0 ? -1 : take_words(reader, args, arguments);
}

int pod_placement_read(const struct json_value *object, struct arena *arena, struct pod_record *pod,
                       struct error_info *err)
{
    const struct json_value *spec = json_value_get(object, "spec");
    struct reader reader = {.pod = pod, .arena = arena, .err = err};
    pod->foreign = (uint8_t)foreign_of(spec);
    if (read_selectors(&reader, spec) < 0 || read_tolerations(&reader, spec) < 0)
        return -1;
    return read_arguments(&reader, pod_requests_gpu_container(object));
}
