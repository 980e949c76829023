/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/measured/mfu_analysis.h"
#include "tests/support/planner_fixture.h"
#include <string.h>

static void assert_near(double value, double expected, double margin)
{
    if (!(value >= expected - margin && value <= expected + margin))
        fail_msg("%.9g, expected %.9g", value, expected);
}

struct run {
    const char *model, *cluster, *keys;
    enum measure measure;
    double value;
};

struct bench {
    struct planner_fixture fixture;
    struct mfu_reference_catalogue *references;
    struct mfu_request request;
};

static int bench_init(struct bench *bench, const struct run *run, struct error_info *err)
{
    bench->references = NULL;
    if (planner_fixture_init(&bench->fixture, run->model, run->cluster, run->keys, err) < 0)
        return -1;
    bench->references = mfu_reference_catalogue_builtin(err);
    bench->request = (struct mfu_request){.plan = &bench->fixture.request,
                                          .measure = run->measure,
                                          .value = run->value,
                                          .references = bench->references};
    return bench->references ? 0 : -1;
}

static void bench_done(struct bench *bench)
{
    mfu_reference_catalogue_free(bench->references);
    planner_fixture_done(&bench->fixture);
}

static bool has_check(const struct mfu_analysis *analysis, const char *name)
{
    for (size_t i = 0; i < analysis->check_count; i++)
        if (strcmp(analysis->checks[i].name, name) == 0)
            return true;
    return false;
}

#define TUNED "sequence_length=8192,tp=4,pp=4,cp=2,vpp=5,micro_batch=1,framework=nemo"
#define SMALL_BATCH "sequence_length=8192,tp=8,pp=8,micro_batch=1,global_batch=16"

static const struct {
    struct run run;
    enum mfu_verdict verdict;
    const char *checks; /* ",a,b,": all of them must be there */
    const char *absent; /* and this not; or NULL */
} rows[] = {
    /* NVIDIA's own figure: as fast as published, and nothing to look for. */
    {{"llama3-70b", "dgx-h100:8", TUNED ",global_batch=128", MEASURE_STEP_SECONDS, 14.73},
     MFU_WITHIN,
     ",",
     "steady-state"},
    {{"llama3-70b", "dgx-h100:8", SMALL_BATCH, MEASURE_STEP_SECONDS, 4.2},
     MFU_BELOW,
     ",bubble,communication,small-kernels,steady-state,",
     "tensor-parallel"},
    {{"gpt3-175b", "dgx-a100-80:16",
      "tp=16,pp=8,micro_batch=1,sequence_length=2048,global_batch=32,recompute=full,"
      "precision=fp16",
      MEASURE_GPU_TFLOPS, 60},
     MFU_BELOW,
     ",tensor-parallel,communication,recompute,steady-state,",
     "bubble"},
    {{"llama3-8b", "dgx-h100:1", "sequence_length=8192", MEASURE_GPU_TFLOPS, 1200},
     MFU_IMPOSSIBLE,
     ",units,",
     "faster"},
    {{"llama3-8b", "dgx-h100:1", "sequence_length=8192", MEASURE_GPU_TFLOPS, 850},
     MFU_ABOVE,
     ",units,faster,",
     "basis"},
    {{"llama3-8b", "dgx-h100:1", "sequence_length=8192", MEASURE_GPU_TFLOPS, 100},
     MFU_BELOW,
     ",basis,steady-state,",
     "bubble"},
    {{"mixtral-8x7b", "dgx-h100:8", "sequence_length=4096,ep=8", MEASURE_GPU_TFLOPS, 100},
     MFU_BELOW,
     ",prediction,routing,steady-state,",
     "units"},
    {{"llama2-7b", "mi300x:1", "sequence_length=4096", MEASURE_GPU_TFLOPS, 300},
     MFU_UNKNOWN,
     ",",
     "units"},
    /* No split satisfies tp=16 with 8 heads of keys: nothing is predicted. */
    {{"llama3-70b", "dgx-h100:8", "sequence_length=8192,tp=16,pp=4", MEASURE_GPU_TFLOPS, 150},
     MFU_BELOW,
     ",steady-state,",
     "communication"},
    /* A large share of TF32's peak is a small one of BF16's. */
    {{"llama3-8b", "dgx-a100-80:1", "sequence_length=8192,precision=fp32", MEASURE_GPU_TFLOPS, 80},
     MFU_UNKNOWN,
     ",precision,",
     "units"},
    /* What the memory model calls too large is timed all the same. */
    {{"llama3-70b", "dgx-h100:1", "sequence_length=8192,tp=8", MEASURE_GPU_TFLOPS, 150},
     MFU_BELOW,
     ",memory,",
     NULL},
};

static void expect_row(const struct mfu_analysis *analysis, size_t i)
{
    if (analysis->verdict != rows[i].verdict)
        fail_msg("row %zu: %s", i, mfu_verdict_name(analysis->verdict));
    const char *at = rows[i].checks + 1;
    while (*at != '\0') {
        char name[32] = "";
        size_t length = strcspn(at, ",");
        memcpy(name, at, length < sizeof(name) - 1 ? length : sizeof(name) - 1);
        if (!has_check(analysis, name))
            fail_msg("row %zu lacks the check %s", i, name);
        at += length + 1;
    }
    if (rows[i].absent && has_check(analysis, rows[i].absent))
        fail_msg("row %zu has the check %s", i, rows[i].absent);
}

