/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include "planner/efficiency_catalogue.h"
#include <math.h>
#include <string.h>

/* One row's case over a bench of its own. */
struct bench {
    struct run_bench run;
    struct run_bench_row row;
};

static void bench_done(struct bench *bench)
{
    run_bench_row_done(&bench->row);
    run_bench_done(&bench->run);
}
DEFINE_CLEANUP_DONE(bench);

/* failing_memory_is_clean is enough of torture: a bench makes hundreds of allocations. */
static struct run_case *open_row(struct bench *bench, const char *row)
{
    struct error_info err = {.kind = ERROR_NONE};
    UNIT_TEST_SKIP_TORTURE();
    if (!bench->run.gpus && run_bench_init(&bench->run, &err) < 0)
        fail_msg("%s", err.text);
    run_bench_row_done(&bench->row);
    if (run_bench_row_init(&bench->row, &bench->run, row, &err) < 0)
        fail_msg("%s: %s", row, err.text);
    if (!bench->row.run_case)
        fail_msg("%s: %s", row, bench->row.reason);
    return bench->row.run_case;
}

static double seconds_of(struct bench *bench, const char *row)
{
    return run_case_predicted_seconds(open_row(bench, row));
}

static double measured_of(struct bench *bench, const char *row)
{
    return run_case_measured_seconds(open_row(bench, row));
}

static void assert_share(double have, double want, double share)
{
    if (!(fabs(have / want - 1) <= share))
        fail_msg("%g is not within %g of %g", have, share, want);
}

static void the_row_is_laid_over_the_preset(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    const struct run_case *run_case = open_row(&bench, "interconnect=4x Omni-Path 100G;sp=0");
    const struct plan_context *context = run_case_context(run_case);
    assert_int_equal(context->world, 64);
    assert_int_equal(context->shape.gpus_per_node, 8);
    assert_int_equal(context->training.global_batch, 512);
    assert_int_equal(context->training.sequence_length, 4096);
    assert_int_equal(context->precision, PRECISION_BF16);
    assert_string_equal(context->network->name, "omni-path");
    assert_true(context->network_bytes_per_second <= 6.25e9);
    assert_false(context->profile->sequence_parallel);
    assert_string_equal(run_case_run(run_case)->id, "r");
    assert_string_equal(run_case_catalogue_architecture(run_case)->name, "ampere");

    run_case = open_row(&bench, "gpus_per_node=4;n_gpus=16");
    context = run_case_context(run_case);
    assert_int_equal(context->shape.gpus_per_node, 4);
    assert_int_equal(context->world, 16);
    run_case = open_row(&bench, "gpus_per_node=16"); /* more than the preset has */
    assert_int_equal(run_case_context(run_case)->shape.gpus_per_node, 8);
    run_case_free(NULL);
}

static void slower_links_cost_time(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    double usual = seconds_of(&bench, "tp=8;pp=1");
    assert_true(usual > 0 && isfinite(usual));
    assert_true(seconds_of(&bench, "tp=8;pp=1;gpu=A800") > usual);
    assert_true(seconds_of(&bench, "tp=8;pp=1;interconnect=8x HDR IB 25G") > usual);
    const struct run_case *slow = open_row(&bench, "gpu=A800");
    double slow_rate = run_case_context(slow)->nvlink_bytes_per_second;
    const struct run_case *fast = open_row(&bench, "");
    assert_share(slow_rate, run_case_context(fast)->nvlink_bytes_per_second * 200 / 300, 1e-9);
}

static void export_variants_keep_their_links(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    struct run_case *run_case = open_row(&bench, "gpu=A800;tp=8");
    double first = run_case_predicted_seconds(run_case);
    double rate = run_case_context(run_case)->nvlink_bytes_per_second;
    assert_true(run_case_predicted_seconds(run_case) == first);
    assert_true(run_case_context(run_case)->nvlink_bytes_per_second == rate);
}

/* 72 GPUs of a domain: a job over nodes and domains takes 64 of each. */
static void wide_domains_are_taken_in_segments(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        unsigned domain;
    } rows[] = {
        {"gpu=GB200;gpu_mem_gb=186;gpus_per_node=4;n_gpus=128", 64},
        {"gpu=GB200;gpu_mem_gb=186;gpus_per_node=4;n_gpus=64", 64},
        {"gpu=GB200;gpu_mem_gb=186;gpus_per_node=4;n_gpus=72;gbs=576;tp=1;pp=1", 72},
        {"", 8},
    };
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_case *run_case = open_row(&bench, rows[i].row);
        unsigned domain = run_case_context(run_case)->shape.domain_gpus;
        if (domain != rows[i].domain)
            fail_msg("%s: domain %u", rows[i].row, domain);
    }
}

static void costed_by_what_it_is_given(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    struct run_case *run_case = open_row(&bench, "");
    double before = run_case_predicted_seconds(run_case);
    struct efficiency_architecture architecture = *run_case_catalogue_architecture(run_case);
    struct efficiency_framework framework = *run_case_catalogue_framework(run_case);
    struct framework_profile profile = *run_case_context(run_case)->profile;
    architecture.gemm_share /= 2;
    run_case_use(run_case, &architecture, &framework, &profile);
    double slower = run_case_predicted_seconds(run_case);
    assert_true(slower > before * 1.3);
    framework.step_seconds += 1;
    assert_share(run_case_predicted_seconds(run_case), slower + 1, 1e-9);
    profile.overlap_tp = profile.overlap_dp = 0;
    run_case_use(run_case, &architecture, &framework, &profile);
    assert_true(run_case_predicted_seconds(run_case) > slower + 1);
    run_case_use_catalogue(run_case);
    assert_true(run_case_predicted_seconds(run_case) == before);
}

