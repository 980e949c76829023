/* SPDX-License-Identifier: MIT */
/* node_topology_merge: NVLink and XGMI between the GPUs, PCIe classes, how far NVLink goes. */
#include "topology/merge/link_rates.h"
#include <math.h>
#include <string.h>

/* Per pair: who decided it. */
struct pair_facts {
    double *bytes_per_second;                /* gpu_count^2 */
    const struct node_evidence **decided_by; /* gpu_count^2; NULL: open */
    enum link_kind *links;                   /* gpu_count^2 */
    const struct node_evidence *decider;     /* highest rank with a link, else with an answer */
    bool has_link, assumed;                  /* assumed: rates by NVLINK_RATE_ASSUMED */
    bool switched;                           /* as the decider's links meet */
};

static void decide_pair(struct pair_facts *pairs, size_t n, unsigned first, unsigned second,
                        const struct node_evidence *by, double bytes_per_second)
{
    pairs->decided_by[first * n + second] = pairs->decided_by[second * n + first] = by;
    pairs->bytes_per_second[first * n + second] = bytes_per_second;
    pairs->bytes_per_second[second * n + first] = bytes_per_second;
}

/* False: one of the two is not the node's. */
static bool map_pair(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                     unsigned *ret_first, unsigned *ret_second)
{
    unsigned first = state->gpu_of[e][i], second = state->gpu_of[e][j];
    if (first == MERGE_NO_GPU || second == MERGE_NO_GPU || first == second)
        return false;
    *ret_first = first;
    *ret_second = second;
    return true;
}

/* A GPU that is cut into instances has no NVLink, whatever its wires are. */
static bool is_cut(const struct merge_state *state, unsigned first, unsigned second)
{
    return state->gpus[first].mig || state->gpus[second].mig;
}

static void note_contradiction(struct link_contradiction *found, const struct pair_facts *pairs,
                               size_t n, unsigned first, unsigned second, double rate)
{
    bool stands = pairs->bytes_per_second[first * n + second] > 0;
    if (stands == (rate > 0))
        return;
    if (found->count++ > 0)
        return;
    found->first = first < second ? first : second;
    found->second = first < second ? second : first;
    found->denies = stands;
    found->winner = pairs->decided_by[first * n + second];
}

struct taken {
    bool any, link;
    struct link_contradiction found;
};

static void take_pair(struct merge_state *state, size_t e, unsigned i, unsigned j,
                      struct pair_facts *pairs, struct taken *taken)
{
    size_t n = state->node->gpu_count;
    unsigned first = 0, second = 0;
    bool assumed = false;
    if (!map_pair(state, e, i, j, &first, &second) || is_cut(state, first, second))
        return;
    double rate = link_rate_of_pair(state, e, i, j, &assumed);
    if (rate < 0)
        return;
    taken->any = true;
    if (pairs->decided_by[first * n + second]) {
        if (merge_is_of_one(state))
            return;
        note_contradiction(&taken->found, pairs, n, first, second, rate);
        return;
    }
    decide_pair(pairs, n, first, second, state->evidence[e], rate);
    taken->link = taken->link || rate > 0;
    pairs->assumed = pairs->assumed || assumed;
}

static void take_links(struct merge_state *state, size_t e, struct pair_facts *pairs)
{
    const struct node_evidence *evidence = state->evidence[e];
    struct taken taken = {.any = evidence->gpu_count == 1};
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        for (unsigned j = 0; j < i; j++)
            take_pair(state, e, i, j, pairs, &taken);
    if ((!pairs->decider && taken.any) || (taken.link && !pairs->has_link)) {
        pairs->decider = evidence;
        pairs->switched = link_rates_switched(state, e);
    }
    pairs->has_link = pairs->has_link || taken.link;
    if (!merge_is_of_one(state) && taken.found.count > 0)
        state->comparison->links(state, &taken.found, evidence->source_text);
}

/* Cells that say NVLink follow from the rates: those tell whether there is a link. */
static bool is_pci_class(enum link_kind link)
{
    return link != LINK_UNKNOWN && link != LINK_NVLINK && link != LINK_XGMI;
}

static void take_pci_classes(struct merge_state *state, size_t e, struct pair_facts *pairs)
{
    const struct node_evidence *evidence = state->evidence[e];
    size_t n = state->node->gpu_count, m = evidence->gpu_count;
    for (unsigned i = 0; evidence->gpu_links && i < m; i++) {
        for (unsigned j = 0; j < m; j++) {
            unsigned first = 0, second = 0;
            if (!map_pair(state, e, i, j, &first, &second))
                continue;
            enum link_kind *link = &pairs->links[first * n + second];
            if (*link == LINK_UNKNOWN && is_pci_class(evidence->gpu_links[i * m + j]))
                *link = evidence->gpu_links[i * m + j];
        }
    }
}

static bool all_decided(const struct merge_state *state, const struct pair_facts *pairs)
{
    size_t n = state->node->gpu_count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!pairs->decided_by[i * n + j] && !is_cut(state, (unsigned)i, (unsigned)j))
                return false;
    return n > 0;
}

