/* SPDX-License-Identifier: MIT */
/*
 * model_family: what all models of one Hugging Face `model_type` have in common, and how
 * their config.json names its fields. One table; used by the readers of config.json, of model
 * files and of presets.
 *
 * Source of the traits: the modeling code of each family in Hugging Face transformers
 * (which projections have a bias, how many norms a layer has, what is tied by default).
 */
#ifndef WORKLOAD_MODEL_FAMILY_H
#define WORKLOAD_MODEL_FAMILY_H

#include "workload/model_spec.h"
#include <stddef.h>

/* A whole number of config.json and the unsigned member of struct model_spec it goes to. */
struct config_field {
    const char *keys; /* "n_layer|num_layers": the first that is given; "a.b": b inside of a */
    uint16_t offset;
    bool optional; /* absent or null leaves the family's value */
    uint8_t add;   /* to what stands there */
};

/* The bool members of struct model_spec, in the order of model_flags. */
enum model_flag_index {
    FLAG_TIED_EMBEDDINGS,
    FLAG_GATED_MLP,
    FLAG_QKV_BIAS,
    FLAG_ATTENTION_OUTPUT_BIAS,
    FLAG_MLP_BIAS,
    FLAG_QK_NORM,
    FLAG_QK_NORM_WIDE,
    FLAG_ATTENTION_SINKS,
    FLAG_FINAL_NORM,
    FLAG_EMBEDDING_NORM,
    FLAG_LM_HEAD_BIAS,
    FLAG_ROUTER_BIAS,
    FLAG_EXPERT_BIAS,
    FLAG_SHARED_GATE,
    MODEL_FLAG_COUNT
};

/* Traits of a family: the flags, and behind them what is no flag. */
#define TRAIT(flag) (1u << (flag))
enum {
    TRAIT_LATENT = 1u << 16, /* ATTENTION_LATENT */
    TRAIT_LAYER_NORM = 1u << 17,
    TRAIT_QKV_BIAS_ALONE = 1u << 18, /* attention_bias is not of the output projection */
    TRAIT_BIAS_OF_ALL = 1u << 19,    /* use_bias or bias: of every projection */
    TRAIT_QK_NORM_ASKED = 1u << 20,  /* qk_norm where use_qk_norm or qk_layernorm says so */
    TRAIT_WINDOW = 1u << 21,         /* sliding_window counts unless use_sliding_window is false */
    TRAIT_WINDOW_ASKED = 1u << 22,   /* … counts where use_sliding_window is true */
};

/* What one config.json says that no table can: model_config.c. */
enum family_way {
    WAY_PLAIN,
    WAY_FALCON,
    WAY_OPT,
    WAY_BIGCODE,
    WAY_STABLELM,
    WAY_GEMMA3,
    WAY_SPARSE,  /* qwen2_moe, qwen3_moe, granitemoeshared */
    WAY_LEADING, /* deepseek, glm4_moe, ernie4_5_moe: the first layers are dense */
    WAY_LLAMA4,
    WAY_MPT,
    FAMILY_WAY_COUNT
};

#define MODEL_FAMILY_FIELD_SETS 4u
#define MODEL_FAMILY_NAME_BYTES 17u
struct model_family {
    uint32_t traits;
    uint16_t head_dim; /* where it is not given; 0: hidden / heads */
    uint8_t norms_per_layer;
    uint8_t kv_heads;             /* where it is not given; 0: heads */
    uint8_t ffn_multiple;         /* ffn where it is not given, in hidden; 0: it must be given */
    uint8_t full_attention_every; /* where windows alternate: layers n, 2n, … (from 1) have none */
    uint8_t way;
    uint8_t fields; /* which its files have; model_family_fields looks them up */
    char name[MODEL_FAMILY_NAME_BYTES];
};

/* By its model_type, also that of the text part of a larger model ("qwen2_5_vl_text").
 * NULL where no such family is known. */
const struct model_family *model_family_find(const char *name);
size_t model_family_count(void);
const struct model_family *model_family_at(size_t index);
/* "llama, mistral, …" */
#define MODEL_FAMILY_LIST_BYTES ((size_t)ERROR_TEXT_BYTES - 192)
void model_family_list(char ret[static MODEL_FAMILY_LIST_BYTES]);
/* The traits, and shapes that are the same in all of the family. */
struct model_spec model_family_base(const struct model_family *family);
/* The set-th set of its fields, which ends with NULL keys; NULL: there is none, or no more. */
const struct config_field *model_family_fields(const struct model_family *family, unsigned set);

/* One whole-number member, its name in files, and the range that is not absurd. */
struct model_number {
    const char *key;
    uint16_t offset, minimum;
    unsigned maximum;
};
struct model_flag {
    const char *key;
    size_t offset;
};
#define MODEL_NUMBER_COUNT 23u
extern const struct model_number model_numbers[MODEL_NUMBER_COUNT];
extern const struct model_flag model_flags[MODEL_FLAG_COUNT];

unsigned *model_number_at(struct model_spec *model, size_t offset);
unsigned model_number_of(const struct model_spec *model, size_t offset);
bool *model_flag_at(struct model_spec *model, unsigned flag);

/* Fill what follows from the rest (kv_heads, head_dim, ffn), then model_spec_check. */
int model_spec_complete(struct model_spec *model, const struct model_family *family,
                        struct error_info *err);

#endif
