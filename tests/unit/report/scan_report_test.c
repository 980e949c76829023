/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_report.h"
#include "report/scan/scan_runs.h"
#include "tests/support/scan_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const char measured[] = "row,step_time_s,exit_status\n"
                               "tp2-pp1-dp8,2.5,0\ntp1-pp1-dp16,2,0\ntp1-pp2-dp8,,1\n";

static struct scan_result *read_result(const char *text)
{
    CLEANUP(csv_table) struct csv_table *table = csv_table_parse(text, strlen(text), "m.csv", NULL);
    return table ? scan_result_read(&scan_fixture_grid, table, NULL) : NULL;
}

static void expect_words(const struct text_buffer *out, const char *const *words)
{
    for (; !text_buffer_failed(out) && *words; words++)
        if (!strstr(text_buffer_text(out), *words))
            fail_msg("'%s' is not in:\n%s", *words, text_buffer_text(out));
}

static void expect_text(const struct scan_report *report, const char *const *words)
{
    const struct text_style style = {.width = 100};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    scan_report_text(report, &style, &out);
    expect_words(&out, words);
}

static void shows_the_grid(void **state)
{
    (void)state;
    static const char *const words[] = {
        "16 GPUs",
        "tp2-pp1-dp8   the planner's answer; +TP  zero1         4 x 2  none       8.0  fits      "
        "2.00 s\n",
        "tp1-pp1-dp16  its next best; DP alone",
        "Without a row\n  +TP +PP  no such plan fits or is allowed\n",
        "sequence_length is not given: 4096",
        NULL,
    };
    const struct scan_report report = {.plan = &scan_fixture_report, .grid = &scan_fixture_grid};
    expect_text(&report, words);
}

static void shows_what_was_measured(void **state)
{
    (void)state;
    static const char *const words[] = {
        "2.00 s    2.50 s  -20.0 %\n",
        "4.00 s    failed\n",
        "measured best     tp1-pp1-dp16, 2.00 s; number 2 of our predictions\n",
        "planner's answer  tp2-pp1-dp8 is 25.0 % slower than the measured best (regret)\n",
        "predictions       2 of 3 rows measured; mean error 22.5 % (MAPE)\n",
        "DP alone  tp1-pp1-dp16    2.00 s",
        "+TP       tp2-pp1-dp8     2.50 s               -20.0 %    +25.0 %",
        "+PP       tp1-pp2-dp8     failed",
        NULL,
    };
    CLEANUP(scan_result) struct scan_result *result = read_result(measured);
    const struct scan_report report = {&scan_fixture_report, &scan_fixture_grid, result};
    if (result)
        expect_text(&report, words);
}

static void says_that_the_answer_is_not_measured(void **state)
{
    (void)state;
    static const char *const words[] = {"tp2-pp1-dp8 was not measured: no regret\n", NULL};
    CLEANUP(scan_result)
    struct scan_result *result = read_result("row,step_time_s\ntp1-pp2-dp8,3\n");
    const struct scan_report report = {&scan_fixture_report, &scan_fixture_grid, result};
    if (result)
        expect_text(&report, words);
}

static void says_that_the_answer_is_the_best(void **state)
{
    (void)state;
    static const char *const words[] = {"tp2-pp1-dp8 is the measured best\n",
                                        "+PP       tp1-pp2-dp8   not measured", NULL};
    CLEANUP(scan_result)
    struct scan_result *result = read_result("row,step_time_s\ntp2-pp1-dp8,3\ntp1-pp1-dp16,4\n");
    const struct scan_report report = {&scan_fixture_report, &scan_fixture_grid, result};
    if (result)
        expect_text(&report, words);
}

static void expect_json(const struct scan_report *report, const char *const *words)
{
    CLEANUP(json_value) struct json_value *document = scan_report_json(report);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (json_value_write(document, JSON_STYLE_COMPACT, &out, NULL) == 0)
        expect_words(&out, words);
}

static void writes_documents(void **state)
{
    (void)state;
    static const char *const grid_words[] = {
        "{\"schema\":\"parplan.sweep/1\",\"model\":\"toy, \\\"small\\\"\"",
        "{\"row\":\"tp2-pp1-dp8\",\"roles\":[\"answer\",\"with-tp\"],\"keys\":\"tp=2,",
        "\"predicted_seconds\":2,\"measured_seconds\":null,\"error\":null,\"failed\":false,"
        "\"plan\":{\"degrees\":{\"tp\":2",
        "{\"class\":\"with-tp-pp\",\"row\":null,\"absent\":\"no such plan fits or is allowed\","
        "\"predicted_gain\":null,\"measured_gain\":null}",
        "\"result\":null,\"notes\":[\"sequence_length is not given: 4096\"]}",
        NULL,
    };
    static const char *const result_words[] = {
        "\"measured_seconds\":2.5,\"error\":-0.2,\"failed\":false",
        "\"measured_seconds\":null,\"error\":null,\"failed\":true",
        "\"predicted_gain\":0.25,\"measured_gain\":-0.2}",
        "\"result\":{\"measured\":2,\"best\":\"tp1-pp1-dp16\",\"best_seconds\":2,"
        "\"best_predicted_place\":2,\"regret\":0.25,\"mape\":0.225}",
        NULL,
    };
    CLEANUP(scan_result) struct scan_result *result = read_result(measured);
    struct scan_report report = {.plan = &scan_fixture_report, .grid = &scan_fixture_grid};
    expect_json(&report, grid_words);
    report.result = result;
    if (result)
        expect_json(&report, result_words);
}

