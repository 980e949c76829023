/* SPDX-License-Identifier: MIT */
/* The counts of published models, as facts: their checkpoints' sizes or their model cards. The
 * configurations hold only the fields that count. */
#include "tests/support/unit_test.h"
#include "workload/model_spec.h"

#include <string.h>

struct published {
    const char *name;
    const char *config;
    uint64_t total, active;
};

static const struct published published[] = {
    {"EleutherAI/gpt-neox-20b",
     "{\"model_type\":\"gpt_neox\",\"hidden_size\":6144,\"num_hidden_layers\":44,"
     "\"num_attention_heads\":64,\"vocab_size\":50432,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":24576}",
     20554567680, 20554567680},
    {"Qwen/Qwen2.5-7B",
     "{\"model_type\":\"qwen2\",\"hidden_size\":3584,\"num_hidden_layers\":28,"
     "\"num_attention_heads\":28,\"vocab_size\":152064,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":18944,"
     "\"num_key_value_heads\":4}",
     7615616512, 7615616512},
    {"Qwen/Qwen3-0.6B",
     "{\"model_type\":\"qwen3\",\"hidden_size\":1024,\"num_hidden_layers\":28,"
     "\"num_attention_heads\":16,\"vocab_size\":151936,"
     "\"tie_word_embeddings\":true,\"intermediate_size\":3072,"
     "\"num_key_value_heads\":8,\"head_dim\":128}",
     596049920, 596049920},
    {"Qwen/Qwen3-235B-A22B",
     "{\"model_type\":\"qwen3_moe\",\"hidden_size\":4096,\"num_hidden_layers\":94,"
     "\"num_attention_heads\":64,\"vocab_size\":151936,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":12288,"
     "\"num_key_value_heads\":4,\"head_dim\":128,\"num_experts\":128,"
     "\"num_experts_per_tok\":8,\"moe_intermediate_size\":1536}",
     235093634560, 22190763520},
    {"Qwen/Qwen3-32B",
     "{\"model_type\":\"qwen3\",\"hidden_size\":5120,\"num_hidden_layers\":64,"
     "\"num_attention_heads\":64,\"vocab_size\":151936,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":25600,"
     "\"num_key_value_heads\":8,\"head_dim\":128}",
     32762123264, 32762123264},
    {"Qwen/Qwen3-8B",
     "{\"model_type\":\"qwen3\",\"hidden_size\":4096,\"num_hidden_layers\":36,"
     "\"num_attention_heads\":32,\"vocab_size\":151936,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":12288,"
     "\"num_key_value_heads\":8,\"head_dim\":128}",
     8190735360, 8190735360},
    {"bigscience/bloom",
     "{\"model_type\":\"bloom\",\"hidden_size\":14336,\"n_layer\":70,\"n_head\":112,"
     "\"vocab_size\":250880}",
     176247271424, 176247271424},
    {"deepseek-ai/DeepSeek-V2",
     "{\"model_type\":\"deepseek_v2\",\"hidden_size\":5120,\"num_hidden_layers\":60,"
     "\"num_attention_heads\":128,\"vocab_size\":102400,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":12288,"
     "\"q_lora_rank\":1536,\"kv_lora_rank\":512,\"qk_nope_head_dim\":128,"
     "\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"n_routed_experts\":160,"
     "\"num_experts_per_tok\":6,\"moe_intermediate_size\":1536,"
     "\"first_k_dense_replace\":1,\"n_shared_experts\":2}",
     235741434880, 21375800320},
    {"deepseek-ai/DeepSeek-V3",
     "{\"model_type\":\"deepseek_v3\",\"hidden_size\":7168,\"num_hidden_layers\":61,"
     "\"num_attention_heads\":128,\"vocab_size\":129280,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":18432,"
     "\"q_lora_rank\":1536,\"kv_lora_rank\":512,\"qk_nope_head_dim\":128,"
     "\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"n_routed_experts\":256,"
     "\"num_experts_per_tok\":8,\"moe_intermediate_size\":2048,"
     "\"first_k_dense_replace\":3,\"n_shared_experts\":1,"
     "\"topk_method\":\"noaux_tc\"}",
     671026419200, 37552297472},
    {"facebook/opt-6.7b",
     "{\"model_type\":\"opt\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"vocab_size\":50272,"
     "\"tie_word_embeddings\":true,\"ffn_dim\":16384,"
     "\"max_position_embeddings\":2048,\"word_embed_proj_dim\":4096}",
     6658473984, 6658473984},
    {"google/gemma-2b",
     "{\"model_type\":\"gemma\",\"hidden_size\":2048,\"num_hidden_layers\":18,"
     "\"num_attention_heads\":8,\"vocab_size\":256000,\"intermediate_size\":16384,"
     "\"num_key_value_heads\":1,\"head_dim\":256}",
     2506172416, 2506172416},
    {"google/gemma-7b",
     "{\"model_type\":\"gemma\",\"hidden_size\":3072,\"num_hidden_layers\":28,"
     "\"num_attention_heads\":16,\"vocab_size\":256000,"
     "\"intermediate_size\":24576,\"num_key_value_heads\":16,\"head_dim\":256}",
     8537680896, 8537680896},
    {"meta-llama/Llama-2-70b-hf",
     "{\"model_type\":\"llama\",\"hidden_size\":8192,\"num_hidden_layers\":80,"
     "\"num_attention_heads\":64,\"vocab_size\":32000,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":28672,"
     "\"num_key_value_heads\":8}",
     68976648192, 68976648192},
    {"meta-llama/Meta-Llama-3.1-405B",
     "{\"model_type\":\"llama\",\"hidden_size\":16384,\"num_hidden_layers\":126,"
     "\"num_attention_heads\":128,\"vocab_size\":128256,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":53248,"
     "\"num_key_value_heads\":8}",
     405853388800, 405853388800},
    {"meta-llama/Meta-Llama-3.1-70B",
     "{\"model_type\":\"llama\",\"hidden_size\":8192,\"num_hidden_layers\":80,"
     "\"num_attention_heads\":64,\"vocab_size\":128256,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":28672,"
     "\"num_key_value_heads\":8}",
     70553706496, 70553706496},
    {"meta-llama/Meta-Llama-3.1-8B",
     "{\"model_type\":\"llama\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"vocab_size\":128256,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":14336,"
     "\"num_key_value_heads\":8}",
     8030261248, 8030261248},
    {"mistralai/Mistral-Nemo-Base-2407",
     "{\"model_type\":\"mistral\",\"hidden_size\":5120,\"num_hidden_layers\":40,"
     "\"num_attention_heads\":32,\"vocab_size\":131072,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":14336,"
     "\"num_key_value_heads\":8,\"head_dim\":128}",
     12247782400, 12247782400},
    {"mistralai/Mixtral-8x7B-v0.1",
     "{\"model_type\":\"mixtral\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"vocab_size\":32000,"
     "\"tie_word_embeddings\":false,\"intermediate_size\":14336,"
     "\"num_key_value_heads\":8,\"num_local_experts\":8,\"num_experts_per_tok\":2}",
     46702792704, 12879925248},
    {"openai-community/gpt2-xl",
     "{\"model_type\":\"gpt2\",\"n_embd\":1600,\"n_layer\":48,\"n_head\":25,"
     "\"n_positions\":1024,\"vocab_size\":50257}",
     1557611200, 1557611200},
    {"openai-community/gpt2",
     "{\"model_type\":\"gpt2\",\"n_embd\":768,\"n_layer\":12,\"n_head\":12,"
     "\"n_positions\":1024,\"vocab_size\":50257}",
     124439808, 124439808},
    {"meta-llama/Llama-2-7b-hf",
     "{\"model_type\":\"llama\",\"tie_word_embeddings\":false,\"hidden_size\":4096,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,"
     "\"num_key_value_heads\":null,\"vocab_size\":32000,"
     "\"intermediate_size\":11008}",
     6738415616, 6738415616},
    {"TinyLlama/TinyLlama-1.1B",
     "{\"model_type\":\"llama\",\"tie_word_embeddings\":false,\"hidden_size\":2048,"
     "\"num_hidden_layers\":22,\"num_attention_heads\":32,"
     "\"num_key_value_heads\":4,\"vocab_size\":32000,\"intermediate_size\":5632}",
     1100048384, 1100048384},
    {"mistralai/Mistral-7B-v0.1",
     "{\"model_type\":\"mistral\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"vocab_size\":32000,"
     "\"intermediate_size\":14336,\"sliding_window\":4096}",
     7241732096, 7241732096},
    {"Qwen/Qwen2.5-0.5B",
     "{\"model_type\":\"qwen2\",\"hidden_size\":896,\"num_hidden_layers\":24,"
     "\"num_attention_heads\":14,\"num_key_value_heads\":2,\"vocab_size\":151936,"
     "\"intermediate_size\":4864,\"tie_word_embeddings\":true,"
     "\"use_sliding_window\":false,\"sliding_window\":32768}",
     494032768, 494032768},
    {"Qwen/Qwen3-30B-A3B",
     "{\"model_type\":\"qwen3_moe\",\"hidden_size\":2048,\"num_hidden_layers\":48,"
     "\"num_attention_heads\":32,\"num_key_value_heads\":4,\"head_dim\":128,"
     "\"vocab_size\":151936,\"intermediate_size\":6144,"
     "\"moe_intermediate_size\":768,\"num_experts\":128,\"num_experts_per_tok\":8,"
     "\"decoder_sparse_step\":1,\"mlp_only_layers\":[]}",
     30532122624, 3353032704},
    {"openai/gpt-oss-20b",
     "{\"model_type\":\"gpt_oss\",\"hidden_size\":2880,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"head_dim\":64,\"vocab_size\":201088,"
     "\"intermediate_size\":2880,\"attention_bias\":true,\"sliding_window\":128,"
     "\"tie_word_embeddings\":false,"
     "\"quantization_config\":{\"quant_method\":\"mxfp4\"},\"num_hidden_layers\":24,"
     "\"num_local_experts\":32,\"num_experts_per_tok\":4,\"experts_per_token\":4}",
     20914757184, 4187440704},
    {"openai/gpt-oss-120b",
     "{\"model_type\":\"gpt_oss\",\"hidden_size\":2880,\"num_attention_heads\":64,"
     "\"num_key_value_heads\":8,\"head_dim\":64,\"vocab_size\":201088,"
     "\"intermediate_size\":2880,\"attention_bias\":true,\"sliding_window\":128,"
     "\"tie_word_embeddings\":false,"
     "\"quantization_config\":{\"quant_method\":\"mxfp4\"},\"num_hidden_layers\":36,"
     "\"num_local_experts\":128,\"experts_per_token\":4}",
     116829156672, 5711982912},
    {"deepseek-ai/DeepSeek-V2-Lite",
     "{\"model_type\":\"deepseek_v2\",\"hidden_size\":2048,\"num_hidden_layers\":27,"
     "\"num_attention_heads\":16,\"num_key_value_heads\":16,\"vocab_size\":102400,"
     "\"intermediate_size\":10944,\"q_lora_rank\":null,\"kv_lora_rank\":512,"
     "\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"v_head_dim\":128,"
     "\"n_routed_experts\":64,\"n_shared_experts\":2,\"num_experts_per_tok\":6,"
     "\"moe_intermediate_size\":1408,\"first_k_dense_replace\":1,"
     "\"moe_layer_freq\":1,\"topk_method\":\"greedy\"}",
     15706484224, 2661150208},
    {"tiiuae/falcon-7b",
     "{\"model_type\":\"falcon\",\"hidden_size\":4544,\"num_hidden_layers\":32,"
     "\"num_attention_heads\":71,\"num_kv_heads\":71,\"vocab_size\":65024,"
     "\"multi_query\":true,\"new_decoder_architecture\":false,"
     "\"parallel_attn\":true,\"bias\":false}",
     6921720704, 6921720704},
    {"tiiuae/falcon-40b",
     "{\"model_type\":\"falcon\",\"hidden_size\":8192,\"n_layer\":60,\"n_head\":128,"
     "\"num_kv_heads\":8,\"vocab_size\":65024,\"multi_query\":true,"
     "\"new_decoder_architecture\":true,\"parallel_attn\":true,\"bias\":false}",
     41303293952, 41303293952},
    {"google/gemma-2-2b",
     "{\"model_type\":\"gemma2\",\"hidden_size\":2304,\"num_hidden_layers\":26,"
     "\"num_attention_heads\":8,\"num_key_value_heads\":4,\"head_dim\":256,"
     "\"vocab_size\":256000,\"intermediate_size\":9216,\"sliding_window\":4096}",
     2614341888, 2614341888},
    {"google/gemma-2-9b",
     "{\"model_type\":\"gemma2\",\"hidden_size\":3584,\"num_hidden_layers\":42,"
     "\"num_attention_heads\":16,\"num_key_value_heads\":8,\"head_dim\":256,"
     "\"vocab_size\":256000,\"intermediate_size\":14336}",
     9241705984, 9241705984},
    {"facebook/opt-125m",
     "{\"model_type\":\"opt\",\"hidden_size\":768,\"num_hidden_layers\":12,"
     "\"num_attention_heads\":12,\"vocab_size\":50272,\"ffn_dim\":3072,"
     "\"max_position_embeddings\":2048,\"word_embed_proj_dim\":768,"
     "\"do_layer_norm_before\":true}",
     125239296, 125239296},
    {"bigscience/bloom-560m",
     "{\"model_type\":\"bloom\",\"n_embed\":1024,\"n_layer\":24,"
     "\"num_attention_heads\":16,\"vocab_size\":250880}",
     559214592, 559214592},
    {"openai-community/gpt2-medium",
     "{\"model_type\":\"gpt2\",\"n_embd\":1024,\"n_layer\":24,\"n_head\":16,"
     "\"n_inner\":null,\"n_positions\":1024,\"vocab_size\":50257}",
     354823168, 354823168},
    {"EleutherAI/pythia-160m",
     "{\"model_type\":\"gpt_neox\",\"hidden_size\":768,\"num_hidden_layers\":12,"
     "\"num_attention_heads\":12,\"vocab_size\":50304,\"intermediate_size\":3072,"
     "\"tie_word_embeddings\":false}",
     162322944, 162322944},
};

