/* SPDX-License-Identifier: MIT */
#include "cli/inputs/input_remedy.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int input_remedy_add(const char *name, const char *remedy, struct error_info *err)
{
    struct stat status;
    if (!err || err->kind != ERROR_INPUT || strstr(err->text, "; ") ||
        (stat(name, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0))
        return -1;
    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof(err->text) - length, "; %s", remedy);
    return -1;
}
