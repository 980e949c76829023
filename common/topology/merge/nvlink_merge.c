/* SPDX-License-Identifier: MIT */
/* node_topology_merge: NVLink and XGMI between the GPUs, PCIe classes, domains. */
#include "topology/merge/merge_state.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Per pair: who decided it. */
struct pair_facts {
    double *bytes_per_second;            /* gpu_count^2 */
    bool *decided;                       /* gpu_count^2 */
    enum link_kind *links;               /* gpu_count^2 */
    const struct node_evidence *decider; /* highest rank with a link, else with an answer */
    bool has_link;
};

static void decide_pair(struct pair_facts *pairs, size_t n, unsigned first, unsigned second,
                        double bytes_per_second)
{
    pairs->decided[first * n + second] = pairs->decided[second * n + first] = true;
    pairs->bytes_per_second[first * n + second] = bytes_per_second;
    pairs->bytes_per_second[second * n + first] = bytes_per_second;
}

static double pair_rate(const struct node_evidence *evidence, unsigned i, unsigned j)
{
    if (evidence->nvlink != NVLINK_KNOWN || !evidence->nvlink_bytes_per_second)
        return 0;
    size_t n = evidence->gpu_count;
    double there = evidence->nvlink_bytes_per_second[i * n + j];
    double back = evidence->nvlink_bytes_per_second[j * n + i];
    double rate = fmin(there, back); /* a link is two-way; a source in doubt counts low */
    return isfinite(rate) && rate > 0 ? rate : 0;
}

/* False: one of the two is not the node's, or a higher source has decided them. */
static bool map_pair(const struct merge_state *state, size_t e, unsigned i, unsigned j,
                     const bool *decided, unsigned *ret_first, unsigned *ret_second)
{
    unsigned first = state->gpu_of[e][i], second = state->gpu_of[e][j];
    if (first == MERGE_NO_GPU || second == MERGE_NO_GPU || first == second)
        return false;
    *ret_first = first;
    *ret_second = second;
    return !decided || !decided[(size_t)first * state->node->gpu_count + second];
}

static void take_links(struct merge_state *state, size_t e, struct pair_facts *pairs)
{
    const struct node_evidence *evidence = state->evidence[e];
    size_t n = state->node->gpu_count;
    bool took_link = false;
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned first = 0, second = 0;
            if (!map_pair(state, e, i, j, pairs->decided, &first, &second))
                continue;
            double rate = pair_rate(evidence, i, j);
            decide_pair(pairs, n, first, second, rate);
            took_link = took_link || rate > 0;
        }
    }
    if (!pairs->decider || (took_link && !pairs->has_link))
        pairs->decider = evidence;
    pairs->has_link = pairs->has_link || took_link;
}

static void take_pci_classes(struct merge_state *state, size_t e, struct pair_facts *pairs)
{
    const struct node_evidence *evidence = state->evidence[e];
    size_t n = state->node->gpu_count, m = evidence->gpu_count;
    for (unsigned i = 0; evidence->gpu_links && i < m; i++) {
        for (unsigned j = 0; j < m; j++) {
            unsigned first = 0, second = 0;
            if (!map_pair(state, e, i, j, NULL, &first, &second))
                continue;
            enum link_kind *link = &pairs->links[first * n + second];
            if (*link == LINK_UNKNOWN)
                *link = evidence->gpu_links[i * m + j];
        }
    }
}

static bool all_decided(const struct merge_state *state, const struct pair_facts *pairs)
{
    size_t n = state->node->gpu_count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!pairs->decided[i * n + j])
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
    const char *source =
        pairs->decider ? pairs->decider->source_text : state->evidence[0]->source_text;
    if (pairs->has_link || (node->gpu_count == 1 && pairs->decider)) {
        node->nvlink = pairs->has_link ? NVLINK_KNOWN : pairs->decider->nvlink;
    } else if (pairs->decider && all_decided(state, pairs)) {
        node->nvlink = NVLINK_NONE;
    } else if (catalogue_says_none(state)) {
        node->nvlink = NVLINK_NONE;
        source = "gpu catalogue";
    }
    merge_add_fact(state, "nvlink", source, "%s", nvlink_state_name(node->nvlink));
}

