/* SPDX-License-Identifier: MIT */
#include "report/scaling/scaling_report.h"

#include "planner/strategy.h"

#define DIGITS 6u

static void add_known(struct json_value *parent, const char *key, double value)
{
    if (value > 0)
        json_add_real(parent, key, value, DIGITS);
    else
        json_add_null(parent, key);
}

static void add_figures(struct json_value *object, const struct run_figures *figures)
{
    add_known(object, "days", figures->days);
    add_known(object, "gpu_hours", figures->gpu_hours);
    add_known(object, "cost", figures->cost);
}

static void add_row(struct json_value *parent, const char *key, const struct scaling_row *row)
{
    struct json_value *object = json_add_object(parent, key);
    char label[PLAN_LABEL_BYTES];
    const struct time_estimate *time = &row->plan.time;
    if (row->fits)
        plan_label(&row->plan, label);
    json_add_unsigned(object, "nodes", row->nodes);
    json_add_unsigned(object, "gpus", row->gpus);
    json_add_text(object, "plan", row->fits ? label : NULL);
    json_add_text(object, "why_not", row->fits ? NULL : row->why_not);
    add_known(object, "step_seconds", time->step_seconds);
    add_known(object, "tokens_per_second", time->tokens_per_second);
    add_known(object, "efficiency", row->efficiency);
    add_known(object, "gpu_hours_per_trillion_tokens", row->trillion_gpu_hours);
    add_figures(object, &row->run);
    json_add_boolean(object, "pareto", row->pareto);
}

void scaling_report_json(const struct scaling_report *report, struct json_value *document)
{
    const struct node_scaling *scaling = report->scaling;
    struct json_value *object = json_add_object(document, "scaling");
    struct json_value *rows = json_add_array(object, "rows");
    for (size_t i = 0; i < scaling->row_count; i++)
        add_row(rows, NULL, &scaling->rows[i]);
    json_add_text(object, "objective",
                  report->request->run.within_days > 0           ? "within"
                  : report->request->prefer == PREFER_THROUGHPUT ? "throughput"
                                                                 : "gpu-hours");
    if (scaling->recommended)
        add_row(object, "recommended", scaling->recommended);
    else
        json_add_null(object, "recommended");
    json_add_text(object, "reason", scaling->reason);
    if (scaling->smallest_that_fits > 0)
        json_add_unsigned(object, "smallest_that_fits", scaling->smallest_that_fits);
    else
        json_add_null(object, "smallest_that_fits");
}

void run_report_json(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                     struct json_value *document)
{
    struct run_figures figures = {0};
    if (run->tokens <= 0)
        return;
    struct json_value *object = json_add_object(document, "run");
    if (plan)
        run_figures_of(run, plan, gpus, &figures);
    json_add_real(object, "tokens", run->tokens, DIGITS);
    add_known(object, "within_days", run->within_days);
    add_known(object, "price_per_gpu_hour", run->price_per_gpu_hour);
    add_figures(object, &figures);
}
