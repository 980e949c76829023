/* SPDX-License-Identifier: MIT */
/* config.json of every family: data/published_models.txt says what a line there holds. A new
 * model needs a line and no code. */
#include "tests/support/unit_test.h"

#include "base/parse_number.h"
#include "base/text_file.h"
#include "workload/config/config_layers.h"
#include "workload/model_family.h"
#include "workload/model_spec.h"

#include <math.h>
#include <string.h>

#define PUBLISHED "tests/unit/workload/data/published_models.txt"
#define WORDS 5u
#define BILLION 1e9

enum word { WORD_NAME, WORD_TOTAL, WORD_ACTIVE, WORD_LABEL, WORD_ACTIVE_LABEL };

struct row {
    const char *words[WORDS];
    const char *config;
};

/* The next line that is no comment, cut into words; false at the end. */
static bool next_row(char **text, struct row *ret)
{
    for (;;) {
        char *line = *text, *end = strchr(line, '\n');
        if (!end)
            return false;
        *end = '\0';
        *text = end + 1;
        if (line[0] == '#')
            continue;
        for (unsigned i = 0; i < WORDS; i++) {
            char *blank = strchr(line, ' ');
            assert_non_null(blank);
            *blank = '\0';
            ret->words[i] = line;
            line = blank + 1;
        }
        ret->config = line;
        return true;
    }
}

static uint64_t count_in(const char *word)
{
    uint64_t count = 0;
    assert_int_equal(parse_unsigned(word, 1, UINT64_MAX, &count, NULL), 0);
    return count;
}

/* Published in billions: within one of its last digit, since some are cut and not rounded. */
static void check_label(const char *name, const char *label, uint64_t count)
{
    double billions = 0;
    const char *point = strchr(label, '.');
    if (strcmp(label, "-") == 0)
        return;
    assert_int_equal(parse_real(label, 0.01, 1e5, &billions, NULL), 0);
    double digit = point ? pow(10, -(double)strlen(point + 1)) : 1;
    if (fabs((double)count / BILLION - billions) > digit)
        fail_msg("%s: %llu, published %s B", name, (unsigned long long)count, label);
}

static void check_row(const struct row *row)
{
    const char *name = row->words[WORD_NAME], *label = row->words[WORD_LABEL];
    struct error_info err = {0};
    struct model_parameters count = {0};
    CLEANUP(model_spec)
    struct model_spec *model =
        model_spec_parse_config(row->config, strlen(row->config), name, &err);
    if (!model || model_parameters_count(model, &count, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    if (count.total != count_in(row->words[WORD_TOTAL]) ||
        count.active != count_in(row->words[WORD_ACTIVE]))
        fail_msg("%s: %llu, active %llu", name, (unsigned long long)count.total,
                 (unsigned long long)count.active);
    check_label(name, label[0] == '+' ? label + 1 : label,
                label[0] == '+' ? count.total + count.mtp + count.mtp_copies : count.total);
    check_label(name, row->words[WORD_ACTIVE_LABEL], count.active);
}

static void published_counts_are_met(void **state)
{
    (void)state;
    size_t bytes, rows = 0;
    CLEANUP_MEMORY char *text = text_file_read(PUBLISHED, 1 << 20, &bytes, NULL);
    struct row row;
    if (!text)
        skip(); /* without memory */
    for (char *next = text; next_row(&next, &row); rows++)
        check_row(&row);
    assert_true(rows >= 50);
}

static struct model_spec *parse(const char *text, struct error_info *err)
{
    return model_spec_parse_config(text, strlen(text), "config.json", err);
}

#define SHAPE                                                                                      \
    "\"hidden_size\":64,\"num_hidden_layers\":12,\"num_attention_heads\":4,\"vocab_size\":100,"    \
    "\"intermediate_size\":128"

static const struct {
    const char *text;
    unsigned window, full;
} windows[] = {
    {"{\"model_type\":\"mistral\"," SHAPE ",\"sliding_window\":32}", 32, 0},
    {"{\"model_type\":\"mistral\"," SHAPE ",\"sliding_window\":null}", 0, 0},
    {"{\"model_type\":\"llama\"," SHAPE ",\"sliding_window\":32}", 0, 0},
    {"{\"model_type\":\"qwen2\"," SHAPE ",\"sliding_window\":32}", 0, 0},
    {"{\"model_type\":\"qwen2\"," SHAPE
     ",\"sliding_window\":32,\"use_sliding_window\":true,\"max_window_layers\":8}",
     32, 8},
    {"{\"model_type\":\"gemma2\"," SHAPE ",\"sliding_window\":32}", 32, 6},
    {"{\"model_type\":\"gemma3_text\"," SHAPE ",\"sliding_window\":32}", 32, 2},
    {"{\"model_type\":\"gemma3_text\"," SHAPE
     ",\"sliding_window\":32,\"sliding_window_pattern\":4}",
     32, 3},
    {"{\"model_type\":\"cohere2\"," SHAPE
     ",\"sliding_window\":32,\"layer_types\":[\"full_attention\",\"sliding_attention\","
     "\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"full_attention\","
     "\"sliding_attention\",\"sliding_attention\",\"sliding_attention\",\"sliding_attention\","
     "\"full_attention\",\"full_attention\"]}",
     32, 4},
};

static void windows_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        struct error_info err = {0};
        CLEANUP(model_spec) struct model_spec *model = parse(windows[i].text, &err);
        if (!model)
            fail_msg("%s: %s", windows[i].text, err.text);
        if (model->sliding_window != windows[i].window ||
            model->full_attention_layers != windows[i].full)
            fail_msg("%s: %u, %u", windows[i].text, model->sliding_window,
                     model->full_attention_layers);
    }
}

