/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/collect/cluster_collection.h"
#include "topology/collect/node_kind.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/node_file.h"

#include <stdlib.h>

#define HEAD "schema: parplan.node/1\n"
#define GPUS                                                                                       \
    "gpus:\n"                                                                                      \
    "  - {model: h100-sxm, bus_id: \"01:00.0\", uuid: GPU-@-1}\n"                                  \
    "  - {model: h100-sxm, bus_id: \"02:00.0\", uuid: GPU-@-2}\n"
#define GOOD HEAD GPUS "nvlink: {switched: true, rate: 450GB/s}\n"
#define LOST HEAD GPUS "nvlink: none\n"

static struct node_topology *read_node(const char *text, struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    if (!gpus)
        return NULL;
    CLEANUP(node_evidence)
    struct node_evidence *evidence = node_file_parse(text, strlen(text), "node.yaml", err);
    const struct node_evidence *const all[] = {evidence};
    return evidence ? node_topology_merge("node.yaml", all, 1, gpus, err) : NULL;
}

/* '@' in the file is what only this node has. */
static int add(struct cluster_collection *collection, const char *name, const char *file,
               struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    char where[64];
    text_buffer_init(&text, 4096);
    for (; *file; file++)
        text_buffer_add(&text, "%.*s", *file == '@' ? 16 : 1, *file == '@' ? name : file);
    if (text_buffer_failed(&text))
        return error_set_memory(err);
    snprintf(where, sizeof(where), "nodes/%s.yaml", name);
    struct node_topology *node = read_node(text_buffer_text(&text), err);
    return node ? cluster_collection_add(collection, name, where, node, err) : -1;
}

static void expect_added(struct cluster_collection *collection, const char *name, const char *file)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (add(collection, name, file, &err) < 0)
        fail_msg("%s", err.text);
}

static struct cluster_collection *create(void)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_collection *collection = cluster_collection_create(&err);
    expect_made(collection, &err);
    return collection;
}

static struct cluster_topology *build(struct cluster_collection *collection,
                                      const struct fabric *fabric, bool without_degraded)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster =
        cluster_collection_build(collection, "collected", fabric, without_degraded, &err);
    expect_made(cluster, &err);
    return cluster;
}

static const char *kind_of(const struct cluster_topology *cluster, const char *name)
{
    for (size_t i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].name, name) == 0)
            return cluster->kind_names[cluster->nodes[i].kind];
    return "none";
}

static void equal_nodes_share_a_kind(void **state)
{
    (void)state;
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    expect_added(collection, "n10", GOOD);
    expect_added(collection, "n9", GOOD);
    expect_added(collection, "n2", HEAD "gpus: [{model: l40s}, {model: l40s}]\n");
    expect_added(collection, "n1", GOOD);
    assert_int_equal(cluster_collection_count(collection), 4);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = build(collection, NULL, false);
    assert_int_equal(cluster->kind_count, 2);
    assert_string_equal(cluster->nodes[0].name, "n1");
    assert_string_equal(cluster->nodes[3].name, "n10");
    assert_string_equal(cluster->kind_names[0], "2x-h100-sxm");
    assert_string_equal(kind_of(cluster, "n2"), "2x-l40s");
    assert_string_equal(kind_of(cluster, "n10"), "2x-h100-sxm");
    assert_null(cluster->fabric);
    assert_null(cluster->kinds[0]->gpus[0].uuid);
}

