/* SPDX-License-Identifier: MIT */
/*
 * cost_bound: no mapping of the job onto the tree costs less than this.
 *
 * Pairs inside a block stay inside a node; all others go at least as far as the nearest two nodes
 * are. What a level of the tree adds (switches of one tier, a domain, each with c of the job's
 * blocks) is bounded by how many groups such a set of blocks must cut:
 *   the blocks are a grid of Z stages (lines of pp) by Y blocks of a stage;
 *   a set of c blocks that touches a of the Y pipelines and b of the Z stages has c <= a b;
 *   over all sets, a pipeline touched by k of them is cut k - 1 times at least, a ring k times;
 *   so the cut is at least the sum over the sets of the least w_pp a + w_dp b, less w_pp Y.
 * What spans several blocks inside a stage (TP, CP, EP) is a window of M blocks: a set either
 * holds whole windows, and then every lane of the rings around them is cut, or it cuts one, which
 * costs at least what one block outside of a ring or an all-to-all does. The isoperimetric
 * problem of a grid in the manner of Bollobas and Leader (1991), with the counting above.
 *
 * Exact for leaves of one size that hold whole rectangles of stages and replicas. Where nodes
 * are left over, the sizes c that make the sum smallest are taken.
 */
#ifndef MAPPING_SOLVER_COST_BOUND_H
#define MAPPING_SOLVER_COST_BOUND_H

#include "mapping/fabric_tree.h"
#include "mapping/solver/flow_weights.h"

/* In the integers of flow_weights. block_ranks divides the world. */
int cost_bound(const struct flow_weights *weights, const struct fabric_tree *tree, uint64_t world,
               unsigned block_ranks, uint64_t *ret, struct error_info *err);

/* Of the rectangles of stages and replicas that fill a vertex of the tree, the stages of the
 * cheapest; of equals the most. A divisor of `stages`, which the job has, and a multiple of
 * `multiple`. */
unsigned cost_bound_stages(const struct flow_weights *weights, const struct fabric_tree *tree,
                           unsigned vertex, uint64_t world, unsigned block_ranks, unsigned stages,
                           unsigned multiple);

#endif
