/* SPDX-License-Identifier: MIT */
#include "base/json_value.h"
#include "base/parse_number.h"
#include <math.h>
#include <string.h>

#define FIRST_CAPACITY 4u
#define INDENT_SPACES 2u
#define LARGEST_EXACT_WHOLE 0x1p53

struct json_document {
    struct arena *arena;
    bool failed;
    struct json_value root;
};

static struct json_value *create_root(enum json_kind kind)
{
    struct json_document *document = memory_allocate(sizeof(*document));
    if (!document)
        return NULL;
    document->arena = arena_create(JSON_MAXIMUM_TREE_BYTES);
    if (!document->arena) {
        memory_free(document);
        return NULL;
    }
    document->root = (struct json_value){.document = document, .kind = kind};
    return &document->root;
}

struct json_value *json_value_create_object(void) { return create_root(JSON_OBJECT); }

struct json_value *json_value_create_array(void) { return create_root(JSON_ARRAY); }

void json_value_free(struct json_value *value)
{
    if (!value || value != &value->document->root)
        return;
    struct json_document *document = value->document;
    arena_free(document->arena);
    memory_free(document);
}

bool json_value_failed(const struct json_value *value) { return value->document->failed; }

/* --- reading ---------------------------------------------------------------------- */

enum json_kind json_value_kind(const struct json_value *value)
{
    return value ? value->kind : JSON_NULL;
}

const struct json_value *json_value_get(const struct json_value *object, const char *key)
{
    if (json_value_kind(object) != JSON_OBJECT)
        return NULL;
    for (unsigned i = 0; i < object->count; i++)
        if (strcmp(object->children[i]->key, key) == 0)
            return object->children[i];
    return NULL;
}

size_t json_value_count(const struct json_value *array)
{
    enum json_kind kind = json_value_kind(array);
    return kind == JSON_ARRAY || kind == JSON_OBJECT ? array->count : 0;
}

const struct json_value *json_value_at(const struct json_value *array, size_t index)
{
    return index < json_value_count(array) ? array->children[index] : NULL;
}

const char *json_value_key(const struct json_value *value) { return value ? value->key : NULL; }

const char *json_value_text(const struct json_value *value)
{
    return json_value_kind(value) == JSON_TEXT ? value->text : NULL;
}

static bool whole_number(const struct json_value *value, uint64_t *ret)
{
    switch (value->form) {
    case JSON_UNSIGNED:
        *ret = value->number_unsigned;
        return true;
    case JSON_SIGNED:
        *ret = (uint64_t)value->number_signed;
        return value->number_signed >= 0;
    default:
        if (!(value->number_real >= 0 && value->number_real <= LARGEST_EXACT_WHOLE))
            return false;
        *ret = (uint64_t)value->number_real;
        return (double)*ret == value->number_real;
    }
}

int json_value_unsigned(const struct json_value *value, uint64_t maximum, uint64_t *ret)
{
    uint64_t number;
    if (json_value_kind(value) != JSON_NUMBER || !whole_number(value, &number) || number > maximum)
        return -1;
    *ret = number;
    return 0;
}

int json_value_real(const struct json_value *value, double *ret)
{
    if (json_value_kind(value) != JSON_NUMBER)
        return -1;
    if (value->form == JSON_UNSIGNED)
        *ret = (double)value->number_unsigned;
    else if (value->form == JSON_SIGNED)
        *ret = (double)value->number_signed;
    else
        *ret = value->number_real;
    return 0;
}

int json_value_boolean(const struct json_value *value, bool *ret)
{
    if (json_value_kind(value) != JSON_BOOLEAN)
        return -1;
    *ret = value->truth;
    return 0;
}

/* --- building --------------------------------------------------------------------- */

