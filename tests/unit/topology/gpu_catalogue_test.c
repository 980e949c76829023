/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#define GIB ((uint64_t)1 << 30)

/* Names as hwloc, nvidia-smi, Slurm and Kubernetes give them. */
static void finds_by_every_name(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t memory;
        const char *model;
    } cases[] = {
        {"h100-sxm", 0, "h100-sxm"},
        {"NVIDIA H100 80GB HBM3", 0, "h100-sxm"},
        {"NVIDIA-H100-80GB-HBM3", 0, "h100-sxm"},
        {"h100", 0, "h100-sxm"},
        {"H100 SXM", 80 * GIB, "h100-sxm"},
        {"h100", 93 * GIB, "h100-nvl"},
        {"NVIDIA H100 NVL", 0, "h100-nvl"},
        {"NVIDIA H100 PCIe", 0, "h100-pcie"},
        {"NVIDIA H200", 0, "h200-sxm"},
        {"GH100 [H200 SXM 141GB] 10de:2335", 0, "h200-sxm"},
        {"10de:2330", 0, "h100-sxm"},
        {"NVIDIA GH200 480GB", 0, "gh200-96"},
        {"NVIDIA A100-SXM4-80GB", 0, "a100-sxm-80"},
        {"NVIDIA A100-SXM4-40GB", 0, "a100-sxm-40"},
        {"NVIDIA-A100-SXM4-80GB-SHARED", 0, "a100-sxm-80"},
        {"NVIDIA A100 80GB PCIe", 0, "a100-pcie-80"},
        {"NVIDIA A100-PCIE-40GB", 0, "a100-pcie-40"},
        {"a100_80gb", 0, "a100-sxm-80"},
        {"A100 SXM", 40 * GIB, "a100-sxm-40"},
        {"A100 SXM", 80 * GIB, "a100-sxm-80"},
        {"a100", 0, "a100-sxm-80"},
        {"NVIDIA B200", 0, "b200"},
        {"NVIDIA GB200", 0, "gb200"},
        {"NVIDIA B300 SXM6 AC", 0, "b300"},
        {"GB300", 0, "gb300"},
        {"Tesla V100-SXM3-32GB", 0, "v100-sxm3-32"},
        {"Tesla V100-SXM3-32GB-H", 0, "v100-sxm3-32"},
        {"Tesla V100-SXM2-16GB", 0, "v100-sxm2-16"},
        {"v100", 16 * GIB, "v100-sxm2-16"},
        {"Tesla P100-PCIE-16GB", 0, "p100-pcie"},
        {"Tesla P100-SXM2-16GB", 0, "p100-sxm2"},
        {"TU104GL [Tesla T4] 10de:1eb8", 0, "t4"},
        {"NVIDIA RTX A6000", 0, "a6000"},
        {"NVIDIA L40S", 0, "l40s"},
        {"NVIDIA L40", 0, "l40"},
        {"NVIDIA GeForce RTX 4090", 0, "rtx-4090"},
        {"AMD Instinct MI300X", 0, "mi300x"},
        {"AMD_Instinct_MI300X_OAM", 0, "mi300x"},
        {"AMD INSTINCT MI250X (MCM) OAM AC MBA", 0, "mi250x"},
        {"mi355x", 0, "mi355x"},
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct gpu_model *model = gpu_catalogue_find(gpus, cases[i].text, cases[i].memory);
        if (!model || strcmp(model->name, cases[i].model) != 0)
            fail_msg("%s: %s instead of %s", cases[i].text, model ? model->name : "nothing",
                     cases[i].model);
    }
}

static void does_not_guess(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",      "gpu", "Vega 20", "h1000", "xh100", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb",
        "10de:", "a1",  "sxm",
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    assert_null(gpu_catalogue_find(gpus, NULL, 0));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct gpu_model *model = gpu_catalogue_find(gpus, texts[i], 0);
        if (model)
            fail_msg("%s is no %s", texts[i], model->name);
    }
}

static void counts_what_a_name_may_mean(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count;
        const char *first, *last;
    } cases[] = {
        {"a100", 4, "a100-sxm-80", "a100-pcie-40"},
        {"h100", 3, "h100-sxm", "h100-nvl"},
        {"a100_80gb", 2, "a100-sxm-80", "a100-pcie-80"},
        {"nvidia_h100_80gb_hbm3", 1, "h100-sxm", "h100-sxm"},
        {"h100-sxm", 1, "h100-sxm", "h100-sxm"},
        {"l40s", 1, "l40s", "l40s"},
        {"b200", 1, "b200", "b200"},
        {"new-board", 0, NULL, NULL},
        {"", 0, NULL, NULL},
    };
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct gpu_model *models[8];
        size_t count = gpu_catalogue_find_all(gpus, cases[i].name, models, COUNT_OF(models));
        if (count != cases[i].count)
            fail_msg("%s: %zu models", cases[i].name, count);
        if (count == 0)
            continue;
        assert_string_equal(models[0]->name, cases[i].first);
        assert_string_equal(models[count - 1]->name, cases[i].last);
        assert_int_equal(gpu_catalogue_find_all(gpus, cases[i].name, NULL, 0), count);
    }
}

