/* SPDX-License-Identifier: MIT */
/*
 * traffic: bytes per step that one rank sends to its next neighbour in each dimension
 * (facts of the field: docs/formulas.md). Rings for TP, CP, EP (all-to-all counted as its
 * per-rank bytes), DP; chains for PP.
 */
#ifndef MAPPING_TRAFFIC_H
#define MAPPING_TRAFFIC_H

#include "planner/plan_search.h"

enum traffic_dimension {
    TRAFFIC_TP,
    TRAFFIC_CP,
    TRAFFIC_EP,
    TRAFFIC_PP,
    TRAFFIC_DP,
    TRAFFIC_DIMENSION_COUNT
};

struct traffic {
    double bytes_per_step[TRAFFIC_DIMENSION_COUNT];
};

const char *traffic_dimension_name(enum traffic_dimension dimension);
void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, unsigned sequence_length,
                     struct traffic *ret);

#endif
