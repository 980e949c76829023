/* SPDX-License-Identifier: MIT */
/*
 * plan_shape: how large a model's parts are on one rank of a plan: tokens, parameters, bytes
 * of state. Arithmetic on model and degrees: no cluster, no rates.
 *
 * Symbols as in memory_model.h. Parameters of a rank: what TP splits / t, routed experts
 * / (ETP EP), norms, router, position table and MLA's down projections whole (Megatron-LM
 * multi_latent_attention.py copies those); the first stage adds the embedding, the last the
 * head (its own copy of a tied table when pp > 1) and the multi-token prediction layers, with a
 * copy of an untied embedding when pp > 1 (Megatron-LM multi_token_prediction.py). LoRA adapters:
 * the side of hidden whole, the other split as its matrix.
 * Bytes per parameter are the framework profile's; FP32 training keeps 4 + 4 + 8; FP16 2 byte
 * gradients and their fp32 copy beside the optimizer (Megatron-LM dist_optimizer.md: 20 bytes,
 * 4 + 16/d sharded).
 */
#ifndef PLANNER_SIZES_PLAN_SHAPE_H
#define PLANNER_SIZES_PLAN_SHAPE_H

#include "planner/pipeline_schedule.h"
#include "planner/plan.h"
#include "workload/framework_profile.h"
#include "workload/model_spec.h"
#include "workload/training_spec.h"

/* What the counts need of a request. */
struct plan_shape {
    const struct plan *plan;
    const struct model_spec *model;
    const struct model_parameters *parameters; /* of the model */
    const struct framework_profile *profile;
    const struct training_spec *training;
};

/* Parameters of one rank, by what may shard them. */
struct rank_parameters {
    double dense;
    double expert;
};

/* Layers of a stage; multi-token prediction layers that are trained count with the last. */
struct stage_layers {
    unsigned dense, moe;
    unsigned mtp; /* of them */
};

/* Per parameter, mixed precision, Adam. */
struct state_bytes {
    double parameter, gradient, optimizer;
};

/* What a sharding divides by its width. */
struct sharded_states {
    bool optimizer, gradients, parameters;
};

unsigned plan_element_bytes(const struct plan *plan); /* of activations: 2, FP32: 4 */
double plan_rank_tokens(const struct training_spec *training, const struct plan *plan);
/* T: what sequence parallelism divides, t or 1. */
double plan_sequence_divisor(const struct framework_profile *profile, const struct plan *plan);
/* How often forward runs: twice with full recompute. */
double plan_forward_passes(const struct plan *plan);

struct state_bytes state_bytes_of(const struct framework_profile *profile,
                                  const struct training_spec *training, enum precision precision);
/* Of a parameter that is gathered, whatever is stored: 16 bit, FP32: 4. */
double gathered_parameter_bytes(enum precision precision);
struct sharded_states sharded_states_of(enum sharding sharding);

/* Vocabulary rows after padding for TP: a multiple of 128 t (Megatron-LM,
 * --make-vocab-size-divisible-by 128). */
uint64_t padded_vocabulary(const struct model_spec *model, unsigned tp);
/* One padded table, split by TP. */
double rank_table_parameters(const struct plan_shape *shape);
void rank_layer_parameters(const struct plan_shape *shape, bool moe, struct rank_parameters *ret);
/* layout must be that of the plan's pp and vpp. */
void rank_stage_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                           unsigned stage, struct rank_parameters *ret);
/* The most of any stage, of each kind. */
void rank_largest_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                             struct rank_parameters *ret);
/* The mean over the stages. */
void rank_mean_parameters(const struct plan_shape *shape, struct rank_parameters *ret);
struct stage_layers rank_stage_layers(const struct plan_shape *shape,
                                      const struct pipeline_layout *layout, unsigned stage);
/* What of the stage's parameters `all` is trained: the share of them, or with LoRA its
 * adapters (model_spec.h), which `all` does not hold. */
void rank_trained_parameters(const struct plan_shape *shape, const struct pipeline_layout *layout,
                             unsigned stage, const struct rank_parameters *all,
                             struct rank_parameters *ret);

/* Ranks that share the states: 1 without sharding, else shard c for dense parameters
 * (Megatron-LM: d = D c) and group_span.h's expert shard for experts. */
void rank_shard_widths(const struct plan *plan, struct rank_parameters *ret);

#endif