/* A GPU that no catalogue has: nothing is predicted, and what is measured counts all the same. */
static void lives_without_predictions(void **state)
{
    (void)state;
    static const char *const words[] = {
        "measured best     tp2-pp1-dp8, 3.00 s\n",
        "predictions       2 of 3 rows measured; no predictions\n",
        "fits           ?    3.00 s\n",
        NULL,
    };
    static const char *const json_words[] = {"\"predicted_seconds\":null",
                                             "\"best_predicted_place\":null,\"regret\":0,"
                                             "\"mape\":null",
                                             NULL};
    static const char text[] = "row,step_time_s\ntp2-pp1-dp8,3\ntp1-pp1-dp16,4\n";
    struct scan_row rows[3];
    struct scan_grid grid = scan_fixture_grid;
    memcpy(rows, grid.rows, sizeof(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i].plan.time.step_seconds = 0;
    grid.rows = rows;
    CLEANUP(csv_table) struct csv_table *table = csv_table_parse(text, strlen(text), "m.csv", NULL);
    CLEANUP(scan_result)
    struct scan_result *result = table ? scan_result_read(&grid, table, NULL) : NULL;
    const struct scan_report report = {&scan_fixture_report, &grid, result};
    if (!result)
        return;
    expect_text(&report, words);
    expect_json(&report, json_words);
}

static void writes_runs(void **state)
{
    (void)state;
    static const char *const words[] = {
        "id,set,model,layers,",
        "\n\"tp2-pp1-dp8\",sweep,\"toy, "
        "\"\"small\"\"\",4,64,256,1,4,2,100,4096,,,\"h100-sxm\",80,8,"
        "16,400G/GPU,64,4,2,1,1,1,1,8,zero1,none,bf16,2.5,,\"megatron-core\",\"dgx-h100\"\n",
        "\n\"tp1-pp1-dp16\",sweep,",
        NULL,
    };
    CLEANUP(scan_result) struct scan_result *result = read_result(measured);
    const struct scan_report report = {&scan_fixture_report, &scan_fixture_grid, result};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (!result || scan_runs_write(&report, "dgx-h100", &out, NULL) < 0)
        return;
    expect_words(&out, words);
    assert_null(strstr(text_buffer_text(&out), "tp1-pp2-dp8")); /* not measured */
}

/* Figures that the table has no column for would be read back as others. */
static void refuses_runs_without_a_column(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(scan_result) struct scan_result *result = read_result(measured);
    struct scan_row rows[3];
    struct scan_grid grid = scan_fixture_grid;
    const struct scan_report report = {&scan_fixture_report, &grid, result};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    if (!result)
        return;
    memcpy(rows, grid.rows, sizeof(rows));
    rows[0].plan.offload = OFFLOAD_CPU;
    grid.rows = rows;
    assert_int_equal(scan_runs_write(&report, NULL, &out, &err), -1);
    assert_non_null(strstr(err.text, "no column for offload"));
    rows[0].plan.offload = OFFLOAD_NONE;
    rows[0].plan.schedule = SCHEDULE_NAIVE;
    assert_int_equal(scan_runs_write(&report, NULL, &out, &err), -1);
    assert_non_null(strstr(err.text, "no column for the schedule"));
    rows[0].plan.schedule = SCHEDULE_NONE;
    rows[0].plan.degrees.ep = rows[0].plan.degrees.etp = 2;
    assert_int_equal(scan_runs_write(&report, NULL, &out, &err), -1);
    assert_non_null(strstr(err.text, "no column for etp"));
    assert_int_equal(out.length, 0);
}

static const struct {
    struct training_spec training;
    const char *lacking;
} without_column[] = {
    {{.trainable = 0.5}, "no column for trainable;"},
    {{.trainable = 0}, "no column for trainable;"},
    {{.trainable = 1, .lora_rank = 16}, "no column for trainable;"},
    {{.trainable = 1, .mtp_layers = 1}, "no column for mtp;"},
    {{.trainable = 1, .optimizer = OPTIMIZER_MUON}, "no column for optimizer;"},
    {{.trainable = 1, .expert_load = 1.25}, "no column for imbalance and capacity_factor;"},
};

static void refuses_training_without_a_column(void **state)
{
    (void)state;
    CLEANUP(scan_result) struct scan_result *result = read_result(measured);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    for (size_t i = 0; result && i < COUNT_OF(without_column); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct plan_report plan = scan_fixture_report;
        const struct scan_report report = {&plan, &scan_fixture_grid, result};
        plan.training = &without_column[i].training;
        assert_int_equal(scan_runs_write(&report, NULL, &out, &err), -1);
        if (!strstr(err.text, without_column[i].lacking))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, without_column[i].lacking);
    }
    assert_int_equal(out.length, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_the_grid),
    cmocka_unit_test(shows_what_was_measured),
    cmocka_unit_test(says_that_the_answer_is_not_measured),
    cmocka_unit_test(says_that_the_answer_is_the_best),
    cmocka_unit_test(writes_documents),
    cmocka_unit_test(lives_without_predictions),
    cmocka_unit_test(writes_runs),
    cmocka_unit_test(refuses_runs_without_a_column),
    cmocka_unit_test(refuses_training_without_a_column),
};

int main(void) { return unit_test_main("report/scan_report", tests, COUNT_OF(tests)); }
