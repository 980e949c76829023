/* SPDX-License-Identifier: MIT */
/*
 * configuration_search: every configuration of a context's model, cluster and batch, within
 * the given keys (search_space.h), costed into a candidate_pool. Memory is computed first and
 * prunes; time only for what fits. What a neighbour decides is counted, not costed: a larger
 * micro batch than one that does not fit, more recompute than a plan with room to spare.
 *
 * Where nothing fits, context parallelism is tried for short sequences too.
 */
#ifndef PLANNER_SEARCH_CONFIGURATION_SEARCH_H
#define PLANNER_SEARCH_CONFIGURATION_SEARCH_H

#include "planner/plan_context.h"
#include "planner/search/candidate_pool.h"

enum search_effort {
    SEARCH_ALL,
    SEARCH_MEMORY_ONLY /* stop at the first that fits; no times */
};

/* pool: zeroed by the caller. offload: what the run uses (the job's own word may be auto). */
void configuration_search_run(const struct plan_context *context, enum offload offload,
                              enum search_effort effort, struct candidate_pool *pool);

#endif
