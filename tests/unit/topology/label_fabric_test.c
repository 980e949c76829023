/* SPDX-License-Identifier: MIT */
/* Labels, the keys that are looked at, and the list of nodes that carries them. */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "tests/unit/topology/fabric_checks.h"
#include "topology/fabric_readers/fabric_readers.h"
#include "topology/fabric_readers/labels/label_fabric.h"

#define TOPOGRAPH "fabric.topograph.run/tier-"
#define MAXIMUM_LABELS 6u

struct case_node {
    const char *name;
    struct fabric_label labels[MAXIMUM_LABELS];
};

static struct fabric *build(const struct case_node *given, size_t count,
                            const struct fabric_label_keys *keys, struct error_info *err)
{
    struct fabric_label_node nodes[16] = {{0}};
    for (size_t i = 0; i < count; i++) {
        nodes[i] = (struct fabric_label_node){.name = given[i].name, .labels = given[i].labels};
        while (nodes[i].label_count < MAXIMUM_LABELS && given[i].labels[nodes[i].label_count].key)
            nodes[i].label_count++;
    }
    return fabric_from_labels("kubernetes", nodes, count, keys, err);
}

static struct fabric *open_fabric(const struct case_node *given, size_t count,
                                  const struct fabric_label_keys *keys)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = build(given, count, keys ? keys : fabric_label_keys_default(), &err);
    if (!fabric)
        fail_msg("%s", err.text);
    return fabric;
}

static void reads_tiers_and_cliques(void **state)
{
    (void)state;
    static const struct case_node nodes[] = {
        {"n1",
         {{"x", "y"},
          {TOPOGRAPH "0", "l1"},
          {TOPOGRAPH "1", "s1"},
          {"nvidia.com/gpu.clique", "u.1"}}},
        {"n2", {{TOPOGRAPH "0", "l1"}, {TOPOGRAPH "1", "s1"}, {"nvidia.com/gpu.clique", "u.1"}}},
        {"n3", {{TOPOGRAPH "0", "l2"}, {TOPOGRAPH "1", "s1"}, {"nvidia.com/gpu.clique", "u.2"}}},
        {"n4", {{TOPOGRAPH "1", "s2"}, {"accelerator.topograph.run/domain", "d"}}},
        {"n5", {{"x", "y"}, {TOPOGRAPH "0", ""}}},
    };
    CLEANUP(fabric) struct fabric *fabric = open_fabric(nodes, COUNT_OF(nodes), NULL);
    assert_int_equal(fabric->node_count, 4);
    assert_int_equal(fabric->tier_count, 2);
    assert_string_equal(fabric->tier_names[0], "tier-0");
    expect_domain(fabric, 0, NULL, "u.1", 2);
    expect_domain(fabric, 1, NULL, "u.2", 1);
    expect_distance(fabric, "n1", "n2", 0);
    expect_distance(fabric, "n1", "n3", 1);
    expect_distance(fabric, "n1", "n4", 2);
    assert_int_equal(fabric->warning_count, 3);
    assert_string_equal(fabric->warnings[0],
                        "kubernetes: 2 of 5 nodes have no fabric.topograph.run/tier-0, the first "
                        "is n4");
    assert_string_equal(fabric->warnings[1],
                        "kubernetes: 1 of 5 nodes have no fabric.topograph.run/tier-1, the first "
                        "is n5");
    assert_string_equal(fabric->warnings[2],
                        "kubernetes: 1 nodes have no nvidia.com/gpu.clique, only "
                        "accelerator.topograph.run/domain, and are in no domain; the first is n4");
}

