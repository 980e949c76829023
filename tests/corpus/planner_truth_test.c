/* SPDX-License-Identifier: MIT */
/*
 * planner_truth: the planner against the 720 single-node runs of vTrain (KAIST; GPT on A100,
 * Megatron-DeepSpeed), which no coefficient was found from: `parplan validate` replays the
 * tables that it ships. Prints the errors of each number of GPUs, and fails when step times or the
 * choice of a plan leave the range of sanity.
 * PLANNER_TRUTH: the folder (default ../shared/truth); PLANNER_TRUTH_ROWS=1: every row.
 */
#include "tests/support/unit_test.h"

#include "base/text_file.h"
#include "report/measured/validation_report.h"
#include "tests/support/run_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAXIMUM_BYTES ((size_t)1 << 20)
#define TEXT_MAXIMUM_BYTES ((size_t)4 << 20)
#define SANE_TIME_ERROR 0.2
#define SANE_REGRET 0.15

/* The source's columns, and ours where they are the same. */
struct column {
    const char *theirs, *ours;
};

static const struct column columns[] = {
    {"GPUs", "n_gpus"},         {"global batch", "gbs"},      {"micro batch", "mbs"},
    {"hidden size", "hidden"},  {"attention heads", "heads"}, {"# layers", "layers"},
    {"sequence length", "seq"}, {"tensor parallelism", "tp"}, {"pipeline parallelism", "pp"},
};

/* The source's table; its header starts with the mark of our comments, "# GPUs". */
static struct csv_table *open_source(struct error_info *err)
{
    char path[512];
    size_t bytes = 0;
    const char *folder = getenv("PLANNER_TRUTH");
    snprintf(path, sizeof(path), "%s/vtrain_single_node.csv", folder ? folder : "../shared/truth");
    CLEANUP_MEMORY char *text = text_file_read(path, FILE_MAXIMUM_BYTES, &bytes, err);
    if (!text || strncmp(text, "# ", 2) != 0)
        return NULL;
    return csv_table_parse(text + 2, bytes - 2, path, err);
}

static void write_row(struct text_buffer *text, const struct csv_table *source, size_t row)
{
    double milliseconds = 0;
    csv_real(source, row, "iteration time (ms)", 0, 1e9, &milliseconds, NULL);
    text_buffer_add(text, "v%zu,vTrain %s GPUs,GPT-%sx%s,A100 SXM,80,8,none,fp16,none,%g", row + 1,
                    csv_cell(source, row, "GPUs"), csv_cell(source, row, "# layers"),
                    csv_cell(source, row, "hidden size"), milliseconds / 1e3);
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        text_buffer_add(text, ",%s", csv_cell(source, row, columns[i].theirs));
    text_buffer_add_text(text, "\n");
}

static struct csv_table *convert(const struct csv_table *source, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_MAXIMUM_BYTES);
    text_buffer_add_text(&text, "id,set,model,gpu,gpu_mem_gb,gpus_per_node,recompute,precision,"
                                "zero_fsdp,step_time_s");
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        text_buffer_add(&text, ",%s", columns[i].ours);
    text_buffer_add_text(&text, "\n");
    for (size_t row = 0; row < source->rows; row++)
        write_row(&text, source, row);
    if (text_buffer_failed(&text))
        return error_null(error_set_memory(err));
    return csv_table_parse(text_buffer_text(&text), text.length, "vtrain", err);
}

static void print(const struct validation *validation)
{
    const struct text_style style = {.width = TEXT_STYLE_DEFAULT_WIDTH};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, TEXT_MAXIMUM_BYTES);
    validation_report_text(validation, getenv("PLANNER_TRUTH_ROWS") != NULL, &style, &out);
    printf("%s", text_buffer_text(&out));
}

static void unseen_step_times_are_sane(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(run_bench) struct run_bench bench = {.gpus = NULL};
    CLEANUP(csv_table) struct csv_table *source = open_source(&err);
    if (!source) {
        skip();
        return;
    }
    CLEANUP(csv_table) struct csv_table *runs = convert(source, &err);
    if (!runs || run_bench_init(&bench, &err) < 0)
        fail_msg("%s", err.text);
    bench.request.runs = runs;
    CLEANUP(validation) struct validation *validation = validation_run(&bench.request, &err);
    if (!validation) {
        fail_msg("%s", err.text);
        return;
    }
    print(validation);
    assert_int_equal(validation->time_count, runs->rows);
    assert_true(validation->time_accuracy.overall.mape < SANE_TIME_ERROR);
    assert_true(validation->choice.groups > 0);
    assert_true(validation->choice.top1_regret_mean < SANE_REGRET);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_step_times_are_sane),
    };
    return unit_test_main("corpus/planner_truth", tests, COUNT_OF(tests));
}
