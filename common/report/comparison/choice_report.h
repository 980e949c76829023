/* SPDX-License-Identifier: MIT */
/*
 * choice_report: plan_explanation.h's text with all that led to the choice: each way for itself
 * and the chosen plan's neighbours (where the report has them), the plans that nothing beats, and
 * every rule of the decision flow with its inputs, verdict and reason.
 */
#ifndef REPORT_COMPARISON_CHOICE_REPORT_H
#define REPORT_COMPARISON_CHOICE_REPORT_H

#include "report/plan_report.h"

void choice_report_text(const struct plan_report *report, const struct text_style *style,
                        struct text_buffer *out);

#endif
