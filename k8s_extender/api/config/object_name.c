/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/config/object_name.h"
#include <stdbool.h>
#include <string.h>

static bool is_letter_or_digit(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

static bool is_label(const char *text, size_t length)
{
    if (length == 0 || !is_letter_or_digit(text[0]) || !is_letter_or_digit(text[length - 1]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_letter_or_digit(text[i]) && text[i] != '-')
            return false;
    return true;
}

static bool is_subdomain(const char *name)
{
    for (;;) {
        size_t length = strcspn(name, ".");
        if (!is_label(name, length))
            return false;
        if (!name[length])
            return true;
        name += length + 1;
    }
}

int object_name_check(const char *name, struct error_info *err)
{
    if (strlen(name) <= OBJECT_NAME_MAXIMUM_BYTES && is_subdomain(name))
        return 0;
    return error_set(err,
                     "'%.100s' is no name of an object in Kubernetes: small letters, digits, '-' "
                     "and '.', at most %u, a letter or digit first and last",
                     name, OBJECT_NAME_MAXIMUM_BYTES);
}

int namespace_name_check(const char *name, struct error_info *err)
{
    size_t length = strlen(name);
    if (length <= NAMESPACE_NAME_MAXIMUM_BYTES && is_label(name, length))
        return 0;
    return error_set(err,
                     "'%.100s' is no name of a namespace: small letters, digits and '-', at most "
                     "%u, a letter or digit first and last",
                     name, NAMESPACE_NAME_MAXIMUM_BYTES);
}
