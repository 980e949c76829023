/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "planner/measured/mfu_reference.h"
#include "tests/support/reference_bench.h"
#include <string.h>

static void assert_near(double value, double expected, double margin)
{
    if (!(value >= expected - margin && value <= expected + margin))
        fail_msg("%.9g, expected %.9g", value, expected);
}

#define ROW_REST                                                                                   \
    "parameters_to: 10, sequence_from: 4096, sequence_to: 4096, gpus_from: 8, gpus_to: 16, "       \
    "recipe: r, source: s}\n"

static const char three[] =
    "schema: parplan.mfu_references/1\nreferences:\n"
    "  - {gpu: h100-sxm, precision: bf16, architecture: dense, low: 0.3, typical: 0.4, high: 0.5, "
    "runs: 3, parameters_from: 8, " ROW_REST
    "  - {gpu: h100-sxm, precision: bf16, architecture: dense, low: 0.2, typical: 0.3, high: 0.35, "
    "runs: 1, parameters_from: 1, " ROW_REST
    "  - {gpu: a100-sxm-80, precision: bf16, architecture: dense, low: 0.5, typical: 0.5, high: "
    "0.6, runs: 1, parameters_from: 8, " ROW_REST
    "  - {gpu: h100-sxm, precision: bf16, architecture: moe, low: 0.1, typical: 0.2, high: 0.2, "
    "runs: 1, parameters_from: 8, " ROW_REST;

static struct mfu_query query_of(const struct reference_bench *bench, const char *gpu)
{
    return (struct mfu_query){.gpu = gpu_catalogue_find(bench->gpus, gpu, 0),
                              .gpus = bench->gpus,
                              .precision = PRECISION_BF16,
                              .parameters = 9e9,
                              .sequence_length = 4096};
}

struct row {
    const char *gpu;
    double parameters;
    unsigned sequence_length;
    enum precision precision;
    bool moe;
    size_t count;
    bool near;
    double low, high;
};

static const struct row rows[] = {
    {"h100-sxm", 9e9, 4096, PRECISION_BF16, false, 2, true, 0.2, 0.5},
    {"h100-sxm", 3e9, 4096, PRECISION_BF16, false, 1, true, 0.2, 0.35},
    {"h100-sxm", 14e9, 6000, PRECISION_BF16, false, 2, true, 0.2, 0.5},
    {"h100-sxm", 70e9, 4096, PRECISION_BF16, false, 2, false, 0.2, 0.5},
    {"h100-sxm", 9e9, 32768, PRECISION_BF16, false, 2, false, 0.2, 0.5},
    {"h200-sxm", 9e9, 4096, PRECISION_BF16, false, 2, true, 0.2, 0.5},    /* the same chip */
    {"h100-pcie", 9e9, 4096, PRECISION_BF16, false, 0, false, 0, 0},      /* a slower one */
    {"a100-sxm-40", 9e9, 4096, PRECISION_BF16, false, 1, true, 0.5, 0.6}, /* other memory */
    {"h100-sxm", 9e9, 4096, PRECISION_BF16, true, 1, true, 0.1, 0.2},
    {"h100-sxm", 9e9, 4096, PRECISION_FP8, false, 0, false, 0, 0},
    {"mi300x", 9e9, 4096, PRECISION_BF16, false, 0, false, 0, 0},
};

