/* SPDX-License-Identifier: MIT */
/*
 * plan: the planner's answer: how a job is split, what it needs, how long a step takes, and
 * why. plan_list is immutable and everything belongs to its arena.
 * Units: bytes per GPU, seconds per step, FLOP/s per GPU.
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "base/arena.h"
#include "workload/parallelism.h"
#include "workload/policy.h"
#include "workload/rank_order.h"

enum memory_part {
    MEMORY_PARAMETERS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_ACTIVATIONS,
    MEMORY_LOGITS,
    MEMORY_TRANSIENT, /* gathered layers, one layer's working set under recompute */
    MEMORY_BUFFERS,   /* communication */
    MEMORY_FRAMEWORK, /* context, libraries, the framework's constant */
    MEMORY_PART_COUNT
};

enum fit_verdict { FIT_UNKNOWN, FIT_FITS, FIT_TIGHT, FIT_OOM, FIT_COUNT };

struct memory_estimate {
    uint64_t parts[MEMORY_PART_COUNT];
    unsigned stage; /* the pipeline stage that needs most */
    uint64_t total_bytes;
    uint64_t capacity_bytes; /* what the device shows; 0: unknown */
    uint64_t tight_bytes;    /* from there on to capacity: the band in which a run may fail */
    /* With offload: what a node keeps outside its GPUs, and what there is (0: unknown). */
    uint64_t host_bytes, host_capacity_bytes;
    unsigned tiles; /* into which a layer's products are cut (memory-centric tiling); 1: none */
    enum fit_verdict verdict;
};

/* What is offloaded does not fit into the node. */
bool memory_lacks_host(const struct memory_estimate *memory);

enum time_part {
    TIME_COMPUTE,
    TIME_TP,
    TIME_CP,
    TIME_EP,
    TIME_PP,
    TIME_DP,
    TIME_BUBBLE,
    TIME_HOST,
    TIME_PART_COUNT
};

struct time_estimate {
    double parts[TIME_PART_COUNT]; /* exposed seconds of a step */
    double step_seconds;           /* 0: unknown (GPU not in the catalogue) */
    double bubble_fraction;        /* of the step */
    double tokens_per_second;      /* the whole job */
    double tflops_per_gpu;         /* model FLOPs, 10^12 */
    double mfu;                    /* of the dense peak of the precision */
};

struct plan {
    struct degrees degrees;
    enum sharding sharding;
    enum offload offload;
    enum schedule schedule;
    enum recompute recompute;
    enum precision precision;
    enum rank_order order;
    unsigned micro_batch;
    unsigned micro_batches; /* per step and pipeline */
    struct memory_estimate memory;
    struct time_estimate time;
    const char *const *reasons; /* first why chosen, or why it loses to the first plan */
    size_t reason_count;
};

/* One turn of the decision flow: rule, what it looked at, what it says and why. */
struct plan_rule {
    const char *rule; /* "ddp-fits", "sharded-dp", "tensor-parallel", … */
    const char *inputs;
    const char *verdict;
    const char *reason;
};

/* Why configurations were left out. */
enum rejection {
    REJECT_WORLD,        /* degrees do not multiply to N */
    REJECT_DIVISIBILITY, /* heads, layers, experts, sequence */
    REJECT_BATCH,        /* micro batch * DP exceeds or does not divide the global batch */
    REJECT_POLICY,
    REJECT_FRAMEWORK,
    REJECT_MEMORY,
    REJECTION_COUNT
};

const char *memory_part_name(enum memory_part part); /* "parameters", … as in the JSON */
const char *time_part_name(enum time_part part);
const char *fit_verdict_name(enum fit_verdict verdict); /* "fits", "tight", "oom", "unknown" */
const char *rejection_name(enum rejection rejection);

/* When nothing fits: what would help, nearest first, each with its figures. */
struct plan_remedy {
    const char *kind; /* "nodes", "offload", "gpu", a key; or a rejection_name */
    const char *text; /* "needs 5 nodes of l40s-pcie (40 GPUs): zero3 over 40, 42.1 GiB of 44.4" */
};

struct plan_list {
    const struct plan *plans; /* best first; plans[0] is the answer when plan_count > 0 */
    size_t plan_count;
    const struct plan *pareto; /* plan_pareto.h, without reasons */
    size_t pareto_count;
    const struct plan_rule *rules;
    size_t rule_count;
    uint64_t rejected[REJECTION_COUNT];
    uint64_t examined; /* configurations costed */
    uint64_t pruned;   /* more that a neighbour decided */
    const struct plan_remedy *remedies;
    size_t remedy_count;
    /* The nearest plan that does not fit (plan_count == 0): what is needed and available. */
    const struct plan *nearest; /* or NULL */
    const char *const *notes;   /* defaults taken, warnings */
    size_t note_count;
    struct policy_verdict policy; /* of given degrees; DENIED: plan_count is 0 */
    struct arena *arena;
};

void plan_list_free(struct plan_list *list);

DEFINE_CLEANUP(plan_list);

#endif
