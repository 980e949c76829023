/* SPDX-License-Identifier: MIT */
#include "planner/search/configuration_search.h"

#include "planner/efficiency_catalogue.h"
#include "planner/memory_model.h"
#include "planner/pipeline_schedule.h"
#include "planner/search/constraint.h"
#include "planner/step_time.h"

struct list {
    unsigned values[SEARCH_LIST_MAXIMUM];
    unsigned count;
};

struct search {
    const struct plan_context *context;
    const struct job_spec *job;
    struct candidate_pool *pool;
    enum search_effort effort;
    enum offload offload;
    bool found; /* SEARCH_MEMORY_ONLY: done */
    struct list tp, shardings, recomputes;
    struct plan best; /* variant of the split and sharding at work */
    bool has_best;
};

static void list_add(struct list *list, unsigned value)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return;
    if (list->count < SEARCH_LIST_MAXIMUM)
        list->values[list->count++] = value;
}

static bool list_given(const struct search *search, enum job_key key, struct list *list)
{
    const struct job_value *value = &search->job->values[key];
    if (value->given)
        list_add(list, (unsigned)value->number);
    return value->given;
}

static void list_divisors(struct list *list, uint64_t value, uint64_t maximum)
{
    for (uint64_t divisor = 1; divisor <= maximum && divisor <= value; divisor++)
        if (value % divisor == 0)
            list_add(list, (unsigned)divisor);
}

static void reject(struct search *search, enum rejection rejection)
{
    search->pool->rejected[rejection]++;
}

static void examine(struct search *search, struct plan *plan)
{
    memory_estimate_plan(search->context, plan, &plan->memory);
    search->pool->examined++;
    if (plan->memory.verdict == FIT_OOM) {
        candidate_pool_miss(search->pool, plan);
        return;
    }
    search->found = true;
    if (search->effort == SEARCH_ALL)
        step_time_of(search->context, plan, &plan->time);
    if (search->has_best && plan_compare(&search->best, plan) <= 0)
        return;
    search->best = *plan;
    search->has_best = true;
}

static bool done(const struct search *search)
{
    return search->found && search->effort == SEARCH_MEMORY_ONLY;
}

static void visit_recomputes(struct search *search, struct plan *plan)
{
    for (unsigned i = 0; i < search->recomputes.count && !done(search); i++) {
        plan->recompute = (enum recompute)search->recomputes.values[i];
        examine(search, plan);
    }
}

static void visit_batch(struct search *search, struct plan *plan, unsigned micro_batch)
{
    uint64_t rows = (uint64_t)micro_batch * plan->degrees.dp;
    enum constraint_id failed;
    plan->micro_batch = micro_batch;
    plan->micro_batches = (unsigned)(search->context->training.global_batch / rows);
    if (constraint_allows(search->context, plan, CONSTRAINT_BATCH, false, &failed))
        visit_recomputes(search, plan);
    else
        candidate_pool_refuse(search->pool, plan, failed);
}

static enum schedule schedule_of(const struct search *search, const struct degrees *degrees)
{
    enum schedule fallback = SCHEDULE_1F1B;
    if (degrees->pp == 1)
        return SCHEDULE_NONE;
    if (degrees->vpp > 1)
        return SCHEDULE_INTERLEAVED;
    return (enum schedule)job_spec_number(search->job, JOB_SCHEDULE, fallback);
}

static void visit_batches(struct search *search, struct plan *plan)
{
    struct list batches = {.count = 0};
    unsigned largest = search->context->training.global_batch / plan->degrees.dp;
    if (!list_given(search, JOB_MICRO_BATCH, &batches))
        for (unsigned batch = 1; batch <= SEARCH_MICRO_BATCH_MAXIMUM; batch *= 2)
            if (batch == 1 || batch <= largest)
                list_add(&batches, batch);
    for (unsigned i = 0; i < batches.count && !done(search); i++)
        visit_batch(search, plan, batches.values[i]);
}

static bool may_interleave(const struct search *search, const struct degrees *degrees)
{
    const struct job_value *schedule = &search->job->values[JOB_SCHEDULE];
    return degrees->pp > 1 && search->context->framework->interleaves &&
           (!schedule->given || schedule->number == SCHEDULE_INTERLEAVED);
}

