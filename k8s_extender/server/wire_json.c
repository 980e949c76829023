/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/wire_json.h"
#include <string.h>
#include <strings.h>

int wire_json_member(const struct json_value *object, const char *key,
                     const struct json_value **ret, struct error_info *err)
{
    const struct json_value *found = NULL;
    size_t seen = 0;
    for (size_t i = 0; i < json_value_count(object); i++) {
        const struct json_value *member = json_value_at(object, i);
        const char *name = json_value_key(member);
        if (!name || strcasecmp(name, key) != 0)
            continue;
        if (seen++ > 0)
            return error_set(err, "%s stands twice, in different cases", key);
        found = member;
    }
    *ret = json_value_kind(found) == JSON_NULL ? NULL : found;
    return 0;
}

int wire_json_text(const struct json_value *object, const char *key, const char **ret,
                   struct error_info *err)
{
    const struct json_value *member = NULL;
    if (wire_json_member(object, key, &member, err) < 0)
        return -1;
    const char *text = member ? json_value_text(member) : "";
    if (!text)
        return error_set(err, "%s is no text", key);
    *ret = text;
    return 0;
}

/* How many bytes at text are written as they are. */
static size_t plain_bytes(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x7f &&
           text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

static void add_escaped(struct text_buffer *out, unsigned char character)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = "\\u0000";
    if (character == '"' || character == '\\') {
        escape[1] = (char)character;
        text_buffer_add_bytes(out, escape, 2);
        return;
    }
    escape[4] = digits[character >> 4];
    escape[5] = digits[character & 0xf];
    text_buffer_add_bytes(out, escape, 6);
}

/* The bytes of the text that were written; 0: it does not fit into `room`. */
static size_t add_character(struct text_buffer *out, const char *text, size_t room)
{
    uint32_t code;
    size_t bytes = text_character(text, &code);
    if (bytes > room)
        return 0;
    if (bytes == 0)
        text_buffer_add_text(out, "\xef\xbf\xbd");
    else if (bytes == 1)
        add_escaped(out, (unsigned char)text[0]);
    else
        text_buffer_add_bytes(out, text, bytes);
    return bytes ? bytes : 1;
}

void wire_json_add_cut(struct text_buffer *out, const char *text, size_t maximum)
{
    size_t left = strnlen(text, maximum);
    text_buffer_add_bytes(out, "\"", 1);
    while (left > 0) {
        size_t step = plain_bytes(text, left);
        if (step > 0)
            text_buffer_add_bytes(out, text, step);
        else
            step = add_character(out, text, left);
        if (step == 0)
            break;
        text += step;
        left -= step;
    }
    text_buffer_add_bytes(out, "\"", 1);
}

void wire_json_add_text(struct text_buffer *out, const char *text)
{
    wire_json_add_cut(out, text, SIZE_MAX);
}