static bool is_amd(const struct merge_state *state, unsigned gpu)
{
    return state->models[gpu] && strcmp(state->models[gpu]->vendor, "amd") == 0;
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

/* Flood fill from the smallest GPU of each domain; members come out ascending. */
static unsigned mark_domain(const struct node_topology *node, struct node_gpu *gpus, bool *seen,
                            unsigned first, unsigned domain)
{
    unsigned stack[NODE_MAXIMUM_GPUS], depth = 0, size = 0;
    stack[depth++] = first;
    seen[first] = true;
    while (depth > 0) {
        unsigned gpu = stack[--depth];
        gpus[gpu].nvlink_domain = domain;
        size++;
        for (unsigned i = 0; i < node->gpu_count; i++) {
            if (seen[i] || node->nvlink_bytes_per_second[gpu * node->gpu_count + i] <= 0)
                continue;
            seen[i] = true;
            stack[depth++] = i;
        }
    }
    return size;
}

static int find_domains(struct merge_state *state, struct error_info *err)
{
    struct node_topology *node = state->node;
    struct node_domain *domains =
        arena_allocate_array(state->arena, node->gpu_count, sizeof(*domains));
    unsigned *members = arena_allocate_array(state->arena, node->gpu_count, sizeof(*members));
    if (!domains || !members)
        return error_set_memory(err);
    bool seen[NODE_MAXIMUM_GPUS] = {false};
    unsigned placed = 0;
    for (unsigned first = 0; first < node->gpu_count; first++) {
        if (seen[first])
            continue;
        unsigned domain = node->domain_count++;
        domains[domain] = (struct node_domain){
            .gpus = members + placed,
            .gpu_count = mark_domain(node, state->gpus, seen, first, domain),
        };
        for (unsigned i = first; i < node->gpu_count; i++)
            if (seen[i] && state->gpus[i].nvlink_domain == domain)
                members[placed++] = i;
    }
    node->domains = domains;
    return 0;
}

static void add_domain_facts(struct merge_state *state, const char *source)
{
    for (unsigned d = 0; d < state->node->domain_count; d++) {
        const struct node_domain *domain = &state->node->domains[d];
        char text[NODE_MAXIMUM_GPUS * 4];
        size_t length = 0;
        for (unsigned i = 0; i < domain->gpu_count; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u",
                                       i > 0 ? "," : "", domain->gpus[i]);
        if (domain->gpu_count > 1)
            merge_add_fact(state, "nvlink domain", source, "{%s}", text);
    }
}

/* What one GPU gets when its whole domain works together. Behind switches every pair runs at
 * the GPU's full speed: the best pair of the row. Direct links add up: the sum of the row
 * (rings and meshes use them all: 8 V100 in the cube mesh reach 130 of the 150). */
static double gpu_capability(const struct node_topology *node, unsigned gpu, bool switched)
{
    double sum = 0, best = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = node->nvlink_bytes_per_second[gpu * node->gpu_count + i];
        sum += rate;
        best = fmax(best, rate);
    }
    return switched ? best : sum;
}

/* Readers' figures are checked against the catalogue; what people wrote stands as it is. */
static double model_limit(const struct merge_state *state, const struct pair_facts *pairs,
                          unsigned gpu)
{
    bool measured = pairs->decider && pairs->decider->source < EVIDENCE_PRESET;
    return measured && state->models[gpu] ? state->models[gpu]->nvlink_bytes_per_second : 0;
}

/* hwloc 2.9.0 counts A100 links twice, and ROCm SMI's XGMI figure is a constant: no GPU's links
 * add up to more than its model has. */
static void limit_rates(struct merge_state *state, struct pair_facts *pairs)
{
    size_t n = state->node->gpu_count;
    double factors[NODE_MAXIMUM_GPUS];
    bool limited = false;
    for (unsigned i = 0; i < n; i++) {
        double limit = model_limit(state, pairs, i);
        double used =
            pairs->has_link ? gpu_capability(state->node, i, pairs->decider->nvlink_switched) : 0;
        factors[i] = limit > 0 && used > limit ? limit / used : 1;
        limited = limited || factors[i] < 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            pairs->bytes_per_second[i * n + j] *= fmin(factors[i], factors[j]);
    if (limited)
        merge_add_fact(state, "nvlink rates", "gpu catalogue",
                       "scaled down to what the GPU model has");
}

static void conclude_capability(struct merge_state *state, const struct pair_facts *pairs)
{
    struct node_topology *node = state->node;
    if (node->nvlink != NVLINK_KNOWN || !pairs->decider)
        return;
    node->gpu_nvlink_bytes_per_second = pairs->decider->gpu_nvlink_bytes_per_second;
    if (node->gpu_nvlink_bytes_per_second > 0)
        return;
    double smallest = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        double rate = gpu_capability(node, i, pairs->decider->nvlink_switched);
        if (rate > 0 && (smallest <= 0 || rate < smallest))
            smallest = rate;
    }
    node->gpu_nvlink_bytes_per_second = smallest;
}

static void conclude_domain_nodes(struct merge_state *state)
{
    struct node_topology *node = state->node;
    node->nvlink_domain_nodes = 1;
    for (size_t e = state->count; e-- > 0;)
        if (state->evidence[e]->nvlink_domain_nodes > 0)
            node->nvlink_domain_nodes = state->evidence[e]->nvlink_domain_nodes;
}

static int create_pairs(struct merge_state *state, struct pair_facts *pairs, struct error_info *err)
{
    size_t n = state->node->gpu_count;
    *pairs = (struct pair_facts){
        .bytes_per_second = arena_allocate_array(state->arena, n * n, sizeof(double)),
        .decided = arena_allocate_array(state->arena, n * n, sizeof(bool)),
        .links = arena_allocate_array(state->arena, n * n, sizeof(enum link_kind)),
    };
    if (!pairs->bytes_per_second || !pairs->decided || !pairs->links)
        return error_set_memory(err);
    return 0;
}

int merge_nvlink(struct merge_state *state, struct error_info *err)
{
    struct pair_facts pairs;
    if (create_pairs(state, &pairs, err) < 0)
        return -1;
    for (size_t e = 0; e < state->count; e++) {
        if (state->evidence[e]->nvlink != NVLINK_UNKNOWN)
            take_links(state, e, &pairs);
        take_pci_classes(state, e, &pairs);
    }
    state->node->nvlink_bytes_per_second = pairs.bytes_per_second;
    limit_rates(state, &pairs);
    label_links(state, &pairs);
    state->node->links = pairs.links;
    conclude_state(state, &pairs);
    conclude_domain_nodes(state);
    if (find_domains(state, err) < 0)
        return -1;
    conclude_capability(state, &pairs);
    add_domain_facts(state, pairs.decider ? pairs.decider->source_text : "merge");
    return 0;
}
