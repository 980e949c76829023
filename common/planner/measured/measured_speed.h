/* SPDX-License-Identifier: MIT */
/*
 * measured_speed: one measured figure of a run as all the figures that people compare.
 *
 *     tokens/s = tokens of a step / step seconds
 *     TFLOP/s per GPU = tokens/s * model FLOPs of a token / N
 *     MFU = that / dense peak of the precision (Chowdhery 2022, appendix B)
 *     HFU = MFU * hardware FLOPs / model FLOPs
 * Model FLOPs are step_time.h's. Hardware FLOPs add what recompute does twice: the forward pass
 * of every layer under full recompute, the core of attention under selective (Korthikanti 2022,
 * section 5 and appendix A); what fused attention computes again in backward is in neither.
 * Pure.
 */
#ifndef PLANNER_MEASURED_MEASURED_SPEED_H
#define PLANNER_MEASURED_MEASURED_SPEED_H

#include "planner/plan_context.h"

enum measure {
    MEASURE_STEP_SECONDS,
    MEASURE_TOKENS_PER_SECOND, /* of the whole job */
    MEASURE_GPU_TOKENS_PER_SECOND,
    MEASURE_GPU_TFLOPS, /* model FLOPs, 10^12 per second */
    MEASURE_COUNT
};

const char *measure_name(enum measure measure); /* "step_seconds", … as in the JSON */

/* What a job computes; per GPU where it says so. */
struct run_size {
    uint64_t gpus;
    double tokens_per_step;
    double flops_per_token;       /* model FLOPs of the whole job */
    double peak_flops_per_second; /* of one GPU; 0: unknown */
    double hardware_ratio;        /* hardware FLOPs / model FLOPs, 1 at least */
};

struct measured_speed {
    double step_seconds;
    double tokens_per_second;
    double gpu_tokens_per_second;
    double tflops_per_gpu; /* model FLOPs */
    double mfu, hfu;       /* 0: the peak is unknown */
};

void run_size_of(const struct plan_context *context, enum recompute recompute,
                 struct run_size *ret);
/* value: above 0. */
void measured_speed_of(const struct run_size *size, enum measure measure, double value,
                       struct measured_speed *ret);

/* Model FLOPs of a step that go into attention scores and values, forward and backward. */
double attention_model_flops(const struct plan_context *context);

#endif
