/* SPDX-License-Identifier: MIT */
/*
 * run_length: how long a whole training run takes under a plan, and what it uses.
 * Computing alone, step after step: restarts, checkpoints, evaluation and queues come on top.
 */
#ifndef PLANNER_SCALING_RUN_LENGTH_H
#define PLANNER_SCALING_RUN_LENGTH_H

#include "planner/plan.h"

#define RUN_SECONDS_PER_DAY 86400.0
#define RUN_TRILLION 1e12

/* What was asked; 0: not given. */
struct run_length {
    double tokens;
    double within_days;
    double price_per_gpu_hour; /* in whatever currency */
};

/* 0: unknown, or not asked for. */
struct run_figures {
    double days;
    double gpu_hours;
    double cost;
};

void run_figures_of(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                    struct run_figures *ret);
/* GPU-hours for 10^12 tokens; 0: unknown. */
double run_trillion_gpu_hours(const struct plan *plan, uint64_t gpus);

#endif