/* They may be in no switch either: a cluster that is made from the list has them all the same. */
static void keeps_nodes_with_a_later_key(void **state)
{
    (void)state;
    static const struct case_node nodes[] = {
        {"n1", {{"nvidia.com/gpu.clique", "u.1"}}},
        {"n2", {{"topology.k8s.aws/ultraserver-id", "x"}}},
        {"n3", {{"topology.k8s.aws/ultraserver-id", "x"}}},
        {"n4", {{"x", "y"}}},
    };
    CLEANUP(fabric) struct fabric *fabric = open_fabric(nodes, COUNT_OF(nodes), NULL);
    assert_int_equal(fabric->node_count, 3);
    unsigned node = fabric_find_node(fabric, "n3");
    assert_true(node != FABRIC_NONE);
    assert_true(fabric->nodes[node].leaf == FABRIC_NONE);
    assert_true(fabric->nodes[node].nvlink_block == FABRIC_NONE);
    assert_true(fabric_find_node(fabric, "n4") == FABRIC_NONE);
    assert_int_equal(fabric->domain_count, 1);
    assert_int_equal(fabric->warning_count, 1);
}

/* What each cloud and tool writes: the domain's id and the names of the tiers. */
static const struct {
    struct case_node node;
    const char *id, *nearest;
    unsigned tiers;
} usual[] = {
    {{"n",
      {{"accelerator.topograph.run/domain", "d"}, {"accelerator.topograph.run/sub-domain", "r"}}},
     "d/r",
     NULL,
     0},
    {{"n",
      {{"network.topology.nvidia.com/accelerator", "d"},
       {"network.topology.nvidia.com/block", "b"},
       {"network.topology.nvidia.com/spine", "s"},
       {"network.topology.nvidia.com/datacenter", "c"}}},
     "d",
     "block",
     3},
    {{"n",
      {{"network.topology.nvidia.com/leaf", "b"},
       {"network.topology.nvidia.com/spine", "s"},
       {"network.topology.nvidia.com/core", "c"}}},
     NULL,
     "leaf",
     3},
    {{"n",
      {{"topology.k8s.aws/ultraserver-id", "u"},
       {"topology.k8s.aws/capacity-block-id", "c"},
       {"topology.k8s.aws/network-node-layer-1", "a"},
       {"topology.k8s.aws/network-node-layer-2", "b"},
       {"topology.k8s.aws/network-node-layer-3", "c"}}},
     "u",
     "network-node-layer-3",
     3},
    {{"n",
      {{"cloud.google.com/gce-topology-block", "b"},
       {"cloud.google.com/gce-topology-subblock", "s"},
       {"cloud.google.com/gce-topology-host", "h"}}},
     "s",
     "gce-topology-subblock",
     2},
    {{"n",
      {{"oci.oraclecloud.com/host.gpu_memory_fabric_id", "m"},
       {"oci.oraclecloud.com/rdma.local_block_id", "l"},
       {"oci.oraclecloud.com/rdma.hpc_island_id", "i"}}},
     "m",
     "rdma.local_block_id",
     2},
    {{"n",
      {{"topology.nebius.com/nvl-instance-group-id", "g"},
       {"topology.kubernetes.io/zone", "z"},
       {"topology.kubernetes.io/region", "r"}}},
     "g",
     "zone",
     2},
};

static void knows_the_usual_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(usual); i++) {
        CLEANUP(fabric) struct fabric *fabric = open_fabric(&usual[i].node, 1, NULL);
        assert_int_equal(fabric->tier_count, usual[i].tiers);
        if (usual[i].nearest)
            assert_string_equal(fabric->tier_names[0], usual[i].nearest);
        assert_int_equal(fabric->domain_count, usual[i].id != NULL);
        if (usual[i].id)
            expect_domain(fabric, 0, NULL, usual[i].id, 1);
        assert_int_equal(fabric->warning_count, 0);
    }
}

