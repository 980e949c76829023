/* SPDX-License-Identifier: MIT */
#include "planner/step_time.h"

#include "planner/communication_model.h"
#include "planner/compute_model.h"
#include "planner/efficiency_catalogue.h"
#include "planner/memory_model.h"

#define FORWARD_AND_BACKWARD 3.0   /* backward costs twice forward */
#define FLOPS_PER_PARAMETER 6.0    /* forward and backward, a multiply and an add each */
#define PARAMETER_GATHER_BYTES 2.0 /* 16 bit, whatever is stored */
#define TERA 1e12

/* One layer kind, one micro batch, forward and backward: exposed seconds. */
struct layer_seconds {
    struct compute_seconds compute;
    double tp, cp, ep;
};

struct stage_seconds {
    double parts[TIME_PART_COUNT];
    double total;
};

struct step {
    const struct plan_context *context;
    const struct plan *plan;
    struct plan_spans spans;
    struct pipeline_layout layout;
    struct layer_seconds dense, moe;
    struct compute_seconds head;
    double element_bytes, tokens, divisor;
};

static double smaller(double left, double right) { return left < right ? left : right; }
static double larger(double left, double right) { return left > right ? left : right; }

double step_model_flops(const struct plan_context *context)
{
    const struct model_spec *model = context->model;
    const struct model_parameters *counts = &context->parameters;
    double tokens = (double)context->training.global_batch * context->training.sequence_length;
    double active = (double)counts->active;
    if (counts->head > 0)
        active -= (double)counts->embedding;
    bool latent = model->attention == ATTENTION_LATENT;
    double key = latent ? model->qk_nope_head_dim + model->qk_rope_head_dim : model->head_dim;
    double value = latent ? model->v_head_dim : model->head_dim;
    double attention = FORWARD_AND_BACKWARD * 2 * (key + value) * model->heads *
                       context->attention_scores * model->layers * context->training.global_batch;
    return FLOPS_PER_PARAMETER * active * tokens + attention;
}

/* 2 forward, 2 backward, 2 again when forward is repeated. */
static double exchanges(const struct plan *plan, double forward, double backward)
{
    return plan->recompute == RECOMPUTE_FULL ? 2 * forward + backward : forward + backward;
}

static double tp_seconds(const struct step *step, bool moe)
{
    const struct plan *plan = step->plan;
    double bytes = step->element_bytes * step->tokens * step->context->model->hidden;
    /* An all-gather and a reduce-scatter are one all-reduce's volume. */
    enum collective collective = step->divisor > 1 ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE;
    double halves = step->divisor > 1 ? 2 : 1;
    double once =
        halves * collective_seconds(step->context, &step->spans.of[GROUP_TP], collective, bytes);
    bool mlp_too = !moe || step->context->model->shared_experts > 0;
    double each = mlp_too ? 2 : 1;
    double seconds = once * exchanges(plan, each, each);
    if (moe && plan->degrees.etp > 1) {
        double routed =
            bytes * step->context->model->experts_per_token / step->divisor * plan->degrees.etp;
        seconds +=
            exchanges(plan, 1, 1) * 2 *
            collective_seconds(step->context, &step->spans.etp, COLLECTIVE_ALL_GATHER, routed);
    }
    return seconds * (1 - step->context->profile->overlap_tp);
}

static double ep_seconds(const struct step *step)
{
    double bytes = step->element_bytes * step->tokens / step->divisor *
                   step->context->model->hidden * step->context->model->experts_per_token;
    double once =
        collective_seconds(step->context, &step->spans.of[GROUP_EP], COLLECTIVE_ALL_TO_ALL, bytes);
    return once * exchanges(step->plan, 2, 2) * (1 - step->context->profile->overlap_ep);
}

static double cp_seconds(const struct step *step)
{
    const struct model_spec *model = step->context->model;
    const struct degrees *degrees = &step->plan->degrees;
    double width = 2.0 * model->kv_heads * model->head_dim;
    if (model->attention == ATTENTION_LATENT)
        width = (double)model->heads *
                (model->qk_nope_head_dim + model->qk_rope_head_dim + model->v_head_dim);
    double bytes = step->element_bytes * step->tokens * width / degrees->tp;
    double hop =
        collective_seconds(step->context, &step->spans.of[GROUP_CP], COLLECTIVE_SEND, bytes);
    return (degrees->cp - 1) * hop * exchanges(step->plan, 1, 2) *
           (1 - step->context->profile->overlap_cp);
}

