/* SPDX-License-Identifier: MIT */
#include "planner/sizes/stage_parameters.h"

#include <math.h>

struct stage_sum {
    uint64_t of[PARAMETER_CLASS_COUNT];
    uint64_t padding;
    bool overflow;
};

static void add(struct stage_sum *sum, enum parameter_class class, uint64_t times, uint64_t each)
{
    uint64_t product;
    sum->overflow |= __builtin_mul_overflow(times, each, &product) ||
                     __builtin_add_overflow(sum->of[class], product, &sum->of[class]);
}

static void add_tables(struct stage_sum *sum, const struct plan_shape *shape, unsigned count)
{
    uint64_t rows = padded_vocabulary(shape->model, shape->plan->degrees.tp);
    for (unsigned i = 0; i < count; i++) {
        add(sum, PARAMETERS_TENSOR, rows, shape->model->hidden);
        sum->padding += (rows - shape->model->vocabulary) * shape->model->hidden;
    }
}

static void add_layers(struct stage_sum *sum, const struct plan_shape *shape,
                       const struct stage_layers *layers)
{
    const struct model_parameters *counts = shape->parameters;
    uint64_t attention = counts->attention - counts->attention_replicated;
    uint64_t whole = counts->norms + counts->attention_replicated;
    add(sum, PARAMETERS_TENSOR, layers->dense, attention + counts->dense_mlp);
    add(sum, PARAMETERS_REPLICATED, layers->dense, whole);
    add(sum, PARAMETERS_TENSOR, layers->moe, attention + counts->shared_experts);
    add(sum, PARAMETERS_EXPERT, layers->moe, counts->experts);
    add(sum, PARAMETERS_REPLICATED, layers->moe, whole + counts->router);
}

static void add_first(struct stage_sum *sum, const struct plan_shape *shape)
{
    const struct model_spec *model = shape->model;
    add_tables(sum, shape, 1);
    add(sum, PARAMETERS_REPLICATED, 1,
        shape->parameters->embedding - (uint64_t)model->vocabulary * model->hidden);
}

static void add_last(struct stage_sum *sum, const struct plan_shape *shape, unsigned mtp_layers)
{
    const struct model_spec *model = shape->model;
    bool apart = shape->plan->degrees.pp > 1;
    uint64_t hidden = model->hidden, norms = model->norm == NORM_LAYER ? 6 : 3;
    add_tables(sum, shape, !model->tied_embeddings || apart);
    if (model->lm_head_bias)
        add(sum, PARAMETERS_TENSOR, 1, padded_vocabulary(model, shape->plan->degrees.tp));
    add(sum, PARAMETERS_REPLICATED, 1, shape->parameters->final_norm);
    if (mtp_layers == 0)
        return;
    add_tables(sum, shape, !model->tied_embeddings && apart);
    add(sum, PARAMETERS_TENSOR, mtp_layers, 2 * hidden * hidden);
    add(sum, PARAMETERS_REPLICATED, mtp_layers, norms * hidden);
}

static uint64_t share(uint64_t whole, uint64_t width)
{
    return whole / width + (whole % width > 0);
}

static uint64_t trained_of(const struct plan_shape *shape, const struct pipeline_layout *layout,
                           unsigned stage)
{
    struct rank_parameters all, trained;
    rank_stage_parameters(shape, layout, stage, &all);
    rank_trained_parameters(shape, layout, stage, &all, &trained);
    return (uint64_t)llround(trained.dense + trained.expert);
}

int stage_parameters_count(const struct plan_shape *shape, const struct pipeline_layout *layout,
                           unsigned stage, struct stage_parameters *ret, struct error_info *err)
{
    const struct degrees *degrees = &shape->plan->degrees;
    struct stage_sum sum = {.padding = 0};
    struct stage_layers layers = rank_stage_layers(shape, layout, stage);
    add_layers(&sum, shape, &layers);
    if (stage == 0)
        add_first(&sum, shape);
    if (stage + 1 == layout->pp)
        add_last(&sum, shape, layers.mtp);
    if (sum.overflow)
        return error_set(err, "stage %u of %s has more parameters than 64 bits can count", stage,
                         shape->model->name);
    const uint64_t widths[PARAMETER_CLASS_COUNT] = {
        [PARAMETERS_TENSOR] = degrees->tp,
        [PARAMETERS_EXPERT] = (uint64_t)degrees->etp * degrees->ep,
        [PARAMETERS_REPLICATED] = 1,
    };
    *ret = (struct stage_parameters){.layers = layers, .padding = sum.padding};
    for (unsigned class = 0; class < PARAMETER_CLASS_COUNT; class ++) {
        ret->whole[class] = sum.of[class];
        ret->rank[class] = share(sum.of[class], widths[class]);
    }
    ret->trained = trained_of(shape, layout, stage);
    return 0;
}
