/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "tests/support/unit_test.h"

#include <errno.h>
#include <string.h>

static void sets_kind_and_text(void **state)
{
    (void)state;
    struct error_info err = {0};
    assert_int_equal(error_set(&err, "%s:%d: %s", "job.yaml", 12, "tp"), -1);
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_string_equal(err.text, "job.yaml:12: tp");
    assert_int_equal(error_set_system(&err, "%s", "disk"), -1);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_string_equal(err.text, "disk");
    assert_int_equal(error_set_memory(&err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
    assert_string_equal(err.text, "out of memory");
}

static void works_without_an_error_info(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, "%d", 1), -1);
    assert_int_equal(error_set_system(NULL, "%d", 1), -1);
    assert_int_equal(error_set_memory(NULL), -1);
    assert_int_equal(error_prefix(NULL, "%d", 1), -1);
    assert_null(error_null(-1));
}

static void a_prefix_keeps_the_kind(void **state)
{
    (void)state;
    struct error_info err = {0};
    error_set_system(&err, "No such file or directory");
    assert_int_equal(error_prefix(&err, "%s", "a.yaml"), -1);
    assert_int_equal(err.kind, ERROR_SYSTEM);
    assert_string_equal(err.text, "a.yaml: No such file or directory");
}

static void arguments_may_be_its_own_text(void **state)
{
    (void)state;
    struct error_info err = {0};
    error_set(&err, "inner");
    error_set(&err, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
    error_prefix(&err, "[%s]", err.text);
    assert_string_equal(err.text, "[outer (inner)]: outer (inner)");
}

static void cleans_hostile_text(void **state)
{
    (void)state;
    static const struct {
        const char *given, *want;
    } rows[] = {
        {"plain", "plain"},
        {"a\nb\r\tc\x1b[31m\x7f", "a?b??c?[31m?"},
        {"Grüße, 节点, 🚀", "Grüße, 节点, 🚀"},
        {"\xff\xfe", "??"},
        {"a\xc3", "a?"},                        /* cut character */
        {"\xc0\xaf", "??"},                     /* overlong */
        {"\xe0\x80\x80", "???"},                /* overlong */
        {"\xed\xa0\x80", "???"},                /* surrogate */
        {"\xf4\x90\x80\x80", "????"},           /* past U+10FFFF */
        {"\xf5\x80\x80\x80", "????"},           /* no lead byte */
        {"x\xc2\x85y", "x?y"},                  /* next line */
        {"x\xe2\x80\xa8y", "x?y"},              /* line separator */
        {"x\xe2\x80\xaey\xe2\x81\xa6", "x?y?"}, /* right-to-left override, isolate */
        {"\xef\xbb\xbf", "?"},                  /* byte order mark */
        {"x\xc2\xa0y", "x\xc2\xa0y"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {0};
        error_set(&err, "%s", rows[i].given);
        assert_string_equal(err.text, rows[i].want);
    }
}

static void cuts_long_texts_between_characters(void **state)
{
    (void)state;
    char text[3 * ERROR_TEXT_BYTES];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', sizeof(text));
        for (size_t i = shift; i + 4 < sizeof(text); i += 4)
            memcpy(text + i, "\xf0\x9f\x9a\x80", 4);
        text[sizeof(text) - 1] = '\0';
        struct error_info err = {0};
        error_set(&err, "%s", text);
        assert_null(strchr(err.text, '?'));
        assert_in_range(strlen(err.text), ERROR_TEXT_BYTES - 4, ERROR_TEXT_BYTES - 1);
        error_prefix(&err, "%s", "12345");
        assert_null(strchr(err.text, '?'));
        assert_in_range(strlen(err.text), ERROR_TEXT_BYTES - 4, ERROR_TEXT_BYTES - 1);
        error_prefix(&err, "%s", text);
        assert_in_range(strlen(err.text), ERROR_TEXT_BYTES - 4, ERROR_TEXT_BYTES - 1);
    }
}

static void names_errno_values(void **state)
{
    (void)state;
    assert_string_equal(error_errno_text(ENOENT), "No such file or directory");
    assert_string_equal(error_errno_text(-1), "Unknown error");
    assert_string_equal(error_errno_text(123456), "Unknown error");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sets_kind_and_text),      cmocka_unit_test(works_without_an_error_info),
    cmocka_unit_test(a_prefix_keeps_the_kind), cmocka_unit_test(arguments_may_be_its_own_text),
    cmocka_unit_test(cleans_hostile_text),     cmocka_unit_test(cuts_long_texts_between_characters),
    cmocka_unit_test(names_errno_values),
};

int main(void) { return unit_test_main("base/error", tests, COUNT_OF(tests)); }
