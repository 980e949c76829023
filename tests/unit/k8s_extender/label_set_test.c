/* SPDX-License-Identifier: MIT */
#include "k8s_extender/objects/label_set.h"
#include "tests/support/quoted_json.h"
#include "tests/support/unit_test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_BYTES ((size_t)4 << 20)

static int read_text(const char *quoted, label_filter_fn keep, struct arena *arena,
                     struct label_set *ret, struct error_info *err)
{
    CLEANUP_MEMORY char *text = quoted_json("%s", quoted);
    if (!text)
        return error_set_memory(err);
    CLEANUP(json_value)
    struct json_value *object = json_value_parse(text, strlen(text), "test", err);
    return object ? label_set_read(object, keep, arena, ret, err) : -1;
}

static bool begins_with_b(const char *key) { return key[0] == 'b'; }

static void sorts_and_finds(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct label_set set;
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(arena);
    assert_int_equal(
        read_text("{'b':'2','a':'1','c':null,'ba':'','B':'x'}", NULL, arena, &set, &err), 0);
    assert_int_equal(set.count, 5);
    for (size_t i = 1; i < set.count; i++)
        assert_true(strcmp(set.labels[i - 1].key, set.labels[i].key) < 0);
    assert_string_equal(label_set_find(&set, "a"), "1");
    assert_string_equal(label_set_find(&set, "b"), "2");
    assert_string_equal(label_set_find(&set, "c"), "");
    assert_string_equal(label_set_find(&set, "B"), "x");
    assert_null(label_set_find(&set, "d"));
    assert_null(label_set_find(&set, ""));
}

static void keeps_what_the_filter_says(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    struct label_set set;
    struct error_info err = {.kind = ERROR_NONE};
    assert_non_null(arena);
    assert_int_equal(read_text("{'b':'2','a':7,'ba':'3'}", begins_with_b, arena, &set, &err), 0);
    assert_int_equal(set.count, 2);
    assert_int_equal(read_text("null", NULL, arena, &set, &err), 0);
    assert_int_equal(set.count, 0);
    assert_null(label_set_find(&set, "a"));
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[]", "an object of texts is needed"},
        {"'x'", "an object of texts is needed"},
        {"{'a':5}", "'a' is no text"},
        {"{'a\\u0007':{}}", "'a?' is no text"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
        struct label_set set = {.count = 99};
        struct error_info err = {.kind = ERROR_NONE};
        assert_non_null(arena);
        assert_int_equal(read_text(rows[i].text, NULL, arena, &set, &err), -1);
        assert_string_equal(err.text, rows[i].want);
        assert_int_equal(set.count, 99);
    }
}

static void bounds_the_count(void **state)
{
    (void)state;
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_BYTES);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct label_set set;
    struct error_info err = {.kind = ERROR_NONE};
    UNIT_TEST_SKIP_TORTURE();
    text_buffer_init(&text, ARENA_BYTES);
    for (unsigned i = 0; i <= LABEL_SET_MAXIMUM; i++)
        text_buffer_add(&text, "%s\"k%u\":\"\"", i ? "," : "{", i);
    text_buffer_add(&text, "}");
    assert_false(text_buffer_failed(&text));
    CLEANUP(json_value)
    struct json_value *object =
        json_value_parse(text_buffer_text(&text), text.length, "test", &err);
    assert_non_null(object);
    assert_int_equal(label_set_read(object, NULL, arena, &set, &err), -1);
    assert_string_equal(err.text, "4097 entries are too many; at most 4096 are possible");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sorts_and_finds),
    cmocka_unit_test(keeps_what_the_filter_says),
    cmocka_unit_test(refuses_what_is_no_text),
    cmocka_unit_test(bounds_the_count),
};

int main(void) { return unit_test_main("k8s_extender/label_set", tests, COUNT_OF(tests)); }
