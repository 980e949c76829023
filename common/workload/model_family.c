/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

#include "base/cleanup.h"
#include <string.h>

#define MEMBER(member) offsetof(struct model_spec, member)

/* --- names of fields in config.json ------------------------------------------------ */

static const struct config_field vocabulary_only[] = {
    {.key = "vocab_size", .offset = MEMBER(vocabulary)},
    {.key = NULL},
};
static const struct config_field llama_shape[] = {
    {.key = "vocab_size", .offset = MEMBER(vocabulary)},
    {.key = "num_hidden_layers", .offset = MEMBER(layers)},
    {.key = "hidden_size", .offset = MEMBER(hidden)},
    {.key = "num_attention_heads", .offset = MEMBER(heads)},
    {.key = NULL},
};
static const struct config_field grouped_heads[] = {
    {.key = "num_key_value_heads", .offset = MEMBER(kv_heads), .optional = true},
    {.key = "head_dim", .offset = MEMBER(head_dim), .optional = true},
    {.key = NULL},
};
static const struct config_field llama_mlp[] = {
    {.key = "intermediate_size", .offset = MEMBER(ffn)},
    {.key = NULL},
};
static const struct config_field mistral_mlp[] = {
    {.key = "intermediate_size", .offset = MEMBER(ffn)},
    {.key = "sliding_window", .offset = MEMBER(sliding_window), .optional = true},
    {.key = NULL},
};
static const struct config_field mixtral_mlp[] = {
    {.key = "intermediate_size", .offset = MEMBER(expert_ffn)},
    {.key = "num_local_experts", .offset = MEMBER(experts)},
    {.key = "num_experts_per_tok",
     .other = "experts_per_token",
     .offset = MEMBER(experts_per_token)},
    {.key = NULL},
};
/* Here intermediate_size is of the dense layers, if there are any. */
static const struct config_field qwen3_moe_mlp[] = {
    {.key = "intermediate_size", .offset = MEMBER(ffn), .optional = true},
    {.key = "moe_intermediate_size", .offset = MEMBER(expert_ffn)},
    {.key = "num_experts", .offset = MEMBER(experts)},
    {.key = "num_experts_per_tok", .offset = MEMBER(experts_per_token)},
    {.key = NULL},
};
/* num_key_value_heads and head_dim stand in these files too, and do not mean grouping. */
static const struct config_field latent_heads[] = {
    {.key = "q_lora_rank", .offset = MEMBER(q_lora_rank), .optional = true},
    {.key = "kv_lora_rank", .offset = MEMBER(kv_lora_rank)},
    {.key = "qk_nope_head_dim", .offset = MEMBER(qk_nope_head_dim)},
    {.key = "qk_rope_head_dim", .offset = MEMBER(qk_rope_head_dim)},
    {.key = "v_head_dim", .offset = MEMBER(v_head_dim)},
    {.key = NULL},
};
static const struct config_field deepseek_mlp[] = {
    {.key = "intermediate_size", .offset = MEMBER(ffn)},
    {.key = "moe_intermediate_size", .offset = MEMBER(expert_ffn), .optional = true},
    {.key = "n_routed_experts", .offset = MEMBER(experts), .optional = true},
    {.key = "num_experts_per_tok", .offset = MEMBER(experts_per_token), .optional = true},
    {.key = "n_shared_experts", .offset = MEMBER(shared_experts), .optional = true},
    {.key = "first_k_dense_replace", .offset = MEMBER(dense_layers), .optional = true},
    {.key = "num_nextn_predict_layers", .offset = MEMBER(mtp_layers), .optional = true},
    {.key = NULL},
};
static const struct config_field gpt2_shape[] = {
    {.key = "n_layer", .offset = MEMBER(layers)},
    {.key = "n_embd", .offset = MEMBER(hidden)},
    {.key = "n_head", .offset = MEMBER(heads)},
    {.key = "n_inner", .offset = MEMBER(ffn), .optional = true},
    {.key = "n_positions", .offset = MEMBER(learned_positions)},
    {.key = NULL},
};
static const struct config_field bloom_shape[] = {
    {.key = "n_layer", .other = "num_hidden_layers", .offset = MEMBER(layers)},
    {.key = "hidden_size", .other = "n_embed", .offset = MEMBER(hidden)},
    {.key = "n_head", .other = "num_attention_heads", .offset = MEMBER(heads)},
    {.key = NULL},
};
static const struct config_field falcon_shape[] = {
    {.key = "num_hidden_layers", .other = "n_layer", .offset = MEMBER(layers)},
    {.key = "hidden_size", .offset = MEMBER(hidden)},
    {.key = "num_attention_heads", .other = "n_head", .offset = MEMBER(heads)},
    {.key = "ffn_hidden_size", .offset = MEMBER(ffn), .optional = true},
    {.key = NULL},
};
/* OPT keeps two rows of its position table for padding. */
static const struct config_field opt_mlp[] = {
    {.key = "ffn_dim", .offset = MEMBER(ffn)},
    {.key = "max_position_embeddings", .offset = MEMBER(learned_positions), .add = 2},
    {.key = NULL},
};

