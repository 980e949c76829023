/* SPDX-License-Identifier: MIT */
#include "mapping/solver/flow_weights.h"
#include "tests/support/unit_test.h"

/* 4 * 2 * 2 * 2 ranks. */
static const struct degrees degrees = {4, 2, 4, 1, 2, 1, 2, 1, 2};
static const struct link_seconds seconds = {
    .slot_count = 4, .collective = {1, 1, 2, 4}, .message = {1, 1, 3, 8}};
static const struct traffic traffic = {
    .flows = {{TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 1000, 1},
              {TRAFFIC_EP, GROUP_EP, PAIRS_ALL, false, 80, 0.5},
              {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 10, 0.25}},
    .flow_count = 3,
};

static void near(double value, double expected, double share)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static void turns_seconds_into_integers(void **state)
{
    (void)state;
    struct flow_weights weights;
    flow_weights_of(&traffic, &seconds, &degrees, ORDER_TP_CP_EP_DP_PP, &weights);
    assert_int_equal(weights.flow_count, 3);
    assert_int_equal(weights.slot_count, 4);
    for (unsigned f = 0; f < 3; f++)
        for (unsigned slot = 0; slot < 4; slot++) {
            const struct traffic_flow *flow = &traffic.flows[f];
            double each = flow->is_message ? seconds.message[slot] : seconds.collective[slot];
            double expected = flow->exposed * flow->pair_bytes * each / 32; /* a mean over ranks */
            near((double)weights.weights[f][slot] * weights.unit_seconds, expected, 1e-9);
        }
}

static void says_whose_pairs(void **state)
{
    (void)state;
    struct flow_weights weights;
    flow_weights_of(&traffic, &seconds, &degrees, ORDER_TP_CP_EP_DP_PP, &weights);
    for (unsigned f = 0; f < 3; f++) {
        struct group_line line =
            group_line_of(&degrees, ORDER_TP_CP_EP_DP_PP, traffic.flows[f].group);
        assert_int_equal(weights.groups[f], traffic.flows[f].group);
        assert_int_equal(weights.patterns[f], traffic.flows[f].pattern);
        assert_int_equal(weights.lines[f].stride, line.stride);
        assert_int_equal(weights.lines[f].size, line.size);
    }
    flow_weights_of(&traffic, &seconds, &degrees, ORDER_TP_CP_EP_PP_DP, &weights);
    assert_int_equal(weights.lines[2].stride, 8); /* stages side by side */
}

/* Every pair on the farthest link: near 2^48, so sums of it stay far from 2^64. */
static void keeps_sums_far_from_the_end(void **state)
{
    (void)state;
    struct flow_weights weights;
    flow_weights_of(&traffic, &seconds, &degrees, ORDER_TP_CP_EP_DP_PP, &weights);
    double pairs[] = {32, 32 * 3 / 2.0, 32}, sum = 0;
    for (unsigned f = 0; f < 3; f++)
        sum += pairs[f] * (double)weights.weights[f][3];
    near(sum, 0x1p48, 1e-9);
}

static void weighs_nothing_without_traffic(void **state)
{
    (void)state;
    const struct traffic none = {.flow_count = 0};
    struct flow_weights weights;
    flow_weights_of(&none, &seconds, &degrees, ORDER_TP_CP_EP_DP_PP, &weights);
    assert_int_equal(weights.flow_count, 0);
    assert_true(weights.unit_seconds > 0);
    struct traffic hidden = traffic;
    for (unsigned f = 0; f < 3; f++)
        hidden.flows[f].exposed = 0;
    flow_weights_of(&hidden, &seconds, &degrees, ORDER_TP_CP_EP_DP_PP, &weights);
    for (unsigned f = 0; f < 3; f++)
        assert_int_equal(weights.weights[f][3], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(turns_seconds_into_integers),
    cmocka_unit_test(says_whose_pairs),
    cmocka_unit_test(keeps_sums_far_from_the_end),
    cmocka_unit_test(weighs_nothing_without_traffic),
};

int main(void) { return unit_test_main("mapping/solver/flow_weights", tests, COUNT_OF(tests)); }
