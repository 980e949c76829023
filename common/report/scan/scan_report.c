/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_report.h"

#include "report/number_text.h"
#include "report/text_table.h"
#include <math.h>

#define PERCENT 100.0
#define PURPOSE_BYTES 128

static const char *seconds_text(double seconds, struct number_text *ret)
{
    *ret = number_seconds(seconds);
    return seconds > 0 ? ret->text : "?";
}

static void add_signed_percent(struct text_table *table, double share)
{
    if (isnan(share))
        text_table_add(table, "");
    else
        text_table_add_format(table, "%+.1f %%", share * PERCENT);
}

/* "the planner's answer; +TP". */
static void purpose_of(const struct scan_row *row, char ret[static PURPOSE_BYTES])
{
    size_t used = 0;
    ret[0] = '\0';
    for (unsigned role = 0; role < SCAN_ROLE_COUNT; role++)
        if (row->roles & (1u << role))
            used += (size_t)snprintf(ret + used, PURPOSE_BYTES - used, "%s%s", used > 0 ? "; " : "",
                                     scan_role_purpose((enum scan_role)role));
}

static void add_measured(struct text_table *table, const struct scan_result *result, size_t row)
{
    const struct scan_measure *measure = &result->measures[row];
    struct number_text number;
    bool timed = measure->seconds > 0;
    if (timed && row == result->best)
        text_table_tone(table, TONE_GOOD);
    else if (measure->failed)
        text_table_tone(table, TONE_BAD);
    if (timed)
        text_table_add(table, seconds_text(measure->seconds, &number));
    else
        text_table_add(table, measure->failed ? "failed" : "");
    add_signed_percent(table, scan_result_error(result, row));
}

static void add_row(struct text_table *table, const struct scan_report *report, size_t row)
{
    const struct scan_row *scanned = &report->grid->rows[row];
    const struct plan *plan = &scanned->plan;
    struct number_text number;
    char purpose[PURPOSE_BYTES];
    purpose_of(scanned, purpose);
    text_table_tone(table, row == 0 && !report->result ? TONE_CHOSEN : TONE_PLAIN);
    text_table_add(table, scanned->id);
    text_table_add(table, purpose);
    text_table_add(table, sharding_name(plan->sharding));
    text_table_add(table, plan->offload == OFFLOAD_NONE ? "" : offload_name(plan->offload));
    text_table_add_format(table, "%u x %u", plan->micro_batch, plan->micro_batches);
    text_table_add(table, recompute_name(plan->recompute));
    text_table_add(table, number_gib(plan->memory.total_bytes).text);
    text_table_add(table, fit_verdict_name(plan->memory.verdict));
    text_table_add(table, seconds_text(plan->time.step_seconds, &number));
    if (report->result) {
        add_measured(table, report->result, row);
        return;
    }
    text_table_add(table, ""); /* columns without a cell are left out */
    text_table_add(table, "");
}

static void write_rows(const struct scan_report *report, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "row"},
        {.title = "for"},
        {.title = "sharding"},
        {.title = "offload"},
        {.title = "batch x M", .align = ALIGN_RIGHT},
        {.title = "recompute"},
        {.title = "GiB", .align = ALIGN_RIGHT},
        {.title = "fit"},
        {.title = "predicted", .align = ALIGN_RIGHT},
        {.title = "measured", .align = ALIGN_RIGHT},
        {.title = "error", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Scan, the same GPUs and global batch in every row");
    for (size_t i = 0; i < report->grid->row_count; i++)
        add_row(table, report, i);
    text_table_write(table, style, out);
}

static void write_absent(const struct scan_grid *grid, const struct text_style *style,
                         struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (unsigned role = SCAN_FIRST_CLASS; role < SCAN_ROLE_COUNT; role++) {
        if (!grid->absent[role])
            continue;
        text_table_add(table, scan_role_purpose((enum scan_role)role));
        text_table_add(table, grid->absent[role]);
    }
    if (table && text_table_rows(table) == 0)
        return;
    text_heading(style, out, "Without a row");
    text_table_write(table, style, out);
}

