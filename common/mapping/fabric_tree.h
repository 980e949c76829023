/* SPDX-License-Identifier: MIT */
/*
 * fabric_tree: the usable nodes of a cluster as the tree of what is near: switches of any
 * number of tiers, and NVLink domains wider than a node as the nearest tier of all.
 * Vertex 0 is the root above all switches. Nodes that hang directly under a vertex with
 * children (on the root: nodes whose switch is not known) form its last child, a loose one.
 *
 * Children stand in natural order (of the smallest node name below them), nodes alike, so
 * `nodes` read from left to right is the fabric order.
 */
#ifndef MAPPING_FABRIC_TREE_H
#define MAPPING_FABRIC_TREE_H

#include "base/error.h"
#include "mapping/solver/link_seconds.h"
#include "topology/cluster_topology.h"
#include <stdbool.h>

struct fabric_vertex {
    unsigned first_child; /* children are consecutive vertices, all after their parent */
    unsigned child_count; /* 0: a leaf, which holds its nodes directly */
    unsigned first_node;  /* position in nodes: the nodes below are consecutive */
    unsigned node_count;
    uint64_t shape;  /* equal for vertices that differ in names only */
    unsigned parent; /* the root's is itself */
    unsigned slot;   /* how far nodes of different children are apart: link_seconds.h's slots */
    bool loose;      /* its nodes are no nearer to each other than to its siblings' */
};

struct fabric_tree {
    const struct fabric_vertex *vertices;
    unsigned vertex_count;
    const unsigned *nodes; /* cluster node indices */
    unsigned node_count;
    struct arena *arena;
};

/* Nodes with fewer than gpus GPUs are left out (0: all nodes). Leaves keep a multiple of
 * `multiple` nodes, the first ones (1: all of them), so that groups of that many fit whole. */
struct fabric_tree *fabric_tree_create(const struct cluster_topology *cluster, unsigned gpus,
                                       unsigned multiple, struct error_info *err);
/* The slot of the nearest vertex above both; a vertex and itself: its own. O(depth). */
static inline unsigned fabric_tree_slot(const struct fabric_vertex *vertices, unsigned left,
                                        unsigned right)
{
    while (left != right) {
        if (left > right)
            left = vertices[left].parent;
        else
            right = vertices[right].parent;
    }
    return vertices[left].slot;
}

void fabric_tree_free(struct fabric_tree *tree);

DEFINE_CLEANUP(fabric_tree);

#endif
