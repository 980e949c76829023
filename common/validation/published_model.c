/* SPDX-License-Identifier: MIT */
#include "validation/published_model.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define HEADS_MULTIPLE 8u
#define USUAL_HEAD_DIM 128u
#define MOST_HEADS 65536u
#define USUAL_VOCABULARY 51200u
#define USUAL_GATED_VOCABULARY 32000u
#define LARGEST_CELL 1e8

static unsigned whole(const struct csv_table *table, size_t row, const char *name,
                      unsigned otherwise)
{
    double value = otherwise;
    csv_real(table, row, name, 0, LARGEST_CELL, &value, NULL);
    return (unsigned)value;
}

/* Letters and digits alone count, in either case. */
static bool same_name(const char *left, const char *right)
{
    for (;;) {
        while (*left != '\0' && !isalnum((unsigned char)*left))
            left++;
        while (*right != '\0' && !isalnum((unsigned char)*right))
            right++;
        if (tolower((unsigned char)*left) != tolower((unsigned char)*right))
            return false;
        if (*left == '\0')
            return true;
        left++;
        right++;
    }
}

static bool agrees(const struct csv_table *table, size_t row, const struct model_spec *model)
{
    unsigned layers = whole(table, row, "layers", 0), hidden = whole(table, row, "hidden", 0);
    return (layers == 0 || layers == model->layers) && (hidden == 0 || hidden == model->hidden);
}

static const struct model_spec *preset_of(const struct csv_table *table, size_t row,
                                          const struct model_catalogue *models)
{
    const char *name = csv_cell(table, row, "model");
    for (size_t i = 0; i < model_catalogue_count(models); i++) {
        const struct model_spec *model = model_catalogue_at(models, i);
        if (same_name(name, model->name) && agrees(table, row, model))
            return model;
    }
    return NULL;
}

/* Where the row gives none: the head width nearest to 128 with heads that TP 8 divides. */
static unsigned usual_heads(unsigned hidden)
{
    unsigned best = HEADS_MULTIPLE;
    for (unsigned heads = HEADS_MULTIPLE; heads <= hidden / 16 && heads <= MOST_HEADS;
         heads += HEADS_MULTIPLE)
        if (hidden % heads == 0 && fabs((double)hidden / heads - USUAL_HEAD_DIM) <
                                       fabs((double)hidden / best - USUAL_HEAD_DIM))
            best = heads;
    return best;
}

static void read_experts(const struct csv_table *table, size_t row, struct model_spec *model)
{
    model->experts = whole(table, row, "experts", 0);
    if (model->experts == 0)
        return;
    model->experts_per_token = whole(table, row, "topk", 1);
    model->expert_ffn = model->ffn;
}

const char *published_model_read(const struct csv_table *table, size_t row,
                                 const struct model_catalogue *models, struct model_spec *ret)
{
    const struct model_spec *preset = preset_of(table, row, models);
    if (preset) {
        *ret = *preset;
        ret->arena = NULL;
        return NULL;
    }
    bool gated = whole(table, row, "gated", 0) > 0;
    struct model_spec model = {
        .name = csv_cell(table, row, "model"),
        .family = gated ? "llama" : "gpt2",
        .layers = whole(table, row, "layers", 0),
        .hidden = whole(table, row, "hidden", 0),
        .heads = whole(table, row, "heads", 0),
        .gated_mlp = gated,
        .tied_embeddings = !gated,
        .norm = gated ? NORM_RMS : NORM_LAYER,
        .norms_per_layer = 2,
        .final_norm = true,
        .qkv_bias = !gated,
        .attention_output_bias = !gated,
        .mlp_bias = !gated,
    };
    if (model.layers == 0 || model.hidden == 0)
        return "the model's shape is not published, and no preset has its name";
    if (strcmp(csv_cell(table, row, "kv_heads"), "MLA") == 0)
        return "latent attention of an unknown shape: no preset has that name";
    if (model.heads == 0)
        model.heads = usual_heads(model.hidden);
    if (model.hidden < model.heads)
        return "more heads than hidden width";
    model.kv_heads = whole(table, row, "kv_heads", model.heads);
    model.head_dim = model.hidden / model.heads;
    model.ffn = whole(table, row, "ffn", 4 * model.hidden);
    model.vocabulary =
        whole(table, row, "vocab", gated ? USUAL_GATED_VOCABULARY : USUAL_VOCABULARY);
    read_experts(table, row, &model);
    *ret = model;
    return model_spec_check(&model, NULL) == 0 ? NULL : "the model's shape contradicts itself";
}
