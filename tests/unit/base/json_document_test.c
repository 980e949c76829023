/* SPDX-License-Identifier: MIT */
#include "base/json_document.h"
#include "tests/support/comma_locale.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json_value *parse(const char *text, struct error_info *err)
{
    return json_value_parse(text, strlen(text), "a.json", err);
}

struct valid_row {
    const char *text;
    const char *compact; /* NULL: the same as text */
};

static const struct valid_row valid[] = {
    {"{}", NULL},
    {"[]", NULL},
    {"null", NULL},
    {"true", NULL},
    {"\"x\"", NULL},
    {"0", NULL},
    {"-0", "0"},
    {"12", NULL},
    {"-12", NULL},
    {"18446744073709551614", NULL},
    {"-9223372036854775807", NULL},
    {"18446744073709551616", "1.8446744073709552e19"},
    {"0.1", NULL},
    {"1.5e-9", NULL},
    {"1E2", "100"},
    {"1e+2", "100"},
    {" [ 1 ,\t2\r\n] ", "[1,2]"},
    {"{\"a\":{\"b\":[null,true,false]},\"c\":\"d\"}", NULL},
    {"{\"\":1,\" \":2}", NULL},
    {"[\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\"]", NULL},
    {"[\"\\/\\u0041\\u00e9\\u20ac\\ud83d\\ude80\"]", "[\"/Aé€🚀\"]"},
    {"[\"\\\\u0000\"]", NULL},
    {"[\"\\ud800\"]", "[\"\xef\xbf\xbd\"]"}, /* half a surrogate pair */
    {"[\"{[,:]}\"]", NULL},
    {"[\"é,\"]", NULL},
    {" 12 ", "12"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", NULL}, /* 32 deep */
};

static void check_valid(void)
{
    for (size_t i = 0; i < COUNT_OF(valid); i++) {
        struct error_info err = {0};
        CLEANUP(json_value) struct json_value *value = parse(valid[i].text, &err);
        if (!value)
            fail_msg("%s: %s", valid[i].text, err.text);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 1000);
        assert_int_equal(json_value_write(value, JSON_STYLE_COMPACT, &text, &err), 0);
        assert_string_equal(text_buffer_text(&text),
                            valid[i].compact ? valid[i].compact : valid[i].text);
    }
}

static void reads_valid_texts(void **state)
{
    (void)state;
    check_valid();
}

static void reads_and_writes_the_same_under_another_locale(void **state)
{
    (void)state;
    locale_t comma = comma_locale_create();
    if (!comma)
        skip();
    locale_t before = uselocale(comma);
    check_valid();
    uselocale(before);
    freelocale(comma);
}

static void refuses_invalid_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "a.json: byte 0: the text ends too early"},
        {"  ", "a.json: byte 2: the text ends too early"},
        {"[1,", "a.json: byte 3: the text ends too early"},
        {"{\"a\"", "a.json: byte 4: the text ends too early"},
        {"\"abc", "a.json: byte 0: the string does not end"},
        {"[\"a\\\"]", "a.json: byte 1: the string does not end"},
        {"[1,]", "a.json: byte 3: unexpected character"},
        {"{\"a\":1,}", "a.json: byte 7: unexpected character"},
        {"[1 2]", "a.json: byte 3: array value separator ',' expected"},
        {"{\"a\" 1}", "a.json: byte 5: object property name separator ':' expected"},
        {"{a:1}", "a.json: byte 1: quoted object property name expected"},
        {"{'a':1}", "a.json: byte 1: unexpected character"},
        {"[1] x", "a.json: byte 4: unexpected character"},
        {"[]]", "a.json: byte 2: unexpected character"},
        {"/*c*/1", "a.json: byte 0: unexpected character"},
        {"[01]", "a.json: byte 1: the number is malformed"},
        {"[1.]", "a.json: byte 1: the number is malformed"},
        {"[.5]", "a.json: byte 1: unexpected character"},
        {"[+1]", "a.json: byte 1: unexpected character"},
        {"[-]", "a.json: byte 1: the number is malformed"},
        {"[1e]", "a.json: byte 1: the number is malformed"},
        {"[NaN]", "a.json: byte 1: unexpected character"},
        {"[nan]", "a.json: byte 1: unexpected character"},
        {"[infinity]", "a.json: byte 1: unexpected character"},
        {"[1 , ]", "a.json: byte 5: unexpected character"},
        {"12 13", "a.json: byte 3: unexpected character"},
        {"1true", "a.json: byte 1: unexpected character"},
        {"[-Infinity]", "a.json: byte 1: the number is malformed"},
        {"[1e999]", "a.json: a number is too large"},
        {"[True]", "a.json: byte 1: unexpected character"},
        {"nul", "a.json: byte 3: the text ends too early"},
        {"[nulL]", "a.json: byte 4: unexpected character"},
        {"[\"\x01\"]", "a.json: byte 2: a control character stands in a string"},
        {"[\"a\nb\"]", "a.json: byte 3: a control character stands in a string"},
        {"[\"a\\u0000\"]", "a.json: byte 3: a string holds a NUL character"},
        {"[\"\\x\"]", "a.json: byte 3: invalid string sequence"},
        {"[\"\xff\"]", "a.json: byte 2: invalid utf-8 string"},
        {"{\"a\":1,\"b\":2,\"a\":3}", "a.json: byte 13: the key 'a' stands twice"},
        {"[{\"b\":{}},{\"b\":[{\"x\":1,\"x\":2}]}]", "a.json: byte 23: the key 'x' stands twice"},
        {"{\"a\" : 1, \"\\u0061\" : 2}", "a.json: byte 10: the key 'a' stands twice"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
         "a.json: byte 32: nested deeper than 32 levels"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        struct json_value *value = parse(rows[i].text, &err);
        json_value_free(value);
        assert_null(value);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.kind, ERROR_INPUT);
        assert_null(parse(rows[i].text, NULL));
    }
}

