/* SPDX-License-Identifier: MIT */
/* node_topology_merge: the order of its parts, and what the node has besides GPUs and NICs. */
#include "topology/merge/merge_state.h"
#include <string.h>

#define NODE_ARENA_MAXIMUM_BYTES ((size_t)16 << 20)

void node_evidence_free(struct node_evidence *evidence)
{
    if (evidence)
        arena_free(evidence->arena);
}

static void merge_host(struct merge_state *state)
{
    struct node_topology *node = state->node;
    for (size_t e = 0; e < merge_count(state); e++) {
        const struct node_evidence *evidence = state->evidence[e];
        if (node->host_memory_bytes == 0 && evidence->host_memory_bytes > 0) {
            node->host_memory_bytes = evidence->host_memory_bytes;
            merge_add_fact(state, "host memory", evidence->source_text, "%llu bytes",
                           (unsigned long long)node->host_memory_bytes);
        }
        if (!node->driver_version && evidence->driver_version) {
            node->driver_version = merge_copy_text(state, evidence->driver_version);
            merge_add_fact(state, "driver", evidence->source_text, "%s", evidence->driver_version);
        }
        if (node->host_nvme_bytes == 0)
            node->host_nvme_bytes = evidence->host_nvme_bytes;
        if (node->cpu_count == 0)
            node->cpu_count = evidence->cpu_count;
        if (node->pcie_bytes_per_second == 0 && merge_counts(state, e))
            node->pcie_bytes_per_second = evidence->pcie_bytes_per_second;
    }
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = state->models[i] ? state->models[i]->pcie_bytes_per_second : 0;
        if (node->pcie_bytes_per_second == 0 && rate > 0) {
            node->pcie_bytes_per_second = rate;
            merge_add_fact(state, "pcie", MERGE_CATALOGUE_SOURCE, "%.4g GB/s", rate / 1e9);
        }
    }
}

static void add_note(struct merge_state *state, const char *source, const char *note)
{
    size_t mark = strlen(EVIDENCE_WARNING);
    merge_add_fact(state, "note", source, "%s", note);
    if (strncmp(note, EVIDENCE_WARNING, mark) == 0)
        merge_warn(state, "%s: %s", source, note + mark);
}

static void add_notes(struct merge_state *state)
{
    for (size_t e = 0; REMARKS_KEPT && e < merge_count(state); e++)
        for (size_t i = 0; i < state->evidence[e]->note_count; i++)
            add_note(state, state->evidence[e]->source_text, state->evidence[e]->notes[i]);
}

static int rank_evidence(struct merge_state *state, const struct node_evidence *const *evidence,
                         size_t count, struct error_info *err)
{
    if (count == 0 || count > MERGE_MAXIMUM_SOURCES)
        return error_set(err, "%zu sources for one node; 1 to %u are possible", count,
                         MERGE_MAXIMUM_SOURCES);
    for (size_t i = 0; i < count; i++) {
        if (evidence[i]->gpu_count > NODE_MAXIMUM_GPUS)
            return error_set(err, "%s: %u GPUs are more than the %u that are possible",
                             evidence[i]->source_text, evidence[i]->gpu_count, NODE_MAXIMUM_GPUS);
        size_t at = i;
        for (; at > 0 && state->evidence[at - 1]->source < evidence[i]->source; at--)
            state->evidence[at] = state->evidence[at - 1];
        state->evidence[at] = evidence[i];
    }
    state->count = count;
    return 0;
}

/* A node file alone carries what an earlier merge found, with the sources of that time. */
static void keep_facts(struct merge_state *state)
{
    const struct node_evidence *only = state->evidence[0];
    if (!REMARKS_KEPT || merge_count(state) > 1 || !only->facts)
        return;
    state->node->fact_count = 0;
    for (size_t i = 0; i < only->fact_count; i++)
        merge_add_fact(state, only->facts[i].fact, only->facts[i].source, "%s",
                       only->facts[i].value);
}

static int merge_all(struct merge_state *state, struct error_info *err)
{
    if (merge_gpus(state, err) < 0)
        return -1;
    merge_host(state);
    if (merge_nvlink(state, err) < 0 || merge_nics(state, err) < 0)
        return -1;
    merge_health(state);
    add_notes(state);
    keep_facts(state);
    state->node->facts = state->facts;
    state->node->warnings = state->warnings;
    return state->failed ? error_set_memory(err) : 0;
}

static struct node_topology *merge(const char *name, const struct node_evidence *const *evidence,
                                   size_t count, const struct gpu_catalogue *gpus,
                                   const struct merge_comparison *comparison,
                                   struct error_info *err)
{
    CLEANUP_MEMORY struct merge_state *state = memory_allocate(sizeof(*state));
    if (!state)
        return error_null(error_set_memory(err));
    state->comparison = comparison;
    if (rank_evidence(state, evidence, count, err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(NODE_ARENA_MAXIMUM_BYTES);
    struct node_topology *node = arena ? arena_allocate(arena, sizeof(*node)) : NULL;
    if (node) {
        state->facts = arena_allocate_array(arena, MERGE_MAXIMUM_FACTS, sizeof(*state->facts));
        state->warnings =
            arena_allocate_array(arena, MERGE_MAXIMUM_WARNINGS, sizeof(*state->warnings));
    }
    if (!node || !state->facts || !state->warnings)
        return error_null(error_set_memory(err));
    state->arena = arena;
    state->catalogue = gpus;
    state->node = node;
    node->arena = arena;
    node->name = merge_copy_text(state, name);
    if (merge_all(state, err) < 0)
        return NULL;
    arena = NULL; /* the node's from here on */
    return node;
}

struct node_topology *node_topology_merge(const char *name,
                                          const struct node_evidence *const *evidence, size_t count,
                                          const struct gpu_catalogue *gpus, struct error_info *err)
{
    return merge(name, evidence, count, gpus, &merge_comparison, err);
}

struct node_topology *node_topology_of(const char *name, const struct node_evidence *evidence,
                                       const struct gpu_catalogue *gpus, struct error_info *err)
{
    return merge(name, &evidence, 1, gpus, NULL, err);
}
