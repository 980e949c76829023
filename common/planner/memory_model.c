/* SPDX-License-Identifier: MIT */
#include "planner/memory_model.h"

#include "base/numbers/real.h"
#include "planner/efficiency_catalogue.h"

#define GATHERED_LAYERS 2.0 /* the one at work and the one being prefetched */
#define PIPELINE_BUFFERS 4.0

#define HIDDEN_COPIES 5.0        /* both norms' inputs and outputs, and dropout's masks */
#define OPERATORS_KEPT (2.0 / 3) /* of attention's widths: query or value, and the output */
#define FP8_SAVED_BYTES 1.0      /* against 16 bit, of each input that a product keeps */

static double larger(double left, double right) { return left > right ? left : right; }
static double smaller(double left, double right) { return left < right ? left : right; }

/* As kept: beside those of plan_shape.h, 16 bit gradients that are summed in fp32. */
static struct state_bytes kept_bytes(const struct plan_context *context, const struct plan *plan)
{
    struct state_bytes bytes =
        state_bytes_of(context->profile, &context->training, plan->precision);
    if (plan->precision == PRECISION_BF16 || plan->precision == PRECISION_FP8)
        bytes.gradient += context->framework->extra_gradient_bytes;
    return bytes;
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
    double routed = training_expert_load(&context->training) * model->experts_per_token *
                    ((double)model->hidden * degrees->etp + matrices * model->expert_ffn);
    double shared = matrices * model->expert_ffn * model->shared_experts / degrees->tp;
    return routed / plan_sequence_divisor(context->profile, plan) + shared;
}

double memory_product_inputs(const struct plan_context *context, const struct plan *plan, bool moe)
{
    const struct model_spec *model = context->model;
    double tp = plan->degrees.tp, divisor = plan_sequence_divisor(context->profile, plan);
    double heads = (double)model->heads *
                   (model->attention == ATTENTION_LATENT ? model->v_head_dim : model->head_dim);
    double inner = moe ? training_expert_load(&context->training) * model->experts_per_token *
                             model->expert_ffn / divisor
                       : model->ffn / tp;
    return plan_rank_tokens(&context->training, plan) *
           (2 * model->hidden / divisor + heads / tp + inner);
}

double memory_linear_activations(const struct plan_context *context, const struct plan *plan,
                                 bool moe)
{
    const struct model_spec *model = context->model;
    double tokens = plan_rank_tokens(&context->training, plan);
    double divisor = plan_sequence_divisor(context->profile, plan);
    double split, whole, tp = plan->degrees.tp;
    attention_widths(model, &split, &whole);
    double copies = model->norm == NORM_RMS ? context->framework->hidden_copies : HIDDEN_COPIES;
    double width = copies * model->hidden / divisor + whole / divisor + split / tp +
                   mlp_width(context, plan, moe);
    double bytes = plan_element_bytes(plan) * tokens * width;
    if (plan->precision == PRECISION_FP8)
        bytes -= FP8_SAVED_BYTES * memory_product_inputs(context, plan, moe);
    return bytes;
}

/* What is kept where every second product is computed again: the layer's input, the outputs of
 * the query, the value, the gate (without one the output) and the last product, and attention's. */
static double operator_activations(const struct plan_context *context, const struct plan *plan,
                                   bool moe)
{
    const struct model_spec *model = context->model;
    double tp = plan->degrees.tp, divisor = plan_sequence_divisor(context->profile, plan);
    double matrices = model->gated_mlp ? 3 : 2, split, whole;
    attention_widths(model, &split, &whole);
    double width = 2 * model->hidden / divisor + (whole / divisor + split / tp) * OPERATORS_KEPT +
                   mlp_width(context, plan, moe) / matrices;
    return plan_element_bytes(plan) * plan_rank_tokens(&context->training, plan) * width;
}

double memory_layer_activations(const struct plan_context *context, const struct plan *plan,
                                bool moe, enum recompute recompute)
{
    const struct model_spec *model = context->model;
    double tokens = plan_rank_tokens(&context->training, plan), tp = plan->degrees.tp;
    unsigned element = plan_element_bytes(plan);
    if (recompute == RECOMPUTE_FULL)
        return element * tokens * model->hidden / plan_sequence_divisor(context->profile, plan);
    if (recompute == RECOMPUTE_SELECTIVE && context->framework->selective_operators)
        return operator_activations(context, plan, moe);
    double bytes = memory_linear_activations(context, plan, moe);
    if (context->framework->fused_attention)
        return bytes + 4 * tokens * model->heads / tp;
    double scores = recompute == RECOMPUTE_SELECTIVE ? 0 : 2.0 * element + 1;
    return bytes + scores * tokens * context->training.sequence_length * model->heads / tp;
}

static bool recomputes_products(const struct plan_context *context, const struct plan *plan)
{
    return plan->recompute == RECOMPUTE_FULL ||
           (plan->recompute == RECOMPUTE_SELECTIVE && context->framework->selective_operators);
}

