/* SPDX-License-Identifier: MIT */
/* topograph's model and its graph; the graph's tests are also those of node_paths. */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "tests/unit/topology/fabric_checks.h"
#include "topology/fabric_readers/fabric_readers.h"

static struct fabric *parse_model(const char *text, struct error_info *err)
{
    return fabric_parse_topograph_model(text, strlen(text), "model.yaml", err);
}

static struct fabric *parse_graph(const char *text, struct error_info *err)
{
    return fabric_parse_topograph_graph(text, strlen(text), "graph.json", err);
}

static struct fabric *open_fabric(struct fabric *(*parse)(const char *, struct error_info *),
                                  const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct fabric *fabric = parse(text, &err);
    if (!fabric)
        fail_msg("%s", err.text);
    return fabric;
}

#define MODEL                                                                                      \
    "switches:\n"                                                                                  \
    "  core:\n"                                                                                    \
    "    labels: {topology.kubernetes.io/region: east}\n"                                          \
    "    switches: [spine-1, spine-2]\n"                                                           \
    "  spine-1: {switches: [leaf-1, leaf-2]}\n"                                                    \
    "  spine-2:\n"                                                                                 \
    "    switches:\n"                                                                              \
    "    - leaf-3\n"                                                                               \
    "blocks:\n"                                                                                    \
    "- switch: leaf-1\n"                                                                           \
    "  nodes: ['n[1-2]', n3]\n"                                                                    \
    "  annotations: {a.test/domain: nvl1}\n"                                                       \
    "- {switch: leaf-2, nodes: ['[1101-1102]'], annotations: {a.test/domain: nvl1, x/zone: z}}\n"  \
    "- switch: leaf-3\n"                                                                           \
    "  nodes: [m1]\n"                                                                              \
    "  annotations: {a.test/domain: nvl2, a.test/sub-domain: rack1, plain: 1}\n"                   \
    "- {switch: leaf-3, nodes: [m2]}\n"

static void reads_a_model(void **state)
{
    (void)state;
    CLEANUP(fabric) struct fabric *fabric = open_fabric(parse_model, MODEL);
    assert_int_equal(fabric->switch_count, 6);
    assert_int_equal(fabric->tier_count, 3);
    assert_int_equal(fabric->node_count, 7);
    assert_int_equal(fabric->warning_count, 0);
    assert_int_equal(fabric->domain_count, 2);
    expect_domain(fabric, 0, NULL, "nvl1", 5);
    expect_domain(fabric, 1, NULL, "nvl2/rack1", 1);
    expect_distance(fabric, "n1", "n3", 0);
    expect_distance(fabric, "n1", "1102", 1);
    expect_distance(fabric, "n1", "m2", 2);
    expect_distance(fabric, "m1", "m2", 0);
}

static void reads_a_model_of_domains(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_fabric(
        parse_model, "blocks:\n- {name: b, nodes: [n1], labels: {}, annotations: {x/accelerator: "
                     "d}}\nnodes: {n1: {anything: [1, 2]}}\n");
    assert_int_equal(fabric->switch_count, 0);
    expect_domain(fabric, 0, NULL, "d", 1);
}

static void refuses_models_with_place(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"switches: {}\n", "model.yaml:1: blocks: are missing; without them there are no nodes"},
        {"blocks: []\n", "blocks: are missing"},
        {"- a\n", "model.yaml:1"},
        {"switch: {}\nblocks: []\n", "model.yaml:1: switch: unknown key; did you mean switches?"},
        {"switches: []\nblocks: []\n",
         "model.yaml:1: switches: a mapping of switches by name is expected"},
        {"switches:\n  a: {switches: b}\n",
         "model.yaml:2: switches.a.switches: a list of switches is expected"},
        {"switches:\n  a: {switches: [[b]]}\n", "a switch's name is expected"},
        {"switches:\n  a:\n    switches: ['b c']\n",
         "model.yaml:3: switches.a.switches[0]: 'b c' has a character that no node name has"},
        {"blocks: {a: b}\n", "model.yaml:1: blocks: a list of blocks is expected"},
        {"blocks:\n- {switch: a}\n", "model.yaml:2: blocks[0]: the key nodes is missing"},
        {"blocks:\n- {switch: a, nodes: n1}\n",
         "model.yaml:2: blocks[0].nodes: a list is expected"},
        {"blocks:\n- {switch: a, nodes: ['n[1-']}\n",
         "model.yaml:2: blocks[0].nodes[0]: node list 'n[1-': a '[' has no ']'"},
        {"blocks:\n- {switch: a, nodes: [[n1]]}\n",
         "model.yaml:2: blocks[0].nodes[0]: a list of nodes, as n[1-8], is expected"},
        {"blocks:\n- {nodes: [n1]}\n",
         "model.yaml:2: blocks[0]: a block with neither a switch nor a domain says nothing of "
         "where its nodes are"},
        {"blocks:\n- {switch: a, nodes: [n1], annotations: x}\n",
         "model.yaml:2: blocks[0].annotations: a mapping is expected"},
        {"blocks:\n- {switch: a, nodes: [n1]}\n- {switch: b, nodes: [n1]}\n",
         "model.yaml:3: node n1 is in switch b, and at model.yaml:2 already in a"},
        {"switches:\n  a: {switches: [b]}\n  b: {switches: [a]}\nblocks:\n- {switch: c, nodes: "
         "[n1]}\n",
         "model.yaml:2: switch a is below itself"},
        {"switches:\n  a: {switches: [c]}\n  b: {switches: [c]}\nblocks:\n- {switch: c, nodes: "
         "[n1]}\n",
         "switch c is below a already"},
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(parse_model, &refusals[i]);
}

