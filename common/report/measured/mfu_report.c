/* SPDX-License-Identifier: MIT */
#include "report/measured/mfu_report.h"
#include "report/number_text.h"
#include "report/text_table.h"

#define TERA 1e12
#define GIGA 1e9

static const struct text_column pair_columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};

static const enum text_tone verdict_tones[MFU_VERDICT_COUNT] = {
    [MFU_UNKNOWN] = TONE_PLAIN, [MFU_BELOW] = TONE_WARNING,  [MFU_WITHIN] = TONE_GOOD,
    [MFU_ABOVE] = TONE_GOOD,    [MFU_IMPOSSIBLE] = TONE_BAD,
};

static void add_efficiency(struct text_table *table, const struct mfu_analysis *analysis)
{
    const struct measured_speed *speed = &analysis->speed;
    text_table_add(table, "MFU");
    if (speed->mfu <= 0) {
        text_table_add(table, "unknown: the GPU is not in the catalogue");
        return;
    }
    text_table_add_format(table, "%s of %.4g TFLOP/s (%s, dense)", number_percent(speed->mfu).text,
                          analysis->size.peak_flops_per_second / TERA,
                          precision_name(analysis->precision));
    text_table_add(table, "HFU");
    text_table_add_format(table, "%s with recompute %s%s", number_percent(speed->hfu).text,
                          recompute_name(analysis->recompute),
                          analysis->recompute_assumed ? ", which is assumed" : "");
}

static void write_measured(const struct mfu_analysis *analysis, const struct text_style *style,
                           struct text_buffer *out)
{
    const struct measured_speed *speed = &analysis->speed;
    CLEANUP(text_table)
    struct text_table *table = text_table_create(pair_columns, COUNT_OF(pair_columns));
    text_heading(style, out, "Measured");
    text_table_add(table, "step");
    text_table_add_format(
        table, "%s%s", number_seconds(speed->step_seconds).text,
        analysis->training.global_batch_is_default ? " of the default global batch" : "");
    text_table_add(table, "tokens/s");
    text_table_add_format(table, "%s, %s per GPU", number_si(speed->tokens_per_second).text,
                          number_si(speed->gpu_tokens_per_second).text);
    text_table_add(table, "model FLOPs");
    text_table_add_format(table, "%.4g TFLOP/s per GPU (%.4g GFLOP a token)", speed->tflops_per_gpu,
                          analysis->size.flops_per_token / GIGA);
    add_efficiency(table, analysis);
    text_table_write(table, style, out);
}

static void add_reference_row(struct text_table *table, const struct mfu_reference *row)
{
    text_table_add(table, row->gpu);
    text_table_add_format(table, "%.1f-%.1f %%", row->low * 100, row->high * 100);
    text_table_add_unsigned(table, row->runs);
    if (row->gpus_from == row->gpus_to)
        text_table_add_unsigned(table, row->gpus_to);
    else
        text_table_add_format(table, "%llu-%llu", (unsigned long long)row->gpus_from,
                              (unsigned long long)row->gpus_to);
    text_table_add_format(table, "%s; %s", row->recipe, row->source);
}

static void write_verdict(const struct mfu_analysis *analysis, const struct text_style *style,
                          struct text_buffer *out)
{
    const struct mfu_range *range = &analysis->range;
    CLEANUP(text_table)
    struct text_table *table = text_table_create(pair_columns, COUNT_OF(pair_columns));
    text_table_tone(table, verdict_tones[analysis->verdict]);
    text_table_add(table, mfu_verdict_name(analysis->verdict));
    if (analysis->verdict == MFU_IMPOSSIBLE)
        text_table_add(table, "more than the hardware's peak");
    else if (range->count == 0)
        text_table_add(table, "no published run of this GPU, precision and kind of model is known");
    else
        text_table_add_format(table, "%s against %.1f to %.1f %%, typically %.1f %%%s",
                              number_percent(analysis->speed.mfu).text, range->low * 100,
                              range->high * 100, range->typical * 100,
                              range->near ? "" : " (models or sequences of other sizes)");
    text_table_write(table, style, out);
}

