/* SPDX-License-Identifier: MIT */
/*
 * live_node: evidence of this machine: hwloc for the whole, NVML and sysfs for what hwloc does
 * not know (NVLink of today's GPUs, AMD's links, link layers and rates of HCAs). What a source
 * beside hwloc cannot tell is a note in its evidence, and the others stand.
 */
#ifndef CLI_INPUTS_LIVE_NODE_H
#define CLI_INPUTS_LIVE_NODE_H

#include "cli/inputs/topology_format.h"

/* nvml_library, sysfs_root: or NULL, the usual ones. */
int live_node_open(struct topology_input *input, const char *nvml_library, const char *sysfs_root,
                   struct error_info *err);

#endif
