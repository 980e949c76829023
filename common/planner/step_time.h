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
 * What is sent, and how often: sizes/communication_volume.h; each in the seconds of
 * communication_model.h. DP and the optimizer are timed for the largest parameters of any
 * stage; gradients and parameters go in buckets (ZeRO-3 and HSDP: by layer), each with its
 * own latency.
 * Exposed = (1 - the profile's overlap) of a part. DP hides no more than a window: one micro
 * batch of the slowest stage (t_max: DDP and ZeRO-1 talk during the last backward and the
 * first forward), or all M of them where gradients are sharded and DP talks throughout
 * (ZeRO-2, ZeRO-3, HSDP).
 *
 * Model FLOPs of a token: (4 + 2 u) * active parameters without the input embedding and
 * position tables (a tied table counts once, as head) + causal attention 3 * 2 (d_qk + d_v) a
 * * scores/s per layer. Each parameter costs 2 forward, 2 for the gradient of its input, and
 * 2 for its own, which only the trainable share u needs: 6 in all when u is 1. Attention is
 * 6 a d s when it is full: Megatron-LM's count (llm-foundry counts the whole square).
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
