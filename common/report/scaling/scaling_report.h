/* SPDX-License-Identifier: MIT */
/*
 * scaling_report: the same job on other numbers of nodes, and what a whole run takes, as text
 * and as members of the document parplan.plan/1.
 */
#ifndef REPORT_SCALING_SCALING_REPORT_H
#define REPORT_SCALING_SCALING_REPORT_H

#include "base/json_document.h"
#include "planner/scaling/node_scaling.h"
#include "report/text_style.h"

/* What is printed; everything belongs to the caller. */
struct scaling_report {
    const struct scaling_request *request;
    const struct node_scaling *scaling;
};

/* A table of the counts, the recommended one and why; with a run its days, GPU-hours and cost. */
void scaling_report_text(const struct scaling_report *report, const struct text_style *style,
                         struct text_buffer *out);
/* "scaling": {…} */
void scaling_report_json(const struct scaling_report *report, struct json_value *document);

/* What the run takes under one plan. Nothing without tokens. */
void run_report_text(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                     const struct text_style *style, struct text_buffer *out);
/* "run": {…} */
void run_report_json(const struct run_length *run, const struct plan *plan, uint64_t gpus,
                     struct json_value *document);

#endif
