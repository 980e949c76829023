/* SPDX-License-Identifier: MIT */
/*
 * view_fabric: the fabric between the nodes of a view, from their labels (label_fabric.h) and from
 * the cliques that node agents wrote. A clique stands for label nvidia.com/gpu.clique of a node
 * without it; where no node has that label but some have another one of an NVLink domain, those
 * labels count alone.
 */
#ifndef K8S_EXTENDER_PLACEMENT_VIEW_FABRIC_H
#define K8S_EXTENDER_PLACEMENT_VIEW_FABRIC_H

#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/placement/view_notes.h"
#include "topology/fabric_readers/labels/label_fabric.h"

struct view_fabric_node {
    const struct node_record *record;
    const char *clique; /* or "" */
};

/* *ret stays NULL where no node says anything, or where what they say cannot be (a warning). Fails
 * for memory only. */
int view_fabric_create(const struct view_fabric_node *nodes, size_t count,
                       const struct fabric_label_keys *keys, struct view_notes *notes,
                       struct fabric **ret, struct error_info *err);

#endif
