/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/node_selector.h"
#include "base/parse_number.h"
#include "k8s_extender/objects/node_record.h"
#include "k8s_extender/objects/reading/object_fields.h"
#include <string.h>

#define NAME_FIELD "metadata.name"

static const char *const operator_words[] = {
    [SELECTOR_IN] = "In",         [SELECTOR_NOT_IN] = "NotIn",
    [SELECTOR_EXISTS] = "Exists", [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
    [SELECTOR_GREATER] = "Gt",    [SELECTOR_LESS] = "Lt",
};

struct reader {
    struct arena *arena;
    size_t requirements; /* of all terms together */
    size_t values;       /* of all requirements together */
    struct error_info *err;
};

/* --- reading ---------------------------------------------------------------------- */

/* An operator that is not known matches nothing: it becomes In without values. */
static enum selector_operator operator_of(const char *word, bool *ret_known)
{
    for (size_t i = 0; word && i < COUNT_OF(operator_words); i++)
        if (strcmp(word, operator_words[i]) == 0)
            return (enum selector_operator)i;
    *ret_known = false;
    return SELECTOR_IN;
}

static int read_values(struct reader *reader, const struct json_value *list,
                       struct selector_requirement *requirement)
{
    size_t count = json_value_count(list);
    reader->values += count;
    if (reader->values > NODE_SELECTOR_MAXIMUM_VALUES)
        return error_set(reader->err, "more than %u values; at most that many are possible",
                         NODE_SELECTOR_MAXIMUM_VALUES);
    const char **values = arena_allocate_array(reader->arena, count, sizeof(*values));
    if (!values)
        return error_set_memory(reader->err);
    for (size_t i = 0; i < count; i++) {
        const char *value = json_value_text(json_value_at(list, i));
        if (!value)
            return error_set(reader->err, "a value is no text");
        values[i] = arena_copy_text(reader->arena, value);
        if (!values[i])
            return error_set_memory(reader->err);
    }
    requirement->values = values;
    requirement->value_count = count;
    return 0;
}

static int read_requirement(struct reader *reader, const struct json_value *object, bool of_field,
                            struct selector_requirement *ret)
{
    const char *key = NULL, *word = NULL;
    const struct json_value *values;
    bool known = true;
    if (object_field_text(object, "key", &key, reader->err) < 0 ||
        object_field_text(object, "operator", &word, reader->err) < 0 ||
        object_field_list(object, "values", OBJECT_LIST_UNLIMITED, &values, reader->err) < 0)
        return -1;
    struct selector_requirement requirement = {.operator= operator_of(word, &known),
                                               .of_field = of_field};
    requirement.key = arena_copy_text(reader->arena, key ? key : "");
    if (!requirement.key)
        return error_set_memory(reader->err);
    if (read_values(reader, known ? values : NULL, &requirement) < 0)
        return -1;
    *ret = requirement;
    return 0;
}

static int read_list(struct reader *reader, const struct json_value *list, bool of_field,
                     struct selector_requirement *requirements)
{
    for (size_t i = 0; i < json_value_count(list); i++)
        if (read_requirement(reader, json_value_at(list, i), of_field, &requirements[i]) < 0)
            return -1;
    return 0;
}

static int read_term(struct reader *reader, const struct json_value *object,
                     struct selector_term *ret)
{
    const struct json_value *expressions, *fields;
    if (object_field_list(object, "matchExpressions", OBJECT_LIST_UNLIMITED, &expressions,
                          reader->err) < 0 ||
        object_field_list(object, "matchFields", OBJECT_LIST_UNLIMITED, &fields, reader->err) < 0)
        return -1;
    size_t first = json_value_count(expressions);
    size_t count = first + json_value_count(fields);
    reader->requirements += count;
    if (reader->requirements > NODE_SELECTOR_MAXIMUM_REQUIREMENTS)
        return error_set(reader->err, "more than %u requirements; at most that many are possible",
                         NODE_SELECTOR_MAXIMUM_REQUIREMENTS);
    struct selector_requirement *requirements =
        arena_allocate_array(reader->arena, count, sizeof(*requirements));
    if (!requirements)
        return error_set_memory(reader->err);
    if (read_list(reader, expressions, false, requirements) < 0 ||
        read_list(reader, fields, true, requirements + first) < 0)
        return -1;
    *ret = (struct selector_term){.requirements = requirements, .requirement_count = count};
    return 0;
}

/* A selector without terms matches nothing: it becomes one empty term. */
static int read_terms(struct reader *reader, const struct json_value *list,
                      struct node_selector *ret)
{
    size_t count = json_value_count(list);
    struct node_selector selector = {.term_count = count > 0 ? count : 1};
    struct selector_term *terms =
        arena_allocate_array(reader->arena, selector.term_count, sizeof(*terms));
    if (!terms)
        return error_set_memory(reader->err);
    for (size_t i = 0; i < count; i++)
        if (read_term(reader, json_value_at(list, i), &terms[i]) < 0)
            return -1;
    selector.terms = terms;
    *ret = selector;
    return 0;
}

int node_selector_read(const struct json_value *object, struct arena *arena,
                       struct node_selector *ret, struct error_info *err)
{
    struct reader reader = {.arena = arena, .err = err};
    const struct json_value *terms;
    if (json_value_kind(object) == JSON_NULL) {
        *ret = (struct node_selector){.terms = NULL};
        return 0;
    }
    if (json_value_kind(object) != JSON_OBJECT)
        return error_set(err, "a node selector is no object");
    if (object_field_list(object, "nodeSelectorTerms", NODE_SELECTOR_MAXIMUM_TERMS, &terms, err) <
        0)
        return -1;
    return read_terms(&reader, terms, ret);
}

/* --- matching --------------------------------------------------------------------- */

static bool is_among(const struct selector_requirement *requirement, const char *value)
{
    for (size_t i = 0; i < requirement->value_count; i++)
        if (strcmp(requirement->values[i], value) == 0)
            return true;
    return false;
}

/* Both must be whole numbers, and there must be one value. */
static bool compares(const struct selector_requirement *requirement, const char *value)
{
    int64_t have, limit;
    if (requirement->value_count != 1 ||
        parse_signed(value, INT64_MIN, INT64_MAX, &have, NULL) < 0 ||
        parse_signed(requirement->values[0], INT64_MIN, INT64_MAX, &limit, NULL) < 0)
        return false;
    return requirement->operator== SELECTOR_GREATER ? have > limit : have<limit;
}

/* value: NULL where the node has no such label. */
static bool holds(const struct selector_requirement *requirement, const char *value)
{
    switch (requirement->operator) {
    case SELECTOR_IN:
        return value && is_among(requirement, value);
    case SELECTOR_NOT_IN:
        return !value || !is_among(requirement, value);
    case SELECTOR_EXISTS:
        return value;
    case SELECTOR_DOES_NOT_EXIST:
        return !value;
    default:
        return value && compares(requirement, value);
    }
}

/* The scheduler takes In and NotIn of metadata.name, nothing else, for matchFields. */
static bool field_holds(const struct selector_requirement *requirement, const char *name)
{
    bool possible = requirement->operator== SELECTOR_IN || requirement->operator== SELECTOR_NOT_IN;
    return possible && strcmp(requirement->key, NAME_FIELD) == 0 && holds(requirement, name);
}

static bool term_matches(const struct selector_term *term, const struct node_record *node)
{
    for (size_t i = 0; i < term->requirement_count; i++) {
        const struct selector_requirement *requirement = &term->requirements[i];
        if (requirement->of_field
                ? !field_holds(requirement, node->name)
                : !holds(requirement, label_set_find(&node->labels, requirement->key)))
            return false;
    }
    return term->requirement_count > 0;
}

bool node_selector_matches(const struct node_selector *selector, const struct node_record *node)
{
    for (size_t i = 0; i < selector->term_count; i++)
        if (term_matches(&selector->terms[i], node))
            return true;
    return false;
}