/* What every entry must hold, so that the planner can count on it. */
static void builtin_figures_are_sound(void **state)
{
    (void)state;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    assert_true(gpus->count >= 24);
    for (size_t i = 0; i < gpus->count; i++) {
        const struct gpu_model *model = &gpus->models[i];
        if (gpu_catalogue_find(gpus, model->name, 0) != model)
            fail_msg("%s is not found by its own name", model->name);
        if (model->memory_bytes < 8 * GIB || model->memory_bytes > 400 * GIB)
            fail_msg("%s: memory", model->name);
        if (!(model->flops_per_second[GPU_FP16] > 1e13) || !(model->pcie_bytes_per_second > 1e10))
            fail_msg("%s: no figures", model->name);
        bool linked = model->nvlink_bytes_per_second > 0;
        double share = model->nvlink_efficiency;
        if (linked ? !(share > 0.5 && share <= 1) : share > 0)
            fail_msg("%s: NVLink efficiency %g", model->name, share);
        for (unsigned p = 0; p < GPU_PRECISION_COUNT; p++)
            if (model->gemm_share[p] < 0 || model->gemm_share[p] > 1)
                fail_msg("%s: GEMM share %g", model->name, model->gemm_share[p]);
        assert_true(strlen(model->source) > 0);
    }
}

static void named_figures(void **state)
{
    (void)state;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    const struct gpu_model *h100 = gpu_catalogue_find(gpus, "h100-sxm", 0);
    assert_non_null(h100);
    assert_true(h100->flops_per_second[GPU_BF16] == 989e12);
    assert_true(h100->gemm_share[GPU_BF16] > 0.80 && h100->gemm_share[GPU_BF16] < 0.81);
    assert_true(h100->nvlink_bytes_per_second == 450e9);
    assert_int_equal(h100->memory_bytes >> 20, 81049);
    const struct gpu_model *v100 = gpu_catalogue_find(gpus, "v100-sxm2-32", 0);
    assert_non_null(v100);
    assert_true(v100->flops_per_second[GPU_BF16] == 0);
    assert_true(v100->flops_per_second[GPU_FP8] == 0);
}

#define ENTRY                                                                                      \
    "name: x, title: X, vendor: v, architecture: a, memory: 16GiB, memory_gb_per_second: 100, "    \
    "pcie_gb_per_second: 10, source: s"

static void refuses_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "gpus.yaml"},
        {"schema: parplan.gpu/1\ngpus: []\n", "parplan.gpus/1"},
        {"schema: parplan.gpus/1\n", "gpus is missing"},
        {"schema: parplan.gpus/1\ngpus: []\n", "a list of 1 to 512 gpus"},
        {"schema: parplan.gpus/1\ngpus: 7\n", "a list of 1 to 512 gpus"},
        {"schema: parplan.gpus/1\ngpu: []\n", "did you mean gpus"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY "}\n", "dense_tflops is missing"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY ", dense_tflops: {fp32: 1}, memory: 1GiB}\n",
         "gpus.yaml:3"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY ", dense_tflops: {fp31: 1}}\n", "fp32"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY
         ", dense_tflops: {fp32: 1}, measured_gemm_tflops: {fp32: 2}}\n",
         "above the dense peak"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY
         ", dense_tflops: {fp32: 1}, nvlink_ring_gb_per_second: 5}\n",
         "more than the links"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY ", dense_tflops: {fp32: 1}, aliases: x}\n",
         "a list is expected"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY
         ", dense_tflops: {fp32: 1}, aliases: [[x]]}\n",
         "a plain text"},
        {"schema: parplan.gpus/1\ngpus:\n  - {" ENTRY ", dense_tflops: {fp32: 1}}\n  - {" ENTRY
         ", dense_tflops: {fp32: 1}}\n",
         "gpus.yaml:4: gpus[1]: the name x stands twice"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(gpu_catalogue_parse(cases[i].text, strlen(cases[i].text), "gpus.yaml", &err));
        expect_message(&err, cases[i].message);
    }
}

static int open_and_free(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    return gpus ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(open_and_free, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_by_every_name),
    cmocka_unit_test(does_not_guess),
    cmocka_unit_test(counts_what_a_name_may_mean),
    cmocka_unit_test(builtin_figures_are_sound),
    cmocka_unit_test(named_figures),
    cmocka_unit_test(refuses_bad_files),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/gpu_catalogue", tests, COUNT_OF(tests)); }
