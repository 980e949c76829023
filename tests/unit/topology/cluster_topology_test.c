/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include <stdio.h>

static struct cluster_topology *open_preset_cluster(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct cluster_topology *cluster = preset_cluster(text, &err);
    expect_made(cluster, &err);
    return cluster;
}

static void makes_preset_clusters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t nodes;
        uint64_t gpus;
        unsigned tiers, domain_gpus, gpus_per_node;
        int last; /* distance of the first node to the last */
        const char *first_name, *last_name;
    } cases[] = {
        {"dgx-h100:1", 1, 8, 1, 8, 8, DISTANCE_SAME_NODE, "n001", "n001"},
        {"dgx-h100:16", 16, 128, 1, 8, 8, 0, "n001", "n016"},
        {"dgx-h100:33", 33, 264, 2, 8, 8, 1, "n001", "n033"},
        {"dgx-a100:8", 8, 64, 1, 8, 8, 0, "n001", "n008"},
        {"gb200-nvl72:18", 18, 72, 1, 72, 4, DISTANCE_SAME_NVLINK_DOMAIN, "n001", "n018"},
        {"gb200-nvl72:36", 36, 144, 2, 72, 4, 1, "n001", "n036"},
        {"gb200-nvl72:20", 20, 80, 2, 8, 4, 1, "n001", "n020"},
        {"l40s-pcie:4", 4, 32, 1, 1, 8, 0, "n001", "n004"},
        {"a6000-pairs:2", 2, 16, 1, 2, 8, 0, "n001", "n002"},
        {"dgx-h100:2000", 2000, 16000, 2, 8, 8, 1, "n0001", "n2000"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool known = false;
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = open_preset_cluster(cases[i].text);
        assert_string_equal(cluster->name, cases[i].text);
        assert_int_equal(cluster->node_count, cases[i].nodes);
        assert_int_equal(cluster_gpu_count(cluster), cases[i].gpus);
        assert_int_equal(cluster_tier_count(cluster), cases[i].tiers);
        assert_int_equal(cluster_nvlink_domain_gpus(cluster, &known), cases[i].domain_gpus);
        assert_true(known);
        assert_int_equal(cluster_gpus_per_node(cluster), cases[i].gpus_per_node);
        assert_int_equal(cluster_distance(cluster, 0, cases[i].nodes - 1), cases[i].last);
        assert_string_equal(cluster->nodes[0].name, cases[i].first_name);
        assert_string_equal(cluster->nodes[cases[i].nodes - 1].name, cases[i].last_name);
    }
}

static void leaves_carry_all_rails_up(void **state)
{
    (void)state;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = open_preset_cluster("dgx-h100:64");
    assert_int_equal(cluster->fabric->switch_count, 3);
    assert_string_equal(cluster->fabric->switches[1].name, "leaf2");
    assert_true(cluster->fabric->switches[1].uplink_bytes_per_second == 32 * 8 * 50e9);
    assert_string_equal(cluster->fabric->switches[2].name, "spine");
}

static void refuses_other_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"dgx-h10:4", "no node preset is called dgx-h10; did you mean dgx-h100; there are"},
        {"supercomputer:4", "no node preset is called supercomputer; there are dgx-h100, "},
        {"dgx-h100", "dgx-h100: say how many nodes, as dgx-h100:16"},
        {"dgx-h100:0", "dgx-h100:0: number of nodes: '0' is not a whole number from 1 to 262144"},
        {"dgx-h100:262145", "from 1 to 262144"},
        {"dgx-h100:", "number of nodes"},
        {"dgx-h100:4x", "number of nodes"},
        {":4", "no node preset is called"},
        {"", "no node preset is called"},
        {"a-name-that-is-longer-than-any-preset-could-ever-be-in-this-or-any-other-catalogue:4",
         "PRESET:NODES is expected"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = preset_cluster(cases[i].text, &err);
        assert_null(cluster);
        expect_message(&err, cases[i].message);
    }
}

static struct cluster_topology *select_names(const struct cluster_topology *cluster,
                                             const char *names, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = names_of(names);
    return cluster_topology_select(cluster, list, err);
}