static void verdicts_and_checks(void **state)
{
    (void)state;
    /* Every row takes the same ways; tortured, two of them do. */
    size_t count = unit_test_is_tortured() ? 2 : COUNT_OF(rows);
    for (size_t i = 0; i < count; i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct bench bench;
        CLEANUP(mfu_analysis) struct mfu_analysis *analysis = NULL;
        if (bench_init(&bench, &rows[i].run, &err) == 0)
            analysis = mfu_analysis_create(&bench.request, &err);
        if (analysis)
            expect_row(analysis, i);
        else if (err.kind != ERROR_MEMORY)
            fail_msg("row %zu: %s", i, err.text);
        mfu_analysis_free(move_pointer(analysis));
        bench_done(&bench);
    }
}

/* The brief's "128 GPUs at 30 % are worse than 32 at 55 %": faster, and less efficient. */
static void both_axes_are_compared(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    const struct run run = {"llama3-70b", "dgx-h100:16", "sequence_length=8192", MEASURE_GPU_TFLOPS,
                            0.30 * 989};
    const struct other_run other = {.gpus = 32, .value = 0.55 * 989};
    struct bench bench;
    CLEANUP(mfu_analysis) struct mfu_analysis *analysis = NULL;
    if (bench_init(&bench, &run, &err) == 0) {
        bench.request.others = &other;
        bench.request.other_count = 1;
        analysis = mfu_analysis_create(&bench.request, &err);
    }
    if (analysis) {
        assert_int_equal(analysis->other_count, 1);
        assert_near(analysis->others[0].throughput_ratio, 38.4 / 17.6, 1e-6);
        assert_near(analysis->others[0].efficiency_ratio, 30.0 / 55, 1e-6);
        assert_near(analysis->others[0].speed.mfu, 0.55, 1e-9);
    }
    mfu_analysis_free(move_pointer(analysis));
    bench_done(&bench);
}

static void profiles_move_the_blame(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    const struct run run = {"llama3-70b", "dgx-h100:8", SMALL_BATCH, MEASURE_STEP_SECONDS, 4.2};
    struct kernel_profile profile = {.kind = "nsys", .total_seconds = 10, .kernels = 2};
    for (unsigned busy = 1; busy <= 6; busy += 5) {
        struct bench bench;
        CLEANUP(mfu_analysis) struct mfu_analysis *analysis = NULL;
        profile.seconds[KERNEL_ALL_REDUCE] = busy;
        profile.seconds[KERNEL_GEMM] = 10 - busy;
        if (bench_init(&bench, &run, &err) == 0) {
            bench.request.profile = &profile;
            analysis = mfu_analysis_create(&bench.request, &err);
        }
        if (analysis && !has_check(analysis, busy == 1 ? "kernels" : "communication"))
            fail_msg("an NCCL share of %u/10 is not explained", busy);
        mfu_analysis_free(move_pointer(analysis));
        bench_done(&bench);
    }
}

static void step_times_need_the_batch(void **state)
{
    (void)state;
    static const char *const keys[] = {NULL, "global_batch=64", "sequence_length=4096"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const struct run run = {"llama3-8b", "dgx-h100:1", keys[i], MEASURE_STEP_SECONDS, 4};
        struct bench bench;
        if (bench_init(&bench, &run, &err) == 0) {
            assert_null(mfu_analysis_create(&bench.request, &err));
            assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "global_batch"));
        }
        bench_done(&bench);
    }
}

/* What policy denies has run all the same. */
static void policy_does_not_count(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    const struct run run = {"gpt3-175b", "dgx-a100-80:16", "tp=16,pp=8,sequence_length=2048",
                            MEASURE_GPU_TFLOPS, 100};
    struct bench bench;
    CLEANUP(mfu_analysis) struct mfu_analysis *analysis = NULL;
    if (bench_init(&bench, &run, &err) == 0)
        analysis = mfu_analysis_create(&bench.request, &err);
    if (analysis)
        assert_true(analysis->plan && analysis->plan->degrees.tp == 16);
    assert_true(analysis || err.kind == ERROR_MEMORY);
    mfu_analysis_free(move_pointer(analysis));
    mfu_analysis_free(NULL);
    bench_done(&bench);
}

static int scenario(void *context, struct error_info *err)
{
    CLEANUP(mfu_analysis) struct mfu_analysis *analysis = mfu_analysis_create(context, err);
    return analysis ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_init(&bench, &rows[1].run, &err) == 0)
        unit_test_expect_clean_failures(scenario, &bench.request);
    bench_done(&bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_checks),     cmocka_unit_test(both_axes_are_compared),
        cmocka_unit_test(profiles_move_the_blame), cmocka_unit_test(step_times_need_the_batch),
        cmocka_unit_test(policy_does_not_count),   cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/mfu_analysis", tests, COUNT_OF(tests));
}
