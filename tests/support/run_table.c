/* SPDX-License-Identifier: MIT */
#include "tests/support/run_table.h"

#include "base/text_buffer.h"
#include "planner/efficiency_catalogue.h"
#include "topology/preset_catalogue.h"
#include <string.h>

#define TABLE_MAXIMUM_BYTES ((size_t)1 << 20)

struct usual_cell {
    const char *column, *text;
};

static const struct usual_cell usual_cells[] = {
    {"id", "r"},
    {"set", "Toy"},
    {"model", "toy"},
    {"params_b", ""},
    {"layers", "32"},
    {"hidden", "4096"},
    {"ffn", "11008"},
    {"gated", "1"},
    {"heads", "32"},
    {"kv_heads", "32"},
    {"vocab", "32000"},
    {"seq", "4096"},
    {"experts", ""},
    {"topk", ""},
    {"gpu", "A100 SXM"},
    {"gpu_mem_gb", "80"},
    {"gpus_per_node", "8"},
    {"n_gpus", "64"},
    {"interconnect", "NVLink3 + 8x HDR IB 200G"},
    {"gbs", "512"},
    {"mbs", "1"},
    {"tp", "2"},
    {"pp", "2"},
    {"vpp", ""},
    {"cp", "1"},
    {"ep", ""},
    {"zero_fsdp", "zero1"},
    {"sp", "1"},
    {"recompute", "none"},
    {"precision", "bf16"},
    {"step_time_s", "10"},
    {"tokens_s_gpu", ""},
    {"tflops_gpu", ""},
    {"flops_kind", ""},
    {"measured", ""},
    {"value", ""},
    {"unit", "GB"},
    {"what", ""},
    {"status", "ok"},
    {"note", ""},
    {"framework", ""},
    {"cluster", ""},
};

/* What the row says of the column, else the usual. */
static const char *cell_of(const char *row, const struct usual_cell *usual, size_t *ret_length)
{
    size_t name = strlen(usual->column);
    while (*row != '\0') {
        size_t length = strcspn(row, ";");
        if (strncmp(row, usual->column, name) == 0 && row[name] == '=') {
            *ret_length = length - name - 1;
            return row + name + 1;
        }
        row += length + (row[length] == ';');
    }
    *ret_length = strlen(usual->text);
    return usual->text;
}

static void write_row(struct text_buffer *text, const char *row)
{
    for (size_t i = 0; i < COUNT_OF(usual_cells); i++) {
        size_t length = 0;
        const char *cell = cell_of(row, &usual_cells[i], &length);
        text_buffer_add_text(text, i > 0 ? ",\"" : "\"");
        text_buffer_add_bytes(text, cell, length);
        text_buffer_add_text(text, "\"");
    }
    text_buffer_add_text(text, "\n");
}

struct csv_table *run_table_create(const char *const *rows, size_t count, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TABLE_MAXIMUM_BYTES);
    for (size_t i = 0; i < COUNT_OF(usual_cells); i++)
        text_buffer_add(&text, "%s%s", i > 0 ? "," : "", usual_cells[i].column);
    text_buffer_add_text(&text, "\n");
    for (size_t i = 0; i < count; i++)
        write_row(&text, rows[i]);
    if (text_buffer_failed(&text))
        return error_null(error_set_memory(err));
    return csv_table_parse(text_buffer_text(&text), text.length, "runs.csv", err);
}

int run_bench_init(struct run_bench *ret, struct error_info *err)
{
    *ret = (struct run_bench){0};
    ret->gpus = gpu_catalogue_builtin(err);
    ret->presets = ret->gpus ? preset_catalogue_builtin(err) : NULL;
    ret->frameworks = ret->presets ? framework_catalogue_builtin(err) : NULL;
    ret->models = ret->frameworks ? model_catalogue_builtin(err) : NULL;
    ret->efficiencies = ret->models ? efficiency_catalogue_builtin(err) : NULL;
    ret->publications = ret->efficiencies ? publication_catalogue_builtin(err) : NULL;
    ret->catalogues =
        (struct run_catalogues){ret->gpus, ret->presets, ret->frameworks, ret->efficiencies};
    ret->request = (struct validation_request){
        .publications = ret->publications, .models = ret->models, .catalogues = ret->catalogues};
    return ret->publications ? 0 : -1;
}

void run_bench_done(struct run_bench *bench)
{
    publication_catalogue_free(bench->publications);
    efficiency_catalogue_free(bench->efficiencies);
    model_catalogue_free(bench->models);
    framework_catalogue_free(bench->frameworks);
    preset_catalogue_free(bench->presets);
    gpu_catalogue_free(bench->gpus);
}

int run_bench_row_init(struct run_bench_row *ret, const struct run_bench *bench, const char *row,
                       struct error_info *err)
{
    *ret = (struct run_bench_row){.table = run_table_create(&row, 1, err)};
    if (!ret->table)
        return -1;
    if (!published_run_read(ret->table, 0, bench->publications, bench->models, &ret->run,
                            &ret->reason))
        return 0;
    ret->run_case = run_case_create(&ret->run, &bench->catalogues, err);
    return ret->run_case ? 0 : -1;
}

void run_bench_row_done(struct run_bench_row *row)
{
    run_case_free(row->run_case);
    csv_table_free(row->table);
}
