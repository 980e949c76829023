/* SPDX-License-Identifier: MIT */
#include "base/tables/yaml_rows.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define ROWS_MAXIMUM 3u

struct lamp {
    const char *name;
    const char *colour; /* or NULL */
    double watts;
};

static const struct yaml_field fields[] = {
    {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct lamp, name), .required = true},
    {.key = "colour", .type = YAML_TEXT, .offset = offsetof(struct lamp, colour)},
    {.key = "watts", .type = YAML_REAL, .offset = offsetof(struct lamp, watts), .maximum = 100},
};
static const struct yaml_row_table lamps = {fields, COUNT_OF(fields), sizeof(struct lamp)};

/* The rows of the key `lamps`; the document is gone afterwards. */
static const struct lamp *load(struct arena *arena, const char *text, size_t *ret_count,
                               struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, strlen(text), "l.yaml", err);
    if (!document)
        return NULL;
    const struct yaml_node *list = yaml_node_get(yaml_document_root(document), "lamps");
    return yaml_rows_load(arena, list, &lamps, ROWS_MAXIMUM, ret_count, err);
}

static void rows_outlive_their_document(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t count = 0;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    assert_non_null(arena);
    const struct lamp *rows = load(arena,
                                   "lamps:\n  - {name: desk, colour: red, watts: 7.5}\n"
                                   "  - {name: hall}\n  - {watts: 100, name: \"\"}\n",
                                   &count, &err);
    if (!rows) {
        fail_msg("%s", err.text);
        return;
    }
    assert_int_equal(count, 3);
    assert_string_equal(rows[0].name, "desk");
    assert_string_equal(rows[0].colour, "red");
    assert_true(rows[0].watts == 7.5);
    assert_string_equal(rows[1].name, "hall");
    assert_null(rows[1].colour);
    assert_true(rows[1].watts == 0);
    assert_string_equal(rows[2].name, "");
}

static void refuses_with_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"lamps: x\n", "l.yaml:1: lamps: must be a list of 1 to 3 mappings"},
        {"lamps: {name: x}\n", "l.yaml:1: lamps: must be a list of 1 to 3 mappings"},
        {"lamps: []\n", "l.yaml:1: lamps: must be a list of 1 to 3 mappings"},
        {"lamps: [{name: a}, {name: b}, {name: c}, {name: d}]\n",
         "l.yaml:1: lamps: must be a list of 1 to 3 mappings"},
        {"lamps:\n- {name: a}\n- {nme: b}\n",
         "l.yaml:3: lamps[1].nme: unknown key; did you mean name?"},
        {"lamps:\n- {name: a, watts: 101}\n",
         "l.yaml:2: lamps[0].watts: '101' is not a number from 0 to 100"},
        {"lamps:\n- {watts: 10}\n", "l.yaml:2: lamps[0]: the key name is missing"},
        {"lamps:\n- text\n",
         "l.yaml:2: lamps[0]: a mapping (key: value) is expected, not a single value"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        size_t count = 77;
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
        assert_non_null(arena);
        assert_null(load(arena, rows[i].text, &count, &err));
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(count, 77);
    }
}

static int scenario(void *context, struct error_info *err)
{
    size_t count = 0;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!arena)
        return error_set_memory(err);
    return load(arena, context, &count, err) ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)"lamps: [{name: a, colour: b}, {name: c}]\n");
}

/* An arena that is full is memory that fails. */
static void full_arenas_are_said(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    size_t count = 0;
    CLEANUP(arena) struct arena *arena = arena_create(1);
    assert_non_null(arena);
    assert_null(load(arena, "lamps: [{name: a}]\n", &count, &err));
    assert_int_equal(err.kind, ERROR_MEMORY);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_outlive_their_document),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(failing_memory_is_clean),
        cmocka_unit_test(full_arenas_are_said),
    };
    return unit_test_main("base/yaml_rows", tests, COUNT_OF(tests));
}
