/* SPDX-License-Identifier: MIT */
/*
 * config_layers: what a config.json says of single layers: which have a sliding window, and
 * which are no attention at all.
 *
 * Models with recurrent layers (Mamba, linear attention, short convolutions) are refused:
 * neither their counts nor their times follow from the fields of struct model_spec.
 */
#ifndef WORKLOAD_CONFIG_CONFIG_LAYERS_H
#define WORKLOAD_CONFIG_CONFIG_LAYERS_H

#include "base/yaml_document.h"
#include "workload/model_family.h"

/* A model_type that has such layers: refused in one line, which also says what to do. */
int config_check_recurrent(const char *type, struct error_info *err);

/* Sets sliding_window and full_attention_layers from sliding_window, use_sliding_window,
 * max_window_layers, layer_types, sliding_window_pattern, attention_chunk_size or the family's
 * own alternation. A chunk counts as a window of its length, which is the most that it costs.
 * Refuses layer_types that name anything but full, sliding or chunked attention, and lists of
 * another length than the model has layers. */
int config_read_windows(const struct yaml_node *config, const struct model_family *family,
                        struct model_spec *model, struct error_info *err);

#endif
