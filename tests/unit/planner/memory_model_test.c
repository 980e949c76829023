/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/memory_model.h"
#include "tests/support/planner_fixture.h"
#include <math.h>

#define EXACT 1e-9

struct bench {
    struct planner_fixture fixture;
    struct plan_context context;
    struct plan plan;
};

static void bench_init(struct bench *bench, const char *model, const char *cluster,
                       const char *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&bench->fixture, model, cluster, keys, &err) < 0 ||
        plan_context_init(&bench->context, &bench->fixture.request, &err) < 0)
        fail_msg("%s", err.text);
    bench->plan = (struct plan){
        .degrees = DEGREES_ONE, .precision = PRECISION_BF16, .micro_batch = 1, .micro_batches = 1};
}

static void bench_done(struct bench *bench)
{
    plan_context_done(&bench->context);
    planner_fixture_done(&bench->fixture);
}

static void assert_near(double value, double expected)
{
    assert_true(value > expected * (1 - EXACT) && value < expected * (1 + EXACT));
}

/* Korthikanti 2022, Table 2, for GPT-3: s 2048, h 12288, a 96, b 1, t 8, in bytes a layer. */
static void activations_are_the_papers(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "gpt3-175b", "dgx-a100-80:1",
               "sequence_length=2048,framework=megatron-deepspeed");
    double sbh = 2048.0 * 12288, scores = 5.0 * 96 * 2048 / 12288;
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                sbh * (34 + scores));
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_SELECTIVE),
                sbh * 34);
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_FULL),
                2 * sbh);
    bench.plan.degrees.tp = 8;
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                sbh * (10 + 24.0 / 8 + scores / 8));
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_SELECTIVE),
                sbh * (10 + 24.0 / 8));
    bench_done(&bench);
}

static void sequence_parallelism_divides_everything(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "gpt3-175b", "dgx-a100-80:1", "sequence_length=2048");
    double whole = memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE);
    assert_near(whole, 2048.0 * 12288 * 34 + 4.0 * 2048 * 96);
    bench.plan.degrees.tp = 8;
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                whole / 8);
    bench.plan.degrees.cp = 2;
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                whole / 16);
    bench_done(&bench);
}

static void grouped_queries_and_gates_count(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:1", "sequence_length=8192");
    /* 5h + (a+2k)d + ad + 3f = 40960 + 10240 + 8192 + 86016 elements of 2 bytes a token. */
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                8192.0 * (2 * (40960 + 10240 + 8192 + 86016) + 4 * 64));
    bench_done(&bench);
}

struct zero_case {
    enum sharding sharding;
    unsigned shard;
    double parameter, gradient, optimizer; /* bytes per parameter */
};

/* Rajbhandari 2020, figure 1, with 8 ranks: 16, 4 + 12/N, 2 + 14/N, 16/N. */
static const struct zero_case zero_cases[] = {
    {SHARDING_NONE, 1, 2, 2, 12},
    {SHARDING_ZERO1, 8, 2, 2, 12.0 / 8},
    {SHARDING_ZERO2, 8, 2, 2.0 / 8, 12.0 / 8},
    {SHARDING_ZERO3, 8, 2.0 / 8, 2.0 / 8, 12.0 / 8},
    {SHARDING_HSDP, 4, 2.0 / 4, 2.0 / 4, 12.0 / 4},
};

static void zero_divides_states(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "framework=deepspeed");
    /* The padded table: 32000 rows are a multiple of 128. */
    double parameters = (double)bench.context.parameters.total;
    for (size_t i = 0; i < COUNT_OF(zero_cases); i++) {
        const struct zero_case *expected = &zero_cases[i];
        struct memory_estimate memory;
        bench.plan.degrees.dp = 8;
        bench.plan.degrees.shard = expected->shard;
        bench.plan.degrees.replicate = 8 / expected->shard;
        bench.plan.sharding = expected->sharding;
        memory_estimate_plan(&bench.context, &bench.plan, &memory);
        assert_true((double)memory.parts[MEMORY_PARAMETERS] - expected->parameter * parameters < 1);
        assert_true(expected->parameter * parameters - (double)memory.parts[MEMORY_PARAMETERS] < 1);
        assert_true((double)memory.parts[MEMORY_GRADIENTS] - expected->gradient * parameters < 1);
        assert_true(expected->gradient * parameters - (double)memory.parts[MEMORY_GRADIENTS] < 1);
        assert_true((double)memory.parts[MEMORY_OPTIMIZER] - expected->optimizer * parameters < 1);
        assert_true(expected->optimizer * parameters - (double)memory.parts[MEMORY_OPTIMIZER] < 1);
    }
    bench_done(&bench);
}

