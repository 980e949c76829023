/* SPDX-License-Identifier: MIT */
#include "report/scaling/scaling_report.h"

#include "planner/strategy.h"
#include "report/number_text.h"
#include "report/text_table.h"

#define DAYS_DIGITS 3u
#define DAYS_WHOLE 100.0 /* from here on tenths say nothing */

static void add_real(struct text_table *table, double value, bool known)
{
    if (known)
        text_table_add(table, number_si(value).text);
    else
        text_table_add(table, "?");
}

static void add_plan_cells(struct text_table *table, const struct scaling_row *row)
{
    char label[PLAN_LABEL_BYTES];
    const struct time_estimate *time = &row->plan.time;
    bool timed = time->step_seconds > 0;
    plan_label(&row->plan, label);
    text_table_add(table, label);
    text_table_add(table, timed ? number_seconds(time->step_seconds).text : "?");
    add_real(table, time->tokens_per_second, timed);
    text_table_add(table, timed ? number_percent(row->efficiency).text : "?");
    add_real(table, row->trillion_gpu_hours, timed);
    text_table_add(table, number_gib(row->plan.memory.total_bytes).text);
    text_table_add(table, row->pareto ? "yes" : "no");
}

static void add_counts(const struct node_scaling *scaling, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "nodes", .align = ALIGN_RIGHT},
                                                 {.title = "GPUs", .align = ALIGN_RIGHT},
                                                 {.title = "plan"},
                                                 {.title = "step", .align = ALIGN_RIGHT},
                                                 {.title = "tokens/s", .align = ALIGN_RIGHT},
                                                 {.title = "efficiency", .align = ALIGN_RIGHT},
                                                 {.title = "GPU-h/1e12", .align = ALIGN_RIGHT},
                                                 {.title = "GiB", .align = ALIGN_RIGHT},
                                                 {.title = "Pareto"}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        if (!row->fits)
            continue;
        bool chosen = scaling->recommended && scaling->recommended->nodes == row->nodes;
        text_table_tone(table, chosen ? TONE_CHOSEN : TONE_PLAIN);
        text_table_add_unsigned(table, row->nodes);
        text_table_add_unsigned(table, row->gpus);
        add_plan_cells(table, row);
    }
    if (table && text_table_rows(table) > 0)
        text_table_write(table, style, out);
}

/* Their reasons are sentences, which a column of the table has no room for. */
static void add_misfits(const struct node_scaling *scaling, const struct text_style *style,
                        struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "not on", .align = ALIGN_RIGHT},
                                                 {.title = "why", .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        if (row->fits)
            continue;
        text_table_add_unsigned(table, row->nodes);
        text_table_add(table, row->why_not);
    }
    if (table && text_table_rows(table) == 0)
        return;
    text_buffer_add_text(out, "\n");
    text_table_write(table, style, out);
}

static void add_days(struct text_table *table, double days)
{
    if (days > 0)
        text_table_add_format(table, "%.*f", days < DAYS_WHOLE ? 1 : 0, days);
    else
        text_table_add(table, "?");
}

static void add_run_row(struct text_table *table, const struct run_length *run,
                        const struct scaling_row *row, bool chosen)
{
    text_table_tone(table, chosen ? TONE_CHOSEN : TONE_PLAIN);
    text_table_add_unsigned(table, row->nodes);
    add_days(table, row->run.days);
    add_real(table, row->run.gpu_hours, row->run.days > 0);
    if (run->price_per_gpu_hour > 0)
        add_real(table, row->run.cost, row->run.days > 0);
    else
        text_table_add(table, "");
}

static void add_runs(const struct scaling_report *report, const struct text_style *style,
                     struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "nodes", .align = ALIGN_RIGHT},
                                                 {.title = "days", .align = ALIGN_RIGHT},
                                                 {.title = "GPU-hours", .align = ALIGN_RIGHT},
                                                 {.title = "cost", .align = ALIGN_RIGHT}};
    const struct node_scaling *scaling = report->scaling;
    const struct run_length *run = &report->request->run;
    const struct scaling_row *in_time = scaling->in_time;
    bool listed = false;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    if (run->tokens <= 0)
        return;
    for (size_t i = 0; i < scaling->row_count; i++) {
        const struct scaling_row *row = &scaling->rows[i];
        bool chosen = in_time && in_time->nodes == row->nodes;
        if (in_time && !listed && row->nodes > in_time->nodes)
            add_run_row(table, run, in_time, true);
        listed |= chosen || (in_time && row->nodes > in_time->nodes);
        if (row->fits)
            add_run_row(table, run, row, chosen);
    }
    text_heading(style, out, "The run of %s tokens: computing alone, no restarts or checkpoints",
                 number_si(run->tokens).text);
    text_table_write(table, style, out);
}

void scaling_report_text(const struct scaling_report *report, const struct text_style *style,
                         struct text_buffer *out)
{
    const struct node_scaling *scaling = report->scaling;
    const struct scaling_request *request = report->request;
    const char *objective = request->run.within_days > 0           ? "the fewest in time"
                            : request->prefer == PREFER_THROUGHPUT ? "throughput"
                                                                   : "GPU-hours";
    text_heading(style, out, "Node counts of %s, objective %s", request->plan->cluster->name,
                 objective);
    add_counts(scaling, style, out);
    add_misfits(scaling, style, out);
    add_runs(report, style, out);
    CLEANUP_DONE(text_buffer) struct text_buffer line;
    text_buffer_init(&line, TEXT_BUFFER_REPORT_MAXIMUM);
    if (scaling->recommended)
        text_buffer_add(&line, "Recommended: %u node%s: ", scaling->recommended->nodes,
                        scaling->recommended->nodes == 1 ? "" : "s");
    text_buffer_add_text(&line, scaling->reason);
    if (request->doubling && scaling->smallest_that_fits > 0)
        text_buffer_add(&line, ". The smallest that fits: %u.", scaling->smallest_that_fits);
    text_buffer_add_text(out, "\n");
    text_wrap(text_buffer_text(&line), 0, text_style_width(style), out);
    text_buffer_add_text(out, "\n");
}

void run_report_text(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                     const struct text_style *style, struct text_buffer *out)
{
    struct run_figures figures;
    run_figures_of(run, plan, gpus, &figures);
    if (run->tokens <= 0)
        return;
    text_heading(style, out, "The run of %s tokens: computing alone, no restarts or checkpoints",
                 number_si(run->tokens).text);
    if (figures.days <= 0) {
        text_buffer_add_text(out, "  unknown: the GPU is not in the catalogue\n");
        return;
    }
    text_buffer_add_text(out, "  ");
    text_buffer_add_real(out, figures.days, DAYS_DIGITS);
    text_buffer_add(out, " days on %llu GPUs, %s GPU-hours", (unsigned long long)gpus,
                    number_si(figures.gpu_hours).text);
    if (run->price_per_gpu_hour > 0) {
        text_buffer_add(out, ", cost %s at ", number_si(figures.cost).text);
        text_buffer_add_real(out, run->price_per_gpu_hour, 6);
        text_buffer_add_text(out, " a GPU-hour");
    }
    text_buffer_add_text(out, "\n");
}
