/* SPDX-License-Identifier: MIT */
/*
 * config_value: values of a Hugging Face config.json by the names that different families
 * give them. null counts as absent.
 * Keys: "n_layer|num_layers": the first that is given; "a.b": b inside of the object a. Each
 * name is at most CONFIG_NAME_MAXIMUM_BYTES long.
 * Errors name the key as it stands in the file: "n_layer is not a whole number …".
 */
#ifndef WORKLOAD_CONFIG_CONFIG_VALUE_H
#define WORKLOAD_CONFIG_CONFIG_VALUE_H

#include "base/json_document.h"

#define CONFIG_NAME_MAXIMUM_BYTES 63u

struct config_key {
    const struct json_value *value;           /* NULL: none of the names is given */
    char name[CONFIG_NAME_MAXIMUM_BYTES + 1]; /* that was found, else the first */
};

struct config_key config_find(const struct json_value *config, const char *keys);
/* Absent: *ret keeps its value. From 0 to INT_MAX. */
int config_number(const struct json_value *config, const char *keys, unsigned *ret,
                  struct error_info *err);
int config_flag(const struct json_value *config, const char *key, bool *ret,
                struct error_info *err);

#endif
