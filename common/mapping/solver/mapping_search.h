/* SPDX-License-Identifier: MIT */
/*
 * mapping_search: the cheapest arrangement of a job's blocks on a fabric_tree that its budget
 * finds, and how far from the bound it is.
 *
 * Starts: the blocks in several orders, packed (node_packing.h): replica after replica (the
 * rule's order), stage after stage, and rectangles between these. The cheapest goes into
 * exchange_search. Nothing is searched where a start reaches the bound. TP groups wider than a
 * node move as a whole.
 */
#ifndef MAPPING_SOLVER_MAPPING_SEARCH_H
#define MAPPING_SOLVER_MAPPING_SEARCH_H

#include "mapping/fabric_tree.h"
#include "mapping/solver/block_order.h"
#include "mapping/solver/flow_weights.h"

/* Exchanges looked at, unless a request says otherwise: some milliseconds, and less where there are
 * so many nodes that few exchanges gain little. */
#define MAPPING_SEARCH_BUDGET UINT64_C(200000)
#define MAPPING_SEARCH_FEW_NODES 64u
#define MAPPING_SEARCH_BUDGET_FEW UINT64_C(400000)
#define MAPPING_SEARCH_MANY_NODES 8192u /* from there on none: two starts are all */

/* Up to here everything is tried always, while that takes no longer than the search; more on
 * request. */
#define MAPPING_SEARCH_EXACT_UNITS 16u
#define MAPPING_SEARCH_EXACT_VISITS UINT64_C(2000000)
#define MAPPING_SEARCH_EXACT_VISITS_ASKED UINT64_C(300000000)

struct mapping_quality {
    double cost;        /* in the units of the weights: seconds, or the rule's */
    double lower_bound; /* no mapping costs less */
    bool optimal;       /* proven: by the bound, or by trying everything */
    uint64_t exchanges; /* looked at */
};

/* (cost - lower_bound) / lower_bound, not below 0; 0 where both are 0. */
double mapping_quality_gap(const struct mapping_quality *quality);

/* A node that a block must have, or that must be used whatever the block (SITE_NONE). */
struct node_pin {
    unsigned node; /* index into the cluster's nodes */
    unsigned block;
};

struct mapping_problem {
    const struct cluster_topology *cluster;
    const struct fabric_tree *tree;
    const struct block_order *order;
    const struct flow_weights *weights;
    unsigned block_ranks;
    uint64_t budget; /* 0: the above */
    bool exact;      /* try everything; small cases only */
    const struct node_pin *pins;
    size_t pin_count;
};

/* ret_nodes[block] = cluster node index. At most as many pins as blocks, each node and block once.
 * Refused: pins where TP groups span nodes, or of a node that the tree leaves out. */
int mapping_search(const struct mapping_problem *problem, unsigned *ret_nodes,
                   struct mapping_quality *ret, struct error_info *err);

#endif
