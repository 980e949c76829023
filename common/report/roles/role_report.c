/* SPDX-License-Identifier: MIT */
#include "report/roles/role_report.h"

#include "planner/strategy.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include <math.h>

#define DIGITS 6u

static const char *home_name(const struct role_report *report, size_t role)
{
    size_t home = report->requests[role].home;
    return home == role ? NULL : report->requests[home].name;
}

/* Nothing of it is trained: it only scores. */
static bool is_frozen(const struct role_request *request)
{
    const struct job_value *value = &request->plan.job->values[JOB_TRAINABLE];
    return value->given && value->number == 0 && !(value->real > 0);
}

bool role_report_fits(const struct role_report *report)
{
    for (size_t i = 0; i < report->plans->count; i++)
        if (!report->plans->results[i].plan)
            return false;
    return true;
}

/* --- text ---------------------------------------------------------------------------- */

static void add_place(struct text_table *table, const struct role_report *report, size_t role)
{
    const char *home = home_name(report, role);
    uint64_t gpus = report->requests[role].plan.world;
    if (home)
        text_table_add_format(table, "with %s", home);
    else
        text_table_add_format(table, "%llu GPUs", (unsigned long long)gpus);
}

static void add_plan(struct text_table *table, const struct role_report *report, size_t role)
{
    const struct role_result *result = &report->plans->results[role];
    const struct plan *plan = result->plan;
    char label[PLAN_LABEL_BYTES];
    if (!plan) {
        text_table_tone(table, TONE_BAD);
        const struct plan *nearest = result->list->nearest;
        if (result->list->policy.result == POLICY_DENIED)
            text_table_add(table, "refused by policy");
        else if (nearest)
            text_table_add_format(table, "does not fit: %s GiB at least",
                                  number_gib(nearest->memory.total_bytes).text);
        else
            text_table_add(table, "does not fit");
        text_table_add(table, "");
        text_table_add_format(table, "%s", number_gib(result->others_bytes).text);
        text_table_add(table, "");
        return;
    }
    plan_label(plan, label);
    text_table_add(table, label);
    text_table_add(table, number_gib(plan->memory.total_bytes).text);
    text_table_add(table, number_gib(result->others_bytes).text);
    bool timed = !is_frozen(&report->requests[role]) && plan->time.step_seconds > 0;
    text_table_add(table, timed ? number_seconds(plan->time.step_seconds).text : "");
}

void role_report_text(const struct role_report *report, const struct text_style *style,
                      struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "role"},
        {.title = "model"},
        {.title = "on"},
        {.title = "plan"},
        {.title = "GiB", .align = ALIGN_RIGHT},
        {.title = "others keep", .align = ALIGN_RIGHT},
        {.title = "step", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    text_buffer_add(out, "%zu roles on %s\n", report->plans->count, report->cluster);
    for (size_t i = 0; i < report->plans->count; i++) {
        text_table_add(table, report->requests[i].name);
        text_table_add(table, report->requests[i].plan.model->name);
        add_place(table, report, i);
        add_plan(table, report, i);
    }
    text_table_write(table, style, out);
    text_buffer_add_text(out, "Roles on the same GPUs take turns; what they keep there "
                              "(parameters, gradients, optimizer) stays. Steps are of training: "
                              "generating and scoring are not timed.\n");
}

/* --- document ------------------------------------------------------------------------ */

static void add_bytes(struct json_value *object, const struct role_result *result)
{
    const struct plan *plan = result->plan;
    json_add_unsigned(object, "memory_bytes", plan->memory.total_bytes);
    json_add_unsigned(object, "kept_bytes", result->kept_bytes);
    json_add_text(object, "verdict", fit_verdict_name(plan->memory.verdict));
}

static void add_role(struct json_value *roles, const struct role_report *report, size_t role)
{
    const struct role_request *request = &report->requests[role];
    const struct role_result *result = &report->plans->results[role];
    const char *home = home_name(report, role);
    struct json_value *object = json_add_object(roles, NULL);
    json_add_text(object, "name", request->name);
    json_add_text(object, "model", request->plan.model->name);
    json_add_text(object, "with", home);
    json_add_unsigned(object, "gpus", request->plan.world);
    json_add_unsigned(object, "others_kept_bytes", result->others_bytes);
    char label[PLAN_LABEL_BYTES];
    if (result->plan) {
        plan_label(result->plan, label);
        json_add_text(object, "plan", label);
        add_bytes(object, result);
    } else {
        json_add_null(object, "plan");
    }
    bool timed = result->plan && !is_frozen(request) && result->plan->time.step_seconds > 0;
    json_add_real(object, "step_seconds", timed ? result->plan->time.step_seconds : NAN, DIGITS);
}

struct json_value *role_report_json(const struct role_report *report)
{
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.roles_plan/1");
    json_add_text(document, "cluster", report->cluster);
    struct json_value *roles = json_add_array(document, "roles");
    for (size_t i = 0; i < report->plans->count; i++)
        add_role(roles, report, i);
    return document;
}
