/* SPDX-License-Identifier: MIT */
#include "planner/memory_model.h"

#include "planner/efficiency_catalogue.h"

#define GATHERED_LAYERS 2.0 /* the one at work and the one being prefetched */
#define GATHERED_BYTES 2.0  /* FSDP computes in 16 bit whatever it stores */
#define PIPELINE_BUFFERS 4.0

#define HIDDEN_COPIES 5.0 /* both norms' inputs and outputs, and dropout's masks */
#define FP16_BYTES 2.0
#define FP32_BYTES 4.0
#define FP8_SAVED_BYTES 1.0 /* against 16 bit, of each input that a product keeps */

/* Per parameter; FP32 training has no second copy of the parameters. */
struct state_bytes {
    double parameter, gradient, optimizer;
};

static const struct state_bytes fp32_bytes = {4, 4, 8};

struct shards {
    bool optimizer, gradients, parameters;
};

static const struct shards shards_of[SHARDING_COUNT] = {
    [SHARDING_NONE] = {false, false, false}, [SHARDING_ZERO1] = {true, false, false},
    [SHARDING_ZERO2] = {true, true, false},  [SHARDING_ZERO3] = {true, true, true},
    [SHARDING_HSDP] = {true, true, true},
};

static double larger(double left, double right) { return left > right ? left : right; }
static double smaller(double left, double right) { return left < right ? left : right; }

static struct state_bytes state_bytes_of(const struct plan_context *context,
                                         const struct plan *plan)
{
    const struct framework_profile *profile = context->profile;
    struct state_bytes bytes = {profile->parameter_bytes, profile->gradient_bytes,
                                profile->optimizer_bytes};
    bool master_copy = profile->parameter_bytes < FP32_BYTES;
    if (plan->precision == PRECISION_FP32)
        return fp32_bytes;
    if (plan->precision == PRECISION_FP16 && master_copy && bytes.gradient > FP16_BYTES) {
        bytes.gradient = FP16_BYTES;
        bytes.optimizer += FP32_BYTES;
    } else if (plan->precision != PRECISION_FP16) {
        bytes.gradient += context->framework->extra_gradient_bytes;
    }
    return bytes;
}

unsigned memory_element_bytes(const struct plan *plan)
{
    return plan->precision == PRECISION_FP32 ? 4 : 2;
}

double memory_rank_tokens(const struct plan_context *context, const struct plan *plan)
{
    return (double)plan->micro_batch * context->training.sequence_length / plan->degrees.cp;
}

double memory_sequence_divisor(const struct plan_context *context, const struct plan *plan)
{
    return context->profile->sequence_parallel ? plan->degrees.tp : 1;
}

void memory_layer_parameters(const struct plan_context *context, const struct plan *plan, bool moe,
                             struct rank_parameters *ret)
{
    const struct model_parameters *counts = &context->parameters;
    const struct degrees *degrees = &plan->degrees;
    double split = (double)counts->attention;
    double whole = (double)counts->norms;
    ret->expert = 0;
    if (moe) {
        split += (double)counts->shared_experts;
        whole += (double)counts->router;
        ret->expert = (double)counts->experts / ((double)degrees->etp * degrees->ep);
    } else {
        split += (double)counts->dense_mlp;
    }
    ret->dense = split / degrees->tp + whole;
}

/* One padded table, split by TP. */
static double table_parameters(const struct plan_context *context, unsigned tp)
{
    return (double)plan_context_padded_vocabulary(context, tp) * context->model->hidden / tp;
}

static double first_stage_parameters(const struct plan_context *context, unsigned tp)
{
    double table = (double)context->model->vocabulary * context->model->hidden;
    return table_parameters(context, tp) + (double)context->parameters.embedding - table;
}

static double last_stage_parameters(const struct plan_context *context, const struct plan *plan)
{
    bool own_table = context->parameters.head > 0 || plan->degrees.pp > 1;
    double head = own_table ? table_parameters(context, plan->degrees.tp) : 0;
    return head + (double)context->parameters.final_norm;
}