/* The set whose nearest key the most nodes have. */
static void chooses_a_set(void **state)
{
    (void)state;
    static const struct case_node nodes[] = {
        {"n1", {{TOPOGRAPH "0", "l1"}, {"topology.kubernetes.io/rack", "r1"}}},
        {"n2", {{"topology.kubernetes.io/rack", "r1"}, {"topology.kubernetes.io/zone", "z"}}},
    };
    CLEANUP(fabric) struct fabric *fabric = open_fabric(nodes, COUNT_OF(nodes), NULL);
    assert_string_equal(fabric->tier_names[0], "rack");
    expect_distance(fabric, "n1", "n2", 0);
}

static void takes_keys_from_yaml(void **state)
{
    (void)state;
    static const char text[] = "domains:\n- {key: my/domain, sub_key: my/half}\n- my/other\n"
                               "tiers:\n- [a/switch, b/switch, plain]\n";
    static const struct case_node nodes[] = {
        {"n1", {{"my/domain", "d"}, {"a/switch", "l1"}, {"b/switch", "l1"}, {"plain", "p"}}},
        {"n2", {{"my/domain", "d"}, {"my/half", "h"}, {"a/switch", "l2"}, {"b/switch", "l1"}}},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, sizeof(text) - 1, "keys", &err);
    CLEANUP(fabric_label_keys)
    struct fabric_label_keys *keys =
        document ? fabric_label_keys_load(yaml_document_root(document), &err) : NULL;
    if (!keys)
        fail_msg("%s", err.text);
    CLEANUP(fabric) struct fabric *fabric = open_fabric(nodes, COUNT_OF(nodes), keys);
    expect_domain(fabric, 0, NULL, "d", 1);
    expect_domain(fabric, 1, NULL, "d/h", 1);
    assert_string_equal(fabric->tier_names[0], "a/switch");
    assert_string_equal(fabric->tier_names[1], "b/switch");
    assert_string_equal(fabric->tier_names[2], "plain");
    assert_string_equal(fabric->switches[0].name, "a/switch/l1");
    expect_distance(fabric, "n1", "n2", 1);
}

static struct fabric *load_keys(const char *text, struct error_info *err)
{
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse(text, strlen(text), "keys", err);
    CLEANUP(fabric_label_keys)
    struct fabric_label_keys *keys =
        document ? fabric_label_keys_load(yaml_document_root(document), err) : NULL;
    static const struct case_node node = {"n", {{"k", "v"}}};
    return keys ? build(&node, 1, keys, err) : NULL;
}

static void refuses_keys_with_place(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"domain: []\n", "keys:1: domain: unknown key; did you mean domains?"},
        {"domains: x\n", "keys:1: domains: a list of label keys is expected"},
        {"tiers: []\n", "keys:1: tiers: a list of label keys is expected"},
        {"tiers: [x]\n", "keys:1: tiers[0]: a list of label keys is expected"},
        {"tiers: [[a, a]]\n", "keys:1: tiers[0][1]: a stands twice in the set"},
        {"tiers: [[[a]]]\n",
         "keys:1: tiers[0][0]: a label key as nvidia.com/gpu.clique is expected"},
        {"tiers: [[1,2,3,4,5,6,7,8,9]]\n",
         "keys:1: tiers[0]: 9 entries are more than the 8 that are possible"},
        {"domains: ['a b']\n",
         "keys:1: domains[0]: a label key as nvidia.com/gpu.clique is expected"},
        {"domains: [{sub_key: a}]\n", "keys:1: domains[0]: the key key is missing"},
        {"domains: [{key: a, sub_key: ''}]\n", "keys:1: domains[0]: a label key"},
        {"domains: [a]\n",
         "kubernetes: none of 1 nodes has a label that names its switches or its NVLink domain "
         "(as a); let topograph or the cloud label them, or name the keys in use"},
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(load_keys, &refusals[i]);
}

static void refuses_too_much(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static struct fabric_label labels[LABEL_MAXIMUM_PER_NODE + 1];
    const struct fabric_label_node node = {"n", labels, COUNT_OF(labels)};
    assert_null(fabric_from_labels("k", &node, 1, fabric_label_keys_default(), &err));
    assert_string_equal(err.text, "k: node n has 4097 labels; at most 4096 are possible");
    assert_null(
        fabric_from_labels("k", &node, LABEL_MAXIMUM_NODES + 1, fabric_label_keys_default(), &err));
    assert_string_equal(err.text, "k: 131073 nodes are more than the 131072 that are possible");
}