static void half_precision_keeps_a_copy_of_gradients(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate memory;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "precision=fp16");
    double parameters = (double)bench.context.parameters.total;
    bench.plan.precision = PRECISION_FP16;
    memory_estimate_plan(&bench.context, &bench.plan, &memory);
    /* Megatron-LM dist_optimizer.md: 2 + 2 + 16 without sharding. */
    assert_int_equal(memory.parts[MEMORY_GRADIENTS], (uint64_t)(2 * parameters));
    assert_int_equal(memory.parts[MEMORY_OPTIMIZER], (uint64_t)(16 * parameters));
    bench_done(&bench);
}

static void last_stage_holds_head_and_logits(void **state)
{
    (void)state;
    struct bench bench;
    struct rank_parameters first, middle, last;
    struct pipeline_layout layout;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", "sequence_length=4096");
    bench.plan.degrees.tp = 8;
    bench.plan.degrees.pp = 8;
    bench.plan.schedule = SCHEDULE_1F1B;
    bench.plan.micro_batches = 1;
    struct plan_shape shape = plan_context_shape(&bench.context, &bench.plan);
    assert_true(pipeline_layout_of(80, 8, 1, &layout));
    rank_stage_parameters(&shape, &layout, 0, &first);
    rank_stage_parameters(&shape, &layout, 3, &middle);
    rank_stage_parameters(&shape, &layout, 7, &last);
    /* 128256 rows pad to 129024 for TP 8. */
    assert_int_equal(padded_vocabulary(bench.context.model, 8), 129024);
    assert_near(first.dense - middle.dense, 129024.0 * 8192 / 8);
    assert_near(last.dense - middle.dense, 129024.0 * 8192 / 8 + 8192);
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.stage, 7);
    assert_true(bench.plan.memory.parts[MEMORY_LOGITS] > 0);
    bench.plan.micro_batches = 64;
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.stage, 0);
    bench_done(&bench);
}

static void experts_shard_over_their_own_ranks(void **state)
{
    (void)state;
    struct bench bench;
    struct rank_parameters widths, layer;
    bench_init(&bench, "mixtral-8x7b", "dgx-h100:8", NULL);
    bench.plan.degrees = (struct degrees){.tp = 2,
                                          .cp = 1,
                                          .ep = 8,
                                          .etp = 1,
                                          .pp = 1,
                                          .vpp = 1,
                                          .dp = 32,
                                          .shard = 32,
                                          .replicate = 1};
    bench.plan.sharding = SHARDING_ZERO1;
    rank_shard_widths(&bench.plan, &widths);
    assert_near(widths.dense, 32);
    assert_near(widths.expert, 8); /* EDP = 64 / 8 */
    struct plan_shape shape = plan_context_shape(&bench.context, &bench.plan);
    rank_layer_parameters(&shape, true, &layer);
    assert_near(layer.expert, (double)bench.context.parameters.experts / 8);
    bench_done(&bench);
}

static void verdict_has_a_band(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", NULL);
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.verdict, FIT_OOM);
    uint64_t total = bench.plan.memory.total_bytes, sum = 0;
    for (unsigned part = 0; part < MEMORY_PART_COUNT; part++)
        sum += bench.plan.memory.parts[part];
    assert_int_equal(total, sum);
    bench.context.capacity_bytes = total;
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.verdict, FIT_TIGHT);
    assert_true(bench.plan.memory.tight_bytes < total && bench.plan.memory.tight_bytes > total / 2);
    bench.context.capacity_bytes = total + total / 8;
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.verdict, FIT_FITS);
    bench.context.capacity_bytes = 0;
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.verdict, FIT_UNKNOWN);
    bench_done(&bench);
}

