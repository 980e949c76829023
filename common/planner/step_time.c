/* SPDX-License-Identifier: MIT */
#include "planner/step_time.h"

#include "base/numbers/real.h"
#include "planner/communication_model.h"
#include "planner/compute_model.h"
#include "planner/efficiency_catalogue.h"

#define FORWARD_AND_BACKWARD 3.0 /* backward costs twice forward */
#define FLOPS_PER_PRODUCT 2.0    /* of a parameter and a token: a multiply and an add */
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
    struct plan_shape shape;
    struct plan_spans spans;
    struct pipeline_layout layout;
    struct layer_seconds dense, moe;
    struct compute_seconds head;
};

static double smaller(double left, double right) { return left < right ? left : right; }
static double larger(double left, double right) { return left > right ? left : right; }

double step_model_flops(const struct plan_context *context)
{
    const struct model_spec *model = context->model;
    const struct model_parameters *counts = &context->parameters;
    double tokens = real_of(context->training.global_batch) * context->training.sequence_length;
    /* The input embedding is looked up; a tied table is multiplied once, as head. */
    double looked_up = real_of(counts->embedding);
    if (model->tied_embeddings)
        looked_up -= (double)model->vocabulary * model->hidden;
    double products = 2 + context->training.trainable;
    bool latent = model->attention == ATTENTION_LATENT;
    double key = latent ? model->qk_nope_head_dim + model->qk_rope_head_dim : model->head_dim;
    double value = latent ? model->v_head_dim : model->head_dim;
    double attention = FORWARD_AND_BACKWARD * 2 * (key + value) * model->heads *
                       context->attention_scores * model->layers * context->training.global_batch;
    return FLOPS_PER_PRODUCT * products * (real_of(counts->active) - looked_up) * tokens +
           attention;
}

static double exchange_seconds(const struct step *step, const struct exchange_list *list)
{
    double seconds = 0;
    for (unsigned i = 0; i < list->count; i++) {
        const struct exchange *exchange = &list->of[i];
        seconds +=
            exchange->count * collective_seconds(step->context, &step->spans.of[exchange->group],
                                                 exchange->collective, exchange->bytes);
    }
    return seconds;
}

static double dispatch_of(const struct step *step)
{
    struct exchange_list list;
    expert_exchanges(&step->shape, &list);
    if (!step->context->framework->deduplicates_dispatch)
        return exchange_seconds(step, &list);
    double seconds = 0, copies = step->context->model->experts_per_token;
    for (unsigned i = 0; i < list.count; i++)
        seconds +=
            list.of[i].count * dispatch_seconds(step->context, &step->spans.of[list.of[i].group],
                                                copies, list.of[i].bytes);
    return seconds;
}

static void layer_seconds_of(const struct step *step, bool moe, struct layer_seconds *ret)
{
    const struct framework_profile *profile = step->context->profile;
    struct exchange_list list;
    compute_layer(step->context, step->plan, moe, &ret->compute);
    tensor_exchanges(&step->shape, moe, &list);
    ret->tp = exchange_seconds(step, &list) * (1 - profile->overlap_tp);
    context_exchanges(&step->shape, &list);
    ret->cp = exchange_seconds(step, &list) * (1 - profile->overlap_cp);
    if (!moe)
        return;
    ret->ep = dispatch_of(step) * (1 - profile->overlap_ep);
}

/* Of one micro batch. */
static double pp_seconds(const struct step *step)
{
    struct exchange_list list;
    pipeline_exchanges(&step->shape, &list);
    return exchange_seconds(step, &list) * (1 - step->context->profile->overlap_pp);
}