static void list_chunks(const struct search *search, const struct degrees *degrees,
                        struct list *list)
{
    if (list_given(search, JOB_VPP, list))
        return;
    bool only = search->job->values[JOB_SCHEDULE].number == SCHEDULE_INTERLEAVED &&
                search->job->values[JOB_SCHEDULE].given && degrees->pp > 1;
    if (!only)
        list_add(list, 1);
    unsigned layers = search->context->model->layers / degrees->pp;
    struct pipeline_layout layout;
    for (unsigned vpp = 2; may_interleave(search, degrees) && vpp <= layers + 1; vpp++)
        if (pipeline_layout_of(search->context->model->layers, degrees->pp, vpp, &layout))
            list_add(list, vpp);
}

static void visit_chunks(struct search *search, struct plan *plan)
{
    struct list chunks = {.count = 0};
    list_chunks(search, &plan->degrees, &chunks);
    if (chunks.count == 0) {
        plan->degrees.vpp = 0;
        candidate_pool_refuse(search->pool, plan, CONSTRAINT_CHUNKS);
    }
    for (unsigned i = 0; i < chunks.count && !done(search); i++) {
        plan->degrees.vpp = chunks.values[i];
        plan->schedule = schedule_of(search, &plan->degrees);
        visit_batches(search, plan);
    }
}

/* HSDP: one node's ranks, then twice as many as long as it stays below DP. */
static void list_widths(const struct search *search, const struct plan *plan, struct list *list)
{
    unsigned dp = plan->degrees.dp;
    if (list_given(search, JOB_SHARD, list))
        return;
    if (plan->sharding != SHARDING_HSDP) {
        list_add(list, plan->sharding == SHARDING_NONE ? 1 : dp);
        return;
    }
    unsigned cell = plan->degrees.tp * plan->degrees.cp;
    unsigned width = search->context->shape.gpus_per_node / cell;
    for (width = width > 1 ? width : 2; width < dp; width *= 2)
        if (dp % width == 0)
            list_add(list, width);
}

static void visit_widths(struct search *search, struct plan *plan)
{
    struct list widths = {.count = 0};
    enum constraint_id failed;
    list_widths(search, plan, &widths);
    if (widths.count == 0 && search->job->values[JOB_SHARDING].given) {
        plan->degrees.shard = 0;
        candidate_pool_refuse(search->pool, plan, CONSTRAINT_SHARD);
    }
    for (unsigned i = 0; i < widths.count && !done(search); i++) {
        plan->degrees.shard = widths.values[i];
        if (!constraint_allows(search->context, plan, CONSTRAINT_WIDTH, false, &failed)) {
            candidate_pool_refuse(search->pool, plan, failed);
            continue;
        }
        plan->degrees.replicate = plan->degrees.dp / plan->degrees.shard;
        visit_chunks(search, plan);
    }
}

/* Nothing to shard over: ZeRO would be a word. */
static bool is_idle_sharding(const struct search *search, const struct plan *plan)
{
    return plan->sharding != SHARDING_NONE && plan->degrees.dp * plan->degrees.cp == 1 &&
           !search->job->values[JOB_SHARDING].given;
}

static void visit_shardings(struct search *search, struct plan *plan)
{
    bool given = search->job->values[JOB_SHARDING].given;
    enum constraint_id failed;
    for (unsigned i = 0; i < search->shardings.count && !done(search); i++) {
        plan->sharding = (enum sharding)search->shardings.values[i];
        if (is_idle_sharding(search, plan))
            continue;
        if (!constraint_allows(search->context, plan, CONSTRAINT_SHARDING, given, &failed)) {
            candidate_pool_refuse(search->pool, plan, failed);
            continue;
        }
        search->has_best = false;
        visit_widths(search, plan);
        if (search->has_best)
            candidate_pool_offer(search->pool, &search->best);
    }
}

