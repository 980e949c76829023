/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/sizes/plan_shape.h"
#include "tests/support/planner_fixture.h"

#define EXACT 1e-12

struct bench {
    struct planner_fixture fixture;
    struct plan_context context;
    struct model_spec model; /* the context's, to be changed */
    struct plan plan;
};

static void recount(struct bench *bench)
{
    assert_int_equal(model_parameters_count(&bench->model, &bench->context.parameters, NULL), 0);
}

static void bench_init(struct bench *bench, const char *model, const char *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&bench->fixture, model, "dgx-h100:16", keys, &err) < 0 ||
        plan_context_init(&bench->context, &bench->fixture.request, &err) < 0)
        fail_msg("%s", err.text);
    bench->model = *bench->context.model;
    bench->context.model = &bench->model;
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
    if (value < expected * (1 - EXACT) || value > expected * (1 + EXACT))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* DeepSeek-V3: TP 8 divides the up projections, not q's 1536 and kv's 512 + 64 down. */
static void latent_projections_down_are_whole(void **state)
{
    (void)state;
    struct bench bench;
    struct rank_parameters layer;
    bench_init(&bench, "deepseek-v3", NULL);
    bench.plan.degrees.tp = 8;
    struct plan_shape shape = plan_context_shape(&bench.context, &bench.plan);
    rank_layer_parameters(&shape, false, &layer);
    const struct model_parameters *counts = &bench.context.parameters;
    double down = 7168.0 * (1536 + 512 + 64);
    double split = (double)counts->attention - down + (double)counts->dense_mlp;
    assert_near(layer.dense, split / 8 + down + (double)counts->norms);
    bench_done(&bench);
}

/* One rank alone holds each parameter once, whatever the ends look like. */
static void a_bias_is_no_table(void **state)
{
    (void)state;
    struct bench bench;
    struct rank_parameters stage;
    struct pipeline_layout layout;
    bench_init(&bench, "llama2-7b", NULL); /* 32,000 rows need no padding */
    assert_true(pipeline_layout_of(32, 1, 1, &layout));
    for (unsigned i = 0; i < 4; i++) {
        bench.model.tied_embeddings = i % 2 > 0;
        bench.model.lm_head_bias = i / 2 > 0;
        recount(&bench);
        struct plan_shape shape = plan_context_shape(&bench.context, &bench.plan);
        rank_stage_parameters(&shape, &layout, 0, &stage);
        assert_near(stage.dense, (double)bench.context.parameters.total);
    }
    bench_done(&bench);
}

/* 61 layers in 16 stages of 4: the last holds one, and no stage's are forgotten. */
static void the_largest_stage_counts(void **state)
{
    (void)state;
    struct bench bench;
    struct rank_parameters largest, last, middle, mean, sum = {0};
    struct pipeline_layout layout;
    bench_init(&bench, "deepseek-v3", NULL);
    bench.plan.degrees.pp = 16;
    bench.plan.degrees.ep = 8;
    struct plan_shape shape = plan_context_shape(&bench.context, &bench.plan);
    assert_true(pipeline_layout_of(61, 16, 1, &layout));
    rank_stage_parameters(&shape, &layout, 15, &last);
    rank_stage_parameters(&shape, &layout, 7, &middle);
    rank_largest_parameters(&shape, &layout, &largest);
    assert_near(largest.expert, middle.expert);
    assert_near(last.expert, middle.expert / 4);
    assert_true(largest.dense >= last.dense && largest.dense >= middle.dense);
    for (unsigned stage = 0; stage < 16; stage++) {
        rank_stage_parameters(&shape, &layout, stage, &middle);
        sum.dense += middle.dense;
        sum.expert += middle.expert;
    }
    rank_mean_parameters(&shape, &mean);
    assert_near(mean.dense, sum.dense / 16);
    assert_near(mean.expert, sum.expert / 16);
    bench_done(&bench);
}

struct bytes_case {
    const char *framework;
    enum precision precision;
    struct state_bytes bytes;
};

/* Megatron-LM dist_optimizer.md: 18 (BF16), 20 (FP16), 16 (FP32); DeepSpeed 16. */
static const struct bytes_case bytes_cases[] = {
    {"megatron-core", PRECISION_BF16, {2, 4, 12}}, {"megatron-core", PRECISION_FP8, {2, 4, 12}},
    {"megatron-core", PRECISION_FP16, {2, 2, 16}}, {"megatron-core", PRECISION_FP32, {4, 4, 8}},
    {"deepspeed", PRECISION_FP16, {2, 2, 12}},     {"deepspeed", PRECISION_FP32, {4, 4, 8}},
    {"fsdp2", PRECISION_BF16, {4, 4, 8}},          {"fsdp2", PRECISION_FP16, {4, 4, 8}},
};

static void precision_decides_the_bytes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(framework_catalogue)
    struct framework_catalogue *catalogue = framework_catalogue_builtin(&err);
    assert_non_null(catalogue);
    for (size_t i = 0; i < COUNT_OF(bytes_cases); i++) {
        const struct bytes_case *test = &bytes_cases[i];
        const struct framework_profile *profile =
            framework_catalogue_find(catalogue, test->framework, &err);
        struct training_spec training = {.trainable = 1};
        struct state_bytes bytes = state_bytes_of(profile, &training, test->precision);
        assert_near(bytes.parameter, test->bytes.parameter);
        assert_near(bytes.gradient, test->bytes.gradient);
        assert_near(bytes.optimizer, test->bytes.optimizer);
        training.moments_saved = 6; /* 8 bit moments */
        bytes = state_bytes_of(profile, &training, test->precision);
        assert_near(bytes.optimizer, test->bytes.optimizer - 6);
    }
    assert_near(gathered_parameter_bytes(PRECISION_FP8), 2);
    assert_near(gathered_parameter_bytes(PRECISION_FP32), 4);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(latent_projections_down_are_whole),
        cmocka_unit_test(a_bias_is_no_table),
        cmocka_unit_test(the_largest_stage_counts),
        cmocka_unit_test(precision_decides_the_bytes),
    };
    return unit_test_main("planner/plan_shape", tests, COUNT_OF(tests));
}
