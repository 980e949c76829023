/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

#include "base/cleanup.h"
#include <stdio.h>
#include <string.h>

#define MEMBER(member) offsetof(struct model_spec, member)
#define FAMILY_NAME_MAXIMUM_BYTES 64u
#define TEXT_PART "_text" /* ends the model_type of a text_config */

/* --- names of fields in config.json ------------------------------------------------ */

static const struct config_field shape_fields[] = {
    {.keys = "vocab_size|padded_vocab_size", .offset = MEMBER(vocabulary)},
    {.keys = "num_hidden_layers|n_layer|num_layers|n_layers", .offset = MEMBER(layers)},
    {.keys = "hidden_size|n_embd|d_model|n_embed", .offset = MEMBER(hidden)},
    {.keys = "num_attention_heads|n_head|num_heads|n_heads", .offset = MEMBER(heads)},
    {.keys = NULL},
};
static const struct config_field head_fields[] = {
    {.keys = "num_key_value_heads|multi_query_group_num|attn_config.kv_n_heads",
     .offset = MEMBER(kv_heads),
     .optional = true},
    {.keys = "head_dim|kv_channels", .offset = MEMBER(head_dim), .optional = true},
    {.keys = NULL},
};
static const struct config_field mlp_fields[] = {
    {.keys = "intermediate_size|ffn_hidden_size", .offset = MEMBER(ffn)},
    {.keys = NULL},
};
static const struct config_field mlp_multiple_fields[] = {
    {.keys = "n_inner|intermediate_size|ffn_hidden_size", .offset = MEMBER(ffn), .optional = true},
    {.keys = NULL},
};
static const struct config_field position_fields[] = {
    {.keys = "n_positions|max_position_embeddings", .offset = MEMBER(learned_positions)},
    {.keys = NULL},
};
/* num_key_value_heads and head_dim stand in these files too, and do not mean grouping. */
static const struct config_field latent_fields[] = {
    {.keys = "q_lora_rank", .offset = MEMBER(q_lora_rank), .optional = true},
    {.keys = "kv_lora_rank", .offset = MEMBER(kv_lora_rank)},
    {.keys = "qk_nope_head_dim", .offset = MEMBER(qk_nope_head_dim)},
    {.keys = "qk_rope_head_dim", .offset = MEMBER(qk_rope_head_dim)},
    {.keys = "v_head_dim", .offset = MEMBER(v_head_dim)},
    {.keys = NULL},
};
static const struct config_field expert_fields[] = {
    {.keys = "intermediate_size|ffn_config.ffn_hidden_size", .offset = MEMBER(expert_ffn)},
    {.keys = "num_local_experts|num_experts|ffn_config.moe_num_experts", .offset = MEMBER(experts)},
    {.keys = "num_experts_per_tok|experts_per_token|ffn_config.moe_top_k",
     .offset = MEMBER(experts_per_token)},
    {.keys = NULL},
};
/* Here intermediate_size is of the dense layers, if there are any. */
static const struct config_field expert_width_fields[] = {
    {.keys = "intermediate_size", .offset = MEMBER(ffn), .optional = true},
    {.keys = "moe_intermediate_size", .offset = MEMBER(expert_ffn)},
    {.keys = "num_experts", .offset = MEMBER(experts)},
    {.keys = "num_experts_per_tok", .offset = MEMBER(experts_per_token)},
    {.keys = "decoder_sparse_step", .offset = MEMBER(moe_interval), .optional = true},
    {.keys = NULL},
};
static const struct config_field deepseek_fields[] = {
    {.keys = "intermediate_size", .offset = MEMBER(ffn)},
    {.keys = "moe_intermediate_size", .offset = MEMBER(expert_ffn), .optional = true},
    {.keys = "n_routed_experts|moe_num_experts", .offset = MEMBER(experts), .optional = true},
    {.keys = "num_experts_per_tok|moe_k", .offset = MEMBER(experts_per_token), .optional = true},
    {.keys = "n_shared_experts|moe_num_shared_experts",
     .offset = MEMBER(shared_experts),
     .optional = true},
    {.keys = "first_k_dense_replace|moe_layer_start_index",
     .offset = MEMBER(dense_layers),
     .optional = true},
    {.keys = "moe_layer_interval", .offset = MEMBER(moe_interval), .optional = true},
    {.keys = "num_nextn_predict_layers", .offset = MEMBER(mtp_layers), .optional = true},
    {.keys = NULL},
};
static const struct config_field llama4_fields[] = {
    {.keys = "intermediate_size_mlp", .offset = MEMBER(ffn), .optional = true},
    {.keys = "interleave_moe_layer_step", .offset = MEMBER(moe_interval), .optional = true},
    {.keys = NULL},
};
/* OPT keeps two rows of its position table for padding. */
static const struct config_field opt_fields[] = {
    {.keys = "ffn_dim", .offset = MEMBER(ffn)},
    {.keys = "max_position_embeddings", .offset = MEMBER(learned_positions), .add = 2},
    {.keys = NULL},
};
/* Published files leave out what transformers' Gemma3TextConfig gives by default. */
static const struct config_field gemma3_fields[] = {
    {.keys = "vocab_size", .offset = MEMBER(vocabulary), .optional = true},
    {.keys = "num_hidden_layers", .offset = MEMBER(layers)},
    {.keys = "hidden_size", .offset = MEMBER(hidden)},
    {.keys = "num_attention_heads", .offset = MEMBER(heads), .optional = true},
    {.keys = NULL},
};

