/* SPDX-License-Identifier: MIT */
#include "planner/measured/measured_speed.h"

#define TERA 1e12
#define FLOPS_PER_PRODUCT 2.0   /* of a parameter and a token: a multiply and an add */
#define FORWARD_SHARE (1.0 / 3) /* of attention: backward costs twice forward */

const char *measure_name(enum measure measure)
{
    static const char *const names[MEASURE_COUNT] = {
        [MEASURE_STEP_SECONDS] = "step_seconds",
        [MEASURE_TOKENS_PER_SECOND] = "tokens_per_second",
        [MEASURE_GPU_TOKENS_PER_SECOND] = "tokens_per_second_per_gpu",
        [MEASURE_GPU_TFLOPS] = "tflops_per_gpu",
    };
    return names[measure];
}

static double step_tokens(const struct plan_context *context)
{
    return (double)context->training.global_batch * context->training.sequence_length;
}

/* Parameters that a token is multiplied with, head included; as step_time.c counts them. */
static double multiplied_parameters(const struct plan_context *context)
{
    const struct model_spec *model = context->model;
    double looked_up = (double)context->parameters.embedding;
    if (model->tied_embeddings)
        looked_up -= (double)model->vocabulary * model->hidden;
    return (double)context->parameters.active - looked_up;
}

double attention_model_flops(const struct plan_context *context)
{
    double products = FLOPS_PER_PRODUCT * (2 + context->training.trainable);
    double flops =
        context->model_flops - products * multiplied_parameters(context) * step_tokens(context);
    return flops > 0 ? flops : 0;
}

/* FLOPs of a step that recompute adds. */
static double repeated_flops(const struct plan_context *context, enum recompute recompute)
{
    double attention = attention_model_flops(context) * FORWARD_SHARE;
    double head = (double)context->model->vocabulary * context->model->hidden;
    double layers = FLOPS_PER_PRODUCT * (multiplied_parameters(context) - head);
    if (recompute == RECOMPUTE_FULL)
        return layers * step_tokens(context) + attention;
    return recompute == RECOMPUTE_SELECTIVE ? attention : 0;
}

void run_size_of(const struct plan_context *context, enum recompute recompute, struct run_size *ret)
{
    double tokens = step_tokens(context), flops = context->model_flops;
    *ret = (struct run_size){
        .gpus = context->world,
        .tokens_per_step = tokens,
        .flops_per_token = flops / tokens,
        .peak_flops_per_second = context->peak_flops_per_second,
        .hardware_ratio = 1 + repeated_flops(context, recompute) / flops,
    };
}

static double tokens_per_second(const struct run_size *size, enum measure measure, double value)
{
    double gpus = (double)size->gpus;
    switch (measure) {
    case MEASURE_STEP_SECONDS:
        return size->tokens_per_step / value;
    case MEASURE_GPU_TOKENS_PER_SECOND:
        return value * gpus;
    case MEASURE_GPU_TFLOPS:
        return value * TERA * gpus / size->flops_per_token;
    case MEASURE_TOKENS_PER_SECOND:
    case MEASURE_COUNT:
        break;
    }
    return value;
}

void measured_speed_of(const struct run_size *size, enum measure measure, double value,
                       struct measured_speed *ret)
{
    double rate = tokens_per_second(size, measure, value), gpus = (double)size->gpus;
    *ret = (struct measured_speed){
        .step_seconds = size->tokens_per_step / rate,
        .tokens_per_second = rate,
        .gpu_tokens_per_second = rate / gpus,
        .tflops_per_gpu = rate / gpus * size->flops_per_token / TERA,
    };
    if (size->peak_flops_per_second <= 0)
        return;
    ret->mfu = ret->tflops_per_gpu * TERA / size->peak_flops_per_second;
    ret->hfu = ret->mfu * size->hardware_ratio;
}
