/* SPDX-License-Identifier: MIT */
#include "base/yaml_fields.h"
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include <float.h>
#include <string.h>

#define NEAREST_MAXIMUM_DISTANCE 2u
#define NEAREST_MAXIMUM_BYTES 64u
#define KNOWN_KEYS_BYTES 512u
#define CASE_BIT ('a' - 'A')

static unsigned minimum_of(unsigned left, unsigned right) { return left < right ? left : right; }

/* Levenshtein's distance, capitals or not, with one row; both names are shorter than
 * NEAREST_MAXIMUM_BYTES. */
static unsigned edit_distance(const char *left, const char *right, size_t right_bytes)
{
    unsigned row[NEAREST_MAXIMUM_BYTES];
    for (unsigned j = 0; j <= right_bytes; j++)
        row[j] = j;
    for (unsigned i = 1; left[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= right_bytes; j++) {
            unsigned replaced = diagonal + (((left[i - 1] ^ right[j - 1]) & ~CASE_BIT) != 0);
            diagonal = row[j];
            row[j] = minimum_of(replaced, minimum_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[right_bytes];
}

const char *name_nearest(const char *name, const char *const *known, size_t count)
{
    size_t bytes = strlen(name);
    if (bytes >= NEAREST_MAXIMUM_BYTES)
        return NULL;
    const char *nearest = NULL;
    unsigned best = NEAREST_MAXIMUM_DISTANCE + 1;
    if (best > bytes)
        best = (unsigned)bytes; /* a name with no letter in common is not near */
    for (size_t i = 0; i < count; i++) {
        size_t known_bytes = strlen(known[i]);
        if (known_bytes >= NEAREST_MAXIMUM_BYTES)
            continue;
        unsigned distance = edit_distance(name, known[i], known_bytes);
        if (distance < best) {
            best = distance;
            nearest = known[i];
        }
    }
    return nearest;
}

static const struct yaml_field *find_field(const struct yaml_field *fields, size_t count,
                                           const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

static const char *nearest_field(const struct yaml_field *fields, size_t count, const char *key)
{
    /* One key at a time, so that no table of pointers has to be made. */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *pair[] = {fields[i].key, nearest};
        const char *found = name_nearest(key, pair, nearest ? 2 : 1);
        nearest = found ? found : nearest;
    }
    return nearest;
}

/* "tp, pp, dp", cut with "…" where it is too long for a message. */
static void list_keys(const struct yaml_field *fields, size_t count, char out[KNOWN_KEYS_BYTES])
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t needed = strlen(fields[i].key) + sizeof(", …");
        if (length + needed >= KNOWN_KEYS_BYTES) {
            memcpy(out + length, ", …", sizeof(", …"));
            return;
        }
        length += (size_t)snprintf(out + length, KNOWN_KEYS_BYTES - length, "%s%s",
                                   i > 0 ? ", " : "", fields[i].key);
    }
}

static int error_unknown_key(const struct yaml_node *node, const struct yaml_field *fields,
                             size_t count, struct error_info *err)
{
    const char *nearest = nearest_field(fields, count, node->key);
    if (nearest)
        return yaml_node_error(node, err, "unknown key; did you mean %s?", nearest);
    char known[KNOWN_KEYS_BYTES];
    list_keys(fields, count, known);
    return yaml_node_error(node, err, "unknown key; the keys here are: %s", known);
}

/* A table's limit as a whole number; those of a double reach past 2^64. */
static uint64_t whole_limit(double limit)
{
    if (limit <= 0)
        return 0;
    return limit < 0x1p64 ? (uint64_t)limit : UINT64_MAX;
}

static double minimum_of_field(const struct yaml_field *field)
{
    return round_significant((double)field->minimum, YAML_MINIMUM_DIGITS);
}

static int load_unsigned(const char *text, const struct yaml_field *field, void *target,
                         struct error_info *err)
{
    uint64_t maximum = field->maximum > 0 ? whole_limit(field->maximum) : UINT64_MAX;
    uint64_t number;
    if (parse_unsigned(text, whole_limit((double)field->minimum), maximum, &number, err) < 0)
        return -1;
    memcpy(target, &number, sizeof(number));
    return 0;
}

static int load_real(const char *text, const struct yaml_field *field, void *target,
                     struct error_info *err)
{
    double number;
    double maximum = field->maximum == 0 ? DBL_MAX : field->maximum;
    if (parse_real(text, minimum_of_field(field), maximum, &number, err) < 0)
        return -1;
    memcpy(target, &number, sizeof(number));
    return 0;
}

static int load_bytes(const char *text, const struct yaml_field *field, void *target,
                      struct error_info *err)
{
    uint64_t bytes;
    if (parse_bytes(text, &bytes, err) < 0)
        return -1;
    if (bytes > 0 && strspn(text, "0123456789.") == strlen(text))
        return error_set(err, "%.40s has no unit; write %.40sGiB or %.40sGB (or B for bytes)", text,
                         text, text);
    if (bytes < whole_limit((double)field->minimum))
        return error_set(err, "'%s' is less than the %.0f bytes that are possible", text,
                         (double)field->minimum);
    if (field->maximum > 0 && bytes > whole_limit(field->maximum))
        return error_set(err, "'%s' is more than the %.0f bytes that are possible", text,
                         field->maximum);
    memcpy(target, &bytes, sizeof(bytes));
    return 0;
}

static int load_boolean(const char *text, const struct yaml_field *field, void *target,
                        struct error_info *err)
{
    (void)field;
    bool truth;
    if (parse_boolean(text, &truth, err) < 0)
        return -1;
    memcpy(target, &truth, sizeof(truth));
    return 0;
}

static int load_choice(const char *text, const struct yaml_field *field, void *target,
                       struct error_info *err)
{
    char known[KNOWN_KEYS_BYTES] = "";
    size_t length = 0;
    for (unsigned i = 0; field->choices[i]; i++) {
        if (strcmp(field->choices[i], text) == 0) {
            memcpy(target, &i, sizeof(i));
            return 0;
        }
        if (length < sizeof(known))
            length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
                                       i > 0 ? ", " : "", field->choices[i]);
    }
    return error_set(err, "'%.60s' is not one of: %s", text, known);
}

