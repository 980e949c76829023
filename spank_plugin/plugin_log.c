/* SPDX-License-Identifier: MIT */
#include "spank_plugin/plugin_log.h"
#include "base/text_buffer.h"
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>

#undef plugin_notice /* the function itself: base/texts/packed_text.h */

int plugin_refuse(const struct error_info *err)
{
    slurm_error("parplan: %s", err->text);
    return -1;
}

void plugin_notice(const char *format, ...)
{
    char line[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(line, sizeof(line), format, arguments);
    va_end(arguments);
    slurm_info("parplan: %s", line);
}
