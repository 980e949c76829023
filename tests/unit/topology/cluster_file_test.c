/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include <stdio.h>

#define HEAD "schema: parplan.cluster/1\n"
#define NODES HEAD "kinds: {h: {preset: dgx-h100}}\nnodes: [{names: \"n[001-016]\", kind: h}]\n"
#define FABRIC                                                                                     \
    "fabric:\n"                                                                                    \
    "  tiers: [leaf, spine]\n"                                                                     \
    "  switches:\n"                                                                                \
    "    - {name: leaf1, tier: leaf, nodes: \"n[001-008]\", uplink: 3.2Tb/s}\n"                    \
    "    - {name: leaf2, tier: leaf, nodes: \"n[009-016]\"}\n"                                     \
    "    - {name: spine, tier: spine, children: \"leaf[1-2]\"}\n"

static void reads_the_usual_file(void **state)
{
    (void)state;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = open_cluster(NODES FABRIC);
    assert_string_equal(cluster->name, "cluster.yaml");
    assert_int_equal(cluster->node_count, 16);
    assert_int_equal(cluster_gpu_count(cluster), 128);
    assert_string_equal(cluster->kind_names[0], "h");
    assert_string_equal(cluster->kinds[0]->gpus[0].model, "h100-sxm");
    assert_int_equal(cluster_tier_count(cluster), 2);
    assert_string_equal(cluster_tier_name(cluster, 1), "spine");
    assert_int_equal(cluster_distance(cluster, 0, 0), DISTANCE_SAME_NODE);
    assert_int_equal(cluster_distance(cluster, 0, 7), 0);
    assert_int_equal(cluster_distance(cluster, 0, 8), 1);
    assert_true(cluster->fabric->switches[0].uplink_bytes_per_second == 400e9);
    assert_int_equal(cluster->fabric->warning_count, 0);
}

static void a_fabric_is_optional(void **state)
{
    (void)state;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = open_cluster(NODES);
    assert_null(cluster->fabric);
    assert_int_equal(cluster_tier_count(cluster), 0);
    assert_int_equal(cluster_distance(cluster, 0, 1), 0);
    assert_string_equal(cluster_tier_name(cluster, 0), "unknown");
}

