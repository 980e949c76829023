/* SPDX-License-Identifier: MIT */
/* node_topology_merge: what each GPU is. */
#include "topology/merge/merge_state.h"
#include <stdio.h>
#include <string.h>

/* Who said what of each GPU first, that is with the highest rank. */
struct gpu_sources {
    const char *model_texts[NODE_MAXIMUM_GPUS];
    const char *models[NODE_MAXIMUM_GPUS];
    const char *memory[NODE_MAXIMUM_GPUS];
};

static bool is_known_model(const struct merge_state *state, const char *text)
{
    return text && state->catalogue && gpu_catalogue_find(state->catalogue, text, 0);
}

/* A name that the catalogue knows is worth more than a higher source's that it does not. */
static void take_model(const struct merge_state *state, size_t e, const char *said, unsigned index,
                       struct gpu_sources *sources)
{
    const char **text = &sources->model_texts[index];
    if (!said || (*text && (is_known_model(state, *text) || !is_known_model(state, said))))
        return;
    *text = said;
    sources->models[index] = state->evidence[e]->source_text;
}

/* Highest rank first, so that only what is still unknown is taken. */
static void describe_gpu(struct merge_state *state, size_t e, const struct evidence_gpu *said,
                         unsigned index, struct gpu_sources *sources)
{
    struct node_gpu *gpu = &state->gpus[index];
    take_model(state, e, said->model_text, index, sources);
    if (!gpu->uuid)
        gpu->uuid = merge_copy_text(state, said->uuid);
    if (!gpu->cpus)
        gpu->cpus = merge_copy_text(state, said->cpus);
    gpu->mig = gpu->mig || said->mig;
    gpu->nvlink_lost = gpu->nvlink_lost || said->nvlink_lost;
    merge_gpu_problem(state, index, said->problem);
    if (gpu->numa == NUMA_UNKNOWN)
        gpu->numa = said->numa;
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

static void add_memory_fact(struct merge_state *state, unsigned gpu, const char *source)
{
    if (!REMARKS_KEPT)
        return;
    char fact[32];
    unsigned long long bytes = state->gpus[gpu].memory_bytes;
    snprintf(fact, sizeof(fact), "gpu %u memory", gpu);
    if (bytes > 0)
        merge_add_fact(state, fact, source, "%llu bytes", bytes);
    else
        merge_add_fact(state, fact, state->gpu_source, "unknown");
}

static void resolve_models(struct merge_state *state, struct gpu_sources *sources)
{
    for (size_t e = 0; e < merge_count(state); e++)
        describe_gpus(state, e, sources);
    for (unsigned i = 0; i < state->node->gpu_count; i++) {
        struct node_gpu *gpu = &state->gpus[i];
        const struct gpu_model *model =
            state->catalogue
                ? gpu_catalogue_find(state->catalogue, sources->model_texts[i], gpu->memory_bytes)
                : NULL;
        state->models[i] = model;
        gpu->model = merge_copy_text(state, model ? model->name : sources->model_texts[i]);
        if (gpu->memory_bytes == 0 && model) {
            gpu->memory_bytes = model->memory_bytes;
            sources->memory[i] = MERGE_CATALOGUE_SOURCE;
        }
        add_memory_fact(state, i, sources->memory[i]);
    }
}

static bool is_same_model(const struct node_gpu *left, const struct node_gpu *right)
{
    return left->model && right->model && strcmp(left->model, right->model) == 0;
}

static void add_gpu_facts(struct merge_state *state, const struct gpu_sources *sources)
{
    const struct node_topology *node = state->node;
    if (!REMARKS_KEPT)
        return;
    merge_add_fact(state, "gpus", state->gpu_source, "%u", node->gpu_count);
    for (unsigned first = 0, last; first < node->gpu_count; first = last) {
        for (last = first + 1; last < node->gpu_count; last++)
            if (!is_same_model(&node->gpus[first], &node->gpus[last]))
                break;
        const char *source = sources->models[first];
        merge_add_fact(state, "gpu models", source ? source : state->gpu_source, "%u x %s",
                       last - first, node->gpus[first].model ? node->gpus[first].model : "unknown");
    }
}

int merge_gpus(struct merge_state *state, struct error_info *err)
{
    struct gpu_sources sources = {.memory = {NULL}};
    if (merge_gpu_identity(state, err) < 0)
        return -1;
    resolve_models(state, &sources);
    add_gpu_facts(state, &sources);
    if (!merge_is_of_one(state))
        state->comparison->gpus(state);
    return 0;
}
