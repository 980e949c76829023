/* SPDX-License-Identifier: MIT */
#include "workload/config/config_value.h"

#include "base/parse_number.h"
#include <limits.h>
#include <string.h>

/* Whether it is this, and not in quotation marks. */
static bool is_word(const struct yaml_node *value, const char *word)
{
    return value && value->kind == YAML_SCALAR && !value->quoted && strcmp(value->text, word) == 0;
}

/* One of the names, as long as it goes on; *ret_next is behind its '|', or its end. */
static const struct yaml_node *value_of(const struct yaml_node *config, const char *keys,
                                        char name[static CONFIG_NAME_MAXIMUM_BYTES + 1],
                                        const char **ret_next)
{
    size_t length = strcspn(keys, "|.");
    if (length > CONFIG_NAME_MAXIMUM_BYTES)
        length = CONFIG_NAME_MAXIMUM_BYTES;
    memcpy(name, keys, length);
    name[length] = '\0';
    const struct yaml_node *value = config ? yaml_node_get(config, name) : NULL;
    if (keys[length] == '.')
        return value_of(value, keys + length + 1, name, ret_next);
    *ret_next = keys + length + (keys[length] == '|');
    return is_word(value, "null") ? NULL : value;
}

struct config_key config_find(const struct yaml_node *config, const char *keys)
{
    struct config_key key = {.value = NULL}, first = {.value = NULL};
    const char *next = keys;
    do {
        key.value = value_of(config, next, key.name, &next);
        if (first.name[0] == '\0')
            first = key;
    } while (!key.value && *next != '\0');
    return key.value ? key : first;
}

const char *config_text(const struct yaml_node *value)
{
    return value && value->kind == YAML_SCALAR && value->quoted ? value->text : NULL;
}

bool config_whole(const struct yaml_node *value, unsigned maximum, unsigned *ret)
{
    double number;
    if (!value || value->kind != YAML_SCALAR || value->quoted ||
        parse_real(value->text, 0, maximum, &number, NULL) < 0 || (unsigned)number != number)
        return false;
    *ret = (unsigned)number;
    return true;
}

size_t config_count(const struct yaml_node *list)
{
    return list && list->kind == YAML_SEQUENCE ? list->child_count : 0;
}

int config_number(const struct yaml_node *config, const char *keys, unsigned *ret,
                  struct error_info *err)
{
    struct config_key key = config_find(config, keys);
    if (key.value && !config_whole(key.value, INT_MAX, ret))
        return error_set(err, "%s is not a whole number from 0 to %d", key.name, INT_MAX);
    return 0;
}

int config_flag(const struct yaml_node *config, const char *key, bool *ret, struct error_info *err)
{
    const struct yaml_node *value = config_find(config, key).value;
    bool on = is_word(value, "true");
    if (!value)
        return 0;
    if (!on && !is_word(value, "false"))
        return error_set(err, "%s is neither true nor false", key);
    *ret = on;
    return 0;
}
