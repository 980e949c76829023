/* SPDX-License-Identifier: MIT */
#include "tests/unit/k8s_extender/view_fixture.h"

#define H100                                                                                       \
    "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 nvidia.com/gpu.count=8 "                         \
    "nvidia.com/gpu.memory=81559"

static const char *kind_of(const struct cluster_view *view, const char *node)
{
    uint32_t at = cluster_view_find(view, node);
    assert_int_not_equal(at, VIEW_NODE_NONE);
    return view->cluster->kind_names[view->cluster->nodes[at].kind];
}

static void kinds_follow_the_labels(void **state)
{
    (void)state;
    static const struct {
        const char *labels;
        unsigned allocatable;
        const char *kind;
    } cases[] = {
        {H100, 8, "dgx-h100"},
        {H100, 7, "dgx-h100"}, /* one GPU is out of order: the machine has eight */
        {H100, 0, "dgx-h100"}, /* the device plugin is away */
        {"nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 nvidia.com/gpu.count=4", 4, "4x-h100-sxm"},
        {"nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 nvidia.com/gpu.count=many", 8, "dgx-h100"},
        {"nvidia.com/gpu.product=NVIDIA-H100-PCIe", 8, "8x-h100-pcie"},
        {"nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB", 8, "dgx-a100-80"},
        {"nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB", 8, "dgx-a100-40"},
        {"nvidia.com/gpu.product=NVIDIA-A100 nvidia.com/gpu.memory=40960", 8, "dgx-a100-40"},
        {"nvidia.com/gpu.product=NVIDIA-H200", 8, "dgx-h200"},
        {"nvidia.com/gpu.product=NVIDIA-GB200", 4, "gb200-nvl72"},
        {"nvidia.com/gpu.product=NVIDIA-L40S", 8, "l40s-pcie"},
        {"nvidia.com/gpu.product=NVIDIA-New-Board-900GB", 2, "2x-nvidia-new-board-900gb"},
        {"amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM amd.com/gpu.vram=192G", 8, "mi300x"},
        {"cloud.google.com/gke-accelerator=nvidia-h100-80gb", 8, "dgx-h100"},
        {"cloud.google.com/gke-accelerator=nvidia-tesla-a100", 8, "dgx-a100-40"},
        {"gpu.nvidia.com/class=A100_NVLINK_80GB gpu.nvidia.com/vram=81", 8, "dgx-a100-80"},
        {"karpenter.k8s.aws/instance-gpu-name=h100 karpenter.k8s.aws/instance-gpu-count=8", 8,
         "dgx-h100"},
        {NULL, 3, "3x-gpu"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node_record *node = make_node("n1", cases[i].allocatable, cases[i].labels, NULL);
        CLEANUP(cluster_view) struct cluster_view *view = make_view(&node, 1);
        assert_non_null(view->cluster);
        assert_string_equal(kind_of(view, "n1"), cases[i].kind);
        assert_int_equal(view->warning_count, 0);
        node_record_free(node);
    }
}

/* Koordinator adds 100 for each GPU to what the device plugin offers. */
static void counts_no_percents(void **state)
{
    (void)state;
    static const char text[] =
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"nvidia.com/gpu.product\":"
        "\"NVIDIA-H100-80GB-HBM3\"}},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\","
        "\"koordinator.sh/gpu\":\"800\",\"koordinator.sh/gpu-core\":\"800\"}}}";
    struct error_info err = {.kind = ERROR_NONE};
    struct node_record *node = node_record_parse(text, strlen(text), &err);
    expect_made(node, &err);
    CLEANUP(cluster_view) struct cluster_view *view = make_view(&node, 1);
    assert_int_equal(view->warning_count, 0);
    assert_string_equal(kind_of(view, "n1"), "dgx-h100");
    node_record_free(node);
}

static void links_are_unknown_where_no_preset_fits(void **state)
{
    (void)state;
    struct node_record *nodes[] = {
        make_node("a", 4, "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3", NULL),
        make_node("b", 6, "nvidia.com/gpu.product=NVIDIA-L40S", NULL),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 2);
    const struct node_topology *const *kinds = view->cluster->kinds;
    assert_int_equal(kinds[0]->nvlink, NVLINK_UNKNOWN);
    assert_string_equal(kinds[0]->gpus[3].model, "h100-sxm");
    assert_true(kinds[0]->gpus[3].memory_bytes > 0);
    assert_int_equal(kinds[1]->nvlink, NVLINK_NONE); /* the catalogue rules it out */
    free_nodes(nodes, 2);
}

static void leaves_out_what_is_no_whole_gpu(void **state)
{
    (void)state;
    struct node_record *nodes[] = {
        make_node("cpu", 0, "kubernetes.io/os=linux", NULL),
        make_node("many", 65, NULL, NULL),
        make_node("mig", 56, "nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", NULL),
        make_node("shared", 32, "nvidia.com/gpu.product=Tesla-T4-SHARED", NULL),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 4);
    assert_null(view->cluster);
    assert_int_equal(cluster_view_find(view, "cpu"), VIEW_NODE_NONE);
    assert_int_equal(view->warning_count, 3);
    assert_string_equal(view->warnings[0], "node many is left out: it has more than 64 GPUs");
    assert_string_equal(
        view->warnings[1],
        "node mig is left out: label nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-MIG-1g.5gb says "
        "that its GPUs are shared or cut into instances, and ranks take whole GPUs");
    free_nodes(nodes, 4);
}

static void the_annotation_wins(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *text = annotation_of("a6000-pairs", NULL);
    struct node_record *nodes[] = {
        make_node("n1", 8, H100, text),
        make_node("n2", 8, NULL, text),
        make_node("n3", 0, NULL, text), /* known to have GPUs, none can be had now */
        make_node("n4", 8, H100, NULL),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 4);
    assert_int_equal(view->cluster->node_count, 4);
    assert_int_equal(view->cluster->kind_count, 2);
    assert_string_equal(kind_of(view, "n1"), "8x-a6000");
    assert_string_equal(kind_of(view, "n3"), "8x-a6000");
    assert_string_equal(kind_of(view, "n4"), "dgx-h100");
    assert_int_equal(view->cluster->kinds[0]->domain_count, 4);
    assert_int_equal(view->warning_count, 0);
    free_nodes(nodes, 4);
}

static void a_bad_annotation_is_one_warning(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *four = annotation_of("gb200-nvl72", NULL);
    CLEANUP_MEMORY char *huge = memory_allocate(NODE_ANNOTATION_MAXIMUM_BYTES + 2);
    assert_non_null(huge);
    memset(huge, 'x', NODE_ANNOTATION_MAXIMUM_BYTES + 1);
    static const char *const warnings[] = {
        "node n1: parplan.io/topology: no topology of this version (parplan.topology/1); use the "
        "node agent of the same release",
        "node n2: parplan.io/topology: line 2: clique and an id of at most 127 characters, or -, "
        "are expected",
        "node n3: parplan.io/topology: line 1 of the evidence: ",
        "node n4: parplan.io/topology tells of 4 GPUs, allocatable are 8; labels count",
        "node n5: parplan.io/topology: 65537 bytes; at most 65536 are possible",
        "node n6: parplan.io/topology: line 1 of the evidence: ",
    };
    struct node_record *nodes[] = {
        make_node("n1", 8, H100, "{}"),
        make_node("n2", 8, H100, "parplan.topology/1\nclique \nparplan.evidence/2\n"),
        make_node("n3", 8, H100, "parplan.topology/1\nclique -\nparplan.evidence/9\n"),
        make_node("n4", 8, H100, four),
        make_node("n5", 8, H100, huge),
        make_node("n6", 8, H100, "parplan.topology/1\nclique -\nparplan.evidence/9\n"),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, COUNT_OF(nodes));
    assert_int_equal(view->cluster->kind_count, 1);
    assert_int_equal(view->cluster->node_count, COUNT_OF(nodes));
    assert_int_equal(view->warning_count, COUNT_OF(warnings));
    for (size_t i = 0; i < COUNT_OF(warnings); i++)
        if (strncmp(view->warnings[i], warnings[i], strlen(warnings[i])) != 0)
            fail_msg("%s", view->warnings[i]);
    free_nodes(nodes, COUNT_OF(nodes));
}

/* Every node with a text of its own: what is read has a maximum, and so have the warnings. */
static void many_texts_have_a_maximum(void **state)
{
    (void)state;
    enum { NODES = 400 };
    struct node_record *nodes[NODES];
    UNIT_TEST_SKIP_TORTURE();
    for (unsigned i = 0; i < NODES; i++) {
        char name[32], text[128];
        snprintf(name, sizeof(name), "n%03u", i);
        snprintf(text, sizeof(text), "parplan.topology/1\nclique -\nnonsense %u\n", i);
        nodes[i] = make_node(name, 8, H100, text);
    }
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, NODES);
    assert_int_equal(view->cluster->node_count, NODES);
    assert_int_equal(view->cluster->kind_count, 1);
    assert_int_equal(view->warning_count, VIEW_MAXIMUM_WARNINGS);
    assert_string_equal(view->warnings[VIEW_MAXIMUM_WARNINGS - 1], "and 337 more");
    free_nodes(nodes, NODES);
}

