/* SPDX-License-Identifier: MIT */
/*
 * nvlink_domain: which k GPUs of a node belong together. A group is better by, in this
 * order: bandwidth of its weakest pair (clique), of the weakest link on its best ring,
 * connectedness, PCIe class of its farthest pair, all its links together; then the smaller
 * indices.
 * facts: RCCL hives {0,2,3,5}/{1,4,6,7} show that index ranges are not groups.
 */
#ifndef TOPOLOGY_NVLINK_DOMAIN_H
#define TOPOLOGY_NVLINK_DOMAIN_H

#include "base/error.h"
#include "topology/node_topology.h"

struct gpu_group_quality {
    double clique_bytes_per_second; /* weakest pair; 0: some pair has no link */
    double ring_bytes_per_second;   /* weakest link of the best ring over all k; 0: no ring */
    bool connected;
    enum link_kind farthest;
    double total_bytes_per_second; /* over all pairs: keeps bridged pairs together in PCIe groups */
};

/* Exact for k <= 16; above, the ring counts as its clique. gpus: k indices. */
void gpu_group_rate(const struct node_topology *node, const unsigned *gpus, unsigned k,
                    struct gpu_group_quality *ret);
/* < 0: left is better, 0 equal. */
int gpu_group_compare(const struct gpu_group_quality *left, const struct gpu_group_quality *right);

/* Partition the node's GPUs into floor(n/k) groups of k so that the worst group is best
 * (then the second worst, …; ties to natural index order). ret_groups holds
 * floor(n/k) * k indices, group after group, each in ring order where a ring exists and
 * starting at its smallest index. Left-over GPUs are omitted. Exact up to 16 GPUs. */
int gpu_groups_partition(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                         unsigned *ret_group_count, struct error_info *err);
/* The same without a search: each group takes the GPU that goes best with it, one by one. For
 * any number of GPUs; 1 <= k <= gpu_count. */
void gpu_groups_gather(const struct node_topology *node, unsigned k, unsigned *ret_groups);
/* gpu_groups_partition over the GPUs that nothing is known against (node_topology_find_fault): no
 * group holds a GPU that has lost its NVLink or is cut into instances. There may be no group. */
int gpu_groups_usable(const struct node_topology *node, unsigned k, unsigned *ret_groups,
                      unsigned *ret_group_count, struct error_info *err);

#endif