static void counts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        const struct published *row = &published[i];
        struct error_info err = {0};
        struct model_parameters count = {0};
        CLEANUP(model_spec)
        struct model_spec *model =
            model_spec_parse_config(row->config, strlen(row->config), row->name, &err);
        if (!model || model_parameters_count(model, &count, &err) < 0)
            fail_msg("%s: %s", row->name, err.text);
        if (count.total != row->total || count.active != row->active)
            fail_msg("%s: %llu, active %llu", row->name, (unsigned long long)count.total,
                     (unsigned long long)count.active);
        assert_string_equal(model->name, row->name);
    }
}

/* A preset that answers to the published name has the same counts. */
static void presets_agree(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    unsigned compared = 0;
    assert_non_null(catalogue);
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct model_parameters count = {0};
        const struct model_spec *preset = model_catalogue_find(catalogue, published[i].name, NULL);
        if (!preset)
            continue;
        assert_int_equal(model_parameters_count(preset, &count, NULL), 0);
        assert_int_equal(count.total, published[i].total);
        assert_int_equal(count.active, published[i].active);
        compared++;
    }
    assert_true(compared >= 24);
}

static void parts_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        const struct published *row = &published[i];
        struct model_parameters count = {0};
        CLEANUP(model_spec)
        struct model_spec *model =
            model_spec_parse_config(row->config, strlen(row->config), row->name, NULL);
        uint64_t sum = 0;
        assert_non_null(model);
        assert_int_equal(model_parameters_count(model, &count, NULL), 0);
        for (unsigned layer = 0; layer < model->layers; layer++)
            sum += model_layer_is_moe(model, layer)
                       ? count.attention + count.norms + count.router + count.experts +
                             count.shared_experts
                       : count.attention + count.norms + count.dense_mlp;
        assert_int_equal(count.embedding + count.head + count.final_norm + sum, count.total);
        assert_true(count.attention_replicated <= count.attention);
    }
}

