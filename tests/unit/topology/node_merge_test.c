/* SPDX-License-Identifier: MIT */
#include "tests/unit/topology/topology_fixture.h"

#include "topology/node_evidence.h"
#include <stdio.h>

#define GB 1e9

static struct node_topology *merge(const struct node_evidence *const *evidence, size_t count,
                                   struct error_info *err)
{
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = open_gpus();
    return node_topology_merge("node", evidence, count, gpus, err);
}

static struct node_topology *merge_all(const struct node_evidence *const *evidence, size_t count)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct node_topology *node = merge(evidence, count, &err);
    expect_made(node, &err);
    return node;
}

static const char *fact(const struct node_topology *node, const char *name)
{
    for (size_t i = 0; i < node->fact_count; i++)
        if (strcmp(node->facts[i].fact, name) == 0)
            return node->facts[i].value;
    return "missing";
}

static const char *fact_source(const struct node_topology *node, const char *name)
{
    for (size_t i = 0; i < node->fact_count; i++)
        if (strcmp(node->facts[i].fact, name) == 0)
            return node->facts[i].source;
    return "missing";
}

/* GPUs out of order; the node's order is by bus id. */
static const struct evidence_gpu three_gpus[] = {
    {.bus_id = "0000:c0:00.0", .model_text = "NVIDIA H100 80GB HBM3", .uuid = "u-c0", .numa = 1},
    {.bus_id = "0000:0a:00.0", .model_text = "NVIDIA H100 80GB HBM3", .uuid = "u-0a", .numa = 0},
    {.bus_id = "0000:60:00.0", .model_text = "NVIDIA H100 80GB HBM3", .uuid = "u-60", .numa = 0},
};

/* 0-1 and 0-2 of three_gpus are linked. */
static const double two_links[] = {0, 20 * GB, 30 * GB, 20 * GB, 0, 0, 30 * GB, 0, 0};

static void sorts_by_bus_id(void **state)
{
    (void)state;
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC,
        .source_text = "hwloc",
        .gpus = three_gpus,
        .gpu_count = 3,
        .nvlink = NVLINK_KNOWN,
        .nvlink_bytes_per_second = two_links,
        .host_memory_bytes = 77,
        .cpu_count = 12,
    };
    const struct node_evidence *const all[] = {&hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 1);
    assert_int_equal(node->gpu_count, 3);
    assert_string_equal(node->gpus[0].uuid, "u-0a");
    assert_string_equal(node->gpus[1].uuid, "u-60");
    assert_string_equal(node->gpus[2].uuid, "u-c0");
    assert_string_equal(node->gpus[2].model, "h100-sxm");
    assert_int_equal(node->gpus[2].numa, 1);
    assert_int_equal(node->gpus[2].memory_bytes >> 20, 81049);
    assert_string_equal(fact_source(node, "gpu 2 memory"), "gpu catalogue");
    assert_int_equal(node->nvlink, NVLINK_KNOWN);
    assert_true(node->nvlink_bytes_per_second[0 * 3 + 2] == 20 * GB);
    assert_true(node->nvlink_bytes_per_second[1 * 3 + 2] == 30 * GB);
    assert_true(node->nvlink_bytes_per_second[0 * 3 + 1] == 0);
    assert_int_equal(node->domain_count, 1);
    assert_int_equal(node->links[2], LINK_NVLINK);
    assert_int_equal(node->links[1], LINK_UNKNOWN);
    assert_true(node->gpu_nvlink_bytes_per_second == 20 * GB);
    assert_int_equal(node->host_memory_bytes, 77);
    assert_int_equal(node->cpu_count, 12);
    assert_true(node->pcie_bytes_per_second == 63 * GB);
    assert_string_equal(fact(node, "nvlink domain"), "{0,1,2}");
    assert_false(node_topology_is_uniform(node));
}

/* NVML sees two of the three GPUs and knows better about those. */
static void higher_ranks_win_pair_by_pair(void **state)
{
    (void)state;
    static const struct evidence_gpu two_gpus[] = {
        {.bus_id = "0000:0a:00.0", .memory_bytes = 123, .numa = NUMA_UNKNOWN},
        {.bus_id = "0000:c0:00.0", .numa = NUMA_UNKNOWN},
    };
    static const double linked[] = {0, 450 * GB, 450 * GB, 0};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC,
        .source_text = "hwloc",
        .gpus = three_gpus,
        .gpu_count = 3,
        .nvlink = NVLINK_KNOWN,
        .nvlink_bytes_per_second = two_links,
    };
    const struct node_evidence nvml = {
        .source = EVIDENCE_NVML,
        .source_text = "nvml",
        .gpus = two_gpus,
        .gpu_count = 2,
        .nvlink = NVLINK_KNOWN,
        .nvlink_switched = true,
        .nvlink_bytes_per_second = linked,
        .nvlink_domain_nodes = 18,
    };
    const struct node_evidence *const all[] = {&hwloc, &nvml};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 2);
    assert_int_equal(node->gpu_count, 3);
    assert_true(node->nvlink_bytes_per_second[0 * 3 + 2] == 450 * GB);
    assert_true(node->nvlink_bytes_per_second[1 * 3 + 2] == 30 * GB);
    assert_int_equal(node->gpus[0].memory_bytes, 123);
    assert_string_equal(fact_source(node, "gpu 0 memory"), "nvml");
    assert_string_equal(fact_source(node, "nvlink"), "nvml");
    assert_int_equal(node->nvlink_domain_nodes, 18);
    assert_int_equal(node->gpus[0].numa, 0);
}

