/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/model_family.h"

#include <string.h>

static struct model_spec *parse(const char *text, struct error_info *err)
{
    return model_spec_parse_yaml(text, strlen(text), "model.yaml", err);
}

static struct model_catalogue *parse_all(const char *text, struct error_info *err)
{
    return model_catalogue_parse(text, strlen(text), "models.yaml", err);
}

#define SCHEMA "schema: parplan.model/1\n"
#define SHAPE "layers: 2\nhidden: 64\nheads: 4\nvocabulary: 100\n"

static void a_model_file_is_read(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(model_spec)
    struct model_spec *model = parse(SCHEMA SHAPE "name: mine\nffn: 128\nkv_heads: 2\n"
                                                  "tied_embeddings: true\nsource: a paper\n",
                                     &err);
    if (!model)
        fail_msg("%s", err.text);
    assert_string_equal(model->name, "mine");
    assert_string_equal(model->family, "llama");
    assert_string_equal(model->source, "a paper");
    assert_int_equal(model->kv_heads, 2);
    assert_int_equal(model->head_dim, 16);
    assert_true(model->tied_embeddings);
    assert_true(model->gated_mlp);
    assert_true(model->final_norm);
}

static void a_family_brings_its_traits(void **state)
{
    (void)state;
    CLEANUP(model_spec)
    struct model_spec *model = parse(
        SCHEMA SHAPE "family: gpt2\nlearned_positions: 32\nmlp_bias: false\nnorm: rms\n", NULL);
    assert_non_null(model);
    assert_string_equal(model->name, "model.yaml");
    assert_int_equal(model->ffn, 256);
    assert_true(model->qkv_bias);
    assert_false(model->mlp_bias);
    assert_int_equal(model->norm, NORM_RMS);

    CLEANUP(model_spec)
    struct model_spec *latent = parse(SCHEMA SHAPE "ffn: 128\nattention: latent\nkv_lora_rank: 8\n"
                                                   "qk_nope_head_dim: 8\nqk_rope_head_dim: 4\n"
                                                   "v_head_dim: 8\n",
                                      NULL);
    assert_non_null(latent);
    assert_int_equal(latent->attention, ATTENTION_LATENT);
    assert_int_equal(latent->head_dim, 12);
}

static const struct {
    const char *text, *part; /* of the message */
} invalid[] = {
    {"", "model.yaml"},
    {"schema: parplan.models/1\n", "parplan.model/1"},
    {SCHEMA "hidden: 64\nheads: 4\nvocabulary: 100\nffn: 128\n", "model.yaml:1: layers is missing"},
    {SCHEMA "layers: 0\n", "model.yaml:2: layers:"},
    {SCHEMA "layers: many\n", "model.yaml:2: layers:"},
    {SCHEMA SHAPE, "model.yaml:1: ffn is missing (dense layers need it)"},
    {SCHEMA SHAPE "layer: 2\n", "model.yaml:6: layer: unknown key; did you mean layers?"},
    {SCHEMA SHAPE "aliases: [x]\n", "model.yaml:6: aliases: unknown key"},
    {SCHEMA SHAPE "family: mamba\n",
     "model.yaml:6: family: \"mamba\" is not one of llama, mistral"},
    {SCHEMA SHAPE "ffn: 128\nqkv_bias: 3\n", "model.yaml:7: qkv_bias:"},
    {SCHEMA SHAPE "ffn: 128\nexperts: 8\n",
     "experts_per_token: 0 is not a whole number from 1 to the 8 experts"},
    {SCHEMA SHAPE "ffn: 128\nexperts: 8\nexperts_per_token: 2\n", "expert_ffn is missing"},
    {SCHEMA SHAPE "ffn: 128\nexperts_per_token: 2\n", "experts is missing"},
    {SCHEMA SHAPE "experts: 8\nexperts_per_token: 2\nexpert_ffn: 32\ndense_layers: 3\n",
     "dense_layers: 3 is more than the 2 layers"},
    {SCHEMA SHAPE "ffn: 128\nkv_heads: 3\n", "heads: 4 is not divisible by the 3 kv_heads"},
    {SCHEMA SHAPE "ffn: 128\nattention: latent\nkv_lora_rank: 8\n", "v_head_dim are missing"},
};

static void bad_model_files_are_one_clear_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        struct error_info err = {0};
        assert_null(parse(invalid[i].text, &err));
        if (!strstr(err.text, invalid[i].part))
            fail_msg("\"%s\" lacks \"%s\"", err.text, invalid[i].part);
    }
}

#define CATALOGUE "schema: parplan.models/1\n"
#define ENTRY(name) "  - {name: " name ", layers: 2, hidden: 64, heads: 4, vocabulary: 9, ffn: 8"

static const struct {
    const char *text, *part; /* of the message */
} invalid_catalogues[] = {
    {CATALOGUE, "models"},
    {CATALOGUE "models: []\n", "needs a list of 1 to 4096 models"},
    {CATALOGUE "models: x\n", "needs a list of 1 to 4096 models"},
    {CATALOGUE "models: [x]\n", "models.yaml:2: models[0]: a model is a mapping of its fields"},
    {CATALOGUE "models:\n" ENTRY("a") "}\n" ENTRY("A") "}\n",
     "models.yaml:4: models[1]: A stands "},
    {CATALOGUE "models:\n" ENTRY("a") ", aliases: b}\n", "aliases: needs a list of names"},
    {CATALOGUE "models:\n" ENTRY("a") ", aliases: [[b]]}\n", "needs a name"},
    {CATALOGUE "models:\n  - {layers: 2, hidden: 64, heads: 4, vocabulary: 9, ffn: 8}\n",
     "models[0]: name is missing"},
};

