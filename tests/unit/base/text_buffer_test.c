/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/text_buffer.h"
#include "tests/support/comma_locale.h"
#include "tests/support/unit_test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void collects_texts(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, 1000);
    assert_string_equal(text_buffer_text(&buffer), "");
    text_buffer_add(&buffer, "%d-%s", 12, "x");
    text_buffer_add_text(&buffer, ",");
    text_buffer_add_bytes(&buffer, "abcdef", 3);
    text_buffer_add_bytes(&buffer, NULL, 0);
    text_buffer_add_repeated(&buffer, ' ', 2);
    text_buffer_add_repeated(&buffer, '!', 0);
    assert_false(text_buffer_failed(&buffer));
    assert_string_equal(text_buffer_text(&buffer), "12-x,abc  ");
    assert_int_equal(buffer.length, 10);
}

static void grows_over_many_adds(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, SIZE_MAX);
    for (unsigned i = 0; i < 10000; i++)
        text_buffer_add(&buffer, "%04u,", i);
    assert_int_equal(buffer.length, 50000);
    assert_memory_equal(text_buffer_text(&buffer) + 49995, "9999,", 6);
}

static void stops_at_the_maximum(void **state)
{
    (void)state;
    static const struct {
        size_t maximum;
        const char *want;
        bool failed;
    } rows[] = {
        {0, "", true},
        {4, "", true},
        {5, "12345", true},
        {9, "12345", true},
        {10, "1234567890", false},
        {11, "1234567890", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer buffer;
        text_buffer_init(&buffer, rows[i].maximum);
        text_buffer_add_text(&buffer, "12345");
        text_buffer_add(&buffer, "%d", 67890);
        text_buffer_add_text(&buffer, ""); /* does not repair it */
        assert_int_equal(text_buffer_failed(&buffer), rows[i].failed);
        assert_string_equal(text_buffer_text(&buffer), rows[i].want);
    }
}

static void failure_is_sticky(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, 8);
    text_buffer_add_text(&buffer, "123");
    text_buffer_add_repeated(&buffer, 'x', 100);
    text_buffer_add_text(&buffer, "4");
    text_buffer_add(&buffer, "%d", 4);
    text_buffer_add_real(&buffer, 4, 3);
    assert_true(text_buffer_failed(&buffer));
    assert_string_equal(text_buffer_text(&buffer), "123");
    assert_null(text_buffer_take(&buffer));
}

static void gives_its_text_away(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, 100);
    CLEANUP_MEMORY char *nothing = text_buffer_take(&buffer);
    assert_non_null(nothing);
    assert_string_equal(nothing, "");
    text_buffer_add_text(&buffer, "given");
    CLEANUP_MEMORY char *given = text_buffer_take(&buffer);
    assert_non_null(given);
    assert_string_equal(given, "given");
    assert_string_equal(text_buffer_text(&buffer), "");
    text_buffer_add_text(&buffer, "again");
    assert_string_equal(text_buffer_text(&buffer), "again");
}

struct real_row {
    double number;
    unsigned digits;
    const char *want;
};

static const struct real_row reals[] = {
    {0, 3, "0"},
    {-0.0, 3, "0"},
    {1, 1, "1"},
    {1, 0, "1"},
    {-2.5, 3, "-2.5"},
    {0.1, 17, "0.1"},
    {0.1 + 0.2, 17, "0.30000000000000004"},
    {0.1 + 0.2, 15, "0.3"},
    {1234.5678, 6, "1234.57"},
    {123456, 3, "123000"},
    {0.00001234, 3, "0.0000123"},
    {0.0000099996, 3, "0.00001"},
    {1e-6, 3, "1e-6"},
    {1.5e-9, 3, "1.5e-9"},
    {1e15, 3, "1000000000000000"},
    {1e16, 3, "1e16"},
    {999999, 3, "1000000"},
    {-1.25e20, 3, "-1.25e20"},
    {DBL_MAX, 17, "1.7976931348623157e308"},
    {DBL_MAX, 3, "1.79e308"},
    {DBL_MIN, 17, "2.2250738585072014e-308"},
    {5e-324, 17, "4.94065645841247e-324"},
    {5e-324, 99, "4.94065645841247e-324"},
    {NAN, 3, "nan"},
    {INFINITY, 3, "inf"},
    {-INFINITY, 3, "-inf"},
};

static void check_reals(void)
{
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer buffer;
        text_buffer_init(&buffer, 100);
        text_buffer_add_real(&buffer, reals[i].number, reals[i].digits);
        assert_string_equal(text_buffer_text(&buffer), reals[i].want);
    }
}

static void writes_reals_in_their_shortest_form(void **state)
{
    (void)state;
    check_reals();
}

/* A host program may have any locale; the test may set one for its own thread. */
static void writes_the_same_under_every_locale(void **state)
{
    (void)state;
    locale_t comma = comma_locale_create();
    if (!comma)
        skip();
    locale_t before = uselocale(comma);
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, 100);
    text_buffer_add(&buffer, "%.1f", 0.5);
    struct error_info err = {0};
    error_set(&err, "%.1f", 0.5);
    check_reals();
    char host[8];
    snprintf(host, sizeof(host), "%.1f", 0.5);
    uselocale(before);
    freelocale(comma);
    assert_string_equal(host, "0,5");
    assert_string_equal(text_buffer_text(&buffer), "0.5");
    assert_string_equal(err.text, "0.5");
}

static void reads_utf8_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        uint32_t code;
    } rows[] = {
        {"", 0, 0},
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xc3\xa9x", 2, 0xe9},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xf4\x90\x80\x80", 0, 0},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xed\xa0\x80", 0, 0},
        {"\xc1\xbf", 0, 0},
        {"\xe0\x9f\xbf", 0, 0},
        {"\xf0\x8f\xbf\xbf", 0, 0},
        {"\xc3", 0, 0},
        {"\xe2\x82", 0, 0},
        {"\xf0\x9f\x9a", 0, 0},
        {"\xf0\x9f\x9a\x41", 0, 0},
        {"\x80", 0, 0},
        {"\xff", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t code = 0;
        assert_int_equal(text_character(rows[i].text, &code), rows[i].bytes);
        assert_int_equal(code, rows[i].code);
    }
}

static int write_much(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP_DONE(text_buffer) struct text_buffer buffer;
    text_buffer_init(&buffer, 100000);
    for (unsigned i = 0; i < 1000; i++)
        text_buffer_add(&buffer, "line %u\n", i);
    CLEANUP_MEMORY char *text = text_buffer_take(&buffer);
    return text ? 0 : error_set_memory(err);
}

static void finds_words_in_lists(void **state)
{
    (void)state;
    static const char list[] = " one-two one two ";
    assert_true(text_lists(list, "one") && text_lists(list, "two") && text_lists(list, "one-two"));
    assert_false(text_lists(list, "tw") || text_lists(list, "wo") || text_lists(list, "one-"));
    assert_false(text_lists(list, "") || text_lists(list, "three") || text_lists("", "one"));
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(write_much, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(collects_texts),
    cmocka_unit_test(finds_words_in_lists),
    cmocka_unit_test(grows_over_many_adds),
    cmocka_unit_test(stops_at_the_maximum),
    cmocka_unit_test(failure_is_sticky),
    cmocka_unit_test(gives_its_text_away),
    cmocka_unit_test(writes_reals_in_their_shortest_form),
    cmocka_unit_test(writes_the_same_under_every_locale),
    cmocka_unit_test(reads_utf8_characters),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("base/text_buffer", tests, COUNT_OF(tests)); }
