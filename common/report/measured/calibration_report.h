/* SPDX-License-Identifier: MIT */
/*
 * calibration_report: what a calibration found and how well it fits, for people, and as the
 * document parplan.calibration/1, which is the file that --calibration reads.
 */
#ifndef REPORT_MEASURED_CALIBRATION_REPORT_H
#define REPORT_MEASURED_CALIBRATION_REPORT_H

#include "base/json_document.h"
#include "report/text_style.h"
#include "validation/calibration/calibration.h"

struct calibration_report {
    const struct calibration *calibration;
    size_t skipped;     /* rows of measured steps that could not be used */
    const char *reason; /* of the first of them, or NULL */
};

void calibration_report_text(const struct calibration_report *report,
                             const struct text_style *style, struct text_buffer *out);
/* NULL only without memory for the root; json_value_write reports later failures. */
struct json_value *calibration_report_json(const struct calibration_report *report);

#endif
