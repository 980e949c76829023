/* SPDX-License-Identifier: MIT */
/*
 * gpu_mapping: which GPU of a node each local rank gets.
 *
 * 1. Groups on links: TP groups as gpu_groups_partition finds them (clique, else ring), whatever
 *    else it costs. Around them the widest of the CP groups (tp*cp consecutive ranks), the expert
 *    groups (etp*ep) and the shard groups (tp*cp*shard) that the node's NVLinks hold, and inside
 *    that one the narrower ones; replicas stay outermost. With tp=1 these alone decide.
 * 2. Rails: of the orders that are equal so far, the one whose rails rise (the rail of a GPU's
 *    nearest NIC), where each GPU has a rail of its own; else that of the GPUs' indices. Groups
 *    change places, and members of a group: but a TP or CP group without a clique keeps the
 *    order of its ring, which starts at its first rail. So nodes whose groups hold the same
 *    rails put a local rank on the same rail, whatever the order of their GPUs is, though each
 *    node is ordered by what it knows of itself: slurmstepd sees no other.
 *
 * Identity where nothing is gained: equal links and rails that rise with the GPUs, or groups to
 * keep together on links that nobody knows. Nodes of more than GPU_SEARCH_MAXIMUM GPUs: TP groups
 * alone, by index.
 */
#ifndef MAPPING_GPU_MAPPING_H
#define MAPPING_GPU_MAPPING_H

#include "base/error.h"
#include "topology/node_topology.h"
#include "workload/rank_order.h"

/* ret_gpus[local_rank] = GPU index; ranks_per_node entries. Complete degrees.
 * Refused: more ranks than GPUs, a tp that does not divide the ranks. */
int gpu_mapping_solve(const struct node_topology *node, const struct degrees *degrees,
                      enum rank_order order, unsigned ranks_per_node, unsigned *ret_gpus,
                      struct error_info *err);

/* The rail of the GPU's nearest NIC, or -1. */
int gpu_rail(const struct node_topology *node, unsigned gpu);

#endif
