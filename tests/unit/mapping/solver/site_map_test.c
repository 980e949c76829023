/* SPDX-License-Identifier: MIT */
#include "mapping/solver/site_map.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include <string.h>

#define NODES_MAXIMUM 1100u

/* Leaves by size within their pod; twins in natural order; pods by size. */
static const struct test_switch pods[] = {
    {"leaf1", "n[1-2]", NULL},         {"leaf2", "n[3-5]", NULL},   {"leaf3", "n[6-9]", NULL},
    {"leaf4", "n[10-11]", NULL},       {"leaf5", "n[12-15]", NULL}, {"pod1", NULL, "leaf[1-2]"},
    {"pod2", NULL, "leaf3,leaf[4-5]"}, {"core", NULL, "pod[1-2]"}};
static const struct test_switch even[] = {
    {"leaf1", "n[1-4]", NULL}, {"leaf2", "n[5-7]", NULL}, {"spine", NULL, "leaf[1-2]"}};

static const struct {
    const char *name;
    struct test_cluster cluster;
    unsigned unit_nodes;
    const char *nodes; /* of the sites, in their order */
    unsigned leaf_count;
} rows[] = {
    {"more nodes first, twins in natural order",
     {.nodes = "n[15,1-14]", .gpus = 4, .switches = pods, .switch_count = COUNT_OF(pods)},
     1,
     "n6 n7 n8 n9 n12 n13 n14 n15 n10 n11 n3 n4 n5 n1 n2",
     5},
    {"units of two nodes; a node left over has no site",
     {.nodes = "n[1-7]", .gpus = 4, .switches = even, .switch_count = COUNT_OF(even)},
     2,
     "n1 n3 n5",
     2},
    {"no fabric: one leaf", {.nodes = "n[3,1,2]", .gpus = 4}, 1, "n1 n2 n3", 1},
};

static void numbers_sites(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = test_cluster_create(&rows[i].cluster, &err);
        assert_non_null(cluster);
        CLEANUP(fabric_tree)
        struct fabric_tree *tree = fabric_tree_create(cluster, 4, rows[i].unit_nodes, &err);
        CLEANUP(site_map)
        struct site_map *sites = tree ? site_map_create(tree, rows[i].unit_nodes, &err) : NULL;
        assert_non_null(sites);
        CLEANUP_DONE(text_buffer) struct text_buffer got;
        text_buffer_init(&got, 4096);
        for (unsigned site = 0; site < sites->site_count; site++)
            text_buffer_add(&got, "%s%s", site ? " " : "",
                            cluster->nodes[tree->nodes[sites->positions[site]]].name);
        if (strcmp(text_buffer_text(&got), rows[i].nodes) != 0)
            fail_msg("%s: %s", rows[i].name, text_buffer_text(&got));
        assert_int_equal(sites->leaf_count, rows[i].leaf_count);
    }
}

static bool is_below(const struct fabric_vertex *vertices, unsigned vertex, unsigned ancestor)
{
    while (vertex > ancestor)
        vertex = vertices[vertex].parent;
    return vertex == ancestor;
}

static void expect_ranges(const struct solver_case *sample)
{
    const struct site_map *sites = sample->sites;
    const struct fabric_tree *tree = sample->tree;
    for (unsigned v = 0; v < tree->vertex_count; v++) {
        if (tree->vertices[v].node_count == 0)
            continue;
        struct site_range range = site_map_below(sites, v);
        for (unsigned site = 0; site < sites->site_count; site++) {
            bool inside = site >= range.first && site < range.end;
            if (inside != is_below(tree->vertices, sites->vertices[sites->leaves[site]], v))
                fail_msg("%s: site %u and vertex %u", sample->name, site, v);
        }
    }
}

static void expect_sound(const struct solver_case *sample, void *context)
{
    const struct site_map *sites = sample->sites;
    const struct fabric_tree *tree = sample->tree;
    unsigned filled = 0, wide = sites->unit_nodes;
    (void)context;
    assert_int_equal(sites->site_count, tree->node_count / wide);
    for (unsigned leaf = 0; leaf < sites->leaf_count; leaf++) {
        const struct fabric_vertex *vertex = &tree->vertices[sites->vertices[leaf]];
        assert_int_equal(vertex->child_count, 0);
        assert_int_equal(sites->counts[leaf], vertex->node_count / wide);
        assert_int_equal(sites->first_site[leaf], filled);
        for (unsigned i = 0; i < sites->counts[leaf]; i++, filled++) {
            assert_int_equal(sites->leaves[filled], leaf);
            assert_int_equal(sites->positions[filled], vertex->first_node + i * wide);
            assert_int_equal(sites->site_at[sites->positions[filled] / wide], filled);
        }
        for (unsigned other = 0; other < sites->leaf_count; other++)
            assert_int_equal(
                site_map_slot(sites, leaf, other),
                fabric_tree_slot(tree->vertices, sites->vertices[leaf], sites->vertices[other]));
    }
    assert_int_equal(filled, sites->site_count);
    expect_ranges(sample);
}

static void agrees_with_its_tree(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    int count = solver_cases_visit(expect_sound, NULL, &err);
    if (count < 100)
        fail_msg("%d cases: %s", count, err.text);
}

/* Slots of as many leaves as this are not tabled, and are the same. */
static void looks_up_many_leaves(void **state)
{
    (void)state;
    static unsigned leaves[NODES_MAXIMUM];
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *names = node_list_decode("n[1-1100]", &err);
    assert_non_null(names);
    for (unsigned i = 0; i < NODES_MAXIMUM; i++)
        leaves[i] = i / 2;
    const struct test_grid grid = {.names = names,
                                   .leaves = leaves,
                                   .leaf_count = NODES_MAXIMUM / 2,
                                   .leaves_per_pod = 50,
                                   .gpus = 4};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_grid_create(&grid, &err);
    assert_non_null(cluster);
    CLEANUP(fabric_tree) struct fabric_tree *tree = fabric_tree_create(cluster, 4, 1, &err);
    CLEANUP(site_map) struct site_map *sites = tree ? site_map_create(tree, 1, &err) : NULL;
    assert_non_null(sites);
    assert_true(sites->leaf_count > SITE_MAP_TABLE_LEAVES);
    assert_null(sites->slots);
    assert_int_equal(site_map_slot(sites, 0, 0), COST_SLOT_TIERS);
    assert_int_equal(site_map_slot(sites, 0, 1), COST_SLOT_TIERS + 1);
    assert_int_equal(site_map_slot(sites, 0, 549), COST_SLOT_TIERS + 2);
}

static int create_once(void *context, struct error_info *err)
{
    CLEANUP(site_map) struct site_map *sites = site_map_create(context, 1, err);
    return sites ? 0 : -1;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = test_cluster_create(&rows[0].cluster, &err);
    CLEANUP(fabric_tree)
    struct fabric_tree *tree = cluster ? fabric_tree_create(cluster, 4, 1, &err) : NULL;
    if (tree)
        unit_test_expect_clean_failures(create_once, tree);
    site_map_free(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_sites),
    cmocka_unit_test(agrees_with_its_tree),
    cmocka_unit_test(looks_up_many_leaves),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("mapping/solver/site_map", tests, COUNT_OF(tests)); }