static void recurrent_layers_are_declined(void **state)
{
    (void)state;
    static const char *const types[] = {"mamba2",     "jamba",     "qwen3_next",
                                        "nemotron_h", "falcon_h1", "kimi_linear",
                                        "minimax",    "rwkv7",     "qwen3_5_text"};
    static const char *const others[] = {"llama", "mamb", "amba", "|", "", "_text"};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct error_info err = {0};
        assert_int_equal(config_check_recurrent(types[i], &err), -1);
        assert_non_null(strstr(err.text, types[i]));
        assert_null(strchr(err.text, '\n'));
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(config_check_recurrent(others[i], NULL), 0);
}

/* The text part of a larger model, and what ties its embedding. */
static void parts_are_opened(void **state)
{
    (void)state;
    static const char whole[] = "{\"model_type\":\"qwen2_5_vl\",\"tie_word_embeddings\":true,"
                                "\"text_config\":{\"model_type\":\"qwen2_5_vl_text\"," SHAPE "}}";
    static const char own[] =
        "{\"model_type\":\"gemma3\",\"tie_word_embeddings\":true,"
        "\"text_config\":{\"model_type\":\"gemma3_text\"," SHAPE ",\"tie_word_embeddings\":false}}";
    CLEANUP(model_spec) struct model_spec *model = parse(whole, NULL);
    CLEANUP(model_spec) struct model_spec *gemma = parse(own, NULL);
    assert_true(model && gemma);
    assert_string_equal(model->family, "qwen2");
    assert_string_equal(model->name, "config.json (text model)");
    assert_true(model->tied_embeddings && model->qkv_bias);
    assert_false(gemma->tied_embeddings);
    assert_int_equal(gemma->head_dim, 256);
}

/* Layers 2, 4, … have experts, the first three none: of twelve 4, 6, 8, 10 and 12. */
static void experts_may_alternate(void **state)
{
    (void)state;
    CLEANUP(model_spec)
    struct model_spec *model =
        parse("{\"model_type\":\"qwen2_moe\"," SHAPE ",\"num_experts\":8,\"num_experts_per_tok\":2,"
              "\"moe_intermediate_size\":32,\"decoder_sparse_step\":2,"
              "\"mlp_only_layers\":[0,1,2],"
              "\"shared_expert_intermediate_size\":64}",
              NULL);
    assert_non_null(model);
    assert_int_equal(model_moe_layers(model, 12), 5);
    assert_int_equal(model_moe_layers(model, 3), 0);
    assert_false(model_layer_is_moe(model, 2));
    assert_true(model_layer_is_moe(model, 3));
    assert_false(model_layer_is_moe(model, 4));
    assert_int_equal(model->shared_experts, 2);
    assert_true(model->shared_gate);
}

static void families_are_found_by_any_name(void **state)
{
    (void)state;
    static const char *const parts[][2] = {{"llama4_text", "llama4"},
                                           {"qwen3_vl_text", "qwen3"},
                                           {"glm4v_moe_text", "glm4_moe"},
                                           {"ministral", "mistral"}};
    char list[MODEL_FAMILY_LIST_BYTES];
    model_family_list(list);
    for (size_t i = 0; i < model_family_count(); i++) {
        const struct model_family *family = model_family_at(i);
        assert_ptr_equal(model_family_find(family->name), family);
        assert_non_null(strstr(list, family->name));
        assert_true(family->norms_per_layer <= 4 && model_family_fields(family, 0));
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_string_equal(model_family_find(parts[i][0])->name, parts[i][1]);
    assert_null(model_family_find("llama_text_text"));
    assert_null(model_family_find("_text"));
    assert_null(model_family_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_counts_are_met),
        cmocka_unit_test(windows_are_read),
        cmocka_unit_test(recurrent_layers_are_declined),
        cmocka_unit_test(parts_are_opened),
        cmocka_unit_test(experts_may_alternate),
        cmocka_unit_test(families_are_found_by_any_name),
    };
    return unit_test_main("workload/model_families", tests, COUNT_OF(tests));
}