static void selects_a_step(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = open_preset_cluster("gb200-nvl72:54");
    CLEANUP(cluster_topology)
    struct cluster_topology *step = select_names(cluster, "n040,n[001-003],n020", &err);
    expect_made(step, &err);
    assert_int_equal(step->node_count, 5);
    assert_string_equal(step->nodes[0].name, "n040");
    assert_string_equal(step->nodes[4].name, "n020");
    assert_int_equal(cluster_distance(step, 1, 3), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_equal(cluster_distance(step, 0, 1), 1);
    assert_int_equal(step->fabric->node_count, 5);
    assert_int_equal(cluster_gpu_count(step), 20);
    bool known;
    assert_int_equal(cluster_nvlink_domain_gpus(step, &known), 4);
    assert_string_equal(step->kinds[0]->gpus[3].model, "gb200");
    assert_int_equal(step->kinds[0]->gpus[3].nic_count, 4);
    assert_int_equal(step->kinds[0]->fact_count, cluster->kinds[0]->fact_count);
}

static void selects_without_a_fabric(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        open_cluster("schema: parplan.cluster/1\n"
                     "kinds: {a: {preset: dgx-h100}, b: {gpu: h100-pcie, gpus: 4}}\n"
                     "nodes: [{names: \"n[1-4]\", kind: a}, {names: m1, kind: b}]\n");
    CLEANUP(cluster_topology) struct cluster_topology *step = select_names(cluster, "m1,n3", &err);
    expect_made(step, &err);
    assert_null(step->fabric);
    assert_int_equal(step->nodes[0].kind, 1);
    assert_int_equal(cluster_gpus_per_node(step), 4);
    assert_int_equal(cluster_gpu_count(step), 12);
    assert_int_equal(cluster_distance(step, 0, 1), 0);
    bool known = true;
    assert_int_equal(cluster_nvlink_domain_gpus(step, &known), 1);
    assert_false(known);
}

static void refuses_bad_selections(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology) struct cluster_topology *cluster = open_preset_cluster("dgx-h100:4");
    assert_null(select_names(cluster, "n001,n005", &err));
    expect_message(&err, "dgx-h100:4 has no node n005");
    assert_null(select_names(cluster, "n001,n001", &err));
    expect_message(&err, "node n001 stands twice");
    assert_null(select_names(cluster, "", &err));
    expect_message(&err, "0 nodes; 1 to 262144 are possible");
}

static void checks_kinds(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *kinds[] = {open_preset_node("dgx-h100")};
    const char *const kind_names[] = {"k"};
    const unsigned node_kinds[] = {0, 1};
    CLEANUP(node_list) struct node_list *names = names_of("a,b");
    assert_null(cluster_topology_create("c", kinds, kind_names, 1, names, node_kinds, NULL, &err));
    expect_message(&err, "c: node b is of a kind that is not there");
}

/* The digest tells apart whatever a plan depends on, and nothing else. */
static void digests(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "dgx-h100:16",    "dgx-h100:17",    "dgx-h200:16",
        "gb200-nvl72:16", "dgx-a100-40:16", "dgx-a100-80:16",
    };
    uint64_t digests[COUNT_OF(texts)];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(cluster_topology) struct cluster_topology *cluster = open_preset_cluster(texts[i]);
        digests[i] = cluster_digest(cluster);
        assert_true(cluster_digest(cluster) == digests[i]);
        for (size_t j = 0; j < i; j++)
            assert_true(digests[i] != digests[j]);
    }
    CLEANUP(cluster_topology) struct cluster_topology *again = open_preset_cluster(texts[0]);
    assert_true(cluster_digest(again) == digests[0]);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *all = select_names(again, "n[001-016]", &err);
    expect_made(all, &err);
    assert_true(cluster_digest(all) == digests[0]);
    CLEANUP(cluster_topology)
    struct cluster_topology *other = select_names(again, "n[002-016],n001", &err);
    expect_made(other, &err);
    assert_true(cluster_digest(other) != digests[0]);
}

static void digests_rails(void **state)
{
    (void)state;
    static const char head[] = "schema: parplan.cluster/1\nkinds: {a: {preset: dgx-h100}}\n"
                               "nodes: [{names: \"n[1-2]\", kind: a}]\nfabric: {switches: "
                               "[{name: a, rail: 0, nodes: \"n[1-2]\"}, {name: b, rail: ";
    char first[512], second[512];
    snprintf(first, sizeof(first), "%s1, nodes: \"n[1-2]\"}]}\n", head);
    snprintf(second, sizeof(second), "%s1, nodes: \"n1\"}]}\n", head);
    CLEANUP(cluster_topology) struct cluster_topology *both = open_cluster(first);
    CLEANUP(cluster_topology) struct cluster_topology *one = open_cluster(second);
    assert_true(cluster_digest(both) != cluster_digest(one));
}

static int make_and_select(void *context, struct error_info *err)
{
    const struct cluster_topology *cluster = context;
    CLEANUP(node_list) struct node_list *names = node_list_decode("n[001-002]", err);
    if (!names)
        return -1;
    CLEANUP(cluster_topology)
    struct cluster_topology *step = cluster_topology_select(cluster, names, err);
    return step ? 0 : -1;
}

