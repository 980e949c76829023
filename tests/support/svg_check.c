/* SPDX-License-Identifier: MIT */
#include "tests/support/svg_check.h"
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "report/pictures/picture.h"

#include <stdio.h>
#include <string.h>

#define MAXIMUM_DEPTH 32
#define NAME_BYTES 16
#define TEXT_BYTES 512
#define MAXIMUM_TEXTS 4096

static char complaint[256];

__attribute__((format(printf, 1, 2))) static const char *complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format(complaint, sizeof(complaint), format, arguments);
    va_end(arguments);
    return complaint;
}

struct open_elements {
    char names[MAXIMUM_DEPTH][NAME_BYTES];
    int depth;
};

/* at: behind '<'. Returns the end of the tag, or NULL. */
static const char *read_tag(const char *at, struct open_elements *open)
{
    bool closing = *at == '/';
    at += closing;
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (length == 0 || length >= NAME_BYTES)
        return complain("no element at '%.20s'", at), NULL;
    char name[NAME_BYTES] = "";
    memcpy(name, at, length);
    for (at += length; *at && *at != '>' && *at != '/'; at++) {
        if (*at != '"')
            continue;
        at += 1 + strcspn(at + 1, "\"<");
        if (*at != '"')
            return complain("an attribute of <%s> does not end", name), NULL;
    }
    if (closing) {
        if (open->depth == 0 || strcmp(open->names[open->depth - 1], name) != 0)
            return complain("</%s> closes nothing", name), NULL;
        open->depth--;
    } else if (*at != '/') {
        if (open->depth == MAXIMUM_DEPTH)
            return complain("<%s> is too deep", name), NULL;
        memcpy(open->names[open->depth++], name, NAME_BYTES);
    }
    at += *at == '/';
    return *at == '>' ? at + 1 : (complain("<%s> does not end", name), NULL);
}

static size_t entity_length(const char *at)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    for (size_t i = 0; i < COUNT_OF(entities); i++)
        if (strncmp(at, entities[i], strlen(entities[i])) == 0)
            return strlen(entities[i]);
    return 0;
}

const char *svg_check_form(const char *text)
{
    struct open_elements open = {.depth = 0};
    const char *at = text;
    while (*at) {
        uint32_t code;
        size_t bytes = text_character(at, &code);
        if (*at == '<') {
            at = read_tag(at + 1, &open);
            if (!at)
                return complaint;
            continue;
        }
        if (*at == '&')
            bytes = entity_length(at);
        if (bytes == 0 || (code < 0x20 && code != '\n'))
            return complain("forbidden at '%.20s'", at);
        at += bytes;
    }
    return open.depth > 0 ? complain("<%s> stays open", open.names[open.depth - 1]) : NULL;
}

static double attribute_of(const char *tag, const char *end, const char *name)
{
    char pattern[32], number[32] = "";
    snprintf(pattern, sizeof(pattern), " %s=\"", name);
    const char *at = strstr(tag, pattern);
    double value = -1.0;
    if (!at || at > end)
        return value;
    at += strlen(pattern);
    size_t length = strcspn(at, "\"");
    if (length < sizeof(number))
        memcpy(number, at, length);
    (void)parse_real(number, -1e6, 1e6, &value, NULL);
    return value;
}

static const struct svg_font *font_of(const char *tag)
{
    static const struct svg_font *const fonts[] = {
        &font_title,   &font_subtitle, &font_strong, &font_plain,  &font_small,  &font_faint,
        &font_problem, &font_chip,     &font_hue,    &font_switch, &font_uplink, &font_cell};
    for (size_t i = 0; i < COUNT_OF(fonts); i++) {
        char pattern[32];
        snprintf(pattern, sizeof(pattern), "<text class=\"%s\"", fonts[i]->class_name);
        if (strncmp(tag, pattern, strlen(pattern)) == 0)
            return fonts[i];
    }
    return NULL;
}

/* What is shown: without a tooltip, each entity as one character of its width or more. */
static void shown_text(const char *at, char *out)
{
    if (strncmp(at, "<title>", 7) == 0)
        at = strstr(at, "</title>") + strlen("</title>");
    size_t length = 0;
    while (*at && *at != '<' && length < TEXT_BYTES - 1) {
        size_t entity = *at == '&' ? entity_length(at) : 0;
        out[length++] = *at;
        at += entity > 0 ? entity : 1;
    }
    out[length] = '\0';
}

static bool read_text(const char *tag, struct svg_box *box, char *shown)
{
    const char *end = strchr(tag, '>');
    const struct svg_font *font = font_of(tag);
    if (!end || !font)
        return false;
    shown_text(end + 1, shown);
    double width = svg_text_width(font, shown);
    box->x = attribute_of(tag, end, "x");
    box->y = attribute_of(tag, end, "y") - font->size * 0.8;
    box->width = width;
    box->height = font->size;
    if (strncmp(end - 8, "\"middle\"", 8) == 0)
        box->x -= width / 2.0;
    else if (strncmp(end - 5, "\"end\"", 5) == 0)
        box->x -= width;
    return true;
}

static bool overlap(const struct svg_box *left, const struct svg_box *right)
{
    return left->x < right->x + right->width && right->x < left->x + left->width &&
           left->y < right->y + right->height && right->y < left->y + left->height;
}

const char *svg_check_texts(const char *text)
{
    static struct svg_box boxes[MAXIMUM_TEXTS];
    static char shown[MAXIMUM_TEXTS][TEXT_BYTES];
    double width = attribute_of(text, text + strlen(text), "width");
    double height = attribute_of(text, text + strlen(text), "height");
    size_t count = 0;
    for (const char *at = strstr(text, "<text "); at && count < MAXIMUM_TEXTS;
         at = strstr(at + 1, "<text ")) {
        struct svg_box *box = &boxes[count];
        if (!read_text(at, box, shown[count]))
            return complain("a text of no known font: %.60s", at);
        if (box->x < 0.0 || box->y < 0.0 || box->x + box->width > width ||
            box->y + box->height > height)
            return complain("outside the page: %s", shown[count]);
        for (size_t i = 0; i < count; i++)
            if (overlap(&boxes[i], box))
                return complain("'%s' lies on '%s'", shown[count], shown[i]);
        count++;
    }
    return count > 0 ? NULL : complain("no text at all");
}
