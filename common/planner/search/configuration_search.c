/* SPDX-License-Identifier: MIT */
#include "planner/search/configuration_search.h"

#include "planner/memory_model.h"
#include "planner/search/constraint.h"
#include "planner/search/search_space.h"
#include "planner/step_time.h"
#include "workload/job/job_bounds.h"

struct search {
    const struct plan_context *context;
    const struct job_spec *job;
    struct candidate_pool *pool;
    enum search_effort effort;
    bool found;         /* anything that fits */
    bool long_contexts; /* cp > 1 alone, also for short sequences */
    struct search_list shardings, recomputes;
    struct plan best; /* variant of the split and sharding at work */
    bool has_best;
};

static void reject(struct search *search, enum rejection rejection)
{
    search->pool->rejected[rejection]++;
}

static bool done(const struct search *search)
{
    return search->found && search->effort == SEARCH_MEMORY_ONLY;
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

/* Recomputing more never is faster: it ends where there is room to spare. false: nothing of
 * that micro batch fits. */
static bool visit_recomputes(struct search *search, struct plan *plan)
{
    bool fits = false;
    for (unsigned i = 0; i < search->recomputes.count && !done(search); i++) {
        plan->recompute = (enum recompute)search->recomputes.values[i];
        examine(search, plan);
        fits |= plan->memory.verdict != FIT_OOM;
        if (plan->memory.verdict == FIT_FITS) {
            search->pool->pruned += search->recomputes.count - 1 - i;
            break;
        }
    }
    return fits;
}

static bool set_batch(struct search *search, struct plan *plan, unsigned micro_batch)
{
    uint64_t rows = (uint64_t)micro_batch * plan->degrees.dp;
    enum constraint_id failed;
    plan->micro_batch = micro_batch;
    plan->micro_batches = (unsigned)(search->context->training.global_batch / rows);
    if (constraint_allows(search->context, plan, CONSTRAINT_BATCH, false, &failed))
        return true;
    candidate_pool_refuse(search->pool, plan, failed);
    return false;
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

/* A larger micro batch keeps more: behind the first that does not fit none does. */
static void visit_batches(struct search *search, struct plan *plan)
{
    struct search_list batches;
    bool full = false;
    search_space_micro_batch(search->context, plan, &batches);
    for (unsigned i = 0; i < batches.count && !done(search); i++) {
        if (!set_batch(search, plan, batches.values[i]))
            continue;
        if (full) {
            search->pool->pruned += search->recomputes.count;
            search->pool->rejected[REJECT_MEMORY] += search->recomputes.count;
        } else {
            full = !visit_recomputes(search, plan);
        }
    }
}

static void visit_chunks(struct search *search, struct plan *plan)
{
    struct search_list chunks;
    search_space_vpp(search->context, plan, &chunks);
    if (chunks.count == 0 && !job_bounds_given(search->job, JOB_VPP)) {
        plan->degrees.vpp = 0;
        candidate_pool_refuse(search->pool, plan, CONSTRAINT_CHUNKS);
    }
    for (unsigned i = 0; i < chunks.count && !done(search); i++) {
        plan->degrees.vpp = chunks.values[i];
        plan->schedule = schedule_of(search, &plan->degrees);
        visit_batches(search, plan);
    }
}

static void visit_widths(struct search *search, struct plan *plan)
{
    struct search_list widths;
    enum constraint_id failed;
    search_space_width(search->context, plan, &widths);
    if (widths.count == 0 && search->job->values[JOB_SHARDING].given &&
        !job_bounds_given(search->job, JOB_SHARD)) {
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

/* Nothing to shard over: ZeRO would be a word, but for zero3 that lets parameters leave the GPU. */
static bool is_idle_sharding(const struct search *search, const struct plan *plan)
{
    bool leaves = plan->offload != OFFLOAD_NONE && plan->sharding == SHARDING_ZERO3;
    return plan->sharding != SHARDING_NONE && !leaves && plan->degrees.dp * plan->degrees.cp == 1 &&
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

static void visit_degrees(struct search *search, struct plan *plan)
{
    enum constraint_id failed;
    if (constraint_allows(search->context, plan, CONSTRAINT_DEGREES, false, &failed))
        visit_shardings(search, plan);
    else
        candidate_pool_refuse(search->pool, plan, failed);
}

static void visit_experts(struct search *search, struct plan *plan)
{
    struct search_list experts, widths;
    search_space_ep(search->context, plan, &experts);
    for (unsigned i = 0; i < experts.count && !done(search); i++) {
        plan->degrees.ep = experts.values[i];
        search_space_etp(search->context, plan, &widths);
        if (widths.count == 0 && !job_bounds_given(search->job, JOB_ETP)) {
            plan->degrees.etp = 1;
            visit_degrees(search, plan);
        }
        for (unsigned k = 0; k < widths.count && !done(search); k++) {
            plan->degrees.etp = widths.values[k];
            visit_degrees(search, plan);
        }
    }
}

/* ranks: those that are left after TP and CP. */
static void visit_stages(struct search *search, struct plan *plan, uint64_t ranks)
{
    struct search_list stages;
    uint64_t given = job_spec_number(search->job, JOB_DP, 0);
    search_space_pp(search->context, ranks, &stages);
    for (unsigned i = 0; i < stages.count && !done(search); i++) {
        unsigned pp = stages.values[i];
        uint64_t dp = ranks / pp;
        if (ranks % pp != 0 || (given > 0 && dp != given)) {
            reject(search, REJECT_WORLD);
            continue;
        }
        if (!job_bounds_hold(search->job, JOB_DP, dp))
            continue;
        plan->degrees.pp = pp;
        plan->degrees.dp = (unsigned)dp;
        visit_experts(search, plan);
    }
}

static void visit_contexts(struct search *search, struct plan *plan)
{
    struct search_list contexts;
    uint64_t ranks = search->context->world / plan->degrees.tp;
    search_space_cp(search->context, ranks, search->long_contexts, &contexts);
    for (unsigned i = 0; i < contexts.count && !done(search); i++) {
        unsigned cp = contexts.values[i];
        if (search->long_contexts && cp == 1)
            continue;
        plan->degrees.cp = cp;
        if (ranks % cp != 0)
            reject(search, REJECT_WORLD);
        else
            visit_stages(search, plan, ranks / cp);
    }
}

static void visit_tensors(struct search *search, struct plan *plan)
{
    struct search_list tensors;
    search_space_tp(search->context, &tensors);
    for (unsigned i = 0; i < tensors.count && !done(search); i++) {
        plan->degrees.tp = tensors.values[i];
        if (search->context->world % plan->degrees.tp != 0)
            reject(search, REJECT_WORLD);
        else if (!search->job->values[JOB_TP].given &&
                 !constraint_allows_tp(search->context, plan->degrees.tp))
            reject(search, REJECT_POLICY);
        else
            visit_contexts(search, plan);
    }
}

void configuration_search_run(const struct plan_context *context, enum offload offload,
                              enum search_effort effort, struct candidate_pool *pool)
{
    struct search search = {
        .context = context, .job = context->request->job, .pool = pool, .effort = effort};
    struct plan plan = {.degrees = DEGREES_ONE,
                        .offload = offload,
                        .precision = context->precision,
                        .order = context->order};
    search_space_sharding(context, &search.shardings);
    search_space_recompute(context, &search.recomputes);
    visit_tensors(&search, &plan);
    if (search.found || search.job->values[JOB_CP].given ||
        context->training.sequence_length >= SEARCH_CP_SEQUENCE)
        return;
    search.long_contexts = true;
    visit_tensors(&search, &plan);
}