#define RACK(leaf, spine) "fabric.topograph.run/tier-0=" leaf " fabric.topograph.run/tier-1=" spine

static void the_fabric_is_that_of_the_labels(void **state)
{
    (void)state;
    struct node_record *nodes[] = {
        make_node("n10", 8, H100 " " RACK("l2", "s"), NULL),
        make_node("n2", 8, H100 " " RACK("l1", "s"), NULL),
        make_node("n1", 8, H100 " " RACK("l1", "s"), NULL),
        make_node("n11", 8, H100, NULL),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 4);
    const struct cluster_topology *cluster = view->cluster;
    assert_string_equal(cluster->nodes[0].name, "n1");
    assert_string_equal(cluster->nodes[2].name, "n10");
    assert_int_equal(cluster_distance(cluster, 0, 1), 0);
    assert_int_equal(cluster_distance(cluster, 0, 2), 1);
    assert_int_equal(cluster->nodes[3].fabric_node, FABRIC_NONE);
    free_nodes(nodes, 4);
}

static void no_label_is_no_fabric(void **state)
{
    (void)state;
    struct node_record *node = make_node("n1", 8, H100, NULL);
    CLEANUP(cluster_view) struct cluster_view *view = make_view(&node, 1);
    assert_null(view->cluster->fabric);
    assert_int_equal(view->warning_count, 0);
    node_record_free(node);
}

