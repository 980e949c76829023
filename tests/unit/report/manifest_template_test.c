/* SPDX-License-Identifier: MIT */
#include "report/kubernetes/manifest_template.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const struct template_word words[] = {
    {"max_tp", "8"}, {"none", ""}, {"lines", "a: 1\nb: 2\n"}};

static int fill(const char *text, struct text_buffer *out, struct error_info *err)
{
    text_buffer_init(out, 4096);
    return manifest_template_write(text, strlen(text), words, COUNT_OF(words), out, err);
}

static void fills_in(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"a\n\n  b\n", "a\n\n  b\n"},
        {"no line end", "no line end\n"},
        {"  tp: @max_tp@, @max_tp@\n", "  tp: 8, 8\n"},
        {"x@none@y\n", "xy\n"},
        {"a\n@none@\nb\n", "a\nb\n"},
        {"@lines@\nc\n", "a: 1\nb: 2\nc\n"},
        {"%# a remark @nosuch@\na\n", "a\n"},
        {"%define one\na: @max_tp@\n  b\n\n%end\nx:\n    %one\n%one\n",
         "x:\n    a: 8\n      b\n\na: 8\n  b\n\n"},
        {"%define empty\n%end\n  %empty\n", ""},
        {"%define late\na\n%end\n%define late2\nb\n%end\n- %late\n", "- %late\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(fill(rows[i].text, &out, &err), 0);
        assert_string_equal(text_buffer_text(&out), rows[i].want);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"a\n@nosuch@\n", "line 2: @nosuch: there is no such word"},
        {"a@b\n", "line 1: @: there is no such word"},
        {"a@@b\n", "line 1: @: there is no such word"},
        {"@max_tp", "line 1: @: there is no such word"},
        {"a\n  %nosuch\n", "line 2: %nosuch: there is no such block"},
        {"a\n%define b\nc\n", "line 2: the block has no %end"},
        {"%define b\n@nosuch@\n%end\n\n%b\n", "line 5: @nosuch: there is no such word"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        assert_int_equal(fill(rows[i].text, &out, &err), -1);
        assert_string_equal(err.text, rows[i].want);
    }
}

static void blocks_have_a_maximum(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text, out;
    text_buffer_init(&text, 4096);
    text_buffer_init(&out, 4096);
    for (unsigned i = 0; i <= TEMPLATE_MAXIMUM_BLOCKS; i++)
        text_buffer_add(&text, "%%define b%u\n%%end\n", i);
    assert_int_equal(manifest_template_write(text_buffer_text(&text), text.length, words,
                                             COUNT_OF(words), &out, &err),
                     -1);
    assert_string_equal(err.text, "line 33: more than 16 blocks");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fills_in),
    cmocka_unit_test(refuses),
    cmocka_unit_test(blocks_have_a_maximum),
};

int main(void)
{
    return unit_test_main("report/kubernetes/manifest_template", tests, COUNT_OF(tests));
}
