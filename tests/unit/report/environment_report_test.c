/* SPDX-License-Identifier: MIT */
#include "report/environment_report.h"
#include "tests/support/unit_test.h"

#include <stdio.h>

static void add(struct rank_environment *environment, const char *name, const char *value)
{
    struct environment_entry *entry = &environment->entries[environment->count++];
    entry->name = name;
    snprintf(entry->value, sizeof(entry->value), "%s", value);
}

static void quotes_for_the_shell(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *want;
    } rows[] = {
        {"0", "0"},
        {"n001.cluster", "n001.cluster"},
        {"=mlx5_0:1,mlx5_1:1", "=mlx5_0:1,mlx5_1:1"},
        {"", "''"},
        {"a b", "'a b'"},
        {"$(reboot)", "'$(reboot)'"},
        {"it's", "'it'\\''s'"},
        {"a\nb", "'a\nb'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rank_environment environment = {.count = 0};
        add(&environment, "X", rows[i].value);
        const struct environment_report_row row = {
            .node = "n1", .task = 3, .environment = &environment};
        CLEANUP_DONE(text_buffer) struct text_buffer out, want;
        text_buffer_init(&out, 10000);
        text_buffer_init(&want, 10000);
        environment_report_text(&row, &out);
        text_buffer_add(&want, "# task 3 on n1\nexport X=%s\n", rows[i].want);
        assert_string_equal(text_buffer_text(&out), text_buffer_text(&want));
        text_buffer_done(&want);
    }
}

static void writes_a_document(void **state)
{
    (void)state;
    struct rank_environment environment = {.count = 0};
    struct error_info err;
    struct json_value *tasks = NULL;
    add(&environment, "RANK", "0");
    add(&environment, "MASTER_ADDR", "n1");
    const struct environment_report_row row = {.node = "n1", .environment = &environment};
    CLEANUP(json_value) struct json_value *document = environment_report_json(&tasks);
    environment_report_json_add(tasks, &row);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 10000);
    assert_int_equal(json_value_write(document, JSON_STYLE_COMPACT, &out, &err), 0);
    assert_string_equal(text_buffer_text(&out),
                        "{\"schema\":\"parplan.env/1\",\"tasks\":[{\"task\":0,\"node\":\"n1\","
                        "\"environment\":{\"RANK\":\"0\",\"MASTER_ADDR\":\"n1\"}}]}");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(quotes_for_the_shell),
    cmocka_unit_test(writes_a_document),
};

int main(void) { return unit_test_main("report/environment_report", tests, COUNT_OF(tests)); }
