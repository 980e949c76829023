/* SPDX-License-Identifier: MIT */
#include "mapping/gpu_mapping.h"
#include "tests/support/test_cluster.h"
#include "tests/unit/topology/topology_fixture.h"

#include <string.h>

#define GPUS 8u
#define DP_PP ORDER_TP_CP_EP_DP_PP
#define PP_DP ORDER_TP_CP_EP_PP_DP
#define DEGREES(tp, cp, ep, etp, pp, shard)                                                        \
    {                                                                                              \
        tp, cp, ep, etp, pp, 1, 1, shard, 1                                                        \
    }

static const unsigned hives[GPUS] = {0, 1, 0, 0, 1, 0, 1, 1}; /* {0,2,3,5} and {1,4,6,7} */
static const unsigned bridges[GPUS] = {0, 1, 2, 3, 0, 1, 2, 3};
static const unsigned alone[GPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
static const unsigned three_pairs[GPUS] = {0, 0, 1, 2, 3, 3, 4, 4};

static const int reversed[GPUS] = {7, 6, 5, 4, 3, 2, 1, 0};
static const int second_first[GPUS] = {5, 3, 4, 7, 0, 6, 2, 1}; /* hive {1,4,6,7} has 0 to 3 */
static const int unknown[GPUS] = {3, 2, 1, 0, -1, 4, 5, 6};
static const int shared[GPUS] = {1, 1, 0, 0, 3, 3, 2, 2};

static const struct row {
    const char *name;
    const unsigned *domains;
    const int *rails; /* NULL: GPU i has rail i */
    enum rank_order order;
    struct degrees degrees;
    unsigned ranks;
    unsigned gpus[GPUS];
} rows[] = {
    {"uniform node", NULL, NULL, DP_PP, DEGREES(4, 1, 1, 1, 1, 1), 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"TP 1", hives, NULL, DP_PP, DEGREES(1, 1, 1, 1, 1, 1), 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"hives", hives, NULL, DP_PP, DEGREES(4, 1, 1, 1, 1, 1), 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"one hive is enough", hives, NULL, DP_PP, DEGREES(4, 1, 1, 1, 1, 1), 4, {0, 2, 3, 5}},
    {"TP wider than the node's ranks",
     hives,
     NULL,
     DP_PP,
     DEGREES(8, 1, 1, 1, 1, 1),
     4,
     {0, 2, 3, 5}},
    {"bridged pairs", bridges, NULL, DP_PP, DEGREES(2, 1, 1, 1, 1, 1), 8, {0, 4, 1, 5, 2, 6, 3, 7}},
    {"no NVLink", alone, NULL, DP_PP, DEGREES(2, 1, 1, 1, 1, 1), 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"the pairs that exist",
     three_pairs,
     NULL,
     DP_PP,
     DEGREES(2, 1, 1, 1, 1, 1),
     6,
     {0, 1, 4, 5, 6, 7}},
    {"CP on a hive", hives, NULL, DP_PP, DEGREES(1, 4, 1, 1, 1, 1), 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"EP on a hive", hives, NULL, DP_PP, DEGREES(1, 1, 4, 1, 1, 1), 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"ETP counts", hives, NULL, DP_PP, DEGREES(1, 1, 2, 2, 1, 1), 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"CP on pairs", bridges, NULL, DP_PP, DEGREES(1, 2, 1, 1, 1, 1), 8, {0, 4, 1, 5, 2, 6, 3, 7}},
    {"EP wider than a pair",
     bridges,
     NULL,
     DP_PP,
     DEGREES(1, 1, 4, 1, 1, 1),
     8,
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"CP where EP is too wide",
     bridges,
     NULL,
     DP_PP,
     DEGREES(1, 2, 4, 1, 1, 1),
     8,
     {0, 4, 1, 5, 2, 6, 3, 7}},
    {"CP of three GPUs",
     hives,
     NULL,
     DP_PP,
     DEGREES(1, 3, 1, 1, 1, 1),
     8,
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"TP pairs anywhere",
     hives,
     NULL,
     DP_PP,
     DEGREES(2, 1, 1, 1, 1, 1),
     8,
     {0, 2, 1, 4, 3, 5, 6, 7}},
    {"TP pairs of one CP group",
     hives,
     NULL,
     DP_PP,
     DEGREES(2, 2, 1, 1, 1, 1),
     8,
     {0, 2, 3, 5, 1, 4, 6, 7}},
    {"TP pairs of one EP group",
     hives,
     NULL,
     DP_PP,
     DEGREES(2, 1, 4, 1, 1, 1),
     8,
     {0, 2, 3, 5, 1, 4, 6, 7}},
    {"EP over two nodes", hives, NULL, DP_PP, DEGREES(1, 1, 8, 1, 1, 1), 4, {0, 2, 3, 5}},
    {"shards near", hives, NULL, DP_PP, DEGREES(1, 1, 1, 1, 1, 4), 8, {0, 2, 3, 5, 1, 4, 6, 7}},
    {"TP groups of one shard group",
     hives,
     NULL,
     DP_PP,
     DEGREES(2, 1, 1, 1, 1, 2),
     8,
     {0, 2, 3, 5, 1, 4, 6, 7}},
    {"shards of several stages",
     hives,
     NULL,
     PP_DP,
     DEGREES(1, 1, 1, 1, 2, 4),
     8,
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"rails rise", NULL, reversed, DP_PP, DEGREES(4, 1, 1, 1, 1, 1), 8, {7, 6, 5, 4, 3, 2, 1, 0}},
    {"rails without groups",
     hives,
     reversed,
     DP_PP,
     DEGREES(1, 1, 1, 1, 1, 1),
     8,
     {7, 6, 5, 4, 3, 2, 1, 0}},
    {"hives by their rails",
     hives,
     second_first,
     DP_PP,
     DEGREES(4, 1, 1, 1, 1, 1),
     8,
     {4, 7, 6, 1, 2, 0, 5, 3}},
    {"pairs of hives by their rails",
     hives,
     second_first,
     DP_PP,
     DEGREES(2, 2, 1, 1, 1, 1),
     8,
     {4, 7, 6, 1, 2, 0, 5, 3}},
    {"the first rails where GPUs are left over",
     NULL,
     reversed,
     DP_PP,
     DEGREES(2, 1, 1, 1, 1, 1),
     4,
     {7, 6, 5, 4}},
    {"the hive of the first rails",
     hives,
     second_first,
     DP_PP,
     DEGREES(1, 1, 4, 1, 1, 1),
     4,
     {4, 7, 6, 1}},
    {"a rail is unknown",
     NULL,
     unknown,
     DP_PP,
     DEGREES(4, 1, 1, 1, 1, 1),
     8,
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"rails of two GPUs",
     NULL,
     shared,
     DP_PP,
     DEGREES(4, 1, 1, 1, 1, 1),
     8,
     {0, 1, 2, 3, 4, 5, 6, 7}},
};

static void set_rails(struct node_topology *node, const int *rails)
{
    for (unsigned i = 0; rails && i < GPUS; i++)
        ((struct node_nic *)node->nics)[i].rail = rails[i];
}

static void expect_order(const char *name, const struct node_topology *node,
                         const struct degrees *degrees, enum rank_order order, unsigned ranks,
                         const unsigned *expected)
{
    struct error_info err = {.kind = ERROR_NONE};
    unsigned gpus[NODE_MAXIMUM_GPUS];
    if (gpu_mapping_solve(node, degrees, order, ranks, gpus, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    for (unsigned rank = 0; rank < ranks; rank++)
        if (gpus[rank] != expected[rank])
            fail_msg("%s: local rank %u is on GPU %u, not %u", name, rank, gpus[rank],
                     expected[rank]);
}

static void groups_first_then_rails(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(node_topology)
        struct node_topology *node = test_node_create(GPUS, rows[i].domains, NVLINK_KNOWN);
        assert_non_null(node);
        set_rails(node, rows[i].rails);
        expect_order(rows[i].name, node, &rows[i].degrees, rows[i].order, rows[i].ranks,
                     rows[i].gpus);
    }
}

/* Nobody knows which groups the links make: they stay as they are, and rails move GPUs only
 * where there is no group. */
static void unknown_links_move_nothing(void **state)
{
    (void)state;
    static const unsigned plain[] = {0, 1, 2, 3, 4, 5, 6, 7}, turned[] = {7, 6, 5, 4, 3, 2, 1, 0};
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, hives, NVLINK_UNKNOWN);
    assert_non_null(node);
    set_rails(node, reversed);
    expect_order("tp", node, &(struct degrees)DEGREES(4, 1, 1, 1, 1, 1), DP_PP, 8, plain);
    expect_order("ep", node, &(struct degrees)DEGREES(1, 1, 4, 1, 1, 1), DP_PP, 8, plain);
    expect_order("none", node, &(struct degrees)DEGREES(1, 1, 1, 1, 1, 1), DP_PP, 8, turned);
}

/* The double links 0=3, 1=2, 4=7, 5=6 lie inside the quads; 0=4, 1=5 would too be double. */
static void cube_mesh(void **state)
{
    (void)state;
    static const unsigned pairs[] = {0, 3, 1, 2, 4, 7, 5, 6}, ring[] = {0, 3, 2, 1, 5, 6, 7, 4};
    static const unsigned plain[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx1-v100");
    expect_order("pairs in quads", node, &(struct degrees)DEGREES(2, 1, 4, 1, 1, 1), DP_PP, 8,
                 pairs);
    expect_order("CP along the ring", node, &(struct degrees)DEGREES(1, 8, 1, 1, 1, 1), DP_PP, 8,
                 ring);
    expect_order("EP needs no order", node, &(struct degrees)DEGREES(1, 1, 8, 1, 1, 1), DP_PP, 8,
                 plain);
}

/* A ring without a clique keeps its order; rails only say where it starts and which way. */
static void rings_start_at_the_first_rail(void **state)
{
    (void)state;
    static const unsigned quads[GPUS] = {0, 0, 0, 0, 1, 1, 1, 1};
    static const unsigned expected[] = {4, 5, 6, 7, 2, 1, 0, 3};
    static const int rails[GPUS] = {5, 6, 4, 7, 0, 1, 2, 3};
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, quads, NVLINK_KNOWN);
    assert_non_null(node);
    double *rates = (double *)node->nvlink_bytes_per_second; /* 0-1-2-3-0 alone */
    rates[0 * GPUS + 2] = rates[2 * GPUS + 0] = rates[1 * GPUS + 3] = rates[3 * GPUS + 1] = 0;
    set_rails(node, rails);
    expect_order("ring", node, &(struct degrees)DEGREES(4, 1, 1, 1, 1, 1), DP_PP, 8, expected);
}

/* More GPUs than the exact search takes. */
static void large_nodes_keep_tp_groups(void **state)
{
    (void)state;
    unsigned domains[20], expected[20];
    for (unsigned i = 0; i < 20; i++) {
        domains[i] = i % 10;
        expected[i] = i / 2 + i % 2 * 10;
    }
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(20, domains, NVLINK_KNOWN);
    assert_non_null(node);
    expect_order("20 GPUs", node, &(struct degrees)DEGREES(2, 1, 4, 1, 1, 1), DP_PP, 20, expected);
}

static int refuse(const struct node_topology *node, unsigned tp, unsigned ranks,
                  struct error_info *err)
{
    unsigned gpus[GPUS];
    struct degrees degrees = DEGREES_ONE;
    degrees.tp = tp;
    return gpu_mapping_solve(node, &degrees, DP_PP, ranks, gpus, err);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, NULL, NVLINK_KNOWN);
    assert_non_null(node);
    struct error_info err = {.kind = ERROR_NONE};
    assert_int_equal(refuse(node, 1, 9, &err), -1);
    assert_string_equal(err.text, "9 ranks on test-node, which has 8 GPUs; use at most 8");
    assert_int_equal(refuse(node, 3, 8, &err), -1);
    assert_string_equal(err.text, "tp=3 does not divide the 8 ranks of a node");
    assert_int_equal(refuse(node, 1, 0, &err), -1);
}

static int solve_once(void *context, struct error_info *err)
{
    unsigned gpus[GPUS];
    const struct degrees degrees = DEGREES(2, 2, 1, 1, 1, 1);
    return gpu_mapping_solve(context, &degrees, DP_PP, GPUS, gpus, err);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    CLEANUP(node_topology)
    struct node_topology *node = test_node_create(GPUS, hives, NVLINK_KNOWN);
    if (node)
        unit_test_expect_clean_failures(solve_once, node);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(groups_first_then_rails),
    cmocka_unit_test(unknown_links_move_nothing),
    cmocka_unit_test(cube_mesh),
    cmocka_unit_test(rings_start_at_the_first_rail),
    cmocka_unit_test(large_nodes_keep_tp_groups),
    cmocka_unit_test(refuses_what_does_not_fit),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("mapping/gpu_mapping", tests, COUNT_OF(tests)); }
