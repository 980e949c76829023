/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/compute_model.h"
#include "planner/efficiency_catalogue.h"
#include "planner/step_time.h"
#include "tests/support/planner_fixture.h"

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
    bench->plan = (struct plan){.degrees = DEGREES_ONE,
                                .precision = PRECISION_BF16,
                                .sharding = SHARDING_ZERO1,
                                .micro_batch = 1,
                                .micro_batches = 1};
}

static void bench_done(struct bench *bench)
{
    plan_context_done(&bench->context);
    planner_fixture_done(&bench->fixture);
}

static void assert_near(double value, double expected, double share)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%g, expected %g", value, expected);
}

/* Korthikanti 2022, equation 7: 72 B L s h^2 (1 + s/6h + V/12hL), full attention; causal
 * attention is half of s/6h. */
static void model_flops_are_the_papers(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "gpt3-175b", "dgx-a100-80:1", "sequence_length=2048,global_batch=1536");
    double L = 96, h = 12288, s = 2048, V = bench.context.model->vocabulary;
    double expected = 72 * 1536 * L * s * h * h * (1 + s / (12 * h) + V / (12 * h * L));
    assert_near(step_model_flops(&bench.context), expected, 0.002);
    bench_done(&bench);
}

/* Frozen parameters need no gradient of their weights: 2 + 2 + 2 u instead of 6. */
static void frozen_parameters_cost_a_third_less(void **state)
{
    (void)state;
    struct bench bench;
    struct compute_seconds head, frozen;
    bench_init(&bench, "llama2-7b", "dgx-h100:1", "sequence_length=2048,global_batch=64");
    double all = step_model_flops(&bench.context);
    compute_head(&bench.context, &bench.plan, &head);
    double tokens = 64.0 * 2048;
    double products =
        (double)(bench.context.parameters.active - bench.context.parameters.embedding);
    bench.context.training.trainable = 0.25;
    assert_near(all - step_model_flops(&bench.context), 2 * 0.75 * products * tokens, 1e-9);
    compute_head(&bench.context, &bench.plan, &frozen);
    assert_near(frozen.forward, head.forward, 1e-12);
    assert_true(frozen.backward < head.backward);
    bench_done(&bench);
}

/* A tied table is multiplied once, as head, whether or not there is a bias on the logits. */
static void a_bias_leaves_the_head_in(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama2-7b", "dgx-h100:1", "sequence_length=2048,global_batch=64");
    struct model_spec model = *bench.context.model;
    double untied = step_model_flops(&bench.context);
    model.tied_embeddings = model.lm_head_bias = true;
    bench.context.model = &model;
    assert_int_equal(model_parameters_count(&model, &bench.context.parameters, NULL), 0);
    assert_near(step_model_flops(&bench.context), untied, 1e-5);
    bench_done(&bench);
}

static void parts_make_the_step(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", "sequence_length=8192,global_batch=128");
    bench.plan.degrees.tp = bench.plan.degrees.etp = 8;
    bench.plan.degrees.pp = 4;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 2;
    bench.plan.schedule = SCHEDULE_1F1B;
    bench.plan.micro_batches = 64;
    step_time_of(&bench.context, &bench.plan, &time);
    double sum = 0;
    for (unsigned part = 0; part < TIME_PART_COUNT; part++) {
        assert_true(time.parts[part] >= 0);
        sum += time.parts[part];
    }
    assert_near(time.step_seconds, sum, 1e-12);
    assert_near(time.tokens_per_second, 128 * 8192 / sum, 1e-12);
    assert_near(time.mfu, bench.context.model_flops / (sum * 64 * 989e12), 1e-9);
    assert_near(time.bubble_fraction, time.parts[TIME_BUBBLE] / sum, 1e-12);
    assert_true(time.mfu > 0.2 && time.mfu < 0.65);
    bench_done(&bench);
}

static void interleaving_divides_the_bubble(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate plain, interleaved;
    bench_init(&bench, "llama3-70b", "dgx-h100:8", "sequence_length=8192,global_batch=128");
    bench.plan.degrees.tp = bench.plan.degrees.etp = 8;
    bench.plan.degrees.pp = 4;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 2;
    bench.plan.schedule = SCHEDULE_1F1B;
    bench.plan.micro_batches = 64;
    step_time_of(&bench.context, &bench.plan, &plain);
    bench.plan.degrees.vpp = 5;
    bench.plan.schedule = SCHEDULE_INTERLEAVED;
    step_time_of(&bench.context, &bench.plan, &interleaved);
    assert_near(interleaved.parts[TIME_BUBBLE], plain.parts[TIME_BUBBLE] / 5, 0.05);
    assert_near(interleaved.parts[TIME_PP], plain.parts[TIME_PP] * 5, 1e-9);
    bench_done(&bench);
}

