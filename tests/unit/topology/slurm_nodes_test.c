/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "tests/unit/topology/topology_fixture.h"
#include "topology/cluster_readers/slurm_nodes.h"

/* As `scontrol show node --oneliner` writes it, cut to what could mislead. */
#define NODE(name, gres)                                                                           \
    "NodeName=" name " Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 CPUTot=8 Gres=" gres                \
    " NodeAddr=10.0.0.1 OS=Linux 6.1.0 #1 SMP Reason=waiting for Gres=gpu:a100:4 [root]\n"

#define STATE(name, gres, state)                                                                   \
    "NodeName=" name " Arch=x86_64 Gres=" gres " OS=Linux 6.1.0 State=" state                      \
    " Reason=State=DOWN [root@x]\n"

static struct cluster_topology *parse(const char *text, struct fabric *fabric,
                                      struct text_buffer *notes, struct error_info *err)
{
    text_buffer_init(notes, 4096);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(err);
    CLEANUP(preset_catalogue)
    struct preset_catalogue *presets = gpus ? preset_catalogue_builtin(err) : NULL;
    if (presets)
        return slurm_nodes_parse(text, strlen(text), "scontrol show node", fabric, presets, gpus,
                                 notes, err);
    fabric_free(fabric);
    return NULL;
}

static void kinds_follow_the_gres(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer notes;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = parse(
        NODE("login", "(null)") NODE("n01", "gpu:h100:8(S:0-1)") NODE("n02", "gpu:h100:8(S:0-1)")
            NODE("n03", "gpu:h100:4,nic:2") NODE("x1", "gpu:2") NODE("x2", "gpu:new-board:2")
                NODE("m1", "gpu:nvidia_h100_80gb_hbm3:8") "\n",
        NULL, &notes, &err);
    expect_made(cluster, &err);
    static const char *const kinds[] = {"dgx-h100", "4x-h100-sxm", "2x-gpu", "2x-new-board",
                                        "dgx-h100-2"};
    assert_int_equal(cluster->node_count, 6);
    assert_int_equal(cluster->kind_count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        assert_string_equal(cluster->kind_names[i], kinds[i]);
    assert_int_equal(cluster->nodes[1].kind, 0);
    assert_int_equal(cluster->nodes[2].kind, 1);
    assert_int_equal(cluster->kinds[1]->nvlink, NVLINK_UNKNOWN);
    assert_int_equal(cluster->kinds[1]->gpu_count, 4);
    assert_string_equal(
        text_buffer_text(&notes),
        "GRES gpu:h100:8 of 2 nodes: assumed to be preset dgx-h100 (NVIDIA DGX H100); h100 is "
        "taken for h100-sxm, it may be h100-pcie or h100-nvl\n"
        "GRES gpu:h100:4 of 1 node: no preset fits; NVLink and NICs are unknown; h100 is taken "
        "for h100-sxm, it may be h100-pcie or h100-nvl\n"
        "GRES gpu:2 of 1 node: no preset fits, since it names no type; NVLink and NICs are "
        "unknown\n"
        "GRES gpu:new-board:2 of 1 node: no preset fits; NVLink and NICs are unknown\n"
        "GRES gpu:nvidia_h100_80gb_hbm3:8 of 1 node: assumed to be preset dgx-h100 (NVIDIA DGX "
        "H100)\n"
        "1 node without GPUs left out\n");
}

static void says_what_is_assumed_and_left_out(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_DONE(text_buffer) struct text_buffer notes;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = parse(
        STATE("n1", "gpu:a100:4(S:0-1),gpu:a100_3g.20gb:8(S:0-1)", "IDLE")
            STATE("n2", "gpu:gb200:4", "DOWN*+DRAIN") STATE("n3", "gpu:gb200:4", "MIXED+DRAIN")
                STATE("n4", "gpu:gb200:4", "IDLE+CLOUD+POWERED_DOWN")
                    STATE("n5", "gpu:a6000:4,gpu:l40s:4,gpu:2", "IDLE")
                        STATE("n6", "gpu:a6000:4", "IDLE*") STATE("n7", "gpu:1g.5gb:56", "IDLE")
                            STATE("n8", "gpu:0", "DOWN"),
        NULL, &notes, &err);
    expect_made(cluster, &err);
    assert_int_equal(cluster->node_count, 6);
    assert_int_equal(cluster->kind_count, 4);
    assert_string_equal(cluster->kind_names[2], "4x-a6000");
    assert_string_equal(cluster->kind_names[3], "4x-a6000-2");
    assert_string_equal(
        text_buffer_text(&notes),
        "GRES gpu:a100:4 of 1 node: no preset fits; NVLink and NICs are unknown; a100 is taken for "
        "a100-sxm-80, it may be a100-sxm-40, a100-pcie-80 or a100-pcie-40; left out: "
        "gpu:a100_3g.20gb:8 of the same node\n"
        "GRES gpu:gb200:4 of 3 nodes: assumed to be preset gb200-nvl72 (NVIDIA GB200 NVL72, one "
        "compute tray (4 GPUs of the rack's 72))\n"
        "GRES gpu:a6000:4 of 1 node: no preset fits; NVLink and NICs are unknown; left out: "
        "gpu:l40s:4, gpu:2 of the same node\n"
        "GRES gpu:a6000:4 of 1 node: no preset fits; NVLink and NICs are unknown\n"
        "2 nodes are down or drained, and part of this all the same: n[2-3]\n"
        "1 node with MIG instances alone left out\n"
        "1 node without GPUs left out\n");
}

static void the_fabric_goes_with_it(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static const char text[] = "SwitchName=l1 Nodes=n01\nSwitchName=l2 Nodes=n02\n"
                               "SwitchName=s Switches=l[1-2]\n";
    struct fabric *fabric = fabric_parse_slurm(text, strlen(text), "t", &err);
    expect_made(fabric, &err);
    CLEANUP_DONE(text_buffer) struct text_buffer notes;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        parse(NODE("n01", "gpu:h100:8") NODE("n02", "gpu:h100:8"), fabric, &notes, &err);
    expect_made(cluster, &err);
    assert_int_equal(cluster_distance(cluster, 0, 1), 1);
}

static void refuses_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "scontrol show node: no node has GPUs"},
        {NODE("n1", "(null)"), "no node has GPUs"},
        {"hello\n", "'hello…' has no NodeName="},
        {NODE("n1", "gpu:65"), "node n1 has 65 GPUs; 64 are possible"},
        {NODE("n[1", "gpu:8"), "scontrol show node: "},
        {NODE("n1", "gpu:8") NODE("n1", "gpu:8"), "node n1 stands twice"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer notes;
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = parse(cases[i].text, NULL, &notes, &err);
        if (cluster)
            fail_msg("accepted: %s", cases[i].text);
        expect_message(&err, cases[i].message);
    }
}

static int parse_two(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP_DONE(text_buffer) struct text_buffer notes;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster =
        parse(NODE("n1", "gpu:h100:8") NODE("n2", "gpu:2"), NULL, &notes, err);
    return cluster ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(parse_two, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kinds_follow_the_gres),   cmocka_unit_test(says_what_is_assumed_and_left_out),
    cmocka_unit_test(the_fabric_goes_with_it), cmocka_unit_test(refuses_in_one_line),
    cmocka_unit_test(fails_cleanly),
};

int main(void) { return unit_test_main("topology/slurm_nodes", tests, COUNT_OF(tests)); }