static void reads_a_graph(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric = open_fabric(
        parse_graph,
        "{\"instances\": ["
        "{\"id\": \"n1\", \"network_layers\": [\"l1\", \"s1\", \"c\"], \"nvlink_domain\": \"d1\"},"
        "{\"id\": \"n2\", \"network_layers\": [\"l1\", \"s1\", \"c\"], \"labels\": "
        "{\"x/domain\": \"d1\", \"other\": 1}},"
        "{\"id\": \"n3\", \"network_layers\": [\"l2\", \"s1\", \"c\"], \"accelerator\": \"\","
        " \"labels\": {\"x/domain\": \"d2\", \"x/sub-domain\": \"r\"}},"
        "{\"id\": \"n4\", \"network_layers\": [\"l3\", \"s2\", \"c\"], \"type\": \"gpu\"},"
        "{\"id\": \"n5\"}]}");
    assert_int_equal(fabric->node_count, 4);
    assert_int_equal(fabric->tier_count, 3);
    assert_string_equal(fabric->tier_names[2], "core");
    expect_domain(fabric, 0, NULL, "d1", 2);
    expect_domain(fabric, 1, NULL, "d2/r", 1);
    expect_distance(fabric, "n1", "n2", 0);
    expect_distance(fabric, "n1", "n3", 1);
    expect_distance(fabric, "n1", "n4", 2);
    assert_int_equal(fabric->warning_count, 3);
    assert_string_equal(fabric->warnings[0],
                        "graph.json: 1 of 5 nodes have no leaf, the first is n5");
}

static void keeps_tiers_apart(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric =
        open_fabric(parse_graph, "{\"instances\": ["
                                 "{\"id\": \"n1\", \"network_layers\": [\"a\", \"a\"]},"
                                 "{\"id\": \"n2\", \"network_layers\": [\"b\", \"a\"]}]}");
    assert_int_equal(fabric->switch_count, 3);
    assert_string_equal(fabric->switches[0].name, "leaf/a");
    assert_string_equal(fabric->switches[1].name, "spine/a");
    assert_string_equal(fabric->switches[2].name, "b");
    expect_distance(fabric, "n1", "n2", 1);
}

/* The first parent stays, and paths that skip a tier learn from those that do not. */
static void settles_disputes(void **state)
{
    (void)state;
    CLEANUP(fabric)
    struct fabric *fabric =
        open_fabric(parse_graph, "{\"instances\": ["
                                 "{\"id\": \"n1\", \"network_layers\": [\"l1\", \"\", \"c1\"]},"
                                 "{\"id\": \"n2\", \"network_layers\": [\"l1\", \"s1\"]},"
                                 "{\"id\": \"n3\", \"network_layers\": [\"l1\", \"s2\", \"c1\"]},"
                                 "{\"id\": \"n4\", \"network_layers\": [\"l1\", \"s2\", \"c1\"]},"
                                 "{\"id\": \"n5\", \"network_layers\": [\"\", \"s1\"]},"
                                 "{\"id\": \"n6\", \"network_layers\": [\"l1\", \"\", \"c1\"]}]}");
    expect_distance(fabric, "n1", "n2", 0);
    expect_distance(fabric, "n1", "n3", 0);
    expect_distance(fabric, "n1", "n5", 1);
    unsigned core = fabric_switch_at(fabric, fabric_find_node(fabric, "n5"), 2);
    assert_int_not_equal(core, FABRIC_NONE);
    assert_string_equal(fabric->switches[core].name, "c1");
    assert_string_equal(fabric->warnings[0],
                        "graph.json: leaf l1 is below s1 and below s2; the first is kept");
    assert_string_equal(fabric->warnings[4],
                        "graph.json: switch s2 has neither nodes nor switches");
    assert_int_equal(fabric->warning_count, 5);
}

