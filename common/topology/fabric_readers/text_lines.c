/* SPDX-License-Identifier: MIT */
#include "topology/fabric_readers/text_lines.h"
#include <string.h>

#define BLANKS " \t\r"

int text_lines_init(struct text_lines *lines, const char *text, size_t bytes, const char *source,
                    struct error_info *err)
{
    if (bytes > FABRIC_TEXT_MAXIMUM_BYTES)
        return error_set(err, "%s: larger than %zu MiB", source, FABRIC_TEXT_MAXIMUM_BYTES >> 20);
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_set(err, "%s: has a NUL byte; a text file is expected", source);
    lines->source = source;
    lines->next = text;
    lines->end = text + bytes;
    lines->number = 0;
    lines->text[0] = '\0';
    return 0;
}

/* Cuts comments and blanks; false: nothing is left. */
static bool trim(char *text)
{
    text[strcspn(text, "#")] = '\0';
    size_t start = strspn(text, BLANKS), length = strlen(text + start);
    memmove(text, text + start, length + 1);
    while (length > 0 && strchr(BLANKS, text[length - 1]))
        text[--length] = '\0';
    return length > 0;
}

int text_lines_next(struct text_lines *lines, struct error_info *err)
{
    while (lines->next < lines->end) {
        size_t left = (size_t)(lines->end - lines->next);
        const char *newline = memchr(lines->next, '\n', left);
        size_t bytes = newline ? (size_t)(newline - lines->next) : left;
        lines->number++;
        if (bytes >= TEXT_LINES_BYTES)
            return error_set(err, "%s:%u: the line has more than %u bytes", lines->source,
                             lines->number, TEXT_LINES_BYTES - 1);
        memcpy(lines->text, lines->next, bytes);
        lines->text[bytes] = '\0';
        lines->next += bytes + (newline != NULL);
        if (trim(lines->text))
            return 1;
    }
    return 0;
}

int text_lines_pair(struct text_lines *lines, const char **ret_name, char **ret_value,
                    struct error_info *err)
{
    char *colon = strchr(lines->text, ':');
    size_t bytes = colon ? (size_t)(colon - lines->text) : 0;
    if (bytes == 0)
        return error_set(err, "%s:%u: \"HOST: VALUE\" is expected at '%.40s'", lines->source,
                         lines->number, lines->text);
    *colon = '\0';
    for (size_t i = 0; i < bytes; i++)
        if (lines->text[i] <= ' ' || lines->text[i] >= 0x7f || strchr(",[]", lines->text[i]) ||
            bytes >= NODE_LIST_NAME_BYTES)
            return error_set(err, "%s:%u: '%.40s' is no node name", lines->source, lines->number,
                             lines->text);
    *ret_name = lines->text;
    *ret_value = colon + 1 + strspn(colon + 1, BLANKS);
    return 0;
}
