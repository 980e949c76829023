/* SPDX-License-Identifier: MIT */
#include "base/json_value.h"
#include "tests/support/unit_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void build(struct json_value *root)
{
    json_add_text(root, "schema", "parplan.test/1");
    json_add_unsigned(root, "unsigned", UINT64_MAX);
    json_add_signed(root, "signed", INT64_MIN);
    json_add_signed(root, "positive", 5);
    json_add_real(root, "real", 1.0 / 3, 3);
    json_add_real(root, "bytes", 1.5e11, 3);
    json_add_real(root, "unknown", NAN, 3);
    json_add_text(root, "no text", NULL);
    json_add_null(root, "null");
    json_add_boolean(root, "yes", true);
    struct json_value *list = json_add_array(root, "list");
    for (unsigned i = 0; i < 6; i++)
        json_add_unsigned(list, NULL, i);
    json_add_array(root, "empty list");
    json_add_object(root, "empty object");
    struct json_value *inner = json_add_object(json_add_array(root, "objects"), NULL);
    json_add_boolean(inner, "no", false);
}

static void writes_what_was_built(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    assert_non_null(root);
    build(root);
    CLEANUP_DONE(text_buffer) struct text_buffer compact;
    text_buffer_init(&compact, 1000);
    assert_int_equal(json_value_write(root, JSON_STYLE_COMPACT, &compact, NULL), 0);
    assert_string_equal(
        text_buffer_text(&compact),
        "{\"schema\":\"parplan.test/1\",\"unsigned\":18446744073709551615,"
        "\"signed\":-9223372036854775808,\"positive\":5,\"real\":0.333,\"bytes\":150000000000,"
        "\"unknown\":null,\"no text\":null,\"null\":null,\"yes\":true,\"list\":[0,1,2,3,4,5],"
        "\"empty list\":[],\"empty object\":{},\"objects\":[{\"no\":false}]}");
}

static void writes_for_people(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_array();
    json_add_unsigned(root, NULL, 1);
    struct json_value *object = json_add_object(root, NULL);
    json_add_text(object, "a", "b");
    json_add_array(object, "c");
    CLEANUP_DONE(text_buffer) struct text_buffer pretty;
    text_buffer_init(&pretty, 1000);
    assert_int_equal(json_value_write(root, JSON_STYLE_PRETTY, &pretty, NULL), 0);
    assert_string_equal(text_buffer_text(&pretty),
                        "[\n  1,\n  {\n    \"a\": \"b\",\n    \"c\": []\n  }\n]\n");
}

static void makes_valid_text_of_any_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *given, *want;
    } rows[] = {
        {"plain é 🚀", "[\"plain é 🚀\"]"},
        {"a\"b\\c/\n\t\x1f\x7f", "[\"a\\\"b\\\\c/\\n\\t\\u001f\x7f\"]"},
        {"\xff", "[\"\xef\xbf\xbd\"]"},
        {"a\xc3", "[\"a\xef\xbf\xbd\"]"},
        {"\xed\xa0\x80", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_value) struct json_value *root = json_value_create_array();
        json_add_text(root, NULL, rows[i].given);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        assert_int_equal(json_value_write(root, JSON_STYLE_COMPACT, &text, NULL), 0);
        assert_string_equal(text_buffer_text(&text), rows[i].want);
        CLEANUP(json_value)
        struct json_value *back = json_value_parse(text.text, text.length, "back", NULL);
        assert_non_null(back);
    }
}

static void reals_come_back_the_same(void **state)
{
    (void)state;
    static const double reals[] = {0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, 123456789.125, -1e-7};
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        CLEANUP(json_value) struct json_value *root = json_value_create_array();
        json_add_real(root, NULL, reals[i], 17);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        json_value_write(root, JSON_STYLE_COMPACT, &text, NULL);
        CLEANUP(json_value)
        struct json_value *back = json_value_parse(text.text, text.length, "back", NULL);
        double real = 0;
        assert_int_equal(json_value_real(json_value_at(back, 0), &real), 0);
        assert_true(real == reals[i]);
    }
}

static void does_nothing_without_a_parent(void **state)
{
    (void)state;
    build(NULL);
    assert_null(json_add_object(NULL, "x"));
    assert_null(json_add_array(NULL, "x"));
    json_value_set_text(NULL, "x");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1000);
    struct error_info err = {0};
    assert_int_equal(json_value_write(NULL, JSON_STYLE_COMPACT, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
}

static void only_a_root_can_be_freed(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    struct json_value *child = json_add_object(root, "child");
    json_value_free(child);
    json_add_unsigned(child, "still there", 1);
    assert_int_equal(json_value_count(child), 1);
}

static void a_full_buffer_is_an_error(void **state)
{
    (void)state;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    build(root);
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 20);
    struct error_info err = {0};
    assert_int_equal(json_value_write(root, JSON_STYLE_COMPACT, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
}

static int build_and_write(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(json_value) struct json_value *root = json_value_create_object();
    build(root);
    for (unsigned i = 0; i < 200; i++)
        json_add_text(json_add_object(root, "more"), "text", "some text or other");
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 100000);
    return json_value_write(root, JSON_STYLE_PRETTY, &text, err);
}

static int parse(void *context, struct error_info *err)
{
    CLEANUP(json_value)
    struct json_value *root = json_value_parse(context, strlen(context), "a.json", err);
    return root ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(build_and_write, NULL);
    unit_test_expect_clean_failures(
        parse, (void *)"{\"a\":[1,2,{\"b\":\"text\",\"c\":null}],\"d\":[[[1.5]]]}");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_what_was_built),         cmocka_unit_test(writes_for_people),
    cmocka_unit_test(makes_valid_text_of_any_bytes), cmocka_unit_test(reals_come_back_the_same),
    cmocka_unit_test(does_nothing_without_a_parent), cmocka_unit_test(only_a_root_can_be_freed),
    cmocka_unit_test(a_full_buffer_is_an_error),     cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/json_value", tests, COUNT_OF(tests)); }
