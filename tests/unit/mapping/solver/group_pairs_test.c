/* SPDX-License-Identifier: MIT */
#include "mapping/solver/group_pairs.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define RANKS_MAXIMUM 72u
#define CASES 120u

struct table {
    unsigned blocks;
    unsigned pairs[RANKS_MAXIMUM][RANKS_MAXIMUM]; /* from, to */
};

static void count_run(void *context, unsigned from, unsigned to, unsigned count)
{
    struct table *table = context;
    if (from >= table->blocks || to >= table->blocks || count == 0)
        fail_msg("%u pairs from block %u to %u of %u", count, from, to, table->blocks);
    table->pairs[from][to] += count;
}

static const char *pattern_name(enum pair_pattern pattern)
{
    static const char *const names[] = {"ring", "chain", "all"};
    return names[pattern];
}

static void expect_pairs(const struct degrees *degrees, enum rank_order order,
                         enum group_dimension dimension, enum pair_pattern pattern, unsigned block)
{
    static struct table counted, expected;
    uint64_t world = degrees_world(degrees);
    struct group_line line = group_line_of(degrees, order, dimension);
    memset(&counted, 0, sizeof(counted));
    memset(&expected, 0, sizeof(expected));
    counted.blocks = (unsigned)(world / block);
    group_pairs_visit(&line, pattern, world, block, count_run, &counted);
    for (uint64_t left = 0; left < world; left++)
        for (uint64_t right = 0; right < world; right++)
            expected.pairs[left / block][right / block] +=
                solver_ranks_talk(degrees, order, dimension, pattern, left, right);
    if (memcmp(counted.pairs, expected.pairs, sizeof(counted.pairs)) == 0)
        return;
    char text[DEGREES_TEXT_BYTES];
    degrees_text(degrees, text);
    fail_msg("%s shard=%u, %s, group %d, %s, blocks of %u", text, degrees->shard,
             rank_order_name(order), (int)dimension, pattern_name(pattern), block);
}

/* All patterns; all-to-all goes along one stride only. */
static void expect_dimension(const struct degrees *degrees, enum rank_order order,
                             enum group_dimension dimension, unsigned block)
{
    struct group_line line = group_line_of(degrees, order, dimension);
    assert_int_equal(line.size * line.outer_size, group_size(degrees, dimension));
    expect_pairs(degrees, order, dimension, PAIRS_RING, block);
    expect_pairs(degrees, order, dimension, PAIRS_CHAIN, block);
    if (line.outer_size == 1)
        expect_pairs(degrees, order, dimension, PAIRS_ALL, block);
}

static void agrees_with_ranks(void **state)
{
    (void)state;
    uint64_t random = 20261130;
    for (unsigned i = 0; i < CASES; i++) {
        enum rank_order order = i % 2 ? ORDER_TP_CP_EP_PP_DP : ORDER_TP_CP_EP_DP_PP;
        struct degrees degrees = solver_draw_degrees(&random, order, RANKS_MAXIMUM);
        unsigned world = (unsigned)degrees_world(&degrees), block = 1 + solver_draw(&random, world);
        while (world % block != 0)
            block--;
        for (unsigned d = 0; d < GROUP_DIMENSION_COUNT; d++)
            expect_dimension(&degrees, order, (enum group_dimension)d, block);
    }
}

