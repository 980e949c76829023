/* SPDX-License-Identifier: MIT */
#include "planner/explanation/plan_pareto.h"

/* left is no worse in time, memory and simplicity, and better in one. */
static bool dominates(const struct plan *left, const struct plan *right)
{
    uint64_t left_memory = left->memory.total_bytes, right_memory = right->memory.total_bytes;
    unsigned left_words = plan_complexity(left), right_words = plan_complexity(right);
    double left_time = left->time.step_seconds, right_time = right->time.step_seconds;
    if (left_time > right_time || left_memory > right_memory || left_words > right_words)
        return false;
    return left_time < right_time || left_memory < right_memory || left_words < right_words;
}

static bool is_beaten(const struct candidate_pool *pool, size_t index)
{
    for (size_t i = 0; i < pool->count; i++)
        if (dominates(&pool->plans[i], &pool->plans[index]))
            return true;
    return false;
}

int plan_pareto(const struct strategy *strategy, struct plan_list *list, struct error_info *err)
{
    const struct candidate_pool *pool = strategy->pool;
    struct plan *plans = arena_allocate_array(strategy->arena, PLAN_PARETO_MAXIMUM, sizeof(*plans));
    size_t count = 0;
    if (!plans)
        return error_set_memory(err);
    for (size_t i = 0; i < pool->count && count < PLAN_PARETO_MAXIMUM; i++)
        if (!is_beaten(pool, i))
            plans[count++] = pool->plans[i];
    list->pareto = plans;
    list->pareto_count = count;
    return 0;
}
