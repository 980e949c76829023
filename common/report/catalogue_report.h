/* SPDX-License-Identifier: MIT */
/*
 * catalogue_report: the model presets, one model's architecture and parameter counts, the
 * GPUs and the node presets.
 */
#ifndef REPORT_CATALOGUE_REPORT_H
#define REPORT_CATALOGUE_REPORT_H

#include "base/json_document.h"
#include "report/text_style.h"
#include "topology/preset_catalogue.h"
#include "workload/model_spec.h"

int models_report_text(const struct model_catalogue *models, const struct text_style *style,
                       struct text_buffer *out, struct error_info *err);
int model_report_text(const struct model_spec *model, const struct text_style *style,
                      struct text_buffer *out, struct error_info *err);
void gpus_report_text(const struct gpu_catalogue *gpus, const struct preset_catalogue *presets,
                      const struct text_style *style, struct text_buffer *out);
void gpu_report_text(const struct gpu_model *gpu, const struct text_style *style,
                     struct text_buffer *out);

/* Documents parplan.models/1 ({models[]}, or one model's own fields) and parplan.gpus/1. */
struct json_value *models_report_json(const struct model_catalogue *models, struct error_info *err);
struct json_value *model_report_json(const struct model_spec *model, struct error_info *err);
struct json_value *gpus_report_json(const struct gpu_catalogue *gpus,
                                    const struct preset_catalogue *presets, struct error_info *err);
struct json_value *gpu_report_json(const struct gpu_model *gpu, struct error_info *err);

#endif
