/* SPDX-License-Identifier: MIT */
#include "mapping/solver/block_graph.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define RANKS_MAXIMUM 64u
#define CASES 60u

struct table {
    unsigned pairs[TRAFFIC_FLOWS_MAXIMUM][RANKS_MAXIMUM][RANKS_MAXIMUM];
    uint64_t inside[TRAFFIC_FLOWS_MAXIMUM];
};

static struct flow_weights weights_of(const struct degrees *degrees, enum rank_order order,
                                      enum sharding sharding)
{
    const struct plan plan = {.degrees = *degrees, .sharding = sharding};
    struct traffic traffic;
    struct link_seconds seconds;
    struct flow_weights weights;
    traffic_of_rule(&plan, &traffic);
    link_seconds_of_rule(2, &seconds);
    flow_weights_of(&traffic, &seconds, degrees, order, &weights);
    return weights;
}

static void count_ranks(const struct flow_weights *weights, const struct degrees *degrees,
                        enum rank_order order, unsigned block, struct table *ret)
{
    uint64_t world = degrees_world(degrees);
    for (unsigned f = 0; f < weights->flow_count; f++)
        for (uint64_t left = 0; left < world; left++)
            for (uint64_t right = 0; right < world; right++) {
                if (!solver_ranks_talk(degrees, order, weights->groups[f], weights->patterns[f],
                                       left, right))
                    continue;
                if (left / block == right / block) {
                    ret->inside[f]++;
                    continue;
                }
                ret->pairs[f][left / block][right / block]++;
                ret->pairs[f][right / block][left / block]++;
            }
}

/* Every edge once, in order, and as many pairs as ranks talk. */
static void expect_edges(const struct block_graph *graph, struct table *expected)
{
    for (unsigned block = 0; block < graph->block_count; block++)
        for (uint64_t e = graph->first[block]; e < graph->first[block + 1]; e++) {
            const struct block_edge *edge = &graph->edges[e], *before = edge - 1;
            assert_int_not_equal(edge->to, block);
            if (e > graph->first[block] &&
                (before->to > edge->to || (before->to == edge->to && before->flow >= edge->flow)))
                fail_msg("block %u: an edge to %u out of order or twice", block, edge->to);
            assert_int_equal(edge->pairs, expected->pairs[edge->flow][block][edge->to]);
            expected->pairs[edge->flow][block][edge->to] = 0;
        }
    for (unsigned f = 0; f < graph->weights->flow_count; f++)
        for (unsigned left = 0; left < graph->block_count; left++)
            for (unsigned right = 0; right < graph->block_count; right++)
                if (expected->pairs[f][left][right] != 0)
                    fail_msg("flow %u: no edge between %u and %u", f, left, right);
}

static void draws_the_pairs_of_ranks(void **state)
{
    (void)state;
    static struct table expected;
    uint64_t random = 7;
    for (unsigned i = 0; i < CASES; i++) {
        enum rank_order order = i % 2 ? ORDER_TP_CP_EP_PP_DP : ORDER_TP_CP_EP_DP_PP;
        struct degrees degrees = solver_draw_degrees(&random, order, RANKS_MAXIMUM);
        unsigned world = (unsigned)degrees_world(&degrees), block = 1 + solver_draw(&random, 8);
        while (world % block != 0)
            block--;
        struct flow_weights weights =
            weights_of(&degrees, order, degrees.shard > 1 ? SHARDING_HSDP : SHARDING_NONE);
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(block_graph)
        struct block_graph *graph = block_graph_create(&weights, world, block, &err);
        if (!graph)
            fail_msg("%s", err.text);
        assert_int_equal(graph->block_count, world / block);
        memset(&expected, 0, sizeof(expected));
        count_ranks(&weights, &degrees, order, block, &expected);
        assert_memory_equal(graph->inside, expected.inside, sizeof(expected.inside));
        expect_edges(graph, &expected);
    }
}

/* EP over 4096 nodes, everyone with everyone: 2^12 * 2^12 edges. */
static void refuses_what_is_not_worth_a_search(void **state)
{
    (void)state;
    const struct degrees degrees = {1, 1, 4096, 1, 1, 1, 4096, 1, 4096};
    struct flow_weights weights = weights_of(&degrees, ORDER_TP_CP_EP_DP_PP, SHARDING_NONE);
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(block_graph_create(&weights, 4096, 1, &err));
    assert_string_equal(err.text, "more than 4194304 pairs of nodes talk to each other");
    block_graph_free(NULL);
}

static int draw_once(void *context, struct error_info *err)
{
    CLEANUP(block_graph) struct block_graph *graph = block_graph_create(context, 64, 4, err);
    return graph ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    const struct degrees degrees = {2, 2, 1, 2, 4, 1, 4, 1, 4};
    struct flow_weights weights = weights_of(&degrees, ORDER_TP_CP_EP_DP_PP, SHARDING_NONE);
    unit_test_expect_clean_failures(draw_once, &weights);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(draws_the_pairs_of_ranks),
    cmocka_unit_test(refuses_what_is_not_worth_a_search),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/block_graph", tests, COUNT_OF(tests)); }