/* --- kubectl get nodes -o json ---------------------------------------------------- */

static struct fabric *parse(const char *text, struct error_info *err)
{
    return fabric_parse_kubernetes(text, strlen(text), "nodes.json", NULL, err);
}

#define NODE(name, labels, more)                                                                   \
    "{\"metadata\": {\"name\": \"" name "\", \"labels\": {" labels "}" more "}"
#define LEAF(name) "\"fabric.topograph.run/tier-0\": \"" name "\""
#define GPUS ", \"status\": {\"capacity\": {\"cpu\": \"8\", \"nvidia.com/gpu\": \"8\"}}}"

static const char list[] =
    "{\"kind\": \"List\", \"items\": [" NODE("cpu1", LEAF("l9"), "") "}, " NODE(
        "gpu1", LEAF("l1") ", \"nvidia.com/gpu.clique\": \"u.3\"", "") GPUS
    "," NODE("gpu2", LEAF("l1"), ", \"annotations\": {\"a\": \"b\"}") GPUS
    "," NODE("gpu3", "\"nvidia.com/gpu.present\": \"true\"",
             "") ", \"status\": {\"capacity\": "
                 "{\"nvidia.com/gpu\": \"0\"}}}," NODE(
                     "mig", LEAF("l2"),
                     "") ", \"status\": {\"capacity\": {\"nvidia.com/mig-1g.10gb\": "
                         "\"7\"}, \"conditions\": [{\"type\": \"Ready\", \"status\": \"False\"}]}}"
                         "]}";

static void reads_a_list_of_nodes(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = parse(list, &err);
    if (!fabric)
        fail_msg("%s", err.text);
    assert_int_equal(fabric->node_count, 3);
    expect_domain(fabric, 0, NULL, "u.3", 1);
    expect_distance(fabric, "gpu1", "gpu2", 0);
    expect_distance(fabric, "gpu1", "mig", 1);
    assert_int_equal(fabric->warning_count, 1);
    assert_string_equal(fabric->warnings[0],
                        "nodes.json: 1 of 4 nodes have no fabric.topograph.run/tier-0, the first "
                        "is gpu3");
}

#define SLINKY(name, spec)                                                                         \
    NODE(name, "", ", \"annotations\": {\"topology.slinky.slurm.net/spec\": \"" spec "\"}") "}"

static void reads_annotations_of_slinky(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric)
    struct fabric *fabric = parse(
        "{\"items\": [" SLINKY("n1", "topo-switch:s0,topo-block:b0") "," SLINKY(
            "n2", "topo-tree:root:s0,topo-block:b1") "," SLINKY("n3",
                                                                "topo-block:b1,odd,other:x") "]}",
        &err);
    if (!fabric)
        fail_msg("%s", err.text);
    expect_domain(fabric, 0, NULL, "b0", 1);
    expect_domain(fabric, 1, NULL, "b1", 2);
    assert_string_equal(fabric->tier_names[0], "block");
    expect_distance(fabric, "n2", "n3", 0);
    expect_distance(fabric, "n1", "n2", 1);
}

