/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/launcher_layout.h"
#include "mapping/evaluation/mapping_evaluation.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const char *const pairs_of_nodes[] = {"n[1-2]", "n[3-4]", "n[5-6]", "n[7-8]"};
static const struct test_cluster plain = {
    .nodes = "n[1-8]", .gpus = 8, .switches = two_leaves, .switch_count = COUNT_OF(two_leaves)};
static const struct test_cluster racks = {.nodes = "n[1-8]",
                                          .gpus = 8,
                                          .switches = two_leaves,
                                          .switch_count = COUNT_OF(two_leaves),
                                          .domains = pairs_of_nodes,
                                          .domain_count = COUNT_OF(pairs_of_nodes)};

static const struct degrees splits[] = {
    {8, 1, 1, 8, 4, 1, 2, 1, 2},   {16, 1, 1, 16, 2, 1, 2, 1, 2}, {2, 2, 1, 4, 4, 1, 4, 1, 4},
    {1, 1, 1, 1, 1, 1, 64, 1, 64}, {4, 2, 1, 4, 1, 1, 8, 1, 8},
};

static struct rank_map *map_of(const struct cluster_topology *cluster,
                               const struct degrees *degrees, enum rank_order order,
                               struct error_info *err)
{
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = *degrees, .order = order, .gpus_per_node = 8};
    return rank_map_create(&request, err);
}

static struct rank_places *copy_of(const struct rank_map *map)
{
    struct rank_places *places = rank_places_create(map->world);
    for (uint64_t rank = 0; places && rank < map->world; rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        places->nodes[rank] = place.node;
        places->gpus[rank] = place.gpu;
    }
    return places;
}

static void expect_same_pairs(const struct mapping_cost *left, const struct mapping_cost *right)
{
    assert_int_equal(left->slot_count, right->slot_count);
    assert_memory_equal(left->pairs, right->pairs, sizeof(left->pairs));
}

static void ours_beside_itself(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&plain, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(splits) * RANK_ORDER_COUNT; i++) {
        const struct degrees *degrees = &splits[i / RANK_ORDER_COUNT];
        CLEANUP(rank_map)
        struct rank_map *map =
            map_of(cluster, degrees, (enum rank_order)(i % RANK_ORDER_COUNT), &err);
        CLEANUP(rank_places) struct rank_places *places = map ? copy_of(map) : NULL;
        if (!places)
            fail_msg("%zu: %s", i, err.text);
        places->gpus_told = i % 2 == 0;
        struct mapping_cost ours;
        struct mapping_evaluation evaluation;
        mapping_cost_compute(map, NULL, NULL, &ours);
        mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NODE, "ours", &evaluation);
        expect_same_pairs(&ours, &evaluation.cost);
        assert_true(evaluation.same);
        assert_int_equal(evaluation.tp_groups, degrees->tp > 1 ? 64 / degrees->tp : 0);
        assert_int_equal(evaluation.tp_groups_split, degrees->tp > 8 ? 4 : 0);
    }
}

/* The pairs of dense dimensions, counted rank by rank from their coordinates. */
static void count_by_hand(const struct rank_map *map, const struct rank_places *places,
                          struct mapping_cost *ret)
{
    const struct degrees *degrees = &map->degrees;
    for (uint64_t rank = 0; rank < map->world; rank++) {
        struct rank_coordinates at;
        rank_coordinates_of(map->order, degrees, rank, &at);
        const struct {
            enum traffic_dimension dimension;
            bool sends;
            uint64_t peer;
        } sends[] = {
            {TRAFFIC_TP, degrees->tp > 1,
             rank_of(map->order, degrees, (at.tp + 1) % degrees->tp, at.cp, at.dp, at.pp)},
            {TRAFFIC_CP, degrees->cp > 1,
             rank_of(map->order, degrees, at.tp, (at.cp + 1) % degrees->cp, at.dp, at.pp)},
            {TRAFFIC_PP, at.pp + 1 < degrees->pp,
             rank_of(map->order, degrees, at.tp, at.cp, at.dp, (at.pp + 1) % degrees->pp)},
            {TRAFFIC_DP, degrees->dp > 1,
             rank_of(map->order, degrees, at.tp, at.cp, (at.dp + 1) % degrees->dp, at.pp)},
        };
        for (size_t i = 0; i < COUNT_OF(sends); i++) {
            unsigned from = places->nodes[rank], to = places->nodes[sends[i].peer];
            int distance =
                from == to ? DISTANCE_SAME_NODE : cluster_distance(map->cluster, from, to);
            if (sends[i].sends)
                ret->pairs[sends[i].dimension][distance + 2]++;
        }
    }
}

/* Ranks dealt to nodes by a small generator; a node keeps its eight. */
static void shuffle(struct rank_places *places, uint64_t seed)
{
    for (uint64_t rank = places->world - 1; rank > 0; rank--) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t other = (seed >> 33) % (rank + 1);
        unsigned node = places->nodes[rank];
        places->nodes[rank] = places->nodes[other];
        places->nodes[other] = node;
    }
}

static void any_mapping_has_its_pairs(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&racks, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(splits) * 8; i++) {
        CLEANUP(rank_map)
        struct rank_map *map =
            map_of(cluster, &splits[i / 8], (enum rank_order)(i % RANK_ORDER_COUNT), &err);
        CLEANUP(rank_places) struct rank_places *places = map ? copy_of(map) : NULL;
        assert_non_null(places);
        shuffle(places, i);
        struct mapping_evaluation evaluation;
        struct mapping_cost by_hand = {.slot_count = cluster_tier_count(cluster) + 3};
        count_by_hand(map, places, &by_hand);
        mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NODE, "random", &evaluation);
        expect_same_pairs(&by_hand, &evaluation.cost);
        assert_false(evaluation.same);
        assert_false(evaluation.cost.bytes_known);
    }
}

