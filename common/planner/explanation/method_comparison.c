/* SPDX-License-Identifier: MIT */
#include "planner/explanation/method_comparison.h"

#include <string.h>

#define COMPARISON_MAXIMUM_BYTES ((size_t)1 << 20)
#define GIB 1073741824.0

static const struct {
    const char *name, *keys;
} methods[METHOD_COUNT] = {
    [METHOD_DDP] = {"DDP", "tp=1,pp=1,sharding=none"},
    [METHOD_ZERO1] = {"ZeRO-1", "tp=1,pp=1,sharding=zero1"},
    [METHOD_FSDP] = {"FSDP", "tp=1,pp=1,sharding=zero3"},
    [METHOD_TP] = {"TP", "tp>=2,pp=1"},
    [METHOD_PP] = {"PP", "tp=1,pp>=2"},
    [METHOD_TP_PP] = {"TP and PP", "tp>=2,pp>=2"},
};

static const char *why_not(const struct plan_list *list, struct arena *arena)
{
    const struct plan *nearest = list->nearest;
    if (list->policy.result == POLICY_DENIED)
        return arena_copy_text(arena, list->policy.text);
    if (nearest)
        return arena_format(arena, "does not fit: %.1f GiB of %.1f at least",
                            (double)nearest->memory.total_bytes / GIB,
                            (double)nearest->memory.capacity_bytes / GIB);
    return arena_copy_text(arena, list->remedy_count > 0 ? list->remedies[0].text
                                                         : "no split satisfies the constraints");
}

/* 0 where the search has an answer, which may be that the method is impossible. */
static int search(const struct plan_request *request, const struct job_spec *job,
                  struct method_row *row, struct arena *arena, struct error_info *err)
{
    struct plan_request within = *request;
    within.job = job;
    within.top = 1;
    within.explain = NULL;
    within.brief = true;
    CLEANUP(plan_list) struct plan_list *list = plan_search(&within, err);
    if (!list)
        return -1;
    row->fits = list->plan_count > 0;
    if (row->fits) {
        row->plan = list->plans[0];
        row->plan.reasons = NULL;
        row->plan.reason_count = 0;
        return 0;
    }
    row->why_not = why_not(list, arena);
    return row->why_not ? 0 : error_set_memory(err);
}

/* Of "--plan: tp: 8, but DDP says 1; keep one of them" what the user gave. */
static const char *excluded_words(const char *text, struct arena *arena)
{
    const char *end = strstr(text, ", but ");
    return end ? arena_format(arena, "excluded by %.*s", (int)(end - text), text)
               : arena_format(arena, "excluded: %s", text);
}

struct attempt {
    const struct plan_request *request;
    const char *name, *keys;
};

static int fill_row(const struct attempt *attempt, struct method_row *row, struct arena *arena,
                    struct error_info *err)
{
    struct error_info local = {.kind = ERROR_NONE};
    row->name = attempt->name;
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    if (!job || job_spec_parse_option(job, attempt->keys, row->name, err) < 0)
        return -1;
    bool excluded = job_spec_merge_below(job, attempt->request->job, &local) < 0;
    if (!excluded && search(attempt->request, job, row, arena, &local) == 0)
        return 0;
    if (local.kind != ERROR_INPUT) {
        if (err)
            *err = local;
        return -1;
    }
    row->why_not =
        excluded ? excluded_words(local.text, arena) : arena_copy_text(arena, local.text);
    return row->why_not ? 0 : error_set_memory(err);
}

/* What a neighbour differs in: a number that is doubled and halved, or the sharding. */
enum step { STEP_TP, STEP_PP, STEP_CP, STEP_EP, STEP_MICRO_BATCH };
#define STEP_COUNT 5u

static const char *const step_keys[STEP_COUNT] = {"tp", "pp", "cp", "ep", "micro_batch"};

static void steps_of(const struct plan *plan, unsigned ret[static STEP_COUNT])
{
    const unsigned values[STEP_COUNT] = {plan->degrees.tp, plan->degrees.pp, plan->degrees.cp,
                                         plan->degrees.ep, plan->micro_batch};
    memcpy(ret, values, sizeof(values));
}