static int load_text(const char *text, const struct yaml_field *field, void *target,
                     struct error_info *err)
{
    (void)field;
    (void)err;
    memcpy(target, &text, sizeof(const char *));
    return 0;
}

static bool has_leading_zero(const char *text)
{
    return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

static int load_field(const struct yaml_node *node, const struct yaml_field *field, void *target,
                      struct error_info *err)
{
    static int (*const load[])(const char *text, const struct yaml_field *field, void *target,
                               struct error_info *err) = {
        [YAML_TEXT] = load_text,   [YAML_UNSIGNED] = load_unsigned, [YAML_REAL] = load_real,
        [YAML_BYTES] = load_bytes, [YAML_BOOLEAN] = load_boolean,   [YAML_CHOICE] = load_choice,
    };
    void *member = (char *)target + field->offset;
    if (field->type == YAML_NODE) {
        memcpy(member, &node, sizeof(const struct yaml_node *));
        return 0;
    }
    if (node->kind != YAML_SCALAR)
        return yaml_node_error(node, err, "a single value is expected, not a %s",
                               node->kind == YAML_SEQUENCE ? "list" : "mapping");
    bool number =
        field->type == YAML_UNSIGNED || field->type == YAML_REAL || field->type == YAML_BYTES;
    if (number && has_leading_zero(node->text))
        return yaml_node_error(node, err,
                               "'%.60s' begins with 0, which YAML can take as octal; leave the 0 "
                               "out",
                               node->text);
    struct error_info why = {.kind = ERROR_NONE};
    if (load[field->type](node->text, field, member, &why) < 0)
        return yaml_node_error(node, err, "%s", why.text);
    return 0;
}

int yaml_fields_load(const struct yaml_node *mapping, const struct yaml_field *fields, size_t count,
                     void *target, struct error_info *err)
{
    if (mapping->kind != YAML_MAPPING && !yaml_node_is_empty(mapping))
        return yaml_node_error(mapping, err, "a mapping (key: value) is expected, not a %s",
                               mapping->kind == YAML_SEQUENCE ? "list" : "single value");
    for (size_t i = 0; i < mapping->child_count; i++) {
        const struct yaml_node *node = mapping->children[i];
        const struct yaml_field *field = find_field(fields, count, node->key);
        if (field ? load_field(node, field, target, err) < 0
                  : strcmp(node->key, "schema") != 0 &&
                        error_unknown_key(node, fields, count, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && !yaml_node_get(mapping, fields[i].key))
            return yaml_node_error(mapping, err, "the key %s is missing", fields[i].key);
    return 0;
}
