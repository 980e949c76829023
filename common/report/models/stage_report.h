/* SPDX-License-Identifier: MIT */
/*
 * stage_report: what each pipeline stage of a plan holds of a model's parameters
 * (planner/sizes/stage_parameters.h), and what one rank of it does.
 */
#ifndef REPORT_MODELS_STAGE_REPORT_H
#define REPORT_MODELS_STAGE_REPORT_H

#include "base/json_document.h"
#include "planner/sizes/plan_shape.h"
#include "report/text_style.h"

/* shape->plan: of model_plan.h. */
int stage_report_text(const struct plan_shape *shape, const struct text_style *style,
                      struct text_buffer *out, struct error_info *err);
/* Adds the object `plan` to a document parplan.models/1. */
int stage_report_add(const struct plan_shape *shape, struct json_value *document,
                     struct error_info *err);

#endif
