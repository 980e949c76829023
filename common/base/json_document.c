/* SPDX-License-Identifier: MIT */
#include "base/json_document.h"
#include "base/json_value.h"
#include "base/name_index.h"
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#define JSON_MAXIMUM_VALUES ((size_t)4 << 20)

/* json-c takes more than JSON (NaN, comments, leading zeros, a comma before a bracket, control
 * characters in strings) and silently keeps the last of two equal keys. Its strict mode is no
 * help: in json-c 0.18 that refuses every character beyond ASCII. The scan refuses the first
 * kind before json-c reads the text, with an offset, and counts the keys so that a lost one
 * shows. */
struct scan {
    const char *text;
    size_t bytes;
    size_t at;
    unsigned depth;
    size_t values; /* openings and commas */
    size_t maximum_values;
    size_t keys;
    bool after_comma;
    const char *source;
    struct error_info *err;
};

static int error_at(const struct scan *scan, size_t offset, const char *reason)
{
    return error_set(scan->err, "%s: byte %zu: %s", scan->source, offset, reason);
}

static char character_at(const struct scan *scan, size_t at)
{
    return at < scan->bytes ? scan->text[at] : '\0';
}

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static int scan_string(struct scan *scan)
{
    size_t start = scan->at++;
    for (; scan->at < scan->bytes; scan->at++) {
        unsigned char character = (unsigned char)scan->text[scan->at];
        if (character == '"')
            return 0;
        if (character < 0x20)
            return error_at(scan, scan->at, "a control character stands in a string");
        if (character != '\\')
            continue;
        if (scan->bytes - scan->at >= 6 && memcmp(scan->text + scan->at, "\\u0000", 6) == 0)
            return error_at(scan, scan->at, "a string holds a NUL character");
        scan->at++;
    }
    return error_at(scan, start, "the string does not end");
}

