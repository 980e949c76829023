/* SPDX-License-Identifier: MIT */
/*
 * constraint: what a configuration must satisfy before its memory and time are worth
 * computing. A table of named checks, each cheap; the first that fails is what the
 * configuration is counted under.
 *
 * Divisibility: TP divides heads and kv heads (Megatron-Bridge's recipe recommender; with MLA
 * heads only) and a sequence-parallel rank's tokens; layers have a pipeline_layout; EP divides
 * experts, ETP their width, ETP * EP a stage's ranks (facts: Megatron-LM
 * theoretical_memory_usage.py); 2 CP divides the sequence (causal load balance); M is a
 * multiple of PP when interleaved (Narayanan 2021, 2.2.2).
 */
#ifndef PLANNER_SEARCH_CONSTRAINT_H
#define PLANNER_SEARCH_CONSTRAINT_H

#include "planner/plan_context.h"

/* What may be checked before batch and sharding are chosen, before micro batches are. */
enum constraint_stage {
    CONSTRAINT_DEGREES,
    CONSTRAINT_SHARDING,
    CONSTRAINT_WIDTH,
    CONSTRAINT_BATCH
};

enum constraint_id {
    CONSTRAINT_HEADS,
    CONSTRAINT_SEQUENCE,
    CONSTRAINT_LAYERS,
    CONSTRAINT_EXPERTS,
    CONSTRAINT_ORDER,
    CONSTRAINT_FRAMEWORK,
    CONSTRAINT_SHARD,
    CONSTRAINT_CHUNKS,
    CONSTRAINT_ROWS,
    CONSTRAINT_INTERLEAVING,
    CONSTRAINT_SPANS,
    CONSTRAINT_COUNT
};

/* true: allowed. Else *ret_failed says what failed; degrees must be complete for DEGREES, the
 * whole plan for BATCH. `sharding_given`: what a profile only allows (not recommends) with
 * pp > 1 is a choice of the user's, never the planner's. */
bool constraint_allows(const struct plan_context *context, const struct plan *plan,
                       enum constraint_stage stage, bool sharding_given,
                       enum constraint_id *ret_failed);
/* That one alone, of a plan whose sharding the user gave. */
bool constraint_holds(const struct plan_context *context, const struct plan *plan,
                      enum constraint_id id);
/* What a configuration that fails it is counted under. */
enum rejection constraint_rejection(enum constraint_id id);
/* Whether the planner may choose that TP by itself: what policy only warns of (or would fix)
 * when users ask for it is no choice of the planner's. */
bool constraint_allows_tp(const struct plan_context *context, unsigned tp);

#endif
