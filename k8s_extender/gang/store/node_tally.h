/* SPDX-License-Identifier: MIT */
/*
 * node_tally: how many of a gang's pods are meant for a node: counted for the length of one
 * decision. Names are borrowed.
 */
#ifndef K8S_EXTENDER_GANG_STORE_NODE_TALLY_H
#define K8S_EXTENDER_GANG_STORE_NODE_TALLY_H

#include "k8s_extender/gang/store/record_table.h"
#include <stdbool.h>

struct node_tally {
    const char *node;
    uint32_t bound, promised, waiting;
    bool measured;
    uint32_t room, capacity; /* once measured */
};

struct node_tallies {
    struct node_tally *tallies; /* room for maximum */
    size_t count, maximum;
    struct record_table *index;
};

int node_tallies_init(struct node_tallies *tallies, size_t maximum);
void node_tallies_done(struct node_tallies *tallies);
/* Finds or adds; NULL: out of memory, or more than the maximum. */
struct node_tally *node_tallies_open(struct node_tallies *tallies, const char *node);
/* NULL: nothing was counted there. */
struct node_tally *node_tallies_find(const struct node_tallies *tallies, const char *node);

DEFINE_CLEANUP_DONE(node_tallies);

#endif
