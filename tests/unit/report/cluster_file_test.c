/* SPDX-License-Identifier: MIT */
/* Cluster and fabric files, written and read. */
#include "report/files/cluster_file.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/fabric_readers/fabric_file.h"

#define TEXT_BYTES ((size_t)16 << 20)
#define CLUSTER "schema: parplan.cluster/1\n"
#define FABRIC "schema: parplan.fabric/1\n"

static int write_cluster(const struct cluster_topology *cluster, struct text_buffer *out,
                         struct error_info *err)
{
    text_buffer_init(out, TEXT_BYTES);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    CLEANUP(preset_catalogue)
    struct preset_catalogue *presets = gpus ? preset_catalogue_builtin(err) : NULL;
    return presets ? cluster_file_write(cluster, presets, gpus, out, err) : -1;
}

static void expect_same_cluster(const struct cluster_topology *left,
                                const struct cluster_topology *right)
{
    assert_non_null(right);
    assert_int_equal(right->node_count, left->node_count);
    assert_int_equal(right->kind_count, left->kind_count);
    assert_int_equal(right->nvlink_domain_gpus, left->nvlink_domain_gpus);
    assert_int_equal(!right->fabric, !left->fabric);
    for (size_t i = 0; i < left->node_count; i += 1 + left->node_count / 50) {
        assert_string_equal(right->nodes[i].name, left->nodes[i].name);
        assert_int_equal(cluster_distance(right, 0, i), cluster_distance(left, 0, i));
    }
}

static void expect_round_trip(const struct cluster_topology *cluster)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer first = {.text = NULL}, second = {.text = NULL};
    assert_int_equal(write_cluster(cluster, &first, &err), 0);
    CLEANUP(cluster_topology)
    struct cluster_topology *back = parse_cluster(text_buffer_text(&first), &err);
    expect_made(back, &err);
    assert_int_equal(write_cluster(back, &second, &err), 0);
    assert_string_equal(text_buffer_text(&second), text_buffer_text(&first));
    expect_same_cluster(cluster, back);
}

static const char *const clusters[] = {
    CLUSTER "kinds: {h100: {preset: dgx-h100}}\nnodes: [{names: \"n[1-4]\", kind: h100}]\n",
    /* every form of a kind, several entries, no fabric */
    CLUSTER "kinds:\n"
            "  a: {preset: dgx-a100}\n"
            "  b: {gpu: a6000, gpus: 4, nvlink: [[0, 1], [2, 3]], nics: 2, nic_rate: 100Gb/s}\n"
            "  \"yes\": {node: {gpus: [{model: h100, bus_id: \"01:00.0\"}], nvlink: none}}\n"
            "nodes:\n  - {names: \"a[1-2],c7\", kind: a}\n  - {names: b, kind: b}\n"
            "  - {names: \"a[3-4]\", kind: \"yes\"}\n",
    /* rates, tiers, blocks with names and ids, nodes without a place, a wider fabric */
    CLUSTER "kinds: {g: {preset: gb200-nvl72}}\nnodes: [{names: \"n[01-36],x1\", kind: g}]\n"
            "fabric:\n  tiers: [leaf, spine, core]\n  switches:\n"
            "    - {name: core, tier: core, children: \"spine[1-2]\"}\n"
            "    - {name: spine1, tier: spine, children: leaf1, uplink: 3.2Tb/s}\n"
            "    - {name: spine2, tier: spine, children: leaf2}\n"
            "    - {name: leaf2, tier: leaf, nodes: \"n[19-36],m1\", downlink: 6.4Tb/s}\n"
            "    - {name: leaf1, tier: leaf, nodes: \"n[01-18]\", uplink: 25.5GB/s}\n"
            "  nvlink_domains:\n"
            "    - {name: rack2, id: 0a-b.2, nodes: \"n[19-36]\"}\n    - {nodes: \"n[01-18]\"}\n",
    /* rails */
    CLUSTER
    "kinds: {h: {preset: dgx-h100}}\nnodes: [{names: \"n[1-4]\", kind: h}]\n"
    "fabric:\n  switches:\n"
    "    - {name: a0, rail: 0, nodes: \"n[1-2]\"}\n    - {name: a1, rail: 1, nodes: \"n[1-2]\"}\n"
    "    - {name: b0, rail: 0, nodes: \"n[3-4]\"}\n    - {name: b1, rail: 1, nodes: \"n[4,3]\"}\n"
    "    - {name: s, children: \"a[0-1],b[0-1]\"}\n",
    /* domains only, and a fabric of nothing */
    CLUSTER "kinds: {g: {preset: gb200-nvl72}}\nnodes: [{names: \"n[1-2]\", kind: g}]\n"
            "fabric: {nvlink_domains: [{id: \"yes\", nodes: \"n[1-2]\"}]}\n",
    CLUSTER "kinds: {g: {preset: l40s-pcie}}\nnodes: [{names: \"n[1-2]\", kind: g}]\nfabric: {}\n",
};

static void clusters_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(clusters); i++) {
        CLEANUP(cluster_topology) struct cluster_topology *cluster = open_cluster(clusters[i]);
        expect_round_trip(cluster);
    }
}

static void preset_clusters_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {"dgx-h100:1", "dgx-h100:100", "gb200-nvl72:40",
                                        "dgx1-v100:3", "mi300x:33"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(cluster_topology) struct cluster_topology *cluster = preset_cluster(names[i], &err);
        expect_made(cluster, &err);
        expect_round_trip(cluster);
    }
}

