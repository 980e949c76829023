/* SPDX-License-Identifier: MIT */
/*
 * stage_parameters: the parameters of one pipeline stage, in whole numbers and by what ranks
 * share: for the command line. The planner's own figures are plan_shape.h's, of one rank.
 *
 * A stage holds each parameter once per model replica. Of the three classes a rank holds:
 *   tensor       1/t: embedding and head (padded, plan_shape.h), attention, dense MLP, shared
 *                experts, the 2h x h matrix of an MTP layer
 *   expert       1/(ETP EP): routed experts
 *   replicated   all: norms, output bias, router, position table, MLA's down projections
 * Sources: plan_shape.h and model_spec.h.
 */
#ifndef PLANNER_SIZES_STAGE_PARAMETERS_H
#define PLANNER_SIZES_STAGE_PARAMETERS_H

#include "planner/sizes/plan_shape.h"

enum parameter_class {
    PARAMETERS_TENSOR,
    PARAMETERS_EXPERT,
    PARAMETERS_REPLICATED,
    PARAMETER_CLASS_COUNT
};

struct stage_parameters {
    struct stage_layers layers;
    uint64_t whole[PARAMETER_CLASS_COUNT]; /* of the stage */
    uint64_t rank[PARAMETER_CLASS_COUNT];  /* of one rank, rounded up */
    uint64_t padding; /* of whole[PARAMETERS_TENSOR], what only fills up tables for TP */
    uint64_t trained; /* of one rank, rounded: of its parameters, or adapters beside them */
};

/* shape->profile may be NULL. layout must be that of the plan's pp and vpp. -1 on 64-bit
 * overflow. */
int stage_parameters_count(const struct plan_shape *shape, const struct pipeline_layout *layout,
                           unsigned stage, struct stage_parameters *ret, struct error_info *err);

#endif
