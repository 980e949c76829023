/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/collect/node_annotation.h"

#define HEAD "parplan.topology/1\n"

static int encode(const struct node_topology *node, struct text_buffer *out, struct error_info *err)
{
    text_buffer_init(out, NODE_ANNOTATION_MAXIMUM_BYTES);
    return node_annotation_encode(node, out, err);
}

static void expect_same(const struct node_topology *was, const struct node_topology *is)
{
    assert_int_equal(is->gpu_count, was->gpu_count);
    assert_int_equal(is->nic_count, was->nic_count);
    assert_int_equal(is->domain_count, was->domain_count);
    assert_int_equal(is->nvlink, was->nvlink);
    assert_int_equal(is->nvlink_switched, was->nvlink_switched);
    assert_int_equal(is->nvlink_leaves_node, was->nvlink_leaves_node);
    assert_int_equal(is->nvlink_domain_nodes, was->nvlink_domain_nodes);
    assert_true(was->host_memory_bytes - is->host_memory_bytes < (uint64_t)1 << 30);
    for (unsigned i = 0; i < was->gpu_count; i++) {
        assert_string_equal(is->gpus[i].model, was->gpus[i].model);
        assert_int_equal(is->gpus[i].memory_bytes, was->gpus[i].memory_bytes);
        assert_int_equal(is->gpus[i].nvlink_domain, was->gpus[i].nvlink_domain);
    }
    size_t n = was->gpu_count;
    for (size_t i = 0; i < n * n; i++) { /* rates are whole bytes in the text */
        double difference = is->nvlink_bytes_per_second[i] - was->nvlink_bytes_per_second[i];
        assert_true(difference > -1 && difference < 1);
    }
    assert_memory_equal(is->links, was->links, n * n * sizeof(enum link_kind));
    assert_memory_equal(is->nic_links, was->nic_links, n * was->nic_count * sizeof(enum link_kind));
}

static void every_preset_comes_back(void **state)
{
    (void)state;
    CLEANUP(preset_catalogue) struct preset_catalogue *presets = open_presets();
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    for (size_t i = 0; i < presets->count; i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP(node_topology)
        struct node_topology *node = open_preset_node(presets->presets[i].name);
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        struct node_annotation parts;
        if (encode(node, &text, &err) < 0 ||
            node_annotation_split(text_buffer_text(&text), text.length, "t", &parts, &err) < 0)
            fail_msg("%s: %s", presets->presets[i].name, err.text);
        assert_string_equal(parts.clique, "");
        CLEANUP(node_topology)
        struct node_topology *back =
            node_annotation_kind(parts.kind, parts.kind_bytes, "t", gpus, &err);
        expect_made(back, &err);
        expect_same(node, back);
        if (node->gpu_count == 8)
            assert_in_range(text.length, 100, 8000);
    }
}

