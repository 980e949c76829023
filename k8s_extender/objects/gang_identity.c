/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/gang_identity.h"
#include "base/cleanup.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "k8s_extender/gang/annotations.h"
#include "k8s_extender/objects/gang_group.h"
#include "k8s_extender/objects/pod_record.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include <string.h>

#define REPLICA_INDEX "training.kubeflow.org/replica-index"
#define SHOWN_CHARACTERS 80

struct reader {
    struct gang_source source;
    struct gang_group group; /* of the framework */
    struct gang_identity gang;
    bool of_one_job; /* of a JobSet: the gang is named after it */
    struct arena *arena;
    struct error_info problem; /* the first one */
};

/* The first problem is the one that is told; later ones may only follow from it. */
#define SET_PROBLEM(reader, ...)                                                                   \
    ((reader)->problem.kind == ERROR_NONE ? error_set(&(reader)->problem, __VA_ARGS__) : -1)

const char *const gang_output_keys[GANG_OUTPUT_COUNT] = {
    ANNOTATION_CP_RANK,    ANNOTATION_DP_RANK,   ANNOTATION_EP_RANK, ANNOTATION_MASTER_ADDR,
    ANNOTATION_NODE,       ANNOTATION_NODE_RANK, ANNOTATION_PLAN,    ANNOTATION_PLAN_ID,
    ANNOTATION_PLAN_SHAPE, ANNOTATION_PP_RANK,   ANNOTATION_TP_RANK,
};

bool gang_annotation_is_output(const char *key)
{
    for (size_t i = 0; i < GANG_OUTPUT_COUNT; i++)
        if (strcmp(key, gang_output_keys[i]) == 0)
            return true;
    return false;
}

/* --- whether ---------------------------------------------------------------------- */

static bool has_input(const struct json_value *annotations)
{
    for (size_t i = 0; i < json_value_count(annotations); i++) {
        const char *key = json_value_key(json_value_at(annotations, i));
        if (key && strncmp(key, ANNOTATION_PREFIX, strlen(ANNOTATION_PREFIX)) == 0 &&
            !gang_annotation_is_output(key))
            return true;
    }
    return false;
}

enum gang_wish gang_wish_of_label(const char *value)
{
    static const char *const autos[] = {"auto", "true", ""}, *const nots[] = {"off", "false"};
    for (size_t i = 0; i < COUNT_OF(autos); i++)
        if (strcmp(value, autos[i]) == 0)
            return GANG_WISH_AUTO;
    for (size_t i = 0; i < COUNT_OF(nots); i++)
        if (strcmp(value, nots[i]) == 0)
            return GANG_WISH_NONE;
    return GANG_WISH_NAMED;
}

static enum gang_wish wish_of(const struct gang_source *source, const char **ret_name)
{
    const char *value = json_value_text(json_value_get(source->labels, LABEL_GANG));
    if (!value)
        return has_input(source->annotations) || source->gated ? GANG_WISH_AUTO : GANG_WISH_NONE;
    enum gang_wish wish = gang_wish_of_label(value);
    if (wish == GANG_WISH_NAMED)
        *ret_name = value;
    return wish;
}

/* --- size ------------------------------------------------------------------------- */

static void read_number(struct reader *reader, const char *text, const char *from, uint64_t minimum,
                        uint64_t maximum, uint32_t *ret)
{
    uint64_t number;
    struct error_info reason = {.kind = ERROR_NONE};
    if (parse_unsigned(text, minimum, maximum, &number, &reason) < 0)
        SET_PROBLEM(reader, "%s: %s", from, reason.text);
    else
        *ret = (uint32_t)number;
}

/* An elastic job writes "1:4": that is no size. */
static bool take_node_count(struct reader *reader)
{
    uint64_t nodes;
    const char *text = gang_source_variable(&reader->source, "PET_NNODES");
    if (!reader->group.counts_nodes || !text ||
        parse_unsigned(text, 1, GANG_MAXIMUM_PODS, &nodes, NULL) < 0)
        return false;
    reader->gang.size = (uint32_t)nodes;
    return true;
}

static void read_size(struct reader *reader)
{
    const struct gang_group *group = &reader->group;
    const char *from = ANNOTATION_SIZE;
    const char *given = gang_source_annotation(&reader->source, ANNOTATION_SIZE);
    if (!given && take_node_count(reader))
        return;
    if (!given && group->size_key) {
        from = group->size_key;
        given = gang_source_find(&reader->source, from);
    }
    if (given) {
        read_number(reader, given, from, 1, GANG_MAXIMUM_PODS, &reader->gang.size);
    } else if (group->asks) {
        reader->gang.size_from = group->size_from;
        reader->gang.size_owner = group->size_owner;
    } else {
        SET_PROBLEM(reader,
                    "nothing says how many pods the gang has; set annotation " ANNOTATION_SIZE);
    }
}