/* --- families ---------------------------------------------------------------------- */

#define RMS_GATED .norm = NORM_RMS, .norms_per_layer = 2, .final_norm = true, .gated_mlp = true
#define LAYER_NORM_BIASED                                                                          \
    .norm = NORM_LAYER, .norms_per_layer = 2, .final_norm = true, .qkv_bias = true,                \
    .attention_output_bias = true, .mlp_bias = true

static const struct model_family families[] = {
    {.name = "llama", .base = {RMS_GATED}, .fields = {llama_shape, grouped_heads, llama_mlp}},
    {.name = "mistral", .base = {RMS_GATED}, .fields = {llama_shape, grouped_heads, mistral_mlp}},
    {.name = "qwen2",
     .base = {RMS_GATED, .qkv_bias = true},
     .fields = {llama_shape, grouped_heads, llama_mlp}},
    {.name = "qwen3",
     .base = {RMS_GATED, .qk_norm = true, .head_dim = 128},
     .fields = {llama_shape, grouped_heads, llama_mlp}},
    {.name = "mixtral", .base = {RMS_GATED}, .fields = {llama_shape, grouped_heads, mixtral_mlp}},
    {.name = "qwen3_moe",
     .base = {RMS_GATED, .qk_norm = true},
     .fields = {llama_shape, grouped_heads, qwen3_moe_mlp}},
    {.name = "deepseek_v2",
     .base = {RMS_GATED, .attention = ATTENTION_LATENT},
     .fields = {llama_shape, latent_heads, deepseek_mlp}},
    {.name = "deepseek_v3",
     .base = {RMS_GATED, .attention = ATTENTION_LATENT, .router_bias = true},
     .fields = {llama_shape, latent_heads, deepseek_mlp}},
    {.name = "kimi_k2",
     .base = {RMS_GATED, .attention = ATTENTION_LATENT, .router_bias = true},
     .fields = {llama_shape, latent_heads, deepseek_mlp}},
    {.name = "gpt_oss",
     .base = {RMS_GATED, .head_dim = 64, .qkv_bias = true, .attention_output_bias = true,
              .attention_sinks = true, .router_bias = true, .expert_bias = true},
     .fields = {llama_shape, grouped_heads, mixtral_mlp}},
    {.name = "gpt2",
     .base = {LAYER_NORM_BIASED, .tied_embeddings = true},
     .ffn_multiple = 4,
     .fields = {vocabulary_only, gpt2_shape}},
    {.name = "gpt_neox", .base = {LAYER_NORM_BIASED}, .fields = {llama_shape, llama_mlp}},
    {.name = "falcon",
     .base = {.norm = NORM_LAYER,
              .norms_per_layer = 1,
              .final_norm = true,
              .tied_embeddings = true,
              .kv_heads = 1},
     .ffn_multiple = 4,
     .fields = {vocabulary_only, falcon_shape}},
    {.name = "bloom",
     .base = {LAYER_NORM_BIASED, .tied_embeddings = true, .embedding_norm = true},
     .ffn_multiple = 4,
     .fields = {vocabulary_only, bloom_shape}},
    {.name = "gemma",
     .base = {RMS_GATED, .tied_embeddings = true, .head_dim = 256},
     .fields = {llama_shape, grouped_heads, llama_mlp}},
    {.name = "gemma2",
     .base = {.norm = NORM_RMS,
              .norms_per_layer = 4,
              .final_norm = true,
              .gated_mlp = true,
              .tied_embeddings = true,
              .head_dim = 256},
     .fields = {llama_shape, grouped_heads, llama_mlp}},
    {.name = "opt",
     .base = {LAYER_NORM_BIASED, .tied_embeddings = true},
     .fields = {llama_shape, opt_mlp}},
};

