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

static void expect_flows(const char *name, const struct traffic *traffic,
                         const struct traffic_flow *flows)
{
    unsigned count = 0;
    while (count < TRAFFIC_FLOWS_MAXIMUM && flows[count].pair_bytes > 0)
        count++;
    if (traffic->flow_count != count)
        fail_msg("%s: %u flows instead of %u", name, traffic->flow_count, count);
    for (unsigned f = 0; f < count; f++) {
        const struct traffic_flow *got = &traffic->flows[f], *want = &flows[f];
        if (got->dimension != want->dimension || got->group != want->group ||
            got->pattern != want->pattern || got->is_message != want->is_message)
            fail_msg("%s: flow %u: %s, group %d, pattern %d, message %d", name, f,
                     traffic_dimension_name(got->dimension), (int)got->group, (int)got->pattern,
                     got->is_message);
        near(got->pair_bytes, want->pair_bytes);
        near(got->exposed, want->exposed);
    }
}

#define TP_FLOW                                                                                    \
    {                                                                                              \
        TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 10000, 1                                          \
    }

static const struct {
    const char *name;
    struct degrees degrees;
    enum sharding sharding;
    struct traffic_flow flows[TRAFFIC_FLOWS_MAXIMUM];
} rules[] = {
    {.name = "one rank", .degrees = {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {.name = "TP, PP and DP",
     .degrees = {8, 1, 1, 8, 4, 1, 2, 1, 2},
     .flows = {TP_FLOW,
               {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 10, 1},
               {TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, 1, 1}}},
    {.name = "CP, and EP's all pairs, which weigh twice together",
     .degrees = {2, 2, 4, 1, 1, 1, 4, 1, 4},
     .flows = {TP_FLOW,
               {TRAFFIC_CP, GROUP_CP, PAIRS_RING, false, 1000, 1},
               {TRAFFIC_EP, GROUP_EP, PAIRS_ALL, false, 2000 / 3.0, 1},
               {TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, 1, 1}}},
    {.name = "HSDP: the shard group, and far behind it the replicas",
     .degrees = {1, 1, 1, 1, 2, 1, 8, 4, 2},
     .sharding = SHARDING_HSDP,
     .flows = {{TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 10, 1},
               {TRAFFIC_DP, GROUP_STATE_SHARD, PAIRS_RING, false, 100, 1},
               {TRAFFIC_DP, GROUP_REPLICATE, PAIRS_RING, false, 1, 1}}},
    {.name = "gathers of ZeRO-3",
     .degrees = {1, 1, 1, 1, 1, 1, 8, 8, 1},
     .sharding = SHARDING_ZERO3,
     .flows = {{TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, 100, 1}}},
    {.name = "not under a pipeline",
     .degrees = {1, 1, 1, 1, 2, 1, 8, 8, 1},
     .sharding = SHARDING_ZERO3,
     .flows = {{TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 10, 1},
               {TRAFFIC_DP, GROUP_DP, PAIRS_RING, false, 1, 1}}},
};

static void weighs_by_the_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        const struct plan plan = {.degrees = rules[i].degrees, .sharding = rules[i].sharding};
        struct traffic traffic;
        traffic_of_rule(&plan, &traffic);
        expect_flows(rules[i].name, &traffic, rules[i].flows);
    }
}

/* Of a plan: which groups talk in which pattern, and how much of it the step waits for. */
static void names_groups_and_patterns(void **state)
{
    (void)state;
    const struct training_spec training = {.sequence_length = SEQUENCE, .trainable = 1};
    const struct model_spec model = experts_of(dense);
    struct framework_profile hiding = profile;
    hiding.overlap_dp = 0.75;
    hiding.overlap_gather = 0.5;
    hiding.overlap_ep = 0.25;
    struct plan plan = {.degrees = {2, 1, 4, 1, 2, 1, 8, 4, 2},
                        .sharding = SHARDING_HSDP,
                        .precision = PRECISION_BF16,
                        .micro_batch = 1,
                        .micro_batches = 1};
    static const struct {
        enum traffic_dimension dimension;
        enum group_dimension group;
        enum pair_pattern pattern;
        bool is_message;
        double exposed;
    } wanted[] = {
        {TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 1},
        {TRAFFIC_EP, GROUP_EP, PAIRS_ALL, false, 0.75},
        {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 1},
        {TRAFFIC_DP, GROUP_STATE_SHARD, PAIRS_RING, false, 0.5},
        {TRAFFIC_DP, GROUP_REPLICATE, PAIRS_RING, false, 0.5},
        {TRAFFIC_DP, GROUP_EXPERT_SHARD, PAIRS_RING, false, 0.5},
        {TRAFFIC_DP, GROUP_EXPERT_REPLICATE, PAIRS_RING, false, 0.5},
    };
    struct traffic traffic;
    traffic_of_plan(&plan, &model, &hiding, &training, &traffic);
    assert_int_equal(traffic.flow_count, COUNT_OF(wanted));
    for (unsigned f = 0; f < COUNT_OF(wanted); f++) {
        const struct traffic_flow *flow = &traffic.flows[f];
        assert_int_equal(flow->dimension, wanted[f].dimension);
        assert_int_equal(flow->group, wanted[f].group);
        assert_int_equal(flow->pattern, wanted[f].pattern);
        assert_int_equal(flow->is_message, wanted[f].is_message);
        near(flow->exposed, wanted[f].exposed);
    }
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
    cmocka_unit_test(weighs_by_the_rule),      cmocka_unit_test(names_groups_and_patterns),
    cmocka_unit_test(names_its_dimensions),
};

int main(void) { return unit_test_main("mapping/traffic", tests, COUNT_OF(tests)); }