/* The capacity is not stored: it is the power of two that the count has reached. */
static int reserve_child(struct json_value *parent)
{
    unsigned count = parent->count;
    if (count != 0 && (count < FIRST_CAPACITY || (count & (count - 1)) != 0))
        return 0;
    size_t capacity = count ? (size_t)count * 2 : FIRST_CAPACITY;
    struct json_value **children =
        arena_allocate_array(parent->document->arena, capacity, sizeof(struct json_value *));
    if (!children)
        return -1;
    if (count > 0)
        memcpy(children, parent->children, count * sizeof(struct json_value *));
    parent->children = children;
    return 0;
}

static bool is_ascii(const char *text, size_t bytes)
{
    unsigned char seen = 0;
    for (size_t i = 0; i < bytes; i++)
        seen |= (unsigned char)text[i];
    return seen < 0x80;
}

/* Copies the text with every byte that is no UTF-8 replaced by U+FFFD, since neither JSON
 * nor YAML can carry it. */
static const char *copy_clean_text(struct arena *arena, const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t bytes = strlen(text);
    if (is_ascii(text, bytes))
        return arena_copy_bytes(arena, text, bytes);
    size_t bad = 0, step;
    uint32_t code;
    for (const char *read = text; *read; read += step ? step : 1) {
        step = text_character(read, &code);
        bad += step == 0;
    }
    char *copy = arena_allocate(arena, bytes + bad * (sizeof(replacement) - 2) + 1);
    char *write = copy;
    for (const char *read = text; copy && *read; read += step ? step : 1) {
        step = text_character(read, &code);
        size_t written = step ? step : sizeof(replacement) - 1;
        memcpy(write, step ? read : replacement, written);
        write += written;
    }
    return copy;
}

struct json_value *json_value_add(struct json_value *parent, const char *key, enum json_kind kind)
{
    if (!parent || parent->document->failed)
        return NULL;
    struct json_document *document = parent->document;
    struct json_value *value = arena_allocate(document->arena, sizeof(*value));
    const char *key_copy = key ? copy_clean_text(document->arena, key) : NULL;
    if (!value || (key && !key_copy) || reserve_child(parent) < 0) {
        document->failed = true;
        return NULL;
    }
    *value = (struct json_value){.document = document, .key = key_copy, .kind = kind};
    parent->children[parent->count++] = value;
    return value;
}

void json_value_set_text(struct json_value *value, const char *text)
{
    if (!value)
        return;
    value->text = copy_clean_text(value->document->arena, text);
    if (!value->text) {
        value->text = "";
        value->document->failed = true;
    }
}

struct json_value *json_add_object(struct json_value *parent, const char *key)
{
    return json_value_add(parent, key, JSON_OBJECT);
}

struct json_value *json_add_array(struct json_value *parent, const char *key)
{
    return json_value_add(parent, key, JSON_ARRAY);
}

void json_add_text(struct json_value *parent, const char *key, const char *text)
{
    if (text)
        json_value_set_text(json_value_add(parent, key, JSON_TEXT), text);
    else
        json_add_null(parent, key);
}

void json_add_unsigned(struct json_value *parent, const char *key, uint64_t number)
{
    struct json_value *value = json_value_add(parent, key, JSON_NUMBER);
    if (value) {
        value->form = JSON_UNSIGNED;
        value->number_unsigned = number;
    }
}

void json_add_signed(struct json_value *parent, const char *key, int64_t number)
{
    struct json_value *value = json_value_add(parent, key, JSON_NUMBER);
    if (value) {
        value->form = JSON_SIGNED;
        value->number_signed = number;
    }
}

void json_add_real(struct json_value *parent, const char *key, double number, unsigned digits)
{
    if (!isfinite(number)) {
        json_add_null(parent, key);
        return;
    }
    struct json_value *value = json_value_add(parent, key, JSON_NUMBER);
    if (value) {
        value->form = JSON_REAL;
        value->digits = digits < JSON_REAL_DIGITS ? digits & 0xff : JSON_REAL_DIGITS;
        value->number_real = round_significant(number, digits);
    }
}

