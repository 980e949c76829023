/* SPDX-License-Identifier: MIT */
#include "report/text_table.h"
#include "tests/support/unit_test.h"

static const struct text_style plain = {.colour = false, .width = 40};

static void aligns_columns(void **state)
{
    (void)state;
    static const struct text_column columns[] = {
        {.title = "rank", .align = ALIGN_RIGHT}, {.title = "node"}, {.title = "gpu"}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1000);
    text_table_add_unsigned(table, 0);
    text_table_add(table, "n1");
    text_table_add(table, "");
    text_table_add_unsigned(table, 10);
    text_table_add_format(table, "n%03d", 7);
    text_table_add(table, NULL);
    assert_int_equal(text_table_rows(table), 2);
    text_table_write(table, &plain, &out);
    assert_string_equal(text_buffer_text(&out), "  rank  node\n"
                                                "     0  n1\n"
                                                "    10  n007\n");
}

static void wraps_the_last_column(void **state)
{
    (void)state;
    static const struct text_column columns[] = {{.title = NULL}, {.title = NULL, .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1000);
    text_table_add(table, "rule");
    text_table_add(table, "thirty-eight columns hold this, not more of it");
    text_table_add(table, "x");
    text_table_add(table, "short");
    text_table_write(table, &plain, &out);
    assert_string_equal(text_buffer_text(&out), "  rule  thirty-eight columns hold this,\n"
                                                "        not more of it\n"
                                                "  x     short\n");
}

static void colours_rows(void **state)
{
    (void)state;
    static const struct text_column columns[] = {{.title = "a"}, {.title = "b"}};
    const struct text_style colour = {.colour = true, .width = 40};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1000);
    text_table_tone(table, TONE_BAD);
    text_table_add(table, "1");
    text_table_add(table, "2");
    text_table_add(table, "3"); /* an unfinished row, plain again */
    text_table_write(table, &colour, &out);
    assert_string_equal(text_buffer_text(&out), "  \033[2ma  b\033[0m\n"
                                                "  \033[31m1  2\033[0m\n"
                                                "  3\n");
}

static void reports_failure_at_the_end(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1000);
    text_table_add(NULL, "x");
    text_table_tone(NULL, TONE_BAD);
    assert_int_equal(text_table_rows(NULL), 0);
    text_table_write(NULL, &plain, &out);
    assert_true(text_buffer_failed(&out));
    static const struct text_column column = {.title = "x"};
    assert_null(text_table_create(&column, 0));
    assert_null(text_table_create(&column, TEXT_TABLE_MAXIMUM_COLUMNS + 1));
}

static int write_long_table(void *context, struct error_info *err)
{
    static const struct text_column columns[] = {{.title = "n"}, {.title = "text", .wrap = true}};
    (void)context;
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    for (unsigned i = 0; i < 100; i++) {
        text_table_add_unsigned(table, i);
        text_table_add(table, "some words");
    }
    text_table_write(table, &plain, &out);
    return text_buffer_failed(&out) ? error_set_memory(err) : 0;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(write_long_table, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(aligns_columns), cmocka_unit_test(wraps_the_last_column),
    cmocka_unit_test(colours_rows),   cmocka_unit_test(reports_failure_at_the_end),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("report/text_table", tests, COUNT_OF(tests)); }
