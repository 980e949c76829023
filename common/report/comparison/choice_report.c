/* SPDX-License-Identifier: MIT */
#include "report/comparison/choice_report.h"

#include "planner/search/candidate_pool.h"
#include "report/comparison/method_report.h"
#include "report/number_text.h"
#include "report/plan_explanation.h"
#include "report/text_table.h"

static void add_rules(const struct plan_list *list, const struct text_style *style,
                      struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "rule"},
        {.title = "verdict"},
        {.title = "why, and from which inputs", .wrap = true}};
    if (list->rule_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "Rules, in the order of the decision flow");
    for (size_t i = 0; i < list->rule_count; i++) {
        const struct plan_rule *rule = &list->rules[i];
        text_table_add(table, rule->rule);
        text_table_add(table, rule->verdict);
        text_table_add_format(table, "%s%s%s", rule->reason ? rule->reason : "",
                              rule->inputs ? "\ninputs: " : "", rule->inputs ? rule->inputs : "");
    }
    text_table_write(table, style, out);
}

static void add_pareto(const struct plan_list *list, const struct text_style *style,
                       struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "degrees"},
                                                 {.title = "sharding"},
                                                 {.title = "recompute"},
                                                 {.title = "step", .align = ALIGN_RIGHT},
                                                 {.title = "GiB", .align = ALIGN_RIGHT},
                                                 {.title = "dimensions", .align = ALIGN_RIGHT}};
    if (list->pareto_count == 0)
        return;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_heading(style, out, "No other plan is faster, smaller and simpler than these");
    for (size_t i = 0; i < list->pareto_count; i++) {
        const struct plan *plan = &list->pareto[i];
        char degrees[DEGREES_TEXT_BYTES];
        degrees_text(&plan->degrees, degrees);
        text_table_add(table, degrees);
        text_table_add(table, sharding_name(plan->sharding));
        text_table_add(table, recompute_name(plan->recompute));
        text_table_add(table, plan->time.step_seconds > 0.0
                                  ? number_seconds(plan->time.step_seconds).text
                                  : "?");
        text_table_add(table, number_gib(plan->memory.total_bytes).text);
        text_table_add_unsigned(table, plan_complexity(plan));
    }
    text_table_write(table, style, out);
}

void choice_report_text(const struct plan_report *report, const struct text_style *style,
                        struct text_buffer *out)
{
    const struct plan_list *list = report->list;
    const struct plan *chosen = list->plan_count > 0 ? list->plans : NULL;
    plan_report_request(report, style, out);
    if (report->methods)
        method_report_text(report->methods, chosen, style, out);
    add_pareto(list, style, out);
    add_rules(list, style, out);
    plan_explanation_details(report, style, out);
}