static void variants_and_degraded_nodes_have_names(void **state)
{
    (void)state;
    static const char bad[] =
        HEAD "gpus:\n"
             "  - {model: h100-sxm, bus_id: \"01:00.0\", problem: lost NVLink}\n"
             "  - {model: h100-sxm, bus_id: \"02:00.0\"}\n"
             "nics: [{name: mlx5_0, problem: port is down}]\n"
             "nvlink: none\n";
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    expect_added(collection, "n1", GOOD);
    expect_added(collection, "n2", LOST);
    expect_added(collection, "n3", bad);
    expect_added(collection, "n4", HEAD "gpus: []\n");
    expect_added(collection, "n5", HEAD "gpus: [{model: h100-sxm}, {model: l40s}]\n");
    expect_added(collection, "n6", HEAD "gpus: [{model: Some  Board (TM)}]\n");
    expect_added(collection, "n7", HEAD "gpus: [{}]\n");
    cluster_collection_sort(collection);
    assert_null(cluster_collection_node(collection, 0).problems);
    struct cluster_collected third = cluster_collection_node(collection, 2);
    assert_string_equal(third.name, "n3");
    assert_string_equal(third.problems, "GPU 0: lost NVLink; NIC mlx5_0: port is down");
    CLEANUP(cluster_topology) struct cluster_topology *cluster = build(collection, NULL, false);
    static const char *const names[] = {"2x-h100-sxm", "2x-h100-sxm-2", "2x-h100-sxm-degraded",
                                        "no-gpus",     "2x-mixed",      "1x-some-board-tm",
                                        "1x-gpu"};
    assert_int_equal(cluster->kind_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(cluster->kind_names[i], names[i]);
}

static void degraded_nodes_can_be_left_out(void **state)
{
    (void)state;
    static const char bad[] = HEAD "gpus: [{model: h100-sxm, problem: slow}]\n";
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    CLEANUP(cluster_collection) struct cluster_collection *all_bad = create();
    expect_added(collection, "n1", bad);
    expect_added(collection, "n2", GOOD);
    expect_added(all_bad, "n1", bad);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = build(collection, NULL, true);
    assert_int_equal(cluster->node_count, 1);
    assert_int_equal(cluster->kind_count, 1);
    assert_string_equal(cluster->nodes[0].name, "n2");
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(cluster_collection_build(all_bad, "c", NULL, true, &err));
    expect_message(&err, "every node is degraded");
}

static void host_memory_may_differ_a_little(void **state)
{
    (void)state;
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    expect_added(collection, "n1", HEAD "host_memory: 2000GB\ngpus: [{model: h100}]\n");
    expect_added(collection, "n2", HEAD "host_memory: 1999GB\ngpus: [{model: h100}]\n");
    expect_added(collection, "n3", HEAD "host_memory: 1000GB\ngpus: [{model: h100}]\n");
    expect_added(collection, "n4", HEAD "gpus: [{model: h100}]\n");
    CLEANUP(cluster_topology) struct cluster_topology *cluster = build(collection, NULL, false);
    assert_int_equal(cluster->kind_count, 3);
    assert_true(cluster->kinds[0]->host_memory_bytes == UINT64_C(1999000000000));
}

#define TRAY(clique)                                                                               \
    HEAD "gpus: [{model: gb200}]\nnvlink: {gpu_rate: 900GB/s, leaves_node: true, domain_nodes: 2," \
         " clique: " clique "}\n"

static void cliques_become_domains(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static const char text[] = "SwitchName=s Nodes=n[1-6]\n";
    CLEANUP(fabric) struct fabric *fabric = fabric_parse_slurm(text, strlen(text), "t", &err);
    expect_made(fabric, &err);
    for (int with_fabric = 0; with_fabric < 2; with_fabric++) {
        CLEANUP(cluster_collection) struct cluster_collection *collection = create();
        expect_added(collection, "n4", TRAY("b.2"));
        expect_added(collection, "n1", TRAY("a.1"));
        expect_added(collection, "n3", TRAY("b.2"));
        expect_added(collection, "n2", TRAY("a.1"));
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = build(collection, with_fabric ? fabric : NULL, false);
        assert_int_equal(cluster->kind_count, 1);
        assert_null(cluster->kinds[0]->nvlink_clique);
        assert_non_null(cluster->fabric);
        assert_int_equal(cluster->fabric->domain_count, 2);
        assert_string_equal(cluster->fabric->domains[0].id, "a.1");
        assert_string_equal(cluster->fabric->domains[1].id, "b.2");
        assert_int_equal(cluster->fabric->switch_count, with_fabric);
        assert_int_equal(cluster_distance(cluster, 0, 1), DISTANCE_SAME_NVLINK_DOMAIN);
        assert_true(cluster_distance(cluster, 1, 2) >= 0);
    }
}

/* Slurm's blocks say it of nodes that name no clique themselves. */
static void cliques_win_over_the_fabrics_domains(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static const char text[] = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n";
    CLEANUP(fabric) struct fabric *fabric = fabric_parse_slurm(text, strlen(text), "t", &err);
    expect_made(fabric, &err);
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    expect_added(collection, "n1", TRAY("a.1"));
    expect_added(collection, "n2", TRAY("a.2"));
    static const char wide[] =
        HEAD "gpus: [{model: gb200}]\nnvlink: {gpu_rate: 900GB/s, leaves_node: true}\n";
    expect_added(collection, "n3", wide);
    expect_added(collection, "n4", wide);
    CLEANUP(cluster_topology) struct cluster_topology *cluster = build(collection, fabric, false);
    const struct cluster_node *nodes = cluster->nodes;
    assert_int_not_equal(nodes[0].nvlink_block, nodes[1].nvlink_block);
    assert_int_equal(nodes[2].nvlink_block, nodes[3].nvlink_block);
    assert_string_equal(cluster->fabric->domains[nodes[2].nvlink_block].name, "b2");
}

static void refuses_one_name_for_two_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    expect_added(collection, "n1", GOOD);
    expect_added(collection, "n1", GOOD);
    assert_int_equal(cluster_collection_count(collection), 1);
    struct node_topology *node = read_node(LOST, &err);
    expect_made(node, &err);
    assert_int_equal(cluster_collection_add(collection, "n1", "other/n1.yaml", node, &err), -1);
    expect_message(&err, "other/n1.yaml: node n1 stands in nodes/n1.yaml too, and differs");
    static const char *const names[] = {"n[1", "", "a b"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(add(collection, names[i], HEAD "gpus: []\n", &err), -1);
        expect_message(&err, ".yaml: name: ");
    }
    CLEANUP(cluster_collection) struct cluster_collection *empty = create();
    assert_null(cluster_collection_build(empty, "c", NULL, false, &err));
    expect_message(&err, "no node was collected");
}