static void ranges_are_of_like_runs(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct reference_bench bench;
    bool ready = reference_bench_init(&bench, three, &err) == 0;
    for (size_t i = 0; ready && i < COUNT_OF(rows); i++) {
        struct mfu_range range;
        struct mfu_query query = query_of(&bench, rows[i].gpu);
        query.parameters = rows[i].parameters;
        query.sequence_length = rows[i].sequence_length;
        query.precision = rows[i].precision;
        query.moe = rows[i].moe;
        if (mfu_reference_range(bench.references, &query, bench.arena, &range, &err) < 0)
            break;
        if (range.count != rows[i].count || range.near != rows[i].near)
            fail_msg("row %zu: %zu rows, near %d", i, range.count, range.near);
        assert_near(range.low, rows[i].low, 1e-9);
        assert_near(range.high, rows[i].high, 1e-9);
    }
    reference_bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

static void typical_is_weighted_with_runs(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct reference_bench bench;
    struct mfu_range range;
    if (reference_bench_init(&bench, three, &err) == 0) {
        struct mfu_query query = query_of(&bench, "h100-sxm");
        if (mfu_reference_range(bench.references, &query, bench.arena, &range, &err) == 0)
            assert_near(range.typical, (3 * 0.4 + 0.3) / 4, 1e-9);
        query.gpu = NULL;
        if (mfu_reference_range(bench.references, &query, bench.arena, &range, &err) == 0)
            assert_int_equal(range.count, 0);
    }
    reference_bench_done(&bench);
}

static void verdicts(void **state)
{
    (void)state;
    const struct mfu_range range = {.low = 0.3, .typical = 0.4, .high = 0.5, .count = 1};
    const struct mfu_range none = {.count = 0};
    assert_int_equal(mfu_verdict_of(&range, 0.29), MFU_BELOW);
    assert_int_equal(mfu_verdict_of(&range, 0.3), MFU_WITHIN);
    assert_int_equal(mfu_verdict_of(&range, 0.5), MFU_WITHIN);
    assert_int_equal(mfu_verdict_of(&range, 0.51), MFU_ABOVE);
    assert_int_equal(mfu_verdict_of(&range, 1.01), MFU_IMPOSSIBLE);
    assert_int_equal(mfu_verdict_of(&range, 0), MFU_UNKNOWN);
    assert_int_equal(mfu_verdict_of(&none, 0.4), MFU_UNKNOWN);
    assert_int_equal(mfu_verdict_of(&none, 2), MFU_IMPOSSIBLE);
    assert_string_equal(mfu_verdict_name(MFU_BELOW), "below");
}

/* Every row's GPU is in the catalogue and has the row's precision. */
static void builtin_is_sound(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(&err);
    CLEANUP(mfu_reference_catalogue)
    struct mfu_reference_catalogue *references =
        gpus ? mfu_reference_catalogue_builtin(&err) : NULL;
    for (size_t i = 0; references && i < references->count; i++) {
        const struct mfu_reference *row = &references->rows[i];
        const struct gpu_model *gpu = gpu_catalogue_find(gpus, row->gpu, 0);
        if (!gpu || strcmp(gpu->name, row->gpu) != 0) {
            fail_msg("row %zu: %s is not in the catalogue", i, row->gpu);
            return;
        }
        double peak = gpu->flops_per_second[row->precision == PRECISION_FP8 ? GPU_FP8 : GPU_BF16];
        assert_true(peak > 0);
        assert_true(strlen(row->source) > 0);
    }
    assert_true(references || err.kind == ERROR_MEMORY);
    mfu_reference_catalogue_free(NULL);
}

static const struct {
    const char *from, *to, *message;
} broken[] = {
    {"mfu_references/1", "mfu_references/2", "schema"},
    {"references:\n", "rows:\n", "rows"},
    {"low: 0.3,", "low: 0.45,", "must rise"},
    {"high: 0.5,", "high: 1.5,", "high"},
    {"precision: bf16", "precision: int8", "precision"},
    {"architecture: dense", "architecture: sparse", "architecture"},
    {"parameters_from: 8,", "parameters_from: 80,", "exchange"},
    {"runs: 3,", "runs: 3, more: 1,", "more"},
};

static void broken_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        const char *at = strstr(three, broken[i].from);
        text_buffer_init(&text, 1 << 20);
        assert_non_null(at);
        text_buffer_add_bytes(&text, three, (size_t)(at - three));
        text_buffer_add_text(&text, broken[i].to);
        text_buffer_add_text(&text, at + strlen(broken[i].from));
        if (text_buffer_failed(&text))
            return;
        assert_null(
            mfu_reference_catalogue_parse(text_buffer_text(&text), text.length, "m.yaml", &err));
        if (err.kind != ERROR_MEMORY && !strstr(err.text, broken[i].message))
            fail_msg("\"%s\" does not name %s", err.text, broken[i].message);
    }
}

static int scenario(void *context, struct error_info *err)
{
    (void)context;
    struct reference_bench bench;
    struct mfu_range range;
    int result = reference_bench_init(&bench, three, err);
    if (result == 0) {
        struct mfu_query query = query_of(&bench, "h100-sxm");
        result = mfu_reference_range(bench.references, &query, bench.arena, &range, err);
    }
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
        cmocka_unit_test(ranges_are_of_like_runs),
        cmocka_unit_test(typical_is_weighted_with_runs),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(builtin_is_sound),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/mfu_reference", tests, COUNT_OF(tests));
}
