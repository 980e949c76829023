/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/object_fields.h"
#include <string.h>

static const char *const kind_words[] = {
    [JSON_NULL] = "nothing", [JSON_BOOLEAN] = "true or false", [JSON_NUMBER] = "a number",
    [JSON_TEXT] = "a text",  [JSON_ARRAY] = "a list",          [JSON_OBJECT] = "an object",
};

static int find_field(const struct json_value *object, const char *name, enum json_kind kind,
                      const struct json_value **ret, struct error_info *err)
{
    const struct json_value *field = json_value_get(object, name);
    enum json_kind found = json_value_kind(field);
    if (found != JSON_NULL && found != kind)
        return error_set(err, "%s is %s where %s is needed", name, kind_words[found],
                         kind_words[kind]);
    *ret = found == JSON_NULL ? NULL : field;
    return 0;
}

int object_field_object(const struct json_value *object, const char *name,
                        const struct json_value **ret, struct error_info *err)
{
    return find_field(object, name, JSON_OBJECT, ret, err);
}

int object_field_list(const struct json_value *object, const char *name, size_t maximum,
                      const struct json_value **ret, struct error_info *err)
{
    const struct json_value *field = NULL;
    if (find_field(object, name, JSON_ARRAY, &field, err) < 0)
        return -1;
    if (json_value_count(field) > maximum)
        return error_set(err, "%s has %zu entries; at most %zu are possible", name,
                         json_value_count(field), maximum);
    *ret = field;
    return 0;
}

int object_field_text(const struct json_value *object, const char *name, const char **ret,
                      struct error_info *err)
{
    const struct json_value *field = NULL;
    if (find_field(object, name, JSON_TEXT, &field, err) < 0)
        return -1;
    *ret = json_value_text(field);
    return 0;
}

int object_field_truth(const struct json_value *object, const char *name, bool *ret,
                       struct error_info *err)
{
    const struct json_value *field = NULL;
    if (find_field(object, name, JSON_BOOLEAN, &field, err) < 0)
        return -1;
    if (field)
        json_value_boolean(field, ret);
    return 0;
}

bool object_name_is_good(const char *name)
{
    size_t length = strnlen(name, OBJECT_NAME_MAXIMUM_BYTES + 1);
    if (length == 0 || length > OBJECT_NAME_MAXIMUM_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '/')
            return false;
    return true;
}
