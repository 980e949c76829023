/* SPDX-License-Identifier: MIT */
#include "base/log_sink.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct record {
    enum log_level level;
    char line[4096];
    unsigned count;
};

static void write_record(void *context, enum log_level level, const char *line)
{
    struct record *record = context;
    record->level = level;
    record->count++;
    snprintf(record->line, sizeof(record->line), "%s", line);
}

static void hands_on_formatted_lines(void **state)
{
    (void)state;
    struct record record = {0};
    const struct log_sink sink = {.write = write_record, .context = &record};
    log_message(&sink, LOG_LEVEL_WARNING, "%s: %d", "n1", 7);
    assert_int_equal(record.count, 1);
    assert_int_equal(record.level, LOG_LEVEL_WARNING);
    assert_string_equal(record.line, "n1: 7");
}

static void keeps_hostile_text_on_one_line(void **state)
{
    (void)state;
    struct record record = {0};
    const struct log_sink sink = {.write = write_record, .context = &record};
    log_message(&sink, LOG_LEVEL_ERROR, "%s", "a\nsudo: b\x1b[2J");
    assert_string_equal(record.line, "a?sudo: b?[2J");
    log_message(&sink, LOG_LEVEL_INFO, "%05000d", 1);
    assert_int_equal(strlen(record.line), 2047);
}

static void drops_without_a_writer(void **state)
{
    (void)state;
    const struct log_sink sink = {.write = NULL};
    log_message(&sink, LOG_LEVEL_ERROR, "dropped %d", 1);
    log_message(NULL, LOG_LEVEL_ERROR, "dropped %d", 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(hands_on_formatted_lines),
    cmocka_unit_test(keeps_hostile_text_on_one_line),
    cmocka_unit_test(drops_without_a_writer),
};

int main(void) { return unit_test_main("base/log_sink", tests, COUNT_OF(tests)); }
