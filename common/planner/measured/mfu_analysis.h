/* SPDX-License-Identifier: MIT */
/*
 * mfu_analysis: is a measured run as fast as it should be? Its figures, the range that published
 * runs reach, what the planner predicts for the same configuration, and where a gap may sit.
 * Pure; everything belongs to its arena or to the plan list in it, and points into the request.
 */
#ifndef PLANNER_MEASURED_MFU_ANALYSIS_H
#define PLANNER_MEASURED_MFU_ANALYSIS_H

#include "planner/measured/mfu_checks.h"
#include "planner/measured/precision_advice.h"

#define MFU_OTHERS_MAXIMUM 8u

/* Another run of the same job on another number of GPUs. */
struct other_run {
    uint64_t gpus;
    double value; /* in the measurement's unit */
};

struct mfu_request {
    /* As for plan_search; its policy does not count (the run has run), and one plan is wanted. */
    const struct plan_request *plan;
    enum measure measure;
    double value; /* above 0 */
    const struct mfu_reference_catalogue *references;
    const struct kernel_profile *profile; /* or NULL */
    const struct other_run *others;
    size_t other_count; /* at most MFU_OTHERS_MAXIMUM */
};

/* The same model and sequence on other GPUs, beside the measured run: both axes, since more GPUs
 * are nearly always faster and nearly always less efficient. */
struct run_comparison {
    uint64_t gpus;
    struct measured_speed speed;
    double throughput_ratio; /* the measured run's tokens per second / this one's */
    double efficiency_ratio; /* the same per GPU: below 1, the measured run needs more GPU hours */
};

struct mfu_analysis {
    struct training_spec training;
    const struct gpu_model *gpu; /* NULL: not in the catalogue */
    enum precision precision;
    enum measure measure;
    struct run_size size;
    struct measured_speed speed;
    enum recompute recompute; /* that HFU counts: given, else the prediction's, else none */
    bool recompute_assumed;   /* it is not given */
    struct mfu_range range;
    enum mfu_verdict verdict;
    struct precision_advice precisions[PRECISION_ADVICE_COUNT];
    size_t precision_count; /* 0: the GPU is unknown */
    bool degrees_given;
    const struct plan_list *list;
    const struct plan *plan; /* the prediction: the best plan under the given keys, or the nearest
                              * where the memory model says that none fits; NULL: none */
    double ratio;            /* measured / predicted step; 0: unknown */
    struct nccl_share nccl;  /* predicted */
    const struct kernel_profile *profile;
    const struct mfu_check *checks;
    size_t check_count;
    struct run_comparison others[MFU_OTHERS_MAXIMUM];
    size_t other_count;
    struct arena *arena;
};

/* Refuses what plan_search refuses, and a step time without the job's global_batch and
 * sequence_length. */
struct mfu_analysis *mfu_analysis_create(const struct mfu_request *request, struct error_info *err);
void mfu_analysis_free(struct mfu_analysis *analysis);

DEFINE_CLEANUP(mfu_analysis);

#endif
