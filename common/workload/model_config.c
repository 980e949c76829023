/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

#include "base/json_document.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool is_given(const struct json_value *config, const char *key)
{
    return json_value_kind(json_value_get(config, key)) != JSON_NULL;
}

struct flag_target {
    const char *key;
    bool *ret;
};

/* null counts as absent: then *ret keeps its value. */
static int read_flags(const struct json_value *config, const struct flag_target *flags,
                      size_t count, struct error_info *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct json_value *value = json_value_get(config, flags[i].key);
        if (json_value_kind(value) != JSON_NULL && json_value_boolean(value, flags[i].ret) < 0)
            return error_set(err, "%s is neither true nor false", flags[i].key);
    }
    return 0;
}

static int read_number(const struct json_value *config, const char *key, unsigned *ret,
                       struct error_info *err)
{
    uint64_t number;
    if (!is_given(config, key))
        return 0;
    if (json_value_unsigned(json_value_get(config, key), INT_MAX, &number) < 0)
        return error_set(err, "%s is not a whole number from 0 to %d", key, INT_MAX);
    *ret = (unsigned)number;
    return 0;
}

/* What is given as 0 is not what is left out: it gets no default. */
static int check_given(const char *key, size_t offset, unsigned value, struct error_info *err)
{
    for (unsigned i = 0; value == 0 && i < MODEL_NUMBER_COUNT; i++)
        if (model_numbers[i].offset == offset && model_numbers[i].minimum > 0)
            return error_set(err, "%s: 0 is not a whole number from %u to %u", key,
                             model_numbers[i].minimum, model_numbers[i].maximum);
    return 0;
}

static int read_field(const struct json_value *config, const struct config_field *field,
                      struct model_spec *model, struct error_info *err)
{
    const char *key = field->key;
    if (field->other && !is_given(config, key))
        key = field->other;
    unsigned *member = model_number_at(model, field->offset);
    if (!is_given(config, key)) {
        if (field->optional)
            return 0;
        return error_set(err, "%s is missing", field->key);
    }
    if (read_number(config, key, member, err) < 0 ||
        check_given(key, field->offset, *member, err) < 0)
        return -1;
    *member += field->add;
    return 0;
}

static int read_fields(const struct json_value *config, const struct model_family *family,
                       struct model_spec *model, struct error_info *err)
{
    for (unsigned set = 0; set < MODEL_FAMILY_FIELD_SETS && family->fields[set]; set++)
        for (const struct config_field *field = family->fields[set]; field->key; field++)
            if (read_field(config, field, model, err) < 0)
                return -1;
    return 0;
}

/* Switches that several families have and that mean the same in all of them. */
static int read_common_flags(const struct json_value *config, struct model_spec *model,
                             struct error_info *err)
{
    bool attention_bias = model->qkv_bias;
    const struct flag_target flags[] = {
        {"tie_word_embeddings", &model->tied_embeddings},
        {"mlp_bias", &model->mlp_bias},
        {"attention_bias", &attention_bias},
    };
    if (read_flags(config, flags, COUNT_OF(flags), err) < 0)
        return -1;
    if (is_given(config, "attention_bias"))
        model->qkv_bias = model->attention_output_bias = attention_bias;
    return 0;
}

/* --- what only one family has -------------------------------------------------------- */

/* Falcon 7B shares one k and v; the new architecture (40B and later) groups them, and gives
 * attention and MLP a norm each. */
static int read_falcon(const struct json_value *config, struct model_spec *model,
                       struct error_info *err)
{
    bool grouped = false, parallel = true, multi_query = true, bias = false;
    const struct flag_target flags[] = {
        {"new_decoder_architecture", &grouped},
        {"parallel_attn", &parallel},
        {"multi_query", &multi_query},
        {"bias", &bias},
    };
    if (read_flags(config, flags, COUNT_OF(flags), err) < 0)
        return -1;
    model->qkv_bias = model->attention_output_bias = model->mlp_bias = bias;
    model->kv_heads = multi_query && !grouped ? 1 : model->heads;
    if (grouped && (read_number(config, "num_kv_heads", &model->kv_heads, err) < 0 ||
                    check_given("num_kv_heads", offsetof(struct model_spec, kv_heads),
                                model->kv_heads, err) < 0))
        return -1;
    model->norms_per_layer = parallel && !grouped ? 1 : 2;
    return parallel ? read_number(config, "num_ln_in_parallel_attn", &model->norms_per_layer, err)
                    : 0;
}

