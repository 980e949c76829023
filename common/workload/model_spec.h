/* SPDX-License-Identifier: MIT */
/*
 * model_spec: the architecture of a transformer, as far as parameters, memory and time
 * depend on it. Sources: a preset (data/models.yaml), a Hugging Face config.json, YAML.
 * Shapes are elements; "0: none".
 */
#ifndef WORKLOAD_MODEL_SPEC_H
#define WORKLOAD_MODEL_SPEC_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

enum attention_kind { ATTENTION_GROUPED, ATTENTION_LATENT /* MLA */ };
enum norm_kind { NORM_RMS, NORM_LAYER }; /* NORM_RMS: any norm without a bias */

struct model_spec {
    const char *name;
    const char *family; /* "llama", "qwen3_moe", … */
    const char *source; /* where the figures come from; NULL: the file itself */
    unsigned layers;
    unsigned hidden;
    unsigned heads;
    unsigned kv_heads;
    unsigned head_dim; /* not always hidden / heads */
    unsigned ffn;      /* of dense layers */
    unsigned vocabulary;
    bool tied_embeddings;
    bool gated_mlp; /* three matrices instead of two */

    enum attention_kind attention;
    unsigned q_lora_rank; /* MLA; 0: q is one matrix */
    unsigned kv_lora_rank;
    unsigned qk_nope_head_dim;
    unsigned qk_rope_head_dim;
    unsigned v_head_dim;

    bool qkv_bias, attention_output_bias, mlp_bias;
    bool qk_norm;         /* over head_dim, once for q and once for k */
    bool qk_norm_wide;    /* of all heads together, instead of one head's width (OLMo 2) */
    bool attention_sinks; /* one per head */
    enum norm_kind norm;  /* layer norms have a bias */
    unsigned norms_per_layer;
    bool final_norm;
    bool embedding_norm;        /* BLOOM */
    unsigned learned_positions; /* rows of the position table; 0: none */
    bool lm_head_bias;

    unsigned experts; /* routed, per MoE layer; 0: dense */
    unsigned experts_per_token;
    unsigned expert_ffn;
    unsigned shared_experts; /* each of expert_ffn */
    unsigned dense_layers;   /* the first layers that are dense although experts > 0 */
    unsigned moe_interval;   /* behind them layers n, 2n, … have experts (from 1); 0, 1: all */
    bool shared_gate;        /* a gate of `hidden` before the shared experts (qwen2_moe) */
    bool router_bias;        /* a bias of `experts` (DeepSeek-V3's correction bias) */
    bool expert_bias;        /* gpt_oss */
    unsigned sliding_window; /* 0: full attention in every layer */
    unsigned full_attention_layers; /* how many layers have no window although it is given */
    unsigned mtp_layers;            /* multi-token prediction; counted apart */

    struct arena *arena;
};

/* Exact integer counts. total = embedding + head + final_norm + layers, multi-token prediction
 * left out (as in the published 671B of DeepSeek-V3). `active` = all minus unused experts,
 * embeddings included. An MTP layer is a layer of the last kind, a 2h x h matrix and three
 * norms (arXiv 2412.19437, section 2.2); checkpoints store its copies of embedding and head too:
 * total + mtp + mtp_copies is what they hold (DeepSeek-V3 684.5B, GLM-4.5-Air 110.5B). */
struct model_parameters {
    uint64_t total, active;
    uint64_t embedding; /* token and position tables, embedding norm */
    uint64_t head;      /* 0 when tied */
    uint64_t final_norm;
    uint64_t attention;              /* per layer: matrices, biases that TP splits, sinks */
    uint64_t attention_replicated;   /* of `attention`: MLA's down projections, which TP copies */
    uint64_t dense_mlp;              /* per dense layer */
    uint64_t experts;                /* per MoE layer: all routed experts */
    uint64_t shared_experts;         /* per MoE layer */
    uint64_t router;                 /* per MoE layer, replicated over TP */
    uint64_t norms;                  /* per layer: norms, output bias, other replicated vectors */
    uint64_t dense_layer, moe_layer; /* sums, per layer */
    uint64_t mtp, mtp_copies;        /* of all MTP layers together */
};

/* Parameters of LoRA adapters (Hu 2021, arXiv 2106.09685) in one layer: rank (in + out) for
 * each matrix of attention, MLP, routed and shared experts; none for embedding, head, router
 * and norms. `split`: what TP splits, as the side of q, k, v and f; `whole`: the hidden side. */
struct adapter_parameters {
    uint64_t split, whole, expert;
};

void model_spec_free(struct model_spec *model);
/* Refuses zero or absurd fields, heads not divisible by kv_heads, experts without top-k;
 * names the nearest value that would do. */
int model_spec_check(const struct model_spec *model, struct error_info *err);
/* -1 on 64-bit overflow. */
int model_parameters_count(const struct model_spec *model, struct model_parameters *ret,
                           struct error_info *err);
/* Layers with experts among the first `count`. */
unsigned model_moe_layers(const struct model_spec *model, unsigned count);
bool model_layer_is_moe(const struct model_spec *model, unsigned layer);
/* Of one layer, MoE or dense; rank at most LORA_RANK_MAXIMUM. */
void model_adapters_count(const struct model_spec *model, unsigned rank, bool moe,
                          struct adapter_parameters *ret);
uint64_t model_adapters_total(const struct model_spec *model, unsigned rank);

/* Presets by name or alias, upper or lower case ("llama3-70b", "meta-llama/Meta-Llama-3.1-70B");
 * unknown: error with the nearest names. */
struct model_catalogue;
struct model_catalogue *model_catalogue_parse(const char *text, size_t bytes, const char *source,
                                              struct error_info *err);
struct model_catalogue *model_catalogue_builtin(struct error_info *err);
void model_catalogue_free(struct model_catalogue *catalogue);
size_t model_catalogue_count(const struct model_catalogue *catalogue);
const struct model_spec *model_catalogue_at(const struct model_catalogue *catalogue, size_t index);
const struct model_spec *model_catalogue_find(const struct model_catalogue *catalogue,
                                              const char *name, struct error_info *err);

/* Hugging Face config.json. Of one with several parts (text_config) the text model is read,
 * and its name says so. A family (model_type) that is not known is refused with the list of
 * those that are, one with recurrent layers in a line of its own. */
struct model_spec *model_spec_parse_config(const char *text, size_t bytes, const char *source,
                                           struct error_info *err);
/* YAML (schema parplan.model/1): the members of this struct by name, over the traits of its
 * `family` (llama when not given). Needed: layers, hidden, heads, vocabulary, and ffn or
 * the experts' fields; kv_heads follows from heads, head_dim from hidden / heads. */
struct model_spec *model_spec_parse_yaml(const char *text, size_t bytes, const char *source,
                                         struct error_info *err);
struct model_spec *model_spec_copy(const struct model_spec *model, struct error_info *err);

DEFINE_CLEANUP(model_spec);
DEFINE_CLEANUP(model_catalogue);

#endif
