/* SPDX-License-Identifier: MIT */
/*
 * memory_model: bytes that one GPU needs at its peak, for the pipeline stage that needs most.
 *
 * Symbols: b micro batch, s sequence, h hidden, a heads, k kv heads, d head_dim, f ffn, V padded
 * vocabulary, t TP, c CP, K experts per token; n = b s / c tokens of a rank; T = t with
 * sequence parallelism, else 1.
 *
 * States. Parameters of a rank: what TP splits / t, routed experts / (ETP EP), norms, router
 * and position table whole; the first stage adds the embedding, the last the head (its own
 * copy of a tied table when pp > 1). Bytes per parameter are the framework profile's;
 * FP32 training keeps 4 + 4 + 8; FP16 keeps 2 byte gradients and their fp32 copy beside the
 * optimizer (Megatron-LM dist_optimizer.md: 4 + 16/d). ZeRO (Rajbhandari 2020, section 5): stage 1
 * divides the optimizer, 2 also gradients, 3 also parameters, by D c for dense parameters
 * (Megatron-LM dist_optimizer.md: d = D c) and by EDP for experts (theoretical_memory_usage.py);
 * narrower shard groups by shard c, and EDP shard / D.
 *
 * Activations of a layer and micro batch, 16 bit, fused attention:
 *     2 n (5 h/T + (a + 2k) d/t + a d/t + 3 f/t) + 4 n a/t        (2 f/t without a gate)
 * which with f = 4h, k = a, and attention's own 5 n a s/t is Korthikanti 2022, Table 2:
 * s b h (34 + 5 a s/h), (10 + 24/t + 5 a s/(h t)), (34 + 5 a s/h)/t. Selective recompute
 * drops the 5 n a s/t; full keeps 2 n h/T a layer and one layer's working set (transient).
 * MoE layers keep 2 n/T K (h ETP + 3 f_e) for routed and 2 n 3 f_e/t per shared expert
 * instead of 3 f/t (facts: Primus' projection). MLA: its own widths. FP8 keeps the inputs of
 * products (both norms' outputs, attention's, the MLP's inner one) in one byte (Transformer
 * Engine).
 * In flight: pipeline_schedule.h. Logits (last stage): n V/t times the profile's bytes.
 * Transient of ZeRO-3 and HSDP: two gathered layers, the gathered embedding and head, one
 * layer's whole gradients (torchtitan's FSDP2 prefetch); with pp > 1 the stage's parameters
 * stay gathered (torchtitan: no reshard after forward under PP).
 * Offload: gradients and optimizer go to the host, under ZeRO-3 and HSDP parameters too
 * (DeepSpeed, ZeRO-Offload and ZeRO-Infinity).
 */
#ifndef PLANNER_MEMORY_MODEL_H
#define PLANNER_MEMORY_MODEL_H

#include "planner/pipeline_schedule.h"
#include "planner/plan_context.h"

/* Parameters of one rank, by what may shard them. */
struct rank_parameters {
    double dense;
    double expert;
};

/* Tokens of a rank, and the divisor T. */
double memory_rank_tokens(const struct plan_context *context, const struct plan *plan);
double memory_sequence_divisor(const struct plan_context *context, const struct plan *plan);
unsigned memory_element_bytes(const struct plan *plan); /* of activations: 2, FP32: 4 */

void memory_layer_parameters(const struct plan_context *context, const struct plan *plan, bool moe,
                             struct rank_parameters *ret);
/* layout must be that of the plan's pp and vpp. */
void memory_stage_parameters(const struct plan_context *context, const struct plan *plan,
                             const struct pipeline_layout *layout, unsigned stage,
                             struct rank_parameters *ret);
/* Ranks that share the states: 1 without sharding. */
void memory_shard_widths(const struct plan *plan, struct rank_parameters *ret);

/* Of one layer and one micro batch; `recompute` decides what is kept. */
double memory_layer_activations(const struct plan_context *context, const struct plan *plan,
                                bool moe, enum recompute recompute);

/* The plan's verdict is OOM above capacity, tight within the catalogue's tight_share of it. */
void memory_estimate_plan(const struct plan_context *context, const struct plan *plan,
                          struct memory_estimate *ret);
/* Host bytes of one node that offload of that plan needs. */
double memory_offload_bytes_per_node(const struct plan_context *context, const struct plan *plan);

#endif