const struct model_family *model_family_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(families); i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

size_t model_family_count(void) { return COUNT_OF(families); }

const struct model_family *model_family_at(size_t index) { return &families[index]; }

/* --- members by name ---------------------------------------------------------------- */

/* Each maximum is many times what any published model has. */
const struct model_number model_numbers[MODEL_NUMBER_COUNT] = {
    {"layers", MEMBER(layers), 1, 16384},
    {"hidden", MEMBER(hidden), 1, 1048576},
    {"heads", MEMBER(heads), 1, 65536},
    {"kv_heads", MEMBER(kv_heads), 1, 65536},
    {"head_dim", MEMBER(head_dim), 1, 65536},
    {"ffn", MEMBER(ffn), 0, 8388608},
    {"vocabulary", MEMBER(vocabulary), 1, 67108864},
    {"q_lora_rank", MEMBER(q_lora_rank), 0, 1048576},
    {"kv_lora_rank", MEMBER(kv_lora_rank), 0, 1048576},
    {"qk_nope_head_dim", MEMBER(qk_nope_head_dim), 0, 65536},
    {"qk_rope_head_dim", MEMBER(qk_rope_head_dim), 0, 65536},
    {"v_head_dim", MEMBER(v_head_dim), 0, 65536},
    {"norms_per_layer", MEMBER(norms_per_layer), 0, 16},
    {"learned_positions", MEMBER(learned_positions), 0, 134217728},
    {"experts", MEMBER(experts), 0, 65536},
    {"experts_per_token", MEMBER(experts_per_token), 0, 65536},
    {"expert_ffn", MEMBER(expert_ffn), 0, 8388608},
    {"shared_experts", MEMBER(shared_experts), 0, 4096},
    {"dense_layers", MEMBER(dense_layers), 0, 16384},
    {"mtp_layers", MEMBER(mtp_layers), 0, 16384},
    {"sliding_window", MEMBER(sliding_window), 0, 134217728},
};

const struct model_flag model_flags[MODEL_FLAG_COUNT] = {
    {"tied_embeddings", MEMBER(tied_embeddings)},
    {"gated_mlp", MEMBER(gated_mlp)},
    {"qkv_bias", MEMBER(qkv_bias)},
    {"attention_output_bias", MEMBER(attention_output_bias)},
    {"mlp_bias", MEMBER(mlp_bias)},
    {"qk_norm", MEMBER(qk_norm)},
    {"attention_sinks", MEMBER(attention_sinks)},
    {"final_norm", MEMBER(final_norm)},
    {"embedding_norm", MEMBER(embedding_norm)},
    {"lm_head_bias", MEMBER(lm_head_bias)},
    {"router_bias", MEMBER(router_bias)},
    {"expert_bias", MEMBER(expert_bias)},
};

unsigned *model_number_at(struct model_spec *model, size_t offset)
{
    return (unsigned *)((char *)model + offset);
}

unsigned model_number_of(const struct model_spec *model, size_t offset)
{
    return *(const unsigned *)((const char *)model + offset);
}
