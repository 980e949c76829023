/* SPDX-License-Identifier: MIT */
#include "report/text_style.h"
#include <string.h>

#undef text_heading /* the function itself: base/texts/packed_text.h */

static const char *const tone_begin[TEXT_TONE_COUNT] = {
    [TONE_PLAIN] = "",         [TONE_TITLE] = "\033[1m", [TONE_FAINT] = "\033[2m",
    [TONE_CHOSEN] = "\033[1m", [TONE_GOOD] = "\033[32m", [TONE_WARNING] = "\033[33m",
    [TONE_BAD] = "\033[31m",
};

const char *text_tone_begin(const struct text_style *style, enum text_tone tone)
{
    return style->colour ? tone_begin[tone] : "";
}

const char *text_tone_end(const struct text_style *style, enum text_tone tone)
{
    return style->colour && tone != TONE_PLAIN ? "\033[0m" : "";
}

unsigned text_style_width(const struct text_style *style)
{
    return style->width > 0 ? style->width : TEXT_STYLE_DEFAULT_WIDTH;
}

void text_heading(const struct text_style *style, struct text_buffer *out, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    text_format(line, sizeof(line), format, arguments);
    va_end(arguments);
    text_buffer_add(out, "%s%s%s%s\n", out->length > 0 ? "\n" : "",
                    text_tone_begin(style, TONE_TITLE), line, text_tone_end(style, TONE_TITLE));
}

/* Bytes of the character at text, at least 1 before the final NUL. */
static size_t character_bytes(const char *text)
{
    uint32_t code;
    size_t bytes = text_character(text, &code);
    return bytes > 0 ? bytes : 1;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text += character_bytes(text))
        columns++;
    return columns;
}

static size_t word_columns(const char *word, size_t *ret_bytes)
{
    size_t columns = 0;
    const char *end = word;
    for (; *end && *end != ' ' && *end != '\n'; end += character_bytes(end))
        columns++;
    *ret_bytes = (size_t)(end - word);
    return columns;
}

void text_wrap(const char *text, size_t indent, size_t width, struct text_buffer *out)
{
    size_t used = 0;
    while (*text) {
        if (*text == ' ') {
            text++;
            continue;
        }
        size_t bytes;
        size_t columns = word_columns(text, &bytes);
        bool forced = *text == '\n';
        if (forced || (used > 0 && used + 1 + columns > width)) {
            text_buffer_add_text(out, "\n");
            text_buffer_add_repeated(out, ' ', indent);
            used = 0;
        } else if (used > 0) {
            text_buffer_add_text(out, " ");
            used++;
        }
        text_buffer_add_bytes(out, text, bytes);
        used += columns;
        text += forced ? 1 : bytes;
    }
}
