/* SPDX-License-Identifier: MIT */
#include "report/catalogue_report.h"

#define DIGITS 6u

static const char *const precision_keys[GPU_PRECISION_COUNT] = {
    [GPU_FP32] = "fp32", [GPU_TF32] = "tf32", [GPU_FP16] = "fp16",
    [GPU_BF16] = "bf16", [GPU_FP8] = "fp8",
};

static void add_parameters(struct json_value *object, const struct model_parameters *parameters)
{
    struct json_value *counts = json_add_object(object, "parameters");
    json_add_unsigned(counts, "total", parameters->total);
    json_add_unsigned(counts, "active", parameters->active);
    json_add_unsigned(counts, "embedding", parameters->embedding);
    json_add_unsigned(counts, "head", parameters->head);
    json_add_unsigned(counts, "final_norm", parameters->final_norm);
    json_add_unsigned(counts, "attention", parameters->attention);
    json_add_unsigned(counts, "dense_mlp", parameters->dense_mlp);
    json_add_unsigned(counts, "experts", parameters->experts);
    json_add_unsigned(counts, "shared_experts", parameters->shared_experts);
    json_add_unsigned(counts, "router", parameters->router);
    json_add_unsigned(counts, "norms", parameters->norms);
    json_add_unsigned(counts, "mtp", parameters->mtp);
}

static int add_model(struct json_value *object, const struct model_spec *model,
                     struct error_info *err)
{
    struct model_parameters parameters;
    if (model_parameters_count(model, &parameters, err) < 0)
        return -1;
    json_add_text(object, "name", model->name);
    json_add_text(object, "family", model->family);
    add_parameters(object, &parameters);
    json_add_unsigned(object, "layers", model->layers);
    json_add_unsigned(object, "hidden", model->hidden);
    json_add_unsigned(object, "heads", model->heads);
    json_add_unsigned(object, "kv_heads", model->kv_heads);
    json_add_unsigned(object, "head_dim", model->head_dim);
    json_add_unsigned(object, "ffn", model->ffn);
    json_add_unsigned(object, "vocabulary", model->vocabulary);
    json_add_boolean(object, "tied_embeddings", model->tied_embeddings);
    json_add_boolean(object, "gated_mlp", model->gated_mlp);
    json_add_text(object, "attention", model->attention == ATTENTION_LATENT ? "latent" : "grouped");
    json_add_unsigned(object, "experts", model->experts);
    json_add_unsigned(object, "experts_per_token", model->experts_per_token);
    json_add_unsigned(object, "expert_ffn", model->expert_ffn);
    json_add_unsigned(object, "shared_experts", model->shared_experts);
    json_add_unsigned(object, "dense_layers", model->dense_layers);
    json_add_unsigned(object, "moe_interval", model->moe_interval > 1 ? model->moe_interval : 1);
    json_add_unsigned(object, "sliding_window", model->sliding_window);
    json_add_unsigned(object, "full_attention_layers",
                      model->sliding_window > 0 ? model->full_attention_layers : model->layers);
    json_add_unsigned(object, "mtp_layers", model->mtp_layers);
    return 0;
}

static struct json_value *create_document(const char *schema, struct error_info *err)
{
    struct json_value *document = json_value_create_object();
    if (!document)
        return error_null(error_set_memory(err));
    json_add_text(document, "schema", schema);
    return document;
}

struct json_value *models_report_json(const struct model_catalogue *models, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *document = create_document("parplan.models/1", err);
    struct json_value *array = json_add_array(document, "models");
    for (size_t i = 0; i < model_catalogue_count(models); i++) {
        if (add_model(json_add_object(array, NULL), model_catalogue_at(models, i), err) < 0)
            return NULL;
    }
    return document ? move_pointer(document) : NULL;
}

struct json_value *model_report_json(const struct model_spec *model, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *document = create_document("parplan.models/1", err);
    if (!document || add_model(document, model, err) < 0)
        return NULL;
    return move_pointer(document);
}

static void add_known(struct json_value *object, const char *key, double value)
{
    if (value > 0.0)
        json_add_real(object, key, value, DIGITS);
    else
        json_add_null(object, key);
}

static void add_gpu(struct json_value *object, const struct gpu_model *gpu)
{
    json_add_text(object, "name", gpu->name);
    json_add_text(object, "title", gpu->title);
    json_add_text(object, "vendor", gpu->vendor);
    json_add_text(object, "architecture", gpu->architecture);
    json_add_unsigned(object, "memory_bytes", gpu->memory_bytes);
    add_known(object, "memory_bytes_per_second", gpu->memory_bytes_per_second);
    struct json_value *flops = json_add_object(object, "flops_per_second");
    struct json_value *gemm = json_add_object(object, "gemm_share");
    for (unsigned i = 0; i < GPU_PRECISION_COUNT; i++) {
        add_known(flops, precision_keys[i], gpu->flops_per_second[i]);
        add_known(gemm, precision_keys[i], gpu->gemm_share[i]);
    }
    json_add_real(object, "nvlink_bytes_per_second", gpu->nvlink_bytes_per_second, DIGITS);
    add_known(object, "nvlink_efficiency", gpu->nvlink_efficiency);
    add_known(object, "pcie_bytes_per_second", gpu->pcie_bytes_per_second);
    struct json_value *aliases = json_add_array(object, "aliases");
    for (size_t i = 0; i < gpu->alias_count; i++)
        json_add_text(aliases, NULL, gpu->aliases[i]);
    json_add_text(object, "source", gpu->source);
}

static void add_preset(struct json_value *object, const struct node_preset *preset)
{
    json_add_text(object, "name", preset->name);
    json_add_text(object, "title", preset->title);
    json_add_text(object, "gpu", preset->gpu);
    json_add_unsigned(object, "gpus", preset->gpu_count);
    json_add_unsigned(object, "nics", preset->nic_count);
    add_known(object, "nic_bytes_per_second", preset->nic_bytes_per_second);
    json_add_unsigned(object, "nvlink_domain_nodes", preset->nvlink_domain_nodes);
    json_add_unsigned(object, "nodes_per_leaf", preset->nodes_per_leaf);
    json_add_unsigned(object, "host_memory_bytes", preset->host_memory_bytes);
    json_add_unsigned(object, "cpus", preset->cpu_count);
    json_add_text(object, "source", preset->source);
}

struct json_value *gpus_report_json(const struct gpu_catalogue *gpus,
                                    const struct preset_catalogue *presets, struct error_info *err)
{
    struct json_value *document = create_document("parplan.gpus/1", err);
    struct json_value *array = json_add_array(document, "gpus");
    for (size_t i = 0; i < gpus->count; i++)
        add_gpu(json_add_object(array, NULL), &gpus->models[i]);
    array = json_add_array(document, "presets");
    for (size_t i = 0; i < presets->count; i++)
        add_preset(json_add_object(array, NULL), &presets->presets[i]);
    return document;
}

struct json_value *gpu_report_json(const struct gpu_model *gpu, struct error_info *err)
{
    struct json_value *document = create_document("parplan.gpus/1", err);
    add_gpu(document, gpu);
    return document;
}