/* Kinds described in place. */
static void describes_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        enum nvlink_state nvlink;
        unsigned gpus, domains, nics;
        double nvlink_gb, nic_gb;
    } cases[] = {
        {"{gpu: h100-sxm, gpus: 8, nvlink: switch, nics: 8, nic_rate: 400Gb/s}", NVLINK_KNOWN, 8, 1,
         8, 450, 50},
        {"{gpu: mi300x, gpus: 8, nvlink: mesh}", NVLINK_KNOWN, 8, 1, 0, 448, 0},
        {"{gpu: a6000, gpus: 8, nvlink: [[0, 1], [2, 3], [4, 5], [6, 7]], nics: 2, nic_rate: "
         "100Gb/s}",
         NVLINK_KNOWN, 8, 4, 2, 56, 3.125},
        {"{gpu: h200, gpus: 4, nvlink: [[0, 1, 2, 3]]}", NVLINK_KNOWN, 4, 1, 0, 450, 0},
        {"{gpu: h100-pcie, gpus: 4, nvlink: [[1, 3]]}", NVLINK_KNOWN, 4, 3, 0, 300, 0},
        {"{gpu: h100-sxm, gpus: 8}", NVLINK_UNKNOWN, 8, 8, 0, 0, 0},
        {"{gpu: h100-sxm, gpus: 8, nvlink: unknown}", NVLINK_UNKNOWN, 8, 8, 0, 0, 0},
        {"{gpu: h100-pcie, gpus: 8, nvlink: none}", NVLINK_NONE, 8, 8, 0, 0, 0},
        {"{gpu: l40s, gpus: 8}", NVLINK_NONE, 8, 8, 0, 0, 0},
        {"{gpu: t4, gpus: 2, nvlink: switch, nvlink_rate: 10GB/s}", NVLINK_KNOWN, 2, 1, 0, 10, 0},
        {"{gpu: a100, gpus: 8, nvlink: switch, nvlink_rate: 4800Gb/s, nvlink_domain_nodes: 2}",
         NVLINK_KNOWN, 8, 1, 0, 600, 0},
        {"{gpu: v100, gpus: 1, nvlink: mesh, nics: 3, nic_rate: 1GB/s, host_memory: 1TiB, "
         "host_nvme: 4TB, cpus: 80}",
         NVLINK_UNKNOWN, 1, 1, 3, 0, 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof(text), HEAD "kinds: {k: %s}\nnodes: [{names: n1, kind: k}]\n",
                 cases[i].kind);
        CLEANUP(cluster_topology) struct cluster_topology *cluster = open_cluster(text);
        const struct node_topology *node = cluster->kinds[0];
        assert_string_equal(node->name, "k");
        assert_int_equal(node->gpu_count, cases[i].gpus);
        if (cases[i].gpus > 1)
            assert_int_equal(node->nvlink, cases[i].nvlink);
        assert_int_equal(node->domain_count, cases[i].domains);
        assert_int_equal(node->nic_count, cases[i].nics);
        assert_true(node->gpu_nvlink_bytes_per_second == cases[i].nvlink_gb * 1e9);
        assert_true(node->gpu_nic_bytes_per_second == cases[i].nic_gb * 1e9);
    }
}

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"", "cluster.yaml"},
    {"schema: parplan.cluster/2\n", "parplan.cluster/1"},
    {HEAD, "kinds is missing"},
    {HEAD "kinds: {h: {preset: dgx-h100}}\n", "nodes is missing"},
    {NODES "colour: red\n", "cluster.yaml:4: colour: unknown key"},
    {NODES "fabrik: {}\n", "did you mean fabric"},
    {HEAD "kinds: []\nnodes: []\n", "for each kind"},
    {HEAD "kinds: {h: {preset: dgx-h10}}\nnodes: []\n",
     "cluster.yaml:2: kinds.h.preset: no node preset is called dgx-h10; did you mean dgx-h100"},
    {HEAD "kinds: {h: {preset: dgx-h100, gpus: 4}}\nnodes: []\n", "takes no other keys"},
    {HEAD "kinds: {h: {gpus: 4}}\nnodes: []\n", "preset: NAME is expected, or gpu:"},
    {HEAD "kinds: {h: {gpu: h100-sxm}}\nnodes: []\n", "preset: NAME is expected, or gpu:"},
    {HEAD "kinds: {h: {gpu: l40x, gpus: 4}}\nnodes: []\n",
     "kinds.h.gpu: the GPU catalogue has no l40x; did you mean l40"},
    {HEAD "kinds: {h: {gpu: h100-sxm, gpus: 65}}\nnodes: []\n", "from 1 to 64"},
    {HEAD "kinds: {h: {gpu: h100-sxm, gpus: 8, nvlnk: none}}\nnodes: []\n", "did you mean nvlink"},
    {HEAD "kinds: {h: {gpu: h100-sxm, gpus: 8, nvlink: full}}\nnodes: []\n",
     "switch, mesh, none, unknown or groups"},
    {HEAD "kinds: {h: {gpu: h100-sxm, gpus: 8, nvlink: {a: 1}}}\nnodes: []\n",
     "switch, mesh, none, unknown or groups"},
    {HEAD "kinds: {h: {gpu: l40s, gpus: 8, nvlink: switch}}\nnodes: []\n",
     "l40s has no NVLink in the GPU catalogue"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: [[0, 1], [1, 2]]}}\nnodes: []\n",
     "GPU 1 stands in two groups"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: [[0]]}}\nnodes: []\n",
     "a group of at least two"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: [0, 1]}}\nnodes: []\n",
     "a group of at least two"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: [[0, 4]]}}\nnodes: []\n", "from 0 to 3"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: [[0, [1]]]}}\nnodes: []\n",
     "a GPU number is expected"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nics: 1, nic_rate: fast}}\nnodes: []\n",
     "kinds.h.nic_rate: 'fast' is not a rate"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nics: 1, nic_rate: 400}}\nnodes: []\n",
     "kinds.h.nic_rate: 400 has no unit; write 400Gb/s or 50GB/s"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, host_memory: 80}}\nnodes: []\n",
     "kinds.h.host_memory: 80 has no unit; write 80GiB or 80GB"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, host_nvme: 7.5}}\nnodes: []\n",
     "kinds.h.host_nvme: '7.5' is not a size"},
    {HEAD "kinds: {h: {gpu: a6000, gpus: 4, nvlink: mesh, nvlink_rate: 60%}}\nnodes: []\n",
     "is not a rate"},
    {HEAD "kinds: {h: {preset: dgx-h100}}\nnodes: []\n", "a list of {names, kind}"},
    {HEAD "kinds: {h: {preset: dgx-h100}}\nnodes: [{names: n1}]\n", "kind is missing"},
    {HEAD "kinds: {hh: {preset: dgx-h100}}\nnodes: [{names: n1, kind: h}]\n",
     "no kind is called h"},
    {HEAD "kinds: {h1: {preset: dgx-h100}}\nnodes: [{names: n1, kind: h2}]\n", "did you mean h1"},
    {HEAD "kinds: {h: {preset: dgx-h100}}\nnodes: [{names: \"n[1-\", kind: h}]\n",
     "cluster.yaml:3: nodes[0].names: "},
    {HEAD "kinds: {h: {preset: dgx-h100}}\nnodes: [{names: \"\", kind: h}]\n",
     "cluster.yaml:3: nodes[0].names: "},
    {HEAD "kinds: {h: {preset: dgx-h100}}\nnodes:\n  - {names: n1, kind: h}\n"
          "  - {names: \"n[0-1]\", kind: h}\n",
     "cluster.yaml:5: nodes[1].names: node n1 stands already in nodes[0]"},
    {HEAD "kinds: {h: {preset: dgx-h100}}\n"
          "nodes: [{names: \"n[000001-262145]\", kind: h}]\n",
     "more than 262144 nodes"},
    {NODES "fabric: {tiers: leaf}\n", "a list is expected"},
    {NODES "fabric: {tiers: [a, b, c, d, e, f, g, h, i]}\n", "9 entries are more than the 8"},
    {NODES "fabric: {switch: []}\n", "unknown key"},
    {NODES "fabric: {switches: [{name: a, nodes: n001, colour: red}]}\n", "unknown key"},
    {NODES "fabric: {switches: [{nodes: n001}]}\n", "name is missing"},
    {NODES "fabric: {switches: [{name: \"\", nodes: n001}]}\n", "must not be empty"},
    {NODES "fabric: {switches: [{name: a, tier: leaf, nodes: n001}]}\n", "add tiers:"},
    {NODES "fabric: {tiers: [leaf], switches: [{name: a, tier: lead, nodes: n001}]}\n",
     "cluster.yaml:4: switch a: no tier is called lead; did you mean leaf"},
    {NODES "fabric: {switches: [{name: a, nodes: \"n[\"}]}\n", "switches[0].nodes: "},
    {NODES "fabric: {switches: [{name: a, children: \"n[\"}]}\n", "switches[0].children: "},
    {NODES "fabric: {switches: [{name: a, nodes: n001, uplink: 8x400}]}\n", "is not a rate"},
    {NODES "fabric: {switches: [{name: a, nodes: n001, rail: 64}]}\n", "from 0 to 63"},
    {NODES "fabric:\n  switches:\n    - {name: a, nodes: n001}\n    - {name: b, nodes: n001}\n",
     "cluster.yaml:7: node n001 is in switch b, and at cluster.yaml:6 already in a"},
    {NODES "fabric: {nvlink_domains: [{nodes: n001}, {nodes: n001}]}\n",
     "node n001 is in an NVLink domain already"},
    {NODES "fabric: {nvlink_domains: [{names: n001}]}\n", "unknown key"},
    {NODES "fabric: {nvlink_domains: [{nodes: \"n[\"}]}\n", "nvlink_domains[0].nodes: "},
};

