/* SPDX-License-Identifier: MIT */
/* node_topology_merge: who the GPUs are, and what the node has besides links and NICs. */
#include "topology/merge/merge_state.h"
#include "topology/text_list.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NODE_ARENA_MAXIMUM_BYTES ((size_t)16 << 20)
#define FACT_VALUE_BYTES 512
#define CATALOGUE_SOURCE "gpu catalogue"

void node_evidence_free(struct node_evidence *evidence)
{
    if (evidence)
        arena_free(evidence->arena);
}

const char *merge_copy_text(struct merge_state *state, const char *text)
{
    return text_list_copy(state->arena, text, &state->failed);
}

void merge_add_fact(struct merge_state *state, const char *fact, const char *source,
                    const char *format, ...)
{
    if (state->node->fact_count == MERGE_MAXIMUM_FACTS)
        return;
    char value[FACT_VALUE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    state->facts[state->node->fact_count++] = (struct topology_fact){
        .fact = merge_copy_text(state, fact),
        .value = merge_copy_text(state, value),
        .source = merge_copy_text(state, source),
    };
}

static bool has_bus_ids(const struct node_evidence *evidence)
{
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        if (!evidence->gpus[i].bus_id)
            return false;
    return evidence->gpu_count > 0;
}

/* Keeps the list sorted and free of doubles; -1: no room. */
static int insert_bus_id(const char **bus_ids, unsigned *count, const char *bus_id)
{
    unsigned at = 0;
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

static int collect_bus_ids(const struct merge_state *state, const char **bus_ids, unsigned *count,
                           struct error_info *err)
{
    for (size_t e = 0; e < state->count; e++) {
        const struct node_evidence *evidence = state->evidence[e];
        for (unsigned i = 0; has_bus_ids(evidence) && i < evidence->gpu_count; i++)
            if (insert_bus_id(bus_ids, count, evidence->gpus[i].bus_id) < 0)
                return error_set(err, "%s: more than %u GPUs in one node", evidence->source_text,
                                 NODE_MAXIMUM_GPUS);
    }
    return 0;
}

static unsigned find_bus_id(const char *const *bus_ids, unsigned count, const char *bus_id)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(bus_ids[i], bus_id) == 0)
            return i;
    return MERGE_NO_GPU;
}

/* Sources without bus ids (presets, files of ours) name GPUs by position, which means
 * something only where the counts agree. */
static void map_gpus(struct merge_state *state, const char *const *bus_ids, unsigned bus_id_count)
{
    for (size_t e = 0; e < state->count; e++) {
        const struct node_evidence *evidence = state->evidence[e];
        bool by_bus_id = has_bus_ids(evidence);
        bool by_position = !by_bus_id && evidence->gpu_count == state->node->gpu_count;
        for (unsigned i = 0; i < evidence->gpu_count; i++) {
            unsigned gpu = by_position ? i : MERGE_NO_GPU;
            if (by_bus_id)
                gpu = find_bus_id(bus_ids, bus_id_count, evidence->gpus[i].bus_id);
            state->gpu_of[e][i] = gpu;
        }
        if (!by_bus_id && !by_position && evidence->gpu_count > 0)
            merge_add_fact(state, "gpus", evidence->source_text,
                           "ignored: %u GPUs named by position, the node has %u",
                           evidence->gpu_count, state->node->gpu_count);
    }
}

static int identify_gpus(struct merge_state *state, struct error_info *err)
{
    const char *bus_ids[NODE_MAXIMUM_GPUS];
    unsigned count = 0;
    if (collect_bus_ids(state, bus_ids, &count, err) < 0)
        return -1;
    struct node_topology *node = state->node;
    node->gpu_count = count;
    for (size_t e = 0; e < state->count && node->gpu_count == 0; e++)
        node->gpu_count = state->evidence[e]->gpu_count;
    state->gpus = arena_allocate_array(state->arena, node->gpu_count, sizeof(*state->gpus));
    if (!state->gpus)
        return error_set_memory(err);
    node->gpus = state->gpus;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        state->gpus[i].numa = NUMA_UNKNOWN;
        state->gpus[i].bus_id = merge_copy_text(state, i < count ? bus_ids[i] : NULL);
    }
    map_gpus(state, bus_ids, count);
    return 0;
}

/* Highest rank first, so that only what is still unknown is taken. */
static void describe_gpus(struct merge_state *state, size_t e, const char *model_texts[],
                          const char *memory_sources[])
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        unsigned index = state->gpu_of[e][i];
        if (index == MERGE_NO_GPU)
            continue;
        const struct evidence_gpu *said = &evidence->gpus[i];
        struct node_gpu *gpu = &state->gpus[index];
        if (!model_texts[index])
            model_texts[index] = said->model_text;
        if (!gpu->uuid)
            gpu->uuid = merge_copy_text(state, said->uuid);
        if (gpu->numa == NUMA_UNKNOWN)
            gpu->numa = said->numa;
        if (gpu->memory_bytes == 0 && said->memory_bytes > 0) {
            gpu->memory_bytes = said->memory_bytes;
            memory_sources[index] = evidence->source_text;
        }
    }
}

