/* SPDX-License-Identifier: MIT */
/*
 * gpu_nics: the NICs of a GPU: those that are as near as its nearest (PCIe class, then NUMA
 * node), shared out among the GPUs that they are nearest to. Two GPUs and two NICs at one PCIe
 * switch: one each; four NICs of its own: all four; more GPUs than NICs: the one that
 * node_gpu.nics begins with.
 */
#ifndef MAPPING_GPU_NICS_H
#define MAPPING_GPU_NICS_H

#include "topology/node_topology.h"

/* NIC indices, the nearest (node_gpu.nics[0]) first. Returns how many: 0 without usable rails. */
unsigned gpu_nics_find(const struct node_topology *node, unsigned gpu,
                       unsigned ret_nics[static NODE_MAXIMUM_NICS]);

#endif