static int make_preset_cluster(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    if (!gpus)
        return -1;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = preset_catalogue_builtin(err);
    if (!presets)
        return -1;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_from_preset("gb200-nvl72:20", presets, gpus, err);
    return cluster ? 0 : -1;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    CLEANUP(cluster_topology) struct cluster_topology *cluster = open_preset_cluster("dgx-h100:4");
    unit_test_expect_clean_failures(make_and_select, cluster);
    unit_test_expect_clean_failures(make_preset_cluster, NULL);
}

/* Slurm's blocks join nodes only where NVLink leaves them. */
static void blocks_join_trays_and_not_boxes(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        bool candidate;
        unsigned domain_gpus;
    } cases[] = {{"gb200-nvl72", true, 8}, {"dgx-h100", true, 8}, {"dgx-h100", false, 16}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_list) struct node_list *names = node_list_decode("n[1-2]", &err);
        expect_made(names, &err);
        const struct fabric_domain_input block = {
            .candidate = cases[i].candidate, .nodes = names, .where = "topology.conf:1"};
        const struct fabric_input input = {
            .source = "topology.conf", .nvlink_domains = &block, .nvlink_domain_count = 1};
        struct fabric *fabric = fabric_build(&input, &err);
        expect_made(fabric, &err);
        struct node_topology *node = open_preset_node(cases[i].preset);
        static const unsigned kinds[2];
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster =
            cluster_topology_create("two", &node, &cases[i].preset, 1, names, kinds, fabric, &err);
        expect_made(cluster, &err);
        bool known = false;
        assert_int_equal(cluster_nvlink_domain_gpus(cluster, &known), cases[i].domain_gpus);
        assert_int_equal(cluster->sound_gpus, 0);
    }
}

/* What policy and planner are told of NVLink and faults. */
static void summarises(void **state)
{
    (void)state;
    static const struct {
        const char *kinds, *fabric;
        int sound; /* -1: no fault */
        unsigned open, domains, inner, in_use_2, cover_2;
        const char *warning;
    } cases[] = {
        {"{preset: gb200-nvl72}", "", -1, 2, 0, 4, 2, 4, NULL},
        {"{preset: gb200-nvl72}", "{nvlink_domains: [{nodes: \"n[1-2]\"}]}", -1, 0, 1, 0, 4, 4,
         NULL},
        {"{preset: gb200-nvl72}", "{nvlink_domains: [{nodes: n1}, {nodes: n2}]}", -1, 0, 0, 4, 2, 4,
         NULL},
        {"{preset: l40s-pcie}", "{nvlink_domains: [{nodes: \"n[1-2]\"}]}", -1, 0, 0, 1, 1, 0,
         "an nvlink_domain joins nodes of k, which have no NVLink; it is passed over"},
        {"{preset: dgx-h100}", "{nvlink_domains: [{nodes: \"n[1-2]\"}]}", -1, 0, 1, 0, 4, 8,
         "an nvlink_domain joins nodes of k, whose NVLink does not leave a node as far as is "
         "known"},
        {"{node: {gpus: [{model: a6000}, {model: a6000}, {model: a6000}, {model: a6000},"
         " {model: a6000}, {model: a6000}], nvlink: {pairs: {28GB/s: [0-1, 1-2, 2-3, 0-3]}}}}",
         "", -1, 0, 0, 4, 2, 4, NULL},
        {"{node: {gpus: [{model: l40s}, {model: l40s}, {model: l40s, mig: true}], nvlink: none}}",
         "", 2, 0, 0, 1, 1, 0, NULL},
        {"{node: {gpus: [{model: h100-sxm}, {model: h100-sxm}, {model: h100-sxm, mig: true}]}}", "",
         2, 0, 0, 1, 1, 0, NULL},
        {"{node: {gpus: [{model: b200, nvlink_lost: true}, {model: b200, nvlink_lost: true}],"
         " nvlink: none}}",
         "", 0, 0, 0, 1, 1, 0, NULL},
        {"{node: {gpus: [{model: a100-sxm-80, mig: true}, {model: a100-sxm-80, mig: true}]}}", "",
         1, 0, 0, 1, 1, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        struct error_info err = {.kind = ERROR_NONE};
        snprintf(text, sizeof(text),
                 "schema: parplan.cluster/1\nkinds: {k: %s}\n"
                 "nodes: [{names: \"n[1-2]\", kind: k}]\n%s%s\n",
                 cases[i].kinds, cases[i].fabric[0] ? "fabric: " : "", cases[i].fabric);
        CLEANUP(cluster_topology) struct cluster_topology *whole = open_cluster(text);
        CLEANUP(cluster_topology)
        struct cluster_topology *same = select_names(whole, "n[1-2]", &err);
        expect_made(same, &err);
        print_message("# %s %s\n", cases[i].kinds, cases[i].fabric);
        assert_true((same->fault != NULL) == (cases[i].sound >= 0));
        assert_int_equal(same->sound_gpus, same->fault ? cases[i].sound : 0);
        assert_int_equal(same->open_nodes, cases[i].open);
        assert_int_equal(same->domain_count, cases[i].domains);
        assert_int_equal(same->inner_domain_gpus, cases[i].inner);
        assert_int_equal(cluster_nvlink_domain_in_use(same, 2), cases[i].in_use_2);
        assert_int_equal(same->nvlink_cover[2], cases[i].cover_2);
        size_t warnings = same->fabric ? same->fabric->warning_count : 0;
        assert_int_equal(warnings, cases[i].warning != NULL);
        if (cases[i].warning)
            assert_string_equal(same->fabric->warnings[0], cases[i].warning);
    }
}

/* Faults, reach and clique are part of what a plan depends on. */
static void digests_faults(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "gpus: [{model: b200}, {model: b200}], nvlink: {rate: 900GB/s}",
        "gpus: [{model: b200}, {model: b200, mig: true}], nvlink: {rate: 900GB/s}",
        "gpus: [{model: b200}, {model: b200}], nvlink: none",
        "gpus: [{model: b200}, {model: b200, nvlink_lost: true}], nvlink: none",
        "gpus: [{model: b200}, {model: b200}], nvlink: {rate: 900GB/s, leaves_node: true}",
        "gpus: [{model: b200}, {model: b200}], nvlink: {rate: 900GB/s, leaves_node: true,"
        " clique: u.1}",
        "gpus: [{model: b200}, {model: b200}], nvlink: {rate: 900GB/s, leaves_node: true,"
        " clique: u.2}",
    };
    uint64_t digests[COUNT_OF(kinds)];
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "schema: parplan.cluster/1\nkinds: {k: {node: {%s}}}\n"
                 "nodes: [{names: n1, kind: k}]\n",
                 kinds[i]);
        CLEANUP(cluster_topology) struct cluster_topology *cluster = open_cluster(text);
        digests[i] = cluster_digest(cluster);
        for (size_t j = 0; j < i; j++)
            assert_true(digests[i] != digests[j]);
    }
}

