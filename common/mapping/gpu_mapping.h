/* SPDX-License-Identifier: MIT */
/*
 * gpu_mapping: which GPU of a node each local rank gets, so that every TP group is a group
 * of gpu_groups_partition (clique, else ring). Identity where the node is uniform, where
 * TP = 1 with nothing else inside the node, and where NVLink is unknown.
 */
#ifndef MAPPING_GPU_MAPPING_H
#define MAPPING_GPU_MAPPING_H

#include "base/error.h"
#include "topology/node_topology.h"

/* ret_gpus[local_rank] = GPU index; ranks_per_node entries, ranks_per_node <= gpu_count. */
int gpu_mapping_solve(const struct node_topology *node, unsigned tp, unsigned ranks_per_node,
                      unsigned *ret_gpus, struct error_info *err);

#endif
