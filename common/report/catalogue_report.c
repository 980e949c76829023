/* SPDX-License-Identifier: MIT */
#include "report/catalogue_report.h"
#include "report/number_text.h"
#include "report/text_table.h"

static const char *const precision_titles[GPU_PRECISION_COUNT] = {
    [GPU_FP32] = "FP32", [GPU_TF32] = "TF32", [GPU_FP16] = "FP16",
    [GPU_BF16] = "BF16", [GPU_FP8] = "FP8",
};

int models_report_text(const struct model_catalogue *models, const struct text_style *style,
                       struct text_buffer *out, struct error_info *err)
{
    static const struct text_column columns[] = {
        {.title = "model"},
        {.title = "family"},
        {.title = "parameters", .align = ALIGN_RIGHT},
        {.title = "active", .align = ALIGN_RIGHT},
        {.title = "layers", .align = ALIGN_RIGHT},
        {.title = "hidden", .align = ALIGN_RIGHT},
        {.title = "heads/kv", .align = ALIGN_RIGHT},
        {.title = "experts", .align = ALIGN_RIGHT},
        {.title = "vocabulary", .align = ALIGN_RIGHT},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < model_catalogue_count(models); i++) {
        const struct model_spec *model = model_catalogue_at(models, i);
        struct model_parameters parameters;
        if (model_parameters_count(model, &parameters, err) < 0)
            return -1;
        text_table_add(table, model->name);
        text_table_add(table, model->family);
        text_table_add(table, number_parameters((double)parameters.total).text);
        text_table_add(table,
                       model->experts > 0 ? number_parameters((double)parameters.active).text : "");
        text_table_add_unsigned(table, model->layers);
        text_table_add_unsigned(table, model->hidden);
        text_table_add_format(table, "%u/%u", model->heads, model->kv_heads);
        if (model->experts > 0)
            text_table_add_format(table, "%u of %u", model->experts_per_token, model->experts);
        else
            text_table_add(table, "");
        text_table_add_unsigned(table, model->vocabulary);
    }
    text_table_write(table, style, out);
    return 0;
}

struct count_row {
    const char *title;
    uint64_t count;
    const char *note;
    bool shown_when_zero;
};

static void add_counts(const struct model_spec *model, const struct model_parameters *parameters,
                       const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = NULL}, {.title = NULL, .align = ALIGN_RIGHT}, {.title = NULL}};
    const struct count_row rows[] = {
        {"total", parameters->total, "", false},
        {"active", parameters->active, model->experts ? "per token" : "", false},
        {"embedding", parameters->embedding, "", false},
        {"output head", parameters->head, model->tied_embeddings ? "tied to the embedding" : "",
         true},
        {"attention", parameters->attention, "per layer", false},
        {"dense MLP", parameters->dense_mlp, "per dense layer", false},
        {"experts", parameters->experts, "per MoE layer", false},
        {"shared experts", parameters->shared_experts, "per MoE layer", false},
        {"router", parameters->router, "per MoE layer", false},
        {"norms", parameters->norms, "per layer", false},
        {"final norm", parameters->final_norm, "", false},
        {"multi-token prediction", parameters->mtp, "beside the total", false},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].count == 0 && !rows[i].shown_when_zero)
            continue;
        text_table_tone(table, i == 0 ? TONE_CHOSEN : TONE_PLAIN);
        text_table_add(table, rows[i].title);
        text_table_add(table, number_grouped(rows[i].count).text);
        text_table_add(table, rows[i].note);
    }
    text_heading(style, out, "Parameters");
    text_table_write(table, style, out);
}

static void add_shape(const struct model_spec *model, struct text_buffer *out)
{
    text_buffer_add(out, "  family %s: %u layers, hidden %u, %u heads (%u kv) of %u, ffn %u\n",
                    model->family ? model->family : "?", model->layers, model->hidden, model->heads,
                    model->kv_heads, model->head_dim, model->ffn);
    text_buffer_add(out, "  vocabulary %u, embeddings %s", model->vocabulary,
                    model->tied_embeddings ? "tied" : "untied");
    if (model->attention == ATTENTION_LATENT)
        text_buffer_add(out, ", latent attention (kv rank %u, q rank %u)", model->kv_lora_rank,
                        model->q_lora_rank);
    if (model->sliding_window > 0)
        text_buffer_add(out, ", sliding window %u", model->sliding_window);
    if (model->full_attention_layers > 0)
        text_buffer_add(out, " but in %u layers", model->full_attention_layers);
    text_buffer_add_text(out, "\n");
    if (model->experts == 0)
        return;
    text_buffer_add(out, "  %u experts of ffn %u, %u per token, %u shared; %u dense layers first",
                    model->experts, model->expert_ffn, model->experts_per_token,
                    model->shared_experts, model->dense_layers);
    if (model->moe_interval > 1)
        text_buffer_add(out, ", experts in every %u. layer", model->moe_interval);
    text_buffer_add_text(out, "\n");
}

