/* SPDX-License-Identifier: MIT */
/*
 * run_case: a published run on the cluster it ran on, ready to be costed: the row's network,
 * NVLink and framework over the preset's. Made once, costed as often as coefficients change.
 */
#ifndef VALIDATION_RUN_CASE_H
#define VALIDATION_RUN_CASE_H

#include "planner/plan_context.h"
#include "validation/published_run.h"

struct preset_catalogue;
struct efficiency_catalogue;
struct efficiency_architecture;
struct efficiency_framework;

/* What cases are made from; outlives them. */
struct run_catalogues {
    const struct gpu_catalogue *gpus;
    const struct preset_catalogue *presets;
    const struct framework_catalogue *frameworks;
    const struct efficiency_catalogue *efficiencies;
};

struct run_case; /* heap */

/* NULL with err: the row contradicts itself, or memory. run is copied; its texts are not. */
struct run_case *run_case_create(const struct published_run *run,
                                 const struct run_catalogues *catalogues, struct error_info *err);
void run_case_free(struct run_case *run_case);

const struct published_run *run_case_run(const struct run_case *run_case);
const struct plan_context *run_case_context(const struct run_case *run_case);

/* What the catalogues say of its GPU and framework. */
const struct efficiency_architecture *run_case_catalogue_architecture(const struct run_case *);
const struct efficiency_framework *run_case_catalogue_framework(const struct run_case *);
/* From now on costed by these, which are borrowed; of the profile its overlaps. */
void run_case_use(struct run_case *run_case, const struct efficiency_architecture *architecture,
                  const struct efficiency_framework *framework,
                  const struct framework_profile *profile);
void run_case_use_catalogue(struct run_case *run_case);

/* Seconds of a step with the catalogues' efficiencies as they are now; 0: unknown. */
double run_case_predicted_seconds(struct run_case *run_case);
void run_case_predicted_time(struct run_case *run_case, struct time_estimate *ret);
/* Seconds of a step as published: step time, or tokens or FLOP/s turned into one; 0: the row has
 * none, or one that is impossible: above the hardware's peak, or slower than 1e7 s.
 * FLOP/s: of the model as step_time.h counts them; "hardware": Narayanan 2021, equation 3
 * (96 B s l h^2 (1 + s/6h + V/16lh)), with recompute; "8*params": BigScience's 8 P a token. */
double run_case_measured_seconds(const struct run_case *run_case);
void run_case_predicted_memory(struct run_case *run_case, struct memory_estimate *ret);
/* What of the estimate the row's figure is about: without context and libraries where the
 * allocator's figure was published. */
double run_case_comparable_bytes(const struct run_case *run_case,
                                 const struct memory_estimate *estimate);

DEFINE_CLEANUP(run_case);

#endif