static void resolve_models(struct merge_state *state)
{
    const char *texts[NODE_MAXIMUM_GPUS] = {NULL};
    const char *memory_sources[NODE_MAXIMUM_GPUS] = {NULL};
    for (size_t e = 0; e < state->count; e++)
        describe_gpus(state, e, texts, memory_sources);
    for (unsigned i = 0; i < state->node->gpu_count; i++) {
        struct node_gpu *gpu = &state->gpus[i];
        const struct gpu_model *model =
            gpu_catalogue_find(state->catalogue, texts[i], gpu->memory_bytes);
        state->models[i] = model;
        gpu->model = merge_copy_text(state, model ? model->name : texts[i]);
        if (gpu->memory_bytes == 0 && model) {
            gpu->memory_bytes = model->memory_bytes;
            memory_sources[i] = CATALOGUE_SOURCE;
        }
        char fact[32];
        snprintf(fact, sizeof(fact), "gpu %u memory", i);
        if (gpu->memory_bytes > 0)
            merge_add_fact(state, fact, memory_sources[i], "%llu bytes",
                           (unsigned long long)gpu->memory_bytes);
        else
            merge_add_fact(state, fact, state->evidence[0]->source_text, "unknown");
    }
}

static void add_gpu_facts(struct merge_state *state)
{
    const struct node_topology *node = state->node;
    const char *source = state->evidence[0]->source_text;
    for (size_t e = state->count; e-- > 0;)
        if (state->evidence[e]->gpu_count > 0)
            source = state->evidence[e]->source_text;
    merge_add_fact(state, "gpus", source, "%u", node->gpu_count);
    for (unsigned first = 0, last; first < node->gpu_count; first = last) {
        for (last = first + 1; last < node->gpu_count; last++)
            if (!node->gpus[first].model || !node->gpus[last].model ||
                strcmp(node->gpus[first].model, node->gpus[last].model) != 0)
                break;
        merge_add_fact(state, "gpu models", source, "%u x %s", last - first,
                       node->gpus[first].model ? node->gpus[first].model : "unknown");
    }
}

static void merge_host(struct merge_state *state)
{
    struct node_topology *node = state->node;
    for (size_t e = 0; e < state->count; e++) {
        const struct node_evidence *evidence = state->evidence[e];
        if (node->host_memory_bytes == 0 && evidence->host_memory_bytes > 0) {
            node->host_memory_bytes = evidence->host_memory_bytes;
            merge_add_fact(state, "host memory", evidence->source_text, "%llu bytes",
                           (unsigned long long)node->host_memory_bytes);
        }
        if (node->host_nvme_bytes == 0)
            node->host_nvme_bytes = evidence->host_nvme_bytes;
        if (node->cpu_count == 0)
            node->cpu_count = evidence->cpu_count;
        if (node->pcie_bytes_per_second == 0)
            node->pcie_bytes_per_second = evidence->pcie_bytes_per_second;
    }
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = state->models[i] ? state->models[i]->pcie_bytes_per_second : 0;
        if (node->pcie_bytes_per_second == 0 && rate > 0) {
            node->pcie_bytes_per_second = rate;
            merge_add_fact(state, "pcie", CATALOGUE_SOURCE, "%.4g GB/s", rate / 1e9);
        }
    }
}

static void add_notes(struct merge_state *state)
{
    for (size_t e = 0; e < state->count; e++)
        for (size_t i = 0; i < state->evidence[e]->note_count; i++)
            merge_add_fact(state, "note", state->evidence[e]->source_text, "%s",
                           state->evidence[e]->notes[i]);
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

static int merge_all(struct merge_state *state, struct error_info *err)
{
    if (identify_gpus(state, err) < 0)
        return -1;
    resolve_models(state);
    add_gpu_facts(state);
    merge_host(state);
    if (merge_nvlink(state, err) < 0 || merge_nics(state, err) < 0)
        return -1;
    add_notes(state);
    state->node->facts = state->facts;
    return state->failed ? error_set_memory(err) : 0;
}

struct node_topology *node_topology_merge(const char *name,
                                          const struct node_evidence *const *evidence, size_t count,
                                          const struct gpu_catalogue *gpus, struct error_info *err)
{
    CLEANUP_MEMORY struct merge_state *state = memory_allocate(sizeof(*state));
    if (!state)
        return error_null(error_set_memory(err));
    if (rank_evidence(state, evidence, count, err) < 0)
        return NULL;
    CLEANUP(arena) struct arena *arena = arena_create(NODE_ARENA_MAXIMUM_BYTES);
    struct node_topology *node = arena ? arena_allocate(arena, sizeof(*node)) : NULL;
    state->facts =
        node ? arena_allocate_array(arena, MERGE_MAXIMUM_FACTS, sizeof(*state->facts)) : NULL;
    if (!state->facts)
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
