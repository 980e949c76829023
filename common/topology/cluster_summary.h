/* SPDX-License-Identifier: MIT */
/*
 * cluster_summary: what is worked out once, while a cluster_topology is made. Inside this
 * layer only.
 */
#ifndef TOPOLOGY_CLUSTER_SUMMARY_H
#define TOPOLOGY_CLUSTER_SUMMARY_H

#include "topology/cluster_topology.h"

/* Fills nvlink_domain_gpus, nvlink_known, domain_nodes, inner_domain_gpus, nvlink_cover,
 * sound_gpus and fault from the nodes and kinds. Fails without memory only. */
int cluster_summarise(struct cluster_topology *cluster, struct error_info *err);

#endif
