/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

#include "workload/config/config_layers.h"
#include "workload/config/config_value.h"
#include <stdio.h>
#include <string.h>

#define TITLE_MAXIMUM_BYTES 1024u
#define GEMMA3_VOCABULARY 262208u /* Gemma3TextConfig's defaults, which files leave out */
#define GEMMA3_HEADS 8u
#define GEMMA3_KV_HEADS 4u

/* --- fields ----------------------------------------------------------------------------- */

/* What is given as 0 is not what is left out: it gets no default. */
static int check_given(const char *key, size_t offset, unsigned value, struct error_info *err)
{
    for (unsigned i = 0; value == 0 && i < MODEL_NUMBER_COUNT; i++)
        if (model_numbers[i].offset == offset &&
            (model_numbers[i].minimum > 0 || offset == offsetof(struct model_spec, moe_interval)))
            return error_set(err, "%s: 0 is not a whole number from 1 to %u", key,
                             model_numbers[i].maximum);
    return 0;
}

static int read_field(const struct yaml_node *config, const struct config_field *field,
                      struct model_spec *model, struct error_info *err)
{
    struct config_key key = config_find(config, field->keys);
    unsigned *member = model_number_at(model, field->offset);
    if (!key.value && field->optional)
        return 0;
    if (!key.value)
        return error_set(err, "%s is missing", key.name);
    if (config_number(config, field->keys, member, err) < 0 ||
        check_given(key.name, field->offset, *member, err) < 0)
        return -1;
    *member += field->add;
    return 0;
}

static int read_fields(const struct yaml_node *config, const struct model_family *family,
                       struct model_spec *model, struct error_info *err)
{
    const struct config_field *field;
    for (unsigned set = 0; (field = model_family_fields(family, set)); set++)
        for (; field->keys; field++)
            if (read_field(config, field, model, err) < 0)
                return -1;
    return 0;
}

/* --- switches --------------------------------------------------------------------------- */

#define BIASES_OF_ATTENTION (TRAIT(FLAG_QKV_BIAS) | TRAIT(FLAG_ATTENTION_OUTPUT_BIAS))

/* Each sets these flags as it says, in families that have all of `needs`. */
static const struct {
    const char *key;
    uint32_t flags, needs;
} switches[] = {
    {"tie_word_embeddings", TRAIT(FLAG_TIED_EMBEDDINGS), 0},
    {"mlp_bias", TRAIT(FLAG_MLP_BIAS), 0},
    {"attention_bias", BIASES_OF_ATTENTION, 0},
    {"qkv_bias", TRAIT(FLAG_QKV_BIAS), 0},
    {"use_qkv_bias", TRAIT(FLAG_QKV_BIAS), 0},
    {"add_qkv_bias", TRAIT(FLAG_QKV_BIAS), 0},
    {"attention_out_bias", TRAIT(FLAG_ATTENTION_OUTPUT_BIAS), 0},
    {"lm_head_bias", TRAIT(FLAG_LM_HEAD_BIAS), 0},
    {"use_bias", BIASES_OF_ATTENTION | TRAIT(FLAG_MLP_BIAS), TRAIT_BIAS_OF_ALL},
    {"bias", BIASES_OF_ATTENTION | TRAIT(FLAG_MLP_BIAS), TRAIT_BIAS_OF_ALL},
    {"use_qk_norm", TRAIT(FLAG_QK_NORM), TRAIT_QK_NORM_ASKED},
};

static int read_switches(const struct yaml_node *config, const struct model_family *family,
                         struct model_spec *model, struct error_info *err)
{
    bool separate_norms = false;
    for (size_t i = 0; i < COUNT_OF(switches); i++) {
        uint32_t flags = switches[i].flags;
        bool given = config_find(config, switches[i].key).value, on = false;
        if (!given || (family->traits & switches[i].needs) != switches[i].needs)
            continue;
        if (config_flag(config, switches[i].key, &on, err) < 0)
            return -1;
        if (family->traits & TRAIT_QKV_BIAS_ALONE && flags == BIASES_OF_ATTENTION)
            flags = TRAIT(FLAG_QKV_BIAS);
        for (unsigned flag = 0; flag < MODEL_FLAG_COUNT; flag++)
            if (flags & TRAIT(flag))
                *model_flag_at(model, flag) = on;
    }
    if (config_flag(config, "qk_layernorm", &separate_norms, err) < 0)
        return -1;
    if (separate_norms && family->traits & TRAIT_QK_NORM_ASKED)
        return error_set(err, "qk_layernorm: a norm for each head is not counted; describe the "
                              "model in a file with schema: parplan.model/1");
    return 0;
}

/* --- what only one family has -------------------------------------------------------- */

/* Falcon 7B shares one k and v; the new architecture (40B and later) groups them, and gives
 * attention and MLP a norm each. */