static void refuses_nodes_without_order(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE();
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_collection) struct cluster_collection *collection = create();
    for (unsigned i = 0; i <= COLLECTION_MAXIMUM_KINDS; i++) {
        char name[16], text[128];
        snprintf(name, sizeof(name), "n%u", i);
        snprintf(text, sizeof(text), HEAD "cpus: %u\ngpus: [{model: h100}]\n", i + 1);
        int added = add(collection, name, text, &err);
        assert_int_equal(added, i < COLLECTION_MAXIMUM_KINDS ? 0 : -1);
    }
    expect_message(&err, "more than 256 kinds of nodes");
}

static int collect(void *context, struct error_info *err)
{
    (void)context;
    static const char *const files[] = {GOOD, TRAY("a.1"), TRAY("a.1"), GOOD,
                                        HEAD "gpus: [{problem: slow}]\n"};
    CLEANUP(cluster_collection)
    struct cluster_collection *collection = cluster_collection_create(err);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%zu", i);
        if (!collection || add(collection, name, files[i], err) < 0)
            return -1;
    }
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = cluster_collection_build(collection, "c", NULL, false, err);
    return cluster ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(collect, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_nodes_share_a_kind),
    cmocka_unit_test(variants_and_degraded_nodes_have_names),
    cmocka_unit_test(degraded_nodes_can_be_left_out),
    cmocka_unit_test(host_memory_may_differ_a_little),
    cmocka_unit_test(cliques_become_domains),
    cmocka_unit_test(cliques_win_over_the_fabrics_domains),
    cmocka_unit_test(refuses_one_name_for_two_nodes),
    cmocka_unit_test(refuses_nodes_without_order),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("topology/cluster_collection", tests, COUNT_OF(tests)); }
