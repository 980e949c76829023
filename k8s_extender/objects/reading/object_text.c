/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/reading/object_text.h"

struct json_value *object_text_parse(const char *text, size_t bytes, const char *what,
                                     struct error_info *err)
{
    return json_value_parse(text, bytes, what, err);
}
