/* SPDX-License-Identifier: MIT */
/*
 * kfd_reader: AMD GPUs and their XGMI links as the kernel's KFD lists them; no library needed.
 *
 * A GPU is one physical device: the partitions that MI300 and later can be cut into (CPX, DPX …)
 * are nodes of their own with the same PCI bus and device; they become one GPU with their memory
 * summed, and a note says so. Link rates are decimal: max_bandwidth (MB/s), else the rate of one
 * link of that gfx generation. Only direct links are links (weight 15 is one hop; 30 would be
 * two); a pair whose two directions differ counts low, and one that only one side lists is
 * unknown.
 * nvlink: KNOWN with some direct XGMI link; NONE when every pair has a PCIe path instead, or when
 * every GPU's links are whole without an XGMI link and no GPU is in a hive; else UNKNOWN.
 * A GPU that its hive's links do not reach, or with PCIe lanes lost, has a problem.
 * NUMA nodes are the PCI device's where the root has it (a virtual machine without NUMA has -1,
 * and KFD links such a GPU to node 0 all the same), else the CPU node that its link leads to.
 */
#ifndef TOPOLOGY_KFD_READER_H
#define TOPOLOGY_KFD_READER_H

#include "topology/node_evidence.h"

/* root: "" or "/" is the live machine; else a copy of it, of its /sys, or of KFD's topology
 * folder or its nodes. 0 and *ret NULL: no KFD topology with a GPU there. */
int kfd_read(const char *root, struct node_evidence **ret, struct error_info *err);

#endif
