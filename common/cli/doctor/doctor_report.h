/* SPDX-License-Identifier: MIT */
/*
 * doctor_report: findings for people, a line each, its remedy behind "; ", and as a document
 * parplan.doctor/1: host, points[] = {point, state, text, remedy (or null)}, counts{ok, warning,
 * fault}.
 */
#ifndef CLI_DOCTOR_DOCTOR_REPORT_H
#define CLI_DOCTOR_DOCTOR_REPORT_H

#include "base/json_document.h"
#include "cli/doctor/finding.h"
#include "report/text_style.h"

void doctor_report_text(const struct findings *findings, const struct text_style *style,
                        struct text_buffer *out);
/* NULL: out of memory. */
struct json_value *doctor_report_json(const struct findings *findings, const char *host);

#endif
