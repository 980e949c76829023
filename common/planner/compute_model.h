/* SPDX-License-Identifier: MIT */
/*
 * compute_model: seconds that one GPU computes on one layer, the head and the optimizer.
 *
 * Matrix multiplications: 2 m n k FLOPs at the efficiency of efficiency_catalogue.h; backward
 * is twice forward (gradients of inputs and of weights; the latter only for the trainable
 * share, also in the head). Widths as memory_model.h; routed experts run n K ETP / T rows, spread
 * evenly over the rank's E / EP experts, each of width f_e / ETP. Attention: 2 (d_qk + d_v) a FLOPs
 * per score; fused kernels compute the causal half and spend 2.5 times forward in backward (Dao
 * 2023, section 4.1: five products to two); unfused ones compute the whole square and move softmax
 * and dropout through memory. Everything else is memory traffic: elementwise_passes times the
 * stored activations forward, twice that backward. Optimizer: the bytes of state of what the rank
 * updates, read and written once: parameter, gradient and optimizer of plan_shape.h (BF16 18 with
 * Megatron-LM, FP16 20, FP32 16), of the trainable share. Offloaded they stream from host or NVMe,
 * and gradients and parameters cross PCIe.
 */
#ifndef PLANNER_COMPUTE_MODEL_H
#define PLANNER_COMPUTE_MODEL_H

#include "planner/plan_context.h"

struct compute_seconds {
    double forward;
    double backward; /* with what recompute repeats */
};

void compute_layer(const struct plan_context *context, const struct plan *plan, bool moe,
                   struct compute_seconds *ret);
/* Head and loss on the last stage. */
void compute_head(const struct plan_context *context, const struct plan *plan,
                  struct compute_seconds *ret);
/* parameters: those that the rank updates: all of its own, divided by the width that the
 * optimizer is sharded over. */
double compute_optimizer(const struct plan_context *context, const struct plan *plan,
                         double parameters);

#endif