static int read_falcon(const struct yaml_node *config, struct model_spec *model,
                       struct error_info *err)
{
    bool grouped = false, parallel = true, multi_query = true;
    if (config_flag(config, "new_decoder_architecture", &grouped, err) < 0 ||
        config_flag(config, "parallel_attn", &parallel, err) < 0 ||
        config_flag(config, "multi_query", &multi_query, err) < 0)
        return -1;
    model->kv_heads = multi_query && !grouped ? 1 : model->heads;
    if (grouped && (config_number(config, "num_kv_heads", &model->kv_heads, err) < 0 ||
                    check_given("num_kv_heads", offsetof(struct model_spec, kv_heads),
                                model->kv_heads, err) < 0))
        return -1;
    model->norms_per_layer = parallel && !grouped ? 1 : 2;
    return parallel ? config_number(config, "num_ln_in_parallel_attn", &model->norms_per_layer, err)
                    : 0;
}

static int read_opt(const struct yaml_node *config, struct model_spec *model,
                    struct error_info *err)
{
    unsigned word_width = model->hidden;
    bool norm_before = true, bias = true, affine = true, no_final_norm = false;
    if (config_flag(config, "do_layer_norm_before", &norm_before, err) < 0 ||
        config_flag(config, "enable_bias", &bias, err) < 0 ||
        config_flag(config, "layer_norm_elementwise_affine", &affine, err) < 0 ||
        config_flag(config, "_remove_final_layer_norm", &no_final_norm, err) < 0 ||
        config_number(config, "word_embed_proj_dim", &word_width, err) < 0)
        return -1;
    if (word_width != model->hidden)
        return error_set(err,
                         "word_embed_proj_dim: %u is not hidden_size (%u); models with a "
                         "projection of the embeddings are not counted",
                         word_width, model->hidden);
    if (!affine)
        model->norms_per_layer = 0;
    model->qkv_bias = model->attention_output_bias = model->mlp_bias = bias;
    model->final_norm = norm_before && affine && !no_final_norm;
    return 0;
}

static int read_bigcode(const struct yaml_node *config, struct model_spec *model,
                        struct error_info *err)
{
    bool shared = true;
    if (config_flag(config, "multi_query", &shared, err) < 0)
        return -1;
    if (shared)
        model->kv_heads = 1;
    return 0;
}

/* Attention and MLP side by side share one norm. */
static int read_stablelm(const struct yaml_node *config, struct model_spec *model,
                         struct error_info *err)
{
    bool parallel = false;
    if (config_flag(config, "use_parallel_residual", &parallel, err) < 0)
        return -1;
    if (parallel)
        model->norms_per_layer = 1;
    return 0;
}

static int read_gemma3(const struct yaml_node *config, struct model_spec *model,
                       struct error_info *err)
{
    (void)config;
    (void)err;
    if (model->vocabulary == 0)
        model->vocabulary = GEMMA3_VOCABULARY;
    if (model->heads == 0)
        model->heads = GEMMA3_HEADS;
    if (model->kv_heads == 0)
        model->kv_heads = GEMMA3_KV_HEADS;
    return 0;
}

static int read_mpt(const struct yaml_node *config, struct model_spec *model,
                    struct error_info *err)
{
    unsigned ratio = 0;
    if (config_number(config, "expansion_ratio", &ratio, err) < 0)
        return -1;
    if (ratio > 0 && model->hidden > UINT32_MAX / ratio)
        return error_set(err, "expansion_ratio: %u times hidden %u is absurd", ratio,
                         model->hidden);
    model->ffn = ratio * model->hidden;
    return 0;
}

/* Experts that every token uses, given as the width of all of them together. */
static int read_shared_width(const struct yaml_node *config, struct model_spec *model,
                             struct error_info *err)
{
    struct config_key key =
        config_find(config, "shared_expert_intermediate_size|shared_intermediate_size");
    unsigned width = 0, each = model->expert_ffn;
    if (config_number(config, key.name, &width, err) < 0)
        return -1;
    if (each == 0 || width % each != 0)
        return error_set(err, "%s: %u is not a multiple of the experts' width %u; use %u", key.name,
                         width, each, each > 0 ? (width / each + 1) * each : 0);
    model->shared_experts = width / each;
    if (width == 0)
        model->shared_gate = false;
    return 0;
}

/* mlp_only_layers lists dense layers; only the first k of all can be described. */
static int read_sparse(const struct yaml_node *config, struct model_spec *model,
                       struct error_info *err)
{
    const struct yaml_node *dense = config_find(config, "mlp_only_layers").value;
    for (size_t i = 0; i < config_count(dense); i++) {
        unsigned layer;
        if (!config_whole(dense->children[i], model->layers, &layer) || layer != i)
            return error_set(err, "mlp_only_layers: only the first layers, in order, are known");
    }
    model->dense_layers = (unsigned)config_count(dense);
    return read_shared_width(config, model, err);
}

