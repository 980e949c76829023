/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/pod_record.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/pod_block.h"
#include "k8s_extender/objects/pod_placement.h"
#include "k8s_extender/objects/pod_requests.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include "k8s_extender/objects/reading/object_text.h"
#include <string.h>

#define SCRATCH_MAXIMUM_BYTES ((size_t)64 << 20)
#define SHOWN_CHARACTERS 120
#define DEFAULT_NAMESPACE "default"
#define DEFAULT_SCHEDULER "default-scheduler"

struct reader {
    struct pod_record *pod; /* what is read; its parts in the scratch arena and the tree */
    struct arena *arena;
    struct error_info *err;
};

/* --- what every record has --------------------------------------------------------- */

static int read_names(const struct reader *reader, const struct json_value *object)
{
    struct pod_record *pod = reader->pod;
    const struct json_value *metadata;
    if (json_value_kind(object) != JSON_OBJECT)
        return error_set(reader->err, "a pod is no object");
    if (object_field_object(object, "metadata", &metadata, reader->err) < 0 ||
        object_field_text(metadata, "name", &pod->name, reader->err) < 0 ||
        (!pod->name && object_field_text(metadata, "generateName", &pod->name, reader->err) < 0) ||
        object_field_text(metadata, "namespace", &pod->namespace, reader->err) < 0)
        return error_prefix(reader->err, "a pod");
    if (!pod->name)
        return error_set(reader->err, "a pod has no metadata.name");
    pod->namespace = pod->namespace ? pod->namespace : DEFAULT_NAMESPACE;
    if (!object_name_is_good(pod->name))
        return error_set(reader->err, "'%.*s' is no name of a pod", SHOWN_CHARACTERS, pod->name);
    if (!object_name_is_good(pod->namespace))
        return error_set(reader->err, "'%.*s' is no name of a namespace", SHOWN_CHARACTERS,
                         pod->namespace);
    return 0;
}

/* "2026-01-31T23:59:58Z": the API server always writes it in UTC and with a century of 20. */
static uint32_t creation_number(const char *text)
{
    static const unsigned digits[] = {2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18};
    static const uint32_t units[] = {12, 31, 24, 60, 60, 1};
    uint32_t number = 0;
    if (!text || strnlen(text, digits[COUNT_OF(digits) - 1] + 1) <= digits[COUNT_OF(digits) - 1])
        return 0;
    for (size_t i = 0; i < COUNT_OF(digits); i += 2) {
        unsigned tens = (unsigned char)text[digits[i]] - '0';
        unsigned ones = (unsigned char)text[digits[i + 1]] - '0';
        if (tens > 9 || ones > 9)
            return 0;
        number = (number + tens * 10 + ones - (i == 2 || i == 4)) * units[i / 2];
    }
    return number + 1;
}

static int read_metadata(const struct reader *reader, const struct json_value *metadata)
{
    struct pod_record *pod = reader->pod;
    const char *deletion = NULL, *creation = NULL;
    if (object_field_text(metadata, "uid", &pod->uid, reader->err) < 0 ||
        object_field_text(metadata, "resourceVersion", &pod->resource_version, reader->err) < 0 ||
        object_field_text(metadata, "creationTimestamp", &creation, reader->err) < 0 ||
        object_field_text(metadata, "deletionTimestamp", &deletion, reader->err) < 0)
        return -1;
    pod->uid = pod->uid ? pod->uid : "";
    pod->resource_version = pod->resource_version ? pod->resource_version : "";
    pod->terminating = deletion != NULL;
    pod->created = creation_number(creation);
    return 0;
}

static int read_spec(const struct reader *reader, const struct json_value *spec)
{
    struct pod_record *pod = reader->pod;
    if (object_field_text(spec, "nodeName", &pod->node, reader->err) < 0 ||
        object_field_text(spec, "schedulerName", &pod->scheduler_name, reader->err) < 0 ||
        pod_placement_gates(spec, pod, reader->err) < 0)
        return -1;
    if (pod->node && !*pod->node)
        pod->node = NULL;
    pod->scheduler_name = pod->scheduler_name ? pod->scheduler_name : DEFAULT_SCHEDULER;
    return 0;
}

/* A phase that is not known ("Unknown") may still hold its node. */
static int read_phase(const struct reader *reader, const struct json_value *status)
{
    static const struct {
        const char *word;
        enum pod_phase phase;
    } rows[] = {{"Pending", POD_PENDING}, {"Succeeded", POD_SUCCEEDED}, {"Failed", POD_FAILED}};
    const char *word = NULL;
    if (object_field_text(status, "phase", &word, reader->err) < 0)
        return -1;
    reader->pod->phase = word ? POD_RUNNING : POD_PENDING;
    for (size_t i = 0; word && i < COUNT_OF(rows); i++)
        if (strcmp(word, rows[i].word) == 0)
            reader->pod->phase = rows[i].phase;
    return 0;
}

static int read_common(const struct reader *reader, const struct json_value *object)
{
    const struct json_value *spec, *status;
    if (read_metadata(reader, json_value_get(object, "metadata")) < 0 ||
        object_field_object(object, "spec", &spec, reader->err) < 0 ||
        object_field_object(object, "status", &status, reader->err) < 0 ||
        read_spec(reader, spec) < 0 || read_phase(reader, status) < 0)
        return -1;
    return pod_requests_read(object, reader->arena, &reader->pod->requests, reader->err);
}

/* --- what only GPU pods and gangs have --------------------------------------------- */

