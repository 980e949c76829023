/* SPDX-License-Identifier: MIT */
#include "planner/sizes/plan_shape.h"

#include "base/numbers/real.h"
#include "planner/group_span.h"

#define VOCABULARY_MULTIPLE 128u
#define FP16_BYTES 2.0
#define FP32_BYTES 4.0

/* FP32 training has no second copy of the parameters. */
static const struct state_bytes fp32_bytes = {4, 4, 8};

static const struct sharded_states states_of[SHARDING_COUNT] = {
    [SHARDING_NONE] = {false, false, false}, [SHARDING_ZERO1] = {true, false, false},
    [SHARDING_ZERO2] = {true, true, false},  [SHARDING_ZERO3] = {true, true, true},
    [SHARDING_HSDP] = {true, true, true},
};

static double larger(double left, double right) { return left > right ? left : right; }

unsigned plan_element_bytes(const struct plan *plan)
{
    return plan->precision == PRECISION_FP32 ? 4 : 2;
}

double plan_rank_tokens(const struct training_spec *training, const struct plan *plan)
{
    return (double)plan->micro_batch * training->sequence_length / plan->degrees.cp;
}

double plan_sequence_divisor(const struct framework_profile *profile, const struct plan *plan)
{
    return profile->sequence_parallel ? plan->degrees.tp : 1;
}

double plan_forward_passes(const struct plan *plan)
{
    return plan->recompute == RECOMPUTE_FULL ? 2 : 1;
}

struct state_bytes state_bytes_of(const struct framework_profile *profile,
                                  const struct training_spec *training, enum precision precision)
{
    struct state_bytes bytes = {profile->parameter_bytes, profile->gradient_bytes,
                                profile->optimizer_bytes};
    bool master_copy = profile->parameter_bytes < FP32_BYTES;
    if (precision == PRECISION_FP32)
        bytes = fp32_bytes;
    bytes.optimizer -= training->moments_saved;
    if (precision == PRECISION_FP32)
        return bytes;
    if (precision == PRECISION_FP16 && master_copy && bytes.gradient > FP16_BYTES) {
        bytes.gradient = FP16_BYTES;
        bytes.optimizer += FP32_BYTES;
    }
    return bytes;
}

double gathered_parameter_bytes(enum precision precision)
{
    return precision == PRECISION_FP32 ? FP32_BYTES : FP16_BYTES;
}

struct sharded_states sharded_states_of(enum sharding sharding) { return states_of[sharding]; }

uint64_t padded_vocabulary(const struct model_spec *model, unsigned tp)
{
    uint64_t multiple = (uint64_t)VOCABULARY_MULTIPLE * tp;
    return (model->vocabulary + multiple - 1) / multiple * multiple;
}

double rank_table_parameters(const struct plan_shape *shape)
{
    unsigned tp = shape->plan->degrees.tp;
    return real_of(padded_vocabulary(shape->model, tp)) * shape->model->hidden / tp;
}

void rank_layer_parameters(const struct plan_shape *shape, bool moe, struct rank_parameters *ret)
{
    const struct model_parameters *counts = shape->parameters;
    const struct degrees *degrees = &shape->plan->degrees;
    double split = real_of(counts->attention - counts->attention_replicated);
    double whole = real_of(counts->norms + counts->attention_replicated);
    ret->expert = 0;
    if (moe) {
        split += real_of(counts->shared_experts);
        whole += real_of(counts->router);
        ret->expert = real_of(counts->experts) / ((double)degrees->etp * degrees->ep);
    } else {
        split += real_of(counts->dense_mlp);
    }
    ret->dense = split / degrees->tp + whole;
}

static double first_stage_parameters(const struct plan_shape *shape)
{
    double table = (double)shape->model->vocabulary * shape->model->hidden;
    return rank_table_parameters(shape) + real_of(shape->parameters->embedding) - table;
}

static double last_stage_parameters(const struct plan_shape *shape)
{
    const struct model_spec *model = shape->model;
    unsigned tp = shape->plan->degrees.tp;
    double head = model->lm_head_bias ? real_of(padded_vocabulary(model, tp)) / tp : 0;
    if (!model->tied_embeddings || shape->plan->degrees.pp > 1)
        head += rank_table_parameters(shape);
    return head + real_of(shape->parameters->final_norm);
}

static bool mtp_is_moe(const struct model_spec *model)
{
    return model_layer_is_moe(model, model->layers - 1);
}

