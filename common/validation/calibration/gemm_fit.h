/* SPDX-License-Identifier: MIT */
/*
 * gemm_fit: how fast matrix products run on each kind of GPU, from measured steps: the one factor
 * f on the largest measured GEMM's rate with the smallest sum over all steps on that GPU of
 * |ln(predicted / measured)|, and GEMM_FIT_CAUTION ln(f)^2. The latter keeps few steps, or steps
 * that contradict each other, from moving it far: one alone moves it by a quarter at most. What
 * else is wrong in a prediction goes into the factor too: it is of the models and frameworks that
 * it was found on.
 *
 * The residual is of steps that the factor did not see: in turn each of GEMM_FIT_FOLDS parts of
 * them is left out (a step that is alone cannot be). Where that is not GEMM_FIT_WORTH times as
 * small as without a factor, the factor is 1 and the source says so.
 */
#ifndef VALIDATION_CALIBRATION_GEMM_FIT_H
#define VALIDATION_CALIBRATION_GEMM_FIT_H

#include "validation/calibration/calibration.h"
#include "validation/run_case.h"

#define GEMM_FIT_MINIMUM_FACTOR 0.2
#define GEMM_FIT_MAXIMUM_FACTOR 2.0
#define GEMM_FIT_CAUTION 2.0
#define GEMM_FIT_FOLDS 5u
#define GEMM_FIT_WORTH 0.9

struct gemm_fit_request {
    const struct csv_table *runs; /* published_run.h's columns */
    const struct publication_catalogue *publications;
    const struct model_catalogue *models;
    struct run_catalogues catalogues;
};

struct gemm_fit {
    const struct gpu_figures *gpus; /* in the order of their first rows */
    size_t count;
    size_t skipped;     /* rows that say too little, as published_run.h */
    const char *reason; /* of the first of them: "ID: …"; or NULL */
};

/* Everything from the arena. Refuses: no row that can be used, saying why. */
int gemm_fit(const struct gemm_fit_request *request, struct arena *arena, struct gemm_fit *ret,
             struct error_info *err);

#endif
