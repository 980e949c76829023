/* SPDX-License-Identifier: MIT */
/*
 * cluster_view: the GPU nodes of a Kubernetes cluster as one cluster_topology, from their records:
 * kinds from the annotation parplan.io/topology (the node agent's), else from the GPU product label
 * and the number of GPUs (a preset or a catalogue GPU), else GPUs of an unknown kind; the fabric
 * from labels (label_fabric.h). Immutable, shared by reference count (thread safe): a plan keeps
 * the view that it was made on.
 */
#ifndef K8S_EXTENDER_PLACEMENT_CLUSTER_VIEW_H
#define K8S_EXTENDER_PLACEMENT_CLUSTER_VIEW_H

#include "k8s_extender/objects/node_record.h"
#include "topology/cluster_topology.h"
#include "topology/fabric_readers/labels/label_fabric.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"

#define VIEW_NODE_NONE UINT32_MAX

struct cluster_view {
    struct cluster_topology *cluster; /* NULL: no node has a GPU */
    uint64_t digest;             /* of what it was made from: nodes' names, labels, topologies */
    const char *const *warnings; /* one line each: a label that is not complete … */
    size_t warning_count;
};

struct cluster_view_sources {
    const struct preset_catalogue *presets;
    const struct gpu_catalogue *gpus;
    const struct fabric_label_keys *keys; /* fabric_label_keys_default() */
};

/* Nodes without GPUs are left out. A node whose annotation cannot be read is one warning, and its
 * labels count. Fails only for memory. */
struct cluster_view *cluster_view_create(const struct node_record *const *nodes, size_t count,
                                         const struct cluster_view_sources *sources,
                                         struct error_info *err);
/* The digest that cluster_view_create would give, without making the view. */
uint64_t cluster_view_digest(const struct node_record *const *nodes, size_t count);
struct cluster_view *cluster_view_share(struct cluster_view *view); /* one reference more */
void cluster_view_free(struct cluster_view *view);                  /* one less; NULL is fine */
/* Index into view->cluster->nodes, or VIEW_NODE_NONE. */
uint32_t cluster_view_find(const struct cluster_view *view, const char *node);

DEFINE_CLEANUP(cluster_view);

#endif