static void parts_of_deepseek_v3(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    struct model_parameters count = {0};
    assert_non_null(catalogue);
    const struct model_spec *model = model_catalogue_find(catalogue, "deepseek-v3", NULL);
    assert_non_null(model);
    assert_int_equal(model_parameters_count(model, &count, NULL), 0);
    assert_int_equal(count.experts, UINT64_C(256) * 3 * 7168 * 2048);
    assert_int_equal(count.shared_experts, UINT64_C(3) * 7168 * 2048);
    assert_int_equal(count.router, 256 * 7168 + 256);
    assert_int_equal(count.attention_replicated, 7168 * (1536 + 512 + 64));
    assert_int_equal(count.norms, 2 * 7168 + 1536 + 512);
    assert_int_equal(count.embedding, UINT64_C(129280) * 7168);
    assert_int_equal(count.head, count.embedding);
    assert_false(model_layer_is_moe(model, 2));
    assert_true(model_layer_is_moe(model, 3));
}

/* What PEFT prints as trainable with every linear layer named ("trainable params: 41,943,040"),
 * and by hand: rank (in + out) of each matrix. */
static const struct {
    const char *model;
    unsigned rank;
    uint64_t adapters;
} adapted[] = {
    {"llama3-8b", 16, 41943040},
    {"llama2-7b", 16, 39976960},
    {"mistral-7b", 8, 20971520},
    /* 32 layers: attention 26,624; of each of 8 experts 3 (4096 + 14336) */
    {"mixtral-8x7b", 1, 32ull * (26624 + 8 * 55296)},
    /* 61 layers of latent attention: q 7168 + 1536 and 1536 + 128 192, kv 7168 + 576 and
     * 512 + 128 256, o 128 128 + 7168; 3 dense of 3 (7168 + 18432), 58 of 257 experts */
    {"deepseek-v3", 1,
     61ull * (8704 + 26112 + 7744 + 33280 + 23552) + 3 * 3 * 25600ull + 58ull * 257 * 3 * 9216},
};