int model_report_text(const struct model_spec *model, const struct text_style *style,
                      struct text_buffer *out, struct error_info *err)
{
    struct model_parameters parameters;
    if (model_parameters_count(model, &parameters, err) < 0)
        return -1;
    text_heading(style, out, "%s", model->name);
    add_shape(model, out);
    add_counts(model, &parameters, style, out);
    return 0;
}

static void add_presets(const struct preset_catalogue *presets, const struct text_style *style,
                        struct text_buffer *out)
{
    static const struct text_column columns[] = {{.title = "preset"},
                                                 {.title = "gpu"},
                                                 {.title = "GPUs", .align = ALIGN_RIGHT},
                                                 {.title = "NICs", .align = ALIGN_RIGHT},
                                                 {.title = "each", .align = ALIGN_RIGHT},
                                                 {.title = "nodes/leaf", .align = ALIGN_RIGHT},
                                                 {.title = "title", .wrap = true}};
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    for (size_t i = 0; i < presets->count; i++) {
        const struct node_preset *preset = &presets->presets[i];
        text_table_add(table, preset->name);
        text_table_add(table, preset->gpu);
        text_table_add_unsigned(table, preset->gpu_count);
        text_table_add_unsigned(table, preset->nic_count);
        text_table_add(table, number_network(preset->nic_bytes_per_second).text);
        text_table_add_unsigned(table, preset->nodes_per_leaf);
        text_table_add(table, preset->title);
    }
    text_heading(style, out, "Node presets (--node NAME, --cluster NAME:NODES)");
    text_table_write(table, style, out);
}

void gpus_report_text(const struct gpu_catalogue *gpus, const struct preset_catalogue *presets,
                      const struct text_style *style, struct text_buffer *out)
{
    static const struct text_column columns[] = {
        {.title = "gpu"},
        {.title = "memory", .align = ALIGN_RIGHT},
        {.title = "bandwidth", .align = ALIGN_RIGHT},
        {.title = "FP16 TFLOP/s", .align = ALIGN_RIGHT},
        {.title = "BF16", .align = ALIGN_RIGHT},
        {.title = "FP8", .align = ALIGN_RIGHT},
        {.title = "NVLink", .align = ALIGN_RIGHT},
        {.title = "title", .wrap = true},
    };
    CLEANUP(text_table) struct text_table *table = text_table_create(columns, COUNT_OF(columns));
    static const unsigned shown[] = {GPU_FP16, GPU_BF16, GPU_FP8};
    for (size_t i = 0; i < gpus->count; i++) {
        const struct gpu_model *gpu = &gpus->models[i];
        text_table_add(table, gpu->name);
        text_table_add(table, number_bytes(gpu->memory_bytes).text);
        text_table_add(table, number_bandwidth(gpu->memory_bytes_per_second).text);
        for (size_t j = 0; j < COUNT_OF(shown); j++) {
            double flops = gpu->flops_per_second[shown[j]];
            if (flops > 0.0)
                text_table_add_format(table, "%.0f", flops / 1e12);
            else
                text_table_add(table, "-");
        }
        text_table_add(table, gpu->nvlink_bytes_per_second > 0.0
                                  ? number_bandwidth(gpu->nvlink_bytes_per_second).text
                                  : "-");
        text_table_add(table, gpu->title);
    }
    text_heading(style, out, "GPUs (dense peaks; links per GPU, one direction)");
    text_table_write(table, style, out);
    add_presets(presets, style, out);
}

void gpu_report_text(const struct gpu_model *gpu, const struct text_style *style,
                     struct text_buffer *out)
{
    text_heading(style, out, "%s: %s", gpu->name, gpu->title);
    text_buffer_add(out, "  vendor %s, architecture %s\n", gpu->vendor, gpu->architecture);
    text_buffer_add(out, "  memory %s at %s\n", number_bytes(gpu->memory_bytes).text,
                    number_bandwidth(gpu->memory_bytes_per_second).text);
    for (unsigned i = 0; i < GPU_PRECISION_COUNT; i++) {
        if (gpu->flops_per_second[i] > 0.0)
            text_buffer_add(out, "  %-4s %s TFLOP/s dense\n", precision_titles[i],
                            number_grouped((uint64_t)(gpu->flops_per_second[i] / 1e12)).text);
    }
    text_buffer_add(out, "  NVLink/XGMI %s, PCIe %s (one direction)\n",
                    gpu->nvlink_bytes_per_second > 0.0
                        ? number_bandwidth(gpu->nvlink_bytes_per_second).text
                        : "none",
                    number_bandwidth(gpu->pcie_bytes_per_second).text);
    text_buffer_add(out, "  source: %s\n", gpu->source ? gpu->source : "?");
}
