/* SPDX-License-Identifier: MIT */
/*
 * config_value: values of a Hugging Face config.json by the names that different families
 * give them. The file is read as YAML, whose flow style JSON is. null counts as absent.
 * Keys: "n_layer|num_layers": the first that is given; "a.b": b inside of the object a. Each
 * name is at most CONFIG_NAME_MAXIMUM_BYTES long.
 * Errors name the key as it stands in the file: "n_layer is not a whole number …".
 */
#ifndef WORKLOAD_CONFIG_CONFIG_VALUE_H
#define WORKLOAD_CONFIG_CONFIG_VALUE_H

#include "base/yaml_document.h"
#include <stdbool.h>

#define CONFIG_NAME_MAXIMUM_BYTES 63u

struct config_key {
    const struct yaml_node *value;            /* NULL: none of the names is given */
    char name[CONFIG_NAME_MAXIMUM_BYTES + 1]; /* that was found, else the first */
};

/* A NULL config, or one that is no object, has nothing. */
struct config_key config_find(const struct yaml_node *config, const char *keys);
/* What stands in quotation marks; NULL: none, or another kind. */
const char *config_text(const struct yaml_node *value);
/* false for NULL and for what is no whole number from 0 to maximum. 2.0 is one, "2" is not. */
bool config_whole(const struct yaml_node *value, unsigned maximum, unsigned *ret);
/* Of a list; 0 for all else. */
size_t config_count(const struct yaml_node *list);
/* Absent: *ret keeps its value. From 0 to INT_MAX. */
int config_number(const struct yaml_node *config, const char *keys, unsigned *ret,
                  struct error_info *err);
int config_flag(const struct yaml_node *config, const char *key, bool *ret, struct error_info *err);

#endif