static unsigned stage_moe_layers(const struct plan_context *context,
                                 const struct pipeline_layout *layout, unsigned stage)
{
    if (context->model->experts == 0)
        return 0;
    return pipeline_stage_layers(layout, stage) -
           pipeline_stage_overlap(layout, stage, context->model->dense_layers);
}

void memory_stage_parameters(const struct plan_context *context, const struct plan *plan,
                             const struct pipeline_layout *layout, unsigned stage,
                             struct rank_parameters *ret)
{
    struct rank_parameters dense, moe;
    memory_layer_parameters(context, plan, false, &dense);
    memory_layer_parameters(context, plan, true, &moe);
    unsigned moe_layers = stage_moe_layers(context, layout, stage);
    unsigned dense_layers = pipeline_stage_layers(layout, stage) - moe_layers;
    ret->dense = dense_layers * dense.dense + moe_layers * moe.dense;
    ret->expert = moe_layers * moe.expert;
    if (stage == 0)
        ret->dense += first_stage_parameters(context, plan->degrees.tp);
    if (stage + 1 == layout->pp)
        ret->dense += last_stage_parameters(context, plan);
}

void memory_shard_widths(const struct plan *plan, struct rank_parameters *ret)
{
    const struct degrees *degrees = &plan->degrees;
    *ret = (struct rank_parameters){1, 1};
    if (plan->sharding == SHARDING_NONE)
        return;
    ret->dense = (double)degrees->shard * degrees->cp;
    ret->expert = larger(1, (double)degrees_edp(degrees) * degrees->shard / degrees->dp);
}

/* Widths that a layer's attention keeps: what TP splits, and what every TP rank holds. */
static void attention_widths(const struct model_spec *model, double *ret_split, double *ret_whole)
{
    double heads = model->heads;
    *ret_whole = 0;
    if (model->attention != ATTENTION_LATENT) {
        *ret_split = (2 * heads + 2.0 * model->kv_heads) * model->head_dim;
        return;
    }
    double query = model->qk_nope_head_dim + model->qk_rope_head_dim;
    *ret_split = heads * (2 * query + 2.0 * model->v_head_dim);
    *ret_whole = (double)model->q_lora_rank + model->kv_lora_rank + model->qk_rope_head_dim;
}

/* Elements that the MLP keeps per token of the rank. */
static double mlp_width(const struct plan_context *context, const struct plan *plan, bool moe)
{
    const struct model_spec *model = context->model;
    const struct degrees *degrees = &plan->degrees;
    double matrices = model->gated_mlp ? 3 : 2;
    if (!moe)
        return matrices * model->ffn / degrees->tp;
    double routed = model->experts_per_token *
                    ((double)model->hidden * degrees->etp + matrices * model->expert_ffn);
    double shared = matrices * model->expert_ffn * model->shared_experts / degrees->tp;
    return routed / memory_sequence_divisor(context, plan) + shared;
}

/* Inputs of matrix products, which FP8 keeps in half the bytes. */
static double fp8_savings(const struct plan_context *context, const struct plan *plan, bool moe)
{
    const struct model_spec *model = context->model;
    double tp = plan->degrees.tp, divisor = memory_sequence_divisor(context, plan);
    double heads = (double)model->heads *
                   (model->attention == ATTENTION_LATENT ? model->v_head_dim : model->head_dim);
    double inner =
        moe ? (double)model->experts_per_token * model->expert_ffn / divisor : model->ffn / tp;
    return FP8_SAVED_BYTES * (2 * model->hidden / divisor + heads / tp + inner);
}

double memory_layer_activations(const struct plan_context *context, const struct plan *plan,
                                bool moe, enum recompute recompute)
{
    const struct model_spec *model = context->model;
    double tokens = memory_rank_tokens(context, plan);
    double divisor = memory_sequence_divisor(context, plan);
    unsigned element = memory_element_bytes(plan);
    if (recompute == RECOMPUTE_FULL)
        return element * tokens * model->hidden / divisor;

    double split, whole, tp = plan->degrees.tp;
    attention_widths(model, &split, &whole);
    double copies = model->norm == NORM_RMS ? context->framework->extra_hidden_copies : 0;
    double hidden = (HIDDEN_COPIES + copies) * model->hidden / divisor;
    double bytes =
        element * tokens * (hidden + whole / divisor + split / tp + mlp_width(context, plan, moe));
    if (plan->precision == PRECISION_FP8)
        bytes -= tokens * fp8_savings(context, plan, moe);
    if (context->framework->fused_attention)
        return bytes + 4 * tokens * model->heads / tp;
    double scores = recompute == RECOMPUTE_SELECTIVE ? 0 : 2.0 * element + 1;
    return bytes + scores * tokens * context->training.sequence_length * model->heads / tp;
}

