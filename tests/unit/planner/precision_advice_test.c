/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/measured/precision_advice.h"
#include "tests/support/reference_bench.h"
#include <string.h>

/* 1.25 and 1.5 times as fast in FP8, whose peak is twice as high. */
static const char pairs[] =
    "schema: parplan.mfu_references/1\n"
    "references:\n"
    "  - {gpu: h100-sxm, precision: bf16, architecture: dense, low: 0.3, typical: 0.4, high: 0.5,\n"
    "     runs: 1, parameters_from: 8, parameters_to: 8, sequence_from: 4096,\n"
    "     sequence_to: 4096, gpus_from: 8, gpus_to: 8, recipe: one, source: s}\n"
    "  - {gpu: h100-sxm, precision: fp8, architecture: dense, low: 0.2, typical: 0.25, high: 0.5,\n"
    "     runs: 1, parameters_from: 8, parameters_to: 8, sequence_from: 4096,\n"
    "     sequence_to: 4096, gpus_from: 8, gpus_to: 8, recipe: one, source: s}\n"
    "  - {gpu: h100-sxm, precision: bf16, architecture: dense, low: 0.3, typical: 0.4, high: 0.5,\n"
    "     runs: 1, parameters_from: 400, parameters_to: 400, sequence_from: 8192,\n"
    "     sequence_to: 8192, gpus_from: 8, gpus_to: 8, recipe: two, source: s}\n"
    "  - {gpu: h100-sxm, precision: fp8, architecture: dense, low: 0.3, typical: 0.3, high: 0.5,\n"
    "     runs: 1, parameters_from: 400, parameters_to: 400, sequence_from: 8192,\n"
    "     sequence_to: 8192, gpus_from: 8, gpus_to: 8, recipe: two, source: s}\n"
    "  - {gpu: b200, precision: fp8, architecture: dense, low: 0.3, typical: 0.3, high: 0.5,\n"
    "     runs: 1, parameters_from: 8, parameters_to: 8, sequence_from: 8192,\n"
    "     sequence_to: 8192, gpus_from: 8, gpus_to: 8, recipe: one, source: s}\n";

static int advise(const struct reference_bench *bench, const char *gpu, bool moe,
                  struct precision_advice ret[PRECISION_ADVICE_COUNT], struct error_info *err)
{
    const struct mfu_query query = {.gpu = gpu_catalogue_find(bench->gpus, gpu, 0),
                                    .gpus = bench->gpus,
                                    .moe = moe,
                                    .parameters = 9e9,
                                    .sequence_length = 4096};
    return precision_advice_of(bench->references, &query, bench->arena, ret, err);
}

static const struct {
    const char *gpu;
    bool moe;
    enum precision_verdict verdicts[PRECISION_ADVICE_COUNT]; /* BF16, FP16, FP8 */
    const char *words[PRECISION_ADVICE_COUNT];
} rows[] = {
    {"v100-sxm2-32",
     false,
     {PRECISION_ABSENT, PRECISION_RECOMMENDED, PRECISION_ABSENT},
     {"Ampere", "loss scaling", "Hopper"}},
    {"a100-sxm-80",
     false,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ABSENT},
     {"no loss scaling", "no faster than BF16", "Hopper"}},
    {"h100-sxm",
     false,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ON_REQUEST},
     {"no loss scaling", "no faster than BF16", "1.25 to 1.50 times"}},
    /* The same chip, and a run in one precision alone. */
    {"h200-sxm",
     false,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ON_REQUEST},
     {"", "", "1.25 to 1.50 times"}},
    {"b200",
     false,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ON_REQUEST},
     {"", "", "no published recipe"}},
    {"h100-sxm",
     true,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ON_REQUEST},
     {"", "", "no published recipe"}},
    {"mi300x",
     false,
     {PRECISION_RECOMMENDED, PRECISION_NOT_NEEDED, PRECISION_ON_REQUEST},
     {"", "", "no published recipe"}},
};

static void expect_row(const struct precision_advice advice[PRECISION_ADVICE_COUNT], size_t i)
{
    static const enum precision order[] = {PRECISION_BF16, PRECISION_FP16, PRECISION_FP8};
    for (size_t j = 0; j < PRECISION_ADVICE_COUNT; j++) {
        assert_int_equal(advice[j].precision, order[j]);
        assert_true((advice[j].peak_flops_per_second > 0) ==
                    (rows[i].verdicts[j] != PRECISION_ABSENT));
        if (advice[j].verdict != rows[i].verdicts[j])
            fail_msg("row %zu: %s is %s", i, precision_name(advice[j].precision),
                     precision_verdict_name(advice[j].verdict));
        if (!strstr(advice[j].reason, rows[i].words[j]))
            fail_msg("row %zu: no '%s' in: %s", i, rows[i].words[j], advice[j].reason);
    }
}

static void every_gpu_has_its_precision(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct reference_bench bench;
    struct precision_advice advice[PRECISION_ADVICE_COUNT];
    bool ready = reference_bench_init(&bench, pairs, &err) == 0;
    for (size_t i = 0; ready && i < COUNT_OF(rows); i++)
        if (advise(&bench, rows[i].gpu, rows[i].moe, advice, &err) == 0)
            expect_row(advice, i);
    reference_bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

/* A GPU of the catalogue that has nothing but FP32. */
static void without_16_bits_there_is_fp32(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct reference_bench bench;
    const struct gpu_model gpu = {.name = "old", .architecture = "old"};
    struct precision_advice advice[PRECISION_ADVICE_COUNT];
    const struct mfu_query query = {.gpu = &gpu};
    if (reference_bench_init(&bench, pairs, &err) == 0 &&
        precision_advice_of(bench.references, &query, bench.arena, advice, &err) == 0)
        for (size_t i = 0; i < PRECISION_ADVICE_COUNT; i++)
            assert_int_equal(advice[i].verdict, PRECISION_ABSENT);
    reference_bench_done(&bench);
    assert_string_equal(precision_verdict_name(PRECISION_ON_REQUEST), "on request");
}

static int scenario(void *context, struct error_info *err)
{
    (void)context;
    struct reference_bench bench;
    struct precision_advice advice[PRECISION_ADVICE_COUNT];
    int result = reference_bench_init(&bench, pairs, err);
    if (result == 0)
        result = advise(&bench, "h100-sxm", false, advice, err);
    reference_bench_done(&bench);
    return result;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gpu_has_its_precision),
        cmocka_unit_test(without_16_bits_there_is_fp32),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/precision_advice", tests, COUNT_OF(tests));
}