/* A part of a cluster has switches and domains that lost their nodes. */
static void parts_come_back(void **state)
{
    (void)state;
    CLEANUP(cluster_topology) struct cluster_topology *whole = open_cluster(clusters[2]);
    CLEANUP(node_list) struct node_list *names = names_of("n[20,19],n01");
    CLEANUP(node_list) struct node_list *rack = names_of("n[01-02]");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *part = cluster_topology_select(whole, names, &err);
    expect_made(part, &err);
    expect_round_trip(part);
    CLEANUP(cluster_topology)
    struct cluster_topology *one = cluster_topology_select(whole, rack, &err);
    expect_made(one, &err);
    expect_round_trip(one);
}

static void looks_like_this(void **state)
{
    (void)state;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = open_cluster(
        CLUSTER
        "kinds: {h100: {preset: hgx-h100}}\nnodes: [{names: \"n1,n2,n3,n4\", kind: h100}]\n"
        "fabric: {switches: [{name: l1, nodes: \"n1,n2\", uplink: 400GB/s},\n"
        "                    {name: l2, nodes: \"n[3-4]\"}, {name: s, children: \"l1,l2\"}]}\n");
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer text = {.text = NULL};
    assert_int_equal(write_cluster(cluster, &text, &err), 0);
    assert_string_equal(text_buffer_text(&text),
                        CLUSTER "kinds:\n"
                                "  h100:\n"
                                "    preset: dgx-h100\n"
                                "nodes:\n"
                                "  - {names: \"n[1-4]\", kind: h100}\n"
                                "fabric:\n"
                                "  tiers: [leaf, spine]\n"
                                "  switches:\n"
                                "    - {name: l1, tier: leaf, nodes: \"n[1-2]\", uplink: 3.2Tb/s}\n"
                                "    - {name: l2, tier: leaf, nodes: \"n[3-4]\"}\n"
                                "    - {name: s, tier: spine, children: \"l[1-2]\"}\n");
}

static struct fabric *parse_fabric(const char *text, struct error_info *err)
{
    return fabric_file_parse(text, strlen(text), "fabric.yaml", err);
}

static void fabrics_come_back(void **state)
{
    (void)state;
    static const char *const fabrics[] = {
        FABRIC,
        FABRIC "tiers: [leaf, \"two: words\"]\n",
        FABRIC "switches: [{name: a, nodes: \"n[1-3]\"}, {name: b}]\n",
        FABRIC "nvlink_domains: [{name: block1, nodes: \"n[1-3]\"}]\n",
    };
    for (size_t i = 0; i < COUNT_OF(fabrics); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse_fabric(fabrics[i], &err);
        expect_made(fabric, &err);
        CLEANUP_DONE(text_buffer) struct text_buffer first, second;
        text_buffer_init(&first, TEXT_BYTES);
        text_buffer_init(&second, TEXT_BYTES);
        assert_int_equal(fabric_file_write(fabric, &first, &err), 0);
        CLEANUP(fabric) struct fabric *back = parse_fabric(text_buffer_text(&first), &err);
        expect_made(back, &err);
        assert_int_equal(fabric_file_write(back, &second, &err), 0);
        assert_string_equal(text_buffer_text(&second), text_buffer_text(&first));
        assert_int_equal(back->node_count, fabric->node_count);
    }
}

static void refuses_with_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "fabric.yaml"},
        {"schema: parplan.cluster/1\n", "parplan.fabric/1"},
        {FABRIC "nodes: n1\n", "fabric.yaml:2: nodes: unknown key"},
        {FABRIC "switches:\n  - {name: a, nodes: n1}\n  - {name: b, nodes: n1}\n",
         "fabric.yaml:4: node n1 is in switch b, and at fabric.yaml:3 already in a"},
        {FABRIC "switches: [{name: a, downlink: 400}]\n", "downlink: 400 has no unit"},
        {FABRIC "tiers: [[leaf]]\n", "tiers[0]: a plain text is expected"},
        {FABRIC "nvlink_domains: [{id: a}]\n", "nodes is missing"},
        {FABRIC "nvlink_domains: {nodes: n1}\n", "a list is expected"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(fabric) struct fabric *fabric = parse_fabric(cases[i].text, &err);
        if (fabric)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
    }
}

static void kinds_refuse_with_line(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        const char *message;
    } cases[] = {
        {"{node: {gpus: []}, gpus: 4}", "kinds.k.node: a kind with node: takes no other keys"},
        {"{node: {gpu: []}}", "did you mean gpus"},
        {"{node: x}", "cluster.yaml:2: kinds.k.node"},
        {"{node: {gpus: [{bus_id: x}]}}", "kinds.k.node.gpus[0].bus_id: 'x' is no PCI bus id"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256];
        struct error_info err = {.kind = ERROR_NONE};
        snprintf(text, sizeof(text), CLUSTER "kinds: {k: %s}\nnodes: [{names: n, kind: k}]\n",
                 cases[i].kind);
        CLEANUP(cluster_topology) struct cluster_topology *cluster = parse_cluster(text, &err);
        assert_null(cluster);
        expect_message(&err, cases[i].message);
    }
}

static int write_and_read(void *context, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text = {.text = NULL};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    CLEANUP(preset_catalogue)
    struct preset_catalogue *presets = gpus ? preset_catalogue_builtin(err) : NULL;
    if (!presets)
        return -1;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        cluster_topology_parse(context, strlen(context), "cluster.yaml", presets, gpus, err);
    text_buffer_init(&text, TEXT_BYTES);
    return cluster ? cluster_file_write(cluster, presets, gpus, &text, err) : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(write_and_read, (void *)clusters[3]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(clusters_come_back),     cmocka_unit_test(preset_clusters_come_back),
    cmocka_unit_test(parts_come_back),        cmocka_unit_test(looks_like_this),
    cmocka_unit_test(fabrics_come_back),      cmocka_unit_test(refuses_with_line),
    cmocka_unit_test(kinds_refuse_with_line), cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("report/cluster_file", tests, COUNT_OF(tests)); }
