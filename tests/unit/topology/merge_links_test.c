/* SPDX-License-Identifier: MIT */
/* node_topology_merge: what links mean where a part of a node is seen, cells and rates differ,
 * and faults come together. */
#include "tests/unit/topology/topology_fixture.h"
#include "topology/node_evidence.h"

#define GB 1e9

static struct node_topology *merge(const struct node_evidence *const *evidence, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    struct node_topology *node = node_topology_merge("node", evidence, count, gpus, &err);
    expect_made(node, &err);
    return node;
}

static void expect_warning(const struct node_topology *node, const char *part)
{
    for (size_t i = 0; i < node->warning_count; i++)
        if (strstr(node->warnings[i], part))
            return;
    fail_msg("no warning has '%s'; the first of %zu: %s", part, node->warning_count,
             node->warning_count > 0 ? node->warnings[0] : "-");
}

static void expect_rate(double rate, double expected)
{
    if (!(rate > expected * 0.999 && rate < expected * 1.001))
        fail_msg("%.6g GB/s, expected %.6g", rate / GB, expected / GB);
}

/* Three of eight: each peer is reached by all links of a GPU, which no direct links could. */
static void more_links_than_the_model_has_meet_in_switches(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        unsigned counts[9];
        bool switched;
        double pair, capability;
    } rows[] = {
        {"a800-sxm-80", {0, 8, 8, 8, 0, 8, 8, 8, 0}, true, 200 * GB, 200 * GB},
        {"v100-sxm2-32", {0, 6, 6, 6, 0, 6, 6, 6, 0}, true, 150 * GB, 150 * GB},
        {"v100-sxm2-32", {0, 3, 3, 3, 0, 3, 3, 3, 0}, false, 75 * GB, 150 * GB},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct evidence_gpu gpus[3] = {{.model_text = rows[i].model},
                                             {.model_text = rows[i].model},
                                             {.model_text = rows[i].model}};
        const struct node_evidence evidence = {.source = EVIDENCE_TOPO_M,
                                               .source_text = "topo -m",
                                               .gpus = gpus,
                                               .gpu_count = 3,
                                               .nvlink = NVLINK_KNOWN,
                                               .nvlink_link_counts = rows[i].counts};
        const struct node_evidence *const all[] = {&evidence};
        CLEANUP(node_topology) struct node_topology *node = merge(all, 1);
        assert_int_equal(node->nvlink_switched, rows[i].switched);
        expect_rate(node->nvlink_bytes_per_second[1], rows[i].pair);
        expect_rate(node->gpu_nvlink_bytes_per_second, rows[i].capability);
    }
}

static const struct evidence_gpu four[] = {
    {.bus_id = "0000:01:00.0", .model_text = "NVIDIA H200", .numa = NUMA_UNKNOWN},
    {.bus_id = "0000:02:00.0", .model_text = "NVIDIA H200", .numa = NUMA_UNKNOWN},
    {.bus_id = "0000:03:00.0", .model_text = "NVIDIA H200", .numa = NUMA_UNKNOWN},
    {.bus_id = "0000:04:00.0", .model_text = "NVIDIA H200", .numa = NUMA_UNKNOWN},
};

/* A mesh of four, of which the driver lists two. */
static void hidden_gpus_are_unknown_and_add_nothing(void **state)
{
    (void)state;
    static const unsigned counts[4] = {0, 6, 6, 0};
    static const double mesh[16] = {0,        150 * GB, 150 * GB, 150 * GB, 150 * GB, 0,
                                    150 * GB, 150 * GB, 150 * GB, 150 * GB, 0,        150 * GB,
                                    150 * GB, 150 * GB, 150 * GB, 0};
    const struct node_evidence nvml = {.source = EVIDENCE_NVML,
                                       .source_text = "nvml",
                                       .gpus = four,
                                       .gpu_count = 2,
                                       .nvlink = NVLINK_KNOWN,
                                       .nvlink_link_counts = counts};
    struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = four, .gpu_count = 4};
    const struct node_evidence *const all[] = {&nvml, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    expect_rate(node->gpu_nvlink_bytes_per_second, 150 * GB);
    expect_warning(node, "NVLink of GPU 2 (and others) is not known");
    hwloc.nvlink = NVLINK_KNOWN;
    hwloc.nvlink_bytes_per_second = mesh;
    CLEANUP(node_topology) struct node_topology *known = merge(all, 2);
    expect_rate(known->gpu_nvlink_bytes_per_second, 150 * GB);
    assert_int_equal(known->domain_count, 1);
    assert_int_equal(known->warning_count, 2); /* the driver lists neither */
}

