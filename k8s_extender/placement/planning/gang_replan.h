/* SPDX-License-Identifier: MIT */
/*
 * gang_replan: nodes for those pods of a gang that lost theirs, while all others stay: each gets
 * the node with room that is nearest to the pods it talks to (gang_neighbours.h): its TP group's
 * NVLink domain first, then its pipeline neighbours. Pods that are tied to the placed ones most
 * come first; ties break on natural node names. Nodes with other GPUs than the fixed pods', or with
 * broken ones, are taken only where it cannot be done without.
 *
 * A TP group of several pods stays in the NVLink domain of its fixed pods (limited), or, where all
 * of it is lost, goes whole into the nearest domain that has room.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_REPLAN_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_REPLAN_H

#include "k8s_extender/placement/planning/gang_neighbours.h"

enum gang_replan_outcome {
    REPLAN_DONE,
    REPLAN_NO_ROOM, /* fewer places than pods */
    REPLAN_NO_SPARE /* ret_pod's TP group: its domain has none, or no domain has room for all */
};

struct gang_replan_request {
    const struct gang_problem *problem; /* with fixed */
    struct gang_shape shape;
    bool limited; /* TP groups of several pods stay in one domain */
};

/* ret_nodes: for each pod, in the problem's view. Fails only for memory. */
int gang_replan(const struct gang_replan_request *request, uint32_t *ret_nodes,
                enum gang_replan_outcome *ret_outcome, uint32_t *ret_pod, struct error_info *err);

#endif
