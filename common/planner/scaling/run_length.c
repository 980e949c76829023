/* SPDX-License-Identifier: MIT */
#include "planner/scaling/run_length.h"

#define SECONDS_PER_HOUR 3600.0

void run_figures_of(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                    struct run_figures *ret)
{
    *ret = (struct run_figures){0};
    if (run->tokens <= 0 || plan->time.tokens_per_second <= 0)
        return;
    double seconds = run->tokens / plan->time.tokens_per_second;
    ret->days = seconds / RUN_SECONDS_PER_DAY;
    ret->gpu_hours = seconds / SECONDS_PER_HOUR * (double)gpus;
    ret->cost = ret->gpu_hours * run->price_per_gpu_hour;
}

double run_trillion_gpu_hours(const struct plan *plan, uint64_t gpus)
{
    const struct run_length run = {.tokens = RUN_TRILLION};
    struct run_figures figures;
    run_figures_of(&run, plan, gpus, &figures);
    return figures.gpu_hours;
}
