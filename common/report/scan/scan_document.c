/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_report.h"

#include <math.h>

#define DIGITS 6u

static void add_seconds(struct json_value *parent, const char *key, double seconds)
{
    json_add_real(parent, key, seconds > 0 ? seconds : NAN, DIGITS);
}

static void add_roles(struct json_value *object, unsigned roles)
{
    struct json_value *array = json_add_array(object, "roles");
    for (unsigned role = 0; role < SCAN_ROLE_COUNT; role++)
        if (roles & (1u << role))
            json_add_text(array, NULL, scan_role_name((enum scan_role)role));
}

static void add_rows(struct json_value *document, const struct scan_report *report)
{
    struct json_value *rows = json_add_array(document, "rows");
    for (size_t i = 0; i < report->grid->row_count; i++) {
        const struct scan_row *row = &report->grid->rows[i];
        const struct scan_measure *measure = report->result ? &report->result->measures[i] : NULL;
        struct json_value *object = json_add_object(rows, NULL);
        json_add_text(object, "row", row->id);
        add_roles(object, row->roles);
        json_add_text(object, "keys", row->keys);
        json_add_text(object, "parplan", row->launch_keys);
        add_seconds(object, "predicted_seconds", row->plan.time.step_seconds);
        add_seconds(object, "measured_seconds", measure ? measure->seconds : 0);
        json_add_real(object, "error", measure ? scan_result_error(report->result, i) : NAN,
                      DIGITS);
        json_add_boolean(object, "failed", measure && measure->failed);
        plan_report_json_plan(object, "plan", &row->plan);
    }
}

static void add_classes(struct json_value *document, const struct scan_report *report)
{
    const struct scan_grid *grid = report->grid;
    struct json_value *classes = json_add_array(document, "classes");
    for (unsigned i = SCAN_FIRST_CLASS; i < SCAN_ROLE_COUNT && grid->row_count > 0; i++) {
        enum scan_role role = (enum scan_role)i;
        size_t row = grid->row_of[role];
        struct json_value *object = json_add_object(classes, NULL);
        json_add_text(object, "class", scan_role_name(role));
        json_add_text(object, "row", row == SCAN_NO_ROW ? NULL : grid->rows[row].id);
        json_add_text(object, "absent", grid->absent[role]);
        json_add_real(object, "predicted_gain", scan_predicted_gain(grid, role), DIGITS);
        json_add_real(object, "measured_gain",
                      report->result ? scan_measured_gain(report->result, role) : NAN, DIGITS);
    }
}

static void add_result(struct json_value *document, const struct scan_result *result)
{
    if (!result) {
        json_add_null(document, "result");
        return;
    }
    struct json_value *object = json_add_object(document, "result");
    json_add_unsigned(object, "measured", result->measured);
    json_add_text(object, "best", result->grid->rows[result->best].id);
    add_seconds(object, "best_seconds", result->measures[result->best].seconds);
    size_t place = scan_predicted_place(result->grid, result->best);
    if (place > 0)
        json_add_unsigned(object, "best_predicted_place", place);
    else
        json_add_null(object, "best_predicted_place");
    json_add_real(object, "regret", result->regret, DIGITS);
    json_add_real(object, "mape", result->mape, DIGITS);
}

struct json_value *scan_report_json(const struct scan_report *report)
{
    const struct plan_list *list = report->grid->list;
    struct json_value *document = json_value_create_object();
    json_add_text(document, "schema", "parplan.sweep/1");
    plan_report_json_request(document, report->plan);
    add_rows(document, report);
    add_classes(document, report);
    add_result(document, report->result);
    struct json_value *notes = json_add_array(document, "notes");
    for (size_t i = 0; i < list->note_count; i++)
        json_add_text(notes, NULL, list->notes[i]);
    return document;
}