struct stage_layers rank_stage_layers(const struct plan_shape *shape,
                                      const struct pipeline_layout *layout, unsigned stage)
{
    struct stage_layers layers = {0};
    for (unsigned chunk = 0; chunk < layout->vpp; chunk++) {
        unsigned first, count = pipeline_chunk_layers(layout, stage, chunk, &first);
        unsigned moe =
            model_moe_layers(shape->model, first + count) - model_moe_layers(shape->model, first);
        layers.moe += moe;
        layers.dense += count - moe;
    }
    if (stage + 1 == layout->pp)
        layers.mtp = shape->training->mtp_layers;
    *(mtp_is_moe(shape->model) ? &layers.moe : &layers.dense) += layers.mtp;
    return layers;
}

/* Of MTP layers what other layers do not have. */
static double mtp_extra_parameters(const struct plan_shape *shape)
{
    double hidden = shape->model->hidden, norms = shape->model->norm == NORM_LAYER ? 6 : 3;
    double table = shape->plan->degrees.pp > 1 && !shape->model->tied_embeddings
                       ? rank_table_parameters(shape)
                       : 0;
    double each = 2 * hidden * hidden / shape->plan->degrees.tp + norms * hidden;
    return shape->training->mtp_layers > 0 ? shape->training->mtp_layers * each + table : 0;
}

static struct rank_parameters layers_of(const struct plan_shape *shape, double dense_layers,
                                        double moe_layers)
{
    struct rank_parameters dense, moe;
    rank_layer_parameters(shape, false, &dense);
    rank_layer_parameters(shape, true, &moe);
    return (struct rank_parameters){dense_layers * dense.dense + moe_layers * moe.dense,
                                    moe_layers * moe.expert};
}

void rank_stage_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                           unsigned stage, struct rank_parameters *ret)
{
    struct stage_layers layers = rank_stage_layers(shape, layout, stage);
    *ret = layers_of(shape, layers.dense, layers.moe);
    if (stage == 0)
        ret->dense += first_stage_parameters(shape);
    if (stage + 1 == layout->pp)
        ret->dense += last_stage_parameters(shape) + mtp_extra_parameters(shape);
}

/* One layer's, on one rank. */
static struct rank_parameters rank_adapters(const struct plan_shape *shape, bool moe)
{
    const struct degrees *degrees = &shape->plan->degrees;
    struct adapter_parameters adapters;
    model_adapters_count(shape->model, shape->training->lora_rank, moe, &adapters);
    return (struct rank_parameters){real_of(adapters.split) / degrees->tp + real_of(adapters.whole),
                                    real_of(adapters.expert) /
                                        ((double)degrees->etp * degrees->ep)};
}

void rank_trained_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                             unsigned stage, const struct rank_parameters *all,
                             struct rank_parameters *ret)
{
    double share = shape->training->trainable;
    if (shape->training->lora_rank == 0) {
        *ret = (struct rank_parameters){share * all->dense, share * all->expert};
        return;
    }
    struct stage_layers layers = rank_stage_layers(shape, layout, stage);
    struct rank_parameters dense = rank_adapters(shape, false), moe = rank_adapters(shape, true);
    *ret = (struct rank_parameters){layers.dense * dense.dense + layers.moe * moe.dense,
                                    layers.moe * moe.expert};
}

void rank_largest_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                             struct rank_parameters *ret)
{
    *ret = (struct rank_parameters){0};
    for (unsigned stage = 0; stage < layout->pp; stage++) {
        struct rank_parameters parameters;
        rank_stage_parameters(shape, layout, stage, &parameters);
        ret->dense = larger(ret->dense, parameters.dense);
        ret->expert = larger(ret->expert, parameters.expert);
    }
}

void rank_mean_parameters(const struct plan_shape *shape, struct rank_parameters *ret)
{
    const struct model_spec *model = shape->model;
    double moe = model_moe_layers(model, model->layers);
    double pp = shape->plan->degrees.pp;
    double mtp = shape->training->mtp_layers, mtp_moe = mtp_is_moe(model) ? mtp : 0;
    *ret = layers_of(shape, model->layers - moe + mtp - mtp_moe, moe + mtp_moe);
    ret->dense = (ret->dense + first_stage_parameters(shape) + last_stage_parameters(shape) +
                  mtp_extra_parameters(shape)) /
                 pp;
    ret->expert /= pp;
}

void rank_shard_widths(const struct plan *plan, struct rank_parameters *ret)
{
    const struct degrees *degrees = &plan->degrees;
    *ret = (struct rank_parameters){1, 1};
    if (plan->sharding == SHARDING_NONE)
        return;
    ret->dense = group_size(degrees, GROUP_STATE_SHARD);
    ret->expert = group_size(degrees, GROUP_EXPERT_SHARD);
}
