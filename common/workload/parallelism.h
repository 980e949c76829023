/* SPDX-License-Identifier: MIT */
/*
 * parallelism: the degrees and the words of a plan.
 *
 * N = tp * cp * dp * pp. Experts regrid the same ranks: N = etp * ep * edp * pp, so ep is
 * never a further factor and edp = tp * cp * dp / (etp * ep). dp = shard * replicate.
 * Source of the two factorisations: Megatron-LM's theoretical_memory_usage.py
 * (expert_data_parallel_size = world / (ETP * EP * PP)).
 */
#ifndef WORKLOAD_PARALLELISM_H
#define WORKLOAD_PARALLELISM_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

#define DEGREE_MAXIMUM 1048576u
#define WORLD_MAXIMUM 2097152u /* ranks */

struct degrees {
    unsigned tp, cp, ep, etp, pp, vpp, dp;
    unsigned shard;     /* ranks over which states are sharded (1: none) */
    unsigned replicate; /* dp / shard */
};

#define DEGREES_ONE                                                                                \
    ((struct degrees){.tp = 1,                                                                     \
                      .cp = 1,                                                                     \
                      .ep = 1,                                                                     \
                      .etp = 1,                                                                    \
                      .pp = 1,                                                                     \
                      .vpp = 1,                                                                    \
                      .dp = 1,                                                                     \
                      .shard = 1,                                                                  \
                      .replicate = 1})

enum sharding {
    SHARDING_NONE,
    SHARDING_ZERO1,
    SHARDING_ZERO2,
    SHARDING_ZERO3,
    SHARDING_HSDP,
    SHARDING_COUNT
};
enum schedule {
    SCHEDULE_NONE,
    SCHEDULE_NAIVE, /* one micro batch at a time */
    SCHEDULE_GPIPE,
    SCHEDULE_1F1B,
    SCHEDULE_ZERO_BUBBLE, /* ZB-H1: gradients of weights fill the bubble (Qi 2023) */
    SCHEDULE_INTERLEAVED,
    SCHEDULE_COUNT
};
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_COUNT };
enum precision { PRECISION_FP32, PRECISION_FP16, PRECISION_BF16, PRECISION_FP8, PRECISION_COUNT };
enum offload { OFFLOAD_NONE, OFFLOAD_CPU, OFFLOAD_NVME, OFFLOAD_COUNT };

/* "none", "zero1", …; "1f1b"; the words of the key table. */
const char *sharding_name(enum sharding sharding);
const char *schedule_name(enum schedule schedule);
const char *recompute_name(enum recompute recompute);
const char *precision_name(enum precision precision);
const char *offload_name(enum offload offload);

/* tp * cp * dp * pp; 0 when it overflows WORLD_MAXIMUM. */
uint64_t degrees_world(const struct degrees *degrees);
unsigned degrees_edp(const struct degrees *degrees);

/* Complete degrees of which some are 0 (= omitted) for N ranks: dp follows from N if it is
 * omitted, otherwise the first omitted one of tp, pp; the others and cp become 1; etp defaults
 * to tp when ep is 1 and to 1 otherwise; vpp and shard to 1 (degrees_set_shard comes after,
 * when the sharding is known). When all are given their product must be N. Refused with
 * have/need and a value that would do (a TP that divides the given one, so that policy and heads
 * allow it where they allow that one): a product that is not N, ep * etp not dividing
 * tp * cp * dp, shard not dividing dp, vpp > 1 without a pipeline, N = 0. Untouched then.
 * "tp=8,pp=4,dp=4 make 128 ranks, but there are 64; use dp=2, or 128 GPUs". */
int degrees_complete(struct degrees *degrees, uint64_t world, struct error_info *err);

/* The width of the shard group under that sharding: shard 0 means the whole of dp (1 without
 * sharding); replicate = dp / shard. Needs complete degrees. Refused: a width that does not
 * divide dp, a width over 1 without sharding. */
int degrees_set_shard(struct degrees *degrees, enum sharding sharding, unsigned shard,
                      struct error_info *err);

/* "tp=8,pp=4,dp=2" plus those of cp, ep, etp, vpp that are not 1 (etp when not its default). */
#define DEGREES_TEXT_BYTES 160
void degrees_text(const struct degrees *degrees, char ret[static DEGREES_TEXT_BYTES]);

#endif