static void layer_seconds_of(const struct step *step, bool moe, struct layer_seconds *ret)
{
    compute_layer(step->context, step->plan, moe, &ret->compute);
    ret->tp = step->plan->degrees.tp > 1 ? tp_seconds(step, moe) : 0;
    ret->cp = step->plan->degrees.cp > 1 ? cp_seconds(step) : 0;
    ret->ep = moe && step->plan->degrees.ep > 1 ? ep_seconds(step) : 0;
}

/* Sends and receives of one micro batch: an output forward, a gradient backward, for every
 * chunk. */
static double pp_seconds(const struct step *step)
{
    const struct degrees *degrees = &step->plan->degrees;
    if (degrees->pp == 1)
        return 0;
    double bytes =
        step->element_bytes * step->tokens * step->context->model->hidden / step->divisor;
    double once =
        collective_seconds(step->context, &step->spans.of[GROUP_PP], COLLECTIVE_SEND, bytes);
    return 2 * degrees->vpp * once * (1 - step->context->profile->overlap_pp);
}

static void stage_seconds_of(const struct step *step, unsigned stage, struct stage_seconds *ret)
{
    const struct model_spec *model = step->context->model;
    const struct efficiency_framework *framework = step->context->framework;
    unsigned layers = pipeline_stage_layers(&step->layout, stage);
    unsigned moe = model->experts == 0
                       ? 0
                       : layers - pipeline_stage_overlap(&step->layout, stage, model->dense_layers);
    unsigned dense = layers - moe;
    double compute = dense * (step->dense.compute.forward + step->dense.compute.backward) +
                     moe * (step->moe.compute.forward + step->moe.compute.backward);
    if (stage + 1 == step->layout.pp)
        compute += step->head.forward + step->head.backward;
    double floor = layers * (framework->host_forward_seconds + framework->host_backward_seconds);

    *ret = (struct stage_seconds){0};
    ret->parts[TIME_COMPUTE] = compute;
    ret->parts[TIME_TP] = dense * step->dense.tp + moe * step->moe.tp;
    ret->parts[TIME_CP] = layers * (dense > 0 ? step->dense.cp : step->moe.cp);
    ret->parts[TIME_EP] = moe * step->moe.ep;
    ret->parts[TIME_PP] = pp_seconds(step);
    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->total += ret->parts[part];
    ret->parts[TIME_HOST] = larger(0, floor - ret->total);
    ret->total += ret->parts[TIME_HOST];
}

/* Stages between the second and the last are alike, but for the few dense layers that MoE
 * models start with: those make a stage faster, never slower. */
static double pipeline_seconds(const struct step *step, struct stage_seconds *ret_slowest)
{
    unsigned pp = step->layout.pp;
    unsigned kinds[] = {0, pp > 2 ? pp - 2 : 0, pp - 1};
    double weights[] = {pp > 1, pp > 2 ? pp - 2 : 0, 1}, sum = 0;
    *ret_slowest = (struct stage_seconds){.total = -1};
    for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
        struct stage_seconds stage;
        if (weights[i] <= 0)
            continue;
        stage_seconds_of(step, kinds[i], &stage);
        sum += weights[i] * stage.total;
        if (stage.total > ret_slowest->total)
            *ret_slowest = stage;
    }
    return sum;
}

static bool gathers_parameters(const struct plan *plan)
{
    return plan->sharding == SHARDING_ZERO3 || plan->sharding == SHARDING_HSDP;
}

/* Reduces once per step, or for every micro batch when gradients are sharded; parameters that
 * are sharded are gathered twice for every micro batch, but once where a pipeline keeps them
 * (memory_model.h). */
struct dp_rounds {
    double reduces, gathers;
};

static struct dp_rounds dp_rounds_of(const struct plan *plan)
{
    double batches = plan->micro_batches;
    if (gathers_parameters(plan))
        return (struct dp_rounds){batches, plan->degrees.pp > 1 ? 1 : 2 * batches};
    return (struct dp_rounds){plan->sharding == SHARDING_ZERO2 ? batches : 1,
                              plan->sharding == SHARDING_NONE ? 0 : 1};
}

struct dp_group {
    double parameters;              /* of the rank */
    const struct group_span *all;   /* ranks that hold the same ones */
    const struct group_span *inner; /* of them those that share the states */
};