static int read_opt(const struct json_value *config, struct model_spec *model,
                    struct error_info *err)
{
    unsigned word_width = model->hidden;
    bool norm_before = true, bias = true, affine = true, no_final_norm = false;
    const struct flag_target flags[] = {
        {"do_layer_norm_before", &norm_before},
        {"enable_bias", &bias},
        {"layer_norm_elementwise_affine", &affine},
        {"_remove_final_layer_norm", &no_final_norm},
    };
    if (read_number(config, "word_embed_proj_dim", &word_width, err) < 0 ||
        read_flags(config, flags, COUNT_OF(flags), err) < 0)
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

/* mlp_only_layers lists the dense layers; only the first k of all can be described. */
static int read_qwen3_moe(const struct json_value *config, struct model_spec *model,
                          struct error_info *err)
{
    unsigned step = 1;
    const struct json_value *dense = json_value_get(config, "mlp_only_layers");
    if (read_number(config, "decoder_sparse_step", &step, err) < 0)
        return -1;
    if (step != 1)
        return error_set(err, "decoder_sparse_step: %u: only 1 (every layer has experts) is known",
                         step);
    for (size_t i = 0; i < json_value_count(dense); i++) {
        uint64_t layer;
        if (json_value_unsigned(json_value_at(dense, i), INT_MAX, &layer) < 0 || layer != i)
            return error_set(err, "mlp_only_layers: only the first layers, in order, are known");
    }
    model->dense_layers = (unsigned)json_value_count(dense);
    if (model->dense_layers == 0)
        model->ffn = 0; /* intermediate_size stands there, unused */
    return 0;
}

static int read_deepseek(const struct json_value *config, struct model_spec *model,
                         struct error_info *err)
{
    unsigned frequency = 1;
    if (read_number(config, "moe_layer_freq", &frequency, err) < 0)
        return -1;
    if (frequency != 1)
        return error_set(err, "moe_layer_freq: %u: only 1 is known", frequency);
    const char *method = json_value_text(json_value_get(config, "topk_method"));
    if (method)
        model->router_bias = strcmp(method, "noaux_tc") == 0;
    if (model->experts == 0)
        model->experts_per_token = model->shared_experts = model->expert_ffn = model->dense_layers =
            0;
    return 0;
}

static const struct {
    const char *family;
    int (*read)(const struct json_value *config, struct model_spec *model, struct error_info *err);
} specials[] = {
    {"falcon", read_falcon},        {"opt", read_opt},
    {"qwen3_moe", read_qwen3_moe},  {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek}, {"kimi_k2", read_deepseek},
};

static int read_special(const struct json_value *config, struct model_spec *model,
                        struct error_info *err)
{
    for (size_t i = 0; i < COUNT_OF(specials); i++)
        if (strcmp(specials[i].family, model->family) == 0)
            return specials[i].read(config, model, err);
    return 0;
}

/* --- which family --------------------------------------------------------------------- */

static int unknown_family(const struct json_value *config, const char *type, struct error_info *err)
{
    char list[ERROR_TEXT_BYTES / 2];
    size_t used = 0;
    const struct json_value *inner = json_value_get(config, "text_config");
    const char *inner_type = json_value_text(json_value_get(inner, "model_type"));
    if (inner_type)
        return error_set(err,
                         "model_type \"%.64s\" has more than one part; give the part text_config "
                         "(model_type \"%.64s\") as a file of its own",
                         type, inner_type);
    list[0] = '\0';
    for (size_t i = 0; i < model_family_count() && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 model_family_at(i)->name);
    return error_set(err,
                     "model_type \"%.64s\" is not known (known: %s); describe the model in a "
                     "file with schema: parplan.model/1",
                     type, list);
}

static const struct model_family *find_family(const struct json_value *config,
                                              struct error_info *err)
{
    const char *type = json_value_text(json_value_get(config, "model_type"));
    if (json_value_kind(config) != JSON_OBJECT || !type)
        return error_null(
            error_set(err, "model_type is missing; is this a Hugging Face config.json?"));
    const struct model_family *family = model_family_find(type);
    return family ? family : error_null(unknown_family(config, type, err));
}

static int read_config(const struct json_value *config, const char *source,
                       struct model_spec *model, struct error_info *err)
{
    const struct model_family *family = find_family(config, err);
    if (!family)
        return -1;
    const char *path = json_value_text(json_value_get(config, "_name_or_path"));
    *model = family->base;
    model->family = family->name;
    model->name = path && path[0] != '\0' ? path : source;
    if (read_fields(config, family, model, err) < 0 || read_common_flags(config, model, err) < 0 ||
        read_special(config, model, err) < 0)
        return -1;
    return model_spec_complete(model, family, err);
}

struct model_spec *model_spec_parse_config(const char *text, size_t bytes, const char *source,
                                           struct error_info *err)
{
    CLEANUP(json_value) struct json_value *config = json_value_parse(text, bytes, source, err);
    struct model_spec model;
    if (!config)
        return NULL;
    if (read_config(config, source, &model, err) < 0)
        return error_null(error_prefix(err, "%s", source));
    return model_spec_copy(&model, err);
}