static void refuses_with_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = parse_cluster(refused[i].text, &err);
        if (cluster)
            fail_msg("accepted: %s", refused[i].text);
        expect_message(&err, refused[i].message);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void warns_of_nodes_in_no_switch(void **state)
{
    (void)state;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        open_cluster(NODES "fabric: {switches: [{name: a, nodes: \"n[001-014],m1\"}]}\n");
    assert_int_equal(cluster->fabric->warning_count, 2);
    assert_non_null(strstr(cluster->fabric->warnings[1],
                           "cluster.yaml:4: switch a has node m1, which is not under nodes:"));
    assert_non_null(
        strstr(cluster->fabric->warnings[0], "2 of the nodes are in no switch, the first is n015"));
    assert_int_equal(cluster_distance(cluster, 0, 15), 1);
    assert_string_equal(cluster_tier_name(cluster, 1), "unknown");
}

#define RACK HEAD "kinds: {g: {preset: gb200-nvl72}}\nnodes: [{names: \"n[01-36]\", kind: g}]\n"

static void domains_wider_than_a_node(void **state)
{
    (void)state;
    bool known;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        open_cluster(RACK "fabric: {nvlink_domains: [{nodes: \"n[01-18]\"}, {nodes: "
                          "\"n[19-34]\"}, {nodes: \"n[35-36]\"}]}\n");
    assert_int_equal(cluster_distance(cluster, 0, 17), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_equal(cluster_distance(cluster, 0, 18), 0);
    assert_int_equal(cluster_nvlink_domain_gpus(cluster, &known), 8);
    assert_true(known);
    CLEANUP(cluster_topology)
    struct cluster_topology *alone =
        open_cluster(RACK "fabric: {switches: [{name: a, nodes: \"n[01-36]\"}]}\n");
    assert_int_equal(cluster_nvlink_domain_gpus(alone, &known), 4);
    assert_int_equal(cluster_distance(alone, 0, 1), 0);
    assert_non_null(strstr(alone->fabric->warnings[0], "kind g shares NVLink between nodes"));
}

static void rails(void **state)
{
    (void)state;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        open_cluster(NODES "fabric:\n  switches:\n"
                           "    - {name: r0, rail: 0, nodes: \"n[001-016]\"}\n"
                           "    - {name: r1, rail: 1, nodes: \"n[001-016]\"}\n");
    assert_int_equal(cluster->fabric->rail_count, 2);
    assert_int_equal(cluster->fabric->warning_count, 0);
    assert_int_equal(cluster_distance(cluster, 0, 15), 0);
}

static int parse_all(void *context, struct error_info *err)
{
    (void)context;
    static const char text[] =
        HEAD "kinds: {k: {gpu: a6000, gpus: 2, nvlink: [[0, 1]], nics: 1, nic_rate: 1GB/s}, w: "
             "{preset: gb200-nvl72}}\n"
             "nodes: [{names: \"n[1-3]\", kind: k}]\n"
             "fabric: {tiers: [leaf], switches: [{name: a, nodes: \"n[1-2]\"}]}\n";
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    if (!gpus)
        return -1;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(err);
    if (!presets)
        return -1;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_parse(text, sizeof(text) - 1, "c.yaml", presets, gpus, err);
    return cluster ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_all, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_the_usual_file),
    cmocka_unit_test(a_fabric_is_optional),
    cmocka_unit_test(describes_kinds),
    cmocka_unit_test(refuses_with_line),
    cmocka_unit_test(warns_of_nodes_in_no_switch),
    cmocka_unit_test(domains_wider_than_a_node),
    cmocka_unit_test(rails),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/cluster_file", tests, COUNT_OF(tests)); }