/* A model that has no NVLink at all settles the question where no source could. */
static bool catalogue_says_none(const struct merge_state *state)
{
    for (unsigned i = 0; i < state->node->gpu_count; i++)
        if (!state->models[i] || state->models[i]->nvlink_bytes_per_second > 0)
            return false;
    return state->node->gpu_count > 0;
}

static void conclude_state(struct merge_state *state, const struct pair_facts *pairs)
{
    struct node_topology *node = state->node;
    const char *source = pairs->decider ? pairs->decider->source_text : state->gpu_source;
    if (pairs->has_link || (node->gpu_count == 1 && pairs->decider)) {
        node->nvlink = pairs->has_link ? NVLINK_KNOWN : pairs->decider->nvlink;
    } else if ((pairs->decider || node->gpu_count > 1) && all_decided(state, pairs)) {
        node->nvlink = NVLINK_NONE;
    } else if (catalogue_says_none(state)) {
        node->nvlink = NVLINK_NONE;
        source = MERGE_CATALOGUE_SOURCE;
    }
    merge_add_fact(state, "nvlink", source, "%s", nvlink_state_name(node->nvlink));
}

/* A model that the catalogue does not have goes by its gfx name. */
static bool is_amd(const struct merge_state *state, unsigned gpu)
{
    const char *text = state->gpus[gpu].model;
    if (state->models[gpu])
        return strcmp(state->models[gpu]->vendor, "amd") == 0;
    return text && strncmp(text, "gfx", 3) == 0;
}

static void label_links(struct merge_state *state, struct pair_facts *pairs)
{
    size_t n = state->node->gpu_count;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            if (pairs->bytes_per_second[i * n + j] > 0)
                pairs->links[i * n + j] =
                    is_amd(state, i) && is_amd(state, j) ? LINK_XGMI : LINK_NVLINK;
}

/* Direct links to GPUs that the driver does not list are of no use. */
static double visible_capability(const struct merge_state *state, unsigned gpu)
{
    const struct node_topology *node = state->node;
    double sum = 0;
    if (state->hidden[gpu])
        return 0;
    if (node->nvlink_switched)
        return link_capability(node, gpu, true);
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (!state->hidden[i])
            sum += node->nvlink_bytes_per_second[(size_t)gpu * node->gpu_count + i];
    return sum;
}

static void conclude_capability(struct merge_state *state, const struct pair_facts *pairs)
{
    struct node_topology *node = state->node;
    if (node->nvlink != NVLINK_KNOWN || !pairs->decider)
        return;
    node->nvlink_assumed = pairs->assumed;
    node->gpu_nvlink_bytes_per_second = pairs->decider->gpu_nvlink_bytes_per_second;
    if (node->gpu_nvlink_bytes_per_second > 0)
        return;
    double smallest = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = visible_capability(state, i);
        if (rate > 0 && (smallest <= 0 || rate < smallest))
            smallest = rate;
    }
    node->gpu_nvlink_bytes_per_second = pairs->assumed ? 0 : smallest;
    if (pairs->assumed)
        merge_add_fact(state, "nvlink rates", pairs->decider->source_text,
                       "no source names the GPU model: a link counts as %.4g GB/s",
                       NVLINK_RATE_ASSUMED / 1e9);
}

static int create_pairs(struct merge_state *state, struct pair_facts *pairs, struct error_info *err)
{
    size_t n = state->node->gpu_count;
    *pairs = (struct pair_facts){
        .bytes_per_second = arena_allocate_array(state->arena, n * n, sizeof(double)),
        .decided_by = arena_allocate_array(state->arena, n * n, sizeof(*pairs->decided_by)),
        .links = arena_allocate_array(state->arena, n * n, sizeof(enum link_kind)),
    };
    if (!pairs->bytes_per_second || !pairs->decided_by || !pairs->links)
        return error_set_memory(err);
    return 0;
}

int merge_nvlink(struct merge_state *state, struct error_info *err)
{
    struct pair_facts pairs;
    if (create_pairs(state, &pairs, err) < 0)
        return -1;
    for (size_t e = 0; e < merge_count(state); e++) {
        if (state->evidence[e]->nvlink != NVLINK_UNKNOWN)
            take_links(state, e, &pairs);
        take_pci_classes(state, e, &pairs);
    }
    state->node->nvlink_bytes_per_second = pairs.bytes_per_second;
    const struct node_evidence *decider = pairs.decider;
    state->node->nvlink_switched = pairs.has_link && pairs.switched;
    if (pairs.has_link && !pairs.assumed)
        link_rates_limit(state, pairs.bytes_per_second, pairs.switched,
                         decider->source < EVIDENCE_PRESET);
    label_links(state, &pairs);
    state->node->links = pairs.links;
    conclude_state(state, &pairs);
    nvlink_reach_conclude(state);
    if (!merge_is_of_one(state) && pairs.decider)
        state->comparison->open_links(state, pairs.decided_by);
    conclude_capability(state, &pairs);
    return nvlink_domains_find(state, decider ? decider->source_text : "merge", err);
}
