/* SPDX-License-Identifier: MIT */
/*
 * traffic: bytes per step that one rank sends to its next neighbour in each dimension.
 * Rings for TP, CP, EP (all-to-all counted as its per-rank bytes), DP; chains for PP, where
 * both directions of a boundary count. s tokens of a sequence, b micro batch, M micro-batches,
 * h hidden, t, c, e, p, d degrees, l layers of a stage, f 1 (2 under full recomputation), and
 * 2 bytes per activation (4 in fp32):
 *   TP  M l 2 (f + 1) * 2 (t-1)/t * 2 s b h / c     Megatron-LM, arXiv:1909.08053 section 3;
 *                                                   all-gather + reduce-scatter are the same
 *   CP  M l (f + 2) * 2 (c-1)/c s b (K + V) / t     ring attention, arXiv:2310.01889: K and V
 *                                                   forward, with their gradients backward
 *   EP  M l 2 (f + 1) * 2 (e-1)/e s b h k / (t c)   dispatch and combine of top-k
 *   PP  M v 2 * 2 s b h / c (and / t with sequence parallelism), arXiv:2104.04473 section 2.2
 *   DP  gradients 2 (d-1)/d (no sharding); gradients and parameters (d-1)/d (ZeRO-1, -2); two
 *       gathers and a reduction per micro-batch (ZeRO-3): ZeRO, arXiv:1910.02054 section 7;
 *       experts over their own data parallel group
 * Width of gradients and parameters: the framework profile's.
 */
#ifndef MAPPING_TRAFFIC_H
#define MAPPING_TRAFFIC_H

#include "planner/plan_search.h"

enum traffic_dimension {
    TRAFFIC_TP,
    TRAFFIC_CP,
    TRAFFIC_EP,
    TRAFFIC_PP,
    TRAFFIC_DP,
    TRAFFIC_DIMENSION_COUNT
};

struct traffic {
    double bytes_per_step[TRAFFIC_DIMENSION_COUNT];
};

const char *traffic_dimension_name(enum traffic_dimension dimension);
void traffic_of_plan(const struct plan *plan, const struct model_spec *model,
                     const struct framework_profile *profile, unsigned sequence_length,
                     struct traffic *ret);

#endif
