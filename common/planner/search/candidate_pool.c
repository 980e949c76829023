/* SPDX-License-Identifier: MIT */
#include "planner/search/candidate_pool.h"

#include <string.h>

#define MICROSECONDS_PER_SECOND 1e6

unsigned plan_class_of(const struct plan *plan)
{
    if (plan->degrees.tp > 1 || plan->degrees.pp > 1)
        return PLAN_CLASS_MODEL_PARALLEL;
    return PLAN_CLASS_DATA_PARALLEL + (unsigned)plan->sharding;
}

unsigned plan_complexity(const struct plan *plan)
{
    const struct degrees *degrees = &plan->degrees;
    const bool dimensions[] = {degrees->tp > 1,
                               degrees->cp > 1,
                               degrees->ep > 1,
                               degrees->etp != (degrees->ep > 1 ? 1 : degrees->tp),
                               degrees->pp > 1,
                               degrees->vpp > 1,
                               plan->recompute != RECOMPUTE_NONE,
                               plan->offload != OFFLOAD_NONE};
    unsigned count = 0;
    for (unsigned i = 0; i < COUNT_OF(dimensions); i++)
        count += dimensions[i];
    return count;
}

double plan_cost_seconds(const struct plan *plan)
{
    double factor = plan->memory.verdict == FIT_TIGHT ? 1 + CANDIDATE_TIGHT_COST : 1;
    return plan->time.step_seconds * factor;
}

static uint64_t cost_of(const struct plan *plan)
{
    return (uint64_t)(plan_cost_seconds(plan) * MICROSECONDS_PER_SECOND + 0.5);
}

#define PLAN_KEYS 13

/* In the order in which they decide. Of plans as good as each other and with as many
 * dimensions, larger micro batches and less sharding first: fewer, larger messages. */
static void keys_of(const struct plan *plan, uint64_t keys[static PLAN_KEYS])
{
    const struct degrees *degrees = &plan->degrees;
    const uint64_t values[PLAN_KEYS] = {
        cost_of(plan),  plan_complexity(plan), plan->memory.total_bytes,
        degrees->tp,    degrees->pp,           degrees->cp,
        degrees->ep,    degrees->etp,          degrees->vpp,
        degrees->shard, plan->sharding,        UINT32_MAX - plan->micro_batch,
        plan->recompute};
    memcpy(keys, values, sizeof(values));
}

int plan_compare(const struct plan *left, const struct plan *right)
{
    uint64_t left_keys[PLAN_KEYS], right_keys[PLAN_KEYS];
    keys_of(left, left_keys);
    keys_of(right, right_keys);
    for (unsigned i = 0; i < PLAN_KEYS; i++)
        if (left_keys[i] != right_keys[i])
            return left_keys[i] < right_keys[i] ? -1 : 1;
    return 0;
}

bool plan_is_variant(const struct plan *left, const struct plan *right)
{
    return left->degrees.tp == right->degrees.tp && left->degrees.cp == right->degrees.cp &&
           left->degrees.ep == right->degrees.ep && left->degrees.etp == right->degrees.etp &&
           left->degrees.pp == right->degrees.pp && left->sharding == right->sharding;
}

static void keep_fastest_split(struct candidate_pool *pool, const struct plan *plan)
{
    if (plan_class_of(plan) != PLAN_CLASS_MODEL_PARALLEL)
        return;
    if (pool->has_fastest_split && pool->fastest_split.time.step_seconds <= plan->time.step_seconds)
        return;
    pool->fastest_split = *plan;
    pool->has_fastest_split = true;
}

static void keep_best(struct candidate_pool *pool, const struct plan *plan)
{
    unsigned class = plan_class_of(plan);
    if (pool->has_best[class] && plan_compare(&pool->best[class], plan) <= 0)
        return;
    pool->best[class] = *plan;
    pool->has_best[class] = true;
}

void candidate_pool_offer(struct candidate_pool *pool, const struct plan *plan)
{
    keep_best(pool, plan);
    keep_fastest_split(pool, plan);
    size_t place = pool->count;
    while (place > 0 && plan_compare(plan, &pool->plans[place - 1]) < 0)
        place--;
    if (place == CANDIDATE_POOL_MAXIMUM)
        return;
    if (pool->count < CANDIDATE_POOL_MAXIMUM)
        pool->count++;
    memmove(&pool->plans[place + 1], &pool->plans[place],
            (pool->count - 1 - place) * sizeof(pool->plans[0]));
    pool->plans[place] = *plan;
}

void candidate_pool_miss(struct candidate_pool *pool, const struct plan *plan)
{
    pool->rejected[REJECT_MEMORY]++;
    if (pool->has_nearest && pool->nearest.memory.total_bytes <= plan->memory.total_bytes)
        return;
    pool->nearest = *plan;
    pool->has_nearest = true;
}

void candidate_pool_refuse(struct candidate_pool *pool, const struct plan *plan,
                           enum constraint_id constraint)
{
    struct candidate_refusals *refused = &pool->refused[constraint];
    pool->rejected[constraint_rejection(constraint)]++;
    if (refused->count++ == 0)
        refused->first = *plan;
}
