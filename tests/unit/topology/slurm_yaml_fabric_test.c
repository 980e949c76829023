/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "tests/unit/topology/fabric_checks.h"
#include "topology/fabric_readers/fabric_readers.h"

#define TREE                                                                                       \
    "- topology: tree\n"                                                                           \
    "  tree:\n"                                                                                    \
    "    switches:\n"                                                                              \
    "    - {switch: root, children: 's[1-2]'}\n"                                                   \
    "    - {switch: s1, nodes: 'n[1-4]'}\n"                                                        \
    "    - switch: s2\n"                                                                           \
    "      nodes: n[5-8]\n"                                                                        \
    "      link_speed: 100\n"
#define BLOCKS                                                                                     \
    "- topology: nvl\n"                                                                            \
    "  block:\n"                                                                                   \
    "    block_sizes: [2, 4]\n"                                                                    \
    "    blocks:\n"                                                                                \
    "    - {block: b1, nodes: 'n[1-2]'}\n"                                                         \
    "    - {block: b2, nodes: 'n[3-4]'}\n"                                                         \
    "    - {block: b3, nodes: 'n[5-8]'}\n"
#define FLAT "- {topology: none, flat: true}\n"
#define RING "- {topology: circle, ring: {rings: [{ring: r1, nodes: 'n[1-8]'}]}}\n"

static struct fabric *parse(const char *text, struct error_info *err)
{
    return fabric_parse_slurm_yaml(text, strlen(text), "topology.yaml", err);
}

static struct fabric *open_fabric(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = parse(text, &err);
    if (!fabric)
        fail_msg("%s", err.text);
    return fabric;
}

static void reads_a_tree(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TREE,
        "---\n" FLAT TREE,
        /* what slurmctld prints of the other kinds is empty */
        "- topology: tree\n  cluster_default: true\n  flat: false\n  block: {block_sizes: [], "
        "blocks: []}\n  tree: {switches: [{switch: root, nodes: '', children: 's1,s2'}, {switch: "
        "s1, nodes: 'n[1-4]', children: null}, {switch: s2, nodes: 'n[5-8]'}]}\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(fabric) struct fabric *fabric = open_fabric(texts[i]);
        assert_int_equal(fabric->switch_count, 3);
        assert_int_equal(fabric->node_count, 8);
        assert_int_equal(fabric->domain_count, 0);
        assert_int_equal(fabric->warning_count, 0);
        expect_distance(fabric, "n1", "n4", 0);
        expect_distance(fabric, "n1", "n5", 1);
    }
}

static void reads_blocks(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = open_fabric(FLAT BLOCKS);
    assert_int_equal(fabric->tier_count, 2);
    assert_string_equal(fabric->tier_names[0], "block");
    assert_string_equal(fabric->tier_names[1], "aggregate-4");
    expect_domain(fabric, 0, "b1", NULL, 2);
    expect_domain(fabric, 2, "b3", NULL, 4);
    expect_distance(fabric, "n1", "n2", 0);
    expect_distance(fabric, "n1", "n3", 1);
    expect_distance(fabric, "n1", "n5", 2);
}

static void reads_blocks_beside_a_tree(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = open_fabric(BLOCKS TREE);
    assert_int_equal(fabric->switch_count, 3);
    assert_int_equal(fabric->domain_count, 3);
    assert_int_equal(fabric->warning_count, 0);
    assert_int_equal(fabric->nodes[fabric_find_node(fabric, "n4")].nvlink_block, 1);
    expect_distance(fabric, "n1", "n3", 0);
}

static void chooses_the_default(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_fabric(
        TREE RING
        "- {topology: other, cluster_default: true, tree: {switches: [{switch: x, nodes: m1}]}}\n"
        "- {topology: late, cluster_default: true, tree: {switches: [{switch: y, nodes: m2}]}}\n");
    assert_int_equal(fabric->node_count, 1);
    assert_string_equal(fabric->nodes[0].name, "m1");
    assert_int_equal(fabric->warning_count, 3);
    assert_string_equal(fabric->warnings[0], "topology.yaml:1: topology tree is left out");
    assert_string_equal(fabric->warnings[1], "topology.yaml:9: topology circle is left out");
}