/* Every second product's output is kept, and attention's: 2 h, two thirds of attention's widths,
 * one of the MLP's three. */
static void operators_keep_every_second_product(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", "sequence_length=8192,framework=torchtitan");
    double widths = 2 * 4096 + (2 * 32 + 2 * 8) * 128 * 2.0 / 3 + 14336;
    assert_near(memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_SELECTIVE),
                2 * 8192.0 * widths);
    bench_done(&bench);
}

/* torch.distributed.pipelining reduces after the last micro batch: until then gradients are whole,
 * and parameters stay gathered. */
static void fsdp_in_a_pipeline_stays_whole(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate estimate;
    bench_init(&bench, "llama3-8b", "dgx-h100:2", "framework=torchtitan");
    bench.plan.degrees.pp = 2;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 8;
    bench.plan.sharding = SHARDING_ZERO3;
    bench.plan.schedule = SCHEDULE_1F1B;
    memory_estimate_plan(&bench.context, &bench.plan, &estimate);
    uint64_t sharded = estimate.parts[MEMORY_PARAMETERS]; /* 4 bytes of each, over 8 */
    assert_near((double)estimate.parts[MEMORY_TRANSIENT], (2 + 4) * 8.0 / 4 * (double)sharded);
    bench_done(&bench);
}

static void allocators_hold_more_than_is_used(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate estimate;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "framework=megatron-deepspeed");
    memory_estimate_plan(&bench.context, &bench.plan, &estimate);
    const struct framework_profile *profile = bench.context.profile;
    double used = (double)(estimate.total_bytes - estimate.parts[MEMORY_FRAMEWORK]);
    assert_true(profile->fragmentation > 0);
    assert_true(fabs((double)estimate.parts[MEMORY_FRAMEWORK] -
                     ((double)profile->constant_bytes + profile->fragmentation * used)) < 16);
    bench_done(&bench);
}

static void host_memory_is_a_limit(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        enum offload offload;
        uint64_t capacity_gib;
        bool fits;
    } cases[] = {
        {"framework=deepspeed,host_memory_gib=64", OFFLOAD_CPU, 64, false},
        {"framework=deepspeed,host_memory_gib=96", OFFLOAD_CPU, 96, true},
        {"framework=deepspeed,host_memory_gib=64,host_nvme_gib=512", OFFLOAD_NVME, 512, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        struct memory_estimate estimate;
        bench_init(&bench, "llama2-7b", "dgx-a100-80:1", cases[i].keys);
        bench.context.shape.gpus_per_node = 1;
        bench.plan.offload = cases[i].offload;
        memory_estimate_plan(&bench.context, &bench.plan, &estimate);
        assert_true(estimate.host_capacity_bytes == cases[i].capacity_gib << 30);
        assert_int_equal(estimate.verdict != FIT_OOM, cases[i].fits);
        bench_done(&bench);
    }
}

/* One layer of 17 billion parameters: gathered twice and with its gradients, 134 GB. */
static void tiles_cut_a_layer_that_is_too_large(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate whole, tiled;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "framework=deepspeed");
    struct model_spec wide = *bench.context.model;
    wide.layers = 4;
    wide.hidden = 32768;
    wide.ffn = 131072;
    wide.heads = wide.kv_heads = 256;
    bench.context.model = &wide;
    assert_int_equal(model_parameters_count(&wide, &bench.context.parameters, NULL), 0);
    bench.plan.sharding = SHARDING_ZERO3;
    bench.plan.recompute = RECOMPUTE_FULL;
    memory_estimate_plan(&bench.context, &bench.plan, &whole);
    assert_int_equal(whole.tiles, 1);
    bench.plan.offload = OFFLOAD_CPU;
    memory_estimate_plan(&bench.context, &bench.plan, &tiled);
    assert_true(tiled.tiles > 1 && tiled.tiles <= MEMORY_MAXIMUM_TILES);
    assert_true(tiled.parts[MEMORY_TRANSIENT] < whole.parts[MEMORY_TRANSIENT]);
    assert_true(tiled.parts[MEMORY_ACTIVATIONS] == whole.parts[MEMORY_ACTIVATIONS]);
    bench_done(&bench);
}

