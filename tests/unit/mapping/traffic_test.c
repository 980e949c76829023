/* SPDX-License-Identifier: MIT */
#include "mapping/traffic.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define SEQUENCE 1000u

/* Small round numbers: 16 layers of hidden 100, so that every figure is worked out by hand. */
static const struct model_spec dense = {.name = "dense",
                                        .layers = 16,
                                        .hidden = 100,
                                        .heads = 10,
                                        .kv_heads = 2,
                                        .head_dim = 10,
                                        .ffn = 400,
                                        .vocabulary = 1000,
                                        .norms_per_layer = 2,
                                        .final_norm = true};
static const struct framework_profile profile = {
    .name = "test", .parameter_bytes = 2, .gradient_bytes = 4, .sequence_parallel = true};
static const struct framework_profile plain = {
    .name = "test", .parameter_bytes = 2, .gradient_bytes = 4};

static struct model_spec experts_of(struct model_spec model)
{
    model.experts = 8;
    model.experts_per_token = 2;
    model.expert_ffn = 50;
    model.dense_layers = 4;
    model.gated_mlp = true;
    return model;
}

static void near(double value, double expected)
{
    if (value < expected * (1 - 1e-9) || value > expected * (1 + 1e-9))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static void expect(const struct plan *plan, const struct model_spec *model,
                   const struct framework_profile *framework, enum traffic_dimension dimension,
                   double expected)
{
    const struct training_spec training = {.sequence_length = SEQUENCE, .trainable = 1};
    struct traffic traffic;
    traffic_of_plan(plan, model, framework, &training, &traffic);
    double bytes = traffic_rank_bytes(&traffic, &plan->degrees, dimension);
    if (expected <= 0)
        assert_true(bytes <= 0);
    else
        near(bytes, expected);
}

static void follows_the_formulas(void **state)
{
    (void)state;
    const double message = 2.0 * SEQUENCE * 3 * 100; /* 2 s b h, micro batch 3 */
    struct plan plan = {.degrees = {4, 2, 1, 4, 8, 2, 5, 1, 5},
                        .precision = PRECISION_BF16,
                        .micro_batch = 3,
                        .micro_batches = 7};
    expect(&plan, &dense, &profile, TRAFFIC_TP, 7 * 2 * 4 * (2 * 3.0 / 4) * message / 2);
    expect(&plan, &dense, &profile, TRAFFIC_CP, 7 * 2 * 3 * (1.0 / 2) * 2.0 * 3000 * 40 / 4);
    expect(&plan, &dense, &profile, TRAFFIC_PP, 7 * 2 * 2 * message / (2 * 4));
    expect(&plan, &dense, &plain, TRAFFIC_PP, 7 * 2 * 2 * message / 2);
    expect(&plan, &dense, &profile, TRAFFIC_EP, 0);
    plan.recompute = RECOMPUTE_FULL;
    expect(&plan, &dense, &profile, TRAFFIC_TP, 7 * 2 * 6 * (2 * 3.0 / 4) * message / 2);
    expect(&plan, &dense, &profile, TRAFFIC_CP, 7 * 2 * 4 * (1.0 / 2) * 2.0 * 3000 * 40 / 4);
    plan.precision = PRECISION_FP32;
    expect(&plan, &dense, &profile, TRAFFIC_TP, 2 * 7 * 2 * 6 * (2 * 3.0 / 4) * message / 2);
    plan.degrees = DEGREES_ONE;
    for (unsigned d = 0; d < TRAFFIC_DIMENSION_COUNT; d++)
        expect(&plan, &dense, &profile, (enum traffic_dimension)d, 0);
}

/* As a rank holds them: the table is padded to 128 t rows and stands at both ends. */
static double mean_parameters(const struct model_parameters *count, unsigned tp, unsigned pp)
{
    double rows = (dense.vocabulary + 128.0 * tp - 1);
    double table = (rows - (double)((unsigned)rows % (128 * tp))) * dense.hidden / tp;
    double layer = (double)(count->attention + count->dense_mlp) / tp + (double)count->norms;
    return (16 * layer + 2 * table + (double)count->final_norm) / pp;
}

static void weighs_sharding(void **state)
{
    (void)state;
    struct model_parameters count;
    assert_int_equal(model_parameters_count(&dense, &count, NULL), 0);
    /* cp 2, dp 4: 8 ranks hold the same parameters. */
    static const struct {
        enum sharding sharding;
        unsigned pp, shard;
        double bytes; /* of one parameter */
    } rows[] = {
        {SHARDING_NONE, 2, 1, 2 * 7.0 / 8 * 4},
        {SHARDING_ZERO1, 2, 4, 7.0 / 8 * 6},
        {SHARDING_ZERO2, 2, 4, 7.0 / 8 * (3 * 4 + 2)},
        {SHARDING_ZERO3, 1, 4, 3 * 7.0 / 8 * 8},
        {SHARDING_ZERO3, 2, 4, 7.0 / 8 * (3 * 4 + 2)},
        {SHARDING_HSDP, 1, 2, 3 * 3.0 / 4 * 8 + 2 * 0.5 * 4 / 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct plan plan = {
            .degrees = {4, 2, 1, 4, rows[i].pp, 1, 4, rows[i].shard, 4 / rows[i].shard},
            .sharding = rows[i].sharding,
            .precision = PRECISION_BF16,
            .micro_batch = 1,
            .micro_batches = 3};
        expect(&plan, &dense, &profile, TRAFFIC_DP,
               rows[i].bytes * mean_parameters(&count, 4, rows[i].pp));
    }
}

static void sends_tokens_to_experts(void **state)
{
    (void)state;
    const struct model_spec model = experts_of(dense);
    struct model_parameters count;
    assert_int_equal(model_parameters_count(&model, &count, NULL), 0);
    /* tp 2, dp 8, ep 4: 12 MoE layers, 2 experts per token; edp 4. */
    const struct plan plan = {.degrees = {2, 1, 4, 1, 1, 1, 8, 1, 8},
                              .precision = PRECISION_BF16,
                              .micro_batch = 1,
                              .micro_batches = 1};
    expect(&plan, &model, &profile, TRAFFIC_EP, 12 * 4 * 0.75 * 2.0 * 1000 * 2 / 2 * 100);
    /* Attention talks in all 16 layers, the MLP in the 4 dense ones. */
    expect(&plan, &model, &profile, TRAFFIC_TP, (4 * 8 + 12 * 4) * 0.5 * 2.0 * 1000 * 100);
    /* The table's 1000 rows are padded to 1024. */
    double layers = 16 * (double)count.attention + 4 * (double)count.dense_mlp;
    double rest = layers / 2 + 1024 * 100 + 16 * (double)count.norms + 12 * (double)count.router +
                  (double)count.final_norm;
    double experts = 12 * (double)count.experts / 4;
    expect(&plan, &model, &profile, TRAFFIC_DP, 2 * 7.0 / 8 * 4 * rest + 2 * 3.0 / 4 * 4 * experts);
}

static void hands_on_latent_attention(void **state)
{
    (void)state;
    struct model_spec model = dense;
    model.attention = ATTENTION_LATENT;
    model.kv_lora_rank = 16;
    model.qk_nope_head_dim = 8;
    model.qk_rope_head_dim = 4;
    model.v_head_dim = 6;
    const struct plan plan = {.degrees = {1, 2, 1, 1, 1, 1, 1, 1, 1},
                              .precision = PRECISION_BF16,
                              .micro_batch = 1,
                              .micro_batches = 1};
    expect(&plan, &model, &profile, TRAFFIC_CP, 16 * 3 * 0.5 * 2.0 * 1000 * 10 * (8 + 4 + 6));
}

static void names_its_dimensions(void **state)
{
    (void)state;
    static const char *const names[] = {"tp", "cp", "ep", "pp", "dp"};
    for (unsigned d = 0; d < TRAFFIC_DIMENSION_COUNT; d++)
        assert_string_equal(traffic_dimension_name((enum traffic_dimension)d), names[d]);
    assert_string_equal(traffic_dimension_name(TRAFFIC_DIMENSION_COUNT), "unknown");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(follows_the_formulas),    cmocka_unit_test(weighs_sharding),
    cmocka_unit_test(sends_tokens_to_experts), cmocka_unit_test(hands_on_latent_attention),
    cmocka_unit_test(names_its_dimensions),
};

int main(void) { return unit_test_main("mapping/traffic", tests, COUNT_OF(tests)); }
