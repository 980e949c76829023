/* SPDX-License-Identifier: MIT */
#include "planner/roles/role_plans.h"

#include "base/memory.h"

static uint64_t kept_by(const struct plan *plan)
{
    const uint64_t *parts = plan->memory.parts;
    return parts[MEMORY_PARAMETERS] + parts[MEMORY_GRADIENTS] + parts[MEMORY_OPTIMIZER];
}

static uint64_t kept_by_others(const struct role_request *requests, const struct role_plans *plans,
                               size_t role)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < plans->count; i++)
        if (i != role && requests[i].home == requests[role].home)
            sum += plans->results[i].kept_bytes;
    return sum;
}

static int plan_role(const struct role_request *request, uint64_t others,
                     struct role_result *result, struct error_info *err)
{
    struct plan_request plan = request->plan;
    plan.reserved_bytes = others;
    struct plan_list *list = plan_search(&plan, err);
    if (!list)
        return -1;
    plan_list_free(result->list);
    result->list = list;
    result->plan = list->plan_count > 0 ? &list->plans[0] : NULL;
    result->others_bytes = others;
    result->kept_bytes = result->plan ? kept_by(result->plan) : 0;
    return 0;
}

/* 1: a role was planned anew; 0: all stand; -1: error. */
static int plan_round(const struct role_request *requests, struct role_plans *plans,
                      struct error_info *err)
{
    int moved = 0;
    for (size_t i = 0; i < plans->count; i++) {
        struct role_result *result = &plans->results[i];
        uint64_t others = kept_by_others(requests, plans, i);
        if (result->list && result->others_bytes == others)
            continue;
        if (plan_role(&requests[i], others, result, err) < 0)
            return -1;
        moved = 1;
    }
    return moved;
}

/* After the last round: a role whose neighbours grew since does not fit if it no longer does. */
static void check(const struct role_request *requests, struct role_plans *plans)
{
    for (size_t i = 0; i < plans->count; i++) {
        struct role_result *result = &plans->results[i];
        uint64_t others = kept_by_others(requests, plans, i);
        if (!result->plan || others <= result->others_bytes)
            continue;
        uint64_t grown = others - result->others_bytes;
        uint64_t capacity = result->plan->memory.capacity_bytes;
        result->others_bytes = others;
        if (capacity > 0 && result->plan->memory.total_bytes + grown > capacity)
            result->plan = NULL;
    }
}

struct role_plans *role_plans_create(const struct role_request *requests, size_t count,
                                     struct error_info *err)
{
    CLEANUP(role_plans) struct role_plans *plans = memory_allocate(sizeof(*plans));
    if (!plans)
        return error_null(error_set_memory(err));
    plans->results = memory_allocate_array(count + 1, sizeof(*plans->results));
    if (!plans->results)
        return error_null(error_set_memory(err));
    plans->count = count;
    int moved = 1;
    for (unsigned round = 0; round < ROLE_ROUNDS && moved > 0; round++)
        moved = plan_round(requests, plans, err);
    if (moved < 0)
        return NULL;
    check(requests, plans);
    return move_pointer(plans);
}

void role_plans_free(struct role_plans *plans)
{
    if (!plans)
        return;
    for (size_t i = 0; plans->results && i < plans->count; i++)
        plan_list_free(plans->results[i].list);
    memory_free(plans->results);
    memory_free(plans);
}
