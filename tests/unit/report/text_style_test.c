/* SPDX-License-Identifier: MIT */
#include "report/text_style.h"
#include "tests/support/unit_test.h"

static void wraps_at_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t indent, width;
        const char *want;
    } rows[] = {
        {"", 2, 10, ""},
        {"one", 2, 10, "one"},
        {"one two three", 2, 7, "one two\n  three"},
        {"one  two", 0, 80, "one two"},
        {"averylongword", 0, 4, "averylongword"},
        {"a averylongword b", 1, 4, "a\n averylongword\n b"},
        {"first\nsecond", 3, 80, "first\n   second"},
        {"grün grün", 0, 9, "grün grün"},
        {"\xff\xfe x", 0, 4, "\xff\xfe x"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, 1000);
        text_wrap(rows[i].text, rows[i].indent, rows[i].width, &out);
        assert_string_equal(text_buffer_text(&out), rows[i].want);
    }
}

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("abc"), 3);
    assert_int_equal(text_columns("…ü"), 2);
    assert_int_equal(text_columns("\xff\xff"), 2);
}

static void colours_only_when_asked(void **state)
{
    (void)state;
    const struct text_style plain = {.colour = false}, colour = {.colour = true, .width = 80};
    assert_int_equal(text_style_width(&plain), TEXT_STYLE_DEFAULT_WIDTH);
    assert_int_equal(text_style_width(&colour), 80);
    for (unsigned i = 0; i < TEXT_TONE_COUNT; i++) {
        assert_string_equal(text_tone_begin(&plain, (enum text_tone)i), "");
        assert_string_equal(text_tone_end(&plain, (enum text_tone)i), "");
    }
    assert_string_equal(text_tone_begin(&colour, TONE_BAD), "\033[31m");
    assert_string_equal(text_tone_end(&colour, TONE_BAD), "\033[0m");
    assert_string_equal(text_tone_end(&colour, TONE_PLAIN), "");
}

static void heads_paragraphs(void **state)
{
    (void)state;
    const struct text_style plain = {.colour = false};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1000);
    text_heading(&plain, &out, "First %d", 1);
    text_heading(&plain, &out, "Second");
    assert_string_equal(text_buffer_text(&out), "First 1\n\nSecond\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wraps_at_blanks),
    cmocka_unit_test(counts_columns),
    cmocka_unit_test(colours_only_when_asked),
    cmocka_unit_test(heads_paragraphs),
};

int main(void) { return unit_test_main("report/text_style", tests, COUNT_OF(tests)); }
