/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/text_buffer.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#undef error_set /* the function itself: base/texts/packed_text.h */
#undef error_set_system
#undef error_prefix

static bool code_is_printable(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } refused[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x200e, 0x200f}, {0x2028, 0x202e},
        {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (code >= refused[i].first && code <= refused[i].last)
            return false;
    return true;
}

void error_clean_text(char *text)
{
    char *write = text;
    for (const char *read = text; *read;) {
        uint32_t code;
        size_t bytes = text_character(read, &code);
        if (bytes > 0 && code_is_printable(code)) {
            memmove(write, read, bytes);
            write += bytes;
        } else {
            *write++ = '?';
        }
        read += bytes > 0 ? bytes : 1;
    }
    *write = '\0';
}

/* A text cut at the limit may end inside a character, which is not the writer's fault. */
static void drop_partial_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || ((unsigned char)text[start - 1] & 0xc0) != 0xc0)
        return;
    uint32_t code;
    if (text_character(text + start - 1, &code) == 0)
        text[start - 1] = '\0';
}

__attribute__((format(printf, 2, 0))) static void
format_clean(char text[ERROR_TEXT_BYTES], const char *format, va_list arguments)
{
    text[0] = '\0';
    int length = text_format(text, ERROR_TEXT_BYTES, format, arguments);
    if (length >= ERROR_TEXT_BYTES)
        drop_partial_character(text, ERROR_TEXT_BYTES - 1);
    error_clean_text(text);
}

__attribute__((format(printf, 3, 0))) static int
set_list(struct error_info *err, enum error_kind kind, const char *format, va_list arguments)
{
    if (!err)
        return -1;
    char text[ERROR_TEXT_BYTES]; /* the arguments may point into err->text */
    format_clean(text, format, arguments);
    memcpy(err->text, text, strlen(text) + 1);
    err->kind = kind;
    return -1;
}

int error_set(struct error_info *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_list(err, ERROR_INPUT, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_system(struct error_info *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_list(err, ERROR_SYSTEM, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_memory(struct error_info *err)
{
    if (err) {
        static const char text[] = "out of memory";
        err->kind = ERROR_MEMORY;
        memcpy(err->text, text, sizeof(text));
    }
    return -1;
}

int error_prefix(struct error_info *err, const char *format, ...)
{
    if (!err)
        return -1;
    char text[2 * ERROR_TEXT_BYTES + sizeof(": ")];
    va_list arguments;
    va_start(arguments, format);
    format_clean(text, format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    memcpy(text + length, ": ", 2);
    memcpy(text + length + 2, err->text, strlen(err->text) + 1);
    if (strlen(text) >= ERROR_TEXT_BYTES) {
        text[ERROR_TEXT_BYTES - 1] = '\0';
        drop_partial_character(text, ERROR_TEXT_BYTES - 1);
    }
    memcpy(err->text, text, strlen(text) + 1);
    return -1;
}

const char *error_errno_text(int errno_value)
{
    const char *text = strerrordesc_np(errno_value);
    return text ? text : "Unknown error";
}
