/* SPDX-License-Identifier: MIT */
#include "report/measured/mfu_report.h"
#include "tests/support/planner_fixture.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define DOCUMENT_MAXIMUM ((size_t)1 << 20)

struct bench {
    struct planner_fixture fixture;
    struct mfu_reference_catalogue *references;
    struct mfu_analysis *analysis;
    struct mfu_report report;
};

static const struct kernel_profile profile = {
    .kind = "nsys",
    .seconds = {[KERNEL_ALL_REDUCE] = 4, [KERNEL_GEMM] = 6},
    .instances = {[KERNEL_ALL_REDUCE] = 12345, [KERNEL_GEMM] = 10},
    .total_seconds = 10,
    .kernels = 2,
};
static const struct other_run other = {.gpus = 32, .value = 500};

static int bench_init(struct bench *bench, const char *model, const char *cluster, const char *keys,
                      bool extras, struct error_info *err)
{
    *bench = (struct bench){.references = NULL};
    if (planner_fixture_init(&bench->fixture, model, cluster, keys, err) < 0)
        return -1;
    bench->references = mfu_reference_catalogue_builtin(err);
    const struct mfu_request request = {
        .plan = &bench->fixture.request,
        .measure = MEASURE_GPU_TFLOPS,
        .value = 200,
        .references = bench->references,
        .profile = extras ? &profile : NULL,
        .others = &other,
        .other_count = extras ? 1 : 0,
    };
    bench->analysis = bench->references ? mfu_analysis_create(&request, err) : NULL;
    if (!bench->analysis)
        return -1;
    bench->report = (struct mfu_report){.plan = {.request = &bench->fixture.request,
                                                 .training = &bench->analysis->training,
                                                 .framework = "megatron-core",
                                                 .world = bench->analysis->size.gpus,
                                                 .gpus_per_node = 8,
                                                 .list = bench->analysis->list},
                                        .analysis = bench->analysis};
    return 0;
}

static void bench_done(struct bench *bench)
{
    mfu_analysis_free(bench->analysis);
    mfu_reference_catalogue_free(bench->references);
    planner_fixture_done(&bench->fixture);
}

struct row {
    const char *model, *cluster, *keys;
    bool extras;
    const char *words[8];
};

static const struct row texts[] = {
    {"llama3-70b",
     "dgx-h100:8",
     "tp=8,pp=8,micro_batch=1,global_batch=16,sequence_length=8192,recompute=full",
     true,
     {"MFU          20.2 % of 989 TFLOP/s (bf16, dense)", "with recompute full\n", "below  20.2 %",
      "the same configuration", "NCCL 40.0 % of kernel time", "12,345", "64 GPUs are 0.80 times",
      "Where to look"}},
    {"llama3-8b",
     "dgx-h100:1",
     NULL,
     false,
     {"of the default global batch", "the plan that parplan would take", "which is assumed",
      "Precision: the run's is bf16", "not needed"}},
    {"llama2-7b", "mi300x:1", NULL, false, {"unknown  no published run"}},
    {"llama3-70b", "dgx-h100:1", "tp=8", false, {"though the run ran"}},
    {"llama3-70b", "dgx-h100:8", "tp=16,pp=4", false, {"nothing: no split", "use tp=8"}},
    {"llama3-70b", "dgx-h100:64", "sequence_length=131072", false, {"of other sizes"}},
};

static void texts_have_their_words(void **state)
{
    (void)state;
    const struct text_style style = {.width = 100};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct bench bench;
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, DOCUMENT_MAXIMUM);
        bool ready = bench_init(&bench, texts[i].model, texts[i].cluster, texts[i].keys,
                                texts[i].extras, &err) == 0;
        if (ready)
            mfu_report_text(&bench.report, &style, &out);
        bench_done(&bench);
        if (!ready || text_buffer_failed(&out)) {
            assert_true(ready || err.kind == ERROR_MEMORY);
            return;
        }
        for (size_t j = 0; j < COUNT_OF(texts[i].words) && texts[i].words[j]; j++)
            if (!strstr(text_buffer_text(&out), texts[i].words[j]))
                fail_msg("%zu: no '%s' in:\n%s", i, texts[i].words[j], text_buffer_text(&out));
    }
}

static int write_document(struct text_buffer *out, const struct row *row, struct error_info *err)
{
    struct bench bench;
    int result = bench_init(&bench, row->model, row->cluster, row->keys, row->extras, err);
    if (result == 0) {
        CLEANUP(json_value) struct json_value *document = mfu_report_json(&bench.report);
        result = document ? json_value_write(document, JSON_STYLE_COMPACT, out, err)
                          : error_set_memory(err);
    }
    bench_done(&bench);
    return result;
}

static const struct row documents[] = {
    {"llama3-70b",
     "dgx-h100:8",
     "tp=8,pp=8,micro_batch=1,global_batch=16,sequence_length=8192",
     true,
     {"{\"schema\":\"parplan.mfu/1\",\"model\":\"llama3-70b\"", "\"given\":\"tflops_per_gpu\"",
      "\"verdict\":\"below\"", "\"basis\":\"given\"", "\"share_of_kernels\":0.2",
      "\"nccl_share\":0.4", "\"throughput_ratio\":0.8,", "\"check\":\"communication\""}},
    {"llama3-70b",
     "dgx-h100:8",
     "tp=16,pp=4",
     false,
     {"\"plan\":null", "\"nccl\":null", "\"measured_to_predicted\":null", "\"profile\":null"}},
    {"llama2-7b",
     "mi300x:1",
     NULL,
     false,
     {"\"low\":null", "\"near\":false", "{\"precision\":\"bf16\",\"advice\":\"recommended\""}},
};

static void documents_have_their_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer out;
        text_buffer_init(&out, DOCUMENT_MAXIMUM);
        if (write_document(&out, &documents[i], &err) < 0) {
            assert_int_equal(err.kind, ERROR_MEMORY);
            return;
        }
        for (size_t j = 0; j < COUNT_OF(documents[i].words) && documents[i].words[j]; j++)
            if (!strstr(text_buffer_text(&out), documents[i].words[j]))
                fail_msg("%zu: no %s in %s", i, documents[i].words[j], text_buffer_text(&out));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_words),
        cmocka_unit_test(documents_have_their_members),
    };
    return unit_test_main("report/mfu_report", tests, COUNT_OF(tests));
}
