/* SPDX-License-Identifier: MIT */
/*
 * topology_source: a topology from wherever `--from`, `--node` and `--fabric` point, told
 * apart by content: an hwloc XML (root <topology>) is a node, a cluster file
 * (schema: parplan.cluster/1) is a cluster, Slurm's topology text (SwitchName=) is a fabric.
 * The word "slurm" asks the running controller through `scontrol show topology`.
 */
#ifndef CLI_INPUTS_TOPOLOGY_SOURCE_H
#define CLI_INPUTS_TOPOLOGY_SOURCE_H

#include "cli/inputs/catalogues.h"
#include "topology/cluster_topology.h"

#define TOPOLOGY_SOURCE_SLURM "slurm"
#define TOPOLOGY_SOURCE_MAXIMUM_BYTES ((size_t)32 << 20)
#define SCONTROL_TIMEOUT_SECONDS 10u

/* Exactly one is set. */
struct topology_source {
    struct node_topology *node;
    struct fabric *fabric;
    struct cluster_topology *cluster;
};

int topology_source_open(struct topology_source *source, const char *path,
                         const struct catalogues *catalogues, struct error_info *err);
/* This machine's node, through hwloc. */
int topology_source_open_live(struct topology_source *source, const struct catalogues *catalogues,
                              struct error_info *err);
void topology_source_done(struct topology_source *source);

DEFINE_CLEANUP_DONE(topology_source);

#endif