static void add_gain_row(struct text_table *table, const struct scan_result *result,
                         enum scan_role role)
{
    const struct scan_grid *grid = result->grid;
    size_t row = grid->row_of[role];
    if (row == SCAN_NO_ROW)
        return;
    double seconds = result->measures[row].seconds;
    bool is_base = role == SCAN_DATA_ONLY;
    struct number_text number;
    text_table_add(table, scan_role_purpose(role));
    text_table_add(table, grid->rows[row].id);
    const char *silent = result->measures[row].failed ? "failed" : "not measured";
    text_table_add(table, seconds > 0 ? seconds_text(seconds, &number) : silent);
    add_signed_percent(table, is_base ? NAN : scan_measured_gain(result, role));
    add_signed_percent(table, is_base ? NAN : scan_predicted_gain(grid, role));
    add_signed_percent(table,
                       seconds > 0 ? seconds / result->measures[result->best].seconds - 1 : NAN);
}

static void write_gains(const struct scan_result *result, const struct text_style *style,
                        struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "class"},
        {.title = "row"},
        {.title = "measured", .align = ALIGN_RIGHT},
        {.title = "faster than DP alone", .align = ALIGN_RIGHT},
        {.title = "predicted", .align = ALIGN_RIGHT},
        {.title = "slower than the best", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "What TP and PP bought");
    for (unsigned role = SCAN_FIRST_CLASS; role < SCAN_ROLE_COUNT; role++)
        add_gain_row(table, result, (enum scan_role)role);
    text_table_write(table, style, out);
}

static void add_best(struct text_table *table, const struct scan_result *result)
{
    const char *id = result->grid->rows[result->best].id;
    const struct number_text seconds = number_seconds(result->measures[result->best].seconds);
    size_t place = scan_predicted_place(result->grid, result->best);
    if (place > 0)
        text_table_add_format(table, "%s, %s; number %zu of our predictions", id, seconds.text,
                              place);
    else
        text_table_add_format(table, "%s, %s", id, seconds.text);
}

static void write_result(const struct scan_result *result, const struct text_style *style,
                         struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    const struct scan_grid *grid = result->grid;
    const struct scan_row *answer = &grid->rows[grid->row_of[SCAN_ANSWER]];
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Result");
    text_table_add(table, "measured best");
    add_best(table, result);
    text_table_add(table, "planner's answer");
    if (isnan(result->regret))
        text_table_add_format(table, "%s was not measured: no regret", answer->id);
    else if (result->best == grid->row_of[SCAN_ANSWER])
        text_table_add_format(table, "%s is the measured best", answer->id);
    else
        text_table_add_format(table, "%s is %.1f %% slower than the measured best (regret)",
                              answer->id, result->regret * PERCENT);
    text_table_add(table, "predictions");
    if (isnan(result->mape))
        text_table_add_format(table, "%zu of %zu rows measured; no predictions", result->measured,
                              grid->row_count);
    else
        text_table_add_format(table, "%zu of %zu rows measured; mean error %.1f %% (MAPE)",
                              result->measured, grid->row_count, result->mape * PERCENT);
    text_table_write(table, style, out);
}

void scan_report_text(const struct scan_report *report, const struct text_style *style,
                      struct text_buffer *out)
{
    plan_report_request(report->plan, style, out);
    if (report->grid->row_count == 0) {
        plan_report_misfit(report->plan, style, out);
        plan_report_remedies(report->grid->list, style, out);
        plan_report_notes(report->grid->list, style, out);
        return;
    }
    write_rows(report, style, out);
    write_absent(report->grid, style, out);
    if (report->result) {
        write_result(report->result, style, out);
        write_gains(report->result, style, out);
    }
    plan_report_notes(report->grid->list, style, out);
}
