/* SPDX-License-Identifier: MIT */
#include "report/pictures/node_layout.h"
#include "report/pictures/node_picture.h"
#include "tests/support/svg_check.h"
#include "tests/support/unit_test.h"
#include "topology/cluster_topology.h"
#include "topology/preset_catalogue.h"

#include <stdio.h>
#include <string.h>

/* A node in static memory that a test fills. */
struct scene {
    struct node_topology node;
    struct node_gpu gpus[NODE_MAXIMUM_GPUS];
    struct node_nic nics[NODE_MAXIMUM_NICS];
    unsigned nearest[NODE_MAXIMUM_GPUS];
    double rates[NODE_MAXIMUM_GPUS * NODE_MAXIMUM_GPUS];
    enum link_kind links[NODE_MAXIMUM_GPUS * NODE_MAXIMUM_GPUS];
    enum link_kind nic_links[NODE_MAXIMUM_GPUS * NODE_MAXIMUM_NICS];
    struct node_domain domains[NODE_MAXIMUM_GPUS];
    unsigned members[NODE_MAXIMUM_GPUS];
};

static struct scene scene;

/* GPUs over NUMA nodes of that many (0: unknown), each its own domain, NICs near GPU i % gpus. */
static void fill(unsigned gpus, unsigned nics, unsigned per_numa)
{
    memset(&scene, 0, sizeof(scene));
    for (unsigned i = 0; i < gpus; i++) {
        scene.nearest[i] = i;
        scene.gpus[i] = (struct node_gpu){.model = "h100-sxm",
                                          .bus_id = "0000:06:00.0",
                                          .memory_bytes = UINT64_C(80) << 30,
                                          .numa = per_numa ? (int)(i / per_numa) : NUMA_UNKNOWN,
                                          .nvlink_domain = i,
                                          .nics = &scene.nearest[i],
                                          .nic_count = i < nics};
        scene.members[i] = i;
        scene.domains[i] = (struct node_domain){&scene.members[i], 1};
    }
    for (unsigned i = 0; i < nics; i++) {
        scene.nics[i] = (struct node_nic){.name = "mlx5_10",
                                          .role = NIC_RAIL,
                                          .state = NIC_ACTIVE,
                                          .rail = (int)i,
                                          .numa = NUMA_UNKNOWN,
                                          .bytes_per_second = 50e9};
        if (gpus > 0)
            scene.nic_links[(size_t)(i % gpus) * nics + i] = LINK_PXB;
    }
    scene.node = (struct node_topology){.name = "made/up",
                                        .gpus = scene.gpus,
                                        .gpu_count = gpus,
                                        .nics = scene.nics,
                                        .nic_count = nics,
                                        .nvlink = NVLINK_NONE,
                                        .nvlink_bytes_per_second = scene.rates,
                                        .links = scene.links,
                                        .nic_links = scene.nic_links,
                                        .domains = scene.domains,
                                        .domain_count = gpus,
                                        .nvlink_domain_nodes = 1};
}

static void link_gpus(unsigned i, unsigned j, double rate, enum link_kind kind)
{
    size_t n = scene.node.gpu_count;
    scene.rates[i * n + j] = scene.rates[j * n + i] = rate;
    scene.links[i * n + j] = scene.links[j * n + i] = kind;
}

/* All GPUs one domain, every pair at that rate. */
static void join_all(double rate, enum link_kind kind, bool switched)
{
    scene.domains[0] = (struct node_domain){scene.members, scene.node.gpu_count};
    scene.node.domain_count = 1;
    scene.node.nvlink = NVLINK_KNOWN;
    scene.node.nvlink_switched = switched;
    scene.node.gpu_nvlink_bytes_per_second = rate;
    for (unsigned i = 0; i < scene.node.gpu_count; i++)
        for (unsigned j = 0; j < i; j++)
            link_gpus(i, j, rate, kind);
}

static void expect_picture(const struct node_topology *node, const char *const *words)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    node_picture(node, &out);
    if (text_buffer_failed(&out))
        return;
    const char *text = text_buffer_text(&out), *wrong = svg_check_form(text);
    if (!wrong)
        wrong = svg_check_texts(text);
    if (wrong)
        fail_msg("%s: %s", node->name, wrong);
    for (; words && *words; words++)
        if (!strstr(text, *words))
            fail_msg("'%s' is not in %s", *words, text);
}

static void draws_every_preset(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(&err);
    CLEANUP(preset_catalogue)
    struct preset_catalogue *presets = gpus ? preset_catalogue_builtin(&err) : NULL;
    for (size_t i = 0; presets && i < presets->count; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s:1", presets->presets[i].name);
        CLEANUP(cluster_topology)
        struct cluster_topology *cluster = cluster_topology_from_preset(name, presets, gpus, &err);
        if (cluster)
            expect_picture(cluster->kinds[0], NULL);
    }
}

