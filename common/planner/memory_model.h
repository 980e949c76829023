/* SPDX-License-Identifier: MIT */
/*
 * memory_model: bytes that one GPU needs at its peak, for the pipeline stage that needs most.
 *
 * Symbols: b micro batch, s sequence, h hidden, a heads, k kv heads, d head_dim, f ffn, V padded
 * vocabulary, t TP, c CP, K experts per token; n = b s / c tokens of a rank; T = t with
 * sequence parallelism, else 1.
 *
 * States: parameters of a rank and bytes of each as sizes/plan_shape.h, and with BF16 or FP8
 * the 16 bit gradients that a framework keeps beside its fp32 sum. ZeRO (Rajbhandari 2020,
 * section 5): stage 1 divides the optimizer, 2 also gradients, 3 also parameters, by D c for
 * dense parameters (Megatron-LM dist_optimizer.md: d = D c) and by EDP for experts
 * (theoretical_memory_usage.py); narrower shard groups by shard c, and EDP shard / D.
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
 * stay gathered and its gradients whole until the last micro batch (torchtitan: no reshard
 * after forward under PP; torch.distributed.pipelining: no gradient sync before the last).
 * Buffers: 4 w n h/T with pp > 1 (an output and a gradient, sent and received), w n h with
 * sequence parallelism over T > 1 (the gathered sequence), with zero2 a bucket of gradients.
 * Framework: its constant, and the share of all else that its allocator holds unused.
 * Offload: gradients and optimizer go to the host, under ZeRO-3 and HSDP parameters too
 * (DeepSpeed, ZeRO-Offload and ZeRO-Infinity), where the node must have room for them. Then a
 * layer that is too large is cut into 2 to 16 tiles that are gathered one after the other
 * (memory-centric tiling, ZeRO-Infinity, section 5.1.3): its gathered parameters and gradients
 * shrink, activations do not.
 */
#ifndef PLANNER_MEMORY_MODEL_H
#define PLANNER_MEMORY_MODEL_H

#include "planner/plan_context.h"

#define MEMORY_MAXIMUM_TILES 16u

/* Of one layer and one micro batch; `recompute` decides what is kept. */
double memory_layer_activations(const struct plan_context *context, const struct plan *plan,
                                bool moe, enum recompute recompute);

/* Of one layer and micro batch, all that grows with tokens alone: without attention's s*s scores,
 * nothing recomputed. */
double memory_linear_activations(const struct plan_context *context, const struct plan *plan,
                                 bool moe);

/* Elements that the matrix products of one layer and micro batch take in and keep, which FP8
 * casts, and keeps in half the bytes. */
double memory_product_inputs(const struct plan_context *context, const struct plan *plan, bool moe);

#define MEMORY_PART_MAXIMUM_BYTES ((uint64_t)1 << 60)

/* The plan's verdict is OOM above capacity, tight within the catalogue's tight_share of it. A
 * part that is larger than MEMORY_PART_MAXIMUM_BYTES counts as that many. */
void memory_estimate_plan(const struct plan_context *context, const struct plan *plan,
                          struct memory_estimate *ret);
/* Host bytes of one node that offload of that plan needs. */
double memory_offload_bytes_per_node(const struct plan_context *context, const struct plan *plan);

#endif
