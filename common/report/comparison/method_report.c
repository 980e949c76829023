/* SPDX-License-Identifier: MIT */
#include "report/comparison/method_report.h"

#include "planner/strategy.h"
#include "report/number_text.h"
#include "report/text_table.h"

#define DIGITS 6u
#define PERCENT 100.0

static double exposed_share(const struct time_estimate *time)
{
    double exposed = time->parts[TIME_TP] + time->parts[TIME_CP] + time->parts[TIME_EP] +
                     time->parts[TIME_PP] + time->parts[TIME_DP];
    return time->step_seconds > 0 ? exposed / time->step_seconds : 0;
}

static void add_against(struct text_table *table, const struct plan *plan,
                        const struct plan *chosen)
{
    double step = plan->time.step_seconds, ours = chosen ? chosen->time.step_seconds : 0;
    if (chosen && plan_compare(plan, chosen) == 0)
        text_table_add(table, "chosen");
    else if (step > 0 && ours > 0)
        text_table_add_format(table, "%+.1f %%", (step / ours - 1) * PERCENT);
    else
        text_table_add(table, "?");
}

static void add_row(struct text_table *table, const struct method_row *row,
                    const struct plan *chosen)
{
    const struct time_estimate *time = &row->plan.time;
    char label[PLAN_LABEL_BYTES];
    bool timed = time->step_seconds > 0;
    plan_label(&row->plan, label);
    text_table_tone(table,
                    chosen && plan_compare(&row->plan, chosen) == 0 ? TONE_CHOSEN : TONE_PLAIN);
    text_table_add(table, row->name);
    text_table_add(table, label);
    text_table_add(table, recompute_name(row->plan.recompute));
    text_table_add(table, number_gib(row->plan.memory.total_bytes).text);
    text_table_add(table, fit_verdict_name(row->plan.memory.verdict));
    text_table_add(table, timed ? number_seconds(time->step_seconds).text : "?");
    text_table_add(table, timed ? number_percent(exposed_share(time)).text : "?");
    add_against(table, &row->plan, chosen);
}

struct row_list {
    const struct method_row *rows;
    size_t count;
    const char *title; /* of the column of names */
};

static void add_misfits(const struct row_list *list, const struct text_style *style,
                        struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < list->count; i++) {
        const struct method_row *row = &list->rows[i];
        if (row->fits)
            continue;
        text_table_add(table, row->name);
        text_table_add(table, row->why_not);
    }
    if (table && text_table_rows(table) > 0)
        text_table_write(table, style, out);
}

static void add_rows(const struct row_list *list, const struct plan *chosen,
                     const struct text_style *style, struct text_buffer *out)
{
    const struct text_column columns[] = {{.title = list->title},
                                          {.title = "best plan"},
                                          {.title = "recompute"},
                                          {.title = "GiB", .align = ALIGN_RIGHT},
                                          {.title = "fit"},
                                          {.title = "step", .align = ALIGN_RIGHT},
                                          {.title = "exposed", .align = ALIGN_RIGHT},
                                          {.title = "against", .align = ALIGN_RIGHT}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].fits)
            add_row(table, &list->rows[i], chosen);
    if (table && text_table_rows(table) > 0)
        text_table_write(table, style, out);
    add_misfits(list, style, out);
}

void method_report_text(const struct method_comparison *comparison, const struct plan *chosen,
                        const struct text_style *style, struct text_buffer *out)
{
    const struct row_list ways = {comparison->rows, METHOD_COUNT, "way"};
    const struct row_list steps = {comparison->neighbours, comparison->neighbour_count, "instead"};
    text_heading(style, out, "Each way for itself, against the chosen plan");
    add_rows(&ways, chosen, style, out);
    if (steps.count == 0)
        return;
    text_heading(style, out, "One step from the chosen plan");
    add_rows(&steps, chosen, style, out);
}

static void add_objects(struct json_value *document, const char *key, const struct row_list *list)
{
    struct json_value *array = json_add_array(document, key);
    for (size_t i = 0; i < list->count; i++) {
        const struct method_row *row = &list->rows[i];
        struct json_value *object = json_add_object(array, NULL);
        const struct time_estimate *time = &row->plan.time;
        char label[PLAN_LABEL_BYTES];
        json_add_text(object, list->title, row->name);
        if (row->fits)
            plan_label(&row->plan, label);
        json_add_text(object, "plan", row->fits ? label : NULL);
        json_add_text(object, "why_not", row->fits ? NULL : row->why_not);
        if (row->fits)
            json_add_unsigned(object, "memory_bytes", row->plan.memory.total_bytes);
        else
            json_add_null(object, "memory_bytes");
        if (time->step_seconds > 0) {
            json_add_real(object, "step_seconds", time->step_seconds, DIGITS);
            json_add_real(object, "exposed_fraction", exposed_share(time), DIGITS);
            json_add_real(object, "bubble_fraction", time->bubble_fraction, DIGITS);
        } else {
            json_add_null(object, "step_seconds");
            json_add_null(object, "exposed_fraction");
            json_add_null(object, "bubble_fraction");
        }
    }
}

void method_report_json(const struct method_comparison *comparison, struct json_value *document)
{
    const struct row_list ways = {comparison->rows, METHOD_COUNT, "method"};
    const struct row_list steps = {comparison->neighbours, comparison->neighbour_count, "instead"};
    add_objects(document, "methods", &ways);
    add_objects(document, "neighbours", &steps);
}