enum field_set {
    FIELDS_NONE,
    FIELDS_SHAPE,
    FIELDS_HEADS,
    FIELDS_MLP,
    FIELDS_MLP_MULTIPLE,
    FIELDS_POSITIONS,
    FIELDS_LATENT,
    FIELDS_EXPERTS,
    FIELDS_EXPERT_WIDTHS,
    FIELDS_DEEPSEEK,
    FIELDS_LLAMA4,
    FIELDS_OPT,
    FIELDS_GEMMA3,
    FIELD_SET_COUNT
};
static const struct config_field *const field_sets[FIELD_SET_COUNT] = {
    [FIELDS_SHAPE] = shape_fields,
    [FIELDS_HEADS] = head_fields,
    [FIELDS_MLP] = mlp_fields,
    [FIELDS_MLP_MULTIPLE] = mlp_multiple_fields,
    [FIELDS_POSITIONS] = position_fields,
    [FIELDS_LATENT] = latent_fields,
    [FIELDS_EXPERTS] = expert_fields,
    [FIELDS_EXPERT_WIDTHS] = expert_width_fields,
    [FIELDS_DEEPSEEK] = deepseek_fields,
    [FIELDS_LLAMA4] = llama4_fields,
    [FIELDS_OPT] = opt_fields,
    [FIELDS_GEMMA3] = gemma3_fields,
};

/* Which of them a family's files have. */
enum field_list {
    LLAMA,
    EXPERTS,
    WIDTHS,
    GROUPED_DEEPSEEK,
    LATENT_DEEPSEEK,
    LLAMA4,
    GEMMA3,
    GPT2,
    MULTIPLE,
    MLP,
    HEADS,
    OPT,
    FIELD_LIST_COUNT
};
static const uint8_t field_lists[FIELD_LIST_COUNT][MODEL_FAMILY_FIELD_SETS] = {
    [LLAMA] = {FIELDS_SHAPE, FIELDS_HEADS, FIELDS_MLP},
    [EXPERTS] = {FIELDS_SHAPE, FIELDS_HEADS, FIELDS_EXPERTS},
    [WIDTHS] = {FIELDS_SHAPE, FIELDS_HEADS, FIELDS_EXPERT_WIDTHS},
    [GROUPED_DEEPSEEK] = {FIELDS_SHAPE, FIELDS_HEADS, FIELDS_DEEPSEEK},
    [LATENT_DEEPSEEK] = {FIELDS_SHAPE, FIELDS_LATENT, FIELDS_DEEPSEEK},
    [LLAMA4] = {FIELDS_SHAPE, FIELDS_HEADS, FIELDS_EXPERTS, FIELDS_LLAMA4},
    [GEMMA3] = {FIELDS_GEMMA3, FIELDS_HEADS, FIELDS_MLP},
    [GPT2] = {FIELDS_SHAPE, FIELDS_MLP_MULTIPLE, FIELDS_POSITIONS},
    [MULTIPLE] = {FIELDS_SHAPE, FIELDS_MLP_MULTIPLE},
    [MLP] = {FIELDS_SHAPE, FIELDS_MLP},
    [HEADS] = {FIELDS_SHAPE, FIELDS_HEADS},
    [OPT] = {FIELDS_SHAPE, FIELDS_OPT},
};

