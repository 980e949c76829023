/* SPDX-License-Identifier: MIT */
#include "planner/sizes/plan_shape.h"

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

struct state_bytes state_bytes_of(const struct framework_profile *profile, enum precision precision)
{
    struct state_bytes bytes = {profile->parameter_bytes, profile->gradient_bytes,
                                profile->optimizer_bytes};
    bool master_copy = profile->parameter_bytes < FP32_BYTES;
    if (precision == PRECISION_FP32)
        return fp32_bytes;
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
    return (double)padded_vocabulary(shape->model, tp) * shape->model->hidden / tp;
}

void rank_layer_parameters(const struct plan_shape *shape, bool moe, struct rank_parameters *ret)
{
    const struct model_parameters *counts = shape->parameters;
    const struct degrees *degrees = &shape->plan->degrees;
    double split = (double)(counts->attention - counts->attention_replicated);
    double whole = (double)counts->norms + (double)counts->attention_replicated;
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

static double first_stage_parameters(const struct plan_shape *shape)
{
    double table = (double)shape->model->vocabulary * shape->model->hidden;
    return rank_table_parameters(shape) + (double)shape->parameters->embedding - table;
}

static double last_stage_parameters(const struct plan_shape *shape)
{
    const struct model_spec *model = shape->model;
    unsigned tp = shape->plan->degrees.tp;
    double head = model->lm_head_bias ? (double)padded_vocabulary(model, tp) / tp : 0;
    if (!model->tied_embeddings || shape->plan->degrees.pp > 1)
        head += rank_table_parameters(shape);
    return head + (double)shape->parameters->final_norm;
}

unsigned rank_stage_moe_layers(const struct model_spec *model, const struct pipeline_layout *layout,
                               unsigned stage)
{
    if (model->experts == 0)
        return 0;
    return pipeline_stage_layers(layout, stage) -
           pipeline_stage_overlap(layout, stage, model->dense_layers);
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
    unsigned moe = rank_stage_moe_layers(shape->model, layout, stage);
    *ret = layers_of(shape, pipeline_stage_layers(layout, stage) - moe, moe);
    if (stage == 0)
        ret->dense += first_stage_parameters(shape);
    if (stage + 1 == layout->pp)
        ret->dense += last_stage_parameters(shape);
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
    double dense = model->experts > 0 ? model->dense_layers : model->layers;
    double pp = shape->plan->degrees.pp;
    *ret = layers_of(shape, dense, model->layers - dense);
    ret->dense = (ret->dense + first_stage_parameters(shape) + last_stage_parameters(shape)) / pp;
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