/* No number of bytes is so large that it comes back as a small one. */
static void absurd_sizes_do_not_fit(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate estimate;
    bench_init(&bench, "llama3-70b", "dgx-h100:1", "sequence_length=134217728");
    bench.plan.micro_batch = 16777216;
    memory_estimate_plan(&bench.context, &bench.plan, &estimate);
    assert_int_equal(estimate.verdict, FIT_OOM);
    assert_true(estimate.parts[MEMORY_ACTIVATIONS] == MEMORY_PART_MAXIMUM_BYTES);
    assert_true(estimate.total_bytes > MEMORY_PART_MAXIMUM_BYTES);
    bench_done(&bench);
}

static void offload_moves_states_to_the_host(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "framework=deepspeed");
    bench.plan.degrees.dp = bench.plan.degrees.shard = 8;
    bench.plan.degrees.replicate = 1;
    bench.plan.sharding = SHARDING_ZERO3;
    bench.plan.offload = OFFLOAD_CPU;
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    assert_int_equal(bench.plan.memory.parts[MEMORY_PARAMETERS], 0);
    assert_int_equal(bench.plan.memory.parts[MEMORY_OPTIMIZER], 0);
    assert_near(memory_offload_bytes_per_node(&bench.context, &bench.plan),
                16.0 * (double)bench.context.parameters.total);
    bench_done(&bench);
}

static void a_share_is_trained(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "trainable=0.01");
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    double parameters = (double)bench.context.parameters.total;
    assert_int_equal(bench.plan.memory.parts[MEMORY_PARAMETERS], (uint64_t)(2 * parameters));
    assert_true((double)bench.plan.memory.parts[MEMORY_OPTIMIZER] < 0.13 * parameters);
    bench_done(&bench);
}

/* Inputs of the four products in 8 bit: 2h/T of the norms' outputs, a d of attention's, f of
 * the second matrix's: one byte less for each. */
static void fp8_saves_a_byte_of_each_kept_input(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-70b", "dgx-h100:1", "sequence_length=8192");
    double whole = memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE);
    bench.plan.precision = PRECISION_FP8;
    assert_near(whole -
                    memory_layer_activations(&bench.context, &bench.plan, false, RECOMPUTE_NONE),
                8192.0 * (2 * 8192 + 64 * 128 + 28672));
    bench_done(&bench);
}

/* ZeRO-3 gathers the layer at work and the next one: a column more counts twice in
 * bf16, its fp32 gradients once. */
static void zero3_gathers_two_layers(void **state)
{
    (void)state;
    struct bench bench;
    struct memory_estimate memory;
    bench_init(&bench, "llama2-7b", "dgx-h100:1", "sequence_length=2048,global_batch=64");
    bench.plan.sharding = SHARDING_ZERO3;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 8;
    bench.plan.micro_batches = 8;
    double transient[2];
    struct model_spec model = *bench.context.model;
    bench.context.model = &model;
    for (unsigned i = 0; i < 2; i++) {
        model.ffn += i;
        assert_int_equal(model_parameters_count(&model, &bench.context.parameters, NULL), 0);
        memory_estimate_plan(&bench.context, &bench.plan, &memory);
        transient[i] = (double)memory.parts[MEMORY_TRANSIENT];
    }
    assert_near(transient[1] - transient[0], 3.0 * 4096 * (2 * 2 + 4));
    bench_done(&bench);
}

/* Whatever the framework keeps of what it trains: 16 bits of each frozen parameter, no gradients,
 * no optimizer. fsdp2 keeps 4 bytes a parameter, 4 a gradient and 8 of moments. */
