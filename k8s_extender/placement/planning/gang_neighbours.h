/* SPDX-License-Identifier: MIT */
/*
 * gang_neighbours: which other pods a pod talks to, and how much that weighs: TP before CP and EP,
 * before PP, before DP, each beyond all that comes after it. Without degrees: the pods before and
 * after it. For choosing the node of a single pod, where traffic_of_rule's search is too much.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_NEIGHBOURS_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_NEIGHBOURS_H

#include "k8s_extender/placement/gang_plan.h"

/* TP and EP groups of more pods count with those of the nearest numbers. */
#define GANG_NEIGHBOURS_MAXIMUM 128u

struct gang_neighbour {
    uint32_t pod;
    uint64_t weight;
};

struct gang_shape {
    uint32_t pods, gpus_per_pod;
    bool has_degrees;
    struct degrees degrees;
    enum rank_order order;
};

/* Pods that share a TP group, which are consecutive: 1: none does. */
uint32_t gang_shape_group(const struct gang_shape *shape);
/* Returns how many; each other pod once. */
size_t gang_neighbours_of(const struct gang_shape *shape, uint32_t pod,
                          struct gang_neighbour ret[GANG_NEIGHBOURS_MAXIMUM]);

#endif