static void visit_experts(struct search *search, struct plan *plan)
{
    struct list experts = {.count = 0};
    enum constraint_id failed;
    uint64_t stage = (uint64_t)plan->degrees.tp * plan->degrees.cp * plan->degrees.dp;
    unsigned count = search->context->model->experts;
    if (!list_given(search, JOB_EP, &experts))
        list_divisors(&experts, count > 0 ? count : 1, stage);
    for (unsigned i = 0; i < experts.count && !done(search); i++) {
        unsigned ep = experts.values[i], fallback = ep > 1 ? 1 : plan->degrees.tp;
        plan->degrees.ep = ep;
        plan->degrees.etp = (unsigned)job_spec_number(search->job, JOB_ETP, fallback);
        if (constraint_allows(search->context, plan, CONSTRAINT_DEGREES, false, &failed))
            visit_shardings(search, plan);
        else
            candidate_pool_refuse(search->pool, plan, failed);
    }
}

/* ranks: those that are left after TP and CP. */
static void visit_stages(struct search *search, struct plan *plan, uint64_t ranks)
{
    struct list stages = {.count = 0};
    uint64_t dp = job_spec_number(search->job, JOB_DP, 0);
    if (!list_given(search, JOB_PP, &stages)) {
        if (dp > 0 && ranks % dp == 0)
            list_add(&stages, (unsigned)(ranks / dp));
        else if (dp == 0)
            list_divisors(&stages, ranks, search->context->model->layers);
    }
    for (unsigned i = 0; i < stages.count && !done(search); i++) {
        plan->degrees.pp = stages.values[i];
        if (ranks % plan->degrees.pp != 0 || (dp > 0 && ranks / plan->degrees.pp != dp)) {
            reject(search, REJECT_WORLD);
            continue;
        }
        plan->degrees.dp = (unsigned)(ranks / plan->degrees.pp);
        visit_experts(search, plan);
    }
}

static void visit_contexts(struct search *search, struct plan *plan)
{
    struct list contexts = {.count = 0};
    uint64_t ranks = search->context->world / plan->degrees.tp;
    if (!list_given(search, JOB_CP, &contexts)) {
        list_add(&contexts, 1);
        bool lengthy = search->context->training.sequence_length >= SEARCH_CP_SEQUENCE;
        for (unsigned cp = 2; lengthy && cp <= SEARCH_CP_MAXIMUM; cp *= 2)
            if (ranks % cp == 0)
                list_add(&contexts, cp);
    }
    for (unsigned i = 0; i < contexts.count && !done(search); i++) {
        plan->degrees.cp = contexts.values[i];
        if (ranks % plan->degrees.cp != 0)
            reject(search, REJECT_WORLD);
        else
            visit_stages(search, plan, ranks / plan->degrees.cp);
    }
}

static void list_degrees(struct search *search)
{
    const struct plan_context *context = search->context;
    unsigned reach = context->shape.gpus_per_node;
    if (context->shape.domain_gpus > reach)
        reach = context->shape.domain_gpus;
    if (!list_given(search, JOB_TP, &search->tp))
        list_divisors(&search->tp, context->world, reach);
}

static void list_choices(struct search *search)
{
    bool unfused = !search->context->framework->fused_attention;
    list_degrees(search);
    if (!list_given(search, JOB_SHARDING, &search->shardings))
        for (unsigned sharding = 0; sharding < SHARDING_COUNT; sharding++)
            list_add(&search->shardings, sharding);
    if (list_given(search, JOB_RECOMPUTE, &search->recomputes))
        return;
    list_add(&search->recomputes, RECOMPUTE_NONE);
    if (unfused)
        list_add(&search->recomputes, RECOMPUTE_SELECTIVE);
    list_add(&search->recomputes, RECOMPUTE_FULL);
}

void configuration_search_run(const struct plan_context *context, enum offload offload,
                              enum search_effort effort, struct candidate_pool *pool)
{
    struct search search = {.context = context,
                            .job = context->request->job,
                            .pool = pool,
                            .effort = effort,
                            .offload = offload};
    struct plan plan = {.degrees = DEGREES_ONE,
                        .offload = offload,
                        .precision = context->precision,
                        .order = context->order};
    list_choices(&search);
    for (unsigned i = 0; i < search.tp.count && !done(&search); i++) {
        plan.degrees.tp = search.tp.values[i];
        if (context->world % plan.degrees.tp != 0)
            reject(&search, REJECT_WORLD);
        else if (!search.job->values[JOB_TP].given &&
                 !constraint_allows_tp(context, plan.degrees.tp))
            reject(&search, REJECT_POLICY);
        else
            visit_contexts(&search, &plan);
    }
}
