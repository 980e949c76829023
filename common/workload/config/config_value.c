/* SPDX-License-Identifier: MIT */
#include "workload/config/config_value.h"

#include <limits.h>
#include <string.h>

/* One of the names, as long as it goes on; *ret_next is behind its '|', or its end. */
static const struct json_value *value_of(const struct json_value *config, const char *keys,
                                         char name[static CONFIG_NAME_MAXIMUM_BYTES + 1],
                                         const char **ret_next)
{
    size_t length = strcspn(keys, "|.");
    if (length > CONFIG_NAME_MAXIMUM_BYTES)
        length = CONFIG_NAME_MAXIMUM_BYTES;
    memcpy(name, keys, length);
    name[length] = '\0';
    const struct json_value *value = json_value_get(config, name);
    if (keys[length] == '.')
        return value_of(value, keys + length + 1, name, ret_next);
    *ret_next = keys + length + (keys[length] == '|');
    return json_value_kind(value) == JSON_NULL ? NULL : value;
}

struct config_key config_find(const struct json_value *config, const char *keys)
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

int config_number(const struct json_value *config, const char *keys, unsigned *ret,
                  struct error_info *err)
{
    uint64_t number;
    struct config_key key = config_find(config, keys);
    if (!key.value)
        return 0;
    if (json_value_unsigned(key.value, INT_MAX, &number) < 0)
        return error_set(err, "%s is not a whole number from 0 to %d", key.name, INT_MAX);
    *ret = (unsigned)number;
    return 0;
}

int config_flag(const struct json_value *config, const char *key, bool *ret, struct error_info *err)
{
    const struct json_value *value = config_find(config, key).value;
    if (value && json_value_boolean(value, ret) < 0)
        return error_set(err, "%s is neither true nor false", key);
    return 0;
}
