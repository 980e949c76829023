/* SPDX-License-Identifier: MIT */
/*
 * mfu_report: a measured run's figures, the reference, the prediction and the checks, for
 * people and as the document parplan.mfu/1.
 */
#ifndef REPORT_MEASURED_MFU_REPORT_H
#define REPORT_MEASURED_MFU_REPORT_H

#include "planner/measured/mfu_analysis.h"
#include "report/plan_report.h"

/* Both belong to the caller. */
struct mfu_report {
    struct plan_report plan; /* its list and training are the analysis' */
    const struct mfu_analysis *analysis;
};

void mfu_report_text(const struct mfu_report *report, const struct text_style *style,
                     struct text_buffer *out);
/* NULL only without memory for the root; json_value_write reports later failures. */
struct json_value *mfu_report_json(const struct mfu_report *report);

#endif