static int read_owner(const struct reader *reader, const struct json_value *metadata)
{
    const struct json_value *owners;
    if (object_field_list(metadata, "ownerReferences", OBJECT_LIST_UNLIMITED, &owners,
                          reader->err) < 0)
        return -1;
    for (size_t i = 0; i < json_value_count(owners); i++) {
        const struct json_value *owner = json_value_at(owners, i);
        bool controls = false;
        if (object_field_truth(owner, "controller", &controls, reader->err) < 0)
            return -1;
        if (!controls)
            continue;
        if (object_field_text(owner, "kind", &reader->pod->owner_kind, reader->err) < 0 ||
            object_field_text(owner, "name", &reader->pod->owner_name, reader->err) < 0)
            return -1;
        return object_field_text(owner, "uid", &reader->pod->owner_uid, reader->err);
    }
    return 0;
}

static bool is_ours(const char *key)
{
    return strncmp(key, ANNOTATION_PREFIX, strlen(ANNOTATION_PREFIX)) == 0;
}

static int read_details(const struct reader *reader, const struct json_value *object)
{
    struct pod_record *pod = reader->pod;
    const struct json_value *metadata = json_value_get(object, "metadata");
    const struct json_value *spec = json_value_get(object, "spec");
    if (label_set_read(json_value_get(metadata, "annotations"), is_ours, reader->arena,
                       &pod->annotations, reader->err) < 0)
        return error_prefix(reader->err, "annotations");
    pod->gang_label =
        json_value_text(json_value_get(json_value_get(metadata, "labels"), LABEL_GANG));
    if (read_owner(reader, metadata) < 0 ||
        object_field_text(spec, "hostname", &pod->hostname, reader->err) < 0 ||
        object_field_text(spec, "subdomain", &pod->subdomain, reader->err) < 0)
        return -1;
    return pod_placement_read(object, reader->arena, pod, reader->err);
}

/* Half of a selector would be a lie, so all of it goes. */
static void forget_details(struct pod_record *pod)
{
    pod->node_labels = (struct label_set){.labels = NULL};
    pod->affinity = (struct node_selector){.terms = NULL};
    pod->toleration_count = 0;
    pod->argument_count = 0;
}

/* What cannot be read here makes no pod unreadable: it is counted, and its gang has a problem. */
static int read_details_mildly(const struct reader *reader, const struct json_value *object)
{
    struct error_info reason = {.kind = ERROR_NONE};
    struct reader mild = {.pod = reader->pod, .arena = reader->arena, .err = &reason};
    if (read_details(&mild, object) == 0)
        return 0;
    if (reason.kind != ERROR_INPUT)
        return error_set_memory(reader->err);
    forget_details(reader->pod);
    if (!reader->pod->gang.key || reader->pod->gang.problem)
        return 0;
    reader->pod->gang.problem = arena_copy_text(reader->arena, reason.text);
    return reader->pod->gang.problem ? 0 : error_set_memory(reader->err);
}

/* --- the record -------------------------------------------------------------------- */

/* Of such a pod it cannot be said that it fits on a node. */
static int refuse_kinds(const struct reader *reader)
{
    struct gang_identity *gang = &reader->pod->gang;
    if (!gang->key || gang->problem || !reader->pod->requests.left_out)
        return 0;
    gang->problem = arena_format(
        reader->arena,
        "the pod asks for more than %u kinds of resources beside cpu and memory, a pod of a gang "
        "may ask for %u; take out those that no node offers",
        RESOURCE_LIST_MAXIMUM_OTHERS, RESOURCE_LIST_MAXIMUM_OTHERS);
    return gang->problem ? 0 : error_set_memory(reader->err);
}

static int read_pod(const struct reader *reader, const struct json_value *object)
{
    struct pod_record *pod = reader->pod;
    if (read_names(reader, object) < 0)
        return -1;
    if (read_common(reader, object) < 0)
        return error_prefix(reader->err, "pod %.*s/%.*s", SHOWN_CHARACTERS, pod->namespace,
                            SHOWN_CHARACTERS, pod->name);
    bool asks_gpus = resource_list_gpus(&pod->requests, NULL) > 0;
    if (gang_identity_read(object, asks_gpus, reader->arena, &pod->gang, reader->err) < 0 ||
        refuse_kinds(reader) < 0)
        return -1;
    pod->plain = !asks_gpus && !pod->gang.key;
    return pod->plain ? 0 : read_details_mildly(reader, object);
}

struct pod_record *pod_record_read(const struct json_value *object, struct error_info *err)
{
    CLEANUP(arena) struct arena *scratch = arena_create(SCRATCH_MAXIMUM_BYTES);
    if (!scratch)
        return error_null(error_set_memory(err));
    struct pod_record draft = {.name = NULL};
    struct reader reader = {.pod = &draft, .arena = scratch, .err = err};
    return read_pod(&reader, object) < 0 ? NULL : pod_block_create(&draft, err);
}

/* Made anew when the tree is gone: what is made amid the tree's pieces stays amid the holes that
 * they leave, a seventh of what 50,000 pods take. */
struct pod_record *pod_record_parse(const char *text, size_t bytes, struct error_info *err)
{
    bool cut = false;
    struct json_value *object = object_text_parse(text, bytes, OBJECT_POD, &cut, err);
    CLEANUP(pod_record) struct pod_record *amid = object ? pod_record_read(object, err) : NULL;
    json_value_free(object);
    if (amid)
        amid->cut = cut;
    return amid ? pod_block_create(amid, err) : NULL;
}

void pod_record_free(struct pod_record *record) { pod_block_free(record); }

bool pod_record_is_over(const struct pod_record *record)
{
    return record->phase == POD_SUCCEEDED || record->phase == POD_FAILED;
}

bool pod_record_holds(const struct pod_record *record)
{
    return record->node && !pod_record_is_over(record);
}

const char *pod_record_annotation(const struct pod_record *record, const char *key)
{
    return label_set_find(&record->annotations, key);
}
