/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "tests/support/planner_fixture.h"
#include "validation/calibration/gemm_fit.h"
#include <string.h>

#define HEADER                                                                                     \
    "id,set,model,layers,hidden,ffn,gated,heads,kv_heads,vocab,seq,gpu,gpu_mem_gb,gpus_per_node,"  \
    "n_gpus,gbs,mbs,tp,pp,dp,precision,framework,cluster,step_time_s\n"
#define LLAMA "ours,llama2-7b,32,4096,11008,1,32,32,32000,4096,"

/* Rows without their step time; the last says too little. */
static const char *const rows[] = {
    "a," LLAMA "H100 SXM,80,8,8,64,1,1,1,8,bf16,megatron-core,dgx-h100,",
    "b," LLAMA "H100 SXM,80,8,16,64,1,2,1,8,bf16,megatron-core,dgx-h100,",
    "c," LLAMA "A100 SXM,80,8,8,64,1,2,1,4,bf16,megatron-core,dgx-a100-80,",
};
static const char silent[] = "d," LLAMA "H100 SXM,80,8,8,64,1,1,1,8,bf16,megatron-core,dgx-h100,\n";

static const char truth[] =
    "schema: parplan.calibration/1\n"
    "gpus:\n"
    "  - {name: h100-sxm, gemm_factor: 0.8, n: 1, residual: 0, source: s}\n"
    "  - {name: a100-sxm-80, gemm_factor: 1.1, n: 1, residual: 0, source: s}\n";

struct bench {
    struct planner_fixture fixture;
    struct publication_catalogue *publications;
    struct arena *arena;
};

static int bench_init(struct bench *bench, struct error_info *err)
{
    *bench = (struct bench){.arena = NULL};
    if (planner_fixture_init(&bench->fixture, "llama2-7b", "dgx-h100:1", NULL, err) < 0)
        return -1;
    bench->publications = publication_catalogue_builtin(err);
    if (!bench->publications)
        return -1;
    bench->arena = arena_create(1 << 20);
    return bench->arena ? 0 : error_set_memory(err);
}

static void bench_done(struct bench *bench)
{
    arena_free(bench->arena);
    publication_catalogue_free(bench->publications);
    planner_fixture_done(&bench->fixture);
}

static struct gemm_fit_request request_of(const struct bench *bench, const struct csv_table *runs)
{
    const struct planner_fixture *fixture = &bench->fixture;
    return (struct gemm_fit_request){
        .runs = runs,
        .publications = bench->publications,
        .models = fixture->models,
        .catalogues = {fixture->gpus, fixture->presets, fixture->frameworks, fixture->efficiencies},
    };
}

/* What the models say of a row; 0: no memory. */
static double predicted(const struct bench *bench, const char *row, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1 << 16);
    text_buffer_add(&text, "%s%s1\n", HEADER, row);
    CLEANUP(csv_table)
    struct csv_table *table = text_buffer_failed(&text)
                                  ? NULL
                                  : csv_table_parse(text_buffer_text(&text), text.length, "t", err);
    struct published_run run;
    const char *reason;
    if (!table)
        return 0;
    const struct gemm_fit_request request = request_of(bench, table);
    if (!published_run_read(table, 0, bench->publications, request.models, &run, &reason)) {
        fail_msg("%s: %s", row, reason);
        return 0;
    }
    CLEANUP(run_case) struct run_case *run_case = run_case_create(&run, &request.catalogues, err);
    return run_case ? run_case_predicted_seconds(run_case) : 0;
}

/* A table of steps as slow as GPUs of the true rates make them. */
static int write_table(struct text_buffer *out, struct error_info *err)
{
    struct bench bench;
    CLEANUP(calibration)
    struct calibration *calibration = calibration_parse(truth, strlen(truth), "truth", err);
    int result = bench_init(&bench, err);
    if (result == 0)
        result = !calibration || calibration_apply(calibration, bench.fixture.gpus,
                                                   bench.fixture.efficiencies, err) < 0
                     ? -1
                     : 0;
    text_buffer_add_text(out, HEADER);
    for (size_t i = 0; result == 0 && i < COUNT_OF(rows); i++) {
        double seconds = predicted(&bench, rows[i], err);
        result = seconds > 0 ? 0 : -1;
        text_buffer_add(out, "%s%.9g\n", rows[i], seconds);
    }
    text_buffer_add_text(out, silent);
    bench_done(&bench);
    return result == 0 && text_buffer_failed(out) ? error_set_memory(err) : result;
}