static void refuses_bytes_behind_the_text(void **state)
{
    (void)state;
    struct error_info err = {0};
    assert_null(json_value_parse("[1]\0x", 5, "a.json", &err));
    assert_string_equal(err.text, "a.json: byte 3: unexpected character");
    CLEANUP(json_value) struct json_value *value = json_value_parse("[12]34", 4, "a.json", &err);
    assert_non_null(value); /* not NUL-terminated where it ends */
    assert_null(json_value_parse("x", JSON_MAXIMUM_BYTES + 1, "a.json", &err));
    assert_string_equal(err.text,
                        "a.json: 67108865 bytes are too many; at most 67108864 are possible");
}

static void refuses_too_many_values(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    size_t bytes = (size_t)10 << 20;
    char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t i = 0; i < bytes; i++)
        text[i] = i % 2 ? ',' : '1';
    text[0] = '[';
    struct error_info err = {0};
    assert_null(json_value_parse(text, bytes, "a.json", &err));
    free(text);
    assert_string_equal(
        err.text, "a.json: byte 8388607: the text has too many values; at most 4194304 are taken");
}

static void counts_brackets_and_commas(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[{},[1,2]]}";
    struct error_info err = {0};
    CLEANUP(json_value)
    struct json_value *six = json_value_parse_within(text, strlen(text), 6, "a.json", &err);
    assert_non_null(six);
    assert_null(json_value_parse_within(text, strlen(text), 5, "a.json", &err));
    assert_string_equal(err.text,
                        "a.json: byte 11: the text has too many values; at most 5 are taken");
}

static void finds_values(void **state)
{
    (void)state;
    CLEANUP(json_value)
    struct json_value *root = parse("{\"n\":8,\"neg\":-1,\"real\":2.5,\"whole\":8.0,\"big\":1e300,"
                                    "\"t\":\"x\",\"yes\":true,\"list\":[1,\"two\"],\"none\":null}",
                                    NULL);
    assert_non_null(root);
    uint64_t number = 77;
    double real = 77;
    bool truth = false;
    assert_int_equal(json_value_kind(root), JSON_OBJECT);
    assert_int_equal(json_value_count(root), 9);
    assert_string_equal(json_value_key(json_value_at(root, 8)), "none");
    assert_int_equal(json_value_unsigned(json_value_get(root, "n"), 8, &number), 0);
    assert_int_equal(number, 8);
    assert_int_equal(json_value_unsigned(json_value_get(root, "n"), 7, &number), -1);
    assert_int_equal(json_value_unsigned(json_value_get(root, "neg"), 7, &number), -1);
    assert_int_equal(json_value_unsigned(json_value_get(root, "real"), 7, &number), -1);
    assert_int_equal(json_value_unsigned(json_value_get(root, "big"), UINT64_MAX, &number), -1);
    assert_int_equal(json_value_unsigned(json_value_get(root, "t"), 7, &number), -1);
    assert_int_equal(json_value_unsigned(json_value_get(root, "whole"), 9, &number), 0);
    assert_int_equal(number, 8);
    assert_int_equal(json_value_real(json_value_get(root, "real"), &real), 0);
    assert_true(real == 2.5);
    assert_int_equal(json_value_real(json_value_get(root, "neg"), &real), 0);
    assert_true(real == -1);
    assert_int_equal(json_value_real(json_value_get(root, "n"), &real), 0);
    assert_true(real == 8);
    assert_int_equal(json_value_real(json_value_get(root, "t"), &real), -1);
    assert_int_equal(json_value_boolean(json_value_get(root, "yes"), &truth), 0);
    assert_true(truth);
    assert_int_equal(json_value_boolean(json_value_get(root, "n"), &truth), -1);
    assert_string_equal(json_value_text(json_value_get(root, "t")), "x");
    assert_null(json_value_text(json_value_get(root, "n")));
    const struct json_value *list = json_value_get(root, "list");
    assert_int_equal(json_value_kind(list), JSON_ARRAY);
    assert_int_equal(json_value_count(list), 2);
    assert_string_equal(json_value_text(json_value_at(list, 1)), "two");
    assert_null(json_value_at(list, 2));
    assert_int_equal(json_value_kind(json_value_get(root, "none")), JSON_NULL);
}

static void absent_values_count_as_null(void **state)
{
    (void)state;
    uint64_t number;
    double real;
    bool truth;
    assert_int_equal(json_value_kind(NULL), JSON_NULL);
    assert_null(json_value_get(NULL, "x"));
    assert_null(json_value_at(NULL, 0));
    assert_null(json_value_key(NULL));
    assert_null(json_value_text(NULL));
    assert_int_equal(json_value_count(NULL), 0);
    assert_int_equal(json_value_unsigned(NULL, 1, &number), -1);
    assert_int_equal(json_value_real(NULL, &real), -1);
    assert_int_equal(json_value_boolean(NULL, &truth), -1);
    json_value_free(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_valid_texts),
    cmocka_unit_test(reads_and_writes_the_same_under_another_locale),
    cmocka_unit_test(refuses_invalid_texts),
    cmocka_unit_test(refuses_bytes_behind_the_text),
    cmocka_unit_test(refuses_too_many_values),
    cmocka_unit_test(counts_brackets_and_commas),
    cmocka_unit_test(finds_values),
    cmocka_unit_test(absent_values_count_as_null),
};

int main(void) { return unit_test_main("base/json_document", tests, COUNT_OF(tests)); }