/* All that does not depend on the stage. */
struct layer_bytes {
    double dense, moe; /* activations of a layer and micro batch */
    double working;    /* of the largest layer at work under full recompute */
    double logits;     /* last stage */
    double buffers;
    struct rank_parameters widths;  /* of the shards */
    struct rank_parameters largest; /* layer */
};

static void layer_bytes_of(const struct plan_context *context, const struct plan *plan,
                           struct layer_bytes *ret)
{
    const struct model_spec *model = context->model;
    bool has_moe = model->experts > 0;
    bool has_dense = !has_moe || model->dense_layers > 0;
    double tokens = memory_rank_tokens(context, plan);
    double divisor = memory_sequence_divisor(context, plan);
    double hidden = memory_element_bytes(plan) * tokens * model->hidden;

    *ret = (struct layer_bytes){0};
    if (has_dense)
        ret->dense = memory_layer_activations(context, plan, false, plan->recompute);
    if (has_moe)
        ret->moe = memory_layer_activations(context, plan, true, plan->recompute);
    if (plan->recompute == RECOMPUTE_FULL)
        ret->working =
            larger(has_dense ? memory_layer_activations(context, plan, false, RECOMPUTE_NONE) : 0,
                   has_moe ? memory_layer_activations(context, plan, true, RECOMPUTE_NONE) : 0);
    ret->logits = tokens * (double)plan_context_padded_vocabulary(context, plan->degrees.tp) /
                  plan->degrees.tp * context->profile->logits_bytes;
    if (plan->degrees.pp > 1)
        ret->buffers += PIPELINE_BUFFERS * hidden / divisor;
    if (divisor > 1)
        ret->buffers += hidden;
    if (plan->sharding == SHARDING_ZERO2)
        ret->buffers +=
            smaller(context->framework->bucket_bytes,
                    (double)context->parameters.total * state_bytes_of(context, plan).gradient);
    memory_shard_widths(plan, &ret->widths);
    memory_layer_parameters(context, plan, has_moe, &ret->largest);
}

static double sharded(const struct rank_parameters *parameters,
                      const struct rank_parameters *widths, bool shards)
{
    if (!shards)
        return parameters->dense + parameters->expert;
    return parameters->dense / widths->dense + parameters->expert / widths->expert;
}

static double gathered_bytes(const struct plan_context *context, const struct plan *plan,
                             const struct layer_bytes *layer, const struct rank_parameters *stage,
                             double gradient_bytes)
{
    double whole_layer = layer->largest.dense + layer->largest.expert;
    if (plan->degrees.pp > 1)
        return GATHERED_BYTES * (stage->dense + stage->expert) + gradient_bytes * whole_layer;
    double tables =
        table_parameters(context, plan->degrees.tp) * (context->parameters.head > 0 ? 2 : 1);
    return GATHERED_BYTES * (GATHERED_LAYERS * whole_layer + tables) + gradient_bytes * whole_layer;
}

static void stage_states(const struct plan_context *context, const struct plan *plan,
                         const struct layer_bytes *layer, const struct rank_parameters *stage,
                         double parts[static MEMORY_PART_COUNT])
{
    struct state_bytes bytes = state_bytes_of(context, plan);
    const struct shards *shards = &shards_of[plan->sharding];
    double trainable = context->training.trainable;
    bool offloaded = plan->offload != OFFLOAD_NONE;

    parts[MEMORY_PARAMETERS] = bytes.parameter * sharded(stage, &layer->widths, shards->parameters);
    parts[MEMORY_GRADIENTS] =
        trainable * bytes.gradient * sharded(stage, &layer->widths, shards->gradients);
    parts[MEMORY_OPTIMIZER] =
        trainable * bytes.optimizer * sharded(stage, &layer->widths, shards->optimizer);
    if (shards->parameters)
        parts[MEMORY_TRANSIENT] +=
            gathered_bytes(context, plan, layer, stage, trainable * bytes.gradient);
    if (offloaded) {
        parts[MEMORY_GRADIENTS] = 0;
        parts[MEMORY_OPTIMIZER] = 0;
        if (shards->parameters)
            parts[MEMORY_PARAMETERS] = 0;
    }
}

