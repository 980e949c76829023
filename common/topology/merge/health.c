/* SPDX-License-Identifier: MIT */
/* node_topology_merge: devices that give less than others of their kind on the same node. */
#include "topology/merge/link_rates.h"
#include <stdio.h>
#include <string.h>

/* Sums of equal links differ in the last bits only. */
#define NOTABLY_LESS 0.99

static bool has_links(const struct node_topology *node, unsigned gpu)
{
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (node->nvlink_bytes_per_second[(size_t)gpu * node->gpu_count + i] > 0)
            return true;
    return false;
}

static bool same_model(const struct merge_state *state, unsigned left, unsigned right)
{
    const char *first = state->gpus[left].model, *second = state->gpus[right].model;
    return first && second ? strcmp(first, second) == 0 : first == second;
}

static bool is_sibling(const struct merge_state *state, unsigned gpu, unsigned other)
{
    return other != gpu && !state->gpus[other].mig && same_model(state, gpu, other);
}

/* Alone beside a full mesh of all others of its model: three of them at least, since bridges
 * join pairs. */
static bool is_left_out(const struct merge_state *state, unsigned gpu)
{
    const struct node_topology *node = state->node;
    unsigned count = 0;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        if (!is_sibling(state, gpu, i))
            continue;
        count++;
        for (unsigned j = 0; j < i; j++)
            if (is_sibling(state, gpu, j) &&
                node->nvlink_bytes_per_second[(size_t)i * node->gpu_count + j] <= 0)
                return false;
    }
    return count >= 3 && !has_links(node, gpu);
}

/* Behind switches every GPU is wired alike; what another of its model has, it should have. With
 * direct links the corners of a mesh may differ by design, but none is left out of a full one. */
static bool has_less_links(const struct merge_state *state, unsigned gpu)
{
    if (state->evidence[0]->is_part)
        return false;
    double own = link_capability(state->node, gpu, true);
    for (unsigned i = 0; i < state->node->gpu_count && state->node->nvlink_switched; i++)
        if (is_sibling(state, gpu, i) && own < link_capability(state->node, i, true) * NOTABLY_LESS)
            return true;
    return !state->node->nvlink_switched && is_left_out(state, gpu);
}

static void judge_gpu(struct merge_state *state, unsigned gpu)
{
    struct node_topology *node = state->node;
    struct node_gpu *own = &state->gpus[gpu];
    bool linked = has_links(node, gpu);
    bool has_less = node->nvlink == NVLINK_KNOWN && !own->mig && has_less_links(state, gpu);
    if (has_less && !(own->problem && strstr(own->problem, "NVLink")))
        merge_gpu_finding(
            state, gpu,
            linked ? UNPACKED_TEXT("fewer NVLinks than others of its model")
                   : UNPACKED_TEXT("lost NVLink: others of its model have it, it has none"));
    own->nvlink_lost =
        !own->mig && (state->hidden[gpu] || (!linked && (own->nvlink_lost || has_less)));
    if (own->problem)
        merge_warn(state, "GPU %u%s%s: %s", gpu, own->bus_id ? " " : "",
                   own->bus_id ? own->bus_id : "", own->problem);
    if (own->mig)
        merge_warn(state, "GPU %u is cut into MIG instances: no NVLink and no peers", gpu);
}

/* The rate of most rails; 0: they say none. */
static double usual_rate(const struct node_topology *node)
{
    double usual = 0;
    unsigned most = 0;
    for (unsigned i = 0; i < node->nic_count; i++) {
        unsigned equal = 0;
        double rate = node->nics[i].bytes_per_second;
        for (unsigned j = 0; j < node->nic_count; j++)
            equal += node->nics[j].role == NIC_RAIL && node->nics[j].bytes_per_second <= rate &&
                     node->nics[j].bytes_per_second >= rate;
        if (node->nics[i].role != NIC_RAIL || rate <= 0 || equal < most ||
            (equal == most && rate <= usual))
            continue;
        usual = rate;
        most = equal;
    }
    return usual;
}

static bool is_beside_gpu(const struct node_topology *node, unsigned nic)
{
    for (unsigned i = 0; i < node->gpu_count; i++) {
        enum link_kind link = node->nic_links[(size_t)i * node->nic_count + nic];
        if (link == LINK_PIX || link == LINK_PXB)
            return true;
    }
    return false;
}

/* Of a rail and of a GPU's own NIC a port that is down is a fault; others may just not be wired.
 * What else is said against it stands. */
static void judge_port(struct merge_state *state, unsigned index)
{
    static const char fault[] = "port is down";
    struct node_nic *nic = &state->nics[index];
    bool is_idle = nic->role == NIC_OTHER && !is_beside_gpu(state->node, index);
    if (nic->state != NIC_DOWN || (nic->role != NIC_OTHER && nic->role != NIC_RAIL))
        return;
    if (is_idle && nic->problem && strcmp(nic->problem, fault) == 0)
        nic->problem = NULL;
    else if (!is_idle && !nic->problem)
        nic->problem = fault;
}

static void judge_nics(struct merge_state *state)
{
    double usual = usual_rate(state->node);
    for (unsigned i = 0; i < state->node->nic_count; i++) {
        struct node_nic *nic = &state->nics[i];
        judge_port(state, i);
        if (nic->role == NIC_RAIL && !nic->problem && nic->bytes_per_second > 0 &&
            nic->bytes_per_second < usual * NOTABLY_LESS)
            nic->problem = merge_format(state, "runs at %.4g of %.4g Gb/s, the rate of its rails",
                                        nic->bytes_per_second * 8e-9, usual * 8e-9);
        if (nic->problem)
            merge_warn(state, "NIC %s: %s", nic->name ? nic->name : "without a name", nic->problem);
    }
}

void merge_health(struct merge_state *state)
{
    for (unsigned i = 0; i < state->node->gpu_count; i++)
        judge_gpu(state, i);
    judge_nics(state);
}