static void bad_catalogues_name_the_entry(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid_catalogues); i++) {
        struct error_info err = {0};
        assert_null(parse_all(invalid_catalogues[i].text, &err));
        if (!strstr(err.text, invalid_catalogues[i].part))
            fail_msg("\"%s\" lacks \"%s\"", err.text, invalid_catalogues[i].part);
    }
}

static void presets_have_many_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"llama3-70b", "llama3-70b"},
        {"llama3.1-70b", "llama3-70b"},
        {"Meta-Llama/meta-llama-3.1-70B", "llama3-70b"},
        {"meta-llama/Meta-Llama-3.1-70B", "llama3-70b"},
        {"Mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
        {"GPT3", "gpt3-175b"},
    };
    struct error_info err = {0};
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(&err);
    if (!catalogue)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct model_spec *model = model_catalogue_find(catalogue, names[i][0], NULL);
        assert_non_null(model);
        assert_string_equal(model->name, names[i][1]);
    }
    assert_null(model_catalogue_find(catalogue, "llama3-80b", &err));
    assert_memory_equal(err.text,
                        "unknown model \"llama3-80b\"; did you mean llama3-8b? (presets: ", 60);
    assert_null(model_catalogue_find(catalogue, "nothing like it", &err));
    assert_memory_equal(err.text, "unknown model \"nothing like it\" (presets: llama2-7b, ", 50);
}

/* The names that golden cases, the documentation and people use. */
static void presets_are_all_there(void **state)
{
    (void)state;
    static const char *const names[] = {
        "llama2-7b",     "llama2-13b",    "llama2-70b",   "llama3-8b",       "llama3-70b",
        "llama3-405b",   "qwen2.5-7b",    "qwen3-0.6b",   "qwen3-8b",        "qwen3-32b",
        "qwen3-30b-a3b", "mixtral-8x22b", "mixtral-8x7b", "qwen3-235b-a22b", "deepseek-v2",
        "deepseek-v3",   "gpt2",          "gpt2-xl",      "gpt3-175b",       "gpt-neox-20b",
        "bloom",         "opt-6.7b",      "gemma-2b",     "gemma-7b",        "mistral-7b",
        "mistral-nemo",  "gpt-oss-20b",   "gpt-oss-120b", "internlm-7b",     "internlm-20b",
    };
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    assert_non_null(catalogue);
    assert_int_equal(model_catalogue_count(catalogue), COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_non_null(model_catalogue_find(catalogue, names[i], NULL));
    for (size_t i = 0; i < model_catalogue_count(catalogue); i++) {
        assert_int_equal(model_spec_check(model_catalogue_at(catalogue, i), NULL), 0);
        assert_true(strlen(model_catalogue_at(catalogue, i)->source) > 0);
    }
    assert_null(model_catalogue_at(catalogue, COUNT_OF(names)));
}

static void a_copy_stands_alone(void **state)
{
    (void)state;
    struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    assert_non_null(catalogue);
    CLEANUP(model_spec)
    struct model_spec *copy = model_spec_copy(model_catalogue_at(catalogue, 0), NULL);
    model_catalogue_free(catalogue);
    assert_non_null(copy);
    assert_string_equal(copy->name, "llama2-7b");
    assert_string_equal(copy->family, "llama");
    assert_int_equal(copy->layers, 32);
}

static void members_have_one_name_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_NUMBER_COUNT; i++) {
        assert_non_null(model_numbers[i].key);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(model_numbers[i].key, model_numbers[j].key);
            assert_int_not_equal(model_numbers[i].offset, model_numbers[j].offset);
        }
    }
    for (size_t i = 0; i < MODEL_FLAG_COUNT; i++)
        assert_non_null(model_flags[i].key);
    for (size_t i = 0; i < model_family_count(); i++)
        assert_ptr_equal(model_family_find(model_family_at(i)->name), model_family_at(i));
}

static int parse_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(model_catalogue)
    struct model_catalogue *catalogue =
        parse_all(CATALOGUE "models:\n" ENTRY("a") ", aliases: [b, c], source: s}\n", err);
    if (!catalogue)
        return -1;
    CLEANUP(model_spec)
    struct model_spec *copy = model_spec_copy(model_catalogue_at(catalogue, 0), err);
    return copy ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_file_is_read),
        cmocka_unit_test(a_family_brings_its_traits),
        cmocka_unit_test(bad_model_files_are_one_clear_line),
        cmocka_unit_test(bad_catalogues_name_the_entry),
        cmocka_unit_test(presets_have_many_names),
        cmocka_unit_test(presets_are_all_there),
        cmocka_unit_test(a_copy_stands_alone),
        cmocka_unit_test(members_have_one_name_each),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("workload/model_catalogue", tests, COUNT_OF(tests));
}
