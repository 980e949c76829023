/* SPDX-License-Identifier: MIT */
#include "planner/compute_model.h"

#include "base/numbers/real.h"
#include "planner/efficiency_catalogue.h"
#include "planner/memory_model.h"
#include <math.h>

#define FLOPS_PER_MULTIPLY_ADD 2.0
#define FUSED_BACKWARD_FLOPS 2.5  /* of forward */
#define ELEMENTWISE_BACKWARD 2.0  /* of forward */
#define LOGITS_TRAFFIC_BYTES 16.0 /* per logit: write, read for maximum, sum and gradient */
#define READ_AND_WRITE 2.0
#define OPERATORS_RECOMPUTED                                                                       \
    0.4 /* of products: key, attention's output and up of a Llama layer                            \
         */

static bool is_aligned(double width)
{
    double steps = width / GEMM_ALIGNED_WIDTH;
    return steps == real_of(whole_of(steps));
}

static double alignment_share(const struct plan_context *context, double out, double in)
{
    return is_aligned(out) && is_aligned(in) ? 1 : context->architecture->unaligned_share;
}

/* rows: all of them; half_share: token_half over the rows of one matrix, which decide how well it
 * runs. */
static double gemm_seconds(const struct plan_context *context, double rows, double half_share,
                           double out, double in)
{
    const struct efficiency_architecture *shape = context->architecture;
    double width = out < in ? out : in;
    double flops = FLOPS_PER_MULTIPLY_ADD * rows * out * in;
    return flops / context->gemm_flops_per_second * (1 + half_share) *
           (1 + shape->width_half / width) / alignment_share(context, out, in);
}

static double dense_gemm(const struct plan_context *context, double rows, double out, double in)
{
    double half_share = context->architecture->token_half / rows;
    return out > 0 && in > 0 ? gemm_seconds(context, rows, half_share, out, in) : 0;
}

static double grouped_projections(const struct plan_context *context, double rows, double tp)
{
    const struct model_spec *model = context->model;
    double heads = (double)model->heads * model->head_dim;
    double pairs = 2.0 * model->kv_heads * model->head_dim;
    return dense_gemm(context, rows, (heads + pairs) / tp, model->hidden) +
           dense_gemm(context, rows, model->hidden, heads / tp);
}

static double latent_projections(const struct plan_context *context, double rows, double tp)
{
    const struct model_spec *model = context->model;
    double heads = model->heads / tp;
    double query = heads * (model->qk_nope_head_dim + model->qk_rope_head_dim);
    double low = model->q_lora_rank > 0 ? model->q_lora_rank : model->hidden;
    double seconds = dense_gemm(context, rows, query, low);
    if (model->q_lora_rank > 0)
        seconds += dense_gemm(context, rows, low, model->hidden);
    seconds +=
        dense_gemm(context, rows, model->kv_lora_rank + model->qk_rope_head_dim, model->hidden);
    seconds += dense_gemm(context, rows, heads * (model->qk_nope_head_dim + model->v_head_dim),
                          model->kv_lora_rank);
    return seconds + dense_gemm(context, rows, model->hidden, heads * model->v_head_dim);
}

static double mlp_seconds(const struct plan_context *context, double rows, double half_share,
                          double ffn)
{
    double hidden = context->model->hidden;
    double up = context->model->gated_mlp ? 2 : 1;
    return gemm_seconds(context, rows, half_share, up * ffn, hidden) +
           gemm_seconds(context, rows, half_share, hidden, ffn);
}

/* Of a MoE layer, without its routed experts. */
static double shared_seconds(const struct plan_context *context, const struct plan *plan,
                             double rows)
{
    const struct model_spec *model = context->model;
    double local = rows / plan_sequence_divisor(context->profile, plan);
    double seconds = dense_gemm(context, local, model->experts, model->hidden);
    if (model->shared_experts > 0)
        seconds +=
            mlp_seconds(context, rows, context->architecture->token_half / rows,
                        (double)model->expert_ffn * model->shared_experts / plan->degrees.tp);
    return seconds;
}

/* Few rows for an expert: its weights and gradients move once for every micro batch, which no
 * product is long enough to hide. */
static struct compute_seconds routed_seconds(const struct plan_context *context,
                                             const struct plan *plan, double rows)
{
    const struct model_spec *model = context->model;
    const struct degrees *degrees = &plan->degrees;
    double routed = rows / plan_sequence_divisor(context->profile, plan) *
                    model->experts_per_token * degrees->etp *
                    training_expert_load(&context->training);
    double experts = (double)model->experts / degrees->ep;
    double width = (double)model->expert_ffn / degrees->etp;
    double half_share = context->architecture->expert_token_half * experts / routed;
    double products = mlp_seconds(context, routed, half_share, width);
    double weights = experts * (model->gated_mlp ? 3 : 2) * model->hidden * width;
    double read =
        weights * gathered_parameter_bytes(plan->precision) / context->memory_bytes_per_second;
    double summed = weights * READ_AND_WRITE *
                    state_bytes_of(context->profile, &context->training, plan->precision).gradient /
                    context->memory_bytes_per_second;
    double trainable = context->training.trainable;
    return (struct compute_seconds){.forward = products + read,
                                    .backward =
                                        (1 + trainable) * products + read + trainable * summed};
}