static double dp_group_seconds(const struct step *step, const struct dp_group *group)
{
    const struct plan_context *context = step->context;
    const struct plan *plan = step->plan;
    struct dp_rounds rounds = dp_rounds_of(plan);
    double gradient = context->profile->gradient_bytes * context->training.trainable;
    double messages = step->layout.chunk_layers * step->layout.vpp;
    if (!gathers_parameters(plan))
        messages = larger(1, group->parameters * gradient / context->framework->bucket_bytes);
    double share = group->parameters / messages;
    if (plan->sharding == SHARDING_NONE)
        return messages *
               collective_seconds(context, group->all, COLLECTIVE_ALL_REDUCE, share * gradient);
    const struct group_span *span = gathers_parameters(plan) ? group->inner : group->all;
    double once = rounds.reduces *
                      collective_seconds(context, span, COLLECTIVE_ALL_GATHER, share * gradient) +
                  rounds.gathers * collective_seconds(context, span, COLLECTIVE_ALL_GATHER,
                                                      share * PARAMETER_GATHER_BYTES);
    if (group->inner->size < group->all->size && gathers_parameters(plan))
        once += collective_seconds(context, group->all, COLLECTIVE_ALL_REDUCE,
                                   share * gradient / group->inner->size);
    return messages * once;
}

static double dp_seconds(const struct step *step, const struct rank_parameters *stage,
                         double micro_batch_seconds)
{
    const struct plan_spans *spans = &step->spans;
    const struct group_span *copies = &spans->of[GROUP_EDP];
    const struct dp_group groups[] = {
        {stage->dense, &spans->states, &spans->shard},
        {stage->expert, copies, copies},
    };
    double total = 0;
    for (unsigned i = 0; i < COUNT_OF(groups); i++)
        if (groups[i].parameters > 0)
            total += dp_group_seconds(step, &groups[i]);
    bool spread = dp_rounds_of(step->plan).reduces > 1 || gathers_parameters(step->plan);
    double window = micro_batch_seconds * (spread ? step->plan->micro_batches : 1);
    return total - smaller(total * step->context->profile->overlap_dp, window);
}

static void step_init(struct step *step)
{
    const struct plan_context *context = step->context;
    const struct model_spec *model = context->model;
    step->element_bytes = memory_element_bytes(step->plan);
    step->tokens = memory_rank_tokens(context, step->plan);
    step->divisor = memory_sequence_divisor(context, step->plan);
    plan_spans_of(context, step->plan, &step->spans);
    if (model->experts == 0 || model->dense_layers > 0)
        layer_seconds_of(step, false, &step->dense);
    if (model->experts > 0)
        layer_seconds_of(step, true, &step->moe);
    compute_head(context, step->plan, &step->head);
}

static void derive_figures(const struct plan_context *context, struct time_estimate *ret)
{
    double tokens = (double)context->training.global_batch * context->training.sequence_length;
    double gpus = (double)context->world, seconds = ret->step_seconds;
    if (seconds <= 0)
        return;
    ret->bubble_fraction = ret->parts[TIME_BUBBLE] / seconds;
    ret->tokens_per_second = tokens / seconds;
    ret->tflops_per_gpu = context->model_flops / (seconds * gpus) / TERA;
    if (context->peak_flops_per_second > 0)
        ret->mfu = ret->tflops_per_gpu * TERA / context->peak_flops_per_second;
}

void step_time_of(const struct plan_context *context, const struct plan *plan,
                  struct time_estimate *ret)
{
    struct step step = {.context = context, .plan = plan};
    struct stage_seconds slowest;
    struct rank_parameters stage, widths;
    *ret = (struct time_estimate){0};
    if (context->gemm_flops_per_second <= 0 ||
        !pipeline_layout_of(context->model->layers, plan->degrees.pp, plan->degrees.vpp,
                            &step.layout))
        return;
    step_init(&step);
    double sum = pipeline_seconds(&step, &slowest);
    memory_stage_parameters(context, plan, &step.layout, plan->degrees.pp - 1, &stage);
    memory_shard_widths(plan, &widths);

    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->parts[part] = plan->micro_batches * slowest.parts[part];
    ret->parts[TIME_BUBBLE] = (sum - slowest.total) / plan->degrees.vpp;
    ret->parts[TIME_DP] = dp_seconds(&step, &stage, slowest.total);
    ret->parts[TIME_COMPUTE] +=
        compute_optimizer(context, plan, stage.dense / widths.dense + stage.expert / widths.expert);
    ret->parts[TIME_HOST] += context->framework->step_seconds;
    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->step_seconds += ret->parts[part];
    derive_figures(context, ret);
}
