/* SPDX-License-Identifier: MIT */
#include "report/models/stage_report.h"

#include "planner/sizes/stage_parameters.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include <string.h>

static int open_layout(const struct plan_shape *shape, struct pipeline_layout *ret,
                       struct error_info *err)
{
    const struct degrees *degrees = &shape->plan->degrees;
    if (pipeline_layout_of(shape->model->layers, degrees->pp, degrees->vpp, ret))
        return 0;
    return error_set(err, "the %u layers of %s do not go over pp=%u", shape->model->layers,
                     shape->model->name, degrees->pp);
}

static uint64_t sum_of(const uint64_t counts[static PARAMETER_CLASS_COUNT])
{
    uint64_t sum = 0;
    for (unsigned class = 0; class < PARAMETER_CLASS_COUNT; class ++)
        sum += counts[class];
    return sum;
}

static bool same_counts(const struct stage_parameters *left, const struct stage_parameters *right)
{
    return left->layers.moe == right->layers.moe && left->layers.dense == right->layers.dense &&
           memcmp(left->whole, right->whole, sizeof(left->whole)) == 0 &&
           left->padding == right->padding && left->trained == right->trained;
}

/* What depends on the training stays empty, and its column away, where all is trained. */
static bool all_is_trained(const struct training_spec *training)
{
    return training->lora_rank == 0 && training->trainable >= 1;
}

/* --- text ---------------------------------------------------------------------------- */

static void add_count(struct text_table *table, uint64_t count, bool shown)
{
    text_table_add(table, shown ? number_grouped(count).text : "");
}

/* Stages from first to last that hold the same. */
static void add_row(struct text_table *table, const struct plan_shape *shape, unsigned first,
                    unsigned last, const struct stage_parameters *parameters)
{
    bool experts = shape->model->experts > 0;
    const struct stage_layers *layers = &parameters->layers;
    if (first == last)
        text_table_add_unsigned(table, first);
    else
        text_table_add_format(table, "%u-%u", first, last);
    text_table_add_unsigned(table, layers->dense + layers->moe);
    if (experts)
        text_table_add_unsigned(table, layers->moe);
    else
        text_table_add(table, "");
    add_count(table, parameters->whole[PARAMETERS_TENSOR], true);
    add_count(table, parameters->whole[PARAMETERS_EXPERT], experts);
    add_count(table, parameters->whole[PARAMETERS_REPLICATED], true);
    add_count(table, parameters->padding, parameters->padding > 0);
    add_count(table, sum_of(parameters->rank), true);
    add_count(table, parameters->trained, !all_is_trained(shape->training));
}

static void add_head(const struct plan_shape *shape, const struct text_style *style,
                     struct text_buffer *out)
{
    const struct degrees *degrees = &shape->plan->degrees;
    char text[DEGREES_TEXT_BYTES];
    degrees_text(degrees, text);
    text_heading(style, out, "Parameters by pipeline stage with %s", text);
    text_buffer_add(out, "  a rank holds of tensor 1/%u, of replicated all", degrees->tp);
    if (shape->model->experts > 0)
        text_buffer_add(out, ", of experts 1/%llu", (unsigned long long)degrees->etp * degrees->ep);
    uint64_t rows = padded_vocabulary(shape->model, degrees->tp);
    if (rows > shape->model->vocabulary)
        text_buffer_add(out, "; vocabulary padded from %u to %llu rows", shape->model->vocabulary,
                        (unsigned long long)rows);
    text_buffer_add_text(out, "\n");
    if (shape->training->lora_rank > 0)
        text_buffer_add(out, "  trained: adapters of rank %u on every linear layer, beside these\n",
                        shape->training->lora_rank);
    if (shape->training->mtp_layers > 0)
        text_buffer_add(out, "  layers for multi-token prediction, on the last stage: %u\n",
                        shape->training->mtp_layers);
}

