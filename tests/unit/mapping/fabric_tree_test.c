/* SPDX-License-Identifier: MIT */
#include "mapping/fabric_tree.h"
#include "tests/support/solver_case.h"
#include "tests/support/unit_test.h"

static unsigned leaf_at(const struct fabric_tree *tree, unsigned position)
{
    unsigned vertex = 0;
    while (tree->vertices[vertex].child_count > 0) {
        unsigned child = tree->vertices[vertex].first_child;
        while (position >= tree->vertices[child].first_node + tree->vertices[child].node_count)
            child++;
        vertex = child;
    }
    return vertex;
}

static unsigned slot_of_distance(int distance)
{
    return distance == DISTANCE_SAME_NVLINK_DOMAIN ? COST_SLOT_DOMAIN
                                                   : COST_SLOT_TIERS + (unsigned)distance;
}

/* How far two nodes are apart is what the cluster says. */
static void expect_distances(const struct solver_case *sample, void *context)
{
    const struct fabric_tree *tree = sample->tree;
    (void)context;
    for (unsigned left = 0; left < tree->node_count; left++)
        for (unsigned right = 0; right < left; right++) {
            unsigned slot =
                fabric_tree_slot(tree->vertices, leaf_at(tree, left), leaf_at(tree, right));
            int distance = cluster_distance(sample->cluster, tree->nodes[left], tree->nodes[right]);
            if (slot != slot_of_distance(distance))
                fail_msg("%s: positions %u and %u: slot %u, distance %d", sample->name, left, right,
                         slot, distance);
        }
}

static void expect_parents(const struct solver_case *sample, void *context)
{
    const struct fabric_vertex *vertices = sample->tree->vertices;
    (void)context;
    assert_int_equal(vertices[0].parent, 0);
    for (unsigned v = 0; v < sample->tree->vertex_count; v++) {
        unsigned nodes = 0, end = vertices[v].first_child + vertices[v].child_count;
        for (unsigned child = vertices[v].first_child; child < end; child++) {
            assert_int_equal(vertices[child].parent, v);
            assert_int_equal(vertices[child].first_node, vertices[v].first_node + nodes);
            assert_true(vertices[child].slot < vertices[v].slot || vertices[child].loose);
            if (vertices[child].loose)
                assert_int_equal(vertices[child].slot, vertices[v].slot);
            nodes += vertices[child].node_count;
        }
        if (vertices[v].child_count > 0)
            assert_int_equal(nodes, vertices[v].node_count);
    }
}

static void visit(solver_case_fn each)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (solver_cases_visit(each, NULL, &err) < 100)
        fail_msg("%s", err.text);
}

static void knows_how_far_nodes_are_apart(void **state)
{
    (void)state;
    visit(expect_distances);
}

static void knows_what_is_above(void **state)
{
    (void)state;
    visit(expect_parents);
}

static const struct test_switch leaves[] = {
    {"leaf1", "n[1-3]", NULL}, {"leaf2", "n[4-8]", NULL}, {"spine", NULL, "leaf[1-2]"}};
static const struct test_cluster eight = {
    .nodes = "n[1-8]", .gpus = 4, .switches = leaves, .switch_count = COUNT_OF(leaves)};

static int create_once(void *context, struct error_info *err)
{
    CLEANUP(fabric_tree) struct fabric_tree *tree = fabric_tree_create(context, 4, 2, err);
    return tree ? 0 : -1;
}

static void keeps_multiples_and_fails_cleanly(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = test_cluster_create(&eight, &err);
    assert_non_null(cluster);
    CLEANUP(fabric_tree) struct fabric_tree *tree = fabric_tree_create(cluster, 4, 2, &err);
    assert_non_null(tree);
    assert_int_equal(tree->node_count, 6);
    CLEANUP(fabric_tree) struct fabric_tree *none = fabric_tree_create(cluster, 5, 1, &err);
    assert_non_null(none);
    assert_int_equal(none->node_count, 0);
    unit_test_expect_clean_failures(create_once, cluster);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(knows_how_far_nodes_are_apart),
    cmocka_unit_test(knows_what_is_above),
    cmocka_unit_test(keeps_multiples_and_fails_cleanly),
};

int main(void) { return unit_test_main("mapping/fabric_tree", tests, COUNT_OF(tests)); }
