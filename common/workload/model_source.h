/* SPDX-License-Identifier: MIT */
/*
 * model_source: a model as people name it: a preset ("llama3-70b", "meta-llama/…"), or a path
 * (it begins with "/" or ".", or ends in .json, .yaml or .yml) of a Hugging Face config.json
 * or of a parplan.model/1 file.
 * Left edge: reads the file as the calling user. Used by the command line and by srun.
 */
#ifndef WORKLOAD_MODEL_SOURCE_H
#define WORKLOAD_MODEL_SOURCE_H

#include "workload/model_spec.h"

#define MODEL_FILE_MAXIMUM_BYTES ((size_t)4 << 20)

struct model_spec *model_source_open(const char *name, const struct model_catalogue *catalogue,
                                     struct error_info *err);

#endif
