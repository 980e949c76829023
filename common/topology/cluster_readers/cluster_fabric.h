/* SPDX-License-Identifier: MIT */
/*
 * cluster_fabric: the `fabric:` section of a cluster file.
 *     tiers: [leaf, spine]              near to far; may be left out
 *     switches:
 *       - {name: leaf1, tier: leaf, nodes: "n[001-008]"}
 *       - {name: spine, tier: spine, children: "leaf[1-2]", uplink: 3.2Tb/s}
 *     nvlink_domains: [{nodes: "n[001-018]"}]
 * A switch of one rail says `rail: 0` … and lists the nodes that this rail joins; a node is
 * then in one leaf of each rail. uplink: all links to the parent together (rate.h).
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
