/* SPDX-License-Identifier: MIT */
#include "workload/config/config_layers.h"

#include "base/text_buffer.h"
#include "workload/config/config_value.h"
#include <stdio.h>
#include <string.h>

#define TYPE_MAXIMUM_BYTES 64u

static const char *remedy(void)
{
    return UNPACKED_TEXT("which is not modelled; plan a transformer of its size, described in a "
                         "file with schema: parplan.model/1");
}

static const char *recurrent_types(void)
{
    return UNPACKED_TEXT(
        " mamba mamba2 falcon_mamba codestral_mamba jamba bamba zamba zamba2 falcon_h1 nemotron_h "
        "granitemoehybrid qwen3_next kimi_linear minimax minimax_text_01 recurrent_gemma rwkv "
        "rwkv5 rwkv6 rwkv7 lfm2 lfm2_moe plamo2 xlstm retnet qwen3_5 qwen3_5_moe olmo_hybrid ");
}

int config_check_recurrent(const char *type, struct error_info *err)
{
    char word[TYPE_MAXIMUM_BYTES];
    snprintf(word, sizeof(word), "%s", type);
    char *ending = strstr(word, "_text");
    if (ending && ending[strlen("_text")] == '\0')
        *ending = '\0';
    if (!text_lists(recurrent_types(), word))
        return 0;
    return error_set(err, "model_type \"%.64s\" has layers of state space or linear attention, %s",
                     type, remedy());
}

static int count_full_layers(const struct yaml_node *types, const struct model_spec *model,
                             unsigned *ret, struct error_info *err)
{
    unsigned full = 0;
    if (config_count(types) != model->layers)
        return error_set(err, "layer_types: %zu entries for %u layers; give one for each",
                         config_count(types), model->layers);
    for (unsigned i = 0; i < model->layers; i++) {
        const char *word = config_text(types->children[i]);
        bool whole = word && strcmp(word, "full_attention") == 0;
        if (!word || (!whole && strcmp(word, "sliding_attention") != 0 &&
                      strcmp(word, "chunked_attention") != 0))
            return error_set(err, "layer_types: layer %u is \"%.64s\", %s", i,
                             word ? word : "no word", remedy());
        full += whole;
    }
    *ret = full;
    return 0;
}

/* Where the layers alternate by a rule. */
static int alternate(const struct yaml_node *config, const struct model_family *family,
                     struct model_spec *model, struct error_info *err)
{
    unsigned every = family->full_attention_every, first = 0;
    const struct yaml_node *pattern = config_find(config, "sliding_window_pattern").value;
    if (pattern && pattern->kind == YAML_SCALAR && !pattern->quoted &&
        config_number(config, "sliding_window_pattern", &every, err) < 0)
        return -1;
    if (family->traits & TRAIT_WINDOW_ASKED &&
        config_number(config, "max_window_layers", &first, err) < 0)
        return -1;
    unsigned full = every > 0 ? model->layers / every : first;
    model->full_attention_layers = full < model->layers ? full : model->layers;
    return 0;
}

int config_read_windows(const struct yaml_node *config, const struct model_family *family,
                        struct model_spec *model, struct error_info *err)
{
    const struct yaml_node *types = config_find(config, "layer_types").value;
    bool used = family->traits & TRAIT_WINDOW;
    unsigned window = 0, full = 0;
    if (types && count_full_layers(types, model, &full, err) < 0)
        return -1;
    if (!(family->traits & (TRAIT_WINDOW | TRAIT_WINDOW_ASKED)))
        return 0;
    if (config_flag(config, "use_sliding_window", &used, err) < 0 ||
        config_number(config, "sliding_window|attention_chunk_size", &window, err) < 0)
        return -1;
    if (!used || window == 0)
        return 0;
    model->sliding_window = window;
    if (!types)
        return alternate(config, family, model, err);
    model->full_attention_layers = full;
    return 0;
}
