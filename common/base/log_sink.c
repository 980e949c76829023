/* SPDX-License-Identifier: MIT */
#include "base/log_sink.h"
#include "base/error.h"
#include "base/text_buffer.h"
#include <stdarg.h>

#define LOG_LINE_BYTES 2048u

void log_message(const struct log_sink *sink, enum log_level level, const char *format, ...)
{
    if (!sink || !sink->write)
        return;
    char line[LOG_LINE_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    text_format(line, sizeof(line), format, arguments);
    va_end(arguments);
    error_clean_text(line);
    sink->write(sink->context, level, line);
}
