/* SPDX-License-Identifier: MIT */
/*
 * view_kinds: of which kind each node is, in the order in which nodes are asked about: from the
 * annotation, else from labels (gpu_labels.h): a preset with that GPU and count, else so many such
 * GPUs whose links are unknown. Equal texts are read once; nodes that are alike share a kind.
 */
#ifndef K8S_EXTENDER_PLACEMENT_VIEW_KINDS_H
#define K8S_EXTENDER_PLACEMENT_VIEW_KINDS_H

#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/placement/view_notes.h"
#include "topology/collect/node_annotation.h"
#include "topology/gpu_catalogue.h"
#include "topology/preset_catalogue.h"

#define VIEW_MAXIMUM_TEXTS 256u    /* different annotations that are read */
#define VIEW_MAXIMUM_PRODUCTS 256u /* different products and counts */
#define VIEW_KIND_NONE UINT32_MAX

struct view_kinds;

struct view_kinds *view_kinds_create(const struct preset_catalogue *presets,
                                     const struct gpu_catalogue *gpus, struct view_notes *notes);
void view_kinds_free(struct view_kinds *kinds);

struct view_choice {
    uint32_t kind; /* VIEW_KIND_NONE: the node has no whole GPU, or too many */
    char clique[NODE_ANNOTATION_CLIQUE_BYTES]; /* of the annotation, where it counts; or "" */
};
/* Fails for memory only. */
int view_kinds_choose(struct view_kinds *kinds, const struct node_record *node,
                      struct view_choice *ret, struct error_info *err);

/* Those that were chosen, numbered as they were first chosen. */
unsigned view_kinds_count(const struct view_kinds *kinds);
/* Names and gives away: arrays of view_kinds_count entries. The names live as long as the kinds.
 * -1: memory; then all is still the kinds'. */
int view_kinds_take(struct view_kinds *kinds, struct node_topology **ret_nodes,
                    const char **ret_names, struct error_info *err);

DEFINE_CLEANUP(view_kinds);

#endif
