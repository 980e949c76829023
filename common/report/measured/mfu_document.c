/* SPDX-License-Identifier: MIT */
#include "report/measured/mfu_report.h"

#define DIGITS 6u
#define TERA 1e12

static void add_known(struct json_value *parent, const char *key, double value)
{
    if (value > 0)
        json_add_real(parent, key, value, DIGITS);
    else
        json_add_null(parent, key);
}

static void add_speed(struct json_value *object, const struct measured_speed *speed)
{
    json_add_real(object, "step_seconds", speed->step_seconds, DIGITS);
    json_add_real(object, "tokens_per_second", speed->tokens_per_second, DIGITS);
    json_add_real(object, "tokens_per_second_per_gpu", speed->gpu_tokens_per_second, DIGITS);
    json_add_real(object, "tflops_per_gpu", speed->tflops_per_gpu, DIGITS);
    add_known(object, "mfu", speed->mfu);
    add_known(object, "hfu", speed->hfu);
}

static void add_measured(struct json_value *document, const struct mfu_analysis *analysis)
{
    struct json_value *object = json_add_object(document, "measured");
    json_add_text(object, "given", measure_name(analysis->measure));
    add_speed(object, &analysis->speed);
    json_add_text(object, "precision", precision_name(analysis->precision));
    add_known(object, "peak_tflops", analysis->size.peak_flops_per_second / TERA);
    json_add_real(object, "model_flops_per_token", analysis->size.flops_per_token, DIGITS);
    json_add_text(object, "recompute", recompute_name(analysis->recompute));
    json_add_boolean(object, "recompute_assumed", analysis->recompute_assumed);
}

static void add_reference_row(struct json_value *rows, const struct mfu_reference *row)
{
    struct json_value *object = json_add_object(rows, NULL);
    json_add_text(object, "gpu", row->gpu);
    json_add_real(object, "low", row->low, DIGITS);
    json_add_real(object, "typical", row->typical, DIGITS);
    json_add_real(object, "high", row->high, DIGITS);
    json_add_unsigned(object, "runs", row->runs);
    json_add_unsigned(object, "gpus_from", row->gpus_from);
    json_add_unsigned(object, "gpus_to", row->gpus_to);
    json_add_text(object, "recipe", row->recipe);
    json_add_text(object, "source", row->source);
}

static void add_reference(struct json_value *document, const struct mfu_report *report)
{
    const struct mfu_analysis *analysis = report->analysis;
    const struct mfu_range *range = &analysis->range;
    struct json_value *object = json_add_object(document, "reference");
    json_add_text(object, "verdict", mfu_verdict_name(analysis->verdict));
    json_add_text(object, "gpu", analysis->gpu ? analysis->gpu->name : NULL);
    json_add_text(object, "architecture",
                  report->plan.request->model->experts > 0 ? "moe" : "dense");
    add_known(object, "low", range->low);
    add_known(object, "typical", range->typical);
    add_known(object, "high", range->high);
    json_add_boolean(object, "near", range->count > 0 && range->near);
    struct json_value *rows = json_add_array(object, "rows");
    for (size_t i = 0; i < range->count; i++)
        add_reference_row(rows, range->rows[i]);
}

static void add_precisions(struct json_value *document, const struct mfu_analysis *analysis)
{
    struct json_value *rows = json_add_array(document, "precisions");
    for (size_t i = 0; i < analysis->precision_count; i++) {
        const struct precision_advice *advice = &analysis->precisions[i];
        struct json_value *object = json_add_object(rows, NULL);
        json_add_text(object, "precision", precision_name(advice->precision));
        json_add_text(object, "advice", precision_verdict_name(advice->verdict));
        add_known(object, "peak_tflops", advice->peak_flops_per_second / TERA);
        json_add_text(object, "reason", advice->reason);
    }
}

static void add_nccl(struct json_value *parent, const struct nccl_share *nccl)
{
    struct json_value *object = json_add_object(parent, "nccl");
    json_add_real(object, "seconds", nccl->seconds, DIGITS);
    json_add_real(object, "exposed_seconds", nccl->exposed_seconds, DIGITS);
    json_add_real(object, "share_of_step", nccl->of_step, DIGITS);
    json_add_real(object, "share_of_kernels", nccl->of_kernels, DIGITS);
}

static void add_prediction(struct json_value *document, const struct mfu_analysis *analysis)
{
    struct json_value *object = json_add_object(document, "prediction");
    json_add_text(object, "basis", analysis->degrees_given ? "given" : "chosen");
    if (analysis->plan)
        plan_report_json_plan(object, "plan", analysis->plan);
    else
        json_add_null(object, "plan");
    add_known(object, "measured_to_predicted", analysis->ratio);
    if (analysis->ratio > 0)
        add_nccl(object, &analysis->nccl);
    else
        json_add_null(object, "nccl");
}

static void add_profile(struct json_value *document, const struct kernel_profile *profile)
{
    if (!profile) {
        json_add_null(document, "profile");
        return;
    }
    struct json_value *object = json_add_object(document, "profile");
    json_add_text(object, "kind", profile->kind);
    json_add_real(object, "kernel_seconds", profile->total_seconds, DIGITS);
    json_add_real(object, "nccl_share", kernel_profile_nccl_share(profile), DIGITS);
    struct json_value *classes = json_add_array(object, "kernels");
    for (unsigned class = 0; class < KERNEL_CLASS_COUNT; class ++) {
        struct json_value *row = json_add_object(classes, NULL);
        json_add_text(row, "class", kernel_class_name((enum kernel_class) class));
        json_add_unsigned(row, "instances", profile->instances[class]);
        json_add_real(row, "seconds", profile->seconds[class], DIGITS);
        json_add_real(row, "share", profile->seconds[class] / profile->total_seconds, DIGITS);
    }
}

static void add_others(struct json_value *document, const struct mfu_analysis *analysis)
{
    struct json_value *others = json_add_array(document, "others");
    for (size_t i = 0; i < analysis->other_count; i++) {
        const struct run_comparison *other = &analysis->others[i];
        struct json_value *object = json_add_object(others, NULL);
        json_add_unsigned(object, "gpus", other->gpus);
        add_speed(object, &other->speed);
        json_add_real(object, "throughput_ratio", other->throughput_ratio, DIGITS);
        json_add_real(object, "efficiency_ratio", other->efficiency_ratio, DIGITS);
    }
}

static void add_checks(struct json_value *document, const struct mfu_analysis *analysis)
{
    struct json_value *checks = json_add_array(document, "checks");
    for (size_t i = 0; i < analysis->check_count; i++) {
        struct json_value *object = json_add_object(checks, NULL);
        json_add_text(object, "check", analysis->checks[i].name);
        json_add_text(object, "text", analysis->checks[i].text);
    }
}

struct json_value *mfu_report_json(const struct mfu_report *report)
{
    const struct mfu_analysis *analysis = report->analysis;
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.mfu/1");
    plan_report_json_request(document, &report->plan);
    add_measured(document, analysis);
    add_reference(document, report);
    add_precisions(document, analysis);
    add_prediction(document, analysis);
    add_profile(document, analysis->profile);
    add_others(document, analysis);
    add_checks(document, analysis);
    struct json_value *notes = json_add_array(document, "notes");
    for (size_t i = 0; i < analysis->list->note_count; i++)
        json_add_text(notes, NULL, analysis->list->notes[i]);
    return document;
}