static void adapters_are_counted(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    assert_non_null(catalogue);
    for (size_t i = 0; i < COUNT_OF(adapted); i++) {
        const struct model_spec *model = model_catalogue_find(catalogue, adapted[i].model, NULL);
        assert_non_null(model);
        assert_int_equal(model_adapters_total(model, adapted[i].rank), adapted[i].adapters);
    }
}

/* The checkpoint of DeepSeek-V3 holds 684.5 billion (its README: 685B, 14B of them MTP). */
static void prediction_layers_are_counted_apart(void **state)
{
    (void)state;
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(NULL);
    struct model_parameters count = {0};
    assert_non_null(catalogue);
    struct model_spec model = *model_catalogue_find(catalogue, "deepseek-v3", NULL);
    model.mtp_layers = 1;
    assert_int_equal(model_parameters_count(&model, &count, NULL), 0);
    assert_int_equal(count.total, 671026419200);
    assert_int_equal(count.mtp, count.moe_layer + 2ull * 7168 * 7168 + 3 * 7168);
    assert_int_equal(count.mtp_copies, 2ull * 129280 * 7168);
    assert_int_equal((count.total + count.mtp + count.mtp_copies) / 100000000, 6844);
}

static void overflow_is_an_error(void **state)
{
    (void)state;
    struct error_info err = {0};
    struct model_parameters count = {0};
    struct model_spec model = {.name = "huge",
                               .layers = 16384,
                               .hidden = 1048576,
                               .heads = 65536,
                               .kv_heads = 65536,
                               .head_dim = 65536,
                               .ffn = 8388608,
                               .vocabulary = 67108864,
                               .experts = 65536,
                               .experts_per_token = 1,
                               .expert_ffn = 8388608};
    assert_int_equal(model_spec_check(&model, &err), 0);
    assert_int_equal(model_parameters_count(&model, &count, &err), -1);
    assert_string_equal(err.text, "huge has more parameters than can be counted");
    assert_int_equal(count.total, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(presets_agree),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(parts_of_deepseek_v3),
        cmocka_unit_test(adapters_are_counted),
        cmocka_unit_test(prediction_layers_are_counted_apart),
        cmocka_unit_test(overflow_is_an_error),
    };
    return unit_test_main("workload/model_parameters", tests, COUNT_OF(tests));
}
