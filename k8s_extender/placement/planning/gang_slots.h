/* SPDX-License-Identifier: MIT */
/*
 * gang_slots: the part of a cluster that a gang may use, as a cluster_topology of its own in which
 * every node has room for one pod: a node that has room for several stands there several times,
 * under names that are its own, in the same leaf and NVLink domain.
 *
 * Nodes with several places whose GPUs form one NVLink domain make such a domain of their places
 * where none is wider already: a TP group may then span pods of one node as far as policy lets
 * it span nodes of a domain.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_SLOTS_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_SLOTS_H

#include "k8s_extender/placement/gang_plan.h"

struct gang_slots {
    struct cluster_topology *cluster;
    uint32_t *nodes; /* of each of the cluster's nodes: index into the whole cluster's */
};

/* Nodes stand in the order of the candidates, places of a node side by side. Of one node at most
 * `most` places are taken. The names are not those of the whole cluster where any node has several
 * places. */
int gang_slots_create(const struct cluster_topology *whole, const struct gang_candidate *candidates,
                      size_t count, uint32_t most, struct gang_slots *ret, struct error_info *err);
void gang_slots_done(struct gang_slots *slots);

DEFINE_CLEANUP_DONE(gang_slots);

#endif