/* Everything of a kind outlives the cluster that it came from. */
static void kinds_are_shared(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        open_cluster("schema: parplan.cluster/1\n"
                     "kinds:\n"
                     "  b:\n"
                     "    node:\n"
                     "      driver: 580.65.06\n"
                     "      gpus:\n"
                     "        - {model: b200, cpus: \"0-3\", problem: lost NVLink,"
                     " nvlink_lost: true}\n"
                     "        - {model: b200}\n"
                     "      nics: [{name: mlx5_0, problem: slow}]\n"
                     "      nvlink: {state: known, clique: 1-2.3, rate: 900GB/s}\n"
                     "nodes: [{names: \"n[1-2]\", kind: b}]\n");
    CLEANUP(node_list) struct node_list *names = node_list_decode("n2", &err);
    expect_made(names, &err);
    CLEANUP(cluster_topology)
    struct cluster_topology *part = cluster_topology_select(cluster, names, &err);
    expect_made(part, &err);
    cluster_topology_free(move_pointer(cluster));
    const struct node_topology *kind = part->kinds[0];
    assert_string_equal(kind->gpus[0].cpus, "0-3");
    assert_string_equal(kind->gpus[0].problem, "lost NVLink");
    assert_string_equal(kind->nics[0].problem, "slow");
    assert_string_equal(kind->nvlink_clique, "1-2.3");
    assert_string_equal(kind->driver_version, "580.65.06");
    assert_true(kind->warning_count > 0 && strlen(kind->warnings[0]) > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(summarises),
    cmocka_unit_test(digests_faults),
    cmocka_unit_test(kinds_are_shared),
    cmocka_unit_test(blocks_join_trays_and_not_boxes),
    cmocka_unit_test(makes_preset_clusters),
    cmocka_unit_test(leaves_carry_all_rails_up),
    cmocka_unit_test(refuses_other_names),
    cmocka_unit_test(selects_a_step),
    cmocka_unit_test(selects_without_a_fabric),
    cmocka_unit_test(refuses_bad_selections),
    cmocka_unit_test(checks_kinds),
    cmocka_unit_test(digests),
    cmocka_unit_test(digests_rails),
    cmocka_unit_test(survives_lack_of_memory),
};

int main(void) { return unit_test_main("topology/cluster_topology", tests, COUNT_OF(tests)); }
