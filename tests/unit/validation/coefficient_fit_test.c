/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"
#include "tests/support/unit_test.h"

#include "validation/coefficient_fit.h"
#include <math.h>
#include <string.h>

#define ROWS_MAXIMUM 16u

/* Shapes and plans that differ in what they load: products, attention, links, the host. */
static const char *const rows[] = {
    "id=a;tp=1;pp=1",
    "id=b;tp=2;pp=2",
    "id=c;tp=4;pp=1;seq=8192",
    "id=d;tp=8;pp=2;mbs=2",
    "id=e;tp=8;pp=4;vpp=2;layers=48;hidden=8192;ffn=22016;heads=64;kv_heads=8",
    "id=f;tp=4;pp=8;layers=64;hidden=6144;ffn=16384;heads=48;kv_heads=48;set=Other",
    "id=g;tp=1;pp=1;cp=2;seq=16384;set=Other",
    "id=h;tp=2;pp=1;layers=24;hidden=2048;ffn=5632;heads=16;kv_heads=16;mbs=4;set=Other",
    "id=i;tp=8;pp=1;n_gpus=256;gbs=2048;set=Other",
    "id=j;tp=1;pp=1;n_gpus=8;gbs=32;seq=2048;set=Other",
};
static const char *const unseen[] = {
    "id=k;tp=2;pp=1;mbs=2",
    "id=l;tp=8;pp=2;layers=40;hidden=5120;ffn=13824;heads=40;kv_heads=40",
    "id=m;tp=4;pp=4;n_gpus=128;gbs=1024",
};

struct bench {
    struct run_bench run;
    struct run_bench_row rows[ROWS_MAXIMUM];
    struct fit_row fit[ROWS_MAXIMUM];
    size_t count;
};

static void bench_done(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        run_bench_row_done(&bench->rows[i]);
    run_bench_done(&bench->run);
}
DEFINE_CLEANUP_DONE(bench);

static void add_rows(struct bench *bench, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error_info err = {.kind = ERROR_NONE};
        size_t next = bench->count++;
        int status = run_bench_row_init(&bench->rows[next], &bench->run, texts[i], &err);
        if (status < 0 || !bench->rows[next].run_case)
            fail_msg("%s: %s", texts[i], status < 0 ? err.text : bench->rows[next].reason);
        bench->fit[next] = (struct fit_row){bench->rows[next].run_case, 0};
    }
}

/* The fit is thousands of predictions: once, not hundreds of times. */
static void bench_init(struct bench *bench)
{
    struct error_info err = {.kind = ERROR_NONE};
    *bench = (struct bench){.count = 0};
    UNIT_TEST_SKIP_TORTURE();
    if (run_bench_init(&bench->run, &err) < 0)
        fail_msg("%s", err.text);
    add_rows(bench, rows, COUNT_OF(rows));
}

/* What the hardware and the framework "really" do: not what the catalogues say. */
struct truth {
    struct efficiency_architecture architecture;
    struct efficiency_framework framework;
    struct framework_profile profile;
};

static struct truth truth_of(const struct bench *bench)
{
    const struct run_case *first = bench->rows[0].run_case;
    return (struct truth){*run_case_catalogue_architecture(first),
                          *run_case_catalogue_framework(first), *run_case_context(first)->profile};
}

static double true_seconds(struct run_case *run_case, const struct truth *truth)
{
    run_case_use(run_case, &truth->architecture, &truth->framework, &truth->profile);
    double seconds = run_case_predicted_seconds(run_case);
    run_case_use_catalogue(run_case);
    return seconds;
}

static void measure(struct bench *bench, const struct truth *truth)
{
    for (size_t i = 0; i < bench->count; i++)
        bench->fit[i].measured = true_seconds(bench->fit[i].run_case, truth);
}

static void fit(struct bench *bench, struct coefficients *coefficients)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (coefficients_fit(bench->fit, bench->count, coefficients, &err) < 0)
        fail_msg("%s", err.text);
}

static double error_of(struct bench *bench, size_t row)
{
    double predicted = run_case_predicted_seconds(bench->fit[row].run_case);
    return fabs(predicted / bench->fit[row].measured - 1);
}

/* The mean error of the rows from `first` on, and the largest, are at most these. */
static void expect_near(struct bench *bench, size_t first, double mean, double most,
                        const char *what)
{
    double sum = 0;
    for (size_t i = first; i < bench->count; i++) {
        double error = error_of(bench, i);
        sum += error / (double)(bench->count - first);
        if (!(error <= most))
            fail_msg("%s: %s is off by %.1f %%", what, run_case_run(bench->fit[i].run_case)->id,
                     100 * error);
    }
    if (!(sum <= mean))
        fail_msg("%s: off by %.1f %% in the mean", what, 100 * sum);
}

struct change {
    const char *what;
    size_t offset; /* in struct truth */
    double value;
};

static const struct change changes[] = {
    {"slow products", offsetof(struct truth, architecture.gemm_share), 0.65},
    {"fast products", offsetof(struct truth, architecture.gemm_share), 0.98},
    {"slow attention", offsetof(struct truth, architecture.attention_forward_share), 0.3},
    {"nothing hidden", offsetof(struct truth, profile.overlap_dp), 0},
    {"tensor parallel hidden", offsetof(struct truth, profile.overlap_tp), 0.6},
    {"a slow start of each step", offsetof(struct truth, framework.step_seconds), 1},
    {"a slow host", offsetof(struct truth, framework.host_forward_seconds), 4e-3},
};