/* All that does not depend on the stage. */
struct layer_bytes {
    double dense, moe; /* activations of a layer and micro batch */
    double working;    /* of the largest layer at work where products are recomputed */
    double logits;     /* last stage */
    double buffers;
    struct rank_parameters widths;  /* of the shards */
    struct rank_parameters largest; /* layer */
    double tiles;                   /* of a gathered layer */
};

static void layer_bytes_of(const struct plan_context *context, const struct plan *plan,
                           struct layer_bytes *ret)
{
    const struct model_spec *model = context->model;
    bool has_moe = model->experts > 0;
    bool has_dense = model_moe_layers(model, model->layers) < model->layers;
    double tokens = plan_rank_tokens(&context->training, plan);
    double divisor = plan_sequence_divisor(context->profile, plan);
    double hidden = plan_element_bytes(plan) * tokens * model->hidden;

    *ret = (struct layer_bytes){.tiles = 1};
    if (has_dense)
        ret->dense = memory_layer_activations(context, plan, false, plan->recompute);
    if (has_moe)
        ret->moe = memory_layer_activations(context, plan, true, plan->recompute);
    if (recomputes_products(context, plan))
        ret->working =
            larger(has_dense ? memory_layer_activations(context, plan, false, RECOMPUTE_NONE) : 0,
                   has_moe ? memory_layer_activations(context, plan, true, RECOMPUTE_NONE) : 0);
    ret->logits = tokens * real_of(padded_vocabulary(context->model, plan->degrees.tp)) /
                  plan->degrees.tp * context->profile->logits_bytes;
    if (plan->degrees.pp > 1)
        ret->buffers += PIPELINE_BUFFERS * hidden / divisor;
    if (divisor > 1)
        ret->buffers += hidden;
    if (plan->sharding == SHARDING_ZERO2)
        ret->buffers +=
            smaller(context->framework->bucket_bytes,
                    real_of(context->parameters.total) * kept_bytes(context, plan).gradient);
    struct plan_shape shape = plan_context_shape(context, plan);
    rank_shard_widths(plan, &ret->widths);
    rank_layer_parameters(&shape, has_moe, &ret->largest);
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
    struct plan_shape shape = plan_context_shape(context, plan);
    double whole_layer = (layer->largest.dense + layer->largest.expert) / layer->tiles;
    double gathered = gathered_parameter_bytes(plan->precision);
    if (plan->degrees.pp > 1)
        return (gathered + gradient_bytes) * (stage->dense + stage->expert);
    double tables = rank_table_parameters(&shape) * (context->model->tied_embeddings ? 1 : 2);
    return gathered * (GATHERED_LAYERS * whole_layer + tables) + gradient_bytes * whole_layer;
}

/* A model of which nothing is trained, or only adapters, is held in 16 bits; the adapters come on
 * top. */
static double parameter_bytes(const struct plan_context *context, const struct plan *plan,
                              const struct rank_parameters *widths,
                              const struct rank_parameters *stage,
                              const struct rank_parameters *trained)
{
    bool shards = sharded_states_of(plan->sharding).parameters;
    double each = kept_bytes(context, plan).parameter, all = sharded(stage, widths, shards);
    if (context->training.lora_rank == 0 && context->training.trainable > 0)
        return each * all;
    return gathered_parameter_bytes(plan->precision) * all +
           each * sharded(trained, widths, shards);
}

static void stage_states(const struct plan_context *context, const struct plan *plan,
                         const struct layer_bytes *layer, const struct rank_parameters *stage,
                         const struct rank_parameters *trained,
                         double parts[static MEMORY_PART_COUNT])
{
    struct state_bytes bytes = kept_bytes(context, plan);
    struct sharded_states sharding = sharded_states_of(plan->sharding);
    double trainable = context->training.trainable;
    bool offloaded = plan->offload != OFFLOAD_NONE;

    parts[MEMORY_PARAMETERS] = parameter_bytes(context, plan, &layer->widths, stage, trained);
    parts[MEMORY_GRADIENTS] = bytes.gradient * sharded(trained, &layer->widths, sharding.gradients);
    parts[MEMORY_OPTIMIZER] =
        bytes.optimizer * sharded(trained, &layer->widths, sharding.optimizer);
    if (sharding.parameters)
        parts[MEMORY_TRANSIENT] +=
            gathered_bytes(context, plan, layer, stage, trainable * bytes.gradient);
    if (offloaded) {
        parts[MEMORY_GRADIENTS] = 0;
        parts[MEMORY_OPTIMIZER] = 0;
        if (sharding.parameters)
            parts[MEMORY_PARAMETERS] = 0;
    }
}