static const struct {
    const struct test_cluster *cluster;
    const char *layout;
    enum tp_within within;
    unsigned tp;
    uint64_t groups, split;
} groups[] = {
    {&plain, "slurm:block", TP_WITHIN_NODE, 8, 8, 0},
    {&plain, "slurm:cyclic", TP_WITHIN_NODE, 8, 8, 8},
    {&plain, "slurm:cyclic", TP_WITHIN_OFF, 8, 8, 8},
    {&plain, "slurm:plane=4", TP_WITHIN_NODE, 4, 16, 0},
    {&racks, "slurm:cyclic", TP_WITHIN_NODE, 2, 32, 32},
    {&racks, "slurm:cyclic", TP_WITHIN_NVLINK_DOMAIN, 2, 32, 0},
    {&racks, "slurm:cyclic", TP_WITHIN_NVLINK_DOMAIN, 4, 16, 16},
    {&racks, "slurm:block", TP_WITHIN_NVLINK_DOMAIN, 16, 4, 0},
    {&racks, "slurm:block", TP_WITHIN_NODE, 16, 4, 4},
    {&plain, "slurm:cyclic", TP_WITHIN_NODE, 1, 0, 0},
};

static void counts_split_groups(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(groups[i].cluster, &err);
        assert_non_null(cluster);
        unsigned tp = groups[i].tp, dp = 64 / tp;
        const struct degrees degrees = {tp, 1, 1, tp, 1, 1, dp, 1, dp};
        CLEANUP(rank_map)
        struct rank_map *map = map_of(cluster, &degrees, ORDER_TP_CP_EP_DP_PP, &err);
        assert_non_null(map);
        CLEANUP(rank_places)
        struct rank_places *places = launcher_layout_create(groups[i].layout, map, &err);
        assert_non_null(places);
        struct mapping_evaluation evaluation;
        mapping_evaluation_compute(map, places, NULL, NULL, groups[i].within, "x", &evaluation);
        if (evaluation.tp_groups != groups[i].groups ||
            evaluation.tp_groups_split != groups[i].split)
            fail_msg("%s, tp=%u: %llu of %llu", groups[i].layout, tp,
                     (unsigned long long)evaluation.tp_groups_split,
                     (unsigned long long)evaluation.tp_groups);
    }
}

static void counts_only_the_groups_that_are_cut(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&plain, &err);
    assert_non_null(cluster);
    CLEANUP(rank_map)
    struct rank_map *map = map_of(cluster, &splits[0], ORDER_TP_CP_EP_DP_PP, &err);
    CLEANUP(rank_places) struct rank_places *places = map ? copy_of(map) : NULL;
    assert_non_null(places);
    unsigned node = places->nodes[7];
    places->nodes[7] = places->nodes[63];
    places->nodes[63] = node;
    struct mapping_evaluation evaluation;
    mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NODE, "x", &evaluation);
    assert_int_equal(evaluation.tp_groups, 8);
    assert_int_equal(evaluation.tp_groups_split, 2);
    assert_int_equal(evaluation.other_nodes, 2);
    assert_int_equal(evaluation.world, 64);
}

/* Pairs of bridged GPUs: which GPU a rank has decides. */
static void looks_at_gpus_inside_a_node(void **state)
{
    (void)state;
    static const unsigned bridges[] = {0, 1, 0, 1};
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *node = test_node_create(4, bridges, NVLINK_KNOWN);
    const char *const kind = "bridged";
    const unsigned kinds[] = {0};
    CLEANUP(node_list) struct node_list *names = node_list_decode("n1", &err);
    if (!node || !names) {
        node_topology_free(node);
        fail_msg("no memory");
        return;
    }
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_create("box", &node, &kind, 1, names, kinds, NULL, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = {2, 1, 1, 2, 1, 1, 2, 1, 2}, .gpus_per_node = 4};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    CLEANUP(rank_places) struct rank_places *places = map ? copy_of(map) : NULL;
    assert_non_null(places);
    places->gpus_told = true;
    struct mapping_evaluation evaluation;
    mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NVLINK_DOMAIN, "x", &evaluation);
    assert_int_equal(evaluation.tp_groups_split, 0);
    assert_true(evaluation.same);
    for (unsigned rank = 0; rank < 4; rank++)
        places->gpus[rank] = rank;
    mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NVLINK_DOMAIN, "x", &evaluation);
    assert_int_equal(evaluation.tp_groups_split, 2);
    assert_int_equal(evaluation.other_gpus, 2);
    assert_int_equal(evaluation.other_nodes, 0);
    assert_false(evaluation.same);
    places->gpus_told = false;
    mapping_evaluation_compute(map, places, NULL, NULL, TP_WITHIN_NODE, "x", &evaluation);
    assert_int_equal(evaluation.tp_groups_split, 0);
    assert_true(evaluation.same);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_beside_itself),
        cmocka_unit_test(any_mapping_has_its_pairs),
        cmocka_unit_test(counts_split_groups),
        cmocka_unit_test(counts_only_the_groups_that_are_cut),
        cmocka_unit_test(looks_at_gpus_inside_a_node),
    };
    return unit_test_main("mapping/evaluation/mapping_evaluation", tests, COUNT_OF(tests));
}
