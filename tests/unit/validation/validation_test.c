/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include <math.h>
#include <string.h>

static const char *const time_rows[] = {
    "id=t1",
    "id=t2;set=Other;tp=4;step_time_s=;tokens_s_gpu=2000",
    "id=t3;gpu=T4",
    "id=t4;step_time_s=",
    "id=t5;layers=3;pp=4",
    "id=t6;cluster=no-such",
    "id=t7;tp=8;pp=1",
    "id=t8;tp=4;pp=1",
    "id=t9;tp=2;pp=1",
};
static const char *const memory_rows[] = {
    "id=m1;measured=peak;value=30",
    "id=m2;measured=fit/OOM",
    "id=m3;measured=fit/OOM;status=OOM",
    "id=m4;measured=fit/OOM;status=OOM;note=fragmentation",
    "id=m5;measured=fit/OOM;tp=1;pp=1;mbs=4;n_gpus=128;layers=400", /* far too large, "ran" */
    "id=m6;measured=estimate;value=4",
    "id=m7;measured=fit/OOM;layers=3;pp=4",
    "id=m8;measured=peak;value=5;set=Other;what=allocated",
};

struct bench {
    struct run_bench run;
    struct csv_table *runs, *memory;
    struct validation_request request;
    struct validation *validation;
};

static void bench_done(struct bench *bench)
{
    validation_free(bench->validation);
    csv_table_free(bench->runs);
    csv_table_free(bench->memory);
    run_bench_done(&bench->run);
}
DEFINE_CLEANUP_DONE(bench);

/* Torture: failing_memory_is_clean, a bench makes hundreds of allocations. */
static void bench_init(struct bench *bench)
{
    struct error_info err = {.kind = ERROR_NONE};
    *bench = (struct bench){.runs = NULL};
    UNIT_TEST_SKIP_TORTURE();
    if (run_bench_init(&bench->run, &err) < 0)
        fail_msg("%s", err.text);
    bench->runs = run_table_create(time_rows, COUNT_OF(time_rows), &err);
    bench->memory = run_table_create(memory_rows, COUNT_OF(memory_rows), &err);
    if (!bench->runs || !bench->memory)
        fail_msg("%s", err.text);
    bench->request = bench->run.request;
}

static const struct validation *run(struct bench *bench)
{
    struct error_info err = {.kind = ERROR_NONE};
    validation_free(bench->validation);
    bench->validation = validation_run(&bench->request, &err);
    if (!bench->validation)
        fail_msg("%s", err.text);
    return bench->validation;
}

static void expect_skipped(const struct validation *validation, size_t at, const char *id,
                           const char *reason)
{
    assert_true(at < validation->skipped_count);
    assert_string_equal(validation->skipped[at].id, id);
    if (!strstr(validation->skipped[at].reason, reason))
        fail_msg("%s: %s", id, validation->skipped[at].reason);
}

static void replays_times(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench.request.runs = bench.runs;
    const struct validation *validation = run(&bench);
    assert_int_equal(validation->time_count, 5);
    assert_string_equal(validation->time[0].run->id, "t1");
    assert_true(validation->time[0].measured == 10);
    assert_true(fabs(validation->time[1].measured - 512.0 * 4096 / (2000 * 64)) < 1e-9);
    for (size_t i = 0; i < validation->time_count; i++) {
        assert_true(validation->time[i].predicted > 0);
        assert_true(validation->time[i].left_out == 0);
    }
    assert_int_equal(validation->skipped_count, 4);
    expect_skipped(validation, 0, "t3", "no node preset has that GPU");
    expect_skipped(validation, 1, "t4", "no step time is published");
    expect_skipped(validation, 2, "t5", "no such pipeline layout");
    expect_skipped(validation, 3, "t6", "no-such: no such node preset");
    assert_int_equal(validation->time_accuracy.count, 2);
    assert_string_equal(validation->time_accuracy.sets[0].set, "Toy");
    assert_int_equal(validation->time_accuracy.sets[0].n, 4);
    assert_int_equal(validation->time_accuracy.overall.n, 5);
    assert_true(isnan(validation->time_accuracy.overall.leave_one_out));
    assert_int_equal(validation->choice.groups, 1); /* t1, t7, t8, t9 */
    assert_int_equal(validation->memory_count, 0);
    validation_free(NULL);
}

static void replays_memory(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench.request.memory = bench.memory;
    const struct validation *validation = run(&bench);
    assert_int_equal(validation->time_count, 0);
    assert_int_equal(validation->memory_count, 6);
    assert_int_equal(validation->peak_count, 2);
    assert_true(validation->peaks[0].measured == 30e9);
    assert_true(validation->peaks[0].predicted == validation->memory[0].predicted_bytes);
    assert_true(validation->peaks[1].predicted < validation->peaks[0].predicted);
    assert_int_equal(validation->memory_accuracy.count, 2);
    assert_int_equal(validation->ran_out, 1); /* m3; m4 ran out by fragmentation */
    assert_int_equal(validation->false_fits, 1);
    assert_int_equal(validation->ran, 4);
    assert_int_equal(validation->false_ooms, 1); /* m5 */
    assert_int_equal(validation->memory[4].verdict, FIT_OOM);
    assert_int_equal(validation->skipped_count, 2);
    expect_skipped(validation, 0, "m6", "neither a peak nor whether it fitted");
    expect_skipped(validation, 1, "m7", "no such pipeline layout");
}

static void both_tables_stand_beside_each_other(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench.request.runs = bench.runs;
    bench.request.memory = bench.memory;
    bench.request.leave_one_out = true;
    const struct validation *validation = run(&bench);
    assert_int_equal(validation->time_count, 5);
    assert_int_equal(validation->memory_count, 6);
    assert_int_equal(validation->skipped_count, 6);
    for (size_t i = 0; i < validation->time_count; i++)
        assert_true(validation->time[i].left_out > 0);
    assert_true(validation->time_accuracy.overall.leave_one_out > 0);
}

static void no_tables_are_an_empty_answer(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    const struct validation *validation = run(&bench);
    assert_int_equal(validation->time_count, 0);
    assert_int_equal(validation->memory_count, 0);
    assert_int_equal(validation->skipped_count, 0);
    assert_int_equal(validation->time_accuracy.count, 0);
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP(validation) struct validation *validation = validation_run(context, err);
    return validation ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    static const char *const few[] = {"id=a", "id=b;gpu=T4", "id=c;cluster=no-such",
                                      "id=d;set=Other"};
    static const char *const peak[] = {"id=m;measured=peak;value=30"};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    csv_table_free(bench.runs);
    csv_table_free(bench.memory);
    bench.runs = run_table_create(few, COUNT_OF(few), &err);
    bench.memory = run_table_create(peak, COUNT_OF(peak), &err);
    assert_true(bench.runs && bench.memory);
    bench.request.runs = bench.runs;
    bench.request.memory = bench.memory;
    unit_test_expect_clean_failures(scenario, &bench.request);
    bench.request.memory = NULL;
    bench.request.leave_one_out = true;
    bench.runs->rows = 1; /* nothing is left to learn from, so no fit */
    unit_test_expect_clean_failures(scenario, &bench.request);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_times),
        cmocka_unit_test(replays_memory),
        cmocka_unit_test(both_tables_stand_beside_each_other),
        cmocka_unit_test(no_tables_are_an_empty_answer),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/validation", tests, COUNT_OF(tests));
}