static void write_reference(const struct mfu_report *report, const struct text_style *style,
                            struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "GPU"},
        {.title = "MFU", .align = ALIGN_RIGHT},
        {.title = "runs", .align = ALIGN_RIGHT},
        {.title = "GPUs", .align = ALIGN_RIGHT},
        {.title = "published", .wrap = true},
    };
    const struct mfu_analysis *analysis = report->analysis;
    bool moe = report->plan.request->model->experts > 0;
    text_heading(style, out, "Reference: %s, %s, %s",
                 analysis->gpu ? analysis->gpu->name : "unknown GPU",
                 precision_name(analysis->precision), moe ? "mixture of experts" : "dense model");
    write_verdict(analysis, style, out);
    if (analysis->range.count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < analysis->range.count; i++)
        add_reference_row(table, analysis->range.rows[i]);
    text_table_write(table, style, out);
}

static void write_precisions(const struct mfu_analysis *analysis, const struct text_style *style,
                             struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "precision"},
        {.title = "TFLOP/s", .align = ALIGN_RIGHT},
        {.title = "advice"},
        {.title = "why", .wrap = true},
    };
    if (analysis->precision_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Precision: the run's is %s", precision_name(analysis->precision));
    for (size_t i = 0; i < analysis->precision_count; i++) {
        const struct precision_advice *advice = &analysis->precisions[i];
        text_table_add(table, precision_name(advice->precision));
        if (advice->peak_flops_per_second > 0)
            text_table_add_format(table, "%.4g", advice->peak_flops_per_second / TERA);
        else
            text_table_add(table, "-");
        text_table_add(table, precision_verdict_name(advice->verdict));
        text_table_add(table, advice->reason);
    }
    text_table_write(table, style, out);
}

static void write_parts(const struct time_estimate *time, const struct text_style *style,
                        struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "part"},
        {.title = "exposed", .align = ALIGN_RIGHT},
        {.title = "of the step", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned part = 0; part < TIME_PART_COUNT; part++) {
        if (time->parts[part] <= 0)
            continue;
        text_table_add(table, time_part_name((enum time_part)part));
        text_table_add(table, number_seconds(time->parts[part]).text);
        text_table_add(table, number_percent(time->parts[part] / time->step_seconds).text);
    }
    text_table_write(table, style, out);
}

static void add_prediction(struct text_table *table, const struct mfu_analysis *analysis)
{
    const struct plan *plan = analysis->plan;
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    text_table_add(table, "plan");
    text_table_add_format(table, "%s, sharding %s, micro batch %u x %u, recompute %s%s", degrees,
                          sharding_name(plan->sharding), plan->micro_batch, plan->micro_batches,
                          recompute_name(plan->recompute),
                          plan->memory.verdict == FIT_OOM
                              ? "; does not fit by the memory model, though the run ran"
                              : "");
    text_table_add(table, "step");
    if (plan->time.step_seconds <= 0) {
        text_table_add(table, "unknown: the GPU is not in the catalogue");
        return;
    }
    text_table_add_format(table, "%s, MFU %s; measured / predicted %.2f",
                          number_seconds(plan->time.step_seconds).text,
                          number_percent(plan->time.mfu).text, analysis->ratio);
    text_table_add(table, "NCCL");
    text_table_add_format(table, "%s a step, of it %s exposed: %s of kernel time",
                          number_seconds(analysis->nccl.seconds).text,
                          number_seconds(analysis->nccl.exposed_seconds).text,
                          number_percent(analysis->nccl.of_kernels).text);
}

