/* SPDX-License-Identifier: MIT */
/*
 * traffic: bytes per step that one rank sends to its next neighbour in each dimension: what
 * planner/sizes/communication_volume.h says a plan exchanges, as rings for TP, CP, EP
 * (all-to-all counted as its per-rank bytes) and DP, and as chains for PP, where both
 * directions of a boundary count. Layers and parameters are the mean over the stages, so that
 * the sum over all ranks is the job's.
 * TP holds ETP's gathers too. DP holds the dense parameters' reductions and gathers over
 * D c, the experts' over EDP, and those over the replicas.
 */
#ifndef MAPPING_TRAFFIC_H
#define MAPPING_TRAFFIC_H

#include "planner/plan_search.h"
#include "workload/training_spec.h"

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
/* All 0 when the model's parameters leave 64 bits. */
void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, const struct training_spec *training,
                     struct traffic *ret);

#endif
