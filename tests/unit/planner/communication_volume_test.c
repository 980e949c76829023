/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/sizes/communication_volume.h"

#define EXACT 1e-12

/* Small round numbers, so that every figure is worked out by hand. */
static const struct model_spec model = {.layers = 16,
                                        .hidden = 100,
                                        .heads = 10,
                                        .kv_heads = 2,
                                        .head_dim = 10,
                                        .ffn = 400,
                                        .vocabulary = 1000,
                                        .experts = 8,
                                        .experts_per_token = 2,
                                        .expert_ffn = 50};
static const struct model_parameters counts = {0};
static const struct framework_profile split = {
    .parameter_bytes = 2, .gradient_bytes = 4, .optimizer_bytes = 12, .sequence_parallel = true};
static const struct framework_profile plain = {
    .parameter_bytes = 2, .gradient_bytes = 4, .optimizer_bytes = 12};
static const struct training_spec training = {.sequence_length = 1000, .trainable = 1};

/* tp 4, cp 2, pp 2, dp 8, in two shard groups; micro batch 3, 7 of them. */
static const struct plan base = {.degrees = {4, 2, 1, 4, 2, 5, 8, 4, 2},
                                 .sharding = SHARDING_HSDP,
                                 .precision = PRECISION_BF16,
                                 .micro_batch = 3,
                                 .micro_batches = 7};

static void expect(const struct exchange_list *list, unsigned at, enum group_dimension group,
                   enum collective collective, double bytes, double count)
{
    assert_true(at < list->count);
    const struct exchange *exchange = &list->of[at];
    assert_int_equal(exchange->group, group);
    assert_int_equal(exchange->collective, collective);
    if (exchange->bytes < bytes * (1 - EXACT) || exchange->bytes > bytes * (1 + EXACT) ||
        exchange->count < count * (1 - EXACT) || exchange->count > count * (1 + EXACT))
        fail_msg("%g bytes %g times, expected %g and %g", exchange->bytes, exchange->count, bytes,
                 count);
}

static void tensor_parallelism_gathers_twice(void **state)
{
    (void)state;
    struct plan plan = base;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct exchange_list list;
    const double message = 2.0 * 1500 * 100;
    tensor_exchanges(&shape, false, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, GROUP_TP, COLLECTIVE_ALL_GATHER, message, 8);
    plan.recompute = RECOMPUTE_FULL;
    shape.profile = &plain;
    tensor_exchanges(&shape, false, &list);
    expect(&list, 0, GROUP_TP, COLLECTIVE_ALL_REDUCE, message, 6);
}

/* Only attention's exchanges without shared experts; the experts' own with ETP. */
static void expert_layers_talk_half(void **state)
{
    (void)state;
    struct plan plan = base;
    struct model_spec shared = model;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct exchange_list list;
    tensor_exchanges(&shape, true, &list);
    assert_int_equal(list.count, 2);
    expect(&list, 0, GROUP_TP, COLLECTIVE_ALL_GATHER, 2.0 * 1500 * 100, 4);
    expect(&list, 1, GROUP_ETP, COLLECTIVE_ALL_GATHER, 2.0 * 1500 * 100 * 2 / 4 * 4, 4);
    plan.degrees.etp = 1;
    shared.shared_experts = 1;
    shape.model = &shared;
    tensor_exchanges(&shape, true, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, GROUP_TP, COLLECTIVE_ALL_GATHER, 2.0 * 1500 * 100, 8);
}

/* Without sequence parallelism every TP rank sends all its tokens. */
static void tokens_are_split_with_the_sequence(void **state)
{
    (void)state;
    struct plan plan = base;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct exchange_list list;
    expert_exchanges(&shape, &list);
    assert_int_equal(list.count, 0);
    plan.degrees.etp = 1;
    plan.degrees.ep = 4;
    expert_exchanges(&shape, &list);
    expect(&list, 0, GROUP_EP, COLLECTIVE_ALL_TO_ALL, 2.0 * 1500 / 4 * 100 * 2, 4);
    shape.profile = &plain;
    expert_exchanges(&shape, &list);
    expect(&list, 0, GROUP_EP, COLLECTIVE_ALL_TO_ALL, 2.0 * 1500 * 100 * 2, 4);
}

static void rings_and_pipelines_send(void **state)
{
    (void)state;
    struct plan plan = base;
    struct model_spec latent = model;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct exchange_list list;
    context_exchanges(&shape, &list);
    expect(&list, 0, GROUP_CP, COLLECTIVE_SEND, 2.0 * 1500 * 40 / 4, 3);
    pipeline_exchanges(&shape, &list);
    expect(&list, 0, GROUP_PP, COLLECTIVE_SEND, 2.0 * 1500 * 100 / 4, 10);
    plan.recompute = RECOMPUTE_FULL;
    plan.precision = PRECISION_FP32;
    latent.attention = ATTENTION_LATENT;
    latent.qk_nope_head_dim = 8;
    latent.qk_rope_head_dim = 4;
    latent.v_head_dim = 6;
    shape.model = &latent;
    context_exchanges(&shape, &list);
    expect(&list, 0, GROUP_CP, COLLECTIVE_SEND, 4.0 * 1500 * 10 * 18 / 4, 4);
}

struct state_case {
    enum sharding sharding;
    unsigned pp, shard;
    double reduces, gathers; /* over the shard group */
    bool replicas;
};

