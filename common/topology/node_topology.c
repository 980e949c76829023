/* SPDX-License-Identifier: MIT */
#include "topology/node_topology.h"
#include <string.h>

void node_topology_free(struct node_topology *node)
{
    if (node && __atomic_fetch_sub(&node->sharers, 1, __ATOMIC_ACQ_REL) == 0)
        arena_free(node->arena);
}

struct node_topology *node_topology_share(const struct node_topology *node)
{
    struct node_topology *shared = (struct node_topology *)node; /* the count alone changes */
    __atomic_fetch_add(&shared->sharers, 1, __ATOMIC_RELAXED);
    return shared;
}

unsigned node_topology_largest_domain(const struct node_topology *node)
{
    unsigned largest = 1;
    for (unsigned d = 0; d < node->domain_count; d++)
        if (node->domains[d].gpu_count > largest)
            largest = node->domains[d].gpu_count;
    return largest;
}

bool node_topology_is_uniform(const struct node_topology *node)
{
    if (node->nvlink != NVLINK_KNOWN || node->gpu_count < 2)
        return node->gpu_count == 1;
    double first = node->nvlink_bytes_per_second[1];
    if (first <= 0)
        return false;
    for (size_t i = 0; i < node->gpu_count; i++) {
        for (size_t j = 0; j < i; j++) {
            double rate = node->nvlink_bytes_per_second[i * node->gpu_count + j];
            if (rate < first || rate > first)
                return false;
        }
    }
    return true;
}

const char *nic_role_name(enum nic_role role)
{
    static const char *const names[NIC_ROLE_COUNT] = {
        [NIC_RAIL] = "rail",         [NIC_STORAGE] = "storage", [NIC_MANAGEMENT] = "management",
        [NIC_NVSWITCH] = "nvswitch", [NIC_OTHER] = "other",
    };
    return role < NIC_ROLE_COUNT ? names[role] : "other";
}

const char *nic_state_name(enum nic_state state)
{
    static const char *const names[NIC_STATE_COUNT] = {
        [NIC_STATE_UNKNOWN] = "unknown", [NIC_ACTIVE] = "active", [NIC_DOWN] = "down"};
    return state < NIC_STATE_COUNT ? names[state] : "unknown";
}

bool node_topology_find_fault(const struct node_topology *node, struct node_fault *ret)
{
    unsigned sound = 0;
    bool cut = false;
    const struct node_gpu *faulty = NULL;
    for (unsigned i = 0; i < node->gpu_count; i++) {
        const struct node_gpu *gpu = &node->gpus[i];
        cut = cut || gpu->mig;
        if (!gpu->mig && !gpu->nvlink_lost)
            sound++;
        else if (!faulty)
            faulty = gpu;
    }
    if (!faulty)
        return false;
    *ret = (struct node_fault){
        .gpu = (unsigned)(faulty - node->gpus),
        .reason = faulty->mig       ? "cut into MIG instances"
                  : faulty->problem ? faulty->problem
                                    : "lost NVLink",
        .sound_gpus = sound == 0 && cut ? 1 : sound,
    };
    return true;
}