/* Two machines of one kind differ in the line of their clique alone. */
static void what_one_node_has_is_left_out(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology) struct node_topology *first = open_preset_node("gb200-nvl72");
    CLEANUP(node_topology) struct node_topology *second = open_preset_node("gb200-nvl72");
    struct node_gpu *gpus = (struct node_gpu *)second->gpus;
    struct node_nic *nics = (struct node_nic *)second->nics;
    for (unsigned i = 0; i < second->gpu_count; i++)
        gpus[i].uuid = "GPU-1", gpus[i].bus_id = "0000:01:00.0", gpus[i].cpus = "0-7";
    nics[0].reason = "because";
    nics[0].bus_id = "0000:02:00.0";
    first->nvlink_clique = "abc.1";
    second->nvlink_clique = "abc.2";
    second->driver_version = "580.1";
    second->host_memory_bytes += 1000;
    CLEANUP_DONE(text_buffer) struct text_buffer left;
    CLEANUP_DONE(text_buffer) struct text_buffer right;
    text_buffer_init(&right, 1);
    struct node_annotation parts, others;
    if (encode(first, &left, &err) < 0 || encode(second, &right, &err) < 0 ||
        node_annotation_split(text_buffer_text(&left), left.length, "t", &parts, &err) < 0 ||
        node_annotation_split(text_buffer_text(&right), right.length, "t", &others, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(parts.clique, "abc.1");
    assert_string_equal(others.clique, "abc.2");
    assert_string_equal(parts.kind, others.kind);
}

/* Interfaces of pods come and go. */
static void nics_that_are_no_rails_are_left_out(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("gb200-nvl72");
    struct node_nic *nics = (struct node_nic *)node->nics;
    nics[0].role = NIC_MANAGEMENT;
    nics[2].role = NIC_STORAGE;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct node_annotation parts;
    if (encode(node, &text, &err) < 0 ||
        node_annotation_split(text_buffer_text(&text), text.length, "t", &parts, &err) < 0)
        fail_msg("%s", err.text);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    CLEANUP(node_topology)
    struct node_topology *back =
        node_annotation_kind(parts.kind, parts.kind_bytes, "t", gpus, &err);
    expect_made(back, &err);
    assert_int_equal(back->nic_count, 2);
    for (unsigned gpu = 0; gpu < 4; gpu++)
        for (unsigned nic = 0; nic < 2; nic++)
            assert_int_equal(back->nic_links[gpu * 2 + nic],
                             node->nic_links[gpu * 4 + 1 + 2 * nic]);
}

static void splits_or_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *clique;
    } cases[] = {
        {HEAD "clique -\nrest", NULL, ""},
        {HEAD "clique a.1\n", NULL, "a.1"},
        {HEAD "clique --\n", NULL, "--"},
        {"", "t: no topology of this version (parplan.topology/1)", NULL},
        {"parplan.topology/1", "no topology of this version", NULL},
        {"parplan.topology/2\nclique -\n", "use the node agent of the same release", NULL},
        {HEAD, "t: line 2: clique and an id of at most 127 characters, or -, are expected", NULL},
        {HEAD "clique \n", "line 2: clique", NULL},
        {HEAD "clique -", "line 2: clique", NULL},
        {HEAD "clique a b\n", "line 2: clique", NULL},
        {HEAD "clique a\001\n", "line 2: clique", NULL},
        {HEAD "cliques -\n", "line 2: clique", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct node_annotation parts = {.kind = NULL};
        int status = node_annotation_split(cases[i].text, strlen(cases[i].text), "t", &parts, &err);
        if ((status == 0) != (cases[i].message == NULL))
            fail_msg("case %zu: %s", i, err.text);
        if (cases[i].message)
            expect_message(&err, cases[i].message);
        else
            assert_string_equal(parts.clique, cases[i].clique);
    }
}

static void a_clique_has_a_maximum(void **state)
{
    (void)state;
    char text[256];
    struct error_info err = {.kind = ERROR_NONE};
    struct node_annotation parts;
    for (int length = 127; length <= 128; length++) {
        snprintf(text, sizeof(text), HEAD "clique %0*d\n", length, 7);
        assert_int_equal(node_annotation_split(text, strlen(text), "t", &parts, &err),
                         length <= 127 ? 0 : -1);
    }
    CLEANUP(node_topology) struct node_topology *node = open_preset_node("dgx-h100");
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    node->nvlink_clique = "not one word";
    if (encode(node, &out, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(strstr(text_buffer_text(&out), "\nclique -\n"));
}

/* The largest node there can be does not fit; that is said, and nothing is written. */
static void too_long_is_refused(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        parse_cluster("schema: parplan.cluster/1\n"
                      "kinds: {big: {gpu: h100-sxm, gpus: 64, nvlink: switch, nics: 64}}\n"
                      "nodes: [{names: n1, kind: big}]\n",
                      &err);
    expect_made(cluster, &err);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    assert_int_equal(encode(cluster->kinds[0], &out, &err), -1);
    expect_message(&err, "the topology of 64 GPUs and 64 NICs is ");
    expect_message(&err, "bytes as text; an annotation may have 65536");
    assert_int_equal(out.length, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_preset_comes_back),
    cmocka_unit_test(what_one_node_has_is_left_out),
    cmocka_unit_test(nics_that_are_no_rails_are_left_out),
    cmocka_unit_test(splits_or_says_why),
    cmocka_unit_test(a_clique_has_a_maximum),
    cmocka_unit_test(too_long_is_refused),
};

int main(void) { return unit_test_main("topology/node_annotation", tests, COUNT_OF(tests)); }
