/* SPDX-License-Identifier: MIT */
/*
 * communication_model: seconds of one collective over one group.
 *
 * Alpha-beta, hierarchical: g ranks of the group share an NVLink domain (or, without NVLink,
 * a node over PCIe), k such parts are joined by the NICs, every GPU with its own:
 *     all-reduce      2 (g-1)/g V / B_in + 2 (k-1)/k V/g / B_out
 *     all-gather, reduce-scatter: half of it (V is the whole tensor)
 *     all-to-all      V (g-1)/n / B_in + V (n-g)/n / B_out   (V is what one rank sends)
 *     send            V / B of the farthest link
 * Source: stas00/ml-engineering network chapter (the flat ring predicts 85.9 ms where
 * 22.05 ms were measured); the volumes are Thakur 2005's rings.
 * Latency: base + hops; rings take (g-1) and (k-1) hops, an all-reduce twice that, but over
 * NICs 2 log2 k (trees); an all-to-all and a send one. The fastest protocol counts
 * (NVIDIA/nccl src/graph/tuning.cc).
 * On a mesh (XGMI) g GPUs use (g-1) of the links: min(B_in, (g-1) B_pair).
 */
#ifndef PLANNER_COMMUNICATION_MODEL_H
#define PLANNER_COMMUNICATION_MODEL_H

#include "planner/plan_context.h"
#include "planner/sizes/communication_volume.h"

/* 0 for a group of one. */
double collective_seconds(const struct plan_context *context, const struct group_span *span,
                          enum collective collective, double bytes);
/* All-to-all of tokens to `copies` experts each, where a token crosses the network once for every
 * other part it goes to and is passed on inside (DeepSeek-V3, section 3.2.2; DeepEP): of B_out's
 * share 1/copies times the parts that a token is expected to reach,
 *     (k-1) (1 - (1 - 1/k)^copies)   instead of   copies (k-1)/k
 * `bytes` is what one rank sends to all copies. */
double dispatch_seconds(const struct plan_context *context, const struct group_span *span,
                        double copies, double bytes);

/* Everything that one plan's groups need, made once per degrees. */
struct plan_spans {
    struct group_span of[GROUP_DIMENSION_COUNT];
};

void plan_spans_of(const struct plan_context *context, const struct plan *plan,
                   struct plan_spans *ret);

#endif
