/* SPDX-License-Identifier: MIT */
#include "topology/groups/nvlink_domain.h"
#include "topology/node_readers/node_restate.h"

static unsigned list_sound(const struct node_topology *node, unsigned *gpus)
{
    unsigned count = 0;
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (!node->gpus[i].mig && !node->gpus[i].nvlink_lost)
            gpus[count++] = i;
    return count;
}

int gpu_groups_usable(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                      unsigned *ret_group_count, struct error_info *err)
{
    unsigned sound[NODE_MAXIMUM_GPUS], count = list_sound(node, sound);
    if (count == node->gpu_count)
        return gpu_groups_partition(node, k, ret_groups, ret_group_count, err);
    *ret_group_count = 0;
    if (k > count)
        return 0;
    CLEANUP(node_topology)
    struct node_topology *part = node_topology_subset(node, sound, count, err);
    if (!part || gpu_groups_partition(part, k, ret_groups, ret_group_count, err) < 0)
        return -1;
    for (unsigned i = 0; i < *ret_group_count * k; i++)
        ret_groups[i] = sound[ret_groups[i]];
    return 0;
}
