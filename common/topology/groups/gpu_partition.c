/* SPDX-License-Identifier: MIT */
/* gpu_groups_partition: exact up to GPU_SEARCH_MAXIMUM GPUs, greedy above. */
#include "topology/groups/gpu_ring.h"
#include "topology/groups/gpu_search.h"
#include "topology/groups/nvlink_domain.h"
#include <stdlib.h>
#include <string.h>

static void order_group(const struct node_topology *node, unsigned *group, unsigned k)
{
    unsigned order[GPU_RING_MAXIMUM];
    if (k < 2 || k > GPU_RING_MAXIMUM)
        return;
    gpu_ring_find(node, group, k, order);
    memcpy(group, order, k * sizeof(*group));
}

static int partition_exactly(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                             struct error_info *err)
{
    unsigned order[GPU_SEARCH_MAXIMUM];
    for (unsigned i = 0; i < node->gpu_count; i++)
        order[i] = i;
    CLEANUP_DONE(gpu_search) struct gpu_search search;
    if (gpu_search_init(&search, node, order, &k, 1, err) < 0)
        return -1;
    unsigned placed = gpu_search_read(&search, (1u << node->gpu_count) - 1, ret_groups);
    for (unsigned at = 0; at < placed; at += k)
        order_group(node, ret_groups + at, k);
    return 0;
}

/* How well a GPU goes with a group: its weakest link to it, then the sum of its links, then the
 * farthest PCIe class. */
static bool goes_better(const struct node_topology *node, const unsigned *group, unsigned count,
                        unsigned left, unsigned right)
{
    double weakest[2] = {0, 0}, sum[2] = {0, 0};
    unsigned farthest[2] = {0, 0};
    for (unsigned side = 0; side < 2; side++) {
        unsigned gpu = side == 0 ? left : right;
        for (unsigned i = 0; i < count; i++) {
            size_t pair = (size_t)group[i] * node->gpu_count + gpu;
            double rate = node->nvlink_bytes_per_second[pair];
            unsigned link = node->links[pair] ? node->links[pair] : LINK_KIND_COUNT;
            weakest[side] = i == 0 || rate < weakest[side] ? rate : weakest[side];
            sum[side] += rate;
            farthest[side] = link > farthest[side] ? link : farthest[side];
        }
    }
    if (weakest[0] < weakest[1] || weakest[0] > weakest[1])
        return weakest[0] > weakest[1];
    if (sum[0] < sum[1] || sum[0] > sum[1])
        return sum[0] > sum[1];
    return farthest[0] < farthest[1];
}

static int compare_indices(const void *left_pointer, const void *right_pointer)
{
    const unsigned *left = left_pointer, *right = right_pointer;
    return (*left > *right) - (*left < *right);
}

void gpu_groups_gather(const struct node_topology *node, unsigned k, unsigned *ret_groups)
{
    bool used[NODE_MAXIMUM_GPUS] = {false};
    for (unsigned g = 0; g < node->gpu_count / k; g++) {
        unsigned *group = ret_groups + (size_t)g * k;
        for (unsigned count = 0; count < k; count++) {
            unsigned best = node->gpu_count;
            for (unsigned gpu = 0; gpu < node->gpu_count; gpu++)
                if (!used[gpu] &&
                    (best == node->gpu_count || goes_better(node, group, count, gpu, best)))
                    best = gpu;
            group[count] = best;
            used[best] = true;
        }
        qsort(group, k, sizeof(*group), compare_indices);
        order_group(node, group, k);
    }
}

int gpu_groups_partition(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                         unsigned *ret_group_count, struct error_info *err)
{
    unsigned n = node->gpu_count;
    if (k == 0 || k > n)
        return error_set(err, "groups of %u GPUs on a node that has %u", k, n);
    if (k == 1 || node_topology_is_uniform(node)) {
        for (unsigned i = 0; i < n / k * k; i++)
            ret_groups[i] = i;
    } else if (n <= GPU_SEARCH_MAXIMUM) {
        if (partition_exactly(node, k, ret_groups, err) < 0)
            return -1;
    } else {
        gpu_groups_gather(node, k, ret_groups);
    }
    *ret_group_count = n / k;
    return 0;
}