#define GB200 "nvidia.com/gpu.product=NVIDIA-GB200 nvidia.com/gpu.count=4"

static void cliques_are_nvlink_domains(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *rack1 = annotation_of("gb200-nvl72", "c1.1");
    CLEANUP_MEMORY char *rack2 = annotation_of("gb200-nvl72", "c2.1");
    struct node_record *nodes[] = {
        make_node("n1", 4, GB200 " nvidia.com/gpu.clique=c1.1", NULL), /* the label alone */
        make_node("n2", 4, NULL, rack1),
        make_node("n3", 4, GB200, rack1),
        make_node("n4", 4, GB200, rack2),
        make_node("n5", 4, GB200 " nvidia.com/gpu.clique=c2.1", rack2),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 5);
    const struct cluster_topology *cluster = view->cluster;
    assert_int_equal(cluster_distance(cluster, 0, 2), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_equal(cluster_distance(cluster, 1, 2), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_equal(cluster_distance(cluster, 3, 4), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_not_equal(cluster_distance(cluster, 2, 3), DISTANCE_SAME_NVLINK_DOMAIN);
    free_nodes(nodes, 5);
}

/* A clique must not take nodes out of domains that another label names. */
static void other_labels_of_domains_count_alone(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *text = annotation_of("gb200-nvl72", "c1.1");
    struct node_record *nodes[] = {
        make_node("n1", 4, GB200 " accelerator.topograph.run/domain=d1", text),
        make_node("n2", 4, GB200 " accelerator.topograph.run/domain=d1", NULL),
        make_node("n3", 4, NULL, text),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 3);
    assert_int_equal(cluster_distance(view->cluster, 0, 1), DISTANCE_SAME_NVLINK_DOMAIN);
    assert_int_not_equal(cluster_distance(view->cluster, 0, 2), DISTANCE_SAME_NVLINK_DOMAIN);
    free_nodes(nodes, 3);
}

static void labels_that_contradict_are_a_warning(void **state)
{
    (void)state;
    struct node_record *nodes[] = {
        make_node("n1", 8, H100 " " RACK("l1", "s1"), NULL),
        make_node("n2", 8, H100 " " RACK("l1", "s2"), NULL),
        make_node("n3", 8, H100 " " RACK("s1", "l1"), NULL),
    };
    CLEANUP(cluster_view) struct cluster_view *view = make_view(nodes, 3);
    assert_non_null(view->cluster);
    assert_true(view->warning_count > 0 || view->cluster->fabric);
    free_nodes(nodes, 3);
}

static void the_digest_has_no_order(void **state)
{
    (void)state;
    struct node_record *nodes[] = {make_node("a", 8, H100, NULL), make_node("b", 8, H100, NULL),
                                   make_node("b", 8, NULL, NULL), make_node("c", 0, NULL, NULL)};
    const struct node_record *forward[] = {nodes[0], nodes[1], nodes[3]};
    const struct node_record *backward[] = {nodes[3], nodes[1], nodes[0]};
    const struct node_record *other[] = {nodes[0], nodes[2], nodes[3]};
    const struct node_record *fewer[] = {nodes[0], nodes[1]};
    uint64_t digest = cluster_view_digest(forward, 3);
    assert_true(digest == cluster_view_digest(backward, 3));
    assert_true(digest != cluster_view_digest(other, 3));
    assert_true(digest != cluster_view_digest(fewer, 2));
    CLEANUP(cluster_view) struct cluster_view *view = make_view((struct node_record **)forward, 3);
    assert_true(view->digest == digest);
    free_nodes(nodes, 4);
}

static void the_last_holder_frees_it(void **state)
{
    (void)state;
    struct node_record *node = make_node("n1", 8, H100, NULL);
    struct cluster_view *view = make_view(&node, 1);
    node_record_free(node); /* nothing of the records is used afterwards */
    struct cluster_view *second = cluster_view_share(view);
    cluster_view_free(view);
    assert_string_equal(second->cluster->nodes[0].name, "n1");
    cluster_view_free(second);
    cluster_view_free(NULL);
}

static void an_empty_cluster_is_a_view(void **state)
{
    (void)state;
    CLEANUP(cluster_view) struct cluster_view *view = make_view(NULL, 0);
    assert_null(view->cluster);
    assert_true(view->digest == cluster_view_digest(NULL, 0));
}

struct scenario {
    const struct node_record *nodes[3];
    struct view_catalogues catalogues;
};

static int create_and_free(void *context, struct error_info *err)
{
    const struct scenario *scenario = context;
    CLEANUP(cluster_view)
    struct cluster_view *view = cluster_view_create(scenario->nodes, COUNT_OF(scenario->nodes),
                                                    &scenario->catalogues.sources, err);
    return view ? 0 : -1;
}

static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    CLEANUP_MEMORY char *text = annotation_of("gb200-nvl72", "c1.1");
    struct node_record *nodes[] = {
        make_node("n1", 4, NULL, text),
        make_node("n2", 8, H100 " " RACK("l1", "s"), "garbage"),
        make_node("n3", 2, "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3", NULL),
    };
    struct scenario scenario = {.nodes = {nodes[0], nodes[1], nodes[2]},
                                .catalogues = open_view_catalogues()};
    unit_test_expect_clean_failures(create_and_free, &scenario);
    view_catalogues_done(&scenario.catalogues);
    free_nodes(nodes, 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds_follow_the_labels),
    cmocka_unit_test(counts_no_percents),
    cmocka_unit_test(links_are_unknown_where_no_preset_fits),
    cmocka_unit_test(leaves_out_what_is_no_whole_gpu),
    cmocka_unit_test(the_annotation_wins),
    cmocka_unit_test(a_bad_annotation_is_one_warning),
    cmocka_unit_test(many_texts_have_a_maximum),
    cmocka_unit_test(the_fabric_is_that_of_the_labels),
    cmocka_unit_test(no_label_is_no_fabric),
    cmocka_unit_test(cliques_are_nvlink_domains),
    cmocka_unit_test(other_labels_of_domains_count_alone),
    cmocka_unit_test(labels_that_contradict_are_a_warning),
    cmocka_unit_test(the_digest_has_no_order),
    cmocka_unit_test(the_last_holder_frees_it),
    cmocka_unit_test(an_empty_cluster_is_a_view),
    cmocka_unit_test(failures_leave_nothing_behind),
};

int main(void) { return unit_test_main("k8s_extender/cluster_view", tests, COUNT_OF(tests)); }
