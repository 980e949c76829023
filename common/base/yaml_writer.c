/* SPDX-License-Identifier: MIT */
#include "base/yaml_writer.h"
#include "base/json_value.h"
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define NUMBER_BYTES 64u

struct writer {
    yaml_emitter_t emitter;
    bool failed;
};

static int write_bytes(void *context, unsigned char *bytes, size_t count)
{
    struct text_buffer *out = context;
    text_buffer_add_bytes(out, (const char *)bytes, count);
    return !text_buffer_failed(out);
}

/* `created` is what the event's initialiser returned; yaml_emitter_emit frees the event,
 * also when it fails. */
static void emit(struct writer *writer, yaml_event_t *event, int created)
{
    if (!created || writer->failed) {
        if (created)
            yaml_event_delete(event);
        writer->failed = true;
        return;
    }
    writer->failed = !yaml_emitter_emit(&writer->emitter, event);
}

static void emit_scalar(struct writer *writer, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    int created = yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                               (int)strlen(text), 1, 1, style);
    emit(writer, &event, created);
}

/* What other YAML readers would take for a number, a truth or nothing. */
static bool looks_like_another_type(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no",   "on", "off",
                                        "y",    "n",     "~",   "null", "",   "<<"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(words[i], text) == 0)
            return true;
    return strchr("0123456789+-.", text[0]) != NULL;
}

/* Line breaks and everything outside ASCII are written as escapes, so that no reader can
 * fold or normalise them. */
static bool has_special_characters(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            return true;
    return false;
}

static void emit_text(struct writer *writer, const char *text)
{
    bool quoted = looks_like_another_type(text) || has_special_characters(text);
    emit_scalar(writer, text, quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
}

static void emit_number(struct writer *writer, const struct json_value *value)
{
    CLEANUP_DONE(text_buffer) struct text_buffer number;
    text_buffer_init(&number, NUMBER_BYTES);
    json_value_write_number(value, &number);
    if (text_buffer_failed(&number))
        writer->failed = true;
    else
        emit_scalar(writer, text_buffer_text(&number), YAML_PLAIN_SCALAR_STYLE);
}

static void emit_value(struct writer *writer, const struct json_value *value);

static void emit_array(struct writer *writer, const struct json_value *array)
{
    yaml_event_t event;
    int created =
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    emit(writer, &event, created);
    for (unsigned i = 0; i < array->count; i++)
        emit_value(writer, array->children[i]);
    created = yaml_sequence_end_event_initialize(&event);
    emit(writer, &event, created);
}

static void emit_object(struct writer *writer, const struct json_value *object)
{
    yaml_event_t event;
    int created =
        yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    emit(writer, &event, created);
    for (unsigned i = 0; i < object->count; i++) {
        emit_text(writer, object->children[i]->key);
        emit_value(writer, object->children[i]);
    }
    created = yaml_mapping_end_event_initialize(&event);
    emit(writer, &event, created);
}

/* Recursion as deep as the tree, as in json_value_write. */
static void emit_value(struct writer *writer, const struct json_value *value)
{
    switch (value->kind) {
    case JSON_OBJECT:
        emit_object(writer, value);
        break;
    case JSON_ARRAY:
        emit_array(writer, value);
        break;
    case JSON_TEXT:
        emit_text(writer, value->text);
        break;
    case JSON_NUMBER:
        emit_number(writer, value);
        break;
    case JSON_BOOLEAN:
        emit_scalar(writer, value->truth ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
        break;
    default:
        emit_scalar(writer, "null", YAML_PLAIN_SCALAR_STYLE);
    }
}

static void emit_document(struct writer *writer, const struct json_value *value)
{
    yaml_event_t event;
    int created = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    emit(writer, &event, created);
    created = yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
    emit(writer, &event, created);
    emit_value(writer, value);
    created = yaml_document_end_event_initialize(&event, 1);
    emit(writer, &event, created);
    created = yaml_stream_end_event_initialize(&event);
    emit(writer, &event, created);
}

int yaml_value_write(const struct json_value *value, struct text_buffer *out,
                     struct error_info *err)
{
    struct writer writer = {.failed = false};
    if (!value || json_value_failed(value) || !yaml_emitter_initialize(&writer.emitter))
        return error_set_memory(err);
    yaml_emitter_set_output(&writer.emitter, write_bytes, out);
    yaml_emitter_set_width(&writer.emitter, -1); /* no folding */
    emit_document(&writer, value);
    yaml_emitter_delete(&writer.emitter);
    return writer.failed ? error_set_memory(err) : 0;
}

static bool is_letter_or_digit(char character)
{
    return strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", character) &&
           character != '\0';
}

/* Letters, digits and what has no meaning in YAML; blanks only between words. */
static bool is_plain(const char *text)
{
    if (looks_like_another_type(text) || !is_letter_or_digit(text[0]))
        return false;
    for (const char *read = text; *read; read++) {
        bool between = *read == ' ' && is_letter_or_digit(read[1]);
        if (!is_letter_or_digit(*read) && !strchr("_-./+()=", *read) && !between)
            return false;
    }
    return true;
}

static void write_character(uint32_t code, struct text_buffer *out)
{
    if (code == '"' || code == '\\')
        text_buffer_add(out, "\\%c", (char)code);
    else if (code >= 0x20 && code < 0x7f)
        text_buffer_add(out, "%c", (char)code);
    else if (code > 0xffff)
        text_buffer_add(out, "\\U%08x", (unsigned)code);
    else
        text_buffer_add(out, "\\u%04x", (unsigned)code);
}

void yaml_text_write(const char *text, struct text_buffer *out)
{
    if (is_plain(text)) {
        text_buffer_add_text(out, text);
        return;
    }
    text_buffer_add_text(out, "\"");
    while (*text) {
        uint32_t code = '?';
        size_t bytes = text_character(text, &code);
        write_character(bytes > 0 ? code : '?', out);
        text += bytes > 0 ? bytes : 1;
    }
    text_buffer_add_text(out, "\"");
}
