/* SPDX-License-Identifier: MIT */
/*
 * scan_report: a scan for people and as the document parplan.sweep/1: its rows with what is
 * predicted, why each is there and which class has none; with a result also what was measured,
 * the measured best, the planner's regret, and what TP and PP bought over DP alone.
 */
#ifndef REPORT_SCAN_SCAN_REPORT_H
#define REPORT_SCAN_SCAN_REPORT_H

#include "planner/scan/scan_result.h"
#include "report/plan_report.h"

struct scan_report {
    const struct plan_report *plan; /* of the grid's list */
    const struct scan_grid *grid;
    const struct scan_result *result; /* NULL: nothing was measured yet */
};

void scan_report_text(const struct scan_report *report, const struct text_style *style,
                      struct text_buffer *out);
/* NULL only without memory for the root. */
struct json_value *scan_report_json(const struct scan_report *report);

#endif
