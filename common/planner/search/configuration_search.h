/* SPDX-License-Identifier: MIT */
/*
 * configuration_search: every configuration of a context's model, cluster and batch, within
 * the given keys, costed into a candidate_pool. Memory is computed first and prunes; time
 * only for what fits.
 *
 * Space: tp over divisors of N up to a node or NVLink domain; pp over divisors up to the
 * layers; cp over powers of two from SEARCH_CP_SEQUENCE tokens on; ep over divisors of the
 * experts; etp 1 with ep, else tp; sharding with its widths (HSDP: one node's, then doubled);
 * vpp over divisors; micro batch and HSDP widths in powers of two; recompute where it keeps
 * less. A given key replaces its list.
 */
#ifndef PLANNER_SEARCH_CONFIGURATION_SEARCH_H
#define PLANNER_SEARCH_CONFIGURATION_SEARCH_H

#include "planner/plan_context.h"
#include "planner/search/candidate_pool.h"

#define SEARCH_CP_SEQUENCE 32768u /* tokens from which context parallelism is tried */
#define SEARCH_CP_MAXIMUM 64u
#define SEARCH_MICRO_BATCH_MAXIMUM 64u
#define SEARCH_LIST_MAXIMUM 256u

enum search_effort {
    SEARCH_ALL,
    SEARCH_MEMORY_ONLY /* stop at the first that fits; no times */
};

/* pool: zeroed by the caller. offload: what the run uses (the job's own word may be auto). */
void configuration_search_run(const struct plan_context *context, enum offload offload,
                              enum search_effort effort, struct candidate_pool *pool);

#endif