static void refuses_lists_with_place(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"{}", "nodes.json: no items: a list of nodes is expected, as kubectl get nodes -o json "
               "prints it"},
        {"{\"items\": []}", "nodes.json: no items"},
        {"[", "nodes.json: byte"},
        {"{\"items\": [{}]}",
         "nodes.json: items[0] has no metadata.name; a list of nodes is expected"},
        {"{\"items\": [{\"metadata\": {\"name\": \"\"}}]}", "items[0] has no metadata.name"},
        {"{\"items\": [{\"metadata\": {\"name\": \"n\", \"labels\": {\"a\": 1}}}]}",
         "nodes.json: node n: labels must be texts by name"},
        {"{\"items\": [{\"metadata\": {\"name\": \"n\", \"labels\": [\"a\"]}}]}",
         "nodes.json: node n: labels must be texts by name"},
        {"{\"items\": [{\"metadata\": {\"name\": \"n\"}}]}",
         "nodes.json: none of 1 nodes has a label that names its switches or its NVLink domain "
         "(as nvidia.com/gpu.clique); let topograph or the cloud label them"},
        {"{\"items\": [" NODE("n", LEAF("l"), "") "}, " NODE("n", LEAF("l"), "") "}]}",
         "nodes.json: node n stands twice in switch l"},
        {"{\"items\": [" NODE("n m", LEAF("l"), "") "}]}",
         "nodes.json: 'n m' has a character that no node name has"},
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(parse, &refusals[i]);
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(fabric_parse_kubernetes("", ((size_t)64 << 20) + 1, "nodes.json", NULL, &err));
    assert_string_equal(err.text, "nodes.json: larger than 64 MiB; leave status.images and "
                                  "managedFields out");
}

/* 5,000 nodes of 60 labels. */
static void reads_large_lists(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* the same allocations as in the small ones, more often */
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)64 << 20);
    text_buffer_add_text(&text, "{\"items\": [");
    for (unsigned i = 0; i < 5000; i++) {
        text_buffer_add(&text, "%s{\"metadata\": {\"name\": \"n%u\", \"labels\": {",
                        i > 0 ? "," : "", i);
        for (unsigned label = 0; label < 56; label++)
            text_buffer_add(&text, "\"feature.node.kubernetes.io/cpu-%u\": \"true\", ", label);
        text_buffer_add(&text,
                        "\"fabric.topograph.run/tier-0\": \"l%u\", "
                        "\"fabric.topograph.run/tier-1\": \"s%u\", "
                        "\"nvidia.com/gpu.clique\": \"u.%u\"}}, \"status\": {\"capacity\": "
                        "{\"nvidia.com/gpu\": \"8\"}}}",
                        i / 16, i / 256, i / 18);
    }
    text_buffer_add_text(&text, "]}");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(fabric) struct fabric *fabric = parse(text_buffer_text(&text), &err);
    if (!fabric)
        fail_msg("%s", err.text);
    assert_int_equal(fabric->node_count, 5000);
    assert_int_equal(fabric->domain_count, 278);
    expect_distance(fabric, "n0", "n255", 1);
    expect_distance(fabric, "n0", "n4999", 2);
}

static int list_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric) struct fabric *fabric = parse(list, err);
    return fabric ? 0 : -1;
}

static int slinky_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric =
        parse("{\"items\": [" SLINKY("n1", "topo-switch:s0,topo-block:b0") "]}", err);
    return fabric ? 0 : -1;
}

static int keys_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = load_keys("domains: [{key: k, sub_key: l}]\ntiers: [[k, l]]\n", err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(list_scenario, NULL);
    unit_test_expect_clean_failures(slinky_scenario, NULL);
    unit_test_expect_clean_failures(keys_scenario, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_tiers_and_cliques),
    cmocka_unit_test(keeps_nodes_with_a_later_key),
    cmocka_unit_test(knows_the_usual_keys),
    cmocka_unit_test(chooses_a_set),
    cmocka_unit_test(takes_keys_from_yaml),
    cmocka_unit_test(refuses_keys_with_place),
    cmocka_unit_test(refuses_too_much),
    cmocka_unit_test(reads_a_list_of_nodes),
    cmocka_unit_test(reads_annotations_of_slinky),
    cmocka_unit_test(refuses_lists_with_place),
    cmocka_unit_test(reads_large_lists),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/label_fabric", tests, COUNT_OF(tests)); }