void json_add_boolean(struct json_value *parent, const char *key, bool truth)
{
    struct json_value *value = json_value_add(parent, key, JSON_BOOLEAN);
    if (value)
        value->truth = truth;
}

void json_add_null(struct json_value *parent, const char *key)
{
    json_value_add(parent, key, JSON_NULL);
}

/* --- writing ---------------------------------------------------------------------- */

static void write_text(const char *text, struct text_buffer *out)
{
    static const char *const escapes[0x20] = {
        ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    text_buffer_add_bytes(out, "\"", 1);
    const char *start = text;
    for (const char *read = text;; read++) {
        unsigned char character = (unsigned char)*read;
        if (character >= 0x20 && character != '"' && character != '\\')
            continue;
        text_buffer_add_bytes(out, start, (size_t)(read - start));
        start = read + 1;
        if (character == '\0')
            break;
        if (character >= 0x20)
            text_buffer_add(out, "\\%c", character);
        else if (escapes[character])
            text_buffer_add_text(out, escapes[character]);
        else
            text_buffer_add(out, "\\u%04x", character);
    }
    text_buffer_add_bytes(out, "\"", 1);
}

static void write_unsigned(uint64_t number, struct text_buffer *out)
{
    char digits[20]; /* of 2^64 - 1 */
    size_t start = sizeof(digits);
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text_buffer_add_bytes(out, digits + start, sizeof(digits) - start);
}

void json_value_write_number(const struct json_value *value, struct text_buffer *out)
{
    if (value->form == JSON_REAL) {
        text_buffer_add_real(out, value->number_real, value->digits);
    } else if (value->form == JSON_SIGNED && value->number_signed < 0) {
        text_buffer_add_bytes(out, "-", 1);
        write_unsigned(-(uint64_t)value->number_signed, out);
    } else {
        write_unsigned(value->number_unsigned, out);
    }
}

static void write_scalar(const struct json_value *value, struct text_buffer *out)
{
    switch (value->kind) {
    case JSON_BOOLEAN:
        text_buffer_add_text(out, value->truth ? "true" : "false");
        break;
    case JSON_NUMBER:
        json_value_write_number(value, out);
        break;
    case JSON_TEXT:
        write_text(value->text, out);
        break;
    default:
        text_buffer_add_text(out, "null");
    }
}

static void write_break(enum json_style style, size_t depth, struct text_buffer *out)
{
    if (style == JSON_STYLE_COMPACT)
        return;
    text_buffer_add_bytes(out, "\n", 1);
    text_buffer_add_repeated(out, ' ', depth * INDENT_SPACES);
}

/* Recursion as deep as the tree: what is read has JSON_MAXIMUM_DEPTH, what is built has the
 * depth of our own documents. */
static void write_value(const struct json_value *value, enum json_style style, size_t depth,
                        struct text_buffer *out)
{
    bool is_object = value->kind == JSON_OBJECT;
    if (!is_object && value->kind != JSON_ARRAY) {
        write_scalar(value, out);
        return;
    }
    text_buffer_add_bytes(out, is_object ? "{" : "[", 1);
    for (unsigned i = 0; i < value->count; i++) {
        if (i > 0)
            text_buffer_add_bytes(out, ",", 1);
        write_break(style, depth + 1, out);
        if (is_object) {
            write_text(value->children[i]->key, out);
            text_buffer_add_text(out, style == JSON_STYLE_COMPACT ? ":" : ": ");
        }
        write_value(value->children[i], style, depth + 1, out);
    }
    if (value->count > 0)
        write_break(style, depth, out);
    text_buffer_add_bytes(out, is_object ? "}" : "]", 1);
}

int json_value_write(const struct json_value *value, enum json_style style, struct text_buffer *out,
                     struct error_info *err)
{
    if (!value || value->document->failed)
        return error_set_memory(err);
    write_value(value, style, 0, out);
    if (style == JSON_STYLE_PRETTY)
        text_buffer_add_bytes(out, "\n", 1);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