static void nvml_overrules_none(void **state)
{
    (void)state;
    static const double zero[9];
    struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC,
        .source_text = "hwloc",
        .gpus = three_gpus,
        .gpu_count = 3,
        .nvlink = NVLINK_KNOWN,
        .nvlink_bytes_per_second = two_links,
    };
    const struct node_evidence nvml = {
        .source = EVIDENCE_NVML,
        .source_text = "nvml",
        .gpus = three_gpus,
        .gpu_count = 3,
        .nvlink = NVLINK_NONE,
    };
    const struct node_evidence *const all[] = {&hwloc, &nvml};
    CLEANUP(node_topology) struct node_topology *none = merge_all(all, 2);
    assert_int_equal(none->nvlink, NVLINK_NONE);
    assert_int_equal(none->domain_count, 3);
    hwloc.nvlink_bytes_per_second = zero;
    CLEANUP(node_topology) struct node_topology *zeroes = merge_all(all, 1);
    assert_int_equal(zeroes->nvlink, NVLINK_NONE);
}

/* Unknown is not none; only a model without NVLink settles it. */
static void unknown_stays_unknown(void **state)
{
    (void)state;
    static const struct evidence_gpu t4s[] = {
        {.bus_id = "0000:0a:00.0", .model_text = "Tesla T4", .numa = 0},
        {.bus_id = "0000:0b:00.0", .model_text = "Tesla T4", .numa = 0},
    };
    static const struct evidence_gpu odd[] = {
        {.bus_id = "0000:0a:00.0", .model_text = "Tesla T4", .numa = 0},
        {.bus_id = "0000:0b:00.0", .model_text = "Some Board", .numa = 0},
    };
    static const enum link_kind links[] = {LINK_UNKNOWN, LINK_PIX, LINK_PIX, LINK_UNKNOWN};
    struct node_evidence pci = {
        .source = EVIDENCE_PCI,
        .source_text = "pci",
        .gpus = three_gpus,
        .gpu_count = 3,
    };
    const struct node_evidence *const all[] = {&pci};
    CLEANUP(node_topology) struct node_topology *unknown = merge_all(all, 1);
    assert_int_equal(unknown->nvlink, NVLINK_UNKNOWN);
    assert_int_equal(unknown->domain_count, 3);
    assert_int_equal(node_topology_largest_domain(unknown), 1);
    pci.gpus = t4s;
    pci.gpu_count = 2;
    pci.gpu_links = links;
    CLEANUP(node_topology) struct node_topology *none = merge_all(all, 1);
    assert_int_equal(none->nvlink, NVLINK_NONE);
    assert_string_equal(fact_source(none, "nvlink"), "gpu catalogue");
    assert_int_equal(none->links[1], LINK_PIX);
    pci.gpus = odd;
    CLEANUP(node_topology) struct node_topology *mixed = merge_all(all, 1);
    assert_int_equal(mixed->nvlink, NVLINK_UNKNOWN);
    assert_string_equal(mixed->gpus[1].model, "Some Board");
    assert_int_equal(mixed->gpus[1].memory_bytes, 0);
    assert_string_equal(fact(mixed, "gpu 1 memory"), "unknown");
}

static void no_gpus_is_fine(void **state)
{
    (void)state;
    static const struct evidence_nic nic = {
        .name = "mlx5_0", .driver_class = "openfabrics", .state = NIC_ACTIVE, .numa = 0};
    const struct node_evidence pci = {
        .source = EVIDENCE_PCI, .source_text = "pci", .nics = &nic, .nic_count = 1};
    const struct node_evidence *const all[] = {&pci};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 1);
    assert_int_equal(node->gpu_count, 0);
    assert_int_equal(node->nvlink, NVLINK_UNKNOWN);
    assert_int_equal(node->nics[0].role, NIC_RAIL);
    assert_true(node->gpu_nic_bytes_per_second == 0);
}