static void draws_a_node_without_gpus(void **state)
{
    (void)state;
    static const char *const words[] = {">no GPU<", "mlx5_10", "NICs that are near no GPU", NULL};
    static const char *const nothing[] = {">no GPU<", "<title>node</title>", NULL};
    fill(0, 3, 0);
    expect_picture(&scene.node, words);
    fill(0, 0, 0);
    scene.node.name = NULL;
    scene.node.name = "node";
    expect_picture(&scene.node, nothing);
}

static void draws_the_largest_node(void **state)
{
    (void)state;
    static const char *const words[] = {"GPU 63", "NUMA node 12", "PCIe only, no NVLink", NULL};
    static const char *const barred[] = {"NVLink full mesh, 64 GPUs", NULL};
    fill(NODE_MAXIMUM_GPUS, NODE_MAXIMUM_NICS, 5);
    expect_picture(&scene.node, words);
    join_all(50e9, LINK_NVLINK, false);
    expect_picture(&scene.node, barred);
    fill(1, NODE_MAXIMUM_NICS, 0);
    expect_picture(&scene.node, NULL);
}

static void tells_what_is_unknown(void **state)
{
    (void)state;
    static const char *const words[] = {"NVLink ? — no source tells",
                                        "class=\"unsure\"",
                                        "model ?",
                                        "memory ?",
                                        "NUMA node ?",
                                        "rate ?",
                                        "· ? CPUs",
                                        "host memory ?",
                                        NULL};
    fill(2, 2, 0);
    scene.node.nvlink = NVLINK_UNKNOWN;
    scene.gpus[0].model = NULL;
    scene.gpus[0].memory_bytes = 0;
    scene.gpus[0].bus_id = NULL;
    scene.nics[0].bytes_per_second = 0.0;
    scene.nics[0].name = NULL;
    scene.nics[0].state = NIC_STATE_UNKNOWN;
    expect_picture(&scene.node, words);
}

static void draws_switches(void **state)
{
    (void)state;
    static const char *const one[] = {">NVSwitch<", ">450 GB/s<", NULL};
    static const char *const rack[] = {"one domain of 72 GPUs in 18 nodes", NULL};
    static const char *const open[] = {"the domain leaves the node; how far: ?", NULL};
    fill(4, 4, 2);
    join_all(450e9, LINK_NVLINK, true);
    expect_picture(&scene.node, one);
    scene.node.nvlink_leaves_node = true;
    expect_picture(&scene.node, open);
    scene.node.nvlink_domain_nodes = 18;
    expect_picture(&scene.node, rack);
}

static void draws_a_gpu_that_fell_out(void **state)
{
    (void)state;
    static const unsigned rest[] = {0, 1, 3, 4, 5, 6, 7}, lost[] = {2};
    static const char *const words[] = {"class=\"bad\"",
                                        "no NVLink: &lt;check&gt;",
                                        "PCIe between NVLink domains",
                                        "degraded GPU or NIC",
                                        "GPU 2 is down",
                                        NULL};
    static const char *const warnings[] = {"GPU 2 is down"};
    fill(8, 8, 4);
    join_all(450e9, LINK_NVLINK, true);
    for (unsigned i = 0; i < 8; i++)
        link_gpus(i, 2, 0.0, LINK_UNKNOWN);
    scene.domains[0] = (struct node_domain){rest, 7};
    scene.domains[1] = (struct node_domain){lost, 1};
    scene.node.domain_count = 2;
    scene.gpus[2].problem = "no NVLink: <check>";
    scene.node.warnings = warnings;
    scene.node.warning_count = 1;
    expect_picture(&scene.node, words);
}

static void draws_hives_out_of_order(void **state)
{
    (void)state;
    static const unsigned first[] = {0, 2, 3, 5}, second[] = {1, 4, 6, 7};
    static const char *const words[] = {"hue0", "hue1", "XGMI full mesh · 50.0 GB/s per pair",
                                        NULL};
    fill(8, 2, 0);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < i; j++) {
            link_gpus(first[i], first[j], 50e9, LINK_XGMI);
            link_gpus(second[i], second[j], 50e9, LINK_XGMI);
        }
    }
    scene.domains[0] = (struct node_domain){first, 4};
    scene.domains[1] = (struct node_domain){second, 4};
    scene.node.domain_count = 2;
    scene.node.nvlink = NVLINK_KNOWN;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 1 << 20);
    node_picture(&scene.node, &out);
    for (size_t i = 0; words[i] && !text_buffer_failed(&out); i++)
        if (!strstr(text_buffer_text(&out), words[i]))
            fail_msg("no %s", words[i]);
}

static void draws_a_ring_over_rows(void **state)
{
    (void)state;
    static const char *const words[] = {"NVLink · 12 links, 25.0 GB/s to 50.0 GB/s", NULL};
    fill(12, 4, 0);
    join_all(0.0, LINK_UNKNOWN, false);
    for (unsigned i = 0; i < 12; i++)
        link_gpus(i, (i + 1) % 12, i % 2 ? 25e9 : 50e9, LINK_NVLINK);
    expect_picture(&scene.node, words);
}