static void full_recompute_costs_a_forward(void **state)
{
    (void)state;
    struct bench bench;
    struct compute_seconds kept, repeated;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", NULL);
    compute_layer(&bench.context, &bench.plan, false, &kept);
    bench.plan.recompute = RECOMPUTE_FULL;
    compute_layer(&bench.context, &bench.plan, false, &repeated);
    assert_near(repeated.backward, kept.backward + kept.forward, 1e-12);
    assert_near(repeated.forward, kept.forward, 1e-12);
    bench_done(&bench);
}

static void large_products_run_at_the_measured_rate(void **state)
{
    (void)state;
    struct bench bench;
    struct compute_seconds wide, narrow;
    bench_init(&bench, "llama3-70b", "dgx-h100:1", "sequence_length=8192");
    bench.plan.micro_batch = 4;
    compute_layer(&bench.context, &bench.plan, false, &wide);
    double flops =
        2.0 * 32768 *
        (double)(bench.context.parameters.attention + bench.context.parameters.dense_mlp);
    assert_true(wide.forward > flops / (0.8 * 989e12));
    bench.plan.micro_batch = 1;
    compute_layer(&bench.context, &bench.plan, false, &narrow);
    assert_true(narrow.forward > wide.forward / 4);
    bench_done(&bench);
}

static void experts_compute_the_active_share(void **state)
{
    (void)state;
    struct bench bench;
    struct compute_seconds layer;
    bench_init(&bench, "mixtral-8x7b", "dgx-h100:1", NULL);
    bench.plan.micro_batch = 4; /* enough rows for each expert's products */
    compute_layer(&bench.context, &bench.plan, true, &layer);
    double active = (double)bench.context.parameters.attention +
                    (double)bench.context.parameters.experts * 2 / 8;
    double ideal = 2.0 * 4 * 4096 * active / 989e12;
    assert_true(layer.forward > ideal && layer.forward < 3 * ideal);
    bench_done(&bench);
}

static void offloaded_optimizers_are_slow(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "llama3-8b", "dgx-h100:1", NULL);
    double inside = compute_optimizer(&bench.context, &bench.plan, 1e9);
    bench.plan.offload = OFFLOAD_CPU;
    double host = compute_optimizer(&bench.context, &bench.plan, 1e9);
    bench.plan.offload = OFFLOAD_NVME;
    assert_true(compute_optimizer(&bench.context, &bench.plan, 1e9) > host && host > inside);
    bench_done(&bench);
}

static void unknown_gpus_have_no_times(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    struct gpu_catalogue none = {.count = 0};
    struct error_info err = {.kind = ERROR_NONE};
    bench_init(&bench, "llama3-8b", "dgx-h100:1", NULL);
    plan_context_done(&bench.context);
    bench.fixture.request.gpus = &none;
    assert_int_equal(plan_context_init(&bench.context, &bench.fixture.request, &err), 0);
    step_time_of(&bench.context, &bench.plan, &time);
    assert_true(time.step_seconds == 0 && time.mfu == 0);
    bench_done(&bench);
}

/* Sharding costs time: whole gradients once, then parameters too, then for each micro batch. */
static void sharding_orders_its_traffic(void **state)
{
    (void)state;
    struct bench bench;
    double last = 0;
    static const enum sharding order[] = {SHARDING_ZERO1, SHARDING_ZERO2, SHARDING_ZERO3};
    bench_init(&bench, "llama3-8b", "dgx-h100:8", "global_batch=512");
    bench.plan.degrees.dp = bench.plan.degrees.shard = 64;
    bench.plan.micro_batches = 8;
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct time_estimate time;
        bench.plan.sharding = order[i];
        step_time_of(&bench.context, &bench.plan, &time);
        assert_true(time.parts[TIME_DP] > last);
        last = time.parts[TIME_DP];
    }
    bench_done(&bench);
}

/* Each rank's eighth of the gradients crosses the NICs once: 32 GPUs in 4 shard groups. */
static void replicas_reduce_over_the_network(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    bench_init(&bench, "llama2-7b", "dgx-a100-80:4", "framework=fsdp2,global_batch=64");
    struct framework_profile profile = *bench.context.profile;
    profile.overlap_dp = profile.overlap_gather = 0;
    bench.context.profile = &profile;
    bench.plan.degrees.dp = 32;
    bench.plan.degrees.shard = 8;
    bench.plan.degrees.replicate = 4;
    bench.plan.sharding = SHARDING_HSDP;
    step_time_of(&bench.context, &bench.plan, &time);
    double parameters = (double)bench.context.parameters.total;
    double inside = 7.0 / 8 * (4 + 2 * 2) * parameters / bench.context.nvlink_bytes_per_second;
    double across = 2 * 3.0 / 4 * 4 * parameters / 8 / bench.context.network_bytes_per_second;
    assert_near(time.parts[TIME_DP], inside + across, 0.05);
    bench_done(&bench);
}

