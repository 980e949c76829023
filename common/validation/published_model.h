/* SPDX-License-Identifier: MIT */
/*
 * published_model: the model of a row. A preset of the same name, written with other signs or
 * cases ("Qwen3_235B_a22B" is qwen3-235b-a22b), whose layers and width are the row's; else a
 * Llama or GPT of the row's shape, with experts where the row has some.
 */
#ifndef VALIDATION_PUBLISHED_MODEL_H
#define VALIDATION_PUBLISHED_MODEL_H

#include "base/tables/csv_table.h"
#include "workload/model_spec.h"

/* NULL, or why the row's model is unknown (static text). ret borrows texts of both. */
const char *published_model_read(const struct csv_table *table, size_t row,
                                 const struct model_catalogue *models, struct model_spec *ret);

#endif
