/* SPDX-License-Identifier: MIT */
/*
 * node_packing: lays the blocks, in block_order's order, on the nodes of a fabric_tree so
 * that the stretches which belong together stay under one switch where they fit.
 *
 * Vertex by vertex from the root down. Where the children are of one shape, or all hold whole
 * stretches that are like each other, and every node is used: left to right (the aligned
 * case; the fabric order stays, but for children of different sizes: larger ones first). Otherwise,
 * from the widest kind of stretch to the single block: as much as fits goes into the child with the
 * smallest room that takes all of it, else into the one with the most room, in whole stretches;
 * what fits nowhere is laid over several children, each stretch on its own, fullest first. Loose
 * nodes come last.
 *
 * Ties go by shape, then by natural order: names decide only between what is equal, so
 * renaming nodes never changes the cost. Deterministic; O(nodes * kinds) and better.
 */
#ifndef MAPPING_SOLVER_NODE_PACKING_H
#define MAPPING_SOLVER_NODE_PACKING_H

#include "mapping/fabric_tree.h"
#include "mapping/solver/block_order.h"

/* ret_nodes[position in order] = cluster node index; tree->node_count >= order->block_count. */
int node_packing_solve(const struct fabric_tree *tree, const struct block_order *order,
                       unsigned *ret_nodes, struct error_info *err);

#endif