static void frozen_models_keep_two_bytes(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", "framework=fsdp2,trainable=frozen");
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    const uint64_t *parts = bench.plan.memory.parts;
    assert_int_equal(parts[MEMORY_PARAMETERS], 2 * bench.context.parameters.total);
    assert_int_equal(parts[MEMORY_GRADIENTS], 0);
    assert_int_equal(parts[MEMORY_OPTIMIZER], 0);
    assert_true(parts[MEMORY_ACTIVATIONS] > 0);
    bench_done(&bench);
}

/* 41,943,040 adapters: LLAMA3_8B_LORA16 in model_parameters_test.c. */
static void adapters_come_on_top(void **state)
{
    (void)state;
    struct bench bench;
    const uint64_t adapters = 41943040;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", "framework=fsdp2,trainable=lora:16");
    memory_estimate_plan(&bench.context, &bench.plan, &bench.plan.memory);
    const uint64_t *parts = bench.plan.memory.parts;
    assert_int_equal(parts[MEMORY_PARAMETERS], 2 * bench.context.parameters.total + 4 * adapters);
    assert_int_equal(parts[MEMORY_GRADIENTS], 4 * adapters);
    assert_int_equal(parts[MEMORY_OPTIMIZER], 8 * adapters);
    bench_done(&bench);
}

/* Megatron-LM multi_token_prediction.py: the last stage has a layer and logits more. */
static void prediction_layers_count_on_the_last_stage(void **state)
{
    (void)state;
    struct bench without, with;
    bench_init(&without, "llama3-8b", "dgx-h100:1", NULL);
    bench_init(&with, "llama3-8b", "dgx-h100:1", "mtp=2");
    memory_estimate_plan(&without.context, &without.plan, &without.plan.memory);
    memory_estimate_plan(&with.context, &with.plan, &with.plan.memory);
    const uint64_t *less = without.plan.memory.parts, *more = with.plan.memory.parts;
    const struct model_parameters *counts = &with.context.parameters;
    uint64_t each = counts->dense_layer + 2ull * 4096 * 4096 + 3 * 4096;
    assert_int_equal(more[MEMORY_PARAMETERS] - less[MEMORY_PARAMETERS], 2 * 2 * each);
    assert_near((double)more[MEMORY_LOGITS], 3 * (double)less[MEMORY_LOGITS]);
    assert_near((double)more[MEMORY_ACTIVATIONS], 34.0 / 32 * (double)less[MEMORY_ACTIVATIONS]);
    bench_done(&with);
    bench_done(&without);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_the_papers),
        cmocka_unit_test(sequence_parallelism_divides_everything),
        cmocka_unit_test(grouped_queries_and_gates_count),
        cmocka_unit_test(zero_divides_states),
        cmocka_unit_test(half_precision_keeps_a_copy_of_gradients),
        cmocka_unit_test(last_stage_holds_head_and_logits),
        cmocka_unit_test(experts_shard_over_their_own_ranks),
        cmocka_unit_test(verdict_has_a_band),
        cmocka_unit_test(absurd_sizes_do_not_fit),
        cmocka_unit_test(operators_keep_every_second_product),
        cmocka_unit_test(fsdp_in_a_pipeline_stays_whole),
        cmocka_unit_test(allocators_hold_more_than_is_used),
        cmocka_unit_test(host_memory_is_a_limit),
        cmocka_unit_test(tiles_cut_a_layer_that_is_too_large),
        cmocka_unit_test(offload_moves_states_to_the_host),
        cmocka_unit_test(a_share_is_trained),
        cmocka_unit_test(fp8_saves_a_byte_of_each_kept_input),
        cmocka_unit_test(zero3_gathers_two_layers),
        cmocka_unit_test(frozen_models_keep_two_bytes),
        cmocka_unit_test(adapters_come_on_top),
        cmocka_unit_test(prediction_layers_count_on_the_last_stage),
    };
    return unit_test_main("planner/memory_model", tests, COUNT_OF(tests));
}
