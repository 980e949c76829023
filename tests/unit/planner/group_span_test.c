/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/group_span.h"
#include "tests/support/planner_fixture.h"
#include <string.h>

struct span_case {
    const char *cluster;
    struct degrees degrees;
    enum rank_order order;
    enum group_dimension dimension;
    struct group_span span; /* size, per_node, per_domain, nodes, tier */
};

#define D(tp_, cp_, pp_, dp_)                                                                      \
    {                                                                                              \
        .tp = tp_, .cp = cp_, .ep = 1, .etp = tp_, .pp = pp_, .vpp = 1, .dp = dp_, .shard = dp_,   \
        .replicate = 1                                                                             \
    }

static const struct span_case cases[] = {
    /* 8x8, tp 8, pp 4, dp 2: TP in a node, PP over four near nodes, DP outermost. */
    {"dgx-h100:8", D(8, 1, 4, 2), ORDER_TP_CP_EP_DP_PP, GROUP_TP, {8, 8, 8, 1, -2}},
    {"dgx-h100:8", D(8, 1, 4, 2), ORDER_TP_CP_EP_DP_PP, GROUP_PP, {4, 1, 1, 4, 0}},
    {"dgx-h100:8", D(8, 1, 4, 2), ORDER_TP_CP_EP_DP_PP, GROUP_DP, {2, 1, 1, 2, 0}},
    /* 512 nodes of 32 in a leaf: PP stays in the leaf, DP crosses the spine. */
    {"dgx-h100:512", D(8, 1, 16, 32), ORDER_TP_CP_EP_DP_PP, GROUP_PP, {16, 1, 1, 16, 0}},
    {"dgx-h100:512", D(8, 1, 16, 32), ORDER_TP_CP_EP_DP_PP, GROUP_DP, {32, 1, 1, 32, 1}},
    /* tp 2: DP takes the rest of the node in the default order, PP in the other. */
    {"dgx-h100:4", D(2, 1, 4, 4), ORDER_TP_CP_EP_DP_PP, GROUP_DP, {4, 4, 4, 1, -2}},
    {"dgx-h100:4", D(2, 1, 4, 4), ORDER_TP_CP_EP_DP_PP, GROUP_PP, {4, 1, 1, 4, 0}},
    {"dgx-h100:4", D(2, 1, 4, 4), ORDER_TP_CP_EP_PP_DP, GROUP_PP, {4, 4, 4, 1, -2}},
    {"dgx-h100:4", D(2, 1, 4, 4), ORDER_TP_CP_EP_PP_DP, GROUP_DP, {4, 1, 1, 4, 0}},
    {"dgx-h100:4", D(1, 16, 1, 2), ORDER_TP_CP_EP_DP_PP, GROUP_CP, {16, 8, 8, 2, 0}},
    /* Trays of 4, one domain of 72: TP 8 takes two trays and stays on NVLink. */
    {"gb200-nvl72:18", D(8, 1, 1, 9), ORDER_TP_CP_EP_DP_PP, GROUP_TP, {8, 4, 8, 2, -1}},
    {"gb200-nvl72:18", D(8, 1, 1, 9), ORDER_TP_CP_EP_DP_PP, GROUP_DP, {9, 1, 9, 9, -1}},
    /* Bridged pairs: four GPUs of a group share a node, two a domain. */
    {"a6000-pairs:2", D(4, 1, 1, 4), ORDER_TP_CP_EP_DP_PP, GROUP_TP, {4, 4, 2, 1, -2}},
    /* No NVLink. */
    {"l40s-pcie:2", D(8, 1, 1, 2), ORDER_TP_CP_EP_DP_PP, GROUP_TP, {8, 8, 1, 1, -2}},
    /* TP 6 of 8 straddles nodes: pairs are the largest equal parts. */
    {"dgx-h100:3", D(6, 1, 1, 4), ORDER_TP_CP_EP_DP_PP, GROUP_TP, {6, 2, 2, 3, 0}},
};

static void spans_are_where_the_model_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct span_case *test = &cases[i];
        struct planner_fixture fixture;
        struct error_info err = {.kind = ERROR_NONE};
        struct group_span span;
        if (planner_fixture_init(&fixture, "llama3-8b", test->cluster, NULL, &err) < 0)
            fail_msg("%s", err.text);
        group_span_of(fixture.cluster, 0, &test->degrees, test->order, test->dimension, &span,
                      &err);
        planner_fixture_done(&fixture);
        if (memcmp(&span, &test->span, sizeof(span)) != 0)
            fail_msg("case %zu (%s): size %u per_node %u per_domain %u nodes %u tier %d", i,
                     test->cluster, span.size, span.per_node, span.per_domain, span.nodes,
                     span.tier);
    }
}

static void narrow_shards_stay_near(void **state)
{
    (void)state;
    struct planner_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    struct group_span shard, replicas;
    struct degrees degrees = D(1, 1, 1, 512);
    degrees.shard = 64;
    degrees.replicate = 8;
    if (planner_fixture_init(&fixture, "llama3-8b", "dgx-h100:64", NULL, &err) < 0)
        fail_msg("%s", err.text);
    group_span_of(fixture.cluster, 0, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_SHARD, &shard, &err);
    group_span_of(fixture.cluster, 0, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_DP, &replicas, &err);
    assert_int_equal(shard.nodes, 8);
    assert_int_equal(shard.tier, 0);
    assert_int_equal(replicas.nodes, 64);
    assert_int_equal(replicas.tier, 1);
    planner_fixture_done(&fixture);
}

static void experts_regrid_a_stage(void **state)
{
    (void)state;
    struct planner_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    struct group_span experts, copies;
    struct degrees degrees = D(2, 1, 2, 16);
    degrees.ep = 8;
    degrees.etp = 1;
    if (planner_fixture_init(&fixture, "mixtral-8x7b", "dgx-h100:8", NULL, &err) < 0)
        fail_msg("%s", err.text);
    group_span_of(fixture.cluster, 0, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_EP, &experts, &err);
    group_span_of(fixture.cluster, 0, &degrees, ORDER_TP_CP_EP_DP_PP, GROUP_EDP, &copies, &err);
    assert_int_equal(experts.per_node, 8);
    assert_int_equal(experts.tier, DISTANCE_SAME_NODE);
    assert_int_equal(copies.size, 4);
    assert_int_equal(copies.nodes, 4);
    planner_fixture_done(&fixture);
}

static void fewer_gpus_per_node_shrink_the_shape(void **state)
{
    (void)state;
    struct planner_fixture fixture;
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_shape shape;
    if (planner_fixture_init(&fixture, "llama3-8b", "gb200-nvl72:18", NULL, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(cluster_shape_of(fixture.cluster, 2, &shape, &err), 0);
    assert_int_equal(shape.gpus_per_node, 2);
    assert_int_equal(shape.domain_gpus, 36);
    assert_true(shape.domain_known);
    planner_fixture_done(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_where_the_model_says),
        cmocka_unit_test(narrow_shards_stay_near),
        cmocka_unit_test(experts_regrid_a_stage),
        cmocka_unit_test(fewer_gpus_per_node_shrink_the_shape),
    };
    return unit_test_main("planner/group_span", tests, COUNT_OF(tests));
}