/* The chosen plan's keys, with one value changed. A micro batch stays open unless it is the one. */
static int add_neighbour(struct method_comparison *comparison, const struct plan_request *request,
                         const struct plan *plan, const char *name, struct error_info *err)
{
    unsigned values[STEP_COUNT];
    size_t key_length = strcspn(name, "=");
    const char *keys = name;
    steps_of(plan, values);
    if (comparison->neighbour_count == NEIGHBOUR_MAXIMUM)
        return 0;
    for (unsigned i = 0; i < STEP_COUNT && keys; i++) {
        bool same = strncmp(step_keys[i], name, key_length) == 0 && !step_keys[i][key_length];
        if (!same && i != STEP_MICRO_BATCH && (i != STEP_EP || request->model->experts > 0))
            keys = arena_format(comparison->arena, "%s,%s=%u", keys, step_keys[i], values[i]);
    }
    if (keys && strncmp(name, "sharding", key_length) != 0)
        keys =
            arena_format(comparison->arena, "%s,sharding=%s", keys, sharding_name(plan->sharding));
    if (!keys)
        return error_set_memory(err);
    const struct attempt attempt = {request, name, keys};
    struct method_row *row = &comparison->neighbours[comparison->neighbour_count++];
    return fill_row(&attempt, row, comparison->arena, err);
}

static int add_step(struct method_comparison *comparison, const struct plan_request *request,
                    const struct plan *plan, enum step step, struct error_info *err)
{
    unsigned values[STEP_COUNT];
    steps_of(plan, values);
    unsigned value = values[step];
    const unsigned others[] = {value % 2 == 0 ? value / 2 : 0,
                               value <= DEGREE_MAXIMUM / 2 ? value * 2 : 0};
    for (unsigned i = 0; i < COUNT_OF(others); i++) {
        if (others[i] == 0)
            continue;
        const char *name = arena_format(comparison->arena, "%s=%u", step_keys[step], others[i]);
        if (!name)
            return error_set_memory(err);
        if (add_neighbour(comparison, request, plan, name, err) < 0)
            return -1;
    }
    return 0;
}

static int fill_neighbours(struct method_comparison *comparison, const struct plan_request *request,
                           const struct plan *plan, struct error_info *err)
{
    for (unsigned step = 0; step < STEP_COUNT; step++) {
        if (step == STEP_EP && request->model->experts == 0)
            continue;
        if (add_step(comparison, request, plan, (enum step)step, err) < 0)
            return -1;
    }
    for (unsigned i = 0; i < SHARDING_COUNT; i++) {
        if (i == plan->sharding)
            continue;
        const char *name =
            arena_format(comparison->arena, "sharding=%s", sharding_name((enum sharding)i));
        if (!name)
            return error_set_memory(err);
        if (add_neighbour(comparison, request, plan, name, err) < 0)
            return -1;
    }
    return 0;
}

static int fill(struct method_comparison *comparison, const struct plan_request *request,
                const struct plan *chosen, struct error_info *err)
{
    for (unsigned i = 0; i < METHOD_COUNT; i++) {
        const struct attempt attempt = {request, methods[i].name, methods[i].keys};
        if (fill_row(&attempt, &comparison->rows[i], comparison->arena, err) < 0)
            return -1;
    }
    return chosen ? fill_neighbours(comparison, request, chosen, err) : 0;
}

struct method_comparison *method_comparison_create(const struct plan_request *request,
                                                   const struct plan *chosen,
                                                   struct error_info *err)
{
    struct arena *arena = arena_create(COMPARISON_MAXIMUM_BYTES);
    struct method_comparison *comparison =
        arena ? arena_allocate(arena, sizeof(*comparison)) : NULL;
    if (!comparison) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    comparison->arena = arena;
    if (fill(comparison, request, chosen, err) == 0)
        return comparison;
    method_comparison_free(comparison);
    return NULL;
}

void method_comparison_free(struct method_comparison *comparison)
{
    if (comparison)
        arena_free(comparison->arena);
}
