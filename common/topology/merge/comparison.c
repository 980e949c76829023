/* SPDX-License-Identifier: MIT */
/* node_topology_merge: contradictions between sources, and GPUs that only some list. */
#include "topology/merge/merge_state.h"
#include <math.h>
#include <string.h>

#define MEMORY_MAY_DIFFER 0.02 /* CUDA's total, the driver's and the kernel's */

static const struct gpu_model *find_model(const struct merge_state *state, unsigned gpu,
                                          const struct evidence_gpu *said)
{
    if (!state->catalogue || !said->model_text)
        return NULL;
    return gpu_catalogue_find(state->catalogue, said->model_text, state->gpus[gpu].memory_bytes);
}

/* Names that the catalogue does not have may be other words for the same. */
static bool tells_model(const struct merge_state *state, unsigned gpu,
                        const struct evidence_gpu *said)
{
    return find_model(state, gpu, said);
}

static bool models_differ(const struct merge_state *state, unsigned gpu,
                          const struct evidence_gpu *first, const struct evidence_gpu *second)
{
    return find_model(state, gpu, first) != find_model(state, gpu, second);
}

static const char *model_text(struct merge_state *state, const struct evidence_gpu *said)
{
    return merge_copy_text(state, said->model_text);
}

static bool tells_memory(const struct merge_state *state, unsigned gpu,
                         const struct evidence_gpu *said)
{
    (void)state;
    (void)gpu;
    return said->memory_bytes > 0;
}

static bool memories_differ(const struct merge_state *state, unsigned gpu,
                            const struct evidence_gpu *first, const struct evidence_gpu *second)
{
    (void)state;
    (void)gpu;
    double here = (double)first->memory_bytes, there = (double)second->memory_bytes;
    return fabs(here - there) > (here > there ? here : there) * MEMORY_MAY_DIFFER;
}

static const char *memory_text(struct merge_state *state, const struct evidence_gpu *said)
{
    return merge_format(state, "%.4g GiB", (double)said->memory_bytes / (1 << 30));
}

static bool tells_uuid(const struct merge_state *state, unsigned gpu,
                       const struct evidence_gpu *said)
{
    (void)state;
    (void)gpu;
    return said->uuid;
}

/* Those of AMD are written in several ways; of one way they have one length. */
static bool uuids_differ(const struct merge_state *state, unsigned gpu,
                         const struct evidence_gpu *first, const struct evidence_gpu *second)
{
    (void)state;
    (void)gpu;
    return strlen(first->uuid) == strlen(second->uuid) && strcmp(first->uuid, second->uuid) != 0;
}

static const char *uuid_text(struct merge_state *state, const struct evidence_gpu *said)
{
    return merge_copy_text(state, said->uuid);
}

static bool tells_numa(const struct merge_state *state, unsigned gpu,
                       const struct evidence_gpu *said)
{
    (void)state;
    (void)gpu;
    return said->numa != NUMA_UNKNOWN;
}

static bool numas_differ(const struct merge_state *state, unsigned gpu,
                         const struct evidence_gpu *first, const struct evidence_gpu *second)
{
    (void)state;
    (void)gpu;
    return first->numa != second->numa;
}

static const char *numa_text(struct merge_state *state, const struct evidence_gpu *said)
{
    return merge_format(state, "%d", said->numa);
}

struct gpu_property {
    const char *name;
    bool (*tells)(const struct merge_state *state, unsigned gpu, const struct evidence_gpu *said);
    bool (*differ)(const struct merge_state *state, unsigned gpu, const struct evidence_gpu *first,
                   const struct evidence_gpu *second);
    const char *(*text)(struct merge_state *state, const struct evidence_gpu *said);
};

static const struct gpu_property properties[] = {
    {"model", tells_model, models_differ, model_text},
    {"memory", tells_memory, memories_differ, memory_text},
    {"UUID", tells_uuid, uuids_differ, uuid_text},
    {"NUMA node", tells_numa, numas_differ, numa_text},
};

static const struct evidence_gpu *find_said(const struct merge_state *state, size_t e, unsigned gpu)
{
    for (unsigned i = 0; i < state->evidence[e]->gpu_count; i++)
        if (state->gpu_of[e][i] == gpu)
            return &state->evidence[e]->gpus[i];
    return NULL;
}

/* The highest source above e that tells it. */
static const struct evidence_gpu *find_standing(const struct merge_state *state, size_t e,
                                                unsigned gpu, const struct gpu_property *property,
                                                size_t *ret_source)
{
    for (size_t above = 0; above < e; above++) {
        const struct evidence_gpu *said = find_said(state, above, gpu);
        if (said && property->tells(state, gpu, said)) {
            *ret_source = above;
            return said;
        }
    }
    return NULL;
}

static void compare_property(struct merge_state *state, size_t e,
                             const struct gpu_property *property)
{
    const struct evidence_gpu *stands = NULL, *falls = NULL;
    size_t winner = 0;
    unsigned first = 0, count = 0;
    for (unsigned gpu = 0; gpu < state->node->gpu_count; gpu++) {
        size_t source = 0;
        const struct evidence_gpu *said = find_said(state, e, gpu);
        if (!said || !property->tells(state, gpu, said))
            continue;
        const struct evidence_gpu *above = find_standing(state, e, gpu, property, &source);
        if (!above || !property->differ(state, gpu, above, said) || count++ > 0)
            continue;
        stands = above;
        falls = said;
        winner = source;
        first = gpu;
    }
    if (count > 0)
        merge_conflict(state,
                       merge_format(state, "%s of GPU %u%s", property->name, first,
                                    count > 1 ? " (and others)" : ""),
                       state->evidence[winner]->source_text, property->text(state, stands),
                       state->evidence[e]->source_text, property->text(state, falls));
}

static void hide(struct merge_state *state, unsigned gpu, bool listed)
{
    const struct gpu_model *model = state->models[gpu];
    if (listed || !model || strcmp(model->vendor, "nvidia") != 0)
        return;
    state->hidden[gpu] = true;
    merge_gpu_finding(state, gpu, "the driver does not list it: hidden from this process, or lost");
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

static void compare_gpus(struct merge_state *state)
{
    for (size_t e = 1; e < state->count; e++)
        for (size_t i = 0; i < COUNT_OF(properties); i++)
            compare_property(state, e, &properties[i]);
    find_hidden(state);
}

static void compare_links(struct merge_state *state, const struct link_contradiction *found,
                          const char *loser)
{
    const char *what = merge_format(state, "NVLink of GPUs %u and %u%s", found->first,
                                    found->second, found->count > 1 ? " (and others)" : "");
    merge_conflict(state, what, found->winner->source_text, found->denies ? "a link" : "none",
                   loser, found->denies ? "none" : "a link");
}

/* Of one that the driver does not list nobody may know the links: unknown, not none. */
static void report_open_links(struct merge_state *state,
                              const struct node_evidence *const *decided_by)
{
    size_t n = state->node->gpu_count;
    unsigned first = 0, count = 0;
    for (unsigned i = 0; i < n; i++) {
        bool open = false;
        bool asked = state->hidden[i] && state->models[i]->nvlink_bytes_per_second > 0;
        for (size_t j = 0; asked && j < n; j++)
            open = open || (i != j && !decided_by[i * n + j]);
        if (open && count++ == 0)
            first = i;
    }
    if (count > 0)
        merge_warn(state, "NVLink of GPU %u%s is not known: the driver does not list it", first,
                   count > 1 ? " (and others)" : "");
}

const struct merge_comparison merge_comparison = {
    .gpus = compare_gpus,
    .links = compare_links,
    .open_links = report_open_links,
};
