/* SPDX-License-Identifier: MIT */
#include "mapping/gpu_mapping.h"
#include "topology/groups/nvlink_domain.h"

/* Whether the plain order is as good as any, or nothing better is known. */
static bool order_is_plain(const struct node_topology *node, unsigned tp)
{
    return tp == 1 || node->nvlink == NVLINK_UNKNOWN || node_topology_is_uniform(node);
}

int gpu_mapping_solve(const struct node_topology *node, unsigned tp, unsigned ranks_per_node,
                      unsigned *ret_gpus, struct error_info *err)
{
    if (ranks_per_node > node->gpu_count || node->gpu_count > NODE_MAXIMUM_GPUS)
        return error_set(err, "%u ranks on %s, which has %u GPUs; use at most %u", ranks_per_node,
                         node->name, node->gpu_count, node->gpu_count);
    unsigned group = tp < ranks_per_node ? tp : ranks_per_node;
    if (group == 0 || ranks_per_node % group != 0)
        return error_set(err, "tp=%u does not divide the %u ranks of a node", tp, ranks_per_node);
    if (order_is_plain(node, group)) {
        for (unsigned i = 0; i < ranks_per_node; i++)
            ret_gpus[i] = i;
        return 0;
    }
    unsigned groups[NODE_MAXIMUM_GPUS], group_count;
    if (gpu_groups_partition(node, group, groups, &group_count, err) < 0)
        return -1;
    for (unsigned i = 0; i < ranks_per_node; i++)
        ret_gpus[i] = groups[i];
    return 0;
}