/* Debian 12's hwloc counts A100 links twice; ROCm SMI says 100 GB/s of every XGMI pair. */
static void limits_what_readers_say(void **state)
{
    (void)state;
    struct evidence_gpu gpus[8];
    double rates[64];
    struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC,
        .source_text = "hwloc",
        .gpus = gpus,
        .nvlink = NVLINK_KNOWN,
        .nvlink_bytes_per_second = rates,
    };
    static const struct {
        const char *model;
        unsigned gpus;
        bool switched;
        double said, pair, gpu;
    } cases[] = {
        {"A100-SXM4-40GB", 4, false, 200 * GB, 100 * GB, 300 * GB},
        {"A100-SXM4-40GB", 4, false, 100 * GB, 100 * GB, 300 * GB},
        {"A100-SXM4-80GB", 8, true, 600 * GB, 300 * GB, 300 * GB},
        {"AMD Instinct MI300X", 8, false, 100 * GB, 64 * GB, 448 * GB},
    };
    static const char *const bus_ids[] = {
        "0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0",
        "0000:05:00.0", "0000:06:00.0", "0000:07:00.0", "0000:08:00.0",
    };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        unsigned n = cases[c].gpus;
        for (unsigned i = 0; i < n; i++)
            gpus[i] = (struct evidence_gpu){
                .bus_id = bus_ids[i], .model_text = cases[c].model, .numa = 0};
        for (unsigned i = 0; i < n * n; i++)
            rates[i] = i % (n + 1) == 0 ? 1e15 : cases[c].said;
        hwloc.gpu_count = n;
        hwloc.nvlink_switched = cases[c].switched;
        const struct node_evidence *const all[] = {&hwloc};
        CLEANUP(node_topology) struct node_topology *node = merge_all(all, 1);
        assert_true(node->nvlink_bytes_per_second[0] == 0);
        double pair = node->nvlink_bytes_per_second[1];
        assert_true(pair > cases[c].pair * 0.999999 && pair < cases[c].pair * 1.000001);
        double gpu = node->gpu_nvlink_bytes_per_second;
        assert_true(gpu > cases[c].gpu * 0.999999 && gpu < cases[c].gpu * 1.000001);
        assert_int_equal(node->links[1], c == 3 ? LINK_XGMI : LINK_NVLINK);
        bool limited = strcmp(fact(node, "nvlink rates"), "missing") != 0;
        assert_int_equal(limited, cases[c].said > cases[c].pair);
    }
}

/* A preset beside a reader that found another number of GPUs: the machine is right. */
static void positions_need_equal_counts(void **state)
{
    (void)state;
    static const struct evidence_gpu plain[8] = {
        {.model_text = "h200-sxm", .numa = NUMA_UNKNOWN},
        {.model_text = "h200-sxm", .numa = NUMA_UNKNOWN},
        {.model_text = "h200-sxm", .numa = NUMA_UNKNOWN},
    };
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .gpus = three_gpus, .gpu_count = 3};
    struct node_evidence preset = {.source = EVIDENCE_PRESET,
                                   .source_text = "preset",
                                   .gpus = plain,
                                   .gpu_count = 8,
                                   .gpu_nvlink_bytes_per_second = 5 * GB,
                                   .host_nvme_bytes = 9};
    const struct node_evidence *const all[] = {&preset, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 2);
    assert_int_equal(node->gpu_count, 3);
    assert_string_equal(node->gpus[0].model, "h100-sxm");
    assert_string_equal(fact(node, "gpus"),
                        "ignored: 8 of 8: they are named by position, and the node has 3");
    assert_int_equal(node->host_nvme_bytes, 9);
    preset.gpu_count = 3;
    CLEANUP(node_topology) struct node_topology *equal = merge_all(all, 2);
    assert_string_equal(equal->gpus[0].model, "h200-sxm");
    assert_string_equal(equal->gpus[0].bus_id, "0000:0a:00.0");
}