/* --- index ------------------------------------------------------------------------ */

uint32_t gang_identity_index(const struct gang_identity *identity, uint32_t size)
{
    if (identity->jobs <= 1 || identity->index != GANG_INDEX_NONE)
        return identity->index;
    uint32_t pods = size / identity->jobs;
    if (size % identity->jobs != 0 || identity->completion >= pods)
        return GANG_INDEX_NONE;
    return identity->job * pods + identity->completion;
}

/* The pods of a JobSet's gang count through all its Jobs, of a replicatedJob's gang through those
 * of it, but where they number themselves by their Job alone (a TrainJob's do: its other Jobs only
 * fetch data). False: not one of several Jobs. */
static bool read_job_of_set(struct reader *reader, uint32_t completion)
{
    static const char *const jobs_keys[] = {"jobset.sigs.k8s.io/global-replicas",
                                            "jobset.sigs.k8s.io/replicatedjob-replicas"};
    static const char *const job_keys[] = {"jobset.sigs.k8s.io/job-global-index",
                                           "jobset.sigs.k8s.io/job-index"};
    const char *jobs_key = jobs_keys[reader->of_one_job], *job_key = job_keys[reader->of_one_job];
    struct gang_identity *gang = &reader->gang;
    const char *jobs = gang_source_find(&reader->source, jobs_key);
    const char *job = gang_source_find(&reader->source, job_key);
    if (!jobs || !job || gang_source_ranks_by_completion(&reader->source))
        return false;
    read_number(reader, jobs, jobs_key, 1, GANG_MAXIMUM_PODS, &gang->jobs);
    read_number(reader, job, job_key, 0, gang->jobs > 0 ? gang->jobs - 1 : 0, &gang->job);
    gang->completion = completion;
    if (gang->jobs <= 1)
        return false;
    if (gang->size > 0) {
        gang->index = gang_identity_index(gang, gang->size);
        if (gang->index == GANG_INDEX_NONE)
            SET_PROBLEM(reader,
                        "the gang's %u Jobs do not have %u pods in equal parts; label " LABEL_GANG
                        ": JOBSET-REPLICATEDJOB makes a gang of one replicatedJob",
                        gang->jobs, gang->size);
    }
    return true;
}

/* A Worker is one behind where there is a Master. The operator has written the rank into the
 * container, where it can be known from the pod alone. */
static void read_replica(struct reader *reader, uint32_t replica)
{
    uint64_t rank;
    const char *type = gang_source_find(&reader->source, "training.kubeflow.org/replica-type");
    const char *written = gang_source_variable(&reader->source, "PET_NODE_RANK");
    reader->gang.index = replica;
    if (written && parse_unsigned(written, replica, (uint64_t)replica + 1, &rank, NULL) == 0)
        reader->gang.index = (uint32_t)rank;
    else
        reader->gang.worker = type && strcasecmp(type, "master") != 0;
}

static void read_framework_index(struct reader *reader)
{
    const char *from = NULL;
    const char *text = gang_group_index(&reader->source, &from);
    uint32_t index = GANG_INDEX_NONE;
    if (!text) {
        SET_PROBLEM(reader, "nothing says which pod of the gang this is; use an Indexed Job "
                            "(completionMode: Indexed) or set annotation " ANNOTATION_INDEX);
        return;
    }
    read_number(reader, text, from, 0, GANG_MAXIMUM_PODS - 1, &index);
    if (index == GANG_INDEX_NONE)
        return;
    if (strcmp(from, REPLICA_INDEX) == 0)
        read_replica(reader, index);
    else if (!read_job_of_set(reader, index))
        reader->gang.index = index;
}

static void read_index(struct reader *reader)
{
    const char *given = gang_source_annotation(&reader->source, ANNOTATION_INDEX);
    reader->gang.index = GANG_INDEX_NONE;
    if (given)
        read_number(reader, given, ANNOTATION_INDEX, 0, GANG_MAXIMUM_PODS - 1, &reader->gang.index);
    else
        read_framework_index(reader);
    const struct gang_identity *gang = &reader->gang;
    if (gang->size > 0 && gang->index != GANG_INDEX_NONE && gang->index >= gang->size)
        SET_PROBLEM(reader, "index %u is beyond the gang's %u pods, which count from 0",
                    gang->index, gang->size);
}