/* --- families ---------------------------------------------------------------------- */

#define RMS TRAIT(FLAG_FINAL_NORM)
#define RMS_GATED (RMS | TRAIT(FLAG_GATED_MLP))
#define LAYER (RMS | TRAIT_LAYER_NORM)
#define TIED TRAIT(FLAG_TIED_EMBEDDINGS)
#define QKV_BIAS TRAIT(FLAG_QKV_BIAS)
#define ATTENTION_BIAS (QKV_BIAS | TRAIT(FLAG_ATTENTION_OUTPUT_BIAS))
#define MLP_BIAS TRAIT(FLAG_MLP_BIAS)
#define LAYER_BIASED (LAYER | ATTENTION_BIAS | MLP_BIAS)
#define QK_NORM TRAIT(FLAG_QK_NORM)
#define QK_NORM_WIDE (QK_NORM | TRAIT(FLAG_QK_NORM_WIDE))
#define ROUTER_BIAS TRAIT(FLAG_ROUTER_BIAS)
static const struct model_family families[] = {
    {.name = "llama", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED},
    {.name = "mistral", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED | TRAIT_WINDOW},
    {.name = "qwen2",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QKV_BIAS | TRAIT_WINDOW_ASKED},
    {.name = "qwen3",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QK_NORM | TRAIT_WINDOW_ASKED,
     .head_dim = 128},
    {.name = "mixtral",
     .norms_per_layer = 2,
     .fields = EXPERTS,
     .traits = RMS_GATED | TRAIT_WINDOW},
    {.name = "qwen2_moe",
     .norms_per_layer = 2,
     .fields = WIDTHS,
     .traits = RMS_GATED | QKV_BIAS | TRAIT_WINDOW_ASKED | TRAIT(FLAG_SHARED_GATE),
     .way = WAY_SPARSE},
    {.name = "qwen3_moe",
     .norms_per_layer = 2,
     .fields = WIDTHS,
     .traits = RMS_GATED | QK_NORM | TRAIT_WINDOW_ASKED,
     .way = WAY_SPARSE},
    {.name = "deepseek",
     .norms_per_layer = 2,
     .fields = GROUPED_DEEPSEEK,
     .traits = RMS_GATED,
     .way = WAY_LEADING},
    {.name = "deepseek_v2",
     .norms_per_layer = 2,
     .fields = LATENT_DEEPSEEK,
     .traits = RMS_GATED | TRAIT_LATENT,
     .way = WAY_LEADING},
    {.name = "deepseek_v3",
     .norms_per_layer = 2,
     .fields = LATENT_DEEPSEEK,
     .traits = RMS_GATED | TRAIT_LATENT | ROUTER_BIAS,
     .way = WAY_LEADING},
    {.name = "kimi_k2",
     .norms_per_layer = 2,
     .fields = LATENT_DEEPSEEK,
     .traits = RMS_GATED | TRAIT_LATENT | ROUTER_BIAS,
     .way = WAY_LEADING},
    {.name = "dots1",
     .norms_per_layer = 2,
     .fields = GROUPED_DEEPSEEK,
     .traits = RMS_GATED | QK_NORM | ROUTER_BIAS,
     .way = WAY_LEADING},
    {.name = "glm",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QKV_BIAS | TRAIT_QKV_BIAS_ALONE,
     .head_dim = 128},
    {.name = "glm4",
     .norms_per_layer = 4,
     .fields = LLAMA,
     .traits = RMS_GATED | TRAIT_QKV_BIAS_ALONE,
     .head_dim = 128},
    {.name = "glm4_moe",
     .norms_per_layer = 2,
     .fields = GROUPED_DEEPSEEK,
     .traits = RMS_GATED | ROUTER_BIAS | TRAIT_QKV_BIAS_ALONE | TRAIT_QK_NORM_ASKED,
     .head_dim = 128,
     .way = WAY_LEADING},
    {.name = "gpt_oss",
     .norms_per_layer = 2,
     .fields = EXPERTS,
     .traits = RMS_GATED | ATTENTION_BIAS | TRAIT(FLAG_ATTENTION_SINKS) | ROUTER_BIAS |
               TRAIT(FLAG_EXPERT_BIAS) | TRAIT_WINDOW,
     .head_dim = 64,
     .full_attention_every = 2},
    {.name = "llama4",
     .norms_per_layer = 2,
     .fields = LLAMA4,
     .traits = RMS_GATED | TRAIT_WINDOW,
     .full_attention_every = 4,
     .way = WAY_LLAMA4},
    {.name = "minimax_m2",
     .norms_per_layer = 2,
     .fields = EXPERTS,
     .traits = RMS_GATED | QK_NORM_WIDE | ROUTER_BIAS},
    {.name = "dbrx", .norms_per_layer = 2, .fields = EXPERTS, .traits = RMS_GATED},
    {.name = "olmo", .norms_per_layer = 0, .fields = LLAMA, .traits = TRAIT(FLAG_GATED_MLP)},
    {.name = "olmo2", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED | QK_NORM_WIDE},
    {.name = "olmo3",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QK_NORM_WIDE | TRAIT_WINDOW,
     .full_attention_every = 4},
    {.name = "olmoe", .norms_per_layer = 2, .fields = EXPERTS, .traits = RMS_GATED | QK_NORM_WIDE},
    {.name = "phi",
     .norms_per_layer = 1,
     .fields = LLAMA,
     .traits = LAYER_BIASED | TRAIT(FLAG_LM_HEAD_BIAS) | TRAIT_QK_NORM_ASKED},
    {.name = "phi3", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED | TRAIT_WINDOW},
    {.name = "phimoe",
     .norms_per_layer = 2,
     .fields = EXPERTS,
     .traits = LAYER | TRAIT(FLAG_GATED_MLP) | TRAIT_WINDOW},
    {.name = "gemma",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED,
     .head_dim = 256},
    {.name = "gemma2",
     .norms_per_layer = 4,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED | TRAIT_WINDOW,
     .head_dim = 256,
     .full_attention_every = 2},
    {.name = "gemma3",
     .norms_per_layer = 4,
     .fields = GEMMA3,
     .traits = RMS_GATED | TIED | QK_NORM | TRAIT_WINDOW,
     .head_dim = 256,
     .full_attention_every = 6,
     .way = WAY_GEMMA3},
    {.name = "cohere",
     .norms_per_layer = 1,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED | TRAIT(FLAG_QK_NORM_WIDE) | TRAIT_QK_NORM_ASKED},
    {.name = "cohere2",
     .norms_per_layer = 1,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED | TRAIT_WINDOW,
     .full_attention_every = 4},
    {.name = "granite", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED},
    {.name = "granitemoe", .norms_per_layer = 2, .fields = EXPERTS, .traits = RMS_GATED},
    {.name = "granitemoeshared",
     .norms_per_layer = 2,
     .fields = EXPERTS,
     .traits = RMS_GATED,
     .way = WAY_SPARSE},
    {.name = "smollm3",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED | TRAIT_WINDOW_ASKED},
    {.name = "seed_oss",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QKV_BIAS | TRAIT_QKV_BIAS_ALONE,
     .head_dim = 128},
    {.name = "hunyuan_v1_dense",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QK_NORM},
    {.name = "ernie4_5",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | TIED | TRAIT_BIAS_OF_ALL,
     .head_dim = 128},
    {.name = "ernie4_5_moe",
     .norms_per_layer = 2,
     .fields = GROUPED_DEEPSEEK,
     .traits = RMS_GATED | TIED | ROUTER_BIAS | TRAIT_BIAS_OF_ALL,
     .way = WAY_LEADING},
    {.name = "exaone", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED},
    {.name = "exaone4",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = RMS_GATED | QK_NORM | TRAIT_WINDOW,
     .full_attention_every = 4},
    {.name = "internlm2", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED},
    {.name = "baichuan", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED},
    {.name = "chatglm", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS_GATED | QKV_BIAS},
    {.name = "arcee", .norms_per_layer = 2, .fields = LLAMA, .traits = RMS},
    {.name = "nemotron", .norms_per_layer = 2, .fields = LLAMA, .traits = LAYER},
    {.name = "stablelm",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = LAYER | TRAIT(FLAG_GATED_MLP) | TRAIT_QK_NORM_ASKED,
     .way = WAY_STABLELM},
    {.name = "starcoder2",
     .norms_per_layer = 2,
     .fields = LLAMA,
     .traits = LAYER_BIASED | TIED | TRAIT_BIAS_OF_ALL | TRAIT_WINDOW},
    {.name = "gpt_bigcode",
     .norms_per_layer = 2,
     .fields = GPT2,
     .traits = LAYER_BIASED | TIED,
     .ffn_multiple = 4,
     .way = WAY_BIGCODE},
    {.name = "gpt2",
     .norms_per_layer = 2,
     .fields = GPT2,
     .traits = LAYER_BIASED | TIED,
     .ffn_multiple = 4},
    {.name = "gpt_neo",
     .norms_per_layer = 2,
     .fields = GPT2,
     .traits = LAYER | TRAIT(FLAG_ATTENTION_OUTPUT_BIAS) | MLP_BIAS | TIED,
     .ffn_multiple = 4},
    {.name = "gpt_neox", .norms_per_layer = 2, .fields = MLP, .traits = LAYER_BIASED},
    {.name = "gptj",
     .norms_per_layer = 1,
     .fields = MULTIPLE,
     .traits = LAYER | MLP_BIAS | TRAIT(FLAG_LM_HEAD_BIAS),
     .ffn_multiple = 4},
    {.name = "codegen",
     .norms_per_layer = 1,
     .fields = MULTIPLE,
     .traits = LAYER | MLP_BIAS | TRAIT(FLAG_LM_HEAD_BIAS),
     .ffn_multiple = 4},
    {.name = "mpt",
     .norms_per_layer = 2,
     .fields = HEADS,
     .traits = RMS | TIED,
     .ffn_multiple = 4,
     .way = WAY_MPT},
    {.name = "falcon",
     .norms_per_layer = 1,
     .fields = MULTIPLE,
     .traits = LAYER | TIED | TRAIT_BIAS_OF_ALL,
     .kv_heads = 1,
     .ffn_multiple = 4,
     .way = WAY_FALCON},
    {.name = "bloom",
     .norms_per_layer = 2,
     .fields = MULTIPLE,
     .traits = LAYER_BIASED | TIED | TRAIT(FLAG_EMBEDDING_NORM),
     .ffn_multiple = 4},
    {.name = "opt",
     .norms_per_layer = 2,
     .fields = OPT,
     .traits = LAYER_BIASED | TIED,
     .way = WAY_OPT},
};