static void merges_nics(void **state)
{
    (void)state;
    static const struct evidence_nic seen[] = {
        {.name = "mlx5_10", .bus_id = "0000:0c:00.0", .driver_class = "openfabrics", .numa = 1},
        {.name = "mlx5_2", .bus_id = "0000:0b:00.0", .numa = NUMA_UNKNOWN, .state = NIC_ACTIVE},
    };
    static const struct evidence_nic rates[] = {
        {.name = "mlx5_2", .bytes_per_second = 50 * GB, .numa = 0, .guid = 5},
        {.bus_id = "0000:0c:00.0", .bytes_per_second = 25 * GB, .state = NIC_ACTIVE, .numa = 7},
    };
    static const enum link_kind links[] = {LINK_PXB, LINK_SYS, LINK_PIX,
                                           LINK_SYS, LINK_SYS, LINK_PIX};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC,
        .source_text = "hwloc",
        .gpus = three_gpus,
        .gpu_count = 3,
        .nics = seen,
        .nic_count = 2,
        .nic_links = links,
    };
    const struct node_evidence sysfs = {
        .source = EVIDENCE_PCI, .source_text = "sysfs", .nics = rates, .nic_count = 2};
    const struct node_evidence *const all[] = {&sysfs, &hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 2);
    assert_int_equal(node->nic_count, 2);
    assert_string_equal(node->nics[0].name, "mlx5_2"); /* natural order */
    assert_int_equal(node->nics[0].numa, 0);
    assert_int_equal(node->nics[1].numa, 1);
    assert_true(node->nics[0].bytes_per_second == 50 * GB);
    assert_int_equal(node->nics[1].state, NIC_ACTIVE);
    assert_true(node->gpu_nic_bytes_per_second == 25 * GB);
    /* three_gpus[1] is GPU 0, and PIX to mlx5_10, which is rail 0 for that. */
    assert_int_equal(node->nics[1].rail, 0);
    assert_int_equal(node->nics[0].rail, 1);
    assert_int_equal(node->gpus[0].nics[0], 1);
    assert_int_equal(node->gpus[1].nics[0], 0);
    assert_int_equal(node->gpus[2].nics[0], 1);
}

static void keeps_notes(void **state)
{
    (void)state;
    static const char *const notes[] = {"a screen is no GPU"};
    const struct node_evidence hwloc = {
        .source = EVIDENCE_HWLOC, .source_text = "hwloc", .notes = notes, .note_count = 1};
    const struct node_evidence *const all[] = {&hwloc};
    CLEANUP(node_topology) struct node_topology *node = merge_all(all, 1);
    assert_string_equal(fact(node, "note"), "a screen is no GPU");
}

static void refuses_too_much(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    static char names[NODE_MAXIMUM_GPUS + 2][16];
    struct evidence_gpu gpus[NODE_MAXIMUM_GPUS + 2] = {{0}};
    static struct evidence_nic nics[NODE_MAXIMUM_NICS + 1];
    static char nic_names[NODE_MAXIMUM_NICS + 1][16];
    for (size_t i = 0; i < COUNT_OF(gpus); i++) {
        snprintf(names[i], sizeof(names[i]), "0000:%02zx:00.0", i);
        gpus[i].bus_id = names[i];
    }
    for (size_t i = 0; i < COUNT_OF(nics); i++) {
        snprintf(nic_names[i], sizeof(nic_names[i]), "mlx5_%zu", i);
        nics[i].name = nic_names[i];
    }
    struct node_evidence first = {.source = EVIDENCE_HWLOC,
                                  .source_text = "first",
                                  .gpus = gpus,
                                  .gpu_count = NODE_MAXIMUM_GPUS + 1};
    const struct node_evidence second = {.source = EVIDENCE_NVML,
                                         .source_text = "second",
                                         .gpus = gpus + NODE_MAXIMUM_GPUS,
                                         .gpu_count = 2};
    const struct node_evidence third = {.source = EVIDENCE_PCI,
                                        .source_text = "third",
                                        .nics = nics,
                                        .nic_count = NODE_MAXIMUM_NICS + 1};
    const struct node_evidence *const all[] = {&first, &second};
    const struct node_evidence *const more[] = {&third};
    const struct node_evidence *const many[17] = {NULL};
    assert_null(merge(all, 1, &err));
    expect_message(&err, "first: 65 GPUs are more than the 64");
    first.gpu_count = NODE_MAXIMUM_GPUS;
    assert_null(merge(all, 2, &err));
    expect_message(&err, "more than 64 GPUs in one node");
    assert_null(merge(more, 1, &err));
    expect_message(&err, "third: more than 128 NICs in one node");
    assert_null(merge(many, 17, &err));
    expect_message(&err, "17 sources for one node");
    assert_null(merge(many, 0, &err));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sorts_by_bus_id),
    cmocka_unit_test(higher_ranks_win_pair_by_pair),
    cmocka_unit_test(nvml_overrules_none),
    cmocka_unit_test(unknown_stays_unknown),
    cmocka_unit_test(no_gpus_is_fine),
    cmocka_unit_test(limits_what_readers_say),
    cmocka_unit_test(positions_need_equal_counts),
    cmocka_unit_test(merges_nics),
    cmocka_unit_test(keeps_notes),
    cmocka_unit_test(refuses_too_much),
};

int main(void) { return unit_test_main("topology/node_merge", tests, COUNT_OF(tests)); }
