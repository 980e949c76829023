/* SPDX-License-Identifier: MIT */
#include "report/scan/shell_word.h"

#include <string.h>

static bool is_plain(char character) { return character >= ' ' && character <= '~'; }

static void add_plain(const char *text, size_t length, struct text_buffer *out)
{
    text_buffer_add_text(out, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            text_buffer_add_text(out, "'\\''");
        else
            text_buffer_add_bytes(out, &text[i], 1);
    }
    text_buffer_add_text(out, "'");
}

static void add_octal(const char *text, size_t length, struct text_buffer *out)
{
    text_buffer_add_text(out, "$'");
    for (size_t i = 0; i < length; i++) {
        if (is_plain(text[i]) && text[i] != '\'' && text[i] != '\\')
            text_buffer_add_bytes(out, &text[i], 1);
        else
            text_buffer_add(out, "\\%03o", (unsigned)(unsigned char)text[i]);
    }
    text_buffer_add_text(out, "'");
}

static void add_literal(const char *text, size_t length, struct text_buffer *out)
{
    bool plain = true;
    for (size_t i = 0; i < length && plain; i++)
        plain = is_plain(text[i]);
    if (plain)
        add_plain(text, length, out);
    else
        add_octal(text, length, out);
}

/* NULL: no placeholder begins there. */
static const struct shell_placeholder *
placeholder_at(const char *text, const struct shell_placeholder *placeholders, size_t count)
{
    for (size_t i = 0; i < count && text[0] == '{'; i++) {
        size_t length = strlen(placeholders[i].name);
        if (strncmp(text + 1, placeholders[i].name, length) == 0 && text[1 + length] == '}')
            return &placeholders[i];
    }
    return NULL;
}

void shell_word_add(const char *text, const struct shell_placeholder *placeholders, size_t count,
                    struct text_buffer *out)
{
    const char *literal = text;
    for (const char *at = text; *at != '\0';) {
        const struct shell_placeholder *found = placeholder_at(at, placeholders, count);
        if (!found) {
            at++;
            continue;
        }
        if (at > literal)
            add_literal(literal, (size_t)(at - literal), out);
        text_buffer_add(out, "\"$%s\"", found->variable);
        at += strlen(found->name) + strlen("{}");
        literal = at;
    }
    if (*literal != '\0' || *text == '\0')
        add_literal(literal, strlen(literal), out);
}
