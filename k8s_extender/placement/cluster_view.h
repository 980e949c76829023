/* SPDX-License-Identifier: MIT */
/*
 * cluster_view: the GPU nodes of a Kubernetes cluster as one cluster_topology, from their records:
 * kinds from the annotation parplan.io/topology (node_annotation.h, the node agent's), else from
 * the GPU product label and the number of GPUs (a preset or a catalogue GPU), else GPUs of an
 * unknown kind; the fabric from labels (label_fabric.h) and from the annotations' cliques.
 * Immutable, shared by reference count (thread safe): a plan keeps the view that it was made on.
 *
 * In it is a node that has GPUs by what is allocatable, by its annotation or by a label of their
 * count (gpu_labels.h): one whose device plugin is away stays. A kind has as many GPUs as the
 * machine: what is free of them is for cluster_state to say. Left out with a warning: nodes whose
 * GPUs are time-sliced or cut into MIG instances (by label), and those with more GPUs than
 * NODE_MAXIMUM_GPUS. An annotation with fewer GPUs than are allocatable is out of date: labels
 * count.
 */
#ifndef K8S_EXTENDER_PLACEMENT_CLUSTER_VIEW_H
#define K8S_EXTENDER_PLACEMENT_CLUSTER_VIEW_H

#include "base/name_index.h"
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/placement/view_notes.h"
#include "topology/cluster_topology.h"
#include "topology/fabric_readers/labels/label_fabric.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"

#define VIEW_NODE_NONE UINT32_MAX

struct cluster_view {
    struct cluster_topology *cluster; /* NULL: no node has a GPU */
    uint64_t digest; /* of what it was made from: the nodes' names and their records' digests, in
                      * any order */
    const char *const *warnings; /* one line each, VIEW_MAXIMUM_WARNINGS at most: an annotation
                                  * that cannot be read, a label that is not complete … */
    size_t warning_count;
    struct name_index *names; /* of the cluster's nodes */
    unsigned holders;         /* beside the first: cluster_view_share */
    struct arena *arena;
};

struct cluster_view_sources {
    const struct preset_catalogue *presets;
    const struct gpu_catalogue *gpus;
    const struct fabric_label_keys *keys; /* fabric_label_keys_default() */
};

/* A node whose annotation cannot be read is one warning, and its labels count. Nodes stand in the
 * natural order of their names. Fails only for memory. */
struct cluster_view *cluster_view_create(const struct node_record *const *nodes, size_t count,
                                         const struct cluster_view_sources *sources,
                                         struct error_info *err);
/* The digest that cluster_view_create would give, without making the view: no text is read. It
 * changes with anything that the records have, also with taints and readiness. */
uint64_t cluster_view_digest(const struct node_record *const *nodes, size_t count);
struct cluster_view *cluster_view_share(struct cluster_view *view); /* one reference more */
void cluster_view_free(struct cluster_view *view);                  /* one less; NULL is fine */
/* Index into view->cluster->nodes, or VIEW_NODE_NONE. */
uint32_t cluster_view_find(const struct cluster_view *view, const char *node);

DEFINE_CLEANUP(cluster_view);

#endif
