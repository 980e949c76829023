/* SPDX-License-Identifier: MIT */
/*
 * validation_report: how far the planner's predictions lie from published runs, for people
 * (per set, choice, what fitted; with explain every row) and as parplan.validate/1.
 */
#ifndef REPORT_MEASURED_VALIDATION_REPORT_H
#define REPORT_MEASURED_VALIDATION_REPORT_H

#include "base/json_document.h"
#include "report/text_style.h"
#include "validation/validation.h"

void validation_report_text(const struct validation *validation, bool every_row,
                            const struct text_style *style, struct text_buffer *out);
/* NULL only without memory for the root. */
struct json_value *validation_report_json(const struct validation *validation);

#endif