static const struct {
    const char *name;
    struct degrees degrees;
    enum rank_order order;
    enum group_dimension dimension;
    struct group_line line;
} lines[] = {
    {"DP x CP is one line where no stage lies between",
     {2, 2, 1, 2, 2, 1, 3, 1, 3},
     ORDER_TP_CP_EP_DP_PP,
     GROUP_STATES,
     {2, 0, 6, 1}},
    {"two strides where stages do",
     {2, 2, 1, 2, 2, 1, 3, 1, 3},
     ORDER_TP_CP_EP_PP_DP,
     GROUP_STATES,
     {2, 8, 2, 3}},
    {"one again without CP",
     {2, 1, 1, 2, 2, 1, 3, 1, 3},
     ORDER_TP_CP_EP_PP_DP,
     GROUP_STATES,
     {4, 0, 3, 1}},
    {"a shard of it",
     {2, 2, 1, 2, 2, 1, 4, 2, 2},
     ORDER_TP_CP_EP_PP_DP,
     GROUP_STATE_SHARD,
     {2, 8, 2, 2}},
    {"the replicas of a shard group",
     {2, 2, 1, 2, 2, 1, 4, 2, 2},
     ORDER_TP_CP_EP_PP_DP,
     GROUP_REPLICATE,
     {16, 0, 2, 1}},
    {"stages are innermost of two",
     {2, 2, 1, 2, 2, 1, 3, 1, 3},
     ORDER_TP_CP_EP_PP_DP,
     GROUP_PP,
     {4, 0, 2, 1}},
    {"or outermost", {2, 2, 1, 2, 2, 1, 3, 1, 3}, ORDER_TP_CP_EP_DP_PP, GROUP_PP, {12, 0, 2, 1}},
    {"experts inside a stage",
     {2, 1, 4, 1, 2, 1, 8, 1, 8},
     ORDER_TP_CP_EP_DP_PP,
     GROUP_EDP,
     {4, 0, 4, 1}},
};

static void finds_strides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct group_line line =
            group_line_of(&lines[i].degrees, lines[i].order, lines[i].dimension);
        if (line.stride != lines[i].line.stride || line.size != lines[i].line.size ||
            line.outer_size != lines[i].line.outer_size ||
            (line.outer_size > 1 && line.outer_stride != lines[i].line.outer_stride))
            fail_msg("%s: stride %u size %u, outer %u size %u", lines[i].name,
                     (unsigned)line.stride, line.size, (unsigned)line.outer_stride,
                     line.outer_size);
    }
}

static void add_all(void *context, unsigned from, unsigned to, unsigned count)
{
    uint64_t *sums = context;
    sums[from == to ? 0 : 1] += count;
}

/* 2^21 ranks, by the formulas: too many to walk one by one. */
static void counts_large_jobs(void **state)
{
    (void)state;
    const struct degrees degrees = {8, 1, 1, 8, 16, 1, 16384, 1, 16384};
    uint64_t world = degrees_world(&degrees), pipelines = world / 16;
    struct group_line tp = group_line_of(&degrees, ORDER_TP_CP_EP_DP_PP, GROUP_TP);
    struct group_line pp = group_line_of(&degrees, ORDER_TP_CP_EP_DP_PP, GROUP_PP);
    uint64_t sums[2] = {0, 0};
    group_pairs_visit(&tp, PAIRS_RING, world, 8, add_all, sums);
    assert_int_equal(sums[0], world);
    assert_int_equal(sums[1], 0);
    group_pairs_visit(&pp, PAIRS_CHAIN, world, 8, add_all, sums);
    assert_int_equal(sums[0], world);
    assert_int_equal(sums[1], pipelines * 15);
    sums[0] = 0;
    group_pairs_visit(&tp, PAIRS_ALL, world, 8, add_all, sums);
    assert_int_equal(sums[0], world / 8 * 28);
}

static void groups_of_one_are_silent(void **state)
{
    (void)state;
    const struct degrees one = DEGREES_ONE;
    uint64_t sums[2] = {0, 0};
    for (unsigned d = 0; d < GROUP_DIMENSION_COUNT; d++) {
        struct group_line line = group_line_of(&one, ORDER_TP_CP_EP_DP_PP, (enum group_dimension)d);
        group_pairs_visit(&line, PAIRS_RING, 1, 1, add_all, sums);
    }
    assert_int_equal(sums[0] + sums[1], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agrees_with_ranks),
    cmocka_unit_test(finds_strides),
    cmocka_unit_test(counts_large_jobs),
    cmocka_unit_test(groups_of_one_are_silent),
};

int main(void) { return unit_test_main("mapping/solver/group_pairs", tests, COUNT_OF(tests)); }
