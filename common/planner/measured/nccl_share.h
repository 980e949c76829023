/* SPDX-License-Identifier: MIT */
/*
 * nccl_share: how much of a plan's step the communication library is busy, exposed and hidden
 * together: what a profile of kernels shows, where a step's parts (plan.h) hold exposed seconds.
 *
 * Whole = exposed / (1 - the profile's overlap) for TP, CP, EP and PP. DP hides at most its
 * window (step_time.h): whole = exposed / (1 - overlap) where that hides no more than the window,
 * else exposed + window. Where all of it is hidden it cannot be told, and counts with nothing.
 * Pure.
 */
#ifndef PLANNER_MEASURED_NCCL_SHARE_H
#define PLANNER_MEASURED_NCCL_SHARE_H

#include "planner/plan_context.h"

struct nccl_share {
    double seconds; /* of a step, whole */
    double exposed_seconds;
    double of_step;    /* whole / step */
    double of_kernels; /* whole / (whole + compute): what a kernel summary shows; waiting for a
                        * late rank comes on top there */
};

/* All 0 when the plan's step is unknown. */
void nccl_share_of(const struct plan_context *context, const struct plan *plan,
                   struct nccl_share *ret);

#endif
