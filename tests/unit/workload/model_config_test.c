/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"
#include "workload/model_spec.h"

#include <string.h>

#define LLAMA_SHAPE                                                                                \
    "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100,"     \
    "\"intermediate_size\":128"
#define LLAMA "{\"model_type\":\"llama\"," LLAMA_SHAPE
#define SPARSE                                                                                     \
    "{\"model_type\":\"qwen3_moe\"," LLAMA_SHAPE                                                   \
    ",\"num_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32"
#define DEEPSEEK                                                                                   \
    "{\"model_type\":\"deepseek_v3\"," LLAMA_SHAPE                                                 \
    ",\"kv_lora_rank\":16,\"qk_nope_head_dim\":8,\"qk_rope_head_dim\":4,\"v_head_dim\":8"

static struct model_spec *parse(const char *text, struct error_info *err)
{
    return model_spec_parse_config(text, strlen(text), "config.json", err);
}

static void null_counts_as_absent(void **state)
{
    (void)state;
    struct error_info err = {0};
    CLEANUP(model_spec)
    struct model_spec *model = parse(LLAMA ",\"num_key_value_heads\":null,\"head_dim\":null,"
                                           "\"tie_word_embeddings\":null}",
                                     &err);
    if (!model)
        fail_msg("%s", err.text);
    assert_int_equal(model->kv_heads, 4);
    assert_int_equal(model->head_dim, 16);
    assert_false(model->tied_embeddings);
    assert_string_equal(model->family, "llama");
    assert_string_equal(model->name, "config.json");
}

static void switches_are_read(void **state)
{
    (void)state;
    CLEANUP(model_spec)
    struct model_spec *model =
        parse(LLAMA ",\"_name_or_path\":\"org/x\\u0007\",\"attention_bias\":true,\"mlp_bias\":true,"
                    "\"tie_word_embeddings\":true,\"head_dim\":32}",
              NULL);
    assert_non_null(model);
    assert_true(model->qkv_bias && model->attention_output_bias && model->mlp_bias);
    assert_true(model->tied_embeddings);
    assert_int_equal(model->head_dim, 32);
    assert_string_equal(model->name, "org/x?");
}