static void measured_time_comes_from_the_first_figure(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    const double tokens = 512.0 * 4096;
    assert_true(measured_of(&bench, "step_time_s=7.5;tokens_s_gpu=1;tflops_gpu=1") == 7.5);
    assert_share(measured_of(&bench, "step_time_s=;tokens_s_gpu=4096;tflops_gpu=1"),
                 tokens / (4096 * 64), 1e-12);
    double flops = run_case_context(open_row(&bench, ""))->model_flops;
    assert_share(measured_of(&bench, "step_time_s=;tflops_gpu=150"), flops / (150e12 * 64), 1e-12);
    /* Narayanan 2021, equation 3 */
    double h = 4096, l = 32, s = 4096, v = 32000;
    double hardware = 96 * tokens * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    assert_share(measured_of(&bench, "step_time_s=;tflops_gpu=150;flops_kind=hardware"),
                 hardware / (150e12 * 64), 1e-12);
    assert_share(measured_of(&bench, "step_time_s=;tflops_gpu=150;params_b=6;"
                                     "flops_kind=hardware 8*params"),
                 8 * 6e9 * tokens / (150e12 * 64), 1e-12);
    assert_true(measured_of(&bench, "step_time_s=") == 0);
    assert_true(measured_of(&bench, "step_time_s=0.001") == 0); /* above the GPUs' peak */
    assert_true(measured_of(&bench, "step_time_s=2e7") == 0);
    assert_true(measured_of(&bench, "step_time_s=;tokens_s_gpu=1e-300") == 0);
}

static void layouts_that_are_none_have_no_time(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    struct memory_estimate memory;
    struct run_case *run_case = open_row(&bench, "layers=3;pp=4");
    assert_true(run_case_predicted_seconds(run_case) == 0);
    run_case_predicted_memory(run_case, &memory);
    assert_int_equal(memory.total_bytes, 0);
}

static void compares_what_was_published(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench = {.row = {.table = NULL}};
    struct memory_estimate memory;
    struct run_case *run_case = open_row(&bench, "measured=peak;value=40");
    run_case_predicted_memory(run_case, &memory);
    assert_true(memory.total_bytes > 0);
    assert_true(memory.verdict != FIT_UNKNOWN);
    assert_true(run_case_comparable_bytes(run_case, &memory) == (double)memory.total_bytes);
    run_case = open_row(&bench, "measured=peak;value=40;what=max allocated");
    run_case_predicted_memory(run_case, &memory);
    assert_true(memory.parts[MEMORY_FRAMEWORK] > 0);
    assert_true(run_case_comparable_bytes(run_case, &memory) ==
                (double)(memory.total_bytes - memory.parts[MEMORY_FRAMEWORK]));
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row, *error; /* part of it */
    } rows[] = {
        {"cluster=no-such-node", "no-such-node: no such node preset"},
        {"framework=no-such", "no-such"},
        {"precision=fp8", "fp8"}, /* A100 has none */
        {"seq=999999999", "sequence_length"},
        {"seq=0", "sequence_length"},
    };
    CLEANUP_DONE(run_bench) struct run_bench bench = {.gpus = NULL};
    struct error_info why = {.kind = ERROR_NONE};
    UNIT_TEST_SKIP_TORTURE();
    if (run_bench_init(&bench, &why) < 0)
        fail_msg("%s", why.text);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(run_bench_row) struct run_bench_row row;
        assert_int_equal(run_bench_row_init(&row, &bench, rows[i].row, &err), -1);
        assert_int_equal(err.kind, ERROR_INPUT);
        if (!strstr(err.text, rows[i].error))
            fail_msg("%s: %s", rows[i].row, err.text);
    }
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP_DONE(run_bench_row) struct run_bench_row row;
    if (run_bench_row_init(&row, context, "", err) < 0)
        return -1;
    return run_case_predicted_seconds(row.run_case) > 0 ? 0 : error_set(err, "no time");
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    CLEANUP_DONE(run_bench) struct run_bench bench;
    struct error_info err = {.kind = ERROR_NONE};
    if (run_bench_init(&bench, &err) < 0)
        fail_msg("%s", err.text);
    unit_test_expect_clean_failures(scenario, &bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_is_laid_over_the_preset),
        cmocka_unit_test(slower_links_cost_time),
        cmocka_unit_test(export_variants_keep_their_links),
        cmocka_unit_test(wide_domains_are_taken_in_segments),
        cmocka_unit_test(costed_by_what_it_is_given),
        cmocka_unit_test(measured_time_comes_from_the_first_figure),
        cmocka_unit_test(layouts_that_are_none_have_no_time),
        cmocka_unit_test(compares_what_was_published),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/run_case", tests, COUNT_OF(tests));
}