/* The text part of a model with several; its counts are those of the family. */
static const struct {
    const char *part, *family;
} text_parts[] = {
    {"qwen2_vl", "qwen2"},         {"qwen2_5_vl", "qwen2"},  {"qwen3_vl", "qwen3"},
    {"qwen3_vl_moe", "qwen3_moe"}, {"glm4v", "glm4"},        {"glm4v_moe", "glm4_moe"},
    {"ministral3", "mistral"},     {"ministral", "mistral"},
};

static const struct model_family *find_exactly(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(text_parts); i++)
        if (strcmp(text_parts[i].part, name) == 0)
            name = text_parts[i].family;
    for (size_t i = 0; i < COUNT_OF(families); i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

const struct model_family *model_family_find(const char *name)
{
    char part[FAMILY_NAME_MAXIMUM_BYTES];
    size_t bytes = strlen(name), ending = sizeof(TEXT_PART) - 1;
    if (bytes <= ending || bytes >= sizeof(part) || strcmp(name + bytes - ending, TEXT_PART) != 0)
        return find_exactly(name);
    memcpy(part, name, bytes - ending);
    part[bytes - ending] = '\0';
    return find_exactly(part);
}

size_t model_family_count(void) { return COUNT_OF(families); }

const struct model_family *model_family_at(size_t index) { return &families[index]; }

void model_family_list(char ret[static MODEL_FAMILY_LIST_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(families) && used < MODEL_FAMILY_LIST_BYTES; i++)
        used += (size_t)snprintf(ret + used, MODEL_FAMILY_LIST_BYTES - used, "%s%s",
                                 i > 0 ? ", " : "", families[i].name);
}

struct model_spec model_family_base(const struct model_family *family)
{
    struct model_spec model = {.family = family->name,
                               .head_dim = family->head_dim,
                               .kv_heads = family->kv_heads,
                               .norms_per_layer = family->norms_per_layer};
    model.attention = family->traits & TRAIT_LATENT ? ATTENTION_LATENT : ATTENTION_GROUPED;
    model.norm = family->traits & TRAIT_LAYER_NORM ? NORM_LAYER : NORM_RMS;
    for (unsigned flag = 0; flag < MODEL_FLAG_COUNT; flag++)
        *model_flag_at(&model, flag) = family->traits & TRAIT(flag);
    return model;
}

const struct config_field *model_family_fields(const struct model_family *family, unsigned set)
{
    return set < MODEL_FAMILY_FIELD_SETS ? field_sets[field_lists[family->fields][set]] : NULL;
}

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
    {"full_attention_layers", MEMBER(full_attention_layers), 0, 16384},
    {"moe_interval", MEMBER(moe_interval), 0, 16384},
};