static double stage_total(const struct plan_context *context, const struct plan *plan,
                          const struct pipeline_layout *layout, const struct layer_bytes *layer,
                          unsigned stage, double parts[static MEMORY_PART_COUNT])
{
    struct rank_parameters parameters, trained;
    struct plan_shape shape = plan_context_shape(context, plan);
    struct stage_layers layers = rank_stage_layers(&shape, layout, stage);
    double in_flight =
        pipeline_in_flight(plan->schedule, layout->pp, layout->vpp, stage, plan->micro_batches);
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++)
        parts[part] = 0;
    parts[MEMORY_TRANSIENT] = layer->working;
    parts[MEMORY_ACTIVATIONS] = in_flight * (layers.dense * layer->dense + layers.moe * layer->moe);
    parts[MEMORY_LOGITS] = stage + 1 == layout->pp ? (1 + layers.mtp) * layer->logits : 0;
    parts[MEMORY_BUFFERS] = layer->buffers;
    rank_stage_parameters(&shape, layout, stage, &parameters);
    rank_trained_parameters(&shape, layout, stage, &parameters, &trained);
    stage_states(context, plan, layer, &parameters, &trained, parts);
    double used = 0;
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++)
        used += parts[part];
    const struct framework_profile *profile = context->profile;
    parts[MEMORY_FRAMEWORK] = real_of(profile->constant_bytes) + profile->fragmentation * used;
    return used + parts[MEMORY_FRAMEWORK];
}

static void judge(const struct plan_context *context, struct memory_estimate *estimate)
{
    uint64_t capacity = context->capacity_bytes;
    estimate->tight_bytes = whole_of(real_of(capacity) * (1 - context->efficiencies->tight_share));
    estimate->verdict = FIT_UNKNOWN;
    if (capacity > 0)
        estimate->verdict = estimate->total_bytes > capacity                ? FIT_OOM
                            : estimate->total_bytes > estimate->tight_bytes ? FIT_TIGHT
                                                                            : FIT_FITS;
}

static uint64_t whole_bytes(double bytes)
{
    return bytes < (double)MEMORY_PART_MAXIMUM_BYTES ? whole_of(bytes + 0.5)
                                                     : MEMORY_PART_MAXIMUM_BYTES;
}

static void find_peak(const struct plan_context *context, const struct plan *plan,
                      const struct pipeline_layout *layout, const struct layer_bytes *layer,
                      struct memory_estimate *estimate)
{
    double parts[MEMORY_PART_COUNT], most = -1;
    for (unsigned stage = 0; stage < layout->pp; stage++) {
        double total = stage_total(context, plan, layout, layer, stage, parts);
        if (total <= most)
            continue;
        most = total;
        estimate->stage = stage;
        estimate->total_bytes = 0;
        for (unsigned part = 0; part < MEMORY_PART_COUNT; part++) {
            estimate->parts[part] = whole_bytes(parts[part]);
            estimate->total_bytes += estimate->parts[part];
        }
    }
    judge(context, estimate);
}

static void add_host(const struct plan_context *context, const struct plan *plan,
                     struct memory_estimate *estimate)
{
    estimate->host_bytes = whole_bytes(memory_offload_bytes_per_node(context, plan));
    estimate->host_capacity_bytes =
        plan->offload == OFFLOAD_CPU ? context->host_memory_bytes : context->host_nvme_bytes;
    if (memory_lacks_host(estimate))
        estimate->verdict = FIT_OOM;
}

void memory_estimate_plan(const struct plan_context *context, const struct plan *plan,
                          struct memory_estimate *ret)
{
    struct pipeline_layout layout;
    struct layer_bytes layer;
    struct memory_estimate estimate = {.capacity_bytes = context->capacity_bytes, .tiles = 1};
    bool offloaded = plan->offload != OFFLOAD_NONE;
    bool tiled = offloaded && sharded_states_of(plan->sharding).parameters;

    if (pipeline_layout_of(context->model->layers, plan->degrees.pp, plan->degrees.vpp, &layout)) {
        layer_bytes_of(context, plan, &layer);
        find_peak(context, plan, &layout, &layer, &estimate);
        while (tiled && estimate.verdict == FIT_OOM && estimate.tiles < MEMORY_MAXIMUM_TILES) {
            estimate.tiles *= 2;
            layer.tiles = estimate.tiles;
            find_peak(context, plan, &layout, &layer, &estimate);
        }
        if (offloaded)
            add_host(context, plan, &estimate);
    }
    *ret = estimate;
}

double memory_offload_bytes_per_node(const struct plan_context *context, const struct plan *plan)
{
    struct pipeline_layout layout;
    struct state_bytes bytes = kept_bytes(context, plan);
    struct rank_parameters widths, stage, trained;
    double most = 0;
    struct plan_shape shape = plan_context_shape(context, plan);
    rank_shard_widths(plan, &widths);
    if (!pipeline_layout_of(context->model->layers, plan->degrees.pp, plan->degrees.vpp, &layout))
        return 0;
    for (unsigned i = 0; i < layout.pp; i++) {
        rank_stage_parameters(&shape, &layout, i, &stage);
        rank_trained_parameters(&shape, &layout, i, &stage, &trained);
        double host = (bytes.gradient + bytes.optimizer) * sharded(&trained, &widths, true);
        if (sharded_states_of(plan->sharding).parameters)
            host += parameter_bytes(context, plan, &widths, &stage, &trained);
        most = larger(most, host);
    }
    return most * context->shape.gpus_per_node;
}
