/* SPDX-License-Identifier: MIT */
/*
 * cluster_fabric: the `fabric:` section of a cluster file (its keys: fabric_readers/fabric_file.h),
 * held against the cluster's nodes.
 */
#ifndef TOPOLOGY_CLUSTER_FABRIC_H
#define TOPOLOGY_CLUSTER_FABRIC_H

#include "base/yaml_document.h"
#include "topology/fabric.h"

/* nodes: the cluster's. Those that are in no switch are counted in a warning. wide_kind: a kind
 * of node whose NVLink domain spans nodes, or NULL; that nvlink_domains are missing for it is a
 * warning, since each node then counts alone. */
struct fabric *cluster_fabric_load(const struct yaml_node *node, const struct node_list *nodes,
                                   const char *wide_kind, struct error_info *err);

#endif