static void draws_pairs_whose_rate_is_unknown(void **state)
{
    (void)state;
    static const char *const words[] = {"NVLink, rate ?", NULL};
    fill(2, 0, 0);
    join_all(0.0, LINK_NVLINK, false);
    expect_picture(&scene.node, words);
}

static void marks_nics(void **state)
{
    (void)state;
    static const char *const words[] = {
        "class=\"strike\"", ">down<", ">storage<", ">management<",    ">MIG<",
        "200 of 400",       ">PXB<",  "Ethernet",  "; why &amp; how", "0000:93:00.0",
        ">NVSwitch",        NULL};
    fill(4, 8, 2);
    scene.gpus[1].mig = true;
    scene.gpus[1].uuid = "GPU-1";
    scene.nics[0].state = NIC_DOWN;
    scene.nics[1].role = NIC_STORAGE;
    scene.nics[1].rail = -1;
    scene.nics[2].role = NIC_MANAGEMENT;
    scene.nics[2].numa = 1;
    scene.nics[2].is_ethernet = true;
    scene.nics[3].problem = "200 of 400 Gb/s";
    scene.nics[4].reason = "why & how";
    scene.nics[4].bus_id = "0000:93:00.0";
    join_all(450e9, LINK_NVLINK, true);
    expect_picture(&scene.node, words);
}

static void bears_hostile_names(void **state)
{
    (void)state;
    static const char hostile[] = "<&\"'>\x01\x1b[31m\xff</svg>\n";
    static const struct topology_fact facts[] = {{hostile, hostile, hostile}};
    static const char *const warnings[] = {hostile, hostile, hostile, hostile, hostile,
                                           hostile, hostile, hostile, hostile, hostile,
                                           hostile, hostile, hostile, hostile};
    fill(3, 3, 1);
    for (unsigned i = 0; i < 3; i++) {
        scene.gpus[i].model = scene.gpus[i].bus_id = scene.gpus[i].problem = hostile;
        scene.gpus[i].cpus = scene.gpus[i].uuid = hostile;
        scene.nics[i].name = scene.nics[i].bus_id = scene.nics[i].problem = hostile;
        scene.nics[i].reason = hostile;
    }
    scene.node.name = hostile;
    scene.node.facts = facts;
    scene.node.fact_count = 1;
    scene.node.warnings = warnings;
    scene.node.warning_count = COUNT_OF(warnings);
    static const char *const words[] = {"… 2 warnings more", NULL};
    expect_picture(&scene.node, words);
}

static void is_the_same_every_time(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer first, second;
    text_buffer_init(&first, 16 << 20);
    text_buffer_init(&second, 16 << 20);
    fill(12, 20, 3);
    node_picture(&scene.node, &first);
    node_picture(&scene.node, &second);
    if (!text_buffer_failed(&first) && !text_buffer_failed(&second))
        assert_string_equal(text_buffer_text(&first), text_buffer_text(&second));
}

static void nics_never_touch(void **state)
{
    (void)state;
    static struct node_layout layout;
    fill(16, NODE_MAXIMUM_NICS, 4);
    for (unsigned i = 0; i < 40; i++) { /* shared by all of a NUMA node, and by pairs */
        unsigned first = i / 10 * 4;
        for (unsigned gpu = first; gpu < first + (i % 2 ? 2u : 4u); gpu++)
            scene.nic_links[(size_t)gpu * NODE_MAXIMUM_NICS + i] = LINK_PXB;
    }
    node_layout_make(&scene.node, 760.0, &layout);
    for (unsigned i = 0; i < NODE_MAXIMUM_NICS; i++) {
        for (unsigned j = 0; j < i; j++) {
            const struct layout_nic *a = &layout.nics[i], *b = &layout.nics[j];
            if (layout.groups[a->group].row != layout.groups[b->group].row ||
                layout.groups[a->group].row == LAYOUT_STRIP || a->lane != b->lane)
                continue;
            double distance = a->x > b->x ? a->x - b->x : b->x - a->x;
            assert_true(distance >= LAYOUT_BOX);
        }
    }
}

static int draw(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, 16 << 20);
    node_picture(&scene.node, &out);
    return text_buffer_failed(&out) ? error_set_memory(err) : 0;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    fill(2, 2, 1);
    unit_test_expect_clean_failures(draw, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(draws_every_preset),
    cmocka_unit_test(draws_a_node_without_gpus),
    cmocka_unit_test(draws_the_largest_node),
    cmocka_unit_test(tells_what_is_unknown),
    cmocka_unit_test(draws_switches),
    cmocka_unit_test(draws_a_gpu_that_fell_out),
    cmocka_unit_test(draws_hives_out_of_order),
    cmocka_unit_test(draws_a_ring_over_rows),
    cmocka_unit_test(draws_pairs_whose_rate_is_unknown),
    cmocka_unit_test(marks_nics),
    cmocka_unit_test(bears_hostile_names),
    cmocka_unit_test(is_the_same_every_time),
    cmocka_unit_test(nics_never_touch),
    cmocka_unit_test(fails_cleanly_without_memory),
};

int main(void) { return unit_test_main("report/node_picture", tests, COUNT_OF(tests)); }