/* Two objects under one gang's name both count their pods from 0. */
static void read_unit(struct reader *reader)
{
    const char *unit = reader->group.many_owners
                           ? reader->group.name
                           : json_value_text(json_value_get(reader->source.owner, "uid"));
    if (!unit || gang_source_annotation(&reader->source, ANNOTATION_INDEX))
        return;
    uint64_t hash = name_hash_add(NAME_HASH_START, unit, strlen(unit));
    reader->gang.unit = (uint32_t)(hash ^ hash >> 32) | 1;
}

/* --- the identity ------------------------------------------------------------------ */

/* A group that cannot be a name stands for this pod alone, with its problem. */
static int set_key(struct reader *reader, const char *group)
{
    const struct json_value *metadata = json_value_get(reader->source.object, "metadata");
    const char *namespace = json_value_text(json_value_get(metadata, "namespace"));
    if (!object_name_is_good(group)) {
        SET_PROBLEM(reader, "'%.*s' of %s is no name of a group", SHOWN_CHARACTERS, group,
                    reader->gang.found_by);
        group = reader->source.name ? reader->source.name : "?";
    }
    namespace = namespace ? namespace : "default";
    char *key = arena_format(reader->arena, "%s/%s", namespace, group);
    if (!key)
        return -1;
    reader->gang.key = key;
    reader->gang.group = key + strlen(namespace) + 1;
    return 0;
}

/* A gang that is named JOBSET-REPLICATEDJOB. */
static int take_one_job(struct reader *reader, const char *group)
{
    const char *set = gang_source_find(&reader->source, "jobset.sigs.k8s.io/jobset-name");
    const char *job = gang_source_find(&reader->source, "jobset.sigs.k8s.io/replicatedjob-name");
    size_t length = set ? strlen(set) : 0;
    if (!set || !job || reader->group.size_from != GANG_SIZE_OF_JOBSET ||
        strncmp(group, set, length) != 0 || group[length] != '-' ||
        strcmp(group + length + 1, job) != 0)
        return 0;
    reader->of_one_job = true;
    reader->group.size_owner = arena_format(reader->arena, "%s/%s", set, job);
    return reader->group.size_owner ? 0 : -1;
}

static int read_gang(struct reader *reader, const char *group, bool asks_gpus)
{
    reader->gang.native = gang_source_native(&reader->source) != NULL;
    if (set_key(reader, group) < 0 || take_one_job(reader, group) < 0)
        return -1;
    if (!asks_gpus)
        SET_PROBLEM(reader, "the pod asks for no GPU (nvidia.com/gpu, amd.com/gpu); take label "
                            "" LABEL_GANG " away or set a limit");
    read_size(reader);
    read_index(reader);
    read_unit(reader);
    if (reader->problem.kind == ERROR_NONE)
        return 0;
    reader->gang.problem = arena_copy_text(reader->arena, reader->problem.text);
    return reader->gang.problem ? 0 : -1;
}

int gang_identity_read(const struct json_value *object, bool asks_gpus, struct arena *arena,
                       struct gang_identity *ret, struct error_info *err)
{
    struct reader reader = {.arena = arena, .gang = {.found_by = "label " LABEL_GANG}};
    const char *group = NULL;
    gang_source_open(object, &reader.source);
    enum gang_wish wish = wish_of(&reader.source, &group);
    bool may_be_none = wish == GANG_WISH_NONE || (wish == GANG_WISH_AUTO && !asks_gpus);
    if (may_be_none && !reader.source.gated) {
        *ret = (struct gang_identity){.index = GANG_INDEX_NONE};
        return 0;
    }
    gang_group_find(&reader.source, &reader.group);
    if (wish == GANG_WISH_NONE)
        SET_PROBLEM(&reader,
                    "label " LABEL_GANG " keeps the pod out of gangs, and the gate " GANG_GATE
                    " holds it for one; take one of them out of the template");
    if (wish != GANG_WISH_NAMED && reader.group.name) {
        group = reader.group.name;
        reader.gang.found_by = reader.group.found_by;
    } else if (wish != GANG_WISH_NAMED) {
        SET_PROBLEM(&reader, "the pod belongs to no group that is known here; name one: label "
                             "" LABEL_GANG);
        group = reader.source.name ? reader.source.name : "?";
    }
    if (read_gang(&reader, group, asks_gpus) < 0)
        return error_set_memory(err);
    *ret = reader.gang;
    return 0;
}
