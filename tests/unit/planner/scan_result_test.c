/* SPDX-License-Identifier: MIT */
#include "planner/scan/scan_result.h"
#include "tests/support/scan_fixture.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-9

static struct scan_result *read_result(const char *text, struct error_info *err)
{
    CLEANUP(csv_table) struct csv_table *table = csv_table_parse(text, strlen(text), "m.csv", err);
    return table ? scan_result_read(&scan_fixture_grid, table, err) : NULL;
}

static void measures_every_row(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(scan_result)
    struct scan_result *result = read_result("row,degrees,step_time_s,exit_status,comment\n"
                                             "tp2-pp1-dp8,,2.5,0,first\n"
                                             ",\"tp=1,dp=16\",2,0,\n"
                                             "tp1-pp2-dp8,,,137,out of memory\n",
                                             &err);
    if (!result)
        return (void)assert_int_equal(err.kind, ERROR_MEMORY);
    assert_int_equal(result->measured, 2);
    assert_int_equal(result->best, 1);
    assert_float_equal(result->regret, 0.25, NEAR);
    assert_float_equal(result->mape, (0.2 + 0.25) / 2, NEAR);
    assert_true(result->measures[2].failed);
    assert_false(result->measures[0].failed);
    assert_int_equal(result->measures[2].line, 4);
    assert_true(isnan(scan_result_error(result, 2)));
    assert_float_equal(scan_measured_gain(result, SCAN_WITH_TP), -0.2, NEAR);
    assert_float_equal(scan_measured_gain(result, SCAN_DATA_ONLY), 0, NEAR);
    assert_true(isnan(scan_measured_gain(result, SCAN_WITH_PP)));
    assert_true(isnan(scan_measured_gain(result, SCAN_WITH_BOTH)));
    assert_float_equal(scan_predicted_gain(&scan_fixture_grid, SCAN_WITH_PP), 2.5 / 4 - 1, NEAR);
    assert_int_equal(scan_predicted_place(&scan_fixture_grid, 1), 2);
}

/* The answer failed: a best, and no regret. */
static void knows_no_regret(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(scan_result)
    struct scan_result *result =
        read_result("row,step_time_s\ntp2-pp1-dp8,\ntp1-pp2-dp8,3\n", &err);
    if (!result)
        return (void)assert_int_equal(err.kind, ERROR_MEMORY);
    assert_int_equal(result->best, 2);
    assert_true(isnan(result->regret));
    assert_float_equal(result->mape, 1.0 / 3, NEAR);
}

static void finds_rows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t row;
    } rows[] = {
        {"row,step_time_s\ntp1-pp2-dp8,1\n", 2},
        {"degrees,step_time_s\ntp=2,1\n", 0},
        {"degrees,step_time_s\npp=2,1\n", 2},
        {"degrees,step_time_s\nsharding=zero3,1\n", 1},
        {"row,keys,step_time_s\ntp2-pp1-dp8,\"tp=2,micro_batch=4,recompute=none\",1\n", 0},
        {"row,degrees,step_time_s\ntp1-pp2-dp8,tp=9,1\n", 2}, /* the id decides */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(scan_result) struct scan_result *result = read_result(rows[i].text, &err);
        if (!result && err.kind == ERROR_INPUT)
            fail_msg("row %zu: %s", i, err.text);
        if (result)
            assert_int_equal(result->best, rows[i].row);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"row,seconds\ntp2-pp1-dp8,1\n", "m.csv: no column is called step_time_s"},
        {"plan,step_time_s\ntp2-pp1-dp8,1\n", "m.csv: no column is called row or degrees"},
        {"row,step_time_s\ntp9-pp1-dp8,1\n", "m.csv:2: this job's scan has no row tp9-pp1-dp8"},
        {"row,step_time_s\n,1\n", "m.csv:2: neither row nor degrees"},
        {"degrees,step_time_s\ntp=4,1\n",
         "m.csv:2: no row of this job's scan has the degrees tp=4"},
        {"degrees,step_time_s\ndp=8,1\n",
         "m.csv:2: degrees dp=8 are those of rows tp2-pp1-dp8 and"},
        {"degrees,step_time_s\ntq=8,1\n", "m.csv:2"},
        {"degrees,step_time_s\ntp,1\n", "m.csv:2"},
        {"row,step_time_s\ntp2-pp1-dp8,-3\n",
         "m.csv:2: step_time_s: '-3' is not a number from 1e-06"},
        {"row,step_time_s\ntp2-pp1-dp8,0\n",
         "m.csv:2: step_time_s: '0' is not a number from 1e-06"},
        {"row,step_time_s\ntp2-pp1-dp8,nan\n",
         "m.csv:2: step_time_s: 'nan' is not a number from 1e-06"},
        {"row,step_time_s\ntp2-pp1-dp8,1 s\n",
         "m.csv:2: step_time_s: '1 s' is not a number from 1e-06"},
        {"row,step_time_s\ntp2-pp1-dp8,1\n\ntp2-pp1-dp8,2\n",
         "m.csv:4: row tp2-pp1-dp8 stands in line 2 already"},
        {"row,step_time_s\ntp2-pp1-dp8,\n", "m.csv: no row has a step time"},
        {"row,step_time_s\n", "m.csv: no row has a step time"},
        {"row,keys,step_time_s\ntp2-pp1-dp8,micro_batch=2,1\n",
         "m.csv:2: row tp2-pp1-dp8 ran with micro_batch=2, which this job's scan plans otherwise"},
        {"row,keys,step_time_s\ntp2-pp1-dp8,sharding=zero9,1\n", "m.csv:2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(scan_result) struct scan_result *result = read_result(rows[i].text, &err);
        assert_null(result);
        if (err.kind != ERROR_MEMORY && !strstr(err.text, rows[i].want))
            fail_msg("row %zu: '%s' has no '%s'", i, err.text, rows[i].want);
    }
}

static int read_and_free(void *context, struct error_info *err)
{
    CLEANUP(scan_result) struct scan_result *result = read_result(context, err);
    return result ? 0 : -1;
}

static void gives_everything_back(void **state)
{
    (void)state;
    static char text[] = "row,degrees,keys,step_time_s\ntp2-pp1-dp8,,tp=2,1\n,pp=2,,2\n";
    unit_test_expect_clean_failures(read_and_free, text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(measures_every_row),
    cmocka_unit_test(knows_no_regret),
    cmocka_unit_test(finds_rows),
    cmocka_unit_test(refuses),
    cmocka_unit_test(gives_everything_back),
};

int main(void) { return unit_test_main("planner/scan_result", tests, COUNT_OF(tests)); }