const struct model_flag model_flags[MODEL_FLAG_COUNT] = {
    [FLAG_TIED_EMBEDDINGS] = {"tied_embeddings", MEMBER(tied_embeddings)},
    [FLAG_GATED_MLP] = {"gated_mlp", MEMBER(gated_mlp)},
    [FLAG_QKV_BIAS] = {"qkv_bias", MEMBER(qkv_bias)},
    [FLAG_ATTENTION_OUTPUT_BIAS] = {"attention_output_bias", MEMBER(attention_output_bias)},
    [FLAG_MLP_BIAS] = {"mlp_bias", MEMBER(mlp_bias)},
    [FLAG_QK_NORM] = {"qk_norm", MEMBER(qk_norm)},
    [FLAG_QK_NORM_WIDE] = {"qk_norm_wide", MEMBER(qk_norm_wide)},
    [FLAG_ATTENTION_SINKS] = {"attention_sinks", MEMBER(attention_sinks)},
    [FLAG_FINAL_NORM] = {"final_norm", MEMBER(final_norm)},
    [FLAG_EMBEDDING_NORM] = {"embedding_norm", MEMBER(embedding_norm)},
    [FLAG_LM_HEAD_BIAS] = {"lm_head_bias", MEMBER(lm_head_bias)},
    [FLAG_ROUTER_BIAS] = {"router_bias", MEMBER(router_bias)},
    [FLAG_EXPERT_BIAS] = {"expert_bias", MEMBER(expert_bias)},
    [FLAG_SHARED_GATE] = {"shared_gate", MEMBER(shared_gate)},
};

unsigned *model_number_at(struct model_spec *model, size_t offset)
{
    return (unsigned *)((char *)model + offset);
}

unsigned model_number_of(const struct model_spec *model, size_t offset)
{
    return *(const unsigned *)((const char *)model + offset);
}

bool *model_flag_at(struct model_spec *model, unsigned flag)
{
    return (bool *)((char *)model + model_flags[flag].offset);
}
