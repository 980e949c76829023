/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include "validation/coefficient_fit.h"
#include "validation/leave_one_out.h"
#include <math.h>
#include <string.h>

#define ROWS_MAXIMUM 16u

struct bench {
    struct run_bench run;
    struct run_bench_row rows[ROWS_MAXIMUM];
    struct run_case *cases[ROWS_MAXIMUM];
    struct accuracy_row accuracy[ROWS_MAXIMUM];
    size_t count;
};

static void bench_done(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        run_bench_row_done(&bench->rows[i]);
    run_bench_done(&bench->run);
}
DEFINE_CLEANUP_DONE(bench);

/* The fits are thousands of predictions: once, not hundreds of times. */
static void bench_init(struct bench *bench, const char *const *texts, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    *bench = (struct bench){.count = 0};
    UNIT_TEST_SKIP_TORTURE();
    if (run_bench_init(&bench->run, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        struct run_bench_row *row = &bench->rows[bench->count++];
        int status = run_bench_row_init(row, &bench->run, texts[i], &err);
        if (status < 0 || !row->run_case)
            fail_msg("%s: %s", texts[i], status < 0 ? err.text : row->reason);
        double seconds = run_case_predicted_seconds(row->run_case);
        bench->cases[i] = row->run_case;
        bench->accuracy[i] =
            (struct accuracy_row){run_case_run(row->run_case), seconds, seconds, 0};
    }
}

static void leave_out(struct bench *bench, double *ret_left_out)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (leave_one_out(bench->accuracy, bench->cases, bench->count, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < bench->count; i++)
        ret_left_out[i] = bench->accuracy[i].left_out;
}

/* Measures those rows anew that `is_in` takes, and expects that only the others' left out
 * predictions move, and that each of those of `follow` does. */
static void expect_unmoved(struct bench *bench, const char *in, const char *follow)
{
    double before[ROWS_MAXIMUM], after[ROWS_MAXIMUM];
    leave_out(bench, before);
    for (size_t i = 0; i < bench->count; i++)
        if (strchr(in, *bench->accuracy[i].run->id))
            bench->accuracy[i].measured *= 2;
    leave_out(bench, after);
    for (size_t i = 0; i < bench->count; i++) {
        const char *id = bench->accuracy[i].run->id;
        bool moved = after[i] != before[i];
        if (moved != (strchr(follow, *id) != NULL))
            fail_msg("with %s doubled, %s %s from %g to %g", in, id, moved ? "moved" : "stays",
                     before[i], after[i]);
        if (strchr(in, *id))
            bench->accuracy[i].measured /= 2;
    }
}

static const char *const three_sets[] = {
    "id=a;set=A;tp=1;pp=1",
    "id=b;set=A;tp=4;pp=1",
    "id=c;set=B;tp=2;pp=2",
    "id=d;set=B;tp=8;pp=1;seq=8192",
    "id=e;set=C;tp=4;pp=2",
    "id=f;set=C;tp=2;pp=1;mbs=2",
    "id=x;set=A;framework=torchtitan",
    "id=y;set=D;framework=torchtitan;tp=4",
};

static void a_set_never_teaches_itself(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, three_sets, COUNT_OF(three_sets));
    expect_unmoved(&bench, "ab", "cdef"); /* nor another framework, though of the same set */
    expect_unmoved(&bench, "e", "abcd");
    expect_unmoved(&bench, "y", "x");
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    double left_out[ROWS_MAXIMUM];
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, three_sets, COUNT_OF(three_sets));
    for (size_t i = 0; i < bench.count; i++)
        bench.accuracy[i].measured *= 1.5;
    leave_out(&bench, left_out);
    for (size_t i = 0; i < bench.count; i++) {
        assert_true(left_out[i] > 0 && isfinite(left_out[i]));
        assert_true(run_case_predicted_seconds(bench.cases[i]) == bench.accuracy[i].predicted);
    }
}

static void it_is_the_fit_of_the_others(void **state)
{
    (void)state;
    double left_out[ROWS_MAXIMUM];
    struct error_info err = {.kind = ERROR_NONE};
    struct fit_row others[4];
    struct coefficients found;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, three_sets, COUNT_OF(three_sets));
    leave_out(&bench, left_out);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        others[i] = (struct fit_row){bench.cases[2 + i], bench.accuracy[2 + i].measured};
    assert_int_equal(coefficients_fit(others, COUNT_OF(others), &found, &err), 0);
    coefficients_use(&found, bench.cases[0]);
    assert_true(run_case_predicted_seconds(bench.cases[0]) == left_out[0]);
}

/* One set: a model at a time. */
static void models_stand_for_sets(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "id=a;model=one;tp=1;pp=1",
        "id=b;model=one;tp=4;pp=1",
        "id=c;model=two;layers=40;hidden=5120;ffn=13824;heads=40;kv_heads=40",
        "id=d;model=three;layers=48;hidden=6144;ffn=16384;heads=48;kv_heads=48;tp=4",
    };
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, rows, COUNT_OF(rows));
    expect_unmoved(&bench, "ab", "cd");
    expect_unmoved(&bench, "c", "abd");
}

/* One set and model: a number of GPUs at a time. */
static void sizes_stand_for_models(void **state)
{
    (void)state;
    static const char *const rows[] = {"id=a;n_gpus=8;gbs=64", "id=b;n_gpus=8;gbs=64;tp=4;pp=1",
                                       "id=c;n_gpus=32;gbs=256", "id=d;n_gpus=64"};
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, rows, COUNT_OF(rows));
    expect_unmoved(&bench, "ab", "cd");
    expect_unmoved(&bench, "d", "abc");
}

static void nothing_else_known_is_zero(void **state)
{
    (void)state;
    static const char *const rows[] = {"id=a", "id=b;tp=4"};
    double left_out[ROWS_MAXIMUM];
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, rows, COUNT_OF(rows));
    leave_out(&bench, left_out);
    assert_true(left_out[0] == 0 && left_out[1] == 0);
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(leave_one_out(NULL, NULL, 0, &err), 0);
}

static int scenario(void *context, struct error_info *err)
{
    struct bench *bench = context;
    return leave_one_out(bench->accuracy, bench->cases, bench->count, err);
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench, three_sets, COUNT_OF(three_sets));
    unit_test_expect_clean_failures(scenario, &bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_never_teaches_itself),  cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(it_is_the_fit_of_the_others), cmocka_unit_test(models_stand_for_sets),
        cmocka_unit_test(sizes_stand_for_models),      cmocka_unit_test(nothing_else_known_is_zero),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/leave_one_out", tests, COUNT_OF(tests));
}
