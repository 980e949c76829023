/* SPDX-License-Identifier: MIT */
/*
 * candidate_pool: what a search remembers: the best plans that fit (one for each split and
 * sharding), the best of each class that the decision flow compares, the nearest that does
 * not fit, and counts.
 *
 * Order: step time in whole microseconds (a plan whose memory is tight counts
 * CANDIDATE_TIGHT_COST more), then fewer dimensions, then memory, then smaller degrees:
 * integers only, so that the last bits of a double decide nothing.
 */
#ifndef PLANNER_SEARCH_CANDIDATE_POOL_H
#define PLANNER_SEARCH_CANDIDATE_POOL_H

#include "planner/search/constraint.h"

#define CANDIDATE_POOL_MAXIMUM 256u
/* The memory model is off by about as much (parplan validate), so that a
 * tight plan may fail where it runs. */
#define CANDIDATE_TIGHT_COST 0.06

/* What the flow compares: pure data parallelism by sharding, and splitting the model. */
enum plan_class {
    PLAN_CLASS_DATA_PARALLEL, /* tp = pp = 1; the sharding says which */
    PLAN_CLASS_MODEL_PARALLEL = SHARDING_COUNT,
    PLAN_CLASS_COUNT
};

/* What one constraint kept out; the first configuration stands for all. */
struct candidate_refusals {
    uint64_t count;
    struct plan first;
};

struct candidate_pool {
    struct plan plans[CANDIDATE_POOL_MAXIMUM]; /* best first */
    size_t count;
    struct plan best[PLAN_CLASS_COUNT];
    bool has_best[PLAN_CLASS_COUNT];
    struct plan fastest_split; /* of the model-parallel ones, tight or not */
    bool has_fastest_split;
    struct plan nearest; /* least memory among those that do not fit */
    bool has_nearest;
    uint64_t rejected[REJECTION_COUNT];
    struct candidate_refusals refused[CONSTRAINT_COUNT];
    uint64_t examined; /* memory computed */
    uint64_t pruned;   /* decided by a neighbour */
};

unsigned plan_class_of(const struct plan *plan);
/* Dimensions larger than 1 (tp, cp, ep, pp, vpp), an etp of its own, recompute and offload: less
 * is simpler. */
unsigned plan_complexity(const struct plan *plan);
/* Step time, and CANDIDATE_TIGHT_COST of it where memory is tight. */
double plan_cost_seconds(const struct plan *plan);
/* < 0: left is better. Never 0 for different configurations. */
int plan_compare(const struct plan *left, const struct plan *right);
/* The same degrees (but vpp and shard) and sharding: variants of one plan. */
bool plan_is_variant(const struct plan *left, const struct plan *right);

/* A plan that fits: the best variant of its split, in any order of splits. */
void candidate_pool_offer(struct candidate_pool *pool, const struct plan *plan);
/* A plan that does not. */
void candidate_pool_miss(struct candidate_pool *pool, const struct plan *plan);
/* A configuration that fails a constraint: it is never costed. */
void candidate_pool_refuse(struct candidate_pool *pool, const struct plan *plan,
                           enum constraint_id constraint);

#endif