static double stage_total(const struct plan_context *context, const struct plan *plan,
                          const struct pipeline_layout *layout, const struct layer_bytes *layer,
                          unsigned stage, double parts[static MEMORY_PART_COUNT])
{
    struct rank_parameters parameters;
    unsigned moe_layers = stage_moe_layers(context, layout, stage);
    unsigned dense_layers = pipeline_stage_layers(layout, stage) - moe_layers;
    double in_flight =
        pipeline_in_flight(plan->schedule, layout->pp, layout->vpp, stage, plan->micro_batches);
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++)
        parts[part] = 0;
    parts[MEMORY_TRANSIENT] = layer->working;
    parts[MEMORY_ACTIVATIONS] = in_flight * (dense_layers * layer->dense + moe_layers * layer->moe);
    parts[MEMORY_LOGITS] = stage + 1 == layout->pp ? layer->logits : 0;
    parts[MEMORY_BUFFERS] = layer->buffers;
    parts[MEMORY_FRAMEWORK] = (double)context->profile->constant_bytes;
    memory_stage_parameters(context, plan, layout, stage, &parameters);
    stage_states(context, plan, layer, &parameters, parts);
    double total = 0;
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++)
        total += parts[part];
    return total;
}

static enum fit_verdict verdict_of(const struct plan_context *context, uint64_t total)
{
    uint64_t capacity = context->capacity_bytes;
    if (capacity == 0)
        return FIT_UNKNOWN;
    if (total > capacity)
        return FIT_OOM;
    double line = (double)capacity * (1 - context->efficiencies->tight_share);
    return (double)total > line ? FIT_TIGHT : FIT_FITS;
}

void memory_estimate_plan(const struct plan_context *context, const struct plan *plan,
                          struct memory_estimate *ret)
{
    struct pipeline_layout layout;
    struct layer_bytes layer;
    double parts[MEMORY_PART_COUNT], most = -1;
    struct memory_estimate estimate = {.capacity_bytes = context->capacity_bytes};

    if (!pipeline_layout_of(context->model->layers, plan->degrees.pp, plan->degrees.vpp, &layout)) {
        *ret = estimate;
        return;
    }
    layer_bytes_of(context, plan, &layer);
    for (unsigned stage = 0; stage < layout.pp; stage++) {
        double total = stage_total(context, plan, &layout, &layer, stage, parts);
        if (total <= most)
            continue;
        most = total;
        estimate.stage = stage;
        estimate.total_bytes = 0;
        for (unsigned part = 0; part < MEMORY_PART_COUNT; part++) {
            estimate.parts[part] = (uint64_t)(parts[part] + 0.5);
            estimate.total_bytes += estimate.parts[part];
        }
    }
    estimate.verdict = verdict_of(context, estimate.total_bytes);
    *ret = estimate;
}

double memory_offload_bytes_per_node(const struct plan_context *context, const struct plan *plan)
{
    struct pipeline_layout layout;
    struct state_bytes bytes = state_bytes_of(context, plan);
    struct rank_parameters widths, stage;
    double trainable = context->training.trainable, most = 0;
    memory_shard_widths(plan, &widths);
    if (!pipeline_layout_of(context->model->layers, plan->degrees.pp, plan->degrees.vpp, &layout))
        return 0;
    for (unsigned i = 0; i < layout.pp; i++) {
        memory_stage_parameters(context, plan, &layout, i, &stage);
        double host =
            trainable * (bytes.gradient + bytes.optimizer) * sharded(&stage, &widths, true);
        if (shards_of[plan->sharding].parameters)
            host += bytes.parameter * sharded(&stage, &widths, true);
        most = larger(most, host);
    }
    return most * context->shape.gpus_per_node;
}