static void a_second_fault_is_said_too(void **state)
{
    (void)state;
    static const unsigned counts[16] = {0, 18, 0, 18, 18, 0, 0, 18, 0, 0, 0, 0, 18, 18, 0, 0};
    struct evidence_gpu gpus[4];
    memcpy(gpus, four, sizeof(gpus));
    gpus[2].problem = "PCIe x8 of x16";
    const struct node_evidence evidence = {.source = EVIDENCE_TOPO_M,
                                           .source_text = "topo -m",
                                           .gpus = gpus,
                                           .gpu_count = 4,
                                           .nvlink = NVLINK_KNOWN,
                                           .nvlink_switched = true,
                                           .nvlink_link_counts = counts};
    const struct node_evidence *const all[] = {&evidence};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 1);
    assert_string_equal(node->gpus[2].problem,
                        "PCIe x8 of x16; lost NVLink: others of its model have it, it has none");
    gpus[2].problem = "lost NVLink: 0 of 18 links are up";
    CLEANUP(node_topology) struct node_topology *told = merge(all, 1);
    assert_string_equal(told->gpus[2].problem, "lost NVLink: 0 of 18 links are up");
}

/* Cells of a file say NVLink, the rates do not, or a GPU is cut. */
static void cells_follow_the_rates(void **state)
{
    (void)state;
    static const enum link_kind cells[9] = {LINK_UNKNOWN, LINK_NVLINK,  LINK_NVLINK,
                                            LINK_NVLINK,  LINK_UNKNOWN, LINK_NODE,
                                            LINK_NVLINK,  LINK_NODE,    LINK_UNKNOWN};
    static const double rates[9] = {0, 9 * GB, 9 * GB, 9 * GB, 0, 9 * GB, 9 * GB, 9 * GB, 0};
    struct evidence_gpu gpus[3];
    memcpy(gpus, four, sizeof(gpus));
    gpus[2].mig = true;
    struct node_evidence file = {.source = EVIDENCE_ADMIN,
                                 .source_text = "n1.yaml",
                                 .gpus = gpus,
                                 .gpu_count = 3,
                                 .nvlink = NVLINK_KNOWN,
                                 .nvlink_bytes_per_second = rates,
                                 .gpu_links = cells};
    const struct node_evidence *const all[] = {&file};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 1);
    assert_int_equal(node->links[1], LINK_NVLINK);
    assert_int_equal(node->links[2], LINK_UNKNOWN);
    assert_int_equal(node->links[5], LINK_NODE);
    file.nvlink = NVLINK_NONE;
    file.nvlink_bytes_per_second = NULL;
    CLEANUP(node_topology) struct node_topology *none = merge(all, 1);
    assert_int_equal(none->links[1], LINK_UNKNOWN);
    assert_int_equal(none->links[5], LINK_NODE);
}

static void cliques_that_differ_are_told(void **state)
{
    (void)state;
    struct evidence_gpu gpus[2], lower_gpus[2];
    memcpy(gpus, four, sizeof(gpus));
    memcpy(lower_gpus, four, sizeof(lower_gpus));
    gpus[0].nvlink_clique = "u.1";
    gpus[1].nvlink_clique = "u.2";
    lower_gpus[1].nvlink_clique = "u.3";
    const struct node_evidence nvml = {
        .source = EVIDENCE_NVML, .source_text = "nvml", .gpus = gpus, .gpu_count = 2};
    const struct node_evidence lower = {
        .source = EVIDENCE_PCI, .source_text = "pci", .gpus = lower_gpus, .gpu_count = 2};
    const struct node_evidence *const all[] = {&nvml, &lower};
    CLEANUP(node_topology) struct node_topology *node = merge(all, 2);
    assert_string_equal(node->nvlink_clique, "u.1");
    expect_warning(node, "nvml: GPU 0 is in NVLink clique u.1, GPU 1 in u.2");
    expect_warning(node, "NVLink clique: nvml says u.1, pci says u.3; nvml stands");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(more_links_than_the_model_has_meet_in_switches),
    cmocka_unit_test(hidden_gpus_are_unknown_and_add_nothing),
    cmocka_unit_test(a_second_fault_is_said_too),
    cmocka_unit_test(cells_follow_the_rates),
    cmocka_unit_test(cliques_that_differ_are_told),
};

int main(void) { return unit_test_main("topology/merge_links", tests, COUNT_OF(tests)); }
