/* SPDX-License-Identifier: MIT */
#include "mapping/node_mapping.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include <string.h>

#define NODES_MAXIMUM 64u

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch crossed_leaves[] = {
    {"leaf1", "n[1,3,5,7]", NULL}, {"leaf2", "n[2,4,6,8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch uneven_leaves[] = {
    {"leaf1", "n[1-3]", NULL}, {"leaf2", "n[4-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_switch three_leaves[] = {{"leaf1", "n[1-2]", NULL},
                                                  {"leaf2", "n[3-6]", NULL},
                                                  {"leaf3", "n[7-8]", NULL},
                                                  {"spine", NULL, "leaf[1-3]"}};
static const struct test_switch whole_units[] = {{"leaf1", "n[1-4]", NULL},
                                                 {"leaf2", "n[5-12]", NULL},
                                                 {"leaf3", "n[13-20]", NULL},
                                                 {"spine", NULL, "leaf[1-3]"}};
static const struct test_switch ragged[] = {{"leaf1", "n[1-5]", NULL},
                                            {"leaf2", "n[6-9]", NULL},
                                            {"leaf3", "n[10-12]", NULL},
                                            {"leaf4", "n[13-16]", NULL},
                                            {"spine", NULL, "leaf[1-4]"}};
static const struct test_switch part_known[] = {{"leaf1", "n[1-4]", NULL}};
static const struct test_switch rack_leaves[] = {
    {"leaf1", "n[1-6]", NULL}, {"leaf2", "n[7-9]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const char *const domains_of_three[] = {"n[1-3]", "n[4-6]", "n[7-9]"};

#define SWITCHES(list) .switches = (list), .switch_count = COUNT_OF(list)

static const struct test_cluster aligned = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(two_leaves)};
static const struct test_cluster crossed = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(crossed_leaves)};
static const struct test_cluster shuffled = {
    .nodes = "n[8,3,1,6,2,7,5,4]", .gpus = 8, SWITCHES(two_leaves)};
static const struct test_cluster uneven = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(uneven_leaves)};
static const struct test_cluster three = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(three_leaves)};
static const struct test_cluster units = {.nodes = "n[1-20]", .gpus = 8, SWITCHES(whole_units)};
static const struct test_cluster rough = {.nodes = "n[1-16]", .gpus = 8, SWITCHES(ragged)};
static const struct test_cluster partly = {.nodes = "n[1-8]", .gpus = 8, SWITCHES(part_known)};
static const struct test_cluster flat = {.nodes = "n[10,9,2,1]", .gpus = 8};
static const struct test_cluster racks = {.nodes = "n[1-9]",
                                          .gpus = 4,
                                          .domains = domains_of_three,
                                          .domain_count = COUNT_OF(domains_of_three)};

static const struct test_cluster fabric_of_racks = {.nodes = "n[1-9]",
                                                    .gpus = 4,
                                                    SWITCHES(rack_leaves),
                                                    .domains = domains_of_three,
                                                    .domain_count = COUNT_OF(domains_of_three)};

