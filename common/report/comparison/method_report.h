/* SPDX-License-Identifier: MIT */
/*
 * method_report: the ways to split a job side by side, and the neighbours of the chosen plan, as
 * tables and as the members "methods" and "neighbours" of the document parplan.plan/1.
 */
#ifndef REPORT_COMPARISON_METHOD_REPORT_H
#define REPORT_COMPARISON_METHOD_REPORT_H

#include "base/json_document.h"
#include "planner/explanation/method_comparison.h"
#include "report/text_style.h"

/* chosen: the plan that the step times are held against; NULL: none. */
void method_report_text(const struct method_comparison *comparison, const struct plan *chosen,
                        const struct text_style *style, struct text_buffer *out);
/* "methods": […], "neighbours": […] */
void method_report_json(const struct method_comparison *comparison, struct json_value *document);

#endif