static const struct state_case state_cases[] = {
    {SHARDING_ZERO1, 1, 8, 1, 1, false},  {SHARDING_ZERO1, 2, 4, 1, 1, true},
    {SHARDING_ZERO2, 1, 8, 7, 1, false},  {SHARDING_ZERO2, 1, 2, 7, 1, true},
    {SHARDING_ZERO3, 1, 8, 7, 14, false}, {SHARDING_ZERO3, 2, 8, 7, 1, false},
    {SHARDING_HSDP, 1, 4, 7, 14, true},   {SHARDING_HSDP, 2, 4, 7, 1, true},
};

/* 1000 parameters, 4 bytes of gradient each, 2 gathered; CP ranks share the states. */
static void sharding_decides_what_repeats(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(state_cases); i++) {
        const struct state_case *test = &state_cases[i];
        struct plan plan = base;
        struct plan_shape shape = {&plan, &model, &counts, &split, &training};
        struct exchange_list list;
        plan.sharding = test->sharding;
        plan.degrees.pp = test->pp;
        plan.degrees.shard = test->shard;
        plan.degrees.replicate = 8 / test->shard;
        state_exchanges(&shape, STATES_DENSE, 1000, &list);
        assert_int_equal(list.count, test->replicas ? 3 : 2);
        expect(&list, 0, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 4000, test->reduces);
        expect(&list, 1, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 2000, test->gathers);
        if (test->replicas)
            expect(&list, 2, GROUP_REPLICATE, COLLECTIVE_ALL_REDUCE, 4000.0 / (test->shard * 2), 1);
    }
}

static void replicas_reduce_everything(void **state)
{
    (void)state;
    struct plan plan = base;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct exchange_list list;
    plan.sharding = SHARDING_NONE;
    plan.degrees.shard = 1;
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, GROUP_STATES, COLLECTIVE_ALL_REDUCE, 4000, 1);
    plan.precision = PRECISION_FP16; /* gradients of 2 bytes, as memory counts them */
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    expect(&list, 0, GROUP_STATES, COLLECTIVE_ALL_REDUCE, 2000, 1);
}

/* etp 1, ep 8: EDP 8, of which half is a shard group, as of the 8 replicas. */
static void experts_shard_as_wide_as_memory_says(void **state)
{
    (void)state;
    struct plan plan = base;
    struct plan_shape shape = {&plan, &model, &counts, &split, &training};
    struct rank_parameters widths;
    struct exchange_list list;
    plan.degrees.etp = 1;
    plan.degrees.ep = 8;
    rank_shard_widths(&plan, &widths);
    assert_true(widths.expert > 3.999 && widths.expert < 4.001);
    state_exchanges(&shape, STATES_EXPERT, 1000, &list);
    assert_int_equal(list.count, 3);
    expect(&list, 0, GROUP_EXPERT_SHARD, COLLECTIVE_ALL_GATHER, 4000, 7);
    expect(&list, 2, GROUP_EXPERT_REPLICATE, COLLECTIVE_ALL_REDUCE, 1000, 1);
    assert_int_equal(group_size(&plan.degrees, GROUP_EXPERT_SHARD), 4);
    assert_int_equal(group_size(&plan.degrees, GROUP_EXPERT_REPLICATE), 2);
    plan.degrees.ep = 64; /* as wide as the job: one copy, nothing to share */
    assert_int_equal(group_size(&plan.degrees, GROUP_EXPERT_SHARD), 1);
}

/* ZeRO-1 and 2 gather what was updated; a sharded model is gathered whole. */
static void frozen_parameters_send_no_gradients(void **state)
{
    (void)state;
    struct plan plan = base;
    struct training_spec share = training;
    struct plan_shape shape = {&plan, &model, &counts, &split, &share};
    struct exchange_list list;
    share.trainable = 0.25;
    plan.sharding = SHARDING_ZERO1;
    plan.degrees.shard = 8;
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    expect(&list, 0, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 1000, 1);
    expect(&list, 1, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 500, 1);
    plan.sharding = SHARDING_ZERO3;
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    expect(&list, 1, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 2000, 1);
    share.trainable = 0; /* then nothing but the model itself moves */
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    assert_int_equal(list.count, 1);
    expect(&list, 0, GROUP_STATE_SHARD, COLLECTIVE_ALL_GATHER, 2000, 1);
    plan.sharding = SHARDING_NONE;
    state_exchanges(&shape, STATES_DENSE, 1000, &list);
    assert_int_equal(list.count, 0);
}

static void rings_leave_a_share(void **state)
{
    (void)state;
    const struct degrees degrees = {4, 2, 1, 4, 2, 1, 1, 1, 1};
    const struct exchange_list list = {{{GROUP_TP, COLLECTIVE_ALL_REDUCE, 100, 2},
                                        {GROUP_TP, COLLECTIVE_ALL_GATHER, 100, 1},
                                        {GROUP_TP, COLLECTIVE_ALL_TO_ALL, 100, 1},
                                        {GROUP_CP, COLLECTIVE_SEND, 100, 3}},
                                       4};
    double bytes = exchange_rank_bytes(&list, &degrees);
    assert_true(bytes > 749.999 && bytes < 750.001); /* 300 + 75 + 75 + 300 */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_parallelism_gathers_twice),
        cmocka_unit_test(expert_layers_talk_half),
        cmocka_unit_test(tokens_are_split_with_the_sequence),
        cmocka_unit_test(rings_and_pipelines_send),
        cmocka_unit_test(sharding_decides_what_repeats),
        cmocka_unit_test(replicas_reduce_everything),
        cmocka_unit_test(experts_shard_as_wide_as_memory_says),
        cmocka_unit_test(frozen_parameters_send_no_gradients),
        cmocka_unit_test(rings_leave_a_share),
    };
    return unit_test_main("planner/communication_volume", tests, COUNT_OF(tests));
}
