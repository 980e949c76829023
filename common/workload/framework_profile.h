/* SPDX-License-Identifier: MIT */
/*
 * framework_profile: what the training framework does with memory, sharding and numbering
 * (data/frameworks.yaml). The profile decides what ZeRO may be combined with.
 */
#ifndef WORKLOAD_FRAMEWORK_PROFILE_H
#define WORKLOAD_FRAMEWORK_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "workload/parallelism.h"

enum profile_verdict { PROFILE_RECOMMENDED, PROFILE_ALLOWED, PROFILE_REFUSED };

struct framework_profile {
    /* "megatron-core", "nemo", "megatron-deepspeed", "deepspeed", "fsdp2", "torchtitan" */
    const char *name;
    const char *title;
    /* Bytes per parameter, mixed precision, Adam; the sum is what one rank holds unsharded.
     * FSDP2 keeps fp32 shards that are the master copy too (4 + 4 + 8), and gathers bf16. */
    double parameter_bytes; /* compute copy */
    double gradient_bytes;
    double optimizer_bytes;    /* master + moments */
    double logits_bytes;       /* per logit */
    uint64_t constant_bytes;   /* context, communication library, unexplained */
    double fragmentation;      /* kept by its allocator beyond what is in use, share of that */
    bool sequence_parallel;    /* with TP */
    bool pipeline_before_data; /* can be told to number tp-cp-ep-pp-dp */
    /* CUDA_DEVICE_MAX_CONNECTIONS with TP or CP, before Blackwell and on it; 0: as it is. */
    uint64_t device_connections, blackwell_connections;
    enum profile_verdict pipeline[SHARDING_COUNT]; /* that sharding with pp > 1 */
    const char *pipeline_reason[SHARDING_COUNT];
    /* Hidden share, 0..1; gather: data parallelism that gathers parameters (zero3, hsdp). */
    double overlap_dp, overlap_gather, overlap_tp, overlap_pp, overlap_cp, overlap_ep;
    const char *source;
};

struct framework_catalogue {
    const struct framework_profile *profiles;
    size_t count;
    struct arena *arena;
};

struct framework_catalogue *framework_catalogue_parse(const char *text, size_t bytes,
                                                      const char *source, struct error_info *err);
struct framework_catalogue *framework_catalogue_builtin(struct error_info *err);
void framework_catalogue_free(struct framework_catalogue *catalogue);
/* NULL name: the default profile (megatron-core). Unknown: NULL and an error with the list. */
const struct framework_profile *
framework_catalogue_find(const struct framework_catalogue *catalogue, const char *name,
                         struct error_info *err);

DEFINE_CLEANUP(framework_catalogue);

#endif
