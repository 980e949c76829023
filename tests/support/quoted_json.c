/* SPDX-License-Identifier: MIT */
#include "tests/support/quoted_json.h"
#include "base/memory.h"
#include <stdarg.h>
#include <stdio.h>

#define JSON_BYTES_MAXIMUM ((size_t)1 << 16)

char *quoted_json(const char *format, ...)
{
    char *text = memory_allocate(JSON_BYTES_MAXIMUM);
    if (!text)
        return NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, JSON_BYTES_MAXIMUM, format, arguments);
    va_end(arguments);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    return text;
}
