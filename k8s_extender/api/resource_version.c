/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/resource_version.h"

#include <string.h>

/* Of any length: they are not bound to 64 bits. */
static bool is_number(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' && text[strspn(text, "0123456789")] == '\0';
}

bool resource_version_is_older(const char *version, const char *than)
{
    if (!is_number(version) || !is_number(than))
        return false;
    size_t length = strlen(version), other = strlen(than);
    return length != other ? length < other : strcmp(version, than) < 0;
}
