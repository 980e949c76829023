/* SPDX-License-Identifier: MIT */
/*
 * gang_room: which of a problem's candidates a gang is planned on. All ranks of a gang wait for the
 * slowest, so nodes of one GPU model are taken where they have room for all pods, and of these the
 * sound ones (node_topology_find_fault) where they are enough. A planner that is to use NVLink
 * between nodes reckons with the smallest domain that it sees: then the domains with the fewest
 * places are left out as far as the others are enough.
 */
#ifndef K8S_EXTENDER_PLACEMENT_PLANNING_GANG_ROOM_H
#define K8S_EXTENDER_PLACEMENT_PLANNING_GANG_ROOM_H

#include "k8s_extender/placement/gang_plan.h"

#define GANG_POOLS_MAXIMUM 16u

struct gang_pool {
    const char *gpu; /* model; NULL: unknown, or several */
    const struct gang_candidate *candidates;
    size_t count;
    uint64_t places; /* pods of this gang that have room there */
};

struct gang_room {
    /* Each has room for all; the largest first, of equals the first candidate's. None: no one
     * model has enough, and all of them together may be what is taken. */
    struct gang_pool pools[GANG_POOLS_MAXIMUM + 1];
    size_t pool_count;
    uint64_t places; /* of all candidates with enough GPUs */
    size_t nodes;
    bool shared; /* some node has room for several pods */
    struct arena *arena;
};

/* wanted: places; by_domain: as above. A node whose GPUs are known to be fewer than a pod's is
 * passed over. Fails only for memory. */
int gang_room_find(const struct gang_problem *problem, uint64_t wanted, bool by_domain,
                   struct gang_room *ret, struct error_info *err);
void gang_room_done(struct gang_room *room);

DEFINE_CLEANUP_DONE(gang_room);

#endif
