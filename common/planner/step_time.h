/* SPDX-License-Identifier: MIT */
/*
 * step_time: seconds of one training step, what of each part is exposed, and the figures that
 * follow.
 *
 *     step = M * t_max + bubble + dp + optimizer + the framework's fixed part
 *     t_max: the slowest stage's forward and backward of one micro batch: compute, launch
 *            floor, and exposed communication of TP, CP, EP, PP
 *     bubble = (sum of the stages' t - t_max) / v: (p-1) t / v for equal stages (Narayanan
 *            2021; all of GPipe's and 1F1B's, interleaving divides it)
 *
 * Exposed = (1 - the profile's overlap) of a part; DP hides no more than the compute it can
 * hide under (DDP and ZeRO-1: one micro batch; what repeats for each: the whole step).
 * Volumes (facts of the field, section "communication per rank"): TP 2 all-reduces forward,
 * 2 backward per layer (all-gather + reduce-scatter with sequence parallelism), 2 more with
 * full recompute (Shoeybi 2019; Korthikanti 2022); CP ring: K and V of c-1 ranks forward,
 * twice that backward (Liu 2023); EP 4 all-to-alls of the routed tokens per MoE layer; PP the
 * stage's output per direction, micro batch and chunk; DP gradients reduced and parameters
 * gathered once (ZeRO-1/2), or 2 gathers and 1 reduce-scatter per micro batch (ZeRO-3;
 * Rajbhandari 2020, section 7).
 *
 * Model FLOPs of a token: 6 * active parameters without the input embedding (a tied table
 * counts once, as head) + causal attention 3 * 2 (d_qk + d_v) a * scores/s per layer, which is
 * 6 a d s for full attention: Megatron-LM's count (llm-foundry counts attention full).
 * Recompute is not in it: this is MFU, not HFU (Chowdhery 2022, appendix B).
 * MFU = model FLOPs / (step * N * dense peak of the precision).
 */
#ifndef PLANNER_STEP_TIME_H
#define PLANNER_STEP_TIME_H

#include "planner/plan_context.h"

/* Model FLOPs of a whole step (global batch). */
double step_model_flops(const struct plan_context *context);

/* plan: complete, of a layout that exists. All 0 when the GPU is unknown. */
void step_time_of(const struct plan_context *context, const struct plan *plan,
                  struct time_estimate *ret);

#endif