/* DeepSeek-V3 over 16 stages: the others hold 4 layers, the last one. */
static void the_largest_stage_reduces_last(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    bench_init(&bench, "deepseek-v3", "dgx-h100:16", "global_batch=128");
    struct framework_profile profile = *bench.context.profile;
    profile.overlap_dp = profile.overlap_gather = 0;
    bench.context.profile = &profile;
    bench.plan.degrees.pp = 16;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 8;
    bench.plan.degrees.ep = 2;
    bench.plan.schedule = SCHEDULE_1F1B;
    bench.plan.micro_batches = 16;
    step_time_of(&bench.context, &bench.plan, &time);
    double experts = 4 * (double)bench.context.parameters.experts / 2;
    double bytes = (4 + 2) * 3.0 / 4 * experts; /* over EDP 4, every second GPU of a node */
    assert_true(time.parts[TIME_DP] > bytes / bench.context.nvlink_bytes_per_second);
    bench_done(&bench);
}

static void precision_decides_the_gradients(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate bf16, fp16;
    bench_init(&bench, "llama3-8b", "dgx-h100:8", "global_batch=512");
    bench.plan.degrees.dp = bench.plan.degrees.shard = 64;
    step_time_of(&bench.context, &bench.plan, &bf16);
    bench.plan.precision = PRECISION_FP16;
    step_time_of(&bench.context, &bench.plan, &fp16);
    /* 2 + 2 bytes instead of 4 + 2, 20 bytes of state instead of 18. */
    assert_near(fp16.parts[TIME_DP] / bf16.parts[TIME_DP], 4.0 / 6, 0.02);
    assert_near(compute_optimizer(&bench.context, &bench.plan, 1e9) *
                    bench.context.memory_bytes_per_second,
                2 * 20e9, 1e-9);
    bench_done(&bench);
}

/* Even a profile that hides all hides no more than a micro batch's time. */
static void dp_hides_behind_one_micro_batch(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    bench_init(&bench, "llama2-7b", "dgx-h100:8", "sequence_length=128,global_batch=64");
    struct framework_profile profile = *bench.context.profile;
    profile.overlap_dp = 1;
    bench.context.profile = &profile;
    bench.plan.degrees.dp = bench.plan.degrees.shard = 64;
    step_time_of(&bench.context, &bench.plan, &time);
    assert_true(time.parts[TIME_DP] > 0.01);
    bench_done(&bench);
}

static void experts_layers_exchange_context_too(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate time;
    bench_init(&bench, "mixtral-8x7b", "dgx-h100:1", "sequence_length=32768,global_batch=8");
    bench.plan.degrees.cp = 8;
    bench.plan.micro_batches = 8;
    step_time_of(&bench.context, &bench.plan, &time);
    assert_true(time.parts[TIME_CP] > 0);
    bench_done(&bench);
}

/* The same stages idle by schedule: 1F1B once, interleaved 1/v of it, naive M times, ZB-H1 1/3. */
static void the_schedule_decides_the_bubble(void **state)
{
    (void)state;
    struct bench bench;
    struct time_estimate once, time;
    static const struct {
        enum schedule schedule;
        double times;
    } cases[] = {{SCHEDULE_GPIPE, 1}, {SCHEDULE_NAIVE, 16}, {SCHEDULE_ZERO_BUBBLE, 1.0 / 3}};
    bench_init(&bench, "llama2-7b", "dgx-a100-80:1", "global_batch=16");
    bench.plan.degrees.pp = 8;
    bench.plan.micro_batches = 16;
    bench.plan.schedule = SCHEDULE_1F1B;
    step_time_of(&bench.context, &bench.plan, &once);
    /* Seven of eight stages' share of 16 micro batches, but for the head of the last. */
    double busy = once.parts[TIME_COMPUTE] + once.parts[TIME_PP];
    assert_true(once.parts[TIME_BUBBLE] > busy * 6 / 16 && once.parts[TIME_BUBBLE] < busy * 7 / 16);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bench.plan.schedule = cases[i].schedule;
        step_time_of(&bench.context, &bench.plan, &time);
        assert_near(time.parts[TIME_BUBBLE], once.parts[TIME_BUBBLE] * cases[i].times, 1e-9);
    }
    bench_done(&bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_flops_are_the_papers),
        cmocka_unit_test(frozen_parameters_cost_a_third_less),
        cmocka_unit_test(a_bias_leaves_the_head_in),
        cmocka_unit_test(parts_make_the_step),
        cmocka_unit_test(interleaving_divides_the_bubble),
        cmocka_unit_test(full_recompute_costs_a_forward),
        cmocka_unit_test(large_products_run_at_the_measured_rate),
        cmocka_unit_test(experts_compute_the_active_share),
        cmocka_unit_test(offloaded_optimizers_are_slow),
        cmocka_unit_test(unknown_gpus_have_no_times),
        cmocka_unit_test(sharding_orders_its_traffic),
        cmocka_unit_test(replicas_reduce_over_the_network),
        cmocka_unit_test(the_largest_stage_reduces_last),
        cmocka_unit_test(precision_decides_the_gradients),
        cmocka_unit_test(dp_hides_behind_one_micro_batch),
        cmocka_unit_test(experts_layers_exchange_context_too),
        cmocka_unit_test(the_schedule_decides_the_bubble),
    };
    return unit_test_main("planner/step_time", tests, COUNT_OF(tests));
}
