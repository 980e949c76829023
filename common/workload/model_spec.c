/* SPDX-License-Identifier: MIT */
#include "workload/model_family.h"

/* Three texts: a name, a family, a source. */
#define MODEL_SPEC_MAXIMUM_BYTES ((size_t)1 << 20)

void model_spec_free(struct model_spec *model)
{
    if (model)
        arena_free(model->arena);
}

unsigned model_moe_layers(const struct model_spec *model, unsigned count)
{
    unsigned interval = model->moe_interval > 0 ? model->moe_interval : 1;
    if (model->experts == 0 || count <= model->dense_layers)
        return 0;
    return count / interval - model->dense_layers / interval;
}

bool model_layer_is_moe(const struct model_spec *model, unsigned layer)
{
    return model_moe_layers(model, layer + 1) > model_moe_layers(model, layer);
}

/* Of the numbers that divide `whole` the one next to `wish`, the larger of two. */
static unsigned nearest_divisor(unsigned whole, unsigned wish)
{
    for (unsigned distance = 0; distance < whole; distance++) {
        if (wish <= whole - distance && whole % (wish + distance) == 0)
            return wish + distance;
        if (wish > distance && whole % (wish - distance) == 0)
            return wish - distance;
    }
    return whole;
}

static int check_ranges(const struct model_spec *model, struct error_info *err)
{
    for (unsigned i = 0; i < MODEL_NUMBER_COUNT; i++) {
        const struct model_number *number = &model_numbers[i];
        unsigned value = model_number_of(model, number->offset);
        if (value == 0 && number->minimum > 0)
            return error_set(err, "%s is missing", number->key);
        if (value > number->maximum)
            return error_set(err, "%s: %u is not a whole number from %u to %u", number->key, value,
                             number->minimum, number->maximum);
    }
    return 0;
}

static int check_latent(const struct model_spec *model, struct error_info *err)
{
    if (model->attention != ATTENTION_LATENT)
        return 0;
    if (model->kv_lora_rank == 0)
        return error_set(err, "kv_lora_rank is missing (latent attention needs it)");
    if (model->qk_nope_head_dim + model->qk_rope_head_dim == 0 || model->v_head_dim == 0)
        return error_set(err, "qk_nope_head_dim, qk_rope_head_dim and v_head_dim are missing "
                              "(latent attention needs them)");
    return 0;
}

static int check_grouped(const struct model_spec *model, struct error_info *err)
{
    if (model->attention != ATTENTION_GROUPED || model->heads % model->kv_heads == 0)
        return 0;
    return error_set(err, "heads: %u is not divisible by the %u kv_heads; use %u kv_heads",
                     model->heads, model->kv_heads, nearest_divisor(model->heads, model->kv_heads));
}

static int check_experts(const struct model_spec *model, struct error_info *err)
{
    if (model->experts == 0 && (model->experts_per_token > 0 || model->shared_experts > 0))
        return error_set(err, "experts is missing, but experts_per_token or shared_experts is not");
    if (model->experts == 0)
        return 0;
    if (model->experts_per_token == 0 || model->experts_per_token > model->experts)
        return error_set(err,
                         "experts_per_token: %u is not a whole number from 1 to the %u experts",
                         model->experts_per_token, model->experts);
    if (model->expert_ffn == 0)
        return error_set(err, "expert_ffn is missing (models with experts need it)");
    return 0;
}

static int check_layers(const struct model_spec *model, struct error_info *err)
{
    static const struct model_number within[] = {
        {.key = "dense_layers", .offset = offsetof(struct model_spec, dense_layers)},
        {.key = "moe_interval", .offset = offsetof(struct model_spec, moe_interval)},
        {.key = "full_attention_layers",
         .offset = offsetof(struct model_spec, full_attention_layers)},
    };
    for (unsigned i = 0; i < COUNT_OF(within); i++)
        if (model_number_of(model, within[i].offset) > model->layers)
            return error_set(err, "%s: %u is more than the %u layers", within[i].key,
                             model_number_of(model, within[i].offset), model->layers);
    if (model->ffn == 0 && model_moe_layers(model, model->layers) < model->layers)
        return error_set(err, "ffn is missing (dense layers need it)");
    return 0;
}

int model_spec_check(const struct model_spec *model, struct error_info *err)
{
    /* Latent first: without its widths head_dim would be called missing. */
    if (check_latent(model, err) < 0 || check_ranges(model, err) < 0 ||
        check_grouped(model, err) < 0 || check_experts(model, err) < 0)
        return -1;
    return check_layers(model, err);
}

static int complete_heads(struct model_spec *model, struct error_info *err)
{
    if (model->attention == ATTENTION_LATENT) {
        model->kv_heads = model->heads;
        model->head_dim = model->qk_nope_head_dim + model->qk_rope_head_dim;
        return 0;
    }
    if (model->kv_heads == 0)
        model->kv_heads = model->heads;
    if (model->head_dim > 0 || model->heads == 0)
        return 0;
    if (model->hidden % model->heads != 0)
        return error_set(err,
                         "head_dim is missing, and hidden %u is not divisible by %u heads; give "
                         "head_dim, or use %u heads",
                         model->hidden, model->heads, nearest_divisor(model->hidden, model->heads));
    model->head_dim = model->hidden / model->heads;
    return 0;
}

int model_spec_complete(struct model_spec *model, const struct model_family *family,
                        struct error_info *err)
{
    if (complete_heads(model, err) < 0)
        return -1;
    bool has_dense_layers = model_moe_layers(model, model->layers) < model->layers;
    if (model->ffn == 0 && has_dense_layers && model->hidden < 1u << 24)
        model->ffn = family->ffn_multiple * model->hidden;
    return model_spec_check(model, err);
}

/* A name out of a file goes into messages and reports: one line, no control characters. */
static int copy_text(struct arena *arena, const char **text)
{
    if (!*text)
        return 0;
    char *copy = arena_copy_text(arena, *text);
    *text = copy;
    if (!copy)
        return -1;
    error_clean_text(copy);
    return 0;
}

struct model_spec *model_spec_copy(const struct model_spec *model, struct error_info *err)
{
    struct arena *arena = arena_create(MODEL_SPEC_MAXIMUM_BYTES);
    struct model_spec *copy = arena ? arena_allocate(arena, sizeof(*copy)) : NULL;
    if (!copy) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    *copy = *model;
    copy->arena = arena;
    if (copy_text(arena, &copy->name) == 0 && copy_text(arena, &copy->family) == 0 &&
        copy_text(arena, &copy->source) == 0)
        return copy;
    arena_free(arena);
    return error_null(error_set_memory(err));
}
