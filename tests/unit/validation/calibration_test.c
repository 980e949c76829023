/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/json_document.h"
#include "base/text_buffer.h"
#include "report/measured/calibration_report.h"
#include "validation/calibration/calibration.h"
#include <string.h>

#define REST "n: 4, residual: 0.05, source: s"

static const char whole[] =
    "schema: parplan.calibration/1\n"
    "links:\n"
    "  - {kind: nvlink, name: h100-sxm, share: 0.5, hop_seconds: 2.0e-6, " REST "}\n"
    "  - {kind: nvlink, name: a100-sxm-80, share: 1.1, hop_seconds: 1.0e-6, " REST "}\n"
    "  - {kind: pcie, name: \"\", share: 0.6, hop_seconds: 5.0e-6, " REST "}\n"
    "  - {kind: network, name: infiniband, share: 0.7, hop_seconds: 8.0e-6, " REST "}\n"
    "gpus:\n"
    "  - {name: h100-sxm, gemm_factor: 0.9, residual_before: 0.2, " REST "}\n"
    "  - {name: l40s, gemm_factor: 0.5, " REST "}\n";

struct bench {
    struct gpu_catalogue *gpus;
    struct efficiency_catalogue *efficiencies;
    struct calibration *calibration;
};

static int bench_init(struct bench *bench, const char *text, struct error_info *err)
{
    *bench = (struct bench){.gpus = gpu_catalogue_builtin(err)};
    if (bench->gpus)
        bench->efficiencies = efficiency_catalogue_builtin(err);
    if (bench->efficiencies)
        bench->calibration = calibration_parse(text, strlen(text), "site.yaml", err);
    return bench->calibration ? 0 : -1;
}

static void bench_done(struct bench *bench)
{
    calibration_free(bench->calibration);
    efficiency_catalogue_free(bench->efficiencies);
    gpu_catalogue_free(bench->gpus);
}

static int bench_apply(struct bench *bench, struct error_info *err)
{
    return calibration_apply(bench->calibration, bench->gpus, bench->efficiencies, err);
}