static void refuses_graphs_with_place(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"{}", "graph.json: no instances: topograph's graph lists them under that key"},
        {"[]", "graph.json: no instances"},
        {"{\"instances\": []}", "graph.json: no instances"},
        {"{\"instances\": [", "graph.json: byte"},
        {"{\"instances\": [{\"id\": 3}]}", "graph.json: instances[0] has no id"},
        {"{\"instances\": [7]}", "graph.json: instances[0] has no id"},
        {"{\"instances\": [{\"id\": \"n\"}]}",
         "graph.json: no instance has network_layers or a domain"},
        {"{\"instances\": [{\"id\": \"n\", \"network_layers\": \"l\"}]}",
         "graph.json: instance n: network_layers: a list is expected, near to far"},
        {"{\"instances\": [{\"id\": \"n\", \"network_layers\": [1]}]}",
         "graph.json: instance n: network_layers[0]: a text is expected"},
        {"{\"instances\": [{\"id\": \"n\", \"network_layers\": "
         "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]}]}",
         "graph.json: instance n: 9 network_layers; at most 8 are possible"},
        {"{\"instances\": [{\"id\": \"n m\", \"network_layers\": [\"l\"]}]}",
         "graph.json: 'n m' has a character that no node name has"},
        {"{\"instances\": [{\"id\": \"n m\", \"nvlink_domain\": \"l\"}]}",
         "graph.json: instance n m: 'n m' has a character that no node name has"},
        {"{\"instances\": [{\"id\": \"n\", \"network_layers\": [\"a b\", \"c\"]}]}",
         "graph.json: 'a b' has a character"},
        {"{\"instances\": [{\"id\": \"n\", \"network_layers\": [\"l\"]},"
         "{\"id\": \"n\", \"network_layers\": [\"l\"]}]}",
         "graph.json: node n stands twice in switch l"},
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(parse_graph, &refusals[i]);
}

static void refuses_long_domains(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)1 << 20);
    text_buffer_add_text(&text, "blocks:\n- {nodes: [n1], annotations: {x/domain: '");
    text_buffer_add_repeated(&text, 'd', 600);
    text_buffer_add_text(&text, "'}}\n");
    struct refusal refusal = {
        text_buffer_text(&text),
        "model.yaml:2: the domain 'dddddddddddddddddddddddddddddddddddddddd…' "
        "has 600 characters; at most 511 are possible"};
    expect_refusal(parse_model, &refusal);
}

/* 10,000 nodes, 500 leaves, 25 spines. */
static void reads_large_graphs(void **state)
{
    (void)state;
    UNIT_TEST_SKIP_TORTURE(); /* the same allocations as in the small ones, more often */
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, (size_t)8 << 20);
    text_buffer_add_text(&text, "{\"instances\": [");
    for (unsigned i = 0; i < 10000; i++)
        text_buffer_add(&text,
                        "%s{\"id\": \"n%u\", \"network_layers\": [\"l%u\", \"s%u\", \"core\"], "
                        "\"accelerator\": \"nvl%u\"}",
                        i > 0 ? "," : "", i, i / 20, i / 400, i / 10);
    text_buffer_add_text(&text, "]}");
    CLEANUP(fabric) struct fabric *fabric = open_fabric(parse_graph, text_buffer_text(&text));
    assert_int_equal(fabric->node_count, 10000);
    assert_int_equal(fabric->switch_count, 526);
    assert_int_equal(fabric->domain_count, 1000);
    expect_distance(fabric, "n0", "n19", 0);
    expect_distance(fabric, "n0", "n9999", 2);
}

static int model_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric) struct fabric *fabric = parse_model(MODEL, err);
    return fabric ? 0 : -1;
}

static int graph_scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(fabric)
    struct fabric *fabric = parse_graph(
        "{\"instances\": [{\"id\": \"n1\", \"network_layers\": [\"a\", \"a\"], \"accelerator\": "
        "\"d\"}, {\"id\": \"n2\", \"network_layers\": [\"a\"]}]}",
        err);
    return fabric ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(model_scenario, NULL);
    unit_test_expect_clean_failures(graph_scenario, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_a_model),
    cmocka_unit_test(reads_a_model_of_domains),
    cmocka_unit_test(refuses_models_with_place),
    cmocka_unit_test(reads_a_graph),
    cmocka_unit_test(keeps_tiers_apart),
    cmocka_unit_test(settles_disputes),
    cmocka_unit_test(refuses_graphs_with_place),
    cmocka_unit_test(refuses_long_domains),
    cmocka_unit_test(reads_large_graphs),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/topograph_fabric", tests, COUNT_OF(tests)); }
