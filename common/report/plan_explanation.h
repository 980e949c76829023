/* SPDX-License-Identifier: MIT */
/*
 * plan_explanation: the chosen plan and why; its memory and its step time by part; the next best
 * plans with why they lose; what was rejected; notes. What --explain says of the choice itself is
 * comparison/choice_report.h's: whoever prints this alone links none of it.
 */
#ifndef REPORT_PLAN_EXPLANATION_H
#define REPORT_PLAN_EXPLANATION_H

#include "report/plan_report.h"

/* What was asked, then the details. */
void plan_explanation_text(const struct plan_report *report, const struct text_style *style,
                           struct text_buffer *out);
/* The same without what was asked. */
void plan_explanation_details(const struct plan_report *report, const struct text_style *style,
                              struct text_buffer *out);

#endif
