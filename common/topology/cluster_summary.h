/* SPDX-License-Identifier: MIT */
/*
 * cluster_summary: what is worked out once, while a cluster_topology is made. Inside this
 * layer only.
 */
#ifndef TOPOLOGY_CLUSTER_SUMMARY_H
#define TOPOLOGY_CLUSTER_SUMMARY_H

#include "topology/cluster_topology.h"

/* Fills nvlink_domain_gpus and nvlink_known from the nodes and kinds. */
int cluster_summarise(struct cluster_topology *cluster, struct error_info *err);

#endif
