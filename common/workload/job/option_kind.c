/* SPDX-License-Identifier: MIT */
#include "workload/job/option_kind.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include <string.h>

bool option_names_file(const char *option)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t length = strlen(option), key = strcspn(option, "=");
    if (memchr(option, '/', key))
        return true;
    for (size_t i = 0; i < COUNT_OF(endings) && key == length; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && !strcmp(option + length - ending, endings[i]))
            return true;
    }
    return false;
}
