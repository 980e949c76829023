/* SPDX-License-Identifier: MIT */
#include "planner/search/constraint.h"

#include "planner/pipeline_schedule.h"

typedef bool (*constraint_fn)(const struct plan_context *context, const struct plan *plan,
                              bool sharding_given);

struct constraint {
    enum constraint_stage stage;
    enum rejection rejection;
    constraint_fn allows;
};

static bool divides(unsigned divisor, uint64_t value)
{
    return divisor > 0 && value % divisor == 0;
}

static bool heads_divide(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    const struct model_spec *model = context->model;
    unsigned tp = plan->degrees.tp;
    bool latent = model->attention == ATTENTION_LATENT;
    return divides(tp, model->heads) && (latent || divides(tp, model->kv_heads)) &&
           (model->ffn == 0 || divides(tp, model->ffn));
}

static bool sequence_divides(const struct plan_context *context, const struct plan *plan,
                             bool given)
{
    (void)given;
    uint64_t parts = plan->degrees.cp > 1 ? 2ull * plan->degrees.cp : 1;
    if (context->profile->sequence_parallel)
        parts *= plan->degrees.tp;
    return context->training.sequence_length % parts == 0;
}

static bool layers_divide(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    struct pipeline_layout layout;
    return pipeline_layout_of(context->model->layers, plan->degrees.pp, 1, &layout);
}

static bool experts_divide(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    const struct model_spec *model = context->model;
    const struct degrees *degrees = &plan->degrees;
    uint64_t stage = (uint64_t)degrees->tp * degrees->cp * degrees->dp;
    if (model->experts == 0)
        return degrees->ep == 1;
    return divides(degrees->ep, model->experts) && divides(degrees->etp, model->expert_ffn) &&
           stage % ((uint64_t)degrees->ep * degrees->etp) == 0;
}

static bool order_holds(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)context;
    (void)given;
    return plan->order == ORDER_TP_CP_EP_DP_PP ||
           rank_order_check(plan->order, &plan->degrees, NULL) == 0;
}

static bool framework_allows(const struct plan_context *context, const struct plan *plan,
                             bool given)
{
    if (plan->degrees.pp == 1)
        return true;
    enum profile_verdict verdict = context->profile->pipeline[plan->sharding];
    return verdict == PROFILE_RECOMMENDED || (verdict == PROFILE_ALLOWED && given) ||
           plan->sharding == SHARDING_NONE;
}

static bool chunks_divide(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    struct pipeline_layout layout;
    const struct degrees *degrees = &plan->degrees;
    return degrees->vpp == 1 ||
           (degrees->pp > 1 &&
            pipeline_layout_of(context->model->layers, degrees->pp, degrees->vpp, &layout));
}

static bool batch_divides(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    uint64_t rows = (uint64_t)plan->micro_batch * plan->degrees.dp;
    return rows > 0 && plan->micro_batches > 0 &&
           rows * plan->micro_batches == context->training.global_batch;
}

static bool interleaving_divides(const struct plan_context *context, const struct plan *plan,
                                 bool given)
{
    (void)context;
    (void)given;
    return plan->schedule != SCHEDULE_INTERLEAVED || divides(plan->degrees.pp, plan->micro_batches);
}

static bool width_divides(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)context;
    (void)given;
    return divides(plan->degrees.shard, plan->degrees.dp);
}

/* A given degree is the user's choice, which the policy has judged. */
static bool spans_hold(const struct plan_context *context, const struct plan *plan, bool given)
{
    (void)given;
    static const enum job_key keys[SPAN_DIMENSION_COUNT] = {JOB_CP, JOB_EP, JOB_DP, JOB_PP};
    unsigned users = 0;
    for (unsigned i = 0; i < SPAN_DIMENSION_COUNT; i++)
        users |= (unsigned)context->request->job->values[keys[i]].given << i;
    return policy_spans_allow(&context->policy, &plan->degrees, plan->order, &context->place,
                              users);
}

static const struct constraint constraints[CONSTRAINT_COUNT] = {
    [CONSTRAINT_HEADS] = {CONSTRAINT_DEGREES, REJECT_DIVISIBILITY, heads_divide},
    [CONSTRAINT_SEQUENCE] = {CONSTRAINT_DEGREES, REJECT_DIVISIBILITY, sequence_divides},
    [CONSTRAINT_LAYERS] = {CONSTRAINT_DEGREES, REJECT_DIVISIBILITY, layers_divide},
    [CONSTRAINT_EXPERTS] = {CONSTRAINT_DEGREES, REJECT_DIVISIBILITY, experts_divide},
    [CONSTRAINT_ORDER] = {CONSTRAINT_DEGREES, REJECT_FRAMEWORK, order_holds},
    [CONSTRAINT_FRAMEWORK] = {CONSTRAINT_SHARDING, REJECT_FRAMEWORK, framework_allows},
    [CONSTRAINT_SHARD] = {CONSTRAINT_WIDTH, REJECT_DIVISIBILITY, width_divides},
    [CONSTRAINT_CHUNKS] = {CONSTRAINT_BATCH, REJECT_DIVISIBILITY, chunks_divide},
    [CONSTRAINT_ROWS] = {CONSTRAINT_BATCH, REJECT_BATCH, batch_divides},
    [CONSTRAINT_INTERLEAVING] = {CONSTRAINT_BATCH, REJECT_BATCH, interleaving_divides},
    [CONSTRAINT_SPANS] = {CONSTRAINT_DEGREES, REJECT_POLICY, spans_hold},
};

bool constraint_allows(const struct plan_context *context, const struct plan *plan,
                       enum constraint_stage stage, bool sharding_given,
                       enum constraint_id *ret_failed)
{
    for (unsigned i = 0; i < CONSTRAINT_COUNT; i++) {
        if (constraints[i].stage != stage || constraints[i].allows(context, plan, sharding_given))
            continue;
        *ret_failed = (enum constraint_id)i;
        return false;
    }
    return true;
}

bool constraint_holds(const struct plan_context *context, const struct plan *plan,
                      enum constraint_id id)
{
    return constraints[id].allows(context, plan, true);
}

enum rejection constraint_rejection(enum constraint_id id) { return constraints[id].rejection; }

bool constraint_allows_tp(const struct plan_context *context, unsigned tp)
{
    struct policy strict = context->policy;
    struct policy_verdict verdict;
    struct degrees degrees = DEGREES_ONE;
    strict.on_violation = POLICY_DENY;
    degrees.tp = tp;
    policy_check(&strict, &degrees, &context->place, &verdict);
    return verdict.result != POLICY_DENIED;
}
