/* SPDX-License-Identifier: MIT */
#include "planner/measured/mfu_analysis.h"

/* A run that has run is no matter of policy. */
static const struct policy any_plan = {
    .tp_within = TP_WITHIN_OFF,
    .on_violation = POLICY_WARN,
    .require_plan = REQUIRE_OFF,
    .on_unknown_topology = UNKNOWN_ALLOW,
};

static int check_request(const struct mfu_request *request, struct error_info *err)
{
    const struct job_spec *job = request->plan->job;
    if (request->measure != MEASURE_STEP_SECONDS ||
        (job->values[JOB_GLOBAL_BATCH].given && job->values[JOB_SEQUENCE_LENGTH].given))
        return 0;
    return error_set(err, "a step time says nothing without the step's tokens: give "
                          "global_batch (in sequences) and sequence_length with --set");
}

static enum recompute recompute_of(const struct mfu_analysis *analysis, const struct job_spec *job)
{
    enum recompute planned = analysis->plan ? analysis->plan->recompute : RECOMPUTE_NONE;
    return (enum recompute)job_spec_number(job, JOB_RECOMPUTE, planned);
}

static int predict(struct mfu_analysis *analysis, const struct plan_request *request,
                   struct error_info *err)
{
    struct plan_list *list = plan_search(request, err);
    if (!list)
        return -1;
    analysis->list = list;
    analysis->plan = list->plan_count > 0 ? &list->plans[0] : list->nearest;
    analysis->degrees_given = job_spec_has_degrees(request->job);
    return 0;
}

static void measure_run(struct mfu_analysis *analysis, const struct plan_context *context,
                        const struct mfu_request *request)
{
    const struct job_spec *job = request->plan->job;
    analysis->recompute = recompute_of(analysis, job);
    analysis->recompute_assumed = !job->values[JOB_RECOMPUTE].given;
    run_size_of(context, analysis->recompute, &analysis->size);
    measured_speed_of(&analysis->size, request->measure, request->value, &analysis->speed);
    analysis->measure = request->measure;
    analysis->training = context->training;
    analysis->gpu = context->gpu;
    analysis->precision = context->precision;
    if (analysis->plan && analysis->plan->time.step_seconds > 0) {
        /* By tokens per second: the step's batch may be a default. */
        analysis->ratio =
            analysis->plan->time.tokens_per_second / analysis->speed.tokens_per_second;
        nccl_share_of(context, analysis->plan, &analysis->nccl);
    }
}

static int judge(struct mfu_analysis *analysis, const struct plan_context *context,
                 const struct mfu_request *request, struct error_info *err)
{
    const struct mfu_query query = {
        .gpu = context->gpu,
        .gpus = request->plan->gpus,
        .precision = context->precision,
        .moe = context->model->experts > 0,
        .parameters = (double)context->parameters.total,
        .sequence_length = context->training.sequence_length,
    };
    if (mfu_reference_range(request->references, &query, analysis->arena, &analysis->range, err) <
        0)
        return -1;
    analysis->verdict = mfu_verdict_of(&analysis->range, analysis->speed.mfu);
    if (!context->gpu)
        return 0;
    analysis->precision_count = PRECISION_ADVICE_COUNT;
    return precision_advice_of(request->references, &query, analysis->arena, analysis->precisions,
                               err);
}

static int fill_checks(struct mfu_analysis *analysis, const struct plan_context *context,
                       struct error_info *err)
{
    const struct mfu_gap gap = {
        .context = context,
        .plan = analysis->plan,
        .degrees_given = analysis->degrees_given,
        .speed = &analysis->speed,
        .size = &analysis->size,
        .range = &analysis->range,
        .verdict = analysis->verdict,
        .ratio = analysis->ratio,
        .nccl = analysis->nccl,
        .profile = analysis->profile,
    };
    struct mfu_check *checks =
        arena_allocate_array(analysis->arena, MFU_CHECKS_MAXIMUM, sizeof(*checks));
    if (!checks)
        return error_set_memory(err);
    analysis->checks = checks;
    return mfu_checks_of(&gap, analysis->arena, checks, &analysis->check_count, err);
}

static void compare_runs(struct mfu_analysis *analysis, const struct mfu_request *request)
{
    const struct measured_speed *mine = &analysis->speed;
    for (size_t i = 0; i < request->other_count && i < MFU_OTHERS_MAXIMUM; i++) {
        struct run_comparison *other = &analysis->others[analysis->other_count++];
        struct run_size size = analysis->size;
        size.gpus = other->gpus = request->others[i].gpus;
        measured_speed_of(&size, request->measure, request->others[i].value, &other->speed);
        other->throughput_ratio = mine->tokens_per_second / other->speed.tokens_per_second;
        other->efficiency_ratio = mine->gpu_tokens_per_second / other->speed.gpu_tokens_per_second;
    }
}

static int analyse(struct mfu_analysis *analysis, struct plan_context *context,
                   const struct mfu_request *request, struct error_info *err)
{
    struct plan_request plan = *request->plan;
    plan.policy = &any_plan;
    plan.top = 1;
    if (check_request(request, err) < 0 || plan_context_init(context, &plan, err) < 0 ||
        predict(analysis, &plan, err) < 0)
        return -1;
    analysis->profile = request->profile;
    measure_run(analysis, context, request);
    if (judge(analysis, context, request, err) < 0 || fill_checks(analysis, context, err) < 0)
        return -1;
    compare_runs(analysis, request);
    return 0;
}

struct mfu_analysis *mfu_analysis_create(const struct mfu_request *request, struct error_info *err)
{
    struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct mfu_analysis *analysis = arena ? arena_allocate(arena, sizeof(*analysis)) : NULL;
    if (!analysis) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    analysis->arena = arena;
    CLEANUP_DONE(plan_context) struct plan_context context = {.request = NULL};
    if (analyse(analysis, &context, request, err) == 0)
        return analysis;
    mfu_analysis_free(analysis);
    return NULL;
}

void mfu_analysis_free(struct mfu_analysis *analysis)
{
    if (!analysis)
        return;
    plan_list_free((struct plan_list *)analysis->list);
    arena_free(analysis->arena);
}
