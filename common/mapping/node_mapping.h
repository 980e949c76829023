/* SPDX-License-Identifier: MIT */
/*
 * node_mapping: which node holds which block of consecutive RANKs.
 *
 * A block is gpus_per_node consecutive RANKs; block b of B goes to node ret_nodes[b] (index
 * into the cluster's nodes). Under every rank order the numbering stays; "PP near, DP
 * outermost" is reached by permuting nodes: nodes are taken in fabric order (subtree by
 * subtree, natural names inside a leaf; fullest leaves first where groups would else be
 * cut), and the blocks of one pipeline (all blocks of a DP replica) are laid side by side.
 */
#ifndef MAPPING_NODE_MAPPING_H
#define MAPPING_NODE_MAPPING_H

#include "mapping/solver/mapping_search.h"
#include "planner/plan.h"
#include "topology/cluster_topology.h"

struct node_mapping_request {
    const struct cluster_topology *cluster;
    struct degrees degrees;
    enum rank_order order;
    unsigned gpus_per_node;     /* ranks per block */
    uint64_t world;             /* ranks when locality_only; with degrees 0 or their product */
    bool locality_only;         /* no degrees: nodes in fabric order */
    bool identity;              /* keep the cluster's node order, or node_order */
    const unsigned *node_order; /* with identity: all node indices, as they are to stand */
    /* Bit of each enum traffic_dimension that the rule is to keep nearer than all others. */
    unsigned near_dimensions;
    /* What is to become cheap, both or neither; NULL: the rule (traffic_of_rule). */
    const struct traffic *traffic;
    const struct link_seconds *seconds;
    enum sharding sharding; /* for the rule */
    uint64_t budget;        /* exchanges; 0: what mapping_search.h says */
    bool exact;             /* prove it, where there are EXACT_SEARCH_UNITS blocks or fewer */
    const struct node_pin *pins;
    size_t pin_count;
};

/* ret_nodes has room for the cluster's node_count entries. Nodes with fewer GPUs than
 * gpus_per_node are passed over. Refused: fewer usable nodes than blocks, ranks that do not fill
 * whole nodes, a TP group that a block boundary would cut. A TP group wider than a node lies on
 * whole neighbouring nodes, of one NVLink domain where they fit; whether it may is policy's.
 * world 0 with locality_only: all nodes of the cluster that are large enough. ret_quality may be
 * NULL. */
int node_mapping_solve(const struct node_mapping_request *request, unsigned *ret_nodes,
                       size_t *ret_blocks, struct mapping_quality *ret_quality,
                       struct error_info *err);

/* Cluster node indices in fabric order. */
int fabric_order(const struct cluster_topology *cluster, unsigned *ret_nodes,
                 struct error_info *err);

#endif
