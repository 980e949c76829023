/* SPDX-License-Identifier: MIT */
#include "mapping/rank_map.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

#define SIXTY_FOUR ((struct degrees){8, 1, 1, 8, 4, 1, 2, 1, 2})

static const struct test_switch two_leaves[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster eight_nodes = {
    .nodes = "n[1-8]", .gpus = 8, .switches = two_leaves, .switch_count = COUNT_OF(two_leaves)};

/* 64 GPUs, tp=8, pp=4, dp=2: replica 0 on the first four nodes, replica 1 on the others. */
static void golden_example(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    for (unsigned order = 0; order < RANK_ORDER_COUNT; order++) {
        const struct node_mapping_request request = {.cluster = cluster,
                                                     .degrees = SIXTY_FOUR,
                                                     .order = (enum rank_order)order,
                                                     .gpus_per_node = 8};
        CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
        assert_non_null(map);
        assert_int_equal(map->world, 64);
        assert_int_equal(map->block_count, 8);
        assert_string_equal(rank_map_master(map), "n1");
        for (uint64_t rank = 0; rank < map->world; rank++) {
            struct rank_place place;
            rank_map_place(map, rank, &place);
            const struct rank_coordinates *at = &place.coordinates;
            assert_int_equal(place.rank, rank);
            assert_int_equal(place.node, at->dp * 4 + at->pp);
            assert_int_equal(place.local_rank, at->tp);
            assert_int_equal(place.gpu, at->tp);
            assert_int_equal(place.nic, at->tp);
            assert_int_equal(rank_of(map->order, &map->degrees, at->tp, at->cp, at->dp, at->pp),
                             rank);
        }
        rank_map_free(map);
        map = NULL;
    }
}

static struct node_topology *node_without_nics(unsigned gpus, const unsigned *domains)
{
    struct node_topology *node = test_node_create(gpus, domains, NVLINK_KNOWN);
    for (unsigned i = 0; node && i < gpus; i++)
        ((struct node_gpu *)node->gpus)[i].nic_count = 0;
    return node;
}

/* Each kind of node has its own order of GPUs; nodes that are too small are passed over. */
static void maps_each_kind_by_itself(void **state)
{
    (void)state;
    static const unsigned pairs[4] = {0, 1, 0, 1};
    static const char *const kind_names[] = {"plain", "pairs", "small", "unused"};
    static const unsigned kinds[] = {2, 1, 0};
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_decode("a,b,c", &err);
    assert_non_null(names);
    struct node_topology *nodes[] = {
        test_node_create(4, NULL, NVLINK_KNOWN), node_without_nics(4, pairs),
        test_node_create(2, NULL, NVLINK_KNOWN), test_node_create(4, NULL, NVLINK_KNOWN)};
    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        assert_non_null(nodes[i]);
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_create("mixed", nodes, kind_names, 4, names, kinds, NULL, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = {2, 1, 1, 2, 1, 1, 4, 1, 4}, .gpus_per_node = 4};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    assert_non_null(map);
    static const struct {
        unsigned node, gpu;
        int nic;
    } places[] = {{1, 0, -1}, {1, 2, -1}, {1, 1, -1}, {1, 3, -1},
                  {2, 0, 0},  {2, 1, 1},  {2, 2, 2},  {2, 3, 3}};
    for (uint64_t rank = 0; rank < COUNT_OF(places); rank++) {
        struct rank_place place;
        rank_map_place(map, rank, &place);
        assert_int_equal(place.node, places[rank].node);
        assert_int_equal(place.gpu, places[rank].gpu);
        assert_int_equal(place.nic, places[rank].nic);
    }
    assert_null(map->kind_gpus[2]);
    assert_null(map->kind_gpus[3]);
}

static void has_no_coordinates_without_degrees(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .gpus_per_node = 4, .locality_only = true};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, &err);
    assert_non_null(map);
    assert_true(map->locality_only);
    assert_int_equal(map->world, 32);
    struct rank_place place;
    rank_map_place(map, 31, &place);
    assert_int_equal(place.node, 7);
    assert_int_equal(place.gpu, 3);
    assert_int_equal(place.coordinates.tp, 0);
    assert_int_equal(place.coordinates.dp, 0);
}

static void refuses_and_frees_nothing_twice(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    assert_non_null(cluster);
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = {8, 1, 1, 8, 4, 1, 4, 1, 4}, .gpus_per_node = 8};
    assert_null(rank_map_create(&request, &err));
    assert_non_null(strstr(err.text, "128 ranks need 16 nodes"));
    rank_map_free(NULL);
}

static int create_once(void *context, struct error_info *err)
{
    const struct node_mapping_request request = {
        .cluster = context, .degrees = SIXTY_FOUR, .gpus_per_node = 8};
    CLEANUP(rank_map) struct rank_map *map = rank_map_create(&request, err);
    return map ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&eight_nodes, &err);
    if (cluster)
        unit_test_expect_clean_failures(create_once, cluster);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(golden_example),
    cmocka_unit_test(maps_each_kind_by_itself),
    cmocka_unit_test(has_no_coordinates_without_degrees),
    cmocka_unit_test(refuses_and_frees_nothing_twice),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/rank_map", tests, COUNT_OF(tests)); }