static size_t skip_digits(const struct scan *scan, size_t at)
{
    while (character_at(scan, at) >= '0' && character_at(scan, at) <= '9')
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static int scan_number(struct scan *scan)
{
    size_t start = scan->at + (character_at(scan, scan->at) == '-');
    size_t end = skip_digits(scan, start);
    bool ok = end > start && (character_at(scan, start) != '0' || end == start + 1);
    if (character_at(scan, end) == '.') {
        size_t fraction = end + 1;
        end = skip_digits(scan, fraction);
        ok = ok && end > fraction;
    }
    if (character_at(scan, end) == 'e' || character_at(scan, end) == 'E') {
        size_t exponent = end + 1;
        exponent += character_at(scan, exponent) == '+' || character_at(scan, exponent) == '-';
        end = skip_digits(scan, exponent);
        ok = ok && end > exponent;
    }
    if (!ok)
        return error_at(scan, scan->at, "the number is malformed");
    scan->at = end - 1;
    return 0;
}

/* true, false and null are json-c's to check; these it takes too. */
static int scan_word(struct scan *scan)
{
    static const char *const refused[] = {"nan", "infinity"};
    size_t start = scan->at;
    while (character_at(scan, scan->at + 1) >= 'a' && character_at(scan, scan->at + 1) <= 'z')
        scan->at++;
    size_t length = scan->at + 1 - start;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (length >= strlen(refused[i]) &&
            memcmp(scan->text + start, refused[i], strlen(refused[i])) == 0)
            return error_at(scan, start, "unexpected character");
    return 0;
}

static int count_value(struct scan *scan)
{
    if (++scan->values <= scan->maximum_values)
        return 0;
    return error_set(scan->err, "%s: byte %zu: the text has too many values; at most %zu are taken",
                     scan->source, scan->at, scan->maximum_values);
}

static int scan_nesting(struct scan *scan, char character)
{
    if (character == '{' || character == '[') {
        if (++scan->depth > JSON_MAXIMUM_DEPTH)
            return error_set(scan->err, "%s: byte %zu: nested deeper than %u levels", scan->source,
                             scan->at, JSON_MAXIMUM_DEPTH);
        return count_value(scan);
    }
    if (scan->after_comma)
        return error_at(scan, scan->at, "unexpected character");
    scan->depth -= scan->depth > 0;
    return 0;
}

static int scan_character(struct scan *scan, char character)
{
    switch (character) {
    case '"':
        return scan_string(scan);
    case '{':
    case '}':
    case '[':
    case ']':
        return scan_nesting(scan, character);
    case ':':
        scan->keys++;
        return 0;
    case ',':
        return count_value(scan);
    case ' ':
    case '\t':
    case '\n':
    case '\r':
        return 0;
    default:
        if (character == '-' || (character >= '0' && character <= '9'))
            return scan_number(scan);
        return character >= 'a' && character <= 'z'
                   ? scan_word(scan)
                   : error_at(scan, scan->at, "unexpected character");
    }
}

static int scan_text(struct scan *scan)
{
    for (; scan->at < scan->bytes; scan->at++) {
        char character = scan->text[scan->at];
        if (scan_character(scan, character) < 0)
            return -1;
        if (!is_blank(character))
            scan->after_comma = character == ',';
    }
    return 0;
}

/* --- duplicate keys: which one? --------------------------------------------------- */

/* The key as json-c reads it, escapes undone; NULL: out of memory. */
static struct json_object *decode_key(const struct scan *scan, size_t start, size_t end)
{
    struct json_tokener *tokener = json_tokener_new();
    if (!tokener)
        return NULL;
    struct json_object *key =
        json_tokener_parse_ex(tokener, scan->text + start, (int)(end - start));
    json_tokener_free(tokener);
    return key;
}

static bool is_followed_by_colon(const struct scan *scan)
{
    size_t at = scan->at + 1;
    while (at < scan->bytes && strchr(" \t\r\n", scan->text[at]))
        at++;
    return character_at(scan, at) == ':';
}

static int check_key(struct scan *scan, struct name_index *keys, size_t start)
{
    struct json_object *key = decode_key(scan, start, scan->at + 1);
    int added = key ? name_index_add(keys, json_object_get_string(key), 0) : -1;
    if (added < 0)
        error_set_memory(scan->err);
    else if (added > 0)
        error_set(scan->err, "%s: byte %zu: the key '%.60s' stands twice", scan->source, start,
                  json_object_get_string(key));
    json_object_put(key);
    return added == 0 ? 0 : -1;
}

static int follow_keys(struct scan *scan, struct name_index *keys[JSON_MAXIMUM_DEPTH])
{
    for (; scan->at < scan->bytes; scan->at++) {
        char character = scan->text[scan->at];
        if (character == '{' || character == '[') {
            keys[scan->depth] = name_index_create();
            if (!keys[scan->depth++])
                return error_set_memory(scan->err);
        } else if (character == '}' || character == ']') {
            scan->depth--;
            name_index_free(move_pointer(keys[scan->depth]));
        } else if (character == '"') {
            size_t start = scan->at;
            scan_string(scan);
            if (is_followed_by_colon(scan) && check_key(scan, keys[scan->depth - 1], start) < 0)
                return -1;
        }
    }
    return error_at(scan, scan->bytes, "a key stands twice in one object");
}

/* Names the first repeated key of a text that json-c has accepted. */
static int error_duplicate_key(struct scan scan)
{
    struct name_index *keys[JSON_MAXIMUM_DEPTH] = {NULL};
    scan.at = 0;
    scan.depth = 0;
    int result = follow_keys(&scan, keys);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        name_index_free(keys[i]);
    return result;
}

/* --- json-c's tree into ours ------------------------------------------------------ */

static int convert(struct json_object *from, struct json_value *to, size_t *keys);

static int convert_object(struct json_object *from, struct json_value *to, size_t *keys)
{
    json_object_object_foreach(from, name, value)
    {
        struct json_value *child = json_value_add(to, name, JSON_NULL);
        ++*keys;
        if (!child || convert(value, child, keys) < 0)
            return -1;
    }
    return 0;
}

static int convert_array(struct json_object *from, struct json_value *to, size_t *keys)
{
    size_t count = json_object_array_length(from);
    for (size_t i = 0; i < count; i++) {
        struct json_value *child = json_value_add(to, NULL, JSON_NULL);
        if (!child || convert(json_object_array_get_idx(from, i), child, keys) < 0)
            return -1;
    }
    return 0;
}

static void convert_whole_number(struct json_object *from, struct json_value *to)
{
    int64_t number_signed = json_object_get_int64(from);
    uint64_t number_unsigned = number_signed < 0 ? 0 : json_object_get_uint64(from);
    if (number_signed == INT64_MIN || number_unsigned == UINT64_MAX) {
        /* json-c writes these also for what lies beyond, so they are no exact numbers. */
        to->form = JSON_REAL;
        to->number_real = number_signed < 0 ? (double)number_signed : (double)number_unsigned;
    } else if (number_signed < 0) {
        to->form = JSON_SIGNED;
        to->number_signed = number_signed;
    } else {
        to->form = JSON_UNSIGNED;
        to->number_unsigned = number_unsigned;
    }
}

/* Recursion no deeper than JSON_MAXIMUM_DEPTH: the scan has checked it. -1: a number is too
 * large for a double, or memory is short (json_value_failed). */
static int convert(struct json_object *from, struct json_value *to, size_t *keys)
{
    to->digits = JSON_REAL_DIGITS;
    switch (json_object_get_type(from)) {
    case json_type_object:
        to->kind = JSON_OBJECT;
        return convert_object(from, to, keys);
    case json_type_array:
        to->kind = JSON_ARRAY;
        return convert_array(from, to, keys);
    case json_type_string:
        to->kind = JSON_TEXT;
        json_value_set_text(to, json_object_get_string(from));
        return json_value_failed(to) ? -1 : 0;
    case json_type_boolean:
        to->kind = JSON_BOOLEAN;
        to->truth = json_object_get_boolean(from);
        return 0;
    case json_type_int:
        to->kind = JSON_NUMBER;
        convert_whole_number(from, to);
        return 0;
    case json_type_double:
        to->kind = JSON_NUMBER;
        to->form = JSON_REAL;
        to->number_real = json_object_get_double(from);
        return isfinite(to->number_real) ? 0 : -1;
    default:
        to->kind = JSON_NULL;
        return 0;
    }
}

static struct json_value *convert_tree(struct json_object *tree, struct scan *scan)
{
    CLEANUP(json_value) struct json_value *root = json_value_create_array();
    size_t keys = 0;
    if (!root)
        return error_null(error_set_memory(scan->err));
    if (convert(tree, root, &keys) < 0) {
        if (json_value_failed(root))
            error_set_memory(scan->err);
        else
            error_set(scan->err, "%s: a number is too large", scan->source);
        return NULL;
    }
    if (keys != scan->keys)
        return error_null(error_duplicate_key(*scan));
    return move_pointer(root);
}

/* --- json-c ----------------------------------------------------------------------- */

/* The final NUL tells json-c that a number at the end is complete. */
static int run_tokener(struct json_tokener *tokener, const struct scan *scan,
                       struct json_object **ret_tree)
{
    json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
    *ret_tree = json_tokener_parse_ex(tokener, scan->text, (int)scan->bytes);
    size_t end = json_tokener_get_parse_end(tokener);
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        *ret_tree = json_tokener_parse_ex(tokener, "", 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    if (error == json_tokener_success) {
        while (end < scan->bytes && is_blank(scan->text[end]))
            end++;
        return end == scan->bytes ? 0 : error_at(scan, end, "unexpected character");
    }
    if (error == json_tokener_continue || error == json_tokener_error_parse_eof)
        return error_at(scan, scan->bytes, "the text ends too early");
    return error_at(scan, json_tokener_get_parse_end(tokener), json_tokener_error_desc(error));
}

struct json_value *json_value_parse(const char *text, size_t bytes, const char *source,
                                    struct error_info *err)
{
    return json_value_parse_within(text, bytes, JSON_MAXIMUM_VALUES, source, err);
}

struct json_value *json_value_parse_within(const char *text, size_t bytes, size_t maximum_values,
                                           const char *source, struct error_info *err)
{
    struct scan scan = {.text = text,
                        .bytes = bytes,
                        .maximum_values = maximum_values,
                        .source = source,
                        .err = err};
    if (bytes > JSON_MAXIMUM_BYTES)
        return error_null(error_set(err, "%s: %zu bytes are too many; at most %zu are possible",
                                    source, bytes, JSON_MAXIMUM_BYTES));
    if (scan_text(&scan) < 0)
        return NULL;
    struct json_tokener *tokener = json_tokener_new_ex((int)JSON_MAXIMUM_DEPTH + 1);
    if (!tokener)
        return error_null(error_set_memory(err));
    struct json_object *tree = NULL;
    struct json_value *root = NULL;
    if (run_tokener(tokener, &scan, &tree) == 0)
        root = convert_tree(tree, &scan);
    json_tokener_free(tokener);
    json_object_put(tree);
    return root;
}