static int read_leading(const struct yaml_node *config, struct model_spec *model,
                        struct error_info *err)
{
    unsigned frequency = 1, last;
    if (config_number(config, "moe_layer_freq", &frequency, err) < 0)
        return -1;
    if (frequency != 1)
        return error_set(err, "moe_layer_freq: %u: only 1 is known", frequency);
    const struct yaml_node *end = config_find(config, "moe_layer_end_index").value;
    if (config_whole(end, model->layers, &last) && last + 1 < model->layers)
        return error_set(err, "moe_layer_end_index: only the last layer, %u, is known",
                         model->layers - 1);
    const char *method = config_text(config_find(config, "topk_method").value);
    if (method)
        model->router_bias = strcmp(method, "noaux_tc") == 0;
    if (model->experts == 0)
        model->experts_per_token = model->shared_experts = model->expert_ffn = model->dense_layers =
            0;
    return 0;
}

/* moe_layers, where it is given, must say what interleave_moe_layer_step says. */
static int read_llama4(const struct yaml_node *config, struct model_spec *model,
                       struct error_info *err)
{
    const struct yaml_node *list = config_find(config, "moe_layers").value;
    bool same = config_count(list) == model_moe_layers(model, model->layers);
    model->shared_experts = 1;
    for (size_t i = 0; same && i < config_count(list); i++) {
        unsigned layer;
        same = config_whole(list->children[i], model->layers, &layer) &&
               model_layer_is_moe(model, layer) && model_moe_layers(model, layer) == i;
    }
    if (list && !same)
        return error_set(err, "moe_layers: only every n-th layer, as interleave_moe_layer_step "
                              "says, is known");
    return 0;
}

static int (*const ways[FAMILY_WAY_COUNT])(const struct yaml_node *config, struct model_spec *model,
                                           struct error_info *err) = {
    [WAY_FALCON] = read_falcon,     [WAY_OPT] = read_opt,       [WAY_BIGCODE] = read_bigcode,
    [WAY_STABLELM] = read_stablelm, [WAY_GEMMA3] = read_gemma3, [WAY_SPARSE] = read_sparse,
    [WAY_LEADING] = read_leading,   [WAY_LLAMA4] = read_llama4, [WAY_MPT] = read_mpt,
};

/* --- which family, which part ------------------------------------------------------------- */

static const struct model_family *find_family(const struct yaml_node *config,
                                              struct error_info *err)
{
    char list[MODEL_FAMILY_LIST_BYTES];
    const char *type = config_text(config_find(config, "model_type").value);
    if (!type)
        return error_null(
            error_set(err, "model_type is missing; is this a Hugging Face config.json?"));
    const struct model_family *family = model_family_find(type);
    if (family)
        return family;
    if (config_check_recurrent(type, err) < 0)
        return NULL;
    model_family_list(list);
    return error_null(error_set(err,
                                "model_type \"%.64s\" is not known (known: %s); describe the model "
                                "in a file with schema: parplan.model/1",
                                type, list));
}

static int read_part(const struct yaml_node *config, struct model_spec *model,
                     struct error_info *err)
{
    const struct model_family *family = find_family(config, err);
    if (!family)
        return -1;
    *model = model_family_base(family);
    if (read_fields(config, family, model, err) < 0 ||
        read_switches(config, family, model, err) < 0 ||
        (ways[family->way] && ways[family->way](config, model, err) < 0) ||
        config_read_windows(config, family, model, err) < 0)
        return -1;
    if (model_moe_layers(model, model->layers) == model->layers)
        model->ffn = 0; /* what stands there is of dense layers, of which there are none */
    return model_spec_complete(model, family, err);
}

/* The part that makes text, of a model that also sees or hears; else all of it. Its embedding
 * is tied as the whole says where it does not say so itself. */
static int read_text_part(const struct yaml_node *config, struct model_spec *model,
                          bool *ret_only_part, struct error_info *err)
{
    struct config_key part =
        config_find(config, "text_config|llm_config|language_config|thinker_config.text_config");
    if (!config_text(config_find(part.value, "model_type").value)) {
        *ret_only_part = config_find(config, "vision_config|audio_config").value;
        return read_part(config, model, err);
    }
    *ret_only_part = true;
    if (read_part(part.value, model, err) < 0)
        return error_prefix(err, "%s", part.name);
    return config_find(part.value, "tie_word_embeddings").value
               ? 0
               : config_flag(config, "tie_word_embeddings", &model->tied_embeddings, err);
}

struct model_spec *model_spec_parse_config(const char *text, size_t bytes, const char *source,
                                           struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, bytes, source, err);
    struct model_spec model;
    bool only_part = false;
    char title[TITLE_MAXIMUM_BYTES];
    if (!document)
        return NULL;
    const struct yaml_node *config = yaml_document_root(document);
    if (read_text_part(config, &model, &only_part, err) < 0)
        return error_null(error_prefix(err, "%s", source));
    const char *path = config_text(config_find(config, "_name_or_path").value);
    model.name = path && path[0] != '\0' ? path : source;
    if (only_part) {
        snprintf(title, sizeof(title), "%.960s (text model)", model.name);
        model.name = title;
    }
    return model_spec_copy(&model, err);
}
