/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/communication_model.h"
#include "planner/efficiency_catalogue.h"
#include "tests/support/planner_fixture.h"
#include <math.h>

#define LARGE 64e9 /* bytes: latency vanishes */
#define NEAR 0.005

struct bench {
    struct planner_fixture fixture;
    struct plan_context context;
};

static void bench_init(struct bench *bench, const char *cluster)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (planner_fixture_init(&bench->fixture, "llama3-8b", cluster, NULL, &err) < 0 ||
        plan_context_init(&bench->context, &bench->fixture.request, &err) < 0)
        fail_msg("%s", err.text);
}

static void bench_done(struct bench *bench)
{
    plan_context_done(&bench->context);
    planner_fixture_done(&bench->fixture);
}

static void assert_seconds(double seconds, double expected)
{
    if (seconds < expected * (1 - NEAR) || seconds > expected * (1 + NEAR))
        fail_msg("%g s, expected %g s", seconds, expected);
}

static const struct group_span in_node = {
    .size = 8, .per_node = 8, .per_domain = 8, .nodes = 1, .tier = DISTANCE_SAME_NODE};
static const struct group_span across = {
    .size = 32, .per_node = 8, .per_domain = 8, .nodes = 4, .tier = 0};
static const struct group_span one_each = {
    .size = 4, .per_node = 1, .per_domain = 1, .nodes = 4, .tier = 0};

/* What is left of the NIC's rate where four nodes' collectives meet: two doublings. */
static double shared_rate(const struct plan_context *context)
{
    return context->network_bytes_per_second / (1 + 2 * context->network->doubling_loss);
}

static void rings_move_their_volumes(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "dgx-h100:4");
    const struct plan_context *context = &bench.context;
    double inside = context->nvlink_bytes_per_second, outside = shared_rate(context);
    assert_seconds(collective_seconds(context, &in_node, COLLECTIVE_ALL_REDUCE, LARGE),
                   2 * 7.0 / 8 * LARGE / inside);
    assert_seconds(collective_seconds(context, &in_node, COLLECTIVE_ALL_GATHER, LARGE),
                   7.0 / 8 * LARGE / inside);
    assert_seconds(collective_seconds(context, &one_each, COLLECTIVE_ALL_REDUCE, LARGE),
                   2 * 3.0 / 4 * LARGE / outside);
    assert_seconds(collective_seconds(context, &across, COLLECTIVE_ALL_REDUCE, LARGE),
                   2 * 7.0 / 8 * LARGE / inside + 2 * 3.0 / 4 * LARGE / 8 / outside);
    assert_seconds(collective_seconds(context, &across, COLLECTIVE_ALL_TO_ALL, LARGE),
                   7.0 / 32 * LARGE / inside + 24.0 / 32 * LARGE / outside);
    assert_seconds(collective_seconds(context, &one_each, COLLECTIVE_SEND, LARGE),
                   LARGE / context->network_bytes_per_second);
    bench_done(&bench);
}

/* To 8 experts over 4 nodes a token reaches 3 (1 - (3/4)^8) other nodes, not 6. */
static void dispatch_crosses_once_for_a_node(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "dgx-h100:4");
    const struct plan_context *context = &bench.context;
    double reached = 3 * (1 - pow(0.75, 8));
    assert_seconds(dispatch_seconds(context, &across, 8, LARGE),
                   7.0 / 8 * LARGE / context->nvlink_bytes_per_second +
                       reached / 8 * LARGE / shared_rate(context));
    assert_true(dispatch_seconds(context, &in_node, 8, LARGE) <=
                collective_seconds(context, &in_node, COLLECTIVE_ALL_TO_ALL, LARGE) * (1 + NEAR));
    struct group_span one = {.size = 1, .per_node = 1, .per_domain = 1, .nodes = 1};
    assert_true(dispatch_seconds(context, &one, 8, LARGE) == 0);
    bench_done(&bench);
}

static void alone_costs_nothing(void **state)
{
    (void)state;
    struct bench bench;
    struct group_span one = {.size = 1, .per_node = 1, .per_domain = 1, .nodes = 1};
    bench_init(&bench, "dgx-h100:4");
    assert_true(collective_seconds(&bench.context, &one, COLLECTIVE_ALL_REDUCE, LARGE) == 0);
    bench_done(&bench);
}

static void small_messages_cost_latency(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "dgx-h100:4");
    /* LL: base 6.6 us and 14 hops of 0.6 us (NCCL's tuning table). */
    assert_seconds(collective_seconds(&bench.context, &in_node, COLLECTIVE_ALL_REDUCE, 8),
                   6.6e-6 + 14 * 0.6e-6);
    /* Trees between nodes: 2 log2(4) hops of 2.7 us. */
    assert_seconds(collective_seconds(&bench.context, &one_each, COLLECTIVE_ALL_REDUCE, 8),
                   6.6e-6 + 4 * 2.7e-6);
    bench_done(&bench);
}

static void nodes_without_nvlink_use_pcie(void **state)
{
    (void)state;
    struct bench bench;
    struct group_span pcie = in_node;
    pcie.per_domain = 1;
    bench_init(&bench, "l40s-pcie:2");
    assert_seconds(collective_seconds(&bench.context, &pcie, COLLECTIVE_ALL_GATHER, LARGE),
                   7.0 / 8 * LARGE / bench.context.pcie_bytes_per_second);
    bench_done(&bench);
}

static void a_mesh_uses_the_groups_links_only(void **state)
{
    (void)state;
    struct bench bench;
    struct group_span pair = {
        .size = 2, .per_node = 2, .per_domain = 2, .nodes = 1, .tier = DISTANCE_SAME_NODE};
    bench_init(&bench, "mi300x:1");
    double two = collective_seconds(&bench.context, &pair, COLLECTIVE_ALL_GATHER, LARGE);
    double eight = collective_seconds(&bench.context, &in_node, COLLECTIVE_ALL_GATHER, LARGE);
    /* One of seven links: (1/2) / (1/7) against (7/8) / 1. */
    assert_seconds(two / eight, (0.5 * 7) / (7.0 / 8));
    bench_done(&bench);
}

static void context_ranks_reduce_with_dp(void **state)
{
    (void)state;
    struct bench bench;
    struct plan plan = {.degrees = DEGREES_ONE};
    struct plan_spans spans;
    bench_init(&bench, "dgx-h100:4");
    plan.degrees.cp = 4;
    plan.degrees.dp = plan.degrees.shard = 8;
    plan_spans_of(&bench.context, &plan, &spans);
    assert_int_equal(spans.of[GROUP_STATES].size, 32);
    assert_int_equal(spans.of[GROUP_STATES].per_node, 8);
    assert_int_equal(spans.of[GROUP_STATE_SHARD].size, 32);
    assert_int_equal(spans.of[GROUP_DP].size, 8);
    bench_done(&bench);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_move_their_volumes),
        cmocka_unit_test(dispatch_crosses_once_for_a_node),
        cmocka_unit_test(alone_costs_nothing),
        cmocka_unit_test(small_messages_cost_latency),
        cmocka_unit_test(nodes_without_nvlink_use_pcie),
        cmocka_unit_test(a_mesh_uses_the_groups_links_only),
        cmocka_unit_test(context_ranks_reduce_with_dp),
    };
    return unit_test_main("planner/communication_model", tests, COUNT_OF(tests));
}
