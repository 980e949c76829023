/* SPDX-License-Identifier: MIT */
/*
 * cluster_collection: what many nodes say, each of itself, becomes one cluster: equal nodes
 * (node_kind.h) share a kind, equal cliques an NVLink domain. Nodes come one by one, in any
 * order, and only their kinds are kept. Pure.
 */
#ifndef TOPOLOGY_CLUSTER_COLLECTION_H
#define TOPOLOGY_CLUSTER_COLLECTION_H

#include "topology/cluster_topology.h"

#define COLLECTION_MAXIMUM_KINDS 256u

struct cluster_collection;

struct cluster_collection *cluster_collection_create(struct error_info *err);
void cluster_collection_free(struct cluster_collection *collection);

/* Takes the node, also on failure. where: "nodes/n001.yaml", for messages. The same node twice
 * is fine where both say the same, else it is refused, naming both. */
int cluster_collection_add(struct cluster_collection *collection, const char *name,
                           const char *where, struct node_topology *node, struct error_info *err);
size_t cluster_collection_count(const struct cluster_collection *collection);

struct cluster_collected {
    const char *name;
    const char *problems; /* "GPU 2: lost NVLink"; NULL: none is known */
};
/* By name, once all have been added. */
void cluster_collection_sort(struct cluster_collection *collection);
struct cluster_collected cluster_collection_node(const struct cluster_collection *collection,
                                                 size_t index);

/* The cluster, once: the kinds are given away. Nodes sorted by name; kinds by their first node,
 * called "8x-h100-sxm", "8x-h100-sxm-2", "8x-h100-sxm-degraded"; of host memory the least.
 * fabric: the switches, or NULL; its NVLink domains stay for nodes that name no clique.
 * Without degraded nodes where so wanted; none left is refused. */
struct cluster_topology *cluster_collection_build(struct cluster_collection *collection,
                                                  const char *name, const struct fabric *fabric,
                                                  bool without_degraded, struct error_info *err);

DEFINE_CLEANUP(cluster_collection);

#endif