static const struct row {
    const char *name;
    const struct test_cluster *cluster;
    struct degrees degrees; /* 0: 1; shard 0: 1 */
    unsigned gpus_per_node;
    bool locality_only, identity;
    uint64_t world;
    /* Node of each block, in both orders of numbering. */
    const char *dp_inside, *pp_inside;
} rows[] = {
    {.name = "64 GPUs: replica 0 on the first four nodes, replica 1 on the others",
     .cluster = &aligned,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n5 n2 n6 n3 n7 n4 n8",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "the fabric decides, not the names",
     .cluster = &crossed,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2 n3 n4 n5 n6 n7 n8",
     .pp_inside = "n1 n3 n5 n7 n2 n4 n6 n8"},
    {.name = "the cluster's own order decides nothing",
     .cluster = &shuffled,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n5 n2 n6 n3 n7 n4 n8",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "fullest leaf first where a pipeline would be cut",
     .cluster = &uneven,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n4 n1 n5 n2 n6 n3 n7 n8",
     .pp_inside = "n4 n5 n6 n7 n1 n2 n3 n8"},
    {.name = "whole pipelines where they fit, the rest over what is left",
     .cluster = &three,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n3 n1 n4 n2 n5 n7 n6 n8",
     .pp_inside = "n3 n4 n5 n6 n1 n2 n7 n8"},
    {.name = "larger ones of leaves that hold whole pipelines come first",
     .cluster = &units,
     .degrees = {.tp = 8, .pp = 4, .dp = 5},
     .gpus_per_node = 8,
     .dp_inside = "n5 n9 n13 n17 n1 n6 n10 n14 n18 n2 n7 n11 n15 n19 n3 n8 n12 n16 n20 n4",
     .pp_inside = "n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16 n17 n18 n19 n20 n1 n2 n3 n4"},
    {.name = "pipelines wider than a leaf are cut once each",
     .cluster = &rough,
     .degrees = {.tp = 8, .pp = 8, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n6 n2 n7 n3 n8 n4 n9 n5 n13 n10 n14 n11 n15 n12 n16",
     .pp_inside = "n1 n2 n3 n4 n5 n10 n11 n12 n6 n7 n8 n9 n13 n14 n15 n16"},
    {.name = "spare nodes: the smallest leaf that holds it",
     .cluster = &rough,
     .degrees = {.tp = 8, .pp = 3, .dp = 1},
     .gpus_per_node = 8,
     .dp_inside = "n10 n11 n12",
     .pp_inside = "n10 n11 n12"},
    {.name = "spare nodes: whole pipelines in as few leaves as possible",
     .cluster = &units,
     .degrees = {.tp = 8, .pp = 4, .dp = 3},
     .gpus_per_node = 8,
     .dp_inside = "n5 n9 n1 n6 n10 n2 n7 n11 n3 n8 n12 n4",
     .pp_inside = "n5 n6 n7 n8 n9 n10 n11 n12 n1 n2 n3 n4"},
    {.name = "nodes whose switch is unknown come last",
     .cluster = &partly,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n5 n2 n6 n3 n7 n4 n8",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "no fabric: natural order",
     .cluster = &flat,
     .degrees = {.tp = 8, .dp = 4},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2 n9 n10",
     .pp_inside = "n1 n2 n9 n10"},
    {.name = "two TP groups in a block: dp neighbours, or stages",
     .cluster = &aligned,
     .degrees = {.tp = 4, .pp = 4, .dp = 4},
     .gpus_per_node = 8,
     .dp_inside = "n1 n5 n2 n6 n3 n7 n4 n8",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "a block of several replicas",
     .cluster = &aligned,
     .degrees = {.tp = 2, .pp = 2, .dp = 16},
     .gpus_per_node = 8,
     .dp_inside = "n1 n3 n5 n7 n2 n4 n6 n8",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "context parallelism over two nodes stays together",
     .cluster = &aligned,
     .degrees = {.tp = 8, .cp = 2, .pp = 2, .dp = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2 n5 n6 n3 n4 n7 n8"},
    {.name = "an expert group over two nodes goes before the pipeline",
     .cluster = &aligned,
     .degrees = {.tp = 1, .pp = 4, .dp = 16, .ep = 16, .etp = 1},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2 n3 n4 n5 n6 n7 n8"},
    {.name = "a shard group goes before the pipeline, replicate is outermost",
     .cluster = &aligned,
     .degrees = {.tp = 8, .pp = 2, .dp = 4, .shard = 2},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2 n5 n6 n3 n4 n7 n8",
     .pp_inside = "n1 n3 n2 n4 n5 n7 n6 n8"},
    {.name = "ranks of two stages on one node: numbering's order",
     .cluster = &aligned,
     .degrees = {.tp = 4, .pp = 4, .dp = 1},
     .gpus_per_node = 8,
     .dp_inside = "n1 n2",
     .pp_inside = "n1 n2"},
    {.name = "TP over two nodes stays in an NVLink domain",
     .cluster = &racks,
     .degrees = {.tp = 8, .pp = 1, .dp = 3},
     .gpus_per_node = 4,
     .dp_inside = "n1 n2 n4 n5 n7 n8",
     .pp_inside = "n1 n2 n4 n5 n7 n8"},
    {.name = "a leaf is not filled at the price of a cut TP group",
     .cluster = &fabric_of_racks,
     .degrees = {.tp = 8, .pp = 3, .dp = 1},
     .gpus_per_node = 4,
     .dp_inside = "n1 n2 n4 n5 n7 n8",
     .pp_inside = "n1 n2 n4 n5 n7 n8"},
    {.name = "every node used: the TP group that fits nowhere comes last",
     .cluster = &fabric_of_racks,
     .degrees = {.tp = 12, .pp = 1, .dp = 3},
     .gpus_per_node = 4,
     .dp_inside = "n1 n2 n3 n4 n5 n6 n7 n8 n9",
     .pp_inside = "n1 n2 n3 n4 n5 n6 n7 n8 n9"},
    {.name = "fewer ranks than GPUs",
     .cluster = &aligned,
     .degrees = {.tp = 2, .pp = 2, .dp = 2},
     .gpus_per_node = 2,
     .dp_inside = "n1 n3 n2 n4",
     .pp_inside = "n1 n2 n3 n4"},
    {.name = "identity",
     .cluster = &shuffled,
     .degrees = {.tp = 8, .pp = 4, .dp = 2},
     .gpus_per_node = 8,
     .identity = true,
     .dp_inside = "n8 n3 n1 n6 n2 n7 n5 n4",
     .pp_inside = "n8 n3 n1 n6 n2 n7 n5 n4"},
    {.name = "locality only: fabric order",
     .cluster = &crossed,
     .gpus_per_node = 8,
     .locality_only = true,
     .dp_inside = "n1 n3 n5 n7 n2 n4 n6 n8"},
    {.name = "locality only, fewer nodes: one leaf",
     .cluster = &uneven,
     .gpus_per_node = 8,
     .locality_only = true,
     .world = 32,
     .dp_inside = "n4 n5 n6 n7"},
};

static struct degrees complete(struct degrees degrees)
{
    unsigned *all[] = {&degrees.tp,  &degrees.cp, &degrees.ep,    &degrees.pp,
                       &degrees.vpp, &degrees.dp, &degrees.shard, &degrees.replicate};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (*all[i] == 0)
            *all[i] = 1;
    if (degrees.etp == 0)
        degrees.etp = degrees.tp;
    degrees.replicate = degrees.dp / degrees.shard;
    return degrees;
}

static void expect_nodes(const struct row *row, const struct cluster_topology *cluster,
                         enum rank_order order, const char *expected)
{
    const struct node_mapping_request request = {.cluster = cluster,
                                                 .degrees = complete(row->degrees),
                                                 .order = order,
                                                 .gpus_per_node = row->gpus_per_node,
                                                 .world = row->world,
                                                 .locality_only = row->locality_only,
                                                 .identity = row->identity};
    struct error_info err = {.kind = ERROR_NONE};
    unsigned nodes[NODES_MAXIMUM];
    size_t blocks = 0;
    if (node_mapping_solve(&request, nodes, &blocks, NULL, &err) < 0)
        fail_msg("%s: %s", row->name, err.text);
    CLEANUP_DONE(text_buffer) struct text_buffer got;
    text_buffer_init(&got, 4096);
    for (size_t i = 0; i < blocks; i++)
        text_buffer_add(&got, "%s%s", i ? " " : "", cluster->nodes[nodes[i]].name);
    if (strcmp(text_buffer_text(&got), expected) != 0)
        fail_msg("%s, order %s: %s instead of %s", row->name, rank_order_name(order),
                 text_buffer_text(&got), expected);
    text_buffer_done(&got);
}

static void lays_blocks_on_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(rows[i].cluster, &err);
        if (!cluster) {
            fail_msg("%s: %s", rows[i].name, err.text);
            return;
        }
        expect_nodes(&rows[i], cluster, ORDER_TP_CP_EP_DP_PP, rows[i].dp_inside);
        if (rows[i].pp_inside)
            expect_nodes(&rows[i], cluster, ORDER_TP_CP_EP_PP_DP, rows[i].pp_inside);
    }
}

static const struct refusal {
    struct degrees degrees;
    unsigned gpus_per_node;
    enum rank_order order;
    bool locality_only;
    uint64_t world;
    const char *text;
} refusals[] = {
    {.degrees = {.tp = 8, .dp = 9},
     .gpus_per_node = 8,
     .text =
         "72 ranks need 9 nodes with 8 GPUs, and test has 8; use 1 more, or a plan for 64 ranks"},
    {.degrees = {.tp = 1, .dp = 16},
     .gpus_per_node = 16,
     .text = "16 ranks per node, but the largest node of test has 8 GPUs; use 8"},
    {.degrees = {.tp = 3, .dp = 8},
     .gpus_per_node = 8,
     .text = "tp=3: nodes of 8 ranks would cut a TP group; use tp=1, or 3 ranks per node"},
    {.degrees = {.tp = 12, .dp = 2},
     .gpus_per_node = 8,
     .text = "tp=12: nodes of 8 ranks would cut a TP group; use tp=4, or 12 ranks per node"},
    {.degrees = {.tp = 2, .dp = 5},
     .gpus_per_node = 8,
     .text = "10 ranks do not fill nodes of 8; use a multiple of 8 ranks"},
    {.degrees = {.tp = 1, .dp = 8, .ep = 3, .etp = 1},
     .gpus_per_node = 8,
     .text = "experts of 3 ranks do not divide a stage of 8"},
    {.degrees = {.tp = 1, .dp = 8, .shard = 3},
     .gpus_per_node = 8,
     .text = "shard=3 does not divide dp=8"},
    {.degrees = {.tp = 1, .dp = 8}, .text = "a mapping needs at least one rank per node"},
    {.gpus_per_node = 8,
     .locality_only = true,
     .world = 12,
     .text = "12 ranks do not fill nodes of 8; use a multiple of 8, at most 2097152"},
    {.gpus_per_node = 8,
     .locality_only = true,
     .world = 80,
     .text = "80 ranks need 10 nodes with 8 GPUs, and test has 8; use 2 more, or a plan for 64 "
             "ranks"},
    {.gpus_per_node = 9,
     .locality_only = true,
     .text = "9 ranks per node, but the largest node of test has 8 GPUs; use 8"},
};

static void refuses_with_a_remedy(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&aligned, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct refusal *row = &refusals[i];
        const struct node_mapping_request request = {.cluster = cluster,
                                                     .degrees = complete(row->degrees),
                                                     .order = row->order,
                                                     .gpus_per_node = row->gpus_per_node,
                                                     .world = row->world,
                                                     .locality_only = row->locality_only};
        unsigned nodes[NODES_MAXIMUM];
        size_t blocks = 77;
        assert_int_equal(node_mapping_solve(&request, nodes, &blocks, NULL, &err), -1);
        assert_int_equal(blocks, 77);
        assert_string_equal(err.text, row->text);
    }
}

/* The order that Megatron's own assertion refuses. */
static void refuses_an_order_that_experts_forbid(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&aligned, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster,
        .degrees = complete((struct degrees){.tp = 1, .pp = 4, .dp = 16, .ep = 8, .etp = 1}),
        .order = ORDER_TP_CP_EP_PP_DP,
        .gpus_per_node = 8};
    unsigned nodes[NODES_MAXIMUM];
    size_t blocks;
    assert_int_equal(node_mapping_solve(&request, nodes, &blocks, NULL, &err), -1);
    assert_non_null(strstr(err.text, "use order=tp-cp-ep-dp-pp"));
}