static void assert_near(double value, double expected)
{
    double margin = expected * 1e-9;
    if (!(value >= expected - margin && value <= expected + margin))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static void expect_applied(const struct bench *bench, double gemm_before, double assumed,
                           double distance)
{
    const struct efficiency_protocol *protocols = bench->efficiencies->protocols;
    const struct gpu_model *h100 = gpu_catalogue_find(bench->gpus, "h100-sxm", 0);
    const struct gpu_model *l40s = gpu_catalogue_find(bench->gpus, "l40s", 0);
    assert_near(h100->nvlink_efficiency, 0.5);
    assert_near(gpu_catalogue_find(bench->gpus, "a100-sxm-80", 0)->nvlink_efficiency, 1.1);
    assert_near(h100->gemm_share[GPU_BF16], 0.9 * gemm_before);
    assert_near(l40s->gemm_share[GPU_BF16], 0.5 * assumed);
    assert_near(bench->efficiencies->pcie_share, 0.6);
    assert_near(efficiency_of_network(bench->efficiencies, "infiniband")->share, 0.7);
    /* Of two rows the larger counts, and the distance between protocols stays. */
    assert_near(calibrated_least_hop(bench->efficiencies, CALIBRATED_NVLINK), 2e-6);
    assert_near(calibrated_least_hop(bench->efficiencies, CALIBRATED_PCIE), 5e-6);
    assert_near(calibrated_least_hop(bench->efficiencies, CALIBRATED_NETWORK), 8e-6);
    assert_near(protocols[1].nvlink_hop_seconds - protocols[0].nvlink_hop_seconds, distance);
}

static void figures_replace_the_catalogues(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct bench bench;
    if (bench_init(&bench, whole, &err) == 0) {
        const struct gpu_model *l40s = gpu_catalogue_find(bench.gpus, "l40s", 0);
        const struct efficiency_protocol *protocols = bench.efficiencies->protocols;
        double gemm = gpu_catalogue_find(bench.gpus, "h100-sxm", 0)->gemm_share[GPU_BF16];
        double assumed = l40s->gemm_share[GPU_BF16] > 0
                             ? l40s->gemm_share[GPU_BF16]
                             : efficiency_of_architecture(bench.efficiencies, l40s->architecture)
                                   ->gemm_peak_share;
        double distance = protocols[1].nvlink_hop_seconds - protocols[0].nvlink_hop_seconds;
        assert_true(gemm > 0);
        if (bench_apply(&bench, &err) == 0)
            expect_applied(&bench, gemm, assumed, distance);
    }
    bench_done(&bench);
    assert_true(err.kind == ERROR_NONE || err.kind == ERROR_MEMORY);
}

/* What the report writes is the file that is read. */
static void the_document_is_the_file(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct bench bench;
    text_buffer_init(&text, 1 << 20);
    if (bench_init(&bench, whole, &err) == 0) {
        const struct calibration_report report = {.calibration = bench.calibration};
        CLEANUP(json_value) struct json_value *document = calibration_report_json(&report);
        if (document && json_value_write(document, JSON_STYLE_COMPACT, &text, &err) == 0) {
            CLEANUP(calibration)
            struct calibration *again =
                calibration_parse(text_buffer_text(&text), text.length, "again", &err);
            assert_true(again || err.kind == ERROR_MEMORY);
            if (again) {
                assert_int_equal(again->link_count, 4);
                assert_int_equal(again->links[3].kind, CALIBRATED_NETWORK);
                assert_near(again->links[0].hop_seconds, 2e-6);
                assert_near(again->gpus[0].gemm_factor, 0.9);
                assert_near(again->gpus[0].residual_before, 0.2);
                assert_int_equal(again->gpus[1].n, 4);
            }
        }
    }
    bench_done(&bench);
}

static void people_read_a_table(void **state)
{
    (void)state;
    static const char *const words[] = {
        "nvlink h100-sxm", "50.0 % of the rate, 2.00 us a hop",     "gemm h100-sxm", "x 0.900",
        "20.0 %",          "3 rows were skipped; the first is a: b"};
    struct error_info err = {.kind = ERROR_NONE};
    const struct text_style style = {.width = 120};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    struct bench bench;
    text_buffer_init(&out, 1 << 20);
    bool ready = bench_init(&bench, whole, &err) == 0;
    if (ready) {
        const struct calibration_report report = {
            .calibration = bench.calibration, .skipped = 3, .reason = "a: b"};
        calibration_report_text(&report, &style, &out);
    }
    bench_done(&bench);
    for (size_t i = 0; ready && !text_buffer_failed(&out) && i < COUNT_OF(words); i++)
        if (!strstr(text_buffer_text(&out), words[i]))
            fail_msg("no '%s' in:\n%s", words[i], text_buffer_text(&out));
}

static const struct {
    const char *text, *message;
} broken[] = {
    {"schema: parplan.calibration/2\ngpus: []\n", "schema"},
    {"schema: parplan.calibration/1\n", "neither links nor gpus"},
    {"schema: parplan.calibration/1\nlinks: []\ngpus: []\n", "neither links nor gpus"},
    {"schema: parplan.calibration/1\nlinks: 3\n", "list"},
    {"schema: parplan.calibration/1\ngpu: []\n", "gpu"},
    {"schema: parplan.calibration/1\ngpus:\n  - {name: a, gemm_factor: 200, " REST "}\n",
     "gemm_factor"},
    {"schema: parplan.calibration/1\nlinks:\n  - {kind: nvlink, name: a, share: 2.5, hop_seconds: "
     "1e-6, " REST "}\n",
     "share"},
    {"schema: parplan.calibration/1\nlinks:\n  - {kind: ether, name: a, share: 0.5, hop_seconds: "
     "1e-6, " REST "}\n",
     "kind"},
    {"schema: parplan.calibration/1\ngpus:\n  - {name: a, gemm_factor: 1}\n", "n"},
    {"schema: parplan.calibration/1\ngpus:\n  - {name: a, gemm_factor: 1, " REST
     "}\n  - {name: a, gemm_factor: 1, " REST "}\n",
     "twice"},
    {"schema: parplan.calibration/1\nlinks:\n"
     "  - {kind: pcie, name: \"\", share: 0.5, hop_seconds: 1e-6, " REST "}\n"
     "  - {kind: pcie, name: \"\", share: 0.5, hop_seconds: 1e-6, " REST "}\n",
     "twice"},
};

static void broken_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(calibration_parse(broken[i].text, strlen(broken[i].text), "site.yaml", &err));
        if (err.kind != ERROR_MEMORY &&
            (!strstr(err.text, broken[i].message) || !strstr(err.text, "site.yaml")))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, broken[i].message);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(calibration_load("/nonexistent/site.yaml", &err));
    calibration_free(NULL);
}

static void unknown_names_change_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "schema: parplan.calibration/1\nlinks:\n"
        "  - {kind: pcie, name: \"\", share: 0.11, hop_seconds: 1e-6, " REST "}\n"
        "  - {kind: network, name: carrier-pigeon, share: 0.5, hop_seconds: 1e-6, " REST "}\n",
        "schema: parplan.calibration/1\nlinks:\n"
        "  - {kind: pcie, name: \"\", share: 0.11, hop_seconds: 1e-6, " REST "}\n"
        "gpus:\n  - {name: abacus, gemm_factor: 1, " REST "}\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct bench bench;
        if (bench_init(&bench, texts[i], &err) == 0) {
            double before = bench.efficiencies->pcie_share;
            assert_int_equal(bench_apply(&bench, &err), -1);
            assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "is called"));
            assert_near(bench.efficiencies->pcie_share, before);
        }
        bench_done(&bench);
    }
}

static int scenario(void *context, struct error_info *err)
{
    (void)context;
    struct bench bench;
    int result = bench_init(&bench, whole, err);
    if (result == 0)
        result = bench_apply(&bench, err);
    bench_done(&bench);
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
        cmocka_unit_test(figures_replace_the_catalogues),
        cmocka_unit_test(the_document_is_the_file),
        cmocka_unit_test(people_read_a_table),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(unknown_names_change_nothing),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("validation/calibration", tests, COUNT_OF(tests));
}