static void finds_what_was_changed(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct truth truth = truth_of(&bench);
        struct coefficients found;
        *(double *)(void *)((char *)&truth + changes[i].offset) = changes[i].value;
        measure(&bench, &truth);
        fit(&bench, &found);
        expect_near(&bench, 0, 0.05, 0.15, changes[i].what);
    }
}

static void what_was_found_holds_for_other_runs(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    struct truth truth = truth_of(&bench);
    struct coefficients found;
    truth.architecture.gemm_share = 0.6;
    truth.profile.overlap_tp = 0.4;
    truth.framework.step_seconds = 0.3;
    measure(&bench, &truth);
    fit(&bench, &found);
    size_t seen = bench.count;
    add_rows(&bench, unseen, COUNT_OF(unseen));
    for (size_t i = seen; i < bench.count; i++) {
        bench.fit[i].measured = true_seconds(bench.fit[i].run_case, &truth);
        double before = error_of(&bench, i);
        coefficients_use(&found, bench.fit[i].run_case);
        if (!(error_of(&bench, i) < 0.08))
            fail_msg("%s is off by %.1f %%", unseen[i - seen], 100 * error_of(&bench, i));
        assert_true(before > 0.1); /* the catalogue's would not have done */
    }
}

/* The catalogue's own figures are no start and no limit. */
static void the_catalogue_does_not_matter(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    struct truth truth = truth_of(&bench);
    struct coefficients first, second;
    truth.architecture.gemm_share = 0.6;
    measure(&bench, &truth);
    fit(&bench, &first);
    struct efficiency_architecture *row =
        (struct efficiency_architecture *)run_case_catalogue_architecture(
            bench.rows[0].run_case); /* the bench's own catalogue */
    row->gemm_share = 0.1;
    row->token_half = 9000;
    fit(&bench, &second);
    assert_true(first.architectures[0].gemm_share == second.architectures[0].gemm_share);
    assert_true(first.architectures[0].token_half == second.architectures[0].token_half);
    assert_int_equal(memcmp(&first.profile, &second.profile, sizeof(first.profile)), 0);
}

static void what_no_run_shows_stays_neutral(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    struct truth truth = truth_of(&bench);
    struct coefficients found, again;
    measure(&bench, &truth);
    fit(&bench, &found);
    truth.framework.moe_host_seconds = 0.015; /* no row has experts */
    truth.profile.overlap_ep = 0.7;
    measure(&bench, &truth);
    fit(&bench, &again);
    assert_true(found.framework.moe_host_seconds == again.framework.moe_host_seconds);
    assert_true(found.profile.overlap_ep == again.profile.overlap_ep);
    assert_true(found.framework.moe_host_seconds == 1e-3);
    assert_true(found.profile.overlap_ep == 0.05);
}

static void every_kind_of_gpu_has_its_own(void **state)
{
    (void)state;
    static const char *const hopper[] = {
        "id=p;gpu=H100 SXM;tp=1;pp=1", "id=q;gpu=H100 SXM;tp=4;pp=2",
        "id=r;gpu=H100 SXM;tp=2;pp=1;seq=8192", "id=s;gpu=H100 SXM;tp=8;pp=1;mbs=4"};
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    size_t first = bench.count;
    add_rows(&bench, hopper, COUNT_OF(hopper));
    struct truth truth = truth_of(&bench);
    struct coefficients found;
    truth.architecture.gemm_share = 0.9;
    measure(&bench, &truth);
    truth.architecture.gemm_share = 0.5;
    for (size_t i = first; i < bench.count; i++)
        bench.fit[i].measured = true_seconds(bench.fit[i].run_case, &truth);
    fit(&bench, &found);
    assert_int_equal(found.architecture_count, 2);
    assert_string_equal(found.architectures[0].name, "ampere");
    assert_string_equal(found.architectures[1].name, "hopper");
    assert_true(found.architectures[0].gemm_share > 1.3 * found.architectures[1].gemm_share);
    expect_near(&bench, 0, 0.05, 0.15, "two kinds");
}

/* One row that is wrong by a factor does not drag the others along. */
static void one_bad_cell_does_not_matter(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    struct truth truth = truth_of(&bench);
    struct coefficients found;
    truth.architecture.gemm_share = 0.6;
    measure(&bench, &truth);
    bench.fit[0].measured *= 30;
    fit(&bench, &found);
    expect_near(&bench, 1, 0.06, 0.20, "one bad cell");
}

static void nothing_to_fit_is_refused(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct coefficients found = {.architecture_count = 77};
    assert_int_equal(coefficients_fit(NULL, 0, &found, &err), -1);
    assert_string_equal(err.text, "no runs to fit");
    assert_int_equal(found.architecture_count, 77);
}

static int scenario(void *context, struct error_info *err)
{
    struct coefficients found;
    return coefficients_fit(context, 1, &found, err);
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    CLEANUP_DONE(bench) struct bench bench;
    bench_init(&bench);
    bench.fit[0].measured = 10;
    unit_test_expect_clean_failures(scenario, bench.fit);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_changed),
        cmocka_unit_test(what_was_found_holds_for_other_runs),
        cmocka_unit_test(the_catalogue_does_not_matter),
        cmocka_unit_test(what_no_run_shows_stays_neutral),
        cmocka_unit_test(every_kind_of_gpu_has_its_own),
        cmocka_unit_test(one_bad_cell_does_not_matter),
        cmocka_unit_test(nothing_to_fit_is_refused),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/coefficient_fit", tests, COUNT_OF(tests));
}