static int fit_table(struct bench *bench, const char *text, size_t bytes, struct gemm_fit *ret,
                     struct error_info *err)
{
    CLEANUP(csv_table) struct csv_table *table = csv_table_parse(text, bytes, "steps.csv", err);
    if (!table)
        return -1;
    const struct gemm_fit_request request = request_of(bench, table);
    return gemm_fit(&request, bench->arena, ret, err);
}

static void expect_factor(const struct gpu_figures *gpu, const char *name, double factor,
                          uint64_t n)
{
    assert_string_equal(gpu->name, name);
    if (!(gpu->gemm_factor > factor - 0.005 && gpu->gemm_factor < factor + 0.005))
        fail_msg("%s: %.4f, expected %.4f", name, gpu->gemm_factor, factor);
    assert_int_equal(gpu->n, n);
    assert_true(gpu->residual < 0.03 && gpu->residual < gpu->residual_before);
    assert_true(gpu->residual_before > 0.04);
    assert_string_equal(gpu->source, "measured steps: steps.csv");
}

static void true_factors_are_found(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct bench bench;
    struct gemm_fit fit;
    text_buffer_init(&text, 1 << 16);
    bool ready = write_table(&text, &err) == 0;
    if (bench_init(&bench, &err) == 0 && ready &&
        fit_table(&bench, text_buffer_text(&text), text.length, &fit, &err) == 0) {
        assert_int_equal(fit.count, 2);
        expect_factor(&fit.gpus[0], "h100-sxm", 0.8, 2);
        expect_factor(&fit.gpus[1], "a100-sxm-80", 1.1, 1);
        assert_int_equal(fit.skipped, 1);
        assert_non_null(strstr(fit.reason, "d: no step time"));
    }
    bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

static void a_table_without_steps_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } tables[] = {
        {HEADER, "steps.csv: no row can be used"},
        {"id,x\nq,1\n", "the first is q: "},
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct bench bench;
        struct gemm_fit fit;
        if (bench_init(&bench, &err) == 0) {
            assert_int_equal(fit_table(&bench, tables[i].text, strlen(tables[i].text), &fit, &err),
                             -1);
            if (err.kind != ERROR_MEMORY && !strstr(err.text, tables[i].message))
                fail_msg("\"%s\" does not say %s", err.text, tables[i].message);
        }
        bench_done(&bench);
    }
}

/* The same step, measured far too fast and far too slow: no factor helps. */
static void contradicting_steps_move_nothing(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct bench bench;
    struct gemm_fit fit;
    text_buffer_init(&text, 1 << 16);
    text_buffer_add_text(&text, HEADER);
    if (bench_init(&bench, &err) == 0) {
        double seconds = predicted(&bench, rows[0], &err);
        for (int i = 0; i < 10; i++)
            text_buffer_add(&text, "%s%.9g\n", rows[0], seconds * (i % 3 ? 1.3 : 0.75));
        if (seconds > 0 && !text_buffer_failed(&text) &&
            fit_table(&bench, text_buffer_text(&text), text.length, &fit, &err) == 0) {
            assert_true(fit.gpus[0].gemm_factor >= 1 && fit.gpus[0].gemm_factor <= 1);
            assert_true(fit.gpus[0].residual >= fit.gpus[0].residual_before);
            assert_non_null(strstr(fit.gpus[0].source, "left out"));
        }
    }
    bench_done(&bench);
}

static int scenario(void *context, struct error_info *err)
{
    const struct text_buffer *text = context;
    struct bench bench;
    struct gemm_fit fit;
    int result = bench_init(&bench, err);
    if (result == 0)
        result = fit_table(&bench, text_buffer_text(text), text->length, &fit, err);
    bench_done(&bench);
    return result;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 1 << 16);
    if (write_table(&text, &err) == 0)
        unit_test_expect_clean_failures(scenario, &text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_factors_are_found),
        cmocka_unit_test(a_table_without_steps_is_refused),
        cmocka_unit_test(contradicting_steps_move_nothing),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/gemm_fit", tests, COUNT_OF(tests));
}
