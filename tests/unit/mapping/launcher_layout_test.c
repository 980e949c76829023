/* SPDX-License-Identifier: MIT */
#include "mapping/evaluation/launcher_layout.h"
#include "tests/support/test_cluster.h"
#include "tests/support/unit_test.h"

#include <string.h>

/* Four nodes of four GPUs, in two leaves that do not follow the cluster's order. */
static const struct test_switch two_leaves[] = {
    {"leaf1", "n1,n3", NULL}, {"leaf2", "n2,n4", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster four_nodes = {
    .nodes = "n[1-4]", .gpus = 4, .switches = two_leaves, .switch_count = COUNT_OF(two_leaves)};

static const struct degrees sixteen = {4, 1, 1, 4, 2, 1, 2, 1, 2};
static const struct degrees eight = {4, 1, 1, 4, 2, 1, 1, 1, 1};

/* Digits: the node (1 to 4) of each rank. Of eight ranks ours takes one leaf: n1 and n3. */
static const struct {
    const char *word;
    const struct degrees *degrees;
    const char *nodes, *gpus;
} rows[] = {
    {"slurm:block", &sixteen, "1111222233334444", "0123012301230123"},
    {"mpirun:slot", &sixteen, "1111222233334444", "0123012301230123"},
    {"slurm:cyclic", &sixteen, "1234123412341234", "0000111122223333"},
    {"mpirun:node", &sixteen, "1234123412341234", "0000111122223333"},
    {"slurm:plane=1", &sixteen, "1234123412341234", "0000111122223333"},
    {"slurm:plane=2", &sixteen, "1122334411223344", "0101010123232323"},
    {"slurm:plane=4", &sixteen, "1111222233334444", "0123012301230123"},
    {"slurm:block", &eight, "11113333", "01230123"},
    {"slurm:cyclic", &eight, "13131313", "00112233"},
};

static const struct {
    const char *word, *error;
} bad[] = {
    {"slurm:", "'slurm:' is no layout; use slurm:block, slurm:cyclic, slurm:plane=N, mpirun:slot"},
    {"slurm:blocks", "'slurm:blocks' is no layout"},
    {"slurm:plane", "'slurm:plane' is no layout"},
    {"mpirun:core", "'mpirun:core' is no layout"},
    {"slurm:plane=", "slurm:plane: '' is not a whole number from 1 to"},
    {"slurm:plane=0", "slurm:plane: '0' is not a whole number from 1 to"},
    {"slurm:plane=3", "slurm:plane: 3 does not divide the 4 ranks of a node, and Slurm would put "
                      "more on some nodes than they have GPUs; use 2"},
    {"slurm:plane=8", "slurm:plane: 8 does not divide the 4 ranks of a node"},
    {"slurm:plane=2x", "slurm:plane: '2x' is not a whole number from 1 to"},
    {"slurm:plane=99999999999", "slurm:plane: '99999999999' is not a whole number from 1 to"},
};

static struct rank_map *map_of(const struct cluster_topology *cluster,
                               const struct degrees *degrees, struct error_info *err)
{
    const struct node_mapping_request request = {
        .cluster = cluster, .degrees = *degrees, .gpus_per_node = 4};
    return rank_map_create(&request, err);
}

static void deals_as_launchers_do(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(rank_map) struct rank_map *map = map_of(cluster, rows[i].degrees, &err);
        assert_non_null(map);
        CLEANUP(rank_places)
        struct rank_places *places = launcher_layout_create(rows[i].word, map, &err);
        assert_non_null(places);
        assert_int_equal(places->world, strlen(rows[i].nodes));
        assert_false(places->gpus_told);
        for (unsigned rank = 0; rank < places->world; rank++) {
            if (places->nodes[rank] + 1 != (unsigned)(rows[i].nodes[rank] - '0') ||
                places->gpus[rank] != (unsigned)(rows[i].gpus[rank] - '0'))
                fail_msg("%s: rank %u is on n%u, GPU %u", rows[i].word, rank,
                         places->nodes[rank] + 1, places->gpus[rank]);
        }
    }
}

static void knows_its_words(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, &err);
    assert_non_null(cluster);
    CLEANUP(rank_map) struct rank_map *map = map_of(cluster, &sixteen, &err);
    assert_non_null(map);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_true(launcher_layout_is_word(bad[i].word));
        assert_null(launcher_layout_create(bad[i].word, map, &err));
        if (strstr(err.text, bad[i].error) != err.text)
            fail_msg("'%s': '%s'", bad[i].word, err.text);
    }
    assert_false(launcher_layout_is_word("./slurm:block"));
    assert_false(launcher_layout_is_word("hosts"));
    assert_false(launcher_layout_is_word("slurm"));
}

static int deal_once(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&four_nodes, err);
    CLEANUP(rank_map) struct rank_map *map = cluster ? map_of(cluster, &sixteen, err) : NULL;
    CLEANUP(rank_places)
    struct rank_places *places = map ? launcher_layout_create("slurm:cyclic", map, err) : NULL;
    return places ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(deal_once, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deals_as_launchers_do),
        cmocka_unit_test(knows_its_words),
        cmocka_unit_test(fails_cleanly_without_memory),
    };
    return unit_test_main("mapping/evaluation/launcher_layout", tests, COUNT_OF(tests));
}
