/* SPDX-License-Identifier: MIT */
/*
 * live_node: evidence of this machine: hwloc for the whole, NVML and sysfs for what hwloc does
 * not know (NVLink of today's GPUs, AMD's links, link layers and rates of HCAs). What a source
 * beside hwloc cannot tell is a note in its evidence, and the others stand.
 * For the command line and the node agent.
 */
#ifndef TOPOLOGY_LIVE_NODE_H
#define TOPOLOGY_LIVE_NODE_H

#include "topology/node_evidence.h"

#define LIVE_NODE_MAXIMUM_EVIDENCE 5u

struct live_node {
    struct node_evidence *evidence[LIVE_NODE_MAXIMUM_EVIDENCE];
    unsigned evidence_count;
};

/* nvml_library, sysfs_root: or NULL, the usual ones; messages call them --nvml and --sysfs. */
int live_node_open(struct live_node *node, const char *nvml_library, const char *sysfs_root,
                   struct error_info *err);
void live_node_done(struct live_node *node);

DEFINE_CLEANUP_DONE(live_node);

#endif