static void refuses_with_place(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"", "topology.yaml"},
        {"tree: {}\n",
         "topology.yaml:1: a list of topologies is expected, as \"- topology: NAME\""},
        {"[]\n", "a list of topologies is expected"},
        {"- {topology: t, mesh: true}\n",
         "topology.yaml:1: [0].mesh: unknown key; the keys here are: topology, cluster_default, "
         "flat, tree, block, ring, torus3d"},
        {"- {tree: {switches: []}}\n", "topology"},
        {FLAT, "topology.yaml:1: [0]: no topology is a tree or has blocks (none is flat): nothing "
               "tells how nodes are connected"},
        {RING TREE, "topology.yaml:1: [0].ring: topology circle is not read; make a tree or a "
                    "block topology the default, or describe the network in a cluster file"},
        {"- {topology: t, torus3d: {}}\n", "topology.yaml:1: [0].torus3d: topology t is not read"},
        {"- {topology: t, flat: true, tree: {switches: [{switch: a, nodes: n1}]}}\n",
         "topology.yaml:1: [0]: topology t is of two kinds"},
        {"- topology: t\n  tree: {switches: {a: b}}\n",
         "topology.yaml:2: [0].tree.switches: a list of switches is expected"},
        {"- topology: t\n  tree:\n    switches:\n    - {switch: '', nodes: n1}\n",
         "topology.yaml:4: [0].tree.switches[0].switch: the name is empty"},
        {"- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: 'n[1-'}\n",
         "topology.yaml:4: node list 'n[1-': a '[' has no ']'"},
        {"- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: 'block{b1}'}\n",
         "topology.yaml:4: [0].tree.switches[0]: block{b1} is a function that only slurmctld can "
         "resolve; write the names out"},
        {"- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: n1}\n"
         "    - {switch: a, nodes: n2}\n",
         "topology.yaml:5: switch a is defined already at topology.yaml:4"},
        {"- topology: t\n  tree:\n    switches:\n    - {switch: a, children: b}\n",
         "topology.yaml:4: switch a names b, which is not defined"},
        {"- topology: t\n  block:\n    blocks: [{block: b, nodes: n1}]\n    block_sizes: [18, "
         "40]\n",
         "topology.yaml:4: [0].block.block_sizes[1]: 40 is not 18 times 2, 4, 8, …"},
        {"- topology: t\n  block:\n    blocks: [{block: b, nodes: n1}]\n    block_sizes: 18\n",
         "topology.yaml:4: [0].block.block_sizes: a list of block sizes is expected"},
        {"- topology: t\n  block:\n    blocks: [{block: b, nodes: n1}]\n    block_sizes: [[1]]\n",
         "topology.yaml:4: [0].block.block_sizes[0]: a number of nodes is expected"},
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(parse, &refusals[i]);
}

/* 10,000 nodes in 500 switches. */
static void reads_large_files(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* the same allocations as in the small ones, more often */
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)4 << 20);
    text_buffer_add_text(&text, "- topology: t\n  tree:\n    switches:\n");
    for (unsigned i = 0; i < 500; i++)
        text_buffer_add(&text, "    - {switch: s%u, nodes: 'n[%u-%u]'}\n", i, i * 20, i * 20 + 19);
    text_buffer_add_text(&text, "    - {switch: root, children: 's[0-499]'}\n");
    CLEANUP(fabric) struct fabric *fabric = open_fabric(text_buffer_text(&text));
    assert_int_equal(fabric->node_count, 10000);
    expect_distance(fabric, "n0", "n9999", 1);
}

static int parse_both(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric) struct fabric *fabric = parse(TREE BLOCKS RING, err);
    return fabric ? 0 : -1;
}

static int parse_blocks(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric) struct fabric *fabric = parse(BLOCKS, err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_both, NULL);
    unit_test_expect_clean_failures(parse_blocks, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_a_tree),
    cmocka_unit_test(reads_blocks),
    cmocka_unit_test(reads_blocks_beside_a_tree),
    cmocka_unit_test(chooses_the_default),
    cmocka_unit_test(refuses_with_place),
    cmocka_unit_test(reads_large_files),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/slurm_yaml_fabric", tests, COUNT_OF(tests)); }