int stage_report_text(const struct plan_shape *shape, const struct text_style *style,
                      struct text_buffer *out, struct error_info *err)
{
    static const struct text_column columns[] = {
        {.title = "stage", .align = ALIGN_RIGHT},   {.title = "layers", .align = ALIGN_RIGHT},
        {.title = "MoE", .align = ALIGN_RIGHT},     {.title = "tensor", .align = ALIGN_RIGHT},
        {.title = "experts", .align = ALIGN_RIGHT}, {.title = "replicated", .align = ALIGN_RIGHT},
        {.title = "padding", .align = ALIGN_RIGHT}, {.title = "one rank", .align = ALIGN_RIGHT},
        {.title = "trained", .align = ALIGN_RIGHT},
    };
    struct pipeline_layout layout;
    if (open_layout(shape, &layout, err) < 0)
        return -1;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    struct stage_parameters held = {.padding = 0}, next;
    unsigned first = 0;
    for (unsigned stage = 0; stage < layout.pp; stage++) {
        if (stage_parameters_count(shape, &layout, stage, &next, err) < 0)
            return -1;
        if (stage > 0 && !same_counts(&held, &next)) {
            add_row(table, shape, first, stage - 1, &held);
            first = stage;
        }
        held = next;
    }
    add_row(table, shape, first, layout.pp - 1, &held);
    add_head(shape, style, out);
    text_table_write(table, style, out);
    return 0;
}

/* --- document ------------------------------------------------------------------------ */

static const char *const class_keys[PARAMETER_CLASS_COUNT] = {
    [PARAMETERS_TENSOR] = "tensor",
    [PARAMETERS_EXPERT] = "expert",
    [PARAMETERS_REPLICATED] = "replicated",
};

static void add_classes(struct json_value *object, const char *key,
                        const uint64_t counts[static PARAMETER_CLASS_COUNT])
{
    struct json_value *classes = json_add_object(object, key);
    for (unsigned class = 0; class < PARAMETER_CLASS_COUNT; class ++)
        json_add_unsigned(classes, class_keys[class], counts[class]);
    json_add_unsigned(classes, "total", sum_of(counts));
}

static void add_stage(struct json_value *object, unsigned stage,
                      const struct stage_parameters *parameters)
{
    json_add_unsigned(object, "stage", stage);
    json_add_unsigned(object, "dense_layers", parameters->layers.dense);
    json_add_unsigned(object, "moe_layers", parameters->layers.moe);
    json_add_unsigned(object, "mtp_layers", parameters->layers.mtp);
    add_classes(object, "parameters", parameters->whole);
    json_add_unsigned(object, "padding", parameters->padding);
    add_classes(object, "rank_parameters", parameters->rank);
    json_add_unsigned(object, "rank_trained", parameters->trained);
}

static void add_degrees(struct json_value *object, const struct degrees *degrees)
{
    json_add_unsigned(object, "tp", degrees->tp);
    json_add_unsigned(object, "cp", degrees->cp);
    json_add_unsigned(object, "ep", degrees->ep);
    json_add_unsigned(object, "etp", degrees->etp);
    json_add_unsigned(object, "pp", degrees->pp);
    json_add_unsigned(object, "vpp", degrees->vpp);
    json_add_unsigned(object, "dp", degrees->dp);
}

int stage_report_add(const struct plan_shape *shape, struct json_value *document,
                     struct error_info *err)
{
    struct pipeline_layout layout;
    if (open_layout(shape, &layout, err) < 0)
        return -1;
    struct json_value *plan = json_add_object(document, "plan");
    add_degrees(plan, &shape->plan->degrees);
    json_add_unsigned(plan, "padded_vocabulary",
                      padded_vocabulary(shape->model, shape->plan->degrees.tp));
    json_add_unsigned(plan, "lora_rank", shape->training->lora_rank);
    struct json_value *stages = json_add_array(plan, "stages");
    for (unsigned stage = 0; stage < layout.pp; stage++) {
        struct stage_parameters parameters;
        if (stage_parameters_count(shape, &layout, stage, &parameters, err) < 0)
            return -1;
        add_stage(json_add_object(stages, NULL), stage, &parameters);
    }
    return 0;
}
