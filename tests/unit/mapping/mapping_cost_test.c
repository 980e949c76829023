/* SPDX-License-Identifier: MIT */
#include "mapping/mapping_cost.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const char *const domains[] = {"n[1-2]", "n[3-4]", "n[5-6]", "n[7-8]"};
static const struct test_cluster plain = {
    .nodes = "n[1-8]", .gpus = 8, .switches = two_leaves, .switch_count = COUNT_OF(two_leaves)};
static const struct test_cluster racks = {.nodes = "n[1-8]",
                                          .gpus = 8,
                                          .switches = two_leaves,
                                          .switch_count = COUNT_OF(two_leaves),
                                          .domains = domains,
                                          .domain_count = COUNT_OF(domains)};
static const struct test_cluster flat = {.nodes = "n[1-8]", .gpus = 8};

/* Slots: node, NVLink domain, leaf, spine, unknown. Without a fabric: node, domain, unknown. */
static const struct row {
    const char *name;
    const struct test_cluster *cluster;
    struct degrees degrees;
    bool identity;
    uint64_t pairs[TRAFFIC_DIMENSION_COUNT][5];
} rows[] = {
    {"TP in the node, PP in the leaf, DP over the spine",
     &plain,
     {8, 1, 1, 8, 4, 1, 2, 1, 2},
     false,
     {[TRAFFIC_TP] = {64}, [TRAFFIC_PP] = {0, 0, 48}, [TRAFFIC_DP] = {0, 0, 0, 64}}},
    {"the identity puts the pipeline over the spine",
     &plain,
     {8, 1, 1, 8, 4, 1, 2, 1, 2},
     true,
     {[TRAFFIC_TP] = {64}, [TRAFFIC_PP] = {0, 0, 32, 16}, [TRAFFIC_DP] = {0, 0, 64}}},
    {"TP over two nodes of an NVLink domain",
     &racks,
     {16, 1, 1, 16, 2, 1, 2, 1, 2},
     false,
     {[TRAFFIC_TP] = {56, 8}, [TRAFFIC_PP] = {0, 0, 32}, [TRAFFIC_DP] = {0, 0, 0, 64}}},
    {"data parallel over everything",
     &plain,
     {1, 1, 1, 1, 1, 1, 64, 64, 1},
     false,
     {[TRAFFIC_DP] = {56, 0, 6, 2}}},
    {"experts and context",
     &plain,
     {2, 2, 8, 1, 1, 1, 16, 1, 16},
     false,
     {[TRAFFIC_TP] = {64},
      [TRAFFIC_CP] = {64},
      [TRAFFIC_EP] = {64},
      [TRAFFIC_DP] = {32, 0, 24, 8}}},
    {"expert groups of two nodes",
     &plain,
     {1, 1, 16, 1, 1, 1, 64, 1, 64},
     false,
     {[TRAFFIC_EP] = {56, 0, 8}, [TRAFFIC_DP] = {56, 0, 6, 2}}},
    {"no fabric", &flat, {8, 1, 1, 8, 8, 1, 1, 1, 1}, false, {{64}, [TRAFFIC_PP] = {0, 0, 56}}},
};

static void counts_pairs_by_tier(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(rows[i].cluster, &err);
        assert_non_null(cluster);
        const struct node_mapping_request request = {.cluster = cluster,
                                                     .degrees = rows[i].degrees,
                                                     .gpus_per_node = 8,
                                                     .identity = rows[i].identity};
        CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
        assert_non_null(map);
        struct mapping_cost cost;
        mapping_cost_compute(map, NULL, NULL, &cost);
        assert_false(cost.bytes_known);
        for (unsigned d = 0; d < TRAFFIC_DIMENSION_COUNT; d++)
            for (unsigned slot = 0; slot < cost.slot_count; slot++)
                if (cost.pairs[d][slot] != rows[i].pairs[d][slot])
                    fail_msg("%s: %s over %s: %llu pairs, not %llu", rows[i].name,
                             traffic_dimension_name((enum traffic_dimension)d),
                             cost.slot_names[slot], (unsigned long long)cost.pairs[d][slot],
                             (unsigned long long)rows[i].pairs[d][slot]);
        rank_map_free(map);
        map = NULL;
        cluster_topology_free(cluster);
        cluster = NULL;
    }
}

static void names_slots_and_weighs_them(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&plain, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = {8, 1, 1, 8, 4, 1, 2, 1, 2}, .gpus_per_node = 8};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    assert_non_null(map);
    const struct traffic traffic = {.flows = {{TRAFFIC_TP, GROUP_TP, PAIRS_RING, false, 10, 1},
                                              {TRAFFIC_PP, GROUP_PP, PAIRS_CHAIN, true, 0.5, 0.5}},
                                    .flow_count = 2};
    const struct link_seconds seconds = {
        .slot_count = 5, .collective = {1, 1, 2, 3, 4}, .message = {1, 1, 4, 6, 8}};
    struct mapping_cost cost;
    mapping_cost_compute(map, &traffic, &seconds, &cost);
    static const char *const names[] = {"node", "nvlink domain", "leaf", "spine", "unknown"};
    assert_int_equal(cost.slot_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(cost.slot_names[i], names[i]);
    assert_true(cost.bytes_known);
    assert_true(cost.bytes[TRAFFIC_TP][COST_SLOT_NODE] > 639.9);
    assert_true(cost.bytes[TRAFFIC_TP][COST_SLOT_NODE] < 640.1);
    assert_true(cost.bytes[TRAFFIC_PP][COST_SLOT_TIERS] > 23.9);
    assert_true(cost.bytes[TRAFFIC_PP][COST_SLOT_TIERS] < 24.1);
    /* 640 bytes for 1 s each, and half of 24 bytes for 4 s each, over 64 ranks. */
    assert_true(cost.seconds_known);
    assert_true(cost.exposed_seconds > 10.749 && cost.exposed_seconds < 10.751);
}

static void counts_nothing_without_degrees(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&flat, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .gpus_per_node = 8, .locality_only = true};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    assert_non_null(map);
    struct mapping_cost cost;
    mapping_cost_compute(map, NULL, NULL, &cost);
    static const uint64_t none[COST_SLOT_MAXIMUM];
    for (unsigned d = 0; d < TRAFFIC_DIMENSION_COUNT; d++)
        assert_memory_equal(cost.pairs[d], none, sizeof(none));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_pairs_by_tier),
    cmocka_unit_test(names_slots_and_weighs_them),
    cmocka_unit_test(counts_nothing_without_degrees),
};

int main(void) { return unit_test_main("mapping/mapping_cost", tests, COUNT_OF(tests)); }
