/* SPDX-License-Identifier: MIT */
/* node_topology_merge: which GPUs there are, and which of them a source means. */
#include "topology/merge/merge_state.h"
#include <string.h>

struct identity {
    const char *bus_ids[NODE_MAXIMUM_GPUS]; /* ascending; none: GPUs are named by position */
    const char *uuids[NODE_MAXIMUM_GPUS];   /* NULL: no source tells */
    unsigned bus_id_count, count;
};

static bool has_bus_ids(const struct node_evidence *evidence)
{
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        if (!evidence->gpus[i].bus_id)
            return false;
    return evidence->gpu_count > 0;
}

/* What they list is what their process may use; others list what the node has. */
static bool sees_its_process(const struct node_evidence *evidence)
{
    return evidence->source == EVIDENCE_NVML || evidence->source == EVIDENCE_NCCL_XML;
}

/* Keeps the list sorted and free of doubles; -1: no room. */
static int insert_bus_id(struct identity *identity, const char *bus_id)
{
    unsigned at = 0, *count = &identity->bus_id_count;
    const char **bus_ids = identity->bus_ids;
    while (at < *count && strcmp(bus_ids[at], bus_id) < 0)
        at++;
    if (at < *count && strcmp(bus_ids[at], bus_id) == 0)
        return 0;
    if (*count == NODE_MAXIMUM_GPUS)
        return -1;
    memmove(&bus_ids[at + 1], &bus_ids[at], (*count - at) * sizeof(*bus_ids));
    bus_ids[at] = bus_id;
    (*count)++;
    return 0;
}

static int collect_bus_ids(const struct merge_state *state, struct identity *identity,
                           struct error_info *err)
{
    for (size_t e = 0; e < merge_count(state); e++) {
        const struct node_evidence *evidence = state->evidence[e];
        for (unsigned i = 0; has_bus_ids(evidence) && i < evidence->gpu_count; i++)
            if (insert_bus_id(identity, evidence->gpus[i].bus_id) < 0)
                return error_set(err, "%s: more than %u GPUs in one node", evidence->source_text,
                                 NODE_MAXIMUM_GPUS);
    }
    identity->count = identity->bus_id_count;
    for (size_t e = 0; e < merge_count(state) && identity->count == 0; e++)
        identity->count = state->evidence[e]->gpu_count;
    return 0;
}

static unsigned find_text(const char *const *texts, unsigned count, const char *text)
{
    for (unsigned i = 0; text && i < count; i++)
        if (texts[i] && strcmp(texts[i], text) == 0)
            return i;
    return MERGE_NO_GPU;
}

static unsigned find_gpu(const struct identity *identity, const struct evidence_gpu *gpu)
{
    unsigned found = find_text(identity->bus_ids, identity->bus_id_count, gpu->bus_id);
    return found != MERGE_NO_GPU ? found : find_text(identity->uuids, identity->count, gpu->uuid);
}

static void learn_uuids(const struct merge_state *state, size_t e, struct identity *identity)
{
    for (unsigned i = 0; i < state->evidence[e]->gpu_count; i++) {
        unsigned gpu = state->gpu_of[e][i];
        if (gpu != MERGE_NO_GPU && !identity->uuids[gpu])
            identity->uuids[gpu] = state->evidence[e]->gpus[i].uuid;
    }
}

/* The sources by which the others' GPUs are found: all with bus ids; without such the first. */
static void map_leaders(struct merge_state *state, struct identity *identity)
{
    for (size_t e = 0; e < merge_count(state); e++) {
        const struct node_evidence *evidence = state->evidence[e];
        bool leads = identity->bus_id_count > 0 ? has_bus_ids(evidence)
                                                : evidence->gpu_count > 0 && !state->gpu_source;
        if (!leads)
            continue;
        for (unsigned i = 0; i < evidence->gpu_count; i++)
            state->gpu_of[e][i] =
                identity->bus_id_count > 0
                    ? find_text(identity->bus_ids, identity->bus_id_count, evidence->gpus[i].bus_id)
                    : i;
        state->gpus_known[e] = true;
        if (!merge_is_of_one(state))
            learn_uuids(state, e, identity);
        if (!state->gpu_source)
            state->gpu_source = evidence->source_text;
    }
}

static bool all_have_uuids(const struct node_evidence *evidence, const struct identity *identity)
{
    bool all = true;
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        all = all && evidence->gpus[i].uuid;
    for (unsigned i = 0; i < identity->count; i++)
        all = all && identity->uuids[i];
    return all;
}

static void report_unknown(struct merge_state *state, size_t e, unsigned found)
{
    const struct node_evidence *evidence = state->evidence[e];
    unsigned unknown = evidence->gpu_count - found;
    const char *why = "no other source knows their UUIDs";
    if (unknown == 0)
        return;
    if (!state->gpus_known[e] && evidence->gpu_count != state->node->gpu_count)
        why = merge_format(state, "they are named by position, and the node has %u",
                           state->node->gpu_count);
    merge_add_fact(state, "gpus", evidence->source_text, "ignored: %u of %u: %s", unknown,
                   evidence->gpu_count, why);
    merge_warn(state, "%s: GPUs ignored: %u of %u, %s", evidence->source_text, unknown,
               evidence->gpu_count, why);
}