struct attention_seconds {
    double forward, backward;
};

static struct attention_seconds attention_of(const struct plan_context *context,
                                             const struct plan *plan)
{
    const struct model_spec *model = context->model;
    const struct efficiency_architecture *rates = context->architecture;
    const struct efficiency_framework *framework = context->framework;
    bool latent = model->attention == ATTENTION_LATENT;
    double key = latent ? model->qk_nope_head_dim + model->qk_rope_head_dim : model->head_dim;
    double value = latent ? model->v_head_dim : model->head_dim;
    double share = (double)model->heads / plan->degrees.tp / plan->degrees.cp * plan->micro_batch;
    double flops_per_score = FLOPS_PER_MULTIPLY_ADD * (key + value);
    if (framework->fused_attention) {
        double flops = flops_per_score * context->attention_scores * share;
        double peak = context->attention_flops_per_second * framework->attention_scale;
        return (struct attention_seconds){flops / (peak * rates->attention_forward_share),
                                          FUSED_BACKWARD_FLOPS * flops /
                                              (peak * rates->attention_backward_share)};
    }
    double sequence = context->training.sequence_length;
    double scores = sequence * sequence * share;
    double products = flops_per_score * scores / context->gemm_flops_per_second *
                      (1 + rates->width_half / key) * (1 + rates->token_half / sequence);
    double memory = scores / context->memory_bytes_per_second;
    return (struct attention_seconds){products + memory * framework->softmax_bytes_forward,
                                      2 * products + memory * framework->softmax_bytes_backward};
}

void compute_layer(const struct plan_context *context, const struct plan *plan, bool moe,
                   struct compute_seconds *ret)
{
    const struct model_spec *model = context->model;
    double rows = plan_rank_tokens(&context->training, plan), tp = plan->degrees.tp;
    double matrices = model->attention == ATTENTION_LATENT ? latent_projections(context, rows, tp)
                                                           : grouped_projections(context, rows, tp);
    struct compute_seconds routed = {0, 0};
    if (moe)
        routed = routed_seconds(context, plan, rows);
    matrices += moe ? shared_seconds(context, plan, rows)
                    : mlp_seconds(context, rows, context->architecture->token_half / rows,
                                  (double)model->ffn / tp);
    double kept = memory_linear_activations(context, plan, moe);
    double elementwise =
        context->framework->elementwise_passes * kept / context->memory_bytes_per_second;
    if (context->precision == PRECISION_FP8)
        elementwise += context->framework->fp8_cast_bytes / (1 + ELEMENTWISE_BACKWARD) *
                       memory_product_inputs(context, plan, moe) / context->memory_bytes_per_second;
    struct attention_seconds attention = attention_of(context, plan);

    ret->forward = matrices + routed.forward + attention.forward + elementwise;
    ret->backward = (1 + context->training.trainable) * matrices + routed.backward +
                    attention.backward + ELEMENTWISE_BACKWARD * elementwise;
    if (plan->recompute == RECOMPUTE_FULL)
        ret->backward += ret->forward;
    else if (plan->recompute == RECOMPUTE_SELECTIVE && context->framework->selective_operators)
        ret->backward += OPERATORS_RECOMPUTED * (matrices + routed.forward) + elementwise;
    else if (plan->recompute == RECOMPUTE_SELECTIVE)
        ret->backward += attention.forward;
}

void compute_head(const struct plan_context *context, const struct plan *plan,
                  struct compute_seconds *ret)
{
    double rows = plan_rank_tokens(&context->training, plan), tp = plan->degrees.tp;
    double vocabulary = real_of(padded_vocabulary(context->model, plan->degrees.tp)) / tp;
    double product = dense_gemm(context, rows, vocabulary, context->model->hidden);
    double traffic = rows * vocabulary * LOGITS_TRAFFIC_BYTES / context->memory_bytes_per_second;
    *ret = (struct compute_seconds){.forward = product + traffic / 2,
                                    .backward =
                                        (1 + context->training.trainable) * product + traffic / 2};
}

double compute_optimizer(const struct plan_context *context, const struct plan *plan,
                         double parameters)
{
    struct state_bytes bytes =
        state_bytes_of(context->profile, &context->training, plan->precision);
    double trained = parameters * context->training.trainable;
    double touched =
        READ_AND_WRITE * trained * (bytes.optimizer + bytes.gradient + bytes.parameter);
    if (plan->offload == OFFLOAD_NONE)
        return touched / context->memory_bytes_per_second;
    double host = plan->offload == OFFLOAD_CPU ? context->efficiencies->host_memory_bytes_per_second
                                               : context->efficiencies->nvme_bytes_per_second;
    double link = context->pcie_bytes_per_second;
    double moved = (bytes.gradient + bytes.parameter) * trained;
    return touched / host + (link > 0 ? moved / link : 0);
}
