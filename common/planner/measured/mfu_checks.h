/* SPDX-License-Identifier: MIT */
/*
 * mfu_checks: where the gap between a measured and an expected step most likely sits: the
 * checks that an engineer would do next, each one line with its figures, and only those that
 * apply to this run. Pure; texts belong to the caller's arena.
 */
#ifndef PLANNER_MEASURED_MFU_CHECKS_H
#define PLANNER_MEASURED_MFU_CHECKS_H

#include "planner/measured/kernel_profile.h"
#include "planner/measured/measured_speed.h"
#include "planner/measured/mfu_reference.h"
#include "planner/measured/nccl_share.h"

/* A step that is longer than predicted by no more than this is no gap: the model's own mean
 * error on published runs is of that size (docs/formulas.md). */
#define MFU_GAP_RATIO 1.10
/* Shares of a step below which a part is not worth a check. */
#define MFU_CHECK_SHARE 0.05
/* Measured and predicted NCCL shares that differ by less agree. */
#define MFU_NCCL_MARGIN 0.05

#define MFU_CHECKS_MAXIMUM 16u

struct mfu_check {
    const char *name; /* stable: "units", "bubble", … */
    const char *text; /* one line */
};

/* What the checks look at. */
struct mfu_gap {
    const struct plan_context *context;
    const struct plan *plan; /* the prediction, or NULL */
    bool degrees_given;
    const struct measured_speed *speed;
    const struct run_size *size;
    const struct mfu_range *range;
    enum mfu_verdict verdict;
    double ratio; /* measured / predicted step; 0: unknown */
    struct nccl_share nccl;
    const struct kernel_profile *profile; /* or NULL */
};

/* Slower than predicted by more than the margin, or below the reference. */
bool mfu_gap_exists(const struct mfu_gap *gap);

/* ret: room for MFU_CHECKS_MAXIMUM. -1: out of memory. */
int mfu_checks_of(const struct mfu_gap *gap, struct arena *arena, struct mfu_check *ret,
                  size_t *ret_count, struct error_info *err);

#endif