/* What JSON has and block YAML has not; and texts that look like YAML. */
static void reads_all_forms_of_json(void **state)
{
    (void)state;
    static const char text[] = "{\n\t\"model_type\":\"llama\",\n\t\"hidden_size\": "
                               "6.4e1,\"num_hidden_layers\":\n\t\t2.0,\n"
                               "\t\"num_attention_heads\"\t:4,\"vocab_size\":1E2,\"intermediate_"
                               "size\":128,\"head_dim\":32,\n"
                               "\t\"_name_or_path\":\"a\\/b "
                               "\\ud83d\\uDE00\",\"rope_theta\":-1e-05,\"empty\":[],\"none\":{},\n"
                               "\t\"chat\":\"\\\\ud83d: #{%- if x "
                               "%}\\n\",\"id2label\":{\"0\":\"L\\u00e9: - 'x'\",\"1\":\"\"},\n"
                               "\t\"rope_scaling\":{\"long_factor\":[1.0,\n\t\t2.5],\"type\":null},"
                               "\"tie_word_embeddings\":true\n}\n";
    struct error_info err = {0};
    CLEANUP(model_spec) struct model_spec *model = parse(text, &err);
    if (!model)
        fail_msg("%s", err.text);
    assert_string_equal(model->name, "a/b \xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(model->hidden, 64);
    assert_int_equal(model->layers, 2);
    assert_int_equal(model->vocabulary, 100);
    assert_int_equal(model->head_dim, 32);
    assert_true(model->tied_embeddings);
}

static void latent_attention_has_widths_of_its_own(void **state)
{
    (void)state;
    /* The files also state num_key_value_heads and head_dim, which mean nothing there. */
    CLEANUP(model_spec)
    struct model_spec *model = parse(DEEPSEEK ",\"q_lora_rank\":null,\"num_key_value_heads\":2,"
                                              "\"head_dim\":99,\"n_routed_experts\":8,"
                                              "\"num_experts_per_tok\":2,\"moe_intermediate_size\":"
                                              "32,\"first_k_dense_replace\":1,"
                                              "\"num_nextn_predict_layers\":1}",
                                     NULL);
    assert_non_null(model);
    assert_int_equal(model->attention, ATTENTION_LATENT);
    assert_int_equal(model->q_lora_rank, 0);
    assert_int_equal(model->kv_heads, 4);
    assert_int_equal(model->head_dim, 12);
    assert_int_equal(model->dense_layers, 1);
    assert_int_equal(model->mtp_layers, 1);
    assert_true(model->router_bias);
}

static void a_deepseek_without_experts_is_dense(void **state)
{
    (void)state;
    CLEANUP(model_spec)
    struct model_spec *model =
        parse(DEEPSEEK ",\"n_routed_experts\":null,\"num_experts_per_tok\":"
                       "2,\"n_shared_experts\":1,\"topk_method\":\"greedy\"}",
              NULL);
    assert_non_null(model);
    assert_int_equal(model->experts, 0);
    assert_int_equal(model->shared_experts, 0);
    assert_false(model->router_bias);
}

static void families_have_their_own_ways(void **state)
{
    (void)state;
    CLEANUP(model_spec)
    struct model_spec *opt = parse(
        "{\"model_type\":\"opt\",\"hidden_size\":64,\"num_hidden_layers\":2,"
        "\"num_attention_heads\":4,\"vocab_size\":100,\"ffn_dim\":128,"
        "\"max_position_embeddings\":50,\"do_layer_norm_before\":false,\"enable_bias\":false}",
        NULL);
    assert_non_null(opt);
    assert_int_equal(opt->learned_positions, 52);
    assert_false(opt->final_norm);
    assert_false(opt->qkv_bias);

    CLEANUP(model_spec)
    struct model_spec *falcon =
        parse("{\"model_type\":\"falcon\",\"hidden_size\":64,\"num_hidden_layers\":2,"
              "\"num_attention_heads\":4,\"vocab_size\":100,\"multi_query\":false,"
              "\"parallel_attn\":false,\"bias\":true}",
              NULL);
    assert_non_null(falcon);
    assert_int_equal(falcon->kv_heads, 4);
    assert_int_equal(falcon->norms_per_layer, 2);
    assert_int_equal(falcon->ffn, 256);
    assert_true(falcon->mlp_bias);

    CLEANUP(model_spec)
    struct model_spec *qwen =
        parse("{\"model_type\":\"qwen3_moe\"," LLAMA_SHAPE ",\"num_experts\":8,"
              "\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,\"mlp_only_layers\":[0]}",
              NULL);
    assert_non_null(qwen);
    assert_int_equal(qwen->dense_layers, 1);
    assert_int_equal(qwen->ffn, 128);
}

static const struct {
    const char *text, *message;
} invalid[] = {
    {"[]", "config.json: model_type is missing; is this a Hugging Face config.json?"},
    {"{}", "config.json: model_type is missing; is this a Hugging Face config.json?"},
    {"{\"model_type\":7}",
     "config.json: model_type is missing; is this a Hugging Face config.json?"},
    {"{\"model_type\":\"mamba\"}",
     "config.json: model_type \"mamba\" has layers of state space or linear attention, which is "
     "not modelled; plan a transformer of its size, described in a file with schema: "
     "parplan.model/1"},
    {"{\"model_type\":\"llama4\",\"text_config\":{\"model_type\":\"llama4_text\"}}",
     "config.json: text_config: vocab_size is missing"},
    {"{\"model_type\":\"llama\"}", "config.json: vocab_size is missing"},
    {"{\"model_type\":\"llama\",\"vocab_size\":100,\"num_hidden_layers\":null}",
     "config.json: num_hidden_layers is missing"},
    {LLAMA ",\"num_key_value_heads\":\"4\"}",
     "config.json: num_key_value_heads is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"num_key_value_heads\":-1}",
     "config.json: num_key_value_heads is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"num_key_value_heads\":2.5}",
     "config.json: num_key_value_heads is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"num_key_value_heads\":3}",
     "config.json: heads: 4 is not divisible by the 3 kv_heads; use 4 kv_heads"},
    {LLAMA ",\"head_dim\":100000}",
     "config.json: head_dim: 100000 is not a whole number from 1 to 65536"},
    {LLAMA ",\"head_dim\":0x20}",
     "config.json: head_dim is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"head_dim\":2147483648}",
     "config.json: head_dim is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"head_dim\":[8]}",
     "config.json: head_dim is not a whole number from 0 to 2147483647"},
    {LLAMA ",\"tie_word_embeddings\":\"true\"}",
     "config.json: tie_word_embeddings is neither true nor false"},
    {"{\"model_type\":llama}",
     "config.json: model_type is missing; is this a Hugging Face config.json?"},
    {"{\"a\":1,\n\"a\":2}", "config.json:2: a: the key stands twice, first in line 1"},
    {"{\n\"a\":\n",
     "config.json:3: not valid JSON: while parsing a flow node, did not find expected "
     "node content"},
    {"", "config.json: the file is empty"},
    {LLAMA ",\"tie_word_embeddings\":1}",
     "config.json: tie_word_embeddings is neither true nor false"},
    {"{\"model_type\":\"llama\",\"hidden_size\":65,\"num_hidden_layers\":2,"
     "\"num_attention_heads\":4,\"vocab_size\":100,\"intermediate_size\":128}",
     "config.json: head_dim is missing, and hidden 65 is not divisible by 4 heads; give head_dim, "
     "or use 5 heads"},
    {"{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":0,"
     "\"num_attention_heads\":4,\"vocab_size\":100,\"intermediate_size\":128}",
     "config.json: num_hidden_layers: 0 is not a whole number from 1 to 16384"},
    {LLAMA ",\"num_key_value_heads\":0}",
     "config.json: num_key_value_heads: 0 is not a whole number from 1 to 65536"},
    {"{\"model_type\":\"falcon\"," LLAMA_SHAPE
     ",\"new_decoder_architecture\":true,\"num_kv_heads\":0}",
     "config.json: num_kv_heads: 0 is not a whole number from 1 to 65536"},
    {"{\"model_type\":\"mixtral\"," LLAMA_SHAPE ",\"num_local_experts\":8}",
     "config.json: num_experts_per_tok is missing"},
    {"{\"model_type\":\"mixtral\"," LLAMA_SHAPE
     ",\"num_local_experts\":8,\"num_experts_per_tok\":9}",
     "config.json: experts_per_token: 9 is not a whole number from 1 to the 8 experts"},
    {SPARSE ",\"decoder_sparse_step\":0}",
     "config.json: decoder_sparse_step: 0 is not a whole number from 1 to 16384"},
    {SPARSE ",\"decoder_sparse_step\":3}",
     "config.json: moe_interval: 3 is more than the 2 layers"},
    {SPARSE ",\"shared_expert_intermediate_size\":40}",
     "config.json: shared_expert_intermediate_size: 40 is not a multiple of the experts' width 32; "
     "use 64"},
    {SPARSE ",\"mlp_only_layers\":[0,1,2]}",
     "config.json: dense_layers: 3 is more than the 2 layers"},
    {LLAMA ",\"layer_types\":[\"full_attention\"]}",
     "config.json: layer_types: 1 entries for 2 layers; give one for each"},
    {LLAMA ",\"layer_types\":[\"full_attention\",\"linear_attention\"]}",
     "config.json: layer_types: layer 1 is \"linear_attention\", which is not modelled; plan a "
     "transformer of its size, described in a file with schema: parplan.model/1"},
    {LLAMA ",\"layer_types\":[7,7]}",
     "config.json: layer_types: layer 0 is \"no word\", which is not modelled; plan a "
     "transformer of its size, described in a file with schema: parplan.model/1"},
    {LLAMA ",\"layer_types\":\"full_attention\"}",
     "config.json: layer_types: 0 entries for 2 layers; give one for each"},
    {"{\"model_type\":\"llama4\"," LLAMA_SHAPE ",\"num_local_experts\":8,\"num_experts_per_tok\":1,"
     "\"interleave_moe_layer_step\":2,\"moe_layers\":[0]}",
     "config.json: moe_layers: only every n-th layer, as interleave_moe_layer_step says, is known"},
    {"{\"model_type\":\"mpt\",\"d_model\":64,\"n_layers\":2,\"n_heads\":4,\"vocab_size\":100,"
     "\"expansion_ratio\":2147483647}",
     "config.json: expansion_ratio: 2147483647 times hidden 64 is absurd"},
    {"{\"model_type\":\"phi\"," LLAMA_SHAPE ",\"qk_layernorm\":true}",
     "config.json: qk_layernorm: a norm for each head is not counted; describe the model in a file "
     "with schema: parplan.model/1"},
    {"{\"model_type\":\"ernie4_5_moe\"," LLAMA_SHAPE
     ",\"moe_num_experts\":8,\"moe_k\":2,\"moe_intermediate_size\":32,\"moe_layer_end_index\":0}",
     "config.json: moe_layer_end_index: only the last layer, 1, is known"},
    {DEEPSEEK ",\"num_nextn_predict_layers\":99999}",
     "config.json: mtp_layers: 99999 is not a whole number from 0 to 16384"},
    {DEEPSEEK ",\"n_routed_experts\":8,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32,"
              "\"first_k_dense_replace\":3}",
     "config.json: dense_layers: 3 is more than the 2 layers"},
    {"{\"model_type\":\"qwen3_moe\"," LLAMA_SHAPE ",\"num_experts\":8,\"num_experts_per_tok\":2,"
     "\"moe_intermediate_size\":32,\"mlp_only_layers\":[1]}",
     "config.json: mlp_only_layers: only the first layers, in order, are known"},
    {DEEPSEEK ",\"moe_layer_freq\":2}", "config.json: moe_layer_freq: 2: only 1 is known"},
    {"{\"model_type\":\"deepseek_v3\"," LLAMA_SHAPE ",\"kv_lora_rank\":0,\"qk_nope_head_dim\":8,"
     "\"qk_rope_head_dim\":4,\"v_head_dim\":8}",
     "config.json: kv_lora_rank is missing (latent attention needs it)"},
    {"{\"model_type\":\"opt\",\"hidden_size\":64,\"num_hidden_layers\":2,"
     "\"num_attention_heads\":4,\"vocab_size\":100,\"ffn_dim\":128,"
     "\"max_position_embeddings\":50,\"word_embed_proj_dim\":32}",
     "config.json: word_embed_proj_dim: 32 is not hidden_size (64); models with a projection of "
     "the embeddings are not counted"},
};

static void refuses_in_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(invalid); i++) {
        struct error_info err = {0};
        assert_null(parse(invalid[i].text, &err));
        assert_string_equal(err.text, invalid[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
    assert_null(parse("{", NULL));
}

static int parse_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(model_spec) struct model_spec *model = parse(LLAMA "}", err);
    return model ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_counts_as_absent),
        cmocka_unit_test(switches_are_read),
        cmocka_unit_test(reads_all_forms_of_json),
        cmocka_unit_test(latent_attention_has_widths_of_its_own),
        cmocka_unit_test(a_deepseek_without_experts_is_dense),
        cmocka_unit_test(families_have_their_own_ways),
        cmocka_unit_test(refuses_in_one_line),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("workload/model_config", tests, COUNT_OF(tests));
}
