/* SPDX-License-Identifier: MIT */
/*
 * flow_weights: what one pair of each flow costs at each distance, as integers, so that sums and
 * comparisons are exact and the same everywhere.
 *
 *     cost in seconds = unit_seconds * sum over flows f and pairs p of weights[f][slot of p]
 *
 * with unit_seconds so small that a whole job on its farthest links stays near 2^48.
 * Weights never fall with the distance.
 */
#ifndef MAPPING_SOLVER_FLOW_WEIGHTS_H
#define MAPPING_SOLVER_FLOW_WEIGHTS_H

#include "mapping/solver/link_seconds.h"
#include "mapping/traffic.h"

struct flow_weights {
    unsigned flow_count, slot_count;
    uint64_t weights[TRAFFIC_FLOWS_MAXIMUM][COST_SLOT_MAXIMUM];
    struct group_line lines[TRAFFIC_FLOWS_MAXIMUM];
    enum pair_pattern patterns[TRAFFIC_FLOWS_MAXIMUM];
    enum group_dimension groups[TRAFFIC_FLOWS_MAXIMUM];
    double unit_seconds; /* or the rule's unit; a mean over the ranks, as mapping_cost.h */
};

void flow_weights_of(const struct traffic *traffic, const struct link_seconds *seconds,
                     const struct degrees *degrees, enum rank_order order,
                     struct flow_weights *ret);

#endif