static void orders_nodes_by_the_fabric(void **state)
{
    (void)state;
    static const struct {
        const struct test_cluster *cluster;
        const char *expected;
    } orders[] = {
        {&shuffled, "n1 n2 n3 n4 n5 n6 n7 n8"},
        {&crossed, "n1 n3 n5 n7 n2 n4 n6 n8"},
        {&uneven, "n1 n2 n3 n4 n5 n6 n7 n8"},
        {&partly, "n1 n2 n3 n4 n5 n6 n7 n8"},
        {&flat, "n1 n2 n9 n10"},
        {&racks, "n1 n2 n3 n4 n5 n6 n7 n8 n9"},
    };
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(orders[i].cluster, &err);
        assert_non_null(cluster);
        unsigned nodes[NODES_MAXIMUM];
        assert_int_equal(fabric_order(cluster, nodes, &err), 0);
        CLEANUP_DONE(text_buffer) struct text_buffer got;
        text_buffer_init(&got, 4096);
        for (size_t n = 0; n < cluster->node_count; n++)
            text_buffer_add(&got, "%s%s", n ? " " : "", cluster->nodes[nodes[n]].name);
        assert_string_equal(text_buffer_text(&got), orders[i].expected);
        text_buffer_done(&got);
    }
}

static int map_once(void *context, struct error_info *err)
{
    const struct cluster_topology *cluster = context;
    const struct node_mapping_request request = {
        .cluster = cluster,
        .degrees = complete((struct degrees){.tp = 8, .pp = 4, .dp = 2}),
        .gpus_per_node = 8};
    unsigned nodes[NODES_MAXIMUM];
    size_t blocks;
    return node_mapping_solve(&request, nodes, &blocks, NULL, err);
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&three, &err);
    if (cluster)
        unit_test_expect_clean_failures(map_once, cluster);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lays_blocks_on_nodes),
    cmocka_unit_test(refuses_with_a_remedy),
    cmocka_unit_test(refuses_an_order_that_experts_forbid),
    cmocka_unit_test(orders_nodes_by_the_fabric),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/node_mapping", tests, COUNT_OF(tests)); }