static void write_prediction(const struct mfu_report *report, const struct text_style *style,
                             struct text_buffer *out)
{
    const struct mfu_analysis *analysis = report->analysis;
    text_heading(style, out, "Predicted for %s",
                 analysis->degrees_given ? "the same configuration"
                                         : "the plan that parplan would take");
    if (!analysis->plan) {
        text_buffer_add_text(out, "  nothing: no split satisfies the given keys");
        plan_report_rejections(analysis->list, "; left out: ", out);
        text_buffer_add_text(out, "\n");
        plan_report_remedies(analysis->list, style, out);
        return;
    }
    CLEANUP(text_table)
    struct text_table *table = text_table_create(pair_columns, COUNT_OF(pair_columns));
    add_prediction(table, analysis);
    text_table_write(table, style, out);
    if (analysis->plan->time.step_seconds > 0)
        write_parts(&analysis->plan->time, style, out);
}

static void write_profile(const struct mfu_analysis *analysis, const struct text_style *style,
                          struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "kernels"},
        {.title = "calls", .align = ALIGN_RIGHT},
        {.title = "time", .align = ALIGN_RIGHT},
        {.title = "of all", .align = ALIGN_RIGHT},
    };
    const struct kernel_profile *profile = analysis->profile;
    if (!profile)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Profile: NCCL %s of kernel time, predicted %s",
                 number_percent(kernel_profile_nccl_share(profile)).text,
                 analysis->ratio > 0 ? number_percent(analysis->nccl.of_kernels).text : "?");
    for (unsigned class = 0; class < KERNEL_CLASS_COUNT; class ++) {
        if (profile->instances[class] == 0)
            continue;
        text_table_add(table, kernel_class_name((enum kernel_class) class));
        text_table_add(table, number_grouped(profile->instances[class]).text);
        text_table_add(table, number_seconds(profile->seconds[class]).text);
        text_table_add(table,
                       number_percent(profile->seconds[class] / profile->total_seconds).text);
    }
    text_table_write(table, style, out);
    text_buffer_add_text(out,
                         "  Kernels that overlap count twice; collectives also count waiting.\n");
}

static void write_others(const struct mfu_analysis *analysis, const struct text_style *style,
                         struct text_buffer *out)
{
    if (analysis->other_count == 0)
        return;
    CLEANUP(text_table)
    struct text_table *table = text_table_create(pair_columns, COUNT_OF(pair_columns));
    text_heading(style, out, "Against runs on other numbers of GPUs");
    for (size_t i = 0; i < analysis->other_count; i++) {
        const struct run_comparison *other = &analysis->others[i];
        text_table_add_format(table, "%llu GPUs", (unsigned long long)other->gpus);
        text_table_add_format(
            table,
            "%s tokens/s, MFU %s: %llu GPUs are %.2f times as fast, at %.2f times the work per "
            "GPU (%.2f times the GPU hours a token)",
            number_si(other->speed.tokens_per_second).text,
            other->speed.mfu > 0 ? number_percent(other->speed.mfu).text : "?",
            (unsigned long long)analysis->size.gpus, other->throughput_ratio,
            other->efficiency_ratio, 1 / other->efficiency_ratio);
    }
    text_table_write(table, style, out);
}

static void write_checks(const struct mfu_analysis *analysis, const struct text_style *style,
                         struct text_buffer *out)
{
    if (analysis->check_count == 0)
        return;
    CLEANUP(text_table)
    struct text_table *table = text_table_create(pair_columns, COUNT_OF(pair_columns));
    text_heading(style, out, "Where to look");
    for (size_t i = 0; i < analysis->check_count; i++) {
        text_table_add(table, analysis->checks[i].name);
        text_table_add(table, analysis->checks[i].text);
    }
    text_table_write(table, style, out);
}

void mfu_report_text(const struct mfu_report *report, const struct text_style *style,
                     struct text_buffer *out)
{
    const struct mfu_analysis *analysis = report->analysis;
    plan_report_request(&report->plan, style, out);
    write_measured(analysis, style, out);
    write_reference(report, style, out);
    write_precisions(analysis, style, out);
    write_prediction(report, style, out);
    write_profile(analysis, style, out);
    write_others(analysis, style, out);
    write_checks(analysis, style, out);
    plan_report_notes(analysis->list, style, out);
}