/* By bus id, else by UUID. Position means something only where the counts agree and no UUID
 * says otherwise. */
static void map_follower(struct merge_state *state, size_t e, const struct identity *identity)
{
    const struct node_evidence *evidence = state->evidence[e];
    unsigned found = 0;
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        state->gpu_of[e][i] = find_gpu(identity, &evidence->gpus[i]);
        found += state->gpu_of[e][i] != MERGE_NO_GPU;
    }
    if (found == 0 && evidence->gpu_count == identity->count && !all_have_uuids(evidence, identity))
        for (; found < evidence->gpu_count; found++)
            state->gpu_of[e][found] = found;
    state->gpus_known[e] = found > 0;
    report_unknown(state, e, found);
}

static uint64_t listed_gpus(const struct merge_state *state, size_t e)
{
    uint64_t listed = 0;
    for (unsigned i = 0; i < state->evidence[e]->gpu_count; i++)
        if (state->gpu_of[e][i] != MERGE_NO_GPU)
            listed |= (uint64_t)1 << state->gpu_of[e][i];
    return listed;
}

/* The highest source that lists the node's GPUs; merge_count(state): none has bus ids. */
static size_t find_reference(const struct merge_state *state)
{
    size_t reference = merge_count(state);
    for (size_t e = 0; e < merge_count(state); e++)
        if (has_bus_ids(state->evidence[e]) &&
            (reference == merge_count(state) || (sees_its_process(state->evidence[reference]) &&
                                                 !sees_its_process(state->evidence[e]))))
            reference = e;
    return reference;
}

static void report_counts(struct merge_state *state, size_t reference)
{
    uint64_t usual = listed_gpus(state, reference);
    for (size_t e = 0; e < merge_count(state); e++) {
        const struct node_evidence *evidence = state->evidence[e];
        uint64_t listed = listed_gpus(state, e);
        bool more = (listed & ~usual) != 0, fewer = (usual & ~listed) != 0;
        if (!has_bus_ids(evidence) || !(more || (fewer && !sees_its_process(evidence))))
            continue;
        const char *first = state->evidence[reference]->source_text;
        unsigned there = (unsigned)__builtin_popcountll(usual);
        merge_add_fact(state, "conflict", first, "gpus: %u; %s says %u; together %u", there,
                       evidence->source_text, evidence->gpu_count, state->node->gpu_count);
        merge_warn(state, "GPUs: %s lists %u, %s %u; the node is taken to have all %u", first,
                   there, evidence->source_text, evidence->gpu_count, state->node->gpu_count);
    }
}

/* One that lists all; else those that do together. */
static void name_source(struct merge_state *state)
{
    const char *together = NULL;
    uint64_t listed = 0;
    for (size_t e = 0; e < merge_count(state); e++) {
        const char *source = state->evidence[e]->source_text;
        uint64_t own = has_bus_ids(state->evidence[e]) ? listed_gpus(state, e) : 0;
        if ((unsigned)__builtin_popcountll(own) == state->node->gpu_count) {
            state->gpu_source = source;
            return;
        }
        if (own & ~listed)
            together = together ? merge_format(state, "%s, %s", together, source) : source;
        listed |= own;
    }
    state->gpu_source = together;
}

static int create_gpus(struct merge_state *state, const struct identity *identity,
                       struct error_info *err)
{
    state->node->gpu_count = identity->count;
    state->gpus = arena_allocate_array(state->arena, identity->count, sizeof(*state->gpus));
    if (!state->gpus)
        return error_set_memory(err);
    state->node->gpus = state->gpus;
    for (unsigned i = 0; i < identity->count; i++) {
        state->gpus[i].numa = NUMA_UNKNOWN;
        state->gpus[i].bus_id =
            merge_copy_text(state, i < identity->bus_id_count ? identity->bus_ids[i] : NULL);
    }
    return 0;
}

static void map_others(struct merge_state *state, const struct identity *identity)
{
    for (size_t e = 0; e < state->count; e++)
        if (state->evidence[e]->gpu_count > 0 && !state->gpus_known[e])
            map_follower(state, e, identity);
    size_t reference = find_reference(state);
    if (reference < state->count) {
        report_counts(state, reference);
        name_source(state);
    }
}

int merge_gpu_identity(struct merge_state *state, struct error_info *err)
{
    struct identity identity = {.count = 0};
    if (collect_bus_ids(state, &identity, err) < 0 || create_gpus(state, &identity, err) < 0)
        return -1;
    map_leaders(state, &identity);
    if (!merge_is_of_one(state))
        map_others(state, &identity);
    if (!state->gpu_source)
        state->gpu_source = state->evidence[0]->source_text;
    return 0;
}
