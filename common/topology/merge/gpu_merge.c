/* SPDX-License-Identifier: MIT */
/* node_topology_merge: which GPUs there are and what each is. */
#include "topology/merge/merge_state.h"
#include <stdio.h>
#include <string.h>

#define CATALOGUE_SOURCE "gpu catalogue"

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

/* Who said what of each GPU first, that is with the highest rank. */
struct gpu_sources {
    const char *model_texts[NODE_MAXIMUM_GPUS];
    const char *memory[NODE_MAXIMUM_GPUS];
    const char *numa[NODE_MAXIMUM_GPUS];
};

static void take_numa(struct merge_state *state, size_t e, unsigned index, int said,
                      struct gpu_sources *sources)
{
    struct node_gpu *gpu = &state->gpus[index];
    if (said == NUMA_UNKNOWN)
        return;
    if (gpu->numa == NUMA_UNKNOWN) {
        gpu->numa = said;
        sources->numa[index] = state->evidence[e]->source_text;
    } else if (gpu->numa != said) {
        merge_conflict(state, merge_format(state, "NUMA node of GPU %u", index),
                       sources->numa[index], merge_format(state, "%d", gpu->numa),
                       state->evidence[e]->source_text, merge_format(state, "%d", said));
    }
}

static bool is_known_model(const struct merge_state *state, const char *text)
{
    return text && state->catalogue && gpu_catalogue_find(state->catalogue, text, 0);
}

/* A name that the catalogue knows is worth more than a higher source's that it does not. */
static void take_model(const struct merge_state *state, const char *said, const char **text)
{
    if (!*text || (said && !is_known_model(state, *text) && is_known_model(state, said)))
        *text = said;
}

/* Highest rank first, so that only what is still unknown is taken. */
static void describe_gpu(struct merge_state *state, size_t e, const struct evidence_gpu *said,
                         unsigned index, struct gpu_sources *sources)
{
    struct node_gpu *gpu = &state->gpus[index];
    take_model(state, said->model_text, &sources->model_texts[index]);
    if (!gpu->uuid)
        gpu->uuid = merge_copy_text(state, said->uuid);
    if (!gpu->cpus)
        gpu->cpus = merge_copy_text(state, said->cpus);
    gpu->mig = gpu->mig || said->mig;
    gpu->nvlink_lost = gpu->nvlink_lost || said->nvlink_lost;
    merge_gpu_problem(state, index, said->problem);
    take_numa(state, e, index, said->numa, sources);
    if (gpu->memory_bytes == 0 && said->memory_bytes > 0) {
        gpu->memory_bytes = said->memory_bytes;
        sources->memory[index] = state->evidence[e]->source_text;
    }
}

static void describe_gpus(struct merge_state *state, size_t e, struct gpu_sources *sources)
{
    const struct node_evidence *evidence = state->evidence[e];
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        if (state->gpu_of[e][i] != MERGE_NO_GPU)
            describe_gpu(state, e, &evidence->gpus[i], state->gpu_of[e][i], sources);
}

static void resolve_models(struct merge_state *state)
{
    struct gpu_sources sources = {.memory = {NULL}};
    for (size_t e = 0; e < state->count; e++)
        describe_gpus(state, e, &sources);
    for (unsigned i = 0; i < state->node->gpu_count; i++) {
        struct node_gpu *gpu = &state->gpus[i];
        const struct gpu_model *model =
            state->catalogue
                ? gpu_catalogue_find(state->catalogue, sources.model_texts[i], gpu->memory_bytes)
                : NULL;
        state->models[i] = model;
        gpu->model = merge_copy_text(state, model ? model->name : sources.model_texts[i]);
        if (gpu->memory_bytes == 0 && model) {
            gpu->memory_bytes = model->memory_bytes;
            sources.memory[i] = CATALOGUE_SOURCE;
        }
        char fact[32];
        snprintf(fact, sizeof(fact), "gpu %u memory", i);
        if (gpu->memory_bytes > 0)
            merge_add_fact(state, fact, sources.memory[i], "%llu bytes",
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

static void hide(struct merge_state *state, unsigned gpu, bool listed)
{
    const struct gpu_model *model = state->models[gpu];
    if (listed || !model || strcmp(model->vendor, "nvidia") != 0)
        return;
    state->hidden[gpu] = true;
    merge_gpu_problem(state, gpu, "the driver does not list it: hidden from this process, or lost");
}

/* NVML lists what this process may use: a board that only PCI shows is hidden or lost. */
static void find_hidden(struct merge_state *state)
{
    for (size_t e = 0; e < state->count; e++) {
        const struct node_evidence *evidence = state->evidence[e];
        bool listed[NODE_MAXIMUM_GPUS] = {false};
        if (evidence->source != EVIDENCE_NVML || evidence->gpu_count == 0)
            continue;
        for (unsigned i = 0; i < evidence->gpu_count; i++)
            if (state->gpu_of[e][i] != MERGE_NO_GPU)
                listed[state->gpu_of[e][i]] = true;
        for (unsigned i = 0; i < state->node->gpu_count; i++)
            hide(state, i, listed[i]);
    }
}

int merge_gpus(struct merge_state *state, struct error_info *err)
{
    if (identify_gpus(state, err) < 0)
        return -1;
    resolve_models(state);
    add_gpu_facts(state);
    find_hidden(state);
    return 0;
}
