/* SPDX-License-Identifier: MIT */
/*
 * plan_explanation: why this plan: every rule of the decision flow with its inputs, verdict
 * and reason (where the list has them: plan_request's explain); the chosen plan; its memory
 * and its step time by part; the next best plans with why they lose; what was rejected; notes.
 */
#ifndef REPORT_PLAN_EXPLANATION_H
#define REPORT_PLAN_EXPLANATION_H

#include "report/plan_report.h"

void plan_explanation_text(const struct plan_report *report, const struct text_style *style,
                           struct text_buffer *out);

#endif
