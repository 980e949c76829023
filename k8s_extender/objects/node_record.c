/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/node_record.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include "k8s_extender/objects/reading/object_text.h"
#include "k8s_extender/objects/reading/record_block.h"
#include "k8s_extender/objects/reading/shared_text.h"
#include <string.h>

#define SCRATCH_MAXIMUM_BYTES ((size_t)64 << 20)
#define SHOWN_CHARACTERS 120

static const char *const effect_words[] = {
    [TAINT_NO_SCHEDULE] = "NoSchedule",
    [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
    [TAINT_NO_EXECUTE] = "NoExecute",
};

bool taint_effect_read(const char *word, enum taint_effect *ret)
{
    for (size_t i = 0; word && i < COUNT_OF(effect_words); i++)
        if (strcmp(word, effect_words[i]) == 0) {
            *ret = (enum taint_effect)i;
            return true;
        }
    return false;
}

/* --- reading ---------------------------------------------------------------------- */

struct reader {
    struct node_record *node; /* what is read, in the scratch arena */
    struct arena *arena;
    struct error_info *err;
};

static int read_topology(const struct reader *reader, const struct json_value *metadata)
{
    const struct json_value *annotations;
    if (object_field_object(metadata, "annotations", &annotations, reader->err) < 0)
        return -1;
    return object_field_text(annotations, NODE_TOPOLOGY_ANNOTATION, &reader->node->topology,
                             reader->err);
}

static int read_metadata(const struct reader *reader, const struct json_value *metadata)
{
    const char *deletion = NULL;
    if (object_field_text(metadata, "uid", &reader->node->uid, reader->err) < 0 ||
        object_field_text(metadata, "deletionTimestamp", &deletion, reader->err) < 0)
        return -1;
    reader->node->deleting = deletion != NULL;
    if (label_set_read(json_value_get(metadata, "labels"), NULL, reader->arena,
                       &reader->node->labels, reader->err) < 0)
        return error_prefix(reader->err, "labels");
    return read_topology(reader, metadata);
}

/* Effects of later Kubernetes versions are skipped, as its own scheduler does. */
static int read_taint(const struct reader *reader, const struct json_value *object,
                      struct node_taint *taints)
{
    const char *key = NULL, *value = NULL, *effect = NULL;
    struct node_taint taint;
    if (object_field_text(object, "key", &key, reader->err) < 0 ||
        object_field_text(object, "value", &value, reader->err) < 0 ||
        object_field_text(object, "effect", &effect, reader->err) < 0)
        return -1;
    if (!taint_effect_read(effect, &taint.effect))
        return 0;
    taint.key = key ? key : "";
    taint.value = value ? value : "";
    taints[reader->node->taint_count++] = taint;
    return 0;
}

static int read_spec(const struct reader *reader, const struct json_value *spec)
{
    const struct json_value *list;
    if (object_field_truth(spec, "unschedulable", &reader->node->unschedulable, reader->err) < 0 ||
        object_field_list(spec, "taints", NODE_TAINTS_MAXIMUM, &list, reader->err) < 0)
        return -1;
    size_t count = json_value_count(list);
    struct node_taint *taints = arena_allocate_array(reader->arena, count, sizeof(*taints));
    if (!taints)
        return error_set_memory(reader->err);
    reader->node->taints = taints;
    for (size_t i = 0; i < count; i++)
        if (read_taint(reader, json_value_at(list, i), taints) < 0)
            return error_prefix(reader->err, "taints");
    return 0;
}

static int read_ready(const struct reader *reader, const struct json_value *conditions)
{
    for (size_t i = 0; i < json_value_count(conditions); i++) {
        const char *type = NULL, *status = NULL;
        const struct json_value *condition = json_value_at(conditions, i);
        if (object_field_text(condition, "type", &type, reader->err) < 0 ||
            object_field_text(condition, "status", &status, reader->err) < 0)
            return error_prefix(reader->err, "conditions");
        if (type && strcmp(type, "Ready") == 0)
            reader->node->ready = status && strcmp(status, "True") == 0;
    }
    return 0;
}

static int read_status(const struct reader *reader, const struct json_value *status)
{
    const struct json_value *conditions;
    if (object_field_list(status, "conditions", OBJECT_LIST_UNLIMITED, &conditions, reader->err) <
            0 ||
        read_ready(reader, conditions) < 0)
        return -1;
    if (resource_list_read(json_value_get(status, "allocatable"), reader->arena,
                           &reader->node->allocatable, reader->err) < 0)
        return error_prefix(reader->err, "allocatable");
    return 0;
}

static int read_parts(const struct reader *reader, const struct json_value *object,
                      const struct json_value *metadata)
{
    const struct json_value *spec, *status;
    if (read_metadata(reader, metadata) < 0 ||
        object_field_object(object, "spec", &spec, reader->err) < 0 ||
        object_field_object(object, "status", &status, reader->err) < 0 ||
        read_spec(reader, spec) < 0)
        return -1;
    return read_status(reader, status);
}

static int read_node(const struct reader *reader, const struct json_value *object)
{
    const struct json_value *metadata;
    if (json_value_kind(object) != JSON_OBJECT)
        return error_set(reader->err, "a node is no object");
    if (object_field_object(object, "metadata", &metadata, reader->err) < 0 ||
        object_field_text(metadata, "name", &reader->node->name, reader->err) < 0)
        return error_prefix(reader->err, "a node");
    if (!reader->node->name)
        return error_set(reader->err, "a node has no metadata.name");
    if (!object_name_is_good(reader->node->name))
        return error_set(reader->err, "'%.*s' is no name of a node", SHOWN_CHARACTERS,
                         reader->node->name);
    if (read_parts(reader, object, metadata) < 0)
        return error_prefix(reader->err, "node %.*s", SHOWN_CHARACTERS, reader->node->name);
    return 0;
}

/* --- digest ----------------------------------------------------------------------- */

/* With its final NUL, so that "ab","c" is not "a","bc". */
static uint64_t add_text(uint64_t hash, const char *text)
{
    if (!text)
        return name_hash_add(hash, "\1", 1);
    return name_hash_add(hash, text, strlen(text) + 1);
}

static uint64_t add_resources(uint64_t hash, const struct resource_list *list)
{
    hash = name_hash_add(hash, list->amounts, sizeof(list->amounts));
    for (unsigned i = 0; i < list->other_count; i++) {
        hash = add_text(hash, list->others[i].name);
        hash = name_hash_add(hash, &list->others[i].amount, sizeof(list->others[i].amount));
    }
    return hash;
}

static uint64_t digest_of(const struct node_record *node)
{
    uint64_t hash = add_text(add_text(NAME_HASH_START, node->name), node->uid);
    for (size_t i = 0; i < node->labels.count; i++)
        hash = add_text(add_text(hash, node->labels.labels[i].key), node->labels.labels[i].value);
    hash = add_resources(add_text(hash, node->topology), &node->allocatable);
    for (size_t i = 0; i < node->taint_count; i++) {
        hash = add_text(add_text(hash, node->taints[i].key), node->taints[i].value);
        hash = add_text(hash, effect_words[node->taints[i].effect]);
    }
    char flags[] = {(char)node->ready, (char)node->unschedulable, (char)node->deleting};
    return name_hash_add(hash, flags, sizeof(flags));
}

/* --- the record ------------------------------------------------------------------- */

static void pack_taints(struct record_block *block, const struct node_record *from,
                        struct node_record *to)
{
    struct node_taint *taints = record_block_array(block, from->taint_count, sizeof(*taints));
    for (size_t i = 0; taints && i < from->taint_count; i++) {
        taints[i].key = record_block_shared(block, from->taints[i].key);
        taints[i].value = record_block_shared(block, from->taints[i].value);
        taints[i].effect = from->taints[i].effect;
    }
    to->taints = taints;
}

/* NULL while counting. */
static struct node_record *pack_node(struct record_block *block, const struct node_record *from)
{
    struct node_record counted = {.name = NULL};
    struct node_record *record = record_block_array(block, 1, sizeof(*record));
    struct node_record *to = record ? record : &counted;
    *to = *from;
    record_block_labels(block, &from->labels, &to->labels);
    record_block_resources(block, &from->allocatable, &to->allocatable);
    pack_taints(block, from, to);
    to->topology = record_block_shared(block, from->topology);
    to->name = record_block_text(block, from->name);
    to->uid = record_block_text(block, from->uid);
    return record;
}

static struct node_record *create_record(const struct node_record *draft, struct error_info *err)
{
    struct record_block block = {.memory = NULL};
    pack_node(&block, draft);
    if (record_block_allocate(&block) < 0)
        return error_null(error_set_memory(err));
    struct node_record *record = pack_node(&block, draft);
    if (block.failed) {
        node_record_free(record);
        return error_null(error_set_memory(err));
    }
    return record;
}

struct node_record *node_record_read(const struct json_value *object, struct error_info *err)
{
    CLEANUP(arena) struct arena *scratch = arena_create(SCRATCH_MAXIMUM_BYTES);
    if (!scratch)
        return error_null(error_set_memory(err));
    struct node_record draft = {.uid = NULL};
    struct reader reader = {.node = &draft, .arena = scratch, .err = err};
    if (read_node(&reader, object) < 0)
        return NULL;
    draft.uid = draft.uid ? draft.uid : "";
    draft.digest = digest_of(&draft);
    return create_record(&draft, err);
}

struct node_record *node_record_parse(const char *text, size_t bytes, struct error_info *err)
{
    CLEANUP(json_value)
    struct json_value *object = object_text_parse(text, bytes, OBJECT_NODE, NULL, err);
    return object ? node_record_read(object, err) : NULL;
}

static void release_shared(const struct node_record *record)
{
    record_block_release_labels(&record->labels);
    record_block_release_resources(&record->allocatable);
    shared_text_release(record->topology);
    for (size_t i = 0; i < record->taint_count; i++) {
        shared_text_release(record->taints[i].key);
        shared_text_release(record->taints[i].value);
    }
}

void node_record_free(struct node_record *record)
{
    if (!record)
        return;
    release_shared(record);
    memory_free(record);
}
