/* SPDX-License-Identifier: MIT */
#include "mapping/rails/gpu_nics.h"

/* Class and NUMA node in one number, as the merge compares them. */
static unsigned affinity(const struct node_topology *node, unsigned gpu, unsigned nic)
{
    int numa = node->nics[nic].numa;
    bool same_numa = numa != NUMA_UNKNOWN && numa == node->gpus[gpu].numa;
    enum link_kind link =
        node->nic_links ? node->nic_links[(size_t)gpu * node->nic_count + nic] : LINK_UNKNOWN;
    return link_distance(link) * 2 + (same_numa ? 0 : 1);
}

/* How many of the GPU's NICs are as near as its first. */
static unsigned count_nearest(const struct node_topology *node, unsigned gpu)
{
    const struct node_gpu *device = &node->gpus[gpu];
    unsigned count = 0;
    while (count < device->nic_count &&
           affinity(node, gpu, device->nics[count]) == affinity(node, gpu, device->nics[0]))
        count++;
    return count;
}

static bool holds(const unsigned *nics, unsigned count, unsigned nic)
{
    for (unsigned i = 0; i < count; i++)
        if (nics[i] == nic)
            return true;
    return false;
}

static bool have_same_nearest(const struct node_topology *node, unsigned left, unsigned right,
                              unsigned count)
{
    if (count_nearest(node, right) != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!holds(node->gpus[right].nics, count, node->gpus[left].nics[i]))
            return false;
    return true;
}

unsigned gpu_nics_find(const struct node_topology *node, unsigned gpu,
                       unsigned ret_nics[static NODE_MAXIMUM_NICS])
{
    unsigned nearest = count_nearest(node, gpu), sharers = 1, found = 0;
    for (unsigned other = 0; other < node->gpu_count; other++)
        sharers += other != gpu && have_same_nearest(node, gpu, other, nearest);
    unsigned share = nearest > sharers ? nearest / sharers : nearest > 0;
    /* Each sharer's list starts one further on: steps of as many as there are never meet. */
    while (found < share) {
        ret_nics[found] = node->gpus[gpu].nics[(size_t)found * sharers];
        found++;
    }
    return found;
}