static void stage_seconds_of(const struct step *step, unsigned stage, struct stage_seconds *ret)
{
    const struct efficiency_framework *framework = step->context->framework;
    struct stage_layers kinds = rank_stage_layers(&step->shape, &step->layout, stage);
    unsigned dense = kinds.dense, moe = kinds.moe, layers = dense + moe;
    double compute = dense * (step->dense.compute.forward + step->dense.compute.backward) +
                     moe * (step->moe.compute.forward + step->moe.compute.backward);
    if (stage + 1 == step->layout.pp)
        compute += (1 + kinds.mtp) * (step->head.forward + step->head.backward);
    double floor = layers * (framework->host_forward_seconds + framework->host_backward_seconds);

    *ret = (struct stage_seconds){0};
    ret->parts[TIME_COMPUTE] = compute;
    ret->parts[TIME_TP] = dense * step->dense.tp + moe * step->moe.tp;
    ret->parts[TIME_CP] = layers * (dense > 0 ? step->dense.cp : step->moe.cp);
    ret->parts[TIME_EP] = moe * step->moe.ep;
    ret->parts[TIME_PP] = pp_seconds(step);
    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->total += ret->parts[part];
    ret->parts[TIME_HOST] = larger(0, floor - ret->total) + moe * framework->moe_host_seconds;
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

/* Layers send their own parameters where those are gathered, else full buckets. */
static double state_messages(const struct step *step, double parameters)
{
    const struct plan_context *context = step->context;
    if (sharded_states_of(step->plan->sharding).parameters)
        return step->layout.chunk_layers * step->layout.vpp;
    double gradients =
        parameters * context->training.trainable *
        state_bytes_of(context->profile, &context->training, step->plan->precision).gradient;
    return larger(1, gradients / context->framework->bucket_bytes);
}

static double state_seconds(const struct step *step, enum state_kind kind, double parameters)
{
    struct exchange_list list;
    double messages = state_messages(step, parameters);
    state_exchanges(&step->shape, kind, parameters / messages, &list);
    return messages * exchange_seconds(step, &list) / step->context->framework->state_share;
}

static double dp_seconds(const struct step *step, const struct rank_parameters *stage,
                         double micro_batch_seconds)
{
    double total = state_seconds(step, STATES_DENSE, stage->dense);
    if (stage->expert > 0)
        total += state_seconds(step, STATES_EXPERT, stage->expert);
    bool throughout = sharded_states_of(step->plan->sharding).gradients;
    double window = micro_batch_seconds * (throughout ? step->plan->micro_batches : 1);
    const struct framework_profile *profile = step->context->profile;
    struct sharded_states sharding = sharded_states_of(step->plan->sharding);
    double overlap = sharding.parameters ? profile->overlap_gather : profile->overlap_dp;
    double hidden = smaller(total * overlap, window);
    double owners = sharding.optimizer && !sharding.parameters
                        ? step->spans.of[GROUP_STATE_SHARD].size - 1.0
                        : 0;
    return total - hidden + owners * step->context->framework->owner_seconds;
}

/* Parameters that live outside come back for forward and for backward of every micro batch. */
static double fetch_seconds(const struct step *step, double parameters)
{
    const struct plan_context *context = step->context;
    if (step->plan->offload == OFFLOAD_NONE || !sharded_states_of(step->plan->sharding).parameters)
        return 0;
    double rate = context->pcie_bytes_per_second;
    double drive = context->efficiencies->nvme_bytes_per_second;
    if (step->plan->offload == OFFLOAD_NVME && (rate <= 0 || drive < rate))
        rate = drive;
    double bytes = 2 * parameters * gathered_parameter_bytes(step->plan->precision);
    return rate > 0 ? step->plan->micro_batches * bytes / rate : 0;
}

static void step_init(struct step *step)
{
    const struct plan_context *context = step->context;
    const struct model_spec *model = context->model;
    step->shape = plan_context_shape(context, step->plan);
    plan_spans_of(context, step->plan, &step->spans);
    if (model_moe_layers(model, model->layers) < model->layers)
        layer_seconds_of(step, false, &step->dense);
    if (model->experts > 0)
        layer_seconds_of(step, true, &step->moe);
    compute_head(context, step->plan, &step->head);
}

static void derive_figures(const struct plan_context *context, struct time_estimate *ret)
{
    double tokens = real_of(context->training.global_batch) * context->training.sequence_length;
    double gpus = real_of(context->world), seconds = ret->step_seconds;
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
    rank_largest_parameters(&step.shape, &step.layout, &stage);
    rank_shard_widths(plan, &widths);

    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->parts[part] = plan->micro_batches * slowest.parts[part];
    ret->parts[TIME_BUBBLE] = (sum - slowest.total) *
                              pipeline_idle(plan->schedule, plan->degrees.vpp, plan->micro_batches);
    ret->parts[TIME_DP] = dp_seconds(&step, &stage, slowest.total);
    ret->parts[TIME_COMPUTE] +=
        compute_optimizer(context, plan, stage.dense / widths.dense + stage.expert / widths.expert);
    ret->parts[TIME_HOST] +=
        context->framework->step_seconds +
        fetch_seconds(&step, stage.dense / widths.dense + stage.expert / widths.expert);
    for (unsigned part = 0; part < TIME_PART_COUNT; part++)
        ret->step_seconds += ret->parts[part];
    derive_figures(context, ret);
}
