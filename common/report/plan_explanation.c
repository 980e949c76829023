/* SPDX-License-Identifier: MIT */
#include "report/plan_explanation.h"
#include "base/numbers/real.h"
#include "report/number_text.h"
#include "report/text_table.h"

static void add_chosen(const struct plan *plan, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    text_heading(style, out, "Chosen plan: %s", degrees);
    text_table_add(table, "sharding");
    text_table_add_format(table, "%s (shard %u, replicate %u), offload %s",
                          sharding_name(plan->sharding), plan->degrees.shard,
                          plan->degrees.replicate, offload_name(plan->offload));
    text_table_add(table, "batch");
    text_table_add_format(table, "micro batch %u, M = %u per step and pipeline", plan->micro_batch,
                          plan->micro_batches);
    text_table_add(table, "run");
    text_table_add_format(table, "schedule %s, recompute %s, %s, rank order %s",
                          schedule_name(plan->schedule), recompute_name(plan->recompute),
                          precision_name(plan->precision), rank_order_name(plan->order));
    for (size_t i = 0; i < plan->reason_count; i++) {
        text_table_add(table, i == 0 ? "why" : "");
        text_table_add(table, plan->reasons[i]);
    }
    text_table_write(table, style, out);
}

static void add_memory(const struct plan *plan, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL},
                                                 {.title = NULL, .align = ALIGN_RIGHT},
                                                 {.title = NULL, .align = ALIGN_RIGHT},
                                                 {.title = NULL}};
    const struct memory_estimate *memory = &plan->memory;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    if (plan->degrees.pp > 1)
        text_heading(style, out, "Memory per GPU on pipeline stage %u (of 0 to %u), the fullest",
                     memory->stage, plan->degrees.pp - 1);
    else
        text_heading(style, out, "Memory per GPU");
    for (unsigned i = 0; i < MEMORY_PART_COUNT; i++) {
        text_table_add(table, memory_part_name((enum memory_part)i));
        text_table_add_format(table, "%s GiB", number_gib(memory->parts[i]).text);
        text_table_add(
            table,
            memory->total_bytes > 0
                ? number_percent(real_of(memory->parts[i]) / real_of(memory->total_bytes)).text
                : "");
        text_table_add(table, "");
    }
    text_table_tone(table, TONE_CHOSEN);
    text_table_add(table, "total");
    text_table_add_format(table, "%s GiB", number_gib(memory->total_bytes).text);
    text_table_add(table, "");
    if (memory->capacity_bytes > 0)
        text_table_add_format(
            table, "of %s GiB: %s (tight from %s)", number_gib(memory->capacity_bytes).text,
            fit_verdict_name(memory->verdict), number_gib(memory->tight_bytes).text);
    else
        text_table_add_format(table, "of ? GiB: %s", fit_verdict_name(memory->verdict));
    text_table_write(table, style, out);
}

static void add_time(const struct plan *plan, const struct text_style *style,
                     struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL},
                                                 {.title = NULL, .align = ALIGN_RIGHT},
                                                 {.title = NULL, .align = ALIGN_RIGHT}};
    const struct time_estimate *time = &plan->time;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Step time, exposed part of each");
    if (!(time->step_seconds > 0.0)) {
        text_buffer_add(out, "  unknown: the GPU is not in the catalogue\n");
        return;
    }
    for (unsigned i = 0; i < TIME_PART_COUNT; i++) {
        text_table_add(table, time_part_name((enum time_part)i));
        text_table_add(table, number_seconds(time->parts[i]).text);
        text_table_add(table, number_percent(time->parts[i] / time->step_seconds).text);
    }
    text_table_tone(table, TONE_CHOSEN);
    text_table_add(table, "step");
    text_table_add(table, number_seconds(time->step_seconds).text);
    text_table_add(table, "");
    text_table_write(table, style, out);
    text_buffer_add(out, "  MFU %s (%s TFLOP/s per GPU), %s tokens/s, pipeline bubble %s\n",
                    number_percent(time->mfu).text, number_si(time->tflops_per_gpu).text,
                    number_si(time->tokens_per_second).text,
                    number_percent(time->bubble_fraction).text);
}

static void add_others(const struct plan_list *list, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "#", .align = ALIGN_RIGHT},
                                                 {.title = "degrees"},
                                                 {.title = "sharding"},
                                                 {.title = "step", .align = ALIGN_RIGHT},
                                                 {.title = "GiB", .align = ALIGN_RIGHT},
                                                 {.title = "why it loses", .wrap = true}};
    if (list->plan_count < 2)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Next best");
    for (size_t i = 1; i < list->plan_count; i++) {
        const struct plan *plan = &list->plans[i];
        char degrees[DEGREES_TEXT_BYTES];
        degrees_text(&plan->degrees, degrees);
        text_table_add_unsigned(table, i + 1);
        text_table_add(table, degrees);
        text_table_add(table, sharding_name(plan->sharding));
        text_table_add(table, plan->time.step_seconds > 0.0
                                  ? number_seconds(plan->time.step_seconds).text
                                  : "?");
        text_table_add(table, number_gib(plan->memory.total_bytes).text);
        CLEANUP_DONE(text_buffer) struct text_buffer why;
        text_buffer_init(&why, TEXT_BUFFER_REPORT_MAXIMUM);
        for (size_t j = 0; j < plan->reason_count; j++)
            text_buffer_add(&why, "%s%s", j > 0 ? "\n" : "", plan->reasons[j]);
        text_table_add(table, text_buffer_text(&why));
    }
    text_table_write(table, style, out);
}

static void add_rejected(const struct plan_list *list, const struct text_style *style,
                         struct text_buffer *out)
{
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, TEXT_BUFFER_REPORT_MAXIMUM);
    text_buffer_add(&line, "%s configurations costed", number_grouped(list->examined).text);
    if (list->pruned > 0)
        text_buffer_add(&line, ", %s more decided by a neighbour",
                        number_grouped(list->pruned).text);
    plan_report_rejections(list, "; left out: ", &line);
    text_heading(style, out, "Examined");
    text_buffer_add_text(out, "  ");
    text_wrap(text_buffer_text(&line), 2, text_style_width(style), out);
    text_buffer_add_text(out, "\n");
}

void plan_explanation_details(const struct plan_report *report, const struct text_style *style,
                              struct text_buffer *out)
{
    const struct plan_list *list = report->list;
    if (list->plan_count > 0) {
        plan_report_plans(report, style, out);
        add_chosen(&list->plans[0], style, out);
        add_memory(&list->plans[0], style, out);
        add_time(&list->plans[0], style, out);
        add_others(list, style, out);
    } else {
        plan_report_misfit(report, style, out);
        if (list->nearest)
            add_memory(list->nearest, style, out);
    }
    plan_report_remedies(list, style, out);
    add_rejected(list, style, out);
    plan_report_notes(list, style, out);
}

void plan_explanation_text(const struct plan_report *report, const struct text_style *style,
                           struct text_buffer *out)
{
    plan_report_request(report, style, out);
    plan_explanation_details(report, style, out);
}
