/* SPDX-License-Identifier: MIT */
/*
 * cluster_source: a cluster as people name it: "PRESET:NODES" ("dgx-h100:16"), or the path
 * of a cluster file (it has a '/', or ends in .yaml or .yml).
 * Left edge: reads the file as the calling user. Used by the command line and by srun.
 */
#ifndef TOPOLOGY_CLUSTER_SOURCE_H
#define TOPOLOGY_CLUSTER_SOURCE_H

#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"

#define CLUSTER_FILE_MAXIMUM_BYTES ((size_t)32 << 20)

struct cluster_topology *cluster_source_open(const char *name,
                                             const struct preset_catalogue *presets,
                                             const struct gpu_catalogue *gpus,
                                             struct error_info *err);

#endif
