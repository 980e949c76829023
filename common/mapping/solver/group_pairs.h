/* SPDX-License-Identifier: MIT */
/*
 * group_pairs: which ranks of a group talk to each other, as runs of neighbouring ranks.
 *
 * The members of a group stand at constant strides in RANK: one stride, or two where another
 * dimension lies between (DP x CP under tp-cp-ep-pp-dp). A ring of k members has k pairs (each
 * rank and its next, also when k is 2), a chain k - 1, all-to-all k (k - 1)/2.
 */
#ifndef MAPPING_SOLVER_GROUP_PAIRS_H
#define MAPPING_SOLVER_GROUP_PAIRS_H

#include "planner/group_span.h"

enum pair_pattern { PAIRS_RING, PAIRS_CHAIN, PAIRS_ALL };

/* Members base + i * stride + j * outer_stride, i fastest. outer_size 1: one stride. */
struct group_line {
    uint64_t stride, outer_stride;
    unsigned size, outer_size;
};

struct group_line group_line_of(const struct degrees *degrees, enum rank_order order,
                                enum group_dimension dimension);

/* `count` ranks on block `from` send to as many on block `to` (from may be to). */
typedef void (*pair_run_fn)(void *context, unsigned from, unsigned to, unsigned count);

/* All groups of the line among `world` ranks, in blocks of `block` consecutive ranks. */
void group_pairs_visit(const struct group_line *line, enum pair_pattern pattern, uint64_t world,
                       unsigned block, pair_run_fn visit, void *context);

#endif
