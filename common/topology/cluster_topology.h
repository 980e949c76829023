/* SPDX-License-Identifier: MIT */
/*
 * cluster_topology: the nodes a job may use, each of a kind, and the fabric between them.
 * Immutable; owns its kinds and its fabric. Node order is the caller's (the file's, the
 * step's); nodes in fabric order is a result of the mapping, not of this object.
 */
#ifndef TOPOLOGY_CLUSTER_TOPOLOGY_H
#define TOPOLOGY_CLUSTER_TOPOLOGY_H

#include "topology/fabric.h"
#include "topology/node_topology.h"

#define CLUSTER_MAXIMUM_NODES 262144u
#define DISTANCE_SAME_NODE (-2)
#define DISTANCE_SAME_NVLINK_DOMAIN (-1)

struct cluster_node {
    const char *name;
    unsigned kind;        /* index into kinds */
    unsigned fabric_node; /* index into fabric->nodes, or FABRIC_NONE */
    unsigned
        nvlink_block; /* nodes with the same number share one NVLink domain; unique when alone */
};

struct cluster_topology {
    const char *name;                         /* "dgx-h100:16", "cluster.yaml" */
    const struct node_topology *const *kinds; /* owned */
    const char *const *kind_names;
    size_t kind_count;
    const struct cluster_node *nodes;
    size_t node_count;
    const struct fabric *fabric; /* owned; NULL: nothing is known between nodes */
    unsigned nvlink_domain_gpus; /* cluster_nvlink_domain_gpus */
    bool nvlink_known;
    const unsigned *domain_nodes; /* of each NVLink domain that joins several whole nodes */
    size_t domain_count;
    unsigned inner_domain_gpus; /* smallest over the nodes outside of those; 0: there is none */
    unsigned open_nodes; /* whose NVLink leaves them, and no source says which nodes share it */
    /* [k]: GPUs of a node that groups of k cover, each group in one NVLink domain of the
     * node; the smallest over the nodes. */
    unsigned char nvlink_cover[NODE_MAXIMUM_GPUS + 1];
    /* GPUs of a node that are neither degraded nor cut into instances (node_fault): the
     * smallest over the nodes with a fault. And the fault; NULL: none is known. */
    unsigned sound_gpus;
    const char *fault; /* "b200-bad: GPU 2: lost NVLink …" */
    struct arena *arena;
};

/* Takes ownership of kinds and fabric, also on failure. */
struct cluster_topology *cluster_topology_create(const char *name, struct node_topology **kinds,
                                                 const char *const *kind_names, size_t kind_count,
                                                 const struct node_list *node_names,
                                                 const unsigned *node_kinds, struct fabric *fabric,
                                                 struct error_info *err);
void cluster_topology_free(struct cluster_topology *cluster);

/* cluster.yaml (schema parplan.cluster/1). presets resolve `preset:` names; kinds may also
 * be described in place (gpus, gpu, nics, nvlink groups, host_memory …): docs/files.md. */
struct preset_catalogue;
struct gpu_catalogue;
struct cluster_topology *cluster_topology_parse(const char *text, size_t bytes, const char *source,
                                                const struct preset_catalogue *presets,
                                                const struct gpu_catalogue *gpus,
                                                struct error_info *err);
/* "dgx-h100:16": preset nodes with the preset's generated names (n001…), its nodes per
 * leaf and one spine above the leaves. */
struct cluster_topology *cluster_topology_from_preset(const char *text,
                                                      const struct preset_catalogue *presets,
                                                      const struct gpu_catalogue *gpus,
                                                      struct error_info *err);
/* The same cluster cut down to the named nodes, in that order. A name the cluster does not
 * have is refused. The kinds that are left are shared, the fabric is copied. */
struct cluster_topology *cluster_topology_select(const struct cluster_topology *cluster,
                                                 const struct node_list *names,
                                                 struct error_info *err);

/* DISTANCE_SAME_NODE, DISTANCE_SAME_NVLINK_DOMAIN, 0 … tier_count - 1, or tier_count
 * (unknown). Without a fabric every other node is at distance 0 of tier_count 0: unknown. */
int cluster_distance(const struct cluster_topology *cluster, size_t left, size_t right);
unsigned cluster_tier_count(const struct cluster_topology *cluster);
/* "leaf", "spine", …, "unknown". */
const char *cluster_tier_name(const struct cluster_topology *cluster, unsigned tier);

/* Totals and minima over the nodes, for planner and policy. */
unsigned cluster_gpus_per_node(const struct cluster_topology *cluster); /* smallest node */
uint64_t cluster_gpu_count(const struct cluster_topology *cluster);
/* GPUs of the smallest NVLink domain that all nodes offer: inside the node, or across the
 * nodes of a block where blocks are whole; 1 when NVLink is none; *ret_known false when
 * NVLink is unknown somewhere. */
unsigned cluster_nvlink_domain_gpus(const struct cluster_topology *cluster, bool *ret_known);
/* The same where a job uses only so many GPUs of each node (not 0). */
unsigned cluster_nvlink_domain_in_use(const struct cluster_topology *cluster,
                                      unsigned gpus_per_node);
uint64_t cluster_digest(const struct cluster_topology *cluster); /* names, kinds, fabric */

DEFINE_CLEANUP(cluster_topology);

#endif
