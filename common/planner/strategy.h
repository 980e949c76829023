/* SPDX-License-Identifier: MIT */
/*
 * strategy: the decision flow: which of the candidates is the answer, and why. Every rule of
 * the flow, with what it looked at and what it says, is explanation/plan_explain.h's.
 *
 * The answer: data parallelism without a split model (DDP where it fits in one GPU, else
 * ZeRO-1/2, FSDP or HSDP) when its step is within STRATEGY_SIMPLICITY_MARGIN of the fastest
 * plan that splits the model, else the best of those (which is another one where the fastest
 * leaves memory tight). Among sharded ones the fastest; within
 * STRATEGY_TIE_MARGIN FSDP inside one node (headroom), ZeRO-1/2 or HSDP across nodes (less
 * traffic). CP and EP are orthogonal: plans of either class may have them.
 * The rules of thumb never choose: where the cost model decided otherwise, the rule's verdict
 * is "overruled" and its reason has both figures.
 */
#ifndef PLANNER_STRATEGY_H
#define PLANNER_STRATEGY_H

#include "planner/plan_context.h"
#include "planner/search/candidate_pool.h"

#define STRATEGY_SIMPLICITY_MARGIN 0.10
/* Two runs of one configuration differ by as much (BigScience chronicles: up to 5 %). */
#define STRATEGY_TIE_MARGIN 0.03
/* Sizing's rule of thumb: one layer's parameters and activations, of the GPU's memory. */
#define STRATEGY_LAYER_SHARE 0.60
/* M >= 4 P keeps 1F1B's bubble below 20 % (Huang 2019 calls it negligible from there on). */
#define STRATEGY_MICRO_BATCHES_PER_STAGE 4u
#define STRATEGY_SEQUENCE_FOR_CP 32768u
#define STRATEGY_FAST_NETWORK_BYTES_PER_SECOND 25e9 /* 200 Gb/s per GPU */

struct strategy {
    const struct plan_context *context;
    const struct candidate_pool *pool;
    const struct plan *chosen;         /* NULL: nothing fits */
    const struct plan *data_parallel;  /* best without a split model, or NULL */
    const struct plan *model_parallel; /* best with one, or NULL */
    const struct plan *fastest_split;  /* fastest with one, or NULL */
    struct arena *arena;               /* of every text */
};

/* Fills all but `arena` from pool. */
void strategy_choose(const struct plan_context *context, const struct candidate_pool *pool,
                     struct strategy *ret);
/* Why the chosen plan, and why `plan` loses to it. NULL: out of memory. */
const char *strategy_reason_chosen(const struct strategy *strategy);
const char *strategy_reason_against(const struct strategy *strategy, const struct plan *plan);

/* "zero1 tp=8,pp=4,dp=2". */
#define PLAN_LABEL_BYTES (DEGREES_TEXT_BYTES + 32)
void plan_label(const struct plan *plan, char ret[static PLAN_LABEL_BYTES]);

#endif
